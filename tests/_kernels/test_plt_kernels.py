"""Every kernel of the label trees does what its plain-Python twin does."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit

from xmlcore import PLT
from xmlcore._kernels import (
    lanes,
    plt_candidates,
    plt_clusters,
    plt_factors,
    plt_index,
    plt_margins,
    plt_newton,
    plt_rows,
    plt_search,
    plt_search_together,
    plt_training,
    plt_tree,
    rng,
)
from xmlcore.arrays import columns_of, read_only
from xmlcore.models.plt import LOSS_NUMBERS, LabelTree
from xmlcore.models.plt.building import build_tree, label_representations
from xmlcore.models.plt.saving import DTYPES
from xmlcore.validation import check_labels, csr_parts


def sparse_rows(n, d, seed, density=0.3):
    X = sp.random_array((n, d), density=density, rng=np.random.default_rng(seed), dtype=np.float32, format="csr")
    X.sort_indices()
    return X


@pytest.mark.parametrize("seed, number", [(0, 0), (1, 7), (2**32 - 1, 123456)])
def test_random_streams_are_the_documented_generator(seed, number):
    assert int(rng.stream(seed, number)) == naive.rng.stream(seed, number)
    assert rng.permutation(50, seed, number).tolist() == naive.rng.permutation(50, seed, number)


def test_streams_of_one_seed_differ():
    orders = {tuple(rng.permutation(20, 3, number).tolist()) for number in range(50)}
    assert len(orders) == 50


def test_shuffle_favours_no_order():
    counts = np.zeros((4, 4))
    for number in range(4000):
        for place, value in enumerate(rng.permutation(4, 0, number)):
            counts[place, value] += 1
    assert np.abs(counts / 4000 - 0.25).max() < 0.03  # five standard errors


def test_normalise_rows_leaves_empty_rows_alone():
    X = sparse_rows(12, 9, 0)
    X = sp.csr_array(sp.vstack([X, sp.csr_array((1, 9), dtype=np.float32)], format="csr"))
    expected = naive.plt_clusters.normalise_rows(X.toarray().astype(float))
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    np.testing.assert_allclose(X.toarray(), expected, rtol=1e-6)


@pytest.mark.parametrize("n, k", [(7, 2), (10, 3), (5, 5), (31, 4)])
def test_assignment_is_balanced_and_takes_the_surest_first(n, k):
    similarity = np.random.default_rng(n).random((n, k)).astype(np.float32)
    capacity = np.array([n // k + (c < n % k) for c in range(k)])
    clusters = np.empty(n, np.int32)
    plt_clusters.assign_balanced(similarity, capacity, clusters)
    assert clusters.tolist() == naive.plt_clusters.assign_balanced(similarity.tolist(), capacity.tolist())
    assert np.bincount(clusters, minlength=k).tolist() == capacity.tolist()


def test_two_clusters_get_the_best_balanced_split_there_is():
    from itertools import combinations

    similarity = np.random.default_rng(5).random((8, 2)).astype(np.float32)
    clusters = np.empty(8, np.int32)
    plt_clusters.assign_balanced(similarity, np.array([4, 4]), clusters)
    best = max(
        sum(similarity[i, 0] if i in first else similarity[i, 1] for i in range(8))
        for first in combinations(range(8), 4)
    )
    assert similarity[np.arange(8), clusters].sum() == pytest.approx(best)


@pytest.mark.parametrize("n_clusters, seed", [(2, 0), (2, 1), (3, 2), (5, 3)])
def test_split_labels(n_clusters, seed):
    representations = sparse_rows(23, 15, seed)
    representations = sp.csr_array(sp.vstack([representations, sp.csr_array((2, 15), dtype=np.float32)], format="csr"))
    plt_clusters.normalise_rows(csr_parts(representations)[0], representations.data)
    labels = np.setdiff1d(np.arange(25), [3, 8]).astype(np.int32)
    found = plt_clusters.split_labels(
        *csr_parts(representations), labels, 15, n_clusters, np.float32(1e-4), 20, seed, 4
    )
    dense = representations.toarray().astype(float)
    assert found.tolist() == naive.plt_clusters.split_labels(dense, labels, n_clusters, 1e-4, 20, seed, 4)


def test_gather_rows_keeps_the_features_that_occur():
    X = sparse_rows(20, 40, 1, density=0.05)
    rows = np.array([2, 3, 11, 19], np.int32)
    features, (indptr, indices, data, squares) = plt_training.gather_rows(*csr_parts(X), rows, 40)
    expected_features, expected = naive.plt_training.gather_rows(X.toarray(), rows)
    assert features.tolist() == expected_features
    np.testing.assert_array_equal(sp.csr_array((data, indices, indptr), shape=(4, features.size)).toarray(), expected)
    np.testing.assert_allclose(squares, 1 + (expected**2).sum(axis=1), rtol=1e-6)


# Operations on lanes exist inside of kernels only.


@njit
def begin_logistic(dual, margins, step, low, high, last, used, C, q):
    return plt_newton.begin_logistic(0, dual, margins, step, low, high, last, used, C, q)


@njit
def go_on_logistic(dual, z, step, low, high, last, C, q):
    return plt_newton.go_on_logistic(0, dual, z, step, low, high, last, C, q)


@njit
def end_logistic(dual, step):
    return plt_newton.end_logistic(0, dual, step)


@njit
def hinge_step(dual, margins, step, used, half, inverse):
    return plt_newton.hinge_step(0, dual, margins, step, used, half, inverse)


@njit
def margins_of_row(weights, bias_at, indices, data, start, end, out):
    lanes.margins_of_row(weights, bias_at, indices, data, start, end, out)


@njit
def add_row(weights, bias_at, indices, data, start, end, step):
    lanes.add_row(weights, bias_at, indices, data, start, end, step)


@njit
def add_scaled(out, to, values, start, scale):
    lanes.add_scaled(out, to, values, start, scale)


@njit
def add_rows(*arguments):
    lanes.add_rows(*arguments)


@njit
def add_one_row(*arguments):
    lanes.add_one_row(*arguments)


@njit
def add_one_row_wide(*arguments):
    lanes.add_one_row_wide(*arguments)


def sixteen(values):
    return np.resize(np.asarray(values, np.float32), 16)


def test_sigmoids_are_right_to_float32_rounding_of_their_argument():
    margins = np.concatenate([np.linspace(-90, 90, 2001), [0, 1e-6, -1e-6]]).astype(np.float32)
    expected = [naive.plt_training.sigmoid(float(m)) for m in margins]
    np.testing.assert_allclose([plt_newton.sigmoid(m) for m in margins], expected, rtol=6e-6)
    low, high, step, last = (sixteen(0) for _ in range(4))
    found = []
    for first in range(
        0, margins.size, 16
    ):  # with a = 0, y = -1, C = 1, the distance from the optimum is sigmoid(margin)
        z = sixteen(margins[first : first + 16])
        begin_logistic(sixteen(-0.0), z, step, low, high, last, sixteen(1), np.float32(1), np.float32(1))
        found += (high - low).tolist()
    np.testing.assert_allclose(found[: margins.size], expected, rtol=6e-6)


def test_row_operations_on_lanes_are_matrix_products():
    X = sparse_rows(5, 7, 3, density=0.5)
    indptr, indices, data = csr_parts(X)
    weights = np.random.default_rng(0).standard_normal((9, 16)).astype(np.float32)
    for i in range(5):
        margins = np.zeros(16, np.float32)
        row = (indices.view(np.uint32), data, indptr[i], indptr[i + 1])
        margins_of_row(weights.ravel(), 8 * 16, *row, margins)
        np.testing.assert_allclose(margins, X.toarray()[i] @ weights[:7] + weights[8], rtol=1e-5, atol=1e-6)
        changed = weights.ravel().copy()
        add_row(changed, 8 * 16, *row, margins)
        expected = weights.astype(float)
        expected[:7] += np.outer(X.toarray()[i], margins)
        expected[8] += margins
        np.testing.assert_allclose(changed.reshape(9, 16), expected, rtol=1e-5, atol=1e-6)


def test_a_scaled_row_is_added_at_its_place():
    out, values = np.arange(48, dtype=np.float32), np.arange(40, dtype=np.float32)
    add_scaled(out, 16, values, 7, np.float32(2))
    assert out[16:32].tolist() == [16 + c + 2 * (7 + c) for c in range(16)]
    assert out[:16].tolist() == list(range(16)) and out[32:].tolist() == list(range(32, 48))


@pytest.mark.parametrize(
    "add, n_rows, n_lanes", [(add_rows, lanes.TILE_ROWS, 16), (add_one_row, 1, 16), (add_one_row_wide, 1, lanes.WIDE)]
)
def test_a_tile_adds_products_in_the_order_of_columns_and_nothing_beside(add, n_rows, n_lanes):
    rng_ = np.random.default_rng(n_lanes)
    rows, out = rng_.standard_normal((9, 50), np.float32), rng_.standard_normal(n_rows * 90 + 7, np.float32)
    weights = rng_.standard_normal((40, 83), np.float32)
    columns = np.sort(rng_.choice(50, 38, replace=False)).astype(np.int32)
    places, expected = rng_.integers(0, 9, 3 + n_rows), out.copy()
    for i in range(n_rows):
        own = expected[7 + 90 * i :][:n_lanes]
        for t in range(4, 33):
            own += rows[places[3 + i], columns[t]] * weights[2 + t - 4, 5 : 5 + n_lanes]
    add(out, 7, 90, weights.ravel(), 2 * 83 + 5, 83, columns, 4, 33, rows, places, 3)
    np.testing.assert_array_equal(out, expected)
    add(out, 7, 90, weights.ravel(), 0, 83, columns, 4, 4, rows, places, 3)
    np.testing.assert_array_equal(out, expected)


def trained(X, targets, loss, C, tol, max_epochs, seed=9, number=3):
    m, n = targets.shape
    rows = np.arange(m, dtype=np.int32)
    children = [np.flatnonzero(column).astype(np.int32) for column in targets.T]
    rows_ptr = np.concatenate([[0], np.cumsum([c.size for c in children])]).astype(np.int64)
    features, local = plt_training.gather_rows(*csr_parts(X), rows, X.shape[1])
    under = plt_training.NodeRows(rows_ptr, np.concatenate(children))
    settings = plt_training.Settings(
        LOSS_NUMBERS[loss], np.float32(C), np.float32(tol), max_epochs, np.float32(0), seed
    )
    mirrored = n == 2 and bool((targets.sum(axis=1) == 1).all())
    found = plt_training.train_siblings(
        local, features.size, rows, under, np.arange(n), mirrored, settings, number
    )  # fmt: skip
    return features, found


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0, 300.0])
@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
@pytest.mark.parametrize("n_children", [1, 2, 3, 20])
def test_siblings_train_as_their_twin(loss, C, n_children):
    X = sparse_rows(30, 12, n_children, density=0.4)
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    targets = np.random.default_rng(0).random((30, n_children)) < 0.3
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
@pytest.mark.parametrize("n_children", [1, 5])
def test_siblings_stop_at_the_tolerance_and_rows_rest_on_the_way(loss, n_children):
    X = sparse_rows(40, 12, 0, density=0.4)
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    targets = np.arange(40).reshape(-1, 1) % (3 + np.arange(n_children)) == 0
    features, (weights, epochs, violation) = trained(X, targets, loss, 10.0, 0.02, 500, 1, 1)
    expected, visited, _ = naive.plt_training.train_siblings(
        X.toarray()[:, features], targets.astype(float), loss, 10.0, 0.02, 500, 1, 1
    )
    assert violation <= 0.02
    assert 1 < epochs < 500
    assert epochs == pytest.approx(visited, rel=0.2)  # float32 and float64 may disagree on who rests
    np.testing.assert_allclose(weights, expected, atol=0.2)


def test_weights_with_rest_are_as_near_to_the_optimum_as_without():
    X = sparse_rows(200, 30, 5, density=0.2)
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    targets = np.random.default_rng(2).random((200, 7)) < 0.3
    _, (found, *_) = trained(X, targets, "squared_hinge", 1.0, 1e-4, 2000)
    _, (every, *_) = trained(X, targets, "squared_hinge", 1.0, -1.0, 400)  # never reached: nothing rests
    np.testing.assert_allclose(found, every, atol=2e-3)


@pytest.mark.parametrize("n_children", [1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_rows_that_never_get_there_do_not_keep_the_others_at_rest(seed, n_children):
    X = sparse_rows(30, 5, seed, density=0.5)
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    targets = np.random.default_rng(seed).random((30, n_children)) < 0.4
    tight = 1e-6  # about what float32 can tell apart: a few rows stay further away
    _, (found, *_) = trained(X, targets, "squared_hinge", 10.0, tight, 3000)
    _, (every, *_) = trained(X, targets, "squared_hinge", 10.0, -1.0, 3000)
    np.testing.assert_allclose(found, every, atol=2e-3)


@pytest.mark.parametrize("max_epochs", range(1, 30))
def test_a_descent_that_was_cut_short_does_not_say_it_is_done(max_epochs):
    X = sparse_rows(60, 12, 1, density=0.4)
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    targets = np.random.default_rng(4).random((60, 2)) < 0.4
    _, (weights, epochs, violation) = trained(X, targets, "logistic", 100.0, 0.2, max_epochs)
    _, (finished, enough, _) = trained(X, targets, "logistic", 100.0, 0.2, 1000)
    assert epochs <= max_epochs
    if max_epochs >= enough:
        np.testing.assert_array_equal(weights, finished)
        assert violation <= 0.2
    elif not np.array_equal(weights, finished):
        assert violation > 0.2


def test_an_empty_lane_changes_nothing():
    X = sparse_rows(30, 12, 4, density=0.4)
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    targets = np.random.default_rng(0).random((30, 16)) < 0.3
    targets[:, 3:] = targets[:, :1]
    for loss in LOSS_NUMBERS:
        _, (three, epochs, _) = trained(X, targets[:, :3], loss, 1.0, 1e-3, 200)
        _, (sixteen_, same, _) = trained(X, targets, loss, 1.0, 1e-3, 200)
        assert epochs == same
        np.testing.assert_array_equal(three, sixteen_[:, :3])


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
        move = begin_logistic(dual, margins, step, low, high, last, sixteen(1), np.float32(C), np.float32(q))
        np.testing.assert_allclose(high - low, np.abs(at_zero[i : i + 16]), atol=1e-5 * C)
        steps = 0
        while move > plt_newton.SETTLED and steps < plt_newton.MOST_STEPS:
            move = go_on_logistic(dual, margins, step, low, high, last, np.float32(C), np.float32(q))
            steps += 1
        together += step.tolist()
        end_logistic(dual, step)
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
    away = hinge_step(dual, margins.astype(np.float32), step, used, half, np.float32(1 / (q + half)))
    expected, distances = naive.plt_training.hinge_steps(margins, a, (y + 1) / 2, q, C)
    np.testing.assert_allclose(step, y * expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dual, np.copysign(a + expected, y), rtol=1e-5, atol=1e-6)
    assert away == pytest.approx(max(distances) / C, rel=1e-5)


def unpacked(pruned, places, size):
    kept, ptr, child, value = pruned
    if ptr.size:
        return {
            int(f): dict(zip(child[ptr[g] : ptr[g + 1]].tolist(), value[ptr[g] : ptr[g + 1]]))
            for g, f in enumerate(kept)
        }
    rows = value.reshape(kept.size, plt_tree.row_width(size))
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


def test_prune_at_zero_keeps_all_but_zeros():
    weights = np.array([[1e-9, 0.0], [0.0, 0.0], [1.0, 1.0]], np.float32)
    pruned = plt_training.prune(weights, np.array([0, 1], np.int32), np.float32(0), np.array([0, 1]), 2)
    assert unpacked(pruned, [0, 1], 2) == {0: {0: np.float32(1e-9)}}


@pytest.mark.parametrize("n_columns", [0, 1, 5, 300, 4000])
def test_every_column_of_a_group_is_found_and_no_other(n_columns):
    rng_ = np.random.default_rng(n_columns)
    groups = [np.sort(rng_.choice(5000, n_columns, replace=False)).astype(np.int32) for _ in range(4)]
    groups.insert(2, np.empty(0, np.int32))
    groups += [np.arange(n_columns, dtype=np.int32), np.array([4999], np.int32)]
    ptr = np.concatenate([[0], np.cumsum([g.size for g in groups])]).astype(np.int64)
    shift, at = plt_index.index_layout(ptr, np.concatenate(groups))
    index = np.zeros(at[-1], np.uint32)
    plt_index.index_columns(ptr, np.concatenate(groups), shift, at, index)
    assert (shift[:2] == plt_index.BITMAP).all() == (n_columns >= 300)
    assert shift[5] == plt_index.EVERY or n_columns == 0
    for g, columns in enumerate(groups):
        part = index[at[g] : at[g + 1]]
        assert part.size <= 3 * columns.size + 3
        for column in [*columns[:20], *columns[-5:], *rng_.integers(0, 5100, 60), 31, 32, 4999, 5000, 2**31 - 1]:
            place = np.searchsorted(columns, column)
            known = place < columns.size and columns[place] == column
            assert naive.plt_index.find_column(part, shift[g], columns, int(column)) == (place if known else None)


@pytest.mark.parametrize("n_features", [60, 1_000_000])
def test_rows_are_taken_in_columns_without_unknown_features(n_features):
    rng_ = np.random.default_rng(0)
    ids = np.sort(rng_.choice(n_features, 50, replace=False))
    feature_of_column = rng_.permutation(ids)[:40].astype(np.int32)  # by a table, or by search
    rows = [{int(f): float(rng_.normal()) for f in rng_.choice(ids, size, replace=False)} for size in (7, 0, 50, 1)]
    rows[3] = {int(np.setdiff1d(ids, feature_of_column)[0]): 2.0}
    X = sp.lil_array((4, n_features), dtype=np.float32)
    for i, row in enumerate(rows):
        for f, value in row.items():
            X[i, f] = value
    X = sp.csr_array(X)
    expected = naive.plt_rows.take_rows(rows[1:], feature_of_column)
    ptr, columns, values = plt_rows.take_rows(*csr_parts(X), 1, 4, *columns_of(feature_of_column, n_features))
    assert ptr.tolist() == [0, 0, 40, 40]
    for i, pairs in enumerate(expected):
        assert columns[ptr[i] : ptr[i + 1]].tolist() == [column for column, _ in pairs]
        np.testing.assert_allclose(values[ptr[i] : ptr[i + 1]], [value for _, value in pairs], rtol=1e-6)


def test_zones_come_one_after_the_other():
    indices = np.array([3, 40, 5, 200_000, 130, 600, 3000, 9000, 40_000, 1, 33], np.int32)
    feature_ids, column_of = np.empty(0, np.int32), np.arange(200_001, dtype=np.int32)
    values = np.ones(indices.size, np.float32)
    _, columns, _ = plt_rows.take_rows(np.array([0, 11]), indices, values, 0, 1, feature_ids, column_of)
    assert columns.tolist() == [3, 5, 1, 40, 33, 130, 600, 3000, 9000, 40_000, 200_000]


@pytest.mark.parametrize("n_features", [60, 1_000_000])
def test_rows_with_a_quarter_of_all_columns_are_dense(n_features):
    rng_ = np.random.default_rng(0)
    ids = np.sort(rng_.choice(n_features, 50, replace=False))
    feature_of_column = rng_.permutation(ids)[:40].astype(np.int32)
    unknown = np.setdiff1d(ids, feature_of_column)
    rows = [{int(f): float(rng_.normal()) for f in feature_of_column[:size]} for size in (40, 9, 10, 0, 11, 3)]
    for row in rows[1:]:
        row.update({int(f): 1.0 for f in unknown})  # which make it longer, and count for nothing else
    X = sp.lil_array((6, n_features), dtype=np.float32)
    for i, row in enumerate(rows):
        for f, value in row.items():
            X[i, f] = value
    columns = columns_of(feature_of_column, n_features)
    found = plt_rows.rows_in_columns(*csr_parts(sp.csr_array(X)), 1, 6, *columns, 40, 10)
    ptr, taken, values, dense_at, dense = found
    assert dense_at.tolist() == [-1, 0, -1, 1, -1] and dense.shape == (2, 40)
    for row, at in zip(rows[1:], dense_at):
        expected = naive.plt_rows.dense_row(row, feature_of_column)
        assert (expected is None) == (at < 0)
        if at >= 0:
            np.testing.assert_allclose(dense[at], expected, rtol=1e-6)
    rest = sp.csr_array(X)[[1, 2, 3, 4, 5]]
    rest = sp.csr_array(sp.diags_array((dense_at < 0).astype(np.float32)) @ rest)
    rest.eliminate_zeros()
    rest.sort_indices()
    for found, expected in zip((ptr, taken, values), plt_rows.take_rows(*csr_parts(rest), 0, 5, *columns)):
        np.testing.assert_array_equal(found, expected)


def tree_of_groups(groups, seed):
    """Columns, and arrays as far as margins need them, for groups of (children, columns, share of weights, dense)."""
    rng_ = np.random.default_rng(seed)
    most = 60 + max(n_columns for _, n_columns, _, _ in groups)
    arrays = {name: [] for name in ("columns", "dense", "entry_ptr", "entry_child", "entry_value")}
    ptrs = {name: [0] for name in ("column_ptr", "dense_ptr", "sparse_ptr", "entry_at")}
    for size, n_columns, share, is_dense in groups:
        width = size if size <= 4 else -(-size // 16) * 16
        weights = rng_.standard_normal((n_columns, size), np.float32) * (rng_.random((n_columns, size)) < share)
        arrays["columns"].append(np.sort(rng_.choice(most, n_columns, replace=False)))
        column, child = np.nonzero(weights)
        arrays["dense"].append(np.pad(weights, [(0, 0), (0, width - size)]).ravel() if is_dense else [])
        arrays["entry_child"].append([] if is_dense else child)
        arrays["entry_value"].append([] if is_dense else weights[column, child])
        arrays["entry_ptr"].append([] if is_dense else np.searchsorted(column, np.arange(n_columns + 1)))
        for ptr, name in zip(ptrs, ("columns", "dense", "entry_child", "entry_ptr")):
            ptrs[ptr].append(ptrs[ptr][-1] + len(arrays[name][-1]))
    sizes = np.array([size for size, *_ in groups], np.int32)
    n, firsts = 1 + int(sizes.sum()), 1 + np.cumsum(sizes) - sizes
    empty = np.zeros(0, np.int64)
    joined = {name: np.concatenate(parts).astype(DTYPES[name]) for name, parts in arrays.items()}
    return most, read_only(
        plt_tree.TreeArrays(
            **joined,
            **{name: np.array(ptr, np.int64) for name, ptr in ptrs.items()},
            parent=np.zeros(n, np.int32),
            label=np.zeros(n, np.int32),
            bias=rng_.standard_normal(n, np.float32),
            group_ptr=empty,
            group_first=firsts.astype(np.int32),
            group_size=sizes,
            index_shift=np.zeros(0, np.int32),
            index_at=empty,
            index=np.zeros(0, np.uint32),
            depth=np.zeros(n, np.int32),
            root_group=-1,
        )  # fmt: skip
    )


@pytest.mark.parametrize("n_rows", [1, 2, 6, 13, plt_margins.DENSE_ROWS])
@pytest.mark.parametrize("share, is_dense", [(1.0, True), (0.1, True), (0.1, False)])
def test_margins_of_dense_rows_are_the_same_bits_alone_and_beside_others(n_rows, share, is_dense):
    shapes = [(1, 7), (2, 1100), (3, 20), (4, 1), (5, 2049), (16, 0), (17, 600), (64, 257), (80, 300), (128, 129)]
    groups = [(size, n_columns, share, is_dense) for size, n_columns in [*shapes, (256, 70)]]
    n_columns, tree = tree_of_groups(groups, n_rows)
    rng_ = np.random.default_rng(n_rows)
    dense = rng_.standard_normal((9, n_columns), np.float32) * (rng_.random((9, n_columns)) < 0.9)
    scratch = rng_.standard_normal(plt_margins.UNFOLDED, np.float32)
    for g, (size, _, _, _) in enumerate(groups):
        places = rng_.integers(0, 9, 3 + plt_margins.DENSE_ROWS)
        wanted, out = (
            places[3 : 3 + n_rows].copy(),
            np.full((plt_margins.DENSE_ROWS, plt_margins.MARGINS), np.nan, np.float32),
        )
        assert plt_margins.dense_row_margins(tree, g, dense, places, 3, 3 + n_rows, out.ravel(), scratch) == size
        for i in [*range(min(n_rows, 3)), n_rows - 1]:
            np.testing.assert_array_equal(out[i, :size], naive.plt_margins.dense_row_margins(tree, g, dense[wanted[i]]))
            assert (out[i, size : plt_tree.row_width(size)] == -np.inf).all()
        tiles = n_rows if n_rows == 1 else -(-n_rows // lanes.TILE_ROWS) * lanes.TILE_ROWS
        assert np.isnan(out[tiles:]).all()


def as_places(triples):
    return np.array([(score, row, node) for score, row, node in triples], plt_search_together.PLACE)


@pytest.mark.parametrize("most", [0, 1, 5, 2047, 2048, 5_000_000])
def test_places_are_sorted_by_node_and_stay_in_order_within(most):
    rng_ = np.random.default_rng(most)
    nodes = 7 + rng_.integers(0, most + 1, 400)
    places = as_places((float(i), i % 9, node) for i, node in enumerate(nodes))
    expected = places[:390][np.argsort(nodes[:390], kind="stable")]
    last = places[390:].copy()
    plt_search_together.sort_by_node(places, 390, np.empty(400, plt_search_together.PLACE))
    assert (places[:390] == expected).all() and (places[390:] == last).all()


@pytest.mark.parametrize("beam", [1, 3, 50])
def test_a_beam_keeps_the_best_places_of_each_row(beam):
    rng_ = np.random.default_rng(beam)
    triples = [(round(float(rng_.random()), 1), int(rng_.integers(5)), node) for node in range(60)]
    expanded = np.zeros((5, 3), np.int32)
    expanded[:, 1] = np.minimum([0, 1, 0, 2, 3], beam)
    before = expanded[:, 1].tolist()
    places = as_places(triples)  # by node
    n = plt_search_together.keep_best_of_rows(places, 60, 1, expanded, beam)
    expected = naive.plt_search.keep_best_of_rows(triples, before, beam)
    assert sorted(places[:n].tolist()) == sorted(expected)
    assert expanded[:, 1].tolist() == [b + sum(p[1] == r for p in expected) for r, b in enumerate(before)]
    assert not expanded[:, [0, 2]].any()


@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
def test_margins_below_the_least_have_smaller_factors_and_few_above_do(loss):
    margins = np.concatenate([np.linspace(-30, 30, 601), [0.999, 1.0, 1.001]]).astype(np.float32)
    factors = np.array([plt_factors.log_probability(m, LOSS_NUMBERS[loss]) for m in margins])
    for wanted in [-np.inf, -900.0, -5.0, -0.7, -1e-3, -1e-13, 0.0]:
        least = plt_factors.least_margin(wanted, LOSS_NUMBERS[loss])
        assert (factors[margins < least] < wanted).all()
        assert (factors[margins > least + 1e-3] >= wanted - 1e-11).all()


def random_tree(n_labels, arity, max_leaf_labels, seed):
    return build_tree("random", n_labels, arity, max_leaf_labels, seed)


def test_node_rows_and_marks():
    labels = [[0, 3], [], [2], [1, 2, 6], [6], [4, 5]]
    Y = check_labels(labels, n_labels=7)
    tree = random_tree(7, 2, 2, 0)
    ptr, rows = plt_training.node_rows(*csr_parts(Y)[:2], tree.leaf_of_label, tree.parent)
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


@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
def test_factors_at_extreme_margins(loss):
    for margin in (-np.inf, -800.0, -1.0, 0.0, 0.5, 1.0, 800.0, np.inf):
        expected = naive.plt_factors.log_probability(margin, loss)
        assert plt_factors.log_probability(np.float32(margin), LOSS_NUMBERS[loss]) == pytest.approx(expected, rel=1e-12)


def fitted(loss, arity, max_leaf_labels, empty_rows, seed=0):
    """A small model with every sort of node: unused labels, labels of all rows, rows without labels."""
    rng_ = np.random.default_rng(seed)
    X = sparse_rows(60, 25, seed)
    Y = rng_.random((60, 17)) < 0.15
    Y[:, 4] = False
    Y[:, 9] = True
    if empty_rows:
        Y[::7] = False
    C = 10.0 if loss == "logistic" else 1.0
    model = PLT(loss=loss, C=C, arity=arity, max_leaf_labels=max_leaf_labels, weight_threshold=0.02, n_jobs=1)
    return model.fit(X, Y), sparse_rows(15, 25, seed + 100)


SHAPES = [("logistic", 2, 1, False), ("logistic", 3, 4, True), ("squared_hinge", 2, 5, True), ("logistic", 2, 99, True)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [1, 3, 17])
def test_best_first_search_finds_what_brute_force_over_all_leaves_finds(shape, k):
    model, X = fitted(*shape)
    found = model.predict_topk(X, k)
    for i, x in enumerate(X.toarray().astype(float)):
        expected = naive.plt_search.search_best_first(
            model.fitted_[0], shape[0], naive.plt_rows.in_columns(x, model.feature_of_column_), k
        )
        assert found.labels[i].tolist() == [label for label, _ in expected]
        np.testing.assert_allclose(found.scores[i], np.exp([s for _, s in expected]), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("threshold", [0.0, 0.01, 0.3])
def test_threshold_search_finds_what_brute_force_finds(shape, threshold):
    model, X = fitted(*shape)
    found = model.predict_proba(X, threshold)
    with np.errstate(divide="ignore"):
        least = np.log(threshold)
    for i, x in enumerate(X.toarray().astype(float)):
        expected = naive.plt_search.search_threshold(
            model.fitted_[0], shape[0], naive.plt_rows.in_columns(x, model.feature_of_column_), least
        )
        row = dict(zip(found[[i]].indices.tolist(), found[[i]].data.tolist()))
        assert row.keys() == {label for label, score in expected.items() if np.float32(np.exp(score)) > 0}
        for label, value in row.items():
            assert value == pytest.approx(np.exp(expected[label]), rel=1e-5)


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_beam_search_expands_the_best_nodes_of_each_depth(beam):
    model, X = fitted("logistic", 2, 1, True)
    model.set_params(beam=beam)
    found = model.predict_topk(X, 6)
    for i, x in enumerate(X.toarray().astype(float)):
        expected = naive.plt_search.search_beam(
            model.fitted_[0], "logistic", naive.plt_rows.in_columns(x, model.feature_of_column_), beam, 6
        )
        labels = [label for label, _ in expected]
        assert found.labels[i].tolist() == labels + [-1] * (6 - len(labels))
        np.testing.assert_allclose(found.scores[i][: len(labels)], np.exp([s for _, s in expected]), rtol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [1, 4, 20])
@pytest.mark.parametrize("beam", [0, 1, 3])
@pytest.mark.parametrize("most", [0, 40, 10_000])
def test_searching_together_finds_what_searching_one_by_one_finds(shape, k, beam, most):
    model, X = fitted(*shape)
    X = sp.csr_array(sp.vstack([X, X[:3], X[:1] * 0, sparse_rows(90, 25, 5)]))
    x, rows = (
        model._search().take(csr_parts(X), (0, X.shape[0])),
        np.random.default_rng(k).permutation(X.shape[0])[:100],
    )
    found = []
    for search in ("one by one", "together"):
        labels, scores = np.full((100, k), -1, np.int32), np.full((100, k), -np.inf)
        target = (labels, scores)
        if search == "together":
            alone = plt_search_together.search_together(
                model.fitted_[0], LOSS_NUMBERS[shape[0]], x, rows, beam, most, *target
            )
        else:
            plt_search.search_best_first(model.fitted_[0], LOSS_NUMBERS[shape[0]], x, rows, beam, *target)
        found.append(target)
    assert {0: alone.all(), 40: True, 10_000: not alone.any()}[most]
    np.testing.assert_array_equal(found[0][0][~alone], found[1][0][~alone])
    np.testing.assert_array_equal(found[0][1][~alone], found[1][1][~alone])


def test_candidates_are_the_labels_offered_by_any_tree():
    offered = np.array([[3, 1, 7, 1, 3, -1], [-1, -1, -1, -1, -1, -1], [5, 5, 5, 0, 2, 9]], np.int32)
    ptr, labels = plt_candidates.merge_candidates(offered)
    rows = [labels[ptr[i] : ptr[i + 1]].tolist() for i in range(3)]
    assert rows == [sorted(set(row) - {-1}) for row in offered.tolist()] == [[1, 3, 7], [], [0, 2, 5, 9]]
    best, scores = np.full((3, 2), -1, np.int32), np.zeros((3, 2))
    plt_candidates.best_candidates(ptr, labels, np.array([0.5, 0.1, 0.5, 0.2, 0.3, 0.1, 0.4]), best, scores)
    assert best.tolist() == [[1, 7], [-1, -1], [9, 2]]
    assert scores.tolist() == [[0.5, 0.5], [0, 0], [0.4, 0.3]]
    more = np.array([7, 2, 4, 9, 0], np.int32)  # some of them there already, in any order
    plt_candidates.best_candidates(np.array([0, 2, 3, 5]), more, np.array([0.5, 0.6, 0.1, 0.4, 0.35]), best, scores)
    assert best.tolist() == [[2, 1], [4, -1], [9, 0]]
    assert scores.tolist() == [[0.6, 0.5], [0.1, 0], [0.4, 0.35]]


@pytest.mark.parametrize("shape", SHAPES)
def test_scores_of_chosen_labels_are_their_path_products(shape):
    model, X = fitted(*shape)
    wanted = np.array([[3, 4, 9, 0, 16]] * X.shape[0], np.int32)
    out = np.empty(wanted.size)
    taken = model._search().take(csr_parts(X), (0, X.shape[0]))
    plt_candidates.score_labels(
        model.fitted_[0], LOSS_NUMBERS[shape[0]], model.leaves_[0], taken, np.arange(X.shape[0]),
        np.arange(0, wanted.size + 1, 5), wanted.ravel(), out,
    )  # fmt: skip
    for i, x in enumerate(X.toarray().astype(float)):
        every = naive.plt_search.label_log_probabilities(
            model.fitted_[0], shape[0], naive.plt_rows.in_columns(x, model.feature_of_column_)
        )
        np.testing.assert_allclose(out[5 * i : 5 * i + 5], [every[j] for j in wanted[i]], rtol=1e-4)


def test_tree_of_labels_with_one_leaf_each_and_balanced_sizes():
    X, Y = sparse_rows(80, 30, 0), np.random.default_rng(0).random((80, 41)) < 0.1
    representations = label_representations(X, check_labels(Y))
    tree = build_tree("kmeans", 41, 3, 4, 0, representations)
    assert isinstance(tree, LabelTree)
    assert sorted(tree.label[tree.label >= 0]) == list(range(41))
    assert (tree.parent[1:] < np.arange(1, tree.n_nodes)).all()
    assert (np.diff(tree.parent) >= 0).all()  # siblings are consecutive
    leaves_under = (tree.label >= 0).astype(int)
    for v in range(tree.n_nodes - 1, 0, -1):
        leaves_under[tree.parent[v]] += leaves_under[v]
    for v in np.flatnonzero(tree.n_children):
        children = leaves_under[tree.first_child[v] : tree.first_child[v] + tree.n_children[v]]
        assert children.sum() == leaves_under[v]
        assert children.max() - children.min() <= 1
        assert (leaves_under[v] <= 4) == (children.max() == 1)
    walked = [0] * tree.n_nodes
    for v in range(1, tree.n_nodes):
        walked[v] = walked[tree.parent[v]] + 1
    assert tree.depth.tolist() == walked


def test_representation_of_a_label_is_the_mean_direction_of_its_rows():
    X = sp.csr_array(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32))
    found = label_representations(X, check_labels([[0, 1], [0], [1]], n_labels=3))
    half = np.sqrt(0.5)
    np.testing.assert_allclose(found.toarray(), [[half, half, 0], [half, 0, half], [0, 0, 0]], rtol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_clustering_finds_groups_of_labels_wherever_it_starts(seed):
    rng_ = np.random.default_rng(seed)
    group = rng_.permutation(np.repeat([0, 1], 20))
    own = np.where(group[:, None] == [0, 1], 1.0, 0.0)  # what the group shares, and noise of the label's own
    rows = np.hstack([own, 0.8 * rng_.random((40, 30))]).astype(np.float32)
    plt_clusters.normalise_rows(np.arange(0, rows.size + 1, rows.shape[1]), rows.reshape(-1))
    tree = build_tree("kmeans", 40, 2, 20, seed, sp.csr_array(rows))
    halves = [set(group[tree.label[tree.parent == v]]) for v in (1, 2)]
    assert sorted(map(sorted, halves)) == [[0], [1]]
