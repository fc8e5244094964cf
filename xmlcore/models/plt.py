"""Probabilistic label trees."""

import math
import numbers
import threading
import warnings
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import label_tree as search
from xmlcore._kernels import siblings
from xmlcore.arrays import are_pointers, by_frequency, columns_of, read_only
from xmlcore.models.base import ModelFormatError, MultiLabelModel, check_columns
from xmlcore.models.label_tree import CLUSTERING, LabelTree, build_tree, label_representations
from xmlcore.models.linear_nodes import LinearNodes, linear_nodes, log_mean_gradient, path_gradients
from xmlcore.parallel import run_tasks
from xmlcore.progress import Progress, silent
from xmlcore.ranking import Ranking
from xmlcore.system import effective_jobs
from xmlcore.validation import INT32_MAX, check_count, check_features, check_label_ids, check_labels, csr_parts

LOSSES = {"logistic": siblings.LOGISTIC, "squared_hinge": siblings.SQUARED_HINGE}
TREES = ("kmeans", "random", "huffman")

GROUP_SIZE = 128  # most siblings trained, and looked up, in one go

PREDICT_ROWS = 512  # rows per task
# Where the model is larger than the processor's caches, rows are searched together, unless a tree is very deep.
TOGETHER_BYTES = 16 << 20  # of one tree's arrays, at least
TOGETHER_ROWS = (2048, 16384)  # rows per task, least and most
TOGETHER_DEPTH = 64
DENSE = 0.25  # of the model's columns: a row with so many is laid out
TOGETHER_DENSE = 16  # rows laid out, at least, and in any model: they share the work on a node
LAID_BYTES = 64 << 20  # that the rows of a task may take, laid out
TOGETHER_PLACES = 1 << 23  # of 16 bytes, in each search: where more nodes wait, rows that have many go alone
_MAKING_NODES = threading.Lock()  # of any model: a lock of its own could not be pickled
WORTH_SEARCHING = 0.25  # of the best score not seen yet: a search for all labels above it finds few


class PLT(MultiLabelModel):
    """Probabilistic label tree.

    The labels are the leaves of a tree; a linear classifier at each node v models the probability that a row has a
    label under v given that it has one under v's parent, and a label's probability is the product along its path
    (Jasinska et al., ICML 2016). Rows are scaled to length 1 and get a bias feature, which is regularised like the
    rest; nodes train on exactly the rows that have a label under their parent.

    Parameters
    ----------
    tree : {"kmeans", "random", "huffman"} or LabelTree
        How labels are grouped: by balanced spherical k-means on the mean row of each label (Parabel, Prabhu et al.,
        WWW 2018), at random, or by Huffman's code, which puts frequent labels near the root (Joulin et al., 2017) and
        has one label per leaf and ``arity`` children per node, whatever ``max_leaf_labels`` is. A
        :class:`~xmlcore.models.LabelTree` is taken as it is, such as one of ``trees_`` of another model.
    arity : int, at least 2
        Children of an inner node.
    max_leaf_labels : int, at least 1
        A node with at most so many labels has them as leaves. 100 is napkinXC's and Parabel's value.
    loss : {"logistic", "squared_hinge"}
        "logistic": factors are sigmoids of the margin. "squared_hinge": exp(-max(0, 1 - margin)^2), as in Parabel;
        it wants a smaller ``C`` (1, Parabel's) than the default 10, at which it converges slowly.
    C : float in [1e-6, 1e6]
        Weight of the loss against |w|^2 / 2. Larger fits the training rows closer. Published settings: 10 with the
        logistic loss (napkinXC), 1 with the squared hinge (Parabel).
    n_estimators : int
        Trees; their probabilities are averaged. They differ by the seed of the clustering, so "huffman" and a tree
        handed in gain next to nothing from more than one: a warning says so.
    beam : int, optional
        None searches exactly. Otherwise only so many nodes are kept at each depth: quicker on wide trees, and it can
        miss labels.
    random_state : int, optional
        Same value, same model, for any ``n_jobs``. None draws a fresh one.
    n_jobs : int, optional
        Threads; None and -1 mean all cores this process may use.
    weight_threshold : float
        Weights smaller in size are dropped after training (the bias never): 0.1 is napkinXC's and Parabel's value.
        0 keeps all.
    tol : float, positive
        A node is done after a pass over all its rows in which none was further than ``tol`` from where its margin
        wants it: a difference of probabilities (logistic), of slacks (squared hinge).
    max_iter : int
        Most passes over a node's rows, on average: rows at rest are not visited.
    collapse_layers : int, at least 0
        Of the inner nodes every (collapse_layers + 1)-th layer stays: the tree gets wider and shallower, with fewer
        factors per label and more work per node. 3 makes a binary tree 16-ary. Nodes with at most
        ``max_leaf_labels`` leaves and nothing else stay in any case (not of "huffman"), as with omikuji's
        ``collapse_every_n_layers``. See :meth:`LabelTree.collapsed`.

    Attributes
    ----------
    n_features_in_, n_labels_ : int
    loss_ : str
        The loss it was fitted with.
    trees_ : list of LabelTree
        As trained, after ``collapse_layers``.
    feature_of_column_ : ndarray of int32
        The features that occur in the training rows, most frequent first: fitted arrays know them as columns.
    fitted_ : list of TreeArrays
        Of each tree, the classifiers as the search reads them (``xmlcore._kernels.label_tree``).
    n_weights_ : int
        Weights kept, over all trees.
    n_iter_ : int
        Most epochs that a node took.

    Notes
    -----
    Training takes O(epochs * nonzeros * labels per leaf * depth) time; prediction takes, per row and tree,
    O(expanded nodes * (nonzeros + kept weights touched)), where few nodes beside the path are expanded when
    the model is sure. A row with values of a quarter of all columns or more takes O(expanded nodes * columns *
    children) instead, without looking anything up, and memory of 4 bytes per column.

    References
    ----------
    K. Jasinska et al., "Extreme F-measure maximization using sparse probability estimates", ICML 2016.
    Y. Prabhu et al., "Parabel: partitioned label trees for extreme classification", WWW 2018.
    S. Khandagale, H. Xiao, R. Babbar, "Bonsai: diverse and shallow trees for extreme multi-label classification",
    Machine Learning 2020.
    R. You et al., "AttentionXML", NeurIPS 2019 (compressed trees).
    A. Joulin et al., "Bag of tricks for efficient text classification", EACL 2017 (Huffman trees).
    H.-F. Yu, F.-L. Huang, C.-J. Lin, "Dual coordinate descent methods for logistic regression", 2011.

    Examples
    --------
    >>> from xmlcore import PLT
    >>> X = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]
    >>> model = PLT(random_state=0).fit(X, [[0], [0], [1, 2], [1, 2]])
    >>> model.predict_topk([[1.0, 0.05]], k=1).labels.tolist()
    [[0]]
    """

    _linear_nodes = None  # made when asked for, see _all_linear_nodes

    def __init__(
        self,
        tree="kmeans",
        arity=2,
        max_leaf_labels=100,
        loss="logistic",
        C=10.0,
        n_estimators=1,
        beam=None,
        random_state=0,
        n_jobs=None,
        weight_threshold=0.1,
        tol=0.1,
        max_iter=100,
        collapse_layers=0,
    ):
        self.tree = tree
        self.arity = arity
        self.max_leaf_labels = max_leaf_labels
        self.loss = loss
        self.C = C
        self.n_estimators = n_estimators
        self.beam = beam
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.weight_threshold = weight_threshold
        self.tol = tol
        self.max_iter = max_iter
        self.collapse_layers = collapse_layers

    def fit(self, X, Y, progress: Progress = silent) -> "PLT":
        """Train on the rows of X with the labels Y.

        Parameters
        ----------
        X : sparse or dense, shape (N, D)
        Y : sparse or dense binary, shape (N, L), or lists of label ids
        progress : callable, optional
            See :class:`xmlcore.progress.Progress`; an exception from it stops the training.

        Returns
        -------
        PLT
            Itself. When training is stopped, it stays as it was.

        Raises
        ------
        ValueError, TypeError
            Bad parameters or data; the message names them.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            When node classifiers stopped at ``max_iter``.
        """
        self._check_params()
        X = check_features(X)
        Y = check_labels(Y, n_rows=X.shape[0], n_labels=self._n_labels_of_tree(Y))
        if Y.nnz == 0:
            raise ValueError("no row of Y has a label: there is nothing to learn")
        n_features = X.shape[1]
        feature_of_column = by_frequency(X)
        ptr, columns, values = search.take_rows(
            *csr_parts(X), 0, X.shape[0], *columns_of(feature_of_column, n_features)
        )
        X = sp.csr_array((values, columns, ptr), shape=(X.shape[0], max(1, feature_of_column.size)))
        progress(CLUSTERING if self.n_estimators == 1 else "Training trees", 0.0)
        self._warn_equal_trees()
        representations = label_representations(X, Y) if self.tree == "kmeans" else None
        frequencies = np.bincount(Y.indices, minlength=Y.shape[1]) if self.tree == "huffman" else None
        entropy = self.random_state if self.random_state is not None else np.random.SeedSequence().entropy
        trees, fitted, epochs = [], [], []
        for number in range(self.n_estimators):
            tree_seed, node_seed = np.random.SeedSequence([entropy, number]).generate_state(2, np.uint32).tolist()
            report = _one_of(progress, number, self.n_estimators)
            tree = build_tree(
                self.tree,
                Y.shape[1],
                self.arity,
                self.max_leaf_labels,
                tree_seed,
                representations,
                self.n_jobs,
                report,
                frequencies,
            )
            tree = tree.collapsed(self.collapse_layers, 1 if self.tree == "huffman" else self.max_leaf_labels)
            arrays, tree_epochs = self._train(X, Y, tree, node_seed, report)
            trees.append(tree)
            fitted.append(arrays)
            epochs.append(tree_epochs)
        self._set_fitted(trees, fitted, feature_of_column, n_features, Y.shape[1], self.loss)
        self.n_iter_ = int(max(e[:, 1].max() for e in epochs))
        self._warn_unconverged(epochs)
        return self

    def predict_topk(self, X, k: int = 5, progress: Progress = silent) -> Ranking:
        """Return the k most probable labels of each row.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        k : int
            May exceed L: rows are padded with label -1 and score 0.
        progress : callable, optional
            See :class:`xmlcore.progress.Progress`.

        Returns
        -------
        Ranking
            Probabilities as scores. Without a ``beam`` these are exactly the k best. Equal probabilities are ranked by
            label id; they are compared before they are rounded to float32.
        """
        k = check_count(k, "k")
        beam = None if self.beam is None else check_count(self.beam, "beam", most=INT32_MAX)
        X = self._check_input(X)
        x, width = csr_parts(X), min(k, self.n_labels_)
        labels = np.full((X.shape[0], width), -1, np.int32)
        scores = np.zeros((X.shape[0], width))

        def one_block(block):
            part, taken, rows = slice(*block), self._take(x, block), np.arange(block[1] - block[0])
            if len(self.fitted_) == 1:
                labels[part], logs = self._search(self.fitted_[0], taken, rows, width, beam)
                scores[part] = np.exp(logs)
            else:
                labels[part], scores[part] = self._search_all(taken, rows, width, beam)

        blocks = self._blocks(X.indptr)
        run_tasks(one_block, blocks, [b - a for a, b in blocks], self.n_jobs, progress, "Predicting", "blocks of rows")
        return _as_ranking(labels, scores, k)

    def predict_proba(self, X, threshold: float = 0.0) -> sp.csr_array:
        """Probabilities of all labels that reach a threshold, exactly.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        threshold : float in [0, 1]
            At 0 every label of positive probability is stored: n * L numbers, mostly.

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n, L)
        """
        if not isinstance(threshold, numbers.Real) or not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be in [0, 1], not {threshold!r}")
        X = self._check_input(X)
        n_trees = len(self.fitted_)
        # An average reaches the threshold only if one of the trees does. The search is let a hair below it, and the
        # float32 that is stored decides: a threshold read from a result finds that label again.
        with np.errstate(divide="ignore"):
            least = float(np.log(np.float64(threshold))) - 1e-6

        x = csr_parts(X)

        def one_block(block):
            totals, taken, rows = None, self._take(x, block), np.arange(block[1] - block[0])
            for arrays in self.fitted_:
                counts, labels, scores = search.search_threshold(
                    arrays, LOSSES[self.loss_], *taken, rows, np.full(rows.size, least)
                )
                indptr = np.concatenate([[0], np.cumsum(counts)])
                part = sp.csr_array((np.exp(scores), labels, indptr), shape=(counts.size, self.n_labels_))
                part.sort_indices()
                totals = part if totals is None else totals + part
            if n_trees > 1:
                ptr, labels, _ = csr_parts(totals)
                totals = sp.csr_array((self._mean_scores(taken, rows, ptr, labels), labels, ptr), shape=totals.shape)
            totals = totals.astype(np.float32)
            totals.data[totals.data < threshold] = 0.0
            totals.eliminate_zeros()  # also what is too small for float32
            return totals

        blocks = self._blocks(X.indptr, together=False)
        parts = run_tasks(one_block, blocks, [b - a for a, b in blocks], self.n_jobs)
        if not parts:
            return sp.csr_array((0, self.n_labels_), dtype=np.float32)
        return sp.csr_array(sp.vstack(parts, format="csr"))

    def linear_nodes(self, tree: int = 0) -> LinearNodes:
        """The node classifiers of one tree as a matrix, in features: made for reading, not for predicting.

        Parameters
        ----------
        tree : int
            Which of ``trees_``.

        Returns
        -------
        xmlcore.models.linear_nodes.LinearNodes
            Copied from the model at every call, about as large as it.
        """
        self._check_fitted()
        tree = check_count(tree, "tree", least=0, most=len(self.trees_) - 1)
        return linear_nodes(
            self.fitted_[tree], self.leaves_[tree], self.feature_of_column_, self.n_features_in_, self.loss_
        )

    def log_proba_gradient(self, X, labels) -> tuple[np.ndarray, sp.csr_array]:
        """Log of one label's probability for each row, and its gradient by the row: what attacks follow.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        labels : array_like of int, shape (n,)
            The label of each row.

        Returns
        -------
        log_proba : ndarray of float64, shape (n,)
            -inf where the probability is 0 for every row.
        gradient : scipy.sparse.csr_array of float32, shape (n, D)
            By the row as it is handed in, through its scaling to length 1: (I - u u^T) g / |x|, where u = x / |x| and
            g is, for one tree, the sum over the label's path of the slope of the factor's logarithm times the node's
            weights. Several trees: gradient of the logarithm of the mean, to which each adds by its share. Stored are
            features with weights along the path and features of the row. A row of zeros has no direction, and a factor
            that is always 0 or 1 (infinite bias) no slope: both give 0.

        Raises
        ------
        ValueError, TypeError
            X does not fit the model, or labels are not n ids below L.

        Notes
        -----
        O(weights along the path) time per row and tree, in float64. The classifiers are brought into features at the
        first call and kept, which takes about as much memory as the model; they are not saved.
        """
        X = self._check_input(X)
        labels = check_label_ids(labels, X.shape[0], self.n_labels_)
        x, trees, shape = csr_parts(X), self._all_linear_nodes(), X.shape

        def one_block(block):
            ptr = x[0][block[0] : block[1] + 1]
            rows = (ptr - ptr[0], *(part[ptr[0] : ptr[-1]] for part in x[1:]))
            found = [path_gradients(nodes, *rows, labels[slice(*block)]) for nodes in trees]
            return log_mean_gradient(found)

        blocks = _blocks(shape[0], PREDICT_ROWS)
        parts = run_tasks(one_block, blocks, [b - a for a, b in blocks], self.n_jobs)
        if not parts:
            return np.zeros(0), sp.csr_array(shape, dtype=np.float32)
        log_proba, gradients = zip(*parts)
        return np.concatenate(log_proba), sp.csr_array(sp.vstack(gradients, format="csr"))

    def _all_linear_nodes(self) -> list[LinearNodes]:
        """``linear_nodes`` of all trees, made once; threads that need them at the same time wait for the first."""
        with _MAKING_NODES:
            if self._linear_nodes is None:
                self._linear_nodes = [self.linear_nodes(tree) for tree in range(len(self.trees_))]
            return self._linear_nodes

    def size(self) -> dict:
        """Size of the fitted model: "n_nodes", "depth", "n_weights", "model_bytes" (of its arrays)."""
        self._check_fitted()
        parts = [*self.fitted_, self._columns, [self.feature_of_column_]]
        return {
            "n_nodes": int(sum(tree.n_nodes for tree in self.trees_)),
            "depth": int(max(tree.depth.max() for tree in self.trees_)),
            "n_weights": self.n_weights_,
            "model_bytes": int(sum(np.asarray(a).nbytes for arrays in parts for a in arrays)),
        }

    # Parameters -----------------------------------------------------------------------------------------------------

    def _check_params(self):
        if not isinstance(self.tree, LabelTree) and not (isinstance(self.tree, str) and self.tree in TREES):
            raise ValueError(f"tree must be one of {', '.join(TREES)}, or a LabelTree, not {self.tree!r}")
        if not isinstance(self.loss, str) or self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, not {self.loss!r}")
        check_count(self.arity, "arity", least=2, most=INT32_MAX)
        check_count(self.max_leaf_labels, "max_leaf_labels", most=INT32_MAX)
        check_count(self.collapse_layers, "collapse_layers", least=0, most=INT32_MAX)
        check_count(self.n_estimators, "n_estimators", most=INT32_MAX)
        check_count(self.max_iter, "max_iter", most=INT32_MAX)
        if self.beam is not None:
            check_count(self.beam, "beam", most=INT32_MAX)
        if self.random_state is not None:
            check_count(self.random_state, "random_state", least=0)
        effective_jobs(self.n_jobs)
        for name, zero_allowed in (("C", False), ("tol", False), ("weight_threshold", True)):
            given = getattr(self, name)
            value = _as_float(given)
            if not np.isfinite(value):
                raise TypeError(f"{name} must be a finite number, not {given!r}")
            if name == "C" and not 1e-6 <= value <= 1e6:  # what float32 can tell apart
                raise ValueError(f"C must be from 1e-6 to 1e6, not {given}")
            if not 0 <= value <= 1e30 or (value == 0 and not zero_allowed):  # float32 ends at 3e38
                least = "at least 0" if zero_allowed else "above 0"
                raise ValueError(f"{name} must be {least} and at most 1e30, not {given}")

    def _n_labels_of_tree(self, Y) -> int | None:
        """L when a tree was handed in; a matrix Y must have as many, lists of ids may have fewer."""
        if not isinstance(self.tree, LabelTree):
            return None
        n_labels, shape = self.tree.n_labels, getattr(Y, "shape", ())
        if len(shape) == 2 and shape[1] != n_labels:
            raise ValueError(
                f"the tree has {n_labels} labels, but Y has {shape[1]}: every label needs one leaf, and every leaf a "
                "column of Y"
            )
        return n_labels

    def _warn_equal_trees(self):
        if self.n_estimators > 1 and self.tree not in ("kmeans", "random"):
            which = "a tree that is handed in" if isinstance(self.tree, LabelTree) else f"tree={self.tree!r}"
            warnings.warn(
                f"{which} gives n_estimators={self.n_estimators} trees of one shape, which differ in nothing but the "
                "order in which rows are visited: n_estimators=1 is as precise, in a part of the time and memory",
                UserWarning,
                stacklevel=3,
            )

    # Training -------------------------------------------------------------------------------------------------------

    def _train(self, X, Y, tree: LabelTree, seed: int, progress: Progress):
        """Train one tree's classifiers; X has rows of length 1, in columns (``feature_of_column_``).

        Returns
        -------
        TreeArrays, and an array (groups, 3): the depth, epochs and whether it converged.
        """
        x = csr_parts(X)
        rows_ptr, rows = search.node_rows(*csr_parts(Y)[:2], tree.leaf_of_label, tree.parent)
        groups = self._groups(tree, np.diff(rows_ptr), X.shape[0])
        loss = LOSSES[self.loss]

        def train_group(group):
            number, parent, first, size = group
            own = np.arange(X.shape[0], dtype=np.int32) if parent < 0 else rows[rows_ptr[parent] : rows_ptr[parent + 1]]
            result = siblings.train_group(
                *x, X.shape[1], own, rows_ptr, rows, first, size, loss, np.float32(self.C), np.float32(self.tol),
                self.max_iter, np.float32(self.weight_threshold), seed, number,
            )  # fmt: skip
            trained = GroupResult(*result)
            if np.isnan(trained.violation):
                raise FloatingPointError(f"training a node diverged with C={self.C}: use a smaller C")
            return trained

        sizes = np.diff(rows_ptr)
        costs = [(X.shape[0] if parent < 0 else sizes[parent]) * (-(-size // 16) + 1) for _, parent, _, size in groups]
        results = run_tasks(train_group, groups, costs, self.n_jobs, progress, "Training nodes", "groups of siblings")
        depth = tree.depth
        stats = [[depth[g[2]], r.epochs, r.violation <= np.float32(self.tol)] for g, r in zip(groups, results)]
        return _assemble(tree, groups, results), np.array(stats, dtype=np.int64)

    def _groups(self, tree: LabelTree, n_rows: np.ndarray, N: int) -> list[tuple[int, int, int, int]]:
        """(number, parent, first child, size) of all groups, by parent; first the root's own when it needs one."""
        groups = []
        if n_rows[0] < N:
            groups.append((0, -1, 0, 1))
        first_child, n_children = tree.first_child, tree.n_children
        for v in np.flatnonzero(n_children):
            for start in range(0, n_children[v], GROUP_SIZE):
                size = min(GROUP_SIZE, n_children[v] - start)
                groups.append((len(groups), int(v), int(first_child[v] + start), int(size)))
        return groups

    def _set_fitted(self, trees, fitted, feature_of_column, n_features, n_labels, loss):
        self.loss_ = loss
        self.feature_of_column_ = read_only((feature_of_column,))[0]
        self._columns = columns_of(feature_of_column, n_features)
        self.trees_ = trees
        self.fitted_ = fitted
        self.leaves_ = [tree.leaf_of_label for tree in trees]
        self.n_features_in_ = n_features
        self.n_labels_ = n_labels
        self.n_weights_ = int(sum(_count_weights(arrays) for arrays in fitted))
        self._linear_nodes = None

    def _warn_unconverged(self, epochs):
        stats = np.concatenate(epochs)
        late = stats[stats[:, 2] == 0]
        if late.size:
            from sklearn.exceptions import ConvergenceWarning

            depths = ", ".join(f"{n} at depth {d}" for d, n in zip(*np.unique(late[:, 0], return_counts=True)))
            warnings.warn(
                f"{len(late)} of {len(stats)} sibling groups stopped at max_iter={self.max_iter} before tol={self.tol} "
                f"({depths}): raise max_iter, or tol when precision does not change",
                ConvergenceWarning,
                stacklevel=3,
            )

    # Prediction -----------------------------------------------------------------------------------------------------

    def _run_rare_kernels(self, X):
        x, loss = self._take(csr_parts(check_features(X)), (0, len(X))), LOSSES[self.loss_]
        rows, labels, scores = np.arange(len(X)), np.full((len(X), 2), -1, np.int32), np.full((len(X), 2), -np.inf)
        search.search_together(self.fitted_[0], loss, *x, rows, self.beam or 0, TOGETHER_PLACES, labels, scores)

    def _goes_together(self, n, laid):
        """Whether n rows, all laid out or none, are searched together rather than one by one."""
        if n < (TOGETHER_DENSE if laid else TOGETHER_ROWS[0]):
            return False
        is_large = any(sum(np.asarray(a).nbytes for a in arrays) >= TOGETHER_BYTES for arrays in self.fitted_)
        return (laid or is_large) and all(arrays.depth[-1] <= TOGETHER_DEPTH for arrays in self.fitted_)

    def _least_laid(self):
        """A row with values of so many columns is laid out."""
        return max(1, math.ceil(DENSE * self.feature_of_column_.size))

    def _blocks(self, ptr, together=True):
        """(first row, last row + 1) of each task of a prediction for the rows of ``ptr``.

        Laid out, those of a task take LAID_BYTES at most: rows that have enough values count, known features or not.
        """
        n, dense = ptr.size - 1, np.flatnonzero(np.diff(ptr) >= self._least_laid())
        size = PREDICT_ROWS
        if together and n >= TOGETHER_DENSE:
            threads = effective_jobs(self.n_jobs)
            tasks = threads * max(1, -(-n // (threads * TOGETHER_ROWS[1])))  # all threads have as many rows
            if self._goes_together(-(-n // tasks), 2 * dense.size >= n):
                size = -(-n // tasks)
        blocks = _blocks(n, size)
        most = max(1, LAID_BYTES // (4 * max(1, self.feature_of_column_.size)))
        if dense.size > most:
            cuts = [dense[(dense >= start) & (dense < end)][most::most].tolist() for start, end in blocks]
            blocks = [part for (start, end), at in zip(blocks, cuts) for part in zip([start, *at], [*at, end])]
        return blocks

    def _take(self, x, block):
        """Some rows of the CSR arrays x as the searches read them."""
        return search.take_and_lay_out(*x, *block, *self._columns, self.feature_of_column_.size, self._least_laid())

    def _search(self, arrays, x, rows, k, beam):
        """Top k of one tree for some rows: labels int32 (n, k), -1 where a beam found fewer; logarithms (n, k)."""
        laid = x[3][rows] >= 0
        if laid.all() or not laid.any():
            return self._search_alike(arrays, x, rows, k, beam, rows.size and laid[0])
        labels, scores = np.empty((rows.size, k), np.int32), np.empty((rows.size, k))
        for which in (laid, ~laid):
            labels[which], scores[which] = self._search_alike(arrays, x, rows[which], k, beam, which is laid)
        return labels, scores

    def _search_alike(self, arrays, x, rows, k, beam, laid):
        """The same for rows that are all laid out, or none."""
        labels = np.full((rows.size, k), -1, np.int32)
        scores = np.full((rows.size, k), -np.inf)
        loss, beam = LOSSES[self.loss_], beam or 0
        if not self._goes_together(rows.size, laid):
            search.search_best_first(arrays, loss, *x, rows, beam, labels, scores)
            return labels, scores
        alone = search.search_together(arrays, loss, *x, rows, beam, TOGETHER_PLACES, labels, scores)
        if alone.any():
            more_labels = np.full((int(alone.sum()), k), -1, np.int32)
            more_scores = np.full(more_labels.shape, -np.inf)
            search.search_best_first(arrays, loss, *x, rows[alone], beam, more_labels, more_scores)
            labels[alone], scores[alone] = more_labels, more_scores
        return labels, scores

    def _search_all(self, x, rows, k, beam, depth=None):
        """Top k by the mean over trees for some rows, exactly when every tree's search is exact.

        Each tree gives its ``depth`` best labels (2 k at first), and each of those gets its full mean. A label that no
        tree gave has at most the trees' last scores; where their mean is less than the k-th best mean, the row is done
        (Fagin's threshold algorithm). Where not, a label that could still enter must have in every tree at least what
        the other trees' last scores leave to be made up for, so one tree is searched for all labels that have. Where
        that is next to nothing, all trees are searched deeper.

        Returns
        -------
        labels int32 (n, k), scores float64 (n, k)
        """
        depth = min(depth or 2 * k, self.n_labels_)
        found = [self._search(arrays, x, rows, depth, beam) for arrays in self.fitted_]
        last = np.exp([logs[:, -1] for _, logs in found])
        ptr, offered = search.merge_candidates(np.concatenate([best for best, _ in found], axis=1))
        n_trees, found = len(found), None
        labels, scores = np.full((rows.size, k), -1, np.int32), np.zeros((rows.size, k))
        search.best_candidates(ptr, offered, self._mean_scores(x, rows, ptr, offered), labels, scores)
        if beam is not None or depth == self.n_labels_:
            return labels, scores
        unseen = ~last.any(axis=0)  # every label that was not offered has probability 0
        _fill_with_zeros(labels, scores, np.flatnonzero(unseen & (scores[:, -1] == 0)))
        wanted, most = n_trees * scores[:, -1], last.max(axis=0)
        closed = unseen | (wanted > last.sum(axis=0))
        least = (wanted - (last.sum(axis=0) - most)) * (1 - 1e-9) - 1e-12
        near = ~closed & (least >= WORTH_SEARCHING * most)
        for tree in range(n_trees):
            own = np.flatnonzero(near & (last.argmax(axis=0) == tree))
            counts, more, _ = search.search_threshold(
                self.fitted_[tree], LOSSES[self.loss_], *x, rows[own], np.log(least[own])
            )
            ptr = np.concatenate([[0], np.cumsum(counts)])
            own_labels, own_scores = labels[own], scores[own]
            search.best_candidates(ptr, more, self._mean_scores(x, rows[own], ptr, more), own_labels, own_scores)
            labels[own], scores[own] = own_labels, own_scores
        still_open = np.flatnonzero(~(closed | near))
        for start, end in _blocks(still_open.size, PREDICT_ROWS):  # rows times depth is memory
            some = still_open[start:end]
            labels[some], scores[some] = self._search_all(x, rows[some], k, beam, 4 * depth)
        return labels, scores

    def _mean_scores(self, x, rows, ptr, labels):
        """Mean probability over all trees of the labels ``labels[ptr[r]:ptr[r + 1]]`` for the r-th of some rows."""
        total = np.zeros(labels.size)
        for arrays, leaf_of_label in zip(self.fitted_, self.leaves_):
            out = np.empty(labels.size)
            search.score_labels(arrays, LOSSES[self.loss_], leaf_of_label, *x, rows, ptr, labels, out)
            total += np.exp(out)
        return total / len(self.fitted_)

    # Saving ---------------------------------------------------------------------------------------------------------

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_linear_nodes"}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for arrays in (*self.__dict__.get("fitted_", ()), self.__dict__.get("_columns", ())):
            read_only(arrays)  # which pickle does not keep

    def _state(self):
        arrays = {"feature_of_column": self.feature_of_column_}
        for number, fitted in enumerate(self.fitted_):
            for name in SAVED:
                arrays[f"tree{number}.{name}"] = np.asarray(getattr(fitted, name))
        values = {
            "n_features": self.n_features_in_,
            "n_labels": self.n_labels_,
            "n_iter": self.n_iter_,
            "n_trees": len(self.fitted_),
            "loss": self.loss_,
        }
        return values, arrays

    def _restore(self, values, arrays):
        for name in ("n_features", "n_labels", "n_iter", "n_trees"):
            check_count(values[name], name, least=0 if name == "n_iter" else 1, most=INT32_MAX)
        if not isinstance(values["loss"], str) or values["loss"] not in LOSSES:
            raise ModelFormatError(f"the loss {values['loss']!r} is not one of {', '.join(LOSSES)}")
        feature_of_column = arrays["feature_of_column"]
        check_columns(feature_of_column, values["n_features"])
        trees, fitted = [], []
        for number in range(values["n_trees"]):
            parts = {name: arrays[f"tree{number}.{name}"] for name in SAVED}
            parts["root_group"] = int(parts["root_group"])
            _check_arrays(SimpleNamespace(**parts), feature_of_column.size, values["n_labels"])
            trees.append(LabelTree(parts["parent"], parts["label"]))
            fitted.append(_with_index(trees[-1], **parts))
        self._set_fitted(trees, fitted, feature_of_column, values["n_features"], values["n_labels"], values["loss"])
        self.n_iter_ = values["n_iter"]


class GroupResult(NamedTuple):
    """What ``siblings.train_group`` returns."""

    columns: np.ndarray
    ptr: np.ndarray
    child: np.ndarray
    value: np.ndarray
    bias: np.ndarray
    epochs: int
    violation: float


def _assemble(tree, groups, results) -> search.TreeArrays:
    """One set of flat arrays from the results of the groups; ``results`` is emptied, so memory holds one of them."""
    parts = GroupResult(*map(list, zip(*results)))
    results.clear()
    own = np.array([parent for _, parent, _, _ in groups], np.int64)
    sizes = np.array([size for _, _, _, size in groups], np.int32)
    bias = np.zeros(tree.n_nodes, np.float32)
    for (_, _, first, size), values in zip(groups, parts.bias):
        bias[first : first + size] = values
    is_sparse = [ptr.size > 0 for ptr in parts.ptr]
    arrays = dict(
        parent=tree.parent,
        label=tree.label,
        bias=bias,
        group_ptr=np.searchsorted(own, np.arange(tree.n_nodes + 1), side="left").astype(np.int64),
        group_first=np.array([first for _, _, first, _ in groups], np.int32),
        group_size=sizes,
        column_ptr=_pointers(columns.size for columns in parts.columns),
        dense_ptr=_pointers(0 if sparse else value.size for value, sparse in zip(parts.value, is_sparse)),
        sparse_ptr=_pointers(child.size for child in parts.child),
        entry_at=_pointers(ptr.size for ptr in parts.ptr),
        root_group=0 if own[0] < 0 else -1,
    )
    sparse = [value for value, yes in zip(parts.value, is_sparse) if yes]
    dense = [value for value, yes in zip(parts.value, is_sparse) if not yes]
    parts.value.clear()
    arrays["entry_value"] = _joined(sparse, np.float32)
    arrays["dense"] = _joined(dense, np.float32)
    arrays["entry_child"] = _joined(parts.child, np.uint8)
    arrays["entry_ptr"] = _joined(parts.ptr, np.uint32)
    arrays["columns"] = _joined(parts.columns, np.int32)
    return _with_index(tree, **arrays)


def _with_index(tree: LabelTree, **arrays) -> search.TreeArrays:
    """Add what is found out from the rest, and not saved."""
    shift, at = search.index_layout(arrays["column_ptr"], arrays["columns"])
    index = np.zeros(at[-1], np.uint32)  # NumPy asks for huge pages, Numba does not: they are read a fifth faster
    search.index_columns(arrays["column_ptr"], arrays["columns"], shift, at, index)
    complete = search.TreeArrays(**arrays, index_shift=shift, index_at=at, index=index, depth=tree.depth)
    return read_only(complete)


def _count_weights(arrays):
    return arrays.entry_value.size + int(np.count_nonzero(arrays.dense))


def _pointers(sizes):
    return np.concatenate([[0], np.cumsum(list(sizes))]).astype(np.int64)


def _joined(arrays: list, dtype):
    """The arrays one after another; the list is emptied."""
    joined = np.concatenate(arrays) if arrays else np.empty(0, dtype)
    arrays.clear()
    return joined


def _as_float(value) -> float:
    """Any real number as a float; NaN for what is none, and infinity for what is too large to be one."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.inf


DTYPES = dict(
    parent="int32", label="int32", bias="float32", group_ptr="int64", group_first="int32", group_size="int32",
    column_ptr="int64", columns="int32", dense_ptr="int64", dense="float32", sparse_ptr="int64", entry_at="int64",
    entry_ptr="uint32", entry_child="uint8", entry_value="float32",
)  # fmt: skip
SAVED = (*DTYPES, "root_group")


def _check_arrays(arrays, n_columns, n_labels):
    """Raise ModelFormatError unless the arrays are a tree and every index points inside them: kernels do not check."""
    for name, dtype in DTYPES.items():
        array = getattr(arrays, name)
        if array.ndim != 1 or array.dtype != dtype:
            raise ModelFormatError(f"array {name} is {array.dtype} with {array.ndim} dimensions, not {dtype} with 1")
    # Each check relies on those before it.
    for what, holds in (
        ("the tree", lambda: _is_tree(arrays, n_labels)),
        ("the groups of siblings", lambda: _is_partition(arrays)),
        ("the weights", lambda: _are_weights(arrays, n_columns)),
    ):
        if not holds():
            raise ModelFormatError(f"{what} in its arrays cannot be: the file was damaged or written by something else")


def _is_tree(arrays, n_labels):
    n, parent = arrays.label.size, arrays.parent
    leaves = np.flatnonzero(arrays.label >= 0)
    return (
        n > 1
        and leaves.size == n_labels  # first: what comes takes memory in proportion to n_labels
        and parent.size == arrays.bias.size == n
        and parent[0] == -1
        and bool((parent[1:] >= 0).all() and (parent[1:] < np.arange(1, n)).all() and (np.diff(parent) >= 0).all())
        and np.array_equal(np.sort(arrays.label[leaves]), np.arange(n_labels))
        and np.array_equal(leaves, np.setdiff1d(np.arange(n), parent))  # leaves are the nodes without children
        and not np.isnan(arrays.bias).any()
    )


def _is_partition(arrays):
    """Every node but the root is in one group, with its siblings, and the group belongs to their parent."""
    n, groups = arrays.label.size, arrays.group_first.size
    root = arrays.root_group
    if (
        root not in (-1, 0)
        or arrays.group_size.size != groups
        or not are_pointers(arrays.group_ptr, n, groups, root + 1)
    ):
        return False
    sizes = arrays.group_size.astype(np.int64)
    if not ((sizes > 0).all() and (sizes <= search.GROUP_LIMIT).all()):
        return False
    firsts = np.concatenate([[0] if root == 0 else [], 1 + np.cumsum(sizes[root + 1 :]) - sizes[root + 1 :]])
    if not np.array_equal(arrays.group_first, firsts) or sizes[root + 1 :].sum() != n - 1:
        return False
    if root == 0 and sizes[0] != 1:
        return False
    owners = np.repeat(np.arange(n), np.diff(arrays.group_ptr))
    return np.array_equal(np.repeat(owners, sizes[root + 1 :]), arrays.parent[1:])


def _are_weights(arrays, n_columns):
    """Every group is stored in one of the two ways, and all it points to is there."""
    groups, F = arrays.group_first.size, arrays.columns.size
    if not (
        are_pointers(arrays.column_ptr, groups, F)
        and are_pointers(arrays.dense_ptr, groups, arrays.dense.size)
        and are_pointers(arrays.sparse_ptr, groups, arrays.entry_value.size)
        and are_pointers(arrays.entry_at, groups, arrays.entry_ptr.size)
        and arrays.entry_child.size == arrays.entry_value.size
    ):
        return False
    n_columns_of = np.diff(arrays.column_ptr)
    group = np.repeat(np.arange(groups), n_columns_of)
    rising = (np.diff(arrays.columns) > 0) | (np.diff(group) > 0)
    if F and not (arrays.columns.min() >= 0 and arrays.columns.max() < n_columns and rising.all()):
        return False
    pairs, pointers = np.diff(arrays.sparse_ptr), np.diff(arrays.entry_at)
    is_sparse = pointers > 0
    padded = -(-arrays.group_size // siblings.LANES) * siblings.LANES
    widths = np.where(arrays.group_size <= siblings.NARROW, arrays.group_size, padded)
    if not (
        np.array_equal(pointers[is_sparse], n_columns_of[is_sparse] + 1)
        and not pairs[~is_sparse].any()
        and np.array_equal(np.diff(arrays.dense_ptr), np.where(is_sparse, 0, n_columns_of * widths))
    ):
        return False
    # Within a sparse group the pointers rise from 0 to the number of its pairs.
    entry_ptr = arrays.entry_ptr.astype(np.int64)
    starts, ends = arrays.entry_at[:-1][is_sparse], arrays.entry_at[1:][is_sparse] - 1
    inner = np.ones(max(0, entry_ptr.size - 1), bool)
    inner[ends[:-1]] = False
    return (
        not entry_ptr[starts].any()
        and np.array_equal(entry_ptr[ends], pairs[is_sparse])
        and bool((np.diff(entry_ptr)[inner] >= 0).all())
        and bool((arrays.entry_child < np.repeat(arrays.group_size, pairs)).all())
        and bool(np.isfinite(arrays.entry_value).all() and np.isfinite(arrays.dense).all())
    )


def _blocks(n, size):
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def _as_ranking(labels, scores, k):
    """Pad to k columns; missing labels have score 0."""
    n, width = labels.shape
    out_labels = np.full((n, k), -1, np.int32)
    out_scores = np.zeros((n, k), np.float32)
    out_labels[:, :width] = labels
    out_scores[:, :width] = np.where(labels >= 0, scores, 0.0)
    return Ranking(out_labels, out_scores)


def _fill_with_zeros(labels, scores, rows):
    """Rank the labels of probability 0 by id, behind those of positive probability."""
    k = labels.shape[1]
    for i in rows:
        positive = labels[i][scores[i] > 0]
        rest = np.setdiff1d(np.arange(k + positive.size), positive)[: k - positive.size]
        labels[i] = np.concatenate([positive, rest])


def _one_of(progress: Progress, number: int, count: int) -> Progress:
    """Progress of one tree as a part of all trees, so that it rises once from 0 to 1."""
    if count == 1:
        return progress
    clustering = 0.2  # of a tree's time, roughly

    def report(phase, fraction, detail=""):
        part = clustering * fraction if phase == CLUSTERING else clustering + (1 - clustering) * fraction
        said = f"tree {number + 1} of {count}: {phase[0].lower()}{phase[1:]}"
        progress("Training trees", (number + part) / count, f"{said}, {detail}" if detail else said)

    return report
