"""Search for all labels whose probability reaches a threshold."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel, part
from xmlcore._kernels.arrays import enlarged
from xmlcore._kernels.plt_factors import least_margin, log_probability
from xmlcore._kernels.plt_margins import new_scratch, root_log_probability, row_margins
from xmlcore._kernels.plt_tree import NARROW

FIRST_ROOM = 1024  # Number of labels that there is room for at first.


class Stack(NamedTuple):
    """Nodes that wait to be opened."""

    scores: np.ndarray  # float64 (nodes,)
    nodes: np.ndarray  # int32 (nodes,)


@part
def open_nodes(tree, loss, x, row, log_threshold, stack, size, labels, scores, count, scratch):
    """Open the nodes of the stack until it is empty or ``labels`` may get full, for one row."""
    while size > 0:
        score = stack.scores[size - 1]
        v = stack.nodes[size - 1]
        last_group = tree.group_ptr[v + 1] - 1
        n_children = tree.group_first[last_group] + tree.group_size[last_group] - tree.group_first[tree.group_ptr[v]]
        if count + n_children > labels.size:
            break
        size -= 1
        for g in range(tree.group_ptr[v], tree.group_ptr[v + 1]):
            n = row_margins(tree, g, x, row, scratch)
            bar = least_margin(log_threshold - score, loss) if n > NARROW else -np.inf
            for c in range(n):
                if scratch.margins[c] < bar:
                    continue
                child = tree.group_first[g] + c
                child_score = score + log_probability(scratch.margins[c], loss)
                if child_score < log_threshold or child_score == -np.inf:
                    continue
                if tree.label[child] < 0:
                    stack.scores[size] = child_score
                    stack.nodes[size] = child
                    size += 1
                else:
                    labels[count] = tree.label[child]
                    scores[count] = child_score
                    count += 1
    return size, count


@kernel
def search_threshold(tree, loss, x, rows, log_thresholds):
    """Find every label whose path product is at least the row's threshold, exactly; subtrees below it are dropped."""
    # Returns how many each row has, and their ids and log scores, row after row. Labels of probability 0 are left out.
    counts = np.zeros(rows.size, np.int64)
    labels = np.empty(FIRST_ROOM, np.int32)
    scores = np.empty(FIRST_ROOM, np.float64)
    stack = Stack(np.empty(tree.label.size, np.float64), np.empty(tree.label.size, np.int32))
    scratch = new_scratch()
    count = 0
    for r in range(rows.size):
        before = count
        stack.scores[0] = root_log_probability(tree, loss, x, rows[r], scratch)
        stack.nodes[0] = 0
        size = np.int64(1)
        while True:
            size, count = open_nodes(
                tree, loss, x, rows[r], log_thresholds[r], stack, size, labels, scores, count, scratch
            )
            if size == 0:
                break
            labels = enlarged(labels, count, 2 * labels.size)
            scores = enlarged(scores, count, 2 * scores.size)
        counts[r] = count - before
    return counts, labels[:count].copy(), scores[:count].copy()
