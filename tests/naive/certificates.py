"""Certificates of robustness: twins of certificate_bounds.py and certificate_search.py."""

import math

import numpy as np

from naive.plt_search import log_probability, log_slope


def cap_maximum(c, u, angle):
    """Return the largest c . u' over unit vectors u' within the angle of the unit vector u."""
    length, along = math.sqrt(c @ c), float(c @ u)
    if length == 0 or angle >= math.acos(max(-1.0, min(1.0, along / length))):
        return length
    return along * math.cos(angle) + math.sqrt(max(0.0, c @ c - along**2)) * math.sin(angle)


def certifies(weights, bias, error, loss, u, ours, theirs, angle, attempts):
    """Return whether the nodes ``ours`` of the best label certainly have a larger product than ``theirs``."""
    reach = {v: cap_maximum(weights[v], u, angle) for v in (*ours, *theirs)}
    drop = {v: -cap_maximum(-weights[v], u, angle) for v in ours}
    error = {v: error[v] * margin_size(weights[v], bias[v], u, angle) for v in (*ours, *theirs)}
    constant, linear, least = 0.0, 0.0 * u, 0.0
    for v in ours:
        low, high = bias[v] + drop[v] - error[v], bias[v] + reach[v] + error[v]
        value = log_probability(low, loss)
        slope = (log_probability(high, loss) - value) / (high - low) if high > low else 0.0
        constant += value + slope * (bias[v] - (bias[v] + drop[v]))
        linear = linear + slope * weights[v]
        least += value
    if any(bias[v] == -math.inf for v in theirs):
        return True
    most = 0.0
    for v in theirs:
        most += log_probability(bias[v] + reach[v] + error[v], loss)
        if least - most > 1e-12:
            return True
    touching = {v: bias[v] + weights[v] @ u for v in theirs}
    for _ in range(attempts):
        total, c = constant, linear
        for v in theirs:
            slope = log_slope(touching[v], loss)
            total -= log_probability(touching[v], loss) + (slope * (bias[v] - touching[v] + error[v]) if slope else 0)
            c = c - slope * weights[v]
            if total - cap_maximum(-c, u, angle) > 1e-12:
                return True
        length, along = math.sqrt(c @ c), float(c @ u)
        across = math.sqrt(max(0.0, length**2 - along**2))
        if length and along < 0 and across * math.cos(angle) <= -along * math.sin(angle):
            worst = -c / length
        elif across:
            worst = math.cos(angle) * u - math.sin(angle) * (c - along * u) / across
        else:
            return False
        touching = {v: bias[v] + weights[v] @ worst for v in theirs}
    return False


def margin_size(w, b, u, angle):
    """Return a bound on the sum of a margin's |terms| for all unit vectors within the angle; 0 for a fixed margin."""
    if math.isinf(b):
        return 0.0
    length = math.sqrt(w @ w)
    return abs(b) + min(length, np.abs(w * u).sum() + 2 * math.sin(angle / 2) * length)


def certified_angle(nodes, error, x, top, attempts, halvings=40):
    """Return the angle by which a dense row may turn before another label may beat ``top``, by trying every label."""
    weights, bias = nodes.weights.toarray().astype(float), nodes.bias.astype(float)
    u, ours = x / math.sqrt(x @ x), nodes.path(top).tolist()
    angle = math.pi / 2
    for label in set(range(len(nodes.leaf_of_label))) - {top}:
        path = nodes.path(label).tolist()
        own, theirs = [v for v in ours if v not in path], [v for v in path if v not in ours]

        def holds(t, own=own, theirs=theirs):
            return certifies(weights, bias, error, nodes.loss, u, own, theirs, t, attempts)

        if not holds(angle):
            low, high = 0.0, angle
            for _ in range(halvings):
                middle = (low + high) / 2
                low, high = (middle, high) if holds(middle) else (low, middle)
            angle = low
    return angle
