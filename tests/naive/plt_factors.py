"""Factors of nodes: twins of xmlcore/_kernels/plt_factors.py."""

import math

from naive.plt_newton import sigmoid


def log_probability(margin, loss):
    if loss == "logistic":
        if margin == -math.inf:
            return -math.inf
        return -math.log1p(math.exp(-margin)) if margin > 0 else margin - math.log1p(math.exp(margin))
    slack = max(0.0, 1.0 - margin)
    return -(slack**2)


def log_slope(margin, loss):
    if math.isinf(margin):
        return 0.0
    return sigmoid(-margin) if loss == "logistic" else 2 * max(0.0, 1.0 - margin)
