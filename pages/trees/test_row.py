"""How a test row is predicted: the leaves that it reaches, and the labels predicted from them."""

import numpy as np
import streamlit as st

from pages.shared import format, selectors, tables
from pages.shared.figures import charts
from pages.shared.results import predictions, results
from pages.shared.rows import row_text
from pages.shared.view import look
from pages.trees import looked_at, words
from xmlcore.models.ldsm import frames as tree_frames

FEATURES = 4  # features named for each node on the way of a row


def show(view, run, files) -> None:
    st.header("How a test row is predicted")
    data, model = view.data, view.model
    row = selectors.choose_test_row(data, run, "trees.row")
    row_text.show(data, "test", row)
    leaves = tree_frames.leaves_frame(model.trees_, model.apply(data.X_test[[row]]), 0, data.label_name)
    left, right = st.columns(2, gap="medium")
    with left:
        _leaves(view, leaves, row, files)
    with right:
        leaves_text = f"the mean of {format.count(len(leaves), 'leaf', 'leaves')}"
        score_text = "its share among all label occurrences of a leaf, averaged over a tree's leaves, then over trees"

        def with_trees(frame):
            trees = _trees_with(model, leaves, frame["label"].to_numpy())
            return frame.assign(trees=trees)[["rank", "name", "correct", "score", "trees", "label"]]

        predictions.show(
            data,
            run,
            row,
            results.K,
            key="trees.predicted",
            extra=with_trees,
            extra_config={
                "name": tables.text("Predicted label", 125),
                "trees": tables.number("Trees", 60, "%d", "Trees in which a leaf of this row has the label."),
            },
        )
        reranked = " Re-ranking mixes the score with nearness to the label's mean." if model.rerank_beta < 1 else ""
        st.caption(
            f"The prediction is {leaves_text}: a label's score is {score_text}.{reranked} "
            "The Explain page shows P instead: the share of the leaves' training rows that have the label."
        )
    _steps(view, leaves, row, files)


def _leaves(view, leaves, row, files):
    shown = leaves.assign(tree=leaves["tree"] + 1, weight=100 * leaves["weight"], labels=words.top_labels(leaves))[
        ["tree", "node", "labels", "rows", "weight", "depth"]
    ]  # on a narrow screen, the first ones are in sight
    key = f"trees.leaves.{view.key[:8]}.{row}"
    tables.show(
        shown,
        key,
        {
            "tree": tables.number("Tree", 50, "%d"),
            "node": tables.number("Leaf", 60, "%d"),
            "depth": tables.number("Depth", 55, "%d"),
            "rows": tables.number("Rows", 60, "localized", "Training rows in it."),
            "weight": tables.number("Weight, %", 75, "%.1f", "Weight of the leaf in the mean."),
            "labels": tables.text("Most frequent labels", 260),
        },
        most=330,
        **tables.on_tick(
            key,
            list(zip(leaves["tree"], leaves["node"])),
            lambda place: look(tree=place[0], node=place[1], mode=looked_at.PATH),
        ),
    )
    st.caption(
        f"{format.count(len(leaves), 'leaf', 'leaves')} in {format.count(len(view.model.trees_), 'tree')}. Tick a "
        "leaf to see the row's path to it in the drawing above."
    )
    charts.csv_button("Leaves of the row, CSV", leaves, f"{files}-row{row}-leaves", "Every leaf that the row reaches")


def _steps(view, leaves, row, files):
    own = leaves.loc[leaves["tree"] == view.t, "node"]
    leaf = view.node if view.mode == looked_at.PATH and view.node in set(own) else int(own.iloc[0])
    tree = f"tree {view.t + 1}" if len(view.model.trees_) > 1 else "the tree"
    st.subheader(f"The way to leaf {leaf:,} of {tree}")
    x = view.data.X_test[[row]]
    steps = tree_frames.steps_frame(view.model, view.t, x, leaf, view.data.feature_name, FEATURES)
    if steps.empty:
        st.caption("The root of the tree is a leaf: every row ends there.")
        return
    tables.show(
        steps,
        f"trees.steps.{view.key[:8]}",
        {
            "depth": tables.number("Depth", 55, "%d"),
            "node": tables.number("Node", 60, "%d"),
            "margin": tables.number("Margin", 70, help="Of the child that the row goes to."),
            "features": tables.text("Features that send it there", 330),
            "other": tables.number("Next margin", 95, help="The largest one of another child."),
            "to": tables.number("Goes to", 70, "%d", "The child on the way to the leaf."),
            "ways": tables.number("Ways", 55, "%d", "Children to which the row goes from this node."),
            "rows": tables.number("Rows", 65, "localized", "Training rows of the node."),
        },
        signs={"margin": "{:+.3f}", "other": "{:+.3f}"},
        first=("depth", "node", "margin", "features", "other", "to", "rows"),
        most=360,
    )
    st.caption(
        "Each child of a node has a margin for the row. The row goes to all children with a margin of at least "
        f"0.5, or else to the one with the largest. Named are up to {FEATURES} features of the row that speak "
        "most for this child and against the next one. To see another way, choose a tree above or tick a leaf."
    )
    charts.csv_button(
        "The way to the leaf, CSV",
        steps,
        f"{files}-tree{view.t + 1}-row{row}-leaf{leaf}-way",
        "Margins and deciding features at each node above the leaf",
    )


def _trees_with(model, leaves, labels):
    found = np.zeros(labels.size, np.int64)
    for t, part in leaves.groupby("tree"):
        hist = model.trees_[int(t)].histograms
        present = np.concatenate([hist.indices[hist.indptr[v] : hist.indptr[v + 1]] for v in part["node"]])
        found += np.isin(labels, present)
    return found
