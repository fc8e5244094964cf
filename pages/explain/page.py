"""Explain: why does a model predict this label for this row?

This file says what is where. Files beside it: ``view`` (what is explained, and its choice), ``answer`` (sentence,
marked text, labels and bars), ``compared`` (with another label, or another result), ``changed`` (the row, by hand or by
noise), ``path`` (the nodes on the way to the label), ``whole_model`` (features of a label, and of all labels).
"""

import streamlit as st

from pages.explain import answer, changed, compared, path, view, whole_model
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
        view.choose_run(fingerprint, runs, titles, key)
        begin.watch_training(fingerprint, key=results.key_now(by_key[key]))
        return
    run, model = both
    results.mark(by_key[key])
    left, right = st.columns(2, gap="medium")
    with left:
        picture = st.container()
        of_run, of_label = st.columns([2, 3])
        with of_run:
            view.choose_run(fingerprint, runs, titles, key)
    with right:
        ranked = st.container()
    with right if data.texts_test is None else left:  # where there is room: a text is shorter than a figure
        row = selectors.choose_test_row(data, run, "explain.row")
        view.find_row(data)
    explained = view.Explained(data, run, model, key, titles[key], row, format.file_name(name), results.K)
    with of_label:
        explained.label = view.choose_label(explained)
    sentence.markdown(
        answer.sentence(explained), help=explaining.SCALE[explained.kind] + explaining.divided(explained.kind)
    )
    with picture:
        answer.why(explained)
    with ranked:
        answer.labels(explained)
        if explained.label is not None and answer.text(explained) is not None:
            answer.contributions(explained)
    further = {"What if": lambda: changed.by_hand(explained, by_key, titles)}
    if explained.label is not None:
        another = {"Another result": lambda: compared.another_result(explained, fingerprint, by_key, titles)}
        further = {
            "Another label": lambda: compared.another_label(explained),
            **further,
            **(another if len(runs) > 1 else {}),
            "Path": lambda: path.path(explained),
            "Noise": lambda: changed.by_noise(explained),
            "Largest values": lambda: answer.largest_values(explained),
        }
    further["Features of a label"] = lambda: whole_model.of_a_label(explained)
    further["Whole model"] = lambda: whole_model.of_all_labels(explained)
    sections.show("explain", further)


begin.page("Explain", main, ready="Models can be trained on it and explained", without="there is nothing to explain")
