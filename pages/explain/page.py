"""Explain: why does a model predict this label for this row?

This file says what is where. Files beside it: ``view`` (what is explained, and its choices), ``answer`` (sentence,
marked text, labels and bars), ``compared`` (with another label, or another result), ``changed`` (the row, by hand or by
noise), ``path`` (the nodes on the way to the label), ``whole_model`` (features of a label, and of all labels).
"""

import streamlit as st

from pages.explain import answer, changed, compared, path, view, whole_model
from pages.shared import door, fields, sections
from pages.shared.figures import examples
from pages.shared.rows import explaining


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
        explained = view.choose_row(ready)
    with of_label:
        explained.label = view.choose_label(explained)
    sentence.markdown(
        answer.sentence(explained), help=explaining.SCALE[explained.kind] + explaining.divided(explained.kind)
    )
    with picture:
        answer.why(explained)
    with ranked:
        answer.labels(explained)
    by_key = {record["key"]: record for record in ready.records}
    further = {
        "Another label": lambda: compared.another_label(explained),
        "What if": lambda: changed.by_hand(explained, by_key, ready.titles),
        "Another result": lambda: compared.another_result(explained, ready.fingerprint, by_key, ready.titles),
        "Path": lambda: path.path(explained),
        "Noise": lambda: changed.by_noise(explained),
        "Largest values": lambda: answer.largest_values(explained),
        "Features of a label": lambda: whole_model.of_a_label(explained),
        "Whole model": lambda: whole_model.of_all_labels(explained),
    }
    sections.show("explain", view.possible(ready, explained, further))


ASKED = "Which features made a model predict a label, and is the explanation reliable?"
door.page("Explain", draw, door.Models(ASKED, examples.bars))
