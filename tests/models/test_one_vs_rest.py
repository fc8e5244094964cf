"""OneVsRest has the optimum that scikit-learn's liblinear finds per label, and behaves as the other estimators do."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from xmlcore import OneVsRest, load_model
from xmlcore._kernels import one_vs_rest as kernels
from xmlcore.datasets import make_synthetic
from xmlcore.validation import csr_parts


def problem(n=80, D=20, L=7, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, L)) < 0.3
    X = np.where(rng.random((n, D)) < 0.2, rng.random((n, D)), 0.0)
    X[:, :L] += 0.5 * Y
    return sp.csr_array(X.astype(np.float32)), Y


@pytest.fixture(scope="module")
def fitted():
    return OneVsRest(n_jobs=1).fit(*problem())


def same(one, two, X):
    a, b = one.predict_topk(X, 4), two.predict_topk(X, 4)
    np.testing.assert_array_equal(a.labels, b.labels)
    np.testing.assert_array_equal(a.scores, b.scores)
    assert (one.predict_proba(X) != two.predict_proba(X)).nnz == 0


@pytest.mark.parametrize("loss, C", [("logistic", 1.0), ("logistic", 30.0), ("squared_hinge", 0.5)])
def test_classifiers_are_scikit_learns_on_rows_of_length_1(loss, C):
    X, Y = problem()
    model = OneVsRest(C=C, loss=loss, weight_threshold=0, tol=1e-5).fit(X, Y)
    unit = normalize(X.toarray().astype(np.float64))
    for label in range(7):
        if loss == "logistic":
            peer = LogisticRegression(C=C, solver="liblinear", tol=1e-8)
        else:
            peer = LinearSVC(C=C, dual=False, tol=1e-8)
        peer.fit(unit, Y[:, label])
        np.testing.assert_allclose(model.coef_[[label]].toarray(), peer.coef_, atol=1e-5)
        assert model.intercept_[label] == pytest.approx(peer.intercept_[0], abs=1e-5)
        margins = peer.decision_function(unit)
        expected = 1 / (1 + np.exp(-margins))
        np.testing.assert_allclose(model.predict_proba(X).toarray()[:, label], expected, atol=1e-5)
        if loss == "logistic":
            np.testing.assert_allclose(peer.predict_proba(unit)[:, 1], expected)


def test_labels_of_no_row_and_of_all_rows_are_certain():
    X, Y = problem()
    Y[:, 2], Y[:, 4] = False, True
    model = OneVsRest().fit(X, Y)
    proba = model.predict_proba(X).toarray()
    assert (proba[:, 2] == 0).all() and (proba[:, 4] == 1).all()
    assert np.isneginf(model.intercept_[2]) and np.isposinf(model.intercept_[4])
    ranking = model.predict_topk(X, 7)
    assert (ranking.labels[:, 0] == 4).all() and (ranking.labels[:, 6] == 2).all()
    assert (ranking.scores[:, 0] == 1).all() and (ranking.scores[:, 6] == 0).all()
    log_proba, gradient = model.log_proba_gradient(X[:2], [2, 4])
    assert log_proba.tolist() == [-np.inf, 0.0] and gradient.nnz == 0


def test_kernels_sum_as_their_twin():
    rng = np.random.default_rng(0)
    X = sp.random_array((9, 12), density=0.4, rng=rng, dtype=np.float32, format="csr")
    W = sp.random_array((5, 12), density=0.5, rng=rng, dtype=np.float32, format="csr")
    bias = rng.standard_normal(5).astype(np.float32)
    by_column = csr_parts(sp.csc_array(W))
    out = np.empty((9, 5))
    kernels.all_margins(*csr_parts(X), *by_column, bias, out)
    weights = [dict(zip(W[[j]].indices.tolist(), W[[j]].data.tolist())) for j in range(5)]
    rows = [dict(zip(X[[i]].indices.tolist(), X[[i]].data.tolist())) for i in range(9)]
    expected = [naive.one_vs_rest.label_margins(row, weights, bias.tolist()) for row in rows]
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    labels, margins = np.full((9, 3), -1, np.int32), np.full((9, 3), -np.inf)
    kernels.best_margins(*csr_parts(X), *by_column, bias, labels, margins)
    best = [naive.sorting.top_k(list(enumerate(row)), 3) for row in out.tolist()]
    assert labels.tolist() == [[label for label, _ in row] for row in best]
    assert margins.tolist() == [[margin for _, margin in row] for row in best]


def test_rows_are_predicted_alike_in_batches_and_scaled(fitted, monkeypatch):
    X, _ = problem(n=700, seed=2)
    whole = fitted.predict_topk(X, 3)
    part = fitted.predict_topk(X[511:513], 3)  # on either side of the end of a batch
    np.testing.assert_array_equal(part.labels, whole.labels[511:513])
    np.testing.assert_array_equal(part.scores, whole.scores[511:513])
    proba = fitted.predict_proba(X)
    monkeypatch.setattr("xmlcore.models.one_vs_rest.MARGINS_AT_ONCE", 20)
    assert (fitted.predict_proba(X) != proba).nnz == 0
    np.testing.assert_allclose(fitted.predict_topk(8 * X.toarray(), 3).scores, whole.scores)


def test_an_unknown_feature_counts_to_the_length_only():
    X, Y = problem()
    model = OneVsRest().fit(sp.csr_array(sp.hstack([X, sp.csr_array((80, 1))])), Y)
    row = np.zeros((1, 21), np.float32)
    row[0, [0, 20]] = 3.0, 4.0
    alone = np.zeros((1, 20))
    alone[0, 0] = 1.0
    margins = model.coef_.toarray()[:, 0] * 0.6 + model.intercept_
    np.testing.assert_allclose(model.predict_proba(row).toarray()[0], 1 / (1 + np.exp(-margins)), rtol=1e-5)


def test_small_weights_are_dropped_and_the_bias_never_is():
    X, Y = problem()
    full, cut = (OneVsRest(weight_threshold=least).fit(X, Y) for least in (0, 0.2))
    dense = full.coef_.toarray()
    np.testing.assert_array_equal(cut.coef_.toarray(), np.where(np.abs(dense) >= np.float32(0.2), dense, 0))
    np.testing.assert_array_equal(full.intercept_, cut.intercept_)
    assert cut.size()["n_weights"] == cut.n_weights_ == cut.coef_.nnz < full.coef_.nnz
    assert cut.size()["model_bytes"] < full.size()["model_bytes"]


def test_C_is_chosen_by_trials_on_any_number_of_threads(tmp_path):
    data = make_synthetic(n_train=900, n_test=1, n_features=120, n_labels=30, features_per_row=12, labels_per_row=2)
    X, Y = data.X_train, data.Y_train
    chosen = OneVsRest(n_jobs=1).fit(X[:700], Y[:700])
    trials = chosen.chosen_
    assert len(trials) == 4 and (trials["rows"] == 175).all()  # a quarter of the rows
    assert trials["C"].nunique() == 3 and list(trials)[:3] == ["C", "normalize", "P@1"]
    choice = OneVsRest(n_jobs=2).choose(X[:700], Y[:700])
    assert choice.settings == chosen.settings_ and len(choice.trials) == 4
    assert [trial["score"] for trial in choice.trials] == trials["score"].tolist()
    same(chosen, OneVsRest(**choice.settings).fit(X[:700], Y[:700]), X[700:])
    assert OneVsRest()._trial_tree(30).fit(X, Y).trees_[0].n_nodes == 31  # one level: a classifier per label
    read = load_model(chosen.save(tmp_path / "model"))
    assert read.C == "auto" and read.settings_ == chosen.settings_ and read.chosen_.equals(trials)


@pytest.mark.parametrize("loss, C", [("logistic", 10.0), ("squared_hinge", 1.0)])
def test_with_few_rows_C_is_the_published_one(loss, C):
    model = OneVsRest(loss=loss).fit(*problem())
    assert model.settings_ == {"C": C, "normalize": "l2"} and model.chosen_.empty
    same(model, OneVsRest(loss=loss, C=C).fit(*problem()), problem(seed=3)[0])


def test_labels_that_did_not_converge_are_counted_in_one_warning():
    X, Y = problem()
    with pytest.warns(ConvergenceWarning, match="7 of 7 labels are in blocks that stopped at max_iter=1") as caught:
        OneVsRest(max_iter=1, tol=1e-10).fit(X, Y)
    assert len(caught) == 1


def test_rows_without_any_feature_are_enough():
    model = OneVsRest().fit(np.zeros((4, 3)), [[0], [0], [1], [0]])
    assert model.n_weights_ == 0 and model.predict_topk(np.ones((1, 3)), 1).labels.tolist() == [[0]]
