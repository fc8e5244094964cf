"""How well the classifiers of a label tree's nodes tell rows apart."""

import numpy as np

from xmlcore.first_use import pd
from xmlcore.models.plt.frames.nodes import children_of, rows_by_level
from xmlcore.models.plt.frames.paths import factors
from xmlcore.models.plt.label_tree import LabelTree
from xmlcore.models.plt.linear_nodes import LinearNodes
from xmlcore.models.plt.scaling import as_read
from xmlcore.progress import Progress, silent
from xmlcore.typing import DataFrame
from xmlcore.validation import check_features

MEASURES = ("auc", "recall", "precision", "base_rate")
MARGINS_AT_ONCE = 1 << 22  # Number of margins that are in memory at a time.
DENSE_WEIGHTS = 1 << 24  # Number of weights that are in memory at a time, in dense layout.


def quality_frame(nodes: "LinearNodes", tree: "LabelTree", X, Y, progress: Progress = silent) -> "DataFrame":
    """Measure the classifier of each node on the rows that have a label below the node's parent."""
    # The classifier of the root, if it has one, is measured on all rows. A row is *positive* if it has a label at or
    # below the node.
    n, read = tree.n_nodes, as_read(check_features(X, nodes.weights.shape[1]), nodes.normalize)
    levels = list(rows_by_level(tree, Y))[::-1]
    flat_nodes = np.concatenate([level[0] for level in levels])  # level by level from the root: ascending
    flat_rows = np.concatenate([level[1] for level in levels])
    ptr = np.searchsorted(flat_nodes, np.arange(n + 1))
    measured, positive = np.zeros(n, np.int64), np.zeros(n, np.int64)
    values = {name: np.full(n, np.nan) for name in ("auc", "recall", "precision")}
    work = _work(tree, np.diff(ptr), X.shape[0] if nodes.root_has_factor else 0)
    done, total = 0, max(int(work.sum()), 1)
    inner = np.flatnonzero(tree.label < 0)
    groups = [(flat_rows[ptr[v] : ptr[v + 1]], children_of(tree, v)) for v in inner.tolist()]
    if nodes.root_has_factor:
        groups.insert(0, (np.arange(X.shape[0]), np.array([0])))
    for rows, members in groups:
        part = read[rows]
        for block in _blocks(members, rows.size, nodes.weights.shape[1]):
            progress("Measuring how well nodes decide", done / total, f"node {int(block[0]):,} of {n:,}")
            margins = (
                part @ nodes.weights[block].astype(np.float64).toarray().T if rows.size else np.zeros((0, block.size))
            )
            margins = margins + nodes.bias[block].astype(np.float64)
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


def quality_work(tree: "LabelTree", Y, root_has_factor: bool = False) -> int:
    """Return the number of margins that :func:`quality_frame` computes on rows with the labels Y."""
    rows = np.zeros(tree.n_nodes, np.int64)
    for nodes, _ in rows_by_level(tree, Y):
        rows += np.bincount(nodes, minlength=tree.n_nodes)
    return int(_work(tree, rows, Y.shape[0] if root_has_factor else 0).sum())


def _work(tree, rows, rows_of_root):
    """Return the number of margins of each node; ``rows`` are the rows with a label at or below it."""
    return np.concatenate([[rows_of_root], rows[tree.parent[1:]]])


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
