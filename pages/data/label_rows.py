"""The rows that have a label, or a set of labels."""

import pandas as pd
import streamlit as st

from pages.shared import format, tables
from pages.shared.figures import charts

SHOWN = 200  # most rows in the table


def show(data, every: pd.DataFrame, of: str, name: str) -> None:
    """Show rows, given by ``part`` and ``row``; ``of`` says what they have, and ``name`` is that of their file."""
    st.markdown(f"**Rows of {format.plain(of)}**")
    if every.empty:
        st.caption("No row has this label.")
        return
    shown = every.head(SHOWN)
    frame = pd.concat(
        [tables.rows(data, part, group["row"]).assign(part=part) for part, group in shown.groupby("part", sort=False)],
        ignore_index=True,
    )
    columns = [column for column in ("row", "part", "name", "text", "labels", "features") if column in frame]
    tables.show(
        frame[columns],
        f"rows-of-{name}",
        {
            "part": st.column_config.TextColumn("Part", width=75),
            "row": st.column_config.NumberColumn("Row", format="%d", width=65),
            "name": st.column_config.TextColumn("Name", width=200),
            "text": st.column_config.TextColumn("Text", width=300),
            "labels": st.column_config.TextColumn("Labels", width=390),
            "features": st.column_config.NumberColumn("Features", format="%d", width=75),
        },
        height=tables.height(len(frame), 300),
        placeholder="",
    )
    test = int((every["part"] == "test").sum())
    st.caption(
        f"Showing {len(shown):,} of {format.count(len(every), 'row')}: {len(every) - test:,} for training, {test:,} "
        "for the test. The section Rows shows the features of a row."
    )
    charts.csv_button("Rows, CSV", lambda: every, name, "All of these rows", key=f"{name}-csv")
