"""All runs of this workspace on the data set, as a table of the Train page."""

import pandas as pd
import streamlit as st

from pages.shared import format, results
from pages.train import answer


def show(runs, shown) -> None:
    """Show a table of all runs, given by their records; nothing when there is only one.

    ``shown`` is the record of the run that the page shows.
    """
    if len(runs) < 2:
        return
    st.header("Results on this data set")
    lines = []
    for record in runs:
        found = results.measures(record)
        if found is None:
            continue
        measures, times = found
        line = {"shown": "shown" if record["key"] == shown["key"] else "", "model": record["model"]}
        line["settings"] = answer.settings_text(record["model"], record["params"])
        line |= {f"{m[:-1]}{k}": 100 * answer.value(measures, m, k) for m in answer.SHOWN_MEASURES for k in results.KS}
        line |= {"training s": format.in_seconds(times["fit_s"]), "trained": format.when(record["created"])}
        lines.append(line)
    frame = pd.DataFrame(lines)
    numbers = [c for c in frame.columns if "@" in c]
    st.dataframe(
        frame,
        hide_index=True,
        key="train.past",
        column_config={
            "shown": st.column_config.TextColumn("Shown", width=60),
            "model": "Model",
            "settings": st.column_config.TextColumn(
                "Settings", help="Settings that differ from the defaults.", width=200
            ),
            "training s": st.column_config.NumberColumn("Training, s", format="%g"),
            "trained": "Trained",
            **{c: st.column_config.NumberColumn(c, format="%.2f") for c in numbers},
        },
    )
    st.caption("Measures in percent. To see a result, choose it at “Result shown” above.")
