"""Random numbers, sorting, selection, shares of rows and rankings are those of the plain-Python twins."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import metrics
from xmlcore._kernels import k_best, rng
from xmlcore._kernels import ranking as kernels
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


def assert_best(labels, scores, pairs):
    """Assert that a row has the best of its pairs of label and score, and is filled up behind them."""
    expected = naive.sorting.top_k(pairs, labels.size)
    missing = labels.size - len(expected)
    assert labels.tolist() == [label for label, _ in expected] + [-1] * missing
    assert scores.tolist() == [score for _, score in expected] + [0.0] * missing


@pytest.mark.parametrize("seed", range(5))
def test_top_k_of_dense_scores_with_many_ties(seed):
    rng = np.random.default_rng(seed)
    for n_labels, k in [(1, 1), (2, 1), (9, 3), (30, 10), (30, 30), (5, 8)]:
        values = rng.integers(-3, 4, (20, n_labels)) / 2
        values[rng.random(values.shape) < 0.1] = -np.inf
        labels, scores = np.empty((20, k), np.int32), np.empty((20, k))
        kernels.top_k_dense(values, labels, scores)
        for i in range(20):
            assert_best(labels[i], scores[i], enumerate(values[i].tolist()))


@pytest.mark.parametrize("seed", range(5))
def test_top_k_of_sparse_scores_with_many_ties(seed):
    rng = np.random.default_rng(seed)
    for n_labels, k in [(1, 1), (9, 3), (30, 10), (5, 8)]:
        stored = rng.random((20, n_labels)) < 0.4
        rows, columns = np.nonzero(stored)
        order = rng.permutation(rows.size)  # entries of a row in any order
        order = order[np.argsort(rows[order], kind="stable")]
        data = rng.integers(-3, 4, rows.size) / 2
        indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))]).astype(np.int64)
        indices = columns[order].astype(np.int32)
        labels, scores = np.empty((20, k), np.int32), np.empty((20, k))
        kernels.top_k_sparse(indptr, indices, data, labels, scores)
        for i in range(20):
            pairs = zip(indices[indptr[i] : indptr[i + 1]].tolist(), data[indptr[i] : indptr[i + 1]].tolist())
            assert_best(labels[i], scores[i], pairs)


@pytest.mark.skipif(not hasattr(kernels.mark_hits, "signatures"), reason="kernels are not compiled (NUMBA_DISABLE_JIT)")
def test_warm_up_compiles_all_that_any_input_needs():
    metrics.warm_up()
    used = [kernels.top_k_dense, kernels.top_k_sparse, kernels.mark_hits]
    before = [list(kernel.signatures) for kernel in used]
    assert all(before)
    Y = np.eye(4)
    weights = np.ones(4)
    frozen = np.arange(16).reshape(4, 4) % 4
    for array in (weights, frozen):
        array.setflags(write=False)
    scores = np.random.default_rng(0).random((4, 4))
    scores.setflags(write=False)
    for ranking in (frozen, np.asfortranarray(frozen), frozen[:, ::-1], frozen.astype(np.uint8), frozen.tolist()):
        metrics.measures(Y, ranking, 2, weights)
        metrics.measures(sp.csc_matrix(Y), ranking, 6, weights)
        metrics.hits(Y, ranking)
        metrics.hits(Y, ranking, 6)
    for values in (scores, scores.astype(np.float32), np.asfortranarray(scores), scores[:, ::-1]):
        metrics.measures(Y, values, 2, weights)
    wide = sp.csr_array(scores)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for values in (sp.coo_matrix(scores), sp.csr_matrix(scores.astype(np.float32)), wide):
        metrics.measures(Y, values, 2, weights)
    assert [list(kernel.signatures) for kernel in used] == before
