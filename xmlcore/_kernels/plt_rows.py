"""Rows as the searches of label trees read them: in columns, and scaled to length 1 unless the model reads raw values.

A column is a feature that occurs in the training rows. Column 0 is the most frequent feature, so the columns that most
rows look up are neighbours in memory.
"""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.arrays import fill
from xmlcore._kernels.sorting import first_at_least

ZONES = 8  # Number of zones that the columns of a row are sorted by.


class RowsInColumns(NamedTuple):
    """Rows in columns; dense rows, with values in many columns, are stored with a value for each."""

    ptr: np.ndarray  # int64 (n + 1,): the entries of each sparse row; dense rows have none
    columns: np.ndarray  # int32, by zones
    values: np.ndarray  # float32
    dense_at: np.ndarray  # int64 (n,): the place of a dense row in ``dense``, -1 for a sparse row
    dense: np.ndarray  # float32 (dense rows, columns)


@inlined
def zone(column):
    """Return the zone of a column, 0 for the most frequent features; each is four times as long as the one before."""
    return (
        0 + (column >= 32) + (column >= 128) + (column >= 512) + (column >= 2048) + (column >= 8192) + (column >= 32768)
        + (column >= 131072)
    )  # fmt: skip


@inlined
def column_of_feature(feature, feature_ids, column_of):
    """Return the column of a feature, -1 for none; see :func:`rows_in_columns`."""
    n_ids = feature_ids.size
    if n_ids == 0:
        return column_of[feature]
    at = first_at_least(feature_ids, 0, n_ids, feature)
    if at == n_ids or feature_ids[at] != feature:
        return np.int32(-1)
    return column_of[at]


@kernel
def find_dense_rows(indptr, indices, first, stop, feature_ids, column_of, least):
    """Number the dense rows among rows ``first`` to ``stop`` - 1: those with values in at least ``least`` columns."""
    dense_at = np.full(stop - first, -1, np.int64)
    n_dense = 0
    n_entries = 0
    longest = 0
    for r in range(first, stop):
        size = indptr[r + 1] - indptr[r]
        known = 0
        if size >= least:
            for t in range(indptr[r], indptr[r + 1]):
                known += column_of_feature(indices[t], feature_ids, column_of) >= 0
        if known >= least:
            dense_at[r - first] = n_dense
            n_dense += 1
        else:
            n_entries += size
            longest = max(longest, size)
    return dense_at, n_dense, n_entries, longest


@kernel
def rows_in_columns(indptr, indices, data, first, stop, feature_ids, column_of, unit, n_columns, least):
    """Return CSR rows ``first`` to ``stop`` - 1 in columns; rows with ``least`` values or more are dense."""
    # ``unit`` says whether rows are scaled to length 1, to which features without a column count, too.
    # When ``feature_ids`` is empty, the column of feature f is ``column_of[f]``, -1 for none; otherwise the i-th of
    # these ascending features has ``column_of[i]``. Entries of sparse rows are sorted by zones only: neighbouring
    # columns are then looked up one after the other, which is most of the gain of sorting at little cost.
    dense_at, n_dense, n_entries, longest = find_dense_rows(indptr, indices, first, stop, feature_ids, column_of, least)
    dense = np.zeros((n_dense, n_columns), np.float32)
    ptr = np.zeros(stop - first + 1, np.int64)
    columns = np.empty(n_entries, np.int32)
    values = np.empty(n_entries, np.float32)
    row_columns = np.empty(longest + 1, np.int32)
    row_values = np.empty(longest + 1, np.float32)
    starts = np.empty(ZONES + 1, np.int64)
    count = 0
    for r in range(first, stop):
        total = 0.0
        for t in range(indptr[r], indptr[r + 1]):
            total += np.float64(data[t]) * np.float64(data[t])
        scale = 1.0 / np.sqrt(total) if unit and total > 0.0 else 1.0
        place = dense_at[r - first]
        if place >= 0:
            for t in range(indptr[r], indptr[r + 1]):
                column = column_of_feature(indices[t], feature_ids, column_of)
                if column >= 0:
                    dense[place, column] = data[t] * scale
            ptr[r - first + 1] = count
            continue
        fill(starts, 0)
        n = 0
        for t in range(indptr[r], indptr[r + 1]):
            column = column_of_feature(indices[t], feature_ids, column_of)
            row_columns[n] = column
            row_values[n] = data[t] * scale
            known = column >= 0
            starts[zone(column) + 1] += known
            n += known
        for z in range(ZONES):
            starts[z + 1] += starts[z]
        for t in range(n):
            z = zone(row_columns[t])
            columns[count + starts[z]] = row_columns[t]
            values[count + starts[z]] = row_values[t]
            starts[z] += 1
        count += n
        ptr[r - first + 1] = count
    return RowsInColumns(ptr, columns[:count], values[:count], dense_at, dense)


def take_rows(indptr, indices, data, first, stop, feature_ids, column_of, unit):
    """Return ``ptr``, ``columns`` and ``values`` of :func:`rows_in_columns` with all rows stored as sparse rows."""
    least = int(indptr[stop] - indptr[first]) + 1
    return rows_in_columns(indptr, indices, data, first, stop, feature_ids, column_of, unit, 0, least)[:3]
