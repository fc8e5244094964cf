"""Groups of test rows in which a result is weak, and their rows."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import addresses, cached, format, tables
from pages.shared.results import predictions
from pages.shared.view import look, now
from pages.train import labels
from xmlcore import metrics, review

FEWEST = 40  # test rows of which groups are made
POINTS = "Points of P@1 more or less than in all other test rows"
MORE_OR_LESS = ("difference", "low", "high")
COLUMNS = {
    "name": tables.text("Group", 200, pinned=True),
    "rows": tables.number("Rows", 65, "localized"),
    "P@1": tables.bar("P@1, %", 130),
    "difference": tables.number("Difference", 90, help=f"{POINTS}."),
    **{end: tables.number(end.capitalize(), 65, help=f"{POINTS}: 95\u00a0% interval.") for end in MORE_OR_LESS[1:]},
}


def show(ready) -> None:
    found, key = weak(ready.key), f"train.groups.{ready.key[:8]}"
    chosen = [now().group] if now().group in found.index else []
    bold, signs = found[["significant"]].set_axis(["difference"], axis=1), dict.fromkeys(MORE_OR_LESS, "{:+.1f}")
    ticks = tables.on_tick(key, found.index, lambda line: look(group=line), untick=True) | tables.ticked(chosen)
    tables.show(found, key, COLUMNS, signs=signs, best=bold, most=420, **ticks)
    n_weak = (found["significant"] & (found["difference"] < 0)).sum()
    weaker = f"{n_weak:,} of {format.count(len(found), 'group')} are significantly weaker than the other rows"
    st.caption(f"{weaker} (bold: significant, 5\u00a0% false discoveries). Tick one to see its rows.")
    for line in chosen:
        _rows(ready, found.loc[line], f"{key}.{line}")


@cached.shared("Comparing groups of rows")
def weak(key):
    run = cached.run(key)
    found = review.slices(cached.dataset(run.fingerprint), run.ranking)
    return found.rename(columns={"group": "name"}).assign(**100 * found[["P@1", *MORE_OR_LESS]])


def _rows(ready, group, key) -> None:
    """List the rows of a group, those with a wrong first label first."""
    data, run, row = ready.data, ready.run, group["members"]
    right, score = metrics.hits(data.Y_test, run.ranking)[row, 0], predictions.known_scores(run.ranking)[row, 0]
    frame = pd.DataFrame({"row": row, "right": right, "score": score.astype(np.float64)})
    frame = frame.sort_values(["right", "score"], ascending=[True, False], kind="stable").head(labels.LISTED_ROWS)
    first = [data.label_name(j) if j >= 0 else "" for j in run.ranking.labels[frame["row"], 0].tolist()]
    st.subheader(f"Rows of “{format.plain(group['name'])}”")
    n_listed = labels.list_rows(data, run, frame.assign(first=first), key)
    wrong = f"{(~right).sum():,} with a wrong first label, these first"
    st.caption(f"{format.showing(n_listed, len(row), 'row')}: {wrong}. Tick one to explain it.")
    if run.has_model and st.session_state[key]["selection"]["rows"]:
        addresses.link("Explain", "Explain this row")
