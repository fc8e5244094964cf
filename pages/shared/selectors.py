"""Controls that choose a test row or a label, the same on every page."""

import numpy as np
import streamlit as st

from pages.shared import cached, fields, format, tables
from pages.shared.results import predictions
from pages.shared.view import OF, look, now
from pages.shared.workspaces import workspace

SHOWN = "selectors.row"  # key of st.session_state: the test row shown last, after the fingerprint of its data set
LISTED_LABELS = 100  # labels in the select box at most


def choose_test_row(data, run, key: str) -> int:
    """Let the user choose a test row, and write its name as a heading."""
    n = data.n_test
    row = looked_at_row(data, run)
    st.session_state[key] = row
    # A row that wraps: on a narrow page the buttons stand below the field, in full.
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.number_input(
            f"Test row, 0 to {n - 1:,}",
            min_value=0,
            max_value=n - 1,
            step=1,
            key=key,
            width=190,
            on_change=lambda: look(row=st.session_state[key]),
        )
        st.button("Random row", on_click=lambda: look(row=np.random.default_rng().integers(n)), key=f"{key}.random")
        mistakes = predictions.worst_mistakes(run.ranking, data.Y_test)
        st.button(
            "Next confident mistake",
            on_click=_next_mistake,
            args=(mistakes, row),
            disabled=mistakes.size == 0,
            key=f"{key}.mistake",
            help="Shows a row whose first predicted label is wrong: the one with the highest score first. Some such "
            "labels are right, and missing in the data. Each press shows the next.",
        )
    worst = ", the most confident mistake" if mistakes.size and row == mistakes[0] else ""
    st.markdown(f"**{test_row_name(data, row)}**{worst}")
    return row


def looked_at_row(data, run) -> int:
    """Return the test row in view: at first the most confident mistake of the run, which tells most."""
    row = now().row
    if row is None:
        mistakes = predictions.worst_mistakes(run.ranking, data.Y_test, 1)
        row = int(mistakes[0]) if mistakes.size else 0
    st.session_state[SHOWN] = data.fingerprint, min(row, data.n_test - 1)
    return st.session_state[SHOWN][1]


def stay_at_row(fingerprint: str | None) -> None:
    """Look at the test row of a data set that is shown, also by another model, which would begin with another row."""
    of, row = st.session_state.get(SHOWN, (None, None))
    if of == fingerprint and now().row is None and row is not None:
        look(row=row, **{name: getattr(now(), name) for name in OF["row"]})


def query_key(name: str, data) -> str:
    """Return the key of a search field: a query for one data set is not repeated in the next."""
    return f"{name} {data.fingerprint}"


def choose_label(data, field: str, key: str, query_field: str, first: int | None = None, **also) -> int:
    """Let the user choose a label: one of the most frequent ones, or one that a search finds."""
    names = cached.label_names(data.fingerprint)
    label, search = getattr(now(), field), query_key(query_field, data)
    if label is None or label >= data.n_labels:
        label = int(names["label"].iloc[0]) if first is None else first

    def searched():
        """Remember the search, and choose its first result when the label shown is not among its results."""
        typed = st.session_state[search]
        ids = tables.find_labels(names, typed)["label"].to_numpy()
        if first is not None and not typed.strip():
            look(**{field: None}, **also)
        elif typed.strip() and ids.size and label not in ids:
            look(**{field: ids[0]}, **also)
        workspace.remember(search, typed)

    left, right = st.columns(2, vertical_alignment="bottom")
    typed = workspace.keep(search, "", lambda value: isinstance(value, str)) | {"on_change": searched, "args": ()}
    query = left.text_input("Find labels by name or id", **typed, placeholder="part of a name").strip()
    found = tables.find_labels(names, query)
    ids = (names if found.empty else found)["label"]
    listed = ids.head(LISTED_LABELS).tolist()
    if label not in listed:
        listed = [label, *listed[: LISTED_LABELS - 1]]
    state = "found" if query and not found.empty else "listed"
    number = f"{len(listed):,} of {ids.size:,} {state}" if len(listed) < ids.size else f"{ids.size:,} {state}"
    if state == "found" and label not in ids.to_numpy():  # chosen elsewhere
        number = f"{ids.size:,} found, not the one shown"
    shown = {j: data.label_name(j) for j in listed}
    with right:
        fields.pick(f"Label ({number})", shown, key, label, lambda chosen: look(**{field: chosen}, **also))
    if found.empty:
        st.caption(f"No label has “{format.plain(query)}” in its name or as its id. Try a shorter part of it.")
    return label


def test_row_name(data, row: int) -> str:
    names = tables.part(data, "test")[2]
    return f"Test row {row:,}" + (f": {format.plain(names[row])}" if names is not None else "")


def _next_mistake(mistakes, row):
    """Choose the mistake after the row shown, or the worst one when the row shown is no mistake."""
    seen = np.flatnonzero(mistakes == row)
    look(row=mistakes[(seen[0] + 1) % mistakes.size if seen.size else 0])
