"""LdSM: rows with mean 0 and variance 1 in every column."""

import math


def standardise(rows):
    """Rows with all columns of any of them, with mean 0 and variance 1; constant ones with mean 0."""
    out = [{} for _ in rows]
    for f in sorted({f for row in rows for f in row}):
        values = [row.get(f, 0.0) for row in rows]
        mean = sum(values) / len(values)
        scale = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values)) or 1.0
        for row, v in zip(out, values):
            row[f] = (v - mean) / scale
    return out
