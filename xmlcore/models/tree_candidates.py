"""Candidates of double sampling from a label tree, in place of the nearest centroids."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.models.base import ModelFormatError
from xmlcore.models.label_tree import CLUSTERING
from xmlcore.models.plt import PLT
from xmlcore.parallel import run_tasks
from xmlcore.progress import Progress, silent
from xmlcore.validation import csr_parts

COLLAPSED = 3  # layers of the tree that are left out: better than none of wordnet-class's, and quicker
LEAST = -20.0  # smaller logarithms of probabilities say no more, and would stretch the feature's scale
FOLDS = 3
BLOCK = 1024  # rows whose probabilities are computed in one go
PHASE = "Training label trees"
PREFIX = "plt."  # of its arrays in a saved model


class TreeCandidates(NamedTuple):
    """A probabilistic label tree over the classes that have training rows."""

    plt: PLT
    classes: np.ndarray  # int32, the class that each of the tree's labels is, rising

    @classmethod
    def fit(cls, X, Y, seed, n_jobs, progress: Progress = silent) -> "TreeCandidates":
        """Train on rows as :func:`as_vectors` has them, and their classes, CSR."""
        classes = np.unique(Y.indices).astype(np.int32)
        return cls(_trained(X, Y[:, classes], seed, n_jobs, progress), classes)

    def top(self, X, q: int, n_jobs, progress: Progress = silent) -> np.ndarray:
        """The q most probable classes of each row, int32 (n, q); q is at most the number of ``classes``."""
        labels = self.plt.set_params(n_jobs=n_jobs).predict_topk(X, q, progress).labels
        return self.classes[labels]

    def log_proba(self, X, classes, n_jobs) -> np.ndarray:
        """Logarithm of the probability of some classes, int (n, q): float64 (n, q), at least ``LEAST``; nan for -1."""
        labels = np.searchsorted(self.classes, classes).clip(max=self.classes.size - 1).astype(np.int32)
        known = self.classes[labels] == classes
        n, q = classes.shape
        x, out = csr_parts(X), np.empty((n, q))

        def one_block(first):
            last = min(first + BLOCK, n)
            ptr = np.arange(last - first + 1) * q
            taken = self.plt._take(x, (first, last))
            found = self.plt._mean_scores(taken, np.arange(last - first), ptr, labels[first:last].ravel())
            out[first:last] = np.log(np.maximum(found, np.exp(LEAST))).reshape(last - first, q)

        starts = range(0, n, BLOCK)
        run_tasks(one_block, starts, [1.0] * len(starts), n_jobs)
        return np.where(known, out, np.where(classes < 0, np.nan, LEAST))

    def state(self) -> tuple[dict, dict]:
        """Values and arrays for saving."""
        values, arrays = self.plt._state()
        return values, {PREFIX + name: array for name, array in arrays.items()} | {PREFIX + "classes": self.classes}

    @classmethod
    def restored(cls, values, arrays, class_size) -> "TreeCandidates":
        """Inverse of :meth:`state`; raises ModelFormatError when it does not fit the classes of the model."""
        own = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
        classes, plt = own.pop("classes"), PLT()
        plt._restore(values, own)
        if (
            classes.dtype != np.int32
            or not np.array_equal(classes, np.flatnonzero(class_size))
            or plt.n_labels_ != classes.size
        ):
            raise ModelFormatError("its label tree is of other classes: the file was damaged")
        return cls(plt, classes)


class CrossFitted(NamedTuple):
    """Trees, each trained without a part of the rows, to say of these what a tree says of new rows."""

    trees: list[TreeCandidates]
    fold: np.ndarray  # int64 (N,), the tree that a row was kept from

    @classmethod
    def fit(cls, X, Y, seed, n_jobs, progress: Progress = silent) -> "CrossFitted":
        """Train one tree per fold; rows are dealt to folds at random, in equal numbers."""
        n = X.shape[0]
        if n < 2:
            raise ValueError("the label tree's features need two training rows at least: each is judged without itself")
        folds = min(FOLDS, n)
        random = np.random.default_rng(seed)
        fold = random.permutation(np.arange(n) % folds)
        classes = np.unique(Y.indices).astype(np.int32)
        Y, trees = Y[:, classes], []
        for f in range(folds):
            rest = np.flatnonzero(fold != f)
            plt = _trained(X[rest], Y[rest], int(random.integers(2**32)), n_jobs, _part(progress, f, folds))
            trees.append(TreeCandidates(plt, classes))
        return cls(trees, fold)

    def top(self, X, rows, q, n_jobs):
        """As :meth:`TreeCandidates.top`, of some rows of the training data X."""
        out = np.empty((rows.size, q), np.int32)
        for f, tree in enumerate(self.trees):
            own = np.flatnonzero(self.fold[rows] == f)
            out[own] = tree.top(X[rows[own]], q, n_jobs)
        return out

    def log_proba(self, X, rows, classes, n_jobs):
        """As :meth:`TreeCandidates.log_proba`, of some rows of the training data X."""
        out = np.empty(classes.shape)
        for f, tree in enumerate(self.trees):
            own = np.flatnonzero(self.fold[rows] == f)
            out[own] = tree.log_proba(X[rows[own]], classes[own], n_jobs)
        return out


def as_vectors(x, weight) -> sp.csr_array:
    """Rows in columns in the space of centroids, float32; the largest value of each is 1: PLT scales them anyway."""
    ptr, terms, values = x
    values = values * weight[terms]
    largest = np.zeros(ptr.size - 1)
    filled = np.flatnonzero(np.diff(ptr))
    if filled.size:
        largest[filled] = np.maximum.reduceat(values, ptr[filled])
    values = values / np.repeat(largest, np.diff(ptr))
    shape = (ptr.size - 1, max(1, weight.size))
    return sp.csr_array((values.astype(np.float32), terms, ptr), shape=shape)


def _trained(X, Y, seed, n_jobs, progress):
    plt = PLT(collapse_layers=COLLAPSED, random_state=seed, n_jobs=n_jobs)

    def report(phase, fraction, detail=""):
        done = 0.2 * fraction if phase == CLUSTERING else 0.2 + 0.8 * fraction  # of the time, roughly
        progress(PHASE, done, f"{phase[0].lower()}{phase[1:]}, {detail}" if detail else "")

    return plt.fit(X, Y, report)


def _part(progress, number, count):
    """Progress of one tree as a part of all, so that it rises once from 0 to 1."""

    def report(phase, fraction, detail=""):
        said = f"tree {number + 1} of {count}"
        progress(phase, (number + fraction) / count, f"{said}: {detail}" if detail else said)

    return report
