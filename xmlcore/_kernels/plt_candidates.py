"""Probabilities of chosen labels, and the best labels of several trees."""

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.k_best import better, offer
from xmlcore._kernels.plt_factors import log_probability
from xmlcore._kernels.plt_margins import FOUND, PART, SCRATCH, group_margins, laid_margins, root_log_probability


@kernel
def score_labels(tree, loss, leaf_of_label, x_ptr, x_columns, x_values, laid_at, laid, rows, wanted_ptr, wanted, out):
    """Log of the path products of chosen labels.

    Parameters
    ----------
    rows : int64 (n,)
    wanted_ptr : int64 (n + 1,), wanted : int32
        The labels of each of them.
    out : float64, written at the places of ``wanted``
    """
    label_of = tree.label
    group_ptr = tree.group_ptr
    parent = tree.parent
    bias = tree.bias
    group_first = tree.group_first
    group_size = tree.group_size
    column_ptr = tree.column_ptr
    columns = tree.columns
    dense_ptr = tree.dense_ptr
    dense = tree.dense
    sparse_ptr = tree.sparse_ptr
    entry_at = tree.entry_at
    entry_ptr = tree.entry_ptr
    entry_child = tree.entry_child
    entry_value = tree.entry_value
    index_shift = tree.index_shift
    index_at = tree.index_at
    index = tree.index
    n_nodes = label_of.size
    node_margins = np.empty(n_nodes, np.float32)
    node_scores = np.empty(n_nodes, np.float64)
    known = np.full(n_nodes, -1, np.int64)  # 2 r: the r-th row's margin; 2 r + 1: its score as well
    path = np.empty(n_nodes, np.int32)
    margins = np.zeros(SCRATCH, np.float32)
    found_at = np.empty(FOUND, np.uint32)
    found_end = np.empty(FOUND, np.uint32)
    found_value = np.empty(FOUND, np.float32)
    part = np.empty(PART, np.float32)
    for r in range(rows.size):
        start = x_ptr[rows[r]]
        end = x_ptr[rows[r] + 1]
        node_scores[0] = 0.0
        if tree.root_group >= 0:
            node_scores[0] = root_log_probability(
                tree, loss, x_columns, x_values, start, end, laid_at, laid, rows[r], margins, found_at, found_end,
                found_value, part,
            )  # fmt: skip
        known[0] = 2 * r + 1
        for t in range(wanted_ptr[r], wanted_ptr[r + 1]):
            v = leaf_of_label[wanted[t]]
            length = 0
            while known[v] != 2 * r + 1:
                path[length] = v
                length += 1
                v = parent[v]
            for step in range(length - 1, -1, -1):
                child = path[step]
                v = parent[child]
                if known[child] != 2 * r:
                    g = group_ptr[v]
                    while child >= group_first[g] + group_size[g]:
                        g += 1
                    if laid_at[rows[r]] >= 0:
                        n = laid_margins(tree, g, laid, laid_at, rows[r], rows[r] + 1, margins, part)
                    else:
                        n = group_margins(
                            g, x_columns, x_values, start, end, margins, found_at, found_end, found_value,
                            bias, group_first, group_size, column_ptr, columns, dense_ptr, dense, sparse_ptr, entry_at,
                            entry_ptr, entry_child, entry_value, index_shift, index_at, index,
                        )  # fmt: skip
                    for c in range(n):
                        known[group_first[g] + c] = 2 * r
                        node_margins[group_first[g] + c] = margins[c]
                node_scores[child] = node_scores[v] + log_probability(node_margins[child], loss)
                known[child] = 2 * r + 1
            out[t] = node_scores[leaf_of_label[wanted[t]]]


@kernel
def merge_candidates(offered):
    """Every label that some tree offered for a row, once, ascending.

    Parameters
    ----------
    offered : int32 (n, t), -1 for none

    Returns
    -------
    ptr : int64 (n + 1,), labels : int32
    """
    n, t = offered.shape
    ptr = np.zeros(n + 1, np.int64)
    labels = np.empty(n * t, np.int32)
    count = 0
    for i in range(n):
        begin = count
        for c in range(t):
            label = offered[i, c]
            at = count
            while at > begin and labels[at - 1] > label:
                at -= 1
            if label < 0 or (at > begin and labels[at - 1] == label):
                continue
            for move in range(count, at, -1):
                labels[move] = labels[move - 1]
            labels[at] = label
            count += 1
        ptr[i + 1] = count
    return ptr, labels[:count].copy()


@kernel
def best_candidates(ptr, labels, scores, out_labels, out_scores):
    """Put each row's candidates in their places among the k best in ``out_labels`` (n, k), ``out_scores``.

    Empty places have label -1. A label that is there already is left alone.
    """
    k = out_labels.shape[1]
    for i in range(ptr.size - 1):
        count = 0
        while count < k and out_labels[i, count] >= 0:
            count += 1
        for t in range(ptr[i], ptr[i + 1]):
            if count == k and not better(scores[t], labels[t], out_scores[i, k - 1], out_labels[i, k - 1]):
                continue
            at = 0
            while at < count and out_labels[i, at] != labels[t]:
                at += 1
            if at == count:
                count = offer(out_scores, out_labels, i, count, k, scores[t], labels[t])
