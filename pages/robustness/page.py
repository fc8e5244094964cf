"""Robustness: how much worse does a model predict when its inputs are noisy or attacked?"""

import streamlit as st

from pages.robustness import answer, choices, details, measured
from pages.shared import door, sections


def draw(ready) -> None:
    sentence = st.empty()
    left, right = st.columns([2, 1], gap="large")
    with right:
        runs = choices.choose_runs(ready)
        settings = choices.choose_noise(ready, runs)
        found = measured.measure(ready, runs, settings)
        st.caption(" ".join(filter(None, choices.notes(ready, found, settings))))
        choices.watch_trainings(ready)
    sentence.markdown(answer.sentence(ready.name, found), help=answer.SIGNIFICANT)
    with left:
        answer.figures_of(found, ready.data)
        if found.measurements is not None:
            answer.losses(found.measurements)
    further, measurements = {}, found.measurements
    if measurements is not None and not measurements.certified:
        further = {
            "At one level": lambda: details.at_one_level(measurements),
            "Head, torso and tail": lambda: details.buckets(measurements, ready.data.n_labels),
            "Prediction time": lambda: details.times(ready, found.compared, measurements),
        }
    if found.compared and settings.changes_rows:
        further["Single rows"] = lambda: details.single_rows(ready, found.compared, settings)
    further["Training with noise"] = lambda: details.training(ready, runs, settings)
    sections.show("robustness", further)


ASKED = "How do predictions suffer when feature values are noisy or attacked?"
door.page("Robustness", draw, door.Several(ASKED, measures=True))
