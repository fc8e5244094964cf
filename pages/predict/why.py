"""Why a label: the words of the text, or the features, that speak for and against it."""

import streamlit as st

from pages.shared import fields
from pages.shared.rows import explaining
from pages.shared.view import look, now
from xmlcore import explain

LABEL = "predict.label"  # key of the select box
CHOSEN = "predict.label chosen"  # key of st.session_state: (the text, the label chosen for it)


def why(answer) -> int | None:
    """Show why the chosen label is predicted, and return the label; None when there is none to explain."""
    options = explaining.label_options(answer.predictor.packed, answer.ranked, answer.question.true, answer.k)
    if not options or not explain.can_explain(answer.predictor.model):
        return None
    st.header("Why?")
    label = _choose(answer, options)
    name = answer.name(label)
    frame = explain.contributions(answer.predictor.model, answer.x, label)
    attrs = frame.attrs
    frame = explaining.named(frame, answer.predictor.packed, answer.kind)
    if answer.question.text is not None:
        explaining.show_text(answer.question.text, answer.predictor.packed.vectorizer, frame, name, answer.kind)
    if frame.empty:
        st.caption("There are no features, so nothing contributes: every such row gets the same answer.")
        return label
    file = f"{answer.predictor.files}-{answer.question.file}-label{label}"
    explaining.show_contributions(frame, attrs, name, file, "predict.contributions")
    return label


def _choose(answer, options) -> int:
    predictor, row = answer.predictor, answer.question.row
    if row is None:
        text, label = st.session_state.get(CHOSEN, (None, None))
        label = label if text == predictor.key else None
    else:  # the Explain page explains the same label of the same row
        label = now().label
    label = label if label in options else next(iter(options))

    def remember(picked):
        if row is None:
            st.session_state[CHOSEN] = predictor.key, picked
        elif isinstance(picked, int):
            look(label=picked)

    fields.pick("Label explained", options, LABEL, label, remember, width=480)
    return label
