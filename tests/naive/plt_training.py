"""Node classifiers: twins of xmlcore/_kernels/plt_training.py."""

import math

import numpy as np

from naive.plt_descent import descend


def node_rows(label_lists, leaf_of_label, parent):
    """Rows with a label under each node."""
    members = [set() for _ in parent]
    for i, labels in enumerate(label_lists):
        for label in labels:
            v = leaf_of_label[label]
            while v >= 0:
                members[v].add(i)
                v = parent[v]
    return [sorted(rows) for rows in members]


def gather_rows(X, rows):
    """X dense (N, D) -> ids of the features present, and the rows reduced to them."""
    part = X[list(rows)]
    features = [f for f in range(X.shape[1]) if np.any(part[:, f])]
    return features, part[:, features]


def train_siblings(X, targets, loss, C, tol, max_epochs, seed, number):
    """X dense (m, F), targets (m, c) -> weights (F + 1, c), the biases last; epochs; violation.

    C is a number, or one for each row and child.
    """
    m, n = targets.shape
    if n == 2 and (targets.sum(axis=1) == 1).all() and np.ndim(C) == 0:
        weights, epochs, worst = train_siblings(X, targets[:, :1], loss, C, tol, max_epochs, seed, number)
        return np.hstack([weights, -weights]), epochs, worst
    C = np.broadcast_to(C, targets.shape)
    parts = [
        descend(X, targets[:, c : c + 16], loss, C[:, c : c + 16], tol, max_epochs, seed, number)
        for c in range(0, n, 16)
    ]
    epochs = max(math.ceil(visits / m) for _, visits, _ in parts)
    return np.hstack([weights for weights, _, _ in parts]), epochs, max(worst for _, _, worst in parts)


def prune(weights, features, threshold):
    """Weights (F + 1, c) -> {feature: {child: weight}}."""
    kept = {
        f: {c: w for c, w in enumerate(row) if abs(w) >= threshold and w != 0} for f, row in zip(features, weights[:-1])
    }
    return {f: row for f, row in kept.items() if row}
