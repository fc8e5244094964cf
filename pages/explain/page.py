"""Explain: why does a model predict this label for this row?

This file says what is where. Files beside it: ``choices`` (result, row and label), ``view`` (what is explained),
``answer`` (sentence, marked text, labels and bars), ``contrast`` (this label and not another), ``what_if`` (the row
changed by hand), ``path`` (the nodes on the way to the label), ``noise`` (the explanation under noise), ``two_models``
(the same label by another result), ``whole_model`` (features of a label, and of all labels).
"""

import streamlit as st

from pages.explain import answer, choices, contrast, noise, path, two_models, what_if, whole_model
from pages.explain.view import Explained
from pages.shared import begin, format, sections, selectors
from pages.shared.figures import examples
from pages.shared.results import results, run_names
from pages.shared.rows import explaining


def main(used) -> None:
    data, fingerprint, name = used
    runs = results.with_model(fingerprint)
    if not runs:
        text = "Which features made a model predict a label, and is the explanation reliable?"
        begin.no_run(used, "explain", text, example=examples.bars)
        return
    key = results.chosen("explain.run", fingerprint, runs)
    by_key = {r["key"]: r for r in runs}
    titles = run_names.names(runs)
    sentence = st.empty()
    both = results.run_and_model(by_key[key])
    if both is None:
        choices.choose_run(fingerprint, runs, titles, key)
        begin.watch_training(fingerprint, key=results.key_now(by_key[key]))
        return
    run, model = both
    results.mark(by_key[key])
    left, right = st.columns(2, gap="medium")
    with left:
        picture = st.container()
        of_run, of_label = st.columns([2, 3])
        with of_run:
            choices.choose_run(fingerprint, runs, titles, key)
    with right:
        ranked = st.container()
    with right if data.texts_test is None else left:  # where there is room: a text is shorter than a figure
        row = selectors.choose_test_row(data, run, "explain.row")
        choices.find_row(data)
    view = Explained(data, run, model, key, titles[key], row, format.file_name(name), results.K)
    with of_label:
        view.label = choices.choose_label(view)
    sentence.markdown(answer.sentence(view), help=explaining.SCALE[view.kind] + explaining.divided(view.kind))
    with picture:
        answer.why(view)
    with ranked:
        answer.labels(view)
        if view.label is not None and answer.text(view) is not None:
            answer.contributions(view)
    further = {"What if": lambda: what_if.what_if(view, by_key, titles)}
    if view.label is not None:
        further = {
            "Another label": lambda: contrast.contrast(view),
            **further,
            **({"Another result": lambda: two_models.show(view, fingerprint, by_key, titles)} if len(runs) > 1 else {}),
            "Path": lambda: path.path(view),
            "Noise": lambda: noise.under_noise(view),
            "Largest values": lambda: answer.largest_values(view),
        }
    further["Features of a label"] = lambda: whole_model.of_a_label(view)
    further["Whole model"] = lambda: whole_model.of_all_labels(view)
    sections.show("explain", further)


begin.page("Explain", main, ready="Models can be trained on it and explained", without="there is nothing to explain")
