"""Calibration: whether labels that are predicted with a probability of 0.8 are right in 80 % of the cases."""

from typing import NamedTuple

import numpy as np

from xmlcore.first_use import pd
from xmlcore.metrics._inputs import as_ranking, read
from xmlcore.metrics.ranking import hits
from xmlcore.typing import DataFrame, Labels, Predictions
from xmlcore.validation import check_count, check_frame

BINS, MOST_BINS = ("equal width", "equal count"), 10_000
Z95 = 1.959963984540054  # quantile of the normal distribution, for intervals of 95 %


class CalibrationError(NamedTuple):
    """How far probabilities are from the shares that are right."""

    expected: float  # mean over predictions of the difference in their bin
    maximal: float  # largest difference of a bin


def reliability(
    Y_true: Labels, ranking: Predictions, k: int = 5, *, n_bins: int = 10, bins: str = "equal width"
) -> "DataFrame":
    """Return how often predictions are right, by their probability.

    {Parameters: Y_true, probabilities}
    k : int
        The k most probable labels of each row count; places without a label do not.
    n_bins : int
        Number of bins; those without a prediction are left out.
    bins : {"equal width", "equal count"}
        "equal width": probabilities from 0 to 1 / n_bins, and so on; most predictions may be in one bin. "equal
        count": each bin has about as many predictions; equal probabilities stay together, so there may be fewer bins.

    Returns
    -------
    DataFrame
        A line per bin, of rising probability: ``low``, ``high`` (its ends; a probability that is an end belongs to the
        bin below), ``n`` (predictions), ``predicted`` (their mean probability), ``observed`` (share that is right) and
        ``observed_low``, ``observed_high`` (Wilson's 95 % interval of this share, as if predictions were independent).

    Examples
    --------
    >>> import numpy as np
    >>> from xmlcore import metrics
    >>> Y, P = [[0], [0], [1], []], [[0.9, 0.1], [0.9, 0.2], [0.9, 0.0], [0.3, 0.2]]
    >>> metrics.reliability(Y, np.array(P), 1)[["n", "predicted", "observed"]].round(2).values.tolist()
    [[1.0, 0.3, 0.0], [3.0, 0.9, 0.67]]
    """
    n_bins = check_count(n_bins, "n_bins", most=MOST_BINS)
    if bins not in BINS:
        raise ValueError(f"bins is {bins!r:.200}: it must be one of {', '.join(BINS)}")
    p, right = _predictions(Y_true, ranking, k)[:2]
    ends = np.linspace(0, 1, n_bins + 1)
    if bins == "equal count" and p.size:
        ends = np.unique(np.quantile(p, ends))
        ends = ends if ends.size > 1 else np.repeat(ends, 2)
    place = np.searchsorted(ends[1:-1], p)
    n = np.bincount(place, minlength=ends.size - 1)
    some = n > 0
    n = n[some]
    predicted = np.bincount(place, p, minlength=some.size)[some] / n
    observed = np.bincount(place, right, minlength=some.size)[some] / n
    low, high = wilson(observed, n)
    return pd.DataFrame(
        {
            "low": ends[:-1][some],
            "high": ends[1:][some],
            "n": n,
            "predicted": predicted,
            "observed": observed,
            "observed_low": low,
            "observed_high": high,
        }
    )


def wilson(share: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of Wilson's 95 % intervals of shares of n independent cases each."""
    middle = (share + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 * np.sqrt(share * (1 - share) / n + (Z95 / (2 * n)) ** 2) / (1 + Z95**2 / n)
    return np.clip(middle - half, 0.0, share), np.clip(middle + half, share, 1.0)


def calibration_error(frame: "DataFrame") -> CalibrationError:
    """Return the expected and the maximal calibration error (docs/measures.md) of the bins of :func:`reliability`.

    Parameters
    ----------
    frame : DataFrame
        What :func:`reliability` returned.

    Returns
    -------
    CalibrationError
        ``expected`` and ``maximal``, in [0, 1]; nan without predictions. Both depend on the bins: name these with the
        number. A bin with few predictions makes the maximal error large by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from xmlcore import metrics
    >>> frame = metrics.reliability([[0], [1]], np.array([[0.75, 0.25], [0.75, 0.25]]), 1)
    >>> metrics.calibration_error(frame)
    CalibrationError(expected=0.25, maximal=0.25)
    """
    check_frame(frame, ("predicted", "observed", "n"), "reliability")
    if not len(frame):
        return CalibrationError(float("nan"), float("nan"))
    gap = (frame["predicted"] - frame["observed"]).abs().to_numpy()
    return CalibrationError(float(np.average(gap, weights=frame["n"])), float(gap.max()))


def brier_score_at_k(Y_true: Labels, ranking: Predictions, k: int = 5) -> np.ndarray:
    """Return the Brier score of the first 1, ..., k labels: the mean squared error of their probabilities.

    {Parameters: Y_true, probabilities}
    k : int
        The last place to measure at. Places without a label do not count.

    Returns
    -------
    ndarray of float64, shape (k,)
        The value at 1..k, in [0, 1]; smaller is better, and 0.25 is what a probability of 0.5 everywhere gives. nan
        when nothing is predicted. At k = L it is scikit-learn's ``brier_score_loss`` over all rows and labels.
    """
    p, right, place = _predictions(Y_true, ranking, k)
    squares = np.cumsum(np.bincount(place, (p - right) ** 2, minlength=k))
    n = np.cumsum(np.bincount(place, minlength=k))
    return np.divide(squares, n, out=np.full(k, np.nan), where=n > 0)


def _predictions(Y_true, ranking, k):
    """Return probability, rightness (0.0 or 1.0) and place (from 0) of each prediction: three arrays, shape (N,)."""
    k = check_count(k, "k")
    if not (hasattr(ranking, "scores") or getattr(getattr(ranking, "dtype", None), "kind", "") == "f"):
        raise TypeError(
            "the ranking has no probabilities: give a Ranking with scores, or an array of floats with a probability "
            "for each label"
        )
    read(Y_true, ranking, k)  # raises an error if rows, labels or the width do not fit
    ranked = as_ranking(ranking, k)
    row, place = np.nonzero(ranked.labels >= 0)
    p = ranked.scores[row, place].astype(np.float64)
    bad = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if bad.size:
        i = bad[0]
        raise ValueError(
            f"the score of row {row[i]}, label {ranked.labels[row[i], place[i]]} is {p[i]:g}, which is no probability: "
            f"calibration needs scores between 0 and 1 ({bad.size:,} of {p.size:,} are not)"
        )
    return p, hits(Y_true, ranked, k)[row, place].astype(np.float64), place
