"""The row or the text, changed by hand: what would the model predict then?"""

import hashlib

import streamlit as st

from pages.predict import asked
from pages.shared import format
from pages.shared.results import before_after
from pages.shared.rows import explaining, row_editor
from xmlcore import explain


def changed(prediction, label: int | None) -> None:
    """Show an editor of the row or the text, and the labels before and after; ``label`` is the one explained."""
    if prediction is None:
        st.caption("Change words or features of what is predicted here, and see which labels come and go.")
    elif prediction.problem:
        st.caption("The model cannot predict this, so there is nothing to change here.")
    elif prediction.question.file == asked.TYPED_FEATURES:
        st.caption("Change the features above: the labels change at once.")
    elif prediction.question.text is None:
        _features(prediction)
    else:
        _text(prediction, label)


def _features(prediction) -> None:
    st.header("What if the row were different?")
    predictor = prediction.predictor
    editor = row_editor.Editor(
        "predict.changed", predictor.packed, prediction.x, (predictor.key, prediction.question.file)
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        after = editor.show()
    with right:
        editor.add()
    changes = row_editor.changes(predictor.packed, prediction.x, after)
    if not changes:
        st.caption("Change a value, drop a feature or add one, and the model predicts again.")
        return
    st.markdown(f"Changed: {format.listed(changes)}.")
    before_after.show(predictor.packed, predictor.model, prediction.x, after, prediction.k, "predict.before after")


def _text(prediction, label) -> None:
    st.header("What if the text were different?")
    predictor = prediction.predictor
    text = prediction.question.text.replace("\r\n", "\n").replace("\r", "\n")  # as a browser returns it
    most = max(asked.LONGEST_TEXT, len(text))
    key = f"predict.changed text {hashlib.blake2b(text.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
    left, right = st.columns([2, 3], gap="large")
    with left:
        typed = st.text_area("Change words here", value=text, key=key, height=220, max_chars=most)
        st.button(
            "Undo changes",
            key="predict.changed.undo",
            on_click=st.session_state.update,
            args=({key: text},),
            disabled=typed == text,
        )
    with right:
        if typed == text:
            st.caption("Change, add or remove a word, and the labels before and after stand here.")
            return
        after = asked.vector(predictor, typed)
        if after is None:
            return
        changes = row_editor.changes(predictor.packed, prediction.x, after)
        before_after.show(predictor.packed, predictor.model, prediction.x, after, prediction.k, "predict.before after")
    if not changes:
        st.caption("The model does not see this change: no word that it knows has come, gone or changed its weight.")
    elif label is not None and predictor.kind != "score":
        st.caption(f"The changed text, with words for and against {format.plain(prediction.name(label))}:")
        frame = explaining.named(explain.contributions(predictor.model, after, label), predictor.packed, predictor.kind)
        explaining.show_text(
            typed, predictor.packed.vectorizer, frame, prediction.name(label), predictor.kind, "Changed text"
        )
