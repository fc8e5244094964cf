"""The answer of the Trees page: the number and depth of the trees, and the value of their objective J."""

import numpy as np
import streamlit as st

from pages.shared import format, tables
from pages.trees import words


def sentence(data, name, model) -> None:
    """Say how many trees there are, how deep they are, and what their objective J is."""
    trees = model.trees_
    sizes = [tree.parent.size for tree in trees]
    same = f"{sizes[0]:,} nodes" + (" each" if len(sizes) > 1 else "")
    nodes = same if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,} nodes"
    deepest, log = max(int(tree.depth.max()) for tree in trees), words.log_labels(data, model)
    one = len(trees) == 1
    text = (
        f"On **{format.plain(name)}** LdSM has grown **{format.count(len(trees), 'tree')}** of {nodes}. "
        f"The deepest leaf is at depth **{deepest}**; a tree with a leaf for each of the L = {data.n_labels:,} labels, "
        f"all at the same depth, would have log{_sub(words.arity(model))} L = {log:.1f} levels"
    )
    split = np.concatenate([tree.objective for tree in trees])
    if np.isfinite(split).any():
        roots = np.array([tree.objective[0] for tree in trees])
        text += (
            f". Training makes the objective J small: it is **{format.number(np.nanmean(roots))}** at the root"
            f"{'' if one else 's'} and **{format.number(np.nanmean(split))}** over all splits on average."
        )
    else:
        text += ". No split was made."
    st.markdown(text)


def _sub(number):
    """Return a whole number in subscript digits."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(c)] for c in str(number))


def cards(data, model) -> None:
    """Show the sizes of the trees and of their leaves."""
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
                "Steps from the root, over all trees. In the paper on LdSM (Majzoubi and Choromanska, 2020), the "
                "deepest tree of an ensemble is between 1 and 3 times log_M L deep; here M = "
                f"{words.arity(model)} children and L = {data.n_labels:,} labels make "
                f"{words.log_labels(data, model):.1f}.",
            ),
            ("Rows per leaf", f"{rows / leaves:,.1f}", "Training rows, mean over leaves."),
            (
                "Largest leaf",
                f"{largest:,}",
                "Training rows. A leaf stays large when a split would have sent all its rows the same way, or when the "
                "tree had all its nodes before this leaf could be split.",
            ),
            ("Labels per leaf", f"{labels / leaves:,.1f}", "Different labels of a leaf’s rows, mean over leaves."),
            (
                "Leaves per row",
                f"{rows / occurrences:.2f}",
                "Leaves of one tree that a training row reaches, on average; 1: rows never go several ways.",
            ),
        ]
    )
