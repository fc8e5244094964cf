"""The compiled parts against their plain-Python twins."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import metrics
from xmlcore._kernels import ranking as kernels


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
