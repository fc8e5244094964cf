"""Gradients of label trees: twin of xmlcore/_kernels/plt_gradients.py."""

import math

from naive.plt_factors import log_probability, log_slope


def path_gradient(nodes, row, label):
    """Log P(label) for a row {feature: value}, and its gradient by the row as {feature: value}."""
    is_unit = nodes.normalize == "l2"
    length = math.sqrt(sum(value**2 for value in row.values())) if is_unit else 1.0
    unit = {f: value / length for f, value in row.items()}
    total, gradient = 0.0, {}
    for v in nodes.path(label).tolist():
        weights = nodes.weights[[v]]
        weights = dict(zip(weights.indices.tolist(), weights.data.tolist()))
        margin = float(nodes.bias[v]) + sum(w * unit.get(f, 0.0) for f, w in weights.items())
        total += log_probability(margin, nodes.loss)
        for f, w in weights.items():
            gradient[f] = gradient.get(f, 0.0) + log_slope(margin, nodes.loss) * w
    if is_unit and not row:
        return total, {}
    along = sum(gradient.get(f, 0.0) * u for f, u in unit.items()) if is_unit else 0.0
    features = {*gradient, *unit}
    return total, {f: (gradient.get(f, 0.0) - unit.get(f, 0.0) * along) / length for f in features}
