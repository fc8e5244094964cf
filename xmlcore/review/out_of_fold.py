"""Probabilities of labels by models that have not seen the row: each fold is predicted by a model of the others."""

import math
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import are_blocks
from xmlcore.datasets.splits import folds
from xmlcore.models.rules import rows_of
from xmlcore.progress import Progress, part_of

ROWS_AT_ONCE = 4096  # of a model that can only say the probabilities of all labels


class Pairs(NamedTuple):
    """Labels of rows, and what models that had not seen the row say of them."""

    row: np.ndarray  # int64
    label: np.ndarray  # int32
    p: np.ndarray  # float64: the probability of the label
    best: np.ndarray  # float64: the largest probability of a label of the row
    learnt: np.ndarray  # int64: the rows with the label among those that the model learnt from

    @classmethod
    def joined(cls, parts) -> Self:
        return cls(*map(np.concatenate, zip(*parts)))

    def take(self, which) -> Self:
        return type(self)(*(values[which] for values in self))


def out_of_fold(model, X, Y: sp.csr_array, cv, n_candidates: int, seed: int, progress: Progress) -> list[Pairs]:
    """Return the labels that rows have, those that rank first besides, and for each row one that is drawn at random.

    Labels are drawn by frequency; those that the row has are left out.
    """
    from sklearn.base import clone

    fold = np.asarray(cv) if np.ndim(cv) else folds(Y, cv, random_state=seed)
    rng, n, (N, L) = np.random.default_rng(seed), np.unique(fold), Y.shape
    counts, parts = np.bincount(Y.indices, minlength=L), []
    for at, this in enumerate(n):
        rows, others = np.flatnonzero(fold == this), np.flatnonzero(fold != this)
        phase = f"Training without part {at + 1} of {n.size}"
        fitted = clone(model).fit(
            at_rows(X, others), sp.csr_array(Y[others]),
            progress=part_of(progress, at / n.size, (at + 0.8) / n.size, phase=phase),
        )  # fmt: skip
        progress(f"Predicting part {at + 1} of {n.size}", (at + 0.8) / n.size)
        fitted = fitted if hasattr(fitted, "vectorizer_") else getattr(fitted, "model_", fitted)
        inner, inputs = rows_of(fitted, at_rows(X, rows))
        has = sp.csr_array(Y[rows])
        place, first, p = first_labels(inner, inputs, n_candidates + math.ceil(Y.nnz / N))
        best = np.zeros(rows.size)
        np.maximum.at(best, place, p)
        learnt = counts - np.bincount(has.indices, minlength=L)

        def pairs(place, label, p, rows=rows, best=best, learnt=learnt):
            return Pairs(rows[place], label.astype(np.int32), p, best[place], learnt[label])

        drawn = Y.indices[rng.integers(Y.nnz, size=rows.size)]
        own, one = np.repeat(np.arange(rows.size), np.diff(has.indptr)), np.arange(rows.size)
        parts.append((
            pairs(own, has.indices, probabilities(inner, inputs, own, has.indices)),
            pairs(place, first, p),
            pairs(one, drawn, probabilities(inner, inputs, one, drawn)),
        ))  # fmt: skip
    given, first, drawn = map(Pairs.joined, zip(*parts))
    known = np.repeat(np.arange(N), np.diff(Y.indptr)) * L + Y.indices
    first, drawn = (part.take(~np.isin(part.row * L + part.label, known)) for part in (first, drawn))
    new = np.flatnonzero(np.append(True, first.row[1:] != first.row[:-1]))[: first.row.size]  # where rows begin
    place = np.arange(first.row.size) - np.repeat(new, np.diff(np.append(new, first.row.size)))
    return [given, first.take(place < n_candidates), drawn]


def first_labels(model, X, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first n labels of each row: the row, the label and its probability."""
    ranking = model.predict_topk(X, min(n, model.n_labels_))
    place, rank = np.nonzero(ranking.labels >= 0)
    label = ranking.labels[place, rank]
    if hasattr(model, "label_probabilities"):  # scores of other models need not be probabilities
        return place, label, ranking.scores[place, rank].astype(np.float64)
    return place, label, probabilities(model, X, place, label)


def count_rows(X) -> int:
    """Return the number of rows of what :func:`at_rows` takes; of blocks, -1 if they differ."""
    if are_blocks(X):
        counts = {count_rows(block) for block in X}
        return counts.pop() if len(counts) == 1 else -1
    return X.shape[0] if hasattr(X, "shape") else len(X)


def at_rows(X, rows):
    """Return some of the rows of a matrix, a frame, a list of texts, or a list of blocks of these."""
    from sklearn.utils import _safe_indexing

    if are_blocks(X):
        return [at_rows(block, rows) for block in X]
    return _safe_indexing(X, rows)


def probabilities(model, X, row, label) -> np.ndarray:
    """Return the probability of a label for each of some rows of X."""
    if hasattr(model, "label_probabilities"):
        return model.label_probabilities(X[row], label)
    found = np.empty(row.size)
    for first in range(0, X.shape[0], ROWS_AT_ONCE):
        here = np.flatnonzero((row >= first) & (row < first + ROWS_AT_ONCE))
        P = sp.csr_array(model.predict_proba(X[first : first + ROWS_AT_ONCE]))
        found[here] = P[row[here] - first, label[here]]
    return found
