"""The path to the label: the nodes of a tree that a row passes on its way."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.explain import words
from pages.explain.view import path as nodes_of
from pages.shared import charts, format, tables
from xmlcore import figures

COLUMNS = (  # column, title, number format, width in pixels, help
    ("depth", "Depth", "%d", 55, None),
    ("node", "Node", "%d", 65, None),
    ("n_labels", "Labels", "localized", 60, "Labels at or below the node."),
    ("n_rows", "Rows", "localized", 65, "Training rows of the node."),
    ("margin", "Margin", "%.3f", 65, "Output, for the row, of the classifier that leads to this node."),
    ("factor", "P of node, %", "%.3g", 90, "Probability of the node given its parent."),
    ("product", "P so far, %", "%.3g", 82, "Product of the factors so far; the last one is the label’s P."),
    ("share", "P, %", "%.2f", 75, "Share of the node’s training rows that have the label."),
    ("change", "Change", "%+.2f", 75, "Change of P from the node above, in percentage points."),
)


def path(view) -> None:
    """Show a figure and a table of the nodes between the root and the label."""
    st.header("The path to the label")
    if view.kind == "score":
        st.caption(f"{view.run.model} scores pairs of row and label: there is no tree, so there is no path.")
        return
    nodes = nodes_of(view.key, view.row, view.label)
    if nodes.empty:
        st.caption("The row reaches no node that has the label, so there is no path.")
        return
    left, right = st.columns(2, gap="large")
    with left:
        _figure(view, nodes)
    shown, config = table(nodes)
    with right:
        st.dataframe(
            with_names(shown, nodes["tree"], view.name) if "factor" in shown.columns else shown,
            hide_index=True,
            key="explain.path.table",
            height=tables.height(len(shown), 380),
            column_config=config,
        )
        st.caption(
            f"{format.count(len(shown), 'node')} on the way to the label. The margin is the output of the node’s "
            "classifier for the row."
        )


def _figure(view, nodes):
    """Draw the path, with probabilities or with shares of training rows, whichever the model has."""
    title = words.in_title(view.name)
    if "factor" in nodes.columns:
        figure = figures.path_products(nodes, title=f"Path to {title}")
        trees = nodes["tree"].nunique()
        mean = f" The prediction is the mean of the {trees:,} trees." if trees > 1 else ""
        caption = (
            "From the root, where every row is, to the label’s own leaf. The classifier of each node gives the row a "
            "margin, which the model’s loss turns into the probability of the node given its parent (the number beside "
            f"it): the sigmoid of the margin, or with a squared hinge exp(−max(0, 1 − margin)²). The product along the "
            f"path is the label’s P.{mean}"
        )
    else:
        figure = figures.path_shares(nodes, title=f"Ways to {title}")
        caption = (
            "Which share of each node’s training rows has the label, from the root to the leaves that the row reaches; "
            f"the mean over these leaves is the label’s {words.total(view.kind, view.attrs['total'])}."
        )
    meta = figure.layout.meta
    some = f" Showing {meta['shown']:,} of {meta['total']:,} ways." if meta["shown"] < meta["total"] else ""
    charts.show_figure(
        figure,
        lambda: tables.csv_safe(nodes),
        f"{view.file}-label{view.label}-path",
        caption + some,
        key="explain.path",
    )


def with_names(shown: pd.DataFrame, trees, label: str) -> pd.DataFrame:
    """Return the table of a path in a label tree, with "Root" and the label's name in place of two nodes' numbers."""
    names = ("node " + shown["node"].astype(str)).mask(shown["node"] == 0, "Root")
    names = names.mask(trees != trees.shift(-1), label)  # the last node of each tree
    return shown.assign(node=names)


def table(nodes: pd.DataFrame):
    """Return the path as a table with shares in percent, and the settings of its columns."""
    number, several = st.column_config.NumberColumn, nodes["tree"].nunique() > 1
    shown = pd.DataFrame({"tree": nodes["tree"] + 1} if several else {})
    config = {"tree": number("Tree", format="%d", width=50)}
    if "share" in nodes.columns:  # a tree of LdSM, in which a row may go to several leaves
        shown["leaf"] = nodes["leaf"]
        config["leaf"] = number("To leaf", format="%d", width=65)
    for column, label, format_, width, help_ in COLUMNS:
        if column == "product" and "log_proba" in nodes.columns:
            shown[column] = 100 * np.exp(nodes["log_proba"])
        elif column in nodes.columns:
            shown[column] = 100 * nodes[column] if column in ("factor", "share", "change") else nodes[column]
        else:
            continue
        config[column] = number(label, format=format_, width=width, help=help_)
    if "factor" in nodes.columns:
        config["node"] = st.column_config.TextColumn("Node", width=86, help="The Trees page finds nodes by number.")
    return shown, config
