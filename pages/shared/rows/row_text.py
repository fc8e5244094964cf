"""The text of a row, where rows are made from texts."""

import html

import streamlit as st

from pages.shared import format, tables
from xmlcore.datasets.readers.names import visible

MOST = 20_000  # characters that are shown
STYLE = (
    "white-space: pre-wrap; overflow-wrap: anywhere; max-height: 14rem; overflow-y: auto; padding: 0.5rem 0.75rem; "
    "border: 1px solid rgba(128, 140, 150, 0.5); border-radius: 0.25rem; line-height: 1.5;"
)


def show(data, part: str, row: int) -> None:
    """Show the text of a row, in a box that scrolls if it is long; nothing where rows have no texts."""
    texts = tables.texts(data, part)
    text = None if texts is None else texts[row]
    if text is None:
        return
    if not text.strip():
        st.caption("The text of this row is empty.")
        return
    lines = "\n".join(visible(line) for line in text[:MOST].replace("\r\n", "\n").split("\n"))
    # A region that scrolls can be reached by the keyboard, and has a name for screen readers.
    st.html(f'<div role="region" aria-label="Text of the row" tabindex="0" style="{STYLE}">{html.escape(lines)}</div>')
    if len(text) > MOST:
        st.caption(f"Showing {MOST:,} of {format.count(len(text), 'character')}.")
