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
from xmlcore.metrics.measures import MEAN, MEASURES, Measure
from xmlcore.validation import INT32_MAX, check_count
from xmlcore.wording import meant

MOST_K = 10_000  # the last place that is measured at, at most: time grows with its square


def check_k(k) -> int:
    k = check_count(k, "k")
    if k > MOST_K:
        raise ValueError(f"k is {k:,}: measures are taken at the first {MOST_K:,} places at most")
    return k


class Item(NamedTuple):
    """A measure at a place."""

    measure: Measure
    k: int


def check_item(measure, k, inv_ps=None, labels=None) -> Item:
    """Return a measure, by its name or as a function of a user, at k; raise ValueError or TypeError if it is none."""
    k = check_k(k)
    if callable(measure):
        if labels is not None:
            raise ValueError("labels goes with the measures of this package: a function of your own can leave them out")
        name = getattr(measure, "__name__", "the measure")
        return Item(Measure(name, MEAN, "", lambda rows, k: _checked_values(measure, name, *rows.given, rows.n)), k)
    if not isinstance(measure, str) or measure not in MEASURES:
        known = ", ".join(MEASURES) + meant([measure], MEASURES)
        raise ValueError(f"measure is {measure!r:.200}: it must be a function or one of {known}")
    described = MEASURES[measure]
    if described.needs == "inv_ps" and inv_ps is None:
        raise TypeError(f"{measure} needs inv_ps, the weight of each label: inverse_propensity(Y_train)")
    if labels is not None and not described.of_some_labels:
        raise ValueError(f"{measure} is no measure of some labels: take a micro, macro or weighted one, or coverage@k")
    return Item(described, k)


class RowCounts:
    """Numbers of each row of a ranking, from which all measures at 1..k follow.

    ``labels``: bool (L,), those that count, true and predicted. ``alike``: the counts of another ranking of the same
    rows, from which what does not depend on the ranking is taken.
    """

    def __init__(self, Y_true, ranking, k, inv_ps=None, labels=None, n_labels=None, alike=None):
        self.given, self.alike = (Y_true, ranking), alike
        self.k = check_k(k)
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

    def counts(self, k):
        """Return how many of the first k labels of each row are right, how many there are, and its true labels."""
        return self.hits[:, k - 1], self.predicted[:, k - 1], self.n_true

    def _only(self, labels):
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

    def row_values(self, item) -> tuple:
        """Return the numbers of each row that a mean adds up, or the numerators and denominators of a quotient."""
        values = item.measure.compute(self, item.k)
        return (values,) if item.measure.kind == MEAN else values

    @functools.cached_property
    def gains(self):
        """Return the weight of the label at each place if it is right, else 0: float64 (n, k)."""
        return np.where(self.is_hit, self.inv_ps[np.maximum(self.ranked, 0)], 0.0)

    @functools.cached_property
    def best_gains(self):
        """Return the k largest weights of each row's true labels, largest first, padded with 0: float64 (n, k)."""
        if self.alike is not None:
            return self.alike.best_gains
        best = np.zeros((self.n, self.k))
        weights = self.inv_ps[self.true]
        order = np.lexsort((-weights, self.row_of))
        place = np.arange(order.size) - np.repeat(self.indptr[:-1], np.diff(self.indptr))
        kept = place < self.k
        best[self.row_of[kept], place[kept]] = weights[order][kept]
        return best

    def label_rows(self, ks) -> tuple[sp.csr_array, sp.csr_array]:
        """Return which rows count for each label that occurs: matrices whose products with weights are counts.

        The first counts the rows that have the label; the second those for which it is right, then those for which it
        is predicted, at the places up to each k and after the k before.
        """
        occurring = np.unique(self.true)
        number = np.full(max(int(self.ranked.max(initial=-1)), int(self.true.max(initial=-1))) + 2, -1)
        number[occurring] = np.arange(occurring.size)  # the last, also meant by -1, is no label
        lines, rows, before = [], [], 0
        for at, k in enumerate(ks):
            for offset, chosen in enumerate((self.is_hit, self.is_predicted)):
                row, place = np.nonzero(chosen[:, before:k])
                line = number[self.ranked[row, before + place]]
                row, line = row[line >= 0], line[line >= 0]
                lines.append(line + (2 * at + offset) * occurring.size)
                rows.append(row)
            before = k
        places = (number[self.true], self.row_of), (np.concatenate(lines), np.concatenate(rows))
        sizes = occurring.size, 2 * len(ks) * occurring.size
        return tuple(sp.csr_array((np.ones(at[0].size), at), shape=(m, self.n)) for at, m in zip(places, sizes))


def _number_of_labels(Y_true, ranking, n_labels):
    """Return the number of labels; None where nothing tells it."""
    if n_labels is not None:
        return check_count(n_labels, "n_labels", most=INT32_MAX)
    if getattr(Y_true, "ndim", 0) == 2:
        return Y_true.shape[1]
    dtype = getattr(ranking, "dtype", None)
    return ranking.shape[1] if dtype is not None and ranking.ndim == 2 and dtype.kind == "f" else None


def _checked_values(function, name, Y_true, ranking, n):
    """Return the values of each row by a user's function; raise ValueError unless they are n finite numbers."""
    values = np.asarray(function(Y_true, ranking), dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all():
        raise ValueError(f"{name} returned an array of shape {values.shape}: {n} finite numbers, one per row")
    return values


def of_several(Y_true, rankings, k, inv_ps=None, labels=None, n_labels=None) -> list[RowCounts]:
    """Return the :class:`RowCounts` of several rankings of the same rows."""
    counts = []
    for ranking in rankings:
        counts.append(RowCounts(Y_true, ranking, k, inv_ps, labels, n_labels, counts[0] if counts else None))
    return counts
