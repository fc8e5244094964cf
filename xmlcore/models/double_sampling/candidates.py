"""Label trees that find the candidates, as an alternative to the nearest centroids."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.models.plt import PLT
from xmlcore.models.saving import ModelFormatError, below, under
from xmlcore.progress import Progress, part_of, silent

# Settings of the label tree.
TREE = {"arity": 2, "max_leaf_labels": 100, "loss": "logistic", "C": 10.0, "normalize": "l2"}
COLLAPSED = 3  # collapse_layers of the label tree: more accurate and faster on wordnet-class than 0
LEAST = -20.0  # smallest log probability: smaller ones are raised to it, or they would distort the feature's scale
FOLDS = 3  # number of trees in cross-fitting
PHASE = "Training label trees"
PREFIX = "plt."  # prefix of the names of the tree's arrays in a saved model


class TreeCandidates(NamedTuple):
    """A probabilistic label tree over the classes that have training rows."""

    plt: PLT
    classes: np.ndarray  # int32, in rising order: the class that each label of the tree stands for

    @classmethod
    def fit(cls, X, Y, seed, n_jobs, progress: Progress = silent) -> "TreeCandidates":
        classes = np.unique(Y.indices).astype(np.int32)
        return cls(_train(X, Y[:, classes], seed, n_jobs, progress), classes)

    def top(self, X, q: int, n_jobs, progress: Progress = silent) -> np.ndarray:
        """Return the q most probable classes of each row, int32 (n, q); q is at most the number of ``classes``."""
        labels = self.plt.set_params(n_jobs=n_jobs).predict_topk(X, q, progress=progress).labels
        return self.classes[labels]

    def log_proba(self, X, classes, n_jobs) -> np.ndarray:
        """Return the log probabilities of some classes of each row."""
        labels = np.searchsorted(self.classes, classes).clip(max=self.classes.size - 1).astype(np.int32)
        known = self.classes[labels] == classes
        probabilities = self.plt.set_params(n_jobs=n_jobs).label_probabilities(X, labels)
        logs = np.log(np.maximum(probabilities, np.exp(LEAST)))
        return np.where(known, logs, np.where(classes < 0, np.nan, LEAST))

    def state(self) -> tuple[dict, dict]:
        """Return what is saved of the tree: values for JSON, and arrays."""
        values, arrays = self.plt._state()
        return values, under(PREFIX, arrays | {"classes": self.classes})

    @classmethod
    def restored(cls, values, arrays, class_size) -> "TreeCandidates":
        """Return the tree that :meth:`state` saved; raise ModelFormatError if it has other classes than the model."""
        tree_arrays = below(PREFIX, arrays)
        classes = tree_arrays.pop("classes")
        plt = PLT()
        plt._restore(values, tree_arrays)
        plt._protect()
        if (
            classes.dtype != np.int32
            or not np.array_equal(classes, np.flatnonzero(class_size))
            or plt.n_labels_ != classes.size
        ):
            raise ModelFormatError("its label tree has other classes than the model: the file was damaged")
        return cls(plt, classes)


class CrossFitted(NamedTuple):
    """Several label trees, each trained without one part (fold) of the rows, which are new rows for this tree."""

    trees: list[TreeCandidates]
    fold: np.ndarray  # int64 (N,): position in ``trees`` of the tree that was trained without the row

    @classmethod
    def fit(cls, X, Y, seed, n_jobs, progress: Progress = silent) -> "CrossFitted":
        """Train one tree per fold; rows are assigned to folds at random. See :meth:`TreeCandidates.fit`."""
        n = X.shape[0]
        if n < 2:
            raise ValueError(
                "the label tree's feature needs at least two training rows: its value for a training row comes from a "
                "tree that was trained without this row"
            )
        folds = min(FOLDS, n)
        random = np.random.default_rng(seed)
        fold = random.permutation(np.arange(n) % folds)
        classes = np.unique(Y.indices).astype(np.int32)
        Y, trees = Y[:, classes], []
        for f in range(folds):
            rest = np.flatnonzero(fold != f)
            part = part_of(progress, f / folds, (f + 1) / folds, detail=f"tree {f + 1} of {folds}")
            plt = _train(X[rest], Y[rest], int(random.integers(2**32)), n_jobs, part)
            trees.append(TreeCandidates(plt, classes))
        return cls(trees, fold)

    def top(self, X, rows, q, n_jobs):
        """Return the q most probable classes of some training rows, from trees trained without them: int32 (n, q)."""
        classes = np.empty((rows.size, q), np.int32)
        for f, tree in enumerate(self.trees):
            in_fold = np.flatnonzero(self.fold[rows] == f)
            classes[in_fold] = tree.top(X[rows[in_fold]], q, n_jobs)
        return classes

    def log_proba(self, X, rows, classes, n_jobs):
        """Return log probabilities of ``classes`` for some training rows, from the trees trained without them."""
        logs = np.empty(classes.shape)
        for f, tree in enumerate(self.trees):
            in_fold = np.flatnonzero(self.fold[rows] == f)
            logs[in_fold] = tree.log_proba(X[rows[in_fold]], classes[in_fold], n_jobs)
        return logs


def as_vectors(x, weight) -> sp.csr_array:
    """Multiply values by the weights of their terms; rows are divided by their largest, so that float32 is enough."""
    ptr, terms, values = x
    values = values * weight[terms]
    largest = np.zeros(ptr.size - 1)
    filled = np.flatnonzero(np.diff(ptr))
    if filled.size:
        largest[filled] = np.maximum.reduceat(values, ptr[filled])
    values = values / np.repeat(largest, np.diff(ptr))
    shape = (ptr.size - 1, max(1, weight.size))
    return sp.csr_array((values.astype(np.float32), terms, ptr), shape=shape)


def _train(X, Y, seed, n_jobs, progress):
    """Train a label tree, and report its two phases (clustering, training) as one."""
    plt = PLT(**TREE, collapse_layers=COLLAPSED, random_state=seed, n_jobs=n_jobs)

    def report(phase, fraction, detail=""):
        progress(PHASE, fraction, f"{phase[0].lower()}{phase[1:]}, {detail}" if detail else "")

    return plt.fit(X, Y, progress=report)
