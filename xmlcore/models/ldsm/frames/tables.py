"""Tables of nodes, of one node's labels and of the leaves of a row."""

from collections.abc import Callable, Sequence

import numpy as np

from xmlcore.first_use import pd
from xmlcore.models.ldsm.frames.nodes import check_node, nodes_below
from xmlcore.models.ldsm.trees import LdSMTree
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count

INNER, LEAF = "inner", "leaf"  # kinds of nodes


def top_labels(tree: "LdSMTree", k: int = 3, nodes=None) -> tuple[np.ndarray, np.ndarray]:
    k = check_count(k, "k")
    part = tree.histograms if nodes is None else tree.histograms[np.asarray(nodes, np.int64)]
    ptr, ids, counts = part.indptr.astype(np.int64), part.indices, part.data
    node = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    order = np.lexsort((ids, -counts.astype(np.int64), node))
    place = np.arange(ids.size) - ptr[node]  # lexsort keeps nodes together, in order
    kept = place < k
    labels = np.full((ptr.size - 1, k), -1, np.int32)
    rows = np.zeros((ptr.size - 1, k), np.int64)
    labels[node[kept], place[kept]] = ids[order[kept]]
    rows[node[kept], place[kept]] = counts[order[kept]]
    return labels, rows


def told_apart_by(tree: "LdSMTree", nodes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for each node, the label whose share of rows rises most from the parent to the node."""
    hist, rows = tree.histograms, tree.n_samples
    labels, shares, before = np.full(len(nodes), -1, np.int32), np.zeros(len(nodes)), np.zeros(len(nodes))
    for i, v in enumerate(np.asarray(nodes).tolist()):
        parent = tree.parent[v]
        if parent < 0:
            continue
        own, above = slice(hist.indptr[v], hist.indptr[v + 1]), slice(hist.indptr[parent], hist.indptr[parent + 1])
        ids = hist.indices[own]
        then = hist.data[above][np.searchsorted(hist.indices[above], ids)] / rows[parent]  # its labels are there too
        now = hist.data[own] / rows[v]
        best = int(np.argmax(now - then))
        labels[i], shares[i], before[i] = ids[best], now[best], then[best]
    return labels, shares, before


def nodes_frame(
    tree: "LdSMTree", label_name: Callable[[int], str] | None = None, k: int = 3, nodes=None
) -> "DataFrame":
    chosen = np.arange(tree.parent.size) if nodes is None else np.asarray(nodes, np.int64)
    parent, n = tree.parent[chosen], tree.n_samples[chosen]
    labels, rows = top_labels(tree, k, None if nodes is None else chosen)
    shares = rows / n[:, None]
    columns = {
        "node": chosen,
        "parent": parent,
        "depth": tree.depth[chosen],
        "kind": np.where(tree.children[chosen, 0] >= 0, INNER, LEAF),
        "rows": n,
        "share_of_parent": np.where(parent >= 0, n / tree.n_samples[parent], 1.0),
        "below": nodes_below(tree)[chosen] if (tree.children[chosen, 0] >= 0).any() else 0,
        "purity": shares[:, 0],
    }
    columns |= {name: getattr(tree, name)[chosen] for name in ("objective", "balance", "integrity", "multiway")}
    for place in range(k):
        columns |= {f"label_{place + 1}": labels[:, place], f"share_{place + 1}": shares[:, place]}
    frame = pd.DataFrame(columns)
    return frame if label_name is None else with_names(frame, label_name)


def with_names(frame: "DataFrame", label_name: Callable[[int], str]) -> "DataFrame":
    """Add the names of the labels to a table of :func:`nodes_frame`; empty text where there is no label."""
    frame = frame.copy()
    for column in [c for c in frame.columns if c.startswith("label_")]:
        ids = frame[column].to_numpy()
        known = {int(j): label_name(int(j)) for j in np.unique(ids) if j >= 0}
        place = frame.columns.get_loc(column) + 1
        frame.insert(place, column.replace("label_", "name_"), [known.get(int(j), "") for j in ids])
    return frame


def labels_of_node(
    tree: "LdSMTree", node: int, label_name: Callable[[int], str] | None = None, k: int | None = None
) -> "DataFrame":
    """Return the labels of a node's training rows, and where the node sends them."""
    node = check_node(tree, node)
    hist = tree.histograms
    present = slice(hist.indptr[node], hist.indptr[node + 1])
    labels, counts = hist.indices[present], hist.data[present].astype(np.int64)
    order = np.lexsort((labels, -counts))[:k]
    labels, counts = labels[order], counts[order]
    columns = {"label": labels}
    if label_name is not None:
        columns["name"] = [label_name(int(j)) for j in labels]
    columns |= {"rows": counts, "share": counts / tree.n_samples[node]}
    if tree.children[node, 0] >= 0:
        for c, child in enumerate(tree.children[node], 1):
            own = slice(hist.indptr[child], hist.indptr[child + 1])
            at = np.searchsorted(hist.indices[own], labels).clip(max=own.stop - own.start - 1)
            columns[f"to_{c}"] = np.where(hist.indices[own][at] == labels, hist.data[own][at], 0) / counts
    return pd.DataFrame(columns)


def leaves_frame(
    trees: Sequence["LdSMTree"], leaves, row: int, label_name: Callable[[int], str] | None = None
) -> "DataFrame":
    parts = []
    for t in range(leaves.n_trees):
        reached = np.sort(leaves.of(row, t))
        part = nodes_frame(trees[t], label_name, nodes=reached)
        part.insert(0, "tree", t)
        parts.append(part.assign(weight=1.0 / (reached.size * leaves.n_trees)))
    return pd.concat(parts, ignore_index=True)
