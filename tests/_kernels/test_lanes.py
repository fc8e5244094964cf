"""Operations on sixteen lanes do what their plain-Python twins do."""

import naive
import numpy as np
import pytest
from _kernels.plt_problems import compiled, sparse_rows

from xmlcore._kernels import lanes
from xmlcore.validation import csr_parts

margins_of_row, add_row, count_bits, add_scaled, add_rows, add_one_row, add_one_row_wide = map(
    compiled,
    (lanes.margins_of_row, lanes.add_row, lanes.count_bits, lanes.add_scaled, lanes.add_rows, lanes.add_one_row,
     lanes.add_one_row_wide),
)  # fmt: skip


def test_row_operations_on_lanes_are_those_of_the_twins():
    X = sparse_rows(5, 7, 3, density=0.5)
    indptr, indices, data = csr_parts(X)
    weights = np.random.default_rng(0).standard_normal((9, 16)).astype(np.float32)
    for i in range(5):
        margins = np.zeros(16, np.float32)
        begin, end = indptr[i], indptr[i + 1]
        row = list(zip(indices[begin:end].tolist(), data[begin:end]))
        margins_of_row(weights.ravel(), 8 * 16, indices.view(np.uint32), data, begin, end, margins)
        expected = naive.lanes.margins_of_row(weights, weights[8], row)
        np.testing.assert_allclose(margins, expected, rtol=1e-5, atol=1e-6)
        changed = weights.ravel().copy()
        add_row(changed, 8 * 16, indices.view(np.uint32), data, begin, end, margins)
        expected = naive.lanes.add_row(weights, [(8, 1.0), *row], margins)
        np.testing.assert_allclose(changed.reshape(9, 16), expected, rtol=1e-5, atol=1e-6)


def test_bits_are_counted():
    numbers = [0, 1, 2, 3, 255, 2**31, 2**32 - 1, *np.random.default_rng(0).integers(0, 2**32, 50).tolist()]
    assert [count_bits(np.uint32(n)) for n in numbers] == [naive.lanes.count_bits(n) for n in numbers]


def test_a_scaled_row_is_added_at_its_place():
    out, values = np.arange(48, dtype=np.float32), np.arange(40, dtype=np.float32)
    add_scaled(out, 16, values, 7, np.float32(2))
    assert out[16:32].tolist() == [16 + c + 2 * (7 + c) for c in range(16)]
    assert out[:16].tolist() == list(range(16)) and out[32:].tolist() == list(range(32, 48))


@pytest.mark.parametrize(
    "add, n_rows, n_lanes", [(add_rows, lanes.TILE_ROWS, 16), (add_one_row, 1, 16), (add_one_row_wide, 1, lanes.WIDE)]
)
def test_a_tile_adds_products_in_the_order_of_columns(add, n_rows, n_lanes):
    rng_ = np.random.default_rng(n_lanes)
    rows, out = rng_.standard_normal((9, 50), np.float32), rng_.standard_normal(n_rows * 90 + 7, np.float32)
    weights = rng_.standard_normal((40, 83), np.float32)
    columns = np.sort(rng_.choice(50, 38, replace=False)).astype(np.int32)
    places, expected = rng_.integers(0, 9, 3 + n_rows), out.copy()
    for i in range(n_rows):
        own = expected[7 + 90 * i :][:n_lanes]
        own[:] = naive.lanes.add_products(own, rows[places[3 + i]], columns[4:33], weights[2:, 5 : 5 + n_lanes])
    add(out, 7, 90, weights.ravel(), 2 * 83 + 5, 83, columns, 4, 33, rows, places, 3)
    np.testing.assert_array_equal(out, expected)
    add(out, 7, 90, weights.ravel(), 0, 83, columns, 4, 4, rows, places, 3)
    np.testing.assert_array_equal(out, expected)
