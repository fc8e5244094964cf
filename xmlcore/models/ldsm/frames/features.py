"""The features that decide to which children a node of LdSM sends a row."""

from collections.abc import Callable

import numpy as np

from xmlcore.first_use import pd
from xmlcore.models.ldsm.frames.nodes import check_node
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count


def features_of_node(
    model,
    t: int,
    node: int,
    feature_name: Callable[[int], str] | None = None,
    k: int | None = None,
    values: np.ndarray | None = None,
) -> "DataFrame":
    """Return the features of a node's regressors, those that tell its children apart most first."""
    t = check_count(t, "t", least=0, most=len(model.trees_) - 1)
    tree, forest = model.trees_[t], model.forest_
    node, arity = check_node(tree, node), tree.children.shape[1]
    g = int(forest.group[int(forest.root[t]) + node])
    if g < 0:
        raise ValueError(f"node {node} is a leaf: it sends no rows to children")
    start, end = int(forest.column_ptr[g]), int(forest.column_ptr[g + 1])
    weights = forest.weights[arity * start : arity * end].reshape(-1, arity).astype(np.float64)
    features = model.feature_of_column_[forest.columns[start:end]]
    typical = np.ones(features.size) if values is None else np.asarray(values, np.float64)[features]
    signed = weights * np.where(typical < 0, -1.0, 1.0)[:, None]
    ordered = np.sort(signed, axis=1)
    to, lead = np.argmax(signed, axis=1) + 1, ordered[:, -1] - ordered[:, -2]
    effect = lead * np.abs(typical)
    order = np.lexsort((features, -effect))
    order = order[effect[order] > 0]
    if k is not None:
        order = order[_place_among_equals(to[order]) < check_count(k, "k")]
    columns = {"feature": features[order]}
    if feature_name is not None:
        columns["name"] = [feature_name(int(j)) for j in features[order]]
    columns |= {f"weight_{c + 1}": weights[order, c] for c in range(arity)}
    return pd.DataFrame(columns | {"to": to[order], "lead": lead[order], "effect": effect[order]})


def _place_among_equals(values):
    order = np.argsort(values, kind="stable")
    place = np.empty(values.size, np.int64)
    place[order] = np.arange(values.size) - np.searchsorted(values[order], values[order])
    return place
