"""Flat arrays that models share: list pointers, features numbered by frequency (columns), read-only arrays."""

import numpy as np

from xmlcore.validation import check_count, check_row


def by_frequency(X):
    """The features that occur, the most frequent first: int32."""
    if X.shape[1] <= 4 * X.nnz:
        counts = np.bincount(X.indices, minlength=X.shape[1])
        order = np.argsort(-counts, kind="stable")
        return order[: np.count_nonzero(counts)].astype(np.int32)
    ids, counts = np.unique(X.indices, return_counts=True)
    return ids[np.argsort(-counts, kind="stable")].astype(np.int32)


def columns_of(feature_of_column, n_features):
    """Return where kernels find a feature's column, read-only: (feature_ids, column_of).

    A table of all features, unless most of them have no column: then those that have, in order.
    """
    n = feature_of_column.size
    if n == 0:  # one feature that has no column stands for all
        feature_ids, column_of = np.zeros(1, np.int32), np.full(1, -1, np.int32)
    elif n_features <= 8 * n + 1024:
        feature_ids, column_of = np.empty(0, np.int32), np.full(n_features, -1, np.int32)
        column_of[feature_of_column] = np.arange(n, dtype=np.int32)
    else:
        column_of = np.argsort(feature_of_column, kind="stable").astype(np.int32)
        feature_ids = feature_of_column[column_of]
    return read_only((feature_ids, column_of))


def read_only(arrays: tuple) -> tuple:
    """Mark all arrays as read-only.

    Kernels are compiled for each mix of read-only and writable arrays, and arrays that joblib maps from a file are
    read-only: one mix for all.
    """
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return arrays


def in_columns(x, columns, block=None):
    """CSR rows in columns, their values as they are; features without a column are left out.

    Parameters
    ----------
    x : ptr, indices, data
    columns : what :func:`columns_of` returns
    block : (first row, last row + 1), optional

    Returns
    -------
    ptr : int64, columns : int32, values : as ``data``
    """
    ptr, indices, data = x
    first, last = (0, ptr.size - 1) if block is None else block
    indices, data = indices[ptr[first] : ptr[last]], data[ptr[first] : ptr[last]]
    feature_ids, column_of = columns
    if feature_ids.size:
        at = np.minimum(np.searchsorted(feature_ids, indices), feature_ids.size - 1)
        found = np.where(feature_ids[at] == indices, column_of[at], np.int32(-1))
    else:
        found = column_of[indices]
    own, known = ptr[first : last + 1] - ptr[first], found >= 0
    if not known.all():
        own = np.concatenate([[0], np.cumsum(known)])[own]
        found, data = found[known], data[known]
    return own, found, np.ascontiguousarray(data)


def are_pointers(ptr, count, last, first=0):
    """Whether these are pointers of ``count`` lists, one after the other from ``first`` to ``last``."""
    return ptr.size == count + 1 and ptr[0] == first and ptr[-1] == last and bool((ptr[1:] >= ptr[:-1]).all())


def pointers(counts) -> np.ndarray:
    """Return where each of several lists begins and the last one ends: int64, shape (number of lists + 1,).

    Parameters
    ----------
    counts : iterable of int
        The length of each list.
    """
    counts = counts if isinstance(counts, np.ndarray) else np.fromiter(counts, np.int64)
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def largest_values(x, n: int = 5) -> list[tuple[int, float]]:
    """Return the features of one row that have the largest absolute values.

    Parameters
    ----------
    x : sparse or dense, shape (D,) or (1, D)
        One row.
    n : int
        Most features to return.

    Returns
    -------
    list of (feature, value)
        Largest |value| first; equal ones by feature id. Features with value 0 are left out.
    """
    n, x = check_count(n, "n"), check_row(x)
    order = np.lexsort((x.indices, -np.abs(x.data)))[:n]
    return list(zip(x.indices[order].tolist(), x.data[order].astype(float).tolist()))
