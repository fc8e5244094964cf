"""Rows in columns, and the index of columns, do what their plain-Python twins do."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore._kernels import plt_index, plt_rows
from xmlcore.arrays import columns_of
from xmlcore.validation import csr_parts


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
    expected = naive.plt_rows.take_rows(rows[1:], feature_of_column, unit)
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
        expected = naive.plt_rows.dense_row(row, feature_of_column, unit)
        assert (expected is None) == (at < 0)
        if at >= 0:
            np.testing.assert_allclose(dense[at], expected, rtol=1e-6)
    rest = sp.csr_array(X)[[1, 2, 3, 4, 5]]
    rest = sp.csr_array(sp.diags_array((dense_at < 0).astype(np.float32)) @ rest)
    rest.eliminate_zeros()
    rest.sort_indices()
    for found, expected in zip((ptr, taken, values), plt_rows.take_rows(*csr_parts(rest), 0, 5, *columns, unit)):
        np.testing.assert_array_equal(found, expected)
