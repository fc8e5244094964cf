"""Margins of one classifier per label: twin of one_vs_rest.py."""


def label_margins(row, weights, bias):
    """Margins of all labels for a row {column: value}; ``weights`` is a dict {column: weight} per label."""
    return [b + sum(value * own.get(c, 0.0) for c, value in row.items()) for own, b in zip(weights, bias)]
