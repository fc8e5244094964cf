"""Label trees as a source of candidates, in place of the nearest centroids."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.models.plt import CLUSTERING, PLT
from xmlcore.models.saving import ModelFormatError, restored_part, state_of_part
from xmlcore.progress import Progress, part_of, silent

COLLAPSED = 3  # number of tree layers that are left out: better and faster on wordnet-class than leaving out none
LEAST = -20.0  # least log probability: smaller ones say no more, and would stretch the scale of the feature
FOLDS = 3  # number of trees in cross-fitting
PHASE = "Training label trees"
PREFIX = "plt."  # begins the names of the tree's arrays in a saved model


class TreeCandidates(NamedTuple):
    """A probabilistic label tree over the classes that have training rows."""

    plt: PLT
    classes: np.ndarray  # int32, in rising order: the class that each label of the tree stands for

    @classmethod
    def fit(cls, X, Y, seed, n_jobs, progress: Progress = silent) -> "TreeCandidates":
        """Train a label tree.

        Parameters
        ----------
        X : csr_array of float32, shape (N, V)
            What :func:`as_vectors` returns.
        Y : csr_array of bool, shape (N, L)
        seed : int
        n_jobs : int or None
        progress : callable, optional
        """
        classes = np.unique(Y.indices).astype(np.int32)
        return cls(_trained(X, Y[:, classes], seed, n_jobs, progress), classes)

    def top(self, X, q: int, n_jobs, progress: Progress = silent) -> np.ndarray:
        """Return the q most probable classes of each row, int32 (n, q); q is at most the number of ``classes``."""
        labels = self.plt.set_params(n_jobs=n_jobs).predict_topk(X, q, progress).labels
        return self.classes[labels]

    def log_proba(self, X, classes, n_jobs) -> np.ndarray:
        """Return the log probabilities of some classes of each row.

        Parameters
        ----------
        X : csr_array, shape (n, V)
        classes : ndarray of int, shape (n, q)
            -1 where there is none.
        n_jobs : int or None

        Returns
        -------
        ndarray of float64, shape (n, q)
            At least ``LEAST``; nan for class -1.
        """
        labels = np.searchsorted(self.classes, classes).clip(max=self.classes.size - 1).astype(np.int32)
        known = self.classes[labels] == classes
        found = self.plt.set_params(n_jobs=n_jobs).label_probabilities(X, labels)
        out = np.log(np.maximum(found, np.exp(LEAST)))
        return np.where(known, out, np.where(classes < 0, np.nan, LEAST))

    def state(self) -> tuple[dict, dict]:
        """Return values for JSON and arrays, to be saved."""
        values, arrays = state_of_part(self.plt)
        return values, {PREFIX + name: array for name, array in arrays.items()} | {PREFIX + "classes": self.classes}

    @classmethod
    def restored(cls, values, arrays, class_size) -> "TreeCandidates":
        """Undo :meth:`state`; raise ModelFormatError when the tree does not fit the classes of the model."""
        own = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
        classes = own.pop("classes")
        plt = restored_part(PLT(), values, own)
        if (
            classes.dtype != np.int32
            or not np.array_equal(classes, np.flatnonzero(class_size))
            or plt.n_labels_ != classes.size
        ):
            raise ModelFormatError("its label tree is of other classes: the file was damaged")
        return cls(plt, classes)


class CrossFitted(NamedTuple):
    """Trees that are each trained without a part of the rows: on these rows they behave as on new ones."""

    trees: list[TreeCandidates]
    fold: np.ndarray  # int64 (N,): the tree that was trained without the row

    @classmethod
    def fit(cls, X, Y, seed, n_jobs, progress: Progress = silent) -> "CrossFitted":
        """Train one tree per fold; rows are assigned to folds at random. See :meth:`TreeCandidates.fit`."""
        n = X.shape[0]
        if n < 2:
            raise ValueError(
                "the label tree's feature needs two training rows at least: for each row it comes from a tree that was "
                "trained without the row"
            )
        folds = min(FOLDS, n)
        random = np.random.default_rng(seed)
        fold = random.permutation(np.arange(n) % folds)
        classes = np.unique(Y.indices).astype(np.int32)
        Y, trees = Y[:, classes], []
        for f in range(folds):
            rest = np.flatnonzero(fold != f)
            part = part_of(progress, f / folds, (f + 1) / folds, detail=f"tree {f + 1} of {folds}")
            plt = _trained(X[rest], Y[rest], int(random.integers(2**32)), n_jobs, part)
            trees.append(TreeCandidates(plt, classes))
        return cls(trees, fold)

    def top(self, X, rows, q, n_jobs):
        """Return what :meth:`TreeCandidates.top` does, for some rows of the training data X."""
        out = np.empty((rows.size, q), np.int32)
        for f, tree in enumerate(self.trees):
            own = np.flatnonzero(self.fold[rows] == f)
            out[own] = tree.top(X[rows[own]], q, n_jobs)
        return out

    def log_proba(self, X, rows, classes, n_jobs):
        """Return what :meth:`TreeCandidates.log_proba` does, for some rows of the training data X."""
        out = np.empty(classes.shape)
        for f, tree in enumerate(self.trees):
            own = np.flatnonzero(self.fold[rows] == f)
            out[own] = tree.log_proba(X[rows[own]], classes[own], n_jobs)
        return out


def as_vectors(x, weight) -> sp.csr_array:
    """Weight rows as centroids are weighted, for a label tree.

    The largest value of each row becomes 1, which keeps it within float32; PLT scales rows to length 1 anyway.

    Parameters
    ----------
    x : CSR rows in the model's columns
    weight : ndarray of float64, shape (V,)

    Returns
    -------
    csr_array of float32, shape (n, V)
    """
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
        done = 0.2 * fraction if phase == CLUSTERING else 0.2 + 0.8 * fraction  # share of the time, roughly
        progress(PHASE, done, f"{phase[0].lower()}{phase[1:]}, {detail}" if detail else "")

    return plt.fit(X, Y, report)
