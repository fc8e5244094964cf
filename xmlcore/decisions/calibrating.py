"""Calibration: from scores to probabilities, learnt from held-out rows; and which rows to leave to people."""

import numpy as np

from xmlcore.decisions.held_out import HeldOut, held_out, held_out_parts
from xmlcore.first_use import pd
from xmlcore.metrics.calibration import wilson
from xmlcore.metrics.statistics import beta_calibrated, beta_curve
from xmlcore.models.rules import CANDIDATES, PLACES, Calibration, innermost
from xmlcore.typing import DataFrame, Labels, Matrix, Ranker
from xmlcore.validation import check_count

ROWS = 5000  # more held-out rows change the error by less than its noise
FULL = 300  # so many of these rows have all candidates, the others the FEW first ones: no more changes the error
# A model that was learnt from a sample ranks a row as slowly as it learns from an example: one row counts for so many
# examples, but FEWEST rows, which halve the error.
EXAMPLES, FEWEST = 6, 500
FEW = PLACES[3]
END = 14.0  # log odds: scores of 1e-6 and less, or 1 - 1e-6 and more, count as alike
BINS = 700  # of log odds, to which curves are fitted
BETA_KNOTS = 200
SHARES = 50  # of rows left to people, at which the precision of the others is told


def calibrate(model: Ranker, X: Matrix, Y: Labels, *, n_candidates: int = CANDIDATES) -> Calibration:
    """Learn to turn the scores of a model into probabilities.

    The share of right labels is found as a function of the score and the place in the row's ranking: docs/decisions.md.

    Parameters
    ----------
    model : Ranker
        A fitted model, whose scores are in [0, 1]; others are a ValueError, as are rows without any label.
    X, Y : rows and labels, as the model's ``fit`` takes them
        Rows that the model was not fitted to: scores of training rows are too confident. At most 5,000 are used;
        with :class:`xmlcore.DoubleSampling`, of more than 500, a sixth of its sampled examples.
    n_candidates : int
        How many labels of each row count; of more than 300 rows, the first five of the others.

    Returns
    -------
    Calibration
        A callable from the scores of rankings, such as ``predict_topk`` returns, to probabilities:
        ``calibration(ranking.scores)``. Rankings stay as they are.
    """
    most = check_count(n_candidates, "n_candidates")
    examples = getattr(innermost(model), "sampled_size_", None)
    rows = ROWS if examples is None else min(ROWS, max(FEWEST, int(examples.sum()) // EXAMPLES))
    return calibration_of(*held_out_parts(model, X, Y, [(FULL, most), (rows - FULL, min(FEW, most))]))


def abstention(model: Ranker, X: Matrix, Y: Labels, k: int = 1, *, n_candidates: int = CANDIDATES) -> "DataFrame":
    """Return how precise the first k labels are when the least certain rows are left to people.

    Parameters
    ----------
    model, X, Y : as for :func:`calibrate`; all rows are used
    k, n_candidates : int

    Returns
    -------
    DataFrame
        A line for each share of rows left to people, from 0: ``by hand``; ``expected``, the smallest expected precision
        of a row that is kept, by which later rows are told apart; ``P@k`` of the rows that are kept, with ``low`` and
        ``high``, Wilson's 95 % interval (of k labels of n rows as if of n rows); ``held``, that are kept.
    """
    k, n_candidates = check_count(k, "k"), check_count(n_candidates, "n_candidates")
    held = held_out(model, X, Y, max(k, n_candidates))
    p = held.probabilities(calibration_of(held)).data
    n, (order, place) = held.Y.shape[0], held.ranked(p)
    first = order[place < k]
    hits, expected = (np.bincount(held.row[first], part[first], minlength=n) / k for part in (held.right, p))
    surest = np.argsort(-expected, kind="stable")
    kept = np.unique(np.maximum(1, np.round(n * (1 - np.arange(SHARES) / SHARES)).astype(int)))[::-1]
    precision = np.cumsum(hits[surest])[kept - 1] / kept
    low, high = wilson(precision, kept)
    columns = {"by hand": 1 - kept / n, "expected": expected[surest][kept - 1], f"P@{k}": precision}
    return pd.DataFrame(columns | {"low": low, "high": high, "rows": kept})


def calibration_of(*parts: HeldOut) -> Calibration:
    """Return the calibration of held-out rows: for each curve the method that predicts half of the rows best."""
    n, hits, sums = sum(map(_sums, parts))
    curves, methods = [], []
    for curve in range(len(PLACES)):
        if curve == 0 or n[curve].any():  # else those of the places before
            some = n[curve].any(axis=0)
            middles = sums[curve].sum(axis=0)[some] / n[curve].sum(axis=0)[some]
            method, made = _best(middles, n[curve][:, some], hits[curve][:, some])
        curves.append(made)
        methods.append(method)
    knots = np.unique(np.concatenate([made[0] for made in curves]))
    # They rise, if by nearly nothing, from above 0, which would be no entry of a sparse matrix.
    steps = np.linspace(1e-9, 2e-9, knots.size)
    rising = (np.maximum.accumulate(np.interp(knots, *made)) for made in curves)
    probabilities = np.stack([curve * (1 - 2e-9) + steps for curve in rising])
    return Calibration(knots, probabilities, ", ".join(methods))


def _sums(held) -> np.ndarray:
    """Return how many labels, right ones, and scores in sum there are of each curve, half of the rows and bin."""
    scores = held.scores.data
    bad = np.flatnonzero(~((scores >= 0) & (scores <= 1)))
    if bad.size:
        raise ValueError(
            f"the score {scores[bad[0]]:g} is not between 0 and 1 ({bad.size:,} are not): "
            "calibration needs a model with such scores"
        )
    half = np.random.default_rng(0).permutation(held.Y.shape[0]) % 2
    with np.errstate(divide="ignore"):
        odds = np.clip(np.log(scores) - np.log1p(-scores), -END, END)
    curve = np.searchsorted(PLACES, held.place, side="right") - 1
    cell = (curve * 2 + half[held.row]) * BINS + (odds + END) * ((BINS - 1) / (2 * END))
    cell, n_cells = cell.astype(np.int64), len(PLACES) * 2 * BINS
    return np.stack([np.bincount(cell, of, n_cells).reshape(-1, 2, BINS) for of in (None, held.right, scores)])


def _best(scores, n, hits):
    surprise = {}
    for method, fit in METHODS.items():
        surprise[method] = 0.0
        for half in range(2):
            if n[half].any() and n[1 - half].any():
                p = np.interp(scores, *fit(scores, n[half], hits[half])).clip(1e-6, 1 - 1e-6)
                right = hits[1 - half]
                surprise[method] -= right @ np.log(p) + (n[1 - half] - right) @ np.log1p(-p)
    method = min(surprise, key=surprise.__getitem__)
    return method, METHODS[method](scores, n.sum(axis=0), hits.sum(axis=0))


def _isotonic(scores, n, hits):
    from scipy.optimize import isotonic_regression

    some = n > 0
    scores, n, hits = scores[some], n[some], hits[some]
    blocks = isotonic_regression(hits / n, weights=n).blocks[:-1]
    n_block, hits_block = np.add.reduceat(n, blocks), np.add.reduceat(hits, blocks)
    middles = np.add.reduceat(scores * n, blocks) / n_block
    shares = (hits_block + 0.5) / (n_block + 1)  # never sure after a few labels
    shares = isotonic_regression(shares, weights=n_block).x  # small blocks were moved the most
    inside = (middles > 0) & (middles < 1)
    ends = shares[:1] if middles[0] == 0 else np.zeros(1), shares[-1:]
    return np.concatenate([[0.0], middles[inside], [1.0]]), np.concatenate([ends[0], shares[inside], ends[1]])


def _beta(scores, n, hits):
    total, end = n.sum(), np.exp(-END)
    curve = beta_curve(scores, hits + 0.5 * n / total, n + n / total, end)  # never sure after a few labels
    knots = np.concatenate([[0.0], 1 / (1 + np.exp(-np.linspace(-END, END, BETA_KNOTS))), [1.0]])
    return knots, beta_calibrated(knots, curve, end)


METHODS = {"isotonic": _isotonic, "beta": _beta}
