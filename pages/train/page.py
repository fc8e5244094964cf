"""The Train page: how well does a model predict this data set's labels?"""

import functools

import streamlit as st

from pages.shared import actions, addresses, door, jobs, sections, sweeping
from pages.train import answer, controls, labels, measures, tried, trying
from xmlcore import experiment


def draw(ready) -> None:
    answer.sentence(ready)
    if ready.run is not None:
        answer.show(ready)
    # On a phone the button comes first, and at the left while there is no figure: see pages/shared/style.css.
    with st.container(key="controls-alone" if ready.run is None else "controls-first"):
        right, left = st.columns([1, 3], gap="medium")
    with left:
        answer.draw_figures(ready)
    with right:
        controls.choose(ready)
        actions.form(controls.show, ready.data, ready.fingerprint, ready.record)
        jobs.follow("train", fingerprint=ready.fingerprint)
    if further := {title: functools.partial(part, ready) for title, part in _sections(ready).items()}:
        sections.show("train", further)


def _sections(ready) -> dict:
    run, parts = ready.run, {}
    if run is not None and ready.labelled:
        parts = {"Label by label": labels.show, "Confusions": labels.confusions}
        parts |= {"Weak groups": labels.groups} if ready.data.n_test >= labels.FEWEST else {}
        parts |= {"Single predictions": labels.row, "Measures": measures.every}
        parts |= {"More data": measures.more_data} if run.has_model else {}
        parts |= {"Calibration": measures.calibration} if run.model in experiment.MODELS else {}
    elif run is not None:
        parts = {"Single predictions": labels.row}
    if run is not None:
        parts[addresses.ABOUT] = answer.about
    is_asked = ready.data.Y_train.nnz and (run is not None or sections.is_asked("train", trying.TRIED))
    if is_asked or sweeping.kept(ready.fingerprint):
        parts[trying.TRIED] = tried.show
    return parts


door.page("Train", draw, door.Runs(measures=True))
