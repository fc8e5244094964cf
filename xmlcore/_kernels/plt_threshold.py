"""All labels that reach a probability."""

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.plt_factors import least_margin, log_probability
from xmlcore._kernels.plt_margins import FOUND, PART, SCRATCH, group_margins, laid_margins, root_log_probability
from xmlcore._kernels.plt_tree import NARROW


@kernel
def search_threshold(tree, loss, x_ptr, x_columns, x_values, laid_at, laid, rows, log_thresholds):
    """Every label whose path product is at least the row's threshold, exactly: subtrees below it are dropped.

    Returns
    -------
    counts : int64, as ``rows``
    labels : int32, row after row, in the order of the search
    scores : float64, logarithms; labels of probability 0 are left out even at threshold 0
    """
    label_of = tree.label
    group_ptr = tree.group_ptr
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
    counts = np.zeros(rows.size, np.int64)
    labels = np.empty(1024, np.int32)
    scores = np.empty(1024, np.float64)
    stack_scores = np.empty(label_of.size, np.float64)
    stack_nodes = np.empty(label_of.size, np.int32)
    margins = np.zeros(SCRATCH, np.float32)
    found_at = np.empty(FOUND, np.uint32)
    found_end = np.empty(FOUND, np.uint32)
    found_value = np.empty(FOUND, np.float32)
    part = np.empty(PART, np.float32)
    count = 0
    for r in range(rows.size):
        start = x_ptr[rows[r]]
        end = x_ptr[rows[r] + 1]
        before = count
        log_threshold = log_thresholds[r]
        stack_scores[0] = 0.0
        if tree.root_group >= 0:
            stack_scores[0] = root_log_probability(
                tree, loss, x_columns, x_values, start, end, laid_at, laid, rows[r], margins, found_at, found_end,
                found_value, part,
            )  # fmt: skip
        stack_nodes[0] = 0
        size = 1
        while size > 0:
            size -= 1
            score = stack_scores[size]
            v = stack_nodes[size]
            for g in range(group_ptr[v], group_ptr[v + 1]):
                if laid_at[rows[r]] >= 0:
                    n = laid_margins(tree, g, laid, laid_at, rows[r], rows[r] + 1, margins, part)
                else:
                    n = group_margins(
                        g, x_columns, x_values, start, end, margins, found_at, found_end, found_value,
                        bias, group_first, group_size, column_ptr, columns, dense_ptr, dense, sparse_ptr, entry_at,
                        entry_ptr, entry_child, entry_value, index_shift, index_at, index,
                    )  # fmt: skip
                bar = least_margin(log_threshold - score, loss) if n > NARROW else -np.inf
                for c in range(n):
                    if margins[c] < bar:
                        continue
                    child = group_first[g] + c
                    child_score = score + log_probability(margins[c], loss)
                    if child_score < log_threshold or child_score == -np.inf:
                        continue
                    if label_of[child] < 0:
                        stack_scores[size] = child_score
                        stack_nodes[size] = child
                        size += 1
                        continue
                    if count == labels.size:
                        more_labels = np.empty(2 * count, np.int32)
                        more_scores = np.empty(2 * count, np.float64)
                        more_labels[:count] = labels
                        more_scores[:count] = scores
                        labels = more_labels
                        scores = more_scores
                    labels[count] = label_of[child]
                    scores[count] = child_score
                    count += 1
        counts[r] = count - before
    return counts, labels[:count].copy(), scores[:count].copy()
