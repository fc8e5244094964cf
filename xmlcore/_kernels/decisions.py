"""Choose labels for rows by gains, and improve predicted sets row by row for a measure of all rows."""

import math

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.k_best import better

LINEAR, MACRO_F1, MACRO_PRECISION, COVERAGE = range(4)  # what a measure adds to gains that are linear in probabilities
CERTAIN = 1e-12  # smallest probability that a label is wrong
DIGITS = 1e6  # what stands behind so many digits of probabilities is as good as random


@inlined
def log_of_wrong(p):
    """Return the logarithm of the probability that a label is wrong."""
    return math.log(max(1.0 - p, CERTAIN))


@inlined
def _worth(kind, hits, predicted, true):
    """Return the part of a measure that one label adds, from its hits, predictions and true rows."""
    if kind == MACRO_F1:
        return 2.0 * hits / (predicted + true) if predicted + true > 0.0 else 0.0
    if kind == MACRO_PRECISION:
        return hits / predicted if predicted > 0.0 else 0.0
    return 0.0


@inlined
def _take(gains, labels, start, end, k, fill, taken):
    """Mark the k entries of a row with the largest gains, or all that are positive if k is 0.

    Entries whose gain is not positive are marked only with ``fill``.
    """
    for i in range(start, end):
        taken[i] = k == 0 and gains[i - start] > 0.0
    for _ in range(min(k, end - start)):
        best = -1
        for i in range(start, end):
            if taken[i] or not (fill or gains[i - start] > 0.0):
                continue
            if best < 0 or better(gains[i - start], labels[i], gains[best - start], labels[best]):
                best = i
        if best < 0:
            return
        taken[best] = True


@inlined
def part_of(values, start, end, reach):
    """Return which part of a mixture decides for a row: drawn by its probabilities, so that it is always the same."""
    drawn, part = 0.0, 0
    for i in range(start, end):
        drawn += DIGITS * values[i]
    drawn -= math.floor(drawn)
    while part < reach.size - 1 and drawn >= reach[part]:
        part += 1
    return part


@kernel
def take_by_gains(ptr, labels, values, slopes, offsets, reach, k, fill, gains, taken):
    """Mark the entries that are predicted when label j of probability p gains ``slopes[a, j] * p + offsets[a, j]``.

    a is the part of a mixture that decides for the row; ``reach`` are the cumulated shares of rows of the parts.
    ``values`` are the probabilities of the entries of a CSR matrix; ``gains`` has room for the longest row.
    """
    for row in range(ptr.size - 1):
        part = part_of(values, ptr[row], ptr[row + 1], reach)
        for i in range(ptr[row], ptr[row + 1]):
            gains[i - ptr[row]] = slopes[part, labels[i]] * values[i] + offsets[part, labels[i]]
        _take(gains, labels, ptr[row], ptr[row + 1], k, fill, taken)


@kernel
def improve_sets(ptr, labels, values, kind, scale, of_labels, k, fill, sums, gains, taken):
    """Choose the labels of each row anew, in turn, so that the expected measure grows most, all other rows unchanged.

    ``sums`` (3, L) are kept up to date: the hits and the number of predicted entries of each label, and the logarithm
    of the probability that none of them is right. ``of_labels`` (3, L) are slopes, offsets, and the expected number of
    rows of each label. The gain is ``scale`` times that of the kind, and ``slopes[j] * p + offsets[j]``.
    """
    slopes, offsets, true = of_labels
    hits, predicted, missed = sums
    for row in range(ptr.size - 1):
        start, end = ptr[row], ptr[row + 1]
        for i in range(start, end):
            label, p = labels[i], values[i]
            if taken[i]:
                hits[label] -= p
                predicted[label] -= 1.0
                missed[label] -= log_of_wrong(p)
            gain = slopes[label] * p + offsets[label]
            if kind == COVERAGE:
                gain += scale * p * math.exp(missed[label])
            elif kind != LINEAR:
                before = _worth(kind, hits[label], predicted[label], true[label])
                gain += scale * (_worth(kind, hits[label] + p, predicted[label] + 1.0, true[label]) - before)
            gains[i - start] = gain
        _take(gains, labels, start, end, k, fill, taken)
        for i in range(start, end):
            if taken[i]:
                label, p = labels[i], values[i]
                hits[label] += p
                predicted[label] += 1.0
                missed[label] += log_of_wrong(p)
