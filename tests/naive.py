"""Plain-Python twins of the kernels: slow, short, and plainly right."""

import math

import numpy as np

# Ranking measures: twins of xmlcore/_kernels/ranking.py


def top_k(scored, k):
    """The k best of (label, score) pairs, best first; equal scores: the smaller label first."""
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


def first_repeat(rankings):
    """(row, place) of the first label that is there twice in a row, or None; -1 is no label."""
    for i, ranking in enumerate(rankings):
        for j, label in enumerate(ranking):
            if label >= 0 and label in ranking[:j]:
                return i, j
    return None


def hits(true_labels, rankings):
    return [[label in true for label in ranking] for true, ranking in zip(true_labels, rankings)]


def ranking_sums(true_labels, rankings, k, weights):
    """For k' = 1..k the sums over rows that the measures are made of, in the order of the kernel's columns."""
    return [_sums_at(true_labels, rankings, at, weights) for at in range(1, k + 1)]


def _sums_at(true_labels, rankings, k, weights):
    total = [0.0] * 11
    for true, ranking in zip(true_labels, rankings):
        if not true:
            continue
        discounts = [1 / math.log2(place + 1) for place in range(1, k + 1)]
        right = [label in true for label in ranking[:k]]
        gains = [weights[label] if found else 0.0 for label, found in zip(ranking, right)]
        best = sorted((weights[label] for label in true), reverse=True)[:k]
        ideal = sum(discounts[: len(true)])
        gain, most = sum(gains), sum(best)
        dcg_gain = sum(g * d for g, d in zip(gains, discounts))
        dcg_most = sum(b * d for b, d in zip(best, discounts))
        row = [
            sum(right),
            sum(right) / len(true),
            sum(d for found, d in zip(right, discounts) if found) / ideal,
            gain,
            most,
            gain / len(true),
            most / len(true),
            dcg_gain,
            dcg_most,
            dcg_gain / ideal,
            dcg_most / ideal,
        ]
        total = [t + r for t, r in zip(total, row)]
    return total


# Rows of "l1,l2 f:v f:v": twin of xmlcore/_kernels/xmlc.py


def parse_rows(text, first_line, n_rows, n_features, n_labels, first_index, skip_blank):
    """Parse rows of bytes, as ``_kernels.xmlc.parse_rows`` does.

    Returns ("ok", rows, repeats) with rows a list of (labels, {feature: value}) and repeats the lines that name a
    feature twice and those that name a label twice; or (what is wrong, line, column), both from 1.
    """
    import re

    import numpy as np

    rows, twice_features, twice_labels = [], [], []
    lines = text.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for line, raw in enumerate(lines, first_line):
        content = raw.split(b"#")[0]
        if not content.strip(b" \t\r"):
            is_comment = len(content) < len(raw)
            if not skip_blank and not is_comment and len(rows) != n_rows:
                rows.append(([], {}))
            continue
        if len(rows) == n_rows:
            return "too many rows", line, len(content) - len(content.lstrip(b" \t\r")) + 1
        labels = []
        at = 0
        if not re.match(rb"[ \t\r]|[0-9]+:", content):
            while True:
                match = re.compile(rb"[0-9]+(?=[ \t\r,]|$)").match(content, at)
                if not match:
                    return "bad label", line, at + 1
                label = int(match.group()) - first_index
                if not 0 <= label < n_labels:
                    return "label range", line, at + 1
                labels.append(label)
                comma = re.compile(rb"[ \t\r]*,[ \t\r]*").match(content, match.end())
                at = comma.end() if comma else match.end()
                if not comma:
                    break
        features = []
        for token in re.compile(rb"[^ \t\r]+").finditer(content, at):
            key, colon, value = token.group().partition(b":")
            if not colon or not re.fullmatch(rb"[0-9]+", key):
                return "bad feature", line, token.start() + 1
            feature = int(key) - first_index
            if not 0 <= feature < n_features:
                return "feature range", line, token.start() + 1
            number = re.fullmatch(rb"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?", value)
            with np.errstate(over="ignore"):
                if not number or not np.isfinite(np.float32(float(value))):
                    return "bad value", line, token.start() + len(key) + 2
            features.append((feature, np.float32(float(value))))
        if len(set(labels)) < len(labels):
            twice_labels.append(line)
        sums = {}
        for feature, value in features:
            sums[feature] = sums.get(feature, 0.0) + float(value)
        if len(sums) < len(features):
            twice_features.append(line)
        with np.errstate(over="ignore"):
            singles = {feature: np.float32(sums[feature]) for feature in sorted(sums)}
        if not all(np.isfinite(value) for value in singles.values()):
            return "sum overflow", line, 1
        rows.append((sorted(set(labels)), {feature: value for feature, value in singles.items() if value != 0}))
    if n_rows >= 0 and len(rows) < n_rows:
        return "too few rows", first_line + len(lines), 1
    return "ok", rows, (twice_features, twice_labels)


# Random streams: twins of xmlcore/_kernels/rng.py

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def _scramble(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def stream(seed, number):
    inner = _scramble((seed + GOLDEN) & MASK)
    return _scramble(inner ^ ((number * 0x94D049BB133111EB + GOLDEN) & MASK))


def shuffle(values, state):
    for i in range(len(values) - 1, 0, -1):
        state = (state + GOLDEN) & MASK
        j = ((_scramble(state) >> 33) * (i + 1)) >> 31
        values[i], values[j] = values[j], values[i]
    return state


def permutation(n, seed, number):
    values = list(range(n))
    shuffle(values, stream(seed, number))
    return values


# Clustering of labels: twins of xmlcore/_kernels/label_clusters.py


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
    centroids = [rows[i] for i in order[:n_clusters]]
    before = -math.inf
    for _ in range(max_iter):
        similarity = [[float(row @ centroid) for centroid in centroids] for row in rows]
        clusters = assign_balanced(similarity, capacity)
        total = sum(similarity[i][clusters[i]] for i in range(n))
        if total - before <= tol * n:
            break
        before = total
        centroids = []
        for c in range(n_clusters):
            centroid = sum(rows[i] for i in range(n) if clusters[i] == c)
            length = math.sqrt(float(centroid @ centroid))
            centroids.append(centroid / length if length else centroid)
    return clusters


# Node classifiers: twins of xmlcore/_kernels/siblings.py


def gather_rows(X, rows):
    """X dense (N, D) -> ids of the features present, and the rows reduced to them."""
    part = X[list(rows)]
    features = [f for f in range(X.shape[1]) if np.any(part[:, f])]
    return features, part[:, features]


def child_targets(rows, rows_of_children):
    return [[1.0 if i in members else 0.0 for members in rows_of_children] for i in rows]


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


def train_siblings(X, targets, loss, C, tol, max_epochs, seed, number):
    """X dense (m, F), targets (m, c) -> weights (F + 1, c), the biases last; epochs; violation."""
    take = logistic_steps if loss == "logistic" else hinge_steps
    rows = [np.append(row, 1.0) for row in X]
    weights = np.zeros((X.shape[1] + 1, targets.shape[1]))
    duals = np.zeros(targets.shape)
    order, state = list(range(len(rows))), stream(seed, number)
    epochs, worst = 0, 0.0
    while epochs < max_epochs:
        state = shuffle(order, state)
        worst = 0.0
        for i in order:
            steps, distances = take(rows[i] @ weights, duals[i], targets[i], float(rows[i] @ rows[i]), C)
            worst = max(worst, max(distances) / C)
            duals[i] += steps
            weights += np.outer(rows[i], steps * (2 * targets[i] - 1))
        epochs += 1
        if worst <= tol:
            break
    return weights, epochs, worst


def prune(weights, features, threshold):
    """Weights (F + 1, c) -> {feature: {child: weight}}."""
    kept = {
        f: {c: w for c, w in enumerate(row) if abs(w) >= threshold and w != 0} for f, row in zip(features, weights[:-1])
    }
    return {f: row for f, row in kept.items() if row}


# Label trees: twins of xmlcore/_kernels/label_tree.py


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


def log_probability(margin, loss):
    if loss == "logistic":
        if margin == -math.inf:
            return -math.inf
        return -math.log1p(math.exp(-margin)) if margin > 0 else margin - math.log1p(math.exp(margin))
    slack = max(0.0, 1.0 - margin)
    return -(slack**2)


def node_log_factors(tree, loss, x):
    """The log of every node's own factor for a dense row x, by going through all stored weights."""
    length = math.sqrt(float(x @ x))
    x = x / length if length else x
    factors = [0.0] * len(tree.label)
    for g, (first, size) in enumerate(zip(tree.group_first, tree.group_size)):
        margins = [0.0] * size
        for at in range(tree.feature_ptr[g], tree.feature_ptr[g + 1]):
            for e in range(tree.entry_ptr[at], tree.entry_ptr[at + 1]):
                margins[tree.entry_child[e]] += float(x[tree.features[at]]) * float(tree.entry_value[e])
        for c in range(size):
            factors[first + c] = log_probability(margins[c] + float(tree.bias[first + c]), loss)
    return factors


def label_log_probabilities(tree, loss, x):
    """Brute force: the path product of every label."""
    factors = node_log_factors(tree, loss, x)
    out = {}
    for v, label in enumerate(tree.label):
        if label >= 0:
            total, node = 0.0, v
            while node >= 0:
                total += factors[node]
                node = tree.parent[node]
            out[int(label)] = total
    return out


def search_best_first(tree, loss, x, k):
    """The k best of all labels: (label, log probability), ties by label id."""
    return sorted(label_log_probabilities(tree, loss, x).items(), key=lambda item: (-item[1], item[0]))[:k]


def search_threshold(tree, loss, x, log_threshold):
    found = label_log_probabilities(tree, loss, x)
    return {label: score for label, score in found.items() if score >= log_threshold and score > -math.inf}


def search_beam(tree, loss, x, beam, k):
    factors = node_log_factors(tree, loss, x)
    level, found = [(factors[0], 0)], []
    while level:
        inner = []
        for score, v in level:
            for child in [c for c in range(len(tree.parent)) if tree.parent[c] == v]:
                total = score + factors[child]
                if tree.label[child] >= 0:
                    found.append((int(tree.label[child]), total))
                else:
                    inner.append((total, child))
        level = sorted(inner, key=lambda item: (-item[0], item[1]))[:beam]
    return sorted(found, key=lambda item: (-item[1], item[0]))[:k]
