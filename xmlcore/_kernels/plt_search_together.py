"""The k most probable labels of many rows, which go down the tree together.

A model that is larger than the processor's caches is read from memory once for all rows that open a node.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel, part
from xmlcore._kernels.plt_margins import (
    DENSE_ROWS,
    MARGINS,
    Scratch,
    dense_row_margins,
    new_scratch,
    root_log_probability,
    sparse_row_margins,
)
from xmlcore._kernels.plt_rows import Rows
from xmlcore._kernels.plt_search import Children, Found, new_children, offer_children
from xmlcore._kernels.plt_tree import GROUP_LIMIT, row_width
from xmlcore._kernels.sorting import stable_order

# Rows that are searched together open nodes whose probability is at least a quarter of that of the row's best node.
BAND = math.log(4.0)
RADIX_BITS = 11
RADIX = 1 << RADIX_BITS
PLACE = np.dtype([("score", np.float64), ("row", np.int32), ("node", np.int32)])  # A node that a row may open.
WAITING = 0  # Places in the array ``counts``: how many places wait for the next sweep,
BELOW = 1  # and how many are opened on the next level.


class Sweep(NamedTuple):
    """The state of each row during the search."""

    n_labels: np.ndarray  # int64 (n,): labels found
    worst: np.ndarray  # float64 (n,): what a label must reach to be among the row's best
    floor: np.ndarray  # float64 (n,): the least score that is opened in this sweep
    n_places: np.ndarray  # int64 (n,): places of the row, waiting or opened
    alone: np.ndarray  # bool (n,): the row is given up, and has to be searched alone
    expanded: np.ndarray  # int32 (n, levels): nodes opened at each depth; (n, 0) without a beam


class Batch(NamedTuple):
    """The rows that are searched together, and their results."""

    x: Rows
    rows: np.ndarray  # int64 (n,): which of ``x``
    found: Found
    sweep: Sweep
    most: int  # Most places of all rows
    share: int  # and of one row, when there are too many


class Buffers(NamedTuple):
    """Memory for an opened node."""

    scratch: Scratch
    children: Children
    places: np.ndarray  # int64 (DENSE_ROWS,)
    margins: np.ndarray  # float32 (DENSE_ROWS * MARGINS,): of several dense rows


@kernel
def grown(places, count):
    """Return a copy of the first ``count`` places with room for twice as many as ``places`` has."""
    more = np.empty(2 * places.size, PLACE)
    for i in range(count):
        more[i] = places[i]
    return more


@kernel
def sort_by_node(places, count, other):
    """Sort the first ``count`` places by node and keep the order within a node; ``other`` is scratch."""
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
    """Keep the best ``beam - expanded[row, level]`` places of each row, and add their number to ``expanded``.

    Parameters
    ----------
    places : PLACE (count or more,)
        Places of one level, by node: of equal ones the first is kept. Those that are kept move to the front.
    expanded : int32 (n, levels)

    Returns
    -------
    int
        How many are kept.
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
            order_of_own = stable_order(scores)
            for i in range(room, own.size):
                stays[own[order_of_own[i]]] = False
        expanded[r, level] += min(room, own.size)
    kept = 0
    for i in range(count):
        if stays[i]:
            places[kept] = places[i]
            kept += 1
    return kept


@kernel
def choose_places(waiting, count, todo, sweep, depth, beam):
    """Choose the places that the next sweep opens: each row's best one, and those within ``BAND`` of it.

    Places that cannot lead to better labels are dropped, as are those of rows that are given up, and those on a level
    where the beam is full.

    Parameters
    ----------
    waiting : PLACE (count or more,)
        Those that go on waiting move to the front.
    todo : PLACE (count or more,)
        The chosen places are written to its front.
    sweep : Sweep
        ``floor`` and ``n_places`` are written.
    depth : int32 (nodes,)
    beam : int

    Returns
    -------
    waiting, todo : int
        How many places there are of each.
    """
    sweep.floor[:] = -np.inf
    sweep.n_places[:] = 0
    kept = 0
    for i in range(count):
        r = waiting[i]["row"]
        score = waiting[i]["score"]
        if sweep.alone[r] or score < sweep.worst[r]:
            continue
        if beam > 0 and sweep.expanded[r, depth[waiting[i]["node"]]] == beam:
            continue
        waiting[kept] = waiting[i]
        kept += 1
        sweep.n_places[r] += 1
        sweep.floor[r] = max(sweep.floor[r], score)
    for r in range(sweep.floor.size):
        sweep.floor[r] -= BAND
    count = kept
    kept = 0
    n_todo = 0
    for i in range(count):
        if waiting[i]["score"] >= sweep.floor[waiting[i]["row"]]:
            todo[n_todo] = waiting[i]
            n_todo += 1
        else:
            waiting[kept] = waiting[i]
            kept += 1
    return kept, n_todo


@part
def is_done(place, batch):
    """Return whether the node at a place cannot lead to better labels, so that it is not opened."""
    r = place["row"]
    return place["score"] < batch.sweep.worst[r] or batch.sweep.alone[r]


@part
def margins_of_dense_rows(tree, g, batch, here, begin, end, buffers):
    """Compute the margins of the dense rows among the places ``begin`` to ``end``, one after the other."""
    n = np.int64(0)  # with a literal, Numba would compile dense_row_margins once more
    first = np.int64(0)
    for at in range(begin, end):
        place = batch.x.dense_at[batch.rows[here[at]["row"]]]
        if place >= 0 and not is_done(here[at], batch):
            buffers.places[n] = place
            n += 1
    if n > 0:
        weights = buffers.scratch.weights
        dense_row_margins(tree, g, batch.x.dense, buffers.places, first, n, buffers.margins, weights)


@part
def open_group(tree, g, loss, batch, here, begin, end, n_here, waiting, below, counts, buffers):
    """Open a group of siblings for the rows of the places ``begin`` to ``end``, all of the siblings' parent.

    Labels are offered to the rows. Inner nodes are added to ``below`` if this sweep opens them, and to ``waiting``
    otherwise; both must have room for all children of all these rows. ``counts`` says how many places they have.
    """
    sweep = batch.sweep
    margins = buffers.scratch.margins
    margins_of_dense_rows(tree, g, batch, here, begin, end, buffers)
    n_dense = 0
    for at in range(begin, end):
        if is_done(here[at], batch):
            continue
        r = np.int64(here[at]["row"])
        row = batch.rows[r]
        if batch.x.dense_at[row] >= 0:
            for c in range(row_width(tree.group_size[g])):
                margins[c] = buffers.margins[n_dense * MARGINS + c]
            n_dense += 1
        else:
            sparse_row_margins(tree, g, batch.x, row, buffers.scratch)
        sweep.n_labels[r], n_inner = offer_children(
            tree, g, loss, margins, here[at]["score"], r, sweep.n_labels[r], batch.found, buffers.children
        )
        k = batch.found.labels.shape[1]
        if sweep.n_labels[r] == k:
            sweep.worst[r] = batch.found.scores[r, k - 1]
        sweep.n_places[r] += n_inner
        if sweep.n_places[r] > batch.share and counts[WAITING] + n_here + counts[BELOW] > batch.most:
            sweep.alone[r] = True
            continue
        for c in range(n_inner):
            score = buffers.children.inner_scores[c]
            if score >= sweep.floor[r]:
                to = below
                which = BELOW
            else:
                to = waiting
                which = WAITING
            to[counts[which]]["row"] = r
            to[counts[which]]["node"] = buffers.children.inner[c]
            to[counts[which]]["score"] = score
            counts[which] += 1


@kernel
def open_level(tree, loss, batch, here, n_here, waiting, below, counts, buffers):
    """Open the first ``n_here`` places of ``here``, sorted by node, and return ``waiting`` and ``below``.

    Both are replaced by longer arrays when they get too short.
    """
    i = 0
    while i < n_here:
        v = here[i]["node"]
        stop = i + 1
        while stop < n_here and here[stop]["node"] == v:
            stop += 1
        for g in range(tree.group_ptr[v], tree.group_ptr[v + 1]):
            for begin in range(i, stop, DENSE_ROWS):
                end = min(begin + DENSE_ROWS, stop)
                room = (end - begin) * tree.group_size[g]
                while counts[WAITING] + room > waiting.size:
                    waiting = grown(waiting, counts[WAITING])
                while counts[BELOW] + room > below.size:
                    below = grown(below, counts[BELOW])
                open_group(tree, g, loss, batch, here, begin, end, n_here, waiting, below, counts, buffers)
        i = stop
    return waiting, below


@kernel
def search_together(tree, loss, x, rows, beam, most, out_labels, out_scores):
    """Find what :func:`search_best_first` finds, for many rows at once: a node is opened for all rows that open it.

    A large model does not fit the processor's caches, and each row reads other parts of it. Here the rows go down the
    tree together, level by level. Those that open a node do so one after the other, so its weights are read from memory
    once. But a single sweep, level by level, would open nodes that are beaten by labels found later. So each sweep down
    the tree opens only nodes that are nearly as good as the best one that the row has left, down to a quarter of its
    probability (``BAND``). The others wait for the next sweep, and for better labels. This opens some 5 to 20 % more
    nodes than a search for each row, best first.

    Scores, and so results, are those of the search for each row. So are the nodes that a beam opens: a sweep opens
    better nodes than the next one, and all nodes of a level are there when the beam chooses among them. Both rely on
    nodes being numbered level by level.

    Parameters
    ----------
    tree, loss, x, rows, beam, out_labels, out_scores
        See :func:`search_best_first`.
    most : int
        Most places of all rows, waiting or to be opened, about. Where there are more, a row that has more than its
        share is given up. Each place takes 16 bytes, a few times over.

    Returns
    -------
    alone : bool (n,)
        Rows that were given up. Their results are not complete: they have to be searched alone.

    Notes
    -----
    Beside the opened nodes, O(levels + waiting places) time per sweep; there are some 5 to 10 sweeps.
    """
    n_rows = rows.size
    n_levels = tree.depth.max() + 1
    sweep = Sweep(
        np.zeros(n_rows, np.int64), np.full(n_rows, -np.inf), np.empty(n_rows, np.float64), np.empty(n_rows, np.int64),
        np.zeros(n_rows, np.bool_), np.zeros((n_rows, n_levels if beam > 0 else 0), np.int32),
    )  # fmt: skip
    batch = Batch(x, rows, Found(out_labels, out_scores), sweep, most, most // max(1, n_rows))
    buffers = Buffers(
        new_scratch(), new_children(), np.empty(DENSE_ROWS, np.int64), np.empty(DENSE_ROWS * MARGINS, np.float32)
    )
    waiting = np.empty(2 * n_rows + GROUP_LIMIT, PLACE)
    for r in range(n_rows):
        waiting[r]["row"] = r
        waiting[r]["node"] = 0
        waiting[r]["score"] = root_log_probability(tree, loss, x, rows[r], buffers.scratch)
    todo = np.empty(waiting.size, PLACE)
    here = np.empty(waiting.size, PLACE)
    below = np.empty(waiting.size, PLACE)
    other = np.empty(waiting.size, PLACE)
    counts = np.zeros(2, np.int64)
    counts[WAITING] = n_rows
    while counts[WAITING] > 0:
        if todo.size < waiting.size:
            todo = np.empty(waiting.size, PLACE)
            other = np.empty(waiting.size, PLACE)
        counts[WAITING], n_todo = choose_places(waiting, counts[WAITING], todo, sweep, tree.depth, beam)
        sort_by_node(todo, n_todo, other)
        done = 0
        counts[BELOW] = 0
        for level in range(n_levels):
            here, below = below, here
            n_here = counts[BELOW]
            counts[BELOW] = 0
            while done < n_todo and tree.depth[todo[done]["node"]] == level:
                if n_here == here.size:
                    here = grown(here, n_here)
                here[n_here] = todo[done]
                n_here += 1
                done += 1
            if other.size < n_here:
                other = np.empty(here.size, PLACE)
            sort_by_node(here, n_here, other)
            if beam > 0:
                n_here = keep_best_of_rows(here, n_here, level, sweep.expanded, beam)
            waiting, below = open_level(tree, loss, batch, here, n_here, waiting, below, counts, buffers)
    return sweep.alone
