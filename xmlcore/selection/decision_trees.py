"""BRDT: a decision tree for each label, on the features selected for it; what selections are compared with."""

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import decision_trees as _kernels
from xmlcore.parallel import run_tasks
from xmlcore.progress import Progress, silent
from xmlcore.system import effective_jobs
from xmlcore.validation import INT32_MAX, check_count, check_features, check_labels, csr_parts

DENSE_FROM = 1 / 16  # density at which scikit-learn's trees are quicker on dense columns
DENSE_BYTES = 1 << 28  # columns of one label larger than this stay sparse
PREDICT_ROWS = 256  # most rows per task
PREDICT_VALUES = 1 << 22  # (row, label) values at a time in predict, per thread: 16 MiB


class BRDT:
    """Binary relevance of decision trees: one scikit-learn tree per label, on that label's features.

    Parameters
    ----------
    selected : array_like of int, shape (L, k) or (1, k), optional
        Ids of the features that each label's tree may use, or of those that all use. All features when None. Their
        order does not matter.
    n_jobs : int, optional
        Threads; None and -1 mean all cores this process may use. Trees do not depend on it.
    random_state : int
        At each node features are looked at in random order, which decides between splits of equal worth. Each label
        has random numbers of its own.
    **tree_params
        Parameters of :class:`sklearn.tree.DecisionTreeClassifier`, such as ``max_depth`` or ``min_samples_leaf``; its
        defaults, which grow trees until leaves are pure or have equal rows, when not given.

    Attributes
    ----------
    n_features_in_, n_labels_ : int
    n_nodes_ : ndarray of int64, shape (L,)
        Nodes of each tree; 1 for a label that no training row has, or all have, whose probability is then 0 or 1.

    Notes
    -----
    Training takes about O(nonzeros of the label's columns * depth) time per label. scikit-learn's trees are given
    sparse columns, or dense float32 ones where at least one value in 16 is not 0 and they take at most 256 MiB; which
    of them depends on the data alone. In memory, a model takes 24 bytes per node; fully grown trees have up to two
    nodes per training row.

    References
    ----------
    FALS: Feature attribution for label-specific feature selection in multi-label learning, section 4.2.1.

    Examples
    --------
    >>> from xmlcore.selection import BRDT
    >>> X = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]
    >>> BRDT([[0], [1]]).fit(X, [[0], [0, 1], [1], []]).predict_proba([[1.0, 0.0]]).tolist()
    [[1.0, 0.0]]
    """

    def __init__(self, selected=None, n_jobs=None, random_state=0, **tree_params):
        self.selected = selected
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.tree_params = tree_params

    def __repr__(self):
        shape = None if self.selected is None else np.shape(self.selected)
        params = "".join(f", {name}={value!r}" for name, value in self.tree_params.items())
        chosen = "all features" if shape is None else f"{shape[-1]:,} features per label"
        return f"BRDT({chosen}, random_state={self.random_state!r}{params})"

    def fit(self, X, Y, progress: Progress = silent) -> "BRDT":
        """Train a tree for each label.

        Parameters
        ----------
        X : sparse or dense, shape (N, D)
        Y : sparse or dense binary, shape (N, L), or lists of label ids
        progress : callable, optional
            See :class:`xmlcore.progress.Progress`; an exception from it stops the training.

        Returns
        -------
        BRDT
            Itself. When training is stopped, it stays as it was.

        Raises
        ------
        ValueError, TypeError
            Bad parameters, data or selection; the message names them.
        """
        from sklearn.tree import DecisionTreeClassifier

        check_count(self.random_state, "random_state", least=0, most=INT32_MAX)
        effective_jobs(self.n_jobs)
        unknown = sorted(set(self.tree_params) - set(DecisionTreeClassifier().get_params()))
        if unknown:
            raise TypeError(f"DecisionTreeClassifier has no parameter {', '.join(unknown)}")
        X = check_features(X)
        Y = check_labels(Y, n_rows=X.shape[0])
        if X.shape[0] == 0:
            raise ValueError("X has no rows to train on")
        n_labels = Y.shape[1]
        selected = check_selection(self.selected, X.shape[1], n_labels)
        if selected is not None and (selected == selected[0]).all():
            selected = selected[:1]  # columns are taken once for all labels
        X, columns = sp.csc_array(X), sp.csc_array(Y)
        shared = None
        if selected is None:
            shared = tree_columns(X)
        elif selected.shape[0] == 1:
            shared = tree_columns(X[:, np.unique(selected[0])])

        def train(label):
            rows = columns.indices[columns.indptr[label] : columns.indptr[label + 1]]
            if rows.size in (0, X.shape[0]):
                return _leaf(rows.size > 0)
            y = np.zeros(X.shape[0])
            y[rows] = 1.0
            if selected is None:
                own, data = None, shared
            elif shared is not None:
                own, data = np.unique(selected[0]), shared
            else:
                own = np.unique(selected[label])
                data = tree_columns(X[:, own])
            tree = DecisionTreeClassifier(random_state=label_seed(self.random_state, label), **self.tree_params)
            return _flat(tree.fit(data, y, check_input=False).tree_, own)

        n_true = np.diff(columns.indptr)
        costs = 1 + np.minimum(n_true, X.shape[0] - n_true)
        trees = run_tasks(train, range(n_labels), costs, self.n_jobs, progress, "Growing trees", "labels")
        self.n_nodes_ = np.array([tree[0].size for tree in trees], np.int64)
        self._tree_ptr = np.concatenate([[0], np.cumsum(self.n_nodes_)])
        self._nodes = tuple(np.concatenate(parts) for parts in zip(*trees))
        self.n_features_in_, self.n_labels_ = X.shape[1], n_labels
        return self

    def predict_proba(self, X, progress: Progress = silent) -> np.ndarray:
        """Share of training rows with the label in the leaf that a row comes to.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
            With all features; each tree looks at its own.
        progress : callable, optional
            See :class:`xmlcore.progress.Progress`.

        Returns
        -------
        ndarray of float32, shape (n, L)

        Raises
        ------
        NotFittedError, ValueError, TypeError
        """
        X = self._check_input(X)
        found = np.empty((X.shape[0], self.n_labels_), np.float32)

        def one_block(block):
            self._predict_into(X[slice(*block)], found[slice(*block)])

        blocks = _blocks(X.shape[0], PREDICT_ROWS)
        run_tasks(one_block, blocks, [b - a for a, b in blocks], self.n_jobs, progress, "Predicting", "blocks of rows")
        return found

    def predict(self, X) -> sp.csr_array:
        """Labels of a probability above 0.5, as scikit-learn's trees decide; found without n * L values in memory.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)

        Returns
        -------
        scipy.sparse.csr_array of bool, shape (n, L)
        """
        X = self._check_input(X)

        def one_block(block):
            found = np.empty((block[1] - block[0], self.n_labels_), np.float32)
            self._predict_into(X[slice(*block)], found)
            return sp.csr_array(found > 0.5)

        blocks = _blocks(X.shape[0], max(1, min(PREDICT_ROWS, PREDICT_VALUES // self.n_labels_)))
        parts = run_tasks(one_block, blocks, [b - a for a, b in blocks], self.n_jobs)
        if not parts:
            return sp.csr_array((0, self.n_labels_), dtype=bool)
        return sp.csr_array(sp.vstack(parts, format="csr"))

    def _check_input(self, X):
        if not hasattr(self, "n_features_in_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("This BRDT is not fitted yet: call fit(X, Y) first")
        return check_features(X, self.n_features_in_)

    def _predict_into(self, X, out):
        _kernels.predict(*csr_parts(X), self.n_features_in_, self._tree_ptr, *self._nodes, out)


def check_selection(selected, n_features: int, n_labels: int) -> np.ndarray | None:
    """Turn a selection into int32 of shape (L, k) or (1, k), or say what is wrong with it.

    Parameters
    ----------
    selected : array_like of int, or None
    n_features, n_labels : int

    Returns
    -------
    ndarray of int32, or None

    Raises
    ------
    ValueError, TypeError
    """
    if selected is None:
        return None
    try:
        ids = np.asarray(selected)
    except ValueError as error:
        raise ValueError("selected is no matrix: its rows have different lengths") from error
    if ids.ndim != 2 or ids.shape[0] not in (1, n_labels) or ids.shape[1] == 0:
        raise ValueError(
            f"selected has shape {ids.shape}: a row of feature ids for each of {n_labels} labels is needed, "
            "or one row for all"
        )
    if ids.dtype.kind not in "iu":
        raise TypeError(f"selected holds {ids.dtype} values: feature ids are whole numbers")
    bad = np.argwhere((ids < 0) | (ids >= n_features))
    if bad.size:
        row, place = bad[0].tolist()
        raise ValueError(
            f"selected has the feature id {ids[row, place]} for label {row}: ids go from 0 to {n_features - 1}"
        )
    return np.ascontiguousarray(ids, dtype=np.int32)


def tree_columns(X: sp.csc_array):
    """Columns as scikit-learn's trees take them unchecked: float32, sparse or dense, whichever is quicker.

    Both give the same trees; which of them it is depends on the columns alone.
    """
    cells = X.shape[0] * X.shape[1]
    if X.nnz >= DENSE_FROM * cells and 4 * cells <= DENSE_BYTES:
        return np.asfortranarray(X.toarray(), dtype=np.float32)
    if not X.has_sorted_indices:
        X = X.sorted_indices()
    return sp.csc_matrix(
        (X.data.astype(np.float32, copy=False), X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape
    )


def label_seed(random_state: int, label: int) -> int:
    """Return the seed of a label's own random numbers."""
    return int(np.random.SeedSequence([random_state, label]).generate_state(1)[0]) & INT32_MAX


def _leaf(always):
    """Nodes of a tree that says the same of every row."""
    return (
        np.full(1, -1, np.int32),
        np.zeros(1),
        np.zeros(1, np.int32),
        np.zeros(1, np.int32),
        np.full(1, 1.0 if always else 0.0, np.float32),
    )


def _flat(tree, features):
    """Nodes of a scikit-learn tree as the kernel takes them."""
    inner = tree.children_left >= 0
    feature = np.where(inner, tree.feature, 0)
    feature = feature if features is None else features[feature]
    weight = tree.value[:, 0, :]  # of each class: shares, or counts in older versions
    return (
        np.where(inner, feature, -1).astype(np.int32),
        np.where(inner, tree.threshold, 0.0),
        np.where(inner, tree.children_left, 0).astype(np.int32),
        np.where(inner, tree.children_right, 0).astype(np.int32),
        (weight[:, 1] / weight.sum(axis=1)).astype(np.float32),
    )


def _blocks(n, size):
    return [(start, min(start + size, n)) for start in range(0, n, size)]
