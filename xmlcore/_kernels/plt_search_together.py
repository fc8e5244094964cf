"""The k most probable labels of many rows, which go down the tree together."""

import math

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.plt_margins import (
    FOUND,
    LAID_ROWS,
    PART,
    SCRATCH,
    group_margins,
    laid_margins,
    root_log_probability,
)
from xmlcore._kernels.plt_search import SELECT_LIMIT, offer_children
from xmlcore._kernels.plt_tree import GROUP_LIMIT, row_width

BAND = math.log(4.0)  # rows that are searched together open nodes down to a quarter of the best one that waits
RADIX_BITS = 11
RADIX = 1 << RADIX_BITS
PLACE = np.dtype([("score", np.float64), ("row", np.int32), ("node", np.int32)])  # a node that a row may open


@kernel
def grown(places, count):
    """A copy with room for twice as many as ``places``, of which the first ``count`` are taken."""
    more = np.empty(2 * places.size, PLACE)
    for i in range(count):
        more[i] = places[i]
    return more


@kernel
def sort_by_node(places, count, other):
    """Sort the first ``count`` places by node, those of one node in the order they have; ``other`` is scratch."""
    if count == 0:
        return
    least = places[0]["node"]
    most = least
    for i in range(count):
        least = min(least, places[i]["node"])
        most = max(most, places[i]["node"])
    starts = np.empty(RADIX + 1, np.int64)
    shift = 0
    while (most - least) >> shift > 0:
        starts[:] = 0
        for i in range(count):
            other[i] = places[i]
            starts[(((places[i]["node"] - least) >> shift) & (RADIX - 1)) + 1] += 1
        for b in range(RADIX):
            starts[b + 1] += starts[b]
        for i in range(count):
            b = ((other[i]["node"] - least) >> shift) & (RADIX - 1)
            places[starts[b]] = other[i]
            starts[b] += 1
        shift += RADIX_BITS


@kernel
def keep_best_of_rows(places, count, level, expanded, beam):
    """Leave each row its best ``beam - expanded[row, level]`` places, and count them there.

    Parameters
    ----------
    places : PLACE (count or more,)
        All of one level, by node: of equal ones the first stays. Those that stay move to the front, in this order.
    expanded : int32 (n, levels)

    Returns
    -------
    int
        How many stay.
    """
    n_rows = expanded.shape[0]
    ptr = np.zeros(n_rows + 1, np.int64)
    for i in range(count):
        ptr[places[i]["row"] + 1] += 1
    for r in range(n_rows):
        ptr[r + 1] += ptr[r]
    order = np.empty(count, np.int64)
    fill = ptr.copy()
    for i in range(count):
        order[fill[places[i]["row"]]] = i
        fill[places[i]["row"]] += 1
    stays = np.ones(count, np.bool_)
    for r in range(n_rows):
        own = order[ptr[r] : ptr[r + 1]]
        room = beam - expanded[r, level]
        if own.size > room:
            scores = np.empty(own.size, np.float64)
            for i in range(own.size):
                scores[i] = -places[own[i]]["score"]
            worse = np.argsort(scores, kind="mergesort")[room:]  # equal ones keep their order
            for i in worse:
                stays[own[i]] = False
        expanded[r, level] += min(room, own.size)
    kept = 0
    for i in range(count):
        if stays[i]:
            places[kept] = places[i]
            kept += 1
    return kept


@kernel
def choose_places(waiting, count, todo, worst, depth, expanded, beam, floor, n_places, alone):
    """Which of the places that wait are opened in the next sweep: a row's best one, and those within BAND of it.

    Parameters
    ----------
    waiting : PLACE (count or more,); those that go on waiting move to the front
    todo : PLACE (count or more,), the first are written
    worst : float64 (n,)
        What a label must reach to be among the row's best: places below it are dropped.
    depth, expanded, beam
        Where the beam is full, nothing is opened.
    floor : float64 (n,), written
        The least score of each row that is opened.
    n_places : int64 (n,), written
        Places that each row has, waiting or opened.
    alone : bool (n,)
        Rows whose places are dropped.

    Returns
    -------
    waiting, todo : int
        How many.
    """
    floor[:] = -np.inf
    n_places[:] = 0
    kept = 0
    for i in range(count):
        r = waiting[i]["row"]
        score = waiting[i]["score"]
        if alone[r] or score < worst[r] or (beam > 0 and expanded[r, depth[waiting[i]["node"]]] == beam):
            continue
        waiting[kept] = waiting[i]
        kept += 1
        n_places[r] += 1
        floor[r] = max(floor[r], score)
    floor -= BAND
    count = kept
    kept = 0
    n_todo = 0
    for i in range(count):
        if waiting[i]["score"] >= floor[waiting[i]["row"]]:
            todo[n_todo] = waiting[i]
            n_todo += 1
        else:
            waiting[kept] = waiting[i]
            kept += 1
    return kept, n_todo


@kernel
def search_together(tree, loss, x_ptr, x_columns, x_values, laid_at, laid, rows, beam, most, out_labels, out_scores):
    """What :func:`search_best_first` finds, for many rows at once: a node is opened for all rows that open it.

    A large model does not fit the processor's caches, and each row reads other parts of it. Here the rows go down the
    tree together, level by level, and those that open a node do so one after the other, so that its weights are read
    from memory once. Level by level alone would open nodes that are beaten by labels found later. So each sweep down
    the tree opens only nodes that are nearly as good as the best one that the row has left, down to a quarter of its
    probability (BAND), and the others wait for the next sweep, and for better labels. Some 5 to 20 % more nodes are
    opened than one by one, best first.

    Scores, and so results, are those of the search one by one; so are the nodes that a beam expands: a sweep opens
    better nodes than the next, and within a sweep all nodes of a level are there when the beam chooses. Nodes are
    numbered level by level, which both rely on.

    Parameters
    ----------
    tree, loss, x_ptr, x_columns, x_values, laid_at, laid, rows, beam, out_labels, out_scores
        See :func:`search_best_first`.
    most : int
        Places of all rows, waiting or to be opened: where there are more, a row that has more than its share is given
        up. Memory is 16 bytes for each, a few times over.

    Returns
    -------
    alone : bool (n,)
        Rows that were given up, and are to be searched alone: what was found for them is not complete.

    Notes
    -----
    Beside the nodes opened, O(levels + waiting places) per sweep; some 5 to 10 sweeps.
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
    margins = np.zeros(SCRATCH, np.float32)
    found_at = np.empty(FOUND, np.uint32)
    found_end = np.empty(FOUND, np.uint32)
    found_value = np.empty(FOUND, np.float32)
    part = np.empty(PART, np.float32)
    best = np.empty(SELECT_LIMIT, np.float32)
    inner = np.empty(GROUP_LIMIT, np.int32)
    inner_scores = np.empty(GROUP_LIMIT, np.float64)
    places = np.empty(LAID_ROWS, np.int64)
    many = np.empty(LAID_ROWS * SCRATCH, np.float32)
    none = np.int64(0)  # for a literal, Numba would compile laid_margins once more
    n_rows = rows.size
    n_levels = depth.max() + 1
    counts = np.zeros(n_rows, np.int64)
    worst = np.full(n_rows, -np.inf)
    floor = np.empty(n_rows, np.float64)
    n_places = np.empty(n_rows, np.int64)
    alone = np.zeros(n_rows, np.bool_)
    expanded = np.zeros((n_rows, n_levels if beam > 0 else 0), np.int32)
    share = most // max(1, n_rows)
    waiting = np.empty(2 * n_rows + GROUP_LIMIT, PLACE)
    todo = np.empty(waiting.size, PLACE)
    here = np.empty(waiting.size, PLACE)
    below = np.empty(waiting.size, PLACE)
    other = np.empty(waiting.size, PLACE)
    n_waiting = n_rows
    for r in range(n_rows):
        waiting[r]["row"] = r
        waiting[r]["node"] = 0
        waiting[r]["score"] = 0.0
        if tree.root_group >= 0:
            start = x_ptr[rows[r]]
            end = x_ptr[rows[r] + 1]
            waiting[r]["score"] = root_log_probability(
                tree, loss, x_columns, x_values, start, end, laid_at, laid, rows[r], margins, found_at, found_end,
                found_value, part,
            )  # fmt: skip
    while n_waiting > 0:
        if todo.size < waiting.size:
            todo = np.empty(waiting.size, PLACE)
            other = np.empty(waiting.size, PLACE)
        n_waiting, n_todo = choose_places(
            waiting, n_waiting, todo, worst, depth, expanded, beam, floor, n_places, alone
        )
        sort_by_node(todo, n_todo, other)
        done = 0
        n_below = 0
        for level in range(n_levels):
            here, below = below, here
            n_here = n_below
            n_below = 0
            while done < n_todo and depth[todo[done]["node"]] == level:
                if n_here == here.size:
                    here = grown(here, n_here)
                here[n_here] = todo[done]
                n_here += 1
                done += 1
            if other.size < n_here:
                other = np.empty(here.size, PLACE)
            sort_by_node(here, n_here, other)
            if beam > 0:
                n_here = keep_best_of_rows(here, n_here, level, expanded, beam)
            i = 0
            while i < n_here:
                v = here[i]["node"]
                stop = i + 1
                while stop < n_here and here[stop]["node"] == v:
                    stop += 1
                for g in range(group_ptr[v], group_ptr[v + 1]):
                    for begin in range(i, stop, LAID_ROWS):
                        end = min(begin + LAID_ROWS, stop)
                        n_laid = none
                        for at in range(begin, end):
                            r = here[at]["row"]
                            if laid_at[rows[r]] >= 0 and here[at]["score"] >= worst[r] and not alone[r]:
                                places[n_laid] = laid_at[rows[r]]
                                n_laid += 1
                        if n_laid > 0:
                            laid_margins(tree, g, laid, places, none, n_laid, many, part)
                        n_laid = none
                        for at in range(begin, end):
                            r = here[at]["row"]
                            score = here[at]["score"]
                            if score < worst[r] or alone[r]:
                                continue
                            if laid_at[rows[r]] >= 0:
                                n = group_size[g]
                                for c in range(row_width(n)):
                                    margins[c] = many[n_laid * SCRATCH + c]
                                n_laid += 1
                            else:
                                n = group_margins(
                                    g, x_columns, x_values, x_ptr[rows[r]], x_ptr[rows[r] + 1], margins, found_at,
                                    found_end, found_value, bias, group_first, group_size, column_ptr, columns,
                                    dense_ptr, dense, sparse_ptr, entry_at, entry_ptr, entry_child, entry_value,
                                    index_shift, index_at, index,
                                )  # fmt: skip
                            counts[r], n_inner = offer_children(
                                group_first[g], n, margins, score, r, k, counts[r], out_scores, out_labels, loss,
                                label_of, best, inner, inner_scores,
                            )  # fmt: skip
                            if counts[r] == k:
                                worst[r] = out_scores[r, k - 1]
                            n_places[r] += n_inner
                            if n_places[r] > share and n_waiting + n_here + n_below > most:
                                alone[r] = True
                                continue
                            while n_waiting + n_inner > waiting.size:
                                waiting = grown(waiting, n_waiting)
                            while n_below + n_inner > below.size:
                                below = grown(below, n_below)
                            for c in range(n_inner):
                                if inner_scores[c] >= floor[r]:
                                    below[n_below]["row"] = r
                                    below[n_below]["node"] = inner[c]
                                    below[n_below]["score"] = inner_scores[c]
                                    n_below += 1
                                else:
                                    waiting[n_waiting]["row"] = r
                                    waiting[n_waiting]["node"] = inner[c]
                                    waiting[n_waiting]["score"] = inner_scores[c]
                                    n_waiting += 1
                i = stop
    return alone
