"""Margins of siblings for a row: biases plus weights times values.

There are two ways to a row's margins, and the row alone decides which one is taken. The entries of a sparse row are
looked up among the columns of a group of siblings. For a dense row, all columns of the group are gone through.
"""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel, part
from xmlcore._kernels.lanes import (
    LANES,
    TILE_ROWS,
    WIDE,
    add_one_row,
    add_one_row_wide,
    add_rows,
    add_scaled,
    count_bits,
    same_or,
)
from xmlcore._kernels.plt_factors import log_probability
from xmlcore._kernels.plt_index import BITMAP, BLOCK, BLOCKS, COUNTED, EVERY, LOW, LOW_BITS
from xmlcore._kernels.plt_tree import GROUP_LIMIT, NARROW, TreeArrays, padded_size

MARGINS = GROUP_LIMIT + LANES  # Places for the margins of one row.
AT_ONCE = 128  # Number of entries of a row that are looked up together.
FOUND = AT_ONCE + 1  # One more: a place is written before it is known whether it counts.
UNFOLDED = 1 << 14  # Number of weights of a group that are used for all dense rows before the next: they stay cached.
DENSE_ROWS = 10 * TILE_ROWS  # Most dense rows at once.


class Scratch(NamedTuple):
    """Memory that the computation of margins writes to."""

    margins: np.ndarray  # float32 (MARGINS,): the result for one row
    found_at: np.ndarray  # uint32 (FOUND,): places of a row's columns among the group's, then where their pairs begin
    # uint32 (FOUND,): entries that have to be looked for in buckets, then where the pairs of a column end.
    found_end: np.ndarray
    found_value: np.ndarray  # float32 (FOUND,): the row's values of the columns that were found
    # For dense rows: float32, the weights of some columns of a group, and int32, these columns. An entry_child of a
    # damaged file may be too large for its group: there is room for it.
    weights: np.ndarray
    columns: np.ndarray


def compact_part(function):
    """Make a step that only compact trees take: it is not compiled for others."""
    made = part(function)
    made.is_needed = lambda kinds: kinds[0].types[TreeArrays._fields.index("entry_ptr")].dtype.bitwidth == 16
    return made


@kernel
def new_scratch():
    return Scratch(
        np.zeros(MARGINS, np.float32), np.empty(FOUND, np.uint32), np.empty(FOUND, np.uint32),
        np.empty(FOUND, np.float32), np.empty(UNFOLDED + GROUP_LIMIT, np.float32),
        np.empty(UNFOLDED // LANES, np.int32),
    )  # fmt: skip


@part
def row_margins(tree, g, x, row, scratch):
    """Write the margins of the children of group g for one row into ``scratch.margins``; return their number."""
    if x.dense_at[row] >= 0:
        return dense_row_margins(tree, g, x.dense, x.dense_at, row, row + 1, scratch.margins, scratch)
    return sparse_row_margins(tree, g, x, row, scratch)


@part
def root_log_probability(tree, loss, x, row, scratch):
    """Return the log of the root's own factor for a row: 0 unless the root has a classifier."""
    if tree.root_group < 0:
        return 0.0
    row_margins(tree, tree.root_group, x, row, scratch)
    return log_probability(scratch.margins[0], loss)


@part
def sparse_row_margins(tree, g, x, row, scratch):
    """Do the work of :func:`row_margins` for a sparse row."""
    # Entries are looked up ``AT_ONCE`` at a time, without branches, so that many reads from memory are under way at
    # once.
    n = tree.group_size[g]
    margins = scratch.margins
    for c in range(n):
        margins[c] = tree.bias[tree.group_first[g] + c]
    for c in range(n, padded_size(n)):
        margins[c] = -np.inf
    end = x.ptr[row + 1]
    is_dense = tree.dense_ptr[g + 1] > tree.dense_ptr[g]
    for start in range(x.ptr[row], end, AT_ONCE):
        hits = look_up(tree, g, x, start, min(start + AT_ONCE, end), scratch)
        if is_dense:
            add_dense_weights(tree, g, hits, scratch)
        else:
            add_pairs(tree, g, hits, scratch)
    return n


@part
def look_up(tree, g, x, start, end, scratch):
    """Look up entries ``start`` to ``end`` - 1 of ``x`` in group g's columns; return how many are found."""
    # Any larger column is looked for, in vain, in the empty last word or bucket of the index (see ``index_columns``).
    begin = tree.column_ptr[g]
    n_columns = tree.column_ptr[g + 1] - begin
    shift = tree.index_shift[g]
    hits = 0
    if shift == EVERY:
        for t in range(start, end):
            scratch.found_at[hits] = x.columns[t]
            scratch.found_value[hits] = x.values[t]
            hits += x.columns[t] < n_columns
        return hits
    if shift == BLOCKS:
        return look_up_blocks(tree, g, x, start, end, scratch)
    if shift == LOW:
        return look_up_low(tree, g, x, start, end, scratch)
    part = tree.index_at[g]
    words = (tree.index_at[g + 1] - part) >> 1 if shift == BITMAP else n_columns
    n_rare = 0
    for t in range(start, end):
        word = x.columns[t] >> 5
        is_rare = word >= words
        scratch.found_end[n_rare] = t - start
        n_rare += is_rare
        at = part + 2 * min(word, words - 1)
        bits = tree.index[at]
        bit = np.uint32(x.columns[t] & 31)
        scratch.found_at[hits] = tree.index[at + 1] + count_bits(bits & ((np.uint32(1) << bit) - np.uint32(1)))
        scratch.found_value[hits] = x.values[t]
        hits += (1 - is_rare) & (bits >> bit) & 1
    if shift == BITMAP:
        return hits
    starts = part + 2 * words
    last_bucket = tree.index_at[g + 1] - starts - 2
    for i in range(n_rare):
        t = start + np.int64(scratch.found_end[i])
        bucket = starts + min((x.columns[t] - 32 * words) >> shift, last_bucket)
        at = np.int64(tree.index[bucket])
        stop = np.int64(tree.index[bucket + 1])
        while at < stop and tree.columns[begin + at] < x.columns[t]:
            at += 1
        scratch.found_at[hits] = at
        scratch.found_value[hits] = x.values[t]
        hits += at < stop and tree.columns[begin + at] == x.columns[t]
    return hits


@part
def buckets_of(tree, g):
    """Return where, in the index of a compact tree, the buckets of a group begin: after the numbers of pairs."""
    is_dense = tree.dense_ptr[g + 1] > tree.dense_ptr[g]
    return tree.index_at[g] + (0 if is_dense else (tree.column_ptr[g + 1] - tree.column_ptr[g]) // COUNTED + 1)


@compact_part
def look_up_low(tree, g, x, start, end, scratch):
    """Do the work of :func:`look_up` for a group of which the lowest bits of columns are stored."""
    begin = tree.low_ptr[g]
    buckets = buckets_of(tree, g)
    last = tree.index_at[g + 1] - 2
    hits = 0
    for t in range(start, end):
        column = np.int64(x.columns[t])
        bucket = min(buckets + (column >> LOW_BITS), last)
        low = column & ((1 << LOW_BITS) - 1)
        at = np.int64(tree.index[bucket])
        size = np.int64(tree.index[bucket + 1]) - at
        is_there = size > 0
        while size > 1:
            half = size >> 1
            at += half if tree.columns[begin + at + half] <= low else 0
            size -= half
        scratch.found_at[hits] = at
        scratch.found_value[hits] = x.values[t]
        hits += is_there and tree.columns[begin + at] == low
    return hits


@compact_part
def look_up_blocks(tree, g, x, start, end, scratch):
    """Do the work of :func:`look_up` for a group whose columns are a bitmap in blocks."""
    begin = tree.bits_ptr[g]
    n_blocks = (tree.bits_ptr[g + 1] - begin) >> 2
    last = tree.column_ptr[g + 1] - tree.column_ptr[g] - 1
    hits = 0
    for t in range(start, end):
        block = x.columns[t] // BLOCK
        bit = x.columns[t] - block * BLOCK
        first = begin + 4 * min(block, n_blocks - 1)
        word = bit >> 5
        bits = tree.bits[first + 1 + word]
        shift = np.uint32(bit & 31)
        rank = np.int64(tree.bits[first]) + np.int64(count_bits(bits & ((np.uint32(1) << shift) - np.uint32(1))))
        rank += np.int64(word > 0) * np.int64(count_bits(tree.bits[first + 1]))
        rank += np.int64(word > 1) * np.int64(count_bits(tree.bits[first + 2]))
        scratch.found_at[hits] = min(rank, last)
        scratch.found_value[hits] = x.values[t]
        hits += np.int64(block < n_blocks) & np.int64(bits >> shift) & 1
    return hits


@compact_part
def first_pair(tree, g, at):
    """Return where the pairs of a group's column begin, counted from those of the group, in a compact tree."""
    before = tree.index[tree.index_at[g] + at // COUNTED]
    return np.int64(before) + np.int64(tree.entry_ptr[tree.entry_at[g] + at])


@part
def add_dense_weights(tree, g, hits, scratch):
    """Add the products of the found entries with a group's weights, one of every child for each column."""
    rows = tree.dense_ptr[g]
    scale = tree.scale[g]
    width = padded_size(tree.group_size[g])
    margins = scratch.margins
    for h in range(hits):
        v = scratch.found_value[h] * scale
        row = rows + np.int64(scratch.found_at[h]) * width
        if width <= NARROW:
            for c in range(width):
                margins[c] += v * np.float32(tree.dense[row + c])
        else:
            for c in range(0, width, LANES):
                add_scaled(margins, c, tree.dense, row + c, v)


@part
def add_pairs(tree, g, hits, scratch):
    """Add the products of the found entries with a group's weights, stored as pairs (child, weight)."""
    sparse = tree.sparse_ptr[g]
    entries = tree.entry_at[g]
    scale = tree.scale[g]
    is_compact = tree.entry_ptr.itemsize == 2
    for h in range(hits):
        at = np.int64(scratch.found_at[h])
        if is_compact:
            scratch.found_at[h] = first_pair(tree, g, at)
            scratch.found_end[h] = first_pair(tree, g, at + 1)
        else:
            scratch.found_at[h] = tree.entry_ptr[entries + at]
            scratch.found_end[h] = tree.entry_ptr[entries + at + 1]
    for h in range(hits):
        v = scratch.found_value[h] * scale
        for e in range(sparse + np.int64(scratch.found_at[h]), sparse + np.int64(scratch.found_end[h])):
            scratch.margins[tree.entry_child[e]] += v * np.float32(tree.entry_value[e])


@compact_part
def unfold_columns(tree, g, t0, t1, most, columns):
    """Write columns ``t0`` to ``t1`` - 1 of a group of a compact tree, at most ``most`` in damaged files, too."""
    shift = tree.index_shift[g]
    buckets = buckets_of(tree, g)
    bucket = buckets
    column = -1
    for t in range(t1):
        if shift == BLOCKS:
            column += 1
            while column < most:
                at = tree.bits_ptr[g] + column // BLOCK * 4 + 1 + (column % BLOCK >> 5)
                if at >= tree.bits_ptr[g + 1] or (tree.bits[at] >> np.uint32(column % BLOCK & 31)) & 1:
                    break
                column += 1
        elif shift == LOW and t >= t0:
            while tree.index[bucket + 1] <= t:
                bucket += 1
            column = ((bucket - buckets) << LOW_BITS) + np.int64(tree.columns[tree.low_ptr[g] + t])
        elif t >= t0:
            column = t
        if t >= t0:
            columns[t - t0] = min(column, most)


@part
def unfold(tree, g, t0, t1, lanes, weights):
    """Write the weights of columns ``t0`` to ``t1`` - 1 of group g, ``lanes`` positions per column, 0 for none."""
    for i in range((t1 - t0) * lanes):
        weights[i] = 0.0
    width = padded_size(tree.group_size[g])
    stored = tree.dense_ptr[g]
    is_dense = tree.dense_ptr[g + 1] > stored
    sparse = tree.sparse_ptr[g]
    scale = tree.scale[g]
    is_compact = tree.entry_ptr.itemsize == 2
    for t in range(t0, t1):
        to = (t - t0) * lanes
        if is_dense:
            for c in range(width):
                weights[to + c] = scale * np.float32(tree.dense[stored + t * width + c])
        else:
            at = tree.entry_at[g] + t
            begin = first_pair(tree, g, t) if is_compact else np.int64(tree.entry_ptr[at])
            stop = first_pair(tree, g, t + 1) if is_compact else np.int64(tree.entry_ptr[at + 1])
            for e in range(sparse + begin, sparse + stop):
                weights[to + np.int64(tree.entry_child[e])] = scale * np.float32(tree.entry_value[e])


@part
def begin_margins(tree, g, rows, lanes, out):
    """Write the biases of a group's children, minus infinity in other lanes, as the margins of some rows."""
    size = tree.group_size[g]
    for i in range(rows):
        for c in range(lanes):
            out[i * MARGINS + c] = tree.bias[tree.group_first[g] + c] if c < size else -np.inf


# Compiled without reference counting, as inlined parts are, but compiled once: it is long, and has five callers.
@kernel(_nrt=False)
def dense_row_margins(tree, g, dense, places, first, stop, out, scratch):
    """Write the margins of a group's children for some dense rows into ``out``; return the group's size."""
    # All columns of the group are gone through in their order, whether a row has them or not, without looking anything
    # up. The weights of some columns are used for all rows, in tiles of rows, before those of the next columns. Weights
    # that are not stored as sixteen or more per column, and those of a compact tree, are unfolded first. A row's
    # margins are the same bits whichever rows are beside it: in every case a child's products are added one by one, in
    # the order of the columns.
    # ``places[first:stop]`` are places in ``dense``, padded to whole tiles by repeating the last one.
    size = tree.group_size[g]
    width = padded_size(size)
    lanes = max(width, LANES)
    rows = stop - first
    is_one = rows == 1
    while not is_one and rows % TILE_ROWS > 0:
        places[first + rows] = places[stop - 1]
        rows += 1
    begin_margins(tree, g, rows, lanes, out)
    begin = tree.column_ptr[g]
    n_columns = tree.column_ptr[g + 1] - begin
    stored = tree.dense_ptr[g]
    is_dense = tree.dense_ptr[g + 1] > stored
    is_compact = tree.entry_ptr.itemsize == 2
    if is_one and not is_compact and (not is_dense or width <= NARROW):
        add_one_by_one(tree, g, dense, places[first], out)
        return size
    step = UNFOLDED // lanes
    for t0 in range(0, n_columns, step):
        t1 = min(t0 + step, n_columns)
        if is_dense and width == lanes and not is_compact:
            tile = same_or(tree.dense, scratch.weights)
            tile_at = stored + t0 * width
        else:
            unfold(tree, g, t0, t1, lanes, scratch.weights)
            tile = scratch.weights
            tile_at = 0
        columns = same_or(tree.columns, scratch.columns)
        start = 0 if is_compact else begin + t0
        end = start + t1 - t0
        if is_compact:
            unfold_columns(tree, g, t0, t1, dense.shape[1] - 1, scratch.columns)
        c = 0
        while c < lanes:
            if not is_one:
                for i in range(0, rows, TILE_ROWS):
                    add_rows(
                        out, i * MARGINS + c, MARGINS, tile, tile_at + c, lanes, columns, start, end, dense, places,
                        first + i,
                    )  # fmt: skip
                c += LANES
            elif c + WIDE <= lanes:
                add_one_row_wide(out, c, 0, tile, tile_at + c, lanes, columns, start, end, dense, places, first)
                c += WIDE
            else:
                add_one_row(out, c, 0, tile, tile_at + c, lanes, columns, start, end, dense, places, first)
                c += LANES
    return size


@part
def add_one_by_one(tree, g, dense, place, out):
    """Add the products of one dense row to its margins, for a group that stores pairs or has few children."""
    begin = tree.column_ptr[g]
    n_columns = tree.column_ptr[g + 1] - begin
    stored = tree.dense_ptr[g]
    if tree.dense_ptr[g + 1] > stored:
        width = padded_size(tree.group_size[g])
        for c in range(width):
            total = out[c]
            for t in range(n_columns):
                total += dense[place, tree.columns[begin + t]] * np.float32(tree.dense[stored + t * width + c])
            out[c] = total
        return
    sparse = tree.sparse_ptr[g]
    for t in range(n_columns):
        value = dense[place, tree.columns[begin + t]]
        at = tree.entry_at[g] + t
        for e in range(sparse + np.int64(tree.entry_ptr[at]), sparse + np.int64(tree.entry_ptr[at + 1])):
            out[tree.entry_child[e]] += value * np.float32(tree.entry_value[e])
