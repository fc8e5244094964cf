"""The path to the label: the nodes of a tree that a row passes on its way."""

import streamlit as st

from pages.explain.view import path as nodes_of
from pages.shared import format, label_trees, tables
from pages.shared.figures import charts
from pages.shared.rows import explaining
from xmlcore import experiment, figures

PROBABILITY = {  # how the margin of a node's classifier becomes a probability, by the loss of a label tree
    "logistic": "the sigmoid of the margin",
    "squared_hinge": "exp(−max(0, 1 − margin)²) for the margin",
}


def path(view) -> None:
    if view.kind == "score":
        st.caption(f"{view.run.model} scores pairs of row and label: there is no tree, so there is no path.")
        return
    nodes = nodes_of(view.key, view.row, view.label)
    if nodes.empty:
        st.caption("The row reaches no node that has the label, so there is no path.")
        return
    if "factor" in nodes.columns:
        nodes = nodes.assign(name=label_trees.names_on_path(view.key, view.data, nodes))
    left, right = st.columns(2, gap="large")
    with left:
        _figure(view, nodes)
    shown, config, signs = label_trees.table(nodes, view.kind in explaining.PERCENT)
    with right:
        tables.show(shown, "explain.path.table", config, signs=signs, most=380)
        st.caption(f"{format.count(len(shown), 'node')} on the way to the label.")


def _probability(model) -> str:
    tree = experiment.label_tree_model(model)
    return PROBABILITY["logistic" if tree is None else tree.loss_]


def _figure(view, nodes):
    title = explaining.in_title(view.name)
    if "factor" in nodes.columns:
        figure = figures.path_products(nodes, title=f"Path to {title}", percent=view.kind in explaining.PERCENT)
        score = explaining.NAMES[view.kind]
        start = "From the root to the label’s own leaf"
        if experiment.label_tree_model(view.model) is None:
            start = "This model has no tree: the one point is the label’s own classifier"
        caption = (
            f"{start}. The number beside a node is {_probability(view.model)} of its classifier, given its parent; the "
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
    charts.show_figure(figure, nodes, f"{view.file}-label{view.label}-path", caption, key="explain.path")
