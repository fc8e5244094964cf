"""The answer of the Trees page: the number and depth of the trees, and the value of their objective J."""

import math

import numpy as np
import streamlit as st

from pages.shared import format, tables
from pages.trees import words


def sentence(name, title, model) -> None:
    trees = model.trees_
    sizes = [tree.parent.size for tree in trees]
    is_one = len(trees) == 1
    same = f"{sizes[0]:,} nodes" + ("" if is_one else " each")
    nodes = same if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,} nodes"
    deepest = max(int(tree.depth.max()) for tree in trees)
    st.markdown(
        f"On **{format.plain(name)}** {format.plain(title)} has grown "
        f"**{format.count(len(trees), 'decision tree')}** of {nodes}; the deepest group of rows is "
        f"**{format.count(deepest, 'split')}** below the root. {_quality(model)}",
        help="A tree splits the training rows again and again, into groups with similar labels. A new row goes down "
        "each tree to one group or several, and gets the labels that are frequent there. J is small if all children of "
        "a node get about equally many rows, the rows of a label stay together, and each row goes only one way.",
    )


def _quality(model) -> str:
    trees = model.trees_
    split = np.concatenate([tree.objective for tree in trees])
    if not np.isfinite(split).any():
        return "No split was made."
    roots, best = np.array([tree.objective[0] for tree in trees]), words.best_objective(model)
    mean = "" if len(trees) == 1 else ", on average"
    return (
        f"The objective **J**, small where a split is good, is **{format.number(np.nanmean(roots))}** at the "
        f"root{'' if len(trees) == 1 else 's'}{mean}, and **{format.number(np.nanmean(split))}** on average over all "
        "splits" + ("." if best is None else f"; the smallest possible is {format.number(best)}.")
    )


def cards(data, model) -> None:
    trees = model.trees_
    leaf = [tree.children[:, 0] < 0 for tree in trees]
    leaves = sum(int(mask.sum()) for mask in leaf)
    rows = sum(int(tree.n_samples[mask].sum()) for tree, mask in zip(trees, leaf))
    labels = sum(int(np.diff(tree.histograms.indptr)[mask].sum()) for tree, mask in zip(trees, leaf))
    occurrences = sum(int(tree.n_samples[0]) for tree in trees)
    largest = max(int(tree.n_samples[mask].max()) for tree, mask in zip(trees, leaf))
    tables.cards(
        [
            ("Leaves", f"{leaves:,}", f"Of {sum(t.parent.size for t in trees):,} nodes in {len(trees):,} trees."),
            (
                "Deepest leaf",
                f"{max(int(t.depth.max()) for t in trees)}",
                f"Steps from the root, over all trees. A leaf for each of the {data.n_labels:,} labels takes at least "
                f"{math.ceil(words.log_labels(data, model) - 1e-9):,}. In the paper on LdSM (Majzoubi and Choromanska, "
                "2020), the deepest tree of an ensemble is between 1 and 3 times log_M L deep; here M = "
                f"{words.arity(model)} children and L = {data.n_labels:,} labels make "
                f"{words.log_labels(data, model):.1f}.",
            ),
            (
                "Rows per leaf",
                f"{rows / leaves:,.1f}",
                "Training rows, mean over leaves. A leaf stays large when its split would send all rows one way, "
                "or when the tree had all its nodes before this leaf could be split.",
                f"at most {largest:,}",
            ),
            ("Labels per leaf", f"{labels / leaves:,.1f}", "Different labels of a leaf’s rows, mean over leaves."),
            (
                "Leaves per row",
                f"{rows / occurrences:.2f}",
                "Leaves of one tree that a training row reaches, on average; 1: rows never go several ways.",
            ),
        ]
    )
