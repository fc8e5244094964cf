"""Sampling: what does double sampling learn from so few examples, and how does it pick a class?"""

import streamlit as st

from pages.sampling import answer, row, studies
from pages.shared import door, sections

ASKED = "How well does a model learn from a sample of rows (π), each compared with some other labels (κ)?"


def draw(ready) -> None:
    view = answer.SampledRun(ready)
    answer.sentence(view, ready.title)
    cards = st.container()
    ready.choose()
    further, study = {}, None
    if ready.labelled:
        left, right = st.columns(2, gap="large")
        with left:
            studies.sweep(view, ready.title)
        with right:
            study = studies.candidates(view)
        further = {"Head, torso and tail": lambda: answer.buckets(view, study, ready.every, ready.titles)}
    with cards:
        answer.cards(view, study)
    further |= {
        "A test row": lambda: row.row(view),
        "Weights of f": lambda: answer.weights(view),
        "Drawn copies": lambda: answer.class_sizes(view),
    }
    sections.show("sampling", further)


door.page("Sampling", draw, door.Models(ASKED, answer.MODEL, (answer.MODEL,), measures=True))
