"""The path to the label: the nodes of a tree that a row passes on its way."""

import streamlit as st

from pages.explain.view import path as nodes_of
from pages.shared import format, label_trees, tables
from pages.shared.figures import charts
from pages.shared.rows import explaining, path_table
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
    shown, config, signs = path_table.table(nodes, view.kind in explaining.PERCENT)
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
        name = explaining.NAMES[view.kind]
        noun, trees = "probability" if name == "P" else name, nodes["tree"].nunique()
        mean = f" The prediction is the mean of the {trees:,} trees." if trees > 1 else ""
        caption = (
            f"From the root, where every row is, to the label’s own leaf. The number beside a node is its {noun} given "
            f"its parent, {_probability(view.model)} of its classifier. The product along the path is the label’s "
            f"{name}.{mean}"
        )
        if experiment.label_tree_model(view.model) is None:
            caption = (
                "This model has no tree, so the path has one point: the label’s own classifier, which sees every row. "
                f"The number beside it is the label’s {name}, {_probability(view.model)} of its classifier."
            )
    else:
        figure = figures.path_shares(nodes, title=f"Ways to {title}")
        caption = (
            "Which share of each node’s training rows has the label, from the root to the leaves that the row reaches; "
            f"the mean over these leaves is the label’s {explaining.total(view.kind, view.attrs['total'])}."
        )
    meta = figure.layout.meta
    some = f" Showing {meta['shown']:,} of {meta['total']:,} ways." if meta["shown"] < meta["total"] else ""
    charts.show_figure(figure, nodes, f"{view.file}-label{view.label}-path", caption + some, key="explain.path")
