"""Why a label: the words of the text, or the features, that speak for and against it."""

import streamlit as st

from pages.shared import fields
from pages.shared.rows import explaining, marked_text
from pages.shared.view import look, now
from xmlcore import explain

LABEL = "predict.label"  # key of the select box
CHOSEN = "predict.label chosen"  # key of st.session_state: (the text, the label chosen for it)


def why(found) -> int | None:
    """Show why the chosen label is predicted, and return the label; None when there is none to explain."""
    options = explaining.label_options(found.one.packed, found.ranked, found.question.true, found.k)
    if not options or not explain.can_explain(found.one.model):
        return None
    st.header("Why?")
    label = _choose(found, options)
    name = found.name(label)
    frame = explain.contributions(found.one.model, found.x, label)
    attrs = frame.attrs
    frame = explaining.named(frame, found.one.packed, found.kind)
    if found.question.text is not None:
        marked_text.show(found.question.text, found.one.packed.vectorizer, frame, name, found.kind)
    if frame.empty:
        st.caption("There are no features, so nothing contributes: every such row gets the same prediction.")
        return label
    file = f"{found.one.files}-{found.question.file}-label{label}"
    explaining.show_contributions(frame, attrs, name, file, "predict.contributions")
    return label


def _choose(found, options) -> int:
    one, row = found.one, found.question.row
    if row is None:
        text, label = st.session_state.get(CHOSEN, (None, None))
        label = label if text == one.key else None
    else:  # the Explain page explains the same label of the same row
        label = now().label
    label = label if label in options else next(iter(options))

    def remember(picked):
        if row is None:
            st.session_state[CHOSEN] = one.key, picked
        elif isinstance(picked, int):
            look(label=picked)

    fields.pick("Label explained", options, LABEL, label, remember, width=480)
    return label
