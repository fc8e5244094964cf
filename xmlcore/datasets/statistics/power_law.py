"""Whether the frequencies of labels follow a power law, and with which exponent.

The method is that of Clauset, Shalizi and Newman (2009), "Power-law distributions in empirical data", SIAM Review 51:
counts x of at least x_min have probability x**-alpha / zeta(alpha, x_min), with Hurwitz' zeta function.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore.first_use import pd
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import ArrayLike, DataFrame
from xmlcore.validation import as_array, check_count, check_is

LARGEST_ALPHA = 50.0
TABLE = 100_000  # counts from x_min on that are drawn from an exact table; larger ones from a continuous distribution
ENOUGH = 0.1  # with a smaller p-value, Clauset et al. rule a power law out
LEAST_VALUES = 3  # different counts from x_min on, with fewer of which no test can rule a power law out
_FITTED = "a PowerLaw, as fit_power_law() returns it,"


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
    values, numbers = _histogram(counts)
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


def power_law_curve(fit: PowerLaw, largest: int, points: int = 100) -> "DataFrame":
    """Return the line of a fitted power law as ``count`` and ``rank``: the number of counts expected to be as large."""
    check_is(fit, PowerLaw, "fit", _FITTED)
    largest, points = check_count(largest, "largest", 0), check_count(points, "points")
    if not math.isfinite(fit.alpha):
        return pd.DataFrame({"count": [], "rank": []})
    count = np.geomspace(fit.x_min, max(largest, fit.x_min), points)
    rank = fit.n_tail * _share_from(count, fit.alpha, fit.x_min)
    return pd.DataFrame({"count": count, "rank": rank})[::-1].reset_index(drop=True)


def _fitted(counts, fit) -> PowerLaw:
    """Return the power law that is given, or else that of the counts."""
    fit = fit_power_law(counts) if fit is None else fit
    check_is(fit, PowerLaw, "fit", _FITTED)
    return fit


class Goodness(NamedTuple):
    """Whether a fitted power law is plausible."""

    p: float  # share of samples as far from their own fit as the data; below 0.1 it is ruled out
    p_error: float  # sqrt(p (1 - p) / n)
    alpha_low: float  # 5th and 95th percentile of the exponents fitted to samples
    alpha_high: float
    x_min_low: float  # the same of x_min
    x_min_high: float
    n_samples: int


def goodness_of_fit(
    counts: ArrayLike,
    fit: PowerLaw | None = None,
    n_samples: int = 1000,
    random_state: int = 0,
    progress: ProgressLike = silent,
) -> Goodness:
    """Test whether a power law is a plausible distribution of counts, by a semi-parametric bootstrap.

    Each sample has as many counts as the data. A count comes from the fitted power law with probability n_tail / n, and
    is otherwise drawn from the counts below x_min. A power law is fitted to the sample in the same way as to the data,
    including x_min.

    Parameters
    ----------
    counts : array_like of int
    fit : PowerLaw, optional
        What :func:`fit_power_law` returns for these counts.
    n_samples : int
        Clauset et al. advise 2,500 for a p-value that is right to 0.01; 1,000 give 0.016.
    random_state : int
        Seed. Sample i is the same for any number of samples.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Returns
    -------
    Goodness
        All nan if nothing can be tested: there is no fit, or there are fewer than LEAST_VALUES different counts from
        x_min on. Two values have one free share, to which the exponent is fitted.
    """
    progress = to_progress(progress)
    counts = _positive(counts)
    fit = _fitted(counts, fit)
    n_samples, seed = check_count(n_samples, "n_samples"), check_count(random_state, "random_state", 0)
    if not math.isfinite(fit.alpha) or np.unique(counts[counts >= fit.x_min]).size < LEAST_VALUES:
        return Goodness(*6 * (math.nan,), n_samples)
    below, table = counts[counts < fit.x_min], _table(fit)
    fits = []
    for i in range(n_samples):
        progress("Testing the power law", i / n_samples, f"sample {i + 1:,} of {n_samples:,}")
        rng = np.random.default_rng([seed, i])
        n_tail = rng.binomial(fit.n, fit.n_tail / fit.n)
        sample = _draw(fit, table, n_tail, rng)
        if below.size:
            sample = np.concatenate([sample, rng.choice(below, fit.n - n_tail)])
        fits.append(fit_power_law(sample))
    distance = np.array([sampled.distance for sampled in fits])
    p = float(np.mean(distance[~np.isnan(distance)] >= fit.distance)) if np.isfinite(distance).any() else math.nan
    alpha, x_min = (np.array([getattr(f, name) for f in fits if math.isfinite(f.alpha)]) for name in ("alpha", "x_min"))
    ends = (
        [float(end) for values in (alpha, x_min) for end in np.percentile(values, [5, 95])]
        if alpha.size
        else [math.nan] * 4
    )
    return Goodness(p, math.sqrt(p * (1 - p) / n_samples), *ends, n_samples)


def compare_with_power_law(counts: ArrayLike, fit: PowerLaw | None = None) -> "DataFrame":
    """Compare a fitted power law with other distributions of the same counts, of at least x_min.

    Vuong's test: R is the sum of the differences of log-likelihoods, divided by their standard deviation and the root
    of their number. It is nearly normal if both fit equally well.

    Parameters
    ----------
    counts : array_like of int
    fit : PowerLaw, optional
        What :func:`fit_power_law` returns for these counts.

    Returns
    -------
    DataFrame
        A row each for ``"log-normal"`` and ``"exponential"`` (both for whole numbers, from x_min on):
        ``distribution``, ``ratio`` (R: above 0 if the power law fits better) and ``p`` (two-sided; a large one means
        that the data cannot tell). Empty without a fit.
    """
    fit = _fitted(counts, fit)
    values, numbers = _histogram(counts)
    if not math.isfinite(fit.alpha):
        return pd.DataFrame({"distribution": [], "ratio": [], "p": []})
    x, n = values[values >= fit.x_min], numbers[values >= fit.x_min]
    power = -fit.alpha * np.log(x) - _log_zeta(fit.alpha, np.array([fit.x_min]))
    rows = []
    for name, other in (("log-normal", _log_normal(x, n, fit.x_min)), ("exponential", _exponential(x, n, fit.x_min))):
        gap = power - other
        mean = float((n * gap).sum() / n.sum())
        spread = math.sqrt(max(float((n * (gap - mean) ** 2).sum() / n.sum()), 0.0))
        ratio = mean * math.sqrt(n.sum()) / spread if spread > 0 else 0.0
        rows.append((name, ratio, math.erfc(abs(ratio) / math.sqrt(2))))
    return pd.DataFrame(rows, columns=["distribution", "ratio", "p"])


def _histogram(counts):
    """Return the different counts above 0, ascending, and how often each occurs."""
    return np.unique(_positive(counts).astype(np.int64), return_counts=True)


def _positive(counts):
    wanted = "whole numbers, such as the number of rows of each label"
    counts = as_array(counts, "counts", f"{wanted}, are needed")
    if counts.dtype.kind not in "buif":
        raise ValueError(f"counts must be {wanted}")
    return counts[counts > 0]


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


def _table(fit):
    """Return the shares of the power law of x or more, for TABLE counts x from x_min on, and the share beyond these."""
    return _share_from(fit.x_min + np.arange(TABLE + 1), fit.alpha, fit.x_min)


def _draw(fit, table, n, rng):
    """Return ``n`` counts from a power law."""
    share = 1 - rng.random(n)  # in (0, 1]: the count is the largest x of which the share of x or more is at least this
    x = np.searchsorted(-table, -share, side="right") - 1
    beyond = x >= TABLE
    first = fit.x_min + TABLE - 0.5
    far = first * (share[beyond] / table[TABLE]) ** (-1 / (fit.alpha - 1)) + 0.5
    x = x.astype(np.int64) + fit.x_min
    x[beyond] = np.minimum(far, 2**62).astype(np.int64)
    return x


def _exponential(x, n, x_min):
    """Return the log-likelihood of each count under the most likely geometric distribution from x_min on."""
    mean = float((n * (x - x_min)).sum() / n.sum())
    return (x - x_min) * math.log(mean / (1 + mean)) - math.log(1 + mean)


def _log_normal(x, n, x_min):
    """Return the log-likelihood of each count under the most likely log-normal distribution, rounded, from x_min on."""
    from scipy.optimize import minimize
    from scipy.special import log_ndtr

    low, high, first = np.log(x - 0.5), np.log(x + 0.5), math.log(x_min - 0.5)

    def of_each(parameters):
        mu, sigma = parameters[0], math.exp(parameters[1])
        a, b = log_ndtr((mu - low) / sigma), log_ndtr((mu - high) / sigma)  # shares above, which are small in the tail
        return a + np.log(-np.expm1(np.minimum(b - a, -1e-300))) - log_ndtr((mu - first) / sigma)

    mean = float((n * np.log(x)).sum() / n.sum())
    spread = math.sqrt(float((n * (np.log(x) - mean) ** 2).sum() / n.sum())) + 1e-3
    best = min(
        (
            minimize(
                lambda p: _finite(-(n * of_each(p)).sum()),
                [mu, math.log(sigma)],
                method="Nelder-Mead",
                options={"maxiter": 2000, "xatol": 1e-6, "fatol": 1e-6},
            )
            for mu, sigma in ((mean, spread), (0.0, 2 * spread), (-5.0, 3 * spread))
        ),
        key=lambda found: found.fun,
    )
    return of_each(best.x)


def _finite(value):
    """Return a number, a huge one in place of infinite or nan."""
    return value if math.isfinite(value) else 1e300
