"""Selection of the top k labels, repeated labels, and hits.

Rankings have label ids in int32, -1 where there is no label. True labels are the rows of a CSR matrix with sorted
indices.
"""

import numpy as np

from xmlcore._kernels._jit import kernel


@kernel
def _before(score, label, other_score, other_label):
    """Return whether the first label is ranked before the other: higher score, then smaller id."""
    return score > other_score or (score == other_score and label < other_label)


@kernel
def _sink(scores, labels, size):
    """Restore a heap, which has the last label in rank on top, where only the top may be out of place."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and _before(scores[child], labels[child], scores[child + 1], labels[child + 1]):
            child += 1
        if not _before(scores[at], labels[at], scores[child], labels[child]):
            return
        scores[at], scores[child] = scores[child], scores[at]
        labels[at], labels[child] = labels[child], labels[at]
        at = child


@kernel
def _offer(scores, labels, size, score, label):
    """Add a label to a heap that keeps the best ``scores.size`` labels; return the number of labels in it."""
    if size < scores.size:
        at = size
        while at > 0:
            parent = (at - 1) // 2
            if not _before(scores[parent], labels[parent], score, label):
                break
            scores[at] = scores[parent]
            labels[at] = labels[parent]
            at = parent
        scores[at] = score
        labels[at] = label
        return size + 1
    if _before(score, label, scores[0], labels[0]):
        scores[0] = score
        labels[0] = label
        _sink(scores, labels, size)
    return size


@kernel
def _unheap(scores, labels, size):
    """Sort the heap into a ranking, best first."""
    for last in range(size - 1, 0, -1):
        scores[0], scores[last] = scores[last], scores[0]
        labels[0], labels[last] = labels[last], labels[0]
        _sink(scores, labels, last)


@kernel
def top_k_dense(values, labels, scores):
    """Write the k columns with the largest values of each row, best first.

    Parameters
    ----------
    values : ndarray of float64, shape (n, L)
        No nan.
    labels : ndarray of int32, shape (n, k)
        Out. k must not be 0.
    scores : ndarray of float64, shape (n, k)
        Out.
    """
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
                size = _offer(best, best_labels, size, row[label], np.int32(label))
                worst = best[0]
        _unheap(best, best_labels, size)
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
            size = _offer(best, best_labels, size, data[p], indices[p])
        _unheap(best, best_labels, size)
        for j in range(size, labels.shape[1]):
            labels[i, j] = -1
            scores[i, j] = 0.0


@kernel
def first_repeat(labels, seen):
    """Return the flat position of the first label that is in one row twice, or -1.

    Parameters
    ----------
    labels : ndarray of int32, shape (n, k)
        Each below L.
    seen : ndarray of int64, shape (L,)
        Zeros; work space.
    """
    n, k = labels.shape
    for i in range(n):
        for j in range(k):
            label = labels[i, j]
            if label >= 0:
                if seen[label] == i + 1:
                    return i * k + j
                seen[label] = i + 1
    return -1


@kernel
def _holds(indices, start, stop, label):
    """Return whether the sorted ``indices[start:stop]`` contain ``label``."""
    end = stop
    while start < stop:
        middle = (start + stop) // 2
        if indices[middle] < label:
            start = middle + 1
        else:
            stop = middle
    return start < end and indices[start] == label


@kernel
def mark_hits(indptr, indices, labels, hits):
    """Write into ``hits`` (bool, n × k) whether the label at each place is one of the row's true labels."""
    n, k = labels.shape
    for i in range(n):
        for j in range(k):
            hits[i, j] = _holds(indices, indptr[i], indptr[i + 1], labels[i, j])
