"""Label trees, their shapes and their training.

Twins of plt_shapes.py, plt_clusters.py, lanes.py, plt_newton.py, plt_descent.py and plt_training.py.
"""

import heapq
import math

import numpy as np

from naive.rng import permutation, shuffle, stream


def huffman_parents(counts, arity):
    """Pad with empty leaves until every merge is full, then merge the lightest; equal ones by number."""
    n = len(counts)
    padding = 0 if n == 1 else -(n - 1) % (arity - 1)
    heap = [(0, -1 - i) for i in range(padding)] + [(count, v) for v, count in enumerate(counts)]
    heapq.heapify(heap)
    parent = [-1] * n
    while len(heap) > 1 or len(parent) == n:
        taken = [heapq.heappop(heap) for _ in range(min(arity, len(heap)))]
        for _, v in taken:
            if v >= 0:
                parent[v] = len(parent)
        heapq.heappush(heap, (sum(count for count, _ in taken), len(parent)))
        parent.append(-1)
    return parent


def balanced_tree(n_labels, arity, max_leaf_labels, split):
    """``split(node, labels)`` sorts a node's labels into clusters -> parent and label of every node."""
    parent, label, queue = [-1], [-1], [(0, list(range(n_labels)))]
    for node, labels in queue:
        if len(labels) <= max(arity, max_leaf_labels):
            parts = [[j] for j in labels]
        else:
            parts = split(node, labels)
            assert max(map(len, parts)) - min(map(len, parts)) <= 1
        for part in parts:
            if len(part) > 1:
                queue.append((len(parent), part))
            parent.append(node)
            label.append(part[0] if len(part) == 1 else -1)
    return parent, label


def random_split(labels, arity, seed, node):
    order = [labels[i] for i in permutation(len(labels), seed, node)]
    sizes = [len(labels) // arity + (c < len(labels) % arity) for c in range(arity)]
    return [[order.pop(0) for _ in range(size)] for size in sizes]


def clades(parent, label):
    """The labels under every inner node: what a tree is, however its nodes are numbered."""
    under = {v: set() for v, j in enumerate(label) if j < 0}
    for v, j in enumerate(label):
        if j >= 0:
            node = parent[v]
            while node >= 0:
                under[node].add(int(j))
                node = parent[node]
    return sorted(sorted(labels) for labels in under.values())


def collapsed_clades(parent, label, layers, max_leaf_labels):
    """Clades of the inner nodes that stay when layers are taken out."""

    def depth(v):
        return 0 if parent[v] < 0 else 1 + depth(parent[v])

    def stays(v):
        children = [c for c, p in enumerate(parent) if p == v]
        cluster = all(label[c] >= 0 for c in children) and len(children) <= max_leaf_labels
        return cluster or depth(v) % (layers + 1) == 0

    out = []
    for v, j in enumerate(label):
        if j < 0 and stays(v):
            queue = [v]
            for node in queue:
                queue += [c for c, p in enumerate(parent) if p == node]
            out.append(sorted(int(label[c]) for c in queue if label[c] >= 0))
    return sorted(out)


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


def descend(X, targets, loss, C, tol, max_epochs, seed, number, duals=None, fresh=()):
    """X dense (m, F), targets (m, c <= 16) -> weights (F + 1, c), the biases last; visits; violation.

    ``duals`` (m, c) are where it begins, and the rows ``fresh`` the first that are visited.
    """
    take = logistic_steps if loss == "logistic" else hinge_steps
    rows = [np.append(row, 1.0) for row in X]
    duals = np.zeros(targets.shape) if duals is None else duals
    weights = np.array(rows).T @ (duals * (2 * targets - 1))
    order, state = [*fresh, *(i for i in range(len(rows)) if i not in fresh)], stream(seed, number)
    m = len(rows)
    awake, passes, visits, worst = len(fresh) or m, 0, 0, math.inf
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
            if worst <= tol and visits == awake:
                break
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
