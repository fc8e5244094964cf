"""Margins of one linear classifier per label, from the weights of each column."""

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.k_best import offer


@inlined
def add_row(start, end, x_columns, x_values, weight_ptr, weight_labels, weights, bias, margins):
    """Write the margins of one row, entries ``start`` to ``end - 1``, to ``margins``: float64 (L,)."""
    for label in range(bias.size):
        margins[label] = bias[label]
    for t in range(start, end):
        value = np.float64(x_values[t])
        for q in range(weight_ptr[x_columns[t]], weight_ptr[x_columns[t] + 1]):
            margins[weight_labels[q]] += value * np.float64(weights[q])


@kernel
def all_margins(x_ptr, x_columns, x_values, weight_ptr, weight_labels, weights, bias, out):
    """Compute the margins of all labels for each row.

    Parameters
    ----------
    x_ptr, x_columns, x_values : n rows of length 1 in columns
    weight_ptr : int64 (columns + 1,), weight_labels : int32, weights : float32
        For each column, the labels that have a weight in this column, and the weights.
    bias : float32 (L,)
    out : float64 (n, L), written
    """
    for r in range(x_ptr.size - 1):
        add_row(x_ptr[r], x_ptr[r + 1], x_columns, x_values, weight_ptr, weight_labels, weights, bias, out[r])


@kernel
def best_margins(x_ptr, x_columns, x_values, weight_ptr, weight_labels, weights, bias, out_labels, out_margins):
    """Find the k labels of largest margin for each row; labels of equal margin are ordered by id.

    Parameters
    ----------
    x_ptr, x_columns, x_values, weight_ptr, weight_labels, weights, bias
        See :func:`all_margins`.
    out_labels : int32 (n, k), out_margins : float64 (n, k)
        Written; k is at most L.
    """
    k = out_labels.shape[1]
    margins = np.empty(bias.size, np.float64)
    for r in range(x_ptr.size - 1):
        add_row(x_ptr[r], x_ptr[r + 1], x_columns, x_values, weight_ptr, weight_labels, weights, bias, margins)
        count = 0
        for label in range(bias.size):
            count = offer(out_margins, out_labels, r, count, k, margins[label], label)
