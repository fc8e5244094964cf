"""What papers print for the test rows of the data set in use: beside the table of results, not run here."""

import streamlit as st

from pages.compare import listed
from pages.shared import door, format, tables
from xmlcore import papers


def show(choice) -> None:
    """Show published rankings measured on the rows of the data set in use, if there are any."""
    used = door.in_use()
    if used.data is None or (frame := papers.published(used.data)).empty:
        return
    measures = [name for name in dict.fromkeys((choice.measure, *frame.columns)) if name in listed.MEASURED]
    shown = [name for name in measures if name in frame]
    first = shown[0]
    frame = frame.sort_values(first, ascending=False, kind="stable")
    columns = {
        first: tables.bar(first, 130, form="%.2f"),
        "method": tables.text("Method", 240),
        **{name: tables.number(name, 68, "%.2f") for name in shown[1:]},
        "source": tables.text("Source", 200),
    }
    with st.expander(f"Published: {format.count(len(frame), 'method')}, not run here", icon=":material/menu_book:"):
        st.caption(f"Printed for the rows and the split of **{format.plain(used.name)}**, by their sizes; in percent.")
        tables.show(frame, "compare.published", columns, first=tuple(columns), most=320)
