"""Measures of scores for all labels: how each row orders its true labels relative to the other labels.

Scores are a CSR matrix, where an entry that is not stored is 0. The ids of a row are sorted. If all entries are stored,
the array of ids is empty.
"""

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.sorting import first_at_least, sort_in_place

# Columns of the result of count_rows, which has a row for each row of scores.
MISORDERED = 0  # number of (true, other) label pairs in which the other label has the larger score
TIED = 1  # number of (true, other) label pairs of equal score
PRECISION = 2  # sum over true labels t: number of true labels scored at least as high as t / number of such labels
MEAN_PRECISION = 3  # sum over true labels t: number of true labels up to t's rank / this rank; mean over orders of ties
STRICT_PRECISION = 4  # sum over true labels t: number of true labels scored above t / (1 + number of labels above t)
TOP = 5  # number of labels that have the largest score
TOP_TRUE = 6  # number of true labels that have the largest score
FIRST_TRUE = 7  # 1 if the label of largest score, with the smallest id among several, is a true label; else 0
N_COUNTS = 8


@kernel
def _own_scores(true, ids, scores, own):
    """Write the scores that a row gives to its true labels into ``own``; 0 for those that are not in ``ids``."""
    at = 0
    for i in range(true.size):
        if ids.size == 0 and scores.size > 0:
            own[i] = scores[true[i]]
            continue
        while at < ids.size and ids[at] < true[i]:
            at += 1
        own[i] = scores[at] if at < ids.size and ids[at] == true[i] else 0.0


@kernel
def _first_of_score(ids, scores, score):
    """Return the smallest label id whose score is ``score``; for ``ids`` and ``scores`` see :func:`_own_scores`."""
    if ids.size == 0 and scores.size > 0:
        for label in range(scores.size):
            if scores[label] == score:
                return label
    expected = 0
    for i in range(ids.size):
        if score == 0.0 and ids[i] > expected:
            return expected  # a label that is not stored has score 0
        if scores[i] == score:
            return ids[i]
        expected = ids[i] + 1
    return expected


@kernel
def count_rows(y_ptr, y_ids, ptr, ids, scores, n_labels, counts):
    """Count, for each row, the labels at each level, a distinct score of a true label, and between two levels."""
    most = 1
    for row in range(y_ptr.size - 1):
        most = max(most, y_ptr[row + 1] - y_ptr[row])
    own = np.empty(most)
    level = np.empty(most)  # distinct scores of true labels, ascending
    true_at = np.empty(most, np.int64)
    all_at = np.empty(most, np.int64)
    below = np.empty(most + 1, np.int64)  # labels between this level and the one below; last: above all levels
    harmonic = np.zeros(n_labels + 1)  # 1 + 1/2 + ... + 1/i
    for i in range(1, n_labels + 1):
        harmonic[i] = harmonic[i - 1] + 1.0 / i
    for row in range(y_ptr.size - 1):
        true = y_ids[y_ptr[row] : y_ptr[row + 1]]
        mine = scores[ptr[row] : ptr[row + 1]]
        mine_ids = ids[ptr[row] : ptr[row + 1]] if ids.size > 0 else ids
        n_zero = n_labels - mine.size
        top = 0.0 if n_zero > 0 else mine[0]
        for i in range(mine.size):
            top = max(top, mine[i])
        _own_scores(true, mine_ids, mine, own)
        ordered = own[: true.size]
        sort_in_place(ordered)
        n_levels = 0
        for i in range(true.size):
            if n_levels == 0 or ordered[i] != level[n_levels - 1]:
                level[n_levels] = ordered[i]
                true_at[n_levels] = 0
                n_levels += 1
            true_at[n_levels - 1] += 1
        all_at[:n_levels] = 0
        below[: n_levels + 1] = 0
        n_top = 0
        for i in range(mine.size + 1):
            value = mine[i] if i < mine.size else 0.0
            times = 1 if i < mine.size else n_zero
            place = first_at_least(level, 0, n_levels, value)
            if place < n_levels and level[place] == value:
                all_at[place] += times
            else:
                below[place] += times
            if value == top:
                n_top += times
        above, true_above = below[n_levels], 0
        misordered = tied = 0
        precision = expected = strict = 0.0
        for i in range(n_levels - 1, -1, -1):
            misordered += true_at[i] * (above - true_above)
            tied += true_at[i] * (all_at[i] - true_at[i])
            precision += true_at[i] * ((true_above + true_at[i]) / (above + all_at[i]))
            # Each of the n places of this level has a true label with probability t / n. If it has one, each earlier
            # place of the level has one with probability (t - 1) / (n - 1).
            n, t = all_at[i], true_at[i]
            inverse = harmonic[above + n] - harmonic[above]
            others = (t - 1) / (n - 1) * (n - (above + 1) * inverse) if n > 1 else 0.0
            expected += t / n * ((true_above + 1) * inverse + others)
            strict += true_at[i] * (true_above / (above + 1))
            above += all_at[i] + below[i]
            true_above += true_at[i]
        counts[row, MISORDERED] = misordered
        counts[row, TIED] = tied
        counts[row, PRECISION] = precision
        counts[row, MEAN_PRECISION] = expected
        counts[row, STRICT_PRECISION] = strict
        counts[row, TOP] = n_top
        counts[row, TOP_TRUE] = true_at[n_levels - 1] if n_levels > 0 and level[n_levels - 1] == top else 0
        first = _first_of_score(mine_ids, mine, top)
        counts[row, FIRST_TRUE] = 0
        for i in range(true.size):
            if true[i] == first:
                counts[row, FIRST_TRUE] = 1
