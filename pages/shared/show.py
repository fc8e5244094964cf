"""Pieces that look the same on every page."""

import collections
import inspect

import numpy as np
import streamlit as st

from pages.shared import predictions, state, tables, text

# For tables in which some cells have no value: newer Streamlit can leave them empty.
EMPTY_CELLS = {"placeholder": ""} if "placeholder" in inspect.signature(st.dataframe).parameters else {}
LISTED_LABELS = 100  # offered at once
_UNITS = ((1, "s"), (1e3, "ms"), (1e6, "µs"))


def notice() -> None:
    """Say what happened since the last run of the script, once."""
    for message in state.take_notices():
        st.toast(text.plain(message), duration="long")


def features(frame, key: str, height: int) -> None:
    """A row's features: a table made by :func:`pages.shared.tables.features`."""
    st.dataframe(
        frame,
        hide_index=True,
        height=tables.height(len(frame), height),
        key=key,
        column_config={
            "feature": st.column_config.TextColumn("Feature"),
            "id": st.column_config.NumberColumn("Id", format="%d", width="small"),
            "value": st.column_config.NumberColumn("Value", format=tables.value_format(frame["value"]), width="small"),
        },
    )
    st.caption(tables.about_features(frame))


def choose_test_row(data, run, scope: str, key: str) -> int:
    """Let the user choose a test row, and head what follows with it.

    Parameters
    ----------
    data, run
        The data set, and the run whose worst mistakes are offered.
    scope : str
        What the choice belongs to: pages that share it look at the same row.
    key : str
        Of the number field, a key of :mod:`pages.shared.state`.
    """
    n = data.n_test
    row = min(max(state.chosen_row(scope), 0), n - 1)
    st.session_state[key] = row
    one, two, three = st.columns([2, 1, 1], vertical_alignment="bottom")
    with one:
        st.number_input(
            f"Test row, 0 to {n - 1:,}",
            min_value=0,
            max_value=n - 1,
            step=1,
            key=key,
            on_change=lambda: state.choose_row(scope, st.session_state[key]),
        )
    with two:
        st.button(
            "Random row",
            on_click=lambda: state.choose_row(scope, np.random.default_rng().integers(n)),
            width="stretch",
            key=f"{key}.random",
        )
    with three:
        mistakes = predictions.worst_mistakes(run.ranking, data.Y_test)
        st.button(
            "A worst mistake",
            on_click=_next_mistake,
            args=(scope, mistakes),
            disabled=mistakes.size == 0,
            width="stretch",
            key=f"{key}.mistake",
            help="Rows whose first label is wrong, the most confident first; each press shows the next.",
        )
    st.markdown(f"**{test_row_name(data, row)}**")
    return row


def choose_label(data, names, scope: str, key: str, query_key: str) -> int:
    """Let the user choose a label: one of the most frequent, or one that is searched for.

    Parameters
    ----------
    data
    names : DataFrame
        All labels, most frequent first: ``label``, ``name``.
    scope : str
        What the choice belongs to, for :func:`pages.shared.state.chosen_row`.
    key : str
        Of the select box, a key of :mod:`pages.shared.state`.
    query_key : str
        Of the field to search with.

    Returns
    -------
    int
        A search leads to the first label it finds, unless the one chosen is among those found; one that finds nothing
        changes nothing.
    """
    label = state.chosen_row(scope, -1)
    if not 0 <= label < data.n_labels:
        label = int(names["label"].iloc[0])

    def searched():
        asked = st.session_state[query_key]
        ids = tables.find_labels_or_id(names, asked)["label"].to_numpy()
        change = {scope: int(ids[0])} if asked.strip() and ids.size and label not in ids else {}

        def remember(workspace):
            workspace["widgets"][query_key] = asked
            workspace["rows"].update(change)

        state.update(remember)

    one, two = st.columns(2, vertical_alignment="bottom")
    with one:
        kept = state.keep(query_key, "", lambda value: isinstance(value, str))
        query = st.text_input(
            "Find labels by name or id",
            **{**kept, "on_change": searched, "args": ()},
            placeholder="part of a name; empty: the most frequent",
        )
    found = tables.find_labels_or_id(names, query)
    nothing = found.empty
    ids = (names if nothing else found)["label"]
    listed = ids.head(LISTED_LABELS).tolist()
    if label not in listed:
        listed = [label, *(listed[: LISTED_LABELS - 1] if len(listed) == LISTED_LABELS else listed)]
    some = f", {len(listed):,} of them here" if len(listed) < ids.size else ""
    searching = bool(query.strip()) and not nothing
    if searching and label not in ids.to_numpy():  # chosen elsewhere, or the search is that of another data set
        some = ", not the one shown"
    shown = {j: data.label_name(j) for j in listed}
    often = collections.Counter(shown.values())
    # A choice comes back as the text shown: equal names would all be the last one.
    shown = {j: name if name.strip() and often[name] == 1 else f"{name} ({j})".strip() for j, name in shown.items()}
    st.session_state[key] = label

    def chosen():
        # A text of the options before, when a second change was sent before the browser had these.
        if st.session_state[key] in listed:
            state.choose_row(scope, st.session_state[key])

    with two:
        st.selectbox(
            f"{text.count(ids.size, 'label')}{' found' if searching else ''}{some}",
            listed,
            format_func=shown.get,
            key=key,
            on_change=chosen,
        )
    if nothing:
        st.caption(f"No label has “{text.plain(query.strip())}” in its name or as its id. Try a shorter part of it.")
    return label


def test_row_name(data, row: int) -> str:
    """``Test row 17``, with its name where rows have names; for Markdown."""
    names = tables.part(data, "test")[2]
    return f"Test row {row:,}" + (f": {text.plain(names[row])}" if names is not None else "")


def _next_mistake(scope, mistakes):
    seen = np.flatnonzero(mistakes == state.chosen_row(scope))
    state.choose_row(scope, mistakes[(seen[0] + 1) % mistakes.size if seen.size else 0])


def predicted(data, run, row: int, k: int, key: str, extra=None, extra_config=None) -> None:
    """The labels predicted for a test row beside the truth; ``extra`` adds columns to the table of labels."""
    frame = predictions.one_row(data, run.ranking, row, k)
    if frame.empty:
        st.caption("The model predicts no label for this row.")
    else:
        st.dataframe(
            frame if extra is None else extra(frame),
            hide_index=True,
            key=key,
            column_config={
                "rank": st.column_config.NumberColumn("Rank", format="%d", width=50),
                "name": st.column_config.TextColumn("Predicted label", width=180),
                "correct": st.column_config.TextColumn("Right?", width=80),
                "score": st.column_config.ProgressColumn(
                    "Score", format="%.3f", min_value=0.0, max_value=_longest(run, frame["score"]), width=130
                ),
                "label": st.column_config.NumberColumn("Id", format="%d", width=70),
                **(extra_config or {}),
            },
        )
    true = tables.ids(data.Y_test, row)
    missed = predictions.missed(data, run.ranking, row, k)
    if true.size == 0:
        st.markdown("This row has no true labels, so nothing can be right here.")
    elif missed:
        st.markdown(
            f"**Missed, {len(missed)} of {text.count(true.size, 'true label')}:** "
            + ", ".join(text.plain(m) for m in missed)
        )
    else:
        st.markdown(f"Nothing missed: {_all(true.size)} among the predictions.")


def _longest(run, scores):
    """The score of a whole bar: probabilities reach 1, shares of a leaf's label occurrences hardly ever do."""
    return float(scores.max()) if run.model == "LdSM" and scores.max() > 0 else 1.0


def _all(n):
    return "the one true label is" if n == 1 else f"all {n} true labels are"


def duration(seconds: float) -> str:
    """A measured time with the two digits that mean something: ``7.1 µs``, ``0.14 s``, ``12 s``, ``2 min 05 s``."""
    if not seconds > 0:
        return "0 s"
    if seconds >= 59.5:
        return text.seconds(seconds)
    factor, unit = next((scale for scale in _UNITS if seconds * scale[0] >= 0.0995), _UNITS[-1])
    return f"{_two_digits(seconds * factor)} {unit}"


def in_seconds(seconds: float) -> float:
    """The same digits as :func:`duration`, as a number for a column."""
    return float(_two_digits(seconds)) if seconds >= 0.0995 else float(f"{seconds:.2g}")


def _two_digits(value):
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def cards(values: list) -> None:
    """Metric cards in a row that wraps: ``(label, value, help)`` each."""
    with st.container(horizontal=True, gap="small"):
        for label, value, help in values:
            st.metric(label, value, help=help, border=True, width="stretch")
