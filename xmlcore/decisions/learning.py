"""Learn rules from held-out rows, and choose the best sets of labels for many rows together."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.decisions import CERTAIN, COVERAGE, LINEAR, MACRO_F1, improve_sets, take_by_gains
from xmlcore.arrays import chosen, read_only
from xmlcore.decisions.calibrating import calibration_of
from xmlcore.decisions.goals import Gains, Goal, best_gain_of, gains_of, propensities, read_goal
from xmlcore.decisions.held_out import HeldOut, by_probability, held_out
from xmlcore.first_use import pd
from xmlcore.metrics.measures import share
from xmlcore.models.rules import CANDIDATES, Calibration, Rule, innermost
from xmlcore.typing import ArrayLike, DataFrame, Labels, Matrix, Ranker
from xmlcore.validation import check_features, check_number, csr_parts

# Gains of labels with few rows are uncertain: PRIOR rows are added to those that each label is expected to have, and
# for the gains of macro F1 and macro precision another PRIOR rows of mean value.
PRIOR = 2.0
TOLERANCE = 1e-6  # Sets are improved until a pass over all rows adds less than this to the measure.
MOST_PASSES = 100
MOST_PARTS = 12  # of a mixture
FREE_BY_CUT = ("micro F1", "samples F1")
OF_CUTS = ("micro P", "micro R", "micro F1", "samples F1")


def learn(
    model: Ranker,
    X: Matrix,
    Y: Labels,
    measure: str | Mapping[str, float] = "micro F1",
    *,
    at_most: bool = False,
    least: Mapping[str, float] | None = None,
    inv_ps: ArrayLike | None = None,
    n_candidates: int = CANDIDATES,
) -> Rule:
    """Learn, from held-out rows, a rule that decides which labels of a row are predicted: docs/decisions.md.

    Parameters
    ----------
    model : Ranker
        A fitted model, whose scores are in [0, 1].
    X, Y : rows and labels, as the model's ``fit`` takes them
        Rows of neither the training nor the final test. In lists, labels that the model does not know count as never
        found; measures that are means over labels leave them out.
    measure : str or dict of str to float
        With a fixed number k of labels: "P@k", "PSP@k", "macro F1@k", "macro P@k", "macro R@k", "balanced accuracy@k"
        or "coverage@k", such as "macro F1@3". With as many labels as are best: "micro F1", "samples F1", "macro F1",
        "balanced accuracy"; and with ``least`` "micro P" or "micro R". A dict of weights joins measures of the same k:
        ``{"P@3": 0.5, "macro F1@3": 0.5}``. :data:`xmlcore.metrics.MEASURES` describes them.
    at_most : bool
        k is the largest number of labels, not the number: only labels that improve the measure are predicted.
    least : dict of str to float, optional
        A bound, in [0, 1], for the opposite: ``learn(model, X, Y, "micro R", least={"micro P": 0.9})`` finds as many
        of the true labels as it can while 90 % of the predicted ones are right on the held-out rows; a ValueError says
        that it cannot be reached. For a bound that also holds for other rows see :func:`promise`.
    inv_ps : array-like, shape (L,), optional
        Weights of labels for PSP@k; by default those of the held-out rows.
    n_candidates : int
        Only so many labels of a row, the best by score, can be predicted.

    Returns
    -------
    Rule
        Its ``about`` has the measure, the number of held-out rows, and its value there: for measures by gains of labels
        that of the rules of each half of the rows on the other half. As "plain" it has the value of the k best labels
        by score; without k, of the best common threshold for macro F1 and balanced accuracy, and of ``predict`` without
        a rule for the others. A rule by gains that is no better than that is not taken.
    """
    goal = None if least is not None else read_goal(measure)
    if at_most and not (goal and goal.k):
        raise ValueError(f"at_most goes with a measure of k labels, such as 'macro F1@3', not with {measure!r:.60}")
    held = held_out(model, X, Y, n_candidates)
    calibration = calibration_of(held)
    if goal is None:
        return _by_cut(held, calibration, measure, least)
    return learnt(held, calibration, goal, inv_ps, at_most)


def learnt(held: HeldOut, calibration: Calibration, goal: Goal, inv_ps=None, at_most: bool = False) -> Rule:
    """Return the rule of :func:`learn` for a goal, from rows whose candidates are known."""
    if goal.name in FREE_BY_CUT:
        return _by_cut(held, calibration, goal.name, {})
    n_rows = held.Y.shape[0]
    inv_ps = propensities(goal, inv_ps, held.Y.shape[1], held.Y)
    fill = goal.k > 0 and not at_most

    def both(part, calibration):
        """Return the rule and the plain one that some rows give."""
        P = part.probabilities(calibration)
        best = 1.0 if inv_ps is None else best_gain_of(part.Y, inv_ps, goal.k)
        inner = innermost(part.model)
        expected = inner.label_counts_ * (P.shape[0] / inner.n_rows_seen_)  # as many as of the training rows
        gains = gains_of(goal, part.Y.shape[0], expected + PRIOR, inv_ps, best)
        plain = by_probability(part, calibration, goal.k, fill)
        if goal.kind == COVERAGE:  # a mixture of rules is best
            return _mixed(plain, P, gains), plain
        slopes, offsets = _at_point(gains, *improved(P, goal, gains, fill)[1])
        rule = replace(plain, slopes=slopes[None], offsets=offsets[None])
        if not goal.k:
            tried = np.unique(np.quantile(P.data, np.linspace(0, 1, 101)))
            cut = max(tried, key=lambda cut: value_of(goal, part, P.data > cut))
            plain = replace(plain, offsets=plain.offsets - cut)
        return rule, plain

    # Which of the two is taken, and what they are said to be worth, is seen on halves of the rows that did not decide.
    order = np.random.default_rng(0).permutation(n_rows)
    halves = [held.part(np.sort(rows)) for rows in (order[: n_rows // 2], order[n_rows // 2 :])]
    halves = halves if all(half.Y.nnz and half.scores.nnz for half in halves) else [held, held]
    values = np.mean([
        [value_of(goal, other, each.take(other.probabilities(each.calibration)), inv_ps)
         for each in both(half, calibration_of(half))] for half, other in (halves, halves[::-1])
    ], axis=0)  # fmt: skip
    taken = both(held, calibration)[0 if values[0] > values[1] else 1]
    return _told(taken, goal.name, held, values.max(), values[1])


def cuts(model: Ranker, X: Matrix, Y: Labels, *, n_candidates: int = CANDIDATES) -> "DataFrame":
    """Return the measures of each threshold of the calibrated probabilities on held-out rows.

    Parameters
    ----------
    model, X, Y, n_candidates : as for :func:`learn`

    Returns
    -------
    DataFrame
        A line for each possible threshold, from large to small: ``cut``, "micro P", "micro R",
        "micro F1", "samples F1" (of a row without true labels 0) and ``labels``, the mean number of labels of a row.
    """
    held = held_out(model, X, Y, n_candidates)
    return cuts_of(held, held.probabilities(calibration_of(held)).data)


def cuts_of(held: HeldOut, probabilities: np.ndarray) -> "DataFrame":
    """Return the table of :func:`cuts`."""
    order = np.argsort(-probabilities, kind="stable")
    p, right = probabilities[order], held.right[order]
    true = held.true
    n_rows, n = held.Y.shape[0], np.arange(1, p.size + 1)
    hits = np.cumsum(right)
    by_row, place = held.ranked(probabilities)
    hits_of_row = np.cumsum(held.right[by_row])
    hits_of_row -= np.concatenate([[0.0], hits_of_row])[held.scores.indptr[:-1]][held.row]
    of_row = share(2 * hits_of_row, place + 1 + true[held.row])
    grown = np.empty(p.size)
    grown[by_row] = of_row - np.where(place > 0, np.concatenate([[0.0], of_row[:-1]]), 0.0)
    last = np.append(p[1:] < p[:-1], True)  # equal probabilities are cut together
    return pd.DataFrame({
        "cut": p,
        "micro P": hits / n,
        "micro R": hits / true.sum(),
        "micro F1": 2 * hits / (n + true.sum()),
        "samples F1": np.cumsum(grown[order]) / n_rows,
        "labels": n / n_rows,
    })[last].reset_index(drop=True)  # fmt: skip


def best_sets(
    probabilities: sp.csr_array,
    measure: str | Mapping[str, float],
    *,
    at_most: bool = False,
    inv_ps: ArrayLike | None = None,
) -> sp.csr_array:
    """Choose labels for many rows together, so that the expected measure over these rows is best.

    The expected measure takes the probabilities for true. By macro recall and balanced accuracy it can end below the k
    most probable labels: for these, :func:`learn`.

    Parameters
    ----------
    probabilities : csr_array, shape (n, L)
        Calibrated probabilities of the labels that can be predicted. Missing entries count as 0.
    measure, at_most : as for :func:`learn`
        "micro F1" and "samples F1" are no such measures.
    inv_ps : array-like, shape (L,)
        Needed for PSP@k.

    Returns
    -------
    csr_array of bool, shape (n, L)
        The labels of each row: block coordinate ascent from the most probable ones has ended, when no row's set can be
        changed for the better alone (Schultheis et al. 2023, algorithm 1).
    """
    P = check_features(probabilities, name="probabilities", dtype=np.float64, zeros=True)
    if not ((P.data >= 0) & (P.data <= 1)).all():
        raise ValueError("probabilities has values that are not between 0 and 1")
    goal = read_goal(measure)
    if not goal.k and {*goal.parts} & {*FREE_BY_CUT}:
        raise ValueError(f"{goal.name} needs only a threshold, not sets for many rows: use learn")
    inv_ps = propensities(goal, inv_ps, P.shape[1])
    expected = np.asarray(P.sum(axis=0)).ravel()
    gain = 1.0 if inv_ps is None else float((P @ inv_ps).sum()) or 1.0
    gains = gains_of(goal, P.shape[0], expected, inv_ps, gain)
    taken = improved(P, goal, gains, not at_most and goal.k > 0)[0]
    return chosen(P, taken).astype(bool)


def improved(P: sp.csr_array, goal: Goal, gains: Gains, fill: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the marks of the best sets for a goal, and the sums of the kernel ``improve_sets`` over them."""
    ptr, labels, values = csr_parts(P)
    L, rooms = P.shape[1], np.empty(max(1, int(np.diff(ptr).max(initial=0))))
    taken = np.zeros(labels.size, bool)
    plain = read_only((np.ones((1, L)), np.full((1, L), 0.0 if goal.k else -0.5), np.ones(1)))
    take_by_gains(ptr, labels, values, *plain, goal.k, fill or goal.k > 0, rooms, taken)
    sums, before = _sums(P, taken), -np.inf
    for _ in range(MOST_PASSES if gains.kind != LINEAR else 1):
        improve_sets(ptr, labels, values, *gains, goal.k, fill, sums, rooms, taken)
        now = _expected(gains, *sums)
        if now - before < TOLERANCE:
            break
        before = now
    return taken, sums


def _sums(P, taken) -> np.ndarray:
    labels, p = P.indices[taken], P.data[taken]
    parts = p, np.ones(p.size), np.log(np.maximum(1 - p, CERTAIN))
    return np.stack([np.bincount(labels, part, minlength=P.shape[1]) for part in parts])


def _mixed(rule: Rule, P: sp.csr_array, gains: Gains) -> Rule:
    """Return the mixture of rules, from a first one on, that is best for the expected measure (Frank and Wolfe)."""
    from scipy.optimize import minimize_scalar

    # The parts of a mixture count as if they decided for fractions of each row.
    points, shares, now = [(rule.slopes, rule.offsets)], np.ones(1), _sums(P, rule.take(P))
    for _ in range(MOST_PARTS - 1):
        point = tuple(part[None] for part in _at_point(gains, *now))
        there = _sums(P, replace(rule, slopes=point[0], offsets=point[1]).take(P))
        line = minimize_scalar(lambda step: -_expected(gains, *(now + step * (there - now))), bounds=(0, 1))  # noqa: B023
        if -line.fun - _expected(gains, *now) < TOLERANCE:
            break
        now = now + line.x * (there - now)
        points.append(point)
        shares = np.append((1 - line.x) * shares, line.x)
    slopes, offsets = (np.concatenate(parts) for parts in zip(*points))
    return replace(rule, slopes=slopes, offsets=offsets, shares=tuple((shares / shares.sum()).tolist()))


def _expected(gains, hits, predicted, missed) -> float:
    slopes, offsets, true = gains.of_labels
    linear = slopes @ hits + offsets @ predicted
    if gains.kind == COVERAGE:
        return linear + gains.scale * float((1 - np.exp(missed)).sum())
    whole = predicted + true if gains.kind == MACRO_F1 else predicted
    return linear + gains.scale * float(share((2 if gains.kind == MACRO_F1 else 1) * hits, whole).sum())


def _at_point(gains, hits, predicted, missed) -> tuple[np.ndarray, np.ndarray]:
    """Return slopes and offsets: how much the measure grows with each label's hits and predictions."""
    slopes, offsets, true = gains.of_labels
    if gains.kind == LINEAR:
        return slopes.copy(), offsets.copy()
    if gains.kind == COVERAGE:
        return slopes + gains.scale * np.exp(missed), offsets.copy()
    factor, whole = (2.0, predicted + true) if gains.kind == MACRO_F1 else (1.0, predicted)
    mean = share(factor * hits, whole)[whole > 0.5].mean() if (whole > 0.5).any() else 0.0
    value = (factor * hits + PRIOR * mean) / (whole + PRIOR)
    more = gains.scale * factor / (whole + PRIOR)
    return slopes + more, offsets - more * value / factor


def plain_marks(goal: Goal, held: HeldOut) -> np.ndarray:
    """Return which entries are predicted without a rule: the k best of each row, or those that ``predict`` takes."""
    return held.place < goal.k if goal.k else held.scores.data >= innermost(held.model).threshold_


def value_of(goal: Goal, held: HeldOut, taken: np.ndarray, inv_ps=None) -> float:
    """Return the value of a goal for predicted entries of rows whose labels are known."""
    n_rows, L = held.Y.shape
    labels, right = held.scores.indices[taken], held.right[taken]
    hits, predicted = np.bincount(labels, right, minlength=L), np.bincount(labels, minlength=L)
    true = np.bincount(held.Y.indices, minlength=L)
    there = true > 0
    if goal.name == "micro F1":
        return 2 * hits.sum() / (predicted.sum() + held.true.sum())
    if goal.name == "samples F1":
        of_row = [np.bincount(held.row[taken], marks, minlength=n_rows) for marks in (right, np.ones(right.size))]
        return float(share(2 * of_row[0], of_row[1] + held.true).mean())

    def of(name):
        if name == "P":
            return hits.sum() / (goal.k * n_rows)
        if name == "PSP":
            return float(inv_ps @ hits) / best_gain_of(held.Y, inv_ps, goal.k)
        if name == "coverage":
            return (hits[there] > 0).mean()
        recall = share(hits, true)
        each = {
            "macro F1": lambda: share(2 * hits, predicted + true),
            "macro P": lambda: share(hits, predicted),
            "macro R": lambda: recall,
            "balanced accuracy": lambda: 0.5 * (recall + 1 - share(predicted - hits, n_rows - true)),
        }[name]()
        return each[there].mean()

    return float(sum(weight * of(name) for name, weight in goal.parts.items()))


def _by_cut(held, calibration, measure, least) -> Rule:
    table = cuts_of(held, held.probabilities(calibration).data)
    if measure not in OF_CUTS:
        raise ValueError(f"{measure!r:.60} goes with no bound: known are {', '.join(OF_CUTS)}")
    if not isinstance(least, Mapping):
        raise TypeError(f"least is {least!r:.60}: give a dict of bounds, such as {{'micro P': 0.9}}")
    name, possible = measure, table
    for bounded, bound in least.items():
        if bounded not in OF_CUTS:
            raise ValueError(f"least has {bounded!r:.60}: known are {', '.join(OF_CUTS)}")
        bound = check_number(bound, f"least[{bounded!r:.200}]", 0.0, 1.0)
        name += f" with {bounded} ≥ {bound:g}"
        most = possible[bounded].max() if len(possible) else 0.0
        possible = possible[possible[bounded] >= bound]
        if not len(possible):
            raise ValueError(f"{bounded} cannot be {bound:g} on these rows: with any cut it is at most {most:.3f}")
    line = possible.loc[possible[measure].idxmax()]
    by_score = cuts_of(held, held.scores.data)
    predicted = by_score[by_score["cut"] >= innermost(held.model).threshold_]
    rule = by_probability(held, calibration, cut=line["cut"])
    plain = float(predicted[measure].iloc[-1]) if len(predicted) else 0.0
    return _told(rule, name, held, float(line[measure]), plain)


def _told(rule, measure, held, value, plain) -> Rule:
    about = {"measure": measure, "rows": held.Y.shape[0], "value": float(value), "plain": float(plain)}
    return replace(rule, about=about)
