"""Search of certificates: twin of xmlcore/_kernels/certificate_search.py, over all labels."""

import math

from naive.certificate_bounds import certifies


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
