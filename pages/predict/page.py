"""Predict: which labels does a model give a row or a text, and why?

Files beside it: ``shown`` (which model predicts), ``predictor`` (its facts), ``asked`` (the row or text that is
predicted, and changed), ``answer`` (sentence, table of labels, and why), ``decide`` (which labels are predicted),
``many`` (the rows of a file) with ``listed`` (their table, and how they are unlike), ``carry`` (models as files).
"""

import streamlit as st

from pages.predict import answer, asked, carry, decide, listed, many, shown
from pages.shared import door, format, sections
from pages.shared.figures import examples


def draw(ready) -> None:
    chosen = ready.run
    with ready.head.container(width="content"):
        way = asked.way(chosen, ready.fingerprint)
    above, sentence, picture = st.container(), st.container(), st.container()
    asking, controls = (above, st.container()) if way == asked.FILE else st.columns(2, gap="medium")
    with controls:
        of_model, of_label = st.columns(2)
        asked.choose_count(chosen)
    with of_model:
        ready.choose()
    with asking:
        question = many.ask(chosen) if way == asked.FILE else asked.ask(chosen, way)
    prediction = label = None
    if question is not None:
        prediction = answer.Prediction(chosen, question, asked.count(chosen))
        with sentence:
            answer.say(prediction)
            if way != asked.FILE:  # whose rows are compared together
                listed.typed_unlike(prediction)
        with of_label:
            label = answer.choose_label(prediction)
        with picture:
            answer.show(prediction, label)
    elif way in asked.MISSING:
        sentence.markdown(f"**{format.plain(chosen.title)}** predicts once there is {asked.MISSING[way]}.")
    further = {  # the same whatever text is typed, so that the open section does not change then
        "Contributions": lambda: answer.bars(prediction, label),
        "What if": lambda: asked.changed(prediction, label),
        "Decide": lambda: decide.decide(chosen, prediction),
        "Save the model": lambda: carry.take(chosen, ready.name or None, question),
        "Open a model": carry.open_model,
    }
    if not answer.marks_words(chosen, question):
        del further["Contributions"]  # they are drawn above
    sections.show("predict", further)


ASKED = "Which labels does a model give rows and texts that are new to it, and why?"
door.page("Predict", draw, shown.Predictors(ASKED, examples.labels, below=carry.open_model))
