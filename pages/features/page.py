"""Features: which features matter for which label, and is it worth selecting them?"""

import streamlit as st

from pages.features import answer, compare, labels, reduced, select
from pages.features.view import ShownSelection
from pages.shared import door, fields, sections, selectors


def draw(ready) -> None:
    view = ShownSelection(ready)
    sentence, cards = st.empty(), st.container()
    left, right = st.columns([2, 1], gap="large")
    with right:
        label = selectors.choose_label(view.data, "features", "features.label", answer.QUERY)
        if view.by_gradient:
            order = fields.radio("Ranked by", list(answer.ORDERS), "features.order", help=answer.ABOUT_ORDERS)
            view.weighted = answer.ORDERS[order]
        view.n_bars = fields.choice("Features drawn", answer.BARS, "features.drawn", 15)
        ready.choose("Selection shown")
    with left:
        answer.bars(view, label)
    sentence.markdown(answer.sentence(view, label))
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
    if view.selection.shared:
        del further["Labels and features"]
    sections.show("features", further)


door.page("Features", draw, select.Selections())
