"""LdSM: the objective J of a split, and the choice of children that makes J smallest for one row.

Majzoubi and Choromanska, "LdSM: logarithm-depth streaming multi-label decision trees", AISTATS 2020.
"""

import numpy as np

from xmlcore._kernels._jit import inlined, kernel

EQUAL = 1e-9  # difference of J, per label occurrence, below which two sets of children count as equally good


@kernel
def objective(sums, total, label_sums, label_counts, integrity_weight, multiway_weight, out):
    """Write J of a node, balance, class integrity and multi-way penalty into ``out`` (equation 2 of the paper)."""
    # Label occurrences are counted: ``sums`` (M,) by child, ``label_sums`` (K * M,) by label and child,
    # ``label_counts`` (K,) by label.
    M = sums.size
    balance = 0.0
    penalty = 0.0
    for j in range(M):
        penalty += sums[j]
        for other in range(j + 1, M):
            balance += abs(sums[j] - sums[other])
    integrity = 0.0
    for i in range(label_counts.size):
        for j in range(M):
            for other in range(j + 1, M):
                integrity += abs(label_sums[M * i + j] - label_sums[M * i + other])
    out[1] = balance / total
    out[2] = integrity / total
    out[3] = abs(penalty / total - 1.0)
    out[0] = out[1] - integrity_weight * out[2] + multiway_weight * out[3]


@inlined
def choose_directions(
    sums, total, label_sums, labels, start, end, integrity_weight, multiway_weight, table
):  # fmt: skip
    """Return the set of children, as bits, that makes J least when a row goes there (algorithm 3 of the paper)."""
    # J of a set is a sum over pairs of children, and each term depends only on the two bits of its pair. So each label
    # is visited three times per pair, not once for each of the 2^M sets. The row is not in the sums yet, but in
    # ``total``.
    M = sums.size
    size = end - start
    before = 0.0
    for j in range(M):
        before += sums[j]
        for other in range(j + 1, M):
            less = 0.0
            same = 0.0
            more = 0.0
            for t in range(start, end):
                difference = label_sums[M * labels[t] + j] - label_sums[M * labels[t] + other]
                less += abs(difference - 1.0)
                same += abs(difference)
                more += abs(difference + 1.0)
            difference = sums[j] - sums[other]
            at = 3 * (M * j + other)
            table[at] = abs(difference - size) - integrity_weight * less
            table[at + 1] = abs(difference) - integrity_weight * same
            table[at + 2] = abs(difference + size) - integrity_weight * more
    best = np.inf
    chosen = 0
    for directions in range(1, 1 << M):
        value = 0.0
        count = 0
        for j in range(M):
            bit = (directions >> j) & 1
            count += bit
            for other in range(j + 1, M):
                value += table[3 * (M * j + other) + 1 + bit - ((directions >> other) & 1)]
        value += multiway_weight * abs(before + size * count - total)
        if value < best - EQUAL * total:
            best = value
            chosen = directions
    return chosen
