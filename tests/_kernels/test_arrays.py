"""Longer copies of arrays hold what was there."""

import naive
import numpy as np
import pytest

from xmlcore._kernels.arrays import enlarged


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("filled, size", [(0, 0), (0, 4), (3, 3), (3, 8), (5, 5), (5, 12)])
def test_the_filled_entries_are_copied(dtype, filled, size):
    array = np.arange(1, 6).astype(dtype)
    copy = enlarged(array, np.int64(filled), size)
    expected = naive.arrays.enlarged(array.tolist(), filled, size)
    assert copy.dtype == dtype and copy.size == len(expected)
    assert copy[:filled].tolist() == expected[:filled]
    copy[:] = 0
    np.testing.assert_array_equal(array, np.arange(1, 6))
