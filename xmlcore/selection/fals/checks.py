"""Checks of the input of FALS (scales of features) and of its results (weights of the network, scores)."""

import warnings

import numpy as np

# There is a warning if the largest absolute value of a feature is at least this many times the median of the largest
# absolute values of all features.
UNEVEN_RATIO = 1000.0


def is_finite(array) -> bool:
    """Return whether all values of an array are finite, without making a boolean array of its size."""
    return array.size == 0 or bool(np.isfinite(array.min()) and np.isfinite(array.max()))


def check_finite(network) -> None:
    """Raise ValueError if weights of the network are not finite, because the training has diverged."""
    if not all(is_finite(array) for array in (*network.weights, *network.biases)):
        raise ValueError(
            "training diverged, weights are no longer finite: lower learning_rate or l2, or scale the features"
        )


def warn_of_scales(X) -> None:
    """Warn if the values of a feature are much larger than those of other features, because it is in another unit."""
    largest = np.asarray(abs(X).max(axis=0).todense()).ravel()
    present = largest[largest > 0]
    if present.size == 0 or largest.max() < UNEVEN_RATIO * np.median(present):
        return
    warnings.warn(
        f"feature {largest.argmax()} has absolute values up to {largest.max():,.4g}, the median feature up to "
        f"{np.median(present):,.4g}: scores are made from gradients, which depend on the unit of a feature, so this "
        "feature may hide the others; scale the features first, for example divide each by its largest absolute value",
        UserWarning,
        stacklevel=6,
    )


def check_n_scored_rows(params, n_rows: int) -> None:
    """Raise ValueError if scores are sampled from more rows than there are."""
    if params.scoring == "sampled" and params.n_scored_rows is not None and params.n_scored_rows > n_rows:
        raise ValueError(
            f"n_scored_rows is {params.n_scored_rows:,}, but X has {n_rows:,} rows: scoring='exact' uses all"
        )


def check_scores(fitted: dict, k: int, X) -> None:
    """Raise ValueError if all scores are 0, and warn if labels have fewer than k features with a positive score."""
    positive = (fitted["selected_scores_"] > 0).sum(axis=1)
    if not positive.any():
        largest = float(abs(X).max()) if X.nnz else 0.0
        remedy = "lower learning_rate, or train more epochs"
        if not 0.01 <= largest <= 100:
            remedy = (
                f"X has absolute values up to {largest:,.4g}, and the network needs values of about 1: divide each "
                "feature by its largest absolute value, as sklearn.preprocessing.MaxAbsScaler does, or count in a "
                f"{'larger' if largest > 1 else 'smaller'} unit"
            )
        raise ValueError(
            f"the scores of all {X.shape[1]:,} feature(s) are 0 for all labels, as the network's outputs do not change "
            f"with any feature: {remedy}"
        )
    for few, problem in (
        (positive == 0, "no feature with a score above 0, and keep the first ones"),
        ((positive > 0) & (positive < k), f"fewer than {k:,} features with a score above 0, and keep others with 0"),
    ):
        if few.any():
            warnings.warn(
                f"{few.sum():,} of {few.size:,} labels, label {few.argmax()} first, have {problem}",
                UserWarning,
                stacklevel=6,
            )
