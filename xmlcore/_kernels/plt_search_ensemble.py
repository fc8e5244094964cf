"""The k labels of greatest mean probability over several trees.

To *open* a group of siblings is to compute the scores of its nodes, the logarithms of their probabilities; to open a
node is to open the groups of its children. A label is *seen* in a tree when its group is open there. Until then, its
probability in this tree is at most that of the deepest node on its path that is known, and at most the tree's *unseen*
probability: the largest of all nodes that wait to be opened. If labels have weights, scores have the gains of nodes
(``plt_search``), and all that is said of probabilities holds for weight times probability.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel, part
from xmlcore._kernels.k_best import heap_pop, heap_push, offer
from xmlcore._kernels.lanes import LANES
from xmlcore._kernels.plt_ensemble import member_at
from xmlcore._kernels.plt_factors import least_margin, log_probability
from xmlcore._kernels.plt_margins import new_scratch, root_log_probability, row_margins
from xmlcore._kernels.plt_search import SELECT_LIMIT, Found, largest_of_lanes, least_leaf_margin
from xmlcore._kernels.plt_tree import NARROW, padded_size

VANISHED = -746.0  # The exponential of this and of any smaller number is 0 in float64.
# Bounds are lowered by this share, against rounding, and the floor by a little more: once all nodes above the floor are
# open, the sum of the unseen probabilities is then surely below the bound.
SLACK = 1e-12
FLOOR_SLACK = 1e-9
# Indices of numbers in State.counts.
GROUPS = 0  # open groups
MARGINS = 1  # margins of their nodes
LISTED = 2  # labels that were considered, or are about to be
FOUND = 3  # labels among the best


class State(NamedTuple):
    """What is known of the current row, with t trees that have G groups together; lists are filled from the front."""

    counts: np.ndarray  # int64 (4,)
    first_group: np.ndarray  # int64 (t + 1,): group g of a tree has number first_group[tree] + g
    place: np.ndarray  # int32 (G,): where an open group is in the next lists; meaningless for other groups
    group: np.ndarray  # int64 (G,): its number
    tree: np.ndarray  # int64 (G,)
    score: np.ndarray  # float64 (G,): of the parent
    margins_at: np.ndarray  # int64 (G,)
    margins: np.ndarray  # float32: of the nodes of all open groups
    heap_scores: np.ndarray  # float64 (t, most inner nodes): nodes that wait, or were opened on the path of a label
    heap_nodes: np.ndarray  # int32 (t, most inner nodes)
    heap_sizes: np.ndarray  # int64 (t,)
    expanded: np.ndarray  # int32 (t, levels): nodes taken from the heap at each depth; (t, 0) without a beam
    floor: np.ndarray  # float64 (1,): nodes of a smaller score need not be opened
    unseen: np.ndarray  # float64 (t,)
    next_nodes: np.ndarray  # int32 (t,): the node of each tree that is opened next, -1 for none
    next_scores: np.ndarray  # float64 (t,)
    own: Found  # the best labels of each tree alone, in a row for each tree
    own_counts: np.ndarray  # int64 (t,)
    label_place: np.ndarray  # int32 (L,): as ``place``, for listed labels
    labels: np.ndarray  # int32 (L,)
    bounds: np.ndarray  # float64 (t,), scratch: the probability of a label is at most this in each tree
    path: np.ndarray  # int32 (levels,), scratch
    best: np.ndarray  # float32 (SELECT_LIMIT,), scratch


@part
def is_listed(places, items, count, item):
    """Return whether an item is among the first ``count`` of ``items``, where ``places`` then has its place."""
    at = places[item]
    return at < count and items[at] == item


@part
def raise_floor(state, log_sum):
    """Raise the floor when k labels have a sum of exp(``log_sum``) or more: others need a part of it in a tree."""
    state.floor[0] = max(state.floor[0], log_sum - math.log(state.unseen.size) - FLOOR_SLACK)


@part
def open_group(tree, gains, t, g, loss, x, row, score, k, state, scratch):
    """Open group g of tree t, push inner nodes on the tree's heap, and if k > 0 offer leaves to its best labels."""
    n = row_margins(tree, g, x, row, scratch)
    margins = scratch.margins
    at = state.counts[GROUPS]
    begin = state.counts[MARGINS]
    state.place[state.first_group[t] + g] = at
    state.group[at] = state.first_group[t] + g
    state.tree[at] = t
    state.score[at] = score
    state.margins_at[at] = begin
    for c in range(padded_size(n)):
        state.margins[begin + c] = margins[c]
    state.counts[GROUPS] += 1
    state.counts[MARGINS] += padded_size(n)
    bar = least_margin(state.floor[0] - score, loss)
    least = np.inf
    if k > 0:
        least = bar
        if state.own_counts[t] == k:
            least = max(bar, least_margin(state.own.scores[t, k - 1] - score, loss))
        if gains.size == 0:
            least = least_leaf_margin(tree, g, loss, margins, k, least, state.best)
    heap_scores = state.heap_scores[t]
    heap_nodes = state.heap_nodes[t]
    for block in range(0, n, LANES):
        if n > NARROW and largest_of_lanes(block, margins) < bar:
            continue
        for c in range(block, min(n, block + LANES)):
            if margins[c] < bar:
                continue
            child = tree.group_first[g] + c
            label = tree.label[child]
            if label >= 0 and margins[c] < least:
                continue
            child_score = score + log_probability(margins[c], loss)
            if gains.size > 0:
                child_score += gains[child]
            if child_score < state.floor[0]:
                continue
            if label >= 0:
                state.own_counts[t] = offer(
                    state.own.scores, state.own.labels, t, state.own_counts[t], k, child_score, label
                )
            else:
                state.heap_sizes[t] = heap_push(
                    heap_scores, heap_nodes, state.heap_sizes[t], child_score, np.int32(child)
                )
    if k > 0 and state.own_counts[t] == k:
        raise_floor(state, state.own.scores[t, k - 1])


@part
def deepest_known(tree, gains, t, loss, leaf, state):
    """Find the deepest node on the path to a leaf whose score is known."""
    v = leaf
    length = 0
    while True:
        g = tree.group_ptr[tree.parent[v]]
        while v >= tree.group_first[g] + tree.group_size[g]:
            g += 1
        if is_listed(state.place, state.group, state.counts[GROUPS], state.first_group[t] + g):
            break
        state.path[length] = v
        length += 1
        v = tree.parent[v]
    at = state.place[state.first_group[t] + g]
    margin = state.margins[state.margins_at[at] + v - tree.group_first[g]]
    score = state.score[at] + log_probability(margin, loss)
    if gains.size > 0:
        score += gains[v]
    return score, length, v


@part
def least_sum(found, r, count):
    """Return the sum of probabilities that a label needs to be among the best of row r, which has ``count`` labels."""
    k = found.labels.shape[1]
    return found.scores[r, k - 1] * (1.0 - SLACK) if count == k else 0.0


@part
def consider(ensemble, loss, x, row, r, label, found, state, scratch):
    """Offer a label to the best of row r; its path is opened in all trees, as long as it may be among them."""
    n_trees = state.unseen.size
    k = found.labels.shape[1]
    least = least_sum(found, r, state.counts[FOUND])
    total = 0.0
    for t in range(n_trees):
        member = member_at(ensemble, t)
        score, _, _ = deepest_known(member.arrays, member.gains, t, loss, member.leaf_of_label[label], state)
        state.bounds[t] = math.exp(score)
        total += state.bounds[t]
    t = 0
    while t < n_trees and total >= least and total > 0.0:
        member = member_at(ensemble, t)
        tree = member.arrays
        score, length, v = deepest_known(member.arrays, member.gains, t, loss, member.leaf_of_label[label], state)
        if length == 0:
            t += 1
            continue
        for g in range(tree.group_ptr[v], tree.group_ptr[v + 1]):
            open_group(tree, member.gains, t, g, loss, x, row, score, 0, state, scratch)
        score, _, _ = deepest_known(tree, member.gains, t, loss, state.path[length - 1], state)
        state.bounds[t] = math.exp(score)
        total = 0.0
        for s in range(n_trees):  # in the order of the trees: so the sum is the same for every search
            total += state.bounds[s]
    if t == n_trees:
        state.counts[FOUND] = offer(found.scores, found.labels, r, state.counts[FOUND], k, total, label)
        if state.counts[FOUND] == k:
            raise_floor(state, math.log(found.scores[r, k - 1]))


@part
def set_unseen(ensemble, state):
    """Set each tree's unseen probability and return their sum; opened nodes are taken from the tops of the heaps."""
    total = 0.0
    for t in range(state.unseen.size):
        tree = member_at(ensemble, t).arrays
        scores = state.heap_scores[t]
        nodes = state.heap_nodes[t]
        size = state.heap_sizes[t]
        while size > 0:
            number = state.first_group[t] + tree.group_ptr[nodes[0]]
            if not is_listed(state.place, state.group, state.counts[GROUPS], number):
                break
            size = heap_pop(scores, nodes, size)
        state.heap_sizes[t] = size
        score = state.floor[0]  # nodes below it are not on the heap
        if size > 0:
            score = max(score, scores[0])
        state.unseen[t] = math.exp(score)
        total += state.unseen[t]
    return total


@part
def take_nodes(ensemble, beam, least, state):
    """Take from the heap of each tree the node that is opened next; return how many there are."""
    # With ``least`` = -1, each tree is searched for its own best labels. Otherwise the search goes on until the sum of
    # the unseen probabilities is below ``least``, in the trees that contribute at least an equal part to it.
    n_trees = state.unseen.size
    k = state.own.labels.shape[1]
    state.next_nodes[:] = -1
    count = 0
    if least >= 0.0 and set_unseen(ensemble, state) < least:
        return count
    for t in range(n_trees):
        scores = state.heap_scores[t]
        nodes = state.heap_nodes[t]
        size = state.heap_sizes[t]
        tree = member_at(ensemble, t).arrays
        while size > 0 and state.next_nodes[t] < 0:
            if least >= 0.0:
                if state.unseen[t] * n_trees < least:
                    break
            elif scores[0] < state.floor[0] or (state.own_counts[t] == k and scores[0] < state.own.scores[t, k - 1]):
                break
            score = scores[0]
            v = nodes[0]
            size = heap_pop(scores, nodes, size)
            number = state.first_group[t] + tree.group_ptr[v]
            if is_listed(state.place, state.group, state.counts[GROUPS], number):  # opened on the path of a label
                continue
            if beam > 0:
                if state.expanded[t, tree.depth[v]] == beam:
                    continue
                state.expanded[t, tree.depth[v]] += 1
            state.next_nodes[t] = v
            state.next_scores[t] = score
            count += 1
        state.heap_sizes[t] = size
    return count


@part
def list_label(state, label):
    """List a label to be considered, unless it was listed before."""
    count = state.counts[LISTED]
    if not is_listed(state.label_place, state.labels, count, label):
        state.label_place[label] = count
        state.labels[count] = label
        state.counts[LISTED] = count + 1


@part
def list_own(state):
    """List the best labels of each tree alone, first of all trees the best."""
    for place in range(state.own.labels.shape[1]):
        for t in range(state.unseen.size):
            if place < state.own_counts[t]:
                list_label(state, state.own.labels[t, place])


@part
def list_seen(ensemble, loss, least, state):
    """List all labels that may have a sum of at least ``least``, which is more than the sum of unseen probabilities."""
    # Each tree gets a threshold: its unseen probability and an equal part of what is missing to ``least``. A label that
    # is below the threshold in every tree is not among the best; any other label is seen in some tree.
    n_trees = state.unseen.size
    missing = least
    for t in range(n_trees):
        missing -= state.unseen[t]
    for at in range(state.counts[GROUPS]):
        t = state.tree[at]
        threshold = (state.unseen[t] + max(0.0, missing) / n_trees) * (1.0 - SLACK)
        bar = -np.inf
        if threshold > 0.0:
            if state.score[at] < math.log(threshold) - SLACK:
                continue
            bar = least_margin(math.log(threshold) - state.score[at], loss)
        tree = member_at(ensemble, t).arrays
        g = state.group[at] - state.first_group[t]
        n = tree.group_size[g]
        for block in range(0, n, LANES):
            begin = state.margins_at[at] + block
            if n > NARROW and largest_of_lanes(begin, state.margins) < bar:
                continue
            for c in range(min(n - block, LANES)):
                if state.margins[begin + c] >= bar:
                    label = tree.label[tree.group_first[g] + block + c]
                    if label >= 0:
                        list_label(state, label)


@part
def search_row(ensemble, loss, x, row, r, beam, found, state, scratch):
    """Do the work of :func:`search_ensemble` for one row, with index ``row`` in ``x`` and r in ``found``."""
    n_trees = state.unseen.size
    k = found.labels.shape[1]
    state.counts[:] = 0
    state.own_counts[:] = 0
    state.expanded[:] = 0
    state.floor[0] = VANISHED
    for t in range(n_trees):
        member = member_at(ensemble, t)
        root = root_log_probability(member.arrays, loss, x, row, scratch)
        if member.gains.size > 0:
            root += member.gains[0]
        root = max(root, VANISHED)  # opened in every tree: the path of a label, seen in another one, begins there
        state.heap_sizes[t] = heap_push(state.heap_scores[t], state.heap_nodes[t], 0, root, np.int32(0))
    for all_together in range(2):
        least = least_sum(found, r, state.counts[FOUND]) if all_together else -1.0
        while take_nodes(ensemble, beam, least, state) > 0:
            for t in range(n_trees):
                v = state.next_nodes[t]
                if v < 0:
                    continue
                member = member_at(ensemble, t)
                tree = member.arrays
                own_k = 0 if all_together else k
                for g in range(tree.group_ptr[v], tree.group_ptr[v + 1]):
                    open_group(tree, member.gains, t, g, loss, x, row, state.next_scores[t], own_k, state, scratch)
        done = state.counts[LISTED]
        if all_together:
            list_seen(ensemble, loss, least, state)
        else:
            list_own(state)
        for at in range(done, state.counts[LISTED]):
            consider(ensemble, loss, x, row, r, state.labels[at], found, state, scratch)


@kernel
def search_ensemble(ensemble, loss, x, rows, beam, out_labels, out_scores):
    """Find the k labels with the largest sum of probabilities over all trees, for some rows."""
    # Each tree is searched for its own k best labels, best node first. Their sums are computed, which opens their paths
    # in the other trees. Then the trees are searched on, until the sum of their unseen probabilities is less than the
    # k-th best sum: a label that was seen in no tree is not among the best (Fagin's threshold algorithm). At last the
    # sums of the seen labels that may be among the best are computed. Each group is opened once for a row, and the
    # result is exact. Equal sums are ranked by label id. With a beam, at most so many nodes of each tree and depth are
    # opened in the search. ``out_labels`` and ``out_scores`` must come filled with -1 and 0. The memory for groups and
    # labels of all trees is reserved once and not cleared between rows.
    n_trees = ensemble.shape[0]
    k = out_labels.shape[1]
    n_labels = member_at(ensemble, 0).leaf_of_label.size
    first_group = np.zeros(n_trees + 1, np.int64)
    n_margins = 0
    most_inner = 0
    levels = 0
    for t in range(n_trees):
        tree = member_at(ensemble, t).arrays
        first_group[t + 1] = first_group[t] + tree.group_first.size
        n_margins += tree.label.size + LANES * tree.group_first.size
        most_inner = max(most_inner, tree.label.size - n_labels)
        levels = max(levels, np.int64(tree.depth[tree.depth.size - 1]) + 1)
    n_groups = first_group[n_trees]
    own = Found(np.empty((n_trees, k), np.int32), np.empty((n_trees, k), np.float64))
    state = State(
        np.zeros(4, np.int64), first_group, np.zeros(n_groups, np.int32), np.empty(n_groups, np.int64),
        np.empty(n_groups, np.int64), np.empty(n_groups, np.float64), np.empty(n_groups, np.int64),
        np.empty(n_margins, np.float32), np.empty((n_trees, most_inner), np.float64),
        np.empty((n_trees, most_inner), np.int32), np.zeros(n_trees, np.int64),
        np.zeros((n_trees, levels if beam > 0 else 0), np.int32), np.zeros(1, np.float64),
        np.zeros(n_trees, np.float64), np.empty(n_trees, np.int32), np.empty(n_trees, np.float64), own,
        np.zeros(n_trees, np.int64), np.zeros(n_labels, np.int32), np.empty(n_labels, np.int32),
        np.empty(n_trees, np.float64), np.empty(levels, np.int32), np.empty(SELECT_LIMIT, np.float32),
    )  # fmt: skip
    scratch = new_scratch()
    found = Found(out_labels, out_scores)
    for r in range(rows.size):
        search_row(ensemble, loss, x, rows[r], r, beam, found, state, scratch)
