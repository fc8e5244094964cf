"""Features: which features matter for which label, and is it worth selecting them?

Files beside this one: ``view`` (the selection shown, and what is computed from it), ``select`` (the form that makes a
selection), ``choices`` (which selection, which label), ``answer`` (sentence, cards, features of a label), ``labels``
(labels beside each other, and all that is kept), ``compare`` (other methods, other seeds), ``reduced`` (a model on the
selected features).
"""

import streamlit as st

from pages.features import answer, choices, compare, labels, reduced, select
from pages.features.view import ShownSelection
from pages.shared import begin, fields, sections
from pages.shared.results import results


def main(used) -> None:
    data, fingerprint, name = used
    past = results.usable("selections", fingerprint)
    record = choices.shown_record(fingerprint, past)
    if record is None:
        select.begin(data, fingerprint, name)
        return
    selection = results.selection(record)
    if selection is None:  # the page has said why
        select.controls_and_jobs(data, fingerprint, shown=None)
        return
    view = ShownSelection(data, fingerprint, name, selection, record["key"], past)
    sentence, cards = st.empty(), st.container()
    left, right = st.columns([2, 1], gap="large")
    with right:
        label = choices.choose_label(view)
        view.weighted = choices.choose_order(view)
        view.n_bars = fields.choice("Features drawn", answer.BARS, "features.drawn", 15)
        if len(past) > 1:
            choices.choose_selection(view)
        results.mark(record)
        select.controls_and_jobs(data, fingerprint, view.key)
    with left:
        answer.bars(view, label)
    sentence.markdown(answer.sentence(answer.leading(view, label)))
    with cards:
        answer.cards(view)
    answer.label_table(view, label)
    further = {
        "Labels and features": lambda: labels.labels_and_features(view),
        "Other methods": lambda: compare.compare(view),
        "Other seeds": lambda: compare.seeds(view),
        "Train on them": lambda: reduced.show(view),
        "All features": lambda: labels.all_labels(view),
    }
    if selection.shared:
        del further["Labels and features"]
    sections.show("features", further)


begin.page("Features", main, ready="Features can be selected on it", without="there are no features to select")
