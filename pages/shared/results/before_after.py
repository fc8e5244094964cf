"""What a model predicts for a row before and after it was changed."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import format, tables
from pages.shared.rows import explaining
from xmlcore import explain

MOST_NAMED = 6  # labels in the sentence on what has moved


def show(names, model, before, after, k: int, key: str) -> str | None:
    """Say what has moved, and show a table of the labels with ranks and scores before and after."""
    try:
        labels = explain.what_if(model, before, after, k)
    except ValueError as error:  # such as a negative value, which not every model takes
        st.caption(format.plain(str(error)))
        return None
    if labels.empty:
        st.caption("The model predicts no label, before or after.")
        return None
    kind = explain.kind_of(model)
    shown = [names.label_name(int(j)) for j in labels["label"]]
    st.markdown(moved(labels, shown, kind, k))
    score, comma, unit = explaining.COLUMN[kind].partition(",")
    frame = pd.DataFrame(
        {
            "rank_after": labels["rank_after"],
            "rank_before": labels["rank_before"],
            "name": shown,
            "before": explaining.column(kind, labels["before"]),
            "after": explaining.column(kind, labels["after"]),
        }
    )
    scores = frame[["before", "after"]]
    tables.show(
        frame,
        key,
        {
            "rank_after": tables.number("Rank", 50, "%d"),
            "rank_before": tables.number("Was", 60, "%d", "Rank before the change."),
            "name": tables.text("Label"),
            "before": explaining.column_config(kind, scores, f"{score} before{comma}{unit}", 95),
            "after": explaining.column_config(kind, scores, f"{score} after{comma}{unit}", 95),
        },
        signs=explaining.signs(kind, "before", "after"),
    )
    return kind


def moved(labels, names, kind: str, k: int) -> str:
    """Return which labels come, go or change their rank, and which score moves most; for Markdown."""
    parts = []
    for name, line in zip(names, labels.itertuples()):
        was, now = line.rank_before, line.rank_after
        label = f"**{format.plain(name)}**"
        if pd.isna(was):
            parts.append(f"{label} is newly ranked {format.ordinal(now)}")
        elif pd.isna(now):
            parts.append(f"{label} is no longer among the first {k}")
        elif was != now:
            parts.append(f"{label} goes from {format.ordinal(was)} to {format.ordinal(now)}")
    if len(parts) > MOST_NAMED + 1:
        more = len(parts) - MOST_NAMED
        parts = [*parts[:MOST_NAMED], f"{more:,} more labels move, which the table has"]
    i = int(np.argmax((labels["after"] - labels["before"]).abs().to_numpy()))
    before, after = (explaining.score(kind, labels[way].iloc[i]) for way in ("before", "after"))
    if before == after:
        return f"{format.listed(parts)}." if parts else "No rank changes, and no score changes enough to be seen."
    ranks = format.listed(parts) if parts else "No rank changes"
    return f"{ranks}. **{format.plain(names[i])}** moves most, from {before} to {after}."
