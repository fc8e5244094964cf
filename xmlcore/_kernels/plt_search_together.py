"""The k most probable labels of many rows, which go down the tree together.

A model that is larger than the processor's caches is read from memory once for all rows that open a node.

To *open* a node for a row is to compute the scores of its children. A *pair* is a row, a node that the row may open,
and the score of the node: the logarithm of its probability. A *sweep* goes down the tree once and opens the most
promising pairs; the others wait for the next sweep. A row is *given up* when there are too many pairs: the caller then
searches it without other rows, by :func:`xmlcore._kernels.plt_search.search_best_first`.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel, part
from xmlcore._kernels.arrays import enlarged
from xmlcore._kernels.plt_ensemble import member_at
from xmlcore._kernels.plt_margins import (
    DENSE_ROWS,
    MARGINS,
    Scratch,
    dense_row_margins,
    new_scratch,
    root_log_probability,
    sparse_row_margins,
)
from xmlcore._kernels.plt_rows import RowsInColumns
from xmlcore._kernels.plt_search import Children, Found, new_children, offer_children
from xmlcore._kernels.plt_tree import GROUP_LIMIT, padded_size
from xmlcore._kernels.sorting import stable_order

# Rows that are searched together open nodes whose probability is at least a quarter of that of the row's best node.
BAND = math.log(4.0)
RADIX_BITS = 11
RADIX = 1 << RADIX_BITS
PAIR = np.dtype([("score", np.float64), ("row", np.int32), ("node", np.int32)])
WAITING = 0  # Index in the array ``counts`` of the number of pairs that wait for the next sweep.
NEXT_LEVEL = 1  # Index in ``counts`` of the number of pairs on the next level that this sweep opens.


class LevelSweep(NamedTuple):
    """The state of each row during the search."""

    n_labels: np.ndarray  # int64 (n,): labels found
    worst: np.ndarray  # float64 (n,): the score that a label must reach to be among the row's best
    floor: np.ndarray  # float64 (n,): this sweep opens the row's nodes of at least this score
    n_pairs: np.ndarray  # int64 (n,): number of pairs of the row, waiting or opened
    given_up: np.ndarray  # bool (n,): whether the row is given up
    expanded: np.ndarray  # int32 (n, levels): nodes opened at each depth; (n, 0) without a beam


class Batch(NamedTuple):
    """The rows that are searched together, and their results."""

    gains: np.ndarray  # see plt_search
    x: RowsInColumns
    rows: np.ndarray  # int64 (n,): the index in ``x`` of each row
    found: Found
    sweep: LevelSweep
    max_pairs: int  # Number of pairs of all rows above which rows are given up:
    share: int  # those that have more pairs than this.


class Buffers(NamedTuple):
    """Memory for an opened node."""

    scratch: Scratch
    children: Children
    dense_positions: np.ndarray  # int64 (DENSE_ROWS,): where dense rows stand in Rows.dense
    margins: np.ndarray  # float32 (DENSE_ROWS * MARGINS,): of several dense rows


@kernel
def sort_by_node(pairs, count, other):
    """Sort the first ``count`` pairs by node, in place, and keep the order within a node; ``other`` is scratch."""
    if count == 0:
        return
    least = pairs[0]["node"]
    most = least
    for i in range(count):
        least = min(least, pairs[i]["node"])
        most = max(most, pairs[i]["node"])
    starts = np.empty(RADIX + 1, np.int64)
    shift = 0
    while (most - least) >> shift > 0:
        starts[:] = 0
        for i in range(count):
            other[i] = pairs[i]
            starts[(((pairs[i]["node"] - least) >> shift) & (RADIX - 1)) + 1] += 1
        for b in range(RADIX):
            starts[b + 1] += starts[b]
        for i in range(count):
            b = ((other[i]["node"] - least) >> shift) & (RADIX - 1)
            pairs[starts[b]] = other[i]
            starts[b] += 1
        shift += RADIX_BITS


@kernel
def keep_best_of_rows(pairs, count, level, expanded, beam):
    """Keep the best pairs of each row on one level, as many as the beam still allows, and count them as expanded."""
    n_rows = expanded.shape[0]
    ptr = np.zeros(n_rows + 1, np.int64)
    for i in range(count):
        ptr[pairs[i]["row"] + 1] += 1
    for r in range(n_rows):
        ptr[r + 1] += ptr[r]
    order = np.empty(count, np.int64)
    fill = ptr.copy()
    for i in range(count):
        order[fill[pairs[i]["row"]]] = i
        fill[pairs[i]["row"]] += 1
    stays = np.ones(count, np.bool_)
    for r in range(n_rows):
        pairs_of_row = order[ptr[r] : ptr[r + 1]]
        room = beam - expanded[r, level]
        if pairs_of_row.size > room:
            scores = np.empty(pairs_of_row.size, np.float64)
            for i in range(pairs_of_row.size):
                scores[i] = -pairs[pairs_of_row[i]]["score"]
            best_first = stable_order(scores)
            for i in range(room, pairs_of_row.size):
                stays[pairs_of_row[best_first[i]]] = False
        expanded[r, level] += min(room, pairs_of_row.size)
    kept = 0
    for i in range(count):
        if stays[i]:
            pairs[kept] = pairs[i]
            kept += 1
    return kept


@kernel
def choose_pairs(waiting, count, todo, sweep, depth, beam):
    """Move the pairs that the next sweep opens to ``todo``; return how many still wait, and how many it opens."""
    # It opens the best pair of each row, and those within ``BAND`` of it. Pairs are dropped that cannot lead to better
    # labels, those of rows that are given up, and those on a level where the row has opened as many nodes as the beam
    # allows.
    sweep.floor[:] = -np.inf
    sweep.n_pairs[:] = 0
    kept = 0
    for i in range(count):
        r = waiting[i]["row"]
        score = waiting[i]["score"]
        if sweep.given_up[r] or score < sweep.worst[r]:
            continue
        if beam > 0 and sweep.expanded[r, depth[waiting[i]["node"]]] == beam:
            continue
        waiting[kept] = waiting[i]
        kept += 1
        sweep.n_pairs[r] += 1
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
def is_done(pair, batch):
    """Return whether a pair is not opened, because its node cannot lead to better labels or its row is given up."""
    r = pair["row"]
    return pair["score"] < batch.sweep.worst[r] or batch.sweep.given_up[r]


@part
def margins_of_dense_rows(tree, g, batch, this_level, begin, end, buffers):
    """Write the margins of group g for the dense rows of some pairs into ``buffers.margins``."""
    n = 0
    first = 0
    for at in range(begin, end):
        position = batch.x.dense_at[batch.rows[this_level[at]["row"]]]
        if position >= 0 and not is_done(this_level[at], batch):
            buffers.dense_positions[n] = position
            n += 1
    if n > 0:
        places = buffers.dense_positions
        dense_row_margins(tree, g, batch.x.dense, places, first, n, buffers.margins, buffers.scratch)


@part
def open_group(tree, g, loss, batch, this_level, begin, end, n_this_level, waiting, next_level, counts, buffers):
    """Offer the leaves of a group to the rows of some pairs, and add inner nodes to ``next_level`` or ``waiting``."""
    sweep = batch.sweep
    margins = buffers.scratch.margins
    margins_of_dense_rows(tree, g, batch, this_level, begin, end, buffers)
    n_dense = 0
    for at in range(begin, end):
        if is_done(this_level[at], batch):
            continue
        r = np.int64(this_level[at]["row"])
        row = batch.rows[r]
        if batch.x.dense_at[row] >= 0:
            for c in range(padded_size(tree.group_size[g])):
                margins[c] = buffers.margins[n_dense * MARGINS + c]
            n_dense += 1
        else:
            sparse_row_margins(tree, g, batch.x, row, buffers.scratch)
        score = this_level[at]["score"]
        sweep.n_labels[r], n_inner = offer_children(
            tree, batch.gains, g, loss, margins, score, r, sweep.n_labels[r], batch.found, buffers.children
        )
        k = batch.found.labels.shape[1]
        if sweep.n_labels[r] == k:
            sweep.worst[r] = batch.found.scores[r, k - 1]
        sweep.n_pairs[r] += n_inner
        if sweep.n_pairs[r] > batch.share and counts[WAITING] + n_this_level + counts[NEXT_LEVEL] > batch.max_pairs:
            sweep.given_up[r] = True
            continue
        for c in range(n_inner):
            score = buffers.children.inner_scores[c]
            if score >= sweep.floor[r]:
                to = next_level
                which = NEXT_LEVEL
            else:
                to = waiting
                which = WAITING
            to[counts[which]]["row"] = r
            to[counts[which]]["node"] = buffers.children.inner[c]
            to[counts[which]]["score"] = score
            counts[which] += 1


@kernel
def open_level(tree, loss, batch, this_level, n_this_level, waiting, next_level, counts, buffers):
    """Open some pairs, sorted by node; return ``waiting`` and ``next_level``, or longer arrays in their place."""
    i = 0
    while i < n_this_level:
        v = this_level[i]["node"]
        stop = i + 1
        while stop < n_this_level and this_level[stop]["node"] == v:
            stop += 1
        for g in range(tree.group_ptr[v], tree.group_ptr[v + 1]):
            for begin in range(i, stop, DENSE_ROWS):
                end = min(begin + DENSE_ROWS, stop)
                room = (end - begin) * tree.group_size[g]
                while counts[WAITING] + room > waiting.size:
                    waiting = enlarged(waiting, counts[WAITING], 2 * waiting.size)
                while counts[NEXT_LEVEL] + room > next_level.size:
                    next_level = enlarged(next_level, counts[NEXT_LEVEL], 2 * next_level.size)
                open_group(
                    tree, g, loss, batch, this_level, begin, end, n_this_level, waiting, next_level, counts, buffers
                )
        i = stop
    return waiting, next_level


@kernel
def search_together(trees, loss, x, rows, beam, max_pairs, out_labels, out_scores):
    """Find what :func:`search_best_first` finds, for many rows at once; return which rows were given up."""
    # The rows go down the tree together, level by level, so the weights of a node are read from memory once. But a
    # single sweep would open nodes that are beaten by labels found later. So each sweep opens only nodes that are
    # nearly as good as the best one that the row has left, down to a quarter of its probability (``BAND``). The others
    # wait for the next sweep, and for better labels. This opens some 5 to 20 % more nodes than a search for each row.
    # Results are those of the search for each row, and so are the nodes that a beam opens: a sweep opens better nodes
    # than the next one, and all nodes of a level are there when the beam chooses among them. Both rely on nodes being
    # numbered level by level. Where there are more than ``max_pairs`` pairs, a row that has more than its share of them
    # is given up: its results are not complete.
    tree, _, gains = member_at(trees, 0)
    n_rows = rows.size
    n_levels = tree.depth[-1] + 1
    sweep = LevelSweep(
        np.zeros(n_rows, np.int64), np.full(n_rows, -np.inf), np.empty(n_rows, np.float64), np.empty(n_rows, np.int64),
        np.zeros(n_rows, np.bool_), np.zeros((n_rows, n_levels if beam > 0 else 0), np.int32),
    )  # fmt: skip
    batch = Batch(gains, x, rows, Found(out_labels, out_scores), sweep, max_pairs, max_pairs // max(1, n_rows))
    buffers = Buffers(
        new_scratch(), new_children(), np.empty(DENSE_ROWS, np.int64), np.empty(DENSE_ROWS * MARGINS, np.float32)
    )
    waiting = np.empty(2 * n_rows + GROUP_LIMIT, PAIR)
    for r in range(n_rows):
        waiting[r]["row"] = r
        waiting[r]["node"] = 0
        waiting[r]["score"] = root_log_probability(tree, loss, x, rows[r], buffers.scratch)
        if gains.size > 0:
            waiting[r]["score"] += gains[0]
    todo = np.empty(waiting.size, PAIR)
    this_level = np.empty(waiting.size, PAIR)
    next_level = np.empty(waiting.size, PAIR)
    other = np.empty(waiting.size, PAIR)
    counts = np.zeros(2, np.int64)
    counts[WAITING] = n_rows
    while counts[WAITING] > 0:
        if todo.size < waiting.size:
            todo = np.empty(waiting.size, PAIR)
            other = np.empty(waiting.size, PAIR)
        counts[WAITING], n_todo = choose_pairs(waiting, counts[WAITING], todo, sweep, tree.depth, beam)
        sort_by_node(todo, n_todo, other)
        done = 0
        counts[NEXT_LEVEL] = 0
        for level in range(n_levels):
            this_level, next_level = next_level, this_level
            n_this_level = counts[NEXT_LEVEL]
            counts[NEXT_LEVEL] = 0
            while done < n_todo and tree.depth[todo[done]["node"]] == level:
                if n_this_level == this_level.size:
                    this_level = enlarged(this_level, n_this_level, 2 * this_level.size)
                this_level[n_this_level] = todo[done]
                n_this_level += 1
                done += 1
            if other.size < n_this_level:
                other = np.empty(this_level.size, PAIR)
            sort_by_node(this_level, n_this_level, other)
            if beam > 0:
                n_this_level = keep_best_of_rows(this_level, n_this_level, level, sweep.expanded, beam)
            waiting, next_level = open_level(
                tree, loss, batch, this_level, n_this_level, waiting, next_level, counts, buffers
            )
    return sweep.given_up
