"""Attributions of the outputs of a perceptron to features: gradients, integrated gradients, DeepLIFT and LRP.

Each method is a product along the layers, the paper's equations 4, 15, 19 and 21:

    attribution[n, c, d] = x[n, d] * out[n, c] * (W_1 diag(m_1[n]) W_2 diag(m_2[n]) ... W_K)[d, c]

Here n is a row, c a label, d a feature, and W_1 to W_K are the weights of the layers. The factors m of the hidden units
and the factors ``out`` of the outputs depend on the row and on the method. The gradient is this product without the
factor x[n, d]. Integrated gradients are the mean of the products at points between a row of zeros and the row.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.selection.fals.network import Network, activate, product, sigmoid, sigmoid_slope, slope

IG_STEPS = 50  # number of points at which integrated gradients evaluate the gradient
LRP_EPSILON = 1e-6  # size of the number that LRP adds to a sum before it divides by the sum


class Factors(NamedTuple):
    """The factors of a method along the layers, for n rows."""

    weights: tuple  # one matrix per layer
    hidden: list  # (n, H) for each hidden layer
    out: np.ndarray  # (n, L)
    probabilities: np.ndarray  # (n, L), the network's outputs


def factors(network: Network, X, method: str, labels: slice = slice(None)) -> Factors:
    """Compute the factors of a method; for integrated gradients, those of the gradient."""
    weights = (*network.weights[:-1], network.weights[-1][:, labels])
    biases = (*network.biases[:-1], network.biases[-1][labels])
    if method == "deeplift":
        return _deeplift(weights, biases, X, network.activation)
    if method == "lrp":
        return _lrp(weights, biases, X, network.activation)
    hidden = network.hidden(X)
    margins = product(hidden[-1] if hidden else X, weights[-1]) + biases[-1]
    slopes = [slope(values, network.activation) for values in hidden]
    return Factors(weights, slopes, sigmoid_slope(margins.copy()), sigmoid(margins))


def _deeplift(weights, biases, X, activation):
    """Return the factors of DeepLIFT's rescale rule against a row of zeros; layer by layer, to lose no digits."""
    base, change, ratios = np.zeros((1, weights[0].shape[0]), weights[0].dtype), X, []
    for level, (weight, bias) in enumerate(zip(weights, biases)):
        before_base, change = base @ weight + bias, product(change, weight)
        before = before_base + change
        is_output = level == len(weights) - 1
        ratio = _ratio_of_sigmoid if is_output or activation == "sigmoid" else _ratio_of_relu
        ratios.append(ratio(before, before_base, change).astype(weight.dtype, copy=False))
        change = ratios[-1] * change
        base = activate(before_base, activation)
    return Factors(weights, ratios[:-1], ratios[-1], sigmoid(before))


def _ratio_of_relu(before, base, change):
    """Return (relu(before) - relu(base)) / change with change = before - base, or the slope where change is 0."""
    is_unchanged = change == 0
    rise = np.maximum(before, 0) - np.maximum(base, 0)
    ratio = np.clip(rise / np.where(is_unchanged, 1, change), 0, 1)
    return np.where(is_unchanged | ((before > 0) & (base > 0)), before > 0, ratio)


def _ratio_of_sigmoid(before, base, change):
    """Return (f(before) - f(base)) / change for the sigmoid f, or its slope where change is 0; no digits are lost."""
    size = np.abs(change)
    is_unchanged = size == 0
    rise = np.where(is_unchanged, 1, -np.expm1(-size) / np.where(is_unchanged, 1, size))
    return sigmoid(np.maximum(before, base)) * sigmoid(-np.minimum(before, base)) * rise


def _lrp(weights, biases, X, activation):
    """Return the factors of LRP: relevance is propagated back in proportion to contributions along positive weights."""
    positive = tuple(np.maximum(weight, 0) for weight in weights)
    values, shares = X, []
    for level, (weight, bias) in enumerate(zip(weights, biases)):
        sums = product(values, positive[level])
        margins = product(values, weight) + bias
        values = activate(margins, activation) if level < len(weights) - 1 else sigmoid(margins)
        # It has the sign of the sum, so that the sum does not get closer to 0. Sums are negative for negative values.
        epsilon = np.where(sums < 0, -LRP_EPSILON, LRP_EPSILON).astype(weight.dtype)
        shares.append(values / (sums + epsilon))
    return Factors(positive, shares[:-1], shares[-1], values)


def along(parts: Factors, rows, features) -> np.ndarray:
    """Compute the product of all weights and hidden factors for pairs of a row and a feature."""
    values = parts.weights[0][features]
    for factor, weight in zip(parts.hidden, parts.weights[1:]):
        values = (values * factor[rows]) @ weight
    return values


def attributions(network: Network, X, method: str = "gradient", n_steps: int = IG_STEPS) -> np.ndarray:
    """Compute the attributions of all labels to all features, for a few rows."""
    n, n_features, n_labels = X.shape[0], network.weights[0].shape[0], network.weights[-1].shape[1]
    out = np.zeros((n, n_labels, n_features), network.weights[0].dtype)
    everything = np.arange(n_features)
    points = [X] if method != "integrated_gradients" else [X * (k / n_steps) for k in range(1, n_steps + 1)]
    for point in points:
        parts = factors(network, point.astype(out.dtype, copy=False), method)
        for row in range(n):
            values = along(parts, np.full(n_features, row), everything)
            out[row] += (values * parts.out[row]).T
    if method == "gradient":
        return out
    dense = X.toarray() if sp.issparse(X) else np.asarray(X)
    return out * (dense / len(points)).astype(out.dtype)[:, None, :]
