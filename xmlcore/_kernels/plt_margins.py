"""Margins of siblings for a row."""

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.lanes import (
    LANES,
    TILE_ROWS,
    WIDE,
    add_one_row,
    add_one_row_wide,
    add_rows,
    add_scaled,
    count_bits,
)
from xmlcore._kernels.plt_factors import log_probability
from xmlcore._kernels.plt_index import BITMAP, EVERY
from xmlcore._kernels.plt_tree import GROUP_LIMIT, NARROW, row_width

SCRATCH = GROUP_LIMIT + LANES
AT_ONCE = 128  # entries of a row that are looked up together
FOUND = AT_ONCE + 1  # one more: a place is written before it is known whether it counts
PART = 1 << 14  # weights of a group that rows laid out are multiplied with before the next: they stay in the cache
LAID_ROWS = 10 * TILE_ROWS  # at once, at most


@inlined
def group_margins(
    g, x_columns, x_values, start, end, margins, found_at, found_end, found_value,
    bias, group_first, group_size, column_ptr, columns, dense_ptr, dense, sparse_ptr, entry_at, entry_ptr,
    entry_child, entry_value, index_shift, index_at, index,
):  # fmt: skip
    """``margins[:group size]``: of the group's children for one row; returns the group's size.

    The lanes that the last sixteen do not fill are minus infinity. ``found_*``, (FOUND,), are scratch: the places of
    the row's columns among the group's, where their pairs end, and the row's values there; before that, ``found_end``
    holds the entries that have to be looked for in buckets. The rest of the arguments are fields of
    :class:`TreeArrays`, which the callers read once: reading an array out of a tuple counts a reference to it.

    The row's entries are looked up in passes, without branches where that can be, so that many reads from memory are
    under way at once. Every index has an empty last word, or bucket, in which larger columns are looked for in vain.
    """
    n = group_size[g]
    width = row_width(n)
    first = group_first[g]
    for c in range(n):
        margins[c] = bias[first + c]
    for c in range(n, width):
        margins[c] = -np.inf
    begin = column_ptr[g]
    n_columns = column_ptr[g + 1] - begin
    shift = index_shift[g]
    part = index_at[g]
    words = (index_at[g + 1] - part) >> 1 if shift == BITMAP else n_columns
    rows = dense_ptr[g]
    is_dense = dense_ptr[g + 1] > rows
    sparse = sparse_ptr[g]
    entries = entry_at[g]
    for t0 in range(start, end, AT_ONCE):
        t1 = min(t0 + AT_ONCE, end)
        hits = 0
        if shift == EVERY:
            for t in range(t0, t1):
                found_at[hits] = x_columns[t]
                found_value[hits] = x_values[t]
                hits += x_columns[t] < n_columns
        else:
            n_rare = 0
            for t in range(t0, t1):
                word = x_columns[t] >> 5
                is_rare = word >= words
                found_end[n_rare] = t - t0
                n_rare += is_rare
                at = part + 2 * min(word, words - 1)
                bits = index[at]
                bit = np.uint32(x_columns[t] & 31)
                found_at[hits] = index[at + 1] + count_bits(bits & ((np.uint32(1) << bit) - np.uint32(1)))
                found_value[hits] = x_values[t]
                hits += (1 - is_rare) & (bits >> bit) & 1
            if shift != BITMAP:
                starts = part + 2 * words
                last_bucket = index_at[g + 1] - starts - 2
                for i in range(n_rare):
                    t = t0 + np.int64(found_end[i])
                    bucket = starts + min((x_columns[t] - 32 * words) >> shift, last_bucket)
                    at = np.int64(index[bucket])
                    stop = np.int64(index[bucket + 1])
                    while at < stop and columns[begin + at] < x_columns[t]:
                        at += 1
                    found_at[hits] = at
                    found_value[hits] = x_values[t]
                    hits += at < stop and columns[begin + at] == x_columns[t]
        if is_dense:
            for h in range(hits):
                v = found_value[h]
                row = rows + np.int64(found_at[h]) * width
                if width <= NARROW:
                    for c in range(width):
                        margins[c] += v * dense[row + c]
                else:
                    for c in range(0, width, LANES):
                        add_scaled(margins, c, dense, row + c, v)
        else:
            for h in range(hits):
                at = entries + np.int64(found_at[h])
                found_at[h] = entry_ptr[at]
                found_end[h] = entry_ptr[at + 1]
            for h in range(hits):
                v = found_value[h]
                for e in range(sparse + np.int64(found_at[h]), sparse + np.int64(found_end[h])):
                    margins[entry_child[e]] += v * entry_value[e]
    return n


@inlined
def unfold(tree, g, t0, t1, lanes, part):
    """Write the weights of a group's columns ``t0`` to ``t1`` to ``part``, in ``lanes`` places each, rest 0."""
    for i in range((t1 - t0) * lanes):
        part[i] = 0.0
    width = row_width(tree.group_size[g])
    stored = tree.dense_ptr[g]
    is_dense = tree.dense_ptr[g + 1] > stored
    sparse = tree.sparse_ptr[g]
    for t in range(t0, t1):
        to = (t - t0) * lanes
        if is_dense:
            for c in range(width):
                part[to + c] = tree.dense[stored + t * width + c]
        else:
            at = tree.entry_at[g] + t
            for e in range(sparse + np.int64(tree.entry_ptr[at]), sparse + np.int64(tree.entry_ptr[at + 1])):
                part[to + np.int64(tree.entry_child[e])] = tree.entry_value[e]


@kernel(_nrt=False)  # as inlined parts, but compiled once: it is long, and its callers are five
def laid_margins(tree, g, laid, places, first, last, out, part):
    """Margins of a group's children for rows that are laid out, what :func:`group_margins` is for one that is not.

    All columns of the group are gone through in their order, whether the row has them or not, and without looking
    anything up. The weights of some columns are taken at a time, for all rows in tiles; where they are not stored as
    sixteen or more per column they are unfolded first. Of one row alone they are read as they are.

    Parameters
    ----------
    laid : float32, see :func:`take_and_lay_out`
    places : int64
        ``places[first:last]``: which of its rows. Of more than one, tiles of TILE_ROWS are made: up to the next
        multiple the last is written again.
    out : float32
        Row i's margins are written to ``out[i * SCRATCH:][:row_width(group size)]``, as :func:`group_margins` does.
        There must be room for whole tiles.
    part : float32 (PART,), scratch

    Returns
    -------
    int
        The group's size.

    Notes
    -----
    O(columns * children) time for each row, some 0.02 ns for each product: 3 to 7 microseconds for 5,000 columns and 64
    children, where the entries of such a row take 70 to be looked up. A row alone takes some five times as long, as
    weights are read for it only. A row's margins are the same bits whichever rows are beside it: every way through
    here adds a child's products one by one, in the order of the columns.
    """
    size = tree.group_size[g]
    width = row_width(size)
    lanes = max(width, LANES)
    node = tree.group_first[g]
    rows = last - first
    is_one = rows == 1
    while rows % TILE_ROWS > 0 and not is_one:
        places[first + rows] = places[last - 1]
        rows += 1
    for i in range(rows):
        for c in range(lanes):
            out[i * SCRATCH + c] = tree.bias[node + c] if c < size else -np.inf
    begin = tree.column_ptr[g]
    n_columns = tree.column_ptr[g + 1] - begin
    stored = tree.dense_ptr[g]
    is_dense = tree.dense_ptr[g + 1] > stored
    columns = tree.columns
    if is_one and not is_dense:
        sparse = tree.sparse_ptr[g]
        for t in range(n_columns):
            value = laid[places[first], columns[begin + t]]
            at = tree.entry_at[g] + t
            for e in range(sparse + np.int64(tree.entry_ptr[at]), sparse + np.int64(tree.entry_ptr[at + 1])):
                out[tree.entry_child[e]] += value * tree.entry_value[e]
        return size
    if is_one and width <= NARROW:
        for c in range(width):
            total = out[c]
            for t in range(n_columns):
                total += laid[places[first], columns[begin + t]] * tree.dense[stored + t * width + c]
            out[c] = total
        return size
    step = PART // lanes
    for t0 in range(0, n_columns, step):
        t1 = min(t0 + step, n_columns)
        if is_dense and width == lanes:
            weights = tree.dense
            weights_at = stored + t0 * width
        else:
            unfold(tree, g, t0, t1, lanes, part)
            weights = part
            weights_at = 0
        c = 0
        while c < lanes:
            if not is_one:
                for i in range(0, rows, TILE_ROWS):
                    add_rows(
                        out, i * SCRATCH + c, SCRATCH, weights, weights_at + c, lanes, columns, begin + t0, begin + t1,
                        laid, places, first + i,
                    )  # fmt: skip
                c += LANES
            elif c + WIDE <= lanes:
                add_one_row_wide(
                    out, c, 0, weights, weights_at + c, lanes, columns, begin + t0, begin + t1, laid, places, first
                )
                c += WIDE
            else:
                add_one_row(
                    out, c, 0, weights, weights_at + c, lanes, columns, begin + t0, begin + t1, laid, places, first
                )
                c += LANES
    return size


@kernel
def root_log_probability(
    tree, loss, x_columns, x_values, start, end, laid_at, laid, r, margins, found_at, found_end, found_value, part
):
    """Log of the root's own factor for row r, when it has one."""
    g = tree.root_group
    if laid_at[r] >= 0:
        laid_margins(tree, g, laid, laid_at, r, r + 1, margins, part)
    else:
        group_margins(
            g, x_columns, x_values, start, end, margins, found_at, found_end, found_value,
            tree.bias, tree.group_first, tree.group_size, tree.column_ptr, tree.columns, tree.dense_ptr, tree.dense,
            tree.sparse_ptr, tree.entry_at, tree.entry_ptr, tree.entry_child, tree.entry_value, tree.index_shift,
            tree.index_at, tree.index,
        )  # fmt: skip
    return log_probability(margins[0], loss)
