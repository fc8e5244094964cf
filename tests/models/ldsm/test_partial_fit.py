"""LdSM learns further rows: they are counted in the nodes that they reach, and the trees keep their shape."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import LdSM

PARAMS = {"n_estimators": 3, "max_nodes": 31, "n_epochs": 3}


def problem(n=400, n_labels=10, seed=0):
    """Rows with one to three labels, each of which has three features of its own."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, n_labels)) < 0.12
    Y[np.arange(n), rng.integers(0, n_labels, n)] = True
    X = (rng.random((n, 40)) < 0.05) + np.repeat(Y, 4, axis=1) * (rng.random((n, 40)) < 0.7)
    return sp.csr_array(X.astype(np.float32)), sp.csr_array(Y)


def fitted(n=300, **params):
    X, Y = problem()
    return LdSM(**PARAMS | params).fit(X[:n], Y[:n])


@pytest.mark.parametrize("params", [{}, {"arity": 4}, {"optimizer": "sgd"}, {"multiway_weight": 0.0}])
def test_the_rows_that_were_learnt_are_counted_where_they_are(params):
    X, Y = problem()
    model = fitted(**params)
    before = copy.deepcopy(model)
    model.partial_fit(X[300:], Y[300:])
    parents_reached = 0
    for t, (tree, old) in enumerate(zip(model.trees_, before.trees_)):
        np.testing.assert_array_equal(tree.children, old.children)
        counts, n_rows = old.histograms.toarray(), old.n_samples.copy()
        leaves = before.apply(X[300:])
        for i in range(100):  # a node is reached if a leaf below it is
            reached = set()
            for node in leaves.of(i, t).tolist():
                while node >= 0:
                    reached.add(node)
                    node = int(old.parent[node])
            parents_reached += len(reached) > 1
            for node in reached:
                counts[node] += Y[[300 + i]].toarray()[0]
                n_rows[node] += 1
        np.testing.assert_array_equal(tree.histograms.toarray(), counts)
        np.testing.assert_array_equal(tree.n_samples, n_rows)
    assert parents_reached
    np.testing.assert_array_equal(model.forest_.weights, before.forest_.weights)
    assert model.trees_[0].n_samples[0] == 400


def test_rows_learnt_in_parts_give_the_model_of_all_at_once():
    X, Y = problem()
    at_once, in_parts = fitted().partial_fit(X[300:], Y[300:]), fitted()
    for i in range(300, 400, 7):
        in_parts.partial_fit(X[i : i + 7], Y[i : i + 7])
    np.testing.assert_array_equal(in_parts.forest_.hist_counts, at_once.forest_.hist_counts)
    np.testing.assert_array_equal(in_parts.predict_topk(X).scores, at_once.predict_topk(X).scores)


def test_means_for_reranking_are_those_of_all_rows():
    X, Y = problem()
    cut = sp.csr_array(X[:300].multiply(np.arange(40) < 36))
    model = LdSM(**PARAMS, rerank_beta=0.5).fit(cut, Y[:300]).partial_fit(X[300:], Y[300:])
    ptr, columns, values, _ = model.means_
    found = np.zeros((10, 40))
    found[np.repeat(np.arange(10), np.diff(ptr)), model.feature_of_column_[columns]] = values
    rows = np.concatenate([cut.toarray(), X[300:].toarray()])
    expected = Y.T.astype(float) @ rows / Y.sum(axis=0)[:, None]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert model.predict_topk(X).scores.shape == (400, 5)


def test_new_labels_are_learnt():
    X, Y = problem()
    model = fitted(max_nodes=7).partial_fit(X[300:], [[10]] * 100)
    assert model.n_labels_ == 11 and (model.predict_topk(X[300:], 11).labels == 10).any(axis=1).all()


def test_rows_without_labels_are_left_out_and_counted():
    X, Y = problem()
    lists = [[0] if i < 5 else [] for i in range(8)]
    with pytest.warns(UserWarning, match="3 of 8 training rows have no label"):
        model = fitted().partial_fit(X[:8], lists)
    assert model.n_unlabelled_ == 3 and model.n_rows_ == model.trees_[0].n_samples[0] == 305


def test_means_of_weighted_features_learn_no_further_rows():
    with pytest.raises(ValueError, match="space 'idf' cannot learn further rows"):
        fitted(rerank_beta=0.5, rerank_space="idf").partial_fit(*problem())
