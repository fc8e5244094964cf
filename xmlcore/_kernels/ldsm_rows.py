"""LdSM: the rows of one node, in which only the columns and labels that occur are numbered, from 0 on.

The work on a node of few rows therefore does not grow with the number of features and labels of the data.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.sorting import sort_in_place


class TrainingRows(NamedTuple):
    """All training rows and their labels, as lists one after the other."""

    ptr: np.ndarray  # int64 (N + 1,), where each row's columns and values begin
    columns: np.ndarray  # int32
    values: np.ndarray  # float32 (float64 in tests), the type of everything that is computed with regressors
    label_ptr: np.ndarray  # int64 (N + 1,), where each row's labels begin
    labels: np.ndarray  # int32


class RowsOfNode(NamedTuple):
    """The m rows of one node and their labels, whose columns and labels are numbered from 0 on."""

    # With standardised columns, the columns and values are those of the one row that was read last.
    ptr: np.ndarray  # int64 (m + 1,)
    columns: np.ndarray  # uint32
    values: np.ndarray  # as in TrainingRows
    label_ptr: np.ndarray  # int64 (m + 1,)
    labels: np.ndarray  # uint32
    n_columns: int
    n_labels: int


class Standards(NamedTuple):
    """The rows of a node, which are read one by one with standardised columns: copies of all would take much memory."""

    data: TrainingRows
    rows: np.ndarray  # int32 (m,)
    place: np.ndarray  # int32, the number of each column in the node
    means: np.ndarray  # float64, of each column of the node
    scales: np.ndarray  # float64: the deviations, 1 if constant
    whole: bool  # whether each row has a value in each column, in their order


@kernel
def number_ids(ptr, ids, rows, place):
    """Number the ids in the lists of some rows in rising order: ``place`` gets the numbers; return the ids."""
    size = 0
    for r in range(rows.size):
        size += ptr[rows[r] + 1] - ptr[rows[r]]
    kept = np.empty(min(size, place.size), np.int32)
    count = 0
    for r in range(rows.size):
        for t in range(ptr[rows[r]], ptr[rows[r] + 1]):
            if place[ids[t]] < 0:
                place[ids[t]] = 0
                kept[count] = ids[t]
                count += 1
    kept = kept[:count].copy()
    sort_in_place(kept)
    for i in range(count):
        place[kept[i]] = i
    return kept


@kernel
def gather_numbers(ptr, ids, rows, place):
    """Copy the lists of some rows, with the number of each id in place of the id."""
    new_ptr = np.zeros(rows.size + 1, np.int64)
    for r in range(rows.size):
        new_ptr[r + 1] = new_ptr[r] + ptr[rows[r] + 1] - ptr[rows[r]]
    copied = np.empty(new_ptr[rows.size], np.uint32)
    out = 0
    for r in range(rows.size):
        for t in range(ptr[rows[r]], ptr[rows[r] + 1]):
            copied[out] = place[ids[t]]
            out += 1
    return new_ptr, copied


@kernel
def forget_numbers(kept, place):
    for i in range(kept.size):
        place[kept[i]] = -1


@kernel
def gather_lists(ptr, ids, rows, place):
    """Copy the lists of ids of some rows; the ids that occur are numbered from 0 on, in rising order."""
    kept = number_ids(ptr, ids, rows, place)
    new_ptr, copied = gather_numbers(ptr, ids, rows, place)
    forget_numbers(kept, place)
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
def standards(data, rows, place, n_columns):
    """Return how the rows of a node are read, so that its columns have mean 0 and variance 1 (0 if constant)."""
    means = np.zeros(n_columns)
    scales = np.zeros(n_columns)
    seen = np.zeros(n_columns, np.int64)
    whole = True
    for r in range(rows.size):
        start, end = data.ptr[rows[r]], data.ptr[rows[r] + 1]
        whole = whole and end - start == n_columns
        for t in range(start, end):
            f = np.uint64(place[data.columns[t]])
            whole = whole and f == np.uint64(t - start)
            means[f] += data.values[t]
    for f in range(n_columns):
        means[f] /= rows.size
    for r in range(rows.size):
        for t in range(data.ptr[rows[r]], data.ptr[rows[r] + 1]):
            f = np.uint64(place[data.columns[t]])
            difference = data.values[t] - means[f]
            scales[f] += difference * difference
            seen[f] += 1
    for f in range(n_columns):
        scales[f] = math.sqrt((scales[f] + (rows.size - seen[f]) * means[f] * means[f]) / rows.size)
        if scales[f] == 0.0:
            scales[f] = 1.0
    return Standards(data, rows, place, means, scales, whole)


@inlined
def read_standardised(standards, i, values):
    """Write row i of a node into ``values``, with all columns of the node, standardised."""
    data, place, row = standards.data, standards.place, standards.rows[i]
    start, means, scales = np.uint64(data.ptr[row]), standards.means, standards.scales
    if standards.whole:
        for f in range(np.uint64(values.size)):
            values[f] = (data.values[start + f] - means[f]) / scales[f]
        return
    for f in range(values.size):
        values[f] = 0.0
    for t in range(start, np.uint64(data.ptr[row + 1])):
        values[np.uint64(place[np.uint64(data.columns[t])])] = data.values[t]
    for f in range(values.size):
        values[f] = (values[f] - means[f]) / scales[f]
