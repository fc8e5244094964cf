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
    tables.show(
        with_contents(data, shown),
        f"rows-of-{name}",
        {
            "row": tables.number("Row", 65, "%d"),
            "part": tables.text("Part", 75),
            "name": tables.text("Name", 200),
            "text": tables.text("Text", 300),
            "labels": tables.text("Labels", 390),
            "features": tables.number("Features", 75, "%d"),
        },
        most=300,
    )
    test = int((every["part"] == "test").sum())
    st.caption(
        f"Showing {len(shown):,} of {format.count(len(every), 'row')}: {len(every) - test:,} for training, {test:,} "
        "for the test. The section Rows shows the features of a row."
    )

    def in_full():
        contents = with_contents(data, every)
        return contents.assign(labels=contents["labels"].map(", ".join))

    charts.csv_button("Rows, CSV", in_full, name, "All of these rows", key=f"{name}-csv")


def with_contents(data, rows) -> pd.DataFrame:
    """Return rows with their names, texts and labels."""
    parts = rows.groupby("part", sort=False)["row"]
    return pd.concat([tables.rows(data, part, group).assign(part=part) for part, group in parts], ignore_index=True)
