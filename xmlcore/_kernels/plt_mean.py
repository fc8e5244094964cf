"""The k labels of greatest mean probability over several trees, from lists of the best labels of each tree.

A *list* has labels of one row and tree and their scores, the logarithms of weighted probabilities. Any label that it
does not have is at most as probable in this tree as the list's *rest*. So the sum of rests bounds what a label can
reach that is in no list, and lists that are long enough have all labels that are among the best (Fagin's threshold
algorithm).
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.arrays import enlarged
from xmlcore._kernels.k_best import offer

SLACK = 1e-12  # Bounds are lowered by this share, against rounding.


class Lists(NamedTuple):
    """The lists of n rows in t trees; those of tree 0 come first."""

    ptr: np.ndarray  # int64 (t, n + 1): where the list of a row begins in the next two
    labels: np.ndarray  # int32
    scores: np.ndarray  # float64
    rest: np.ndarray  # float64 (t, n): logarithms


@kernel
def possible_labels(lists, n_labels, k):
    """Return the labels of each row that may be among the k best: pointers, labels, and their scores in each tree.

    Scores (float64, (labels, t)) are inf in a tree whose list does not have the label.
    """
    n_trees = lists.rest.shape[0]
    n_rows = lists.rest.shape[1]
    ptr = np.zeros(n_rows + 1, np.int64)
    labels = np.empty(4 * k * n_rows + 64, np.int32)
    scores = np.empty((labels.size, n_trees))
    place = np.zeros(n_labels, np.int64)  # of a label among those of the row, from ``first`` on; 0 if it has none
    best_labels = np.empty((1, k), np.int32)
    best = np.empty((1, k))
    count = np.int64(0)
    for r in range(n_rows):
        first = count
        for t in range(n_trees):
            for at in range(lists.ptr[t, r], lists.ptr[t, r + 1]):
                label = lists.labels[at]
                if place[label] == 0:
                    if count == labels.size:
                        labels = enlarged(labels, count, 2 * labels.size)
                        flat = enlarged(scores.reshape(-1), count * n_trees, labels.size * n_trees)
                        scores = flat.reshape((labels.size, n_trees))
                    labels[count] = label
                    scores[count, :] = np.inf
                    count += 1
                    place[label] = count - first
                scores[first + place[label] - 1, t] = lists.scores[at]
        n_best = np.int64(0)
        for c in range(first, count):
            place[labels[c]] = 0
            least = 0.0
            for t in range(n_trees):
                if scores[c, t] < np.inf:
                    least += math.exp(scores[c, t])
            n_best = offer(best, best_labels, np.int64(0), n_best, np.int64(k), least, labels[c])
        bar = best[0, k - 1] * (1.0 - SLACK) if n_best == k else 0.0
        end = count
        count = first
        for c in range(first, end):
            most = 0.0
            for t in range(n_trees):
                most += math.exp(scores[c, t] if scores[c, t] < np.inf else lists.rest[t, r])
            if most >= bar:
                labels[count] = labels[c]
                scores[count, :] = scores[c, :]
                count += 1
        ptr[r + 1] = count
    return ptr, labels[:count].copy(), scores[:count].copy()


@kernel
def best_sums(ptr, labels, scores, rest, out_labels, out_sums):
    """Write the k labels of the greatest sums of probabilities of each row; return for which rows they are surely so.

    Equal sums are ranked by label. ``out_labels`` and ``out_sums`` must come filled with -1 and 0.
    """
    n_trees = rest.shape[0]
    k = out_labels.shape[1]
    sure = np.empty(ptr.size - 1, np.bool_)
    for r in range(ptr.size - 1):
        count = np.int64(0)
        for c in range(ptr[r], ptr[r + 1]):
            total = 0.0
            for t in range(n_trees):
                total += math.exp(scores[c, t])
            if total > 0.0:
                count = offer(out_sums, out_labels, np.int64(r), count, np.int64(k), total, labels[c])
        unseen = 0.0
        for t in range(n_trees):
            unseen += math.exp(rest[t, r])
        sure[r] = unseen == 0.0 or (count == k and unseen < out_sums[r, k - 1] * (1.0 - SLACK))
    return sure
