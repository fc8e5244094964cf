"""Fitted trees: as public named tuples, as flat arrays for prediction, and as the values and arrays that are saved.

Saved trees are checked before they are restored: kernels check nothing that they read.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ldsm_reaching import ForestArrays
from xmlcore._kernels.ldsm_reranking import LabelMeans
from xmlcore.arrays import are_finite, are_pointers, are_rising_lists, csr_of, pointers, read_only, rises, sums_of_lists
from xmlcore.models.ldsm.parameters import MOST_CHILDREN, MOST_GAMMA, OPTIMIZERS
from xmlcore.models.saving import ModelFormatError, check_columns, check_parts, check_types
from xmlcore.validation import INT32_MAX, check_count


class LdSMTree(NamedTuple):
    """One tree as arrays with a value per node; the root is first, and parents come before their children.

    Nodes are numbered in the order in which they were made. A smaller ``max_nodes`` would have made the same tree
    without its last nodes.
    """

    parent: np.ndarray  # int32 (n_nodes,), -1 for the root
    children: np.ndarray  # int32 (n_nodes, M), -1 for leaves
    depth: np.ndarray  # int32 (n_nodes,), 0 for the root
    n_samples: np.ndarray  # int64 (n_nodes,), training rows that reach the node
    objective: (
        np.ndarray
    )  # float64 (n_nodes,), J of the split that was made; NaN for leaves, also in the next three arrays
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


class TreeParts(NamedTuple):
    """All fitted values of one tree of n nodes, from growing it or from a saved model."""

    arity: int
    first_child: np.ndarray  # int32 (n,), -1 for leaves
    bias: np.ndarray  # float32 (n,), bias of the regressor that sends rows to the node
    inner: np.ndarray  # int64 (inner nodes,), ids of the inner nodes
    n_samples: np.ndarray  # int64 (n,), number of training rows that reach the node
    n_columns: np.ndarray  # int64 (inner nodes,), the number of columns in which a node's regressors have weights
    columns: np.ndarray  # int32 (F,), these columns, of one node after the other
    weights: np.ndarray  # float32 (F * M,)
    hist_ptr: np.ndarray  # int64 (n + 1,)
    hist_labels: np.ndarray  # int32, labels of each node's rows
    hist_counts: np.ndarray  # int32, number of the node's rows that have the label
    measures: np.ndarray  # float64 (n, 4), J, balance, integrity and multi-way penalty of the splits; NaN for leaves
    trace: np.ndarray  # float32 (inner nodes, n_epochs, 4)


def public_tree(parts: TreeParts, n_labels: int) -> LdSMTree:
    first, M = parts.first_child, parts.arity
    children = np.where(first[:, None] >= 0, first[:, None] + np.arange(M, dtype=np.int32), np.int32(-1))
    parent, depth = np.full(first.size, -1, np.int32), np.zeros(first.size, np.int32)
    parent[children[parts.inner]] = parts.inner[:, None]
    level = children[:1]
    while (level := level[level >= 0]).size:
        depth[level] = depth[parent[level]] + 1
        level = children[level]
    histograms = csr_of(parts.hist_ptr, parts.hist_labels, parts.hist_counts, (first.size, n_labels))
    return LdSMTree(
        parent, children, depth, parts.n_samples, *parts.measures.T.copy(), parts.inner.astype(np.int32), parts.trace,
        histograms,
    )  # fmt: skip


def forest_arrays(trees: list[TreeParts], saved: dict[str, np.ndarray] | None = None) -> ForestArrays:
    """Return all trees as one set of read-only flat arrays, which the kernels of prediction read.

    ``saved`` has those that were saved, of which the trees are parts.
    """
    root = pointers(tree.first_child.size for tree in trees).astype(np.int32)
    firsts = [np.where(tree.first_child >= 0, tree.first_child + at, -1) for tree, at in zip(trees, root)]
    first_child = np.concatenate(firsts).astype(np.int32)
    inner = np.concatenate([tree.inner + at for tree, at in zip(trees, root)])
    group = np.full(first_child.size, -1, np.int32)
    group[inner] = np.arange(inner.size, dtype=np.int32)
    hist_ptr = pointers(np.concatenate([np.diff(tree.hist_ptr) for tree in trees]))
    large = saved or {
        name: np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("columns", "weights", "hist_labels", "hist_counts")
    }
    return read_only(
        ForestArrays(
            root=root,
            first_child=first_child,
            group=group,
            bias=np.concatenate([tree.bias for tree in trees]),
            column_ptr=pointers(np.concatenate([tree.n_columns for tree in trees])),
            hist_ptr=hist_ptr,
            hist_total=sums_of_lists(hist_ptr, large["hist_counts"], np.int64),
            n_rows=np.concatenate([tree.n_samples for tree in trees]).astype(np.int64),
            **large,
        )
    )


FOREST = ("root", "first_child", "bias", "column_ptr", "columns", "weights", "hist_ptr", "hist_labels", "hist_counts")
MEANS = ("mean_ptr", "mean_columns", "mean_values", "mean_weights")
MEAN_TYPES = [("int64", 1), ("int32", 1), ("float32", 1), ("float32", 1)]  # type and dimensions
DTYPES = {
    "root": "int32",
    "first_child": "int32",
    "bias": "float32",
    "column_ptr": "int64",
    "columns": "int32",
    "weights": "float32",
    "hist_ptr": "int64",
    "hist_labels": "int32",
    "hist_counts": "int32",
    "n_samples": "int64",
    "parts": "float64",
    "trace": "float32",
}


class Fitted(NamedTuple):
    """The fitted state of a model."""

    trees: list[TreeParts]
    means: LabelMeans | None
    rerank: tuple[float, float]  # β and γ
    feature_of_column: np.ndarray  # int32
    n_features: int
    n_labels: int
    optimizer: str
    n_unlabelled: int
    saved: dict[str, np.ndarray] | None = None  # the large arrays of the forest, where they were saved


def state_of(model) -> tuple[dict, dict[str, np.ndarray]]:
    """Return the fitted state of a model: values that JSON can hold, and arrays, by name."""
    trees = model.trees_
    arrays = {name: getattr(model.forest_, name) for name in FOREST}
    arrays["feature_of_column"] = model.feature_of_column_
    arrays["n_samples"] = np.concatenate([tree.n_samples for tree in trees])
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


def fitted_from(values: dict, arrays: dict[str, np.ndarray]) -> Fitted:
    """Check the values and arrays that :func:`state_of` returned, and return the fitted state."""
    for name, least in (("n_features", 1), ("n_labels", 1), ("n_trees", 1), ("arity", 2), ("n_epochs", 1)):
        check_count(values[name], name, least=least, most=INT32_MAX)
    check_count(values["n_unlabelled"], "n_unlabelled", least=0)
    beta, gamma = map(float, values["rerank"])
    if not (0 <= beta <= 1 and 0 <= gamma <= MOST_GAMMA):
        raise ModelFormatError(f"no model has β = {beta} and γ = {gamma}")
    if (beta < 1) != (MEANS[0] in arrays):
        raise ModelFormatError(f"its arrays have the labels' means exactly when β is below 1, but β is {beta}")
    if values["optimizer"] not in OPTIMIZERS or values["arity"] > MOST_CHILDREN:
        raise ModelFormatError(f"no model has optimizer {values['optimizer']!r:.200} and arity {values['arity']}")
    check_columns(arrays["feature_of_column"], values["n_features"])
    _check_arrays(arrays, values, arrays["feature_of_column"].size)
    return Fitted(
        trees=_split_trees(arrays, values),
        means=LabelMeans(*(arrays[name] for name in MEANS)) if MEANS[0] in arrays else None,
        rerank=(beta, gamma),
        feature_of_column=arrays["feature_of_column"],
        n_features=values["n_features"],
        n_labels=values["n_labels"],
        optimizer=values["optimizer"],
        n_unlabelled=values["n_unlabelled"],
        saved={name: arrays[name] for name in ("columns", "weights", "hist_labels", "hist_counts")},
    )


def _split_trees(arrays, values) -> list[TreeParts]:
    M = values["arity"]
    root, hist_ptr, column_ptr = arrays["root"], arrays["hist_ptr"], arrays["column_ptr"]
    n_inner = int((arrays["first_child"] >= 0).sum())
    trace = arrays["trace"].reshape(n_inner, values["n_epochs"], 4)
    trees, group = [], 0
    for start, end in zip(root[:-1], root[1:]):
        first = arrays["first_child"][start:end]
        inner = np.flatnonzero(first >= 0)
        groups = slice(group, group := group + inner.size)
        own = column_ptr[groups.start : group + 1]
        trees.append(
            TreeParts(
                arity=M,
                first_child=np.where(first >= 0, first - start, -1).astype(np.int32),
                bias=arrays["bias"][start:end],
                inner=inner,
                n_samples=arrays["n_samples"][start:end],
                n_columns=np.diff(own),
                columns=arrays["columns"][own[0] : own[-1]],
                weights=arrays["weights"][M * own[0] : M * own[-1]],
                hist_ptr=hist_ptr[start : end + 1] - hist_ptr[start],
                hist_labels=arrays["hist_labels"][hist_ptr[start] : hist_ptr[end]],
                hist_counts=arrays["hist_counts"][hist_ptr[start] : hist_ptr[end]],
                measures=arrays["parts"][start:end],
                trace=trace[groups],
            )
        )
    return trees


def _check_arrays(arrays, values, n_columns):
    """Raise ModelFormatError unless the arrays are trees and every index points inside them."""
    check_types(arrays, {name: (dtype, 2 if name in ("parts", "trace") else 1) for name, dtype in DTYPES.items()})
    check_parts(
        {
            "the trees": lambda: _are_trees(arrays, values),
            "the regressors": lambda: _are_regressors(arrays, values, n_columns),
            "the histograms": lambda: _are_histograms(arrays, values),
            "the labels' means": lambda: MEANS[0] not in arrays or _are_means(arrays, values, n_columns),
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
        arrays["bias"].size == arrays["n_samples"].size == arrays["parts"].shape[0] == first.size
        and arrays["parts"].shape[1] == arrays["trace"].shape[1] == 4
        and arrays["trace"].shape[0] == n_inner * values["n_epochs"]
        and bool((arrays["n_samples"] > 0).all())
    )


def _are_regressors(arrays, values, n_columns):
    """Return whether the columns are valid, and there is one finite weight for each child and column."""
    groups = int((arrays["first_child"] >= 0).sum())
    return (
        arrays["column_ptr"].size == groups + 1
        and _are_lists(arrays["column_ptr"], arrays["columns"], n_columns)
        and arrays["weights"].size == values["arity"] * arrays["columns"].size
        and are_finite(arrays["weights"])
        and are_finite(arrays["bias"])
    )


def _are_histograms(arrays, values):
    """Return whether each node has a list of labels, in rising order, with a positive count for each."""
    return (
        _are_lists(arrays["hist_ptr"], arrays["hist_labels"], values["n_labels"])
        and arrays["hist_ptr"].size == arrays["first_child"].size + 1
        and rises(arrays["hist_ptr"], 1)
        and arrays["hist_counts"].min(initial=1) > 0
        and arrays["hist_counts"].size == arrays["hist_labels"].size
    )


def _are_means(arrays, values, n_columns):
    """Return whether each label has a mean with valid columns and finite values, and the weights are valid."""
    ptr, columns, means, weights = (arrays[name] for name in MEANS)
    return (
        [(array.dtype, array.ndim) for array in (ptr, columns, means, weights)] == MEAN_TYPES
        and ptr.size == values["n_labels"] + 1
        and _are_lists(ptr, columns, n_columns)
        and columns.size == means.size
        and weights.size in (0, max(1, n_columns))
        and are_finite(means)
        and are_finite(weights)
    )


def _are_lists(ptr, ids, count):
    """Return whether ``ptr`` divides ``ids`` into lists, each in rising order, of ids from 0 to ``count`` - 1."""
    return are_pointers(ptr, ptr.size - 1, ids.size) and are_rising_lists(ptr, ids, count)
