"""Rows in columns, margins and clusters of labels are those of the plain-Python twins."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from _kernels.plt_problems import sparse_rows

from xmlcore._kernels import lanes, plt_clusters, plt_index, plt_margins, plt_rows, plt_tree
from xmlcore.arrays import columns_of, read_only
from xmlcore.models.plt.building import build_tree, label_representations
from xmlcore.models.plt.saving import DTYPES
from xmlcore.validation import check_labels, csr_parts


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
            assert naive.plt_search.find_column(part, shift[g], columns, int(column)) == (place if known else None)


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("n_features", [60, 1_000_000])
def test_rows_are_taken_in_columns_without_unknown_features(n_features, unit):
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
    expected = naive.plt_search.take_rows(rows[1:], feature_of_column, unit)
    ptr, columns, values = plt_rows.take_rows(*csr_parts(X), 1, 4, *columns_of(feature_of_column, n_features), unit)
    assert ptr.tolist() == [0, 0, 40, 40]
    for i, pairs in enumerate(expected):
        assert columns[ptr[i] : ptr[i + 1]].tolist() == [column for column, _ in pairs]
        np.testing.assert_allclose(values[ptr[i] : ptr[i + 1]], [value for _, value in pairs], rtol=1e-6)


def test_zones_come_one_after_the_other():
    indices = np.array([3, 40, 5, 200_000, 130, 600, 3000, 9000, 40_000, 1, 33], np.int32)
    of_feature = np.empty(0, np.int32), np.arange(200_001, dtype=np.int32)
    for part in of_feature:
        part.flags.writeable = False  # as those of models: else the kernel would be compiled once more
    values = np.ones(indices.size, np.float32)
    _, columns, _ = plt_rows.take_rows(np.array([0, 11]), indices, values, 0, 1, *of_feature, True)
    assert columns.tolist() == [3, 5, 1, 40, 33, 130, 600, 3000, 9000, 40_000, 200_000]


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("n_features", [60, 1_000_000])
def test_rows_with_a_quarter_of_all_columns_are_dense(n_features, unit):
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
    found = plt_rows.rows_in_columns(*csr_parts(sp.csr_array(X)), 1, 6, *columns, unit, 40, 10)
    ptr, taken, values, dense_at, dense = found
    assert dense_at.tolist() == [-1, 0, -1, 1, -1] and dense.shape == (2, 40)
    for row, at in zip(rows[1:], dense_at):
        expected = naive.plt_search.dense_row(row, feature_of_column, unit)
        assert (expected is None) == (at < 0)
        if at >= 0:
            np.testing.assert_allclose(dense[at], expected, rtol=1e-6)
    rest = sp.csr_array(X)[[1, 2, 3, 4, 5]]
    rest = sp.csr_array(sp.diags_array((dense_at < 0).astype(np.float32)) @ rest)
    rest.eliminate_zeros()
    rest.sort_indices()
    for found, expected in zip((ptr, taken, values), plt_rows.take_rows(*csr_parts(rest), 0, 5, *columns, unit)):
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
def test_margins_are_the_same_bits_alone_and_beside_others(n_rows, share, is_dense):
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
        for i in {0, n_rows - 1}:
            np.testing.assert_array_equal(out[i, :size], naive.plt_search.dense_row_margins(tree, g, dense[wanted[i]]))
            assert (out[i, size : plt_tree.padded_size(size)] == -np.inf).all()
        tiles = n_rows if n_rows == 1 else -(-n_rows // lanes.TILE_ROWS) * lanes.TILE_ROWS
        assert np.isnan(out[tiles:]).all()


def test_normalise_rows_leaves_empty_rows_alone():
    X = sparse_rows(12, 9, 0)
    X = sp.csr_array(sp.vstack([X, sp.csr_array((1, 9), dtype=np.float32)], format="csr"))
    expected = naive.plt_training.normalise_rows(X.toarray().astype(float))
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    np.testing.assert_allclose(X.toarray(), expected, rtol=1e-6)


@pytest.mark.parametrize("n, k", [(7, 2), (10, 3), (5, 5), (31, 4)])
def test_assignment_is_balanced_and_takes_the_surest_first(n, k):
    similarity = np.random.default_rng(n).random((n, k)).astype(np.float32)
    capacity = np.array([n // k + (c < n % k) for c in range(k)])
    clusters = np.empty(n, np.int32)
    plt_clusters.assign_balanced(similarity, capacity, clusters)
    assert clusters.tolist() == naive.plt_training.assign_balanced(similarity.tolist(), capacity.tolist())
    assert np.bincount(clusters, minlength=k).tolist() == capacity.tolist()


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
