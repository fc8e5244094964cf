"""Balanced spherical k-means on the representations of labels: one call splits one tree node."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel, part
from xmlcore._kernels.lanes import LANES, margins_of_row
from xmlcore._kernels.plt_training import gather_rows
from xmlcore._kernels.rng import shuffle, stream
from xmlcore._kernels.sorting import nth_smallest, stable_order


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
    """Give every label its best cluster that has room left, those first that prefer their best cluster most."""
    n, k = similarity.shape
    margin = np.empty(n, np.float64)
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
    order = stable_order(margin)
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
def split_in_two(similarity, clusters):
    """Split labels into two halves: cluster 0 gets those most similar to centroid 0, and one more if n is odd."""
    n = similarity.size
    first = n - n // 2
    bar = nth_smallest(similarity.copy(), n - first)
    room = first
    for i in range(n):
        clusters[i] = 0 if similarity[i] > bar else 1
        room -= similarity[i] > bar
    for i in range(n):
        if room > 0 and similarity[i] == bar:
            clusters[i] = 0
            room -= 1


class CentroidSums(NamedTuple):
    """The sum of the labels of each cluster, in blocks of ``lanes`` clusters side by side for each feature.

    A block ends in a row of zeros, which takes the place of the biases of classifiers.
    """

    values: np.ndarray  # float32
    lanes: int
    block: int  # Size of a block.


@part
def add_label(sums, x, i, cluster, sign):
    """Add label i, times ``sign``, to the sum of a cluster."""
    to = cluster // sums.lanes * sums.block + cluster % sums.lanes
    for t in range(x.ptr[i], x.ptr[i + 1]):
        sums.values[to + x.features[t] * sums.lanes] += sign * x.values[t]


@kernel
def draw_members(x, sums, clusters, n_clusters, seed, number):
    """Put one label into each cluster: labels drawn at random, those with a representation first."""
    n = clusters.size
    order = np.arange(n).astype(np.int32)
    shuffle(order, stream(seed, number))
    chosen = 0
    for wanted in range(2):  # labels with a representation, then the rest
        for o in range(n):
            i = order[o]
            if chosen < n_clusters and (x.ptr[i + 1] > x.ptr[i]) == (wanted == 0):
                clusters[i] = chosen
                add_label(sums, x, i, chosen, np.float32(1.0))
                chosen += 1


@kernel
def lengths_of_sums(sums, n_features, lengths):
    k = lengths.size
    lengths[:] = 0.0
    for first in range(0, k, sums.lanes):
        for f in range(n_features):
            at = first // sums.lanes * sums.block + f * sums.lanes
            for c in range(first, min(k, first + sums.lanes)):
                v = np.float64(sums.values[at + c - first])
                lengths[c] += v * v
    for c in range(k):
        lengths[c] = np.sqrt(lengths[c])


@kernel
def similarities_to_two(x, sums, scale, difference, similarity):
    """Write how much more similar each label is to the first centroid than to the second."""
    for f in range(difference.size):
        difference[f] = sums.values[2 * f] * scale[0] - sums.values[2 * f + 1] * scale[1]
    for i in range(similarity.size):
        s = np.float32(0.0)
        for t in range(x.ptr[i], x.ptr[i + 1]):
            s += x.values[t] * difference[x.features[t]]
        similarity[i] = s


@kernel
def similarities(x, sums, n_features, scale, similarity):
    n, k = similarity.shape
    margins = np.zeros(LANES, np.float32)
    for first in range(0, k, LANES):
        weights = sums.values[first // LANES * sums.block : (first // LANES + 1) * sums.block]
        for i in range(n):
            margins_of_row(weights, LANES * n_features, x.features, x.values, x.ptr[i], x.ptr[i + 1], margins)
            for c in range(first, min(k, first + LANES)):
                similarity[i, c] = margins[c - first] * scale[c]


@kernel
def move_labels(x, sums, clusters, moved):
    """Move labels from ``clusters`` to ``moved``, update the sums, and return how many changed their cluster."""
    n_moved = 0
    for i in range(clusters.size):
        if moved[i] != clusters[i]:
            n_moved += 1
            add_label(sums, x, i, np.int64(moved[i]), np.float32(1.0))
            if clusters[i] >= 0:
                add_label(sums, x, i, np.int64(clusters[i]), np.float32(-1.0))
            clusters[i] = moved[i]
    return n_moved


@kernel
def split_labels(indptr, indices, data, labels, n_features, n_clusters, tol, max_iter, seed, number):
    """Split ``labels`` into clusters whose sizes differ by at most one: int32 (n,)."""
    # Starts from k labels drawn at random, those with a representation first. Centroids are kept as sums, to which a
    # label is added or from which it is taken when it changes its cluster; few do after the first iterations. Two
    # clusters need one number per feature only: the difference of the centroids.
    n = labels.size
    k = n_clusters
    features, x = gather_rows(indptr, indices, data, labels, n_features)
    n_local = features.size
    lanes = 2 if k == 2 else LANES
    block = (n_local + 1) * lanes
    sums = CentroidSums(np.zeros((k + lanes - 1) // lanes * block, np.float32), lanes, block)
    difference = np.zeros(n_local if k == 2 else 0, np.float32)
    clusters = np.full(n, -1, np.int32)
    capacity = np.empty(k, np.int64)
    for c in range(k):
        capacity[c] = n // k + (c < n % k)
    draw_members(x, sums, clusters, k, seed, number)
    similarity = np.empty((n, 1 if k == 2 else k), np.float32)
    lengths = np.empty(k, np.float64)
    scale = np.empty(k, np.float32)
    moved = clusters.copy()
    before = -np.inf
    for iteration in range(max_iter):
        lengths_of_sums(sums, n_local, lengths)
        total = 0.0
        for c in range(k):
            total += lengths[c]
            scale[c] = np.float32(1.0 / lengths[c]) if lengths[c] > 0.0 else np.float32(1.0)
        # The similarities of a cluster's labels to their centroid add up to the length of their sum.
        if before > -np.inf and total - before <= tol * n:
            break
        if iteration > 0 or k == n:  # every label has a cluster
            before = total
        if k == 2:
            similarities_to_two(x, sums, scale, difference, similarity[:, 0])
            split_in_two(similarity[:, 0], moved)
        else:
            similarities(x, sums, n_local, scale, similarity)
            assign_balanced(similarity, capacity, moved)
        if move_labels(x, sums, clusters, moved) == 0:
            break
    return clusters
