"""Gradients of a label tree's path products: one row of weights per node, in features, as LinearNodes has them."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel, part
from xmlcore._kernels.arrays import enlarged
from xmlcore._kernels.plt_factors import log_probability, log_slope
from xmlcore._kernels.sorting import sort_in_place

# A row whose gradient has less than one in so many features sorts them; another one goes through all features.
SORT_BELOW = 16


class FlatNodes(NamedTuple):
    """The node classifiers of one tree, in features: see :class:`xmlcore.models.plt.LinearNodes`."""

    parent: np.ndarray  # int32 (n,), -1 for the root
    leaf_of_label: np.ndarray  # int32 (L,)
    root_has_factor: bool
    weight_ptr: np.ndarray  # int64 (n + 1,)
    weight_features: np.ndarray  # int32
    weight_values: np.ndarray  # float32
    bias: np.ndarray  # float32 (n,)


class Dense(NamedTuple):
    """One row and its gradient with a place for each feature, and which of these places are in use."""

    row: np.ndarray  # float64 (D,), as the classifiers read it
    gradient: np.ndarray  # float64 (D,)
    is_used: np.ndarray  # bool (D,)
    used: np.ndarray  # int32 (D,), the features in use


@part
def add_path(nodes, loss, leaf, has_values, dense, n_used):
    """Add the gradient of the sum of log factors on a leaf's path, by the row, to ``dense.gradient``."""
    log_p = 0.0
    v = leaf
    while v > 0 or (v == 0 and nodes.root_has_factor):
        margin = np.float64(nodes.bias[v])
        for e in range(nodes.weight_ptr[v], nodes.weight_ptr[v + 1]):
            margin += dense.row[nodes.weight_features[e]] * nodes.weight_values[e]
        log_p += log_probability(margin, loss)
        slope = log_slope(margin, loss)
        if slope > 0.0 and has_values:
            for e in range(nodes.weight_ptr[v], nodes.weight_ptr[v + 1]):
                f = nodes.weight_features[e]
                dense.gradient[f] += slope * nodes.weight_values[e]
                if not dense.is_used[f]:
                    dense.is_used[f] = True
                    dense.used[n_used] = f
                    n_used += 1
        v = nodes.parent[v]
    return log_p, n_used


@kernel
def sort_used(dense, n_used):
    """Sort the features in use, ``dense.used[:n_used]``; where they are many, by going through all features."""
    n_features = dense.used.size
    if n_used * SORT_BELOW < n_features:
        sort_in_place(dense.used[:n_used])
    else:
        at = 0
        for f in range(n_features):
            if dense.is_used[f]:
                dense.used[at] = f
                at += 1


@kernel
def path_gradients(nodes, loss, unit, x_ptr, x_features, x_values, wanted, n_features):
    """Compute the log of one label's path product for each row, and its gradient by the row."""
    # ``unit`` says whether the classifiers read rows scaled to length 1.
    n = wanted.size
    log_p = np.zeros(n, np.float64)
    ptr = np.zeros(n + 1, np.int64)
    features = np.empty(1024, np.int32)
    values = np.empty(1024, np.float64)
    dense = Dense(
        np.zeros(n_features, np.float64), np.zeros(n_features, np.float64), np.zeros(n_features, np.bool_),
        np.empty(n_features, np.int32),
    )  # fmt: skip
    count = 0
    for i in range(n):
        begin = x_ptr[i]
        end = x_ptr[i + 1]
        length = 0.0
        for t in range(begin, end):
            length += np.float64(x_values[t]) * np.float64(x_values[t])
        length = np.sqrt(length) if unit else 1.0
        n_used = 0
        for t in range(begin, end):
            f = x_features[t]
            dense.row[f] = x_values[t] / length
            dense.is_used[f] = True
            dense.used[n_used] = f
            n_used += 1
        log_p[i], n_used = add_path(nodes, loss, nodes.leaf_of_label[wanted[i]], end > begin or not unit, dense, n_used)
        along = 0.0
        for t in range(begin, end if unit else begin):
            along += dense.row[x_features[t]] * dense.gradient[x_features[t]]
        sort_used(dense, n_used)
        while count + n_used > features.size:
            features = enlarged(features, count, 2 * features.size)
            values = enlarged(values, count, 2 * values.size)
        for at in range(n_used):
            f = dense.used[at]
            features[count] = f
            values[count] = (dense.gradient[f] - dense.row[f] * along) / length
            count += 1
            dense.gradient[f] = 0.0
            dense.row[f] = 0.0
            dense.is_used[f] = False
        ptr[i + 1] = count
    return log_p, ptr, features[:count].copy(), values[:count].copy()
