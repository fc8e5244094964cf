"""Operations on sixteen float32 numbers, and margins of one classifier per label.

Twins of lanes.py and one_vs_rest.py.

A row is a list of (feature, value) pairs; ``weights[feature]`` has sixteen float32 numbers.
"""

import numpy as np


def margins_of_row(weights, bias, row):
    """The bias plus the products of a row with the weights, in the order of the row's pairs."""
    out = [np.float32(b) for b in bias]
    for feature, value in row:
        for lane in range(16):
            out[lane] += np.float32(value) * weights[feature][lane]
    return out


def add_row(weights, row, step):
    """The weights after ``value * step`` was added to those of each feature of a row."""
    changed = [list(own) for own in weights]
    for feature, value in row:
        for lane in range(16):
            changed[feature][lane] += np.float32(value) * np.float32(step[lane])
    return changed


def add_products(out, row, columns, weights):
    """``out`` after ``row[column] * weights[t]`` was added for the t-th column, one after the other, in float32."""
    total = [np.float32(value) for value in out]
    for t, column in enumerate(columns):
        for lane in range(len(total)):
            total[lane] += row[column] * weights[t][lane]
    return total


def count_bits(bits):
    return bin(bits).count("1")


def label_margins(row, weights, bias):
    """Margins of all labels for a row {column: value}; ``weights`` is a dict {column: weight} per label."""
    return [b + sum(value * own.get(c, 0.0) for c, value in row.items()) for own, b in zip(weights, bias)]
