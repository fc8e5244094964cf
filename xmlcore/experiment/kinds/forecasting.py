"""Forecasts of a learning curve: a power law through measures at growing numbers of rows, with a bootstrap interval."""

import math
from dataclasses import dataclass

import numpy as np

EXPONENTS = np.geomspace(0.05, 2.0, 48)  # values of c that are tried
LEAST_POINTS = 4  # numbers of rows with a measure that a forecast needs
RESAMPLES = 400
LEVEL = 0.95
BLOCK = 4_000_000  # most weights of rows in memory at a time
WIDEST = 0.1  # a forecast whose interval is wider says too little


@dataclass(frozen=True)
class Forecast:
    """Forecast of a measure for more rows."""

    n_rows: float  # number of rows of the forecast
    now: float  # the measure at the largest number of rows that was measured
    # value, low, high: forecast and its 95 % interval; NaN where there is none
    value: float
    low: float
    high: float
    # a, b, c: of the curve a - b n^-c
    a: float = math.nan
    b: float = math.nan
    c: float = math.nan
    reason: str = ""  # why there is no forecast; empty if there is one


def fit_curve(n_rows, values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fit a - b n^-c to one or several curves by weighted least squares, with b at least 0 and a at most 1."""
    # A point weighs as much as it has rows: the variance that a sample of n rows causes is about proportional to 1 / n.
    n, values = np.asarray(n_rows, float), np.asarray(values, float)
    curves = np.atleast_2d(values)
    w = n / n.sum()
    x = (n / n.max())[None, :] ** -EXPONENTS[:, None]  # (C, P); n is scaled, so that x is about 1
    mean_x, mean_v = x @ w, curves @ w
    cov = (x * w) @ curves.T - mean_x[:, None] * mean_v
    b = np.maximum(0.0, -cov / ((x**2 @ w) - mean_x**2)[:, None])  # (C, B)
    a = mean_v + b * mean_x[:, None]
    bounded = ((x * w) @ (1.0 - curves).T) / (x**2 @ w)[:, None]  # b where a is 1
    b = np.where(a > 1.0, np.maximum(0.0, bounded), b)
    a = np.minimum(a, 1.0)
    fitted = a[:, :, None] - b[:, :, None] * x[:, None, :]
    best = ((fitted - curves) ** 2 @ w).argmin(axis=0)
    at = np.arange(curves.shape[0])
    c = EXPONENTS[best]
    found = a[best, at], b[best, at] * n.max() ** c, c
    return found if values.ndim == 2 else tuple(values_of[0] for values_of in found)


def curve_at(a, b, c, n) -> np.ndarray:
    return a - b * np.asarray(n, float) ** -np.asarray(c, float)


def forecast(n_rows, gains, n: float, best=None, random_state: int = 0) -> Forecast:
    """Forecast a measure for another number of rows."""
    # The curve is fitted to the means over seeds. For the interval, test rows and seeds are drawn again with
    # replacement, the scatter of the points around the curve is added, and the curve is fitted again. It is the
    # interval of the change from the last point, on the same test rows: what these test rows have in common at all
    # points cancels.
    n_rows, gains = np.asarray(n_rows, float), np.asarray(gains)
    P, S, T = gains.shape
    best = np.ones(T) if best is None else np.asarray(best, float)
    if best.sum() == 0:
        return _none(n, math.nan, "no test row has such a label")
    flat = gains.reshape(P * S, T)
    by_seed = (flat.sum(axis=1) / best.sum()).reshape(P, S)
    means = by_seed.mean(axis=1)
    if P < LEAST_POINTS:
        return _none(
            n, means[-1] if P else math.nan, f"{P} numbers of rows were measured, and {LEAST_POINTS} are needed"
        )
    a, b, c = fit_curve(n_rows, means)
    scatter = np.sqrt(((means - curve_at(a, b, c, n_rows)) ** 2 * n_rows).sum() / max(1, P - 3))  # times 1 / sqrt(n)
    rng = np.random.default_rng([random_state, 5])
    curves = _resampled(flat.astype(np.float32), best.astype(np.float32), P, S, rng)
    curves += rng.standard_normal(curves.shape) * scatter / np.sqrt(n_rows)
    # A curve need not be one power law from the first point on: fits without the first points show how far it is not.
    starts = range(max(1, P - LEAST_POINTS + 1))
    found = np.empty(len(curves))
    for start in starts:
        own = slice(start, None, len(starts))
        found[own] = curve_at(*fit_curve(n_rows[start:], curves[own, start:]), n) - curves[own, -1]
    spread = math.hypot(scatter / math.sqrt(n), past_error(n_rows, means, n))
    found += rng.standard_normal(found.size) * spread
    low, high = means[-1] + np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    value = float(curve_at(a, b, c, n))
    reason = _doubt(means, low, high, b)
    if reason:
        return _none(n, means[-1], reason)
    low, high = max(0.0, min(float(low), value)), min(1.0, max(float(high), value))
    return Forecast(float(n), float(means[-1]), value, low, high, float(a), float(b), float(c))


def past_error(n_rows, means, n: float) -> float:
    """Return how wrong forecasts of the last points were, each from the points before it, as a standard deviation."""
    # Errors grow with the distance that is forecast: each is multiplied by the ratio of the distance from the last
    # point to ``n``, on a logarithmic scale, to its own.
    errors = []
    for at in range(LEAST_POINTS - 1, len(n_rows)):
        error = means[at] - curve_at(*fit_curve(n_rows[:at], means[:at]), n_rows[at])
        errors.append(error * math.log(n / n_rows[-1]) / math.log(n_rows[at] / n_rows[at - 1]))
    return math.sqrt(np.mean(np.square(errors)))


def _resampled(flat, best, P, S, rng):
    """Return curves of means over seeds, (RESAMPLES, P), with test rows and seeds drawn again."""
    T = best.size
    parts = []
    for start in range(0, RESAMPLES, step := max(1, BLOCK // T)):
        weights = rng.poisson(1.0, (min(step, RESAMPLES - start), T)).astype(np.float32)
        parts.append((weights @ flat.T) / np.maximum(weights @ best, 1e-9)[:, None])
    values = np.concatenate(parts).reshape(-1, P, S).astype(np.float64)
    if S == 1:
        return values[:, :, 0]
    seeds = rng.integers(S, size=(values.shape[0], S))
    drawn = np.take_along_axis(values, seeds[:, None, :], axis=2).mean(axis=2)
    centre = values.mean(axis=2)
    return centre + (drawn - centre) * math.sqrt(S / (S - 1))  # means of few seeds vary less than they should


def _doubt(means, low, high, b) -> str:
    """Return why a curve allows no forecast; empty if it does."""
    if b == 0.0 or means[-1] <= means[0]:
        return "the measure does not rise with the rows"
    if high - low > WIDEST:
        return f"the points do not follow a curve closely enough (interval {100 * (high - low):.0f} points wide)"
    return ""


def _none(n, now, reason) -> Forecast:
    return Forecast(float(n), float(now), math.nan, math.nan, math.nan, reason=reason)
