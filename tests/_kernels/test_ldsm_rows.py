"""The rows of a node are numbered among what occurs in them, and standardised as by the plain-Python twin."""

import naive
import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import ldsm_rows
from xmlcore.validation import csr_parts


def test_ids_of_a_nodes_rows_are_numbered_among_those_that_occur():
    ptr, ids = np.array([0, 3, 3, 5, 8]), np.array([9, 2, 40, 7, 2, 40, 41, 9], np.int32)
    place = np.full(50, -1, np.int32)
    own_ptr, own, kept = ldsm_rows.gather_lists(ptr, ids, np.array([0, 3], np.int32), place)
    assert kept.tolist() == [2, 9, 40, 41] and own_ptr.tolist() == [0, 3, 6]
    assert kept[own].tolist() == [9, 2, 40, 40, 41, 9] and (place == -1).all()
    values = ldsm_rows.gather_values(ptr, np.arange(8.0), np.array([3, 0], np.int32))
    assert values.tolist() == [5, 6, 7, 0, 1, 2]


def test_standardised_rows_are_those_of_the_twin():
    random = np.random.default_rng(0)
    dense = np.where(random.random((9, 5)) < 0.5, random.normal(size=(9, 5)), 0.0)
    dense[:, 3] = 2.5  # constant
    dense[4] = [0, 0, 0, 2.5, 0]
    X = sp.csr_array(dense)
    data = ldsm_rows.TrainingRows(*csr_parts(X), np.arange(10), np.zeros(9, np.int32))
    rows, values = np.arange(9, dtype=np.int32)[::-1], np.empty(5)
    standards = ldsm_rows.standards(data, rows, np.arange(5, dtype=np.int32), 5)
    expected = naive.ldsm_rows.standardise([dict(zip(X[[i]].indices.tolist(), X[[i]].data)) for i in range(9)])
    for i, row in enumerate(rows):
        ldsm_rows.read_standardised(standards, i, values)
        np.testing.assert_allclose(values, [expected[row][f] for f in range(5)], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(values * standards.scales + standards.means, dense[row], atol=1e-12)
