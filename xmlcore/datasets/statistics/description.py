"""Statistics of a data set: those that are quick to compute, and a closer examination."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import bytes_of
from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.statistics.drift import drift, used_columns
from xmlcore.datasets.statistics.pairs import label_pairs
from xmlcore.datasets.statistics.rows import duplicates, label_sets
from xmlcore.first_use import pd
from xmlcore.metrics.buckets import BUCKETS, label_buckets, most_frequent_first
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import DataFrame
from xmlcore.validation import check_dataset

RARE = 5  # largest number of training rows of a rare label
QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}


@dataclass(frozen=True)
class Description:
    """Statistics of a data set, see :func:`describe`."""

    summary: dict
    labels: "DataFrame"
    spread: "DataFrame"


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
        ``inverse_propensity`` (Jain et al. 2016, A and B of ``dataset.propensity``), ``bucket`` (head, torso or tail;
        unseen without a training row), ``irlbl`` and ``scumble`` (of all rows, nan for a label without rows; see
        :func:`xmlcore.datasets.statistics.description.imbalance`).

        ``.spread`` has a row per quantity and part: ``quantity`` ("features per row", "labels per row" or "rows per
        label"), ``part`` ("training" or "test"), ``mean``, ``min``, ``q05``, ``q25``, ``median``, ``q75``, ``q95`` and
        ``max``.

        ``.summary`` has the numbers that docs/statistics.md describes, by name.
    """
    check_dataset(dataset)
    train_rows_of_label = np.bincount(dataset.Y_train.indices, minlength=dataset.n_labels).astype(np.int64)
    test_rows_of_label = np.bincount(dataset.Y_test.indices, minlength=dataset.n_labels).astype(np.int64)
    bucket_of_label = label_buckets(train_rows_of_label)
    of_labels, irlbl, scumble = imbalance(all_labels(dataset))
    sizes = {  # of rows, by what they have and the part
        (noun, part): np.diff(getattr(dataset, f"{matrix}_{part}").indptr)
        for noun, matrix in (("features", "X"), ("labels", "Y"))
        for part in ("train", "test")
    }
    rank = np.empty(dataset.n_labels, np.int64)
    rank[most_frequent_first(train_rows_of_label)] = np.arange(1, dataset.n_labels + 1)
    labels = pd.DataFrame(
        {
            "label": np.arange(dataset.n_labels, dtype=np.int64),
            "name": [dataset.label_name(j) for j in range(dataset.n_labels)],
            "n_train": train_rows_of_label,
            "n_test": test_rows_of_label,
            "rank": rank,
            "inverse_propensity": dataset.inverse_propensity(),
            "bucket": bucket_of_label,
            "irlbl": irlbl,
            "scumble": scumble,
        }
    )
    in_train, used = used_columns(dataset.X_train), used_columns(dataset.X_train, dataset.X_test)
    summary = _sizes(dataset, sizes, train_rows_of_label) | _buckets(train_rows_of_label, bucket_of_label)
    summary |= {
        "n_features_never_used": dataset.n_features - used.size,
        "n_features_never_in_train": dataset.n_features - in_train.size,
        "n_features_only_in_test": used.size - in_train.size,
    }
    summary |= _label_sets(dataset) | of_labels
    summary |= {
        "n_labels_never_in_test": int(np.count_nonzero(test_rows_of_label == 0)),
        "n_labels_only_in_test": int(np.count_nonzero((train_rows_of_label == 0) & (test_rows_of_label > 0))),
        "n_labels_never_used": int(np.count_nonzero((train_rows_of_label == 0) & (test_rows_of_label == 0))),
    }
    missing = float((train_rows_of_label * (labels["inverse_propensity"] - 1)).sum())
    matrices = (dataset.X_train, dataset.Y_train, dataset.X_test, dataset.Y_test)
    summary |= {
        "n_missing_estimate": missing,
        "share_missing_estimate": missing / (missing + train_rows_of_label.sum()) if missing else 0.0,
        "memory_bytes": bytes_of(part for matrix in matrices for part in (matrix.indptr, matrix.indices, matrix.data)),
    }
    return Description(summary, labels, _spread(sizes, train_rows_of_label, test_rows_of_label))


def all_labels(dataset: Dataset) -> sp.csr_array:
    """Return the labels of training and test rows as one matrix, training rows first."""
    check_dataset(dataset)
    return sp.csr_array(sp.vstack([dataset.Y_train, dataset.Y_test], format="csr"))


def _sizes(dataset, sizes, train_rows_of_label):
    """Return the statistics of the numbers of rows, features and labels by name, see :func:`describe`."""
    features, labels = sizes["features", "train"], sizes["labels", "train"]
    cardinality = (dataset.Y_train.nnz + dataset.Y_test.nnz) / (dataset.n_train + dataset.n_test)
    return {
        **{name: getattr(dataset, name) for name in ("n_train", "n_test", "n_features", "n_labels")},
        "nonzeros_per_row_mean": float(features.mean()),
        "nonzeros_per_row_max": int(features.max()),
        "labels_per_row_mean": float(labels.mean()),
        "labels_per_row_max": int(labels.max()),
        "cardinality": float(cardinality),
        "density": float(cardinality / dataset.n_labels),
        "label_frequency_mean": float(train_rows_of_label.mean()),
        "label_frequency_median": float(np.median(train_rows_of_label)),
        "label_frequency_max": int(train_rows_of_label.max()),
        "n_labels_never_in_train": int(np.count_nonzero(train_rows_of_label == 0)),
        "share_labels_rare": float(np.mean(train_rows_of_label <= RARE)),
        **{
            f"n_rows_without_{noun}_{part}": int(np.count_nonzero(sizes[noun, part] == 0))
            for noun in ("labels", "features")
            for part in ("train", "test")
        },
    }


def _buckets(train_rows_of_label, bucket_of_label):
    """Return the number of labels of each bucket and their share of all label occurrences, by name."""
    occurrences, statistics = int(train_rows_of_label.sum()), {}
    for name in BUCKETS:
        in_bucket = bucket_of_label == name
        statistics[f"n_labels_{name}"] = int(np.count_nonzero(in_bucket))
        statistics[f"share_occurrences_{name}"] = (
            float(train_rows_of_label[in_bucket].sum() / occurrences) if occurrences else 0.0
        )
    return statistics


def _label_sets(dataset):
    rows = label_sets(dataset)["rows"].to_numpy()
    n_rows = dataset.n_train + dataset.n_test
    different = rows.size + int(rows.sum() < n_rows)  # the empty one, too
    return {
        "n_label_sets": int(rows.size),
        "n_label_sets_once": int(np.count_nonzero(rows == 1)),
        "label_set_max": int(rows.max(initial=0)),
        "diversity": different / n_rows,
        "tcs": float(np.log(dataset.n_features) + np.log(dataset.n_labels) + np.log(different)),
    }


def _spread(sizes, train_rows_of_label, test_rows_of_label):
    """Return a frame with means and quantiles of the numbers per row and per label, see :func:`describe`."""
    parts = {"train": "training", "test": "test"}
    numbers = {(f"{noun} per row", parts[part]): values for (noun, part), values in sizes.items()}
    numbers |= {("rows per label", "training"): train_rows_of_label, ("rows per label", "test"): test_rows_of_label}
    lines = []
    for (quantity, part), values in numbers.items():
        quantiles = dict(zip(QUANTILES, np.quantile(values, list(QUANTILES.values())).tolist()))
        ends = {"min": int(values.min()), **quantiles, "max": int(values.max())}
        lines.append({"quantity": quantity, "part": part, "mean": float(values.mean()), **ends})
    return pd.DataFrame(lines)


class Examination(NamedTuple):
    """Result of :func:`examine`."""

    summary: dict  # numbers of duplicates, of columns tested and drifted, and of pairs of labels
    duplicates: "DataFrame"
    features: "DataFrame"  # see :func:`drift`
    labels: "DataFrame"
    pairs: "DataFrame"  # with exclusions and partners: see :func:`label_pairs`; of all rows
    exclusions: "DataFrame"
    partners: "DataFrame"


def examine(dataset: Dataset, progress: ProgressLike = silent) -> Examination:
    """Compute the statistics of a data set that :func:`xmlcore.datasets.describe` leaves out, because they take longer.

    Parameters
    ----------
    dataset : Dataset
    progress : :class:`xmlcore.progress.Progress` or "bar", optional
    """
    check_dataset(dataset)
    progress = to_progress(progress)
    progress("Looking for rows that occur twice", 0.0)
    twice, rows = duplicates(dataset)
    progress("Comparing the features of training and test rows", 0.25)
    features = drift(dataset.X_train, dataset.X_test)
    progress("Comparing the labels of training and test rows", 0.5)
    labels = drift(dataset.Y_train, dataset.Y_test)
    progress("Counting pairs of labels", 0.55)
    found = label_pairs(all_labels(dataset))
    summary = twice | {
        "n_features_tested": int(features["tested"].sum()),
        "n_features_drifted": int(features["differs"].sum()),
        "n_labels_tested": int(labels["tested"].sum()),
        "n_labels_drifted": int(labels["differs"].sum()),
        "n_pairs": found.n_pairs,
    }
    progress("Done", 1.0)
    return Examination(summary, rows, features, labels, found.pairs, found.exclusions, found.partners)


def imbalance(Y: sp.csr_array) -> tuple[dict, np.ndarray, np.ndarray]:
    """Return how unequal the frequencies of labels are: numbers by name, and IRLbl and SCUMBLE of each label.

    docs/statistics.md defines them. The R package mldr has the same.
    """
    counts = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float64)
    unknown, occurs = np.full(counts.size, np.nan), counts > 0
    ratios = np.divide(counts.max(initial=0), counts, out=unknown.copy(), where=occurs)
    rows, known = scumble_of_rows(Y, ratios), ratios[occurs]
    summary = {
        "irlbl_mean": float(known.mean()) if known.size else math.nan,
        "irlbl_max": float(known.max()) if known.size else math.nan,
        "irlbl_cv": _variation(known),
        "scumble": float(rows.mean()),
        "scumble_cv": _variation(rows),
    }
    return summary, ratios, np.divide(Y.T @ rows, counts, out=unknown, where=occurs)


def scumble_of_rows(Y: sp.csr_array, ratios: np.ndarray) -> np.ndarray:
    """Return SCUMBLE of each row, how far apart the frequencies of its labels are, from IRLbl of each label."""
    # It is 1 - g / m, where g and m are the geometric and the arithmetic mean of IRLbl over the labels of the row. The
    # geometric mean is computed from logarithms, because the product of many ratios is too large for a number.
    result, several = np.zeros(Y.shape[0]), np.diff(Y.indptr) > 1
    sizes = np.diff(Y.indptr)[several]
    arithmetic, logarithms = ((Y @ of_label)[several] / sizes for of_label in (ratios, np.log(ratios)))
    result[several] = np.clip(1.0 - np.exp(logarithms) / arithmetic, 0.0, 1.0)  # rounding can give -1e-16
    return result


def _variation(values):
    """Return the coefficient of variation: 0 where all values are 0, nan for fewer than two values."""
    if values.size < 2:
        return math.nan
    mean = float(values.mean())
    return float(values.std(ddof=1)) / mean if mean > 0 else 0.0
