"""Which wrong labels are predicted where true ones are missed."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import products_in_blocks
from xmlcore.first_use import pd
from xmlcore.metrics._inputs import read
from xmlcore.metrics.ranking import hits
from xmlcore.metrics.sets import ones_at
from xmlcore.typing import DataFrame, Labels, Predictions
from xmlcore.validation import check_count, check_list

ROUNDING = 1e-9  # swaps that differ by less are equal


class Confusions(NamedTuple):
    """Result of :func:`confusions`."""

    pairs: "DataFrame"  # missed, wrong, swaps, rows, n_missed, n_wrong, row; most swaps first
    n_pairs: int  # number of all pairs of a missed and a wrong label of some row; ``pairs`` has the first ones
    n_swaps: float  # of all these pairs together


def confusions(
    Y_true: Labels, ranking: Predictions, k: int | None = None, *, n: int = 200, labels: Iterable[int] | None = None
) -> Confusions:
    """Find the wrong labels that are predicted most where true ones are missed.

    A pair of labels (i, j) is confused in a row that has i, for which i is not predicted, and j wrongly is. A row with
    m missed and w wrong labels has m w such pairs, and each counts as 1 / max(m, w) of a swap: docs/measures.md.

    {Parameters: Y_true, ranking}
    k : int, optional
        Number of labels predicted for a row. By default as many as the row has true labels, at most the places of the
        ranking; with scores, which rank every label, it has to be given.
    n : int
        Pairs that are returned at most.
    labels : iterable of int, optional
        Return only pairs with one of these labels on either side.

    Returns
    -------
    Confusions
        ``.pairs`` has a line per pair, most swaps first: the ids ``missed`` and ``wrong``, ``swaps``, ``rows`` with the
        pair, all rows ``n_missed`` in which the first is missed and ``n_wrong`` in which the other is wrongly
        predicted, and ``row``, one with the pair and few other mistakes. ``.n_pairs`` and ``.n_swaps`` count all pairs.
    """
    n, (*mistakes, weights) = check_count(n, "n"), _mistakes(Y_true, ranking, k)
    n_labels = mistakes[0].shape[1]
    chosen = np.full(n_labels, labels is None)
    if labels is not None:
        labels = check_list(labels, "labels", "ids of labels")
        ids = np.array([check_count(label, "a label", 0) for label in labels], np.int64)
        chosen[ids[(ids >= 0) & (ids < n_labels)]] = True
    (missed, wrong, swaps), total, n_swaps = _most_confused(*mistakes, weights, n, chosen)
    rows = [_rows_of(weights, *pair) for pair in _columns_of_pairs(mistakes, missed.tolist(), wrong.tolist())]
    counts = (np.bincount(part.indices, minlength=n_labels) for part in mistakes)
    columns = {"missed": missed, "wrong": wrong, "swaps": swaps, "rows": [len(of) for of in rows]}
    columns |= {name: of[at] for name, of, at in zip(("n_missed", "n_wrong"), counts, (missed, wrong))}
    columns["row"] = np.array([of[0] for of in rows], np.int64)
    return Confusions(pd.DataFrame(columns), total, n_swaps)


def confused_rows(Y_true: Labels, ranking: Predictions, missed: int, wrong: int, k: int | None = None) -> np.ndarray:
    """Return the rows for which a true label is missed and a wrong one predicted, those with few mistakes first.

    {Parameters: Y_true, ranking}
    missed, wrong : int
        Ids of the labels.
    k : int, optional
        As for :func:`confusions`, which counts them as ``rows``, and names the first as ``row``.
    """
    *mistakes, weights = _mistakes(Y_true, ranking, k)
    pair = [[check_count(label, name, 0)] for name, label in (("missed", missed), ("wrong", wrong))]
    return _rows_of(weights, *next(_columns_of_pairs(mistakes, *pair)))


def _mistakes(Y_true, ranking, k) -> tuple[sp.csr_array, sp.csr_array, np.ndarray]:
    """Return the labels that each row misses, those wrongly predicted, and 1 / the larger number; 0 if one is 0."""
    indptr, indices, ranked, _ = read(Y_true, ranking, k)
    n_true = np.diff(indptr)
    within = ranked >= 0
    if k is None:
        within &= np.arange(ranked.shape[1]) < n_true[:, None]
    is_hit = hits(Y_true, ranking, k)[:, : ranked.shape[1]] & within
    n_labels = max(int(indices.max(initial=-1)), int(ranked.max(initial=-1))) + 1
    shape = (n_true.size, n_labels)
    true = sp.csr_array((np.ones(indices.size, np.int8), indices, indptr), shape=shape)
    right, wrong = (ones_at(np.nonzero(at)[0], ranked[at], shape) for at in (is_hit, within & ~is_hit))
    missed = sp.csr_array(true - right)
    missed.eliminate_zeros()
    many = [np.diff(part.indptr) for part in (missed, wrong)]
    weights = np.where(np.minimum(*many) > 0, 1 / np.maximum(np.maximum(*many), 1), 0.0)
    return missed, wrong, weights


def _most_confused(missed, wrong, weights, n, chosen):
    """Return the n pairs of chosen labels with the most swaps, and how many pairs and swaps there are."""
    of_entries = np.repeat(weights, np.diff(missed.indptr))
    weighted = sp.csr_array((of_entries, missed.indices, missed.indptr), shape=missed.shape)
    best, total, n_swaps = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)), 0, 0.0
    for start, block in products_in_blocks(weighted, wrong):
        lines = chosen[start : start + block.shape[0]]
        at = np.flatnonzero(np.repeat(lines, np.diff(block.indptr)) | chosen[block.indices])
        values = block.data[at]
        total, n_swaps = total + values.size, n_swaps + float(values.sum())
        least = best[2][-1] if best[2].size == n else -np.inf
        if values.size > n:
            least = max(least, np.partition(values, values.size - n)[values.size - n])
        large = np.flatnonzero(values >= least - ROUNDING)
        at = at[large]
        lines = start + np.searchsorted(block.indptr, at, side="right") - 1
        found = [np.concatenate(pair) for pair in zip(best, (lines, block.indices[at], np.round(values[large], 9)))]
        order = np.lexsort((found[1], found[0], -found[2]))[:n]
        best = tuple(part[order] for part in found)
    return best, total, n_swaps


def _columns_of_pairs(mistakes, missed, wrong):
    """Yield the rows in which the first label of each pair is missed, and those in which the other is wrong."""
    columns = [sp.csc_array(part) for part in mistakes]
    for pair in zip(missed, wrong):
        inside = [0 <= j < of.shape[1] for j, of in zip(pair, columns)]
        yield tuple(of.indices[slice(*of.indptr[j : j + 2]) if here else slice(0)]
                    for j, of, here in zip(pair, columns, inside))  # fmt: skip


def _rows_of(weights, missing, wrong):
    rows = np.intersect1d(missing, wrong, assume_unique=True).astype(np.int64)
    return rows[np.argsort(-weights[rows], kind="stable")]
