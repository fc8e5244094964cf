"""What is unusual in a data set: rows that occur twice, test rows that differ from training rows, labels that go
together.
"""

from typing import NamedTuple

from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.statistics.description import all_labels
from xmlcore.datasets.statistics.drift import drift
from xmlcore.datasets.statistics.duplicates import duplicates
from xmlcore.datasets.statistics.pairs import label_pairs
from xmlcore.datasets.statistics.power_law import PowerLaw, fit_power_law
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import DataFrame
from xmlcore.validation import check_dataset


class Examination(NamedTuple):
    """What :func:`examine` returns."""

    summary: dict  # numbers of duplicates, of columns tested and drifted, and of pairs of labels
    duplicates: "DataFrame"
    features: "DataFrame"  # see :func:`drift`
    labels: "DataFrame"
    pairs: "DataFrame"  # with exclusions and partners: see :func:`label_pairs`; of all rows
    exclusions: "DataFrame"
    partners: "DataFrame"
    power_law: PowerLaw  # of the training rows per label


def examine(dataset: Dataset, progress: ProgressLike = silent) -> Examination:
    """Compute the statistics of a data set that :func:`xmlcore.datasets.describe` leaves out, because they take longer.

    Parameters
    ----------
    dataset : Dataset
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Returns
    -------
    Examination
    """
    check_dataset(dataset)
    progress = to_progress(progress)
    progress("Looking for rows that occur twice", 0.0)
    twice = duplicates(dataset)
    progress("Comparing the features of training and test rows", 0.25)
    features = drift(dataset.X_train, dataset.X_test)
    progress("Comparing the labels of training and test rows", 0.5)
    labels = drift(dataset.Y_train, dataset.Y_test)
    progress("Counting pairs of labels", 0.55)
    found = label_pairs(all_labels(dataset))
    progress("Fitting a power law to the frequencies of labels", 0.95)
    fit = fit_power_law(dataset.Y_train.sum(axis=0))
    summary = twice.summary | {
        "n_features_tested": int(features["tested"].sum()),
        "n_features_drifted": int(features["differs"].sum()),
        "n_labels_tested": int(labels["tested"].sum()),
        "n_labels_drifted": int(labels["differs"].sum()),
        "n_pairs": found.n_pairs,
    }
    progress("Done", 1.0)
    frames = found.pairs, found.exclusions, found.partners
    return Examination(summary, twice.rows, features, labels, *frames, fit)
