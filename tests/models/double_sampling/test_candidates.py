"""Candidates are the classes of nearest centroid, or the most probable classes of a label tree."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from models.double_sampling.problems import SPACES, as_dicts, binary, paper, problem

from xmlcore.models.double_sampling import candidates
from xmlcore.validation import check_features


@pytest.mark.parametrize("distance, weighting", SPACES)
def test_candidates_are_the_nearest_centroids(distance, weighting):
    X, rows, labels = problem(n=60, n_terms=40, n_classes=20, skip=(3, 11))
    model = paper(X, binary(labels, 20), distance=distance, weighting=weighting)
    new = problem(10, 40, 20, seed=1)[0]
    new[0] = 0.0
    new[1] *= np.arange(40) == 7
    for q in (1, 4, 18):
        expected = [naive.ds.nearest(row, rows, labels, q, distance=distance, weighting=weighting)
                    for row in as_dicts(new)]  # fmt: skip
        assert model.candidates(new, q).tolist() == expected
    assert model.candidates(new, 50).shape == (10, 18)


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_few_postings_give_the_candidates_of_a_full_pass(distance):
    """Rows of one or two rare terms leave most classes untouched: those come by their own length and id."""
    random = np.random.default_rng(0)
    n_classes = 300
    X = sp.csr_array((random.integers(1, 4, 600).astype(np.float32),
                      (np.repeat(np.arange(300), 2), random.integers(0, 150, 600))), shape=(300, 150))  # fmt: skip
    labels = [[i] for i in random.permutation(n_classes).tolist()]
    model = paper(X, binary(labels, n_classes), distance=distance)
    rows = as_dicts(X.toarray())
    for i in range(0, 40, 5):
        expected = naive.ds.nearest(rows[i], rows, labels, 12, distance=distance)
        assert model.candidates(X[[i]], 12).tolist() == [expected]


def many_classes(distance, weighting):
    """A model of 3,000 classes, some of them equal and some without rows, and rows of rare and of frequent terms."""
    random = np.random.default_rng(0)
    rare = random.integers(6, 2000, (3000, 3))
    rare[1000:1400] = rare[:400]
    frequent = np.where(np.arange(3000) < 1400, 1, random.integers(0, 4, (6, 3000))).T
    X = sp.lil_array((3000, 2000), dtype=np.float32)
    X[:, :6] = frequent
    X = X.tocsr() + sp.csr_array((np.ones(9000, np.float32), rare.ravel(), np.arange(0, 9001, 3)), (3000, 2000))
    ids = random.permutation(3100)[:3000]
    model = paper(X, binary(ids[:, None].tolist(), 3100), n_adversarial=1, distance=distance, weighting=weighting)
    return model, X, ids


@pytest.mark.parametrize("distance, weighting", SPACES)
def test_skipping_frequent_terms_finds_the_same_candidates(distance, weighting):
    model, X, ids = many_classes(distance, weighting)
    index, new = model.ranker_.index, sp.csr_array(X[::500])
    q = 9
    # All distances, from the definition: the space's weights, then directions or means of one row each.
    idf = np.ones(2000)
    idf[model.feature_of_column_] = index.weight
    rows, centres = (A.toarray().astype(np.float64) * idf for A in (new, X))
    if distance == "cosine":
        rows, centres = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (rows, centres))
    for i, row in enumerate(rows):
        order = np.lexsort((ids, np.round(((centres - row) ** 2).sum(axis=1), 9)))[:q]
        expected = ids[order].tolist()
        assert model.candidates(new[[i]], q).tolist() == [expected]
    assert 0 < index.head < 10


def test_equal_distances_go_to_the_smaller_class():
    X = np.eye(4)[[0, 1, 2, 3, 0, 1, 2, 3]]
    labels = [5, 4, 3, 2, 1, 0, 6, 7]  # classes 5 and 1 are the same, and so on
    model = paper(X, labels)
    assert model.candidates([[1, 0, 0, 0], [0, 0, 0, 0]], 4).tolist() == [[1, 5, 0, 2], [0, 1, 2, 3]]
    assert model.predict_topk([[0, 1, 0, 0]], k=3).labels.tolist() == [[0, 4, 1]]


def test_another_number_of_candidates_needs_no_training():
    X, _, labels = problem(n=60, n_classes=12)
    model = paper(X, binary(labels, 12), n_candidates=3)
    other = paper(X, binary(labels, 12), n_candidates=9)
    found, expected = model.predict_topk(X, k=9, n_candidates=9), other.predict_topk(X, k=9)
    assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)
    few = model.predict_topk(X, k=5)
    assert (few.labels[:, 3:] == -1).all() and (few.scores[:, 3:] == 0).all() and (few.labels[:, :3] >= 0).all()


def tree_problem(n=90):
    return problem(n=n, n_classes=20, n_terms=40, most=2, skip=(3, 11))


def test_candidates_from_a_tree_are_its_best_classes_with_rows():
    X, _, labels = tree_problem()
    model = paper(X, binary(labels, 20), candidates_from="plt", features="extended")
    tree = model.ranker_.tree
    vectors = candidates.as_vectors(model._rows(check_features(X)), model.ranker_.index.weight)
    present = np.flatnonzero(model.class_size_)
    for q in (1, 5, 50):
        found = model.candidates(X, q)
        expected = tree.plt.predict_topk(vectors, min(q, 18))
        assert np.array_equal(found, present[expected.labels])
    ranking = model.predict_topk(X, 10)
    assert np.array_equal(np.sort(ranking.labels), np.sort(model.candidates(X, 10)))
    proba = tree.plt.predict_proba(vectors).toarray()
    features = model.pair_features(X, np.tile([-1, 3, *present], (len(X), 1)))
    assert features.shape == (90, 20, 17) and model.feature_names_[-1] == "tree log probability"
    assert np.isnan(features[:, 0]).all() and (features[:, 1, -1] == candidates.LEAST).all()
    np.testing.assert_allclose(features[:, 2:, -1], np.log(np.maximum(proba, np.exp(-20))), rtol=1e-4, atol=1e-5)


def test_rows_for_tree_and_centroids_have_the_same_weights():
    X, _, labels = tree_problem()
    for weighting in ("tfidf", "counts"):
        model = paper(X, binary(labels, 20), candidates_from="plt", weighting=weighting)
        x = model._rows(check_features(X))
        found = candidates.as_vectors(x, model.ranker_.index.weight).toarray()
        dense = sp.csr_array((x[2] * model.ranker_.index.weight[x[1]], x[1], x[0])).toarray()
        np.testing.assert_allclose(found, dense / dense.max(axis=1, keepdims=True), rtol=1e-6)


def test_a_cross_fitted_tree_does_not_see_its_fold(monkeypatch):
    X, _, labels = tree_problem()
    seen = []
    monkeypatch.setattr(candidates, "_train", lambda X, Y, *rest: seen.append((X, Y)) or object())
    vectors = sp.csr_array(np.arange(90.0)[:, None] + 1)
    cross = candidates.CrossFitted.fit(vectors, binary(labels, 20), 0, 1)
    assert np.bincount(cross.fold).tolist() == [30, 30, 30]
    for f, (part, Y) in enumerate(seen):
        rows = part.toarray().ravel().astype(int) - 1
        assert not set(rows) & set(np.flatnonzero(cross.fold == f)) and rows.size == 60 and Y.shape == (60, 18)
        assert (Y != binary(labels, 20)[rows][:, np.delete(np.arange(20), [3, 11])]).nnz == 0


def test_the_feature_of_the_label_tree_needs_two_training_rows():
    Y = [{0, 1}]
    with pytest.raises(ValueError, match="at least two training rows"):
        paper([[1.0, 2.0]], Y, candidates_from="plt", features="extended")
