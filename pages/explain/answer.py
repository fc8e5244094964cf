"""The answer of the Explain page: a sentence, the features that contribute, the labels of the row, and the path."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.explain.view import explained
from pages.shared import format, label_trees, tables
from pages.shared.figures import charts
from pages.shared.rows import explaining, row_text
from xmlcore import experiment, explain, figures
from xmlcore.models.double_sampling import MEANINGS


def labels(view) -> None:
    explaining.show_ranked(view.scored, view.ranked, view.data, view.true, view.k, "explain.predicted", view.label)
    if view.scored.scale == view.kind:
        explaining.say_far_off(view.key, view.kind)
    if view.label is not None and text(view) is not None:
        contributions(view)


def sentence(view) -> str:
    """Say where the model ranks the label for the row, and which features decide that."""
    if view.label is None:
        return "The model predicts nothing for this row, and the row has no true labels. Choose another row."
    names, place, found = tables.part(view.data, "test")[2], view.place(), view.contributions
    row = f"test row {view.row:,}" + (f", {format.plain(names[view.row])}" if names is not None else "")
    rank = f"not among the first {view.k}" if place is None else format.ordinal(place)
    rightly = "rightly" if (view.label in view.true) == (place is not None) else "wrongly"
    said = f"{format.bold(view.title)} ranks {format.bold(view.name)} {rank} for {row}, {rightly} "
    said += f"({view.scored.text(view.label)})"
    for how, sign, most in (("for", 1, 2), ("against", -1, 1)):
        if decisive := found["name"][sign * found["contribution"] > 0].head(most).tolist():
            said += f"; most {how} it **{format.listed([*map(format.plain, decisive)])}**"
    return f"{said}."


def _meanings(frame):
    with st.popover("Meaning of these features", icon=":material/help:", type="tertiary"):
        st.markdown("A *term* is a feature whose value counts how often it occurs, such as a word.")
        for name in frame["name"]:
            if name in MEANINGS:
                st.markdown(f"{format.bold(name)}: {format.plain(MEANINGS[name])}")


def text(view) -> str | None:
    """Return the text whose words are marked; None where rows are not made from texts, or no word contributes."""
    texts, vectorizer = view.data.texts_test, view.data.vectorizer
    text = None if texts is None or vectorizer is None else texts[view.row]
    return text if explaining.marks_words(text, view.kind) else None


def why(view) -> None:
    """Show the text of the row with its words marked, or else what contributes, and the text as it is."""
    if view.label is None:
        return
    marked = text(view)
    if marked is None:
        contributions(view)
        row_text.show(view.data, "test", view.row)
    else:
        explaining.show_text(marked, view.data.vectorizer, view.contributions, view.name, view.kind)


def contributions(view) -> None:
    if not view.contributions["contribution"].any():  # the sentence says so
        return
    file = f"{view.file}-label{view.label}"
    explaining.show_contributions(view.contributions, view.attrs, view.name, file)
    if view.kind == "score":
        _meanings(view.contributions)


def largest_values(view) -> None:
    pairs = pd.DataFrame(explain.magnitude(view.x, max(view.x.nnz, 1)), columns=["feature", "value"])
    magnitude = explaining.named(pairs.astype({"feature": np.int64, "value": np.float64}), view.data)
    if magnitude.empty:
        st.caption("This row has no features.")
        return
    if len(magnitude) > 1 and np.ptp(magnitude["value"].abs()) == 0:
        st.caption(f"All {len(magnitude):,} values of this row are of one size, so the largest ones tell nothing.")
        return
    frame = view.contributions
    # Otherwise, contributions belong to features of the pair of row and label.
    top = (
        [] if view.kind == "score" else frame.loc[frame["contribution"] != 0, "feature"].head(explaining.BARS).tolist()
    )
    charts.show_figure(
        figures.magnitude_bars(magnitude, explaining.BARS, top, title=f"Values of test row {view.row:,}"),
        magnitude,
        f"{view.file}-magnitude",
        "The features of largest value, whatever model and label are, as Date and Mehar (2025) explain rows.",
        counted="features",
    )


PROBABILITY = {  # how the margin of a node's classifier becomes a probability, by the loss of a label tree
    "logistic": "the sigmoid of the margin",
    "squared_hinge": "exp(−max(0, 1 − margin)²) for the margin",
}


def path(view) -> None:
    if view.kind in explain.NOT_OF_FEATURES:
        st.caption(f"{view.run.model} has no tree, so there is no path.")
        return
    nodes = explained("path", view.key, view.row, view.label)
    if nodes.empty:
        st.caption("The row reaches no node that has the label, so there is no path.")
        return
    if "factor" in nodes.columns:
        nodes = nodes.assign(name=label_trees.names_on_path(view.key, view.data, nodes))
    left, right = st.columns(2, gap="large")
    with left:
        _figure(view, nodes)
    shown, config, signs = label_trees.table(nodes, explaining.SCALES[view.kind].percent)
    with right:
        tables.show(shown, "explain.path.table", config, signs=signs)
        st.caption(f"{format.count(len(shown), 'node')} on the way to the label.")


def _figure(view, nodes):
    title = explaining.in_title(view.name)
    if "factor" in nodes.columns:
        figure = figures.path_products(nodes, title=f"Path to {title}", percent=explaining.SCALES[view.kind].percent)
        score, tree = explaining.SCALES[view.kind].name, experiment.label_tree_model(view.model)
        start, loss = "This model has no tree: the one point is the label’s own classifier", "logistic"
        if tree is not None:
            start, loss = "From the root to the label’s own leaf", tree.loss_
        caption = (
            f"{start}. The number beside a node is {PROBABILITY[loss]} of its classifier, given its parent; the "
            f"product along the path is the label’s {score}, with several trees their mean."
        )
    else:
        figure = figures.path_shares(nodes, title=f"Ways to {title}")
        caption = (
            "Which share of each node’s training rows has the label, from the root to the leaves that the row reaches; "
            f"the mean over these leaves is the label’s {explaining.total(view.kind, view.attrs['total'])}."
        )
    meta = figure.layout.meta
    caption += f" {format.showing(meta['shown'], meta['total'], 'way')}."
    charts.show_figure(figure, nodes, f"{view.file}-label{view.label}-path", caption)
