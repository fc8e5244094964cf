"""The paths of a row to labels: the margin and the probability at each node, and where the probability is lost."""

from collections.abc import Sequence

import numpy as np

from xmlcore.first_use import pd
from xmlcore.models.plt.linear_nodes import LinearNodes
from xmlcore.models.plt.scaling import as_read
from xmlcore.typing import DataFrame
from xmlcore.validation import check_row


def factors(margins: np.ndarray, loss: str) -> np.ndarray:
    """Return the probability of a node given its parent for margins of its classifier, with any shape."""
    if loss == "logistic":
        return np.exp(-np.logaddexp(0.0, -margins))
    return np.exp(-(np.maximum(0.0, 1.0 - margins) ** 2))


def paths_frame(nodes: "LinearNodes", x, labels: Sequence[int]) -> "DataFrame":
    """Return the nodes on a row's paths to some labels in a label tree."""
    row = as_read(check_row(x, nodes.weights.shape[1]), nodes.normalize)
    paths = [nodes.path(int(label)) for label in labels]
    lengths = [path.size for path in paths]
    flat = np.concatenate([np.zeros(0, np.int64), *paths])
    used, place = np.unique(flat, return_inverse=True)
    bias = nodes.bias[used].astype(np.float64)
    margin = (nodes.weights[used].astype(np.float64) @ row.toarray().ravel() + bias)[place]
    factor = factors(margin, nodes.loss)
    ends = np.cumsum([0, *lengths])
    product = [np.cumprod(factor[start:end]) for start, end in zip(ends, ends[1:])]
    return pd.DataFrame(
        {
            "label": np.repeat(np.asarray(labels, np.int64), lengths),
            "step": np.concatenate([np.zeros(0, np.int64), *(np.arange(1, size + 1) for size in lengths)]),
            "node": flat,
            "bias": bias[place],
            "margin": margin,
            "factor": factor,
            "product": np.concatenate([np.zeros(0), *product]),
        }
    )


def hardest_steps(paths: "DataFrame") -> "DataFrame":
    """Return for each label the step at which its probability drops most."""
    of_label = paths.groupby("label", sort=False)
    lowest = paths.loc[of_label["factor"].idxmin(), ["label", "step", "node", "margin", "factor"]]
    lowest.insert(1, "probability", of_label["product"].last().to_numpy())
    return lowest.reset_index(drop=True)
