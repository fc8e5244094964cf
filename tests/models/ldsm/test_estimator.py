"""LdSM does what the paper's algorithms do, line by line, and what its lemmas say."""

import itertools
import warnings

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit

from xmlcore import LdSM, load_model, metrics
from xmlcore._kernels import ldsm as kernels
from xmlcore._kernels import rng
from xmlcore.models import ModelFormatError
from xmlcore.models.ldsm import estimator as ldsm
from xmlcore.validation import check_labels, csr_parts


def rows_and_labels(n=30, n_columns=12, n_labels=6, seed=0, most=3):
    random = np.random.default_rng(seed)
    X = sp.random_array((n, n_columns), density=0.4, rng=random, format="csr", data_sampler=random.standard_normal)
    labels = [sorted(random.choice(n_labels, random.integers(1, most + 1), replace=False).tolist()) for _ in range(n)]
    rows = [dict(zip(X[[i]].indices.tolist(), X[[i]].data.tolist())) for i in range(n)]
    return X, rows, labels


def in_float64(X, labels, n_labels=6):
    """A node's rows as the kernels take them, but with values in float64: the twin's arithmetic."""
    ptr, columns, values = csr_parts(X)
    y = csr_parts(check_labels(labels, n_labels=n_labels))
    rows, place = np.arange(X.shape[0], dtype=np.int32), np.full(100, -1, np.int32)
    own_ptr, own, kept = kernels.gather_lists(ptr, columns, rows, place)
    own_values = kernels.gather_values(ptr, values.astype(np.float64), rows)
    label_ptr, own_labels, kept_labels = kernels.gather_lists(y[0], y[1], rows, place)
    assert (place == -1).all()
    return (own_ptr, own, own_values, kept.size, label_ptr, own_labels, kept_labels.size), kept, kept_labels


GO_ON = np.zeros(1, np.uint8)


@njit
def choose_directions(sums, total, label_sums, labels, start, end, integrity_weight, multiway_weight, table):
    return kernels.choose_directions(
        sums, total, label_sums, labels, start, end, integrity_weight, multiway_weight, table
    )


def test_uniform_numbers_are_the_documented_generator():
    state = np.uint64(rng.stream(5, 7))
    expected = naive.rng.stream(5, 7)
    for _ in range(50):
        state, drawn = rng.uniform(np.uint64(state))
        expected, twin = naive.rng.uniform(expected)
        assert drawn == twin and 0 <= drawn < 1


def test_lists_of_some_rows_are_numbered_among_what_occurs():
    ptr, ids = np.array([0, 3, 3, 5, 8]), np.array([9, 2, 40, 7, 2, 40, 41, 9], np.int32)
    place = np.full(50, -1, np.int32)
    own_ptr, own, kept = kernels.gather_lists(ptr, ids, np.array([0, 3], np.int32), place)
    assert kept.tolist() == [2, 9, 40, 41] and own_ptr.tolist() == [0, 3, 6]
    assert kept[own].tolist() == [9, 2, 40, 40, 41, 9] and (place == -1).all()
    values = kernels.gather_values(ptr, np.arange(8.0), np.array([3, 0], np.int32))
    assert values.tolist() == [5, 6, 7, 0, 1, 2]


@pytest.mark.parametrize("M", [2, 3, 5])
def test_directions_are_those_of_least_objective(M):
    random = np.random.default_rng(M)
    for _ in range(200):
        n_labels, own = 7, sorted(random.choice(7, random.integers(1, 5), replace=False).tolist())
        met = {k: int(random.integers(1, 9)) for k in range(n_labels)}
        P_of = {k: random.random(M).tolist() for k in range(n_labels)}
        before = {k: met[k] - (k in own) for k in met}
        C = sum(met.values())
        P = [sum(before[k] * P_of[k][m] for k in met) / max(1, C - len(own)) for m in range(M)]
        lambdas = random.choice([0.5, 1.0, 2.0, 4.0], 2).tolist()
        label_sums = np.array([[before[k] * P_of[k][m] for m in range(M)] for k in range(n_labels)]).ravel()
        found = choose_directions(
            np.array(P) * (C - len(own)), C, label_sums, np.array(own, np.uint32), 0, len(own), *lambdas,
            np.empty(3 * M * M),
        )  # fmt: skip
        assert found == naive.ldsm.ldsm_directions(P, P_of, C, met, own, *lambdas)


@pytest.mark.parametrize("optimizer", ["nag", "sgd"])
@pytest.mark.parametrize("M, extra", [(2, (0.0, 0.0)), (3, (0.0, 0.0)), (2, (0.3, 0.01))])
def test_a_node_is_trained_as_the_paper_says(optimizer, M, extra):
    X, rows, labels = rows_and_labels(seed=M)
    node, kept, kept_labels = in_float64(X, labels)
    trace = np.empty((4, 4))
    weights, sums, label_sums, counts, _ = kernels.train_node(
        *node,
        M,
        4,
        0.3,
        2.0,
        1.0,
        0.05,
        {"nag": kernels.NAG, "sgd": kernels.SGD}[optimizer],
        11,
        3,
        *extra,
        trace,
        GO_ON,
    )
    regressors, P, P_of, C, met, _, expected = naive.ldsm.ldsm_train_node(
        rows, labels, M, 4, 0.3, (2.0, 1.0), 0.05, optimizer, naive.rng.stream(11, 3), *extra
    )
    twin = [regressors.weights[f] for f in [*kept.tolist(), "bias"]]
    np.testing.assert_allclose(weights.reshape(-1, M), twin, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(sums / counts.sum(), P, rtol=1e-9)
    for i, k in enumerate(kept_labels.tolist()):
        assert counts[i] == met[k]
        np.testing.assert_allclose(label_sums[M * i : M * i + M] / counts[i], P_of[k], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(trace, expected, rtol=1e-8, atol=1e-10)
    assert counts.sum() == C


def shares_of(sent, labels, M):
    """P_j, P_j^i and pi of a split: ``sent[i]`` are the children of row i."""
    C = sum(map(len, labels))
    met = {k: sum(k in own for own in labels) for k in {k for own in labels for k in own}}
    P = [sum(len(own) for to, own in zip(sent, labels) if j in to) / C for j in range(M)]
    P_of = {k: [sum(k in own and j in to for to, own in zip(sent, labels)) / met[k] for j in range(M)] for k in met}
    return P, P_of, {k: met[k] / C for k in met}


def objective_of(sent, labels, M, lambdas):
    P, P_of, pi = shares_of(sent, labels, M)
    C, names = sum(map(len, labels)), sorted(pi)
    counts = np.array([round(pi[k] * C) for k in names])
    out = np.empty(4)
    label_sums = np.array([[P_of[k][j] * count for j in range(M)] for k, count in zip(names, counts)]).ravel()
    kernels.objective(np.array(P) * C, C, label_sums, counts, *lambdas, out)
    np.testing.assert_allclose(out, naive.ldsm.ldsm_objective(P, P_of, pi, *lambdas), atol=1e-12)
    return out[0]


@pytest.mark.parametrize("M, lambdas", [(2, (1.0, 1.0)), (2, (4.0, 0.5)), (3, (2.0, 1.0)), (4, (1.0, 2.0))])
def test_the_objective_stays_within_its_bounds(M, lambdas):
    """Lemmas 1 and 2."""
    integrity, multiway = lambdas
    assert M - 3 < multiway / integrity
    random = np.random.default_rng(0)
    for _ in range(300):
        labels = [random.choice(5, random.integers(1, 4), replace=False).tolist() for _ in range(8)]
        sent = [random.choice(M, random.integers(1, M + 1), replace=False).tolist() for _ in range(8)]
        J = objective_of(sent, labels, M, lambdas)
        assert -integrity * (M - 1) - 1e-12 <= J <= multiway * (M - 1) + 1e-12
    assert objective_of([list(range(M))] * 8, labels, M, lambdas) == pytest.approx(multiway * (M - 1))


def test_the_objective_is_least_exactly_where_the_split_is_balanced_and_pure():
    """Lemma 1, over all splits of four rows with a label each, two of each label."""
    labels, best = [[0], [0], [1], [1]], []
    ways = [[0], [1], [0, 1]]
    values = {
        sent: objective_of([ways[s] for s in sent], labels, 2, (1.0, 1.0))
        for sent in itertools.product(range(3), repeat=4)
    }
    best = {sent for sent, J in values.items() if J == pytest.approx(-1.0)}
    assert best == {(0, 0, 1, 1), (1, 1, 0, 0)} and min(values.values()) == pytest.approx(-1.0)


@pytest.mark.parametrize("M, optimizer", [(2, "nag"), (3, "nag"), (4, "nag"), (2, "sgd"), (3, "sgd")])
def test_trees_are_those_of_the_paper(M, optimizer):
    X, rows, labels = rows_and_labels(n=60, seed=20 + M)
    rows = [{f: float(np.float32(v)) for f, v in row.items()} for row in rows]
    model = LdSM(
        arity=M, max_nodes=25, n_epochs=5, n_estimators=2, learning_rate=0.5, integrity_weight=1.0, random_state=1,
        optimizer=optimizer,
    )  # fmt: skip
    model.fit(X, labels)
    column_of = {int(f): c for c, f in enumerate(model.feature_of_column_)}
    rows = [{column_of[f]: v for f, v in row.items()} for row in rows]
    for tree, seed in zip(model.trees_, model._seeds(2)):
        grown = naive.ldsm.ldsm_grow(rows, labels, 12, M, 25, 5, 0.5, (1.0, 1.0), seed, optimizer)
        parent, first_child, rows_of, _, stats = grown
        assert tree.parent.tolist() == parent
        assert tree.n_samples.tolist() == [len(own) for own in rows_of]
        for v, first in enumerate(first_child):
            assert tree.children[v].tolist() == ([-1] * M if first < 0 else list(range(first, first + M)))
            parts = [tree.objective[v], tree.balance[v], tree.integrity[v], tree.multiway[v]]
            np.testing.assert_allclose(parts, stats.get(v, [np.nan] * 4), atol=1e-9)


def test_predictions_are_means_of_the_leaves_histograms():
    X, rows, labels = rows_and_labels(n=60, seed=5)
    model = small_model().fit(X, labels)
    column_of = {int(f): c for c, f in enumerate(model.feature_of_column_)}
    rows = [{column_of[f]: float(np.float32(v)) for f, v in row.items()} for row in rows]
    trees = [naive.ldsm.ldsm_grow(rows, labels, 12, 2, 25, 5, 0.5, (1.0, 1.0), seed) for seed in model._seeds(3)]
    leaves = model.apply(X)
    found, proba = model.predict_topk(X, 6), model.predict_proba(X).toarray()
    for i, row in enumerate(rows):
        expected, probability = np.zeros(6), np.zeros(6)
        for t, tree in enumerate(trees):
            assert sorted(leaves.of(i, t).tolist()) == sorted(naive.ldsm.ldsm_leaves(tree, row, 2))
            for label, share in naive.ldsm.ldsm_shares(tree, labels, row, 2).items():
                expected[label] += share / 3
            for label, share in naive.ldsm.ldsm_shares(tree, labels, row, 2, of_rows=True).items():
                probability[label] += share / 3
        np.testing.assert_allclose(proba[i], probability, atol=1e-6)
        np.testing.assert_allclose(found.scores[i], sorted(expected, reverse=True), atol=1e-6)
        order = sorted(range(6), key=lambda j: (-np.float32(expected[j]), j))
        positive = [j for j in order if expected[j] > 0]
        assert found.labels[i].tolist() == positive + [-1] * (6 - len(positive))


# The estimator --------------------------------------------------------------------------------------------------------


def small_data(seed=5, n=60):
    X, _, labels = rows_and_labels(n=n, seed=seed)
    return X, labels


def small_model(**params):
    """Class integrity counts no more than balance, or few rows with many labels would all go one way."""
    small = {"max_nodes": 25, "n_epochs": 5, "n_estimators": 3, "learning_rate": 0.5, "integrity_weight": 1.0}
    return LdSM(**small | params)


def as_matrix(ranking, n_labels=6):
    scores = np.zeros((ranking.labels.shape[0], n_labels), np.float32)
    for i, (labels, found) in enumerate(zip(*ranking)):
        scores[i, labels[labels >= 0]] = found[labels >= 0]
    return sp.csr_array(scores)


def assert_same_model(one, two, X):
    for a, b in zip(one.trees_, two.trees_, strict=True):
        for name in a._fields:
            x, y = getattr(a, name), getattr(b, name)
            if name == "histograms":
                assert (x != y).nnz == 0 and x.shape == y.shape
            else:
                np.testing.assert_array_equal(x, y, err_msg=name)
                assert x.dtype == y.dtype
    for a, b in zip(one.predict_topk(X, 4), two.predict_topk(X, 4)):
        np.testing.assert_array_equal(a, b)
    assert (one.predict_proba(X) != two.predict_proba(X)).nnz == 0


@pytest.mark.parametrize("params", [{}, {"optimizer": "sgd"}, {"rerank_beta": 0.5, "rerank_space": "idf", "arity": 3}])
def test_same_seed_same_model_for_1_2_and_4_workers(params):
    X, labels = small_data()
    models = [small_model(n_jobs=n_jobs, **params).fit(X, labels) for n_jobs in (1, 2, 4)]
    assert_same_model(models[0], models[1], X)
    assert_same_model(models[0], models[2], X)


def test_trees_of_an_ensemble_differ_and_another_seed_is_another_model():
    X, labels = small_data()
    one, two = (small_model(random_state=s).fit(X, labels).trees_ for s in (0, 1))
    roots = [tree.histograms[[1]].toarray().tolist() for tree in (*one, *two)]
    assert len({str(root) for root in roots}) > 1 and not np.array_equal(one[0].objective, two[0].objective)


@pytest.mark.parametrize("M", [2, 3, 4])
def test_a_batch_is_predicted_as_its_rows_are_one_by_one(M, monkeypatch):
    """However many rows are at a node: its weights are laid out by column or searched, with the same sums."""
    X, labels = small_data(n=300)
    model = small_model(arity=M, max_nodes=60).fit(X, labels)
    proba = model.predict_proba(X)
    one_by_one = [model.predict_proba(X[[i]]).toarray()[0] for i in range(40)]
    np.testing.assert_array_equal(proba.toarray()[:40], one_by_one)
    monkeypatch.setattr(ldsm, "PREDICT_ROWS", 7)
    np.testing.assert_array_equal(proba.toarray(), model.predict_proba(X).toarray())


@pytest.mark.parametrize("M", [2, 3])
def test_a_prefix_predicts_as_a_model_of_that_size_would(M):
    X, labels = small_data()
    large = small_model(arity=M, n_estimators=4).fit(X, labels)
    for n_trees, max_nodes in ((1, 25), (3, 9), (4, 1), (2, 12)):
        model = small_model(arity=M, n_estimators=n_trees, max_nodes=max_nodes).fit(X, labels)
        for a, b in zip(model.predict_topk(X, 6), large.predict_topk(X, 6, n_trees=n_trees, max_nodes=max_nodes)):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("space", ["raw", "idf"])
def test_reranking_mixes_shares_with_nearness_to_the_labels_mean(space, monkeypatch):
    X, rows, labels = rows_and_labels(n=60, seed=8)
    plain = small_model().fit(X, labels)
    model = small_model(rerank_beta=0.3, rerank_gamma=0.7, rerank_space=space).fit(X, labels)
    if space == "idf":
        met = np.bincount(X.indices, minlength=12)
        rows = naive.ldsm.ldsm_idf_unit(rows, 1 + np.log((1 + 60) / (1 + met)))
    means = naive.ldsm.ldsm_means(rows, labels)
    if space == "idf":
        means = dict(zip(means, naive.ldsm.ldsm_idf_unit(means.values(), np.ones(12))))
    shares, scores = as_matrix(plain.predict_topk(X, 6)), as_matrix(model.predict_topk(X, 6))
    assert (plain.predict_proba(X) != model.predict_proba(X)).nnz == 0
    for i, row in enumerate(rows):
        own = dict(zip(shares[[i]].indices.tolist(), shares[[i]].data.tolist()))
        expected = naive.ldsm.ldsm_rerank(own, row, means, 0.3, 0.7)
        found = dict(zip(scores[[i]].indices.tolist(), scores[[i]].data.tolist()))
        assert found == pytest.approx(expected, abs=1e-5)


def test_nearness_is_the_same_whether_a_mean_is_searched_or_gone_through():
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


def test_dense_data_is_learnt_by_sgd_on_standardised_features_unless_told_otherwise():
    random = np.random.default_rng(3)
    X = random.normal(5, [1, 10, 100], (80, 3))
    labels = [[int(x > 5), 2 + int(y > 5)] for x, y, _ in X]
    model = LdSM(n_estimators=5, max_nodes=31, integrity_weight=1.0).fit(X, labels)
    assert model.optimizer_ == "sgd"
    assert metrics.precision_at_k(check_labels(labels), model.predict_topk(X, 2), 2)[1] > 0.9
    assert LdSM(n_estimators=1, optimizer="nag").fit(X, labels).optimizer_ == "nag"
    assert LdSM(n_estimators=1).fit(sp.csr_array(X * (random.random(X.shape) < 0.3)), labels).optimizer_ == "nag"


def test_sgd_does_not_see_units_of_features():
    """Means and scales are a node's own, so shifting and stretching a feature changes nothing but round-off."""
    random = np.random.default_rng(4)
    X = random.normal(size=(60, 4))
    labels = [[int(a > 0) * 2 + int(b > 0)] for a, b, *_ in X]
    one = LdSM(n_estimators=2, max_nodes=15, learning_rate=0.02).fit(X, labels)
    two = LdSM(n_estimators=2, max_nodes=15, learning_rate=0.02).fit(X * [4.0, 0.5, 1, 2] + [8.0, 0, 16, 1], labels)
    for a, b in zip(one.trees_, two.trees_):
        np.testing.assert_array_equal(a.n_samples, b.n_samples)


def test_rows_without_labels_are_left_out_with_a_note():
    X, labels = small_data()
    with pytest.warns(UserWarning, match="2 of 62 training rows have no label and are left out"):
        model = small_model().fit(sp.vstack([X[[0]], X, X[[1]]], format="csr"), [[], *labels, []])
    assert model.n_unlabelled_ == 2
    assert_same_model(model, small_model().fit(X, labels), X)
    with pytest.raises(ValueError, match="no row of Y has a label"):
        small_model().fit(X, sp.csr_array((60, 3), dtype=bool))


def test_a_split_that_sends_all_rows_one_way_is_undone_and_said():
    X = np.ones((40, 1))
    with pytest.warns(UserWarning, match="3 splits were undone.*100% of the rows.*n_attempts=5"):
        model = small_model(optimizer="nag", integrity_weight=2.0).fit(X, [[i % 4] for i in range(40)])
    assert all(tree.parent.tolist() == [-1] and tree.trace.size == 0 for tree in model.trees_)
    np.testing.assert_allclose(model.predict_proba(X[:1]).toarray(), [[0.25] * 4])


def test_further_attempts_split_with_less_weight_of_class_integrity():
    """Twenty classes, one per row: with the paper's weight of 2 a label's rows follow each other all one way."""
    random = np.random.default_rng(0)
    X = sp.csr_array((random.random((400, 20)) < 0.1) + np.repeat(np.eye(20), 20, axis=0))
    labels = [[i // 20] for i in range(400)]
    params = {"n_estimators": 8, "max_nodes": 39, "optimizer": "nag", "n_epochs": 10}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        once = LdSM(**params).fit(X, labels)
    again = LdSM(**params, n_attempts=5).fit(X, labels)
    sizes = [np.array([tree.parent.size for tree in model.trees_]) for model in (once, again)]
    assert sizes[0].min() < 39 and (sizes[1] == 39).all()
    for one, two in zip(once.trees_, again.trees_):  # where the first attempt was good, there is no other
        if one.parent.size > 1:
            assert one.objective[0] == two.objective[0] and (one.trace[0] == two.trace[0]).all()
    for tree in again.trees_:  # J is told with the model's weights, whatever an attempt had
        inner = tree.inner
        np.testing.assert_allclose(tree.objective[inner], (tree.balance - 2 * tree.integrity + tree.multiway)[inner])
        np.testing.assert_allclose(
            tree.trace[..., 0], tree.trace[..., 1] - 2 * tree.trace[..., 2] + tree.trace[..., 3], atol=1e-5
        )


def test_nodes_of_one_label_are_not_split():
    X, _ = small_data()
    model = small_model().fit(X, [[2]] * 60)
    assert all(tree.parent.size == 1 for tree in model.trees_)
    assert model.predict_topk(X[:1], 3).labels.tolist() == [[2, -1, -1]]


def test_no_rows_and_rows_without_features_are_predicted():
    X, labels = small_data()
    model = small_model().fit(X, labels)
    assert model.predict_topk(X[:0], 3).labels.shape == (0, 3) and model.predict_proba(X[:0]).shape == (0, 6)
    assert model.apply(X[:0]).nodes.size == 0
    found = model.predict_topk(sp.csr_array((2, 12)), 9)
    assert (found.labels[0] == found.labels[1]).all() and found.labels[0, 0] >= 0 and found.labels[0, -1] == -1
    assert model.predict(X).dtype == bool
    with pytest.raises(ValueError, match="12"):
        model.predict_topk(np.ones((1, 13)))


def test_shares_sum_to_one_and_probabilities_to_the_labels_of_a_row():
    X, labels = small_data()
    model = small_model().fit(X, labels)
    np.testing.assert_allclose(model.predict_topk(X, 6).scores.sum(axis=1), 1, atol=1e-5)
    together = small_model().fit(X, [[0, 1, 2]] * 60)
    assert together.predict(X[:1]).toarray().tolist() == [[True] * 3]
    assert together.predict_topk(X[:1], 3).scores == pytest.approx(1 / 3)


def test_few_rows_at_a_time_are_predicted_as_all(monkeypatch):
    """Shares of many labels are not held for all rows of a block."""
    X, labels = small_data()
    for params in ({}, {"rerank_beta": 0.5, "rerank_space": "idf"}):
        model = small_model(**params).fit(X, labels)
        found, proba = model.predict_topk(X, 4), model.predict_proba(X)
        with monkeypatch.context() as patch:
            patch.setattr(ldsm, "AT_ONCE", 11)
            for a, b in zip(found, model.predict_topk(X, 4)):
                np.testing.assert_array_equal(a, b)
            assert (proba != model.predict_proba(X)).nnz == 0


def test_the_size_of_features_does_not_matter_to_nag():
    """Weights of large features are small, and not dropped for it."""
    X, labels = small_data()
    X = sp.csr_array(abs(X))
    one, two = (small_model(optimizer="nag").fit(X * factor, labels) for factor in (1.0, 1024.0))
    assert [tree.n_samples.size for tree in one.trees_] == [tree.n_samples.size for tree in two.trees_]
    assert max(tree.n_samples.size for tree in two.trees_) > 5


def test_more_dense_rows_than_memory_are_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(ldsm, "MOST_DENSE", 1000)
    with pytest.raises(ValueError, match="60 rows x 12 features.*use optimizer='nag'"):
        small_model(optimizer="sgd").fit(*small_data())


def test_what_a_tree_tells_of_its_nodes_fits_together():
    X, labels = small_data()
    model = small_model(arity=3, max_nodes=40).fit(X, labels)
    Y = check_labels(labels)
    leaves = model.apply(X)
    for t, tree in enumerate(model.trees_):
        inner = np.flatnonzero(tree.children[:, 0] >= 0)
        np.testing.assert_array_equal(inner, tree.inner)
        assert (tree.parent[tree.children[inner]] == inner[:, None]).all()
        assert (tree.depth[1:] == tree.depth[tree.parent[1:]] + 1).all() and tree.depth[0] == 0
        np.testing.assert_array_equal(np.isnan(tree.objective), tree.children[:, 0] < 0)
        np.testing.assert_allclose(
            tree.objective[inner], (tree.balance - tree.integrity + tree.multiway)[inner], atol=1e-12
        )
        np.testing.assert_allclose(
            tree.trace[..., 0], tree.trace[..., 1] - tree.trace[..., 2] + tree.trace[..., 3], atol=1e-5
        )
        reached = np.zeros(tree.parent.size, int)
        hist = np.zeros((tree.parent.size, 6), int)
        for i in range(60):
            for v in leaves.of(i, t):
                reached[v] += 1
                hist[v] += Y[[i]].toarray()[0]
        outer = np.flatnonzero(tree.children[:, 0] < 0)
        np.testing.assert_array_equal(reached[outer], tree.n_samples[outer])
        np.testing.assert_array_equal(hist[outer], tree.histograms.toarray()[outer])


# Saving ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"max_nodes": 1},
        {"optimizer": "sgd", "arity": 4},
        {"rerank_beta": 0.5},
        {"rerank_beta": 0.5, "rerank_space": "idf"},
    ],
)
def test_a_saved_model_is_the_same_when_it_is_read(params, tmp_path):
    X, labels = small_data()
    model = small_model(**params).fit(X, labels)
    model.set_params(rerank_gamma=7.0)  # which is of the next fit
    again = load_model(model.save(tmp_path / "model"))
    assert again.get_params() == model.get_params() and again.optimizer_ == model.optimizer_
    assert again.size() == model.size()
    assert_same_model(model, again, X)


def _set(name, at, value):
    def harm(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][at] = value

    return harm


def _cut(name):
    def harm(arrays):
        arrays[name] = arrays[name][:-1]

    return harm


@pytest.mark.parametrize(
    "harm",
    [
        _set("first_child", 0, 10**6),
        _set("first_child", 0, 0),
        _set("first_child", 0, -2),
        _set("root", -1, 10**6),
        _set("root", 1, 0),
        _set("columns", 0, 10**6),
        _set("columns", 0, -1),
        _set("column_ptr", 1, -5),
        _set("column_ptr", -1, 10**9),
        _set("hist_labels", 0, 6),
        _set("hist_labels", 1, 0),
        _set("hist_counts", 0, 0),
        _set("hist_ptr", 1, 0),
        _set("weights", 0, np.nan),
        _set("bias", 1, np.inf),
        _set("mean_columns", 0, 12),
        _set("mean_values", 0, np.nan),
        _set("mean_weights", 0, np.inf),
        _cut("first_child"),
        _cut("weights"),
        _cut("bias"),
        _cut("trace"),
        _cut("parts"),
        _cut("n_samples"),
        _cut("mean_ptr"),
        _cut("mean_weights"),
        _cut("hist_counts"),
        lambda arrays: arrays.pop("hist_ptr"),
        lambda arrays: arrays.update(mean_values=arrays["mean_values"][:, None]),
        lambda arrays: arrays.update(mean_ptr=arrays["mean_ptr"].astype(float)),
        lambda arrays: arrays.update(columns=arrays["columns"].astype(np.int64)),
    ],
)  # fmt: skip
def test_a_damaged_model_is_refused(harm, tmp_path):
    X, labels = small_data()
    folder = small_model(rerank_beta=0.5, rerank_space="idf").fit(X, labels).save(tmp_path / "model")
    with np.load(folder / "arrays.npz") as stored:
        arrays = dict(stored)
    harm(arrays)
    np.savez(folder / "arrays.npz", **arrays)
    with pytest.raises(ModelFormatError):
        load_model(folder)


@pytest.mark.parametrize(
    "params, message",
    [
        ({"arity": 1}, "arity"),
        ({"arity": 9}, "arity must be at most 8, not 9"),
        ({"max_nodes": 0}, "max_nodes"),
        ({"n_epochs": 0}, "n_epochs"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"optimizer": "adam"}, "optimizer must be one of auto, nag, sgd, not 'adam'"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"learning_rate": "fast"}, "learning_rate must be a number"),
        ({"integrity_weight": -1}, "integrity_weight"),
        ({"rerank_beta": 1.5}, "rerank_beta must be from 0 to 1"),
        ({"rerank_space": "tf"}, "rerank_space must be one of raw, idf"),
        ({"min_error": 0.7}, "min_error"),
        ({"weight_decay": 1}, "weight_decay"),
        ({"n_attempts": 0}, "n_attempts"),
        ({"random_state": -1}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises((ValueError, TypeError), match=message):
        small_model(**params).fit(*small_data())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_stopping_keeps_the_old_model(n_jobs):
    X, labels = small_data()
    model = small_model(n_jobs=n_jobs).fit(X, labels)
    before = model.predict_topk(X, 3)

    class Stop(Exception):
        pass

    def stop(phase, fraction, detail=""):
        assert phase == "Growing trees" and 0 <= fraction <= 1
        if fraction > 0.2:
            raise Stop

    with pytest.raises(Stop):
        model.set_params(random_state=9).fit(X, labels, progress=stop)
    np.testing.assert_array_equal(before.labels, model.predict_topk(X, 3).labels)


def test_progress_rises_to_the_end():
    said = []
    small_model(n_jobs=2).fit(
        *small_data(), progress=lambda phase, fraction, detail="": said.append((fraction, detail))
    )
    fractions = [fraction for fraction, _ in said]
    assert fractions == sorted(fractions) and fractions[-1] == 1 and said[-1][1] == "3 of 3 trees"


def test_features_too_small_for_float32_are_refused_with_what_to_do():
    X = np.random.default_rng(0).normal(size=(60, 4)) * 1e-43
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="scale the features, or use optimizer"):
        small_model(optimizer="sgd").fit(X, small_data()[1])


@pytest.mark.real_data
@pytest.mark.parametrize("name, figures", [("bibtex", (58.3, 34.4, 25.7)), ("delicious", (67.9, 61.5, 56.4))])
def test_precision_is_the_published_programs(name, figures, real_data):
    """One seed here, three in the benchmark: hence a point of room for P@1, half a point for the others."""
    from xmlcore.datasets import read_dataset

    data = read_dataset(real_data / name / "train.txt.gz", real_data / name / "test.txt.gz", name=name)
    ranking = LdSM().fit(data.X_train, data.Y_train).predict_topk(data.X_test, 5)
    found = 100 * metrics.precision_at_k(data.Y_test, ranking, 5)[[0, 2, 4]]
    assert (found >= np.array(figures) - [1.0, 0.5, 0.5]).all(), found
