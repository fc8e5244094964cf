"""Measures of each label when the first k labels of every row count as predicted, and their means."""

import numpy as np

from xmlcore.first_use import pd
from xmlcore.metrics import ranking as of_rankings
from xmlcore.metrics._inputs import as_ranking, read
from xmlcore.metrics.at_k import check_average, precision_recall_f1_at_k
from xmlcore.metrics.buckets import BUCKETS, buckets_of_labels
from xmlcore.typing import ArrayLike, DataFrame, Labels, Predictions
from xmlcore.validation import check_frame, is_lists


def by_label(Y_true: Labels, ranking: Predictions, k: int = 5, *, n_labels: int | None = None) -> "DataFrame":
    """Measure each label, when the first k labels of every row count as predicted.

    {Parameters: Y_true, ranking}
    k : int
        Number of labels predicted for a row.
    {n_labels}

    Returns
    -------
    DataFrame
        A line per label, in the order of their ids: ``label``; ``rows`` with the label; rows for which it is
        ``predicted``; rows for which it is ``right``ly predicted; ``precision`` (right / predicted, nan if it is never
        predicted), ``recall`` (right / rows, nan if no row has it) and ``f1`` (2 right / (rows + predicted), nan if
        neither).
    """
    n_labels = _label_count(Y_true, n_labels)
    ranked = as_ranking(ranking, k, n_labels)
    _, indices, labels, _ = read(Y_true, ranked, k)
    if indices.max(initial=-1) >= n_labels:
        raise ValueError(f"Y_true has the label id {indices.max()}, but n_labels is {n_labels} (ids from 0)")
    is_hit = of_rankings.hits(Y_true, ranked, k)[:, : labels.shape[1]]
    rows = np.bincount(indices, minlength=n_labels)
    predicted = np.bincount(labels[labels >= 0], minlength=n_labels)
    right = np.bincount(labels[is_hit], minlength=n_labels)
    frame = pd.DataFrame({"label": np.arange(n_labels), "rows": rows, "predicted": predicted, "right": right})
    return frame.assign(**_shares(rows, predicted, right))


def f1_at_k(
    Y_true: Labels, ranking: Predictions, k: int = 5, *, average: str = "micro", n_labels: int | None = None
) -> float:
    """Return the F1 of the labels, when the first k labels of every row count as predicted.

    {Parameters: Y_true, ranking}
    k : int
        Number of labels predicted for a row.
    average : {"micro", "macro", "samples", "weighted"}
        How labels and rows are put together: see :func:`precision_recall_f1_at_k`.
    {n_labels}

    Returns
    -------
    float
        In [0, 1]; nan if there is nothing to measure. :func:`precision_recall_f1_at_k` has the values at 1..k.
    """
    check_average(average)
    n_labels = _label_count(Y_true, n_labels)
    return float(precision_recall_f1_at_k(Y_true, ranking, k, average=average, n_labels=n_labels).f1[-1])


def f1_of_labels(frame: "DataFrame") -> tuple[float, float]:
    """Return the micro and the macro F1 of lines of :func:`by_label`."""
    check_frame(frame, ("rows", "predicted", "right", "f1"), "by_label")
    sums = frame[["rows", "predicted", "right"]].sum()
    pairs = sums["rows"] + sums["predicted"]
    occurring = frame.loc[frame["rows"] > 0, "f1"]
    return float(2 * sums["right"] / pairs) if pairs else np.nan, float(occurring.mean())


def labels_by_bucket(frame: "DataFrame", buckets: ArrayLike) -> "DataFrame":
    """Measure each bucket of labels.

    Parameters
    ----------
    frame : DataFrame
        What :func:`by_label` returned.
    buckets : ndarray of str, shape (L,)
        Bucket of each label; see :func:`xmlcore.metrics.buckets.label_buckets`.

    Returns
    -------
    DataFrame
        A line per bucket: ``bucket``, ``n_labels`` (those with a test row), ``never_right`` (how many of these are
        never rightly predicted), ``rows`` (pairs of a row and one of these labels), ``precision`` and ``recall`` over
        all pairs, ``macro_f1``, ``macro_precision`` (0 for a label that is never predicted), ``macro_recall`` and
        ``coverage`` (share of the labels that are ever rightly predicted). Shares are in [0, 1], nan where there is
        nothing to measure.
    """
    check_frame(frame, ("rows", "predicted", "right", "f1", "precision", "recall"), "by_label")
    lines, buckets = [], buckets_of_labels(buckets, len(frame))
    for name in BUCKETS:
        mine = frame[buckets == name]
        occurring = mine[mine["rows"] > 0]
        sums = mine[["rows", "predicted", "right"]].sum()
        shares = _shares(*(np.array([sums[column]]) for column in ("rows", "predicted", "right")))
        lines.append(
            {
                "bucket": name,
                "n_labels": len(occurring),
                "never_right": int((occurring["right"] == 0).sum()),
                "rows": int(sums["rows"]),
                "precision": float(shares["precision"][0]),
                "recall": float(shares["recall"][0]),
                "macro_f1": float(occurring["f1"].mean()),
                "macro_precision": float(occurring["precision"].fillna(0.0).mean()),
                "macro_recall": float(occurring["recall"].mean()),
                "coverage": float((occurring["right"] > 0).mean()),
            }
        )
    return pd.DataFrame(lines)


def _shares(rows, predicted, right) -> dict:
    with np.errstate(invalid="ignore", divide="ignore"):
        return {"precision": right / predicted, "recall": right / rows, "f1": 2 * right / (rows + predicted)}


def _label_count(Y_true, n_labels):
    if n_labels is None:
        if is_lists(Y_true) or len(getattr(Y_true, "shape", ())) != 2:
            raise ValueError("Y_true is no matrix, and does not say how many labels there are: pass n_labels")
        n_labels = Y_true.shape[1]
    return n_labels
