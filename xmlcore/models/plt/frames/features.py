"""The features that decide at a node of a label tree."""

from collections.abc import Callable

import numpy as np

from xmlcore.first_use import pd
from xmlcore.models.plt.linear_nodes import LinearNodes
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count, check_row, csr_parts


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
    unit = unit_rows(check_row(x, nodes.weights.shape[1]))
    features, weights = _row_of(nodes.weights, node)
    both, at, place = np.intersect1d(features, unit.indices, return_indices=True)
    value, weight = unit.data[place], weights[at].astype(np.float64)
    order = np.lexsort((both, -np.abs(value * weight)))
    columns = {"feature": both[order]}
    if feature_name is not None:
        columns["name"] = [feature_name(int(j)) for j in both[order]]
    columns |= {"value": value[order], "weight": weight[order], "contribution": (value * weight)[order]}
    return pd.DataFrame(columns)


def unit_rows(X):
    """Return the rows of a CSR matrix scaled to length 1, in float64; rows of zeros stay."""
    unit = X.astype(np.float64)
    ptr = csr_parts(unit)[0]
    lengths = np.sqrt(np.bincount(np.repeat(np.arange(X.shape[0]), np.diff(ptr)), unit.data**2, X.shape[0]))
    unit.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(ptr))
    return unit


def _row_of(weights, node):
    """Return the features and values stored in a row of a matrix of weights."""
    node = check_count(node, "node", least=0, most=weights.shape[0] - 1)
    part = slice(weights.indptr[node], weights.indptr[node + 1])
    return weights.indices[part], weights.data[part]
