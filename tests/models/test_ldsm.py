"""LdSM does what the paper's algorithms do, line by line, and what its lemmas say."""

import itertools

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit

from xmlcore import LdSM
from xmlcore._kernels import ldsm as kernels
from xmlcore._kernels import rng
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


@njit
def choose_directions(sums, total, label_sums, labels, start, end, integrity_weight, multiway_weight, table):
    return kernels.choose_directions(
        sums, total, label_sums, labels, start, end, integrity_weight, multiway_weight, table
    )


def test_uniform_numbers_are_the_documented_generator():
    state = np.uint64(rng.stream(5, 7))
    expected = naive.stream(5, 7)
    for _ in range(50):
        state, drawn = rng.uniform(np.uint64(state))
        expected, twin = naive.uniform(expected)
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
        assert found == naive.ldsm_directions(P, P_of, C, met, own, *lambdas)


@pytest.mark.parametrize("optimizer", ["nag", "sgd"])
@pytest.mark.parametrize("M, extra", [(2, (0.0, 0.0)), (3, (0.0, 0.0)), (2, (0.3, 0.01))])
def test_a_node_is_trained_as_the_paper_says(optimizer, M, extra):
    X, rows, labels = rows_and_labels(seed=M)
    node, kept, kept_labels = in_float64(X, labels)
    trace = np.empty((4, 4))
    weights, sums, label_sums, counts = kernels.train_node(
        *node, M, 4, 0.3, 2.0, 1.0, 0.05, {"nag": kernels.NAG, "sgd": kernels.SGD}[optimizer], 11, 3, *extra, trace
    )
    regressors, P, P_of, C, met, _, expected = naive.ldsm_train_node(
        rows, labels, M, 4, 0.3, (2.0, 1.0), 0.05, optimizer, naive.stream(11, 3), *extra
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
    np.testing.assert_allclose(out, naive.ldsm_objective(P, P_of, pi, *lambdas), atol=1e-12)
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


@pytest.mark.parametrize("M", [2, 3])
def test_trees_are_those_of_the_paper(M):
    X, rows, labels = rows_and_labels(n=60, seed=20 + M)
    rows = [{f: float(np.float32(v)) for f, v in row.items()} for row in rows]
    model = LdSM(arity=M, max_nodes=25, n_epochs=5, n_estimators=2, learning_rate=0.5, random_state=1, n_jobs=1)
    model.fit(X, labels)
    column_of = {int(f): c for c, f in enumerate(model.feature_of_column_)}
    rows = [{column_of[f]: v for f, v in row.items()} for row in rows]
    for tree, seed in zip(model.trees_, model._seeds(2)):
        grown = naive.ldsm_grow(rows, labels, 12, M, 25, 5, 0.5, (2.0, 1.0), seed)
        parent, first_child, rows_of, _, stats = grown
        assert tree.parent.tolist() == parent
        assert tree.n_samples.tolist() == [len(own) for own in rows_of]
        for v, first in enumerate(first_child):
            assert tree.children[v].tolist() == ([-1] * M if first < 0 else list(range(first, first + M)))
            parts = [tree.objective[v], tree.balance[v], tree.integrity[v], tree.multiway[v]]
            np.testing.assert_allclose(parts, stats.get(v, [np.nan] * 4), atol=1e-9)


def test_predictions_are_means_of_the_leaves_histograms():
    X, rows, labels = rows_and_labels(n=60, seed=5)
    model = LdSM(max_nodes=25, n_epochs=5, n_estimators=3, learning_rate=0.5, n_jobs=1).fit(X, labels)
    column_of = {int(f): c for c, f in enumerate(model.feature_of_column_)}
    rows = [{column_of[f]: float(np.float32(v)) for f, v in row.items()} for row in rows]
    trees = [naive.ldsm_grow(rows, labels, 12, 2, 25, 5, 0.5, (2.0, 1.0), seed) for seed in model._seeds(3)]
    leaves = model.apply(X)
    found, proba = model.predict_topk(X, 6), model.predict_proba(X).toarray()
    for i, row in enumerate(rows):
        expected = np.zeros(6)
        for t, tree in enumerate(trees):
            assert sorted(leaves.of(i, t).tolist()) == sorted(naive.ldsm_leaves(tree, row, 2))
            for label, share in naive.ldsm_shares(tree, labels, row, 2).items():
                expected[label] += share / 3
        np.testing.assert_allclose(proba[i], expected, atol=1e-6)
        order = sorted(range(6), key=lambda j: (-np.float32(expected[j]), j))
        positive = [j for j in order if expected[j] > 0]
        assert found.labels[i].tolist() == positive + [-1] * (6 - len(positive))
