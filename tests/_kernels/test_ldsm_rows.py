"""The rows of a node are numbered among what occurs in them."""

import numpy as np

from xmlcore._kernels import ldsm_rows


def test_ids_of_a_nodes_rows_are_numbered_among_those_that_occur():
    ptr, ids = np.array([0, 3, 3, 5, 8]), np.array([9, 2, 40, 7, 2, 40, 41, 9], np.int32)
    place = np.full(50, -1, np.int32)
    own_ptr, own, kept = ldsm_rows.gather_lists(ptr, ids, np.array([0, 3], np.int32), place)
    assert kept.tolist() == [2, 9, 40, 41] and own_ptr.tolist() == [0, 3, 6]
    assert kept[own].tolist() == [9, 2, 40, 40, 41, 9] and (place == -1).all()
    values = ldsm_rows.gather_values(ptr, np.arange(8.0), np.array([3, 0], np.int32))
    assert values.tolist() == [5, 6, 7, 0, 1, 2]
