"""Explain: why does a model predict this label for this row?"""

import streamlit as st

from pages.explain import answer, changed, compared, view, whole_model
from pages.shared import door, fields, sections
from pages.shared.rows import alike, explaining


def draw(ready) -> None:
    sentence = st.empty()
    left, right = st.columns(2, gap="medium")
    with left:
        picture = st.container()
        of_run, of_label = st.columns([2, 3])
        with of_run:
            ready.choose("Result explained", fields.FIFTH)
    with right:
        ranked = st.container()
    with right if ready.data.texts_test is None else left:  # where there is room: a text is shorter than a figure
        shown = view.choose_row(ready)
    with of_label:
        shown.label = view.choose_label(shown)
    about = explaining.SCALES[shown.scored.scale].about + explaining.divided(shown.kind)
    sentence.markdown(answer.sentence(shown), help=about)
    with picture:
        answer.why(shown)
    with ranked:
        answer.labels(shown)
    further = {
        "Another label": lambda: compared.another_label(shown),
        "What if": lambda: changed.by_hand(shown, ready),
        "Another result": lambda: compared.another_result(shown, ready),
        "Path": lambda: answer.path(shown),
        "Rows like this one": lambda: alike.show(ready.fingerprint, shown.x, "explain.alike", shown.label),
        "Noise": lambda: changed.by_noise(shown),
        "Largest values": lambda: answer.largest_values(shown),
        "Features of a label": lambda: whole_model.of_a_label(shown),
        "Whole model": lambda: whole_model.of_all_labels(shown),
    }
    missing = view.OF_LABEL if shown.label is None else ("Another result",) * (len(ready.records) == 1)
    sections.show("explain", {title: part for title, part in further.items() if title not in missing})


ASKED = "Which features made a model predict a label, and is the explanation reliable?"
door.page("Explain", draw, door.Models(ASKED))
