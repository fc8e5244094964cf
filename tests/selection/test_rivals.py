"""Selections by other methods than FALS: scikit-learn's scores, the best k of each label, a sparse network, LIFT."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import chi2, mutual_info_classif
from sklearn.linear_model import Lasso
from sklearn.tree import DecisionTreeClassifier

from xmlcore.selection import (
    BRDT,
    LIFT,
    ChiSquaredSelection,
    GradEnFSSelection,
    LassoSelection,
    MutualInformationSelection,
    RandomForestSelection,
)
from xmlcore.selection.decision_trees import label_seed
from xmlcore.selection.gradenfs import SparseLayer
from xmlcore.selection.lift import cluster_centers, distances
from xmlcore.selection.rivals import above_median

FEW_TREES = {"n_estimators": 3}
ALL = [(RandomForestSelection, FEW_TREES), (LassoSelection, {}), (ChiSquaredSelection, {}),
       (MutualInformationSelection, {})]  # fmt: skip


def data(seed=0, n=150, n_features=20, n_labels=4):
    """Label l is features l and l + 4 together, with noise."""
    random = np.random.default_rng(seed)
    X = (random.random((n, n_features)) < 0.4) * random.integers(1, 4, (n, n_features))
    Y = (X[:, :n_labels] + X[:, n_labels : 2 * n_labels] + 0.3 * random.normal(size=(n, n_labels))) > 2.5
    return X.astype(np.float32), Y


@pytest.mark.parametrize("selection, params", ALL)
def test_the_features_a_label_is_made_of_come_first(selection, params):
    X, Y = data()
    found = selection(n_features=4, **params).fit(sp.csr_array(X), Y)
    assert found.selected_.shape == (4, 4) and found.selected_.dtype == np.int32 and found.n_selected_ == 4
    assert found.scores_.shape == (4, 20) and found.scores_.dtype == np.float32
    for label in range(4):
        assert set(found.selected_[label, :2].tolist()) == {label, label + 4}
        chosen = found.scores_[label, found.selected_[label]]
        assert (np.diff(chosen) <= 0).all()
        assert chosen[-1] >= np.delete(found.scores_[label], found.selected_[label]).max()


@pytest.mark.parametrize("selection, params", ALL)
def test_one_set_for_all_labels_on_demand(selection, params):
    X, Y = data()
    shared = selection(n_features=8, per_label=False, **params).fit(X, Y)
    assert shared.selected_.shape == (4, 8) and shared.scores_.shape == (1, 20)
    assert (shared.selected_ == shared.selected_[0]).all()
    assert len(set(shared.selected_[0].tolist()) & set(range(8))) >= 7
    if selection is not RandomForestSelection:
        own = selection(n_features=8, **params).fit(X, Y)
        np.testing.assert_allclose(shared.scores_[0], own.scores_.sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize("per_label", [True, False])
def test_forests_are_scikit_learns_of_the_seed(per_label):
    X, Y = data()
    found = RandomForestSelection(n_estimators=5, per_label=per_label).fit(X, Y)
    other = RandomForestSelection(n_estimators=5, per_label=per_label, random_state=1).fit(X, Y)
    assert not np.array_equal(found.scores_, other.scores_)
    if per_label:
        for label in range(4):
            forest = RandomForestClassifier(5, random_state=label_seed(0, label)).fit(X, Y[:, label])
            np.testing.assert_allclose(found.scores_[label], forest.feature_importances_, rtol=1e-5)
    else:
        trees = [RandomForestClassifier(1, random_state=label_seed(0, tree)).fit(X, Y) for tree in range(5)]
        expected = np.mean([tree.feature_importances_ for tree in trees], axis=0)
        np.testing.assert_allclose(found.scores_[0], expected, rtol=1e-5)


def test_lasso_is_scikit_learns_with_a_relative_penalty():
    X, Y = data()
    found = LassoSelection(n_features=20, alpha=0.3).fit(X, Y)
    for label in range(4):
        y = Y[:, label] - Y[:, label].mean()
        least = np.abs((X - X.mean(axis=0)).T @ y / y.size).max()
        assert not Lasso(alpha=1.001 * least).fit(X, y).coef_.any()
        assert Lasso(alpha=0.99 * least, tol=1e-6).fit(X.astype(float), y).coef_.any()
        expected = Lasso(alpha=0.3 * least).fit(X, y).coef_
        np.testing.assert_allclose(found.scores_[label], np.abs(expected), atol=1e-5)
        assert found.n_nonzero_[label] == np.count_nonzero(expected)


def test_lassos_features_without_weight_follow_by_slope():
    X, Y = data()
    found = LassoSelection(n_features=20, alpha=1.0).fit(X, Y)  # no weights at all
    assert (found.n_nonzero_ == 0).all() and not found.scores_.any()
    for label in range(4):
        slope = np.abs((X - X.mean(axis=0)).T @ (Y[:, label] - Y[:, label].mean()))
        assert np.array_equal(found.selected_[label], np.argsort(-slope, kind="stable"))


def test_lasso_says_how_many_labels_it_did_not_finish():
    X, Y = data()
    with pytest.warns(ConvergenceWarning, match="4 of 4 labels stopped at max_iter=1"):
        LassoSelection(alpha=0.001, max_iter=1).fit(X, Y)
    with warnings.catch_warnings(action="error"):
        LassoSelection().fit(X, Y)


def test_chi_squared_is_scikit_learns():
    X, Y = data()
    found = ChiSquaredSelection().fit(X, Y)
    for label in range(4):
        np.testing.assert_allclose(found.scores_[label], chi2(X, Y[:, label])[0], rtol=1e-5)


def test_mutual_information_is_scikit_learns():
    X, Y = data()
    X[:, 3] = np.random.default_rng(0).normal(size=150)  # all values differ
    X[:, 5] -= 2
    X[:100, 6] = 2.0
    found = MutualInformationSelection().fit(X, Y)
    above = np.asarray(X > np.median(X, axis=0), np.int64)
    assert np.array_equal(above_median(sp.csr_array(X)).toarray(), above)
    for label in range(4):
        expected = mutual_info_classif(above, Y[:, label], discrete_features=True)
        np.testing.assert_allclose(found.scores_[label], expected, atol=1e-6)


@pytest.mark.parametrize("selection, params", ALL)
@pytest.mark.parametrize("per_label", [True, False])
def test_empty_features_and_labels_of_one_class_have_no_score(selection, params, per_label):
    X, Y = data()
    X[:, 2] = 0.0
    Y[:, 1], Y[:, 2] = False, True
    found = selection(n_features=20, per_label=per_label, **params).fit(X, Y)
    assert np.isfinite(found.scores_).all() and not found.scores_[:, 2].any()
    if per_label:
        assert not found.scores_[1:3].any()
    assert all(sorted(row) == list(range(20)) for row in found.selected_.tolist())
    nothing = selection(per_label=per_label, **params).fit(X, Y[:, 1:3])
    assert not nothing.scores_.any()


@pytest.mark.parametrize("selection, params", ALL)
def test_blocks_do_not_change_anything(selection, params, monkeypatch):
    X, Y = data()
    expected = selection(**params).fit(X, Y)
    monkeypatch.setattr("xmlcore.selection.rivals.BLOCK_SCORES", 1)
    again = selection(**params).fit(X, Y)
    assert np.array_equal(again.selected_, expected.selected_) and np.array_equal(again.scores_, expected.scores_)


def test_too_many_features_are_named():
    X, Y = data()
    with pytest.raises(ValueError, match="n_features is 21, but X has 20 features"):
        ChiSquaredSelection(n_features=21).fit(X, Y)


@pytest.mark.parametrize("estimator", [*(selection(**params) for selection, params in ALL), BRDT()])
def test_more_columns_than_fit_into_memory_are_refused(estimator, monkeypatch):
    X, Y = data()
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: 200)
    with pytest.raises(MemoryError, match="GB of memory for 20 features and 4 labels, but 0.0 GB are free"):
        estimator.fit(X, Y)
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: 1 << 34)
    many = sp.csr_array((np.ones(6, bool), np.arange(6) * 10_000_000, np.arange(7)), shape=(6, 10**8))
    with pytest.raises(MemoryError, match="GB of memory for 4 features and 100,000,000 labels"):
        estimator.fit(np.eye(6, 4), many)


def sparse(n_columns, n_rows=48, each=5):
    columns = np.sort(np.random.default_rng(0).integers(0, n_columns, (n_rows, each)), axis=1)
    return sp.csr_array((np.ones(columns.size), columns.ravel(), each * np.arange(n_rows + 1)), (n_rows, n_columns))


MANY = [
    *(BRDT(n_jobs=n_jobs) for n_jobs in (1, 2)),
    *(LassoSelection(per_label=each, n_jobs=2) for each in (True, False)),
    *(ChiSquaredSelection(per_label=each) for each in (True, False)),
    *(MutualInformationSelection(per_label=each) for each in (True, False)),
]
FORESTS = [RandomForestSelection(per_label=each, n_estimators=20, n_jobs=1) for each in (True, False)]


@pytest.mark.parametrize(
    ("estimator", "n_features", "n_labels"),
    [*((each, 40_000, 3) for each in (*MANY, *FORESTS)), *((each, 20, 300) for each in MANY)],
    ids=repr,
)
def test_a_fit_takes_the_memory_that_it_asks_for(estimator, n_features, n_labels, monkeypatch):
    X, Y = sparse(n_features), sparse(n_labels).astype(bool)
    estimator.fit(*data())  # imports what it needs
    asked = []
    monkeypatch.setattr("xmlcore.selection.decision_trees.check_memory", lambda needed, *_: asked.append(needed))
    tracemalloc.start()
    try:
        estimator.fit(X, Y)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.4 * asked[0] < taken < 1.1 * asked[0]


@pytest.mark.parametrize("per_label", [True, False])
def test_a_sparse_network_finds_the_features_a_label_is_made_of(per_label):
    X, Y = data()
    X[:, 19] = 0.0
    Y[:, 1] = False
    found = GradEnFSSelection(n_features=4, per_label=per_label).fit(X, Y)
    assert not found.scores_[:, 19].any() and (found.scores_[:, :8] > 0).any()
    if per_label:
        assert not found.scores_[1].any()
        assert all(set(found.selected_[label, :2].tolist()) == {label, label + 4} for label in (0, 2, 3))
    else:
        assert len({0, 2, 3, 4, 6, 7} & set(found.selected_[0].tolist())) >= 3


def test_a_layer_of_few_connections_is_the_dense_layer_of_its_weights():
    random = np.random.default_rng(0)
    layer = SparseLayer(30, 20, random)
    assert 20 < layer.at.size < 90 and not layer.is_full and SparseLayer(3, 1, random).is_full
    for _ in range(3):  # also after steps and new connections
        weights, bias = layer.matrix.toarray(), layer.bias[0].copy()
        values, slope = (random.normal(size=(n, 7)).astype(np.float32) for n in (30, 20))
        np.testing.assert_allclose(layer.forward(values), weights.T @ values + bias[:, None], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(layer.backward(slope), weights @ slope, rtol=1e-4, atol=1e-6)
        there, step = weights != 0, layer.matrix.toarray() - weights
        if layer.n_steps == 1:  # Adam's first step has one length, against the gradient
            np.testing.assert_allclose(step[there], -1e-3 * np.sign(values @ slope.T)[there], rtol=0.01)
        before, strength = layer.at, np.abs(layer.weights[0])
        layer.rewire(random)
        gone, n = ~np.isin(before, layer.at), round(0.3 * before.size)
        assert layer.at.size == before.size and n >= gone.sum() > 0 and (np.diff(layer.at) > 0).all()
        assert strength[gone].max() <= np.sort(strength)[n]
        assert (layer.weights[:, ~np.isin(layer.at, before)] == 0).all()


def test_each_label_has_as_many_clusters_of_both_sides():
    X, Y = data()
    Y[:, 1], Y[:, 2] = False, True
    model = LIFT(ratio=0.25).fit(X, Y)
    least = np.minimum(Y.sum(axis=0), (~Y).sum(axis=0))
    np.testing.assert_array_equal(model.n_centers_, 2 * np.ceil(0.25 * least))
    assert model.n_centers_.tolist()[1:3] == [0, 0]
    assert (model.predict_proba(X)[:, 1:3] == [0, 1]).all()


def test_trees_learn_from_the_distances_to_the_centres():
    X, Y = data()
    model = LIFT().fit(X[:100], Y[:100])
    ends = np.concatenate([[0], np.cumsum(model.n_centers_)])
    for label in range(4):
        away = distances(sp.csr_array(X), model._centers[:, ends[label] : ends[label + 1]].copy())
        tree = DecisionTreeClassifier(random_state=label_seed(0, label)).fit(away[:100], Y[:100, label])
        found = model.predict_proba(X[100:])[:, label]
        np.testing.assert_allclose(found, tree.predict_proba(away[100:])[:, 1], rtol=1e-6)


def test_rows_are_in_the_cluster_whose_mean_is_nearest():
    X, _ = data(n=90)
    rows = sp.csr_array(X)
    centers = cluster_centers(rows, 7, np.random.default_rng(0))
    np.testing.assert_allclose(distances(rows, centers.T.copy()), cdist(X, centers), rtol=1e-3, atol=2e-3)
    own = cdist(X, centers).argmin(axis=1)
    for cluster in range(7):
        np.testing.assert_allclose(X[own == cluster].mean(axis=0), centers[cluster], atol=1e-5)
    equal = cluster_centers(sp.csr_array(np.ones((9, 3), np.float32)), 4, np.random.default_rng(0))
    assert (equal == 1).all(), "clusters without rows are filled"
