"""Steps of one row's dual variables: twins of xmlcore/_kernels/plt_newton.py."""

import math

import numpy as np


def sigmoid(margin):
    margin = max(min(margin, 60.0), -60.0)
    return 1.0 / (1.0 + math.exp(-margin))


def logistic_steps(margins, duals, targets, q, C):
    """Changes of the dual variables a >= 0 of one row, one per child, and how far each was from its optimum.

    C is a number, or one for each child.
    """
    C = [float(c) for c in np.broadcast_to(C, len(margins))]
    zs = [(2 * t - 1) * margin for margin, t in zip(margins, targets)]

    def condition(c, s):  # rises with s; 0 at the optimum
        return duals[c] + s - C[c] * sigmoid(-(zs[c] + q * s))

    def slope(c, s):
        p = sigmoid(-(zs[c] + q * s))
        return 1 + C[c] * q * p * (1 - p)

    children = range(len(margins))
    brackets = [sorted([0.0, -condition(c, 0.0)]) for c in children]
    steps = [-condition(c, 0.0) / slope(c, 0.0) for c in children]
    last = [abs(s) for s in steps]
    while max(q * move for move in last) > 0.1:
        for c in children:
            s = steps[c]
            brackets[c][0 if condition(c, s) < 0 else 1] = s
            low, high = brackets[c]
            newton = s - condition(c, s) / slope(c, s)
            good = low <= newton <= high and abs(newton - s) < last[c] / 2
            steps[c] = newton if good else (low + high) / 2
            last[c] = abs(steps[c] - s)
    return [max(s, -a) for s, a in zip(steps, duals)], [abs(condition(c, 0.0)) for c in children]


def hinge_steps(margins, duals, targets, q, C):
    """As :func:`logistic_steps`, for the squared hinge loss: one step is exact."""
    steps, distances = [], []
    for margin, a, t, c in zip(margins, duals, targets, np.broadcast_to(C, len(margins))):
        slack = 1 - (2 * t - 1) * margin
        steps.append(max(a + (slack - a / (2 * c)) / (q + 1 / (2 * c)), 0) - a)
        distances.append(c * abs(a / (2 * c) - max(slack, 0)))
    return steps, distances
