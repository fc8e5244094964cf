"""The sets of labels that rows have, most frequent first."""

import numpy as np

from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.statistics.row_hashes import row_hashes
from xmlcore.first_use import pd
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count, check_dataset


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

    Notes
    -----
    Sets are told apart by the hashes of :func:`xmlcore.datasets.statistics.row_hashes.row_hashes`.
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
