"""Predict: which labels does a model give a row or a text, and why?

This file says what is where. Files beside it: ``predictor`` (the model that predicts), ``asked`` (the row or text that
is predicted, and changed), ``answer`` (sentence, table of labels, and why), ``decide`` (which labels are predicted),
``many`` (the rows of a file) with ``listed`` (their table, and how they are unlike), ``carry`` (models as files).
"""

import streamlit as st

from pages.predict import answer, asked, carry, decide, listed, many, predictor
from pages.shared import begin, format, sections
from pages.shared.figures import examples
from pages.shared.results import results, run_names


def main() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title("Predict", width="content")
        ways = st.container(width="content")
    used = begin.dataset(ready="Models can be trained on it and predict", without="no model of this workspace predicts")
    fingerprint = None if used is None else used.fingerprint
    runs = [] if used is None else results.with_model(fingerprint)
    carry.choose_opened(fingerprint)
    opened = predictor.opened()
    if not runs and not opened:
        if used is not None:
            text = "Which labels does a model give rows and texts that are new to it, and why?"
            begin.no_run(used, "predict", text, example=examples.labels)
        carry.open_model()
        return
    by_key, titles = {r["key"]: r for r in runs}, run_names.names(runs) | opened
    key = predictor.chosen(fingerprint, runs, opened)
    chosen = predictor.read(key, used, by_key.get(key), titles[key])
    if chosen is None:
        predictor.choose(fingerprint, titles, key, many.NO_FILE)
        if key in by_key:
            begin.watch_training(fingerprint, key=results.key_now(by_key[key]))
        carry.open_model()
        return
    with ways:
        way = asked.way(chosen, fingerprint)
    above, sentence, picture = st.container(), st.container(), st.container()
    asking, controls = (above, st.container()) if way == asked.FILE else st.columns(2, gap="medium")
    with controls:
        of_model, of_label = st.columns(2)
        asked.choose_count(chosen)
    with of_model:
        predictor.choose(fingerprint, titles, key, many.looked_at(chosen) if way == asked.FILE else many.NO_FILE)
    if key in by_key:
        results.mark(by_key[key])
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
        "Save the model": lambda: carry.take(chosen, None if used is None else used.name, question),
        "Open a model": carry.open_model,
    }
    if not answer.marks_words(chosen, question):
        del further["Contributions"]  # they are drawn above
    sections.show("predict", further)


main()
