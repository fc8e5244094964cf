"""Weights of members, from rows that none was trained on: scores become probabilities, whose best mean is found."""

import copy
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ranking import mark_hits, top_k_sparse
from xmlcore.arrays import pointers
from xmlcore.metrics import inverse_propensity
from xmlcore.metrics.statistics import beta_calibrated
from xmlcore.ranking import KS

END = 1e-7  # scores nearer to 0 or 1 than this count as alike
BAGS, BAG_ROWS = 10, 1000  # random samples of held-out rows, each with weights of its own, whose mean is taken
STEPS = (0.5, 0.25, 0.12, 0.06, 0.03)  # by which weights are changed
LEAST = 0.05  # a smaller weight is 0
FAR = 0.5  # so is that of a member whose measures are a smaller share of the best ones
PAYS = 0.003  # Weights by frequency are kept if they gain this share on rows that did not choose them,
ENOUGH = 1000  # of which there are at least so many, together with those that did.
AT = np.array(KS) - 1


class Candidates(NamedTuple):
    """The labels of rows that some member ranks among its first ones, as lists that ``ptr`` bounds."""

    ptr: np.ndarray  # int64 (n + 1,)
    labels: np.ndarray  # int32
    scores: np.ndarray  # float64 (labels, members): 0 where a member does not rank the label

    @classmethod
    def of(cls, rankings, n_labels: int) -> Self:
        """Return the candidates of rankings of the same rows, one of each member."""
        n = rankings[0].labels.shape[0]
        pairs = [np.nonzero((ranking.labels >= 0) & (ranking.scores > 0)) for ranking in rankings]
        keys = [row * n_labels + ranking.labels[row, at] for (row, at), ranking in zip(pairs, rankings)]
        every, places = np.unique(np.concatenate(keys), return_inverse=True)
        scores, first = np.zeros((every.size, len(rankings))), 0
        for member, (pair, ranking) in enumerate(zip(pairs, rankings)):
            scores[places[first : first + pair[0].size], member] = ranking.scores[pair]
            first += pair[0].size
        return cls(pointers(np.bincount(every // n_labels, minlength=n)), (every % n_labels).astype(np.int32), scores)

    def best(self, values: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k labels of largest value of each row, and the values, in float64."""
        shape = self.ptr.size - 1, k
        labels, scores = np.empty(shape, np.int32), np.empty(shape)
        top_k_sparse(self.ptr, self.labels, values, labels, scores)
        return labels, scores


def calibrated(scores: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """Return probabilities for the scores of members, by their curves (members, 3); 0 for a score of 0."""
    return np.where(scores > 0, beta_calibrated(scores, curves, END), 0.0)


class Judge:
    """Measures of mixtures on held-out rows: P@1, P@3, P@5, nDCG@5 and PSP@5 as shares of those of the best member."""

    def __init__(self, found: Candidates, probabilities: np.ndarray, Y: sp.csr_array, Y_train: sp.csr_array):
        self.found, self.probabilities, self.Y = found, probabilities, Y
        self.n_rows, self.n_members = Y.shape[0], probabilities.shape[1]
        self._inv_ps = inverse_propensity(Y_train)
        self._discounts = 1 / np.log2(np.arange(2, KS[-1] + 2))
        true = np.diff(Y.indptr)
        self._ideal = np.cumsum(self._discounts)[np.clip(true, 1, KS[-1]) - 1]
        each = [np.sort(self._inv_ps[Y.indices[a:b]])[::-1][: KS[-1]].sum() for a, b in zip(Y.indptr, Y.indptr[1:])]
        self._best_gain = max(float(np.mean(each)), 1e-12)
        self._best = np.maximum(
            np.max([self.of_rows(one).mean(axis=0) for one in np.eye(self.n_members)], axis=0), 1e-9
        )

    def of_rows(self, weights: np.ndarray) -> np.ndarray:
        """Return the five measures of each row: weights are of members, or (labels, members)."""
        p = self.probabilities
        values = p @ weights if weights.ndim == 1 else (p * weights[self.found.labels]).sum(axis=1)
        labels, _ = self.found.best(values, KS[-1])
        hits = np.zeros(labels.shape, np.bool_)
        mark_hits(self.Y.indptr, self.Y.indices, labels, hits)
        precisions = np.cumsum(hits, axis=1)[:, AT] / KS
        ndcg = hits @ self._discounts / self._ideal
        psp = (hits * self._inv_ps[np.maximum(labels, 0)]).sum(axis=1) / self._best_gain
        return np.column_stack([precisions, ndcg, psp])

    def value(self, weights: np.ndarray, rows=slice(None)) -> float:
        return float((self.of_rows(weights)[rows].mean(axis=0) / self._best).mean())

    def part(self, rows: np.ndarray) -> Self:
        """Return a judge of some of the rows, which ascend, that compares with the same best values."""
        of_rows = np.isin(np.repeat(np.arange(self.n_rows), np.diff(self.found.ptr)), rows)
        made, found = copy.copy(self), self.found
        made.found = Candidates(pointers(np.diff(found.ptr)[rows]), found.labels[of_rows], found.scores[of_rows])
        made.probabilities, made.Y, made.n_rows = self.probabilities[of_rows], sp.csr_array(self.Y[rows]), rows.size
        made._ideal = self._ideal[rows]
        return made


def climbed(judge: Judge, weights: np.ndarray, made=lambda weights: weights) -> np.ndarray:
    """Return weights from which no step by one of them is better; ``made`` makes of them those that are judged."""
    best = judge.value(made(weights))
    for step in STEPS:
        better = True
        while better:
            better = False
            for at in range(weights.size):
                for change in (step, -step):
                    tried = weights.copy()
                    tried[at] = max(0.0, tried[at] + change)
                    if tried.sum() > 0 and (value := judge.value(made(tried / tried.sum()))) > best + 1e-9:
                        weights, best, better = tried / tried.sum(), value, True
    return weights


def best_weights(judge: Judge, seed) -> np.ndarray:
    """Return the weights of members, which add up to 1: the mean of those that are best on random samples of rows."""
    rng, even = np.random.default_rng(seed), np.full(judge.n_members, 1 / judge.n_members)
    size = min(BAG_ROWS, max(1, judge.n_rows * 2 // 3))
    bags = (np.sort(rng.permutation(judge.n_rows)[:size]) for _ in range(BAGS))
    weights = np.mean([climbed(judge.part(rows), even) for rows in bags], axis=0)
    weights[(weights < LEAST) | (np.array([judge.value(one) for one in np.eye(weights.size)]) < FAR)] = 0.0
    weights /= weights.sum()
    alone = max(np.eye(judge.n_members), key=judge.value)
    return max(weights, alone, key=judge.value)


def weights_by_frequency(judge: Judge, weights: np.ndarray, groups: np.ndarray, seed) -> np.ndarray:
    """Return weights for each group of labels, (groups, members): those given, if others do not pay."""
    n_groups, kept = groups.max() + 1, np.flatnonzero(weights)
    same = np.tile(weights, (n_groups, 1))
    halves = np.array_split(np.random.default_rng(seed).permutation(judge.n_rows)[: 2 * BAG_ROWS], 2)
    if n_groups == 1 or kept.size == 1 or judge.n_rows < ENOUGH:
        return same

    def of_groups(part):
        found = same.copy()
        for group in range(n_groups):

            def made(tried, group=group):
                every = found.copy()
                every[group, kept] = tried
                return every[groups]

            found[group, kept] = climbed(part, found[group, kept], made)
        return found

    parts = [judge.part(np.sort(half)) for half in halves]
    gains = [b.value(of_groups(a)[groups]) - b.value(weights) for a, b in (parts, parts[::-1])]
    return of_groups(judge) if np.mean(gains) > PAYS and min(gains) > 0 else same
