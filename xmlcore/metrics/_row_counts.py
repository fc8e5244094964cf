"""Counts of each row and label, from which all measures of a ranking are computed, and their sums for resamples.

All measures here are functions of sums over rows. A resample of the rows changes only how often each row counts in
these sums, so resampling needs the numbers once, and then a matrix product for each block of resamples.
"""

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ranking import mark_hits
from xmlcore.hierarchy import Hierarchy
from xmlcore.metrics._inputs import read
from xmlcore.metrics.measures import LABELS, MEAN, MEASURES, QUOTIENT, Measure
from xmlcore.system import check_memory
from xmlcore.validation import INT32_MAX, check_count, check_is, check_number
from xmlcore.wording import meant

RESAMPLES = 1000  # unless a call says another number
BLOCK_VALUES = 1 << 21  # most counts of rows or labels in memory at a time: 16 MiB as float64
DRAWN_VALUES = 1 << 15  # rows drawn at a time: their numbers fit into the processor's cache
KEPT_VALUES = 1 << 26  # most counts of drawn rows that are kept for the next call: 64 MiB where a byte holds each
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


def check_item(measure, k, inv_ps=None, labels=None, hierarchy=None) -> Item:
    """Return a measure, by its name or as a function of a user, at k; raise ValueError or TypeError for others."""
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
    if described.needs == "hierarchy":
        check_is(hierarchy, Hierarchy, "hierarchy", f"a Hierarchy, which {measure} needs, such as data.hierarchy,")
    if labels is not None and not described.of_some_labels:
        raise ValueError(f"{measure} is no measure of some labels: take a micro, macro or weighted one, or coverage@k")
    return Item(described, k)


class RowCounts:
    """Numbers of each row of a ranking, of ``labels`` that count; ``alike``: those of another one of the same rows."""

    def __init__(self, Y_true, ranking, k, inv_ps=None, labels=None, n_labels=None, alike=None, hierarchy=None):
        self.given, self.alike, self.hierarchy = (Y_true, ranking), alike, hierarchy
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

    def counts_above(self, k):
        """Return what :meth:`counts` does, of labels together with all that is above them."""
        hits, predicted, true = self._of_nodes
        return hits[:, k - 1], predicted[:, k - 1], true

    @functools.cached_property
    def _of_nodes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        row, place = np.nonzero(self.is_predicted)
        labels = self.ranked[row, place]
        most = max(int(labels.max(initial=0)), int(self.true.max(initial=0)))
        found, at = self.hierarchy.of_entries(row, labels, most)
        found, first = np.unique(found, return_index=True)  # the first place that stands for a node
        true, of = self.hierarchy.of_entries(self.row_of, self.true, most)
        true, once = np.unique(true, return_index=True)
        cell, right = (row * self.k + place)[at[first]], np.isin(found, true, assume_unique=True)
        sums = (np.bincount(cell, of_cell, self.n * self.k) for of_cell in (right, np.ones(right.size)))
        hits, predicted = (each.reshape(self.n, self.k).cumsum(axis=1) for each in sums)
        return hits, predicted, np.bincount(self.row_of[of[once]], minlength=self.n).astype(np.float64)

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
    """Return the number of labels; None if it is unknown."""
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


def of_several(Y_true, rankings, k, inv_ps=None, labels=None, n_labels=None, hierarchy=None) -> list[RowCounts]:
    """Return the :class:`RowCounts` of several rankings of the same rows."""
    counts = []
    for ranking in rankings:
        alike = counts[0] if counts else None
        counts.append(RowCounts(Y_true, ranking, k, inv_ps, labels, n_labels, alike, hierarchy))
    return counts


# Resamples of the rows, many at once ----------------------------------------------------------------------------------


class Sums(NamedTuple):
    """Sums over rows for b resamples."""

    of_rows: np.ndarray  # float64 (b, columns)
    true: np.ndarray  # of each label that occurs: float64 (labels, b), or (labels, 1) if it is the same in all
    of_labels: np.ndarray  # float64 (lines, b)


class Statistics:
    """Measures of one ranking as functions of how often each row counts."""

    def __init__(self, counts: RowCounts, items):
        self.items, self.n, self._counts = items, counts.n, counts
        widths = [{LABELS: 0, QUOTIENT: 2}.get(item.measure.kind, 1) for item in items]
        self._column = np.cumsum([0, *widths[:-1]]).tolist()
        self.ks = sorted({item.k for item in items if item.measure.kind == LABELS})
        none = sp.csr_array((0, self.n))
        self.true, self.of_labels = counts.label_rows(self.ks) if self.ks else (none, none)

    def _columns(self):
        """Yield the numbers of each row that measures add up."""
        for item in self.items:
            if item.measure.kind != LABELS:
                yield from self._counts.row_values(item)

    @functools.cached_property
    def of_rows(self) -> np.ndarray:
        """The numbers of each row that measures add up: float64 (n, columns)."""
        columns = list(self._columns())
        return np.stack(columns, axis=1) if columns else np.zeros((self.n, 0))

    def sums(self, weights) -> Sums:
        """Return the sums over rows when row i counts ``weights[., i]`` times; ``weights`` has the shape (b, n)."""
        every = self.by_row(weights)
        return Sums(weights @ self.of_rows, _of_labels(self.true, every), _of_labels(self.of_labels, every))

    def by_row(self, weights) -> np.ndarray:
        """Return weights (n, b) of rows, in the order in which counts of labels are quick; any if there are none."""
        return np.ascontiguousarray(weights.T) if self.ks else weights.T

    def values(self, sums: Sums) -> np.ndarray:
        """Return the measures for sums over n rows: float64, shape (b, items); nan where one is not defined."""
        b = len(sums.of_rows)
        result = np.full((b, len(self.items)), np.nan)
        counts = sums.of_labels.reshape(2 * len(self.ks), len(sums.true), b)
        at_k, right, predicted = {}, 0.0, 0.0
        for at, k in enumerate(self.ks):
            right, predicted = right + counts[2 * at], predicted + counts[2 * at + 1]
            at_k[k] = (right, predicted, sums.true)
        for number, (item, column) in enumerate(zip(self.items, self._column)):
            if item.measure.kind == LABELS:
                result[:, number] = item.measure.compute(*at_k[item.k])
            elif item.measure.kind == QUOTIENT:
                whole = sums.of_rows[:, column + 1]
                np.divide(sums.of_rows[:, column], whole, out=result[:, number], where=whole > 0)
            elif self.n:
                result[:, number] = sums.of_rows[:, column] / self.n
        return result

    def measured(self) -> np.ndarray:
        """Return the measures of the rows, not resampled: float64, shape (items,)."""
        of_rows = np.array([[column.sum() for column in self._columns()]])
        return self.values(self.sums(np.ones((1, self.n)))._replace(of_rows=of_rows))[0]

    def block(self) -> int:
        return max(1, BLOCK_VALUES // max(1, self.n + self.of_rows.shape[1] + 2 * self.of_labels.shape[0]))


def _of_labels(lines, weights) -> np.ndarray:
    """Return the sums over the rows of each line, of labels, for b weightings: shape (lines, b)."""
    return lines @ weights if lines.shape[0] else np.zeros((0, weights.shape[1]))


def bootstrap_values(statistics, n_resamples: int, random_state: int) -> list[np.ndarray]:
    """Return the measures for rows drawn with replacement, the same rows for all ``statistics``."""
    n = statistics[0].n
    _check_room(n_resamples, sum(len(s.items) for s in statistics))
    few, block = min(s.block() for s in statistics), max(1, BLOCK_VALUES // max(1, n))
    found = [np.full((n_resamples, len(s.items)), np.nan) for s in statistics]
    if n == 0:
        return found
    room = np.empty((min(block, n_resamples), n))  # for all blocks: to get memory takes longer than to fill it
    columns = [s.of_rows for s in statistics]
    # One product for all rankings reads the weights once. Products with a single column have other last digits.
    every = np.concatenate(columns, axis=1) if all(own.shape[1] > 1 for own in columns) else None
    ends = np.cumsum([own.shape[1] for own in columns])[:-1]
    for start, counts in _drawn(n, n_resamples, random_state, block):
        weights = room[: len(counts)]
        weights[:] = counts
        sums = [weights @ own for own in columns] if every is None else np.split(weights @ every, ends, axis=1)
        for at in range(0, len(counts), few):  # labels are many: a product of few resamples alone would be slow
            part = slice(at, at + few)
            by_row = statistics[0].by_row(weights[part])
            true = _of_labels(statistics[0].true, by_row)  # which is the same for all rankings
            for s, of_rows, values in zip(statistics, sums, found):
                of_labels = _of_labels(s.of_labels, by_row)
                values[start + at : start + at + by_row.shape[1]] = s.values(Sums(of_rows[part], true, of_labels))
    return found


def _drawn(n, n_resamples, random_state, block) -> Iterator[tuple[int, np.ndarray]]:
    """Yield how often each of n rows is drawn, ``block`` resamples at a time, each with the number of the first."""
    if n * n_resamples <= KEPT_VALUES and isinstance(random_state, (int, np.integer)):
        every = _kept_draws(n, n_resamples, int(random_state))
        for start in range(0, n_resamples, block):
            yield start, every[start : start + block]
        return
    random = np.random.default_rng(random_state)
    for start in range(0, n_resamples, block):
        yield start, _draw(random, n, min(block, n_resamples - start))


@functools.lru_cache(maxsize=2)
def _kept_draws(n: int, n_resamples: int, random_state: int) -> np.ndarray:
    """Return how often each of n rows is drawn in each resample; calls for the same rows draw them once."""
    counts = _draw(np.random.default_rng(random_state), n, n_resamples)
    counts.flags.writeable = False
    return counts


def _draw(random, n: int, b: int) -> np.ndarray:
    """Draw n of n rows b times, with replacement; return how often each was drawn, shape (b, n)."""
    counts = np.empty((b, n), np.uint8)
    step = max(1, DRAWN_VALUES // n)
    for start in range(0, b, step):
        size = min(step, b - start)
        drawn = random.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        some = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        if some.max() > np.iinfo(counts.dtype).max:  # hardly ever: a row that is drawn 256 times
            counts = counts.astype(np.min_scalar_type(n))
        counts[start : start + size] = some
    return counts


def swapped_differences(
    a: Statistics, b: Statistics, n_permutations: int, random_state: int
) -> tuple[np.ndarray, bool]:
    """Return differences (ways, items) with the predictions of random rows swapped, and if all ways were taken."""
    rows, labels = a.of_rows - b.of_rows, (a.of_labels - b.of_labels).tocsc()
    labels.eliminate_zeros()
    differs = np.flatnonzero((rows != 0).any(axis=1) | (np.diff(labels.indptr) > 0))
    rows, labels = rows[differs], labels[:, differs].tocsr()
    m, random = differs.size, np.random.default_rng(random_state)
    exact = 2**m <= n_permutations if m < 63 else False
    ways = 2**m if exact else n_permutations
    _check_room(ways, len(a.items))
    every = np.ones((1, a.n))
    of_a, of_b = a.sums(every), b.sums(every)
    block = max(1, BLOCK_VALUES // max(1, m + rows.shape[1] + 4 * labels.shape[0]))
    found = np.empty((ways, len(a.items)))
    room = np.empty((min(block, ways), m))
    for start in range(0, ways, block):
        size = min(block, ways - start)
        swaps = room[:size]
        if exact:
            swaps[:] = (np.arange(start, start + size)[:, None] >> np.arange(m)) & 1
        else:
            swaps[:] = random.integers(0, 2, size=(size, m), dtype=np.int8)
        of_rows, of_labels = swaps @ rows, _of_labels(labels, a.by_row(swaps))
        first = a.values(Sums(of_a.of_rows - of_rows, of_a.true, of_a.of_labels - of_labels))
        second = b.values(Sums(of_b.of_rows + of_rows, of_b.true, of_b.of_labels + of_labels))
        found[start : start + size] = first - second
    return found, exact


def _check_room(n_resamples, n_values) -> None:
    """Raise MemoryError if the values of all resamples, and two copies of those of a measure, exceed free memory."""
    of = f"{n_values:,} values of each of {n_resamples:,} resamples"
    check_memory(8 * n_resamples * (n_values + 2), "Resampling", of, "resample less often")


def interval(values, resampled, confidence: float, centred) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the intervals of measures: percentiles of the resampled values."""
    low, high = np.full(values.size, np.nan), np.full(values.size, np.nan)
    for i, value in enumerate(values):
        known = resampled[:, i][~np.isnan(resampled[:, i])]
        if known.size and not np.isnan(value):
            tails = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
            low[i], high[i] = tails + (value - known.mean() if centred[i] else 0.0)
    return low, high


def check_resampling(n_resamples, confidence, random_state, name="n_resamples") -> tuple[int, float]:
    """Return the first two; raise ValueError or TypeError unless they are a count, a share and a seed."""
    check_count(random_state, "random_state", 0)
    confidence = check_number(confidence, "confidence", 0.0, 1.0, above=True, below=True)
    return check_count(n_resamples, name), confidence
