"""Weights of labels for propensity-scored measures: rare labels have larger weights."""

import math

import numpy as np

from xmlcore.typing import Labels
from xmlcore.validation import check_labels, check_number


def inverse_propensity(Y_train: Labels, A: float = 0.55, B: float = 1.5, *, n_labels: int | None = None) -> np.ndarray:
    r"""Return the inverse propensity of each label by the model of Jain et al. (2016).

    The propensity of a label is the probability that a row to which the label applies has the label in the data. With N
    training rows, :math:`N_l` of which have the label l,

    .. math:: 1 / p_l = 1 + C (N_l + B)^{-A}, \qquad C = (\ln N - 1)(B + 1)^A

    Parameters
    ----------
    {Y_train}
    A, B : float
        Depend on the data set. In use are 0.5 and 0.4 for WikiLSHTC-325K and Wikipedia-500K, 0.6 and 2.6 for
        Amazon-670K and Amazon-3M, and 0.55 and 1.5 for all others. A must not be negative, B must be positive.
    {n_train_labels}

    Returns
    -------
    ndarray of float64, shape (L,)
        At least 1. With fewer than three training rows C would be negative and the "propensity" above 1: C is then
        taken as 0, and all weights are 1.

    Raises
    ------
    ValueError
        No training rows, A or B out of range, or what :func:`xmlcore.validation.check_labels` finds wrong.
    TypeError
        A or B is not a number.

    References
    ----------
    Jain, Prabhu, Varma: Extreme multi-label loss functions for recommendation, tagging, ranking and other missing
    label applications. KDD 2016.
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
