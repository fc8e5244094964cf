"""Why a label: the words of the text, or the features, that speak for and against it."""

import streamlit as st

from pages.shared import fields
from pages.shared.rows import explaining
from pages.shared.view import look, now
from xmlcore import explain

LABEL = "predict.label"  # key of the select box
CHOSEN = "predict.label chosen"  # key of st.session_state: (the text, the label chosen for it)


def choose(answer) -> int | None:
    """Show the choice of the label that is explained, and return it; None when there is none to explain."""
    options = explaining.label_options(answer.predictor.packed, answer.ranked, answer.question.true)
    if not options or not explain.can_explain(answer.predictor.model):
        return None
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
        else:
            look(label=picked)

    fields.pick("Label explained", options, LABEL, label, remember)
    return label


def show(answer, label: int | None) -> None:
    """Show the text with its words marked, or else what each feature contributes."""
    text, predictor = answer.question.text, answer.predictor
    if label is None:
        return
    if explaining.marks_words(text, answer.kind):
        explaining.show_text(text, predictor.packed.vectorizer, _frame(answer, label), answer.name(label), answer.kind)
    else:
        bars(answer, label)


def marks_words(predictor, question) -> bool:
    """Return whether words are marked, also in a text that is still to come, so that bars are drawn elsewhere."""
    text = question.text if question is not None else "" if predictor.packed.is_text else None
    return explaining.marks_words(text, predictor.kind)


def contributions(answer, label: int | None) -> None:
    """Draw what each feature contributes."""
    if label is None:
        st.caption("There is no label to explain.")
    else:
        bars(answer, label)


def _frame(answer, label):
    frame = explain.contributions(answer.predictor.model, answer.x, label)
    return explaining.named(frame, answer.predictor.packed, answer.kind)


def bars(answer, label: int) -> None:
    frame = _frame(answer, label)
    if frame.empty:
        st.caption("There are no features, so nothing contributes: every such row gets the same answer.")
        return
    file = f"{answer.predictor.files}-{answer.question.file}-label{label}"
    explaining.show_contributions(frame, frame.attrs, answer.name(label), file, "predict.contributions")
