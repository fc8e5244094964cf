"""LIFT: features made for each label, the distances of a row to clusters of the rows with and without the label."""

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import decision_trees as kernels
from xmlcore.arrays import pointers
from xmlcore.models.saving import ModelFormatError, check_types
from xmlcore.parallel import run_tasks
from xmlcore.parameters import N_JOBS, About, Parameter, described
from xmlcore.selection.decision_trees import (
    LABEL_SEED,
    TREE_BYTES,
    TreeOfEachLabel,
    binary_column,
    check_columns,
    flat,
    label_seed,
    without_split,
)
from xmlcore.system import effective_jobs
from xmlcore.typing import RandomState
from xmlcore.validation import INT32_MAX, check_count, check_features, check_labels, csr_parts

MOST_ROUNDS = 100  # of k-means
DISTANCE_BYTES = 24  # of a row and a centre, at most, while rows are clustered or predicted


@described
class LIFT(TreeOfEachLabel):
    """Trees on label-specific features: the distances of a row to clusters made for the label (Zhang and Wu, 2015).

    The rows that have a label and those that do not are clustered separately, by k-means, into ceil(ratio * m) clusters
    each, where m is the smaller number of rows. The distances of a row to all centres are its features for the label. A
    decision tree learns from them, as in the comparisons of the paper on FALS; LIFT's own paper uses linear support
    vector machines.

    {parameters}

    Attributes
    ----------
    n_features_in_, n_labels_ : int
    n_nodes_ : ndarray of int64, shape (L,)
        The number of nodes of each tree.
    n_centers_ : ndarray of int64, shape (L,)
        The number of features made for each label; 0 for a label that all training rows have, or none.

    Examples
    --------
    >>> from xmlcore.selection import LIFT
    >>> X = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.0, 0.9]]
    >>> LIFT().fit(X, [[0], [0], [1], [1]]).predict_proba([[1.0, 0.0]]).tolist()
    [[1.0, 0.0]]
    """

    ABOUT = About(
        "LIFT",
        "Clusters the rows with and without each label. A row's features for the label are its distances to the "
        "clusters: they are new features, none is selected. The paper on FALS compares with it.",
        "Zhang and Wu, IEEE TPAMI 2015",
        color="#D55E00",
        mark="triangle-up",
    )
    PARAMETERS = (
        Parameter(
            "ratio", "Clusters",
            "Number of clusters of the rows with a label, and of those without it, as a share of the smaller number of "
            "rows. The paper uses 0.1.",
            "float", 0.1, minimum=0.0, above_minimum=True, maximum=1.0, offered=(0.01, 1.0),
        ),
        N_JOBS,
        LABEL_SEED,
    )  # fmt: skip

    ratio: float = 0.1
    n_jobs: int | None = None
    random_state: RandomState = 0

    def _fit(self, X, Y, progress):
        from sklearn.tree import DecisionTreeClassifier

        X = check_features(X)
        Y = sp.csc_array(check_labels(Y, n_rows=X.shape[0]))
        (n, n_features), n_true = X.shape, np.diff(Y.indptr)
        if n == 0:
            raise ValueError("X has no rows to train on")
        each = np.ceil(self.ratio * np.minimum(n_true, n - n_true)).astype(np.int64)
        ends = pointers(2 * each)
        at_once = DISTANCE_BYTES * n * int(each.max(initial=0))
        centers_bytes = 4 * n_features * int(ends[-1])
        check_columns(self, X, n_true.size, TREE_BYTES, at_once, effective_jobs(self.n_jobs), centers_bytes)
        centers, seed = np.empty((n_features, ends[-1]), np.float32), self._entropy()

        def one_label(label):
            if not each[label]:
                return without_split(n_true[label] > 0)
            y, own = binary_column(Y, label), slice(ends[label], ends[label + 1])
            random = np.random.default_rng(label_seed(seed, label))
            parts = [cluster_centers(X[y == side], each[label], random) for side in (1.0, 0.0)]
            centers[:, own] = np.concatenate(parts).T
            tree = DecisionTreeClassifier(random_state=label_seed(seed, label))
            found = distances(X, centers[:, own].copy())
            return flat(tree.fit(found, y, check_input=False).tree_, np.arange(ends[-1])[own])

        costs = 1 + each * n
        trees = run_tasks(one_label, range(n_true.size), costs, self.n_jobs, progress, "Clustering rows", "labels")
        self._set_trees(trees, n_features)
        self._centers, self.n_centers_ = centers, 2 * each

    def _predict_into(self, X, out):
        n, width = X.shape[0], self._centers.shape[1]
        found = distances(X, self._centers)
        every = sp.csr_array((found.ravel(), np.tile(np.arange(width), n), np.arange(n + 1) * width), (n, width))
        kernels.predict(*csr_parts(every), width, self._tree_ptr, *self._nodes, out)

    def _state(self):
        arrays = {"centers": self._centers, "n_centers": self.n_centers_}
        return {"n_features": self.n_features_in_}, arrays | self._node_arrays()

    def _restore(self, values, arrays):
        centers, n_centers = arrays["centers"], arrays["n_centers"]
        n_features = check_count(values["n_features"], "n_features", most=INT32_MAX)
        check_types(arrays, {"n_centers": ("int64", (arrays["nodes_of_tree"].size,))})
        check_types(arrays, {"centers": ("float32", (n_features, int(n_centers.sum())))})
        if not np.isfinite(centers).all() or n_centers.min(initial=0) < 0:
            raise ModelFormatError("the centres in its arrays are not finite, or their number is below 0")
        self._restore_nodes(arrays, centers.shape[1], n_features)
        self._centers, self.n_centers_ = centers, n_centers


def distances(X: sp.csr_array, centers: np.ndarray) -> np.ndarray:
    """Return the distance of each row to each column of ``centers``, float32 (n, k)."""
    X, centers = X.astype(np.float64), centers.astype(np.float64)  # in float32 what is far from 0 loses its distances
    squares = X.multiply(X).sum(axis=1).reshape(-1, 1) + (centers**2).sum(axis=0) - 2 * (X @ centers)
    return np.sqrt(np.maximum(squares, 0)).astype(np.float32)


def cluster_centers(X: sp.csr_array, k: int, random: np.random.Generator) -> np.ndarray:
    """Return the centres of k clusters of rows by k-means, float32 (k, D)."""
    n = X.shape[0]
    centers, before = X[np.sort(random.choice(n, k, replace=False))].toarray(), None
    for _ in range(MOST_ROUNDS):
        away = distances(X, np.ascontiguousarray(centers.T))
        own = away.argmin(axis=1)
        counts, away = np.bincount(own, minlength=k), away[np.arange(n), own]
        for empty in np.flatnonzero(counts == 0):
            far = int(np.where(counts[own] > 1, away, -1).argmax())
            counts[own[far]] -= 1
            own[far], counts[empty], away[far] = empty, 1, 0
        if before is not None and np.array_equal(own, before):
            break
        before = own
        members = sp.csr_array((np.ones(n, np.float32), (own, np.arange(n))), shape=(k, n))
        centers = (members @ X).toarray() / counts[:, None].astype(np.float32)
    return centers
