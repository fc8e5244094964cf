"""The kernels of decisions against their twins."""

import naive.decisions
import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore._kernels.decisions import COVERAGE, MACRO_F1, MACRO_PRECISION, improve_sets, take_by_gains


def problem(seed=0):
    P = sp.random_array((30, 8), density=0.5, rng=np.random.default_rng(seed), format="csr", dtype=np.float64)
    P.data = np.round(P.data, 1)  # with ties, and with 0 and 1
    ptr, labels = P.indptr.astype(np.int64), P.indices.astype(np.int32)
    rows = [[*zip(labels[a:b].tolist(), P.data[a:b].tolist())] for a, b in zip(ptr, ptr[1:])]
    return (ptr, labels, P.data), rows


def places(ptr, taken):
    return [set(np.flatnonzero(taken[a:b]).tolist()) for a, b in zip(ptr, ptr[1:])]


@pytest.mark.parametrize("fill", [True, False])
@pytest.mark.parametrize("k", [0, 1, 3, 9])
def test_the_largest_gains_of_the_part_of_a_row_are_taken(k, fill):
    P, _ = problem()
    P[2][:] += 1e-9 * np.arange(P[2].size)  # what draws the part of a row
    slopes, offsets = np.random.default_rng(1).random((3, 8)), -0.5 * np.random.default_rng(2).random((3, 8))
    taken, reach = np.zeros(P[1].size, bool), np.array([0.2, 0.6, 1.0])
    take_by_gains(*P, slopes, offsets, reach, k, fill and k > 0, np.empty(8), taken)
    parts = [naive.decisions.part_of(P[2][a:b].tolist(), reach) for a, b in zip(P[0], P[0][1:])]
    assert {*parts} == {0, 1, 2}
    rows = [[*zip(P[1][a:b].tolist(), P[2][a:b].tolist())] for a, b in zip(P[0], P[0][1:])]
    gains = [
        [(slopes[part, label] * p + offsets[part, label], label) for label, p in row] for part, row in zip(parts, rows)
    ]
    assert places(P[0], taken) == [naive.decisions.by_gains(row, k, fill and k > 0) for row in gains]


@pytest.mark.parametrize("k", [0, 2])
@pytest.mark.parametrize(
    ("kind", "worth"),
    [
        (MACRO_F1, naive.decisions.macro_f1(0.5, np.arange(1, 9))),
        (MACRO_PRECISION, naive.decisions.macro_precision(0.5)),
        (COVERAGE, naive.decisions.coverage(0.5)),
    ],
)
def test_a_pass_chooses_each_row_anew(kind, worth, k):
    P, rows = problem(3)
    P[2][:] = np.minimum(P[2], 0.9) * 0.9 + 0.001 * np.arange(P[2].size) / P[2].size  # no ties, no sure labels
    rows = [[*zip(P[1][a:b].tolist(), P[2][a:b].tolist())] for a, b in zip(P[0], P[0][1:])]
    taken, sums = np.zeros(P[1].size, bool), np.zeros((3, 8))
    of_labels = np.stack([np.zeros(8), np.zeros(8), np.arange(1.0, 9)])
    expected = [set() for _ in rows]
    for _ in range(3):
        improve_sets(*P, kind, 0.5, of_labels, k, k > 0, sums, np.empty(8), taken)
        expected = naive.decisions.improved_sets(rows, expected, worth, k, k > 0)
        assert places(P[0], taken) == expected
    np.testing.assert_allclose(sums[0], np.bincount(P[1][taken], P[2][taken], minlength=8), atol=1e-12)
    np.testing.assert_array_equal(sums[1], np.bincount(P[1][taken], minlength=8))
