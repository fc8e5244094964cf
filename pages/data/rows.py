"""Single rows on the Data page: search, labels and features."""

import numpy as np
import streamlit as st

from pages.shared import fields, format, selectors, tables
from pages.shared.rows import row_text
from pages.shared.view import look, now

SHOWN_ROWS = 200  # most rows in the table
DRAWN = "rows.drawn"  # key of st.session_state: how often a row was drawn, as a new table has the tick of the new row


def show(data, fingerprint) -> None:
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
    row = row if row in found else next(iter(found.tolist()), 0)

    def another():
        look(**{part: np.random.default_rng().choice(found[found != row])})
        st.session_state[DRAWN] = st.session_state.get(DRAWN, 0) + 1

    button_box.button("Random row", disabled=found.size < 2, width="stretch", on_click=another)
    if found.size == 0:
        st.info(f"No {part} row has “{format.plain(query)}” in it. Try a shorter part of a name.")
        return
    listed = found[:SHOWN_ROWS] if row in found[:SHOWN_ROWS] else np.append(row, found[: SHOWN_ROWS - 1])
    key = f"rows.table.{fingerprint} {part}.{query}.{listed[0]}.{st.session_state.get(DRAWN, 0)}"
    left, right = st.columns([3, 2], gap="medium")
    with left:
        frame = tables.rows(data, part, listed)
        tables.show(
            frame,
            key,
            tables.OF_ROWS,
            first=("text" if "text" in frame else "name", "labels", "row", "features"),
            **tables.on_tick(key, listed, lambda chosen: look(**{part: chosen})),
            **tables.ticked(np.flatnonzero(listed == row).tolist()),
        )
        tables.counted(listed.size, found.size, f"{part} row", "in their order. Tick one to see its features.")
    with right:
        one_row(data, X, Y, names, part, row)


def one_row(data, X, Y, names, part, row):
    name = "" if names is None else f": {format.plain(names[row])}"
    st.markdown(f"**{part.capitalize()} row {row:,}{name}**")
    labels = tables.label_names(data, tables.ids(Y, row))
    st.markdown(f"Labels: {', '.join(map(format.plain, labels)) or 'none'}")
    row_text.show(data, part, row)
    tables.show_features(tables.features(data, X, row), "rows.features")
