"""The most probable labels of a row, by going through all labels: twins of xmlcore/_kernels/plt_search.py."""

import math

from naive.plt_factors import log_probability
from naive.plt_margins import group_weights


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


def gains_of_nodes(parent, label, weights):
    """The gain of every node, by going up from each leaf."""
    largest = [0.0] * len(parent)
    for v, own in enumerate(label):
        node = v
        while own >= 0 and node >= 0:
            largest[node] = max(largest[node], weights[own])
            node = parent[node]
    logs = [math.log(weight) if weight else -math.inf for weight in largest]
    return [logs[v] if up < 0 or logs[v] == -math.inf else logs[v] - logs[up] for v, up in enumerate(parent)]


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
