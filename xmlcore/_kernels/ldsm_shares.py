"""LdSM: scores of labels from the leaves that rows reach (algorithm 2 of Majzoubi and Choromanska, 2020)."""

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.arrays import enlarged
from xmlcore._kernels.k_best import offer


@kernel
def label_shares(forest, ptr, leaves, n_labels, n_trees, first_row, end_row, of_rows):
    """Average the normalised histograms of the leaves that rows reach: over a tree's leaves, then over trees."""
    hist_ptr = forest.hist_ptr
    hist_labels = forest.hist_labels
    hist_counts = forest.hist_counts
    hist_total = forest.n_rows if of_rows else forest.hist_total
    n = (ptr.size - 1) // n_trees
    place = np.full(n_labels, -1, np.int64)
    out_ptr = np.zeros(end_row - first_row + 1, np.int64)
    labels = np.empty(1024, np.int32)
    shares = np.empty(1024, np.float64)
    count = np.int64(0)
    for i in range(first_row, end_row):
        begin = count
        for tree in range(n_trees):
            a = ptr[tree * n + i]
            b = ptr[tree * n + i + 1]
            for t in range(a, b):
                v = leaves[t]
                size = hist_ptr[v + 1] - hist_ptr[v]
                while count + size > labels.size:
                    labels = enlarged(labels, count, 2 * labels.size)
                    shares = enlarged(shares, count, 2 * shares.size)
                part = 1.0 / (np.float64(hist_total[v]) * (b - a) * n_trees)
                for h in range(hist_ptr[v], hist_ptr[v + 1]):
                    label = hist_labels[h]
                    if place[label] < 0:
                        place[label] = count
                        labels[count] = label
                        shares[count] = 0.0
                        count += 1
                    shares[place[label]] += part * hist_counts[h]
        for t in range(begin, count):
            place[labels[t]] = -1
        out_ptr[i - first_row + 1] = count
    return out_ptr, enlarged(labels, count, count), enlarged(shares, count, count)


@kernel
def best_labels(ptr, labels, scores, out_labels, out_scores):
    """Write the k best labels of each row; the smaller id first among equals; missing ones are not written."""
    # Scores are compared as float32: as float64, equal scores could differ by the rounding of sums.
    k = out_labels.shape[1]
    for i in range(ptr.size - 1):
        count = np.int64(0)
        for t in range(ptr[i], ptr[i + 1]):
            count = offer(out_scores, out_labels, i, count, k, np.float32(scores[t]), labels[t])
