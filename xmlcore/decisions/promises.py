"""Promises: sets of labels with at least a stated recall or precision, but for a stated risk."""

from dataclasses import replace

import numpy as np

from xmlcore.decisions.calibrating import calibration_of
from xmlcore.decisions.held_out import HeldOut, by_probability, held_out
from xmlcore.metrics.measures import share
from xmlcore.models.rules import CANDIDATES, Calibration, Rule
from xmlcore.typing import Labels, Matrix, Ranker
from xmlcore.validation import check_number

MOST_CUTS = 1000  # thresholds that are tried, at equal shares of the candidates


def promise(
    model: Ranker,
    X: Matrix,
    Y: Labels,
    *,
    recall: float | None = None,
    precision: float | None = None,
    risk: float | None = 0.1,
    n_candidates: int = CANDIDATES,
) -> Rule:
    """Return a rule whose sets of labels have at least a stated recall or precision, however good the model is.

    Parameters
    ----------
    model : Ranker
        A fitted model, whose scores are in [0, 1].
    X, Y : rows and labels, as the model's ``fit`` takes them
        Rows that the model was not fitted to, drawn independently from the same distribution, whatever it is, as the
        rows for which the promise is to hold: docs/decisions.md.
    recall : float in (0, 1)
        The share of a row's true labels that are in its set, mean over rows; a row without true labels counts as 1.
        In lists, labels that the model does not know count as missed.
    precision : float in (0, 1)
        In place of ``recall``: the share of a row's set that is right, mean over rows; an empty set counts as 1.
    risk : float in (0, 1), or None
        The probability, over the draw of the held-out rows, that the promise fails. None, for ``recall`` only: the
        share is promised on average over draws of held-out rows, which needs smaller sets.
    n_candidates : int
        Only so many labels of a row can be in its set.

    Returns
    -------
    Rule
        Of all thresholds that keep the promise, the one with the smallest sets for ``recall``, with the largest for
        ``precision``: labels with a calibrated probability of at least ``about["cut"]`` are predicted. ``about`` also
        has the promise, its ``value`` on the held-out rows, the mean number of ``labels`` in a set, and the share of
        sets that are ``empty``.

    Raises
    ------
    ValueError
        The promise cannot be given: the message says what can. Or labels or rows do not fit the model.
    """
    if (recall is None) == (precision is None):
        raise TypeError("give either recall or precision: the share that is promised")
    wanted = "recall" if precision is None else "precision"
    level = check_number(recall if precision is None else precision, wanted, 0.0, 1.0, above=True, below=True)
    risk = None if risk is None else check_number(risk, "risk", 0.0, 1.0, above=True, below=True)
    if risk is None and wanted == "precision":
        raise ValueError("a promise of precision needs a risk: conformal risk control holds for recall only")
    held = held_out(model, X, Y, n_candidates)
    calibration = calibration_of(held)
    about = promised(held, calibration, wanted, level, risk)
    return replace(by_probability(held, calibration, cut=about["cut"]), about=about)


def promised(held: HeldOut, calibration: Calibration, wanted: str, level: float, risk: float | None) -> dict:
    """Return the threshold that keeps a promise, with its measures on the held-out rows; ValueError without one."""
    p = held.probabilities(calibration).data
    tried = np.unique(np.quantile(p, np.linspace(0, 1, MOST_CUTS)))
    losses, labels, empty = losses_at(held, p, tried, wanted)
    n = held.Y.shape[0]
    if wanted == "precision":  # from the safest: no labels at all
        tried, losses, labels, empty = tried[::-1], losses[::-1], labels[::-1], empty[::-1]
    kept = kept_cuts(losses, n, level, risk)
    if not kept:
        how = "with all candidates" if wanted == "recall" else "with the most probable labels alone"
        raise ValueError(
            f"no threshold can promise a {wanted} of {level:g}: {how} it is {1 - losses[0]:.3f} on {n:,} held-out "
            "rows. Promise less, or take more held-out rows" + (", or more n_candidates" if wanted == "recall" else "")
        )
    at = kept - 1
    return {
        "promise": wanted, "level": level, "risk": risk, "rows": n, "cut": float(tried[at]),
        "value": float(1 - losses[at]), "labels": float(labels[at]), "empty": float(empty[at]),
    }  # fmt: skip


def kept_cuts(losses: np.ndarray, n: int, level: float, risk: float | None) -> int:
    """Return how many thresholds, from the safest on, keep a promise: those before the first that fails."""
    if risk is None:  # conformal risk control: of the expected loss of a new row
        good = (n * losses + 1) / (n + 1) <= 1 - level
    else:
        good = p_values(losses, n, 1 - level) <= risk
    return int(np.argmin(good)) if not good.all() else good.size


def losses_at(held: HeldOut, p: np.ndarray, tried: np.ndarray, wanted: str) -> tuple[np.ndarray, ...]:
    """Return, for ascending thresholds, the mean loss and number of labels of rows, and the share of empty sets."""
    # All are sums over rows that change only at entries of the row: entries are put into bins between thresholds.
    n, (row, true) = held.Y.shape[0], (held.row, held.true)
    order, place = held.ranked(p)
    right, at = held.right[order], np.searchsorted(tried, p[order], side="right")  # 0: below all thresholds
    hits = np.cumsum(right)
    hits -= np.concatenate([[0.0], hits])[held.scores.indptr[:-1]][row]
    if wanted == "recall":
        of_set, of_none = 1 - share(hits, true[row], 1.0), (true > 0).astype(np.float64)
    else:
        of_set, of_none = 1 - hits / (place + 1), np.zeros(n)
    before = np.where(place > 0, np.concatenate([[0.0], of_set[:-1]]), of_none[row])

    def at_cuts(changes):
        """Return the sum of changes by entries at or above each threshold."""
        return np.bincount(at, changes, minlength=tried.size + 1)[::-1].cumsum()[::-1][1:]

    loss = (of_none.sum() + at_cuts(of_set - before)) / n
    return loss, at_cuts(np.ones(row.size)) / n, 1 - at_cuts(place == 0) / n


def p_values(losses: np.ndarray, n: int, bound: float) -> np.ndarray:
    """Return Hoeffding's and Bentkus' p-value for "the mean loss is above the bound", of mean losses in [0, 1]."""
    from scipy.stats import binom

    losses = np.asarray(losses, np.float64).clip(0, 1)
    below = np.minimum(losses, bound)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(below > 0, below * np.log(below / bound), 0.0)
        distance += np.where(below < 1, (1 - below) * np.log((1 - below) / (1 - bound)), 0.0)
    return np.minimum(1.0, np.minimum(np.exp(-n * distance), np.e * binom.cdf(np.ceil(n * losses - 1e-9), n, bound)))
