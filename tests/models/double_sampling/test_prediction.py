"""Features of pairs follow their formulas; predictions rank the candidates by f, in blocks of rows."""

import naive
import numpy as np
import pytest
from models.double_sampling.problems import EXTENSIONS, SPACES, binary, paper, problem

from xmlcore import metrics
from xmlcore._kernels import ds_features
from xmlcore.models.double_sampling import estimator, learning, prediction, sampling
from xmlcore.validation import check_features


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("distance, weighting", SPACES)
@pytest.mark.parametrize("most, real", [(1, False), (3, True)])
def test_the_features_follow_their_formulas(distance, weighting, most, real, extended):
    X, rows, labels = problem(most=most, real=real)
    kind = {"features": "extended"} if extended else {}
    model = paper(X, binary(labels), distance=distance, weighting=weighting, **kind)
    new, new_rows = (problem(6, seed=1)[i] for i in (0, 1))
    new[0], new_rows[0] = 0.0, {}
    classes = np.random.default_rng(2).permuted(np.tile(np.arange(7), (6, 1)), axis=1)[:, :5]
    found = model.pair_features(new, classes)
    assert found.shape == (6, 5, 16 if extended else 10) and found.dtype == np.float64
    assert model.feature_names_ == list(learning.MEANINGS)[: found.shape[2]]
    assert model.weights_.shape == model.feature_scale_.shape == (found.shape[2],)
    space = {"distance": distance, "weighting": weighting}
    for i, own in enumerate(classes.tolist()):
        for j, k in enumerate(own):
            expected = naive.ds.features(new_rows[i], k, rows, labels, **space)
            if extended:
                expected += naive.ds.more_features(new_rows[i], k, rows, labels, weighting=weighting)
            np.testing.assert_allclose(found[i, j], expected, rtol=1e-5, atol=1e-5)


def test_every_feature_has_a_meaning_in_one_sentence():
    assert all(text.endswith(".") and ". " not in text and "\n" not in text for text in learning.MEANINGS.values())
    names = learning.PAPER_FEATURES + learning.MORE_FEATURES + (learning.TREE_FEATURE,)
    assert tuple(learning.MEANINGS) == names and len(names) == 17


def test_features_of_no_class_and_of_a_class_without_rows():
    X, rows, labels = problem(skip=(2,))
    model = paper(X, binary(labels))
    found = model.pair_features(X[:2], [[-1, 2, 2], [2, -1, 0]])
    assert np.isnan(found[0, 0]).all() and np.isnan(found[1, 1]).all()
    assert np.array_equal(found[0, 1], [0.0] * 8 + [1.0, 0.0]) and np.array_equal(found[0, 1], found[0, 2])
    np.testing.assert_allclose(found[1, 2], naive.ds.features(rows[1], 0, rows, labels), atol=1e-5)


@pytest.mark.parametrize("distance, weighting", SPACES)
def test_left_out_examples_are_not_in_their_class(distance, weighting):
    X, rows, labels = problem(n=25, most=2)
    model = paper(X, binary(labels), distance=distance, weighting=weighting, features="extended")
    index, (ptr, terms, values) = model.ranker_.index, model._rows(check_features(X))
    size, space = model.class_size_, {"distance": distance, "weighting": weighting}
    out, found, everyone, checked = np.empty((7, 16)), np.empty((7, 15)), np.arange(7, dtype=np.int32), 0
    for i, own in enumerate(labels):
        for k in own:
            a, b = ptr[i], ptr[i + 1]
            ds_features.sums_by_term(terms[a:b], everyone, index, found)
            ds_features.row_features(terms[a:b], values[a:b], everyone, found, k, size, index, out)
            ds_features.more_features(terms[a:b], values[a:b], everyone, found, k, index, model.ranker_.more, out)
            other = (k + 1) % 7
            for c, without in ((k, i), (other, None)):
                if c == k and size[k] == 1:
                    continue
                expected = naive.ds.features(rows[i], c, rows, labels, without, **space)
                expected += naive.ds.more_features(rows[i], c, rows, labels, without, weighting=weighting)
                np.testing.assert_allclose(out[c], expected, atol=2e-5)
                checked += c == k
    assert checked > 20


def test_pair_features_refuse_what_is_no_list_of_classes_per_row():
    X, _, labels = problem()
    model = paper(X, binary(labels))
    for classes, error, message in (
        ([[0]], ValueError, "a row of class ids for each of the 40 rows"),
        (np.zeros((40, 2)), TypeError, "whole numbers"),
        (np.full((40, 1), 7), ValueError, "from 0 to 6"),
        (np.full((40, 1), -2), ValueError, "-2"),
    ):
        with pytest.raises(error, match=message):
            model.pair_features(X, classes)


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
