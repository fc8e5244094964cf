"""What FALS checks: settings, the features it is given, the network, its scores, and saved selections."""

import numbers
import warnings

import numpy as np

from xmlcore.models.base import ModelFormatError
from xmlcore.selection._network import ACTIVATIONS
from xmlcore.validation import check_count

SCORING = ("auto", "exact", "sampled")
DRAWN = "drawn rows"
ORDERS = (
    "closed form",
    "direct",
    "expanded",
    "reference",
    DRAWN,
    "present features",
    "present features of some rows",
)
UNEVEN = 1000.0  # times the median feature's largest value, from which on a feature is warned of


def check_choice(value, choices, name):
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")


def is_finite(array) -> bool:
    """Whether no value is infinite or not a number, without an array of answers."""
    return array.size == 0 or bool(np.isfinite(array.min()) and np.isfinite(array.max()))


def check_finite(network):
    if not all(is_finite(array) for array in (*network.weights, *network.biases)):
        raise ValueError(
            "training diverged, weights are no longer finite: lower learning_rate or l2, or scale the features"
        )


def warn_of_scales(X):
    """Tell of features in other units than the rest."""
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


def check_scores(fitted, k):
    """Refuse scores that are all 0; tell of labels whose scores are."""
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


def check_saved(values):
    """Refuse what cannot be in a saved selection beside its arrays."""
    for name, least in (
        ("n_labels", 1), ("n_features_in", 1), ("n_selected", 1), ("n_rows", 1), ("n_scored", 1), ("seed", 0),
    ):  # fmt: skip
        check_count(values[name], name, least)
    for name in ("binary", "shared"):
        if not isinstance(values[name], bool):
            raise ModelFormatError(f"{name} is {values[name]!r}, not true or false")
    check_choice(values["scoring"], SCORING[1:], "scoring")
    check_choice(values["order"], ORDERS, "order")
    if "activation" in values:
        check_choice(values["activation"], ACTIVATIONS, "activation")
    costs, sizes = values["costs"], values["layer_sizes"]
    if not isinstance(costs, dict) or not all(isinstance(cost, numbers.Real) for cost in costs.values()):
        raise ModelFormatError(f"costs are {costs!r}, not numbers by the names of orders")
    last = 1 if values["binary"] else values["n_labels"]
    if not (
        isinstance(sizes, list)
        and 2 <= len(sizes) <= 6
        and all(isinstance(size, int) and size > 0 for size in sizes)
        and (sizes[0], sizes[-1]) == (values["n_features_in"], last)
    ):
        raise ModelFormatError(f"layer_sizes are {sizes!r}: not {values['n_features_in']} features to {last} outputs")
    if values["n_selected"] > values["n_features_in"]:
        raise ModelFormatError(f"{values['n_selected']} features selected of {values['n_features_in']}")
