"""Random numbers, sorting, selection and shares of rows are those of the plain-Python twins."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore._kernels import k_best, rng
from xmlcore._kernels.arrays import enlarged
from xmlcore._kernels.sorting import sort_in_place, stable_order
from xmlcore._kernels.stratify import distribute
from xmlcore.validation import csr_parts


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("filled, size", [(0, 0), (0, 4), (3, 3), (3, 8), (5, 5), (5, 12)])
def test_the_filled_entries_are_copied(dtype, filled, size):
    array = np.arange(1, 6).astype(dtype)
    copy = enlarged(array, np.int64(filled), size)
    expected = naive.sorting.enlarged(array.tolist(), filled, size)
    assert copy.dtype == dtype and copy.size == len(expected)
    assert copy[:filled].tolist() == expected[:filled]
    copy[:] = 0
    np.testing.assert_array_equal(array, np.arange(1, 6))


@pytest.mark.parametrize("seed, number", [(0, 0), (1, 7), (2**32 - 1, 123456)])
def test_random_streams_are_the_documented_generator(seed, number):
    assert int(rng.stream(seed, number)) == naive.rng.stream(seed, number)
    assert rng.permutation(50, seed, number).tolist() == naive.rng.permutation(50, seed, number)


SIZES = (0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 100, 1000)


def many(size, n_values, seed):
    """Numbers with many equal ones among them, infinities too."""
    values = np.random.default_rng(seed).integers(0, n_values, size).astype(np.float64)
    values[values == 1] = np.inf
    values[values == 2] = -np.inf
    return values


@pytest.mark.parametrize("n_values", [2, 5, 10**9])
def test_equal_keys_keep_their_order(n_values):
    for size in SIZES:
        for keys in (many(size, n_values, size), np.sort(many(size, n_values, 1)), -np.sort(many(size, n_values, 2))):
            before = keys.copy()
            assert stable_order(keys).tolist() == naive.sorting.stable_order(keys.tolist())
            np.testing.assert_array_equal(keys, before)


@pytest.mark.parametrize("n_values", [2, 5, 2**62])
def test_integers_are_sorted(n_values):
    for size in SIZES:
        drawn = np.random.default_rng(size).integers(-n_values, n_values, size)
        for keys in (drawn, np.sort(drawn), -np.sort(drawn)):
            expected = keys.tolist()
            naive.sorting.sort_in_place(expected)
            sort_in_place(keys)
            assert keys.tolist() == expected


def pairs_with_ties(n, seed):
    """(score, id) pairs in random order: few different scores, each id once."""
    rng = np.random.default_rng(seed)
    return list(zip((rng.integers(0, 4, n) / 4).tolist(), rng.permutation(n).tolist()))


@pytest.mark.parametrize(("seed", "k"), [*enumerate([1, 2, 7, 40])])
def test_labels_offered_one_by_one_are_the_k_best(seed, k):
    pairs = pairs_with_ties(30, seed)
    scores, labels, count = np.full((3, k), -7.0), np.full((3, k), -7, np.int32), 0
    for n, (score, label) in enumerate(pairs, 1):
        count = k_best.offer(scores, labels, 1, count, k, score, np.int32(label))
        expected = naive.sorting.k_best(pairs[:n], k)
        assert count == len(expected)
        assert list(zip(scores[1, :count].tolist(), labels[1, :count].tolist())) == expected
    assert (scores[[0, 2]] == -7).all() and (labels[[0, 2]] == -7).all(), "other rows were changed"


@pytest.mark.parametrize("seed", range(2))
def test_a_heap_gives_its_nodes_in_order(seed):
    rng = np.random.default_rng(100 + seed)
    scores, nodes, size = np.empty(50), np.empty(50, np.int32), 0
    inside, waiting = [], pairs_with_ties(50, seed)
    while inside or waiting:
        if waiting and (not inside or rng.random() < 0.6):
            score, node = waiting.pop()
            size = k_best.heap_push(scores, nodes, size, score, np.int32(node))
            inside.append((score, node))
        else:
            top = naive.sorting.in_order(inside)[0]
            assert (scores[0], nodes[0]) == top
            size = k_best.heap_pop(scores, nodes, size)
            inside.remove(top)
        assert size == len(inside)


@pytest.mark.parametrize(("seed", "shares"), [*enumerate([(0.8, 0.2), (0.25, 0.25, 0.5), (0.25,) * 4])])
def test_rows_are_distributed_as_by_the_twin(seed, shares):
    rng = np.random.default_rng(seed)
    dense = rng.random((50, 8)) < rng.uniform(0.02, 0.5, 8)
    Y, order = sp.csr_array(dense), rng.permutation(50)
    by_label, ties = Y[order].tocsc(), rng.integers(0, 2**40, 50)
    found = distribute(
        *csr_parts(Y)[:2],
        by_label.indptr.astype(np.int64),
        order[by_label.indices].astype(np.int32),
        np.array(shares),
        ties,
    )
    rows = [set(np.flatnonzero(row).tolist()) for row in dense]
    assert found.tolist() == naive.sorting.distribute(rows, 8, order.tolist(), list(shares), ties.tolist())
