"""Rows in columns, clusters of labels, training and searches of label trees are those of the plain-Python twins."""

import os
import subprocess
import sys

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from _kernels.plt_problems import SHAPES, fitted, sparse_rows

from xmlcore import PLT
from xmlcore._kernels import (
    plt_clusters,
    plt_factors,
    plt_rows,
    plt_search,
    plt_search_together,
    plt_training,
    plt_tree,
)
from xmlcore._kernels.plt_ensemble import as_table
from xmlcore.arrays import unsigned_parts
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.models.plt.building import build_tree, label_representations
from xmlcore.validation import check_labels, csr_parts


def test_zones_come_one_after_the_other():
    indices = np.array([3, 40, 5, 200_000, 130, 600, 3000, 9000, 40_000, 1, 33], np.int32)
    of_feature = np.empty(0, np.int32), np.arange(200_001, dtype=np.int32)
    for part in of_feature:
        part.flags.writeable = False  # as those of models: else the kernel would be compiled once more
    values = np.ones(indices.size, np.float32)
    _, columns, _ = plt_rows.take_rows(np.array([0, 11]), indices, values, 0, 1, *of_feature, True)
    assert columns.tolist() == [3, 5, 1, 40, 33, 130, 600, 3000, 9000, 40_000, 200_000]


@pytest.mark.parametrize("n_clusters, seed", [(2, 0), (2, 1), (3, 2), (5, 3)])
def test_split_labels(n_clusters, seed):
    representations = sparse_rows(23, 15, seed)
    representations = sp.csr_array(sp.vstack([representations, sp.csr_array((2, 15), dtype=np.float32)], format="csr"))
    plt_clusters.normalise_rows(csr_parts(representations)[0], representations.data)
    labels = np.setdiff1d(np.arange(25), [3, 8]).astype(np.int32)
    found = plt_clusters.split_labels(
        *unsigned_parts(representations), labels, 15, n_clusters, np.float32(1e-4), 20, seed, 4
    )
    dense = representations.toarray().astype(float)
    assert found.tolist() == naive.plt_training.split_labels(dense, labels, n_clusters, 1e-4, 20, seed, 4)


def test_a_labels_representation_is_its_rows_mean_direction():
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


def problem(n, n_columns, seed, n_children, share=0.3, drawn=0, density=0.4):
    """Rows of length 1, and which of the children each goes to."""
    X = sparse_rows(n, n_columns, seed, density)
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    return X, np.random.default_rng(drawn).random((n, n_children)) < share


def trained(X, targets, loss, C, tol, max_epochs, seed=9, number=3, kept=None, fresh=()):
    m, n = targets.shape
    rows = np.arange(m, dtype=np.int32)
    children = [np.flatnonzero(column).astype(np.int32) for column in targets.T]
    rows_ptr = np.concatenate([[0], np.cumsum([c.size for c in children])]).astype(np.int64)
    features, local = plt_training.gather_rows(*unsigned_parts(X), rows, X.shape[1])
    under = plt_training.NodeRows(rows_ptr, np.concatenate(children), np.empty(0, np.float32))
    settings = plt_training.DescentSettings(
        LOSS_NUMBERS[loss], np.float32(C), np.float32(tol), max_epochs, np.float32(0), seed
    )
    mirrored = n == 2 and bool((targets.sum(axis=1) == 1).all())
    kept = np.zeros((0, n), np.float32) if kept is None else kept
    found = plt_training.train_siblings(
        local, np.ones(m, np.float32), features.size, rows, under, np.arange(n), mirrored, settings, number,
        np.arange(n), kept, np.array(fresh, np.int32),
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
@pytest.mark.parametrize("fresh", [[], [3, 17, 21]])
@pytest.mark.parametrize("n_children", [1, 3, 20])
def test_siblings_go_on_from_kept_duals_as_their_twin(loss, n_children, fresh):
    X, targets = problem(30, 12, n_children, n_children)
    kept = np.random.default_rng(1).random(targets.shape).astype(np.float32)
    duals = 2.0 * kept.astype(float)
    features, (weights, _, _) = trained(X, targets, loss, 2.0, -1.0, 3, kept=kept, fresh=fresh)
    parts = [
        naive.plt_training.descend(
            X.toarray()[:, features], targets[:, c : c + 16].astype(float), loss, 2.0, -1.0, 3, 9, 3,
            duals[:, c : c + 16], fresh,
        )[0]
        for c in range(0, n_children, 16)
    ]  # fmt: skip
    np.testing.assert_allclose(weights, np.hstack(parts), atol=2e-2)
    np.testing.assert_allclose(2 * kept, duals, atol=2e-2)  # the twin moves them in place


@pytest.mark.parametrize("n_children", [1, 20])
def test_no_other_rows_are_visited_when_the_fresh_ones_are_right(n_children):
    X, targets = problem(30, 12, n_children, n_children)
    kept = np.zeros(targets.shape, np.float32)
    before = trained(X, targets, "squared_hinge", 2.0, 1e-4, 500, kept=kept)[1][0]
    before_kept = kept.copy()
    _, (weights, epochs, _) = trained(X, targets, "squared_hinge", 2.0, 0.01, 500, kept=kept, fresh=[4, 9])
    assert epochs == 1
    np.testing.assert_allclose(weights, before, atol=1e-3)
    assert {*np.flatnonzero((kept != before_kept).any(axis=1))} <= {4, 9}


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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("threshold", [0.0, 0.01, 0.3])
def test_threshold_search_finds_what_brute_force_finds(shape, threshold):
    model, X = fitted(*shape)
    found = model.predict_proba(X, threshold)
    with np.errstate(divide="ignore"):
        least = np.log(threshold)
    for i, x in enumerate(X.toarray().astype(float)):
        expected = naive.plt_search.search_threshold(
            model.fitted_[0], shape[0], naive.plt_search.in_columns(x, model.feature_of_column_), least
        )
        row = dict(zip(found[[i]].indices.tolist(), found[[i]].data.tolist()))
        assert row.keys() == {label for label, score in expected.items() if np.float32(np.exp(score)) > 0}
        for label, value in row.items():
            assert value == pytest.approx(np.exp(expected[label]), rel=1e-5)


@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
def test_factors_at_extreme_margins(loss):
    for margin in (-np.inf, -800.0, -1.0, 0.0, 0.5, 1.0, 800.0, np.inf):
        expected = naive.plt_search.log_probability(margin, loss)
        assert plt_factors.log_probability(np.float32(margin), LOSS_NUMBERS[loss]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
def test_margins_below_the_least_have_smaller_factors(loss):
    margins = np.concatenate([np.linspace(-30, 30, 601), [0.999, 1.0, 1.001]]).astype(np.float32)
    factors = np.array([plt_factors.log_probability(m, LOSS_NUMBERS[loss]) for m in margins])
    for wanted in [-np.inf, -900.0, -5.0, -0.7, -1e-3, -1e-13, 0.0]:
        least = plt_factors.least_margin(wanted, LOSS_NUMBERS[loss])
        assert (factors[margins < least] < wanted).all()
        assert (factors[margins > least + 1e-3] >= wanted - 1e-11).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [1, 3, 17])
def test_best_first_search_finds_what_brute_force_finds(shape, k):
    model, X = fitted(*shape)
    found = model.predict_topk(X, k)
    for i, x in enumerate(X.toarray().astype(float)):
        expected = naive.plt_search.search_best_first(
            model.fitted_[0], shape[0], naive.plt_search.in_columns(x, model.feature_of_column_), k
        )
        assert found.labels[i].tolist() == [label for label, _ in expected]
        np.testing.assert_allclose(found.scores[i], np.exp([s for _, s in expected]), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_beam_search_expands_the_best_nodes_of_each_depth(beam):
    model, X = fitted("logistic", 2, 1, True)
    model.set_params(beam=beam)
    found = model.predict_topk(X, 6)
    for i, x in enumerate(X.toarray().astype(float)):
        expected = naive.plt_search.search_beam(
            model.fitted_[0], "logistic", naive.plt_search.in_columns(x, model.feature_of_column_), beam, 6
        )
        labels = [label for label, _ in expected]
        assert found.labels[i].tolist() == labels + [-1] * (6 - len(labels))
        np.testing.assert_allclose(found.scores[i][: len(labels)], np.exp([s for _, s in expected]), rtol=1e-5)


def as_pairs(triples):
    return np.array([(score, row, node) for score, row, node in triples], plt_search_together.PAIR)


@pytest.mark.parametrize("most", [0, 1, 5, 2047, 2048, 5_000_000])
def test_pairs_are_sorted_by_node_and_stay_in_order_within(most):
    rng_ = np.random.default_rng(most)
    nodes = 7 + rng_.integers(0, most + 1, 400)
    pairs = as_pairs((float(i), i % 9, node) for i, node in enumerate(nodes))
    expected = pairs[:390][np.argsort(nodes[:390], kind="stable")]
    last = pairs[390:].copy()
    plt_search_together.sort_by_node(pairs, 390, np.empty(400, plt_search_together.PAIR))
    assert (pairs[:390] == expected).all() and (pairs[390:] == last).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [1, 4, 20])
@pytest.mark.parametrize("beam", [0, 1, 3])
def test_searching_together_finds_the_same_as_alone(shape, k, beam):
    model, X = fitted(*shape)
    X = sp.csr_array(sp.vstack([X, X[:3], X[:1] * 0, sparse_rows(90, 25, 5)]))
    x, rows = (
        model._search.take(csr_parts(X), (0, X.shape[0])),
        np.random.default_rng(k).permutation(X.shape[0])[:100],
    )
    for weights in (None, np.arange(17.0)):
        gains = model._search.gains(weights)
        asked = as_table(model.fitted_, model.leaves_, gains), LOSS_NUMBERS[shape[0]], x, rows, beam
        alone = np.full((100, k), -1, np.int32), np.full((100, k), -np.inf)
        plt_search.search_best_first(*asked, *alone)
        for most in (0, 40, 10_000):
            together = np.full((100, k), -1, np.int32), np.full((100, k), -np.inf)
            given_up = plt_search_together.search_together(*asked, most, *together)
            assert {0: given_up.all(), 40: True, 10_000: not given_up.any()}[most]
            for one, other in zip(alone, together):
                np.testing.assert_array_equal(one[~given_up], other[~given_up])


NO_GAINS = [np.zeros(0)] * 3


@pytest.fixture(scope="module")
def ensemble():
    Y = np.random.default_rng(0).random((60, 17)) < 0.15
    return PLT(n_estimators=3, max_leaf_labels=2, n_jobs=1).fit(sparse_rows(60, 25, 0), Y)


def test_a_tree_with_arrays_of_other_types_is_refused(ensemble):
    one, two, three = ensemble.fitted_
    with pytest.raises(TypeError, match="bias of a tree must be a contiguous array of float32, not of float64"):
        as_table([one, two._replace(bias=two.bias.astype(np.float64)), three], ensemble.leaves_, NO_GAINS)
    with pytest.raises(TypeError, match="leaf_of_label of a tree must be a contiguous array"):
        as_table([one, two], [ensemble.leaves_[0], np.repeat(ensemble.leaves_[1], 2)[::2]], NO_GAINS)


@pytest.mark.parametrize("n_labels", [1, 2])
def test_an_ensemble_over_one_or_two_labels_ranks_them(n_labels):
    Y = sp.csr_array(np.ones((8, n_labels), bool))
    found = PLT(n_estimators=2, n_jobs=1).fit(sparse_rows(8, 5, 0), Y).predict_topk(sparse_rows(4, 5, 1), 2)
    assert found.labels.tolist() == [[0, 1] if n_labels == 2 else [0, -1]] * 4


PREDICT = """
import sys
import numpy as np
from xmlcore import load_model

model, X, found = load_model(sys.argv[1]), np.load(sys.argv[2]), []
for beam in (None, 1, 2):
    for k in (1, 3, model.n_labels_):
        found.append(model.set_params(beam=beam).predict_topk(X, k).labels.ravel())
np.save(sys.argv[3], np.concatenate(found))
"""


@pytest.mark.parametrize(
    "leaf, C, unlabelled", [(1, 0.1, 0), pytest.param(2, 1.0, 20, marks=[pytest.mark.slow, pytest.mark.long])]
)
def test_nothing_is_read_or_written_outside_an_array(tmp_path, monkeypatch, leaf, C, unlabelled):
    """Without the compiler, in another process, an index outside an array is an error.

    Rows without labels give each root a probability, which is 0 in some trees only for some rows of large values.
    """
    random = np.random.default_rng(0)
    X = (random.random((60, 12)) * (random.random((60, 12)) < 0.5)).astype(np.float32)
    Y = np.eye(9, dtype=bool)[random.integers(0, 9, 60)] | (random.random((60, 9)) < 0.1)
    Y[:unlabelled] = False
    settings = {"loss": "logistic", "C": C, "n_estimators": 3, "n_jobs": 1, "weight_threshold": 0, "normalize": None}
    PLT(tree="random", arity=2, max_leaf_labels=leaf, **settings).fit(X, Y).save(tmp_path / "model")
    far = random.normal(size=(3 * unlabelled, 12)) * 10 ** random.uniform(0, 6, (3 * unlabelled, 1))
    np.save(tmp_path / "X.npy", np.concatenate([X[:20], far]))
    names = [str(tmp_path / name) for name in ("model", "X.npy", "without.npy", "found.npy")]
    command = [sys.executable, "-c", PREDICT, *names[:3]]
    subprocess.run(command, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, check=True)
    monkeypatch.setattr(sys, "argv", ["", *names[:2], names[3]])
    exec(PREDICT, {})
    np.testing.assert_array_equal(*map(np.load, names[2:]))
