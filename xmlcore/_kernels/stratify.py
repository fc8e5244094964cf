"""Iterative stratification (Sechidis et al. 2011): rows are distributed label by label, the rarest label first."""

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.k_best import heap_pop, heap_push


@inlined
def _most_wanting(wanted, label, total, tie):
    """Return the part that wants most rows of a label, then most rows in all; ``tie`` (int64) chooses among equals."""
    equal = 0
    best = 0
    for part in range(total.size):
        ahead = wanted[label, part] - wanted[label, best]
        if ahead == 0.0:
            ahead = total[part] - total[best]
        if part == 0 or ahead > 0.0:
            best = part
            equal = 1
        elif ahead == 0.0:
            equal += 1
    chosen = tie % equal
    for part in range(best, total.size):
        if wanted[label, part] == wanted[label, best] and total[part] == total[best]:
            if chosen == 0:
                return part
            chosen -= 1
    return best


@kernel
def distribute(indptr, indices, label_ptr, label_rows, shares, ties):
    """Distribute rows over parts so that each part gets its share of the rows of each label; return the parts."""
    # The label with the smallest id comes first among labels with equally few rows; ``ties`` are random numbers that
    # decide between parts that want a row equally.
    n_rows = indptr.size - 1
    n_labels = label_ptr.size - 1
    remaining = np.empty(n_labels, np.int64)
    wanted = np.empty((n_labels + 1, shares.size))  # the last line stays 0: for rows without labels
    total = n_rows * shares
    scores = np.empty(n_labels + indices.size)  # a heap of labels; lines whose score is not -remaining are old
    labels = np.empty(n_labels + indices.size, np.int32)
    size = 0
    for label in range(n_labels):
        remaining[label] = label_ptr[label + 1] - label_ptr[label]
        for part in range(shares.size):
            wanted[label, part] = remaining[label] * shares[part]
        if remaining[label] > 0:
            size = heap_push(scores, labels, size, -float(remaining[label]), np.int32(label))
    wanted[n_labels] = 0.0
    part_of = np.full(n_rows, -1, np.int32)
    while size > 0:
        label = labels[0]
        old = remaining[label] == 0 or -scores[0] != remaining[label]
        size = heap_pop(scores, labels, size)
        if old:
            continue
        for p in range(label_ptr[label], label_ptr[label + 1]):
            row = label_rows[p]
            if part_of[row] >= 0:
                continue
            part = _most_wanting(wanted, label, total, ties[row])
            part_of[row] = part
            total[part] -= 1.0
            for q in range(indptr[row], indptr[row + 1]):
                other = indices[q]
                wanted[other, part] -= 1.0
                remaining[other] -= 1
                if other != label and remaining[other] > 0:
                    size = heap_push(scores, labels, size, -float(remaining[other]), other)
    for row in range(n_rows):
        if part_of[row] < 0:
            part = _most_wanting(wanted, n_labels, total, ties[row])
            part_of[row] = part
            total[part] -= 1.0
    return part_of
