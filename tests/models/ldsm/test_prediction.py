"""LdSM predicts the labels of the leaves that rows reach; re-ranking mixes their shares with nearness to means."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from ldsm_examples import as_matrix, rows_and_labels, small_data, small_model

from xmlcore.models.ldsm import prediction


def test_predictions_are_means_of_the_leaves_histograms():
    X, rows, labels = rows_and_labels(n=60, seed=5)
    model = small_model().fit(X, labels)
    column_of = {int(f): c for c, f in enumerate(model.feature_of_column_)}
    rows = [{column_of[f]: float(np.float32(v)) for f, v in row.items()} for row in rows]
    trees = [naive.ldsm.grow(rows, labels, 12, 2, 25, 5, 0.5, (1.0, 1.0), seed) for seed in model._seeds(3)]
    leaves = model.apply(X)
    found, proba = model.predict_topk(X, 6), model.predict_proba(X).toarray()
    for i, row in enumerate(rows):
        expected, probability = np.zeros(6), np.zeros(6)
        for t, tree in enumerate(trees):
            assert sorted(leaves.of(i, t).tolist()) == sorted(naive.ldsm.leaves_of(tree, row, 2))
            for label, share in naive.ldsm.shares_of(tree, labels, row, 2).items():
                expected[label] += share / 3
            for label, share in naive.ldsm.shares_of(tree, labels, row, 2, of_rows=True).items():
                probability[label] += share / 3
        np.testing.assert_allclose(proba[i], probability, atol=1e-6)
        np.testing.assert_allclose(found.scores[i], sorted(expected, reverse=True), atol=1e-6)
        order = sorted(range(6), key=lambda j: (-np.float32(expected[j]), j))
        positive = [j for j in order if expected[j] > 0]
        assert found.labels[i].tolist() == positive + [-1] * (6 - len(positive))


@pytest.mark.parametrize("M", [2, 3])
def test_a_prefix_predicts_as_a_model_of_that_size_would(M):
    X, labels = small_data()
    large = small_model(arity=M, n_estimators=4).fit(X, labels)
    for n_trees, max_nodes in ((1, 25), (3, 9), (4, 1), (2, 12)):
        model = small_model(arity=M, n_estimators=n_trees, max_nodes=max_nodes).fit(X, labels)
        for a, b in zip(model.predict_topk(X, 6), large.predict_topk(X, 6, n_trees=n_trees, max_nodes=max_nodes)):
            np.testing.assert_array_equal(a, b)


def test_scoring_few_rows_at_a_time_changes_nothing(monkeypatch):
    """Scores of many labels are computed for a part of a block at a time, to save memory."""
    X, labels = small_data()
    for params in ({}, {"rerank_beta": 0.5, "rerank_space": "idf"}):
        model = small_model(**params).fit(X, labels)
        found, proba = model.predict_topk(X, 4), model.predict_proba(X)
        with monkeypatch.context() as patch:
            patch.setattr(prediction, "AT_ONCE", 11)
            for a, b in zip(found, model.predict_topk(X, 4)):
                np.testing.assert_array_equal(a, b)
            assert (proba != model.predict_proba(X)).nnz == 0


@pytest.mark.parametrize("space", ["raw", "idf"])
def test_reranking_mixes_shares_with_nearness_to_the_labels_mean(space, monkeypatch):
    X, rows, labels = rows_and_labels(n=60, seed=8)
    plain = small_model().fit(X, labels)
    model = small_model(rerank_beta=0.3, rerank_gamma=0.7, rerank_space=space).fit(X, labels)
    if space == "idf":
        met = np.bincount(X.indices, minlength=12)
        rows = naive.ldsm.idf_unit(rows, 1 + np.log((1 + 60) / (1 + met)))
    means = naive.ldsm.label_means(rows, labels)
    if space == "idf":
        means = dict(zip(means, naive.ldsm.idf_unit(means.values(), np.ones(12))))
    shares, scores = as_matrix(plain.predict_topk(X, 6)), as_matrix(model.predict_topk(X, 6))
    assert (plain.predict_proba(X) != model.predict_proba(X)).nnz == 0
    for i, row in enumerate(rows):
        own = dict(zip(shares[[i]].indices.tolist(), shares[[i]].data.tolist()))
        expected = naive.ldsm.rank_again(own, row, means, 0.3, 0.7)
        found = dict(zip(scores[[i]].indices.tolist(), scores[[i]].data.tolist()))
        assert found == pytest.approx(expected, abs=1e-5)


def test_searching_a_mean_gives_the_distance_of_reading_it():
    random = np.random.default_rng(0)
    X = sp.random_array((30, 400), density=0.3, rng=random, format="csr", dtype=np.float32)
    labels = [[i % 3] for i in range(30)]
    model = small_model(rerank_beta=0.5, rerank_gamma=0.1).fit(X, labels)
    short = sp.csr_array(X[:, :].multiply(np.arange(400) < 12))
    short.eliminate_zeros()
    assert (np.diff(model.means_[0]) > 16 * np.diff(short.indptr).max()).all()
    plain = as_matrix(small_model().fit(X, labels).predict_topk(short, 3)).toarray()
    found = as_matrix(model.predict_topk(short, 3)).toarray()
    means = np.stack([X[np.arange(30) % 3 == j].mean(axis=0) for j in range(3)])
    plain, found = plain[:, :3], found[:, :3]
    distance = ((short.toarray()[:, None, :] - means[None]) ** 2).sum(axis=2)
    expected = np.where(plain > 0, 0.5 * plain + 0.5 / (1 + np.exp(0.05 * distance)), 0)
    np.testing.assert_allclose(found, expected, atol=1e-5)
