"""Balanced spherical k-means on sparse label representations: one call splits one tree node."""

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.rng import shuffle, stream


@kernel
def normalise_rows(indptr, data):
    """Scale every CSR row to Euclidean length 1, in place; rows without entries stay as they are."""
    for i in range(indptr.size - 1):
        total = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            total += np.float64(data[t]) * np.float64(data[t])
        if total > 0.0:
            scale = 1.0 / np.sqrt(total)  # may be beyond float32
            for t in range(indptr[i], indptr[i + 1]):
                data[t] = np.float32(data[t] * scale)


@kernel
def assign_balanced(similarity, capacity, clusters):
    """Give every label its best cluster that has room left, the surest labels first.

    A label is surer when its best cluster beats its second best by more. With two clusters this is the balanced split
    of greatest total similarity.

    Parameters
    ----------
    similarity : float32 (n, k)
    capacity : int64 (k,), sums to n
    clusters : int32 (n,), written
    """
    n, k = similarity.shape
    margin = np.empty(n, np.float32)
    for i in range(n):
        best = np.float32(-np.inf)
        second = np.float32(-np.inf)
        for c in range(k):
            s = similarity[i, c]
            if s > best:
                second = best
                best = s
            elif s > second:
                second = s
        margin[i] = second - best  # ascending: the surest first
    order = np.argsort(margin, kind="mergesort")
    room = capacity.copy()
    for o in range(n):
        i = order[o]
        chosen = -1
        for c in range(k):
            if room[c] > 0 and (chosen < 0 or similarity[i, c] > similarity[i, chosen]):
                chosen = c
        clusters[i] = chosen
        room[chosen] -= 1


@kernel
def split_labels(indptr, indices, data, labels, n_features, n_clusters, tol, max_iter, seed, number):
    """Split ``labels`` into clusters whose sizes differ by at most one.

    Parameters
    ----------
    indptr, indices, data : CSR of the label representations, (L, D), rows of length 1 (or 0)
    labels : int32 (n,)
    n_features, n_clusters : int
        ``n_clusters`` is at most n.
    tol : float32
        Stop when the mean similarity to the own centroid grows by no more.
    max_iter : int
    seed, number : int
        The random stream of the node.

    Returns
    -------
    clusters : int32 (n,)

    Notes
    -----
    O(iterations * (k * nnz + n log n)) time, O(k (D + n)) memory. Starts from k labels drawn at random, those with a
    representation first.
    """
    n = labels.size
    k = n_clusters
    clusters = np.empty(n, np.int32)
    capacity = np.empty(k, np.int64)
    for c in range(k):
        capacity[c] = n // k + (c < n % k)
    order = np.arange(n).astype(np.int32)
    shuffle(order, stream(seed, number))
    centroids = np.zeros((n_features, k), np.float32)
    scale = np.ones(k, np.float32)
    chosen = 0
    for wanted in range(2):  # labels with a representation, then the rest
        for o in range(n):
            j = labels[order[o]]
            if chosen < k and (indptr[j + 1] > indptr[j]) == (wanted == 0):
                for t in range(indptr[j], indptr[j + 1]):
                    centroids[indices[t], chosen] = data[t]
                chosen += 1
    similarity = np.empty((n, k), np.float32)
    before = -np.inf
    for _ in range(max_iter):
        similarity[:] = 0.0
        for i in range(n):
            own = similarity[i]
            for t in range(indptr[labels[i]], indptr[labels[i] + 1]):
                v = data[t]
                centroid = centroids[indices[t]]
                for c in range(k):
                    own[c] += v * centroid[c]
            for c in range(k):
                own[c] *= scale[c]
        assign_balanced(similarity, capacity, clusters)
        total = 0.0
        for i in range(n):
            total += similarity[i, clusters[i]]
        if total - before <= tol * n:
            break
        before = total
        # new centroids: touch only the features of these labels, so that a small node of a wide matrix stays cheap
        for i in range(n):
            for t in range(indptr[labels[i]], indptr[labels[i] + 1]):
                for c in range(k):
                    centroids[indices[t], c] = 0.0
        for i in range(n):
            for t in range(indptr[labels[i]], indptr[labels[i] + 1]):
                centroids[indices[t], clusters[i]] += data[t]
        squares = np.zeros(k, np.float64)
        for i in range(n):
            for t in range(indptr[labels[i]], indptr[labels[i] + 1]):
                squares[clusters[i]] += np.float64(data[t]) * np.float64(centroids[indices[t], clusters[i]])
        for c in range(k):
            scale[c] = np.float32(1.0 / np.sqrt(squares[c])) if squares[c] > 0.0 else np.float32(1.0)
    return clusters
