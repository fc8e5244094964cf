"""Measures of a ranking at 1..k (docs/measures.md), plain and propensity-scored, and weights of labels for these."""

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ranking import mark_hits
from xmlcore.hierarchy import Hierarchy
from xmlcore.metrics._inputs import as_ranking, read
from xmlcore.metrics.at_k import values_at_k
from xmlcore.metrics.measures import UNWEIGHTED, USUAL_MEASURES
from xmlcore.typing import ArrayLike, Labels, Predictions
from xmlcore.validation import check_labels, check_list, check_number


def precision_at_k(Y_true: Labels, ranking: Predictions, k: int = 5) -> np.ndarray:
    """Return P@1, ..., P@k: the share of true labels among the first k labels, mean over rows.

    {at_k}
    """
    return values_at_k(Y_true, ranking, k, ["P@k"])[0]


def recall_at_k(Y_true: Labels, ranking: Predictions, k: int = 5) -> np.ndarray:
    """Return R@1, ..., R@k: the share of a row's true labels among its first k labels, mean over rows.

    Rows without true labels count as 0.

    {at_k}
    """
    return values_at_k(Y_true, ranking, k, ["R@k"])[0]


def ndcg_at_k(Y_true: Labels, ranking: Predictions, k: int = 5) -> np.ndarray:
    """Return nDCG@1, ..., nDCG@k: the discounted gain of a row, divided by its largest possible one, mean over rows.

    A true label at place i has the gain 1 / log2(i + 1). Rows without true labels count as 0.

    {at_k}
    """
    return values_at_k(Y_true, ranking, k, ["nDCG@k"])[0]


def psprecision_at_k(Y_true: Labels, ranking: Predictions, k: int = 5, *, inv_ps: ArrayLike) -> np.ndarray:
    """Return PSP@1, ..., PSP@k: precision with weighted labels, divided by the largest possible one.

    {weighted_at_k}
    """
    return values_at_k(Y_true, ranking, k, ["PSP@k"], inv_ps=inv_ps)[0]


def psrecall_at_k(Y_true: Labels, ranking: Predictions, k: int = 5, *, inv_ps: ArrayLike) -> np.ndarray:
    """Return PSR@1, ..., PSR@k: recall with weighted labels, divided by the largest possible one.

    It is :func:`psprecision_at_k` with each row's gain and largest gain divided by the number of its true labels.

    {weighted_at_k}
    """
    return values_at_k(Y_true, ranking, k, ["PSR@k"], inv_ps=inv_ps)[0]


def psdcg_at_k(Y_true: Labels, ranking: Predictions, k: int = 5, *, inv_ps: ArrayLike) -> np.ndarray:
    """Return PSDCG@1, ..., PSDCG@k: the discounted gain of weighted labels, divided by the largest possible one.

    A row with many true labels counts more than one with few; in :func:`psndcg_at_k` it does not.

    {weighted_at_k}
    """
    return values_at_k(Y_true, ranking, k, ["PSDCG@k"], inv_ps=inv_ps)[0]


def psndcg_at_k(Y_true: Labels, ranking: Predictions, k: int = 5, *, inv_ps: ArrayLike) -> np.ndarray:
    """Return PSnDCG@1, ..., PSnDCG@k: PSDCG@k with each row's gains divided by its largest DCG without weights.

    {weighted_at_k}
    """
    return values_at_k(Y_true, ranking, k, ["PSnDCG@k"], inv_ps=inv_ps)[0]


def measures(
    Y_true: Labels,
    ranking: Predictions,
    k: int = 5,
    inv_ps: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    hierarchy: Hierarchy | None = None,
) -> dict[str, np.ndarray]:
    """Return the usual measures of a ranking, computed in one pass, or those that are named.

    {Parameters: Y_true, ranking, k, inv_ps}
    names : sequence of str, optional
        Names in :data:`xmlcore.metrics.MEASURES`, such as "macro F1@k".
    {hierarchy}

    Returns
    -------
    dict of str to ndarray of float64, shape (k,)
        ``"P@k"``, ``"R@k"``, ``"nDCG@k"``, and with ``inv_ps`` also ``"PSP@k"`` and ``"PSnDCG@k"``; or those named: the
        values at 1..k, in [0, 1], the same as those of the single functions.
    """
    if names is None:
        names = UNWEIGHTED if inv_ps is None else USUAL_MEASURES
    names = check_list(names, "names", "names of measures")
    return dict(zip(names, values_at_k(Y_true, ranking, k, names, inv_ps=inv_ps, hierarchy=hierarchy)))


def hits(Y_true: Labels, ranking: Predictions, k: int | None = None) -> np.ndarray:
    """Return which of the ranked labels are true labels: bool, shape (n, k), False where there is no label.

    {Parameters: Y_true, ranking}
    k : int, optional
        Number of places. By default as many as the ranking has; required for scores.
    """
    indptr, indices, labels, _ = read(Y_true, ranking, k)
    is_hit = np.zeros(labels.shape, dtype=bool)
    mark_hits(indptr, indices, labels, is_hit)
    missing = 0 if k is None else k - labels.shape[1]
    return np.pad(is_hit, ((0, 0), (0, missing))) if missing else is_hit


def inverse_propensity(Y_train: Labels, A: float = 0.55, B: float = 1.5, *, n_labels: int | None = None) -> np.ndarray:
    r"""Return the inverse propensity of each label by the model of Jain et al. (2016).

    The propensity of a label is the probability that a row to which the label applies has the label in the data. With N
    training rows, :math:`N_l` of which have the label l,

    .. math:: 1 / p_l = 1 + C (N_l + B)^{-A}, \qquad C = (\ln N - 1)(B + 1)^A

    {Parameters: Y_train}
    A, B : float
        Depend on the data set. In use are 0.5 and 0.4 for WikiLSHTC-325K and Wikipedia-500K, 0.6 and 2.6 for
        Amazon-670K and Amazon-3M, and 0.55 and 1.5 for all others. A must not be negative, B must be positive.
    {n_train_labels}

    Returns
    -------
    ndarray of float64, shape (L,)
        At least 1. With fewer than three training rows C would be negative and the "propensity" above 1: C is then
        taken as 0, and all weights are 1.
    """
    A, B = check_number(A, "A"), check_number(B, "B", above=True)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = inverse_propensity_of_counts(*_counts(Y_train, n_labels), A, B)
    if not np.isfinite(weights).all():
        raise ValueError(f"A={A:g} and B={B:g} give weights that are not finite: both are usually between 0 and 3")
    return weights


def inverse_propensity_of_counts(counts, n_rows: int, A: float = 0.55, B: float = 1.5) -> np.ndarray:
    """Return the weights of :func:`inverse_propensity` from the number of training rows of each label, and of all."""
    C = max(math.log(n_rows) - 1, 0.0) * np.float64(B + 1) ** A
    return 1 + C * (counts + B) ** -A


def inverse_log_frequency(Y_train: Labels, *, n_labels: int | None = None) -> np.ndarray:
    r"""Return a weight of each label from the logarithm of its count: :math:`1 / \ln(1 + N_l)`."""
    counts, _ = _counts(Y_train, n_labels)
    return inverse_log_counts(counts)


def inverse_log_counts(counts) -> np.ndarray:
    """Return the weights of :func:`inverse_log_frequency` from the number of training rows of each label."""
    return 1 / np.log1p(np.maximum(counts, 1))


def _counts(Y_train, n_labels):
    Y = check_labels(Y_train, n_labels=n_labels, name="Y_train")
    if Y.shape[0] == 0:
        raise ValueError("Y_train has no rows: label weights come from the training rows")
    return np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float64), Y.shape[0]


def warm_up() -> None:
    """Compile this module's kernels, or load them from disk, so that the first real call does not wait."""
    Y = [[0], [1]]
    scores = np.array([[0.2, 0.1], [0.2, 0.1]])
    measures(Y, as_ranking(scores, 1), 1, np.ones(2))
    hits(Y, as_ranking(sp.csr_array(scores), 1))
