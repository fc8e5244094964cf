"""Searches of label trees do what their plain-Python twins do."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from _kernels.plt_problems import sparse_rows

from xmlcore import PLT
from xmlcore._kernels import (
    lanes,
    plt_candidates,
    plt_factors,
    plt_margins,
    plt_search,
    plt_search_together,
    plt_tree,
)
from xmlcore.arrays import read_only
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.models.plt.saving import DTYPES
from xmlcore.validation import csr_parts


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
