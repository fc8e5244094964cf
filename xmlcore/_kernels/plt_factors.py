"""The factor of a node in a label's probability: its logarithm, slope and inverse."""

import numpy as np

from xmlcore._kernels._jit import inlined

LOGISTIC = 0
SQUARED_HINGE = 1
HAIR = 1e-12  # Covers the rounding of logarithms, absolute and relative.


@inlined
def log_probability(margin, loss):
    """Return the log of a node's factor: sigmoid(margin), or exp(-max(0, 1 - margin)^2) for the squared hinge."""
    z = np.float64(margin)
    if loss == LOGISTIC:
        if z > 0.0:
            return -np.log1p(np.exp(-z))
        return z - np.log1p(np.exp(z))
    slack = max(0.0, 1.0 - z)
    return -slack * slack


@inlined
def log_slope(margin, loss):
    """Return the derivative of a factor's logarithm by its margin; 0 for an infinite margin, whose factor is fixed."""
    z = np.float64(margin)
    if not np.isfinite(z):
        return 0.0
    if loss == LOGISTIC:
        if z > 0.0:
            small = np.exp(-z)
            return small / (1.0 + small)
        return 1.0 / (1.0 + np.exp(z))
    return 2.0 * max(0.0, 1.0 - z)


@inlined
def least_margin(log_factor, loss):
    """Return a margin below which the log of a node's factor is surely less than ``log_factor``."""
    if log_factor == -np.inf:
        return -np.inf
    reach = min(log_factor * (1.0 + HAIR) - HAIR, -HAIR)
    if loss == LOGISTIC:
        least = reach - np.log(-np.expm1(reach))
    else:
        least = 1.0 - np.sqrt(-reach)
    return least - 1e-9 * (1.0 + abs(least))
