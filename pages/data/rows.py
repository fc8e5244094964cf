"""Single rows on the Data page: search, labels and features."""

import numpy as np
import streamlit as st

from pages.shared import fields, format, selectors, tables
from pages.shared.rows import row_text
from pages.shared.view import look, now

SHOWN_ROWS = 200  # most rows in the table


def show(data, fingerprint) -> None:
    """Show rows that can be searched, and the labels and features of one of them."""
    part_box, query_box, button_box = st.columns([2, 3, 1], vertical_alignment="bottom")
    parts = {part: f"{part.capitalize()} rows" for part in tables.PARTS}
    part = fields.radio("Part", parts, "rows.part", "training", place=part_box)
    X, Y, names = tables.part(data, part)
    query = fields.text(
        "Find rows by label, feature, name or text",
        selectors.query_key("rows.query", data),
        place=query_box,
        placeholder="part of a name or a text",
        help="Finds rows that have these characters in this order, in upper or lower case.",
    )
    found = tables.find_rows(data, part, query)
    row = getattr(now(), part)
    shown = row if row is not None else int(found[0]) if found.size else 0
    take = {"on_click": _look_at_random_row, "args": (fingerprint, part, found, shown)}
    button_box.button("Random row", disabled=found.size < 2, width="stretch", **take)
    if found.size == 0:
        st.info(f"No {part} row has “{format.plain(query)}” in it. Try a shorter part of a name.")
        return
    row, key, listed = _listed(fingerprint, part, query, found)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        frame = tables.rows(data, part, listed)
        tables.show(
            frame,
            key,
            {
                "text": tables.text("Text", 300),
                "name": tables.text("Name", 170),
                "labels": tables.text("Labels", 270),
                "row": tables.number("Row", 60, "%d"),
                "features": tables.number("Features", 70, "%d"),
            },
            on_select=lambda: _select_row(part, key, listed),
            selection_mode="single-row",
            first=("text" if "text" in frame else "name", "labels", "row", "features"),
        )
        counted = format.showing(listed.size, found.size, f"{part} row")
        st.caption(f"{counted}. Tick one to see its features; the row viewed last comes first.")
    with right:
        _one_row(data, X, Y, names, part, row)


def _listed(fingerprint, part, query, rows):
    # The ticked row is shown, or else the first one listed. Ticks belong to a table and its positions, so the rows of a
    # table must not change while it exists. Only a new table (after another search, a random row or a page switch)
    # lists rows anew, and then begins with the row that the user viewed last.
    row, remembered = getattr(now(), part), f"rows.first {fingerprint} {part}"
    first = st.session_state.get(remembered, -1)

    def key(first):
        return f"rows.table.{fingerprint} {part}.{first}.{query}"

    if key(first) not in st.session_state and row is not None and row != first and row in rows:
        first = st.session_state[remembered] = row
    listed = tables.listed_rows(rows, first, SHOWN_ROWS)
    if row not in listed:
        row = int(listed[0])
    return row, key(first), listed


def _one_row(data, X, Y, names, part, row):
    name = "" if names is None else f": {format.plain(names[row])}"
    st.markdown(f"**{part.capitalize()} row {row:,}{name}**")
    labels = tables.label_names(data, tables.ids(Y, row))
    st.markdown(f"Labels: {', '.join(map(format.plain, labels)) or 'none'}")
    row_text.show(data, part, row)
    frame = tables.features(data, X, row)
    if frame.empty:
        st.caption("This row has no features.")
        return
    tables.show_features(frame, key="rows.features")


def _look_at_random_row(fingerprint, part, rows, shown):
    """Choose a random row among ``rows``, other than the row ``shown``; called by the button."""
    others = rows[rows != shown] if rows.size > 1 else rows
    row = int(others[np.random.default_rng().integers(others.size)])
    look(**{part: row})
    # A new key makes a new table, without the tick of the old table.
    st.session_state[f"rows.first {fingerprint} {part}"] = row


def _select_row(part, key, listed):
    ticked = st.session_state[key]["selection"]["rows"]
    look(**{part: listed[ticked[0] if ticked and ticked[0] < listed.size else 0]})
