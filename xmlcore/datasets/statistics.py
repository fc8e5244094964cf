"""Statistics of a data set."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xmlcore.datasets.dataset import Dataset

if TYPE_CHECKING:
    import pandas as pd

HEAD_SHARE = 0.5  # share of all label occurrences that belong to head labels
TORSO_SHARE = 0.8  # share of all label occurrences that belong to head or torso labels
RARE = 5  # largest number of training rows of a rare label
BUCKETS = ("head", "torso", "tail")


@dataclass(frozen=True)
class Description:
    """Statistics of a data set.

    Attributes
    ----------
    summary : dict
        Numbers by name, see :func:`describe`.
    labels : pandas.DataFrame
        A row per label, see :func:`describe`.
    """

    summary: dict
    labels: "pd.DataFrame"


def describe(dataset: Dataset) -> Description:
    """Compute the statistics of a data set and of each label.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    Description
        ``.labels`` has a row per label, in the order of ids, with the columns ``label`` (id), ``name``, ``n_train`` and
        ``n_test`` (rows that have it), ``rank`` (1 is the most frequent in training; ties go to the smaller id),
        ``inverse_propensity`` (Jain et al. 2016, A = 0.55, B = 1.5) and ``bucket`` (see :func:`label_buckets`).

        ``.summary`` has, by name:

        - ``n_train``, ``n_test``, ``n_features``, ``n_labels``
        - ``nonzeros_per_row_mean``, ``nonzeros_per_row_max``: of training rows
        - ``labels_per_row_mean``, ``labels_per_row_max``: of training rows; ``cardinality``: mean labels of all rows;
          ``density``: cardinality / n_labels
        - ``label_frequency_mean``, ``_median``, ``_max``: training rows per label
        - ``n_labels_never_in_train``; ``share_labels_rare``: share of labels with at most 5 training rows
        - ``n_rows_without_labels_train``, ``_test``; ``n_rows_without_features_train``, ``_test``
        - ``n_labels_head``, ``_torso``, ``_tail``; ``share_occurrences_head``, ``_torso``, ``_tail``: shares of the
          label occurrences in training
        - ``n_features_never_used``: features in neither training nor test rows; ``n_features_never_in_train``
        - ``n_label_sets``: number of different label sets of all rows, without the empty one
        - ``memory_bytes``: of the four matrices

    Notes
    -----
    O(stored values + rows + labels) time. Memory has one value per row or label, never one per feature.
    """
    n_train = np.bincount(dataset.Y_train.indices, minlength=dataset.n_labels).astype(np.int64)
    bucket = label_buckets(n_train)
    summary = _sizes(dataset, n_train) | _buckets(n_train, bucket) | _features(dataset)
    matrices = (dataset.X_train, dataset.Y_train, dataset.X_test, dataset.Y_test)
    summary |= {
        "n_label_sets": len((_label_sets(dataset.Y_train) | _label_sets(dataset.Y_test)) - {b""}),
        "memory_bytes": sum(
            array.nbytes for matrix in matrices for array in (matrix.indptr, matrix.indices, matrix.data)
        ),
    }
    return Description(summary, _label_frame(dataset, n_train, bucket))


def _label_frame(dataset, n_train, bucket):
    """Return a frame with the statistics of each label, see :func:`describe`."""
    import pandas as pd

    from xmlcore.metrics import inverse_propensity

    n_labels = dataset.n_labels
    rank = np.empty(n_labels, np.int64)
    rank[_most_frequent_first(n_train)] = np.arange(1, n_labels + 1)
    return pd.DataFrame(
        {
            "label": np.arange(n_labels, dtype=np.int64),
            "name": [dataset.label_name(j) for j in range(n_labels)],
            "n_train": n_train,
            "n_test": np.bincount(dataset.Y_test.indices, minlength=n_labels).astype(np.int64),
            "rank": rank,
            "inverse_propensity": np.asarray(inverse_propensity(dataset.Y_train, A=0.55, B=1.5), dtype=np.float64),
            "bucket": bucket,
        }
    )


def _sizes(dataset, n_train):
    """Return the statistics of the numbers of rows, features and labels by name, see :func:`describe`."""
    Y_train, Y_test, n_labels = dataset.Y_train, dataset.Y_test, dataset.n_labels
    x_lengths, y_lengths = np.diff(dataset.X_train.indptr), np.diff(Y_train.indptr)
    x_lengths_test, y_lengths_test = np.diff(dataset.X_test.indptr), np.diff(Y_test.indptr)
    cardinality = (Y_train.nnz + Y_test.nnz) / (dataset.n_train + dataset.n_test)
    return {
        "n_train": dataset.n_train,
        "n_test": dataset.n_test,
        "n_features": dataset.n_features,
        "n_labels": n_labels,
        "nonzeros_per_row_mean": float(x_lengths.mean()),
        "nonzeros_per_row_max": int(x_lengths.max()),
        "labels_per_row_mean": float(y_lengths.mean()),
        "labels_per_row_max": int(y_lengths.max()),
        "cardinality": float(cardinality),
        "density": float(cardinality / n_labels),
        "label_frequency_mean": float(n_train.mean()),
        "label_frequency_median": float(np.median(n_train)),
        "label_frequency_max": int(n_train.max()),
        "n_labels_never_in_train": int(np.count_nonzero(n_train == 0)),
        "share_labels_rare": float(np.mean(n_train <= RARE)),
        "n_rows_without_labels_train": int(np.count_nonzero(y_lengths == 0)),
        "n_rows_without_labels_test": int(np.count_nonzero(y_lengths_test == 0)),
        "n_rows_without_features_train": int(np.count_nonzero(x_lengths == 0)),
        "n_rows_without_features_test": int(np.count_nonzero(x_lengths_test == 0)),
    }


def _buckets(n_train, bucket):
    """Return the number of labels of each bucket and their share of all label occurrences, by name."""
    occurrences, statistics = int(n_train.sum()), {}
    for name in BUCKETS:
        in_bucket = bucket == name
        statistics[f"n_labels_{name}"] = int(np.count_nonzero(in_bucket))
        statistics[f"share_occurrences_{name}"] = float(n_train[in_bucket].sum() / occurrences) if occurrences else 0.0
    return statistics


def _features(dataset):
    """Return the number of features that no row has, and the number that no training row has, by name."""
    in_train = np.unique(dataset.X_train.indices)  # no array over all features: a header may promise two billion
    used = np.union1d(in_train, dataset.X_test.indices)
    return {
        "n_features_never_used": dataset.n_features - used.size,
        "n_features_never_in_train": dataset.n_features - in_train.size,
    }


def label_buckets(n_train: np.ndarray) -> np.ndarray:
    """Return the bucket of each label: head, torso or tail, by its frequency in training.

    Labels are sorted by training rows. ``"head"`` are the most frequent labels that together make the first 50 % of all
    label occurrences, ``"torso"`` those that make the next 30 %, and ``"tail"`` the rest. A label across a boundary
    belongs to the more frequent bucket, and a label without training rows to the tail.

    Parameters
    ----------
    n_train : ndarray of int, shape (L,)
        Number of training rows that have each label.

    Returns
    -------
    ndarray of object, shape (L,)
    """
    order = _most_frequent_first(n_train)
    occurrences = int(n_train.sum())
    sorted_counts = n_train[order]
    before = np.cumsum(sorted_counts) - sorted_counts  # occurrences of all more frequent labels
    bucket = np.full(n_train.size, "tail", dtype=object)
    bucket[order[(before < TORSO_SHARE * occurrences) & (sorted_counts > 0)]] = "torso"
    bucket[order[(before < HEAD_SHARE * occurrences) & (sorted_counts > 0)]] = "head"
    return bucket


def _most_frequent_first(n_train):
    """Return label ids sorted by the number of training rows, largest first; equal numbers by id."""
    return np.lexsort((np.arange(n_train.size), -n_train))


def _label_sets(Y):
    """Return the set of different label sets of rows; each label set is the bytes of its label ids."""
    content = Y.indices.tobytes()
    ends = (Y.indptr.astype(np.int64) * Y.indices.itemsize).tolist()
    return {content[a:b] for a, b in zip(ends, ends[1:])}
