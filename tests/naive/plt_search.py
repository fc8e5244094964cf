"""Label trees, their factors and the search of labels.

Twins of plt_rows.py, plt_index.py, plt_margins.py, plt_factors.py, plt_gradients.py, plt_search.py,
plt_threshold.py, plt_ensemble.py, plt_search_ensemble.py and plt_search_together.py.
"""

import math

from naive.plt_training import sigmoid


def in_columns(x, feature_of_column):
    """A dense row as trees read it: of length 1, its features in the order of the columns."""
    length = math.sqrt(float(x @ x))
    return (x / length if length else x)[feature_of_column]


def group_weights(tree, g):
    """{column: {child: weight}} of a group, however it is stored."""
    size = int(tree.group_size[g])
    begin, end = int(tree.column_ptr[g]), int(tree.column_ptr[g + 1])
    found, scale = {}, float(tree.scale[g])
    compact, first = tree.dense.dtype.name == "int8", int(tree.index_at[g])
    for at, column in enumerate(compact_columns(tree, g) if compact else tree.columns[begin:end].tolist()):
        if tree.dense_ptr[g + 1] > tree.dense_ptr[g]:
            width = size if size <= 4 else 16 * math.ceil(size / 16)
            row = tree.dense[tree.dense_ptr[g] + at * width :][:size]
            found[column] = {c: scale * float(w) for c, w in enumerate(row) if w != 0}
        else:
            pointers = tree.entry_ptr[tree.entry_at[g] : tree.entry_at[g + 1]]
            before = [int(tree.index[first + i // 128]) if compact else 0 for i in (at, at + 1)]
            pairs = (int(tree.sparse_ptr[g]) + int(pointers[at + i]) + before[i] for i in (0, 1))
            found[column] = {int(tree.entry_child[e]): scale * float(tree.entry_value[e]) for e in range(*pairs)}
    return found


def compact_columns(tree, g):
    """The columns of a group of a compact tree: all up to the last, by a bitmap in blocks, or by buckets."""
    n, low_bits = int(tree.column_ptr[g + 1] - tree.column_ptr[g]), 8 * tree.columns.itemsize
    if tree.index_shift[g] == -2:
        return list(range(n))
    if tree.index_shift[g] == -4:
        words = enumerate(tree.bits[tree.bits_ptr[g] : tree.bits_ptr[g + 1]].tolist())
        return [96 * (w // 4) + 32 * (w % 4 - 1) + b for w, word in words if w % 4 for b in range(32) if word >> b & 1]
    index = tree.index[tree.index_at[g] : tree.index_at[g + 1]].tolist()
    buckets = index if tree.dense_ptr[g + 1] > tree.dense_ptr[g] else index[n // 128 + 1 :]
    low = tree.columns[tree.low_ptr[g] : tree.low_ptr[g + 1]].tolist()
    return [b << low_bits | c for b in range(len(buckets) - 1) for c in low[buckets[b] : buckets[b + 1]]]


def log_probability(margin, loss):
    if loss == "logistic":
        if margin == -math.inf:
            return -math.inf
        return -math.log1p(math.exp(-margin)) if margin > 0 else margin - math.log1p(math.exp(margin))
    slack = max(0.0, 1.0 - margin)
    return -(slack**2)


def log_slope(margin, loss):
    if math.isinf(margin):
        return 0.0
    return sigmoid(-margin) if loss == "logistic" else 2 * max(0.0, 1.0 - margin)


def path_gradient(nodes, row, label):
    """Log P(label) for a row {feature: value}, and its gradient by the row as {feature: value}."""
    is_unit = nodes.normalize == "l2"
    length = math.sqrt(sum(value**2 for value in row.values())) if is_unit else 1.0
    unit = {f: value / length for f, value in row.items()}
    total, gradient = 0.0, {}
    for v in nodes.path(label).tolist():
        weights = nodes.weights[[v]]
        weights = dict(zip(weights.indices.tolist(), weights.data.tolist()))
        margin = float(nodes.bias[v]) + sum(w * unit.get(f, 0.0) for f, w in weights.items())
        total += log_probability(margin, nodes.loss)
        for f, w in weights.items():
            gradient[f] = gradient.get(f, 0.0) + log_slope(margin, nodes.loss) * w
    if is_unit and not row:
        return total, {}
    along = sum(gradient.get(f, 0.0) * u for f, u in unit.items()) if is_unit else 0.0
    features = {*gradient, *unit}
    return total, {f: (gradient.get(f, 0.0) - unit.get(f, 0.0) * along) / length for f in features}


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


def search_threshold(tree, loss, x, log_threshold):
    """Every label whose path product is not 0 and reaches the threshold: {label: log probability}."""
    found = label_log_probabilities(tree, loss, x)
    return {label: score for label, score in found.items() if score >= log_threshold and score > -math.inf}


def search_ensemble(trees, loss, x, k):
    """The k labels with the largest sum of probabilities for a row x in columns: (label, sum), ties by label id."""
    sums = {}
    for tree in trees:
        for label, score in label_log_probabilities(tree, loss, x).items():
            sums[label] = sums.get(label, 0.0) + math.exp(score)
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:k]
