"""The features that decide to which children a node of LdSM sends a row."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from xmlcore.models.ldsm.frames.nodes import check_node
from xmlcore.validation import check_count

if TYPE_CHECKING:
    import pandas as pd


def features_of_node(
    model,
    t: int,
    node: int,
    feature_name: Callable[[int], str] | None = None,
    k: int | None = None,
    values: np.ndarray | None = None,
) -> "pd.DataFrame":
    """Return the features of a node's regressors, those that tell its children apart most first.

    Parameters
    ----------
    model : fitted LdSM
    t : int
        Index of the tree.
    node : int
        An inner node.
    feature_name : callable, optional
        Name of a feature by its id; adds ``name``.
    k : int, optional
        That many features for each child only.
    values : ndarray of float, shape (D,), optional
        A typical value of each feature, such as its mean over the training rows; 1 by default. Weights of rare features
        are often the largest ones, but decide for few rows.

    Returns
    -------
    DataFrame
        ``feature``, ``name``, ``weight_1`` to ``weight_M`` (of the regressor of each child), ``to`` (number of the
        child with the largest weight times value, 1 to M), ``lead`` (that weight less the second largest one, for
        positive values) and ``effect`` (the lead times the typical value). A row goes to
        each child whose margin, the sum of bias and weights times values, is at least 0.5, or else to the child with
        the largest margin. So a feature with a large effect sends rows to the child ``to`` rather than to another
        one. Largest effect first, then the smaller feature id.

    Raises
    ------
    ValueError
        The node is a leaf: it sends no rows.
    """
    import pandas as pd

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
    """Return for each value how many equal values come before it."""
    order = np.argsort(values, kind="stable")
    place = np.empty(values.size, np.int64)
    place[order] = np.arange(values.size) - np.searchsorted(values[order], values[order])
    return place
