"""Every way to search finds the same labels."""

import pickle

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from explain.fitted import log_proba, unit
from models.plt.plt_problems import problem, same_scores

from xmlcore import PLT, Ranking
from xmlcore.models.plt import search
from xmlcore.validation import csr_parts


def test_impossible_labels_are_ranked_by_id():
    Y = np.zeros((6, 2000), bool)
    Y[:, 1500] = [1, 0, 1, 0, 1, 0]
    Y[:, 7] = [0, 1, 0, 1, 0, 1]
    model = PLT(n_estimators=3, max_leaf_labels=50).fit(np.eye(6), Y)
    found = model.predict_topk(np.eye(6), 5)
    assert {tuple(row[:2]) for row in found.labels.tolist()} == {(1500, 7), (7, 1500)}
    assert (found.labels[:, 2:] == [0, 1, 2]).all() and (found.scores[:, 2:] == 0).all()


def test_ensemble_is_the_exact_mean_of_its_trees():
    X, Y, X_test, _ = problem(n_labels=60)
    model = PLT(max_leaf_labels=2, n_estimators=3, C=1.0).fit(X, Y)
    means = np.zeros((25, 60))
    for mean, x in zip(means, X_test.toarray().astype(float)):
        x = naive.plt_search.in_columns(x, model.feature_of_column_)
        for label, total in naive.plt_search.search_ensemble(model.fitted_, model.loss_, x, 60):
            mean[label] = total / 3
    for k in (1, 3, 60):
        found = model.predict_topk(X_test, k)
        np.testing.assert_array_equal(found.labels, np.argsort(-means, axis=1, kind="stable")[:, :k])
        np.testing.assert_allclose(found.scores, -np.sort(-means, axis=1)[:, :k], rtol=1e-4)
    proba = model.predict_proba(X_test, 0.1).toarray()
    np.testing.assert_allclose(proba, np.where(means >= 0.1, means, 0), rtol=1e-4)


@pytest.mark.parametrize("trial", range(8))
def test_an_ensembles_top_k_is_that_of_all_mean_probabilities(trial):
    rng = np.random.default_rng(trial)
    n_labels = int(rng.integers(3, 50))
    X = sp.random_array((150, 30), density=0.3, rng=rng, format="csr", dtype=np.float32)
    Y = rng.random((150, n_labels)) < rng.choice([0.02, 0.1, 0.3])  # unsure and sure, unused labels, ties
    Y[0, 0] = True
    model = PLT(
        loss=["logistic", "squared_hinge"][trial % 2], C=float(rng.choice([0.01, 1, 300])), n_estimators=2 + trial % 3,
        arity=[2, 3, 16][trial % 3], max_leaf_labels=int(rng.choice([1, 4, 20])), max_iter=300, random_state=trial,
        weight_threshold=0.1,
    ).fit(X, Y)  # fmt: skip
    rows = sp.random_array((40, 30), density=0.2, rng=rng, format="csr", dtype=np.float32)
    means = model.predict_proba(rows).toarray()
    order = np.lexsort((np.broadcast_to(np.arange(n_labels), means.shape), -means), axis=1)
    for k in (1, 3, n_labels):
        exact = model.set_params(beam=None).predict_topk(rows, k)
        np.testing.assert_array_equal(exact.labels, order[:, :k])
        assert same_scores(model.set_params(beam=64).predict_topk(rows, k), exact)
        for beam in (1, 2):  # what is found has its exact mean
            labels, scores = model.set_params(beam=beam).predict_topk(rows, k)
            found = np.where(labels >= 0, np.take_along_axis(means, labels, axis=1), 0)
            np.testing.assert_allclose(scores, found, rtol=1e-4)


@pytest.fixture(scope="module")
def mixed():
    """A model with groups of many and few weights, and rows without values up to rows full of them, in any order."""
    rng = np.random.default_rng(0)
    X, Y, _, _ = problem(n=400, d=700, n_labels=150)
    density = rng.permutation(np.repeat([0, 0.01, 0.2, 0.24, 0.26, 0.6, 1.0], 12))
    values = X[: density.size].toarray() + 0.2 * rng.standard_normal((density.size, 700), np.float32)
    return X, Y, sp.csr_array(values * (rng.random(values.shape) < density[:, None]))


PAIRS = {"arity": 2, "loss": "logistic", "C": 10.0, "weight_threshold": 1.0}  # groups of few weights, and of many
MIXED_PARAMS = [
    PAIRS,
    {"beam": 3},
    {"n_estimators": 3},
    {"n_estimators": 2, "beam": 2},
    {"tree": "huffman", "max_leaf_labels": 1},
    {"loss": "squared_hinge", "C": 1.0, "max_leaf_labels": 150, "arity": 20},
]


@pytest.mark.parametrize("params", MIXED_PARAMS)
def test_a_rows_result_does_not_depend_on_its_neighbours(monkeypatch, mixed, params):
    X, Y, rows = mixed
    model = PLT(**{"max_leaf_labels": 40, "weight_threshold": 0.05, "n_jobs": 1} | params).fit(X, Y)
    assert {(np.diff(a.dense_ptr) > 0).any() for a in model.fitted_} == {True}
    dense_at = model._search.take(csr_parts(rows), (0, rows.shape[0])).dense_at
    assert 24 < (dense_at >= 0).sum() <= 48
    alone = [model.predict_topk(rows[[i]], 4) for i in range(rows.shape[0])]
    expected = Ranking(*(np.concatenate([getattr(one, name) for one in alone]) for name in ("labels", "scores")))
    proba = [sp.csr_array(sp.vstack([model.predict_proba(rows[[i]], t) for i in range(30)])) for t in (0.0, 0.05)]
    for together, pairs, places, most, n_jobs in (
        ((10**6, 10**6), 1 << 22, 10**6, 64 << 20, 2), ((9, 1000), 1 << 22, 2, 64 << 20, 1),
        ((9, 30), 60, 2, 64 << 20, 3), ((9, 1000), 60, 2, 700 * 4 * 3, 2), ((9, 1000), 1 << 22, 2, 1, 2),
    ):  # fmt: skip
        monkeypatch.setattr("xmlcore.models.plt.search.TOGETHER_ROWS", together)
        monkeypatch.setattr("xmlcore.models.plt.search.TOGETHER_BYTES", 0)
        monkeypatch.setattr("xmlcore.models.plt.search.TOGETHER_PAIRS", pairs)
        monkeypatch.setattr("xmlcore.models.plt.search.TOGETHER_DENSE", places)
        monkeypatch.setattr("xmlcore.models.plt.search.DENSE_BYTES", most)
        assert same_scores(model.set_params(n_jobs=n_jobs).predict_topk(rows, 4), expected)
        for threshold, before in zip((0.0, 0.05), proba):
            found = model.predict_proba(rows[:30], threshold)
            for name in ("indptr", "indices", "data"):
                np.testing.assert_array_equal(getattr(found, name), getattr(before, name))


def test_sparse_and_dense_rows_find_what_brute_force_finds(mixed):
    X, Y, rows = mixed
    model = PLT(max_leaf_labels=40, **PAIRS).fit(X, Y)
    assert (np.diff(model.fitted_[0].sparse_ptr) > 0).any() and (np.diff(model.fitted_[0].dense_ptr) > 0).any()
    found, proba = model.predict_topk(rows, 4), model.predict_proba(rows)
    for i in range(0, rows.shape[0], 5):
        x = naive.plt_search.in_columns(rows[[i]].toarray()[0].astype(float), model.feature_of_column_)
        expected = naive.plt_search.search_best_first(model.fitted_[0], model.loss_, x, 150)
        assert found.labels[i].tolist() == [label for label, _ in expected[:4]]
        np.testing.assert_allclose(found.scores[i], np.exp([score for _, score in expected[:4]]), rtol=1e-4)
        every = proba[[i]].toarray()[0]
        np.testing.assert_allclose(every[[label for label, _ in expected]], np.exp([s for _, s in expected]), rtol=1e-4)


def test_features_of_few_rows_are_found_among_a_million():
    X = sp.random_array((205, 10**6), density=1e-4, rng=np.random.default_rng(0), dtype=np.float32, format="csr")
    model = PLT(max_leaf_labels=2, n_jobs=1).fit(X[:200], np.arange(200) % 100)
    tree, rows = model.fitted_[0], sp.csr_array(X[:5] + X[200:])  # half of their features are unknown
    assert tree.index_shift.max() > 0 and (np.diff(tree.index_at) <= 3 * np.diff(tree.column_ptr) + 3).all()
    found = model.predict_proba(rows).toarray()
    for i in range(5):
        expected = [np.exp(log_proba(model, 0, unit(rows, i), label)) for label in range(0, 100, 5)]
        np.testing.assert_allclose(found[i, ::5], expected, rtol=1e-4)


@pytest.mark.parametrize("together", [True, False])
def test_dense_rows_take_bounded_memory(monkeypatch, mixed, together):
    X, Y, rows = mixed
    model = PLT(max_leaf_labels=40, n_jobs=2).fit(X, Y)
    dense = np.diff(rows.indptr) >= model._search.least_dense
    monkeypatch.setattr("xmlcore.models.plt.search.DENSE_BYTES", 4 * model.feature_of_column_.size * 5 + 3)
    blocks = model._search.blocks(rows.indptr, model.n_jobs, together)
    assert [start for start, _ in blocks] == [0, *(end for _, end in blocks[:-1])] and blocks[-1][1] == rows.shape[0]
    sizes = [dense[start:end].sum() for start, end in blocks]
    assert max(sizes) == 5 and len(blocks) <= dense.sum() // 5 + 2
    empty = rows[:0]
    assert model._search.blocks(empty.indptr, model.n_jobs, together) == []
    assert model.predict_topk(empty, 2).labels.shape == (0, 2)


def test_a_beam_set_after_fit_is_checked_at_prediction(small):
    model, X, Y, X_test = small
    wide = PLT(max_leaf_labels=5, n_jobs=1).fit(X, Y).set_params(beam=2**70)
    with pytest.raises(ValueError, match=f"beam must be from 1 to 2147483647, not {2**70}"):
        wide.predict_topk(X_test)


def test_an_ensemble_is_made_ready_for_the_search_once(monkeypatch):
    made = []
    as_table = search.as_table
    monkeypatch.setattr(search, "as_table", lambda *trees: made.append(1) or as_table(*trees))
    model = PLT(n_estimators=2, max_leaf_labels=2).fit(np.eye(5), np.eye(5, dtype=bool))
    first = model.predict_topk(np.eye(5), 2)
    again = pickle.loads(pickle.dumps(model))
    for copy in (model, again, again):
        found = copy.predict_topk(np.eye(5)[:1], 2)
        assert np.array_equal(found.scores, first.scores[:1])
    assert len(made) == 2  # once for the model, once for the copy
