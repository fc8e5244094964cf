"""LdSM: the rows of one node, in which only the columns and labels that occur are numbered, from 0 on.

The work on a node of few rows therefore does not grow with the number of features and labels of the data.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel


class TrainingRows(NamedTuple):
    """All training rows and their labels, as lists one after the other."""

    ptr: np.ndarray  # int64 (N + 1,), where each row's columns and values begin
    columns: np.ndarray  # int32
    values: np.ndarray  # float32 (float64 in tests), the type of everything that is computed with regressors
    label_ptr: np.ndarray  # int64 (N + 1,), where each row's labels begin
    labels: np.ndarray  # int32


class RowsOfNode(NamedTuple):
    """The m rows of one node and their labels, whose columns and labels are numbered from 0 on."""

    ptr: np.ndarray  # int64 (m + 1,)
    columns: np.ndarray  # uint32
    values: np.ndarray  # as in TrainingRows
    label_ptr: np.ndarray  # int64 (m + 1,)
    labels: np.ndarray  # uint32
    n_columns: int
    n_labels: int


@kernel
def gather_lists(ptr, ids, rows, place):
    """Copy the lists of ids of some rows; the ids that occur are numbered from 0 on, in rising order."""
    m = rows.size
    new_ptr = np.zeros(m + 1, np.int64)
    for r in range(m):
        new_ptr[r + 1] = new_ptr[r] + ptr[rows[r] + 1] - ptr[rows[r]]
    kept = np.empty(min(new_ptr[m], place.size), np.int32)
    count = 0
    for r in range(m):
        for t in range(ptr[rows[r]], ptr[rows[r] + 1]):
            if place[ids[t]] < 0:
                place[ids[t]] = 0
                kept[count] = ids[t]
                count += 1
    kept = np.sort(kept[:count])
    for i in range(count):
        place[kept[i]] = i
    copied = np.empty(new_ptr[m], np.uint32)
    out = 0
    for r in range(m):
        for t in range(ptr[rows[r]], ptr[rows[r] + 1]):
            copied[out] = place[ids[t]]
            out += 1
    for i in range(count):
        place[kept[i]] = -1
    return new_ptr, copied, kept


@kernel
def gather_values(ptr, values, rows):
    """Copy the values that belong to the lists of some rows, see :func:`gather_lists`; return them, row after row."""
    size = 0
    for r in range(rows.size):
        size += ptr[rows[r] + 1] - ptr[rows[r]]
    copied = np.empty(size, values.dtype)
    out = 0
    for r in range(rows.size):
        for t in range(ptr[rows[r]], ptr[rows[r] + 1]):
            copied[out] = values[t]
            out += 1
    return copied


@kernel
def gather_node(data, rows, place):
    """Copy the rows of a node, in this order; return them, and the columns and labels that their numbers stand for."""
    ptr, columns, kept_columns = gather_lists(data.ptr, data.columns, rows, place)
    values = gather_values(data.ptr, data.values, rows)
    label_ptr, labels, kept_labels = gather_lists(data.label_ptr, data.labels, rows, place)
    node = RowsOfNode(ptr, columns, values, label_ptr, labels, kept_columns.size, kept_labels.size)
    return node, kept_columns, kept_labels


@kernel
def standardise(node):
    """Return a node's rows with columns of mean 0 and variance 1, the means and the deviations (1 if constant)."""
    ptr, columns, values, n_columns = node.ptr, node.columns, node.values, node.n_columns
    m = ptr.size - 1
    means = np.zeros(n_columns)
    scales = np.zeros(n_columns)
    for t in range(columns.size):
        means[columns[t]] += values[t]
    for f in range(n_columns):
        means[f] /= m
    seen = np.zeros(n_columns, np.int64)
    for t in range(columns.size):
        difference = values[t] - means[columns[t]]
        scales[columns[t]] += difference * difference
        seen[columns[t]] += 1
    for f in range(n_columns):
        scales[f] = math.sqrt((scales[f] + (m - seen[f]) * means[f] * means[f]) / m)
        if scales[f] == 0.0:
            scales[f] = 1.0
    dense = np.empty(m * n_columns, values.dtype)
    every = np.empty(m * n_columns, np.uint32)
    every_ptr = np.zeros(m + 1, np.int64)
    for i in range(m):
        every_ptr[i + 1] = every_ptr[i] + n_columns
        for f in range(n_columns):
            dense[i * n_columns + f] = -means[f] / scales[f]
            every[i * n_columns + f] = f
        for t in range(ptr[i], ptr[i + 1]):
            dense[i * n_columns + columns[t]] = (values[t] - means[columns[t]]) / scales[columns[t]]
    return RowsOfNode(every_ptr, every, dense, node.label_ptr, node.labels, n_columns, node.n_labels), means, scales
