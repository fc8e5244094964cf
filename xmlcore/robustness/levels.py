"""Default levels of noise for the size of the feature values of a data set."""

import math
from dataclasses import dataclass

import numpy as np

from xmlcore.robustness.perturbations import KINDS, NORM, check_options
from xmlcore.typing import Matrix
from xmlcore.validation import check_features, check_is

PAPER_LEVELS = (0.01, 0.05, 0.1)  # standard deviations of the noise in Date and Mehar, 2025; it trains with 0.05
WORD_LEVELS = (0.1, 0.2, 0.4)  # shares of a row's words
PAPER_VALUES = (0.02, 5.0)  # the paper's levels are the default if the median absolute feature value is in this range


@dataclass(frozen=True)
class ValueScale:
    """How large feature values are."""

    value: float  # median absolute value of the features that rows have
    length: float  # median Euclidean length of a row that has features
    features: float  # mean number of features of a row

    @classmethod
    def of(cls, X: Matrix) -> "ValueScale":
        """Measure the rows of a matrix."""
        X = check_features(X)
        counts = np.diff(X.indptr)
        if X.nnz == 0:
            return cls(1.0, 1.0, 0.0)
        values = np.abs(X.data.astype(np.float64))  # of the largest of float32, two added would be infinite
        lengths = np.sqrt(np.add.reduceat(values**2, X.indptr[:-1][counts > 0]))
        return cls(float(np.median(values)) or 1.0, float(np.median(lengths)) or 1.0, float(counts.mean()))


def default_levels(kind: str, norm: int | str, scale: ValueScale) -> tuple[float, ...]:
    """Return levels of noise that are neither too small nor too large for the feature values."""
    norm = NORM.check(2 if norm == "2" else norm)
    check_options(kind, {})
    check_is(scale, ValueScale, "scale", "a ValueScale, as ValueScale.of(X) returns it,")
    if not KINDS[kind].default_size:
        return WORD_LEVELS
    if KINDS[kind].default_size == "length" or (KINDS[kind].is_attack and norm == 2):
        middle = min(_nice(0.1 * scale.length), KINDS[kind].most / 2)
        return middle / 2, middle, 2 * middle
    if PAPER_VALUES[0] <= scale.value <= PAPER_VALUES[1]:
        return PAPER_LEVELS
    largest = min(_nice(0.2 * scale.value), KINDS[kind].most)
    return largest / 10, largest / 2, largest


def training_sigma(scale: ValueScale) -> float:
    """Return a standard deviation of the noise to train with."""
    return default_levels("gaussian", 2, scale)[1]


def _nice(value: float) -> float:
    """Return the number nearest to a positive value, by ratio, among 1, 2 and 5 times the powers of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    nearest = min((1, 2, 5, 10), key=lambda digit: abs(math.log(value / (digit * power))))
    return float(f"{nearest * power:.6g}")
