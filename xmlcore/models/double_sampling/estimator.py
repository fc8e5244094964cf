"""DoubleSampling: rank nearby classes by a linear function of (row, class) features, learnt from sampled pairs."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import by_frequency, bytes_of, columns_of, in_columns
from xmlcore.models.base import LearnsMore, toy_rows
from xmlcore.models.double_sampling import saving
from xmlcore.models.double_sampling.candidates import PHASE, CrossFitted, TreeCandidates, as_vectors
from xmlcore.models.double_sampling.classes import ClassTerms
from xmlcore.models.double_sampling.learning import LEARNING, fitted_values, learn_more, learnt, names_of_features
from xmlcore.models.double_sampling.parameters import ABOUT, PARAMETERS, PRESETS
from xmlcore.models.double_sampling.prediction import (
    BLOCK,
    ClassRanker,
    check_amounts,
    check_class_ids,
    label_matrix,
    softmax,
    some_rows,
    without_negative,
)
from xmlcore.models.double_sampling.sampling import CROSS, TREE, RowsToSample, stream_seed
from xmlcore.models.rows import checked_rows, columns_in_place, labelled_rows
from xmlcore.models.weights import TakesWeights, repeated_rows
from xmlcore.parallel import row_blocks
from xmlcore.parameters import described
from xmlcore.progress import ProgressLike, of_phases, part_of, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import ArrayLike, Matrix, RandomState, SomeLabels
from xmlcore.validation import check_count, check_labels, check_threshold, csr_parts

SHARES = {  # of the time of a training, roughly
    "Adding up labels": 0.1,
    PHASE: 1.5,
    "Finding adversaries": 0.6,
    "Features of pairs": 0.3,
    LEARNING: 0.05,
}
MOST_RANKED = 1 << 21  # largest number of (row, candidate) pairs that are ranked at a time: they take some 60 MB


@described
class DoubleSampling(TakesWeights, LearnsMore):
    """Multi-class classification as a binary problem over pairs, doubly sampled: (π, κ)-DS with candidate selection.

    A row x and a class y have features φ(x, y), such as sums over the terms that both have, and the distance of x to
    the centroid of the class. One linear function f of these features ranks classes. It is learnt from pairs: for a
    sampled example, a row x with its class y, f should be larger than with each of κ other classes. A prediction ranks
    the q classes of nearest centroid by f.

    The defaults were chosen on held-out rows of seven data sets. ``DoubleSampling.preset("paper")`` is the
    method of the paper: ten features, adversarial classes drawn at random, every class equally often.

    {parameters}

    Attributes
    ----------
    weights_ : ndarray of float64, shape (p,)
        f(φ) is the product of ``weights_`` with the features as :meth:`pair_features` has them, not scaled.
    feature_scale_ : ndarray of float64, shape (p,)
        Root mean square of each feature's difference over the training pairs. f was learnt on differences divided by
        it; ``weights_ * feature_scale_`` shows how much each feature matters.
    feature_names_ : list of str
        Short names of the p features, 10 with ``features="paper"``; ``MEANINGS`` in
        ``xmlcore.models.double_sampling`` explains each in one sentence.
    empirical_risk_ : float
        The paper's equation (7): the share of training pairs in which f is not larger for the example's own class.
    n_pairs_ : int
        The number of pairs that f was learnt from: κM, without the pairs of two classes of the same row.
    n_rows_ : int
        Training rows with labels, those of ``partial_fit`` included.
    n_unlabelled_ : int
        The number of training rows that were left out because they have no label.
    multiclass_ : bool
        Whether each training row had exactly one class, apart from the rows left out.
    class_size_ : ndarray of int64, shape (L,)
        The number of training rows of each class.
    sampled_size_ : ndarray of int64, shape (L,)
        The number of copies of examples of each class that f was learnt from.
    {of_labels}

    Notes
    -----
    The source is Joshi et al., "Aggressive sampling for multi-class to binary reduction", NIPS 2017;
    docs/methods/double_sampling.md has the formulas of the features, the choices that the paper leaves open, and what
    ``partial_fit`` does. Classes without training rows are never drawn and never predicted.

    ``predict_proba`` divides each row among its candidates in proportion to exp(f). These shares are not calibrated
    probabilities. ``predict`` without a threshold or a rule returns the best candidate of each row when each training
    row had one class, else those with at least half of an equal share. ``size`` has "n_classes" (classes that have
    rows) and "n_postings" (pairs of a class and a term of it).

    Values are amounts: counts, or weights such as tf-idf, whose sums then take the place of counts. Negative values
    are no amounts; a prediction replaces them by 0. It ignores features that no training row had.

    Examples
    --------
    >>> from xmlcore import DoubleSampling
    >>> X = [[2, 0, 1, 0], [1, 0, 0, 1], [0, 3, 1, 0], [0, 1, 0, 1]]
    >>> model = DoubleSampling().fit(X, [0, 0, 1, 1])
    >>> model.predict_topk([[1, 0, 1, 0]], k=1).labels.tolist()
    [[0]]
    """

    ABOUT = ABOUT
    _label_bytes = 80
    PARAMETERS = PARAMETERS
    PRESETS = PRESETS
    NEGATIVE_AS_ZERO = True
    _WEIGHTS = ("sample_weight",)

    examples_per_class: float = 2.0
    n_adversarial: int = 10
    n_candidates: int = 10
    random_state: RandomState = 0
    loss: str = "logistic"
    C: float = 1.0
    distance: str = "cosine"
    weighting: str = "tfidf"
    leave_one_out: bool = False
    negative: str = "refuse"
    n_jobs: int | None = None
    features: str = "extended"
    candidates_from: str = "centroids"
    adversaries: str = "candidates"
    balanced: bool = False

    def _refuses_negative(self):
        """Return whether negative features are an error and not replaced by 0."""
        return self.negative == "refuse"

    def _fit(self, X, Y, progress, sample_weight=None):
        progress = of_phases(progress, SHARES)
        X, Y = checked_rows(X, Y)
        X, Y = repeated_rows(check_amounts(X, self.negative), Y, sample_weight, self._entropy)
        X, Y, n_unlabelled = labelled_rows(X, Y)
        feature_of_column = by_frequency(X)
        x = columns_in_place(X, feature_of_column)
        classes = ClassTerms.of(x, Y, feature_of_column, self.n_jobs, progress)
        if np.count_nonzero(classes.class_size) < 2:
            raise ValueError("all rows of Y have the same label, so there is one class: at least two labels are needed")
        entropy = self._entropy()
        data = RowsToSample.of(self, x, Y, classes)
        tree = None
        if self.candidates_from == "plt":
            tree, data = self._fit_trees(data, entropy, progress)
        function, n_pairs, sampled_size = learnt(self, data, entropy, progress)
        values = fitted_values(self, X, Y, X.shape[0], n_unlabelled, n_pairs)
        self._set_fitted(classes, data.index, data.more, tree, function, sampled_size, values)

    def _learn_more(self, X, Y, progress):
        if self.ranker_.tree is not None or self.candidates_from == "plt":
            raise ValueError(
                "a label tree cannot learn further rows: fit the model to all rows, or with candidates_from='centroids'"
            )
        if any(getattr(self, name) != self._values[name] for name in ("distance", "weighting", "features")):
            raise ValueError("distance, weighting or features were changed after fit: fit the model to all rows")
        X, Y, n_unlabelled = labelled_rows(check_amounts(X, self.negative), check_labels(Y, X.shape[0]))
        self._set_fitted(*learn_more(self, X, Y, n_unlabelled, self._entropy(), progress))

    def candidates(self, X: Matrix, n: int | None = None, progress: ProgressLike = silent) -> np.ndarray:
        """Return the classes that a prediction ranks, from those that have training rows.

        Parameters
        ----------
        X : sparse or dense, shape (n_rows, D)
        n : int, optional
            How many; ``n_candidates`` when None, and never more than there are.
        progress : :class:`xmlcore.progress.Progress` or "bar", optional

        Returns
        -------
        ndarray of int32, shape (n_rows, q)
            The classes of the nearest centroids, nearest first, or with ``candidates_from="plt"`` the most probable
            classes, most probable first; the smaller id first among equals.
        """
        progress = to_progress(progress)
        x = self._rows(self._check_input(X))
        return self.ranker_.candidates(x, self._n_candidates(n, "n"), self.n_jobs, progress)

    def predict_topk(
        self, X: Matrix, k: int = 5, *, progress: ProgressLike = silent, n_candidates: int | None = None,
        weights: ArrayLike | None = None, labels: SomeLabels | None = None, exclude: SomeLabels | None = None,
    ) -> Ranking:  # fmt: skip
        """Return the k best candidates of each row, ranked by the learnt function f.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        k : int
            May exceed the number of candidates: rows are padded with label -1 and score 0.
        progress : :class:`xmlcore.progress.Progress` or "bar", optional
        n_candidates : int, optional
            Predict with another q; this needs no training.
        weights : array-like, shape (L,), optional
            Rank the model's own candidates by weight times the share of :meth:`predict_proba`: see :class:`PLT`.
        labels, exclude : list of labels, or bool array of shape (L,), optional
            Which of the candidates may be ranked, and which may not, as for :class:`PLT`.

        Returns
        -------
        Ranking
            Scores are the values of :meth:`predict_proba`. Classes of equal f are ordered by their ids.
        """
        progress = to_progress(progress)
        k = check_count(k, "k")
        if weights is not None:
            return self._heaviest(X, k, weights, progress, n_candidates=n_candidates)
        x, q = self._rows(self._check_input(X, k)), self._n_candidates(n_candidates)
        n, width = x[0].size - 1, min(k, q)
        best, scores = np.full((n, k), -1, np.int32), np.zeros((n, k), np.float32)
        for first, last in row_blocks(n, max(BLOCK, MOST_RANKED // q)):  # which bounds the memory for candidates
            report = part_of(progress, first / n, last / n)
            labels, f = self.ranker_.ranked(some_rows(x, first, last), q, self.n_jobs, report)
            best[first:last, :width], scores[first:last, :width] = labels[:, :width], softmax(f)[:, :width]
        return Ranking(best, scores)

    def predict_proba(self, X: Matrix, threshold: float = 0.0) -> sp.csr_array:
        threshold = check_threshold(threshold)
        x = self._rows(self._check_input(X))
        labels, f = self.ranker_.ranked(x, self._n_candidates(None), self.n_jobs)
        shares = softmax(f)
        shares[shares < threshold] = 0.0
        return label_matrix(labels, shares, self.n_labels_)

    def _decided(self, X, threshold=None, watch=None):
        if threshold is not None or self.rule_ is not None or not self.__sklearn_is_fitted__() or not self.multiclass_:
            return super()._decided(X, threshold, watch)
        labels = self.predict_topk(X, 1).labels
        return label_matrix(labels, np.ones(labels.shape), self.n_labels_)

    def pair_features(self, X: Matrix, classes: ArrayLike) -> np.ndarray:
        """Return the features of each row with some classes: float64, shape (n, q, p), as ``feature_names_``.

        ``classes`` are class ids of shape (n, q), -1 where there is none, as in a ranking, whose features are nan. A
        class without training rows has the features of an empty one. The features are not scaled; their product with
        ``weights_`` is f.
        """
        x = self._rows(self._check_input(X))
        classes = check_class_ids(classes, x[0].size - 1, self.n_labels_)
        return self.ranker_.features(x, classes, self.n_jobs)

    def size(self) -> dict[str, Any]:
        self._check_fitted()
        index, more, tree = self.ranker_[:3]
        counts = self.feature_of_column_, self.class_size_, self.document_counts_, self.sampled_size_
        arrays = [array for array in (*index, *more, *self._columns, *counts) if isinstance(array, np.ndarray)]
        tree_bytes = tree.plt.size()["model_bytes"] if tree is not None else 0
        return {
            "n_classes": int(np.count_nonzero(self.class_size_)),
            "n_postings": int(index.classes.size),
            "n_weights": int(np.count_nonzero(self.weights_)),
            "model_bytes": tree_bytes + bytes_of(arrays),
        }

    def _check_params(self):
        super()._check_params()
        if self.adversaries == "candidates" and self.n_candidates < 2:
            raise ValueError("adversaries='candidates' needs n_candidates of at least 2: the own label and another")

    def _fit_trees(self, data, entropy, progress):
        """Train the label tree, and the cross-fitted trees if training reads predictions for training rows."""
        vectors, seed = as_vectors(data.x, data.index.weight), stream_seed(entropy, TREE)
        if self.features == "paper" and self.adversaries == "random":
            return TreeCandidates.fit(vectors, data.Y, seed, self.n_jobs, progress), data
        trees = CrossFitted.fit(vectors, data.Y, stream_seed(entropy, CROSS), self.n_jobs, part_of(progress, 0.0, 0.7))
        tree = TreeCandidates.fit(vectors, data.Y, seed, self.n_jobs, part_of(progress, 0.7, 1.0))
        return tree, data._replace(vectors=vectors, trees=trees)

    def _set_fitted(self, classes, index, more, tree, function, sampled_size, values):
        """Set the fitted attributes, after training or from a saved model."""
        self._values = values
        self.feature_of_column_ = classes.feature_of_column
        self.document_counts_, self.class_size_ = classes.document_counts, classes.class_size
        self.sampled_size_ = sampled_size
        self._columns = columns_of(classes.feature_of_column, values["n_features"])
        self.weights_, self.feature_scale_, self.empirical_risk_ = function
        self.feature_names_ = names_of_features(values["features"], tree is not None)
        has_tree_feature = tree is not None and values["features"] == "extended"
        self.ranker_ = ClassRanker(index, more, tree, has_tree_feature, self.weights_)
        self.n_rows_, self.n_unlabelled_, self.n_pairs_ = values["n_rows"], values["n_unlabelled"], values["n_pairs"]
        self.multiclass_ = bool(int(classes.class_size.sum()) == values["n_rows"])
        self.threshold_ = 0.5 * values["n_rows"] / max(1, int(classes.class_size.sum()))  # half of an equal share
        self.n_features_in_, self.n_labels_ = values["n_features"], values["n_labels"]

    @property
    def _classes(self) -> ClassTerms:
        """The sums of the classes, whose arrays are elsewhere: joblib would write them twice."""
        index, counts = self.ranker_.index, (self.document_counts_, self.class_size_)
        return ClassTerms(self.feature_of_column_, index.ptr, index.classes, index.sums, *counts, self.n_rows_)

    def _rows(self, X):
        """Return rows in the model's columns: (pointers, columns, values)."""
        return in_columns(csr_parts(without_negative(X)), self._columns)

    def _n_candidates(self, n, name="n_candidates"):
        """Return the number q of candidates to rank: ``n``, or the parameter when None; at most all classes."""
        n = self.n_candidates if n is None else check_count(n, name)
        return min(n, self.ranker_.index.order.size)

    def _warm_up_predict(self):
        """Use the kernels of prediction, and those with which pages and explanations look into one."""
        super()._warm_up_predict()
        X = toy_rows()
        self.pair_features(X, self.candidates(X, 2))

    def _state(self):
        arrays = {name: getattr(self._classes, name) for name in saving.OF_CLASSES}
        arrays |= {"sampled_size": self.sampled_size_, "weights": self.weights_, "scale": self.feature_scale_}
        tree, of_tree = (None, {}) if self.ranker_.tree is None else self.ranker_.tree.state()
        return self._values | {"empirical_risk": self.empirical_risk_, "tree": tree}, arrays | of_tree

    def _restore(self, values, arrays):
        self._set_fitted(*saving.restored(values, arrays))
        self.threshold_ = type(self).threshold_  # of models that were saved without one
