"""Sampling: what does double sampling learn from so few examples, and how does it pick a class?

Files beside this one: ``view`` (the result shown), ``answer`` (sentence and cards), ``studies`` (other numbers of
adversaries, examples and candidates), ``buckets`` (head, torso and tail labels), ``row`` (why a row gets its label),
``learned`` (what was drawn, and the weights of f).
"""

import streamlit as st

from pages.sampling import answer, buckets, learned, row, studies
from pages.sampling.view import MODEL, SampledRun
from pages.shared import door, sections
from pages.shared.figures import examples

ASKED = "What does a model learn from a sample of rows (π), each compared with some other labels (κ)?"


def draw(ready) -> None:
    view = SampledRun(ready.data, ready.name, ready.run, ready.model, ready.record)
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
        further = {"Head, torso and tail": lambda: buckets.buckets(view, study, ready.every, ready.titles)}
    with cards:
        answer.cards(view, study)
    further |= {
        "A test row": lambda: row.row(view),
        "Weights of f": lambda: learned.weights(view),
        "Drawn copies": lambda: learned.class_sizes(view),
    }
    sections.show("sampling", further)


door.page("Sampling", draw, door.Models(ASKED, examples.candidates, MODEL, (MODEL,), measures=True))
