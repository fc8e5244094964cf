"""Statistics of lists of numbers: Student's t interval of a mean, and the correlation of ranks."""

import numpy as np


def student_reach(count, spread, level=0.95) -> np.ndarray:
    """Return how far the ends of Student's t interval are from means of ``count`` values; nan for a single value."""
    from scipy.special import stdtrit

    count = np.asarray(count)
    quantile = stdtrit(np.maximum(count - 1, 1), 0.5 + level / 2)
    return np.where(count > 1, quantile * np.asarray(spread, np.float64) / np.sqrt(np.maximum(count, 1)), np.nan)


def mean_intervals(groups, margins=None):
    """Return the mean of each group of a grouped Series, and its 95 % interval; that of one value has no width.

    With ``margins``, grouped alike, the interval reaches at least as far as the largest margin of its group.
    """
    statistics = groups.agg(["mean", "std", "count"])
    half_width = np.nan_to_num(student_reach(statistics["count"], statistics["std"]))
    if margins is not None:
        half_width = np.maximum(half_width, margins.max())
    ends = {"low": statistics["mean"] - half_width, "high": statistics["mean"] + half_width}
    return statistics[["mean"]].assign(**ends)


def rank_correlation(a, b) -> float:
    """Return Spearman's correlation; nan for fewer than two values, or if all of one side are equal."""
    from scipy.stats import rankdata

    if len(a) < 2:
        return float("nan")
    a, b = rankdata(a), rankdata(b)
    a, b = a - a.mean(), b - b.mean()
    length = np.sqrt((a @ a) * (b @ b))
    return float(np.clip(a @ b / length, -1.0, 1.0)) if length > 0 else float("nan")
