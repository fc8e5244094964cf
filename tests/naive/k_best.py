"""The k best labels, and a heap of nodes: twins of xmlcore/_kernels/k_best.py."""


def in_order(pairs):
    """Sort (score, id) pairs as rankings have them: larger score first, then smaller id."""
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))


def k_best(pairs, k):
    """The k best of (score, id) pairs, best first."""
    return in_order(pairs)[:k]
