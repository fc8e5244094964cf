"""Predict: which labels does a model give a row or a text, and why?"""

import streamlit as st

from pages.predict import answer, asked, decide, many, predictor
from pages.shared import door, sections


def draw(ready) -> None:
    chosen = ready.run
    with ready.head.container(width="content"):
        way = asked.way(chosen, ready.fingerprint)
    above, sentence, picture = st.container(), st.container(), st.container()
    asking, controls = (above, st.container()) if way == asked.FILE else st.columns(2, gap="medium")
    with controls:
        of_model, of_label = st.columns(2)
        of_count, of_allowed = st.columns(2)
    with of_count:
        asked.choose_count(chosen)
    with of_allowed:
        allowed = asked.choose_allowed(chosen)
    with of_model:
        ready.choose()
    with asking:
        question = many.ask(chosen, allowed) if way == asked.FILE else asked.ask(chosen, way)
    with sentence:
        prediction = answer.say(chosen, question, way, allowed)
    with of_label:
        label = answer.choose_label(prediction)
    with picture:
        answer.show(prediction, label)
    further = {  # the same whatever text is typed, so that the open section does not change then
        "Contributions": lambda: answer.bars(prediction, label),
        "Rows like this one": lambda: answer.rows_like(prediction, label),
        "Decide": lambda: decide.decide(chosen, prediction, allowed),
        "Save the model": lambda: predictor.take(chosen, ready.name or None, question),
        "Open a model": predictor.open_model,
    }
    if chosen.data is None:
        del further["Rows like this one"]  # there are no training rows
    if not answer.marks_words(chosen, question):
        del further["Contributions"]  # they are drawn above
    sections.show("predict", further)


ASKED = "Which labels does a model give rows and texts that are new to it, and why?"
door.page("Predict", draw, predictor.Predictors(ASKED, below=predictor.open_model))
