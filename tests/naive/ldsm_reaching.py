"""LdSM: the leaves that a row reaches."""

from naive.ldsm_splitting import route


def leaves_of(tree, row, M):
    """The leaves that a row reaches."""
    _, first_child, _, weights, _ = tree
    stack, leaves = [0], []
    while stack:
        v = stack.pop()
        if first_child[v] < 0:
            leaves.append(v)
        else:
            stack += [first_child[v] + m for m in route(weights[v], row, M)]
    return leaves
