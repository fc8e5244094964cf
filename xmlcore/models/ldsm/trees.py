"""Fitted trees: as public named tuples, and as flat arrays for prediction."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ldsm_reaching import ForestArrays
from xmlcore.arrays import csr_of, pointers, read_only, sums_of_lists


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
