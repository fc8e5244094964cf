"""The node classifiers of a label tree as one matrix, for gradients, certificates and explanations."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import plt_gradients as kernels
from xmlcore._kernels.plt_factors import LOGISTIC, SQUARED_HINGE
from xmlcore.arrays import read_only
from xmlcore.models.plt.scaling import UNIT
from xmlcore.validation import check_count, csr_parts

LOSS_NUMBERS = {"logistic": LOGISTIC, "squared_hinge": SQUARED_HINGE}


class LinearNodes(NamedTuple):
    """The node classifiers of one tree. n nodes, D features.

    The margin of node v for a row x is ``weights[v] @ u + bias[v]``, where u is x / |x| if ``normalize`` is "l2" (a row
    of zeros is not scaled), and else x.
    ``xmlcore._kernels.plt_factors.log_probability`` turns the margin into the log of the node's factor, and
    log P(label | x) is the sum of these logs over ``path(label)``.
    """

    parent: np.ndarray  # int32 (n,), -1 for the root, which is node 0; parents come before their children
    label: np.ndarray  # int32 (n,), -1 for inner nodes
    leaf_of_label: np.ndarray  # int32 (L,)
    weights: sp.csr_array  # float32 (n, D)
    bias: np.ndarray  # float32 (n,), may be infinite: a factor that is always 0 or 1
    loss: str  # "logistic" or "squared_hinge"
    root_has_factor: bool  # whether the root has a classifier of its own
    normalize: str | None = UNIT  # see ``PLT.normalize_``

    def path(self, label: int) -> np.ndarray:
        """Return the nodes that have a factor in the label's probability, from the root down: int64."""
        nodes = [int(self.leaf_of_label[check_count(label, "label", 0, self.leaf_of_label.size - 1)])]
        while nodes[-1] > 0:
            nodes.append(int(self.parent[nodes[-1]]))
        return np.array(nodes[::-1] if self.root_has_factor else nodes[-2::-1], np.int64)


def linear_nodes(arrays, leaf_of_label, feature_of_column, n_features: int, loss: str, normalize) -> LinearNodes:
    """Return the weights of a tree's nodes as a matrix of nodes and features."""
    n, sizes = arrays.label.size, arrays.group_size.astype(np.int64)
    n_columns = np.diff(arrays.column_ptr)
    is_sparse = np.diff(arrays.entry_at) > 0
    # Groups stored as pairs (child, value), column by column.
    group = np.repeat(np.arange(sizes.size), n_columns)
    sparse_columns = np.flatnonzero(is_sparse[group])
    # A sparse group has one pointer more than columns, a dense group has no pointers.
    first_entry = np.arange(group.size) + np.cumsum(is_sparse)[group] - 1
    skipped = np.cumsum(np.where(is_sparse, 0, n_columns))
    first_entry = (first_entry - skipped[group])[sparse_columns]
    counts = arrays.entry_ptr[first_entry + 1].astype(np.int64) - arrays.entry_ptr[first_entry]
    pair_group = np.repeat(group[sparse_columns], counts)
    nodes = [arrays.group_first[pair_group].astype(np.int64) + arrays.entry_child]
    columns = [np.repeat(arrays.columns[sparse_columns], counts)]
    values = [arrays.entry_value]
    for g in np.flatnonzero(~is_sparse & (n_columns > 0)):
        size = int(sizes[g])
        # A line for each column, which may have more places than the group has children.
        block = arrays.dense[arrays.dense_ptr[g] : arrays.dense_ptr[g + 1]].reshape(int(n_columns[g]), -1)[:, :size]
        at, child = np.nonzero(block)
        nodes.append(arrays.group_first[g] + child)
        columns.append(arrays.columns[arrays.column_ptr[g] + at])
        values.append(block[at, child])
    nodes, columns = np.concatenate(nodes), np.concatenate(columns)
    weights = sp.csr_array((np.concatenate(values), (nodes, feature_of_column[columns])), shape=(n, n_features))
    weights.sort_indices()
    read_only((weights.indptr, weights.indices, weights.data))
    return LinearNodes(
        arrays.parent, arrays.label, leaf_of_label, weights, arrays.bias, loss, bool(arrays.root_group >= 0), normalize,
    )  # fmt: skip


def path_gradients(nodes: LinearNodes, x_ptr, x_features, x_values, labels) -> tuple[np.ndarray, sp.csr_array]:
    """Return log P(label | row) of one tree and its gradient with respect to the row."""
    n_features = nodes.weights.shape[1]
    flat = kernels.FlatNodes(
        nodes.parent, nodes.leaf_of_label, nodes.root_has_factor, *csr_parts(nodes.weights), nodes.bias
    )
    log_proba, ptr, features, values = kernels.path_gradients(
        flat, LOSS_NUMBERS[nodes.loss], nodes.normalize == UNIT, x_ptr, x_features, x_values, labels, n_features
    )
    return log_proba, sp.csr_array((values, features, ptr), shape=(labels.size, n_features))


def log_mean_gradient(per_tree) -> tuple[np.ndarray, sp.csr_array]:
    """Return the log of the mean of several probabilities and its gradient, given their logarithms and gradients."""
    if len(per_tree) == 1:
        log_proba, total = per_tree[0]
    else:
        logs = np.stack([log_proba for log_proba, _ in per_tree])
        largest = logs.max(axis=0)
        shares = np.exp(logs - np.where(np.isfinite(largest), largest, 0.0))
        sums = shares.sum(axis=0)
        with np.errstate(divide="ignore"):
            log_proba = largest + np.log(sums / len(per_tree))
        shares /= np.where(sums > 0, sums, 1.0)
        total = None
        for share, (_, gradient) in zip(shares, per_tree):
            gradient.data *= np.repeat(share, np.diff(gradient.indptr))
            total = gradient if total is None else total + gradient
    total = total.astype(np.float32)
    total.eliminate_zeros()
    return log_proba, total
