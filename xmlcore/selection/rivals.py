"""Feature selections to compare FALS with: by random forests, LASSO, chi-squared and mutual information.

Each computes a score of every feature for every label and keeps the k best features of a label. With
``per_label=False`` all labels share one set of features: those of a forest that predicts all labels together, or those
whose scores have the largest sums over labels.
"""

import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from xmlcore.metrics.measures import share as quotient
from xmlcore.models.saving import ModelFormatError, check_types
from xmlcore.parallel import run_tasks
from xmlcore.parameters import N_JOBS, SEED, SEEDS, About, Parameter, described
from xmlcore.selection.columns import KeepsColumns
from xmlcore.selection.decision_trees import binary_column, check_columns, label_seed, tree_columns
from xmlcore.selection.fals.parameters import N_FEATURES
from xmlcore.selection.fals.selecting import are_features, best, selected_count
from xmlcore.system import effective_jobs
from xmlcore.typing import RandomState
from xmlcore.validation import INT32_MAX, check_count, check_features, check_labels

BLOCK_SCORES = 1 << 22  # number of scores computed at a time: 32 MiB as float64
LARGEST = float(np.finfo(np.float32).max)  # larger scores, of huge values, are kept as this one

PER_LABEL = Parameter(
    "per_label", "A set for each label",
    "On: each label has its own set of features. Off: all labels have one set, the features that matter "
    "most to all labels together.",
    "bool", True,
)  # fmt: skip

SHARED = (N_FEATURES, PER_LABEL)

LASSO = (
    *SHARED,
    Parameter(
        "alpha", "Penalty",
        "The penalty on weights, as a share of the smallest penalty that makes all weights of the label 0. A "
        "larger share leaves fewer weights, and is faster.",
        "float", 0.1, minimum=0.0, above_minimum=True, maximum=1.0, offered=(1e-4, 1.0), advanced=True,
        details="One penalty for all labels would leave rare labels without any weight. The paper on FALS states no "
        "penalty.",
    ),
    Parameter(
        "max_iter", "Max rounds",
        "Largest number of rounds of coordinate descent for a label. A warning says if more rounds are needed.",
        "int", 1000, minimum=1, offered=(1, 1_000_000), advanced=True,
    ),
    N_JOBS,
)  # fmt: skip

FOREST = (
    *SHARED,
    Parameter(
        "n_estimators", "Trees",
        "Number of trees in each forest. With more trees importances depend less on chance, and take longer.",
        "int", 100, minimum=1, offered=(1, 10_000),
    ),
    replace(
        SEED, maximum=INT32_MAX, offered=(0, INT32_MAX),
        details=f"{SEEDS} Each label, and each tree of a shared forest, has random numbers of its own.",
    ),
    N_JOBS,
)  # fmt: skip


@dataclass(eq=False, repr=False, match_args=False)
class Selector(KeepsColumns):
    """Base of the selections of this module: ``fit``, and the k best features of each label.

    A subclass has a method ``_score(X, Y, progress, keep)``, which computes the scores of all labels. It calls
    ``keep(first, scores)`` for each block of labels, where ``first`` is the first label of the block and ``scores`` a
    float64 array of shape (labels of the block, D). A third argument of ``keep``, an array of the same shape, orders
    features of equal scores: larger values first. ``_score`` may return a dict of further fitted attributes.
    """

    PARAMETERS = SHARED
    _work_bytes: ClassVar[int]  # that each score takes, at most, of those that are computed at the same time
    _kept_bytes = 300  # that each label takes besides its scores
    _is_iterative = False  # whether it has the fitted attributes ``n_iter_`` and ``n_nonzero_``

    n_features: float = 0.1
    per_label: bool = True

    def _fit(self, X, Y, progress):
        X = check_features(X)
        Y = check_labels(Y, n_rows=X.shape[0])
        if X.shape[0] == 0:
            raise ValueError("X has no rows to select features by")
        n_labels, n_features = Y.shape[1], X.shape[1]
        k = selected_count(self.n_features, n_features)
        shared = not self.per_label
        kept = 12 * n_features if shared else 4 * n_features * n_labels
        check_columns(self, X, n_labels, self._kept_bytes + 4 * k, *self._at_once(n_features, n_labels), kept)
        scores = np.zeros((1 if shared else n_labels, n_features), np.float64 if shared else np.float32)
        selected = np.empty((n_labels, k), np.int32)

        def keep(first, scores_of_block, tie_order=None):
            """Store the scores and selected features of a block of labels; add up the scores if all labels share."""
            # Threads may call it at the same time, but not with ``shared``: the order of a sum changes its rounding.
            if shared:
                scores[0] += scores_of_block.sum(axis=0)
                return
            scores[first : first + scores_of_block.shape[0]] = np.minimum(scores_of_block, LARGEST)
            for i in range(scores_of_block.shape[0]):
                selected[first + i] = best(scores_of_block[i], k, None if tie_order is None else tie_order[i])

        further = self._score(X, Y, progress, keep) or {}
        if shared:
            selected[:] = best(scores[0], k)
            scores = np.minimum(scores, LARGEST).astype(np.float32)
        self.scores_, self.selected_, self.n_selected_ = scores, selected, k
        self.n_features_in_, self.n_labels_ = n_features, n_labels
        self.__dict__.update(further)

    def _at_once(self, n_features, n_labels) -> tuple[int, int]:
        """Return the bytes that a thread needs to compute scores, and the number of threads."""
        return self._work_bytes * n_features, effective_jobs(self.n_jobs)

    def _state(self):
        arrays = {"scores": self.scores_, "selected": self.selected_}
        values = {"n_features": self.n_features_in_, "n_labels": self.n_labels_}
        if self._is_iterative:
            values["n_iter"], arrays["n_nonzero"] = self.n_iter_, self.n_nonzero_
        return values, arrays

    def _restore(self, values, arrays):
        n_features, n_labels = (check_count(values[name], name, most=INT32_MAX) for name in ("n_features", "n_labels"))
        scores, selected = arrays["scores"], arrays["selected"]
        n_selected = selected.shape[1] if selected.ndim == 2 else 0
        types = {"scores": ("float32", (1 if scores.shape[:1] == (1,) else n_labels, n_features))}
        types["selected"] = ("int32", (n_labels, n_selected))
        if self._is_iterative:
            check_count(values["n_iter"], "n_iter", least=0)
            types["n_nonzero"] = ("int64", (n_labels,))
        check_types(arrays, types)
        if not (np.isfinite(scores).all() and n_selected > 0 and are_features(selected, n_features)):
            raise ModelFormatError("the selected features in its arrays are no features, or a score is not finite")
        self.scores_, self.selected_, self.n_selected_ = scores, selected, n_selected
        self.n_features_in_, self.n_labels_ = n_features, n_labels
        if self._is_iterative:
            self.n_iter_, self.n_nonzero_ = values["n_iter"], arrays["n_nonzero"]


@described
class RandomForestSelection(Selector):
    """Selection of features by the importances of random forests (mean decrease in impurity; Breiman, 2001).

    {parameters}

    Attributes
    ----------
    scores_ : ndarray of float32, shape (L, D), or (1, D) with ``per_label=False``
        Importances; 0 for a label that all training rows have, or none.
    {selection}
    """

    ABOUT = About(
        "Random forest",
        "Fits a random forest for each label, and keeps the features that reduce impurity most in its "
        "trees. The paper on FALS compares with it; it is by far the slowest method.",
        "Breiman, Machine Learning 2001",
        color="#009E73",
        mark="x",
    )
    _work_bytes = 40
    PARAMETERS = FOREST

    n_estimators: int = 100
    random_state: RandomState = 0
    n_jobs: int | None = None

    def _score(self, X, Y, progress, keep):
        columns, n = tree_columns(sp.csc_array(X)), X.shape[0]
        if not self.per_label:
            self._score_together(columns, Y, progress, keep)
            return
        Y, seed = sp.csc_array(Y), self._entropy()

        def one_label(label):
            y = binary_column(Y, label)
            if 0 < y.sum() < n:
                importances = _importances(self.n_estimators, label_seed(seed, label), columns, y)
            else:
                importances = np.zeros(columns.shape[1])
            keep(label, importances[None, :])

        n_true = np.diff(Y.indptr)
        costs = 1 + np.minimum(n_true, n - n_true)
        run_tasks(one_label, range(Y.shape[1]), costs, self.n_jobs, progress, "Growing forests", "labels")

    def _score_together(self, columns, Y, progress, keep):
        y = Y.toarray().astype(np.float64)
        y = y[:, (y.min(axis=0) < y.max(axis=0))]  # labels that all rows have, or none, do not influence the splits
        if y.shape[1] == 0:
            return
        y = y.ravel() if y.shape[1] == 1 else y

        def one_tree(tree):
            importances = _importances(1, label_seed(seed, tree), columns, y)
            used = np.flatnonzero(importances)
            return used, importances[used]

        seed = self._entropy()
        trees = range(self.n_estimators)
        importances = run_tasks(one_tree, trees, [1] * len(trees), self.n_jobs, progress, "Growing the forest", "trees")
        total = np.zeros(columns.shape[1])
        for used, sizes in importances:
            total[used] += sizes
        keep(0, (total / (total.sum() or 1.0))[None, :])


def _importances(n_estimators, seed, columns, y) -> np.ndarray:
    """Fit a forest, and return its ``feature_importances_``, for which scikit-learn would hold those of all trees."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_estimators, random_state=seed, n_jobs=1).fit(columns, y)
    total = np.zeros(forest.n_features_in_)
    for tree in forest.estimators_:
        total += tree.feature_importances_
    total /= max(1, sum(tree.tree_.node_count > 1 for tree in forest.estimators_))
    return total / (total.sum() or 1.0)


@described
class LassoSelection(Selector):
    """Selection of features by the size of their weights in a least-squares model with L1 penalty (Tibshirani, 1996).

    {parameters}

    Attributes
    ----------
    scores_ : ndarray of float32, shape (L, D), or (1, D) with ``per_label=False``
        Sizes of the weights.
    selected_ : ndarray of int32, shape (L, k)
        Features of each label, best first. If fewer than k weights are not 0, the remaining features are those with the
        largest absolute product with the residuals of the model, which a smaller penalty would be likely to add.
    n_nonzero_ : ndarray of int64, shape (L,)
        Weights that are not 0.
    n_iter_ : int
        The largest number of rounds of a label.
    n_selected_, n_features_in_, n_labels_ : int
    """

    ABOUT = About(
        "LASSO",
        "Fits a linear least-squares model with an L1 penalty for each label, and keeps the features with "
        "the largest weights.",
        "Tibshirani, JRSS B 1996",
        color="#CC79A7",
        mark="cross",
    )
    _work_bytes = 96
    _kept_bytes = 700
    PARAMETERS = LASSO
    _is_iterative = True

    alpha: float = 0.1
    max_iter: int = 1000
    n_jobs: int | None = None

    def _score(self, X, Y, progress, keep):
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import Lasso

        columns, Y = sp.csc_array(X, dtype=np.float64), sp.csc_array(Y)
        columns = sp.csc_matrix((columns.data, columns.indices.astype(np.int32), columns.indptr.astype(np.int32)),
                                shape=columns.shape)  # fmt: skip
        n, n_labels = Y.shape
        mean = np.asarray(columns.mean(axis=0)).ravel()
        nonzero, rounds = np.zeros(n_labels, np.int64), np.zeros(n_labels, np.int64)

        def one_label(label):
            y = binary_column(Y, label)
            residual = y - y.mean()
            slope = columns.T @ residual / n  # the residuals sum to 0, so that the columns need not be centred
            smallest_penalty = np.abs(slope).max()  # at which all weights are 0
            weights = np.zeros(columns.shape[1])
            if smallest_penalty > 0 and self.alpha < 1:  # at alpha = 1 all weights are 0 but for rounding
                model = Lasso(alpha=self.alpha * smallest_penalty, max_iter=self.max_iter).fit(columns, residual)
                weights, rounds[label] = model.coef_, model.n_iter_
                residual = residual - columns @ weights
                slope = columns.T @ residual / n - mean * residual.mean()
            used = np.flatnonzero(weights)
            nonzero[label] = used.size
            if not self.per_label:
                return used, np.abs(weights[used])
            return keep(label, np.abs(weights)[None, :], np.abs(slope)[None, :])

        costs = 1 + np.diff(Y.indptr)
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            weights_of_labels = run_tasks(
                one_label, range(n_labels), costs, self.n_jobs, progress, "Fitting labels", "labels"
            )
        if not self.per_label:
            used, sizes = (np.concatenate(parts) for parts in zip(*weights_of_labels))
            keep(0, np.bincount(used, sizes, minlength=X.shape[1])[None, :])
        stopped = rounds >= self.max_iter
        if stopped.any():
            warnings.warn(
                f"{int(stopped.sum()):,} of {n_labels:,} labels stopped at max_iter={self.max_iter}: raise max_iter or "
                "alpha when the selection does not change much",
                ConvergenceWarning,
                stacklevel=6,
            )
        return {"n_nonzero_": nonzero, "n_iter_": int(rounds.max())}


class _BlockSelection(Selector):
    """Base of selections that compute the scores of a block of labels at a time, on one thread."""

    def _at_once(self, n_features, n_labels):
        return self._work_bytes * n_features * min(_labels_at_once(n_features), n_labels), 1


@described
class ChiSquaredSelection(_BlockSelection):
    """Selection of features that are not negative by the chi-squared statistic of their sums with and without a label.

    {parameters}

    Attributes
    ----------
    scores_ : ndarray of float32, shape (L, D), or (1, D) with ``per_label=False``
        Those of :func:`sklearn.feature_selection.chi2`, but 0 where it has nan: for features that do not occur, and
        labels that all rows have, or none.
    {selection}
    """

    ABOUT = About(
        "Chi-squared",
        "For each feature, compares its sum over rows with the label and its sum over rows without the "
        "label with the sums that chance would give. Keeps the features that differ most. It takes one "
        "sparse product for all labels; values must not be negative.",
        "As scikit-learn's chi2",
        color="#8B5A2B",
        mark="star",
    )
    _work_bytes = 64

    def _refuses_negative(self):
        """Return True: the statistic is one of counts."""
        return True

    def _score(self, X, Y, progress, keep):
        if X.nnz and X.data.min() < 0:
            row = int(np.searchsorted(X.indptr, X.data.argmin(), side="right")) - 1
            raise ValueError(
                f"Negative values in data: X holds {X.data.min()} in row {row}. Chi-squared needs features that are "
                "not negative, such as counts: shift them, or select by mutual information"
            )
        X = X.astype(np.float64)
        total = np.asarray(X.sum(axis=0)).ravel()
        share = np.asarray(Y.sum(axis=0)).ravel() / Y.shape[0]

        def score(labels, together):
            """Return the chi-squared statistics of a slice of labels from the sums of features over their rows."""
            expected = share[labels, None] * total
            difference = together - expected
            rest = (1 - share[labels, None]) * total
            return quotient(difference**2, expected) + quotient(difference**2, rest)

        _by_products(X, Y, score, progress, keep)


@described
class MutualInformationSelection(_BlockSelection):
    """Selection of features by the mutual information, in nats, of a label and the feature being above its median.

    {parameters}

    Attributes
    ----------
    scores_ : ndarray of float32, shape (L, D), or (1, D) with ``per_label=False``
        For features with two values, those of :func:`sklearn.feature_selection.mutual_info_classif`.
    {selection}
    """

    ABOUT = About(
        "Mutual information",
        "Keeps the features that tell most about the label by being above or below their median. It takes "
        "one sparse product for all labels.",
        "As scikit-learn's mutual_info_classif for features of two values",
        color="#8A5CF0",
        mark="hexagon",
    )
    _work_bytes = 84

    def _score(self, X, Y, progress, keep):
        X = above_median(X)
        n = Y.shape[0]
        n_above = np.asarray(X.sum(axis=0)).ravel()
        n_true = np.asarray(Y.sum(axis=0, dtype=np.int64)).ravel()

        def score(labels, both):
            """Return the mutual information of labels; ``both``: their rows with a value above the median."""
            label, other = n_true[labels, None], n - n_true[labels, None]
            information = np.zeros(both.shape)
            for count, row, column in (
                (both, label, n_above),
                (label - both, label, n - n_above),
                (n_above - both, other, n_above),
                (other - n_above + both, other, n - n_above),
            ):
                ratio = np.where(count > 0, count * float(n), 1.0) / np.where(count > 0, row * column, 1.0)
                information += count / n * np.log(ratio)
            return np.maximum(information, 0.0)

        _by_products(X, Y, score, progress, keep)


def above_median(X: sp.csr_array) -> sp.csr_array:
    """Return a matrix with a 1 for each value of X that is larger than the median of its feature: float64 CSR."""
    X = sp.csc_array(X)
    n = X.shape[0]
    parts, counts = [], np.zeros(X.shape[1], np.int64)
    for feature in np.flatnonzero(np.diff(X.indptr)):  # a list has 100 bytes and more for each
        rows = X.indices[X.indptr[feature] : X.indptr[feature + 1]]
        values = X.data[X.indptr[feature] : X.indptr[feature + 1]]
        if 2 * rows.size < n:  # most values are 0, and so is the median
            rows_above = rows[values > 0]
        else:
            column = np.zeros(n, np.float32)
            column[rows] = values
            rows_above = np.flatnonzero(column > np.median(column))
        parts.append(rows_above)
        counts[feature] = rows_above.size
    indices = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    ptr = np.concatenate([[0], np.cumsum(counts)])
    return sp.csr_array(sp.csc_array((np.ones(indices.size), indices, ptr), shape=X.shape))


def _labels_at_once(n_features):
    return max(1, BLOCK_SCORES // n_features)


def _by_products(X, Y, score, progress, keep):
    """Compute scores that depend only on the sums of features over the rows of each label, in blocks of labels."""
    rows_of_label = sp.csr_array(Y.T.astype(np.float64))
    n_labels, size = Y.shape[1], _labels_at_once(X.shape[1])
    for first in range(0, n_labels, size):
        progress("Scoring features", first / n_labels, f"{first:,} of {n_labels:,} labels")
        labels = slice(first, min(first + size, n_labels))
        keep(first, score(labels, (rows_of_label[labels] @ X).toarray()))
    progress("Scoring features", 1.0, f"{n_labels:,} of {n_labels:,} labels")
