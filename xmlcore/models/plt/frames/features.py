"""The features that decide at a node of a label tree."""

from collections.abc import Callable

import numpy as np

from xmlcore.first_use import pd
from xmlcore.models.plt.linear_nodes import LinearNodes
from xmlcore.models.plt.scaling import as_read
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count, check_row


def features_of_node(
    nodes: "LinearNodes", node: int, feature_name: Callable[[int], str] | None = None, k: int | None = None
) -> "DataFrame":
    """Return the features of a node's linear classifier, largest absolute weight first."""
    features, weights = _row_of(nodes.weights, node)
    order = np.lexsort((features, -np.abs(weights)))[:k]
    columns = {"feature": features[order]}
    if feature_name is not None:
        columns["name"] = [feature_name(int(j)) for j in features[order]]
    return pd.DataFrame(columns | {"weight": weights[order].astype(np.float64)})


def margin_parts(nodes: "LinearNodes", x, node: int, feature_name: Callable[[int], str] | None = None) -> "DataFrame":
    """Return what each feature of a row adds to the margin of a node's classifier, largest absolute amount first."""
    row = as_read(check_row(x, nodes.weights.shape[1]), nodes.normalize)
    features, weights = _row_of(nodes.weights, node)
    both, at, place = np.intersect1d(features, row.indices, return_indices=True)
    value, weight = row.data[place], weights[at].astype(np.float64)
    order = np.lexsort((both, -np.abs(value * weight)))
    columns = {"feature": both[order]}
    if feature_name is not None:
        columns["name"] = [feature_name(int(j)) for j in both[order]]
    columns |= {"value": value[order], "weight": weight[order], "contribution": (value * weight)[order]}
    return pd.DataFrame(columns)


def _row_of(weights, node):
    """Return the features and values stored in a row of a matrix of weights."""
    node = check_count(node, "node", least=0, most=weights.shape[0] - 1)
    part = slice(weights.indptr[node], weights.indptr[node + 1])
    return weights.indices[part], weights.data[part]
