"""The trees of an ensemble: twins of xmlcore/_kernels/plt_ensemble.py."""


def member_at(trees, leaves, t):
    """Tree t and its leaves: where they are in memory does not matter in Python."""
    return trees[t], leaves[t]
