"""LdSM: log-depth streaming multi-label decision trees."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ldsm_reaching import SentRows
from xmlcore._kernels.ldsm_reranking import LabelMeans
from xmlcore._kernels.ldsm_rows import TrainingRows
from xmlcore._kernels.ldsm_shares import best_labels
from xmlcore.arrays import by_frequency, bytes_of, columns_of, in_columns
from xmlcore.models.base import LearnsMore
from xmlcore.models.ldsm.growing import Grower, node_settings, warn_of_undone_splits
from xmlcore.models.ldsm.parameters import ABOUT, PARAMETERS, PRESETS
from xmlcore.models.ldsm.prediction import LeafScorer, label_means, prediction_blocks
from xmlcore.models.ldsm.progress import GrowthProgress
from xmlcore.models.ldsm.trees import MEANS, Leaves, check_state, forest_arrays, joined, public_trees, state_of
from xmlcore.models.rows import checked_rows, columns_in_place, labelled_rows, stacked
from xmlcore.models.weights import TakesWeights, repeated_rows
from xmlcore.parallel import run_blocks, run_tasks
from xmlcore.parameters import described
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import ArrayLike, Matrix, RandomState, SomeLabels
from xmlcore.validation import INT32_MAX, check_count, check_labels, check_threshold, csr_parts

DENSE = 0.5  # share of feature values other than 0 above which "auto" chooses the optimizer for dense features
MOST_DENSE = 1 << 29  # largest number of values, most of them 0, of which "sgd" learns: with more it takes hours


@described
class LdSM(TakesWeights, LearnsMore):
    """Log-depth streaming multi-label decision trees.

    An inner node of a tree has a linear regressor for each of its M children. A row goes to every child whose regressor
    gives at least one half, or to the child with the largest value if none does. A leaf predicts the labels of the
    training rows that reached it. The regressors of a node are trained while the tree grows, and minimise an objective
    J (Majzoubi and Choromanska, AISTATS 2020): docs/methods/ldsm.md. ``LdSM.preset("paper")`` has the settings of the
    paper, ``LdSM.preset("program")`` those of its authors' program.

    {parameters}

    Attributes
    ----------
    {of_labels}
    optimizer_ : str
        The optimizer that was used: "nag" or "sgd".
    trees_ : list of LdSMTree
    n_rows_ : int
        Training rows with labels, those of ``partial_fit`` included.
    n_unlabelled_ : int
        Training rows without a label, which were left out.
    {columns}
    forest_ : ForestArrays
        The trees as flat arrays, for kernels.
    means_ : LabelMeans or None
        The mean of each label's training rows, in columns, when ``rerank_beta`` was below 1.
    rerank_ : (float, float)
        The parameters β and γ with which the model was fitted.
    feature_names_in_ : ndarray of str
        Names of the features, when X had some.

    Notes
    -----
    ``predict_topk`` ranks labels by their mean shares of the label occurrences in the leaves that a row reaches, mixed
    with nearness when ``rerank_beta`` is below 1. A probability is the share of a leaf's training rows that have the
    label, averaged over the leaves of a tree and over trees: a label of a row with many labels counts as much there.

    ``partial_fit`` is for rows that are few beside those of ``fit``, or like them: nodes and regressors stay.

    Examples
    --------
    >>> from xmlcore import LdSM
    >>> X = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]
    >>> model = LdSM(n_estimators=1, random_state=0).fit(X, [[0], [0], [1, 2], [1, 2]])
    >>> model.predict_topk([[1.0, 0.05]], k=1).labels.tolist()
    [[0]]
    """

    ABOUT = ABOUT
    _label_bytes = 32
    PARAMETERS = PARAMETERS
    PRESETS = PRESETS
    _WEIGHTS = ("sample_weight",)
    _only_tree = None  # the tree to grow, if it is trained apart: see xmlcore.models.ensembles

    arity: int = 2
    max_nodes: int = 1000
    n_epochs: int = 5
    learning_rate: float = 0.1
    integrity_weight: float = 2.0
    multiway_weight: float = 1.0
    n_estimators: int = 20
    optimizer: str = "auto"
    random_state: RandomState = 0
    n_jobs: int | None = None
    rerank_beta: float = 1.0
    rerank_gamma: float = 0.0001
    rerank_space: str = "raw"
    min_error: float = 0.3
    weight_decay: float = 0.0
    n_attempts: int = 5
    degenerate_splits: str = "undo"

    def _fit(self, X, Y, progress, sample_weight=None):
        X, Y = repeated_rows(*checked_rows(X, Y), sample_weight, self._entropy)
        n_features, n_labels = X.shape[1], Y.shape[1]
        X, Y, n_unlabelled = labelled_rows(X, Y)
        feature_of_column = by_frequency(X)
        n_columns = feature_of_column.size
        optimizer = self._chosen_optimizer(X, n_columns)
        x = columns_in_place(X, feature_of_column)
        data, settings = TrainingRows(*x, *csr_parts(Y)[:2]), node_settings(self, optimizer, n_features)
        seeds = self._seeds(self.n_estimators)
        seeds = seeds if self._only_tree is None else [seeds[self._only_tree]]
        with GrowthProgress(progress, len(seeds), self.max_nodes, self.arity, self.n_epochs, X.shape[0]) as growth:
            keeps = self.degenerate_splits == "keep"
            grower = Grower(data, n_columns, n_labels, settings, self.max_nodes, self.n_attempts, keeps, growth)
            trees = run_tasks(grower.grow, seeds, [1] * len(seeds), self.n_jobs, on_error=growth.halt)
        means = label_means(x, Y, max(1, n_columns), self.rerank_space) if self.rerank_beta < 1 else ()
        values = {"n_features": n_features, "n_labels": n_labels, "arity": settings.arity, "optimizer": optimizer}
        values |= {"n_epochs": settings.n_epochs, "n_unlabelled": n_unlabelled}
        values["rerank"] = self.rerank_beta, self.rerank_gamma
        warn_of_undone_splits(trees, self.integrity_weight)
        del X, Y, x, data, grower  # before the trees are joined, which takes their memory once more
        arrays = joined([tree.arrays for tree in trees]) | {"feature_of_column": feature_of_column}
        self._set_fitted(values, arrays | dict(zip(MEANS, means)))

    def _learn_more(self, X, Y, progress):
        X, Y, n_unlabelled = labelled_rows(X, check_labels(Y, n_rows=X.shape[0]))
        if self.means_ is not None and self.means_.weights.size:
            raise ValueError(
                "means of labels in the space 'idf' cannot learn further rows: fit the model to all rows, or with "
                "rerank_space='raw' or rerank_beta=1"
            )
        values, arrays = state_of(self)
        values = values | {"n_labels": Y.shape[1], "n_unlabelled": self.n_unlabelled_ + n_unlabelled}
        arrays = arrays | _counted(self, X, Y, progress)
        self._set_fitted(values, arrays if self.means_ is None else arrays | _with_means(self, X, Y))

    def predict_topk(
        self, X: Matrix, k: int = 5, *, progress: ProgressLike = silent, n_trees: int | None = None,
        max_nodes: int | None = None, weights: ArrayLike | None = None,
        labels: SomeLabels | None = None, exclude: SomeLabels | None = None,
    ) -> Ranking:  # fmt: skip
        """Return the k labels of the largest share in the leaves that a row reaches.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        k : int
            May exceed the labels found: rows are padded with label -1 and score 0.
        progress : :class:`xmlcore.progress.Progress` or "bar", optional
        n_trees, max_nodes : int, optional
            Predict as a model of the first trees, or of smaller trees, would. Nothing is trained for it.
        weights : array-like, shape (L,), optional
            Rank by weight times the probability of :meth:`predict_proba`, by all trees: see :class:`PLT`.
        labels, exclude : list of labels, or bool array of shape (L,), optional
            The labels that may be ranked, and those that may not, as for :class:`PLT`.

        Returns
        -------
        Ranking
            Mean shares as scores, over the leaves of a tree, then over trees; mixed with nearness when
            ``rerank_beta`` is below 1. Equal scores are ranked by label id.
        """
        progress = to_progress(progress)
        k = check_count(k, "k")
        if weights is not None:
            return self._heaviest(X, k, weights, progress, n_trees=n_trees, max_nodes=max_nodes)
        X = self._check_input(X, k)
        x, scorer, width = csr_parts(X), self._scorer(n_trees, max_nodes), min(k, self.n_labels_)
        labels = np.full((X.shape[0], k), -1, np.int32)
        scores = np.zeros((X.shape[0], k), np.float32)

        def one_block(block):
            for first, end, *scored in scorer.scores(self._rows(x, block)):
                best = np.full((end - first, width), -1, np.int32)
                best_scores = np.zeros(best.shape, np.float32)
                best_labels(*scored, best, best_scores)
                rows = slice(block[0] + first, block[0] + end)
                labels[rows, :width], scores[rows, :width] = best, best_scores

        blocks = prediction_blocks(X.shape[0], self.n_jobs)
        run_blocks(one_block, blocks, self.n_jobs, progress, "Predicting")
        return Ranking(labels, scores)

    def predict_proba(self, X: Matrix, threshold: float = 0.0) -> sp.csr_array:
        check_threshold(threshold)
        X = self._check_input(X)
        x, scorer = csr_parts(X), self._scorer()

        def one_block(block):
            parts = []
            for _, _, ptr, labels, shares in scorer.scores(self._rows(x, block), probabilities=True):
                part = sp.csr_array((shares.astype(np.float32), labels, ptr), shape=(ptr.size - 1, self.n_labels_))
                part.sort_indices()
                part.data[part.data < threshold] = 0.0
                part.eliminate_zeros()
                parts.append(part)
            return stacked(parts, self.n_labels_)

        blocks = prediction_blocks(X.shape[0], self.n_jobs)
        return stacked(run_blocks(one_block, blocks, self.n_jobs), self.n_labels_)

    def apply(self, X: Matrix, n_trees: int | None = None, max_nodes: int | None = None) -> Leaves:
        """Return the leaves that rows reach; ``n_trees`` and ``max_nodes`` as for :meth:`predict_topk`."""
        X = self._check_input(X)
        scorer = self._scorer(n_trees, max_nodes)
        ptr, leaves = scorer.reach(self._rows(csr_parts(X), (0, X.shape[0])))
        tree = np.repeat(np.repeat(np.arange(scorer.n_trees), X.shape[0]), np.diff(ptr))
        return Leaves(X.shape[0], scorer.n_trees, ptr, leaves - self.forest_.root[tree])

    def in_columns(self, X: Matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Express rows in the model's columns: the features that occurred in training, numbered by frequency.

        Returns where each row's entries begin (int64, one more than rows), and of each entry the column (int32) and its
        position in ``X.data``. Entries of features that did not occur in training are left out.
        """
        self._check_fitted()
        indptr, indices, _ = csr_parts(X)
        return in_columns((indptr, indices, np.arange(indices.size)), self._columns)

    def size(self) -> dict[str, Any]:
        self._check_fitted()
        return {
            "n_nodes": int(self.forest_.first_child.size),
            "depth": int(max(tree.depth.max() for tree in self.trees_)),
            "n_weights": int(np.count_nonzero(self.forest_.weights)),
            "model_bytes": bytes_of((*self.forest_, *self._columns, self.feature_of_column_, *(self.means_ or ()))),
        }

    def _chosen_optimizer(self, X, n_columns):
        """Return the optimizer for the rows X; raise ValueError if "sgd" would read far too many values of them."""
        n_values = X.shape[0] * n_columns
        if self.optimizer == "auto":
            return "sgd" if X.nnz > DENSE * X.shape[0] * X.shape[1] else "nag"
        if self.optimizer == "sgd" and n_values > max(MOST_DENSE, 2 * X.nnz):
            raise ValueError(
                f"optimizer='sgd' would learn from all values of {X.shape[0]:,} rows x {n_columns:,} features, "
                f"{n_values / X.nnz:,.0f} times those that are not 0: use optimizer='nag', which keeps rows sparse, or "
                "fewer features"
            )
        return self.optimizer

    def _seeds(self, count):
        entropy = self._entropy()
        return [int(np.random.SeedSequence([entropy, t]).generate_state(1, np.uint32)[0]) for t in range(count)]

    def _set_fitted(self, values: dict, arrays: dict[str, np.ndarray]):
        """Set the fitted attributes to a state as it is saved."""
        self.optimizer_, self.n_unlabelled_ = values["optimizer"], values["n_unlabelled"]
        self.n_features_in_, self.n_labels_ = values["n_features"], values["n_labels"]
        self.feature_of_column_ = arrays["feature_of_column"]
        self._columns = columns_of(self.feature_of_column_, self.n_features_in_)
        self.trees_, self.forest_ = public_trees(values, arrays), forest_arrays(arrays)
        self.n_rows_ = int(arrays["n_samples"][0])  # all rows reach the root
        self.means_ = LabelMeans(*(arrays[name] for name in MEANS)) if "mean_ptr" in arrays else None
        self.rerank_ = tuple(map(float, values["rerank"]))

    def _scorer(self, n_trees=None, max_nodes=None) -> LeafScorer:
        """Return what scores labels: the whole model, or its first ``n_trees`` trees with ``max_nodes`` nodes each."""
        n_trees = len(self.trees_) if n_trees is None else min(check_count(n_trees, "n_trees"), len(self.trees_))
        max_nodes = INT32_MAX if max_nodes is None else check_count(max_nodes, "max_nodes", most=INT32_MAX)
        arity, n_columns = self.trees_[0].children.shape[1], self.feature_of_column_.size
        return LeafScorer(
            self.forest_, arity, n_columns, self.n_labels_, n_trees, max_nodes, self.means_, *self.rerank_
        )

    def _rows(self, x, block) -> SentRows:
        """Return the rows of one block, (first row, last row + 1), in the model's columns."""
        return SentRows(*in_columns(x, self._columns, block))

    def _state(self):
        return state_of(self)

    def _restore(self, values, arrays):
        check_state(values, arrays)
        self._set_fitted(values, arrays)


# Further rows are counted in the nodes that they reach, and the trees keep their shape. -------------------------------


def _counted(model, X, Y, progress) -> dict[str, np.ndarray]:
    """Return the numbers of rows and the histograms of all nodes, with the rows of X counted in addition."""
    forest, x, n_nodes = model.forest_, csr_parts(X), model.forest_.first_child.size
    scorer, occurrences = model._scorer(), sp.csr_array(Y, dtype=np.int32)
    parents = [np.where(tree.parent >= 0, tree.parent + root, -1) for tree, root in zip(model.trees_, forest.root)]
    parent = np.concatenate(parents).astype(np.int64)  # of each node in the forest; -1 for roots

    def one_block(block):
        """Count a block of rows in the nodes that they reach: rows of each node, and (node, label) pairs."""
        n = block[1] - block[0]
        ptr, leaves = scorer.reach(model._rows(x, block))
        row = np.repeat(np.tile(np.arange(n), scorer.n_trees), np.diff(ptr))
        visits = _with_ancestors(leaves.astype(np.int64) * n + row, parent, n)
        nodes, rows = np.divmod(visits, n)
        reached = sp.csr_array((np.ones(visits.size, np.int32), (nodes, rows)), (n_nodes, n))
        return np.bincount(nodes, minlength=n_nodes), reached @ occurrences[block[0] : block[1]]

    blocks = prediction_blocks(X.shape[0], model.n_jobs)
    parts = run_blocks(one_block, blocks, model.n_jobs, progress, "Adding rows")
    histograms = sp.csr_array((forest.hist_counts, forest.hist_labels, forest.hist_ptr), (n_nodes, Y.shape[1]))
    histograms = sp.csr_array(sum((more for _, more in parts), histograms))
    histograms.sort_indices()
    ptr, labels, counts = csr_parts(histograms)
    n_samples = np.concatenate([tree.n_samples for tree in model.trees_]) + sum(n for n, _ in parts)
    return {"hist_ptr": ptr, "hist_labels": labels, "hist_counts": counts.astype(np.int32), "n_samples": n_samples}


def _with_ancestors(visits, parent, n: int) -> np.ndarray:
    """Return (leaf, row) pairs with those of the leaves' ancestors, each pair once, as numbers node * n + row."""
    found, waiting = [], np.unique(visits)
    while waiting.size:
        found.append(waiting)
        nodes, rows = np.divmod(waiting, n)
        above = parent[nodes]
        waiting = np.unique(above[above >= 0] * n + rows[above >= 0])
    return np.unique(np.concatenate(found)) if found else visits  # a node is reached from leaves of several depths


def _with_means(model, X, Y) -> dict[str, np.ndarray]:
    """Return the labels' means over the earlier rows and the new ones; features that are new get columns."""
    known = model.feature_of_column_
    new = by_frequency(X)
    features = np.concatenate([known, new[~np.isin(new, known)]]).astype(np.int32)
    x_ptr, columns, values = in_columns(csr_parts(X), columns_of(features, X.shape[1]))
    shape = (Y.shape[1], features.size)
    ptr, mean_columns, means, weights = model.means_
    before, after = np.zeros(shape[0]), np.bincount(Y.indices, minlength=shape[0])
    first = slice(*model.forest_.hist_ptr[:2])  # the root of the first tree, which all rows reach
    before[model.forest_.hist_labels[first]] = model.forest_.hist_counts[first]
    ptr = np.concatenate([ptr, np.full(shape[0] + 1 - ptr.size, ptr[-1])])
    sums = sp.csr_array((means * np.repeat(before, np.diff(ptr)), mean_columns, ptr), shape)
    rows = sp.csr_array((values.astype(np.float64), columns, x_ptr), (X.shape[0], features.size))
    sums = sp.csr_array(sums + sp.csr_array(Y.T.astype(np.float64) @ rows))
    sums.sort_indices()
    sums.data /= np.repeat(np.maximum(1, before + after), np.diff(sums.indptr))
    ptr, columns, values = csr_parts(sums)
    found = LabelMeans(ptr, columns, values.astype(np.float32), weights)
    return dict(zip(MEANS, found)) | {"feature_of_column": features}
