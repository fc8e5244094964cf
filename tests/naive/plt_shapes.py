"""Shapes of label trees: twins of xmlcore/_kernels/plt_shapes.py and xmlcore/models/plt/label_tree.py."""

import heapq

from naive.rng import permutation


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
