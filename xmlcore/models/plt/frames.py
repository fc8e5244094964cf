"""Label trees of PLT as tables, for notebooks and the dashboard: nodes, their labels, features, quality and paths."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from xmlcore.first_use import pd
from xmlcore.models.plt.label_tree import LabelTree
from xmlcore.models.plt.linear_nodes import LinearNodes
from xmlcore.models.plt.scaling import as_read
from xmlcore.models.rows import counted
from xmlcore.progress import Progress, silent
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count, check_features, csr_parts


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
    by_frequency = np.argsort(-counted(Y), kind="stable")
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


def children_of(tree: "LabelTree", node: int) -> np.ndarray:
    """Return the children of a node, in ascending order; none for a leaf."""
    first, end = np.searchsorted(tree.parent, [node, node + 1])
    return np.arange(first, end)


def path_to(tree, node: int) -> list[int]:
    """Return the nodes from the root of a label tree or a decision tree to ``node``, both included."""
    path = [check_node(tree, node)]
    while path[-1] > 0:
        path.append(int(tree.parent[path[-1]]))
    return path[::-1]


def check_node(tree, node) -> int:
    return check_count(node, "node", least=0, most=tree.parent.size - 1)


def with_names(columns: dict, name: Callable[[int], str] | None) -> dict:
    """Return the columns of a table whose first one are ids, with the names of these after them, if they have any."""
    [first, *_] = columns.values()
    return columns if name is None else columns | {"name": [name(int(j)) for j in first]}


def labels_below(tree: "LabelTree", node: int) -> np.ndarray:
    start = check_node(tree, node)
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
    return pd.DataFrame(with_names({"label": labels}, label_name) | {"rows": counts[labels], "child": child})


def layout_frame(
    tree: "LabelTree",
    nodes: "DataFrame",
    top: int = 0,
    depths: tuple[int, int] | None = None,
    most: int = 2000,
    always: "Sequence[int]" = (),
) -> "DataFrame":
    """Return the part of a label tree at and below a node with a place for each node, as wide as it has labels."""
    top = check_count(top, "top", least=0, most=tree.n_nodes - 1)
    width, rows, depth = (nodes[name].to_numpy(np.int64) for name in ("n_labels", "rows", "depth"))
    start = _starts(tree, width, rows, depth)
    within = (start >= start[top]) & (start < start[top] + width[top]) & (depth >= depth[top])
    within[: top + 1] = False  # nodes above the top: some begin at the same place
    within[top] = True
    if depths is not None:
        within &= (depth >= depths[0]) & (depth <= depths[1])
    found = np.flatnonzero(within)
    later = ~np.isin(found, np.asarray(always, np.int64))
    kept = found[np.lexsort((found, -rows[found], -width[found], later))[: check_count(most, "most")]]
    kept.sort()
    frame = nodes.iloc[kept].assign(start=start[kept] - start[top]).reset_index(drop=True)
    frame.attrs["total"] = int(found.size)
    return frame


def _starts(tree, width, rows, depth) -> np.ndarray:
    """Return the left end of every node, in labels from the left end of the root: int64 (n,)."""
    start = np.zeros(tree.n_nodes, np.int64)
    for level in range(1, int(depth[-1]) + 1):
        first, end = np.searchsorted(depth, [level, level + 1])
        at = np.arange(first, end)
        parent = tree.parent[at].astype(np.int64)
        order = np.lexsort((at, -width[at], -rows[at], parent))
        before = np.cumsum(width[at][order]) - width[at][order]  # labels of all nodes of the level before this one
        new = np.concatenate([[True], np.diff(parent[order]) > 0])
        before -= np.repeat(before[new], np.diff(np.append(np.flatnonzero(new), at.size)))
        start[at[order]] = start[parent[order]] + before
    return start


def features_of_node(
    nodes: "LinearNodes", node: int, feature_name: Callable[[int], str] | None = None, k: int | None = None
) -> "DataFrame":
    """Return the features of a node's linear classifier, largest absolute weight first."""
    features, weights = _row_of(nodes.weights, node)
    order = np.lexsort((features, -np.abs(weights)))[:k]
    columns = with_names({"feature": features[order]}, feature_name)
    return pd.DataFrame(columns | {"weight": weights[order].astype(np.float64)})


def _row_of(weights, node):
    """Return the features and values stored in a row of a matrix of weights."""
    node = check_count(node, "node", least=0, most=weights.shape[0] - 1)
    part = slice(weights.indptr[node], weights.indptr[node + 1])
    return weights.indices[part], weights.data[part]


def factors(margins: np.ndarray, loss: str) -> np.ndarray:
    """Return the probability of a node given its parent for margins of its classifier, with any shape."""
    if loss == "logistic":
        return np.exp(-np.logaddexp(0.0, -margins))
    return np.exp(-(np.maximum(0.0, 1.0 - margins) ** 2))


MEASURES = ("auc", "recall", "precision", "base_rate")
MARGINS_AT_ONCE = 1 << 22  # Number of margins that are in memory at a time.
DENSE_WEIGHTS = 1 << 24  # Number of weights that are in memory at a time, in dense layout.


def quality_frame(nodes: "LinearNodes", tree: "LabelTree", X, Y, progress: Progress = silent) -> "DataFrame":
    """Measure the classifier of each node on the rows that have a label below the node's parent."""
    # The classifier of the root, if it has one, is measured on all rows. A row is *positive* if it has a label at or
    # below the node.
    n, read = tree.n_nodes, as_read(check_features(X, nodes.weights.shape[1]), nodes.normalize)
    levels = list(rows_by_level(tree, Y))[::-1]
    flat_nodes, flat_rows = map(np.concatenate, zip(*levels))  # level by level from the root: ascending
    ptr = np.searchsorted(flat_nodes, np.arange(n + 1))
    measured, positive = np.zeros(n, np.int64), np.zeros(n, np.int64)
    values = {name: np.full(n, np.nan) for name in ("auc", "recall", "precision")}
    rows_of_root = X.shape[0] if nodes.root_has_factor else 0
    done, total = 0, max(int(np.diff(ptr)[tree.parent[1:]].sum()) + rows_of_root, 1)
    inner = np.flatnonzero(tree.label < 0)
    groups = [(flat_rows[ptr[v] : ptr[v + 1]], children_of(tree, v)) for v in inner.tolist()]
    if nodes.root_has_factor:
        groups.insert(0, (np.arange(X.shape[0]), np.array([0])))
    for rows, members in groups:
        part = read[rows]
        for block in _blocks(members, rows.size, nodes.weights.shape[1]):
            progress("Measuring how well nodes decide", done / total, f"node {int(block[0]):,} of {n:,}")
            margins = part @ nodes.weights[block].astype(np.float64).toarray().T + nodes.bias[block].astype(np.float64)
            for column, v in enumerate(block.tolist()):
                own = np.searchsorted(rows, flat_rows[ptr[v] : ptr[v + 1]])
                measured[v], positive[v] = rows.size, own.size
                found = _measures(margins[:, column], own, nodes.loss)
                for name, value in zip(values, found):
                    values[name][v] = value
            done += rows.size * block.size
    with np.errstate(invalid="ignore"):
        base_rate = positive / np.where(measured > 0, measured, np.nan)
    columns = {"node": np.arange(n), "measured": measured, "positive": positive, "base_rate": base_rate}
    return pd.DataFrame(columns | values)


def _blocks(members, n_rows, n_features):
    """Split siblings into parts whose margins and weights fit in memory."""
    most = max(1, min(MARGINS_AT_ONCE // max(n_rows, 1), DENSE_WEIGHTS // max(n_features, 1)))
    return [members[at : at + most] for at in range(0, members.size, most)]


def _measures(margins, own, loss):
    """Return AUC, recall and precision of the margins of all rows; ``own`` are the positions of positive rows."""
    n, n_positive = margins.size, own.size
    mine, chosen = margins[own], int((factors(margins, loss) >= 0.5).sum())
    hits = int((factors(mine, loss) >= 0.5).sum())
    auc = np.nan
    if 0 < n_positive < n:
        ordered = np.sort(margins)
        ranks = (np.searchsorted(ordered, mine) + np.searchsorted(ordered, mine, side="right") + 1) / 2
        auc = (ranks.sum() - n_positive * (n_positive + 1) / 2) / (n_positive * (n - n_positive))
    return auc, hits / n_positive if n_positive else np.nan, hits / chosen if chosen else np.nan
