"""Search for all labels whose probability reaches a threshold; probabilities of requested labels."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel, part
from xmlcore._kernels.arrays import enlarged
from xmlcore._kernels.plt_ensemble import member_at
from xmlcore._kernels.plt_factors import least_margin, log_probability
from xmlcore._kernels.plt_margins import new_scratch, root_log_probability, row_margins
from xmlcore._kernels.plt_tree import NARROW

FIRST_ROOM = 1024  # Number of labels that there is room for at first.


class Stack(NamedTuple):
    """Nodes that wait to be opened."""

    scores: np.ndarray  # float64 (g,): each inner node has a group
    nodes: np.ndarray  # int32 (g,)


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
def search_threshold(trees, loss, x, rows, log_thresholds):
    """Find every label whose path product is at least the row's threshold, exactly; subtrees below it are dropped."""
    # Returns how many each row has, and their ids and log scores, row after row. Labels of probability 0 are left out.
    tree = member_at(trees, 0).arrays
    counts = np.zeros(rows.size, np.int64)
    labels = np.empty(FIRST_ROOM, np.int32)
    scores = np.empty(FIRST_ROOM, np.float64)
    stack = Stack(np.empty(tree.group_first.size, np.float64), np.empty(tree.group_first.size, np.int32))
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


class Known(NamedTuple):
    """The margins and scores of nodes that were computed for the current row."""

    margins: np.ndarray  # float32 (nodes,)
    scores: np.ndarray  # float64 (nodes,): log probability of the node
    state: np.ndarray  # int64 (nodes,): 2 r if the r-th row's margin is known, 2 r + 1 if its score is known as well
    path: np.ndarray  # int32 (nodes,), scratch


@part
def score_of_label(tree, loss, x, row, r, leaf, known, scratch):
    """Return the log of a leaf's path product for a row; store the margins and scores of the path's nodes."""
    v = leaf
    length = 0
    while known.state[v] != 2 * r + 1:
        known.path[length] = v
        length += 1
        v = tree.parent[v]
    for step in range(length - 1, -1, -1):
        child = known.path[step]
        v = tree.parent[child]
        if known.state[child] != 2 * r:
            g = tree.group_ptr[v]
            while child >= tree.group_first[g] + tree.group_size[g]:
                g += 1
            for c in range(row_margins(tree, g, x, row, scratch)):
                known.state[tree.group_first[g] + c] = 2 * r
                known.margins[tree.group_first[g] + c] = scratch.margins[c]
        known.scores[child] = known.scores[v] + log_probability(known.margins[child], loss)
        known.state[child] = 2 * r + 1
    return known.scores[leaf]


@kernel
def score_labels(trees, loss, x, rows, wanted_ptr, wanted, out):
    """Write the log path products of the labels that are ``wanted`` of each row into ``out``."""
    tree, leaf_of_label, _ = member_at(trees, 0)
    n_nodes = tree.label.size
    known = Known(
        np.empty(n_nodes, np.float32), np.empty(n_nodes, np.float64), np.full(n_nodes, -1, np.int64),
        np.empty(n_nodes, np.int32),
    )  # fmt: skip
    scratch = new_scratch()
    for r in range(rows.size):
        known.scores[0] = root_log_probability(tree, loss, x, rows[r], scratch)
        known.state[0] = 2 * r + 1
        for t in range(wanted_ptr[r], wanted_ptr[r + 1]):
            out[t] = score_of_label(tree, loss, x, rows[r], r, leaf_of_label[wanted[t]], known, scratch)
