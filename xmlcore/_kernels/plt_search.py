"""The k most probable labels of a row, best first."""

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.k_best import heap_pop, heap_push, offer
from xmlcore._kernels.lanes import LANES, lane_operation
from xmlcore._kernels.plt_factors import LOGISTIC, least_margin, log_probability
from xmlcore._kernels.plt_margins import FOUND, PART, SCRATCH, group_margins, laid_margins, root_log_probability
from xmlcore._kernels.plt_tree import GROUP_LIMIT, NARROW

SELECT_LIMIT = 64  # more labels than these are not selected by margin first
# Scores decide, margins only rule out. Where a factor is so near to 1 that sums of logarithms may be equal by rounding,
# a larger margin is no reason.
SURE_LOGISTIC = 20.0
SURE_HINGE = 0.999
NEAR = 1e-3


@lane_operation(n_arrays=1, n_scalars=0)
def largest_of_lanes(ops, values):
    return (), ops.largest(values)


@inlined
def leaf_bar(labels, loss, first, n, margins, k, bar, best):
    """A margin that k leaves among the group's children reach, or ``bar`` if that is more.

    Leaves below it need not be looked at: k siblings are surely better. ``best`` is scratch, (k,).
    """
    if n > k and k <= SELECT_LIMIT:
        for i in range(k):
            best[i] = -np.inf
        for block in range(0, n, LANES):
            top = largest_of_lanes(block, margins)
            if top > best[k - 1] and top >= bar:
                for c in range(block, min(n, block + LANES)):
                    if margins[c] > best[k - 1] and labels[first + c] >= 0:
                        at = k - 1
                        while at > 0 and margins[c] > best[at - 1]:
                            best[at] = best[at - 1]
                            at -= 1
                        best[at] = margins[c]
        sure = SURE_LOGISTIC if loss == LOGISTIC else SURE_HINGE
        bar = max(bar, min(np.float64(best[k - 1]), sure) - NEAR)
    return bar


@inlined
def offer_children(
    first, n, margins, score, r, k, count, best_scores, best_labels, loss, label_of, best, inner, inner_scores
):
    """Offer the labels among a group's children to row r, and list the inner nodes that may have better ones.

    Parameters
    ----------
    first, n : int
        The first child, and how many there are.
    margins : float32
        The row's, of the children.
    score : float
        The parent's.
    count : int
        Labels that the row has.
    inner, inner_scores : int32, float64 (GROUP_LIMIT,), written
    best : float32 (SELECT_LIMIT,), scratch

    Returns
    -------
    count : int
        Labels that the row has now.
    n_inner : int
    """
    bar = -np.inf
    leaf = -np.inf
    if n > NARROW:
        if count == k:
            bar = least_margin(best_scores[r, k - 1] - score, loss)
        leaf = leaf_bar(label_of, loss, first, n, margins, k, bar, best)
    n_inner = 0
    for block in range(0, n, LANES):
        if n > NARROW and largest_of_lanes(block, margins) < bar:
            continue
        for c in range(block, min(n, block + LANES)):
            if margins[c] < bar:
                continue
            label = label_of[first + c]
            if label >= 0 and margins[c] < leaf:
                continue
            child_score = score + log_probability(margins[c], loss)
            if count == k and child_score < best_scores[r, k - 1]:
                continue
            if label >= 0:
                count = offer(best_scores, best_labels, r, count, k, child_score, label)
            else:
                inner[n_inner] = first + c
                inner_scores[n_inner] = child_score
                n_inner += 1
    return count, n_inner


@kernel
def search_best_first(tree, loss, x_ptr, x_columns, x_values, laid_at, laid, rows, beam, out_labels, out_scores):
    """The k labels of greatest path product for some rows.

    A product never grows along a path, so a subtree is dropped as soon as k labels beat its root: exact. Scores are
    kept as logarithms, so a product of many small factors does not vanish. Equal scores are ranked by label id.

    With a beam, only that many inner nodes are expanded at each depth. Nodes are expanded in the order of their scores,
    and a node's parent before it, so these are the best of their depth, the same that a search level by level would
    keep; but no node is expanded that k labels beat already. Equal nodes are ranked by id.

    Parameters
    ----------
    tree : TreeArrays
    loss : int
    x_ptr, x_columns, x_values, laid_at, laid
        From :func:`take_and_lay_out`.
    rows : int64 (n,)
        Which of those.
    beam : int, 0 for an exact search
    out_labels : int32 (n, k), out_scores : float64 (n, k)
        Must come filled with -1 and minus infinity. Scores are logarithms.

    Notes
    -----
    Per row, O(expanded nodes * (nonzeros + weights touched)).
    """
    label_of = tree.label
    group_ptr = tree.group_ptr
    depth = tree.depth
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
    k = out_labels.shape[1]
    heap_scores = np.empty(label_of.size, np.float64)
    heap_nodes = np.empty(label_of.size, np.int32)
    margins = np.zeros(SCRATCH, np.float32)
    found_at = np.empty(FOUND, np.uint32)
    found_end = np.empty(FOUND, np.uint32)
    found_value = np.empty(FOUND, np.float32)
    part = np.empty(PART, np.float32)
    best = np.empty(SELECT_LIMIT, np.float32)
    inner = np.empty(GROUP_LIMIT, np.int32)
    inner_scores = np.empty(GROUP_LIMIT, np.float64)
    expanded = np.zeros(depth.max() + 1 if beam > 0 else 0, np.int32)
    for r in range(rows.size):
        start = x_ptr[rows[r]]
        end = x_ptr[rows[r] + 1]
        count = 0
        expanded[:] = 0
        root = 0.0
        if tree.root_group >= 0:
            root = root_log_probability(
                tree, loss, x_columns, x_values, start, end, laid_at, laid, rows[r], margins, found_at, found_end,
                found_value, part,
            )  # fmt: skip
        size = heap_push(heap_scores, heap_nodes, 0, root, 0)
        while size > 0:
            score = heap_scores[0]
            v = heap_nodes[0]
            if count == k and score < out_scores[r, k - 1]:
                break
            size = heap_pop(heap_scores, heap_nodes, size)
            if beam > 0:
                if expanded[depth[v]] == beam:
                    continue
                expanded[depth[v]] += 1
            for g in range(group_ptr[v], group_ptr[v + 1]):
                if laid_at[rows[r]] >= 0:
                    n = laid_margins(tree, g, laid, laid_at, rows[r], rows[r] + 1, margins, part)
                else:
                    n = group_margins(
                        g, x_columns, x_values, start, end, margins, found_at, found_end, found_value,
                        bias, group_first, group_size, column_ptr, columns, dense_ptr, dense, sparse_ptr, entry_at,
                        entry_ptr, entry_child, entry_value, index_shift, index_at, index,
                    )  # fmt: skip
                count, n_inner = offer_children(
                    group_first[g], n, margins, score, r, k, count, out_scores, out_labels, loss, label_of, best, inner,
                    inner_scores,
                )  # fmt: skip
                for i in range(n_inner):
                    size = heap_push(heap_scores, heap_nodes, size, inner_scores[i], inner[i])
