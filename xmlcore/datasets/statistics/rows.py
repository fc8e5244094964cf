"""Rows that are equal: rows that occur more than once, and the sets of labels that rows have."""

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import blocks_of
from xmlcore.datasets.dataset import Dataset
from xmlcore.first_use import pd
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count, check_dataset

BLOCK = 4_000_000  # most stored values hashed at once, unless a row has more
_STEP = np.uint64(0x9E3779B97F4A7C15)


def row_hashes(matrix: sp.csr_array) -> np.ndarray:
    """Return a 64-bit hash of each row of a matrix: equal rows have equal hashes, also in different matrices."""
    # A hash is the sum, modulo 2**64, of a scrambled number for each stored value and its column. Two different rows of
    # a million have the same hash with a probability below 1e-7.
    ends = matrix.indptr.astype(np.int64)
    result = np.empty(matrix.shape[0], np.uint64)
    for start, stop in blocks_of(ends, BLOCK):
        part = slice(ends[start], ends[stop])
        value = (matrix.data[part].astype(np.float32) + np.float32(0)).view(np.uint32).astype(np.uint64)
        hashes = pd.util.hash_array((matrix.indices[part].astype(np.uint64) << np.uint64(32) | value) + _STEP)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes, dtype=np.uint64)])
        places = ends[start : stop + 1] - ends[start]
        result[start:stop] = sums[places[1:]] - sums[places[:-1]]
    return result


def duplicates(dataset: Dataset) -> tuple[dict, "DataFrame"]:
    """Return numbers of duplicates by name, and a line for each row that has an equal one."""
    hashes = np.concatenate([row_hashes(dataset.X_train), row_hashes(dataset.X_test)])
    labels = np.concatenate([row_hashes(dataset.Y_train), row_hashes(dataset.Y_test)])
    filled = np.concatenate([np.diff(dataset.X_train.indptr), np.diff(dataset.X_test.indptr)]) > 0
    is_test = np.arange(hashes.size) >= dataset.n_train

    row = np.flatnonzero(filled)
    _, group, size = np.unique(hashes[row], return_inverse=True, return_counts=True)
    row, group = row[size[group] > 1], group[size[group] > 1]
    order = np.lexsort((row, group, -size[group]))  # by the size of the group, then group by group
    row, group = row[order], group[order]
    group = np.cumsum(np.diff(group, prepend=group[:1]) != 0)  # numbered in this order

    n_groups = int(group.max(initial=-1)) + 1
    in_train = np.bincount(group[~is_test[row]], minlength=n_groups)
    in_test = np.bincount(group[is_test[row]], minlength=n_groups)
    pair = np.stack([group.astype(np.uint64), labels[row]])
    sets, label_set = np.unique(pair, axis=1, return_inverse=True)
    label_set = label_set.ravel()
    set_in_train = np.bincount(label_set[~is_test[row]], minlength=sets.shape[1])
    mixed = np.bincount(sets[0].astype(np.int64), minlength=n_groups) > 1
    test = is_test[row]
    summary = {
        "n_repeated_train": int(np.maximum(in_train - 1, 0).sum()),
        "n_repeated_test": int(np.maximum(in_test - 1, 0).sum()),
        "n_test_seen_in_train": int(in_test[in_train > 0].sum()),
        "n_test_same_labels": int(np.count_nonzero(test & (set_in_train[label_set] > 0))),
        "n_rows_other_labels": int(np.count_nonzero(mixed[group])),
    }
    first_set = np.searchsorted(sets[0], np.arange(n_groups, dtype=np.uint64))
    frame = pd.DataFrame(
        {
            "group": group,
            "part": np.where(test, "test", "training"),
            "row": np.where(test, row - dataset.n_train, row),
            "label_set": label_set - first_set[group],
        }
    )
    return summary, frame


def seen_in_train(dataset: Dataset) -> np.ndarray:
    """Return which test rows have the features of a training row; rows without features are left out."""
    check_dataset(dataset)
    filled = np.diff(dataset.X_test.indptr) > 0
    return filled & np.isin(row_hashes(dataset.X_test), row_hashes(dataset.X_train))


def label_sets(dataset: Dataset) -> "DataFrame":
    """Count how many rows have each set of labels.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    DataFrame
        A row per set that is not empty: ``rows`` (training and test rows with exactly this set), ``n_train``,
        ``n_test``, ``size`` (number of labels) and ``row`` (the first row with the set, where test rows follow the
        training rows). Most frequent sets first; equally frequent ones in the order of their first rows.
    """
    hashes, sizes = _rows(dataset)
    filled = np.flatnonzero(sizes)
    _, first, of_row, rows = np.unique(hashes[filled], return_index=True, return_inverse=True, return_counts=True)
    n_train = np.bincount(of_row[filled < dataset.n_train], minlength=rows.size)
    row = filled[first]
    order = np.lexsort((row, -rows))
    columns = {"rows": rows, "n_train": n_train, "n_test": rows - n_train, "size": sizes[row], "row": row}
    return pd.DataFrame({name: values[order].astype(np.int64) for name, values in columns.items()})


def rows_of_label_set(dataset: Dataset, row: int) -> np.ndarray:
    """Return the rows that have exactly the labels of a row, ascending; test rows follow the training rows."""
    hashes, _ = _rows(dataset)
    row = check_count(row, "row", 0, hashes.size - 1)
    return np.flatnonzero(hashes == hashes[row])


def _rows(dataset):
    check_dataset(dataset)
    parts = dataset.Y_train, dataset.Y_test
    return np.concatenate([row_hashes(Y) for Y in parts]), np.concatenate([np.diff(Y.indptr) for Y in parts])
