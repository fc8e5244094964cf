"""Rows as the searches read them: of length 1, in columns."""

import numpy as np

from xmlcore._kernels._jit import inlined, kernel

ZONES = 8


@inlined
def zone(column):
    """Which of eight zones a column is in, 0 with the most frequent features; each is four times as long."""
    return (
        0 + (column >= 32) + (column >= 128) + (column >= 512) + (column >= 2048) + (column >= 8192) + (column >= 32768)
        + (column >= 131072)
    )  # fmt: skip


@inlined
def column_of_feature(feature, feature_ids, column_of):
    """The column of a feature, -1 for none: see :func:`take_and_lay_out`."""
    n_ids = feature_ids.size
    if n_ids == 0:
        return column_of[feature]
    low = 0
    high = n_ids
    while low < high:
        middle = (low + high) >> 1
        if feature_ids[middle] < feature:
            low = middle + 1
        else:
            high = middle
    if low == n_ids or feature_ids[low] != feature:
        return np.int32(-1)
    return column_of[low]


@kernel
def take_and_lay_out(indptr, indices, data, first, last, feature_ids, column_of, n_columns, least):
    """Rows ``first`` to ``last`` as the searches read them: of length 1, in columns; unknown features are left out.

    Parameters
    ----------
    indptr, indices, data : CSR of X
    feature_ids, column_of : int32
        The column of feature f is ``column_of[f]``, -1 for none, when ``feature_ids`` is empty. Otherwise
        ``feature_ids``, ascending, are the features that have one, and the i-th has ``column_of[i]``.
    n_columns : int
    least : int, at least 1
        Rows with so many columns are laid out.

    Returns
    -------
    ptr : int64 (last - first + 1,)
    columns : int32, values : float32
        Of the rows that are not laid out, zone by zone: neighbours are looked up one after the other, which is what
        matters of sorting and costs little.
    laid_at : int64 (last - first,)
        Where each row is in ``laid``, -1 for one that is not laid out.
    laid : float32 (rows laid out, n_columns)

    Notes
    -----
    O(entries) time, and O(n_columns) for each row laid out, which is at most n_columns / least per entry.
    """
    laid_at = np.full(last - first, -1, np.int64)
    n_laid = 0
    n_rest = 0
    longest = 0
    for r in range(first, last):
        size = indptr[r + 1] - indptr[r]
        known = 0
        if size >= least:
            for t in range(indptr[r], indptr[r + 1]):
                known += column_of_feature(indices[t], feature_ids, column_of) >= 0
        if known >= least:
            laid_at[r - first] = n_laid
            n_laid += 1
        else:
            n_rest += size
            longest = max(longest, size)
    laid = np.zeros((n_laid, n_columns), np.float32)
    ptr = np.zeros(last - first + 1, np.int64)
    columns = np.empty(n_rest, np.int32)
    values = np.empty(n_rest, np.float32)
    row_columns = np.empty(longest + 1, np.int32)
    row_values = np.empty(longest + 1, np.float32)
    starts = np.empty(ZONES + 1, np.int64)
    count = 0
    for r in range(first, last):
        total = 0.0
        for t in range(indptr[r], indptr[r + 1]):
            total += np.float64(data[t]) * np.float64(data[t])
        scale = 1.0 / np.sqrt(total) if total > 0.0 else 1.0
        place = laid_at[r - first]
        if place >= 0:
            for t in range(indptr[r], indptr[r + 1]):
                column = column_of_feature(indices[t], feature_ids, column_of)
                if column >= 0:
                    laid[place, column] = data[t] * scale
            ptr[r - first + 1] = count
            continue
        starts[:] = 0
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
    return ptr, columns[:count], values[:count], laid_at, laid


@kernel
def take_rows(indptr, indices, data, first, last, feature_ids, column_of):
    """``ptr``, ``columns`` and ``values`` of :func:`take_and_lay_out`, of any row: none is laid out."""
    least = indptr[last] - indptr[first] + 1
    ptr, columns, values, _, _ = take_and_lay_out(
        indptr, indices, data, first, last, feature_ids, column_of, np.int64(0), least
    )
    return ptr, columns, values
