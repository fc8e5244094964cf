"""Measures of the first k labels as a predicted set, at 1..k: precision, recall and F1, coverage and others."""

from typing import NamedTuple

import numpy as np

from xmlcore.metrics._row_counts import RowCounts, Statistics, check_item, check_k
from xmlcore.metrics.measures import AVERAGES
from xmlcore.typing import ArrayLike, Labels, Predictions


class PrecisionRecallF1(NamedTuple):
    """Precision, recall and F1 in [0, 1]: a float each, or an array of the values at 1..k."""

    precision: object
    recall: object
    f1: object


def precision_recall_f1_at_k(
    Y_true: Labels,
    ranking: Predictions,
    k: int = 5,
    *,
    average: str = "micro",
    labels: ArrayLike | None = None,
    n_labels: int | None = None,
) -> PrecisionRecallF1:
    """Return precision, recall and F1 at 1..k, when the first k labels of every row count as predicted.

    {Parameters: Y_true, ranking, k}
    average : {"micro", "macro", "samples", "weighted"}
        Of the sums over all labels; of each label, mean over labels; of each row, mean over rows; or of each label,
        mean weighted by the rows that have it: docs/measures.md.
    {labels, n_labels}

    Returns
    -------
    PrecisionRecallF1
        ``precision``, ``recall`` and ``f1``: the values at 1..k. Macro F1 is the mean of the F1 of the labels.
        "samples" precision differs from P@k, which divides by k, where fewer than k labels are predicted.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> found = metrics.precision_recall_f1_at_k([[0, 1], [0]], [[0, 2], [0, 1]], 2, average="macro")
    >>> found.recall.tolist()  # label 0 is found twice, label 1 never
    [0.5, 0.5]
    """
    check_average(average)
    found = values_at_k(Y_true, ranking, k, [f"{average} {of}@k" for of in ("P", "R", "F1")], labels, n_labels)
    return PrecisionRecallF1(*found)


def coverage_at_k(Y_true: Labels, ranking: Predictions, k: int = 5, *, labels: ArrayLike | None = None) -> np.ndarray:
    """Return coverage@1, ..., coverage@k: the share of labels that are rightly predicted for at least one row.

    That is of the labels that occur in ``Y_true``, as in napkinXC; xCOLUMNs divides by the number of all labels.

    {Parameters: Y_true, ranking, k, labels}

    {values_at_k}
    """
    return values_at_k(Y_true, ranking, k, ["coverage@k"], labels)[0]


def abandonment_at_k(Y_true: Labels, ranking: Predictions, k: int = 5) -> np.ndarray:
    """Return abandonment@1, ..., abandonment@k: the share of rows with no true label among the first k.

    A user who looks at k suggestions finds none of use; smaller is better. Rows without true labels count as abandoned.
    napkinXC and xCOLUMNs give this name to the share of the other rows, which is 1 minus this one.

    {at_k}
    """
    return values_at_k(Y_true, ranking, k, ["abandonment@k"])[0]


def subset_accuracy_at_k(Y_true: Labels, ranking: Predictions, k: int = 5) -> np.ndarray:
    """Return the share of rows whose first k labels are exactly the true ones, at 1..k.

    Where k labels are predicted for every row, only rows with k true labels can be right.

    {at_k}
    """
    return values_at_k(Y_true, ranking, k, ["subset accuracy@k"])[0]


def hamming_loss_at_k(Y_true: Labels, ranking: Predictions, k: int = 5, *, n_labels: int | None = None) -> np.ndarray:
    """Return the share of pairs of a row and a label that are wrong when the first k labels are predicted, at 1..k.

    Smaller is better. With many labels it is close to 0 whatever is predicted.

    {Parameters: Y_true, ranking, k, n_labels}

    {values_at_k}
    """
    return values_at_k(Y_true, ranking, k, ["Hamming loss@k"], n_labels=n_labels)[0]


def values_at_k(Y_true, ranking, k, measures, labels=None, n_labels=None, inv_ps=None, hierarchy=None) -> np.ndarray:
    """Return measures at 1..k: float64, shape (measures, k)."""
    k = check_k(k)
    items = [check_item(measure, at, inv_ps, labels, hierarchy) for measure in measures for at in range(1, k + 1)]
    counts = RowCounts(Y_true, ranking, k, inv_ps, labels, n_labels, hierarchy=hierarchy)
    return Statistics(counts, items).measured().reshape(len(measures), k)


def check_average(average) -> None:
    """Raise ValueError unless there is such an average."""
    if average not in AVERAGES:
        raise ValueError(f"average is {average!r:.200}: it must be one of {', '.join(AVERAGES)}")
