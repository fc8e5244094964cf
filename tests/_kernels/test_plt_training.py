"""Training of the nodes of label trees does what its plain-Python twins do."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from _kernels.plt_problems import compiled, sparse_rows

from xmlcore._kernels import plt_clusters, plt_newton, plt_training, plt_tree
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.models.plt.building import build_tree
from xmlcore.validation import check_labels, csr_parts


def test_gather_rows_keeps_the_features_that_occur():
    X = sparse_rows(20, 40, 1, density=0.05)
    rows = np.array([2, 3, 11, 19], np.int32)
    features, (indptr, indices, data, squares) = plt_training.gather_rows(*csr_parts(X), rows, 40)
    expected_features, expected = naive.plt_training.gather_rows(X.toarray(), rows)
    assert features.tolist() == expected_features
    np.testing.assert_array_equal(sp.csr_array((data, indices, indptr), shape=(4, features.size)).toarray(), expected)
    np.testing.assert_allclose(squares, 1 + (expected**2).sum(axis=1), rtol=1e-6)


def problem(n, n_columns, seed, n_children, share=0.3, drawn=0, density=0.4):
    """Rows of length 1, and which of the children each goes to."""
    X = sparse_rows(n, n_columns, seed, density)
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    return X, np.random.default_rng(drawn).random((n, n_children)) < share


def trained(X, targets, loss, C, tol, max_epochs, seed=9, number=3, weights=None, boosts=()):
    m, n = targets.shape
    rows = np.arange(m, dtype=np.int32)
    children = [np.flatnonzero(column).astype(np.int32) for column in targets.T]
    rows_ptr = np.concatenate([[0], np.cumsum([c.size for c in children])]).astype(np.int64)
    features, local = plt_training.gather_rows(*csr_parts(X), rows, X.shape[1])
    under = plt_training.NodeRows(rows_ptr, np.concatenate(children), np.array(boosts, np.float32))
    weights = np.ones(m) if weights is None else weights
    settings = plt_training.DescentSettings(
        LOSS_NUMBERS[loss], np.float32(C), np.float32(tol), max_epochs, np.float32(0), seed
    )
    mirrored = n == 2 and bool((targets.sum(axis=1) == 1).all()) and not len(boosts)
    found = plt_training.train_siblings(
        local, weights.astype(np.float32), features.size, rows, under, np.arange(n), mirrored, settings, number
    )  # fmt: skip
    return features, found


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0, 300.0])
@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
@pytest.mark.parametrize("n_children", [1, 2, 3, 20])
def test_siblings_train_as_their_twin(loss, C, n_children):
    X, targets = problem(30, 12, n_children, n_children)
    if n_children == 2:
        targets[:, 1] = ~targets[:, 0]  # mirror images
    never = -1.0  # a tolerance that nothing reaches: no row rests, which rounding would decide
    features, (weights, epochs, violation) = trained(X, targets, loss, C, never, 5)
    expected, _, worst = naive.plt_training.train_siblings(
        X.toarray()[:, features], targets.astype(float), loss, C, never, 5, 9, 3
    )
    assert epochs == 5
    near = 2e-4 if n_children <= 2 else 2e-3  # both stop near a row's root, not always after as many steps
    np.testing.assert_allclose(weights, expected, atol=near * max(10, C))
    assert violation == pytest.approx(worst, abs=1e-3)


@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
@pytest.mark.parametrize("n_children", [1, 2, 20])
def test_weights_of_rows_and_of_children_train_as_the_twin(loss, n_children):
    (X, targets), rng = problem(30, 12, n_children, n_children), np.random.default_rng(1)
    if n_children == 2:
        targets[:, 1] = ~targets[:, 0]  # would be mirror images, but for their weights
    weights, boosts = rng.integers(1, 4, 30).astype(float), rng.choice([0.5, 1.0, 2.0], n_children)
    boosts[0] = 3.0
    features, (found, _, violation) = trained(X, targets, loss, 1.0, -1.0, 5, weights=weights, boosts=boosts)
    C = weights[:, None] * np.where(targets, boosts, 1.0)
    expected, _, worst = naive.plt_training.train_siblings(
        X.toarray()[:, features], targets.astype(float), loss, C, -1.0, 5, 9, 3
    )
    np.testing.assert_allclose(found, expected, atol=0.02)
    assert violation == pytest.approx(worst, abs=1e-2)
    _, (plain, *_) = trained(X, targets, loss, 1.0, -1.0, 5)
    assert np.abs(found - plain).max() > 0.2
    if n_children != 2:  # mirror images are trained as one
        _, (same, *_) = trained(X, targets, loss, 1.0, -1.0, 5, boosts=np.ones(n_children))
        np.testing.assert_array_equal(same, plain)


@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
@pytest.mark.parametrize("n_children", [1, 5])
def test_siblings_stop_at_the_tolerance_and_skip_rows_on_the_way(loss, n_children):
    X, _ = problem(40, 12, 0, n_children)
    targets = np.arange(40).reshape(-1, 1) % (3 + np.arange(n_children)) == 0
    features, (weights, epochs, violation) = trained(X, targets, loss, 10.0, 0.02, 500, 1, 1)
    expected, visited, _ = naive.plt_training.train_siblings(
        X.toarray()[:, features], targets.astype(float), loss, 10.0, 0.02, 500, 1, 1
    )
    assert violation <= 0.02
    assert 1 < epochs < 500
    assert epochs == pytest.approx(visited, rel=0.2)  # float32 and float64 may disagree on who rests
    np.testing.assert_allclose(weights, expected, atol=0.2)


CASES = [(problem(200, 30, 5, 7, 0.3, 2, 0.2), 1.0, 1e-4)]
# 1e-6 is about what float32 can tell apart: a few rows stay further away
CASES += [(problem(30, 5, seed, n, 0.4, seed, 0.5), 10.0, 1e-6) for seed in range(6) for n in (1, 3)]


@pytest.mark.parametrize("rows, C, tol", CASES)
def test_skipping_rows_ends_as_near_to_the_optimum(rows, C, tol):
    _, (found, *_) = trained(*rows, "squared_hinge", C, tol, 3000)
    _, (every, *_) = trained(*rows, "squared_hinge", C, -1.0, 3000)  # never reached: nothing rests
    np.testing.assert_allclose(found, every, atol=2e-3)


@pytest.mark.parametrize("max_epochs", range(1, 30))
def test_a_descent_cut_short_reports_no_convergence(max_epochs):
    X, targets = problem(60, 12, 1, 2, 0.4, 4)
    _, (weights, epochs, violation) = trained(X, targets, "logistic", 100.0, 0.2, max_epochs)
    _, (finished, enough, _) = trained(X, targets, "logistic", 100.0, 0.2, 1000)
    assert epochs <= max_epochs
    if max_epochs >= enough:
        np.testing.assert_array_equal(weights, finished)
        assert violation <= 0.2
    elif not np.array_equal(weights, finished):
        assert violation > 0.2


def test_an_empty_lane_changes_nothing():
    X, targets = problem(30, 12, 4, 16)
    targets[:, 3:] = targets[:, :1]
    for loss in LOSS_NUMBERS:
        _, (three, epochs, _) = trained(X, targets[:, :3], loss, 1.0, 1e-3, 200)
        _, (sixteen_, same, _) = trained(X, targets, loss, 1.0, 1e-3, 200)
        assert epochs == same
        np.testing.assert_array_equal(three, sixteen_[:, :3])


def unpacked(pruned, places, size):
    kept, ptr, child, value = pruned
    if ptr.size:
        return {
            int(f): dict(zip(child[ptr[g] : ptr[g + 1]].tolist(), value[ptr[g] : ptr[g + 1]]))
            for g, f in enumerate(kept)
        }
    rows = value.reshape(kept.size, plt_tree.padded_size(size))
    return {int(f): {int(c): w for c, w in zip(places, row[places]) if w} for f, row in zip(kept, rows)}


@pytest.mark.parametrize("size, stored", [(2, "dense"), (17, "sparse")])
def test_prune_keeps_weights_at_the_threshold(size, stored):
    weights = np.array([[0.1, -0.05], [0.0, 0.0], [-0.3, 0.2], [9.0, 9.0]], np.float32)
    places = np.array([0, size - 1])
    pruned = plt_training.prune(weights, np.array([4, 5, 9], np.int32), np.float32(0.1), places, size)
    assert (pruned[1].size > 0) == (stored == "sparse")
    by_column = naive.plt_training.prune(weights, [4, 5, 9], np.float32(0.1))
    assert by_column == {4: {0: np.float32(0.1)}, 9: {0: np.float32(-0.3), 1: np.float32(0.2)}}
    assert unpacked(pruned, places, size) == {
        f: {int(places[c]): w for c, w in row.items()} for f, row in by_column.items()
    }
    all_but_zeros = plt_training.prune(weights[:3], np.array([4, 5], np.int32), np.float32(0), places, size)
    assert unpacked(all_but_zeros, places, size) == {4: {0: weights[0, 0], size - 1: weights[0, 1]}}


def test_node_rows_and_marks():
    labels = [[0, 3], [], [2], [1, 2, 6], [6], [4, 5]]
    Y = check_labels(labels, n_labels=7)
    tree = build_tree("random", 7, 2, 2, 0)
    ptr, rows, _ = plt_training.node_rows(*csr_parts(Y)[:2], tree.leaf_of_label, tree.parent)
    expected = naive.plt_training.node_rows(labels, tree.leaf_of_label, tree.parent)
    found = [rows[ptr[v] : ptr[v + 1]].tolist() for v in range(tree.n_nodes)]
    assert found == expected
    for v in np.flatnonzero(tree.n_children):
        first, size = tree.first_child[v], tree.n_children[v]
        marks = np.zeros(len(found[v]) * size, np.float32)
        for c in range(size):
            child_rows = np.array(found[first + c], np.int32)
            plt_training.mark_rows(np.array(found[v], np.int32), child_rows, marks, c, size, np.float32(1))
        members = [set(rows) for rows in expected[first : first + size]]
        assert marks.reshape(-1, size).tolist() == [[float(i in m) for m in members] for i in found[v]]


begin_logistic, go_on_logistic, end_logistic, hinge_step = map(
    compiled, (plt_newton.begin_logistic, plt_newton.go_on_logistic, plt_newton.end_logistic, plt_newton.hinge_step)
)


def sixteen(values):
    return np.resize(np.asarray(values, np.float32), 16)


def test_sigmoids_are_right_to_float32_rounding():
    margins = np.concatenate([np.linspace(-90, 90, 2001), [0, 1e-6, -1e-6]]).astype(np.float32)
    expected = [naive.plt_training.sigmoid(float(m)) for m in margins]
    np.testing.assert_allclose([plt_newton.sigmoid(m) for m in margins], expected, rtol=6e-6)
    low, high, step, last = (sixteen(0) for _ in range(4))
    found = []
    for first in range(
        0, margins.size, 16
    ):  # with a = 0, y = -1, C = 1, the distance from the optimum is sigmoid(margin)
        z = sixteen(margins[first : first + 16])
        begin_logistic(0, sixteen(-0.0), z, step, low, high, last, sixteen(1), np.float32(1), np.float32(1))
        found += (high - low).tolist()
    np.testing.assert_allclose(found[: margins.size], expected, rtol=6e-6)


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e4])
def test_a_visit_solves_the_rows_equation_wherever_it_starts(C):
    rng_ = np.random.default_rng(0)
    n, q = 512, 2.0
    y = rng_.choice([-1.0, 1.0], n)
    z = (20 * rng_.standard_normal(n)).astype(np.float32)
    a = (C * rng_.choice([0.0, 1.0, 1e-4, 0.5], n)).astype(np.float32)
    at_zero = a - C * np.array([naive.plt_training.sigmoid(-m) for m in z])
    slope = np.array([1 + C * q * naive.plt_training.sigmoid(-m) * naive.plt_training.sigmoid(m) for m in z])
    alone = np.array(
        [
            plt_newton.solve_logistic(-z[i], a[i], np.float32(at_zero[i]), np.float32(-at_zero[i] / slope[i]), C, q)
            for i in range(n)
        ]
    )
    together = []
    for i in range(0, n, 16):
        margins, dual = y[i : i + 16] * z[i : i + 16], np.copysign(a[i : i + 16], y[i : i + 16])
        margins, dual, before = margins.astype(np.float32), dual.astype(np.float32), a[i : i + 16]
        step, low, high, last = (sixteen(0) for _ in range(4))
        move = begin_logistic(0, dual, margins, step, low, high, last, sixteen(1), np.float32(C), np.float32(q))
        np.testing.assert_allclose(high - low, np.abs(at_zero[i : i + 16]), atol=1e-5 * C)
        steps = 0
        while move > plt_newton.SETTLED and steps < plt_newton.MOST_STEPS:
            move = go_on_logistic(0, dual, margins, step, low, high, last, np.float32(C), np.float32(q))
            steps += 1
        together += step.tolist()
        end_logistic(0, dual, step)
        np.testing.assert_allclose(np.abs(dual), before + step * y[i : i + 16], rtol=1e-5, atol=1e-6 * C)
    for s in (alone, np.array(together)):
        s = np.maximum(s, -a)
        wanted = C * np.array([naive.plt_training.sigmoid(-m) for m in z + q * s])
        assert np.abs(a + s - wanted).max() <= (1 + C * q / 4) * plt_newton.SETTLED / q  # slope times step


def test_a_hinge_visit_is_the_exact_minimum():
    rng_ = np.random.default_rng(1)
    C, q = 0.7, 1.8
    y, margins = rng_.choice([-1.0, 1.0], 16), 3 * rng_.standard_normal(16)
    a = rng_.choice([0.0, 0.4, 2.0], 16)
    dual, step, used = np.copysign(a, y).astype(np.float32), sixteen(0), sixteen(1)
    half = np.float32(0.5 / C)
    away = hinge_step(0, dual, margins.astype(np.float32), step, used, half, np.float32(1 / (q + half)))
    expected, distances = naive.plt_training.hinge_steps(margins, a, (y + 1) / 2, q, C)
    np.testing.assert_allclose(step, y * expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dual, np.copysign(a + expected, y), rtol=1e-5, atol=1e-6)
    assert away == pytest.approx(max(distances) / C, rel=1e-5)
