"""What every measure of a ranking is computed from: numbers of each row, and of each row and label.

All measures here are functions of sums over rows. A resample of the rows changes only how often each row counts in
these sums, so resampling needs the numbers once, and then a matrix product for each block of resamples.
"""

import functools
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ranking import mark_hits
from xmlcore.metrics._inputs import read
from xmlcore.validation import check_count

MEAN, QUOTIENT, LABELS = "mean over rows", "quotient of sums over rows", "mean over labels"
# How each measure is computed from sums over rows, in the order of the documentation.
KIND = {
    "P@k": MEAN,
    "R@k": MEAN,
    "nDCG@k": MEAN,
    "PSP@k": QUOTIENT,
    "PSR@k": QUOTIENT,
    "PSDCG@k": QUOTIENT,
    "PSnDCG@k": QUOTIENT,
    "abandonment@k": MEAN,
    "subset accuracy@k": MEAN,
    "Hamming loss@k": MEAN,
    "samples P@k": MEAN,
    "samples R@k": MEAN,
    "samples F1@k": MEAN,
    "micro P@k": QUOTIENT,
    "micro R@k": QUOTIENT,
    "micro F1@k": QUOTIENT,
    "macro P@k": LABELS,
    "macro R@k": LABELS,
    "macro F1@k": LABELS,
    "weighted P@k": LABELS,
    "weighted R@k": LABELS,
    "weighted F1@k": LABELS,
    "coverage@k": LABELS,
}
WEIGHTED = ("PSP@k", "PSR@k", "PSDCG@k", "PSnDCG@k")  # need inv_ps
SMALLER_IS_BETTER = ("abandonment@k", "Hamming loss@k")
OF_PAIRS = ("micro", "macro", "weighted", "coverage")  # first words of measures that can be taken over some labels


class Item(NamedTuple):
    """A measure at a place: ``measure`` is a key of :data:`KIND`, or a function that returns the value of each row."""

    measure: object
    k: int

    @property
    def name(self):
        """Name of the measure."""
        return self.measure if isinstance(self.measure, str) else getattr(self.measure, "__name__", "the measure")

    @property
    def kind(self):
        """How the measure is computed from sums over rows."""
        return KIND[self.measure] if isinstance(self.measure, str) else MEAN


def check_item(measure, k, inv_ps=None, labels=None) -> Item:
    """Return a measure at k as an :class:`Item`; raise ValueError or TypeError if there is no such measure."""
    k = check_count(k, "k")
    if callable(measure):
        if labels is not None:
            raise ValueError("labels goes with the measures of this package: a function of your own can leave them out")
        return Item(measure, k)
    if not isinstance(measure, str) or measure not in KIND:
        raise ValueError(f"measure is {measure!r}: it must be a function or one of {', '.join(KIND)}")
    if measure in WEIGHTED and inv_ps is None:
        raise TypeError(f"{measure} needs inv_ps, the weight of each label: inverse_propensity(Y_train)")
    if labels is not None and measure.split("@")[0].split(" ")[0] not in OF_PAIRS:
        raise ValueError(f"{measure} is no measure of some labels: take a micro, macro or weighted one, or coverage@k")
    return Item(measure, k)


class RowCounts:
    """Numbers of each row of a ranking, from which all measures at 1..k follow.

    Parameters
    ----------
    Y_true, ranking, inv_ps
        As for :func:`xmlcore.metrics.psprecision_at_k`.
    k : int
        The last place.
    labels : ndarray of bool, shape (L,), optional
        Count only these labels, true and predicted; all when None.
    n_labels : int, optional
        Number of labels L, where neither ``Y_true`` nor ``ranking`` tells it.
    alike : RowCounts, optional
        Those of another ranking, with all other arguments the same: what does not depend on the ranking is taken from
        it.
    """

    def __init__(self, Y_true, ranking, k, inv_ps=None, labels=None, n_labels=None, alike=None):
        self.given, self.alike = (Y_true, ranking), alike
        self.k = check_count(k, "k")
        self.indptr, self.indices, ranked, self.inv_ps = read(Y_true, ranking, self.k, inv_ps)
        self.n = self.indptr.size - 1
        self.n_labels = _number_of_labels(Y_true, ranking, n_labels)
        self.ranked = np.full((self.n, self.k), -1, dtype=np.int32)
        self.ranked[:, : ranked.shape[1]] = ranked
        self.is_hit = np.zeros((self.n, self.k), dtype=bool)
        mark_hits(self.indptr, self.indices, self.ranked, self.is_hit)
        self.is_predicted = self.ranked >= 0
        self.row_of = np.repeat(np.arange(self.n), np.diff(self.indptr))
        self.true = self.indices.astype(np.int64)
        if labels is not None:
            self._only(labels)
        self.n_true = np.bincount(self.row_of, minlength=self.n).astype(np.float64)
        self.hits = np.cumsum(self.is_hit, axis=1, dtype=np.float64)
        self.predicted = np.cumsum(self.is_predicted, axis=1, dtype=np.float64)

    def _only(self, labels):
        """Leave out all labels but those that are True in ``labels``."""
        labels = np.asarray(labels)
        largest = max(int(self.ranked.max(initial=-1)), int(self.true.max(initial=-1))) + 1
        if labels.dtype != bool or labels.ndim != 1 or labels.size < (self.n_labels or largest):
            raise ValueError(
                f"labels is {labels.dtype} of shape {labels.shape}: a boolean for each of the "
                f"{self.n_labels or largest} labels is needed"
            )
        chosen = labels[np.maximum(self.ranked, 0)] & self.is_predicted
        self.is_hit &= chosen
        self.is_predicted = chosen
        kept = labels[self.true]
        self.row_of, self.true = self.row_of[kept], self.true[kept]

    def row_values(self, item) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the number of each row that a mean, or the numerator of a quotient, adds up; and the denominator's."""
        if callable(item.measure):
            return _checked_values(item, *self.given, self.n), None
        if item.measure in WEIGHTED:
            return self._weighted(item)
        k = item.k
        hits, predicted, true = self.hits[:, k - 1], self.predicted[:, k - 1], self.n_true
        name = item.measure.removesuffix("@k")
        if name == "nDCG":
            discounts, ideal = _discounts(k)
            best = ideal[np.minimum(true, k).astype(np.int64)]
            return _share(self.is_hit[:, :k] @ discounts, best), None
        if name == "Hamming loss":
            if self.n_labels is None:
                raise ValueError("Hamming loss@k needs the number of labels, which lists do not tell: pass n_labels")
            return (true + predicted - 2 * hits) / self.n_labels, None
        if item.kind == QUOTIENT:
            return {"micro P": (hits, predicted), "micro R": (hits, true), "micro F1": (2 * hits, true + predicted)}[
                name
            ]
        return {
            "P": lambda: hits / k,
            "R": lambda: _share(hits, true),
            "abandonment": lambda: (hits == 0).astype(np.float64),
            "subset accuracy": lambda: ((hits == true) & (predicted == true)).astype(np.float64),
            "samples P": lambda: _share(hits, predicted),
            "samples R": lambda: _share(hits, true),
            "samples F1": lambda: _share(2 * hits, true + predicted),
        }[name](), None

    def _weighted(self, item):
        """Return gain and largest possible gain of each row, for a propensity-scored measure."""
        k, discounts = item.k, _discounts(item.k)[0]
        gains = np.where(self.is_hit[:, :k], self.inv_ps[np.maximum(self.ranked[:, :k], 0)], 0.0)
        best = self._best_weights[:, :k]
        discounted = item.measure in ("PSDCG@k", "PSnDCG@k")
        gain, most = (gains @ discounts, best @ discounts) if discounted else (gains.sum(axis=1), best.sum(axis=1))
        if item.measure == "PSR@k":
            return _share(gain, self.n_true), _share(most, self.n_true)
        if item.measure == "PSnDCG@k":
            ideal = _discounts(k)[1][np.minimum(self.n_true, k).astype(np.int64)]
            return _share(gain, ideal), _share(most, ideal)
        return gain, most

    @functools.cached_property
    def _best_weights(self):
        """Return the k largest weights of each row's true labels, largest first, padded with 0: float64 (n, k)."""
        if self.alike is not None:
            return self.alike._best_weights
        best = np.zeros((self.n, self.k))
        weights = self.inv_ps[self.true]
        order = np.lexsort((-weights, self.row_of))
        place = np.arange(order.size) - np.repeat(self.indptr[:-1], np.diff(self.indptr))
        kept = place < self.k
        best[self.row_of[kept], place[kept]] = weights[order][kept]
        return best

    def label_rows(self, ks) -> sp.csr_array:
        """Return which rows count for each label that occurs: a matrix whose products with weights are counts."""
        occurring = np.unique(self.true)
        number = np.full(max(int(self.ranked.max(initial=-1)), int(self.true.max(initial=-1))) + 2, -1)
        number[occurring] = np.arange(occurring.size)  # the last, also meant by -1, is no label
        lines, rows = [number[self.true]], [self.row_of]
        before = 0
        for at, k in enumerate(ks):
            for offset, chosen in enumerate((self.is_hit, self.is_predicted)):
                row, place = np.nonzero(chosen[:, before:k])
                line = number[self.ranked[row, before + place]]
                row, line = row[line >= 0], line[line >= 0]
                lines.append(line + (1 + 2 * at + offset) * occurring.size)
                rows.append(row)
            before = k
        lines, rows = np.concatenate(lines), np.concatenate(rows)
        shape = ((1 + 2 * len(ks)) * occurring.size, self.n)
        return sp.csr_array((np.ones(lines.size), (lines, rows)), shape=shape)


def label_values(name: str, true, predicted, right) -> np.ndarray:
    """Return a measure of the kind :data:`LABELS` from counts of each label."""
    occurs = true > 0
    if name == "coverage@k":
        return _share((right > 0).sum(axis=0), occurs.sum(axis=0), np.nan)
    average, of = name.removesuffix("@k").split(" ")
    if of == "F1":
        values = _share(2 * right, true + predicted)
    else:
        values = _share(right, predicted if of == "P" else true)
    if average == "macro":
        return _share((values * occurs).sum(axis=0), occurs.sum(axis=0), np.nan)
    return _share((values * true).sum(axis=0), true.sum(axis=0), np.nan)


def _share(part, whole, otherwise=0.0):
    """Return part / whole as float64; ``otherwise`` where the whole is 0."""
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return np.divide(part, whole, out=np.full(np.broadcast_shapes(part.shape, whole.shape), otherwise), where=whole > 0)


def _discounts(k):
    """Return 1 / log2(i + 1) at the places i = 1..k, and their sums: the DCG of 0, 1, ..., k right labels in front."""
    discounts = 1 / np.log2(np.arange(k) + 2)
    return discounts, np.concatenate([[0.0], np.cumsum(discounts)])


def _number_of_labels(Y_true, ranking, n_labels):
    """Return the number of labels; None where nothing tells it."""
    if n_labels is not None:
        return check_count(n_labels, "n_labels")
    if getattr(Y_true, "ndim", 0) == 2:
        return Y_true.shape[1]
    dtype = getattr(ranking, "dtype", None)
    return ranking.shape[1] if dtype is not None and ranking.ndim == 2 and dtype.kind == "f" else None


def _checked_values(item, Y_true, ranking, n):
    """Return the values of each row by a user's function; raise ValueError unless they are n finite numbers."""
    values = np.asarray(item.measure(Y_true, ranking), dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all():
        raise ValueError(f"{item.name} returned an array of shape {values.shape}: {n} finite numbers, one per row")
    return values


def of_several(Y_true, rankings, k, inv_ps=None, labels=None, n_labels=None) -> list[RowCounts]:
    """Return the :class:`RowCounts` of several rankings of the same rows."""
    found = []
    for ranking in rankings:
        found.append(RowCounts(Y_true, ranking, k, inv_ps, labels, n_labels, found[0] if found else None))
    return found
