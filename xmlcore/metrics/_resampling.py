"""Values of measures for resamples of the rows, computed for many resamples at once."""

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.metrics._row_counts import RowCounts
from xmlcore.metrics.measures import LABELS, QUOTIENT
from xmlcore.system import check_memory
from xmlcore.validation import check_count, check_number

RESAMPLES = 1000  # unless a call says another number
BLOCK_VALUES = 1 << 21  # most counts of rows or labels in memory at a time: 16 MiB as float64
DRAWN_VALUES = 1 << 15  # rows drawn at a time: their numbers fit into the processor's cache
KEPT_VALUES = 1 << 26  # most counts of drawn rows that are kept for the next call: 64 MiB where a byte holds each


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
        """Return the measures of the rows as they are: float64, shape (items,)."""
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
    """Return differences of measures when the two predictions of random rows are swapped, and if all ways were taken.

    The differences are float64 (ways, items).
    """
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
        if exact:
            chosen = (np.arange(start, start + size)[:, None] >> np.arange(m)) & 1
        else:
            chosen = random.integers(0, 2, size=(size, m), dtype=np.int8)
        swaps = room[:size]
        swaps[:] = chosen
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
