"""Statistics of lists of numbers: Student's t interval of a mean, the correlation of ranks, and beta calibration."""

import numpy as np

RIDGE = 1e-2  # a weak penalty, so that curves are found where all scores are alike


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


def beta_curve(scores, right, n, end: float, least: float = 0.0) -> np.ndarray:
    """Return a, b and c of the curve by which ``right`` of ``n`` labels of each score are right.

    Probabilities have the log odds a log s - b log(1 - s) + c, where a is at least ``least``, and b at least 0 (Kull et
    al., AISTATS 2017). Scores that are nearer to 0 or 1 than ``end`` count as alike.
    """
    from scipy.optimize import minimize

    inside = np.clip(scores, end, 1 - end)
    x = np.stack([np.log(inside), -np.log1p(-inside), np.ones(inside.size)], axis=1)
    start = np.array([1.0, 1.0, 0.0])  # probabilities are the scores

    def surprise(w):
        odds = x @ w
        slope = x.T @ (n / (1 + np.exp(-odds)) - right) + RIDGE * (w - start)
        return (n * np.logaddexp(0, odds)).sum() - right @ odds + RIDGE / 2 * ((w - start) ** 2).sum(), slope

    return minimize(surprise, start, jac=True, method="L-BFGS-B", bounds=[(least, 50), (0, 50), (-50, 50)]).x


def beta_calibrated(scores, curves: np.ndarray, end: float) -> np.ndarray:
    """Return probabilities for scores by a curve, or by one for each column."""
    inside, (a, b, c) = np.clip(scores, end, 1 - end), curves.T
    return 1 / (1 + np.exp(-(a * np.log(inside) - b * np.log1p(-inside) + c)))
