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
    for r in range(x_ptr.size - 1):
        add_row(x_ptr[r], x_ptr[r + 1], x_columns, x_values, weight_ptr, weight_labels, weights, bias, out[r])


@kernel
def best_margins(x_ptr, x_columns, x_values, weight_ptr, weight_labels, weights, bias, out_labels, out_margins):
    """Find the k labels of largest margin for each row; labels of equal margin are ordered by id."""
    k = out_labels.shape[1]
    margins = np.empty(bias.size, np.float64)
    for r in range(x_ptr.size - 1):
        add_row(x_ptr[r], x_ptr[r + 1], x_columns, x_values, weight_ptr, weight_labels, weights, bias, margins)
        count = 0
        for label in range(bias.size):
            count = offer(out_margins, out_labels, r, count, k, margins[label], label)
