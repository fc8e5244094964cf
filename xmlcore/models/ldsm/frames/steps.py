"""The nodes that a row passes on its way to a leaf, with the margins that send it on."""

from collections.abc import Callable

import numpy as np

from xmlcore._kernels.ldsm_splitting import THRESHOLD
from xmlcore.first_use import pd
from xmlcore.models.ldsm.frames.nodes import check_node, path_to
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count, check_features, check_row


def row_in_columns(model, x) -> tuple[np.ndarray, np.ndarray]:
    """Return a row's columns in the model, ascending, and its values in them as float64; x is canonical CSR (1, D)."""
    _, columns, place = model.in_columns(x)
    order = np.argsort(columns, kind="stable")
    return columns[order], x.data[place][order].astype(np.float64)


def regressors(model, t: int, node: int, columns) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the regressors of a node's children for the columns of a row, ascending; None for a leaf."""
    forest, M = model.forest_, model.trees_[0].children.shape[1]
    v = int(forest.root[t]) + node
    g, first = int(forest.group[v]), int(forest.first_child[v])
    if g < 0:
        return None
    start, end = int(forest.column_ptr[g]), int(forest.column_ptr[g + 1])
    of_node = forest.columns[start:end]
    place = np.searchsorted(of_node, columns)
    used = place < of_node.size
    used[used] = of_node[place[used]] == columns[used]
    weights = forest.weights[M * start : M * end].reshape(-1, M)[place[used]].astype(np.float64)
    return forest.bias[first : first + M].astype(np.float64), weights, used


def steps_frame(
    model, t: int, x, leaf: int, feature_name: Callable[[int], str] | None = None, k: int = 3
) -> "DataFrame":
    """Return the nodes above a leaf, the root first, with what sends a row from each to the next one."""
    tree = model.trees_[check_count(t, "t", least=0, most=len(model.trees_) - 1)]
    leaf, k = check_node(tree, leaf), check_count(k, "k")
    columns, values = row_in_columns(model, check_features(check_row(x), model.n_features_in_))
    path, lines = path_to(tree, leaf), []
    for v, to in zip(path, path[1:]):
        bias, weights, used = regressors(model, t, v, columns)
        margins = bias + values[used] @ weights
        child = int(np.flatnonzero(tree.children[v] == to)[0])
        other = int(np.argmax(np.where(np.arange(margins.size) == child, -np.inf, margins)))
        lead = values[used] * (weights[:, child] - weights[:, other])
        features = model.feature_of_column_[columns[used]]
        order = np.lexsort((features, -lead))[:k]
        names = [str(j) if feature_name is None else feature_name(int(j)) for j in features[order[lead[order] > 0]]]
        ways = max(int((margins >= THRESHOLD).sum()), 1)
        lines.append((tree.depth[v], v, tree.n_samples[v], to, margins[child], margins[other], ways, ", ".join(names)))
    return pd.DataFrame(lines, columns=["depth", "node", "rows", "to", "margin", "other", "ways", "features"])
