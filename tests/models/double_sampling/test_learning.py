"""Pairs and the function learnt from them are those of the paper's equations."""

import functools
import tracemalloc

import naive
import numpy as np
import pytest
from models.double_sampling.problems import as_dicts, binary, examples_of, paper, problem, recorded, sampled
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from xmlcore import DoubleSampling
from xmlcore.models.base import warm_up
from xmlcore.models.double_sampling import candidates, learning, sampling


def risk_of_twin(model, sample, rows, labels, leave_one_out=True, extended=False):
    @functools.cache
    def f(i, k):
        out = i if leave_one_out and k in labels[i] else None
        phi = naive.ds.features(rows[i], k, rows, labels, out)
        phi += naive.ds.more_features(rows[i], k, rows, labels, out) if extended else []
        return np.dot(model.weights_, phi)

    return naive.ds.risk(examples_of(sample), f)


@pytest.mark.parametrize("adversaries", ["random", "candidates"])
def test_classes_of_one_row_are_not_compared_with_each_other(adversaries, monkeypatch):
    X, _, labels = problem(n=50, n_terms=30, n_classes=12, most=3)
    learnt, learn = [], learning.learn
    monkeypatch.setattr(
        learning, "learn", lambda params, *given: learnt.append([g.copy() for g in given]) or learn(params, *given)
    )
    params = {"adversaries": adversaries, "n_adversarial": 6, "examples_per_class": 5}
    _, (_, sample, differences, signs) = recorded(monkeypatch, X, binary(labels, 12), **params)
    learnt_pairs, learnt_signs = learnt[0]
    apart = [k not in labels[i] for i, own in zip(sample.rows, sample.adversaries.tolist()) for k in own]
    assert 0 < len(learnt_signs) < len(signs) and np.array_equal(learnt_signs, signs[apart])
    np.testing.assert_array_equal(learnt_pairs, differences[apart])


def test_classes_that_all_rows_share_leave_nothing_to_learn():
    with pytest.raises(ValueError, match="another label of the same row"):
        paper([[1.0, 2.0], [2.0, 1.0]], [{0, 1}, {0, 1}])


def test_pairs_of_candidates_leave_the_example_out_of_its_class(monkeypatch):
    X, rows, labels = problem(n=40, n_terms=20)
    params = {"adversaries": "candidates", "n_candidates": 4, "features": "extended"}
    model, (_, sample, *_) = recorded(monkeypatch, X, binary(labels), **params)
    assert model.empirical_risk_ == pytest.approx(risk_of_twin(model, sample, rows, labels, extended=True), abs=1e-9)


def test_pairs_have_log_probabilities_of_trees_without_the_row(monkeypatch):
    X, _, labels = problem(n=90, n_classes=20, n_terms=40, most=2, skip=(3, 11))
    params = {"candidates_from": "plt", "features": "extended", "n_adversarial": 4}
    _, (data, sample, pairs, signs) = recorded(monkeypatch, X, binary(labels, 20), **params)
    vectors = candidates.as_vectors(data.x, data.index.weight)
    cross = candidates.CrossFitted.fit(vectors, binary(labels, 20), sampling.stream_seed(0, sampling.CROSS), 1)
    difference = (pairs[:, -1] * signs).reshape(sample.adversaries.shape)
    for m in range(0, sample.rows.size, 5):
        i, classes = int(sample.rows[m]), [int(sample.classes[m]), *sample.adversaries[m].tolist()]
        tree = cross.trees[cross.fold[i]]
        proba = tree.plt.predict_proba(vectors[[i]]).toarray()[0]
        logs = [np.log(max(proba[np.flatnonzero(tree.classes == k)[0]], np.exp(-20))) for k in classes]
        np.testing.assert_allclose(difference[m], logs[0] - np.array(logs[1:]), rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_the_empirical_risk_is_that_of_equation_7(leave_one_out):
    X, rows, labels = problem(n=50, seed=3)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.5, 0, X)  # hard enough to be wrong at times
    rows = as_dicts(X)
    model = paper(X, binary(labels), n_adversarial=3, examples_per_class=4, leave_one_out=leave_one_out)
    sample = sampled(labels, 7, n_adversarial=3, examples_per_class=4, leave_one_out=leave_one_out)
    risk = risk_of_twin(model, sample, rows, labels, leave_one_out)
    assert model.n_pairs_ == 3 * sample.rows.size and 0 < risk < 0.5
    assert model.empirical_risk_ == pytest.approx(risk, abs=1e-9)


@pytest.mark.parametrize(
    "loss, oracle",
    [
        ("logistic", LogisticRegression(C=0.7, fit_intercept=False, tol=1e-10, max_iter=10_000)),
        ("squared_hinge", LinearSVC(C=0.7, fit_intercept=False, dual=False, tol=1e-10, max_iter=10_000)),
    ],
)
def test_f_is_the_linear_classifier_of_the_scaled_differences(loss, oracle):
    X, rows, labels = problem(n=30, n_classes=5)
    model = paper(X, binary(labels, 5), n_adversarial=2, C=0.7, loss=loss)
    sample = sampled(labels, 5, n_adversarial=2)
    examples = examples_of(sample)
    pairs = naive.ds.pairs(examples, lambda i, k: np.array(naive.ds.features(rows[i], k, rows, labels)))
    Z, signs = np.array([a - b for a, b, _ in pairs]), [sign for *_, sign in pairs]
    scale = np.sqrt((Z**2).mean(axis=0))
    oracle.fit(Z / scale, signs)
    np.testing.assert_allclose(model.feature_scale_, scale, rtol=1e-4)
    np.testing.assert_allclose(model.weights_ * scale, oracle.coef_[0], atol=2e-3)


def test_training_holds_the_pairs_in_memory_only_once():
    """κM·10 numbers: neither their making nor the learner copies them."""
    X, _, labels = problem(n=1200, n_terms=60, n_classes=400)
    Y = binary(labels, 400)
    model = DoubleSampling.preset("paper", n_adversarial=200)
    warm_up(model)
    tracemalloc.start()
    try:
        model.fit(X, Y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert model.n_pairs_ > 150_000
    assert peak < 1.7 * 80 * model.n_pairs_  # a number per pair is a tenth; a copy would make it more than 2


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_pairs_of_one_sign_are_learnt_from_too(loss):
    X = [[3, 0], [0, 3]]
    for seed in range(5):  # one example, of class 0 or of class 1
        model = DoubleSampling.preset("paper", examples_per_class=0.5, n_adversarial=1, loss=loss, random_state=seed)
        try:
            model.fit(X, [0, 1])
        except ValueError as error:
            assert "no example was drawn" in str(error)  # noqa: PT017
            continue
        assert model.predict_topk(X, k=1).labels.ravel().tolist() == [0, 1]
