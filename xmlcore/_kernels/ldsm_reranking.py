"""LdSM: re-rank labels by a mixture of their shares and the nearness of the row to the mean of the label's rows.

This is the re-ranking of PFastreXML: Jain, Prabhu and Varma, KDD 2016.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.ldsm_reaching import find


class LabelMeans(NamedTuple):
    """The mean of each label's training rows, in the model's columns."""

    ptr: np.ndarray  # int64 (L + 1,)
    columns: np.ndarray  # int32, ascending for each label
    values: np.ndarray  # float32
    weights: np.ndarray  # float32 (n_columns,), factors by which rows are multiplied first; empty if there are none


@kernel
def weigh(ptr, columns, values, weights):
    """Return the values, multiplied by the weights of their columns, after which rows are scaled to length 1."""
    out = np.empty(values.size, values.dtype)
    for i in range(ptr.size - 1):
        square = 0.0
        for t in range(ptr[i], ptr[i + 1]):
            out[t] = values[t] * weights[columns[t]]
            square += np.float64(out[t]) * np.float64(out[t])
        if square > 0.0:
            length = math.sqrt(square)
            for t in range(ptr[i], ptr[i + 1]):
                out[t] = out[t] / length
    return out


@kernel
def rank_again(ptr, labels, shares, x, means, n_columns, beta, gamma):
    """Mix shares with nearness, in place: beta * share + (1 - beta) / (1 + exp(gamma * |x - mean|^2 / 2))."""
    mean_ptr, mean_columns, mean_values, _ = means
    x_ptr, x_columns, x_values = x
    dense = np.zeros(n_columns)
    mean_squares = np.zeros(mean_ptr.size - 1)
    for j in range(mean_ptr.size - 1):
        for t in range(mean_ptr[j], mean_ptr[j + 1]):
            mean_squares[j] += np.float64(mean_values[t]) * np.float64(mean_values[t])
    for i in range(ptr.size - 1):
        square = 0.0
        for t in range(x_ptr[i], x_ptr[i + 1]):
            dense[x_columns[t]] = x_values[t]
            square += np.float64(x_values[t]) * np.float64(x_values[t])
        for t in range(ptr[i], ptr[i + 1]):
            j = labels[t]
            first = np.uint64(mean_ptr[j])
            last = np.uint64(mean_ptr[j + 1])
            product = 0.0
            if mean_ptr[j + 1] - mean_ptr[j] > 16 * (x_ptr[i + 1] - x_ptr[i]):
                for u in range(x_ptr[i], x_ptr[i + 1]):
                    at = find(mean_columns, first, last, x_columns[u])
                    if at < last:
                        product += np.float64(x_values[u]) * np.float64(mean_values[at])
            else:
                for u in range(first, last):
                    product += dense[mean_columns[u]] * mean_values[u]
            distance = max(0.0, square + mean_squares[j] - 2.0 * product)
            shares[t] = beta * shares[t] + (1.0 - beta) / (1.0 + math.exp(min(700.0, 0.5 * gamma * distance)))
        for t in range(x_ptr[i], x_ptr[i + 1]):
            dense[x_columns[t]] = 0.0
