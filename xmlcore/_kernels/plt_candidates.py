"""Probabilities of requested labels."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel, part
from xmlcore._kernels.plt_factors import log_probability
from xmlcore._kernels.plt_margins import new_scratch, root_log_probability, row_margins


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
def score_labels(tree, loss, leaf_of_label, x, rows, wanted_ptr, wanted, out):
    """Write the log path products of the labels that are ``wanted`` of each row into ``out``."""
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
