"""The Train page: how well does a model predict this data set's labels?

answer.py has the sentence, the cards and the figures of a run (one model, trained and measured), controls.py the form
that trains a model, listed.py the choice of the run shown and of the model to train next. sections.py lists what is
below: labels.py (labels, pairs of them, single rows), measures.py (all measures, calibration, what more data would
give) and about.py (its size and settings). trying.py tries settings, tried.py shows what came of it.
"""

import streamlit as st

from pages.shared import actions, door, sections
from pages.train import answer, controls, listed
from pages.train.sections import of_page


def draw(ready) -> None:
    answer.sentence(ready)
    if ready.run is not None:
        answer.show(ready.run, ready.record)
    with st.container(key="controls-first"):  # on a phone the button comes first: see pages/shared/frame.py
        right, left = st.columns([1, 3], gap="medium")
    with left:
        listed.show_figures(ready)
    with right:
        listed.choose(ready.records, ready.record)
        # A fragment, so that typing does not draw the results again.
        actions.form(controls.show, ready.data, ready.fingerprint, ready.record)
        door.watch_training(ready.fingerprint)
    if further := of_page(ready):
        sections.show("train", further)


door.page("Train", draw, door.Runs(measures=True))
