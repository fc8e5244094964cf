"""Where the nodes of a label tree are drawn when the whole tree is drawn at once."""

from collections.abc import Sequence

import numpy as np

from xmlcore.models.plt.label_tree import LabelTree
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count


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
    within[: top + 1] = False  # nodes above the top, of which some begin at the same place
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
