"""The k most probable labels of a row: a search that opens the best node first.

Labels can have weights: the search then finds the largest products of weight and probability. A *gain* of a node is the
logarithm of the largest weight of a label below it, less that of its parent. It is never above 0, so that scores with
gains do not grow along a path either. Without weights there are no gains: their array is empty.
"""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel, part
from xmlcore._kernels.k_best import heap_pop, heap_push, offer
from xmlcore._kernels.lanes import LANES, lane_operation
from xmlcore._kernels.plt_ensemble import member_at
from xmlcore._kernels.plt_factors import LOGISTIC, least_margin, log_probability
from xmlcore._kernels.plt_margins import new_scratch, root_log_probability, row_margins
from xmlcore._kernels.plt_tree import GROUP_LIMIT, NARROW

SELECT_LIMIT = 64  # Largest k for which leaves are selected by margin before their scores are computed.
# Scores decide the ranking; margins only rule labels out. Where a factor is so near to 1 that sums of logarithms may be
# equal by rounding, a larger margin does not rule out a smaller one.
SURE_LOGISTIC = 20.0  # From this margin on a logistic factor is that near to 1.
SURE_HINGE = 0.999  # The same for the squared hinge.
NEAR = 1e-3  # Margins that differ by less than this are compared by scores.


class Found(NamedTuple):
    """The best labels found so far, sorted, for each row; a place that is not taken has label -1."""

    labels: np.ndarray  # int32 (n, k)
    scores: np.ndarray  # float64 (n, k): logarithms of probabilities


class Children(NamedTuple):
    """Memory for the children of an opened node."""

    best: np.ndarray  # float32 (SELECT_LIMIT,): the largest margins of leaves
    inner: np.ndarray  # int32 (GROUP_LIMIT,): inner nodes that may have better labels
    inner_scores: np.ndarray  # float64 (GROUP_LIMIT,)


class NodeQueue(NamedTuple):
    """Nodes that wait to be opened, and how many were opened at each depth."""

    scores: np.ndarray  # float64 (g,), a heap: each inner node has a group
    nodes: np.ndarray  # int32 (g,)
    expanded: np.ndarray  # int32 (levels,), empty without a beam


@kernel
def gains_of_nodes(parent, label, weights):
    """Return the gain of every node, float64 (n,): minus infinity if all labels below it have the weight 0."""
    largest = np.zeros(parent.size, np.float64)
    for v in range(parent.size - 1, -1, -1):
        if label[v] >= 0:
            largest[v] = weights[label[v]]
        if v > 0:
            largest[parent[v]] = max(largest[parent[v]], largest[v])
    gains = np.full(parent.size, -np.inf)
    for v in range(parent.size):
        if largest[v] > 0.0:
            gains[v] = np.log(largest[v])
            if v > 0:
                gains[v] -= np.log(largest[parent[v]])
    return gains


@kernel
def new_children():
    return Children(
        np.empty(SELECT_LIMIT, np.float32), np.empty(GROUP_LIMIT, np.int32), np.empty(GROUP_LIMIT, np.float64)
    )


@lane_operation(n_arrays=1, n_scalars=0)
def largest_of_lanes(ops, values):
    return (), ops.largest(values)


@part
def least_leaf_margin(tree, g, loss, margins, k, bar, best):
    """Return the margin below which a leaf of group g cannot be among the k best, at least ``bar``."""
    n = tree.group_size[g]
    if n > k and k <= SELECT_LIMIT:
        for i in range(k):
            best[i] = -np.inf
        for block in range(0, n, LANES):
            top = largest_of_lanes(block, margins)
            if top > best[k - 1] and top >= bar:
                for c in range(block, min(n, block + LANES)):
                    if margins[c] > best[k - 1] and tree.label[tree.group_first[g] + c] >= 0:
                        at = k - 1
                        while at > 0 and margins[c] > best[at - 1]:
                            best[at] = best[at - 1]
                            at -= 1
                        best[at] = margins[c]
        sure = SURE_LOGISTIC if loss == LOGISTIC else SURE_HINGE
        bar = max(bar, min(np.float64(best[k - 1]), sure) - NEAR)
    return bar


@part
def offer_children(tree, gains, g, loss, margins, score, r, count, found, children):
    """Offer a group's labels to row r, and list the inner nodes that may have better ones; return their numbers."""
    n = tree.group_size[g]
    first = tree.group_first[g]
    k = found.labels.shape[1]
    bar = -np.inf
    least = -np.inf
    if n > NARROW:
        if count == k:
            bar = least_margin(found.scores[r, k - 1] - score, loss)
        if gains.size == 0:  # else a leaf of smaller margin can have a larger weight
            least = least_leaf_margin(tree, g, loss, margins, k, bar, children.best)
    n_inner = 0
    for block in range(0, n, LANES):
        if n > NARROW and largest_of_lanes(block, margins) < bar:
            continue
        for c in range(block, min(n, block + LANES)):
            if margins[c] < bar:
                continue
            label = tree.label[first + c]
            if label >= 0 and margins[c] < least:
                continue
            child_score = score + log_probability(margins[c], loss)
            if gains.size > 0:
                child_score += gains[first + c]
                if child_score == -np.inf:
                    continue
            if count == k and child_score < found.scores[r, k - 1]:
                continue
            if label >= 0:
                count = offer(found.scores, found.labels, r, count, k, child_score, label)
            else:
                children.inner[n_inner] = first + c
                children.inner_scores[n_inner] = child_score
                n_inner += 1
    return count, n_inner


@part
def search_row(tree, gains, loss, x, row, r, beam, found, queue, children, scratch):
    """Do the work of :func:`search_best_first` for one row, and write into row r of ``found``."""
    k = found.labels.shape[1]
    for level in range(queue.expanded.size):
        queue.expanded[level] = 0
    count = 0
    root = root_log_probability(tree, loss, x, row, scratch)
    if gains.size > 0:
        root += gains[0]
    size = heap_push(queue.scores, queue.nodes, 0, root, np.int32(0))
    while size > 0:
        score = queue.scores[0]
        v = queue.nodes[0]
        if count == k and score < found.scores[r, k - 1]:
            break
        size = heap_pop(queue.scores, queue.nodes, size)
        if beam > 0:
            if queue.expanded[tree.depth[v]] == beam:
                continue
            queue.expanded[tree.depth[v]] += 1
        for g in range(tree.group_ptr[v], tree.group_ptr[v + 1]):
            row_margins(tree, g, x, row, scratch)
            count, n_inner = offer_children(tree, gains, g, loss, scratch.margins, score, r, count, found, children)
            for i in range(n_inner):
                size = heap_push(queue.scores, queue.nodes, size, children.inner_scores[i], children.inner[i])


@kernel
def search_best_first(trees, loss, x, rows, beam, out_labels, out_scores):
    """Find the k labels of greatest path product, times their weight, for some rows; scores are logarithms."""
    # A product never grows along a path. So a subtree is dropped as soon as k labels beat its root, and the result is
    # exact. Equal scores are ranked by label id. With a beam (0 for none), at most so many inner nodes are opened at
    # each depth. Nodes are opened in the order of their scores, each after its parent, so these are the best of their
    # depth; equal nodes are ranked by id. ``out_labels`` and ``out_scores`` must come filled with -1 and minus
    # infinity; labels of the weight 0 are not found.
    tree, _, gains = member_at(trees, 0)
    found = Found(out_labels, out_scores)
    most = tree.group_first.size
    levels = tree.depth[-1] + 1 if beam > 0 else 0
    queue = NodeQueue(np.empty(most, np.float64), np.empty(most, np.int32), np.zeros(levels, np.int32))
    children = new_children()
    scratch = new_scratch()
    for r in range(rows.size):
        search_row(tree, gains, loss, x, rows[r], r, beam, found, queue, children, scratch)
