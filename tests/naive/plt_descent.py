"""Dual coordinate descent over the rows of a node: twin of xmlcore/_kernels/plt_descent.py."""

import math

import numpy as np

from naive.plt_newton import hinge_steps, logistic_steps
from naive.rng import shuffle, stream


def descend(X, targets, loss, C, tol, max_epochs, seed, number):
    """X dense (m, F), targets (m, c <= 16) -> weights (F + 1, c), the biases last; visits; violation.

    C is a number, or one for each row and child.
    """
    C = np.broadcast_to(C, targets.shape)
    take = logistic_steps if loss == "logistic" else hinge_steps
    rows = [np.append(row, 1.0) for row in X]
    weights = np.zeros((X.shape[1] + 1, targets.shape[1]))
    duals = np.zeros(targets.shape)
    order, state = list(range(len(rows))), stream(seed, number)
    m = len(rows)
    awake, passes, visits, worst = m, 0, 0, math.inf
    while visits < max_epochs * m:
        awake = min(awake, max_epochs * m - visits)
        first = order[:awake]
        state = shuffle(first, state)
        order[:awake] = first
        worst, kept = 0.0, 0
        for place in range(awake):
            i = order[place]
            steps, distances = take(rows[i] @ weights, duals[i], targets[i], float(rows[i] @ rows[i]), C[i])
            duals[i] += steps
            weights += np.outer(rows[i], steps * (2 * targets[i] - 1))
            away = max(distances / C[i])
            worst = max(worst, away)
            if away > 0.3 * tol:
                order[place], order[kept] = order[kept], i
                kept += 1
        visits += awake
        if awake == m:
            if worst <= tol:
                break
            passes, awake = 0, kept
        else:
            passes += 1
            awake = m if worst <= tol or passes == 5 else kept
            worst = math.inf
    return weights, visits, worst
