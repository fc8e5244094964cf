"""Label trees: twins of xmlcore/_kernels/plt_search.py."""

import math

import numpy as np


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
