"""Contributions of features to the score of one label of each row, for every kind of model.

The kind of a model is decided by its attributes, not by its class, so that a subclass or a model of another package is
explained as well. A wrapper that keeps the fitted model as ``model_`` is explained as that model.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import explain as kernels
from xmlcore._kernels.arrays import CsrRows
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.models.plt.scaling import UNIT, as_read
from xmlcore.models.rows import CheckedRows, rows_for
from xmlcore.models.rules import innermost
from xmlcore.typing import ArrayLike, Matrix, Ranker
from xmlcore.validation import check_fitted, check_label_ids, check_row, csr_parts

HINGED = {"log_proba": "log_score", "margin": "margin_score"}  # kinds of score with the squared hinge
NOT_OF_FEATURES = ("score", "part", "votes")  # explained by other things than the features of X


class Attributions(NamedTuple):
    """Contributions of features to the scores of n rows, for one label of each row."""

    values: sp.csr_array  # float64 (n, D): values of the features; of what ``names`` names if there are such
    contributions: sp.csr_array  # float64, with the same entries as ``values``; zeros are stored
    baseline: np.ndarray  # float64 (n,): score of a row without features
    total: np.ndarray  # float64 (n,): the baseline plus the contributions of the row
    kind: str  # what the score is, see above
    names: list | None  # of features of pairs, of training rows or of members; None if features are those of X


def _kind(model):
    if hasattr(model, "linear_nodes"):
        return "log_proba"
    if hasattr(model, "linear_margins"):
        return "margin"
    if hasattr(model, "forest_") and hasattr(model, "apply"):
        return "share"
    if hasattr(model, "score_parts"):
        return "votes" if hasattr(model, "neighbors") else "part"
    return "score" if hasattr(model, "pair_features") else None


def one_row(model, x, allowed=None):
    """Return a row as it is explained by a model without wrappers, as one that may get allowed labels only."""
    x = check_row(rows_for(model, x, "x"))
    return x if allowed is None else CheckedRows.among(x, model.known_labels().allowed(allowed))


def kind_of(model: Ranker) -> str:
    """Return how a model is explained."""
    check_fitted(model)
    inner = innermost(model)
    kind = _kind(inner)
    if kind is None:
        raise TypeError(
            f"{type(model).__name__} cannot be explained: it has no linear_nodes (as PLT), linear_margins (OneVsRest), "
            "forest_ and apply (LdSM, once fitted), pair_features (DoubleSampling) or score_parts (Mixture)"
        )
    return HINGED.get(kind, kind) if getattr(inner, "loss_", None) == "squared_hinge" else kind


def can_explain(model: Ranker) -> bool:
    """Return whether :func:`attributions` can explain a fitted model."""
    return _kind(innermost(model)) is not None


def explains_features(model: Ranker) -> bool:
    """Return whether a model is explained by the features of X, and not by those of pairs, by rows or members."""
    return _kind(innermost(model)) not in (None, *NOT_OF_FEATURES)


def attributions(model: Ranker, X: Matrix, labels: ArrayLike) -> Attributions:
    """Return what each feature of each row contributes to the score of one label: docs/methods/robustness.md.

    Parameters
    ----------
    model : fitted estimator
    X : sparse or dense, shape (n, D)
    labels : array of int, shape (n,)
        The label of each row.

    Returns
    -------
    Attributions
        ``baseline + contributions.sum(axis=1) == total``, up to rounding in float64. Features that a row does not have
        contribute nothing and are not stored.
    """
    return Explainer(model).rows(X, labels)


class Explainer:
    """A model prepared for explaining many rows: what it reads from the model is kept between calls of :meth:`rows`."""

    def __init__(self, model):
        self.kind = kind_of(model)
        self.model = model = innermost(model)
        if hasattr(model, "linear_nodes"):
            trees = [model.linear_nodes(t) for t in range(len(model.trees_))]
            self.trees = [(tree, csr_parts(tree.weights)) for tree in trees]
        named = "feature_names_" if self.kind == "score" else "part_names_"
        self.names = list(getattr(model, named)) if self.kind in NOT_OF_FEATURES else None

    def rows(self, X, labels) -> Attributions:
        """Return the attributions of rows, see :func:`attributions`."""
        X = rows_for(self.model, X)
        labels = check_label_ids(labels, X.shape[0], self.model.n_labels_)
        return getattr(self, f"_{_kind(self.model)}")(X, labels)

    def _read(self, X):
        """Return the CSR arrays (pointers, features, float64 values) of rows as linear classifiers read them."""
        return csr_parts(as_read(X, getattr(self.model, "normalize_", UNIT)))

    def _log_proba(self, X, labels):
        x, n = self._read(X), X.shape[0]
        trees = [self._one_tree(tree, weights, x, labels) for tree, weights in self.trees]
        if len(trees) == 1:
            return _as_attributions(X, *trees[0], self.kind)
        before, after = (np.stack([part[which] for part in trees]) for which in (1, 2))
        log_before, log_after = (np.logaddexp.reduce(logs, axis=0) for logs in (before, after))
        weight_of_mean = _log_of_log_mean(log_before, log_after)
        total = np.zeros(X.nnz)
        row = np.repeat(np.arange(n), np.diff(X.indptr))
        for parts, start, end in trees:
            weight_of_tree = _log_of_log_mean(start, end)
            with np.errstate(invalid="ignore"):
                weight = np.where(np.isneginf(weight_of_tree), 0.0, np.exp(weight_of_tree - weight_of_mean))
            total += weight[row] * parts
        log_count = np.log(len(trees))
        return _as_attributions(X, total, log_before - log_count, log_after - log_count, self.kind)

    def _one_tree(self, tree, weights, x, labels):
        distinct, which = np.unique(labels, return_inverse=True)
        paths = [tree.path(label) for label in distinct.tolist()]
        sizes = np.array([path.size for path in paths], np.int64)[which] if len(paths) else np.empty(0, np.int64)
        ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        nodes = np.concatenate([paths[i] for i in which]) if len(paths) else np.empty(0, np.int64)
        return _along_paths(x, ptr, nodes, weights, tree.bias, LOSS_NUMBERS[tree.loss])

    def _margin(self, X, labels):
        distinct, which = np.unique(labels, return_inverse=True)
        weights, bias = self.model.linear_margins(distinct)
        ptr = np.arange(labels.size + 1, dtype=np.int64)
        nodes = which.astype(np.int64)
        return _as_attributions(
            X, *_along_paths(self._read(X), ptr, nodes, csr_parts(weights), bias, kernels.MARGIN), self.kind
        )

    def _share(self, X, labels):
        model = self.model
        ptr, columns, place = model.in_columns(X)
        parts, before, after = np.zeros(X.nnz), np.empty(X.shape[0]), np.empty(X.shape[0])
        rows = kernels.Columns(ptr, columns, X.data[place], place)
        arity = model.trees_[0].children.shape[1]
        kernels.share_along_ways(model.forest_, arity, rows, labels.astype(np.int32), parts, before, after)
        return _as_attributions(X, parts, before, after, self.kind)

    def _score(self, X, labels):
        model = self.model
        values = np.asarray(model.pair_features(X, labels[:, None]), np.float64)[:, 0, :]
        names, n = self.names, X.shape[0]
        parts = values * np.asarray(model.weights_, np.float64)
        ptr = len(names) * np.arange(n + 1)
        ids = np.tile(np.arange(len(names)), n)
        values, contributions = (
            sp.csr_array((part.ravel(), ids, ptr), shape=(n, len(names))) for part in (values, parts)
        )
        return Attributions(values, contributions, np.zeros(n), parts.sum(axis=1), self.kind, names)

    def _part(self, X, labels):
        values, parts = self.model.score_parts(X, labels)
        total = np.asarray(parts.sum(axis=1), np.float64).ravel()
        return Attributions(values, parts, np.zeros(X.shape[0]), total, self.kind, self.names)

    _votes = _part


def _along_paths(x, ptr, nodes, weights, bias, loss):
    parts, before, after = np.zeros(x[1].size), np.empty(x[0].size - 1), np.empty(x[0].size - 1)
    classifiers = kernels.Classifiers(*weights, bias, loss)
    kernels.share_along_paths(CsrRows(*x), kernels.Paths(ptr, nodes), classifiers, parts, before, after)
    return parts, before, after


def _as_attributions(X, parts, before, after, kind):
    contributions = sp.csr_array((parts, X.indices, X.indptr), shape=X.shape)
    return Attributions(X.astype(np.float64), contributions, before, after, kind, None)


def _log_of_log_mean(a, b):
    """Return the log of the logarithmic mean of exp(a) and exp(b); -inf where a or b is -inf."""
    with np.errstate(invalid="ignore", divide="ignore"):
        half = np.abs(a - b) / 2
        # log(sinh(h) / h), which is near h^2 / 6 for small h
        log_of_sinh_ratio = half - np.log(2 * half) + np.log1p(-np.exp(-2 * half))
        return np.where(
            np.isinf(a) | np.isinf(b), -np.inf, (a + b) / 2 + np.where(half > 1e-3, log_of_sinh_ratio, half**2 / 6)
        )
