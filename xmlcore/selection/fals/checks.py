"""Checks of what FALS computes with and of what it finds: units of features, weights, scores."""

import warnings

import numpy as np

UNEVEN = 1000.0  # a feature is warned of from so many times the median feature's largest value on


def is_finite(array) -> bool:
    """Whether all values are finite; needs no memory for an array of answers."""
    return array.size == 0 or bool(np.isfinite(array.min()) and np.isfinite(array.max()))


def check_finite(network) -> None:
    """Raise ValueError when the training of a network has diverged."""
    if not all(is_finite(array) for array in (*network.weights, *network.biases)):
        raise ValueError(
            "training diverged, weights are no longer finite: lower learning_rate or l2, or scale the features"
        )


def warn_of_scales(X) -> None:
    """Warn of features whose values are in other units than those of the rest."""
    largest = np.asarray(abs(X).max(axis=0).todense()).ravel()
    present = largest[largest > 0]
    if present.size == 0 or largest.max() < UNEVEN * np.median(present):
        return
    warnings.warn(
        f"feature {largest.argmax()} has values up to {largest.max():,.4g}, the median feature up to "
        f"{np.median(present):,.4g}: gradients depend on units, and such a feature may hide the others; "
        "scale features first, for example by their largest value",
        UserWarning,
        stacklevel=3,
    )


def check_n_scored_rows(params, n_rows: int) -> None:
    """Raise ValueError when scores are to come from more rows than there are."""
    if params.scoring == "sampled" and params.n_scored_rows is not None and params.n_scored_rows > n_rows:
        raise ValueError(
            f"n_scored_rows is {params.n_scored_rows:,}, but X has {n_rows:,} rows: scoring='exact' takes all"
        )


def check_scores(fitted: dict, k: int) -> None:
    """Raise ValueError when all scores are 0, and warn of labels with fewer than k positive scores.

    Parameters
    ----------
    fitted : dict
        With ``selected_scores_``, shape (L, k).
    k : int
    """
    positive = (fitted["selected_scores_"] > 0).sum(axis=1)
    if not positive.any():
        raise ValueError(
            "the scores of all features are 0 for all labels: the network's outputs do not change with any feature, as "
            "happens with very large or very small values; scale the features, or lower learning_rate"
        )
    for few, what in (
        (positive == 0, "no feature with a score above 0, and keep the first ones"),
        ((positive > 0) & (positive < k), f"fewer than {k:,} features with a score above 0, and keep others with 0"),
    ):
        if few.any():
            warnings.warn(
                f"{few.sum():,} of {few.size:,} labels, label {few.argmax()} first, have {what}",
                UserWarning,
                stacklevel=3,
            )
