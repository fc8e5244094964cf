"""BRDT: one decision tree per label, on the features that are selected for the label, to compare selections."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import decision_trees as kernels
from xmlcore.arrays import pointers
from xmlcore.models.base import Estimator, MultiLabelModel
from xmlcore.models.saving import ModelFormatError, check_types
from xmlcore.parallel import TASK_BYTES, row_blocks, run_blocks, run_tasks
from xmlcore.parameters import N_JOBS, SEED, SEEDS, Parameter, described
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.system import check_memory, effective_jobs
from xmlcore.typing import ArrayLike, Matrix, RandomState
from xmlcore.validation import (
    INT32_MAX,
    as_array,
    check_count,
    check_features,
    check_labels,
    check_threshold,
    csr_parts,
)

# Smallest share of non-zero values at which scikit-learn's trees are faster on dense than on sparse columns.
DENSE_FROM = 1 / 16
DENSE_BYTES = 1 << 28  # largest size of the dense columns of one label, in bytes
TREE_BYTES = 1100  # of a label's tree, at least
COLUMN_BYTES = 12  # that each column takes besides its values, while a matrix by rows becomes one by columns
SPLIT_BYTES = 16  # that a tree takes for each feature while it grows: the order in which it tries them
PREDICT_ROWS = 256  # largest number of rows that a thread predicts at a time
# Arrays of all nodes -> dtype; see the kernel.
NODES = {"feature": "int32", "threshold": "float64", "left": "int32", "right": "int32", "proba": "float32"}
PREDICT_VALUES = 1 << 22  # largest number of probabilities that predict holds per thread: 16 MiB as float32

LABEL_SEED = replace(SEED, maximum=INT32_MAX, offered=(0, INT32_MAX), details=f"{SEEDS} Each label has its own.")
PARAMETERS = (
    Parameter(
        "selected", "Features of each label",
        "Ids of the features that the tree of each label may use: int of shape (L, k), or of shape (1, k) for "
        "the same features in all trees. None: all features.",
        "array", None, optional=True, in_form=False, details="The order of ids does not matter.",
    ),
    N_JOBS,
    replace(
        SEED, maximum=INT32_MAX, offered=None, in_form=False,
        details=f"{SEEDS} At each node features are tried in random order, which decides between splits of equal "
        "worth. Each label has its own random numbers.",
    ),
)  # fmt: skip


class TreeOfEachLabel(Estimator):
    """Base of estimators with a scikit-learn tree for each label; a subclass has ``_predict_into(X, out)``."""

    _estimator_type = "classifier"
    classes_ = MultiLabelModel.classes_

    def predict_proba(self, X: Matrix, progress: ProgressLike = silent) -> np.ndarray:
        """Return the probability of each label: the share of training rows with the label in the leaf of the row.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
            With all features, also those that no tree uses.
        progress : :class:`xmlcore.progress.Progress` or "bar", optional
        """
        progress = to_progress(progress)
        X = self._check_input(X)
        proba = np.empty((X.shape[0], self.n_labels_), np.float32)

        def one_block(block):
            self._predict_into(X[slice(*block)], proba[slice(*block)])

        run_blocks(one_block, row_blocks(X.shape[0], PREDICT_ROWS), self.n_jobs, progress, "Predicting")
        return proba

    def predict(self, X: Matrix, threshold: float | None = None) -> sp.csr_array:
        """Return the labels of probability above 0.5, the rule of scikit-learn's trees, or of at least a threshold.

        This does not hold n * L values in memory.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        threshold : float in [0, 1], optional
            The labels are returned whose probability is at least this and not 0. None: those above 0.5.

        Returns
        -------
        scipy.sparse.csr_array of bool, shape (n, L)
            After a fit to one class for each row, and without a threshold: the most probable class, ndarray (n,).
        """
        if threshold is not None:
            threshold = check_threshold(threshold)
        X = self._check_input(X)
        if self._one_class and threshold is None:
            return self.classes_[self.predict_proba(X).argmax(axis=1)]

        def one_block(block):
            proba = np.empty((block[1] - block[0], self.n_labels_), np.float32)
            self._predict_into(X[slice(*block)], proba)
            return sp.csr_array(proba > 0.5 if threshold is None else (proba >= threshold) & (proba > 0))

        blocks = row_blocks(X.shape[0], max(1, min(PREDICT_ROWS, PREDICT_VALUES // self.n_labels_)))
        parts = run_blocks(one_block, blocks, self.n_jobs)
        if not parts:
            return sp.csr_array((0, self.n_labels_), dtype=bool)
        return sp.csr_array(sp.vstack(parts, format="csr"))

    def _node_arrays(self) -> dict:
        return {"nodes_of_tree": self.n_nodes_} | dict(zip(NODES, self._nodes))

    def _restore_nodes(self, arrays, n_columns, n_features) -> None:
        """Read what :meth:`_node_arrays` wrote; the trees read ``n_columns`` numbers of a row."""
        n_nodes, nodes = arrays["nodes_of_tree"], tuple(arrays[name] for name in NODES)
        check_types(arrays, {"nodes_of_tree": ("int64", 1)} | {name: (dtype, 1) for name, dtype in NODES.items()})
        if not _are_trees(n_nodes, *nodes, n_columns):
            raise ModelFormatError("the trees are invalid: the file was damaged or written by something else")
        self._set_fitted(n_nodes, nodes, n_features)

    def _set_trees(self, trees, n_features):
        n_nodes = np.array([tree[0].size for tree in trees], np.int64)
        self._set_fitted(n_nodes, tuple(np.concatenate(parts) for parts in zip(*trees)), n_features)

    def _set_fitted(self, n_nodes, nodes, n_features):
        """Set the fitted attributes, given the number of nodes of each tree and the arrays of all nodes."""
        self.n_nodes_, self._nodes, self._tree_ptr = n_nodes, nodes, pointers(n_nodes)
        self.n_features_in_, self.n_labels_ = n_features, n_nodes.size


@described
class BRDT(TreeOfEachLabel):
    """Binary relevance of decision trees: one scikit-learn tree per label, on that label's features.

    Trees grow until each leaf is pure or has equal rows: section 4.2.1 of the paper of FALS.

    {parameters}

    Attributes
    ----------
    n_features_in_, n_labels_ : int
    n_nodes_ : ndarray of int64, shape (L,)
        The number of nodes of each tree. It is 1 for a label that no training row has, or that all have; its
        probability is then 0 or 1.

    Examples
    --------
    >>> from xmlcore.selection import BRDT
    >>> X = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]
    >>> BRDT([[0], [1]]).fit(X, [[0], [0, 1], [1], []]).predict_proba([[1.0, 0.0]]).tolist()
    [[1.0, 0.0]]
    """

    PARAMETERS = PARAMETERS

    selected: ArrayLike | None = None
    n_jobs: int | None = None
    random_state: RandomState = 0

    def __repr__(self):
        shape = None if self.selected is None else np.shape(self.selected)
        chosen = "all features" if shape is None else f"{shape[-1]:,} features per label"
        return f"BRDT({chosen}, random_state={self.random_state!r})"

    def _fit(self, X, Y, progress):
        X = check_features(X)
        Y = check_labels(Y, n_rows=X.shape[0])
        if X.shape[0] == 0:
            raise ValueError("X has no rows to train on")
        n_labels = Y.shape[1]
        selected = check_selection(self.selected, X.shape[1], n_labels)
        if selected is not None and (selected == selected[0]).all():
            selected = selected[:1]  # so that the columns are extracted once for all labels
        tried = X.shape[1] if selected is None else selected.shape[1]
        check_columns(self, X, n_labels, TREE_BYTES, SPLIT_BYTES * tried, effective_jobs(self.n_jobs))
        trees = self._trained(sp.csc_array(X), sp.csc_array(Y), selected, progress)
        self._set_trees(trees, X.shape[1])

    def _trained(self, X, Y, selected, progress):
        from sklearn.tree import DecisionTreeClassifier

        seed = self._entropy()
        shared, shared_columns = selected is None or selected.shape[0] == 1, None
        ids = None if selected is None else np.unique(selected[0])
        if shared:
            shared_columns = tree_columns(X if ids is None else X[:, ids])

        def train(label):
            rows = Y.indices[Y.indptr[label] : Y.indptr[label + 1]]
            if rows.size in (0, X.shape[0]):
                return without_split(rows.size > 0)
            y = binary_column(Y, label)
            features = ids if shared else np.unique(selected[label])
            columns = shared_columns if shared else tree_columns(X[:, features])
            tree = DecisionTreeClassifier(random_state=label_seed(seed, label))
            return flat(tree.fit(columns, y, check_input=False).tree_, features)

        n_true = np.diff(Y.indptr)
        costs = 1 + np.minimum(n_true, X.shape[0] - n_true)
        return run_tasks(train, range(Y.shape[1]), costs, self.n_jobs, progress, "Growing trees", "labels")

    def _check_params(self):
        super()._check_params()
        if self.selected is not None:
            as_ids(self.selected)

    @staticmethod
    def _param_from_arrays(arrays):
        return arrays["values"]

    def _state(self):
        return {"n_features": self.n_features_in_}, self._node_arrays()

    def _restore(self, values, arrays):
        check_count(values["n_features"], "n_features", most=INT32_MAX)
        check_selection(self.selected, values["n_features"], arrays["nodes_of_tree"].size)
        self._restore_nodes(arrays, values["n_features"], values["n_features"])

    def _predict_into(self, X, out):
        """Write the probability of each label for the rows of X (CSR) into ``out``, float32 (n, L)."""
        kernels.predict(*csr_parts(X), self.n_features_in_, self._tree_ptr, *self._nodes, out)


def check_selection(selected, n_features: int, n_labels: int) -> np.ndarray | None:
    """Check a selection, and return it as int32 of shape (L, k) or (1, k)."""
    if selected is None:
        return None
    ids = as_ids(selected)
    if ids.shape[0] not in (1, n_labels):
        raise ValueError(f"selected has shape {ids.shape}: a row for each of {n_labels} labels is needed, or one row")
    bad = np.argwhere(ids >= n_features)
    if bad.size:
        row, place = bad[0].tolist()
        raise ValueError(
            f"selected has the feature id {ids[row, place]} for label {row}: ids go from 0 to {n_features - 1}"
        )
    return np.ascontiguousarray(ids, dtype=np.int32)


def as_ids(selected, name: str = "selected") -> np.ndarray:
    """Return a selection as an array of whole numbers from 0; raise ValueError or TypeError otherwise."""
    ids = as_array(selected, name, "a row of feature ids for each label is needed")
    if ids.dtype.kind not in "iu":
        raise TypeError(f"{name} holds {ids.dtype} values: feature ids are whole numbers")
    if ids.ndim != 2 or ids.size == 0:
        raise ValueError(f"{name} has shape {ids.shape}: a row of feature ids for each label is needed")
    if ids.min() < 0:
        raise ValueError(f"{name} holds {ids.min()}: feature ids start at 0")
    return ids


def _are_trees(n_nodes, feature, threshold, left, right, proba, n_features) -> bool:
    """Return whether arrays of saved nodes are trees: each child comes after its parent, in the same tree."""
    if (
        n_nodes.size == 0
        or n_nodes.min() < 1
        or any(array.size != n_nodes.sum() for array in (feature, threshold, left, right, proba))
    ):
        return False
    place = np.arange(feature.size) - np.repeat(pointers(n_nodes)[:-1], n_nodes)
    size, inner = np.repeat(n_nodes, n_nodes), feature >= 0
    return bool(
        feature.min() >= -1
        and feature.max() < n_features
        and all(((child > place) & (child < size))[inner].all() for child in (left, right))
        and not np.isnan(threshold).any()
        and ((proba >= 0) & (proba <= 1)).all()
    )


def check_columns(estimator, X, n_labels: int, per_label: int, at_once: int, threads: int, further: int = 0) -> None:
    """Raise MemoryError if more memory is needed than is free.

    That is for X by columns, ``per_label`` bytes for each label, ``at_once`` for each that a thread computes, and
    ``further`` bytes.
    """
    threads = min(threads, n_labels)
    waiting = TASK_BYTES if threads > 1 else 0
    needed = X.shape[1] * COLUMN_BYTES + n_labels * (per_label + waiting) + threads * at_once + further
    of = f"{X.shape[1]:,} features and {n_labels:,} labels"
    check_memory(needed, type(estimator).__name__, of, "leave out features and labels that no row has")


def tree_columns(X: sp.csc_array):
    """Return columns in the form that scikit-learn's trees accept without checks: float32, sparse or dense."""
    cells = X.shape[0] * X.shape[1]
    if X.nnz >= DENSE_FROM * cells and 4 * cells <= DENSE_BYTES:
        return np.asfortranarray(X.toarray(), dtype=np.float32)
    if not X.has_sorted_indices:
        X = X.sorted_indices()
    return sp.csc_matrix(
        (X.data.astype(np.float32, copy=False), X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape
    )


def binary_column(Y: sp.csc_array, label) -> np.ndarray:
    y = np.zeros(Y.shape[0])
    y[Y.indices[Y.indptr[label] : Y.indptr[label + 1]]] = 1.0
    return y


def label_seed(random_state: int, label: int) -> int:
    """Return the seed of a label's own random numbers."""
    return int(np.random.SeedSequence([random_state, label]).generate_state(1)[0]) & INT32_MAX


def without_split(proba) -> tuple:
    """Return the nodes of a tree that predicts one probability."""
    no_child = np.zeros(1, np.int32)
    return np.full(1, -1, np.int32), np.zeros(1), no_child, no_child, np.full(1, proba, np.float32)


def flat(tree, features) -> tuple:
    """Return the nodes of a scikit-learn tree as arrays for the kernel."""
    inner = tree.children_left >= 0
    feature = np.where(inner, tree.feature, 0)
    feature = feature if features is None else features[feature]
    weight = tree.value[:, 0, :]  # of both classes: shares of rows, or their numbers in older versions of scikit-learn
    return (
        np.where(inner, feature, -1).astype(np.int32),
        np.where(inner, tree.threshold, 0.0),
        np.where(inner, tree.children_left, 0).astype(np.int32),
        np.where(inner, tree.children_right, 0).astype(np.int32),
        (weight[:, 1] / weight.sum(axis=1)).astype(np.float32),
    )
