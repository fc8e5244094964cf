"""The answer of the Trees page: how many trees there are, how large and deep they are, and their objective J."""

import math

import numpy as np
import streamlit as st

from pages.shared import format, tables
from xmlcore import experiment

ABOUT = (
    "A decision tree splits the training rows again and again, into groups with similar labels; a row gets the labels "
    "that are frequent where it ends. A label tree has a label in each leaf, and opens only what is probable for a row."
)


def of_decision_trees(model) -> tuple[str, str, int]:
    """Return the number of trees, the nodes of a tree, from least to most if trees differ, and the largest depth."""
    sizes, depth = [tree.parent.size for tree in model.trees_], max(int(tree.depth.max()) for tree in model.trees_)
    nodes = f"{min(sizes):,} to {max(sizes):,} nodes" if len({*sizes}) > 1 else format.count(sizes[0], "node")
    each = " each" if len(sizes) > 1 else ""
    return format.count(len(sizes), "decision tree"), nodes + each, depth


def of_label_trees(model) -> tuple[str, str, int]:
    model = experiment.label_tree_model(model)
    tree, trees = model.trees_[0], format.count(len(model.trees_), "label tree")
    labels, inner = format.count(tree.n_labels, "label"), format.count(tree.n_nodes - tree.n_labels, "inner node")
    return trees, f"{labels} and {inner}", int(tree.depth[-1])


def sentence(name: str, title: str, trees: str, nodes: str, depth: int) -> None:
    learned = f"On {format.bold(name)}, {format.plain(title)} has learned **{trees}** with {nodes}"
    st.markdown(f"{learned}; the deepest leaf is at depth **{depth}**.", help=ABOUT)


def cards_of_decision_trees(data, model) -> None:
    trees, arity = model.trees_, model.trees_[0].children.shape[1]
    leaf = [tree.children[:, 0] < 0 for tree in trees]
    leaves = sum(int(mask.sum()) for mask in leaf)
    sizes = np.concatenate([tree.n_samples[mask] for tree, mask in zip(trees, leaf)])
    labels = sum(int(np.diff(tree.histograms.indptr)[mask].sum()) for tree, mask in zip(trees, leaf))
    per_row = sizes.sum() / sum(int(tree.n_samples[0]) for tree in trees)
    log = math.log(max(data.n_labels, 2)) / math.log(arity)
    tables.cards(
        ("Leaves", f"{leaves:,}", f"Of {sum(t.parent.size for t in trees):,} nodes in {len(trees):,} trees."),
        (
            "Deepest leaf",
            f"{max(int(t.depth.max()) for t in trees)}",
            f"Steps from the root. A leaf for each of L = {data.n_labels:,} labels takes at least "
            f"{math.ceil(log - 1e-9):,}; in the paper on LdSM, the deepest tree is 1 to 3 times log_M L deep, here "
            f"{log:.1f}, with M = {arity} children.",
        ),
        (
            "Rows per leaf",
            f"{sizes.mean():,.1f}",
            f"Training rows, mean over leaves, at most {sizes.max():,}; and their labels, mean over leaves.",
            f"with {labels / leaves:,.1f} labels",
        ),
        ("Leaves per row", f"{per_row:.2f}", "Leaves of a tree that a training row reaches; 1: it goes one way."),
        _objective(model),
    )


def _objective(model) -> tuple:
    splits = np.concatenate([tree.objective for tree in model.trees_])
    if not np.isfinite(splits).any():
        return "Objective J", "–", "No split was made."
    root, least = np.nanmean([tree.objective[0] for tree in model.trees_]), ""
    # The least J is that of a balanced split with each label in one child: Lemma 2 of the paper. With a small λ2 and
    # many children, rows that go several ways can give a smaller J.
    integrity, multiway, children = model.integrity_weight, model.multiway_weight, model.trees_[0].children.shape[1]
    if multiway > integrity * (children - 3):
        least = f" The smallest possible is {format.number(-float(integrity) * (children - 1))}."
    about = "Mean over all splits. J is small if children get equally many rows, the rows of a label stay together, "
    mean, at_root = format.number(np.nanmean(splits)), f"{format.number(root)} at the root"
    return "Objective J", mean, f"{about}and each row goes one way.{least}", at_root


def cards_of_label_trees(data, model) -> None:
    model = experiment.label_tree_model(model)
    tree, size = model.trees_[0], model.size()
    deciding = size["n_nodes"] - sum(arrays.root_group < 0 for arrays in model.fitted_)
    end = ", in the first tree." if len(model.trees_) > 1 else "."
    tables.cards(
        ("Inner nodes", f"{tree.n_nodes - tree.n_labels:,}", f"Nodes with children, the root included{end}"),
        ("Depth", f"{int(tree.depth[-1]):,}", f"Steps from the root to the deepest label{end}"),
        ("Children of the root", f"{int(tree.n_children[0]):,}", f"Classifiers tried for every row{end}"),
        (
            "Weights per node",
            f"{size['n_weights'] / max(deciding, 1):,.0f}",
            "Features that a node’s linear classifier uses, mean over all nodes that have one.",
        ),
    )
