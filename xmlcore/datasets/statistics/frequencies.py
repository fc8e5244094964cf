"""How unequal the frequencies of labels are: measures of imbalance, and the nearest power law.

The measures are those of Charte et al. (2015), "Addressing imbalance in multilabel classification: Measures and random
resampling algorithms", Neurocomputing 163, and of Charte et al. (2019), "Dealing with difficult minority labels in
imbalanced multilabel data sets", Neurocomputing 326-327. The R package mldr has the same. The power law is that of
Clauset, Shalizi and Newman (2009), "Power-law distributions in empirical data", SIAM Review 51: counts x of at least
x_min have probability x**-alpha / zeta(alpha, x_min), with Hurwitz' zeta function.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.typing import ArrayLike
from xmlcore.validation import as_array, check_count


def imbalance_ratios(Y: sp.csr_array) -> np.ndarray:
    """Return the imbalance ratio of each label, IRLbl: the rows of the most frequent label / the rows of this label."""
    counts = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float64)
    return np.divide(counts.max(initial=0), counts, out=np.full(counts.size, np.nan), where=counts > 0)


def scumble_of_rows(Y: sp.csr_array) -> np.ndarray:
    """Return SCUMBLE of each row: how far apart the frequencies of its labels are."""
    # It is 1 - g / m, where g and m are the geometric and the arithmetic mean of IRLbl over the labels of the row. The
    # geometric mean is computed from logarithms, because the product of many ratios is too large for a number.
    ratios, sizes = imbalance_ratios(Y), np.diff(Y.indptr)
    result = np.zeros(Y.shape[0])
    several = sizes > 1
    arithmetic = _sums(ratios, Y)[several] / sizes[several]
    logarithms = _sums(np.log(ratios), Y)[several] / sizes[several]
    result[several] = np.clip(1.0 - np.exp(logarithms) / arithmetic, 0.0, 1.0)  # rounding can give -1e-16
    return result


def scumble_of_labels(Y: sp.csr_array, of_rows: np.ndarray | None = None) -> np.ndarray:
    """Return SCUMBLE of each label: the mean of :func:`scumble_of_rows` over its rows."""
    of_rows = scumble_of_rows(Y) if of_rows is None else of_rows
    n_labels = Y.shape[1]
    counts = np.bincount(Y.indices, minlength=n_labels).astype(np.float64)
    sums = np.bincount(Y.indices, weights=np.repeat(of_rows, np.diff(Y.indptr)), minlength=n_labels)
    return np.divide(sums, counts, out=np.full(n_labels, np.nan), where=counts > 0)


def imbalance(Y: sp.csr_array) -> tuple[dict, np.ndarray, np.ndarray]:
    ratios, rows = imbalance_ratios(Y), scumble_of_rows(Y)
    known = ratios[~np.isnan(ratios)]
    summary = {
        "irlbl_mean": float(known.mean()) if known.size else math.nan,
        "irlbl_max": float(known.max()) if known.size else math.nan,
        "irlbl_cv": _variation(known),
        "scumble": float(rows.mean()),
        "scumble_cv": _variation(rows),
    }
    return summary, ratios, scumble_of_labels(Y, rows)


def _variation(values):
    """Return the coefficient of variation: 0 where all values are 0, nan for fewer than two values."""
    if values.size < 2:
        return math.nan
    mean = float(values.mean())
    return float(values.std(ddof=1)) / mean if mean > 0 else 0.0


def _sums(of_label, Y):
    """Return the sum of a number of each label over the labels of each row."""
    row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    return np.bincount(row, weights=of_label[Y.indices], minlength=Y.shape[0])


LARGEST_ALPHA = 50.0


class PowerLaw(NamedTuple):
    """A power law fitted to counts; nan where fewer than two different counts allow none."""

    alpha: float  # exponent
    alpha_error: float  # standard error, for this x_min
    x_min: int  # smallest count it holds for
    n_tail: int  # counts of at least x_min
    n: int  # counts above 0
    distance: float  # of Kolmogorov and Smirnov, between these and the power law


def fit_power_law(counts: ArrayLike, x_min: int | None = None) -> PowerLaw:
    """Fit a power law to counts, by maximum likelihood.

    Parameters
    ----------
    counts : array_like of int
        For example the number of rows of each label. Zeros are left out.
    x_min : int, optional
        The smallest count to use. By default each count that occurs, but the largest, is tried, and the one with the
        smallest Kolmogorov-Smirnov distance is used.

    Returns
    -------
    PowerLaw
    """
    wanted = "whole numbers, such as the number of rows of each label"
    counts = as_array(counts, "counts", f"{wanted}, are needed")
    if counts.dtype.kind not in "buif":
        raise ValueError(f"counts must be {wanted}")
    values, numbers = np.unique(counts[counts > 0].astype(np.int64), return_counts=True)
    if x_min is None:
        starts = np.arange(values.size - 1)
    else:
        starts = np.searchsorted(values, [check_count(x_min, "x_min", 1)])
        starts = starts[starts < values.size - 1]
    if starts.size == 0:
        return PowerLaw(math.nan, math.nan, 0, 0, int(numbers.sum()), math.nan)
    least = values[starts] if x_min is None else np.array([x_min])
    alphas, distances = _fits(values, numbers, starts, least)
    best = int(np.argmin(distances))
    start, alpha = starts[best], float(alphas[best])
    n_tail = int(numbers[start:].sum())
    error = 1 / math.sqrt(n_tail * _curvature(np.array([alpha]), least[best : best + 1])[0])
    return PowerLaw(alpha, error, int(least[best]), n_tail, int(numbers.sum()), float(distances[best]))


def _fits(values, numbers, starts, least):
    """Return alpha and the Kolmogorov-Smirnov distance for tails that start at positions of ``values``."""
    sizes = np.cumsum(numbers[::-1])[::-1][starts]
    logs = np.cumsum((numbers * np.log(values))[::-1])[::-1][starts]
    alphas = _most_likely(logs / sizes, least)
    distances = np.empty(starts.size)
    for i, (start, alpha, low, size) in enumerate(zip(starts, alphas, least, sizes)):
        x = values[start:]
        # Between two counts that occur, the share of the data stays the same while that of the power law rises. So the
        # largest distance is at a count that occurs, or just below the next one.
        from_x = _share_from(x, alpha, low)
        above_x = _share_from(x + 1, alpha, low)
        above = 1 - np.cumsum(numbers[start:]) / size  # share of the data above x
        distances[i] = max(np.abs(above - above_x).max(), np.abs(above[:-1] - from_x[1:]).max(), 1 - from_x[0])
    return alphas, distances


def _most_likely(mean_log, least):
    """Return the exponents whose power laws from ``least`` on have these means of log x, by Newton's method."""
    # The start is the exact solution of a continuous distribution from least - 1/2 on.
    alpha = np.clip(1 + 1 / (mean_log - np.log(least - 0.5)), 1.0001, LARGEST_ALPHA)
    for _ in range(50):
        slope = (_log_zeta(alpha + 1e-5, least) - _log_zeta(alpha - 1e-5, least)) / 2e-5 + mean_log
        step = slope / _curvature(alpha, least)
        new = np.clip(alpha - step, 1 + (alpha - 1) / 4, np.minimum(LARGEST_ALPHA, 1 + 4 * (alpha - 1)))
        done = np.abs(new - alpha).max() < 1e-9
        alpha = new
        if done:
            break
    return alpha


def _share_from(x, alpha, x_min):
    """Return the share of counts of ``x`` or more under a power law from ``x_min`` on."""
    return np.exp(_log_zeta(alpha, np.asarray(x)) - _log_zeta(alpha, np.array([x_min])))


def _log_zeta(alpha, least):
    """Return the logarithm of Hurwitz' zeta(alpha, least), also where zeta itself is too small for a number."""
    from scipy.special import zeta

    least = least.astype(np.float64)
    value = zeta(alpha, least)
    if (value > 0).all():
        return np.log(value)
    # Euler and Maclaurin's formula: exact to many digits for a least so large that zeta is too small.
    near = -alpha * np.log(least) + np.log(least / (alpha - 1) + 0.5 + alpha / (12 * least))
    return np.where(value > 0, np.log(np.maximum(value, 1e-300)), near)


def _curvature(alpha, least):
    """Return the second derivative of log zeta(alpha, least) by alpha: the variance of log x."""
    h = 1e-3 * (alpha - 1)
    below, at, above = (_log_zeta(alpha + d, least) for d in (-h, 0, h))
    return np.maximum((below - 2 * at + above) / h**2, 1e-12)
