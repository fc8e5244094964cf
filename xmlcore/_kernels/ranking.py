"""Selection of the top k labels, and hits.

Rankings have label ids in int32, -1 where there is no label. True labels are the rows of a CSR matrix with sorted
indices.
"""

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.k_best import keep, rank_heap
from xmlcore._kernels.sorting import first_at_least


@kernel
def top_k_dense(values, labels, scores):
    """Write the k columns with the largest values of each row, best first; no value is nan, and k is not 0."""
    n, n_labels = values.shape
    k = labels.shape[1]
    for i in range(n):
        best = scores[i]
        best_labels = labels[i]
        row = values[i]
        size = 0
        worst = -np.inf
        for label in range(n_labels):
            if size < k or row[label] > worst:  # labels come in order, so an equal score never wins
                size = keep(best, best_labels, size, row[label], np.int32(label))
                worst = best[0]
        rank_heap(best, best_labels, size)
        for j in range(size, k):
            labels[i, j] = -1
            scores[i, j] = 0.0


@kernel
def top_k_sparse(indptr, indices, data, labels, scores):
    """Write the k largest stored entries of each row, best first; see :func:`top_k_dense`."""
    for i in range(indptr.size - 1):
        best = scores[i]
        best_labels = labels[i]
        size = 0
        for p in range(indptr[i], indptr[i + 1]):
            size = keep(best, best_labels, size, data[p], indices[p])
        rank_heap(best, best_labels, size)
        for j in range(size, labels.shape[1]):
            labels[i, j] = -1
            scores[i, j] = 0.0


@kernel
def mark_hits(indptr, indices, labels, hits):
    """Write into ``hits`` (bool, n × k) whether the label at each place is one of the row's true labels."""
    n, k = labels.shape
    for i in range(n):
        for j in range(k):
            at = first_at_least(indices, indptr[i], indptr[i + 1], labels[i, j])
            hits[i, j] = at < indptr[i + 1] and indices[at] == labels[i, j]
