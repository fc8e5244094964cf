"""Explain: why does a model predict this label for this row?

This file says what is where. Files beside it: ``choices`` (result, row and label), ``view`` (what is explained),
``answer`` (sentence, table of labels and bars), ``contrast`` (this label and not another), ``what_if`` (the row
changed by hand), ``path`` (the nodes on the way to the label), ``noise`` (the explanation under noise), ``two_models``
(the same label by another result), ``whole_model`` (features of a label, and of all labels).
"""

import streamlit as st

from pages.explain import answer, choices, contrast, noise, path, two_models, what_if, whole_model
from pages.explain.view import Explained
from pages.shared import begin, format, sections
from pages.shared.results import results, run_names
from pages.shared.rows import explaining


def main(used) -> None:
    data, fingerprint, name = used
    runs = results.kept("runs", fingerprint)
    if not runs:
        text = "This page shows which features made a model predict a label, and whether the explanation is reliable."
        begin.no_run(used, "explain", text)
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
    scale = st.empty()
    left, right = st.columns(2, gap="large")
    with left, st.container(border=True):
        results.mark(by_key[key])
        choices.choose_run(fingerprint, runs, titles, key)
        row = choices.choose_row(data, run)
        view = Explained(data, run, model, key, titles[key], row, format.file_name(name), results.K)
        view.label = choices.choose_label(view)
    with right:
        st.header("Predicted and true labels")
        answer.labels(view)
    sentence.markdown(answer.sentence(view))
    scale.caption(explaining.SCALE[view.kind])
    further = {"What if": lambda: what_if.what_if(view, by_key, titles)}
    if view.label is not None:
        answer.text(view)
        answer.bars(view)
        further = {
            "Another label": lambda: contrast.contrast(view),
            **further,
            **({"Another result": lambda: two_models.show(view, fingerprint, by_key, titles)} if len(runs) > 1 else {}),
            "Path": lambda: path.path(view),
            "Noise": lambda: noise.under_noise(view),
        }
    further["Features of a label"] = lambda: whole_model.of_a_label(view)
    further["Whole model"] = lambda: whole_model.of_all_labels(view)
    sections.show("explain", further)


begin.page("Explain", main, ready="Models can be trained on it and explained", without="there is nothing to explain")
