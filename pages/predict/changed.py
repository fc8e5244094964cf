"""The row or the text, changed by hand: what would the model predict then?"""

import hashlib

import streamlit as st

from pages.predict import asked
from pages.shared import format
from pages.shared.results import before_after
from pages.shared.rows import explaining, marked_text, row_editor
from xmlcore import explain


def changed(found, label: int | None) -> None:
    """Show an editor of the row or the text, and the labels before and after; ``label`` is the one explained."""
    if found is None:
        st.caption("Change words or features of what is predicted here, and see which labels come and go.")
    elif found.problem:
        st.caption("The model cannot predict this, so there is nothing to change here.")
    elif found.question.file == asked.TYPED_FEATURES:
        st.caption("Change the features above: the labels change at once.")
    elif found.question.text is None:
        _features(found)
    else:
        _text(found, label)


def _features(found) -> None:
    st.header("What if the row were different?")
    one = found.one
    editor = row_editor.Editor("predict.changed", one.packed, found.x, (one.key, found.question.file))
    left, right = st.columns([3, 2], gap="large")
    with left:
        after = editor.show()
    with right:
        editor.add()
    changes = row_editor.changes(one.packed, found.x, after)
    if not changes:
        st.caption("Change a value, drop a feature or add one, and the model predicts again.")
        return
    st.markdown(f"Changed: {format.listed(changes)}.")
    before_after.show(one.packed, one.model, found.x, after, found.k, "predict.before after")


def _text(found, label) -> None:
    st.header("What if the text were different?")
    one = found.one
    text = found.question.text.replace("\r\n", "\n").replace("\r", "\n")  # as a browser returns it
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
        after = asked.vector(one, typed)
        if after is None:
            return
        changes = row_editor.changes(one.packed, found.x, after)
        before_after.show(one.packed, one.model, found.x, after, found.k, "predict.before after")
    if not changes:
        st.caption("The model does not see this change: no word that it knows has come, gone or changed its weight.")
    elif label is not None and one.kind != "score":
        st.caption(f"The changed text, with words for and against {format.plain(found.name(label))}:")
        frame = explaining.named(explain.contributions(one.model, after, label), one.packed, one.kind)
        marked_text.show(typed, one.packed.vectorizer, frame, found.name(label), one.kind, "Changed text")
