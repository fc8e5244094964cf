"""Label trees as flat arrays: which rows a node is trained on, and the search for labels.

Nodes are numbered so that the children of a node have consecutive ids and every parent comes before its children;
node 0 is the root. The classifiers of siblings are kept in groups of at most 256 consecutive siblings. A group's
``columns[column_ptr[g]:column_ptr[g + 1]]`` are the columns with a weight, ascending; a group in which many of the
possible weights are there keeps a row of them for every column (``dense``), another one only those that are there, as
(child, value) pairs.

A column is a feature that occurs in the training rows, and the most frequent feature is column 0: what most rows look
up lies side by side. Searches take rows of columns, as :func:`take_and_lay_out` gives them. There are two ways to a
row's margins, and the row alone decides which: the entries of a sparse row are looked up among a group's columns
(:func:`group_margins`); a row that has a good part of all columns is laid out, one value per column, and goes through
the columns of the group (:func:`laid_margins`).
"""

import math
from typing import NamedTuple

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
    lane_operation,
)
from xmlcore._kernels.siblings import LOGISTIC, NARROW, row_width

GROUP_LIMIT = 256  # children are stored as uint8 within their group
SCRATCH = GROUP_LIMIT + LANES
SELECT_LIMIT = 64  # more labels than these are not selected by margin first
# Scores decide, margins only rule out. Where a factor is so near to 1 that sums of logarithms may be equal by rounding,
# a larger margin is no reason.
SURE_LOGISTIC = 20.0
SURE_HINGE = 0.999
NEAR = 1e-3
HAIR = 1e-12

BITMAP = -1  # how a group's columns are found, where it is not by a bitmap and buckets, see index_columns
EVERY = -2
BITMAP_WORDS = 3  # of four bytes, for each column, at most
AT_ONCE = 128  # entries of a row that are looked up together
FOUND = AT_ONCE + 1  # one more: a place is written before it is known whether it counts
PART = 1 << 14  # weights of a group that rows laid out are multiplied with before the next: they stay in the cache
LAID_ROWS = 10 * TILE_ROWS  # at once, at most
ZONES = 8
BAND = math.log(4.0)  # rows that are searched together open nodes down to a quarter of the best one that waits
RADIX_BITS = 11
RADIX = 1 << RADIX_BITS
PLACE = np.dtype([("score", np.float64), ("row", np.int32), ("node", np.int32)])  # a node that a row may open


class TreeArrays(NamedTuple):
    """A fitted tree, flat. n nodes, g groups, F (group, column) pairs."""

    parent: np.ndarray  # int32 (n,), -1 for the root
    label: np.ndarray  # int32 (n,), -1 for inner nodes
    bias: np.ndarray  # float32 (n,), may be infinite: a factor that is always 0 or 1
    group_ptr: np.ndarray  # int64 (n + 1,), the groups of a node's children
    group_first: np.ndarray  # int32 (g,), first child
    group_size: np.ndarray  # int32 (g,)
    column_ptr: np.ndarray  # int64 (g + 1,)
    columns: np.ndarray  # int32 (F,)
    dense_ptr: np.ndarray  # int64 (g + 1,), the group's rows of row_width(size) values; empty for a sparse group
    dense: np.ndarray  # float32
    sparse_ptr: np.ndarray  # int64 (g + 1,), the group's pairs; empty for a dense group
    entry_at: np.ndarray  # int64 (g + 1,), the group's part of entry_ptr: one more than its columns, or nothing
    entry_ptr: np.ndarray  # uint32, where each column's pairs start, counted from sparse_ptr[g]
    entry_child: np.ndarray  # uint8 (pairs,)
    entry_value: np.ndarray  # float32 (pairs,)
    # Where to find a column, see index_columns.
    index_shift: np.ndarray  # int32 (g,)
    index_at: np.ndarray  # int64 (g + 1,)
    index: np.ndarray  # uint32
    depth: np.ndarray  # int32 (n,)
    root_group: int  # the group of the root's own factor, -1 when that is 1


@kernel
def node_rows(indptr, indices, leaf_of_label, parent):
    """Rows that have a label under each node: z_v = 1.

    Parameters
    ----------
    indptr, indices : CSR of Y
    leaf_of_label : int32 (L,)
    parent : int32 (n_nodes,), -1 for the root

    Returns
    -------
    ptr : int64 (n_nodes + 1,)
    rows : int32, ascending within a node

    Notes
    -----
    O(labels * depth) time.
    """
    n_nodes = parent.size
    ptr = np.zeros(n_nodes + 1, np.int64)
    seen = np.full(n_nodes, -1, np.int32)
    for i in range(indptr.size - 1):
        for t in range(indptr[i], indptr[i + 1]):
            v = leaf_of_label[indices[t]]
            while v >= 0 and seen[v] != i:
                seen[v] = i
                ptr[v + 1] += 1
                v = parent[v]
    for v in range(n_nodes):
        ptr[v + 1] += ptr[v]
    rows = np.empty(ptr[n_nodes], np.int32)
    fill = ptr[:-1].copy()
    seen[:] = -1
    for i in range(indptr.size - 1):
        for t in range(indptr[i], indptr[i + 1]):
            v = leaf_of_label[indices[t]]
            while v >= 0 and seen[v] != i:
                seen[v] = i
                rows[fill[v]] = i
                fill[v] += 1
                v = parent[v]
    return ptr, rows


@kernel
def index_layout(column_ptr, columns):
    """How each group's columns are found, and how long its part of the index is: see :func:`index_columns`.

    Returns
    -------
    index_shift : int32 (g,)
    index_at : int64 (g + 1,)
    """
    n_groups = column_ptr.size - 1
    index_shift = np.zeros(n_groups, np.int32)
    index_at = np.zeros(n_groups + 1, np.int64)
    for g in range(n_groups):
        count = column_ptr[g + 1] - column_ptr[g]
        if count > 0:
            last = np.int64(columns[column_ptr[g + 1] - 1])
            if last == count - 1:
                index_shift[g] = EVERY
            elif 2 * (last // 32 + 1) <= BITMAP_WORDS * count:
                index_shift[g] = BITMAP
                index_at[g + 1] = 2 * (last // 32 + 2)
            else:
                rest = last - 32 * count
                while rest >> index_shift[g] >= count:
                    index_shift[g] += 1
                index_at[g + 1] = 2 * count + (rest >> index_shift[g]) + 3
        else:
            index_shift[g] = EVERY
        index_at[g + 1] += index_at[g]
    return index_shift, index_at


@kernel
def index_columns(column_ptr, columns, index_shift, index_at, index):
    """Where a group's columns are found: by a bitmap with ranks where they are many, in buckets where they are few.

    Parameters
    ----------
    column_ptr : int64 (g + 1,)
    columns : int32 (F,), ascending within a group
    index_shift : int32 (g,)
        EVERY where a group has all columns up to its last, which takes no index; BITMAP; or the shift of its buckets.
    index_at : int64 (g + 1,)
    index : uint32, written
        Of group g with n columns, ``part = index[index_at[g]:index_at[g + 1]]``. Bitmap: bit b of ``part[2 * w]`` says
        whether column 32 w + b is there, ``part[2 * w + 1]`` how many come before 32 w. With a shift the bitmap ends
        after n words, at column h = 32 n, and the rarer features are in ``start = part[2 * n:]``, in at most n
        buckets: that of column c is b = (c - h) >> shift and holds ``columns[column_ptr[g]:][start[b]:start[b + 1]]``.
        The last word, or bucket, is empty: any larger column is looked for there.

    Notes
    -----
    O(F) time, at most some 12 bytes per column.
    """
    for g in range(index_shift.size):
        shift = index_shift[g]
        if shift == EVERY:
            continue
        part = index[index_at[g] : index_at[g + 1]]
        begin = column_ptr[g]
        at = begin
        end = column_ptr[g + 1]
        words = part.size // 2 if shift == BITMAP else end - begin
        for w in range(words):
            part[2 * w + 1] = at - begin
            bits = np.uint32(0)
            while at < end and columns[at] >> 5 == w:
                bits |= np.uint32(1) << np.uint32(columns[at] & 31)
                at += 1
            part[2 * w] = bits
        if shift != BITMAP:
            for b in range(part.size - 2 * words):
                while at < end and (columns[at] - 32 * words) >> shift < b:
                    at += 1
                part[2 * words + b] = at - begin


@inlined
def zone(column):
    """Which of eight zones a column is in, 0 with the most frequent features; each is four times as long."""
    return (
        0 + (column >= 32) + (column >= 128) + (column >= 512) + (column >= 2048) + (column >= 8192) + (column >= 32768)
        + (column >= 131072)
    )  # fmt: skip


@inlined
def column_of_feature(feature, feature_ids, column_of):
    """The column of a feature, -1 for none: see :func:`take_and_lay_out`."""
    n_ids = feature_ids.size
    if n_ids == 0:
        return column_of[feature]
    low = 0
    high = n_ids
    while low < high:
        middle = (low + high) >> 1
        if feature_ids[middle] < feature:
            low = middle + 1
        else:
            high = middle
    if low == n_ids or feature_ids[low] != feature:
        return np.int32(-1)
    return column_of[low]


@kernel
def take_and_lay_out(indptr, indices, data, first, last, feature_ids, column_of, n_columns, least):
    """Rows ``first`` to ``last`` as the searches read them: of length 1, in columns; unknown features are left out.

    Parameters
    ----------
    indptr, indices, data : CSR of X
    feature_ids, column_of : int32
        The column of feature f is ``column_of[f]``, -1 for none, when ``feature_ids`` is empty. Otherwise
        ``feature_ids``, ascending, are the features that have one, and the i-th has ``column_of[i]``.
    n_columns : int
    least : int, at least 1
        Rows with so many columns are laid out.

    Returns
    -------
    ptr : int64 (last - first + 1,)
    columns : int32, values : float32
        Of the rows that are not laid out, zone by zone: neighbours are looked up one after the other, which is what
        matters of sorting and costs little.
    laid_at : int64 (last - first,)
        Where each row is in ``laid``, -1 for one that is not laid out.
    laid : float32 (rows laid out, n_columns)

    Notes
    -----
    O(entries) time, and O(n_columns) for each row laid out, which is at most n_columns / least per entry.
    """
    laid_at = np.full(last - first, -1, np.int64)
    n_laid = 0
    n_rest = 0
    longest = 0
    for r in range(first, last):
        size = indptr[r + 1] - indptr[r]
        known = 0
        if size >= least:
            for t in range(indptr[r], indptr[r + 1]):
                known += column_of_feature(indices[t], feature_ids, column_of) >= 0
        if known >= least:
            laid_at[r - first] = n_laid
            n_laid += 1
        else:
            n_rest += size
            longest = max(longest, size)
    laid = np.zeros((n_laid, n_columns), np.float32)
    ptr = np.zeros(last - first + 1, np.int64)
    columns = np.empty(n_rest, np.int32)
    values = np.empty(n_rest, np.float32)
    row_columns = np.empty(longest + 1, np.int32)
    row_values = np.empty(longest + 1, np.float32)
    starts = np.empty(ZONES + 1, np.int64)
    count = 0
    for r in range(first, last):
        total = 0.0
        for t in range(indptr[r], indptr[r + 1]):
            total += np.float64(data[t]) * np.float64(data[t])
        scale = 1.0 / np.sqrt(total) if total > 0.0 else 1.0
        place = laid_at[r - first]
        if place >= 0:
            for t in range(indptr[r], indptr[r + 1]):
                column = column_of_feature(indices[t], feature_ids, column_of)
                if column >= 0:
                    laid[place, column] = data[t] * scale
            ptr[r - first + 1] = count
            continue
        starts[:] = 0
        n = 0
        for t in range(indptr[r], indptr[r + 1]):
            column = column_of_feature(indices[t], feature_ids, column_of)
            row_columns[n] = column
            row_values[n] = data[t] * scale
            known = column >= 0
            starts[zone(column) + 1] += known
            n += known
        for z in range(ZONES):
            starts[z + 1] += starts[z]
        for t in range(n):
            z = zone(row_columns[t])
            columns[count + starts[z]] = row_columns[t]
            values[count + starts[z]] = row_values[t]
            starts[z] += 1
        count += n
        ptr[r - first + 1] = count
    return ptr, columns[:count], values[:count], laid_at, laid


@kernel
def take_rows(indptr, indices, data, first, last, feature_ids, column_of):
    """``ptr``, ``columns`` and ``values`` of :func:`take_and_lay_out`, of any row: none is laid out."""
    least = indptr[last] - indptr[first] + 1
    ptr, columns, values, _, _ = take_and_lay_out(
        indptr, indices, data, first, last, feature_ids, column_of, np.int64(0), least
    )
    return ptr, columns, values


@inlined
def log_probability(margin, loss):
    """Log of a node's factor: sigmoid(margin), or exp(-max(0, 1 - margin)^2) for the squared hinge."""
    z = np.float64(margin)
    if loss == LOGISTIC:
        if z > 0.0:
            return -np.log1p(np.exp(-z))
        return z - np.log1p(np.exp(z))
    slack = max(0.0, 1.0 - z)
    return -slack * slack


@inlined
def least_margin(log_factor, loss):
    """A margin below which the log of a node's factor is surely less than ``log_factor``."""
    if log_factor == -np.inf:
        return -np.inf
    reach = min(log_factor * (1.0 + HAIR) - HAIR, -HAIR)
    if loss == LOGISTIC:
        least = reach - np.log(-np.expm1(reach))
    else:
        least = 1.0 - np.sqrt(-reach)
    return least - 1e-9 * (1.0 + abs(least))


@lane_operation(n_arrays=1, n_scalars=0)
def largest_of_lanes(ops, values):
    return (), ops.largest(values)


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


@inlined
def better(score_a, label_a, score_b, label_b):
    """Whether a comes before b in a ranking: larger score, then smaller label id."""
    return score_a > score_b or (score_a == score_b and label_a < label_b)


@inlined
def offer(best_scores, best_labels, r, count, k, score, label):
    """Insert a label into row r of the sorted k best; returns the row's new count."""
    if count < k or better(score, label, best_scores[r, k - 1], best_labels[r, k - 1]):
        count = min(count + 1, k)
        at = count - 1
        while at > 0 and better(score, label, best_scores[r, at - 1], best_labels[r, at - 1]):
            best_scores[r, at] = best_scores[r, at - 1]
            best_labels[r, at] = best_labels[r, at - 1]
            at -= 1
        best_scores[r, at] = score
        best_labels[r, at] = label
    return count


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


@inlined
def heap_push(scores, nodes, size, score, node):
    """Push onto a heap whose top is the larger score, then the smaller node; returns the new size."""
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if better(scores[up], nodes[up], score, node):
            break
        scores[at] = scores[up]
        nodes[at] = nodes[up]
        at = up
    scores[at] = score
    nodes[at] = node
    return size + 1


@inlined
def heap_pop(scores, nodes, size):
    """Remove the top of the heap (read it before); returns the new size."""
    size -= 1
    score = scores[size]
    node = nodes[size]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= size:
            break
        if down + 1 < size and better(scores[down + 1], nodes[down + 1], scores[down], nodes[down]):
            down += 1
        if better(score, node, scores[down], nodes[down]):
            break
        scores[at] = scores[down]
        nodes[at] = nodes[down]
        at = down
    scores[at] = score
    nodes[at] = node
    return size


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


@kernel
def search_threshold(tree, loss, x_ptr, x_columns, x_values, laid_at, laid, rows, log_thresholds):
    """Every label whose path product is at least the row's threshold, exactly: subtrees below it are dropped.

    Returns
    -------
    counts : int64, as ``rows``
    labels : int32, row after row, in the order of the search
    scores : float64, logarithms; labels of probability 0 are left out even at threshold 0
    """
    label_of = tree.label
    group_ptr = tree.group_ptr
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
    counts = np.zeros(rows.size, np.int64)
    labels = np.empty(1024, np.int32)
    scores = np.empty(1024, np.float64)
    stack_scores = np.empty(label_of.size, np.float64)
    stack_nodes = np.empty(label_of.size, np.int32)
    margins = np.zeros(SCRATCH, np.float32)
    found_at = np.empty(FOUND, np.uint32)
    found_end = np.empty(FOUND, np.uint32)
    found_value = np.empty(FOUND, np.float32)
    part = np.empty(PART, np.float32)
    count = 0
    for r in range(rows.size):
        start = x_ptr[rows[r]]
        end = x_ptr[rows[r] + 1]
        before = count
        log_threshold = log_thresholds[r]
        stack_scores[0] = 0.0
        if tree.root_group >= 0:
            stack_scores[0] = root_log_probability(
                tree, loss, x_columns, x_values, start, end, laid_at, laid, rows[r], margins, found_at, found_end,
                found_value, part,
            )  # fmt: skip
        stack_nodes[0] = 0
        size = 1
        while size > 0:
            size -= 1
            score = stack_scores[size]
            v = stack_nodes[size]
            for g in range(group_ptr[v], group_ptr[v + 1]):
                if laid_at[rows[r]] >= 0:
                    n = laid_margins(tree, g, laid, laid_at, rows[r], rows[r] + 1, margins, part)
                else:
                    n = group_margins(
                        g, x_columns, x_values, start, end, margins, found_at, found_end, found_value,
                        bias, group_first, group_size, column_ptr, columns, dense_ptr, dense, sparse_ptr, entry_at,
                        entry_ptr, entry_child, entry_value, index_shift, index_at, index,
                    )  # fmt: skip
                bar = least_margin(log_threshold - score, loss) if n > NARROW else -np.inf
                for c in range(n):
                    if margins[c] < bar:
                        continue
                    child = group_first[g] + c
                    child_score = score + log_probability(margins[c], loss)
                    if child_score < log_threshold or child_score == -np.inf:
                        continue
                    if label_of[child] < 0:
                        stack_scores[size] = child_score
                        stack_nodes[size] = child
                        size += 1
                        continue
                    if count == labels.size:
                        more_labels = np.empty(2 * count, np.int32)
                        more_scores = np.empty(2 * count, np.float64)
                        more_labels[:count] = labels
                        more_scores[:count] = scores
                        labels = more_labels
                        scores = more_scores
                    labels[count] = label_of[child]
                    scores[count] = child_score
                    count += 1
        counts[r] = count - before
    return counts, labels[:count].copy(), scores[:count].copy()


@kernel
def score_labels(tree, loss, leaf_of_label, x_ptr, x_columns, x_values, laid_at, laid, rows, wanted_ptr, wanted, out):
    """Log of the path products of chosen labels.

    Parameters
    ----------
    rows : int64 (n,)
    wanted_ptr : int64 (n + 1,), wanted : int32
        The labels of each of them.
    out : float64, written at the places of ``wanted``
    """
    label_of = tree.label
    group_ptr = tree.group_ptr
    parent = tree.parent
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
    n_nodes = label_of.size
    node_margins = np.empty(n_nodes, np.float32)
    node_scores = np.empty(n_nodes, np.float64)
    known = np.full(n_nodes, -1, np.int64)  # 2 r: the r-th row's margin; 2 r + 1: its score as well
    path = np.empty(n_nodes, np.int32)
    margins = np.zeros(SCRATCH, np.float32)
    found_at = np.empty(FOUND, np.uint32)
    found_end = np.empty(FOUND, np.uint32)
    found_value = np.empty(FOUND, np.float32)
    part = np.empty(PART, np.float32)
    for r in range(rows.size):
        start = x_ptr[rows[r]]
        end = x_ptr[rows[r] + 1]
        node_scores[0] = 0.0
        if tree.root_group >= 0:
            node_scores[0] = root_log_probability(
                tree, loss, x_columns, x_values, start, end, laid_at, laid, rows[r], margins, found_at, found_end,
                found_value, part,
            )  # fmt: skip
        known[0] = 2 * r + 1
        for t in range(wanted_ptr[r], wanted_ptr[r + 1]):
            v = leaf_of_label[wanted[t]]
            length = 0
            while known[v] != 2 * r + 1:
                path[length] = v
                length += 1
                v = parent[v]
            for step in range(length - 1, -1, -1):
                child = path[step]
                v = parent[child]
                if known[child] != 2 * r:
                    g = group_ptr[v]
                    while child >= group_first[g] + group_size[g]:
                        g += 1
                    if laid_at[rows[r]] >= 0:
                        n = laid_margins(tree, g, laid, laid_at, rows[r], rows[r] + 1, margins, part)
                    else:
                        n = group_margins(
                            g, x_columns, x_values, start, end, margins, found_at, found_end, found_value,
                            bias, group_first, group_size, column_ptr, columns, dense_ptr, dense, sparse_ptr, entry_at,
                            entry_ptr, entry_child, entry_value, index_shift, index_at, index,
                        )  # fmt: skip
                    for c in range(n):
                        known[group_first[g] + c] = 2 * r
                        node_margins[group_first[g] + c] = margins[c]
                node_scores[child] = node_scores[v] + log_probability(node_margins[child], loss)
                known[child] = 2 * r + 1
            out[t] = node_scores[leaf_of_label[wanted[t]]]


@kernel
def merge_candidates(offered):
    """Every label that some tree offered for a row, once, ascending.

    Parameters
    ----------
    offered : int32 (n, t), -1 for none

    Returns
    -------
    ptr : int64 (n + 1,), labels : int32
    """
    n, t = offered.shape
    ptr = np.zeros(n + 1, np.int64)
    labels = np.empty(n * t, np.int32)
    count = 0
    for i in range(n):
        begin = count
        for c in range(t):
            label = offered[i, c]
            at = count
            while at > begin and labels[at - 1] > label:
                at -= 1
            if label < 0 or (at > begin and labels[at - 1] == label):
                continue
            for move in range(count, at, -1):
                labels[move] = labels[move - 1]
            labels[at] = label
            count += 1
        ptr[i + 1] = count
    return ptr, labels[:count].copy()


@kernel
def best_candidates(ptr, labels, scores, out_labels, out_scores):
    """Put each row's candidates in their places among the k best in ``out_labels`` (n, k), ``out_scores``.

    Empty places have label -1. A label that is there already is left alone.
    """
    k = out_labels.shape[1]
    for i in range(ptr.size - 1):
        count = 0
        while count < k and out_labels[i, count] >= 0:
            count += 1
        for t in range(ptr[i], ptr[i + 1]):
            if count == k and not better(scores[t], labels[t], out_scores[i, k - 1], out_labels[i, k - 1]):
                continue
            at = 0
            while at < count and out_labels[i, at] != labels[t]:
                at += 1
            if at == count:
                count = offer(out_scores, out_labels, i, count, k, scores[t], labels[t])
