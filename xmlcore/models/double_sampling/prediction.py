"""Prediction: check rows and classes, find the candidates of rows, compute their features, and rank them by f."""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import ds_features, ds_nearest
from xmlcore._kernels.ds_classes import ClassIndex, MoreOfClasses
from xmlcore.models.double_sampling.candidates import TreeCandidates, as_vectors
from xmlcore.parallel import row_blocks, run_blocks
from xmlcore.progress import Progress, silent

BLOCK = 256  # number of rows per task


def check_class_ids(classes, n_rows: int, n_labels: int) -> np.ndarray:
    """Return lists of q class ids, one list for each row, as int32 of shape (n_rows, q); -1 stands for no class."""
    classes = np.asarray(classes)
    if classes.dtype.kind not in "iu":
        raise TypeError(f"classes holds {classes.dtype} values: class ids are whole numbers")
    if classes.ndim != 2 or classes.shape[0] != n_rows:
        raise ValueError(
            f"classes has the shape {classes.shape}: a row of class ids for each of the {n_rows} rows of X"
        )
    if classes.size and not (classes.min() >= -1 and classes.max() < n_labels):
        raise ValueError(
            f"classes holds {classes.min()} to {classes.max()}: ids go from 0 to {n_labels - 1}, or are -1 for no class"
        )
    return np.array(classes, np.int32, order="C")


def check_amounts(X: sp.csr_array, negative: str) -> sp.csr_array:
    """Return X with negative values replaced by 0, or, with "refuse", raise an error that names the first of them."""
    places = np.flatnonzero(X.data < 0)
    if places.size == 0:
        return X
    row = int(np.searchsorted(X.indptr, places[0], side="right")) - 1
    message = (
        f"X holds {places.size:,} negative value(s), the first {X.data[places[0]]:.4g} at row {row}, "
        f"column {int(X.indices[places[0]])}"
    )
    if negative == "refuse":
        raise ValueError(
            f"Negative values in data: {message}. This model needs amounts, such as counts of words. Scale each "
            "feature to start at 0, or, when negative values are noise, set negative='zero'"
        )
    warnings.warn(f"{message}: negative values are taken as 0", UserWarning, stacklevel=6)
    return without_negative(X)


def without_negative(X: sp.csr_array) -> sp.csr_array:
    """Replace negative values by 0, in place, and return X."""
    if (X.data < 0).any():
        X.data[X.data < 0] = 0
        X.eliminate_zeros()
    return X


def some_rows(x, first: int, last: int) -> tuple:
    """Return rows ``first`` to ``last`` - 1 of CSR arrays (pointers, columns, values)."""
    ptr, columns, values = x
    a, b = ptr[first], ptr[last]
    return ptr[first : last + 1] - a, columns[a:b], values[a:b]


class ClassRanker(NamedTuple):
    """The parts of a fitted model that find and rank candidates."""

    index: ClassIndex
    more: MoreOfClasses
    tree: TreeCandidates | None  # the source of candidates; None for the nearest centroids
    has_tree_feature: bool  # whether the last feature is the log probability from the label tree
    weights: np.ndarray  # float64 (p,): the weights of f

    def candidates(self, x, q: int, n_jobs, progress: Progress = silent) -> np.ndarray:
        """Return the q candidates of each row, best first: int32 (n, q)."""
        if self.tree is not None:
            return self.tree.top(as_vectors(x, self.index.weight), q, n_jobs, progress)
        out = np.empty((x[0].size - 1, q), np.int32)

        def one_block(block):
            ds_nearest.nearest_block(*some_rows(x, *block), self.index, out[slice(*block)])

        run_blocks(one_block, row_blocks(out.shape[0], BLOCK), n_jobs, progress, "Finding candidates")
        return out

    def ranked(self, x, q: int, n_jobs, progress: Progress = silent) -> tuple[np.ndarray, np.ndarray]:
        """Rank the q candidates of each row by the learnt function f, largest first."""
        labels = np.empty((x[0].size - 1, q), np.int32)
        f, labels_are_given, logs = np.empty(labels.shape), self.tree is not None, np.empty((0, 0))
        if labels_are_given:
            vectors = as_vectors(x, self.index.weight)
            labels = np.sort(self.tree.top(vectors, q, n_jobs, progress), axis=1)
            progress = silent  # searching the tree takes nearly all of the time
        if self.has_tree_feature:
            logs = self.tree.log_proba(vectors, labels, n_jobs)

        def one_block(block):
            """Rank a block of rows, after finding their candidates unless a label tree has found them."""
            part, rows = slice(*block), some_rows(x, *block)
            ds_features.rank_block(
                rows, self.index, self.more, labels_are_given, logs[part], self.weights, labels[part], f[part]
            )

        run_blocks(one_block, row_blocks(labels.shape[0], BLOCK), n_jobs, progress, "Predicting")
        return labels, f

    def features(self, x, classes, n_jobs) -> np.ndarray:
        """Compute the features of each row with each class in its row of ``classes``: float64 (n, q, p)."""
        out = np.empty((*classes.shape, self.weights.size))

        def one_block(block):
            part = slice(*block)
            ds_features.feature_block(*some_rows(x, *block), classes[part], self.index, self.more, out[part])

        run_blocks(one_block, row_blocks(out.shape[0], BLOCK), n_jobs)
        if self.has_tree_feature:
            out[..., -1] = self.tree.log_proba(as_vectors(x, self.index.weight), classes, n_jobs)
        return out


def softmax(f) -> np.ndarray:
    """Return exp(f), divided by the sum of exp(f) over the row: float32, shape as ``f``."""
    if f.size == 0:
        return np.empty(f.shape, np.float32)
    shares = np.exp(f - f.max(axis=1, keepdims=True))
    return (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)


def label_matrix(labels, values, n_labels: int) -> sp.csr_array:
    """Return a CSR matrix of shape (n, n_labels) that holds ``values[i, j]`` at row i, column ``labels[i, j]``."""
    ptr = np.arange(0, labels.size + 1, labels.shape[1])
    matrix = sp.csr_array((values.ravel(), labels.ravel(), ptr), shape=(labels.shape[0], n_labels))
    matrix.sort_indices()
    matrix.eliminate_zeros()
    return matrix
