"""Fitted trees: as public named tuples, as flat arrays for prediction, and as the values and arrays that are saved.

Saved trees are checked before they are restored: kernels check nothing that they read.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ldsm_reaching import ForestArrays
from xmlcore.arrays import are_finite, are_lists, are_pointers, csr_of, pointers, read_only, sums_of_lists
from xmlcore.models.ldsm.parameters import MOST_CHILDREN, MOST_GAMMA, OPTIMIZERS
from xmlcore.models.saving import ModelFormatError, check_columns, check_parts, check_types
from xmlcore.validation import INT32_MAX, check_count

# The arrays by which trees are saved, with their types: all but the last three are those that kernels read.
DTYPES = dict(
    root="int32", first_child="int32", bias="float32", column_ptr="int64", columns="int32", weights="float32",
    hist_ptr="int64", hist_labels="int32", hist_counts="int32", n_samples="int64", parts="float64", trace="float32",
)  # fmt: skip
FOREST = tuple(DTYPES)[:-3]
# Those of the labels' means, which only models with re-ranking have.
MEANS = dict(mean_ptr="int64", mean_columns="int32", mean_values="float32", mean_weights="float32")


class LdSMTree(NamedTuple):
    """One tree as arrays with a value per node; the root is first, and parents come before their children.

    Nodes are numbered in the order in which they were made. A smaller ``max_nodes`` would have made the same tree
    without its last nodes.
    """

    parent: np.ndarray  # int32 (n_nodes,), -1 for the root
    children: np.ndarray  # int32 (n_nodes, M), -1 for leaves
    depth: np.ndarray  # int32 (n_nodes,), 0 for the root
    n_samples: np.ndarray  # int64 (n_nodes,), training rows that reach the node
    objective: np.ndarray  # float64 (n_nodes,), J of the split; NaN for leaves, also in the next three arrays
    balance: np.ndarray  # float64 (n_nodes,), the balancing term: 0 is balanced
    integrity: np.ndarray  # float64 (n_nodes,), class integrity without its weight: at most M²/4, rounded down
    multiway: np.ndarray  # float64 (n_nodes,), the multi-way penalty without its weight: 0 if no row goes two ways
    inner: np.ndarray  # int32 (inner nodes,), ids of the inner nodes
    trace: np.ndarray  # float32 (inner nodes, n_epochs, 4), J and its three parts, estimated after each epoch
    histograms: sp.csr_array  # int32 (n_nodes, L), the number of a node's rows that have each label


class Leaves(NamedTuple):
    """The leaves that rows reach, listed tree by tree, and row by row within a tree."""

    n_rows: int
    n_trees: int
    ptr: np.ndarray  # int64 (n_trees * n_rows + 1,), where the leaves of each (tree, row) begin
    nodes: np.ndarray  # int32, ids of leaves within their tree

    def of(self, row: int, tree: int) -> np.ndarray:
        """Return the ids of the leaves of one tree that a row reaches: int32, at least one id."""
        at = tree * self.n_rows + row
        return self.nodes[self.ptr[at] : self.ptr[at + 1]]


def joined(forests: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the trees of several forests as one forest, in the arrays by which they are saved."""
    at = pointers(forest["first_child"].size for forest in forests)
    every = {name: np.concatenate([forest[name] for forest in forests]) for name in DTYPES if "_ptr" not in name}
    for name in ("column_ptr", "hist_ptr"):
        every[name] = pointers(np.concatenate([np.diff(forest[name]) for forest in forests]))
    roots = [forest["root"][:-1] + first for forest, first in zip(forests, at)]
    every["root"] = np.append(np.concatenate(roots), at[-1]).astype(np.int32)
    shift = np.repeat(at[:-1], np.diff(at))
    every["first_child"] = np.where(every["first_child"] >= 0, every["first_child"] + shift, -1).astype(np.int32)
    return every


def public_trees(values: dict, arrays: dict[str, np.ndarray]) -> list[LdSMTree]:
    """Return the trees of a forest one by one; their arrays are parts of those of the forest."""
    M, root, hist_ptr = values["arity"], arrays["root"], arrays["hist_ptr"]
    n_inner = int((arrays["first_child"] >= 0).sum())
    trace, trees, group = arrays["trace"].reshape(n_inner, values["n_epochs"], 4), [], 0
    for start, end in zip(root[:-1], root[1:]):
        first = np.where(arrays["first_child"][start:end] >= 0, arrays["first_child"][start:end] - start, -1)
        children = np.where(first[:, None] >= 0, first[:, None] + np.arange(M), -1).astype(np.int32)
        inner = np.flatnonzero(first >= 0)
        parent, depth = np.full(first.size, -1, np.int32), np.zeros(first.size, np.int32)
        parent[children[inner]] = inner[:, None]
        level = children[:1]
        while (level := level[level >= 0]).size:
            depth[level] = depth[parent[level]] + 1
            level = children[level]
        own = slice(hist_ptr[start], hist_ptr[end])
        histograms = csr_of(
            hist_ptr[start : end + 1] - hist_ptr[start], arrays["hist_labels"][own], arrays["hist_counts"][own],
            (first.size, values["n_labels"]),
        )  # fmt: skip
        groups = slice(group, group := group + inner.size)
        trees.append(
            LdSMTree(
                parent, children, depth, arrays["n_samples"][start:end], *arrays["parts"][start:end].T.copy(),
                inner.astype(np.int32), trace[groups], histograms,
            )
        )  # fmt: skip
    return trees


def forest_arrays(arrays: dict[str, np.ndarray]) -> ForestArrays:
    """Return all trees as one set of read-only flat arrays, which the kernels of prediction read."""
    inner, hist_ptr = arrays["first_child"] >= 0, arrays["hist_ptr"]
    total = np.zeros(inner.size, np.int64)
    total[np.diff(hist_ptr) > 0] = sums_of_lists(np.unique(hist_ptr), arrays["hist_counts"], np.int64)
    return read_only(
        ForestArrays(
            **{name: arrays[name] for name in FOREST},
            group=np.where(inner, np.cumsum(inner) - 1, -1).astype(np.int32),
            hist_total=total,
            n_rows=arrays["n_samples"],
        )
    )


def state_of(model) -> tuple[dict, dict[str, np.ndarray]]:
    """Return the fitted state of a model: values that JSON can hold, and arrays, by name."""
    trees = model.trees_
    arrays = {name: getattr(model.forest_, name) for name in FOREST}
    arrays |= {"feature_of_column": model.feature_of_column_, "n_samples": model.forest_.n_rows}
    arrays["parts"] = np.concatenate(
        [np.stack([t.objective, t.balance, t.integrity, t.multiway], axis=1) for t in trees]
    )
    arrays["trace"] = np.concatenate([tree.trace.reshape(-1, 4) for tree in trees])
    arrays |= dict(zip(MEANS, model.means_ or ()))
    values = {
        "n_features": model.n_features_in_,
        "n_labels": model.n_labels_,
        "n_trees": len(trees),
        "arity": int(trees[0].children.shape[1]),
        "n_epochs": int(max(tree.trace.shape[1] for tree in trees)),
        "optimizer": model.optimizer_,
        "n_unlabelled": model.n_unlabelled_,
        "rerank": list(model.rerank_),
    }
    return values, arrays


def check_state(values: dict, arrays: dict[str, np.ndarray]) -> None:
    """Raise ModelFormatError, or another error, unless a saved state is what :func:`state_of` returns."""
    for name, least in (("n_features", 1), ("n_labels", 1), ("n_trees", 1), ("arity", 2), ("n_epochs", 1)):
        check_count(values[name], name, least=least, most=INT32_MAX)
    check_count(values["n_unlabelled"], "n_unlabelled", least=0)
    beta, gamma = map(float, values["rerank"])
    if not (0 <= beta <= 1 and 0 <= gamma <= MOST_GAMMA):
        raise ModelFormatError(f"no model has β = {beta} and γ = {gamma}")
    if (beta < 1) != ("mean_ptr" in arrays):
        raise ModelFormatError(f"its arrays have the labels' means exactly when β is below 1, but β is {beta}")
    if values["optimizer"] not in OPTIMIZERS or values["arity"] > MOST_CHILDREN:
        raise ModelFormatError(f"no model has optimizer {values['optimizer']!r:.200} and arity {values['arity']}")
    check_columns(arrays["feature_of_column"], values["n_features"])
    types, n_columns = DTYPES | (MEANS if "mean_ptr" in arrays else {}), arrays["feature_of_column"].size
    check_types(arrays, {name: (dtype, 2 if name in ("parts", "trace") else 1) for name, dtype in types.items()})
    check_parts(
        {
            "the trees": lambda: _are_trees(arrays, values),
            "the regressors": lambda: _are_regressors(arrays, values, n_columns),
            "the histograms": lambda: _are_histograms(arrays, values),
            "the labels' means": lambda: "mean_ptr" not in arrays or _are_means(arrays, values, n_columns),
        }
    )


def _are_trees(arrays, values):
    """Return whether the nodes form trees in which parents come before their children, with values for each node."""
    root, first, M = arrays["root"].astype(np.int64), arrays["first_child"].astype(np.int64), values["arity"]
    if not (are_pointers(root, values["n_trees"], first.size) and (np.diff(root) > 0).all()):
        return False
    for start, end in zip(root[:-1], root[1:]):
        inner = start + np.flatnonzero(first[start:end] >= 0)
        if not (
            np.array_equal(np.sort(first[inner]), start + 1 + M * np.arange(inner.size))
            and end - start == 1 + M * inner.size
            and (first[inner] > inner).all()
            and (first[start:end] >= -1).all()
        ):
            return False
    n_inner = int((first >= 0).sum())
    return (
        arrays["bias"].size == arrays["n_samples"].size == first.size
        and arrays["parts"].shape == (first.size, 4)
        and arrays["trace"].shape == (n_inner * values["n_epochs"], 4)
        and bool((arrays["n_samples"] >= 0).all() and (arrays["n_samples"][root[:-1]] > 0).all())
    )


def _are_regressors(arrays, values, n_columns):
    """Return whether the columns are valid, and there is one finite weight for each child and column."""
    groups = int((arrays["first_child"] >= 0).sum())
    return (
        are_lists(arrays["column_ptr"], groups, arrays["columns"], n_columns)
        and arrays["weights"].size == values["arity"] * arrays["columns"].size
        and are_finite(arrays["weights"])
        and are_finite(arrays["bias"])
    )


def _are_histograms(arrays, values):
    """Return whether each node with rows, and no other, has labels, in rising order, with a positive count for each."""
    return (
        are_lists(arrays["hist_ptr"], arrays["first_child"].size, arrays["hist_labels"], values["n_labels"])
        and arrays["hist_counts"].size == arrays["hist_labels"].size
        and np.array_equal(np.diff(arrays["hist_ptr"]) > 0, arrays["n_samples"] > 0)
        and arrays["hist_counts"].min(initial=1) > 0
    )


def _are_means(arrays, values, n_columns):
    """Return whether each label has a mean with valid columns and finite values, and the weights are valid."""
    ptr, columns, means, weights = (arrays[name] for name in MEANS)
    return (
        are_lists(ptr, values["n_labels"], columns, n_columns, means)
        and weights.size in (0, max(1, n_columns))
        and are_finite(means)
        and are_finite(weights)
    )
