"""A text on a page, with the words marked that speak for and against a label."""

import streamlit as st

from pages.shared import format
from pages.shared.rows import explaining, highlight


def show(text: str, vectorizer, found, name: str, kind: str, what: str = "Text") -> None:
    if kind == "score":
        st.caption("This model compares the text as a whole with each label, so single words have no contributions.")
        return
    given = dict(zip(found["feature"].tolist(), found["contribution"].tolist()))
    try:
        spans = vectorizer.spans(text)
    except ValueError as error:  # the data set has a pattern of words that takes too long
        st.error(f"The words of the text cannot be found: {format.plain(str(error))}")
        return
    st.html(highlight.page(text, spans, given, name, explaining.UNITS[kind], what))
