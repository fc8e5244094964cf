"""Why a label: the words of the text, or the features, that speak for and against it."""

import streamlit as st

from pages.shared import format
from pages.shared.figures import charts
from pages.shared.rows import explaining, marked_text
from pages.shared.view import look, now
from xmlcore import explain, figures

BARS = 10  # features drawn
LABEL = "predict.label"  # key of the select box
CHOSEN = "predict.label chosen"  # key of st.session_state: (the text, the label chosen for it)


def why(found) -> int | None:
    """Show why the chosen label is predicted, and return the label; None when there is none to explain."""
    options = _options(found)
    if not options or not explain.can_explain(found.one.model):
        return None
    st.header("Why?")
    label = _choose(found, options)
    name = found.name(label)
    frame = explain.contributions(found.one.model, found.x, label)
    attrs, unit = frame.attrs, explaining.UNITS[found.kind]
    frame = explaining.named(frame, found.one.packed, found.kind)
    if found.question.text is not None:
        marked_text.show(found.question.text, found.one.packed.vectorizer, frame, name, found.kind)
    if frame.empty:
        st.caption("There are no features, so nothing contributes: every such row gets the same prediction.")
        return label
    figure = figures.contribution_bars(frame, BARS, unit=unit, title=f"Contributions to {explaining.in_title(name)}")
    rest = figure.layout.meta["others"]
    others = f" Hatched: the sum of the {format.count(rest, 'other')}." if rest else ""
    charts.show_figure(
        figure,
        frame,
        f"{found.one.files}-{found.question.file}-label{label}-contributions",
        f"What each feature adds to the score of **{format.plain(name)}**. {explaining.adds_up(attrs)}{others} The "
        "number beside a name is the feature’s value.",
        key="predict.contributions",
    )
    return label


def _options(found) -> dict[int, str]:
    """Return the labels that can be explained: those predicted, then true ones that are not; id -> text."""
    true, options = found.question.true, {}
    for place, label in enumerate(found.ranked.tolist(), 1):
        right = "" if true is None else ", right" if label in true else ", wrong"
        options[label] = f"{found.name(label)} – predicted {format.ordinal(place)}{right}"
    for label in sorted((true or frozenset()) - set(found.ranked.tolist())):
        options[label] = f"{found.name(label)} – true, not among the {found.k:,} predicted"
    return options


def _choose(found, options) -> int:
    """Return the label to explain: the one chosen for this row or text, else the first."""
    one, row = found.one, found.question.row
    if row is None:
        text, label = st.session_state.get(CHOSEN, (None, None))
        label = label if text == one.key else None
    else:  # the Explain page explains the same label of the same row
        label = now().label
    label = label if label in options else next(iter(options))
    st.session_state[LABEL] = label

    def remember():
        picked = st.session_state[LABEL]
        if row is None:
            st.session_state[CHOSEN] = one.key, picked
        elif isinstance(picked, int):
            look(label=picked)

    st.selectbox("Label explained", list(options), format_func=options.get, key=LABEL, on_change=remember, width=480)
    return label
