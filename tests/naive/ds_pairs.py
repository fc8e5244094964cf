"""Double sampling, pairs: twin of xmlcore/_kernels/ds_pairs.py, and the empirical risk."""


def pairs(examples, features):
    """The transformation T: (first features, second features, sign) for (row, class, adversaries) in order."""
    out = []
    for row, y, adversaries in examples:
        for k in adversaries:
            own, other = features(row, y), features(row, k)
            out.append((other, own, -1) if k < y else (own, other, 1))
    return out


def risk(examples, f):
    """Equation (7), from its last form."""
    wrong = [f(row, y) - f(row, k) <= 0 for row, y, adversaries in examples for k in adversaries]
    return sum(wrong) / len(wrong)
