"""Re-ranking mixes shares with nearness to the means of labels."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from ldsm_examples import as_matrix, rows_and_labels, small_model


@pytest.mark.parametrize("space", ["raw", "idf"])
def test_reranking_mixes_shares_with_nearness_to_the_labels_mean(space, monkeypatch):
    X, rows, labels = rows_and_labels(n=60, seed=8)
    plain = small_model().fit(X, labels)
    model = small_model(rerank_beta=0.3, rerank_gamma=0.7, rerank_space=space).fit(X, labels)
    if space == "idf":
        met = np.bincount(X.indices, minlength=12)
        rows = naive.ldsm_reranking.idf_unit(rows, 1 + np.log((1 + 60) / (1 + met)))
    means = naive.ldsm_reranking.label_means(rows, labels)
    if space == "idf":
        means = dict(zip(means, naive.ldsm_reranking.idf_unit(means.values(), np.ones(12))))
    shares, scores = as_matrix(plain.predict_topk(X, 6)), as_matrix(model.predict_topk(X, 6))
    assert (plain.predict_proba(X) != model.predict_proba(X)).nnz == 0
    for i, row in enumerate(rows):
        own = dict(zip(shares[[i]].indices.tolist(), shares[[i]].data.tolist()))
        expected = naive.ldsm_reranking.rank_again(own, row, means, 0.3, 0.7)
        found = dict(zip(scores[[i]].indices.tolist(), scores[[i]].data.tolist()))
        assert found == pytest.approx(expected, abs=1e-5)


def test_searching_a_mean_and_reading_it_whole_give_the_same_distance():
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
