"""PLT: the probabilistic label tree."""

import copy
import functools
import threading
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import bytes_of, columns_of, read_only
from xmlcore.models.base import LearnsMore
from xmlcore.models.plt import learning
from xmlcore.models.plt.building import CLUSTERING, build_tree, has_one_level, label_frequencies, label_representations
from xmlcore.models.plt.choosing import Choice, LinearModel, choose
from xmlcore.models.plt.compacting import as_floats, compact_tree
from xmlcore.models.plt.label_tree import LabelTree
from xmlcore.models.plt.linear_nodes import LOSS_NUMBERS, LinearNodes, linear_nodes, log_mean_gradient, path_gradients
from xmlcore.models.plt.memory import with_room
from xmlcore.models.plt.on_cluster import by_cluster
from xmlcore.models.plt.parameters import ABOUT, BALANCED, BEST, PARAMETERS, PRESETS
from xmlcore.models.plt.saving import arrays_of, trees_of
from xmlcore.models.plt.scaling import UNIT, read_as, scalings_of
from xmlcore.models.plt.search import PREDICT_ROWS, TreeSearch
from xmlcore.models.plt.shapes import differ_by_seed, different_trees, trees_asked_for
from xmlcore.models.plt.training import (
    CHOOSING,
    SHARES,
    RowsOfTree,
    count_weights,
    late_groups,
    part_of_trees,
    train_tree,
    warn_equal_trees,
)
from xmlcore.models.plt.trials import NAMES
from xmlcore.models.plt.warming import pieces_of
from xmlcore.models.rows import checked_rows, counted, labels_given, stacked
from xmlcore.models.saving import below, under
from xmlcore.models.weights import weighed_rows
from xmlcore.parallel import row_blocks, run_blocks
from xmlcore.parameters import AUTO, described
from xmlcore.progress import ProgressLike, of_phases, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.system import MUCH_FREE, return_free_memory
from xmlcore.typing import ArrayLike, Auto, LabelNames, Labels, Matrix, RandomState, SomeLabels
from xmlcore.validation import INT32_MAX, check_count, check_label_ids, check_threshold, csr_parts

_MAKING_NODES = threading.Lock()  # All models share it, because a model that holds a lock could not be pickled.


@described
class PLT(LinearModel, LearnsMore):
    """Probabilistic label tree.

    The labels are the leaves of a tree. A linear classifier at each node v models the probability that a row has a
    label below v, given that it has a label below the parent of v. The probability of a label is the product of these
    probabilities along its path (Jasinska et al., ICML 2016). Rows are scaled (``normalize``) and get a bias feature,
    which is regularised like the rest. A node is trained on the rows that have a label below its parent.

    {parameters}

    Attributes
    ----------
    {of_labels}
    loss_ : str
        The loss that the model was fitted with.
    normalize_ : str or None
        How the classifiers read rows: "l2", of length 1, or in their own units. The factors that "idf", "standardize"
        and None give columns in training are part of the weights.
    settings_ : dict
        "arity", "max_leaf_labels", "loss", "C" and "normalize" that the model was fitted with: as given, or chosen.
    threshold_ : float
        The score from which on :meth:`predict` predicts labels: by the trials about the best for micro-F1; 0.5 if
        nothing was tried.
    chosen_ : DataFrame
        The trials by which parameters that are "auto" were chosen.
    trees_ : list of LabelTree
        The trees after ``collapse_layers``.
    {columns}
    fitted_ : list of TreeArrays
        The classifiers of each tree, in the form that the search reads (``xmlcore._kernels.plt_tree``).
    n_weights_ : int
        Number of weights that were kept, over all trees.
    n_iter_ : int
        The largest number of epochs of a node.

    Notes
    -----
    Training takes O(epochs * nonzeros * labels per leaf * depth) time; prediction takes, per row and tree,
    O(expanded nodes * (nonzeros + kept weights touched)), where few nodes beside the path are expanded when
    the model is sure. A row with values of a quarter of all columns or more takes O(expanded nodes * columns *
    children) instead, without looking anything up, and memory of 4 bytes per column.

    With ``learnable=True`` the model keeps its rows and, in 2 bytes each, the dual variables of all classifiers
    (``size()["rows_bytes"]``). ``partial_fit`` and ``correct`` go on from these, with all rows of the nodes where a row
    changes, to the tolerance of a fit. A new label gets a leaf beside labels that the model predicts for its rows; new
    features get columns, with "standardize" from the next fit on. With a fifth more rows or labels than in its last fit
    the model is fitted anew, with the parameters of then. A fit for adversarial examples keeps no rows.

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

    ABOUT = ABOUT
    _label_bytes = 80
    PARAMETERS = PARAMETERS
    PRESETS = PRESETS
    _PRUNES = True
    _only_tree = None  # the tree to train, if it is trained apart: see xmlcore.models.ensembles

    tree: str | LabelTree = "kmeans"
    arity: int | Auto = AUTO
    max_leaf_labels: int | Auto = AUTO
    loss: str = AUTO
    C: float | Auto = AUTO
    n_estimators: int = 1
    beam: int | None = None
    random_state: RandomState = 0
    n_jobs: int | None = None
    weight_threshold: float = 0.02
    tol: float = 0.1
    max_iter: int = 100
    collapse_layers: int = 0
    normalize: str | None = AUTO
    quality: str = "balanced"
    learnable: bool = False

    def _fit(self, X, Y, progress, n_clean=None, sample_weight=None, label_weight=None):
        """Train the trees; parameters are chosen on the first ``n_clean`` rows alone, if that is not None."""
        n_asked = trees_asked_for(self.get_params(deep=False))
        progress = of_phases(progress, SHARES if n_asked == 1 else {CHOOSING: 1.0, "Training trees": n_asked})
        X, Y = checked_rows(X, Y, self._n_labels_of(Y))
        kept = learning.rows_to_keep(self, X, sample_weight, label_weight) if n_clean is None else None
        X = with_room(X, self._memory(X, Y))
        elsewhere = by_cluster(X)
        if n_clean is not None and sample_weight is not None:
            n_clean = int(np.count_nonzero(sample_weight[:n_clean]))
        X, Y, weights, boosts = weighed_rows(X, Y, sample_weight, label_weight)
        entropy = self._entropy()
        of_clean = None if weights is None else weights[:n_clean]
        clean = *((X, Y) if n_clean is None else (X[:n_clean], Y[:n_clean])), of_clean, boosts
        choice = self._choice(*clean, progress, entropy)
        return_free_memory(MUCH_FREE)
        n_trees = self._n_trees(choice.settings, Y.shape[1])
        progress(CLUSTERING if n_trees == 1 else "Training trees", 0.0)
        warn_equal_trees(self, n_trees)
        numbers = range(n_trees) if self._only_tree is None else (self._only_tree,)
        scalings = scalings_of(choice.settings["normalize"])
        scaling_of = [scalings[number % len(scalings)] for number in numbers]
        rows = {
            scaling: RowsOfTree.of(X if scaling == scaling_of[-1] else X.copy(), Y, scaling, weights, boosts, n_clean)
            for scaling in sorted({*scaling_of}, key=lambda scaling: scaling == scaling_of[-1])  # no copy of the last
        }
        trees = [(number, rows[scaling]) for number, scaling in zip(numbers, scaling_of)]
        kept_trees = None if kept is None else []
        late = late_groups(self._train_trees(trees, choice, entropy, progress, elsewhere, kept_trees))
        vars(self).pop("rows_", None)
        if kept is not None:
            self.rows_ = learning.kept_rows(kept, Y, rows, kept_trees)
        if late is not None:
            self._warn_unconverged(*late)

    def _train_trees(self, numbered: list, choice: Choice, entropy, progress, elsewhere=None, kept=None) -> np.ndarray:
        """Build and train trees on the rows of each, and set the fitted attributes; return statistics of all nodes."""
        settings = choice.settings
        made, label_rows = [], None
        for place, (number, rows) in enumerate(numbered):
            tree_seed, node_seed = np.random.SeedSequence([entropy, number]).generate_state(2, np.uint32).tolist()
            report = part_of_trees(progress, place, len(numbered))
            if place == 0 or rows is not numbered[place - 1][1]:
                label_rows = self._label_rows(rows, settings)
            tree = self._built_tree(rows, settings, tree_seed, label_rows, report)
            if place + 1 == len(numbered) or rows is not numbered[place + 1][1]:
                label_rows = None  # what takes as much memory as the rows is not needed while nodes are trained
            return_free_memory(MUCH_FREE)
            descent = self._descent(settings, node_seed)
            made.append((tree, *train_tree(rows, tree, descent, self.n_jobs, report, elsewhere, kept)))
        trees, fitted, stats = map(list, zip(*made))
        stats = np.concatenate(stats)
        self._set_fitted(trees, fitted, rows.feature_of_column, rows.n_features, rows.Y.shape[1], settings)
        self.settings_, self._trials, self.threshold_ = choice
        self.n_iter_ = int(stats[:, 1].max())
        return stats

    partial_fit = learning.IfLearnable(LearnsMore.partial_fit)

    @learning.IfLearnable
    def correct(
        self, at: ArrayLike, X: Matrix, y: Labels | None = None, *, Y: Labels | None = None,
        progress: ProgressLike = silent, label_names: LabelNames | None = None,
    ) -> Self:  # fmt: skip
        """Learn rows that replace rows which the model keeps, such as those with corrected labels.

        Parameters
        ----------
        at : array of int, shape (n,)
            The rows that are replaced, numbered from 0 in the order in which the model got them.
        X : sparse or dense, shape (n, D)
        y, Y : sparse or dense binary, shape (n, K), or lists of label ids or of names
        progress, label_names : as for :meth:`partial_fit`

        Returns
        -------
        PLT
            The model. If the work is stopped or fails, it stays as it was.

        Raises
        ------
        ValueError, TypeError
            The data do not fit the model, it keeps no rows, or ``at`` is not one kept row for each row of X.
        """
        self._check_fitted()
        Y = labels_given(y, Y, bool(self._one_class))
        return self._learn_from(self._check_more(X), Y, to_progress(progress), label_names, at=at)

    def _check_more(self, X):
        return learning.more_rows(self, X)

    def _learn_more(self, X, Y, progress, at=None):
        learning.learn(self, X, Y, at, progress)

    def _learn_from(self, X, Y, progress, label_names, **places):
        super()._learn_from(X, Y, progress, label_names, **places)
        self.label_counts_, self.n_rows_seen_ = counted(self.rows_.Y), self.rows_.Y.shape[0]
        self._protect()
        return self

    def predict_topk(
        self, X: Matrix, k: int = 5, *, progress: ProgressLike = silent, weights: ArrayLike | None = None,
        labels: SomeLabels | None = None, exclude: SomeLabels | None = None,
    ) -> Ranking:  # fmt: skip
        progress = to_progress(progress)
        k = check_count(k, "k")
        beam = None if self.beam is None else check_count(self.beam, "beam", most=INT32_MAX)
        X = self._check_input(X, k, copy=False)
        weights = self._checked_weights(weights)
        allowed: Any = labels  # a mask, see among_allowed
        if allowed is not None:
            weights = np.where(allowed, 1.0 if weights is None else weights, 0.0)
        x, search, width = csr_parts(X), self._search, min(k, self.n_labels_)
        gains = search.gains(weights)
        blocks = search.blocks(X.indptr, self.n_jobs)
        if len(blocks) == 1 and width == k and progress is silent:  # quickly
            found, values = search.top(search.take(x, blocks[0]), X.shape[0], k, beam, gains, allowed)
            return Ranking(found, values.astype(np.float32))
        found_labels = np.full((X.shape[0], k), -1, np.int32)
        scores = np.zeros((X.shape[0], k), np.float32)

        def one_block(block):
            part, n_rows = (slice(*block), slice(width)), block[1] - block[0]
            found_labels[part], scores[part] = search.top(search.take(x, block), n_rows, width, beam, gains, allowed)

        run_blocks(one_block, blocks, self.n_jobs, progress, "Predicting")
        return Ranking(found_labels, scores)

    def predict_proba(self, X: Matrix, threshold: float = 0.0) -> sp.csr_array:
        threshold = check_threshold(threshold)
        X = self._check_input(X, copy=False)
        x, search = csr_parts(X), self._search

        def one_block(block):
            return search.at_least(search.take(x, block), block[1] - block[0], threshold)

        blocks = search.blocks(X.indptr, self.n_jobs, together=False)
        return stacked(run_blocks(one_block, blocks, self.n_jobs), self.n_labels_)

    def label_probabilities(self, X: Matrix, labels: ArrayLike) -> np.ndarray:
        X = self._check_input(X)
        labels = np.asarray(labels)
        per_row = labels.shape[1] if labels.ndim == 2 else 1
        n = X.shape[0]
        flat = check_label_ids(labels.reshape(-1) if labels.ndim == 2 else labels, n * per_row, self.n_labels_)
        x, search, out = csr_parts(X), self._search, np.empty(flat.size)

        def one_block(block):
            part, rows = slice(block[0] * per_row, block[1] * per_row), np.arange(block[1] - block[0])
            ptr = np.arange(rows.size + 1) * per_row
            out[part] = search.probabilities(search.take(x, block), rows, ptr, flat[part])

        blocks = search.blocks(X.indptr, self.n_jobs, together=False)
        run_blocks(one_block, blocks, self.n_jobs)
        return out.reshape(labels.shape)

    def linear_nodes(self, tree: int = 0) -> LinearNodes:
        """Return the node classifiers of one tree as a matrix with a column per feature, for explanations.

        Parameters
        ----------
        tree : int
            Position in ``trees_``.

        Returns
        -------
        xmlcore.models.plt.LinearNodes
            It is made at the first call and kept in memory, where it takes about as much as the tree's classifiers.
            :meth:`save` does not save it. Its arrays are read-only.
        """
        self._check_fitted()
        tree = check_count(tree, "tree", least=0, most=len(self.trees_) - 1)
        with _MAKING_NODES:  # a second thread waits for the nodes instead of computing them again
            if tree not in self._linear_nodes:
                self._linear_nodes[tree] = linear_nodes(
                    as_floats(self.fitted_[tree]), self.leaves_[tree], self.feature_of_column_, self.n_features_in_,
                    self.loss_, self.normalize_,
                )  # fmt: skip
            return self._linear_nodes[tree]

    def log_proba_gradient(self, X: Matrix, labels: ArrayLike) -> tuple[np.ndarray, sp.csr_array]:
        X = self._check_input(X)
        labels = check_label_ids(labels, X.shape[0], self.n_labels_)
        x, trees, shape = csr_parts(X), [self.linear_nodes(tree) for tree in range(len(self.trees_))], X.shape

        def one_block(block):
            ptr = x[0][block[0] : block[1] + 1]
            rows = (ptr - ptr[0], *(part[ptr[0] : ptr[-1]] for part in x[1:]))
            return log_mean_gradient([path_gradients(nodes, *rows, labels[slice(*block)]) for nodes in trees])

        blocks = row_blocks(shape[0], PREDICT_ROWS)
        parts = run_blocks(one_block, blocks, self.n_jobs)
        if not parts:
            return np.zeros(0), sp.csr_array(shape, dtype=np.float32)
        log_proba, gradients = zip(*parts)
        return np.concatenate(log_proba), sp.csr_array(sp.vstack(gradients, format="csr"))

    def size(self) -> dict[str, Any]:
        self._check_fitted()
        arrays = [array for arrays in (*self.fitted_, self._columns) for array in arrays]
        return {
            "n_nodes": int(sum(tree.n_nodes for tree in self.trees_)),
            "depth": int(max(tree.depth.max() for tree in self.trees_)),
            "n_weights": self.n_weights_,
            "model_bytes": bytes_of([*arrays, self.feature_of_column_]),
        } | ({"rows_bytes": self.rows_.bytes()} if hasattr(self, "rows_") else {})

    @functools.cached_property
    def n_weights_(self) -> int:
        """Number of weights, counted when it is asked for."""
        return sum(count_weights(arrays) for arrays in self.fitted_)

    def _compacted(self, bits):
        model, trees = copy.copy(self), [compact_tree(arrays, bits) for arrays in self.fitted_]
        vars(model).pop("rows_", None)
        model._set_fitted(
            self.trees_, trees, self.feature_of_column_, self.n_features_in_, self.n_labels_, self.settings_
        )
        return model

    def _n_labels_of(self, Y) -> int | None:
        """Return the number of labels if ``tree`` is a LabelTree, else None."""
        if not isinstance(self.tree, LabelTree):
            return None
        n_labels, shape = self.tree.n_labels, getattr(Y, "shape", ())
        if len(shape) == 2 and shape[1] != n_labels:
            raise ValueError(
                f"the tree has {n_labels} labels, but Y has {shape[1]}: every label needs one leaf, and every leaf a "
                "column of Y"
            )
        return n_labels

    def _choice(self, X, Y, weights, boosts, progress, entropy=None) -> Choice:
        entropy = self._entropy() if entropy is None else entropy
        params = {parameter.name: getattr(self, parameter.name) for parameter in PLT.PARAMETERS}
        params |= {"n_estimators": 1, "beam": None, "random_state": entropy}

        def fit(rows, settings, tree, progress):
            shape = {} if tree is None else {"tree": tree, "collapse_layers": 0}
            model = PLT(**params | settings | shape)
            model._train_trees([(0, rows)], Choice(settings, []), entropy, progress)
            return model

        settings = {name: params[name] for name in NAMES}
        quality = BALANCED if self.quality == BEST and not differ_by_seed(self.tree) else self.quality
        return choose(settings, quality, X, Y, weights, boosts, self.tree == "kmeans", entropy, fit, progress)

    def _n_trees(self, settings, n_labels) -> int:
        """Return the number of trees with the settings that the model has chosen."""
        return different_trees(self.get_params(deep=False), n_labels, [settings], settings["normalize"])

    def _label_rows(self, rows, settings) -> sp.csr_array | None:
        """Return the representations by which labels are clustered; None if they are not."""
        if self.tree != "kmeans" or has_one_level(rows.Y.shape[1], settings["arity"], settings["max_leaf_labels"]):
            return None
        return label_representations(rows.X, rows.Y, rows.weights)

    def _built_tree(self, rows, settings, seed, label_rows, report) -> LabelTree:
        """Build one label tree as the settings say, with collapsed layers."""
        is_huffman, shape = self.tree == "huffman", (settings["arity"], settings["max_leaf_labels"])
        frequencies = label_frequencies(rows.Y, rows.weights) if is_huffman else None
        tree = build_tree(self.tree, rows.Y.shape[1], *shape, seed, label_rows, self.n_jobs, report, frequencies)
        return tree.collapsed(self.collapse_layers, 1 if is_huffman else shape[1])

    def _set_fitted(self, trees, fitted, feature_of_column, n_features, n_labels, settings):
        self.loss_, self.normalize_ = settings["loss"], read_as(settings["normalize"])
        self.feature_of_column_ = feature_of_column
        self._columns = columns_of(feature_of_column, n_features)
        self.trees_ = trees
        self.fitted_ = fitted
        self.leaves_ = read_only([tree.leaf_of_label for tree in trees])
        self.n_features_in_ = n_features
        self.n_labels_ = n_labels
        vars(self).pop("n_weights_", None)
        self._linear_nodes = {}
        self._make_search()

    def _make_search(self):
        """Make the search over the fitted trees; it is not pickled."""
        loss, unit, n_columns = LOSS_NUMBERS[self.loss_], self.normalize_ == UNIT, self.feature_of_column_.size
        self._search = TreeSearch(self.fitted_, self.leaves_, loss, unit, self._columns, n_columns)

    def _warm_up_params(self):
        """See :meth:`MultiLabelModel._warm_up_params`; a given tree is replaced by a tree of 8 labels."""
        small = super()._warm_up_params()
        if isinstance(self.tree, LabelTree):
            small["tree"] = LabelTree.from_nested([[0, 1, 2], [[3, 4], [5, 6]], 7])
        return small

    @staticmethod
    def _param_from_arrays(arrays):
        return LabelTree(arrays["parent"], arrays["label"])

    def warm_up_pieces(self) -> dict:
        return pieces_of(self)

    def _state(self):
        values, arrays = self._values() | {"n_labels": self.n_labels_, "n_trees": len(self.fitted_)}, arrays_of(self)
        if hasattr(self, "rows_"):
            values["rows"], kept = learning.saved_rows(self.rows_)
            arrays |= under("rows.", kept)
        return values, arrays

    def _restore(self, values, arrays):
        feature_of_column, n_labels = arrays["feature_of_column"], values["n_labels"]
        self._restore_values(values, feature_of_column)
        trees, fitted = trees_of(arrays, feature_of_column.size, n_labels, values["n_trees"])
        self._set_fitted(trees, fitted, feature_of_column, values["n_features"], n_labels, self.settings_)
        if "rows" in values:
            self.rows_ = learning.restored_rows(values["rows"], below("rows.", arrays), self)

    def __getstate__(self):
        """Return what is pickled: all but the linear nodes and the search, which are made again when needed."""
        state = self.__dict__ | ({"_linear_nodes": {}} if "_linear_nodes" in self.__dict__ else {})
        state.pop("_search", None)
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if "fitted_" in state:
            self._make_search()
