"""Node classifiers: twins of xmlcore/_kernels/plt_training.py."""

import math

import numpy as np

from naive.rng import shuffle, stream


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


def sigmoid(margin):
    margin = max(min(margin, 60.0), -60.0)
    return 1.0 / (1.0 + math.exp(-margin))


def logistic_steps(margins, duals, targets, q, C):
    """Changes of the dual variables a >= 0 of one row, one per child, and how far each was from its optimum."""
    zs = [(2 * t - 1) * margin for margin, t in zip(margins, targets)]

    def condition(c, s):  # rises with s; 0 at the optimum
        return duals[c] + s - C * sigmoid(-(zs[c] + q * s))

    def slope(c, s):
        p = sigmoid(-(zs[c] + q * s))
        return 1 + C * q * p * (1 - p)

    children = range(len(margins))
    brackets = [sorted([0.0, -condition(c, 0.0)]) for c in children]
    steps = [-condition(c, 0.0) / slope(c, 0.0) for c in children]
    last = [abs(s) for s in steps]
    while max(q * move for move in last) > 0.1:
        for c in children:
            s = steps[c]
            brackets[c][0 if condition(c, s) < 0 else 1] = s
            low, high = brackets[c]
            newton = s - condition(c, s) / slope(c, s)
            good = low <= newton <= high and abs(newton - s) < last[c] / 2
            steps[c] = newton if good else (low + high) / 2
            last[c] = abs(steps[c] - s)
    return [max(s, -a) for s, a in zip(steps, duals)], [abs(condition(c, 0.0)) for c in children]


def hinge_steps(margins, duals, targets, q, C):
    """As :func:`logistic_steps`, for the squared hinge loss: one step is exact."""
    steps, distances = [], []
    for margin, a, t in zip(margins, duals, targets):
        slack = 1 - (2 * t - 1) * margin
        steps.append(max(a + (slack - a / (2 * C)) / (q + 1 / (2 * C)), 0) - a)
        distances.append(C * abs(a / (2 * C) - max(slack, 0)))
    return steps, distances


def descend(X, targets, loss, C, tol, max_epochs, seed, number):
    """X dense (m, F), targets (m, c <= 16) -> weights (F + 1, c), the biases last; visits; violation."""
    take = logistic_steps if loss == "logistic" else hinge_steps
    rows = [np.append(row, 1.0) for row in X]
    weights = np.zeros((X.shape[1] + 1, targets.shape[1]))
    duals = np.zeros(targets.shape)
    order, state = list(range(len(rows))), stream(seed, number)
    m = len(rows)
    awake, passes, visits, worst = m, 0, 0, math.inf
    while visits < max_epochs * m:
        awake = min(awake, max_epochs * m - visits)
        first = order[:awake]
        state = shuffle(first, state)
        order[:awake] = first
        worst, kept = 0.0, 0
        for place in range(awake):
            i = order[place]
            steps, distances = take(rows[i] @ weights, duals[i], targets[i], float(rows[i] @ rows[i]), C)
            duals[i] += steps
            weights += np.outer(rows[i], steps * (2 * targets[i] - 1))
            away = max(distances) / C
            worst = max(worst, away)
            if away > 0.3 * tol:
                order[place], order[kept] = order[kept], i
                kept += 1
        visits += awake
        if awake == m:
            if worst <= tol:
                break
            passes, awake = 0, kept
        else:
            passes += 1
            awake = m if worst <= tol or passes == 5 else kept
            worst = math.inf
    return weights, visits, worst


def train_siblings(X, targets, loss, C, tol, max_epochs, seed, number):
    """X dense (m, F), targets (m, c) -> weights (F + 1, c), the biases last; epochs; violation."""
    m, n = targets.shape
    if n == 2 and (targets.sum(axis=1) == 1).all():
        weights, epochs, worst = train_siblings(X, targets[:, :1], loss, C, tol, max_epochs, seed, number)
        return np.hstack([weights, -weights]), epochs, worst
    parts = [descend(X, targets[:, c : c + 16], loss, C, tol, max_epochs, seed, number) for c in range(0, n, 16)]
    epochs = max(math.ceil(visits / m) for _, visits, _ in parts)
    return np.hstack([weights for weights, _, _ in parts]), epochs, max(worst for _, _, worst in parts)


def prune(weights, features, threshold):
    """Weights (F + 1, c) -> {feature: {child: weight}}."""
    kept = {
        f: {c: w for c, w in enumerate(row) if abs(w) >= threshold and w != 0} for f, row in zip(features, weights[:-1])
    }
    return {f: row for f, row in kept.items() if row}
