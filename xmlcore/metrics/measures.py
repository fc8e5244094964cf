"""Every measure, described once: its name, what it means, what it is computed from, and where it is taken.

Functions, tables, figures, LaTeX, the command line and the pages read :data:`MEASURES` and :data:`SCORE_MEASURES`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from xmlcore.hierarchy import Hierarchy
from xmlcore.metrics import bipartition
from xmlcore.validation import check_is

MEAN, QUOTIENT, LABELS, SCORES = "mean over rows", "quotient of sums over rows", "mean over labels", "scores"
ALWAYS, IN_RUNS, ON_DEMAND = "always", "in runs", "on demand"


@dataclass(frozen=True)
class Measure:
    """A measure of predictions."""

    name: str  # "P@k", where k is a number of first labels, or "one-error" without a k
    kind: str  # MEAN or QUOTIENT over rows, LABELS (a mean over labels), SCORES (of all labels)
    meaning: str  # what it says, in words that follow a colon
    # MEAN: ``(rows, k)`` to a number of each row, with ``rows`` of :class:`xmlcore.metrics._row_counts.RowCounts`.
    # QUOTIENT: to two of each row, which are added up and divided. LABELS: ``(right, predicted, true)``, counts of each
    # label of shape (labels, b), to b values. SCORES: ``(Y_true, scores)`` to the value.
    compute: Callable[..., Any]
    smaller_is_better: bool = False
    # "inv_ps" (weights of labels), "n_labels" (their number), "hierarchy" (what is above them), "decisions" of a model
    needs: str = ""
    of_some_labels: bool = False  # whether it can be taken over some labels alone, such as tail labels
    taken: str = ON_DEMAND  # or ALWAYS, where nothing else is asked for; or IN_RUNS, for every result

    @property
    def explained(self) -> str:
        """The meaning, and that smaller is better if it is."""
        return self.meaning + ("; smaller is better" if self.smaller_is_better else "")


def share(part, whole, otherwise=0.0):
    """Return part / whole as float64; ``otherwise`` where the whole is 0."""
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return np.divide(part, whole, out=np.full(np.broadcast_shapes(part.shape, whole.shape), otherwise), where=whole > 0)


def discounts(k):
    """Return 1 / log2(i + 1) at the places i = 1..k, and their sums: the DCG of 0, 1, ..., k right labels in front."""
    of_places = 1 / np.log2(np.arange(k) + 2)
    return of_places, np.concatenate([[0.0], np.cumsum(of_places)])


def _ideal(rows, k):
    return discounts(k)[1][np.minimum(rows.n_true, k).astype(np.int64)]


def _gains(rows, k, of_places=None):
    """Return the weights that each row gains, and the most that it can gain."""
    of_places = np.ones(k) if of_places is None else of_places
    return rows.gains[:, :k] @ of_places, rows.best_gains[:, :k] @ of_places


def _is_whole_set(rows, k):
    right, predicted, true = rows.counts(k)
    return ((right == true) & (predicted == true)).astype(np.float64)


def _wrong_pairs(rows, k):
    if rows.n_labels is None:
        raise ValueError("Hamming loss@k needs the number of labels, which lists do not tell: pass n_labels")
    right, predicted, true = rows.counts(k)
    return (true + predicted - 2 * right) / rows.n_labels


# Precision, recall and F1: what they mean, and what is divided by what, of right, predicted and true.
_OF_COUNTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "P": ("share of the predictions that are right", lambda right, predicted, true: (right, predicted)),
    "R": ("share of the true labels that are predicted", lambda right, predicted, true: (right, true)),
    "F1": ("harmonic mean of precision and recall (lists of fewer than k labels have fewer wrong ones)",
           lambda right, predicted, true: (2 * right, true + predicted)),
}  # fmt: skip
AVERAGES = {
    "micro": "over all pairs of a row and a label",
    "macro": "of each label with a test row, then their mean: a rare label counts as much as a frequent one",
    "samples": "of each row, then their mean",
    "weighted": "of each label, then their mean weighted by the test rows that have it",
}


def _average(average, of) -> Measure:
    meaning, numbers = _OF_COUNTS[of]

    def of_labels(right, predicted, true):
        values = share(*numbers(right, predicted, true))
        weights = true > 0 if average == "macro" else true
        return share((values * weights).sum(axis=0), weights.sum(axis=0), np.nan)

    kind, compute = {
        "micro": (QUOTIENT, lambda rows, k: numbers(*rows.counts(k))),
        "samples": (MEAN, lambda rows, k: share(*numbers(*rows.counts(k)))),
    }.get(average, (LABELS, of_labels))
    taken = IN_RUNS if average == "macro" or (average, of) == ("micro", "F1") else ON_DEMAND
    return Measure(
        f"{average} {of}@k", kind, f"{meaning}, {AVERAGES[average]}", compute,
        of_some_labels=average != "samples", taken=taken,
    )  # fmt: skip


def _hierarchical(of) -> Measure:
    meaning, numbers = _OF_COUNTS[of]
    return Measure(
        f"hierarchical {of}@k", QUOTIENT, f"{meaning}, over all rows; a label stands for itself and all above it",
        lambda rows, k: numbers(*rows.counts_above(k)), needs="hierarchy", taken=IN_RUNS if of == "F1" else ON_DEMAND,
    )  # fmt: skip


def _of_means(right, predicted, true):
    """Return the harmonic mean of macro precision and macro recall."""
    occurs = true > 0
    P, R = (share((share(right, of) * occurs).sum(axis=0), occurs.sum(axis=0), np.nan) for of in (predicted, true))
    return np.where(np.isnan(P), np.nan, share(2 * P * R, P + R))


_ALL = (
    Measure("P@k", MEAN, "share of the k predicted labels that are right",
            lambda rows, k: rows.counts(k)[0] / k, taken=ALWAYS),
    Measure("R@k", MEAN, "share of a row’s true labels among the k predicted",
            lambda rows, k: share(rows.counts(k)[0], rows.n_true), taken=ALWAYS),
    Measure("nDCG@k", MEAN, "right labels count more the earlier they come; 100\u00a0% is the best possible order",
            lambda rows, k: share(rows.is_hit[:, :k] @ discounts(k)[0], _ideal(rows, k)), taken=ALWAYS),
    Measure("PSP@k", QUOTIENT, "propensity-scored P@k: rare labels count more; 100\u00a0% is the best possible value",
            _gains, needs="inv_ps", taken=ALWAYS),
    Measure("PSR@k", QUOTIENT, "PSP@k in which a row counts less the more labels it has",
            lambda rows, k: tuple(share(gain, rows.n_true) for gain in _gains(rows, k)), needs="inv_ps"),
    Measure("PSDCG@k", QUOTIENT, "PSP@k in which the first places count more",
            lambda rows, k: _gains(rows, k, discounts(k)[0]), needs="inv_ps"),
    Measure("PSnDCG@k", QUOTIENT, "nDCG@k in which rare labels count more",
            lambda rows, k: tuple(share(gain, _ideal(rows, k)) for gain in _gains(rows, k, discounts(k)[0])),
            needs="inv_ps", taken=ALWAYS),
    Measure("abandonment@k", MEAN, "share of the rows without a right label among the k predicted",
            lambda rows, k: (rows.counts(k)[0] == 0).astype(np.float64), smaller_is_better=True, taken=IN_RUNS),
    Measure("coverage@k", LABELS, "share of the labels of test rows that are predicted correctly at least once",
            lambda right, predicted, true: share((right > 0).sum(axis=0), (true > 0).sum(axis=0), np.nan),
            of_some_labels=True, taken=IN_RUNS),
    Measure("subset accuracy@k", MEAN, "share of the rows whose k predicted labels are exactly the true ones",
            _is_whole_set),
    Measure("Hamming loss@k", MEAN, "share of all pairs of a row and a label that are wrong",
            _wrong_pairs, smaller_is_better=True, needs="n_labels"),
    Measure("F1 of means@k", LABELS, "harmonic mean of macro P and macro R; of the first label of rows with one label, "
            "the macro F1 of the paper on double sampling", _of_means, of_some_labels=True, taken=IN_RUNS),
    *(_average(average, of) for average in ("samples", "micro", "macro", "weighted") for of in _OF_COUNTS),
    *map(_hierarchical, _OF_COUNTS),
)  # fmt: skip
# Measures of rankings by name, in the order of the documentation.
MEASURES = {measure.name: measure for measure in _ALL}

# Measures of scores for all labels, by which selections of features are compared. Trees give many labels equal scores.
AT_RANDOM = "; ties count as if broken at random"
SCORE_MEASURES = {
    measure.name: measure
    for measure in (
        Measure("Hamming loss", SCORES, "share of all decisions, row by row and label by label, that are wrong",
                bipartition.wrong_decisions, smaller_is_better=True, needs="decisions"),
        Measure("one-error", SCORES, "share of rows whose first label is wrong" + AT_RANDOM,
                lambda Y, scores: bipartition.one_error(Y, scores, ties="mean"), smaller_is_better=True),
        Measure("ranking loss", SCORES, "share of pairs of a true and another label in the wrong order" + AT_RANDOM,
                lambda Y, scores: bipartition.ranking_loss(Y, scores, ties="mean"), smaller_is_better=True),
        Measure("average precision", SCORES,
                "for each true label, the share of true labels among those ranked at or above it" + AT_RANDOM,
                lambda Y, scores: bipartition.average_precision(Y, scores, ties="mean")),
        Measure("micro-AUC", SCORES,
                "chance that a true pair of row and label has a larger score than another pair" + AT_RANDOM,
                bipartition.micro_auc),
    )
}  # fmt: skip


def _taken(taken) -> tuple[str, ...]:
    return tuple(measure.name for measure in _ALL if measure.taken == taken)


USUAL_MEASURES, MORE_MEASURES = _taken(ALWAYS), _taken(IN_RUNS)
UNWEIGHTED = tuple(name for name in USUAL_MEASURES if not MEASURES[name].needs)


def measurable(names: Iterable[str], hierarchy: Hierarchy | None) -> list[str]:
    """Return the measures that can be taken: those of hierarchies only where there is one."""
    return [name for name in names if hierarchy is not None or MEASURES[name].needs != "hierarchy"]


def is_smaller_better(name: str) -> bool:
    """Return whether smaller values of a measure are better."""
    check_is(name, str, "name", "the name of a measure")
    return any(table[name].smaller_is_better for table in (MEASURES, SCORE_MEASURES) if name in table)
