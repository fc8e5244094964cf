"""Kernels of double sampling, FALS, decisions and explanations do what their plain-Python twins do."""

import math

import naive
import naive.decisions
import numpy as np
import pytest
import scipy.sparse as sp
from _kernels.plt_problems import sparse_rows
from explain.fitted import L, data, ldsm

from xmlcore import explain
from xmlcore._kernels import ds_sampling, fals_label_networks, fals_scoring, fals_training
from xmlcore._kernels import explain as kernels
from xmlcore._kernels.arrays import CsrRows
from xmlcore._kernels.decisions import COVERAGE, MACRO_F1, MACRO_PRECISION, improve_sets, take_by_gains
from xmlcore.arrays import read_only
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.selection.fals.network import first_weights
from xmlcore.selection.fals.training import step_sizes
from xmlcore.validation import csr_parts

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped", "ignore:.*splits separated nothing")


def test_each_example_gets_the_copies_of_the_twin():
    rng = np.random.default_rng(0)
    labels, expected = rng.integers(0, 5, 200).astype(np.int32), np.array([0.0, 0.3, 1.0, 2.5, 7.99])
    copies = np.full(200, -1)
    ds_sampling.draw_copies(labels, expected, 11, 20, 200, copies)
    assert (copies[:20] == -1).all()
    wanted = [naive.ds.copies(expected[labels[i]], 11, i) for i in range(20, 200)]
    assert copies[20:].tolist() == wanted and len(set(wanted)) > 4


@pytest.mark.parametrize("kappa", [1, 2, 5, 17, 28, 29])
def test_each_copy_gets_the_adversaries_of_the_twin(kappa):
    rng = np.random.default_rng(kappa)
    classes = np.sort(rng.choice(40, 30, replace=False)).astype(np.int32)  # those that have rows
    place = np.full(40, -1, np.int32)
    place[classes] = np.arange(30)
    labels = rng.choice(classes, 12).astype(np.int32)
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 4, 12))])
    found = np.full((start[-1], kappa), -1, np.int32)
    ds_sampling.draw_adversaries(labels, start, classes, place, 5, 0, 12, found)
    expected = []
    for i, own in enumerate(labels.tolist()):
        n_copies = start[i + 1] - start[i]
        expected += naive.ds.adversaries(n_copies, own, classes.tolist(), kappa, 5, i)
    assert found.tolist() == expected


@pytest.mark.parametrize("present", [[1, 1, 1, 1, 1], [1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0, 0, 0, 0, 1], [1] + [0] * 40])
def test_missed_steps_are_caught_up_as_adam_makes_them(present):
    random = np.random.default_rng(0)
    gradients = [float(random.normal()) * p for p in present]
    weights, mean, square = np.array([[0.5, 0.5]]), np.zeros((1, 2)), np.zeros((1, 2))
    rates, tail = step_sizes(len(present), 0.01)
    done, feature = np.zeros(1, np.int32), np.zeros(1, np.int32)
    for step, (gradient, there) in enumerate(zip(gradients, present)):
        if there:
            for h in range(2):
                fals_training.catch_up(feature, done, step, tail, weights, mean, square, h, h + 1)
            entry = np.array([0, 1]), np.zeros(1, np.int32), np.ones(1)
            fals_training.sparse_step(
                feature, *entry, np.full((1, 2), gradient), rates[step], 0.0, weights, mean, square, 0, 2
            )
            done[0] = step + 1
    fals_training.catch_up(feature, done, len(present), tail, weights, mean, square, 0, 2)
    np.testing.assert_allclose(weights, naive.fals.adam(0.5, gradients, 0.01), rtol=1e-7)


@pytest.mark.parametrize("activation", ["relu", "sigmoid"])
@pytest.mark.parametrize("dropout, l2", [(0.0, 0.0), (0.4, 0.0), (0.4, 0.05)])
def test_a_network_of_one_label_trains_as_its_twin(activation, dropout, l2):
    X, member = sparse_rows(30, 8, 3), np.random.default_rng(1).random(30) < 0.3
    (into, out_of), (bias, last) = first_weights([8, 4, 1], 5)  # float32, as they are trained
    network = into, bias, np.ascontiguousarray(out_of[:, 0]), last
    order = np.stack([np.random.default_rng([5, epoch]).permutation(30) for epoch in range(3)])
    batches = [rows[start : start + 8].tolist() for rows in order for start in range(0, 30, 8)]
    rates, tail = step_sizes(len(batches), 0.02)
    expected = naive.fals.train_binary(
        X.toarray().astype(float), member, batches, rates, l2, dropout, activation == "relu", 7, network
    )
    before = into.copy()
    fals_label_networks.train_binary(
        csr_parts(X), order, 8, member, fals_label_networks.Schedule(rates, tail),
        fals_label_networks.Options(l2, dropout, activation == "relu"), np.uint64(7),
        fals_label_networks.LabelNetwork(*network),
    )  # fmt: skip
    assert np.abs(into - before).max() > 0.05
    for found, wanted in zip(network, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def test_rows_are_drawn_in_proportion_to_their_weights():
    weight = np.array([[1, 0, 3, 4], [0, 0, 0, 0], [5, 5, 0, 0]], np.float32)
    for bounds in ([0, 4], [0, 1, 2, 4]):
        drawn, so_far = np.full((3, 20_000), -1), np.zeros(3)
        for number, (a, b) in enumerate(zip(bounds[:-1], bounds[1:])):
            part = np.ascontiguousarray(weight[:, a:b])
            fals_scoring.draw_rows(part, a, so_far, 7, np.arange(3) * 10 + number, drawn)
        np.testing.assert_allclose(so_far, weight.sum(axis=1))
        assert (drawn[1] == -1).all()  # nothing to draw
        for c in (0, 2):
            share = np.bincount(drawn[c], minlength=4) / drawn.shape[1]
            np.testing.assert_allclose(share, weight[c] / weight[c].sum(), atol=0.015)  # more than 4 deviations
            assert (share[weight[c] == 0] == 0).all()


def problem(seed=0):
    P = sp.random_array((30, 8), density=0.5, rng=np.random.default_rng(seed), format="csr", dtype=np.float64)
    P.data = np.round(P.data, 1)  # with ties, and with 0 and 1
    ptr, labels = P.indptr.astype(np.int64), P.indices.astype(np.int32)
    rows = [[*zip(labels[a:b].tolist(), P.data[a:b].tolist())] for a, b in zip(ptr, ptr[1:])]
    return (ptr, labels, P.data), rows


def places(ptr, taken):
    return [set(np.flatnonzero(taken[a:b]).tolist()) for a, b in zip(ptr, ptr[1:])]


@pytest.mark.parametrize("fill", [True, False])
@pytest.mark.parametrize("k", [0, 1, 3, 9])
def test_the_largest_gains_of_the_part_of_a_row_are_taken(k, fill):
    P, _ = problem()
    P[2][:] += 1e-9 * np.arange(P[2].size)  # what draws the part of a row
    slopes, offsets = np.random.default_rng(1).random((3, 8)), -0.5 * np.random.default_rng(2).random((3, 8))
    taken, reach = np.zeros(P[1].size, bool), np.array([0.2, 0.6, 1.0])
    take_by_gains(*P, slopes, offsets, reach, k, fill and k > 0, np.empty(8), taken)
    parts = [naive.decisions.part_of(P[2][a:b].tolist(), reach) for a, b in zip(P[0], P[0][1:])]
    assert {*parts} == {0, 1, 2}
    rows = [[*zip(P[1][a:b].tolist(), P[2][a:b].tolist())] for a, b in zip(P[0], P[0][1:])]
    gains = [
        [(slopes[part, label] * p + offsets[part, label], label) for label, p in row] for part, row in zip(parts, rows)
    ]
    assert places(P[0], taken) == [naive.decisions.by_gains(row, k, fill and k > 0) for row in gains]


@pytest.mark.parametrize("k", [0, 2])
@pytest.mark.parametrize(
    ("kind", "worth"),
    [
        (MACRO_F1, naive.decisions.macro_f1(0.5, np.arange(1, 9))),
        (MACRO_PRECISION, naive.decisions.macro_precision(0.5)),
        (COVERAGE, naive.decisions.coverage(0.5)),
    ],
)
def test_a_pass_chooses_each_row_anew(kind, worth, k):
    P, rows = problem(3)
    P[2][:] = np.minimum(P[2], 0.9) * 0.9 + 0.001 * np.arange(P[2].size) / P[2].size  # no ties, no sure labels
    rows = [[*zip(P[1][a:b].tolist(), P[2][a:b].tolist())] for a, b in zip(P[0], P[0][1:])]
    taken, sums = np.zeros(P[1].size, bool), np.zeros((3, 8))
    of_labels = np.stack([np.zeros(8), np.zeros(8), np.arange(1.0, 9)])
    expected = [set() for _ in rows]
    for _ in range(3):
        improve_sets(*P, kind, 0.5, of_labels, k, k > 0, sums, np.empty(8), taken)
        expected = naive.decisions.improved_sets(rows, expected, worth, k, k > 0)
        assert places(P[0], taken) == expected
    np.testing.assert_allclose(sums[0], np.bincount(P[1][taken], P[2][taken], minlength=8), atol=1e-12)
    np.testing.assert_array_equal(sums[1], np.bincount(P[1][taken], minlength=8))


@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e-7, 0.9e-5, 1.1e-5])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_contributions_that_cancel_are_computed_from_the_slope(loss, distance):
    """Two features of nearly opposite parts: each contributes much, both together next to nothing."""
    w = np.array([3.0, -3.0])
    x = np.array([0.5, 0.5 - distance / 3])
    number = LOSS_NUMBERS[loss]
    parts, before, after = np.zeros(2), np.empty(1), np.empty(1)
    ptr, ids = np.array([0, 2]), np.array([0, 1], np.int32)
    classifiers = kernels.Classifiers(ptr, ids, w.astype(np.float32), np.array([-0.5], np.float32), number)
    paths = kernels.Paths(np.array([0, 1]), np.array([0]))
    kernels.share_along_paths(CsrRows(ptr, ids, x), paths, classifiers, parts, before, after)
    slope = 1 / (1 + math.exp(-0.5)) if loss == "logistic" else 3.0
    np.testing.assert_allclose(parts, slope * w * x, rtol=1e-5)
    assert before[0] + parts.sum() == pytest.approx(after[0], abs=1e-12)


@pytest.mark.parametrize("arity, multiway", [(2, 1.0), (2, 0.1), (3, 0.1)])
def test_contributions_in_decision_trees_equal_those_of_the_twin(arity, multiway):
    model = ldsm(arity=arity, multiway_weight=multiway)
    X, _ = data(9, n=25)
    labels = np.arange(25) % L
    found = explain.attributions(model, X, labels)
    forest, feature_of = model.forest_, model.feature_of_column_
    trees = []
    for t, tree in enumerate(model.trees_):
        weights = [{} for _ in tree.parent]
        for v in tree.inner.tolist():
            g = forest.group[forest.root[t] + v]
            for q in range(forest.column_ptr[g], forest.column_ptr[g + 1]):
                for c, child in enumerate(tree.children[v].tolist()):
                    weights[child][int(feature_of[forest.columns[q]])] = float(forest.weights[arity * q + c])
        hist = [
            dict(zip(tree.histograms[[v]].indices.tolist(), tree.histograms[[v]].data.tolist()))
            for v in range(tree.parent.size)
        ]
        trees.append(
            {
                "children": [[c for c in row if c >= 0] for row in tree.children.tolist()],
                "weights": weights,
                "bias": forest.bias[forest.root[t] : forest.root[t + 1]].astype(float).tolist(),
                "hist": hist,
                "n_rows": tree.n_samples.tolist(),
            }
        )
    for i in range(25):
        own = X[[i]]
        parts, baseline, total = naive.explain.share_along_ways(
            trees, dict(zip(own.indices.tolist(), own.data.tolist())), int(labels[i])
        )
        np.testing.assert_allclose(found.contributions[[i]].data, list(parts.values()), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose([found.baseline[i], found.total[i]], [baseline, total], rtol=1e-9)


def test_a_row_is_followed_to_all_leaves_however_many():
    """What the kernel knows of the nodes on a row's ways outgrows the room that it starts with."""
    model = ldsm(max_nodes=200, n_attempts=10, n_estimators=2)
    (bias,) = read_only((np.full_like(model.forest_.bias, 50.0),))
    model.forest_ = model.forest_._replace(bias=bias)  # every child's regressor reaches the threshold
    X, _ = data(16, n=20)
    labels = np.arange(20) % L
    n_leaves = [int((tree.children[:, 0] < 0).sum()) for tree in model.trees_]
    assert sum(explain.path(model, X[[0]], 0).groupby("tree")["leaf"].nunique() == n_leaves) == 2
    assert max(tree.parent.size for tree in model.trees_) > 100
    found = explain.attributions(model, X, labels)
    expected = model.predict_proba(X).toarray()[np.arange(20), labels]
    np.testing.assert_allclose(found.total, expected, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), found.total, atol=1e-12)
    for i in (0, 7):
        alone = explain.attributions(model, X[[i]], labels[[i]])
        np.testing.assert_array_equal(alone.contributions.toarray()[0], found.contributions[[i]].toarray()[0])
