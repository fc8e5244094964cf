"""Margins of siblings are those of the plain-Python twin."""

import naive
import numpy as np
import pytest

from xmlcore._kernels import lanes, plt_margins, plt_tree
from xmlcore.arrays import read_only
from xmlcore.models.plt.saving import DTYPES


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
            assert (out[i, size : plt_tree.padded_size(size)] == -np.inf).all()
        tiles = n_rows if n_rows == 1 else -(-n_rows // lanes.TILE_ROWS) * lanes.TILE_ROWS
        assert np.isnan(out[tiles:]).all()
