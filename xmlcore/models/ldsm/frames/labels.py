"""Where the training rows of one label went."""

from collections.abc import Callable

import numpy as np

from xmlcore.first_use import pd
from xmlcore.models.ldsm.frames.nodes import check_node, path_to, with_siblings
from xmlcore.models.ldsm.frames.tables import top_labels, with_names
from xmlcore.models.ldsm.trees import LdSMTree
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count


def rows_with_label(tree: "LdSMTree", label: int) -> np.ndarray:
    """Count, for every node, its training rows that have a label."""
    label = check_count(label, "label", least=0)
    hist = tree.histograms
    if label >= hist.shape[1]:
        raise ValueError(f"label must be below {hist.shape[1]:,}, the number of labels, not {label:,}")
    at = np.flatnonzero(hist.indices == label)
    count = np.zeros(tree.parent.size, np.int64)
    count[np.searchsorted(hist.indptr, at, side="right") - 1] = hist.data[at]
    return count


def nodes_of_label(tree: "LdSMTree", label: int, most_nodes: int = 400, node: int | None = None) -> np.ndarray:
    """Return the nodes to draw for a label: those that its training rows reach."""
    most_nodes = check_count(most_nodes, "most_nodes")
    count = rows_with_label(tree, label)
    reached = np.flatnonzero(count)
    if reached.size > most_nodes:
        way = [] if node is None or count[check_node(tree, node)] == 0 else path_to(tree, node)
        # A parent has at least its child's rows, and the smaller number: any first part of this order is connected.
        order = reached[np.lexsort((reached, -count[reached]))]
        others = order[~np.isin(order, way)][: max(most_nodes - len(way), 0)]
        return np.union1d(way, others).astype(np.int64)
    around = with_siblings(tree, reached)
    return around if around.size <= most_nodes else reached.astype(np.int64)


def together_until(tree: "LdSMTree", label: int) -> int:
    """Return the deepest node that all training rows of a label reach; of equally deep ones, that made first."""
    count = rows_with_label(tree, label)
    whole = np.flatnonzero(count == count[0])
    return int(whole[np.argmax(tree.depth[whole])]) if count[0] else 0


def leaves_of_label(
    tree: "LdSMTree", label: int, label_name: Callable[[int], str] | None = None, k: int = 3
) -> "DataFrame":
    """Return a table of the leaves that a label's training rows reach, and of the other labels there."""
    count = rows_with_label(tree, label)
    nodes = np.flatnonzero((count > 0) & (tree.children[:, 0] < 0))
    nodes = nodes[np.lexsort((nodes, -count[nodes]))]
    part = tree.histograms[nodes]
    of = np.repeat(np.arange(nodes.size), np.diff(part.indptr))
    before = np.bincount(of[part.data > count[nodes][of]], minlength=nodes.size)
    labels, rows = top_labels(tree, k, nodes)
    columns = {
        "node": nodes,
        "depth": tree.depth[nodes],
        "with_label": count[nodes],
        "share_of_label": count[nodes] / max(int(count[0]), 1),
        "rows": tree.n_samples[nodes],
        "share_with_label": count[nodes] / tree.n_samples[nodes],
        "place": before + 1,
    }
    for place in range(k):
        columns |= {
            f"label_{place + 1}": labels[:, place],
            f"share_{place + 1}": rows[:, place] / tree.n_samples[nodes],
        }
    frame = pd.DataFrame(columns)
    return frame if label_name is None else with_names(frame, label_name)
