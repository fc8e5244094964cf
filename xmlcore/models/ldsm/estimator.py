"""LdSM: log-depth streaming multi-label decision trees."""

import heapq
import numbers
import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import ldsm
from xmlcore.arrays import are_pointers, by_frequency, columns_of, in_columns, read_only
from xmlcore.models.base import ModelFormatError, MultiLabelModel, check_columns
from xmlcore.models.ldsm.progress import Growth
from xmlcore.parallel import run_tasks
from xmlcore.progress import Progress, silent
from xmlcore.ranking import Ranking
from xmlcore.system import effective_jobs
from xmlcore.validation import INT32_MAX, check_count, check_features, check_labels, csr_parts

OPTIMIZERS = {"nag": ldsm.NAG, "sgd": ldsm.SGD}
MOST_CHILDREN = 8  # 2^M - 1 sets of children are tried for each row
MOST_ATTEMPTS = 64
MANY_UNDONE = 0.5  # share of rows in leaves whose split was undone, from which on a warning says so
SPACES = ("raw", "idf")
MOST_GAMMA = 1e30
DENSE = 0.5  # share of values that are not 0, from which on features are taken as dense
ORDER, ATTEMPT = 1 << 32, 1 << 33  # added to a node's number: streams of its rows' order, and of further attempts
PREDICT_ROWS, LEAST_ROWS = 4096, 256  # most and fewest rows per task
AT_ONCE = 1 << 21  # (row, label) pairs whose shares are in memory at once, per thread
LEAST_WIDTH = 100  # features, of fewer the least weight would be one that matters
MOST_DENSE = 8 * 2**30  # bytes that rows may take when they are standardised
SAVED = ("root", "first_child", "bias", "column_ptr", "columns", "weights", "hist_ptr", "hist_labels", "hist_counts")
MEANS = ("mean_ptr", "mean_columns", "mean_values", "mean_weights")
MEAN_TYPES = [("int64", 1), ("int32", 1), ("float32", 1), ("float32", 1)]
DTYPES = {
    "root": "int32",
    "first_child": "int32",
    "bias": "float32",
    "column_ptr": "int64",
    "columns": "int32",
    "weights": "float32",
    "hist_ptr": "int64",
    "hist_labels": "int32",
    "hist_counts": "int32",
    "n_samples": "int64",
    "parts": "float64",
    "trace": "float32",
}


class LdSMTree(NamedTuple):
    """One tree: a value per node, parents before their children and the root first.

    Nodes have the order in which they were made, so the tree of a smaller ``max_nodes`` is the first part of it.
    """

    parent: np.ndarray  # int32 (n_nodes,), -1 for the root
    children: np.ndarray  # int32 (n_nodes, M), -1 for leaves
    depth: np.ndarray  # int32 (n_nodes,)
    n_samples: np.ndarray  # int64 (n_nodes,), training rows that reach the node
    objective: np.ndarray  # float64 (n_nodes,), J of the split as it was made; NaN for leaves, as the next three
    balance: np.ndarray  # float64 (n_nodes,), the balancing term: 0 is balanced
    integrity: (
        np.ndarray
    )  # float64 (n_nodes,), the class integrity term, without its weight: at most M²/4, rounded down
    multiway: np.ndarray  # float64 (n_nodes,), the multi-way penalty, without its weight: 0 when no row goes two ways
    inner: np.ndarray  # int32 (inner nodes,), their ids
    trace: np.ndarray  # float32 (inner nodes, n_epochs, 4), J and these three as estimated after each epoch
    histograms: sp.csr_array  # int32 (n_nodes, L), how many of a node's rows have each label


class Leaves(NamedTuple):
    """Leaves that rows reach, tree by tree and row by row."""

    n_rows: int
    n_trees: int
    ptr: np.ndarray  # int64 (n_trees * n_rows + 1,)
    nodes: np.ndarray  # int32, in the numbering of their tree

    def of(self, row: int, tree: int) -> np.ndarray:
        """Return the leaves of one tree that a row reaches: int32, at least one."""
        at = tree * self.n_rows + row
        return self.nodes[self.ptr[at] : self.ptr[at + 1]]


class LdSM(MultiLabelModel):
    """Log-depth streaming multi-label decision trees.

    An inner node of a tree has a linear regressor for each of its M children. A row goes to every child whose regressor
    says at least one half, or to the one that says most, and a leaf predicts the labels of the training rows that
    reached it. The regressors of a node are trained on the fly to minimise an objective J that wants the node's label
    occurrences spread evenly (balance), each label in as few children as possible (class integrity), and rows in one
    child rather than several (multi-way penalty): Majzoubi and Choromanska, AISTATS 2020.

    Parameters
    ----------
    arity : int, 2 to 8
        M, children of an inner node. The paper has 2 and 4. Each row is tried in 2^M - 1 sets of children.
    max_nodes : int, at least 1
        T_max, most nodes of a tree, leaves included.
    n_epochs : int, at least 1
        Passes over a node's rows.
    learning_rate : float, positive
    integrity_weight, multiway_weight : float, at least 0
        λ1 and λ2, the weights of class integrity and of the multi-way penalty in J, where the balance has weight 1.
    n_estimators : int
        Trees, which differ by the weights that training starts from. Their predictions are averaged.
    optimizer : {"auto", "nag", "sgd"}
        "nag": normalised adaptive gradient (Ross, Mineiro and Langford, 2013), which needs no scaling of features.
        "sgd": plain steps on features of mean 0 and variance 1 in each node, for dense data. "auto" takes "sgd" when
        more than half of all values are not 0.
    random_state : int, optional
        Same value, same model, for any ``n_jobs``. None draws a fresh one.
    n_jobs : int, optional
        Threads; None and -1 mean all cores this process may use. A tree is grown by one.
    rerank_beta : float in [0, 1]
        β: a label's score is β · share + (1 - β) / (1 + exp(γ |x - μ|² / 2)), with μ the mean of the label's training
        rows, for the labels of the leaves reached. 1, the default, is without; the paper has 0.8 on Amazon-670K.
    rerank_gamma : float, at least 0
        γ: how quickly distance from the mean counts; the paper has 1e-4.
    rerank_space : {"raw", "idf"}
        Where that distance is taken. "raw": between features as they are, as in the paper. "idf": features are weighted
        by inverse document frequency, and rows and means have unit length, as is usual for words; γ is then of the
        order of 1. Not in the paper.
    min_error : float in [0, 0.5]
        A regressor learns from a row only if its probability is at least so far from the target. 0 always learns, as
        in the paper; 0.3 stops where the margin is beyond ±0.85, which is enough for a routing that asks for 0.5.
    weight_decay : float in [0, 1)
        Share that the weights of a row's features lose whenever the row is learnt from. 0 is the paper's.

    n_attempts : int, at least 1
        A split that sends all rows one way, or none, is undone, and tried again up to so many times in all, each time
        with half the weight of class integrity. 1, the paper's, makes the node a leaf at once. Not in the paper.

    Attributes
    ----------
    n_features_in_, n_labels_ : int
    optimizer_ : str
        The one that was used.
    trees_ : list of LdSMTree
    n_unlabelled_ : int
        Training rows without a label, which were left out.

    Notes
    -----
    A node of n rows takes O(n_epochs * (nonzeros * M + labels * M^2 + n * 2^M * M^2)) time, whatever D and L are.

    References
    ----------
    M. Majzoubi, A. Choromanska, "LdSM: logarithm-depth streaming multi-label decision trees", AISTATS 2020.
    S. Ross, P. Mineiro, J. Langford, "Normalized online learning", UAI 2013.
    H. Jain, Y. Prabhu, M. Varma, "Extreme multi-label loss functions for recommendation, tagging, ranking and other
    missing label applications", KDD 2016 (re-ranking).

    Examples
    --------
    >>> from xmlcore import LdSM
    >>> X = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]
    >>> model = LdSM(n_estimators=1, random_state=0).fit(X, [[0], [0], [1, 2], [1, 2]])
    >>> model.predict_topk([[1.0, 0.05]], k=1).labels.tolist()
    [[0]]
    """

    def __init__(
        self,
        arity=2,
        max_nodes=1000,
        n_epochs=20,
        learning_rate=0.1,
        integrity_weight=2.0,
        multiway_weight=1.0,
        n_estimators=10,
        optimizer="auto",
        random_state=0,
        n_jobs=None,
        rerank_beta=1.0,
        rerank_gamma=1e-4,
        rerank_space="raw",
        min_error=0.0,
        weight_decay=0.0,
        n_attempts=1,
    ):
        self.arity = arity
        self.max_nodes = max_nodes
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.integrity_weight = integrity_weight
        self.multiway_weight = multiway_weight
        self.n_estimators = n_estimators
        self.optimizer = optimizer
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.rerank_beta = rerank_beta
        self.rerank_gamma = rerank_gamma
        self.rerank_space = rerank_space
        self.min_error = min_error
        self.weight_decay = weight_decay
        self.n_attempts = n_attempts

    def fit(self, X, Y, progress: Progress = silent) -> "LdSM":
        """Grow the trees on the rows of X with the labels Y.

        Parameters
        ----------
        X : sparse or dense, shape (N, D)
        Y : sparse or dense binary, shape (N, L), or lists of label ids
        progress : callable, optional
            See :class:`xmlcore.progress.Progress`; an exception from it stops the training, at the latest after the
            epoch that a node is in. Several threads call it, one at a time: those that grow trees (with one, that is
            the one that called ``fit``), and one that looks after nodes that take long.

        Returns
        -------
        LdSM
            Itself. When training is stopped, it stays as it was.

        Raises
        ------
        ValueError, TypeError
            Bad parameters or data; the message names them.

        Warns
        -----
        UserWarning
            When rows without labels were left out; when many rows are in leaves whose split was undone.
        """
        self._check_params()
        X = check_features(X)
        Y = check_labels(Y, n_rows=X.shape[0])
        if Y.nnz == 0:
            raise ValueError("no row of Y has a label: there is nothing to learn")
        n_features, n_labels = X.shape[1], Y.shape[1]
        labelled = np.flatnonzero(np.diff(Y.indptr))
        unlabelled = X.shape[0] - labelled.size
        if unlabelled:
            warnings.warn(
                f"{unlabelled:,} of {X.shape[0]:,} training rows have no label and are left out: a tree learns from "
                "rows that have one",
                UserWarning,
                stacklevel=2,
            )
            X, Y = X[labelled], Y[labelled]
        feature_of_column = by_frequency(X)
        columns = columns_of(feature_of_column, n_features)
        x, y = in_columns(csr_parts(X), columns), csr_parts(Y)[:2]
        optimizer = self.optimizer
        if optimizer == "auto":
            optimizer = "sgd" if X.nnz > DENSE * X.shape[0] * n_features else "nag"
        if optimizer == "sgd":
            threads = min(effective_jobs(self.n_jobs), self.n_estimators)
            needed = 12 * X.shape[0] * feature_of_column.size * threads
            if needed > MOST_DENSE:
                raise ValueError(
                    f"optimizer='sgd' would lay out {X.shape[0]:,} rows x {feature_of_column.size:,} features, "
                    f"{needed / 2**30:.0f} GiB with {threads} threads: use optimizer='nag', which keeps them sparse, "
                    "fewer threads (n_jobs) or fewer features"
                )
        seeds = self._seeds(self.n_estimators)
        with Growth(progress, self.n_estimators, self.max_nodes, self.arity, self.n_epochs, X.shape[0]) as growth:

            def grow(seed):
                return self._grow(x, y, feature_of_column.size, n_features, n_labels, seed, optimizer, growth)

            grown = run_tasks(grow, seeds, [1] * len(seeds), self.n_jobs, on_error=growth.halt)
        means = _label_means(x, Y, max(1, feature_of_column.size), self.rerank_space) if self.rerank_beta < 1 else None
        rerank = float(self.rerank_beta), float(self.rerank_gamma)
        self._set_fitted(grown, means, rerank, feature_of_column, n_features, n_labels, optimizer, unlabelled)
        self._say_undone(grown)
        return self

    def predict_topk(
        self, X, k: int = 5, progress: Progress = silent, *, n_trees: int | None = None, max_nodes: int | None = None
    ) -> Ranking:
        """Return the k labels of the largest share in the leaves that a row reaches.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        k : int
            May exceed the labels found: rows are padded with label -1 and score 0.
        progress : callable, optional
            See :class:`xmlcore.progress.Progress`.
        n_trees, max_nodes : int, optional
            Predict as a model of the first trees, or of smaller trees, would: it need not be trained.

        Returns
        -------
        Ranking
            Mean shares as scores, over the leaves of a tree, then over trees; mixed with nearness when
            ``rerank_beta`` is below 1. Equal scores are ranked by label id.
        """
        k = check_count(k, "k")
        X = self._check_input(X)
        x, width = csr_parts(X), min(k, self.n_labels_)
        labels = np.full((X.shape[0], k), -1, np.int32)
        scores = np.zeros((X.shape[0], k), np.float32)

        def one_block(block):
            for rows, *shares in self._shares(x, block, n_trees, max_nodes):
                best = np.full((rows.stop - rows.start, width), -1, np.int32)
                best_scores = np.zeros(best.shape, np.float32)
                ldsm.best_labels(*shares, best, best_scores)
                labels[rows, :width], scores[rows, :width] = best, best_scores

        blocks = _blocks(X.shape[0], self.n_jobs)
        run_tasks(one_block, blocks, [b - a for a, b in blocks], self.n_jobs, progress, "Predicting", "blocks of rows")
        return Ranking(labels, scores)

    def predict_proba(self, X, threshold: float = 0.0) -> sp.csr_array:
        """Probabilities of labels, those that reach a threshold.

        A label's probability is the share of a leaf's training rows that have it, averaged over the leaves of a tree
        and over trees. ``predict_topk`` ranks by shares of label occurrences instead, as the paper does, in which a row
        of many labels counts less for each; and re-ranking changes its scores, but no probability.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        threshold : float in [0, 1]

        Returns
        -------
        scipy.sparse.csr_array of float32, shape (n, L)
            Labels that no leaf has are 0.
        """
        if not isinstance(threshold, numbers.Real) or not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be in [0, 1], not {threshold!r}")
        X = self._check_input(X)
        x = csr_parts(X)

        def one_block(block):
            parts = []
            for _, ptr, labels, shares in self._shares(x, block, probabilities=True):
                part = sp.csr_array((shares.astype(np.float32), labels, ptr), shape=(ptr.size - 1, self.n_labels_))
                part.sort_indices()
                part.data[part.data < threshold] = 0.0
                part.eliminate_zeros()
                parts.append(part)
            return sp.csr_array(sp.vstack(parts, format="csr"))

        blocks = _blocks(X.shape[0], self.n_jobs)
        parts = run_tasks(one_block, blocks, [b - a for a, b in blocks], self.n_jobs)
        if not parts:
            return sp.csr_array((0, self.n_labels_), dtype=np.float32)
        return sp.csr_array(sp.vstack(parts, format="csr"))

    def apply(self, X, n_trees: int | None = None, max_nodes: int | None = None) -> "Leaves":
        """Return the leaves that rows reach.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        n_trees, max_nodes : int, optional
            As for :meth:`predict_topk`.

        Returns
        -------
        Leaves
        """
        X = self._check_input(X)
        n_trees, max_nodes = self._prefix(n_trees, max_nodes)
        part = in_columns(csr_parts(X), self._columns, (0, X.shape[0]))
        ptr, leaves = self._reach(part, n_trees, max_nodes)
        tree = np.repeat(np.repeat(np.arange(n_trees), X.shape[0]), np.diff(ptr))
        return Leaves(X.shape[0], n_trees, ptr, leaves - self.forest_.root[tree])

    def in_columns(self, X) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Express rows in the model's columns: the features that occurred in training, numbered by frequency.

        Parameters
        ----------
        X : scipy.sparse.csr_array, shape (n, D)
            Canonical: what :func:`xmlcore.validation.check_features` returns.

        Returns
        -------
        ptr : ndarray of int64, shape (n + 1,)
            Where each row's entries begin, and where the last one's end.
        columns : ndarray of int32
            The column of each entry. Features that did not occur in training have none and are left out.
        places : ndarray of int64
            Where each entry is in ``X.data``.
        """
        self._check_fitted()
        indptr, indices, _ = csr_parts(X)
        return in_columns((indptr, indices, np.arange(indices.size)), self._columns)

    def size(self) -> dict:
        """Size of the fitted model: "n_nodes", "depth", "n_weights", "model_bytes" (of its arrays)."""
        self._check_fitted()
        parts = [self.forest_, self._columns, [self.feature_of_column_], self.means_ or ()]
        return {
            "n_nodes": int(self.forest_.first_child.size),
            "depth": int(max(tree.depth.max() for tree in self.trees_)),
            "n_weights": int(np.count_nonzero(self.forest_.weights)),
            "model_bytes": int(sum(np.asarray(a).nbytes for arrays in parts for a in arrays)),
        }

    # Parameters -----------------------------------------------------------------------------------------------------

    def _check_params(self):
        if check_count(self.arity, "arity", least=2) > MOST_CHILDREN:
            raise ValueError(
                f"arity must be at most {MOST_CHILDREN}, not {self.arity}: every row is tried in 2^arity - 1 sets of "
                "children"
            )
        check_count(self.max_nodes, "max_nodes", most=INT32_MAX)
        check_count(self.n_epochs, "n_epochs", most=INT32_MAX)
        check_count(self.n_estimators, "n_estimators", most=INT32_MAX)
        check_count(self.n_attempts, "n_attempts", most=MOST_ATTEMPTS)
        if self.random_state is not None:
            check_count(self.random_state, "random_state", least=0)
        effective_jobs(self.n_jobs)
        if not isinstance(self.optimizer, str) or self.optimizer not in ("auto", *OPTIMIZERS):
            raise ValueError(f"optimizer must be one of auto, {', '.join(OPTIMIZERS)}, not {self.optimizer!r}")
        if not isinstance(self.rerank_space, str) or self.rerank_space not in SPACES:
            raise ValueError(f"rerank_space must be one of {', '.join(SPACES)}, not {self.rerank_space!r}")
        for name, least, most in (
            ("learning_rate", 1e-9, 1e6),
            ("integrity_weight", 0.0, 1e6),
            ("multiway_weight", 0.0, 1e6),
            ("rerank_beta", 0.0, 1.0),
            ("rerank_gamma", 0.0, MOST_GAMMA),
            ("min_error", 0.0, 0.5),
            ("weight_decay", 0.0, 0.999),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Real):
                raise TypeError(f"{name} must be a number, not {value!r}")
            if not least <= value <= most:
                raise ValueError(f"{name} must be from {least:g} to {most:g}, not {value}")

    def _seeds(self, count):
        entropy = self.random_state if self.random_state is not None else np.random.SeedSequence().entropy
        return [int(np.random.SeedSequence([entropy, t]).generate_state(1, np.uint32)[0]) for t in range(count)]

    # Training -------------------------------------------------------------------------------------------------------

    def _grow(self, x, y, n_columns, n_features, n_labels, seed, optimizer, growth):
        """Grow one tree (the paper's algorithm 1).

        Parameters
        ----------
        x : ptr, columns, values of all rows; y : ptr, labels
        seed : int
            Of the tree; a node has a stream of its own.
        growth : Growth

        Returns
        -------
        Grown
        """
        M, n_rows = self.arity, x[0].size - 1
        place = np.full(max(n_columns, n_labels, 1), -1, np.int32)
        counts = np.bincount(y[1], minlength=n_labels)
        grown = Grown(M, self.n_epochs, n_rows, np.flatnonzero(counts), counts[counts > 0])
        rows_of = {0: np.arange(n_rows, dtype=np.int32)}
        waiting = [(-grown.mixture(0), 0)]
        own = growth.tree()
        while waiting and len(grown.parent) + M <= self.max_nodes:
            mixture, v = heapq.heappop(waiting)
            if mixture == 0:
                break  # one label in each node that is left
            rows = rows_of.pop(v)
            split = self._split(x, y, rows, v, place, n_features, seed, optimizer, own, growth.stop)
            growth.say(own)
            if split is None:
                grown.undone.append(v)
                own.end(rows.size, 0, len(grown.parent))
                continue  # a leaf, for good
            first = grown.add(v, split)
            left = 0
            for c in range(M):
                rows_of[first + c] = split.rows[split.row_ptr[c] : split.row_ptr[c + 1]]
                mixture = grown.mixture(first + c)
                heapq.heappush(waiting, (-mixture, first + c))
                left += rows_of[first + c].size if mixture else 0
            own.end(rows.size, left, len(grown.parent))
        own.ended = True
        growth.say(own)
        return grown

    def _split(self, x, y, rows, v, place, n_features, seed, optimizer, growth, stop):
        """Train node v on its rows, and split them; None when a child gets all rows, or none, in every attempt."""
        weights = float(self.integrity_weight), float(self.multiway_weight)
        rest = 1.0 / (2 * n_features), 1.0 / max(n_features, LEAST_WIDTH), OPTIMIZERS[optimizer], seed
        for attempt in range(self.n_attempts):
            number, trace, parts = v + ATTEMPT * attempt, np.full((self.n_epochs, 4), np.nan), np.empty(4)
            growth.begin(rows.size, trace)
            status, *found = ldsm.split_node(
                *x, *y, rows, place, self.arity, self.n_epochs, float(self.learning_rate), weights[0],
                weights[0] / 2**attempt, weights[1], *rest, number, ORDER + number, float(self.min_error),
                float(self.weight_decay), trace, parts, stop,
            )  # fmt: skip
            if stop[0]:
                return None  # half trained: the next report raises
            if status == ldsm.BEYOND:
                raise FloatingPointError(
                    "a regressor's weights are beyond float32: some feature's values differ by less than float32 can "
                    "tell; scale the features, or use optimizer='nag'"
                )
            if status == ldsm.MADE:
                return Split(*found, parts, trace.astype(np.float32))
        return None

    def _say_undone(self, grown):
        visits = sum(sum(n for n, first in zip(tree.n_samples, tree.first_child) if first < 0) for tree in grown)
        undone = [tree.n_samples[v] for tree in grown for v in tree.undone]
        if sum(undone) > MANY_UNDONE * visits:
            more = "n_attempts=5 tries again with less of it" if self.n_attempts == 1 else "more n_attempts may help"
            warnings.warn(
                f"{len(undone):,} splits were undone, for they sent all rows one way: {sum(undone) / visits:.0%} of "
                f"the rows, over {len(grown):,} trees, end in leaves with several labels. Often class integrity, of "
                f"weight {self.integrity_weight}, counts for too much there: {more}, or make integrity_weight smaller",
                UserWarning,
                stacklevel=3,
            )

    def _set_fitted(self, grown, means, rerank, feature_of_column, n_features, n_labels, optimizer, unlabelled):
        self.optimizer_ = optimizer
        self.n_unlabelled_ = unlabelled
        self.feature_of_column_ = feature_of_column
        self._columns = columns_of(feature_of_column, n_features)
        self.n_features_in_, self.n_labels_ = n_features, n_labels
        arrays = [tree.arrays() for tree in grown]
        self.forest_ = _forest(arrays)
        self.trees_ = [tree.public(parts, n_labels) for tree, parts in zip(grown, arrays)]
        self.means_, self._rerank = means, rerank

    # Saving ---------------------------------------------------------------------------------------------------------

    def __setstate__(self, state):
        self.__dict__.update(state)
        for arrays in (self.__dict__.get("forest_", ()), self.__dict__.get("_columns", ())):
            read_only(arrays)  # which pickle does not keep

    def _state(self):
        arrays = {name: getattr(self.forest_, name) for name in SAVED}
        arrays["feature_of_column"] = self.feature_of_column_
        arrays["n_samples"] = np.concatenate([tree.n_samples for tree in self.trees_])
        arrays["parts"] = np.concatenate(
            [np.stack([t.objective, t.balance, t.integrity, t.multiway], axis=1) for t in self.trees_]
        )
        arrays["trace"] = np.concatenate([tree.trace.reshape(-1, 4) for tree in self.trees_])
        for name, array in zip(MEANS, self.means_ or ()):
            arrays[name] = array
        values = {
            "n_features": self.n_features_in_,
            "n_labels": self.n_labels_,
            "n_trees": len(self.trees_),
            "arity": int(self.trees_[0].children.shape[1]),
            "n_epochs": int(max(tree.trace.shape[1] for tree in self.trees_)),
            "optimizer": self.optimizer_,
            "n_unlabelled": self.n_unlabelled_,
            "rerank": list(self._rerank),
        }
        return values, arrays

    def _restore(self, values, arrays):
        for name, least in (("n_features", 1), ("n_labels", 1), ("n_trees", 1), ("arity", 2), ("n_epochs", 1)):
            check_count(values[name], name, least=least, most=INT32_MAX)
        check_count(values["n_unlabelled"], "n_unlabelled", least=0)
        beta, gamma = map(float, values["rerank"])
        if not (0 <= beta <= 1 and 0 <= gamma <= MOST_GAMMA):
            raise ModelFormatError(f"no model has β = {beta} and γ = {gamma}")
        if values["optimizer"] not in OPTIMIZERS or values["arity"] > MOST_CHILDREN:
            raise ModelFormatError(f"no model has optimizer {values['optimizer']!r} and arity {values['arity']}")
        check_columns(arrays["feature_of_column"], values["n_features"])
        _check_arrays(arrays, values, arrays["feature_of_column"].size)
        means = tuple(arrays[name] for name in MEANS) if MEANS[0] in arrays else None
        trees = _apart(arrays, values)
        self._set_fitted(
            [_Stored(*tree) for tree in trees], means, (beta, gamma), arrays["feature_of_column"], values["n_features"],
            values["n_labels"], values["optimizer"], values["n_unlabelled"],
        )  # fmt: skip

    # Prediction -----------------------------------------------------------------------------------------------------

    def _prefix(self, n_trees, max_nodes):
        n_trees = len(self.trees_) if n_trees is None else min(check_count(n_trees, "n_trees"), len(self.trees_))
        return n_trees, INT32_MAX if max_nodes is None else check_count(max_nodes, "max_nodes", most=INT32_MAX)

    def _reach(self, part, n_trees, max_nodes):
        M, n_columns = self.trees_[0].children.shape[1], max(1, self.feature_of_column_.size)
        return ldsm.reach_leaves(self.forest_, M, n_columns, *part, n_trees, max_nodes)

    def _shares(self, x, block, n_trees=None, max_nodes=None, probabilities=False):
        """Labels of the leaves that some rows reach, and their scores, some rows at a time.

        Yields slices of rows, ptr, labels, and float64 scores: shares of label occurrences, re-ranked where that was
        asked for; or ``probabilities``.
        """
        n_trees, max_nodes = self._prefix(n_trees, max_nodes)
        part = in_columns(x, self._columns, block)
        ptr, leaves = self._reach(part, n_trees, max_nodes)
        rerank = self.means_ is not None and not probabilities
        if rerank and self.means_[3].size:
            part = (*part[:2], ldsm.weigh(*part, self.means_[3], True))
        sizes = np.cumsum(ldsm.most_labels(self.forest_, ptr, leaves, self.n_labels_, n_trees))
        first, n = 0, block[1] - block[0]
        while first < n:
            before = sizes[first - 1] if first else 0
            end = max(first + 1, int(np.searchsorted(sizes, before + AT_ONCE, side="right")))
            found = ldsm.label_shares(self.forest_, ptr, leaves, self.n_labels_, n_trees, first, end, probabilities)
            if rerank:
                own = (part[0][first : end + 1], *part[1:])
                n_columns = max(1, self.feature_of_column_.size)
                ldsm.rank_again(*found, *own, n_columns, *self.means_[:3], *self._rerank)
            yield slice(block[0] + first, block[0] + end), *found
            first = end


class Split(NamedTuple):
    """What training a node gives."""

    row_ptr: np.ndarray  # int64 (M + 1,)
    rows: np.ndarray  # int32, of each child
    hist_ptr: np.ndarray  # int64 (M + 1,)
    hist_labels: np.ndarray  # int32, of each child's rows
    hist_counts: np.ndarray  # int64
    columns: np.ndarray  # int32 (F,), those with a weight
    weights: np.ndarray  # float32 (F * M,)
    bias: np.ndarray  # float32 (M,)
    parts: np.ndarray  # float64 (4,), J, balance, integrity, multi-way
    trace: np.ndarray  # float32 (n_epochs, 4)


class Grown:
    """A tree while it grows."""

    def __init__(self, arity, n_epochs, n_rows, labels, counts):
        self.arity, self.n_epochs = arity, n_epochs
        self.parent, self.depth, self.first_child, self.n_samples, self.bias = [-1], [0], [-1], [n_rows], [0.0]
        self.hist = [(labels.astype(np.int32), counts)]
        self.splits = {}
        self.undone = []

    def mixture(self, v):
        """The node's priority: label occurrences beside those of its most frequent label."""
        counts = self.hist[v][1]
        return int(counts.sum() - counts.max())

    def add(self, v, split):
        """Add the children of v; returns the first one's id."""
        first = len(self.parent)
        self.first_child[v] = first
        for c in range(self.arity):
            own = slice(split.hist_ptr[c], split.hist_ptr[c + 1])
            self.parent.append(v)
            self.depth.append(self.depth[v] + 1)
            self.first_child.append(-1)
            self.n_samples.append(int(split.row_ptr[c + 1] - split.row_ptr[c]))
            self.bias.append(float(split.bias[c]))
            self.hist.append((split.hist_labels[own], split.hist_counts[own]))
        self.splits[v] = split._replace(row_ptr=None, rows=None, hist_labels=None, hist_counts=None)
        return first

    def public(self, arrays, n_labels):
        """The tree as users see it."""
        parts = np.full((len(self.parent), 4), np.nan)
        for v, split in self.splits.items():
            parts[v] = split.parts
        traces = [self.splits[v].trace for v in sorted(self.splits)]
        trace = np.stack(traces) if traces else np.empty((0, self.n_epochs, 4), np.float32)
        return _public(arrays, np.array(self.n_samples, np.int64), parts, trace, n_labels)

    def arrays(self):
        """As :func:`_forest` takes them."""
        inner = sorted(self.splits)
        return {
            "arity": self.arity,
            "first_child": np.array(self.first_child, np.int32),
            "bias": np.array(self.bias, np.float32),
            "inner": np.array(inner, np.int64),
            "n_rows": np.array(self.n_samples, np.int64),
            "columns": [self.splits[v].columns for v in inner],
            "weights": [self.splits[v].weights for v in inner],
            "hist_ptr": np.concatenate([[0], np.cumsum([labels.size for labels, _ in self.hist])]).astype(np.int64),
            "hist_labels": np.concatenate([labels for labels, _ in self.hist]).astype(np.int32),
            "hist_counts": np.concatenate([counts for _, counts in self.hist]).astype(np.int32),
        }


class _Stored(NamedTuple):
    """A tree that was read from a file, as :class:`Grown` gives it."""

    parts: dict
    n_samples: np.ndarray
    values: np.ndarray
    trace: np.ndarray

    def arrays(self):
        return self.parts

    def public(self, arrays, n_labels):
        return _public(arrays, self.n_samples, self.values, self.trace, n_labels)


def _public(arrays, n_samples, parts, trace, n_labels) -> LdSMTree:
    first, M = arrays["first_child"], arrays["arity"]
    children = np.where(first[:, None] >= 0, first[:, None] + np.arange(M, dtype=np.int32), np.int32(-1))
    parent, depth = np.full(first.size, -1, np.int32), np.zeros(first.size, np.int32)
    for v in arrays["inner"].tolist():  # parents come before their children
        parent[first[v] : first[v] + M] = v
        depth[first[v] : first[v] + M] = depth[v] + 1
    hist = sp.csr_array(
        (arrays["hist_counts"], arrays["hist_labels"], arrays["hist_ptr"]), shape=(first.size, n_labels)
    )
    return LdSMTree(parent, children, depth, n_samples, *parts.T.copy(), arrays["inner"].astype(np.int32), trace, hist)


def _apart(arrays, values):
    """Arrays of all trees, tree by tree: arguments of :class:`_Stored`."""
    M = values["arity"]
    root, hist_ptr, column_ptr = arrays["root"], arrays["hist_ptr"], arrays["column_ptr"]
    n_inner = int((arrays["first_child"] >= 0).sum())
    trace = arrays["trace"].reshape(n_inner, values["n_epochs"], 4)
    trees, group = [], 0
    for start, end in zip(root[:-1], root[1:]):
        first = arrays["first_child"][start:end]
        inner = np.flatnonzero(first >= 0)
        groups = range(group, group + inner.size)
        parts = {
            "arity": M,
            "first_child": np.where(first >= 0, first - start, -1).astype(np.int32),
            "bias": arrays["bias"][start:end],
            "inner": inner,
            "n_rows": arrays["n_samples"][start:end],
            "columns": [arrays["columns"][column_ptr[g] : column_ptr[g + 1]] for g in groups],
            "weights": [arrays["weights"][M * column_ptr[g] : M * column_ptr[g + 1]] for g in groups],
            "hist_ptr": hist_ptr[start : end + 1] - hist_ptr[start],
            "hist_labels": arrays["hist_labels"][hist_ptr[start] : hist_ptr[end]],
            "hist_counts": arrays["hist_counts"][hist_ptr[start] : hist_ptr[end]],
        }
        own = slice(start, end)
        trees.append((parts, arrays["n_samples"][own], arrays["parts"][own], trace[group : group + inner.size]))
        group += inner.size
    return trees


def _check_arrays(arrays, values, n_columns):
    """Raise ModelFormatError unless the arrays are trees and every index points inside them: kernels do not check."""
    for name, dtype in DTYPES.items():
        array = arrays[name]
        if array.dtype != dtype or array.ndim != (2 if name in ("parts", "trace") else 1):
            raise ModelFormatError(f"{name} in its arrays is {array.dtype} with {array.ndim} dimensions, not {dtype}")
    # Each check relies on those before it.
    for what, holds in (
        ("the trees", lambda: _are_trees(arrays, values)),
        ("the regressors", lambda: _are_regressors(arrays, values, n_columns)),
        ("the histograms", lambda: _are_lists(arrays["hist_ptr"], arrays["hist_labels"], values["n_labels"])
            and arrays["hist_ptr"].size == arrays["first_child"].size + 1
            and bool((np.diff(arrays["hist_ptr"]) > 0).all() and (arrays["hist_counts"] > 0).all())
            and arrays["hist_counts"].size == arrays["hist_labels"].size),
        ("the labels' means", lambda: MEANS[0] not in arrays or (
            [(arrays[name].dtype, arrays[name].ndim) for name in MEANS] == MEAN_TYPES
            and arrays[MEANS[0]].size == values["n_labels"] + 1
            and _are_lists(arrays[MEANS[0]], arrays[MEANS[1]], n_columns)
            and arrays[MEANS[1]].size == arrays[MEANS[2]].size
            and arrays[MEANS[3]].size in (0, max(1, n_columns))
            and bool(np.isfinite(arrays[MEANS[2]]).all() and np.isfinite(arrays[MEANS[3]]).all()))),
    ):  # fmt: skip
        if not holds():
            raise ModelFormatError(f"{what} in its arrays cannot be: the file was damaged or written by something else")


def _are_trees(arrays, values):
    root, first, M = arrays["root"].astype(np.int64), arrays["first_child"].astype(np.int64), values["arity"]
    if not (are_pointers(root, values["n_trees"], first.size) and (np.diff(root) > 0).all()):
        return False
    for start, end in zip(root[:-1], root[1:]):
        inner = start + np.flatnonzero(first[start:end] >= 0)
        if not (
            np.array_equal(np.sort(first[inner]), start + 1 + M * np.arange(inner.size))
            and end - start == 1 + M * inner.size
            and (first[inner] > inner).all()
            and (first[start:end] >= -1).all()
        ):
            return False
    n_inner = int((first >= 0).sum())
    return (
        arrays["bias"].size == arrays["n_samples"].size == arrays["parts"].shape[0] == first.size
        and arrays["parts"].shape[1] == arrays["trace"].shape[1] == 4
        and arrays["trace"].shape[0] == n_inner * values["n_epochs"]
        and bool((arrays["n_samples"] > 0).all())
    )


def _are_regressors(arrays, values, n_columns):
    groups = int((arrays["first_child"] >= 0).sum())
    return (
        arrays["column_ptr"].size == groups + 1
        and _are_lists(arrays["column_ptr"], arrays["columns"], n_columns)
        and arrays["weights"].size == values["arity"] * arrays["columns"].size
        and bool(np.isfinite(arrays["weights"]).all() and np.isfinite(arrays["bias"]).all())
    )


def _are_lists(ptr, ids, count):
    """Whether every list rises, and all ids are below ``count``."""
    if not are_pointers(ptr, ptr.size - 1, ids.size):
        return False
    inside = np.ones(max(0, ids.size - 1), bool)
    starts = ptr[1:-1]
    inside[starts[(starts > 0) & (starts < ids.size)] - 1] = False
    return bool(ids.size == 0 or (ids.min() >= 0 and ids.max() < count and (np.diff(ids)[inside] > 0).all()))


def _forest(trees) -> ldsm.ForestArrays:
    """One set of flat arrays for all trees."""
    root = np.concatenate([[0], np.cumsum([tree["first_child"].size for tree in trees])]).astype(np.int32)
    firsts = [np.where(tree["first_child"] >= 0, tree["first_child"] + at, -1) for tree, at in zip(trees, root)]
    first_child = np.concatenate(firsts).astype(np.int32)
    inner = np.concatenate([tree["inner"] + at for tree, at in zip(trees, root)])
    group = np.full(first_child.size, -1, np.int32)
    group[inner] = np.arange(inner.size, dtype=np.int32)
    columns = [part for tree in trees for part in tree["columns"]]
    weights = [part for tree in trees for part in tree["weights"]]
    hist_ptr = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(tree["hist_ptr"]) for tree in trees]))])
    hist_counts = np.concatenate([tree["hist_counts"] for tree in trees])
    forest = ldsm.ForestArrays(
        root=root,
        first_child=first_child,
        group=group,
        bias=np.concatenate([tree["bias"] for tree in trees]),
        column_ptr=_pointers(columns),
        columns=np.concatenate([np.empty(0, np.int32), *columns]),
        weights=np.concatenate([np.empty(0, np.float32), *weights]),
        hist_ptr=hist_ptr,
        hist_labels=np.concatenate([tree["hist_labels"] for tree in trees]),
        hist_counts=hist_counts,
        hist_total=np.add.reduceat(hist_counts, hist_ptr[:-1], dtype=np.int64),
        n_rows=np.concatenate([tree["n_rows"] for tree in trees]).astype(np.int64),
    )
    return read_only(forest)


def _label_means(x, Y, n_columns, space):
    """Mean of each label's training rows, in columns: ptr, columns, values, and the columns' weights (none if raw)."""
    ptr, columns, values = x
    weights = np.empty(0, np.float32)
    if space == "idf":
        rows_with = np.bincount(columns[values != 0], minlength=n_columns)
        weights = (1 + np.log((1 + Y.shape[0]) / (1 + rows_with))).astype(np.float32)
        values = ldsm.weigh(ptr, columns, values, weights, True)
    sums = sp.csr_array(Y.T.astype(np.float32) @ sp.csr_array((values, columns, ptr), shape=(Y.shape[0], n_columns)))
    sums.sort_indices()
    counts = np.maximum(1, np.bincount(Y.indices, minlength=Y.shape[1]))
    sums.data /= np.repeat(counts, np.diff(sums.indptr)).astype(np.float32)
    means = csr_parts(sums)
    if space == "idf":
        means = (*means[:2], ldsm.weigh(*means, np.ones(n_columns, np.float32), True))
    return (*means, weights)


def _pointers(arrays):
    return np.concatenate([[0], np.cumsum([array.size for array in arrays])]).astype(np.int64)


def _blocks(n, n_jobs):
    """Rows per task: many share the reading of weights, but every thread gets some."""
    jobs = effective_jobs(n_jobs)
    rows = min(PREDICT_ROWS, max(LEAST_ROWS, -(-n // (1 if jobs == 1 else 2 * jobs))))
    return [(start, min(start + rows, n)) for start in range(0, n, rows)]
