"""Sorting and selection do what their plain-Python twins do."""

import naive
import numpy as np
import pytest

from xmlcore._kernels.sorting import nth_smallest, sort_in_place, stable_order

SIZES = (1, 2, 3, 15, 16, 17, 31, 32, 33, 100, 1000)


def many(size, n_values, seed):
    """Numbers with many equal ones among them, infinities too."""
    values = np.random.default_rng(seed).integers(0, n_values, size).astype(np.float64)
    values[values == 1] = np.inf
    values[values == 2] = -np.inf
    return values


@pytest.mark.parametrize("n_values", [2, 5, 10**9])
@pytest.mark.parametrize("size", (0, *SIZES))
def test_equal_keys_keep_their_order(size, n_values):
    for keys in (many(size, n_values, size), np.sort(many(size, n_values, 1)), -np.sort(many(size, n_values, 2))):
        before = keys.copy()
        assert stable_order(keys).tolist() == naive.sorting.stable_order(keys.tolist())
        np.testing.assert_array_equal(keys, before)


@pytest.mark.parametrize("n_values", [2, 5, 2**62])
@pytest.mark.parametrize("size", (0, *SIZES))
def test_integers_are_sorted(size, n_values):
    drawn = np.random.default_rng(size).integers(-n_values, n_values, size)
    for keys in (drawn, np.sort(drawn), -np.sort(drawn)):
        expected = keys.tolist()
        naive.sorting.sort_in_place(expected)
        sort_in_place(keys)
        assert keys.tolist() == expected


@pytest.mark.parametrize("n_values", [2, 5, 10**9])
@pytest.mark.parametrize("size", SIZES)
def test_the_nth_smallest_value_is_that_of_the_sorted_ones(size, n_values):
    for values in (many(size, n_values, size), np.sort(many(size, n_values, 1)), -np.sort(many(size, n_values, 2))):
        values = values.astype(np.float32)
        for n in {0, size // 3, size // 2, size - 1}:
            assert nth_smallest(values.copy(), n) == naive.sorting.nth_smallest(values.tolist(), n)
