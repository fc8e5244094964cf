"""Rows in columns: twins of xmlcore/_kernels/plt_rows.py."""

import math

import numpy as np


def in_columns(x, feature_of_column):
    """A dense row as trees read it: of length 1, its features in the order of the columns."""
    length = math.sqrt(float(x @ x))
    return (x / length if length else x)[feature_of_column]


def take_rows(rows, feature_of_column, unit):
    """Of each row {feature: value}: (column, value), by zones, then by feature; ``unit``: of length 1."""
    column_of = {int(feature): column for column, feature in enumerate(feature_of_column)}
    taken = []
    for row in rows:
        length = unit and math.sqrt(sum(value**2 for value in row.values())) or 1.0
        pairs = [(column_of[f], row[f] / length) for f in sorted(row) if f in column_of]
        zones = [0, 32, 128, 512, 2048, 8192, 32768, 131072]
        taken.append(sorted(pairs, key=lambda pair: max(i for i, least in enumerate(zones) if pair[0] >= least)))
    return taken


def dense_row(row, feature_of_column, unit):
    """Return a row {feature: value} with one float32 value per column; None if it has less than a quarter of them."""
    length = unit and math.sqrt(sum(value**2 for value in row.values())) or 1.0
    known = [column for column, feature in enumerate(feature_of_column) if int(feature) in row]
    if len(known) < max(1, len(feature_of_column) / 4):
        return None
    dense = np.zeros(len(feature_of_column), np.float32)
    for column in known:
        dense[column] = row[int(feature_of_column[column])] / length
    return dense
