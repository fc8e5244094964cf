"""LdSM (Majzoubi and Choromanska, 2020): training a node, splitting its rows, and finding leaves.

A node of a tree sends a row to one or several of its M children. It is trained on its rows in a numbering of their own:
columns and labels that occur in them, so that a node of few rows costs nothing of the data's width.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.k_best import offer
from xmlcore._kernels.rng import permutation, stream, uniform

NAG = 0
SGD = 1
MADE, UNDONE, BEYOND = 0, 1, 2  # what became of a split
THRESHOLD = 0.5  # a child gets the rows whose margin reaches it
TINY = 1e-30
EQUAL = 1e-9  # of two sets of children whose J differs by less, the first is taken


class ForestArrays(NamedTuple):
    """Fitted trees, flat, one after the other. n nodes, g inner nodes, F (inner node, column) pairs."""

    root: np.ndarray  # int32 (trees + 1,), the first node of each tree
    first_child: np.ndarray  # int32 (n,), -1 for leaves
    group: np.ndarray  # int32 (n,), the inner node's number, -1 for leaves
    bias: np.ndarray  # float32 (n,), of the regressor that leads to the node
    column_ptr: np.ndarray  # int64 (g + 1,)
    columns: np.ndarray  # int32 (F,), those that an inner node has weights of, ascending
    weights: np.ndarray  # float32 (F * M,), of one column for the M children after another
    hist_ptr: np.ndarray  # int64 (n + 1,), labels of each node's rows
    hist_labels: np.ndarray  # int32
    hist_counts: np.ndarray  # int32
    hist_total: np.ndarray  # int64 (n,), the sum of its counts
    n_rows: np.ndarray  # int64 (n,), training rows


# Training a node ------------------------------------------------------------------------------------------------------


@kernel
def gather_lists(ptr, ids, rows, place):
    """Copy the lists of some rows, with ids numbered among those that occur.

    Parameters
    ----------
    ptr, ids : lists of all rows
    rows : int32 (m,)
    place : int32, scratch: as many as there are ids, all -1, and -1 again afterwards

    Returns
    -------
    own_ptr : int64 (m + 1,)
    own : uint32, places in ``kept``
    kept : int32, the ids that occur, ascending

    Notes
    -----
    O(n log n) for n entries of the rows, whatever the number of ids is.
    """
    m = rows.size
    own_ptr = np.zeros(m + 1, np.int64)
    for r in range(m):
        own_ptr[r + 1] = own_ptr[r] + ptr[rows[r] + 1] - ptr[rows[r]]
    kept = np.empty(min(own_ptr[m], place.size), np.int32)
    count = 0
    for r in range(m):
        for t in range(ptr[rows[r]], ptr[rows[r] + 1]):
            if place[ids[t]] < 0:
                place[ids[t]] = 0
                kept[count] = ids[t]
                count += 1
    kept = np.sort(kept[:count])
    for i in range(count):
        place[kept[i]] = i
    own = np.empty(own_ptr[m], np.uint32)
    out = 0
    for r in range(m):
        for t in range(ptr[rows[r]], ptr[rows[r] + 1]):
            own[out] = place[ids[t]]
            out += 1
    for i in range(count):
        place[kept[i]] = -1
    return own_ptr, own, kept


@kernel
def gather_values(ptr, values, rows):
    """The values that belong to :func:`gather_lists`."""
    size = 0
    for r in range(rows.size):
        size += ptr[rows[r] + 1] - ptr[rows[r]]
    own = np.empty(size, values.dtype)
    out = 0
    for r in range(rows.size):
        for t in range(ptr[rows[r]], ptr[rows[r] + 1]):
            own[out] = values[t]
            out += 1
    return own


@kernel
def standardise(ptr, columns, values, n_columns):
    """All columns of some rows, with mean 0 and variance 1.

    Returns
    -------
    dense : as ``values`` (m * n_columns,)
    means, scales : float64 (n_columns,)
        The scale is the standard deviation, or 1 where a column is constant.
    """
    m = ptr.size - 1
    means = np.zeros(n_columns)
    scales = np.zeros(n_columns)
    for t in range(columns.size):
        means[columns[t]] += values[t]
    means /= m
    seen = np.zeros(n_columns, np.int64)
    for t in range(columns.size):
        difference = values[t] - means[columns[t]]
        scales[columns[t]] += difference * difference
        seen[columns[t]] += 1
    for f in range(n_columns):
        scales[f] = math.sqrt((scales[f] + (m - seen[f]) * means[f] * means[f]) / m)
        if scales[f] == 0.0:
            scales[f] = 1.0
    dense = np.empty(m * n_columns, values.dtype)
    for i in range(m):
        for f in range(n_columns):
            dense[i * n_columns + f] = -means[f] / scales[f]
        for t in range(ptr[i], ptr[i + 1]):
            dense[i * n_columns + columns[t]] = (values[t] - means[columns[t]]) / scales[columns[t]]
    return dense, means, scales


@kernel
def objective(sums, total, label_sums, label_counts, integrity_weight, multiway_weight, out):
    """J of a node and its three parts (equation 2 of the paper).

    Parameters
    ----------
    sums : float64 (M,)
        C P_j: label occurrences sent to each child.
    total : int
        C: label occurrences.
    label_sums : float64 (K * M,)
        l_i P_j^i, of label i from ``M * i`` on.
    label_counts : int64 (K,)
        l_i.
    out : float64 (4,), written
        J, balance, class integrity and multi-way penalty; J = balance - integrity_weight * integrity
        + multiway_weight * penalty.
    """
    M = sums.size
    balance = 0.0
    penalty = 0.0
    for j in range(M):
        penalty += sums[j]
        for other in range(j + 1, M):
            balance += abs(sums[j] - sums[other])
    integrity = 0.0
    for i in range(label_counts.size):
        for j in range(M):
            for other in range(j + 1, M):
                integrity += abs(label_sums[M * i + j] - label_sums[M * i + other])
    out[1] = balance / total
    out[2] = integrity / total
    out[3] = abs(penalty / total - 1.0)
    out[0] = out[1] - integrity_weight * out[2] + multiway_weight * out[3]


@inlined
def choose_directions(
    sums, total, label_sums, labels, start, end, integrity_weight, multiway_weight, table
):  # fmt: skip
    """The set of children, as bits, that makes J least when the row goes there (the paper's algorithm 3).

    The row's labels are counted already in ``total``. J of every set is a sum over pairs of children, which depends on
    the two bits of a pair only: so each label is looked at three times a pair, not 2^M times.

    Parameters
    ----------
    sums, label_sums
        See :func:`objective`, without the row.
    labels, start, end
        The row's labels are ``labels[start:end]``.
    table : float64 (3 * M * M,), scratch
    """
    M = sums.size
    size = end - start
    before = 0.0
    for j in range(M):
        before += sums[j]
        for other in range(j + 1, M):
            less = 0.0
            same = 0.0
            more = 0.0
            for t in range(start, end):
                difference = label_sums[M * labels[t] + j] - label_sums[M * labels[t] + other]
                less += abs(difference - 1.0)
                same += abs(difference)
                more += abs(difference + 1.0)
            difference = sums[j] - sums[other]
            at = 3 * (M * j + other)
            table[at] = abs(difference - size) - integrity_weight * less
            table[at + 1] = abs(difference) - integrity_weight * same
            table[at + 2] = abs(difference + size) - integrity_weight * more
    best = np.inf
    chosen = 0
    for directions in range(1, 1 << M):
        value = 0.0
        count = 0
        for j in range(M):
            bit = (directions >> j) & 1
            count += bit
            for other in range(j + 1, M):
                value += table[3 * (M * j + other) + 1 + bit - ((directions >> other) & 1)]
        value += multiway_weight * abs(before + size * count - total)
        if value < best - EQUAL * total:
            best = value
            chosen = directions
    return chosen


@kernel
def train_node(
    ptr, columns, values, n_columns, label_ptr, labels, n_labels, arity, n_epochs, learning_rate,
    integrity_weight, multiway_weight, spread, optimizer, seed, number, min_error, weight_decay, trace, stop,
):  # fmt: skip
    """Train the regressors of a node (the paper's algorithm 4).

    Parameters
    ----------
    ptr, columns, values : the node's rows
        In a numbering of their own. ``values`` gives the type of all that is computed with regressors.
    n_columns : int
    label_ptr, labels, n_labels : their labels, likewise
    arity, n_epochs : int
    learning_rate, integrity_weight, multiway_weight : float
    spread : float
        Weights start uniform in [-spread, spread].
    optimizer : NAG (Ross, Mineiro and Langford, 2013) or SGD
    seed, number : int
        The node's stream of random numbers.
    min_error : float
        A regressor learns from a row only if its sigmoid is at least so far from the target.
    weight_decay : float
        Share that the weights of a row's columns lose when it is learnt from.
    trace : float64 (n_epochs, 4), written
        See :func:`objective`, of the running shares after each epoch.
    stop : uint8 (1,)
        Looked at before each epoch: other than 0 ends training there, with what is learnt so far.

    Returns
    -------
    weights : as ``values`` ((n_columns + 1) * arity,)
        Of column f from ``arity * f`` on; the biases last.
    sums, label_sums : float64
        See :func:`objective`.
    label_counts : int64 (n_labels,)
        Each label as often as it was met, over all epochs.
    scale : as ``values`` (n_columns,)
        NAG: the largest value of each column, in size; else zeros.
    """
    m = ptr.size - 1
    M = arity
    kind = values.dtype
    bias = M * n_columns
    weights = np.empty(bias + M, kind)
    state = stream(seed, number)
    for i in range(weights.size):
        state, drawn = uniform(state)
        weights[i] = (2.0 * drawn - 1.0) * spread
    squares = np.zeros(bias + M, kind)
    scale = np.zeros(n_columns, kind)
    ratio = np.zeros(values.size, kind)
    norms = np.zeros(m)
    sums = np.zeros(M)
    label_sums = np.zeros(n_labels * M)
    label_counts = np.zeros(n_labels, np.int64)
    table = np.empty(3 * M * M)
    longest = 0
    for i in range(m):
        longest = max(longest, ptr[i + 1] - ptr[i])
    own = np.empty(longest, kind)
    own_squares = np.empty(longest, kind)
    moves = np.empty(longest, kind)
    tiny = kind.type(TINY)
    decay = kind.type(weight_decay)
    total = 0
    seen = 0
    norm_sum = 0.0
    for epoch in range(n_epochs):
        if stop[0]:
            break
        for i in range(m):
            a = ptr[i]
            n = ptr[i + 1] - a
            size = label_ptr[i + 1] - label_ptr[i]
            total += size
            for t in range(label_ptr[i], label_ptr[i + 1]):
                label_counts[labels[t]] += 1
            directions = choose_directions(
                sums, total, label_sums, labels, label_ptr[i], label_ptr[i + 1], integrity_weight, multiway_weight,
                table,
            )  # fmt: skip
            rate = learning_rate
            if optimizer == NAG:
                if epoch == 0:
                    norms[i] = 1.0
                    for t in range(a, a + n):
                        f = columns[t]
                        size_of = abs(values[t])
                        if size_of > scale[f]:
                            before = scale[f] if scale[f] > 0.0 else kind.type(1.0)
                            if scale[f] > 0.0 or size_of > 1.0:
                                for c in range(M):
                                    weights[M * f + c] *= before / size_of
                            scale[f] = size_of
                        ratio[t] = values[t] / scale[f]
                        norms[i] += np.float64(ratio[t]) * np.float64(ratio[t])
                norm_sum += norms[i]
                seen += 1
                rate *= math.sqrt(seen / norm_sum)
            for c in range(M):
                margin = weights[bias + c]
                for t in range(n):
                    own[t] = weights[M * np.int64(columns[a + t]) + c]
                    margin += own[t] * values[a + t]
                error = kind.type(1.0 / (1.0 + math.exp(-np.float64(margin)))) - kind.type((directions >> c) & 1)
                if error != 0.0 and abs(error) >= min_error:
                    step = kind.type(rate) * error
                    if optimizer == NAG:
                        for t in range(n):
                            own_squares[t] = squares[M * np.int64(columns[a + t]) + c]
                        for t in range(n):
                            gradient = error * values[a + t]
                            square = own_squares[t] + gradient * gradient
                            move = step * ratio[a + t] / np.sqrt(max(square, tiny)) + decay * own[t]
                            own_squares[t] = square
                            own[t] -= move
                            moves[t] = move * values[a + t]
                        for t in range(n):
                            weights[M * np.int64(columns[a + t]) + c] = own[t]
                            squares[M * np.int64(columns[a + t]) + c] = own_squares[t]
                            margin -= moves[t]
                        squares[bias + c] += error * error
                        move = step / np.sqrt(max(squares[bias + c], tiny))
                    else:
                        for t in range(n):
                            move = step * values[a + t] + decay * own[t]
                            weights[M * np.int64(columns[a + t]) + c] = own[t] - move
                            margin -= move * values[a + t]
                        move = step
                    weights[bias + c] -= move
                    margin -= move
                share = min(max(np.float64(margin), 0.0), 1.0)
                sums[c] += size * share
                for t in range(label_ptr[i], label_ptr[i + 1]):
                    label_sums[M * np.int64(labels[t]) + c] += share
        if epoch == 0 and optimizer == NAG:
            for i in range(m):
                norms[i] = 1.0
                for t in range(ptr[i], ptr[i + 1]):
                    ratio[t] = values[t] / scale[columns[t]]
                    norms[i] += np.float64(ratio[t]) * np.float64(ratio[t])
        objective(sums, total, label_sums, label_counts, integrity_weight, multiway_weight, trace[epoch])
    return weights, sums, label_sums, label_counts, scale


@kernel
def drop_small(weights, scale, least, arity):
    """Set weights to 0, in place, that add less than ``least`` to a margin; returns how many columns keep one.

    A weight is taken times its column's scale, or times 1 if that is larger; biases stay.
    """
    n_columns = weights.size // arity - 1
    kept = 0
    for f in range(n_columns):
        any_left = False
        for c in range(arity):
            if abs(weights[arity * f + c]) * max(1.0, np.float64(scale[f])) < least:
                weights[arity * f + c] = 0.0
            any_left = any_left or weights[arity * f + c] != 0.0
        kept += any_left
    return kept


@kernel
def split_rows(ptr, columns, values, weights, arity, label_ptr, labels, n_labels):
    """Where a node sends its rows (the paper's algorithm 5).

    Returns
    -------
    directions : uint8 (m,)
        Bit c for child c: those whose margin reaches one half, or the one of the largest margin.
    hist : int64 (arity * n_labels,)
        Label occurrences of each child, child after child.
    counts : int64 (arity,)
        Its rows.
    """
    m = ptr.size - 1
    bias = weights.size - arity
    directions = np.zeros(m, np.uint8)
    hist = np.zeros(arity * n_labels, np.int64)
    counts = np.zeros(arity, np.int64)
    for i in range(m):
        best = -np.inf
        best_child = 0
        sent = 0
        for c in range(arity):
            margin = weights[bias + c]
            for t in range(ptr[i], ptr[i + 1]):
                margin += weights[arity * np.int64(columns[t]) + c] * values[t]
            if margin > best:
                best = margin
                best_child = c
            if margin >= THRESHOLD:
                sent |= 1 << c
        if sent == 0:
            sent = 1 << best_child
        directions[i] = sent
        for c in range(arity):
            if (sent >> c) & 1:
                counts[c] += 1
                for t in range(label_ptr[i], label_ptr[i + 1]):
                    hist[c * n_labels + labels[t]] += 1
    return directions, hist, counts


@kernel
def to_features(weights, means, scales, arity):
    """Weights of standardised columns as weights of the columns as they are, in place; whether all are finite."""
    n_columns = weights.size // arity - 1
    finite = True
    for c in range(arity):
        shift = 0.0
        for f in range(n_columns):
            weights[arity * f + c] = weights[arity * f + c] / scales[f]
            shift += weights[arity * f + c] * means[f]
            finite = finite and np.isfinite(weights[arity * f + c])
        weights[arity * n_columns + c] -= shift
        finite = finite and np.isfinite(weights[arity * n_columns + c])
    return finite


@kernel
def split_node(
    x_ptr, x_columns, x_values, y_ptr, y_labels, rows, place, arity, n_epochs, learning_rate, integrity_weight,
    trained_weight, multiway_weight, spread, least, optimizer, seed, number, order, min_error, weight_decay, trace,
    parts, stop,
):  # fmt: skip
    """Train a node on its rows, met in a random order, and split them: all steps without the interpreter between.

    Parameters
    ----------
    x_ptr, x_columns, x_values, y_ptr, y_labels : all rows, and their labels
    rows : int32 (m,), the node's
    place : int32, scratch
        See :func:`gather_lists`.
    integrity_weight, trained_weight : float
        Weights of class integrity: the model's, which J is told with, and that of this attempt.
    spread, least : float
        See :func:`train_node` and :func:`drop_small`.
    seed, number, order : int
        Streams of the node: of its start, and of its rows' order.
    trace : float64 (n_epochs, 4), written
    parts : float64 (4,), written
        J and its parts of the split as it was made, see :func:`objective`.
    stop : uint8 (1,)
        See :func:`train_node`: a split of a node whose training was stopped means nothing.

    Returns
    -------
    status : MADE, UNDONE (a child would get all rows, or none) or BEYOND (weights are no numbers of their type)
    child_ptr : int64 (M + 1,)
    child_rows : int32
    hist_ptr : int64 (M + 1,)
    hist_labels : int32, hist_counts : int64
        Labels of each child's rows, ascending.
    columns : int32 (F,)
        Those with a weight.
    weights : as ``x_values`` (F * M,)
    bias : likewise (M,)
    """
    M = arity
    rows = rows[permutation(rows.size, seed, order)]
    ptr, own, kept = gather_lists(x_ptr, x_columns, rows, place)
    values = gather_values(x_ptr, x_values, rows)
    label_ptr, labels, kept_labels = gather_lists(y_ptr, y_labels, rows, place)
    m = rows.size
    n_columns = kept.size
    n_labels = kept_labels.size
    status = MADE
    if optimizer == SGD:
        dense, means, scales = standardise(ptr, own, values, n_columns)
        every_ptr = np.arange(m + 1) * n_columns
        every = np.empty(m * n_columns, np.uint32)
        for i in range(m):
            for f in range(n_columns):
                every[i * n_columns + f] = f
        weights, _, _, _, scale = train_node(
            every_ptr, every, dense, n_columns, label_ptr, labels, n_labels, M, n_epochs, learning_rate,
            trained_weight, multiway_weight, spread, optimizer, seed, number, min_error, weight_decay, trace,
            stop,
        )  # fmt: skip
        drop_small(weights, scale, least, M)
        if not to_features(weights, means, scales, M):
            status = BEYOND
    else:
        weights, _, _, _, scale = train_node(
            ptr, own, values, n_columns, label_ptr, labels, n_labels, M, n_epochs, learning_rate,
            trained_weight, multiway_weight, spread, optimizer, seed, number, min_error, weight_decay, trace,
            stop,
        )  # fmt: skip
        drop_small(weights, scale, least, M)
    for e in range(n_epochs):
        trace[e, 0] = trace[e, 1] - integrity_weight * trace[e, 2] + multiway_weight * trace[e, 3]
    directions, hist, counts = split_rows(ptr, own, values, weights, M, label_ptr, labels, n_labels)
    child_ptr = np.zeros(M + 1, np.int64)
    for c in range(M):
        if counts[c] == 0 or counts[c] == m:
            status = max(status, UNDONE)
        child_ptr[c + 1] = child_ptr[c] + counts[c]
    child_rows = np.empty(child_ptr[M], np.int32)
    out = 0
    for c in range(M):
        for i in range(m):
            if (directions[i] >> c) & 1:
                child_rows[out] = rows[i]
                out += 1
    # Histograms, of the node for its J and of each child.
    label_counts = np.zeros(n_labels, np.int64)
    for t in range(labels.size):
        label_counts[labels[t]] += 1
    sums = np.zeros(M)
    label_sums = np.zeros(M * n_labels)
    hist_ptr = np.zeros(M + 1, np.int64)
    filled = 0
    for c in range(M):
        for i in range(n_labels):
            sums[c] += hist[c * n_labels + i]
            label_sums[M * i + c] = hist[c * n_labels + i]
            filled += hist[c * n_labels + i] > 0
        hist_ptr[c + 1] = filled
    hist_labels = np.empty(filled, np.int32)
    hist_counts = np.empty(filled, np.int64)
    filled = 0
    for c in range(M):
        for i in range(n_labels):
            if hist[c * n_labels + i] > 0:
                hist_labels[filled] = kept_labels[i]
                hist_counts[filled] = hist[c * n_labels + i]
                filled += 1
    objective(sums, labels.size, label_sums, label_counts, integrity_weight, multiway_weight, parts)
    columns = np.empty(n_columns, np.int32)
    used = np.empty(n_columns * M, weights.dtype)
    n_used = 0
    for f in range(n_columns):
        any_left = False
        for c in range(M):
            used[M * n_used + c] = weights[M * f + c]
            any_left = any_left or weights[M * f + c] != 0.0
        columns[n_used] = kept[f]
        n_used += any_left
    return (
        status, child_ptr, child_rows, hist_ptr, hist_labels, hist_counts, columns[:n_used].copy(),
        used[: M * n_used].copy(), weights[M * n_columns :].copy(),
    )  # fmt: skip


# Prediction -----------------------------------------------------------------------------------------------------------


@inlined
def find(columns, start, end, column):
    """Where a column is among those from ``start`` to ``end``, or ``end``."""
    last = end
    while start < end:
        middle = (start + end) >> 1
        if columns[middle] < column:
            start = middle + 1
        else:
            end = middle
    return start if start < last and columns[start] == column else last


@kernel
def reach_leaves(forest, arity, n_columns, x_ptr, x_columns, x_values, n_trees, most_nodes):
    """Leaves that rows reach, in each of the first trees.

    Parameters
    ----------
    forest : ForestArrays
    arity, n_columns : int
    x_ptr, x_columns, x_values : rows in columns
    n_trees : int
    most_nodes : int
        Trees are cut to their first nodes: an inner node whose children are beyond is a leaf.

    Returns
    -------
    ptr : int64 (n_trees * n + 1,), tree by tree, then row by row
    leaves : int32, node numbers

    Notes
    -----
    Rows go down together, node by node, so that a node's weights are read once. Where many rows are at a node, its
    weights are laid out by column first; where few are, their columns are looked for. The sums are the same, in the
    same order.
    """
    M = arity
    root = forest.root
    first_child = forest.first_child
    group = forest.group
    bias = forest.bias
    column_ptr = forest.column_ptr
    columns = forest.columns
    weights = forest.weights
    n = x_ptr.size - 1
    ptr = np.zeros(n_trees * n + 1, np.int64)
    leaves = np.empty(n_trees * n + 16, np.int32)
    by_column = np.zeros(M * n_columns, np.float32)
    waiting = np.empty(2 * n + 64, np.int32)  # rows at the nodes of the stack, one node's after another's
    sent = np.empty(n, np.uint8)
    found_row = np.empty(n + 16, np.int32)
    found_leaf = np.empty(n + 16, np.int32)
    nodes = np.empty(64, np.int32)
    starts = np.empty(64, np.int64)
    margins = np.empty(M, np.float32)
    counts = np.empty(M, np.int64)
    done = 0
    for tree in range(n_trees):
        beyond = np.int64(root[tree]) + most_nodes
        nodes[0] = root[tree]
        starts[0] = 0
        for i in range(n):
            waiting[i] = i
        size = 1
        end = np.int64(n)
        found = 0
        while size > 0:
            size -= 1
            v = nodes[size]
            start = starts[size]
            m = end - start
            g = group[v]
            if m == 0:
                continue
            if g < 0 or first_child[v] + M > beyond:
                if found + m > found_row.size:
                    more_rows = np.empty(2 * (found + m), np.int32)
                    more_leaves = np.empty(2 * (found + m), np.int32)
                    more_rows[:found] = found_row[:found]
                    more_leaves[:found] = found_leaf[:found]
                    found_row = more_rows
                    found_leaf = more_leaves
                for r in range(start, end):
                    found_row[found] = waiting[r]
                    found_leaf[found] = v
                    found += 1
                end = start
                continue
            a = column_ptr[g]
            b = column_ptr[g + 1]
            first = first_child[v]
            steps = 1
            while (b - a) >> steps > 0:
                steps += 1
            entries = 0
            for r in range(start, end):
                entries += x_ptr[waiting[r] + 1] - x_ptr[waiting[r]]
            lay_out = (steps - 1) * entries > 2 * (b - a)
            if lay_out:
                for q in range(a, b):
                    at = M * np.int64(columns[q])
                    for c in range(M):
                        by_column[at + c] = weights[M * q + c]
            for c in range(M):
                counts[c] = 0
            for r in range(start, end):
                i = waiting[r]
                for c in range(M):
                    margins[c] = bias[first + c]
                if lay_out and M == 2:
                    left = margins[0]
                    right = margins[1]
                    for t in range(x_ptr[i], x_ptr[i + 1]):
                        at = 2 * np.int64(x_columns[t])
                        left += x_values[t] * by_column[at]
                        right += x_values[t] * by_column[at + 1]
                    margins[0] = left
                    margins[1] = right
                elif lay_out and M == 4:
                    sum_0 = margins[0]
                    sum_1 = margins[1]
                    sum_2 = margins[2]
                    sum_3 = margins[3]
                    for t in range(x_ptr[i], x_ptr[i + 1]):
                        at = 4 * np.int64(x_columns[t])
                        sum_0 += x_values[t] * by_column[at]
                        sum_1 += x_values[t] * by_column[at + 1]
                        sum_2 += x_values[t] * by_column[at + 2]
                        sum_3 += x_values[t] * by_column[at + 3]
                    margins[0] = sum_0
                    margins[1] = sum_1
                    margins[2] = sum_2
                    margins[3] = sum_3
                elif lay_out:
                    for t in range(x_ptr[i], x_ptr[i + 1]):
                        at = M * np.int64(x_columns[t])
                        for c in range(M):
                            margins[c] += x_values[t] * by_column[at + c]
                else:
                    for t in range(x_ptr[i], x_ptr[i + 1]):
                        q = find(columns, a, b, x_columns[t])
                        if q < b:
                            for c in range(M):
                                margins[c] += x_values[t] * weights[M * q + c]
                bits = 0
                best = 0
                for c in range(M):
                    if margins[c] > margins[best]:
                        best = c
                    bits |= (margins[c] >= THRESHOLD) << c
                if bits == 0:
                    bits = 1 << best
                sent[r - start] = bits
                for c in range(M):
                    counts[c] += (bits >> c) & 1
            if lay_out:
                for q in range(a, b):
                    at = M * np.int64(columns[q])
                    for c in range(M):
                        by_column[at + c] = 0.0
            total = 0
            for c in range(M):
                total += counts[c]
            if end + total >= waiting.size:  # one more place is written to than is filled
                more = np.empty(2 * (end + total) + 64, np.int32)
                more[:end] = waiting[:end]
                waiting = more
            if size + M > nodes.size:
                more_nodes = np.empty(2 * nodes.size, np.int32)
                more_starts = np.empty(2 * nodes.size, np.int64)
                more_nodes[:size] = nodes[:size]
                more_starts[:size] = starts[:size]
                nodes = more_nodes
                starts = more_starts
            # The last child's rows first, behind the node's own; then all move down over those.
            at = end
            for c in range(M - 1, -1, -1):
                nodes[size] = first + c
                starts[size] = at - m
                size += 1
                for r in range(m):
                    waiting[at] = waiting[start + r]
                    at += (sent[r] >> c) & 1
            for r in range(end, at):
                waiting[r - m] = waiting[r]
            end = at - m
        # What was found by node, row by row: a counting sort, which keeps the order of a row's leaves.
        own = ptr[tree * n : (tree + 1) * n + 1]
        for f in range(found):
            own[found_row[f] + 1] += 1
        own[0] = done
        for i in range(n):
            own[i + 1] += own[i]
        if done + found > leaves.size:
            more = np.empty(2 * (done + found), np.int32)
            more[:done] = leaves[:done]
            leaves = more
        for f in range(found):
            leaves[own[found_row[f]]] = found_leaf[f]
            own[found_row[f]] += 1
        for i in range(n, 0, -1):
            own[i] = own[i - 1]
        own[0] = done
        done += found
    return ptr, leaves[:done].copy()


@kernel
def most_labels(forest, ptr, leaves, n_labels, n_trees):
    """For each row, no fewer than the labels that the leaves it reached have: int64 (n,)."""
    hist_ptr = forest.hist_ptr
    n = (ptr.size - 1) // n_trees
    out = np.zeros(n, np.int64)
    for tree in range(n_trees):
        for i in range(n):
            for t in range(ptr[tree * n + i], ptr[tree * n + i + 1]):
                out[i] += hist_ptr[leaves[t] + 1] - hist_ptr[leaves[t]]
    return np.minimum(out, n_labels)


@kernel
def label_shares(forest, ptr, leaves, n_labels, n_trees, first_row, end_row, of_rows):
    """Mean of the normalised histograms of the leaves that rows reached: over a tree's leaves, then over trees.

    Parameters
    ----------
    forest : ForestArrays
    ptr, leaves
        Of :func:`reach_leaves`.
    n_labels, n_trees : int
    first_row, end_row : int
        Rows ``first_row`` to ``end_row - 1``.
    of_rows : bool
        Counts are divided by a leaf's rows; otherwise by the sum of its counts, as the paper does.

    Returns
    -------
    out_ptr : int64 (end_row - first_row + 1,)
    labels : int32, in the order in which they were met
    shares : float64
    """
    hist_ptr = forest.hist_ptr
    hist_labels = forest.hist_labels
    hist_counts = forest.hist_counts
    hist_total = forest.n_rows if of_rows else forest.hist_total
    n = (ptr.size - 1) // n_trees
    place = np.full(n_labels, -1, np.int64)
    out_ptr = np.zeros(end_row - first_row + 1, np.int64)
    labels = np.empty(1024, np.int32)
    shares = np.empty(1024, np.float64)
    count = 0
    for i in range(first_row, end_row):
        begin = count
        for tree in range(n_trees):
            a = ptr[tree * n + i]
            b = ptr[tree * n + i + 1]
            for t in range(a, b):
                v = leaves[t]
                size = hist_ptr[v + 1] - hist_ptr[v]
                while count + size > labels.size:
                    more_labels = np.empty(2 * labels.size, np.int32)
                    more_shares = np.empty(2 * labels.size, np.float64)
                    more_labels[:count] = labels[:count]
                    more_shares[:count] = shares[:count]
                    labels = more_labels
                    shares = more_shares
                part = 1.0 / (np.float64(hist_total[v]) * (b - a) * n_trees)
                for h in range(hist_ptr[v], hist_ptr[v + 1]):
                    label = hist_labels[h]
                    if place[label] < 0:
                        place[label] = count
                        labels[count] = label
                        shares[count] = 0.0
                        count += 1
                    shares[place[label]] += part * hist_counts[h]
        for t in range(begin, count):
            place[labels[t]] = -1
        out_ptr[i - first_row + 1] = count
    return out_ptr, labels[:count].copy(), shares[:count].copy()


@kernel
def best_labels(ptr, labels, scores, out_labels, out_scores):
    """The k best of each row's labels, equal ones by id; the rest of ``out_labels`` (n, k) stays as it is.

    Scores are compared as float32, the type of ``out_scores``: in float64, the order in which shares were added would
    decide between equal ones.
    """
    k = out_labels.shape[1]
    for i in range(ptr.size - 1):
        count = 0
        for t in range(ptr[i], ptr[i + 1]):
            count = offer(out_scores, out_labels, i, count, k, np.float32(scores[t]), labels[t])


@kernel
def weigh(ptr, columns, values, weights, unit):
    """Rows with each column's values times its weight, and of unit length when ``unit``: as ``values``."""
    out = np.empty(values.size, values.dtype)
    for i in range(ptr.size - 1):
        square = 0.0
        for t in range(ptr[i], ptr[i + 1]):
            out[t] = values[t] * weights[columns[t]]
            square += np.float64(out[t]) * np.float64(out[t])
        if unit and square > 0.0:
            length = math.sqrt(square)
            for t in range(ptr[i], ptr[i + 1]):
                out[t] = out[t] / length
    return out


@kernel
def rank_again(
    ptr, labels, shares, x_ptr, x_columns, x_values, n_columns, mean_ptr, mean_columns, mean_values, beta, gamma
):  # fmt: skip
    """Mix a label's share with how near the row is to the mean of the label's training rows, in place.

    beta * share + (1 - beta) / (1 + exp(gamma * |x - mean|^2 / 2)), as PFastreXML does (Jain et al., 2016). A mean of
    many columns is searched for the row's, one of few is gone through.
    """
    x = np.zeros(n_columns)
    mean_squares = np.zeros(mean_ptr.size - 1)
    for j in range(mean_ptr.size - 1):
        for t in range(mean_ptr[j], mean_ptr[j + 1]):
            mean_squares[j] += np.float64(mean_values[t]) * np.float64(mean_values[t])
    for i in range(ptr.size - 1):
        square = 0.0
        for t in range(x_ptr[i], x_ptr[i + 1]):
            x[x_columns[t]] = x_values[t]
            square += np.float64(x_values[t]) * np.float64(x_values[t])
        for t in range(ptr[i], ptr[i + 1]):
            j = labels[t]
            first = mean_ptr[j]
            last = mean_ptr[j + 1]
            product = 0.0
            if last - first > 16 * (x_ptr[i + 1] - x_ptr[i]):
                for u in range(x_ptr[i], x_ptr[i + 1]):
                    at = find(mean_columns, first, last, x_columns[u])
                    if at < last:
                        product += np.float64(x_values[u]) * np.float64(mean_values[at])
            else:
                for u in range(first, last):
                    product += x[mean_columns[u]] * mean_values[u]
            distance = max(0.0, square + mean_squares[j] - 2.0 * product)
            shares[t] = beta * shares[t] + (1.0 - beta) / (1.0 + math.exp(min(700.0, 0.5 * gamma * distance)))
        for t in range(x_ptr[i], x_ptr[i + 1]):
            x[x_columns[t]] = 0.0
