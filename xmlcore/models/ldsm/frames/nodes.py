"""Choose nodes of a tree: paths, the part below a node, the nodes that a row passes."""

import numpy as np

from xmlcore.models.ldsm.trees import LdSMTree
from xmlcore.validation import check_count


def check_node(tree: "LdSMTree", node) -> int:
    """Return the id of a node as an int, or raise ValueError or TypeError when the tree has no such node."""
    node = check_count(node, "node", least=0)
    if node >= tree.parent.size:
        raise ValueError(f"node must be below {tree.parent.size:,}, the number of nodes of the tree, not {node:,}")
    return node


def nodes_below(tree: "LdSMTree") -> np.ndarray:
    count = np.zeros(tree.parent.size, np.int64)
    order = np.argsort(-tree.depth, kind="stable")
    starts = np.flatnonzero(np.diff(tree.depth[order], prepend=tree.depth[order[0]] + 1))
    for nodes in np.split(order, starts[1:])[:-1]:  # deepest first, without the root
        np.add.at(count, tree.parent[nodes], count[nodes] + 1)
    return count


def path_to(tree: "LdSMTree", node: int) -> list[int]:
    """Return the nodes from the root to ``node``, both included."""
    path = [check_node(tree, node)]
    while tree.parent[path[-1]] >= 0:
        path.append(int(tree.parent[path[-1]]))
    return path[::-1]


def below(tree: "LdSMTree", top: int = 0, levels: int = 4) -> np.ndarray:
    """Return the nodes to draw: ``top`` and so many levels below it."""
    found = [np.array([check_node(tree, top)], np.int64)]
    for _ in range(check_count(levels, "levels", least=0)):
        children = tree.children[found[-1]].ravel()
        children = children[children >= 0]
        if children.size == 0:
            break
        found.append(children.astype(np.int64))
    return np.concatenate(found)


def levels_that_fit(tree: "LdSMTree", top: int = 0, most_nodes: int = 400) -> int:
    """Return how many levels below ``top`` can be drawn with at most ``most_nodes`` nodes; at least 1."""
    level, drawn, levels = np.array([check_node(tree, top)]), 1, 0
    while True:
        level = tree.children[level].ravel()
        level = level[level >= 0]
        drawn += level.size
        if level.size == 0 or drawn > most_nodes:
            return max(levels, 1)
        levels += 1


def visited(tree: "LdSMTree", leaves) -> np.ndarray:
    """Return the nodes that a row passes on its ways to some leaves, and the leaves, in ascending order."""
    found = frontier = np.unique(np.asarray(leaves, np.int64))
    while frontier.size:
        frontier = np.unique(tree.parent[frontier])
        frontier = frontier[frontier >= 0]
        found = np.union1d(found, frontier)
    return found.astype(np.int64)


def with_siblings(tree: "LdSMTree", nodes) -> np.ndarray:
    """Return nodes and their siblings in ascending order, so that parents come before their children."""
    parents = np.unique(tree.parent[np.asarray(nodes, np.int64)])
    children = tree.children[parents[parents >= 0]].ravel()
    return np.union1d(nodes, children).astype(np.int64)
