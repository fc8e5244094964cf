"""Predictions rank the candidates by f, in blocks of rows; progress names the phases."""

import naive
import numpy as np
import pytest
from models.double_sampling.problems import EXTENSIONS, SPACES, binary, paper, problem

from xmlcore import metrics
from xmlcore.models.double_sampling import estimator, learning, prediction, sampling


@pytest.mark.parametrize("params", [{}, *EXTENSIONS], ids=str)
def test_f_is_weights_times_features_and_orders_the_ranking(params):
    X, _, labels = problem(most=2)
    model = paper(X, binary(labels), n_candidates=4, **params)
    ranking = model.predict_topk(X, k=4)
    f = model.pair_features(X, ranking.labels) @ model.weights_
    assert (np.diff(f, axis=1) <= 1e-9).all()
    shares = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ranking.scores, shares, rtol=1e-5)


@pytest.mark.parametrize("features", ["paper", "extended"])
@pytest.mark.parametrize("distance, weighting", SPACES)
def test_the_nearest_classes_are_ranked_as_by_the_twins(distance, weighting, features):
    X, rows, labels = problem(most=2)
    space = {"distance": distance, "weighting": weighting}
    model = paper(X, binary(labels), n_candidates=4, features=features, **space)
    ranking = model.predict_topk(X[:12], k=4)
    for i in range(12):
        near = naive.ds.nearest(rows[i], rows, labels, 4, **space)
        expected = naive.ds.ranked(rows[i], near, rows, labels, model.weights_, **space)
        assert ranking.labels[i].tolist() == [k for k, _ in expected]
        shares = np.exp([f for _, f in expected])
        np.testing.assert_allclose(ranking.scores[i], shares / shares.sum(), rtol=1e-4)


def test_predict_returns_one_class_or_those_of_half_a_share():
    X, _, labels = problem()
    model = paper(X, binary(labels))
    assert model.multiclass_ and np.array_equal(model.predict(X).indices, model.predict_topk(X, 1).labels.ravel())
    assert np.array_equal(np.diff(model.predict(X).indptr), np.ones(40))
    X, _, labels = problem(most=3)
    model = paper(X, binary(labels))
    assert not model.multiclass_
    assert (model.predict(X) != (model.predict_proba(X) >= 0.5 * 40 / binary(labels).sum())).nnz == 0


def test_probabilities_are_shares_of_the_candidates():
    X, _, labels = problem(n_classes=12)
    model = paper(X, binary(labels, 12), n_candidates=4)
    proba, ranking = model.predict_proba(X), model.predict_topk(X, 12)
    assert proba.shape == (40, 12) and proba.dtype == np.float32 and proba.has_canonical_format
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-5)
    for row, own, scores in zip(proba.toarray(), ranking.labels, ranking.scores):
        assert np.array_equal(row[own[:4]], scores[:4]) and np.count_nonzero(row) <= 4


def test_unknown_features_and_empty_rows_do_not_matter():
    X, _, labels = problem()
    wide = np.hstack([X[:, :7], np.zeros((40, 1)), X[:, 7:]])
    model = paper(wide, binary(labels))
    other = wide.copy()
    other[:, 7] = 9
    found, expected = model.predict_topk(other), paper(X, binary(labels)).predict_topk(X)
    assert np.array_equal(found.labels, expected.labels)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-4)
    empty = model.predict_topk(np.zeros((2, 16)), k=3)
    assert empty.labels.tolist() == [[0, 1, 2]] * 2


@pytest.mark.slow
@pytest.mark.real_data
def test_accuracy_on_wordnet_is_what_it_was(real_data):
    from xmlcore.datasets import read_matrix

    X, Y, *_ = read_matrix(real_data / "wordnet-class" / "train.txt.gz")
    X_test, Y_test, *_ = read_matrix(real_data / "wordnet-class" / "test.txt.gz")
    ranking = paper(X, Y).predict_topk(X_test, k=10)
    assert metrics.accuracy(Y_test, ranking) == pytest.approx(0.414, abs=0.01)
    assert metrics.macro_f1(Y_test, ranking) == pytest.approx(0.318, abs=0.01)
    assert metrics.recall_at_k(Y_test, ranking, 10)[-1] == pytest.approx(0.756, abs=0.005)


@pytest.mark.parametrize("params", [{}, EXTENSIONS[3], EXTENSIONS[4]], ids=str)
def test_blocks_of_rows_change_nothing_for_any_number_of_workers(params, monkeypatch):
    X, _, labels = problem(n=90, n_classes=30, n_terms=40, most=2)
    models = [paper(X, binary(labels, 30), **params)]
    expected = models[0].predict_topk(X, 10)
    for module in (sampling, learning, prediction, estimator):
        monkeypatch.setattr(module, "BLOCK", 7)
    monkeypatch.setattr(estimator, "MOST_RANKED", 100)
    models += [paper(X, binary(labels, 30), n_jobs=n, **params) for n in (1, 3)]
    for model in models[1:]:
        assert np.array_equal(model.weights_, models[0].weights_)
        found = model.predict_topk(X, 10)
        assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)
    other = paper(X, binary(labels, 30), random_state=1, **params)
    assert not np.array_equal(other.weights_, models[0].weights_)
