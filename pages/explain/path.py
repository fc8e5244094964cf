"""The path to the label: the nodes of a tree that a row passes on its way."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.explain.view import path as nodes_of
from pages.shared import format, label_trees, tables
from pages.shared.figures import charts
from pages.shared.rows import explaining
from xmlcore import experiment, figures

COLUMNS = (  # column, title, number format or what returns it for the values, width in pixels, help
    ("depth", "Depth", "%d", 50, None),
    ("name", "Node", None, 115, "Its label, or its most frequent label and +12 for 12 others at or below it."),
    ("factor", "P of node, %", tables.percent_format, 86, "Probability of the node given its parent."),
    ("product", "P so far, %", tables.percent_format, 78, "Product of the factors so far: at the end, the label’s P."),
    ("share", "P, %", tables.percent_format, 52, "Share of the node’s training rows that have the label."),
    ("change", "Change", "{:+.2f}", 62, "Change of P from the node above, in percentage points."),
    ("n_rows", "Rows", "localized", 52, "Training rows of the node."),
    ("margin", "Margin", "{:+.3f}", 60, "Output, for the row, of the classifier that leads to this node."),
    ("node", "Number", "%d", 60, "The Trees page finds nodes by their numbers."),
)

PROBABILITY = {  # how the margin of a node's classifier becomes a probability, by the loss of a label tree
    "logistic": "the sigmoid of the margin",
    "squared_hinge": "exp(−max(0, 1 − margin)²) for the margin",
}


def path(view) -> None:
    st.header("The path to the label")
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
    shown, config, signs = table(nodes)
    with right:
        tables.show(shown, "explain.path.table", config, signs=signs, most=380)
        st.caption(
            f"{format.count(len(shown), 'node')} on the way to the label. The margin is the output of the node’s "
            "classifier for the row."
        )


def _probability(model) -> str:
    tree = experiment.label_tree_model(model)
    return PROBABILITY["logistic" if tree is None else tree.loss_]


def _figure(view, nodes):
    title = explaining.in_title(view.name)
    if "factor" in nodes.columns:
        figure = figures.path_products(nodes, title=f"Path to {title}")
        trees = nodes["tree"].nunique()
        mean = f" The prediction is the mean of the {trees:,} trees." if trees > 1 else ""
        caption = (
            "From the root, where every row is, to the label’s own leaf. The number beside a node is its probability "
            f"given its parent, {_probability(view.model)} of its classifier. The product along the path is the "
            f"label’s P.{mean}"
        )
        if experiment.label_tree_model(view.model) is None:
            caption = (
                "This model has no tree, so the path has one point: the label’s own classifier, which sees every row. "
                f"The number beside it is the label’s P, {_probability(view.model)} of its classifier."
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


def table(nodes: pd.DataFrame):
    several = nodes["tree"].nunique() > 1
    shown = pd.DataFrame({"tree": nodes["tree"] + 1} if several else {})
    config, signs = {"tree": tables.number("Tree", 42, "%d")}, {}
    if "share" in nodes.columns:  # a tree of LdSM, in which a row may go to several leaves
        shown["leaf"] = nodes["leaf"]
        config["leaf"] = tables.number("To leaf", 58, "%d")
    depth, *others, node = COLUMNS
    for column, label, form, width, help_ in COLUMNS if "name" in nodes.columns else (depth, node, *others):
        if column == "product" and "log_proba" in nodes.columns:
            shown[column] = 100 * np.exp(nodes["log_proba"])
        elif column in nodes.columns:
            shown[column] = 100 * nodes[column] if column in ("factor", "share", "change") else nodes[column]
        else:
            continue
        if column == "name":
            config[column] = tables.text(label, width, help_)
        elif callable(form):
            config[column] = tables.number(label, width, form(shown[column]), help_)
        elif form.startswith("{"):
            config[column], signs[column] = tables.number(label, width, help=help_), form
        else:
            config[column] = tables.number(label, width, form, help_)
    return shown, config, signs
