"""Calibration: what scores are worth as probabilities, found on held-out rows."""

import numpy as np

from xmlcore.decisions.held_out import HeldOut, held_out
from xmlcore.models.rules import CANDIDATES, Calibration
from xmlcore.typing import Labels, Matrix, Ranker

SMALLEST = 1e-6  # scores nearer to 0 or 1 count as this far away where a logarithm is taken
BETA_KNOTS = 200
GROUPS = 2000  # of labels of about equal scores, to which a curve is fitted


def calibrate(model: Ranker, X: Matrix, Y: Labels, *, n_candidates: int = CANDIDATES) -> Calibration:
    """Learn what the scores of a model are worth as probabilities.

    The share of right labels is found as a function of the score, over the best labels of the held-out rows: by
    isotonic regression, with straight lines between the middles of its steps, or by beta calibration where that
    predicts other held-out rows better.

    Parameters
    ----------
    model : Ranker
        A fitted model, whose scores are in [0, 1].
    X, Y : rows and labels, as the model's ``fit`` takes them
        Rows that the model was not fitted to: scores of training rows are too sure.
    n_candidates : int
        How many labels of each row count.

    Returns
    -------
    Calibration
        A callable from scores to probabilities. Larger scores never get smaller probabilities.

    Raises
    ------
    ValueError
        No row has a label, or scores are not in [0, 1]; or what the model finds wrong with X.

    References
    ----------
    B. Zadrozny, C. Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD 2002.
    A. P. Oron, N. Flournoy, "Centered isotonic regression", Statistics in Biopharmaceutical Research 2017.
    M. Kull, T. Silva Filho, P. Flach, "Beta calibration", AISTATS 2017.
    """
    return calibration_of(held_out(model, X, Y, n_candidates))


def calibration_of(found: HeldOut) -> Calibration:
    """Return the calibration of held-out rows, by the method that predicts one half of the rows best from the other."""
    scores, right = found.scores.data, found.right
    bad = np.flatnonzero(~((scores >= 0) & (scores <= 1)))
    if bad.size:
        raise ValueError(
            f"the score {scores[bad[0]]:g} of row {found.row[bad[0]]} is not between 0 and 1 ({bad.size:,} are not): "
            "calibration needs a model with such scores"
        )
    half = np.random.default_rng(0).permutation(found.Y.shape[0]) % 2 == 0
    order = np.argsort(scores, kind="stable")  # once: sorting again what is sorted takes no time
    scores, right, half = scores[order], right[order], half[found.row[order]]
    surprise = {}
    for method, fit in METHODS.items():
        halves = [(fit(scores[part], right[part]), ~part) for part in (half, ~half) if part.any() and not part.all()]
        surprise[method] = sum(_surprise(made(scores[rest]), right[rest]) for made, rest in halves)
    return METHODS[min(surprise, key=surprise.__getitem__)](scores, right)


def _surprise(probabilities, right) -> float:
    p = np.clip(probabilities, SMALLEST, 1 - SMALLEST)
    return float(-np.log(np.where(right > 0, p, 1 - p)).sum())


def _isotonic(scores, right) -> Calibration:
    from scipy.optimize import isotonic_regression

    order = np.argsort(scores, kind="stable")
    scores, right = scores[order], right[order]
    first = np.flatnonzero(np.concatenate([[True], scores[1:] > scores[:-1]]))
    n, hits = np.diff(np.append(first, scores.size)), np.add.reduceat(right, first)
    blocks = isotonic_regression(hits / n, weights=n).blocks[:-1]
    middles = np.add.reduceat(scores[first] * n, blocks) / np.add.reduceat(n, blocks)
    shares = (np.add.reduceat(hits, blocks) + 0.5) / (np.add.reduceat(n, blocks) + 1)  # never sure after a few labels
    shares = isotonic_regression(shares, weights=np.add.reduceat(n, blocks)).x  # small blocks were moved the most
    inside = (middles > 0) & (middles < 1)
    ends = shares[:1] if middles[0] == 0 else np.zeros(1), shares[-1:]
    knots = np.concatenate([[0.0], middles[inside], [1.0]])
    return Calibration(knots, _rising(np.concatenate([ends[0], shares[inside], ends[1]])), "isotonic")


def _rising(probabilities) -> np.ndarray:
    """Return probabilities above 0 that rise, if by nearly nothing: 0 would be no entry of a sparse matrix."""
    steps = np.linspace(1e-9, 2e-9, probabilities.size)
    return np.maximum.accumulate(probabilities) * (1 - 2e-9) + steps


def _beta(scores, right) -> Calibration:
    from sklearn.linear_model import LogisticRegression

    def features(scores):
        scores = np.clip(scores, SMALLEST, 1 - SMALLEST)
        return np.stack([np.log(scores), -np.log1p(-scores)], axis=1)

    knots = np.unique(np.concatenate([[0.0, 1.0], np.geomspace(SMALLEST, 1 - SMALLEST, BETA_KNOTS)]))
    if right.all() or not right.any():
        share = (right.sum() + 0.5) / (right.size + 1)
        return Calibration(knots, _rising(np.full(knots.size, share)), "beta")
    at = np.arange(0, scores.size, max(1, scores.size // GROUPS))  # groups of about equal scores
    order = np.argsort(scores, kind="stable")
    n, hits = np.diff(np.append(at, scores.size)), np.add.reduceat(right[order], at)
    middles = np.add.reduceat(scores[order], at) / n
    points, is_right, weights = np.tile(middles, 2), np.repeat([True, False], n.size), np.concatenate([hits, n - hits])
    used = [0, 1]
    while True:  # a negative coefficient would make the curve fall: its feature is left out, as published
        model = LogisticRegression(C=1e3, max_iter=1000).fit(features(points)[:, used], is_right, weights)
        if len(used) == 1 or (model.coef_ >= 0).all():
            break
        used.pop(int(model.coef_[0].argmin()))
    probabilities = model.predict_proba(features(knots)[:, used])[:, 1]
    return Calibration(knots, _rising(probabilities), "beta")


METHODS = {"isotonic": _isotonic, "beta": _beta}
