"""Plain-Python twins of the kernels: slow, short, and plainly right."""

import functools
import heapq
import itertools
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


def uniform(state):
    state = (state + GOLDEN) & MASK
    return state, (_scramble(state) >> 11) * 2.0**-53


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


# Node classifiers: twins of xmlcore/_kernels/siblings.py


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


def group_weights(tree, g):
    """{column: {child: weight}} of a group, however it is stored."""
    size = int(tree.group_size[g])
    begin, end = int(tree.column_ptr[g]), int(tree.column_ptr[g + 1])
    found = {}
    for at, column in enumerate(tree.columns[begin:end].tolist()):
        if tree.dense_ptr[g + 1] > tree.dense_ptr[g]:
            width = size if size <= 4 else 16 * math.ceil(size / 16)
            row = tree.dense[tree.dense_ptr[g] + at * width :][:size]
            found[column] = {c: float(w) for c, w in enumerate(row) if w != 0}
        else:
            pointers = tree.entry_ptr[tree.entry_at[g] : tree.entry_at[g + 1]]
            pairs = range(int(tree.sparse_ptr[g] + pointers[at]), int(tree.sparse_ptr[g] + pointers[at + 1]))
            found[column] = {int(tree.entry_child[e]): float(tree.entry_value[e]) for e in pairs}
    return found


def in_columns(x, feature_of_column):
    """A dense row as trees read it: of length 1, its features in the order of the columns."""
    length = math.sqrt(float(x @ x))
    return (x / length if length else x)[feature_of_column]


def take_rows(rows, feature_of_column):
    """Of each row {feature: value}: (column, value) of length 1, by zones, within them in the order of features."""
    column_of = {int(feature): column for column, feature in enumerate(feature_of_column)}
    taken = []
    for row in rows:
        length = math.sqrt(sum(value**2 for value in row.values())) or 1.0
        pairs = [(column_of[f], row[f] / length) for f in sorted(row) if f in column_of]
        zones = [0, 32, 128, 512, 2048, 8192, 32768, 131072]
        taken.append(sorted(pairs, key=lambda pair: max(i for i, least in enumerate(zones) if pair[0] >= least)))
    return taken


def lay_out(row, feature_of_column):
    """A row {feature: value} as one float32 value per column; None where it has less than a quarter of them."""
    length = math.sqrt(sum(value**2 for value in row.values())) or 1.0
    known = [column for column, feature in enumerate(feature_of_column) if int(feature) in row]
    if len(known) < max(1, len(feature_of_column) / 4):
        return None
    laid = np.zeros(len(feature_of_column), np.float32)
    for column in known:
        laid[column] = row[int(feature_of_column[column])] / length
    return laid


def laid_margins(tree, g, laid):
    """Margins of a group's children for a row laid out: float32, rounded after each product and sum, by columns."""
    first, size = int(tree.group_first[g]), int(tree.group_size[g])
    margins = tree.bias[first : first + size].copy()
    for column, row in group_weights(tree, g).items():
        for c, w in row.items():
            margins[c] += laid[column] * np.float32(w)
    return margins


def find_column(part, shift, columns, column):
    """Place of a column among those of its group, by the group's part of the index; None when it is not there."""
    if shift == -2:
        return column if column < len(columns) else None
    n_words = len(part) // 2 if shift == -1 else len(columns)
    if shift == -1 or column // 32 < n_words:
        word = min(column // 32, n_words - 1)
        bits = int(part[2 * word])
        before = bin(bits % 2 ** (column % 32)).count("1")
        return int(part[2 * word + 1]) + before if bits >> column % 32 & 1 else None
    starts = part[2 * n_words :]
    bucket = min((column - 32 * n_words) >> shift, len(starts) - 2)
    places = range(int(starts[bucket]), int(starts[bucket + 1]))
    return next((place for place in places if columns[place] == column), None)


def keep_best_of_rows(places, expanded, beam):
    """Of (score, row, node): each row's best, as many as its beam has room for."""
    kept = []
    for row, done in enumerate(expanded):
        own = sorted((p for p in places if p[1] == row), key=lambda p: (-p[0], p[2]))
        kept += own[: beam - done]
    return kept


def node_log_factors(tree, loss, x):
    """The log of every node's own factor for a row x in columns, by going through all stored weights."""
    factors = [0.0] * len(tree.label)
    for g, (first, size) in enumerate(zip(tree.group_first, tree.group_size)):
        margins = [float(tree.bias[first + c]) for c in range(size)]
        for column, row in group_weights(tree, g).items():
            for c, w in row.items():
                margins[c] += float(x[column]) * w
        for c in range(size):
            factors[first + c] = log_probability(margins[c], loss)
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


# Shapes of label trees: twins of xmlcore/_kernels/tree_shapes.py and xmlcore/models/label_tree.py


def shuffle_parts(members, starts, ends, seed, numbers):
    for start, end, number in zip(starts, ends, numbers):
        part = list(members[start:end])
        shuffle(part, stream(seed, number))
        members[start:end] = part


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


def least_path_length(weights, arity):
    """The least sum of weights times depths of all trees of at most ``arity`` children: tries every order of merges."""

    @functools.cache
    def least(nodes):
        if len(nodes) == 1:
            return 0
        best = math.inf
        for size in range(2, arity + 1):
            for taken in itertools.combinations(range(len(nodes)), size):
                merged = sum(nodes[i] for i in taken)
                rest = [nodes[i] for i in range(len(nodes)) if i not in taken]
                best = min(best, merged + least(tuple(sorted([*rest, merged]))))
        return best

    return least(tuple(sorted(weights)))


def breadth_first(parent):
    order = [v for v, p in enumerate(parent) if p < 0]
    for v in order:
        order += [c for c, p in enumerate(parent) if p == v]
    return order


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


# Made-up data sets: twins of xmlcore/_kernels/synthetic.py


class Numbers:
    """Numbers in [0, 1) of a random stream, one after the other."""

    def __init__(self, seed, number):
        self.state = stream(seed, number)

    def __call__(self):
        self.state = (self.state + GOLDEN) & MASK
        return (_scramble(self.state) >> 11) / 2**53


def zipf(law, u):
    """The number in [0, n) below which a share u of the law's density (r + offset) ** (power - 1) lies."""
    if law.power == 0:
        x = law.offset * ((law.n + law.offset) / law.offset) ** u
    else:
        low, high = law.offset**law.power, (law.n + law.offset) ** law.power
        x = (low + u * (high - low)) ** (1 / law.power)
    return min(max(int(x - law.offset), 0), law.n - 1)


def draw_place(cumulative, first, last, u):
    sought = cumulative[first] + u * (cumulative[last] - cumulative[first])
    return max(place for place in range(first, last) if place == first or cumulative[place] <= sought)


def synthetic_row(problem, seed, i, label_sizes, feature_sizes):
    """Label ids, ascending, and {feature id: value} of row i."""
    draw = Numbers(seed, i)
    n_own = label_sizes[int(draw() * len(label_sizes))]
    n_features = feature_sizes[int(draw() * len(feature_sizes))]
    n_places = len(problem.bottom)

    def path(topic):
        """A topic and those above it, up to the one of all labels."""
        return [topic] + (path(problem.parent[topic]) if problem.parent[topic] >= 0 else [])

    def climb(steps, chance):
        """One of the steps, the first unless chance lets one go on, again and again."""
        return climb(steps[1:], chance) if len(steps) > 1 and draw() < chance else steps[0]

    own = [draw_place(problem.cumulative, 0, n_places, draw())]
    while len(own) < n_own:
        topic = climb(path(problem.bottom[own[0]]), 0.3)
        misses = 0
        place = draw_place(problem.cumulative, problem.first[topic], problem.last[topic], draw())
        while place in own:
            misses += problem.parent[topic] < 0
            if misses > 32:
                place = next(p % n_places for p in range(place, place + n_places) if p % n_places not in own)
                break
            topic = max(problem.parent[topic], 0)
            place = draw_place(problem.cumulative, problem.first[topic], problem.last[topic], draw())
        own.append(place)

    def word():
        if draw() < problem.feature_noise:
            return zipf(problem.words, draw())
        place = own[int(draw() * n_own)]
        # Vocabularies: those of the topics, then those of the labels. The topic of all labels says nothing.
        speaker = climb([len(problem.parent) + place, *path(problem.bottom[place])[:-1]], 0.5)
        number = zipf(problem.vocabulary, draw())
        state = (stream(problem.vocabulary_seed, int(speaker)) + number * GOLDEN) & MASK
        return zipf(problem.words, (_scramble(state) >> 11) / 2**53)

    counts = {}
    for _ in range(4 * n_features):
        if len(counts) < n_features:
            f = int(problem.feature_ids[word()])
            counts[f] = counts.get(f, 0) + 1
    while len(counts) < n_features:
        f = int(problem.feature_ids[zipf(problem.words, draw())])
        while f in counts:
            f = (f + 1) % len(problem.feature_ids)
        counts[f] = 1
    values = {f: (1 + math.log(counts[f])) * float(problem.idf[f]) for f in sorted(counts)}
    length = math.sqrt(sum(value**2 for value in values.values()))

    said, taken = list(own), set(own)
    for c in range(n_own):
        if draw() < problem.label_noise:
            for _ in range(32):
                place = draw_place(problem.cumulative, 0, n_places, draw())
                if place not in taken:
                    taken.add(place)
                    said[c] = place
                    break
    return sorted(int(problem.label_ids[p]) for p in said), {f: value / length for f, value in values.items()}


# LdSM ----------------------------------------------------------------------------------------------------------------


def ldsm_objective(P, P_of, pi, integrity_weight, multiway_weight):
    """Equation 2: (J, balance, integrity, multi-way penalty); ``P_of[i][j]`` of label i, ``pi[i]`` its share."""
    M = len(P)
    pairs = [(j, other) for j in range(M) for other in range(j + 1, M)]
    balance = sum(abs(P[j] - P[other]) for j, other in pairs)
    integrity = sum(pi[i] * abs(P_of[i][j] - P_of[i][other]) for i in pi for j, other in pairs)
    penalty = abs(sum(P) - 1)
    return balance - integrity_weight * integrity + multiway_weight * penalty, balance, integrity, penalty


def ldsm_directions(P, P_of, C, met, labels, integrity_weight, multiway_weight):
    """Algorithm 3: the set of children, as bits, of least J when a row with these labels goes there."""
    M, best, chosen = len(P), math.inf, 0
    for s in range(1, 2**M):
        to = [s >> m & 1 for m in range(M)]
        new = [((C - len(labels)) * P[m] + len(labels) * to[m]) / C for m in range(M)]
        new_of = {k: [((met[k] - 1) * P_of[k][m] + to[m]) / met[k] for m in range(M)] for k in labels}
        J, *_ = ldsm_objective(new, new_of, {k: met[k] / C for k in labels}, integrity_weight, multiway_weight)
        if J < best - 1e-9:  # of equal ones the first
            best, chosen = J, s
    return chosen


class LdSMRegressors:
    """M linear regressors on {column: value}, trained one row after the other, in float64."""

    def __init__(self, columns, M, spread, state, optimizer, learning_rate, min_error=0.0, weight_decay=0.0):
        self.min_error, self.weight_decay = min_error, weight_decay
        self.M, self.optimizer, self.learning_rate = M, optimizer, learning_rate
        self.weights = {}
        for column in [*columns, "bias"]:
            self.weights[column] = []
            for _ in range(M):
                state, drawn = uniform(state)
                self.weights[column].append((2 * drawn - 1) * spread)
        self.squares = {column: [0.0] * M for column in self.weights}
        self.scale = {"bias": 1.0}
        self.seen, self.norm = 0, 0.0

    def margin(self, row, m):
        return self.weights["bias"][m] + sum(self.weights[f][m] * v for f, v in row.items())

    def see(self, row):
        """Scales, before the row is learnt from (normalised adaptive gradient, Ross et al., algorithm 3)."""
        if self.optimizer == "nag":
            for f, v in row.items():
                old = self.scale.get(f, 0.0)
                if abs(v) > old:
                    if old > 0 or abs(v) > 1:  # the first value leaves the start as it is, unless it is large
                        self.weights[f] = [w * (old or 1.0) / abs(v) for w in self.weights[f]]
                    self.scale[f] = abs(v)
            self.norm += 1.0 + sum((v / self.scale[f]) ** 2 for f, v in row.items())
            self.seen += 1

    def learn(self, row, m, target):
        error = 1 / (1 + math.exp(-self.margin(row, m))) - target
        if abs(error) < self.min_error:
            return
        for f, v in {**row, "bias": 1.0}.items():
            gradient = error * v
            if gradient == 0:
                continue
            if f != "bias":
                self.weights[f][m] *= 1 - self.weight_decay
            if self.optimizer == "nag":
                self.squares[f][m] += gradient**2
                rate = self.learning_rate * math.sqrt(self.seen / self.norm)
                self.weights[f][m] -= rate * gradient / (self.scale[f] * math.sqrt(self.squares[f][m]))
            else:
                self.weights[f][m] -= self.learning_rate * gradient


def ldsm_train_node(
    rows, labels, M, n_epochs, learning_rate, lambdas, spread, optimizer, state, min_error=0.0, weight_decay=0.0
):
    """Algorithm 4: regressors, and P_m, P_m^k, C, l_k at the end, and the directions of every visit."""
    columns = sorted({f for row in rows for f in row})
    regressors = LdSMRegressors(columns, M, spread, state, optimizer, learning_rate, min_error, weight_decay)
    P, P_of, C, met, chosen, trace = [0.0] * M, {}, 0, {}, [], []
    for _ in range(n_epochs):
        for row, own in zip(rows, labels):
            C += len(own)
            for k in own:
                met[k] = met.get(k, 0) + 1
                P_of.setdefault(k, [0.0] * M)
            s = ldsm_directions(P, P_of, C, met, own, *lambdas)
            chosen.append(s)
            regressors.see(row)
            for m in range(M):
                regressors.learn(row, m, s >> m & 1)
                p = min(max(regressors.margin(row, m), 0.0), 1.0)
                P[m] = ((C - len(own)) * P[m] + len(own) * p) / C
                for k in own:
                    P_of[k][m] = ((met[k] - 1) * P_of[k][m] + p) / met[k]
        trace.append(ldsm_objective(P, P_of, {k: met[k] / C for k in met}, *lambdas))
    return regressors, P, P_of, C, met, chosen, trace


def ldsm_route(weights, row, M):
    """Children, by the margins: all that reach one half, or the first of the largest."""
    margins = [weights["bias"][m] + sum(weights[f][m] * v for f, v in row.items() if f in weights) for m in range(M)]
    return [m for m in range(M) if margins[m] >= 0.5] or [margins.index(max(margins))]


def ldsm_standardise(rows):
    """Rows with all columns of any of them, with mean 0 and variance 1; constant ones with mean 0."""
    out = [{} for _ in rows]
    for f in sorted({f for row in rows for f in row}):
        values = [row.get(f, 0.0) for row in rows]
        mean = sum(values) / len(values)
        scale = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values)) or 1.0
        for row, v in zip(out, values):
            row[f] = (v - mean) / scale
    return out


def ldsm_grow(rows, labels, n_features, M, max_nodes, n_epochs, learning_rate, lambdas, seed, optimizer="nag"):
    """Algorithm 1: (parent, first child, rows of each node, weights by node, J and parts by node)."""

    def histogram(of):
        found = {}
        for i in of:
            for k in labels[i]:
                found[k] = found.get(k, 0) + 1
        return found

    def priority(of):
        counts = histogram(of).values()
        return sum(counts) - max(counts)

    parent, first_child, rows_of, weights, stats = [-1], [-1], [list(range(len(rows)))], {}, {}
    queue = [0] if priority(rows_of[0]) else []
    while queue and len(parent) + M <= max_nodes:
        v = min(queue, key=lambda u: (-priority(rows_of[u]), u))
        queue.remove(v)
        own = rows_of[v] = [rows_of[v][i] for i in permutation(len(rows_of[v]), seed, 2**32 + v)]
        met = [rows[i] for i in own]
        if optimizer == "sgd":
            met = ldsm_standardise(met)
        regressors, *_ = ldsm_train_node(
            met, [labels[i] for i in own], M, n_epochs, learning_rate, lambdas,
            1 / (2 * n_features), optimizer, stream(seed, v),
        )  # fmt: skip
        sizes = {f: regressors.scale.get(f, 0.0) for f in regressors.weights}
        kept = {
            f: [w if f == "bias" or abs(w) * max(1, sizes[f]) >= 1 / max(n_features, 100) else 0.0 for w in ws]
            for f, ws in regressors.weights.items()
        }
        sent = [ldsm_route(kept, row, M) for row in met]
        children = [[i for i, to in zip(own, sent) if m in to] for m in range(M)]
        if any(len(child) in (0, len(own)) for child in children):
            continue
        first_child[v] = len(parent)
        weights[v] = kept
        hist, hists = histogram(own), [histogram(child) for child in children]
        C = sum(hist.values())
        stats[v] = ldsm_objective(
            [sum(h.values()) / C for h in hists],
            {k: [h.get(k, 0) / hist[k] for h in hists] for k in hist},
            {k: hist[k] / C for k in hist},
            *lambdas,
        )
        for child in children:
            if priority(child):
                queue.append(len(parent))
            parent.append(v)
            first_child.append(-1)
            rows_of.append(child)
    return parent, first_child, rows_of, weights, stats


def ldsm_leaves(tree, row, M):
    """The leaves that a row reaches."""
    _, first_child, _, weights, _ = tree
    stack, leaves = [0], []
    while stack:
        v = stack.pop()
        if first_child[v] < 0:
            leaves.append(v)
        else:
            stack += [first_child[v] + m for m in ldsm_route(weights[v], row, M)]
    return leaves


def ldsm_shares(tree, labels, row, M, of_rows=False):
    """Algorithm 2: mean of the normalised histograms of the leaves that a row reaches; {label: share}.

    Normalised by the sum of their counts; ``of_rows``: by the leaf's rows.
    """
    rows_of, leaves, shares = tree[2], ldsm_leaves(tree, row, M), {}
    for v in leaves:
        found = [k for i in rows_of[v] for k in labels[i]]
        for k in found:
            shares[k] = shares.get(k, 0) + 1 / ((len(rows_of[v]) if of_rows else len(found)) * len(leaves))
    return shares


def ldsm_rerank(shares, row, means, beta, gamma):
    """{label: score} from {label: share}: the paper's tail re-ranking (section 5, as Jain et al., 2016)."""
    scores = {}
    for label, share in shares.items():
        mean = means[label]
        distance = sum((row.get(f, 0.0) - mean.get(f, 0.0)) ** 2 for f in set(row) | set(mean))
        scores[label] = beta * share + (1 - beta) / (1 + math.exp(gamma * distance / 2))
    return scores


def ldsm_means(rows, labels):
    """{label: mean of its rows}."""
    means = {}
    for k in sorted({k for own in labels for k in own}):
        own = [row for row, of in zip(rows, labels) if k in of]
        means[k] = {f: sum(row.get(f, 0.0) for row in own) / len(own) for f in {f for row in own for f in row}}
    return means


def ldsm_idf_unit(rows, idf):
    """Rows weighted by idf and of unit length."""
    out = []
    for row in rows:
        weighted = {f: v * idf[f] for f, v in row.items()}
        length = math.sqrt(sum(v * v for v in weighted.values())) or 1.0
        out.append({f: v / length for f, v in weighted.items()})
    return out


# Noise of rows: twins of xmlcore/_kernels/noise.py

GAUSSIAN = 0x6A09E667F3BCC909
WORDS = 0xBB67AE8584CAA73B


def normal_of(seed, row, feature):
    """The standard normal number of a feature of a row (Box and Muller)."""
    state = stream(seed ^ GAUSSIAN, row)
    bits = _scramble((state + (feature // 2 + 1) * GOLDEN) & MASK)
    length = math.sqrt(-2 * math.log(((bits >> 24) + 0.5) / 2**40))
    angle = 2 * math.pi * ((bits & 0xFFFFFF) + 0.5) / 2**24 - math.pi / 4
    return length * (math.sin(angle) if feature % 2 else math.cos(angle))


def word_noise(row, n_rate, seed, row_id, drop, swap, insert, reference):
    """Drop, swap and insert words of one row {feature: value}; ``reference``: (feature, value) of all its entries."""
    state = stream(seed ^ WORDS, row_id)
    left, new = {}, {}

    def draw(stream_state):
        for _ in range(64):
            stream_state, u = uniform(stream_state)
            feature, value = reference[int(u * len(reference))]
            if feature not in row and feature not in new:
                return feature, value
        return None

    for feature in sorted(row):
        own, u = uniform(stream(state, feature))
        if drop and u < n_rate:
            continue
        own, u = uniform(own)
        other = draw(own) if swap and u < n_rate else None
        if other is None:
            left[feature] = row[feature]
        else:
            new[other[0]] = row[feature]
    if insert:
        _, u = uniform(stream(state, 2**31))
        for slot in range(int(len(row) * n_rate + u)):
            word = draw(stream(state, 2**31 + 1 + slot))
            if word is not None:
                new[word[0]] = word[1]
    return left | new


# Measures of buckets of labels: twin of xmlcore/robustness/evaluation.py


def bucket_measures(true_labels, rankings, members, k):
    """P@k that counts only the labels of ``members``, and R@k among them (nan without any row that has one)."""
    found = [sum(label in true and label in members for label in ranking[:k]) for true, ranking in
             zip(true_labels, rankings)]  # fmt: skip
    there = [len([label for label in true if label in members]) for true in true_labels]
    shares = [f / t for f, t in zip(found, there) if t]
    return sum(found) / k / len(rankings), sum(shares) / len(shares) if shares else math.nan


# One classifier per label: twins of xmlcore/_kernels/one_vs_rest.py


def label_margins(row, weights, bias):
    """Margins of all labels for a row {column: value}; ``weights`` is a dict {column: weight} per label."""
    return [b + sum(value * own.get(c, 0.0) for c, value in row.items()) for own, b in zip(weights, bias)]


# Explanations: twins of xmlcore/_kernels/explain.py


def share_along_path(row, nodes, loss):
    """What features {feature: value} of a row of length 1 add along nodes (weights, bias): parts, baseline, total."""
    score = (lambda margin: margin) if loss == "margin" else (lambda margin: log_probability(margin, loss))
    parts, baseline, total = dict.fromkeys(row, 0.0), 0.0, 0.0
    for weights, bias in nodes:
        own = {f: value * weights.get(f, 0.0) for f, value in row.items()}
        margin = bias + sum(own.values()) if math.isfinite(bias) else bias
        baseline += score(bias)
        total += score(margin)
        if math.isfinite(bias) and margin != bias:
            for f in own:
                parts[f] += own[f] * (score(margin) - score(bias)) / (margin - bias)
    return parts, baseline, total


def ldsm_ways(tree, v, row):
    """Ways down from node v: lists of (node, weights that decided the step to it)."""
    if not tree["children"][v]:
        return [[]]
    margins = {c: tree["bias"][c] + sum(row[f] * tree["weights"][c].get(f, 0.0) for f in row) for c in
               tree["children"][v]}  # fmt: skip
    ranked = sorted(margins, key=lambda c: (-margins[c], c))
    found = []
    for c in [c for c in ranked if margins[c] >= 0.5] or ranked[:1]:
        decided = tree["weights"][c]
        if margins[c] < 0.5:
            other = tree["weights"][ranked[1]]
            decided = {f: decided.get(f, 0.0) - other.get(f, 0.0) for f in {*decided, *other}}
        found += [[(c, decided), *way] for way in ldsm_ways(tree, c, row)]
    return found


def share_along_ways(trees, row, label):
    """What features add to a label's mean share over the leaves reached: parts, baseline, total."""
    parts, baseline, total = dict.fromkeys(row, 0.0), 0.0, 0.0
    for tree in trees:
        share = [hist.get(label, 0) / n for hist, n in zip(tree["hist"], tree["n_rows"])]
        ways = ldsm_ways(tree, 0, row)
        weight = 1 / len(ways) / len(trees)
        baseline += share[0] / len(trees)
        for way in ways:
            before = share[0]
            for node, decided in way:
                change, before = share[node] - before, share[node]
                sizes = {f: max(0.0, row[f] * decided.get(f, 0.0)) for f in row}
                if sum(sizes.values()) == 0:
                    baseline += weight * change
                    continue
                for f, size in sizes.items():
                    parts[f] += weight * change * size / sum(sizes.values())
            total += weight * before
    return parts, baseline, total


# Double sampling: twins of xmlcore/_kernels/double_sampling.py. Rows are {term: value}, labels a list per row.


def ds_classes(rows, labels):
    """Mega-documents {class: {term: y_t}}, {term: rows with it} and the rows of each class, a row once per label."""
    documents, holding, size = {}, {}, {}
    for row, own in zip(rows, labels):
        for k in own:
            size[k] = size.get(k, 0) + 1
            document = documents.setdefault(k, {})
            for t, x in row.items():
                document[t] = document.get(t, 0.0) + x
                holding[t] = holding.get(t, 0) + 1
    return documents, holding, size


def ds_idf(rows, labels):
    _, holding, size = ds_classes(rows, labels)
    return {t: 1 + math.log((1 + sum(size.values())) / (1 + n)) for t, n in holding.items()}


def ds_distance(row, document, size, idf, distance="cosine", weighting="tfidf"):
    """Of a row to the mean of a class's rows."""
    weight = idf if weighting == "tfidf" else dict.fromkeys(idf, 1.0)
    x = {t: v * weight[t] for t, v in row.items() if t in idf}
    centre = {t: v * weight[t] / size for t, v in document.items()} if size else {}
    if distance == "cosine":
        x, centre = ({t: v / math.hypot(*a.values()) for t, v in a.items()} for a in (x, centre))
    return math.sqrt(sum((x.get(t, 0.0) - centre.get(t, 0.0)) ** 2 for t in set(x) | set(centre)))


def ds_features(row, k, rows, labels, without=None, **space):
    """The ten features of Table 1; ``without``: the place of a row that is taken out of class k."""
    documents, _, size = ds_classes(rows, labels)
    idf, lengths = ds_idf(rows, labels), [sum(document.values()) for document in documents.values()]
    F = {t: sum(document.get(t, 0.0) for document in documents.values()) for t in idf}
    own_rows = [r for i, (r, own) in enumerate(zip(rows, labels)) if k in own and i != without]
    y = {}
    for r in own_rows:
        for t, x in r.items():
            y[t] = y.get(t, 0.0) + x
    length, total, common = sum(y.values()), sum(F.values()), [t for t in row if t in y]
    middle = 0.25 + 0.75 * length / (sum(lengths) / len(lengths))
    return [
        sum(math.log(1 + y[t]) for t in common),
        sum(math.log(1 + total / F[t]) for t in common),
        sum(idf[t] for t in common),
        sum(y[t] / length * idf[t] for t in common),
        sum(math.log(1 + y[t] / length) for t in common),
        sum(math.log(1 + y[t] / length * idf[t]) for t in common),
        sum(math.log(1 + y[t] / length * total / F[t]) for t in common),
        float(len(common)),
        ds_distance(row, y, len(own_rows), idf, **space),
        sum(idf[t] * 2 * y[t] / (y[t] + middle) for t in common),
    ]


def ds_more_features(row, k, rows, labels, without=None, weighting="tfidf"):
    """The features that the paper does not have, without the label tree's."""
    documents, _, _ = ds_classes(rows, labels)
    idf, lengths = ds_idf(rows, labels), [sum(document.values()) for document in documents.values()]
    F = {t: sum(document.get(t, 0.0) for document in documents.values()) for t in idf}
    own_rows = [r for i, (r, own) in enumerate(zip(rows, labels)) if k in own and i != without]
    y = {}
    for r in own_rows:
        for t, x in r.items():
            y[t] = y.get(t, 0.0) + x
    row = {t: x for t, x in row.items() if t in idf}
    length, total, mean, common = (
        sum(y.values()),
        sum(F.values()),
        sum(lengths) / len(lengths),
        [t for t in row if t in y],
    )
    other = dict.fromkeys(idf, 1.0) if weighting == "tfidf" else idf

    def between(a, b):
        a, b = ({t: v / math.hypot(*u.values()) for t, v in u.items()} for u in (a, b))
        return math.sqrt(sum((a.get(t, 0.0) - b.get(t, 0.0)) ** 2 for t in set(a) | set(b)))

    return [
        sum(idf[t] for t in common) / sum(idf[t] for t in row) if row else 0.0,
        max((idf[t] for t in common), default=0.0),
        max((math.log(1 + y[t] / length * total / F[t]) for t in common), default=0.0),
        sum(row[t] * math.log(1 + y[t] / mean * total / F[t]) for t in common)
        - sum(row.values()) * math.log(1 + length / mean),
        between({t: x * idf[t] for t, x in row.items()}, {t: math.log(1 + v) * idf[t] for t, v in y.items()}),
        between({t: x * other[t] for t, x in row.items()}, {t: v * other[t] for t, v in y.items()}),
    ]


def ds_nearest(row, rows, labels, q, **space):
    """The q classes of least distance between the row and the centroid, the smaller id among equals."""
    documents, _, size = ds_classes(rows, labels)
    idf = ds_idf(rows, labels)
    return sorted(size, key=lambda k: (round(ds_distance(row, documents[k], size[k], idf, **space), 9), k))[:q]


def ds_other_candidates(i, k, rows, labels, q, **space):
    """The q - 1 nearest classes beside k of row i, and whether k, without the row, is among the q nearest."""
    documents, _, size = ds_classes(rows, labels)
    idf = ds_idf(rows, labels)
    left = {t: v - rows[i].get(t, 0.0) for t, v in documents[k].items() if v - rows[i].get(t, 0.0) > 1e-9}
    documents, size = documents | {k: left}, size | {k: size[k] - 1}
    near = sorted(size, key=lambda c: (round(ds_distance(rows[i], documents[c], size[c], idf, **space), 9), c))[:q]
    return [c for c in near if c != k][: q - 1], k in near


def ds_pairs(examples, features):
    """The transformation T: (first features, second features, sign) for (row, class, adversaries) in order."""
    out = []
    for row, y, adversaries in examples:
        for k in adversaries:
            own, other = features(row, y), features(row, k)
            out.append((other, own, -1) if k < y else (own, other, 1))
    return out


def ds_risk(examples, f):
    """Equation (7), from its last form."""
    wrong = [f(row, y) - f(row, k) <= 0 for row, y, adversaries in examples for k in adversaries]
    return sum(wrong) / len(wrong)


# Gradients of label trees: twin of xmlcore/_kernels/linear_nodes.py


def log_slope(margin, loss):
    if math.isinf(margin):
        return 0.0
    return sigmoid(-margin) if loss == "logistic" else 2 * max(0.0, 1.0 - margin)


def path_gradient(nodes, row, label):
    """Log P(label) for a row {feature: value}, and its gradient by the row as {feature: value}."""
    length = math.sqrt(sum(value**2 for value in row.values()))
    unit = {f: value / length for f, value in row.items()}
    total, gradient = 0.0, {}
    for v in nodes.path(label).tolist():
        weights = nodes.weights[[v]]
        weights = dict(zip(weights.indices.tolist(), weights.data.tolist()))
        margin = float(nodes.bias[v]) + sum(w * unit.get(f, 0.0) for f, w in weights.items())
        total += log_probability(margin, nodes.loss)
        for f, w in weights.items():
            gradient[f] = gradient.get(f, 0.0) + log_slope(margin, nodes.loss) * w
    if not row:
        return total, {}
    along = sum(gradient.get(f, 0.0) * u for f, u in unit.items())
    features = {*gradient, *unit}
    return total, {f: (gradient.get(f, 0.0) - unit.get(f, 0.0) * along) / length for f in features}


# Certificates: twins of xmlcore/_kernels/certificates.py, with dense vectors


def cap_maximum(c, u, angle):
    """Largest c . u' over unit vectors u' within the angle of the unit vector u."""
    length, along = math.sqrt(c @ c), float(c @ u)
    if length == 0 or angle >= math.acos(max(-1.0, min(1.0, along / length))):
        return length
    return along * math.cos(angle) + math.sqrt(max(0.0, c @ c - along**2)) * math.sin(angle)


def certifies(weights, bias, error, loss, u, ours, theirs, angle, attempts):
    """Whether the nodes ``ours`` of the best label have, within the angle, a larger product than ``theirs``."""
    reach = {v: cap_maximum(weights[v], u, angle) for v in (*ours, *theirs)}
    drop = {v: -cap_maximum(-weights[v], u, angle) for v in ours}
    error = {v: error[v] * margin_size(weights[v], bias[v], u, angle) for v in (*ours, *theirs)}
    constant, linear, least = 0.0, 0.0 * u, 0.0
    for v in ours:
        low, high = bias[v] + drop[v] - error[v], bias[v] + reach[v] + error[v]
        value = log_probability(low, loss)
        slope = (log_probability(high, loss) - value) / (high - low) if high > low else 0.0
        constant += value + slope * (bias[v] - (bias[v] + drop[v]))
        linear = linear + slope * weights[v]
        least += value
    if any(bias[v] == -math.inf for v in theirs):
        return True
    most = 0.0
    for v in theirs:
        most += log_probability(bias[v] + reach[v] + error[v], loss)
        if least - most > 1e-12:
            return True
    touching = {v: bias[v] + weights[v] @ u for v in theirs}
    for _ in range(attempts):
        total, c = constant, linear
        for v in theirs:
            slope = log_slope(touching[v], loss)
            total -= log_probability(touching[v], loss) + (slope * (bias[v] - touching[v] + error[v]) if slope else 0)
            c = c - slope * weights[v]
            if total - cap_maximum(-c, u, angle) > 1e-12:
                return True
        length, along = math.sqrt(c @ c), float(c @ u)
        across = math.sqrt(max(0.0, length**2 - along**2))
        if length and along < 0 and across * math.cos(angle) <= -along * math.sin(angle):
            worst = -c / length
        elif across:
            worst = math.cos(angle) * u - math.sin(angle) * (c - along * u) / across
        else:
            return False
        touching = {v: bias[v] + weights[v] @ worst for v in theirs}
    return False


def margin_size(w, b, u, angle):
    """At most the sum of the sizes of a margin's terms, of any unit vector within the angle; 0 of a fixed margin."""
    if math.isinf(b):
        return 0.0
    length = math.sqrt(w @ w)
    return abs(b) + min(length, np.abs(w * u).sum() + 2 * math.sin(angle / 2) * length)


def certified_angle(nodes, error, x, top, attempts, halvings=40):
    """Angle by which a dense row may turn before the label ``top`` may be beaten, trying every other label."""
    weights, bias = nodes.weights.toarray().astype(float), nodes.bias.astype(float)
    u, ours = x / math.sqrt(x @ x), nodes.path(top).tolist()
    angle = math.pi / 2
    for label in set(range(len(nodes.leaf_of_label))) - {top}:
        path = nodes.path(label).tolist()
        own, theirs = [v for v in ours if v not in path], [v for v in path if v not in ours]

        def holds(t, own=own, theirs=theirs):
            return certifies(weights, bias, error, nodes.loss, u, own, theirs, t, attempts)

        if not holds(angle):
            low, high = 0.0, angle
            for _ in range(halvings):
                middle = (low + high) / 2
                low, high = (middle, high) if holds(middle) else (low, middle)
            angle = low
    return angle


# Measures of scores for all labels: twin of xmlcore/_kernels/bipartition.py


def score_counts(true, scores):
    """What a row counts: pairs, precisions and labels at the top, in the order of the kernel's columns."""
    others = [label for label in range(len(scores)) if label not in true]
    precision = strict = 0.0
    for label in true:
        reach = [m for m, score in enumerate(scores) if score >= scores[label]]
        above = [m for m, score in enumerate(scores) if score > scores[label]]
        precision += sum(m in true for m in reach) / len(reach)
        strict += sum(m in true for m in above) / (1 + len(above))
    best = [label for label, score in enumerate(scores) if score == max(scores)]
    return [
        sum(scores[p] > scores[q] for p in others for q in true),
        sum(scores[p] == scores[q] for p in others for q in true),
        precision,
        _expected_precision(true, scores),
        strict,
        len(best),
        sum(label in true for label in best),
        int(best[0] in true),
    ]


def _expected_precision(true, scores):
    """Sum of the precisions at true labels, mean over all orders of labels with equal scores."""
    order = sorted(range(len(scores)), key=lambda label: -scores[label])
    levels = [list(itertools.permutations(group)) for _, group in itertools.groupby(order, key=scores.__getitem__)]
    total = count = 0
    for orders in itertools.product(*levels):
        right = [label in true for label in itertools.chain(*orders)]
        total += sum(sum(right[: i + 1]) / (i + 1) for i in range(len(right)) if right[i])
        count += 1
    return total / count


def micro_auc(Y, S):
    """Share of (true, other) couples of all pairs in the right order, ties a half."""
    true = [s for row, ss in zip(Y, S) for y, s in zip(row, ss) if y]
    other = [s for row, ss in zip(Y, S) for y, s in zip(row, ss) if not y]
    return sum((t > o) + 0.5 * (t == o) for t in true for o in other) / (len(true) * len(other))


# Decision trees: twin of xmlcore/_kernels/decision_trees.py


def tree_leaf(row, feature, threshold, left, right):
    """The node a row ends at."""
    node = 0
    while feature[node] >= 0:
        node = left[node] if row[feature[node]] <= threshold[node] else right[node]
    return node


# FALS: twins of xmlcore/_kernels/fals.py, and the method as the paper's formulas have it


def by_feature(rows):
    """For rows as dicts: feature -> [(row, value)], features in the order in which they come."""
    found = {}
    for b, row in enumerate(rows):
        for feature, value in row.items():
            found.setdefault(feature, []).append((b, value))
    return found


def adam(weight, gradients, learning_rate):
    """One weight after a step of Adam for each gradient; gradients of 0 move it, too."""
    mean = square = 0.0
    for t, gradient in enumerate(gradients, start=1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        rate = learning_rate * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        weight -= rate * mean / (math.sqrt(square) + 1e-8)
    return weight


def perceptron(x, weights, biases, activation):
    """Values before and after the activation of each layer, as lists of lists; the last layer is a sigmoid."""

    def act(z, last):
        return max(0.0, z) if activation == "relu" and not last else 1 / (1 + math.exp(-z))

    before, after, values = [], [], list(x)
    for level, (weight, bias) in enumerate(zip(weights, biases)):
        z = [bias[j] + sum(values[i] * weight[i][j] for i in range(len(values))) for j in range(len(bias))]
        values = [act(v, level == len(weights) - 1) for v in z]
        before.append(z)
        after.append(values)
    return before, after


def perceptron_loss(X, Y, weights, biases, activation, l2=0.0):
    """Cross-entropy, summed over labels, mean over rows, and l2 / 2 times the squared weights."""
    total = 0.0
    for x, y in zip(X, Y):
        f = perceptron(x, weights, biases, activation)[1][-1]
        total -= sum(math.log(p) if known else math.log(1 - p) for p, known in zip(f, y))
    return total / len(X) + l2 / 2 * sum(float(v) ** 2 for weight in weights for row in weight for v in row)


def perceptron_gradient(x, weights, biases, activation):
    """Derivatives of each output by each feature, outputs first: the paper's equation 4, for any number of layers."""
    after = perceptron(x, weights, biases, activation)[1]
    result = []
    for c in range(len(biases[-1])):
        f = after[-1][c]
        back = [f * (1 - f) * weights[-1][h][c] for h in range(len(weights[-1]))]
        for level in range(len(weights) - 2, -1, -1):
            values = after[level]
            slopes = [float(v > 0) if activation == "relu" else v * (1 - v) for v in values]
            back = [b * s for b, s in zip(back, slopes)]
            back = [sum(weights[level][i][j] * back[j] for j in range(len(back))) for i in range(len(weights[level]))]
        result.append(back)
    return result


def fals_scores(X, weights, biases, activation, pattern):
    """Scores of the four patterns by a loop over rows: (L, D), or (1, D) for those that share one selection."""
    L, D = len(biases[-1]), len(X[0])
    scores = [[0.0] * D for _ in range(L)]
    for x in X:
        f = perceptron(x, weights, biases, activation)[1][-1]
        for c, gradient in enumerate(perceptron_gradient(x, weights, biases, activation)):
            divisor = f[c] * (1 - f[c]) if pattern in ("FILS", "FIMS") else 1.0
            for d in range(D):
                scores[c][d] += gradient[d] ** 2 / divisor / len(X)
    if pattern in ("FAMS", "FIMS"):
        return [[sum(scores[c][d] for c in range(L)) for d in range(D)]]
    return scores


def deviations(active, reference):
    """For each row the units in which it differs: (unit, +1 or -1)."""
    return [
        [(h, 1.0 if own else -1.0) for h, (own, usual) in enumerate(zip(row, reference)) if own != usual]
        for row in active
    ]


def reference_squares(active, into, out_of, weight):
    """Sum over rows of weight[n][c] * (sum over active units of into[h][d] * out_of[h][c]) ** 2."""
    H, D, C = len(into), len(into[0]), len(out_of[0])
    sums = [[0.0] * D for _ in range(C)]
    for n, row in enumerate(active):
        for c in range(C):
            for d in range(D):
                sums[c][d] += weight[n][c] * sum(into[h][d] * out_of[h][c] for h in range(H) if row[h]) ** 2
    return sums
