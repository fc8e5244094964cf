"""Measures of predicted sets of labels: those that ``predict`` gives, or those with a score of at least a threshold."""

import numpy as np
import scipy.sparse as sp

from xmlcore.metrics.at_k import PrecisionRecallF1, check_average
from xmlcore.metrics.bipartition import both_sets
from xmlcore.metrics.measures import MEASURES, share
from xmlcore.ranking import Ranking
from xmlcore.typing import ArrayLike, Labels, Matrix
from xmlcore.validation import as_array, check_count, check_number, check_structure


def at_threshold(scores: Matrix | Ranking, threshold: float = 0.5, *, n_labels: int | None = None) -> sp.csr_array:
    """Return the labels whose score is at least a threshold as sets, a matrix of bool (n, L), for measures of sets.

    Parameters
    ----------
    scores : ndarray or sparse matrix of float, shape (n, L), or Ranking
        Such as ``predict_proba`` and ``predict_topk`` give. Of a Ranking only the labels in it can be predicted. An
        entry that a sparse matrix does not store is not predicted.
    threshold : float
        Least score of a predicted label.
    n_labels : int, optional
        Number of labels L; needed for a Ranking.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> metrics.at_threshold([[0.9, 0.5, 0.1]]).toarray().tolist()
    [[True, True, False]]
    """
    threshold = check_number(threshold, "threshold", -np.inf)
    n_labels = None if n_labels is None else check_count(n_labels, "n_labels")
    if isinstance(scores, Ranking):
        if n_labels is None:
            raise ValueError("scores is a Ranking, which does not say how many labels there are: pass n_labels")
        if scores.labels.max(initial=-1) >= n_labels:
            raise ValueError(f"scores has label {scores.labels.max()}, but n_labels is {n_labels}")
        _check_known(scores.scores)
        rows, places = np.nonzero((scores.labels >= 0) & (scores.scores >= threshold))
        labels = scores.labels[rows, places]
        return ones_at(rows, labels, (len(scores.labels), n_labels))
    if sp.issparse(scores):
        check_structure(scores, "the matrix of scores")
        found = sp.coo_array(sp.csr_array(scores))
        found.sum_duplicates()
        _check_known(found.data)
        kept = found.data >= threshold
        return ones_at(found.coords[0][kept], found.coords[1][kept], scores.shape)
    values = as_array(scores, "scores", "a matrix of numbers (rows, labels) or a Ranking is needed")
    if values.ndim != 2 or values.dtype.kind not in "fiu":
        raise TypeError(
            f"scores holds {values.dtype} values in {values.ndim} dimension(s): a matrix of numbers (rows, labels) "
            "or a Ranking is needed"
        )
    _check_known(values)
    return ones_at(*np.nonzero(values >= threshold), values.shape)


def precision_recall_f1(
    Y_true: Labels, predictions: Labels, *, average: str = "micro", labels: ArrayLike | None = None
) -> PrecisionRecallF1:
    """Return precision, recall and F1 of predicted sets of labels.

    {Parameters: sets}
    average : {"micro", "macro", "samples", "weighted"}
        How labels and rows are put together: see :func:`xmlcore.metrics.precision_recall_f1_at_k`.
    {labels}

    Returns
    -------
    PrecisionRecallF1
        Three floats in [0, 1]; scikit-learn's ``precision_recall_fscore_support`` with ``zero_division=0``, of the
        labels that occur in ``Y_true``. nan where there is nothing to measure.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> found = metrics.precision_recall_f1([[0], [0, 1]], [[0], [1, 2]], average="micro")
    >>> [round(value, 3) for value in found]
    [0.667, 0.667, 0.667]
    """
    check_average(average)
    Y, P = both_sets(Y_true, predictions)
    if labels is not None:
        labels = np.asarray(labels)
        if labels.dtype != bool or labels.shape != (Y.shape[1],):
            raise ValueError(f"labels is {labels.dtype} of shape {labels.shape}: a boolean for each label is needed")
        Y, P = Y[:, labels], P[:, labels]
    right = Y.multiply(P).tocsr()
    axis = 1 if average == "samples" else 0
    true, predicted, hits = (np.asarray(M.astype(np.int64).sum(axis=axis), np.float64) for M in (Y, P, right))
    if average in ("macro", "weighted"):
        counts = [part[:, None] for part in (hits, predicted, true)]
        measures = [MEASURES[f"{average} {of}@k"] for of in ("P", "R", "F1")]
        return PrecisionRecallF1(*(float(measure.compute(*counts)[0]) for measure in measures))
    if average == "micro":
        true, predicted, hits = true.sum(), predicted.sum(), hits.sum()
    pairs = ((hits, predicted), (hits, true), (2 * hits, true + predicted))
    otherwise = np.nan if average == "micro" else 0.0
    values = (share(np.atleast_1d(part), whole, otherwise) for part, whole in pairs)
    return PrecisionRecallF1(*(float(of.mean()) if of.size else float("nan") for of in values))


def of_sets(Y_true: Labels, predictions: Labels) -> dict[str, float]:
    """Return the measures by which predicted sets are compared, and ``labels``, the mean number of labels of a row."""
    Y, sets = both_sets(Y_true, predictions)
    micro, samples, macro = (precision_recall_f1(Y, sets, average=name) for name in ("micro", "samples", "macro"))
    values = {f"micro {name}": value for name, value in zip(("P", "R", "F1"), micro)}
    return values | {"samples F1": samples.f1, "macro F1": macro.f1, "labels": sets.nnz / max(1, sets.shape[0])}


def subset_accuracy(Y_true: Labels, predictions: Labels) -> float:
    """Return the share of rows whose predicted labels are exactly the true ones.

    {Parameters: sets}

    Returns
    -------
    float
        In [0, 1]; nan when there are no rows. scikit-learn's ``accuracy_score`` of matrices.
    """
    Y, P = both_sets(Y_true, predictions)
    wrong = np.diff((Y != P).tocsr().indptr) > 0
    return float(1 - wrong.mean()) if wrong.size else float("nan")


def _check_known(values):
    if np.isnan(values).any():
        raise ValueError("a score is not a number: scores are compared with the threshold")


def ones_at(rows, labels, shape) -> sp.csr_array:
    found = sp.csr_array((np.ones(len(rows), bool), (rows, labels)), shape=shape)
    found.sort_indices()
    return found
