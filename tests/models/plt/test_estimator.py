"""PLT: training and prediction."""

import warnings

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from models.plt.plt_problems import problem, same_scores
from sklearn.exceptions import ConvergenceWarning

from xmlcore import PLT, OneVsRest, load_model


def test_the_requested_workers_are_used(monkeypatch):
    from xmlcore import parallel

    threads = []
    kept = parallel.effective_jobs
    monkeypatch.setattr(parallel, "effective_jobs", lambda n, *more: threads.append(n) or kept(n, *more))
    X, Y, X_test, _ = problem()
    PLT(max_leaf_labels=4, n_jobs=3).fit(X, Y).predict_topk(X_test)
    assert len(threads) > 3 and set(threads) == {3}


def test_another_seed_or_place_is_another_tree():
    X, Y, _, _ = problem()
    models = [PLT(max_leaf_labels=4, random_state=s).fit(X, Y) for s in (0, 1, None, None)]
    labels = [tuple(m.trees_[0].label) for m in models]
    labels += [tuple(tree.label) for tree in PLT(max_leaf_labels=4, n_estimators=2, random_state=7).fit(X, Y).trees_]
    assert len(set(labels)) == 6


def test_unused_and_universal_labels_are_certain():
    X, Y, X_test, _ = problem()
    Y = Y.toarray()
    Y[:, 3] = False
    Y[:, 8] = True
    proba = PLT(max_leaf_labels=4).fit(X, Y).predict_proba(X_test).toarray()
    assert (proba[:, 3] == 0).all()
    assert (proba[:, 8] == 1).all()


def test_rows_without_labels_teach_the_root():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((50, 5)) * [1, 1, 1, 0, 0], rng.random((50, 5)) * [0, 0, 0, 1, 1]])
    Y = [[0], [1]] * 25 + [[]] * 50
    model = PLT(loss="logistic").fit(X, Y)
    proba = model.predict_proba(X).toarray().sum(axis=1)
    assert proba[:50].min() > 0.8 and proba[50:].max() < 0.2
    assert PLT(loss="logistic").fit(X[:50], Y[:50]).predict_proba(X[50:]).toarray().sum(axis=1).min() > 0.9


@pytest.mark.parametrize(
    "loss, C",
    [("logistic", 0.01), ("logistic", 10.0), ("logistic", 300.0), ("squared_hinge", 0.1), ("squared_hinge", 3.0)],
)
def test_node_classifiers_are_those_of_one_vs_rest(loss, C):
    X, Y, _, _ = problem()
    some = np.flatnonzero(np.diff(Y.indptr))  # so that the root's children see all rows
    params = {"loss": loss, "C": C, "weight_threshold": 0.0, "tol": 1e-6 if C < 100 else 1e-5, "max_iter": 5000}
    nodes = PLT(max_leaf_labels=30, **params).fit(X[some], Y[some]).linear_nodes()
    rival = OneVsRest(**params).fit(X[some], Y[some])
    leaves = [nodes.path(label)[-1] for label in range(30)]
    near = 1e-3 * np.abs(rival.coef_).max()
    np.testing.assert_allclose(nodes.weights[leaves].toarray(), rival.coef_.toarray(), atol=near)
    np.testing.assert_allclose(nodes.bias[leaves], rival.intercept_, atol=near)


@pytest.mark.parametrize("C", [100.0, 1e4])
def test_a_large_C_fits_the_training_rows_and_does_not_diverge(C):
    X, Y, _, _ = problem()
    with warnings.catch_warnings(action="ignore"):
        model = PLT(C=C).fit(X, Y)
    proba = model.predict_proba(X).toarray()
    assert proba[Y.toarray()].mean() > 0.75 and proba[~Y.toarray()].mean() < 0.03


def test_equal_probabilities_are_ranked_by_label_id():
    for seed in range(6):  # one leaf per node, labels in random order, all of probability 1
        model = PLT(tree="random", max_leaf_labels=1, random_state=seed).fit(np.eye(6), np.ones((6, 16)))
        assert model.predict_topk(np.eye(6)[:1], 3).labels.tolist() == [[0, 1, 2]]


def test_a_threshold_read_from_a_result_finds_that_label_again(small):
    model, X, Y, X_test = small
    proba = model.predict_proba(X_test)
    for value in proba.data[:: max(1, proba.nnz // 40)]:
        assert value in model.predict_proba(X_test, float(value)).data
    sure = PLT().fit(X, np.ones((200, 3)))
    assert sure.predict_proba(X_test, 1.0).nnz == 75


def test_tiny_and_huge_rows_are_the_same_row():
    X = np.eye(4) + 0.1
    Y = [[0], [1], [2], [3]]
    expected = PLT().fit(X, Y).predict_topk(X).scores
    for scale in (1e-42, 1e-30, 1e30):  # the first is below what float32 has in full precision
        near = 0.05 if scale == 1e-42 else 1e-5
        np.testing.assert_allclose(PLT().fit(X * scale, Y).predict_topk(X * scale).scores, expected, rtol=near)


def test_progress_names_the_level_or_the_tree():
    X, Y, _, _ = problem()
    seen = []
    PLT(max_leaf_labels=4, n_jobs=2).fit(X, Y, progress=lambda *report: seen.append(report))
    assert "level 2 of 3" in [report[-1] for report in seen]
    seen.clear()
    PLT(max_leaf_labels=4, n_estimators=3).fit(X, Y, progress=lambda *report: seen.append(report))
    assert {phase for phase, *_ in seen} == {"Training trees"}
    assert any("tree 2 of 3: training nodes" in str(report[-1]) for report in seen)


def test_unfinished_training_warns_with_the_depth():
    X, Y, _, _ = problem()
    with pytest.warns(ConvergenceWarning, match=r"stopped at max_iter=1 .*at depth 1"):
        PLT(max_leaf_labels=4, max_iter=1, tol=1e-3).fit(X, Y)
    with warnings.catch_warnings(action="error"):
        PLT(max_leaf_labels=4, max_iter=1000).fit(X, Y)


def test_unknown_features_count_to_the_length_only():
    X, Y, X_test, _ = problem()
    wide = sp.csr_array((X.data, X.indices + 1000 * (X.indices > 5), X.indptr), shape=(X.shape[0], 10**6))
    model = PLT(loss="logistic").fit(wide, Y)
    expected = PLT(loss="logistic").fit(X, Y)
    rows = sp.csr_array((X_test.data, X_test.indices + 1000 * (X_test.indices > 5), X_test.indptr), shape=(25, 10**6))
    assert same_scores(model.predict_topk(rows, 5), expected.predict_topk(X_test, 5))
    x = rows[[0]].toarray()[0].astype(float)
    x[500_000] = 2.0
    columns = naive.plt_search.in_columns(x, model.feature_of_column_)
    best = naive.plt_search.search_best_first(model.fitted_[0], "logistic", columns, 5)
    longer = model.predict_topk(x[None], 5)
    assert longer.labels[0].tolist() == [label for label, _ in best]
    np.testing.assert_allclose(longer.scores[0], np.exp([score for _, score in best]), rtol=1e-4)


@pytest.mark.parametrize("n_features", [3, 5000, 10**9])
def test_a_model_of_rows_without_features_ignores_all_features(tmp_path, n_features):
    X = sp.csr_array((12, n_features), dtype=np.float32)
    model = PLT(max_leaf_labels=2, tree="random").fit(X, [[i % 5] for i in range(10)] + [[0], [1]])
    last = np.array([n_features - 1], np.int32)
    row = sp.csr_array((np.ones(1, np.float32), last, [0, 1]), shape=(1, n_features))
    expected = model.predict_topk(X[:1], 3)
    assert same_scores(model.predict_topk(row, 3), expected)
    assert same_scores(load_model(model.save(tmp_path / "model")).predict_topk(row, 3), expected)


def test_the_largest_counts_train_and_predict_as_others_do(small):
    model, X, Y, X_test = small
    largest = PLT(max_leaf_labels=5, loss="logistic", max_iter=2**31 - 1, beam=2**31 - 1, collapse_layers=0).fit(X, Y)
    assert largest.n_weights_ == model.n_weights_ > 0
    np.testing.assert_array_equal(largest.predict_topk(X_test).scores, model.predict_topk(X_test).scores)
    most = 2**31 - 1
    assert PLT(arity=most, max_leaf_labels=most, collapse_layers=most).fit(X, Y).size()["depth"] == 1
