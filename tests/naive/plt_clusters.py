"""Clustering of labels: twins of xmlcore/_kernels/plt_clusters.py."""

import math

import numpy as np

from naive.rng import permutation


def normalise_rows(X):
    """X dense (n, D)."""
    lengths = [math.sqrt(sum(v * v for v in row)) for row in X]
    return np.array([[v / length if length else v for v in row] for row, length in zip(X, lengths)])


def assign_balanced(similarity, capacity):
    """Lists of lists (n, k), list (k,) -> list (n,)."""

    def sureness(i):
        best, second = sorted(similarity[i], reverse=True)[:2]
        return best - second

    clusters, room = [None] * len(similarity), list(capacity)
    for i in sorted(range(len(similarity)), key=lambda i: -sureness(i)):
        free = [c for c in range(len(room)) if room[c] > 0]
        clusters[i] = max(free, key=lambda c: (similarity[i][c], -c))
        room[clusters[i]] -= 1
    return clusters


def split_labels(representations, labels, n_clusters, tol, max_iter, seed, number):
    """Representations dense (L, D)."""
    rows = [representations[j] for j in labels]
    n = len(rows)
    capacity = [n // n_clusters + (c < n % n_clusters) for c in range(n_clusters)]
    order = permutation(n, seed, number)
    order = [i for i in order if np.any(rows[i])] + [i for i in order if not np.any(rows[i])]
    sums = [rows[i] for i in order[:n_clusters]]
    clusters, before = None, -math.inf
    for _ in range(max_iter):
        lengths = [math.sqrt(float(total @ total)) for total in sums]
        if clusters is not None:
            if sum(lengths) - before <= tol * n:
                break
            before = sum(lengths)
        centroids = [total / length if length else total for total, length in zip(sums, lengths)]
        similarity = [[float(row @ centroid) for centroid in centroids] for row in rows]
        moved = assign_balanced(similarity, capacity)
        if moved == clusters:
            break
        clusters = moved
        sums = [sum(rows[i] for i in range(n) if clusters[i] == c) for c in range(n_clusters)]
    return clusters
