"""Nodes of a label tree: their labels, their training rows, and the way to them."""

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from xmlcore.first_use import pd
from xmlcore.models.plt.label_tree import LabelTree
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count, csr_parts


def rows_by_level(tree: "LabelTree", Y) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, level by level from the deepest, which rows have a label at or below which nodes."""
    ptr, labels, _ = csr_parts(Y)
    depth, parent = tree.depth, tree.parent.astype(np.int64)
    of_label = np.repeat(np.arange(Y.shape[0]), np.diff(ptr))
    leaf = tree.leaf_of_label[labels].astype(np.int64)
    nodes, rows = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for level in range(int(depth[-1]), -1, -1):
        here = depth[leaf] == level
        nodes, rows = np.concatenate([parent[nodes], leaf[here]]), np.concatenate([rows, of_label[here]])
        # Sparse matrices order pairs by counting, in a fifth of the time of sorting them; duplicates are added.
        each = sp.csr_array((np.ones(nodes.size, bool), (rows, nodes)), shape=(Y.shape[0], tree.n_nodes)).tocsc()
        nodes, rows = np.repeat(np.arange(tree.n_nodes), np.diff(each.indptr)), each.indices.astype(np.int64)
        yield nodes, rows


def nodes_frame(tree: "LabelTree", Y, k: int = 3) -> "DataFrame":
    k = check_count(k, "k")
    n, parent, depth = tree.n_nodes, tree.parent, tree.depth
    rows, n_labels, top = np.zeros(n, np.int64), np.zeros(n, np.int64), np.full((n, k), -1, np.int64)
    for nodes, _ in rows_by_level(tree, Y):
        rows += np.bincount(nodes, minlength=n)
    by_frequency = np.argsort(-label_counts(Y), kind="stable")
    at = tree.leaf_of_label[by_frequency].astype(np.int64)
    for level in range(int(depth[-1]), -1, -1):
        mine = np.flatnonzero(depth[at] == level)
        mine = mine[np.argsort(at[mine], kind="stable")]  # by node, and most frequent first within a node
        nodes = at[mine]
        place = np.arange(nodes.size) - np.searchsorted(nodes, nodes)
        n_labels += np.bincount(nodes, minlength=n)
        kept = place < k
        top[nodes[kept], place[kept]] = by_frequency[mine[kept]]
        at[mine] = parent[nodes]
        at[mine[nodes == 0]] = 0
    columns = {"node": np.arange(n), "parent": parent, "depth": depth, "label": tree.label}
    columns |= {"n_children": tree.n_children, "n_labels": n_labels, "rows": rows}
    return pd.DataFrame(columns | {f"label_{i + 1}": top[:, i] for i in range(k)})


def label_counts(Y) -> np.ndarray:
    return np.bincount(csr_parts(Y)[1], minlength=Y.shape[1])


def children_of(tree: "LabelTree", node: int) -> np.ndarray:
    """Return the children of a node, in ascending order; none for a leaf."""
    first, end = np.searchsorted(tree.parent, [node, node + 1])
    return np.arange(first, end)


def path_to(tree: "LabelTree", node: int) -> list[int]:
    path = [check_count(node, "node", least=0, most=tree.n_nodes - 1)]
    while path[-1] > 0:
        path.append(int(tree.parent[path[-1]]))
    return path[::-1]


def labels_below(tree: "LabelTree", node: int) -> np.ndarray:
    start = check_count(node, "node", least=0, most=tree.n_nodes - 1)
    end, found = start + 1, []
    while start < end:  # descendants of one depth have consecutive numbers
        level = tree.label[start:end]
        found.append(level[level >= 0])
        start, end = np.searchsorted(tree.parent, [start, end])
    return np.sort(np.concatenate(found))


def labels_of_node(
    tree: "LabelTree",
    node: int,
    counts: np.ndarray,
    label_name: Callable[[int], str] | None = None,
    k: int | None = None,
) -> "DataFrame":
    """Return the labels at or below a node, most frequent first, the smaller id first among equals."""
    labels = labels_below(tree, node)
    labels = labels[np.argsort(-counts[labels], kind="stable")][:k]
    child = tree.leaf_of_label[labels].astype(np.int64)
    while True:
        above = (child != node) & (tree.parent[child] != node)
        if not above.any():
            break
        child[above] = tree.parent[child[above]]
    columns = {"label": labels}
    if label_name is not None:
        columns["name"] = [label_name(int(j)) for j in labels]
    return pd.DataFrame(columns | {"rows": counts[labels], "child": child})
