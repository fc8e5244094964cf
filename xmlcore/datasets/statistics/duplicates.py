"""Rows that occur more than once, within and across training and test rows."""

from typing import NamedTuple

import numpy as np

from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.statistics.row_hashes import row_hashes
from xmlcore.first_use import pd
from xmlcore.typing import DataFrame
from xmlcore.validation import check_dataset


class Duplicates(NamedTuple):
    """What :func:`duplicates` returns: numbers by name, and a row of a DataFrame for each row with an equal."""

    summary: dict
    rows: "DataFrame"


def duplicates(dataset: Dataset) -> Duplicates:
    hashes = np.concatenate([row_hashes(dataset.X_train), row_hashes(dataset.X_test)])
    labels = np.concatenate([row_hashes(dataset.Y_train), row_hashes(dataset.Y_test)])
    filled = np.concatenate([np.diff(dataset.X_train.indptr), np.diff(dataset.X_test.indptr)]) > 0
    is_test = np.arange(hashes.size) >= dataset.n_train

    row = np.flatnonzero(filled)
    _, group, size = np.unique(hashes[row], return_inverse=True, return_counts=True)
    row, group = row[size[group] > 1], group[size[group] > 1]
    order = np.lexsort((row, group, -size[group]))  # by the size of the group, then group by group
    row, group = row[order], _numbered(group[order])

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
    return Duplicates(summary, frame)


def seen_in_train(dataset: Dataset) -> np.ndarray:
    """Return which test rows have the features of a training row; rows without features are left out."""
    check_dataset(dataset)
    filled = np.diff(dataset.X_test.indptr) > 0
    return filled & np.isin(row_hashes(dataset.X_test), row_hashes(dataset.X_train))


def _numbered(group):
    """Return the numbers of groups, of which each stands in one run, counted from 0 in the order of the runs."""
    return np.cumsum(np.concatenate([[0], np.diff(group) != 0])) if group.size else group
