"""What a data set is like."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xmlcore.datasets.dataset import Dataset

if TYPE_CHECKING:
    import pandas as pd

HEAD_SHARE = 0.5
TORSO_SHARE = 0.8
RARE = 5
BUCKETS = ("head", "torso", "tail")


@dataclass(frozen=True)
class Description:
    """Statistics of a data set.

    Attributes
    ----------
    summary : dict
        Plain numbers; see :func:`describe`.
    labels : pandas.DataFrame
        A row per label.
    """

    summary: dict
    labels: "pd.DataFrame"


def describe(dataset: Dataset) -> Description:
    """Count what matters about a data set.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    Description
        ``.labels`` has a row per label, in the order of ids: ``label`` (id), ``name``, ``n_train`` and ``n_test``
        (rows that carry it), ``rank`` (1 is the most frequent in training; ties go to the smaller id),
        ``inverse_propensity`` (Jain et al. 2016, A = 0.55, B = 1.5) and ``bucket``. Labels are ranked by training rows:
        ``"head"`` are the most frequent ones that together make the first 50 % of all training label occurrences,
        ``"torso"`` those that make the next 30 %, ``"tail"`` the rest; a label that straddles a boundary belongs to the
        more frequent side, and a label without training rows is always tail.

        ``.summary`` is JSON-able:

        - ``n_train``, ``n_test``, ``n_features``, ``n_labels``
        - ``nonzeros_per_row_mean``, ``nonzeros_per_row_max``: training rows
        - ``labels_per_row_mean``, ``labels_per_row_max``: training rows; ``cardinality``: mean over all rows;
          ``density``: cardinality / n_labels
        - ``label_frequency_mean``, ``_median``, ``_max``: training rows per label
        - ``n_labels_never_in_train``; ``share_labels_rare``: labels with at most 5 training rows, of all labels
        - ``n_rows_without_labels_train``, ``_test``; ``n_rows_without_features_train``, ``_test``
        - ``n_labels_head``, ``_torso``, ``_tail``, and ``share_occurrences_head``, ``_torso``, ``_tail``: of training
          label occurrences
        - ``n_features_never_used``: in neither training nor test rows; ``n_features_never_in_train``
        - ``n_label_sets``: distinct non-empty label sets among all rows
        - ``memory_bytes``: of the four matrices

    Notes
    -----
    Costs a pass over the nonzeros; nothing becomes dense but one value per row or label.
    """
    import pandas as pd

    from xmlcore.metrics import inverse_propensity

    X_train, Y_train, X_test, Y_test = dataset.X_train, dataset.Y_train, dataset.X_test, dataset.Y_test
    n_labels = dataset.n_labels
    n_train = np.bincount(Y_train.indices, minlength=n_labels).astype(np.int64)
    n_test = np.bincount(Y_test.indices, minlength=n_labels).astype(np.int64)
    rank = np.empty(n_labels, np.int64)
    rank[_most_frequent_first(n_train)] = np.arange(1, n_labels + 1)
    bucket, occurrences = label_buckets(n_train), int(n_train.sum())
    frame = pd.DataFrame(
        {
            "label": np.arange(n_labels, dtype=np.int64),
            "name": [dataset.label_name(j) for j in range(n_labels)],
            "n_train": n_train,
            "n_test": n_test,
            "rank": rank,
            "inverse_propensity": np.asarray(inverse_propensity(Y_train, A=0.55, B=1.5), dtype=np.float64),
            "bucket": bucket,
        }
    )
    x_lengths, y_lengths = np.diff(X_train.indptr), np.diff(Y_train.indptr)
    x_lengths_test, y_lengths_test = np.diff(X_test.indptr), np.diff(Y_test.indptr)
    in_train = np.unique(X_train.indices)  # not a value per feature: a header may promise two billion
    used = np.union1d(in_train, X_test.indices)
    cardinality = (Y_train.nnz + Y_test.nnz) / (dataset.n_train + dataset.n_test)
    summary = {
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
    for name in BUCKETS:
        summary[f"n_labels_{name}"] = int(np.count_nonzero(bucket == name))
        summary[f"share_occurrences_{name}"] = (
            float(n_train[bucket == name].sum() / occurrences) if occurrences else 0.0
        )
    summary |= {
        "n_features_never_used": dataset.n_features - used.size,
        "n_features_never_in_train": dataset.n_features - in_train.size,
        "n_label_sets": len((_label_sets(Y_train) | _label_sets(Y_test)) - {b""}),
        "memory_bytes": sum(
            array.nbytes
            for matrix in (X_train, Y_train, X_test, Y_test)
            for array in (matrix.indptr, matrix.indices, matrix.data)
        ),
    }
    return Description(summary, frame)


def label_buckets(n_train: np.ndarray) -> np.ndarray:
    """Head, torso or tail: how frequent each label is in training.

    Parameters
    ----------
    n_train : ndarray of int, shape (L,)
        Training rows that carry each label.

    Returns
    -------
    ndarray of object, shape (L,)
        ``"head"``, ``"torso"`` or ``"tail"``, by the rule of :func:`describe`.
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
    """Label ids by training rows, ties by id."""
    return np.lexsort((np.arange(n_train.size), -n_train))


def _label_sets(Y):
    content = Y.indices.tobytes()
    ends = (Y.indptr.astype(np.int64) * Y.indices.itemsize).tolist()
    return {content[a:b] for a, b in zip(ends, ends[1:])}
