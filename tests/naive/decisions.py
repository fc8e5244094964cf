"""Labels by gains, and sets that are improved row by row: twins of xmlcore/_kernels/decisions.py."""

import math


def by_gains(gains, k, fill):
    """The places of a row that are predicted: ``gains`` are pairs of gain and label, in the order of the row."""
    order = sorted(range(len(gains)), key=lambda i: (-gains[i][0], gains[i][1]))
    return {i for i in order[: k or None] if fill or gains[i][0] > 0}


def part_of(probabilities, reach):
    """The part of a mixture that decides for a row: what stands behind six digits of its probabilities draws it."""
    drawn = sum(1e6 * p for p in probabilities) % 1.0
    return next(part for part, end in enumerate(reach) if drawn < end or part == len(reach) - 1)


def improved_sets(rows, taken, worth, k, fill):
    """One pass over the rows: each row's set is chosen anew by what each label alone adds to the measure.

    ``rows`` are lists of (label, p), ``taken`` sets of places; ``worth(label, of)`` is the value of a label whose
    predicted entries have the probabilities ``of``.
    """
    for row, entries in enumerate(rows):
        taken[row] = set()
        gains = []
        for label, p in entries:
            others = [q for other, marked in zip(rows, taken) for i in marked for m, q in [other[i]] if m == label]
            gains.append((worth(label, [*others, p]) - worth(label, others), label))
        taken[row] = by_gains(gains, k, fill)
    return taken


def macro_f1(scale, true):
    return lambda label, of: scale * (2 * sum(of) / (len(of) + true[label]))


def macro_precision(scale):
    return lambda label, of: scale * sum(of) / len(of) if of else 0.0


def coverage(scale):
    return lambda label, of: scale * (1 - math.prod(1 - p for p in of))
