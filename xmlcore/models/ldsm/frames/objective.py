"""The objective J by depth and while nodes were trained, and the depths of leaves."""

from collections.abc import Sequence

import numpy as np

from xmlcore.first_use import pd
from xmlcore.models.ldsm.frames.nodes import check_node
from xmlcore.models.ldsm.trees import LdSMTree
from xmlcore.typing import DataFrame

OBJECTIVE = "J"
PARTS = ("balance", "class integrity", "multi-way")  # of J


def depth_frame(trees: Sequence["LdSMTree"]) -> "DataFrame":
    """Count leaves, and the training rows in them, by depth."""
    parts = []
    for t, tree in enumerate(trees):
        leaf = tree.children[:, 0] < 0
        depth = tree.depth[leaf]
        leaves = np.bincount(depth)
        rows = np.bincount(depth, weights=tree.n_samples[leaf]).astype(np.int64)
        at = np.flatnonzero(leaves)
        parts.append(pd.DataFrame({"tree": t, "depth": at, "leaves": leaves[at], "rows": rows[at]}))
    return pd.concat(parts, ignore_index=True)


def contributions(objective, balance, integrity, multiway, weights: tuple[float, float]) -> dict:
    """Return J and its parts by name; the parts have their weights and signs, so that they add up to J."""
    return {
        OBJECTIVE: objective,
        PARTS[0]: balance,
        PARTS[1]: -weights[0] * integrity,
        PARTS[2]: weights[1] * multiway,
    }


def objective_by_depth(trees: Sequence["LdSMTree"], weights: tuple[float, float]) -> "DataFrame":
    """Return J of the splits and its weighted parts by depth (Figure 1 of the paper)."""
    inner = [tree.children[:, 0] >= 0 for tree in trees]
    values = {
        name: np.concatenate([getattr(tree, name)[mask] for tree, mask in zip(trees, inner)])
        for name in ("objective", "balance", "integrity", "multiway")
    }
    depth = np.concatenate([tree.depth[mask] for tree, mask in zip(trees, inner)])
    parts = []
    for part, value in contributions(*values.values(), weights).items():
        grouped = pd.Series(value).groupby(depth)
        found = grouped.agg(least="min", mean="mean", greatest="max", nodes="size")
        parts.append(found.rename_axis("depth").reset_index().assign(part=part))
    columns = ["part", "depth", "least", "mean", "greatest", "nodes"]
    return pd.concat(parts, ignore_index=True)[columns]


def training_trace(tree: "LdSMTree", node: int, weights: tuple[float, float]) -> "DataFrame":
    """Return J of a node and its weighted parts after each epoch of its training."""
    node = check_node(tree, node)
    at = int(np.searchsorted(tree.inner, node))
    if at == tree.inner.size or tree.inner[at] != node:
        raise ValueError(f"node {node} is a leaf: it was not trained")
    trace = tree.trace[at].astype(np.float64)
    n_epochs = trace.shape[0]
    stages = {
        "training": (np.arange(1, n_epochs + 1), trace),
        "split": (
            np.array([max(n_epochs, 1)]),
            np.array([[tree.objective[node], tree.balance[node], tree.integrity[node], tree.multiway[node]]]),
        ),
    }
    return pd.concat(
        [
            pd.DataFrame({"epoch": epochs, "part": part, "value": value, "stage": stage})
            for stage, (epochs, values) in stages.items()
            for part, value in contributions(*values.T, weights).items()
        ],
        ignore_index=True,
    )
