"""LdSM: the leaves that rows reach in fitted trees."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.arrays import enlarged
from xmlcore._kernels.ldsm_splitting import THRESHOLD


class ForestArrays(NamedTuple):
    """Fitted trees as flat arrays, one tree after the other. n nodes, g inner nodes, F (inner node, column) pairs."""

    root: np.ndarray  # int32 (trees + 1,), the first node of each tree
    first_child: np.ndarray  # int32 (n,), -1 for leaves
    group: np.ndarray  # int32 (n,), the inner node's number, -1 for leaves
    bias: np.ndarray  # float32 (n,), bias of the regressor that sends rows to the node
    column_ptr: np.ndarray  # int64 (g + 1,)
    columns: np.ndarray  # int32 (F,), the columns in which an inner node has weights, ascending
    weights: np.ndarray  # float32 (F * M,), the M children's weights of a column side by side
    hist_ptr: np.ndarray  # int64 (n + 1,)
    hist_labels: np.ndarray  # int32, labels of each node's training rows
    hist_counts: np.ndarray  # int32, number of the node's training rows that have the label
    hist_total: np.ndarray  # int64 (n,), the sum of a node's counts
    n_rows: np.ndarray  # int64 (n,), number of training rows that reach the node


class SentRows(NamedTuple):
    """Rows to predict, in the model's columns."""

    ptr: np.ndarray  # int64 (n + 1,)
    columns: np.ndarray  # int32
    values: np.ndarray  # float32


@inlined
def find(columns, start, end, column):
    """Return the position of ``column`` in the ascending ``columns[start:end]``; ``end`` if it is not there."""
    one = np.uint64(1)
    last = end
    while start < end:
        middle = (start + end) >> one
        if columns[middle] < column:
            start = middle + one
        else:
            end = middle
    return start if start < last and columns[start] == column else last


@inlined
def add_dense(x, i, by_column, margins):
    """Add the products of row i with a node's weights to the margins of the M children."""
    # ``by_column`` has M weights for each column. Sums of 2 and 4 children are kept in registers; the order of
    # additions is the same for any M.
    M = np.uint64(margins.size)
    x_columns, x_values = x.columns, x.values
    start, end = np.uint64(x.ptr[i]), np.uint64(x.ptr[i + 1])
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    if margins.size == 2:
        left = margins[0]
        right = margins[1]
        for t in range(start, end):
            at = M * np.uint64(x_columns[t])
            left += x_values[t] * by_column[at]
            right += x_values[t] * by_column[at + one]
        margins[0] = left
        margins[1] = right
    elif margins.size == 4:
        sum_0 = margins[0]
        sum_1 = margins[1]
        sum_2 = margins[2]
        sum_3 = margins[3]
        for t in range(start, end):
            at = M * np.uint64(x_columns[t])
            sum_0 += x_values[t] * by_column[at]
            sum_1 += x_values[t] * by_column[at + one]
            sum_2 += x_values[t] * by_column[at + two]
            sum_3 += x_values[t] * by_column[at + three]
        margins[0] = sum_0
        margins[1] = sum_1
        margins[2] = sum_2
        margins[3] = sum_3
    else:
        for t in range(start, end):
            at = M * np.uint64(x_columns[t])
            for c in range(M):
                margins[c] += x_values[t] * by_column[at + c]


@inlined
def add_sparse(x, i, columns, weights, start, end, margins):
    """Do the work of :func:`add_dense`, with weights that are searched for in ``columns[start:end]``."""
    M = np.uint64(margins.size)
    for t in range(np.uint64(x.ptr[i]), np.uint64(x.ptr[i + 1])):
        at = find(columns, start, end, x.columns[t])
        if at < end:
            for c in range(M):
                margins[c] += x.values[t] * weights[M * at + c]


@inlined
def direct(margins):
    """Return the children that a row goes to, as bits: those that reach the threshold, else the largest margin's."""
    bits = 0
    best = 0
    for c in range(margins.size):
        if margins[c] > margins[best]:
            best = c
        bits |= (margins[c] >= THRESHOLD) << c
    return bits if bits != 0 else 1 << best


@inlined
def send_rows(forest, v, x, waiting, start, end, by_column, margins, sent, counts):
    """Find the children of node ``v`` that each of some rows goes to."""
    M = counts.size
    columns, weights = forest.columns, forest.weights
    a = forest.column_ptr[forest.group[v]]
    b = forest.column_ptr[forest.group[v] + 1]
    first = forest.first_child[v]
    steps = 1
    while (b - a) >> steps > 0:
        steps += 1
    entries = 0
    for r in range(start, end):
        entries += x.ptr[waiting[r] + 1] - x.ptr[waiting[r]]
    dense = (steps - 1) * entries > 2 * (b - a)
    if dense:
        for q in range(a, b):
            at = M * np.int64(columns[q])
            for c in range(M):
                by_column[at + c] = weights[M * q + c]
    for c in range(M):
        counts[c] = 0
    for r in range(start, end):
        i = waiting[r]
        for c in range(M):
            margins[c] = forest.bias[first + c]
        if dense:
            add_dense(x, i, by_column, margins)
        else:
            add_sparse(x, i, columns, weights, np.uint64(a), np.uint64(b), margins)
        bits = direct(margins)
        sent[r - start] = bits
        for c in range(M):
            counts[c] += (bits >> c) & 1
    if dense:
        for q in range(a, b):
            at = M * np.int64(columns[q])
            for c in range(M):
                by_column[at + c] = 0.0


@kernel
def walk_tree(forest, tree, arity, x, most_nodes, by_column):
    """Send all rows down one tree together, node by node, so that a node's weights are read once."""
    M = arity
    n = x.ptr.size - 1
    beyond = np.int64(forest.root[tree]) + most_nodes
    waiting = np.empty(2 * n + 64, np.int32)  # rows at the nodes of the stack, node after node
    sent = np.empty(n, np.uint8)
    margins = np.empty(M, np.float32)
    counts = np.empty(M, np.int64)
    found_row = np.empty(n + 16, np.int32)
    found_leaf = np.empty(n + 16, np.int32)
    nodes = np.empty(64, np.int32)  # the stack: nodes, and where their rows begin in `waiting`
    starts = np.empty(64, np.int64)
    nodes[0] = forest.root[tree]
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
        if m == 0:
            continue
        first = forest.first_child[v]
        if first < 0 or first + M > beyond:
            if found + m > found_row.size:
                found_row = enlarged(found_row, found, 2 * (found + m))
                found_leaf = enlarged(found_leaf, found, 2 * (found + m))
            for r in range(start, end):
                found_row[found] = waiting[r]
                found_leaf[found] = v
                found += 1
            end = start
            continue
        send_rows(forest, v, x, waiting, start, end, by_column, margins, sent, counts)
        total = 0
        for c in range(M):
            total += counts[c]
        if end + total >= waiting.size:  # the loop below also writes to one place behind the last row
            waiting = enlarged(waiting, end, 2 * (end + total) + 64)
        if size + M > nodes.size:
            nodes = enlarged(nodes, size, 2 * nodes.size)
            starts = enlarged(starts, size, 2 * starts.size)
        # Write the rows of the children, the last child first, behind the node's own rows. Then move them to the place
        # of the node's own rows, which are not needed any more.
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
    return found, found_row, found_leaf


@kernel
def reach_leaves(forest, arity, n_columns, x_ptr, x_columns, x_values, n_trees, most_nodes):
    """Find the leaves that rows reach, in each of the first trees."""
    x = SentRows(x_ptr, x_columns, x_values)
    n = x_ptr.size - 1
    ptr = np.zeros(n_trees * n + 1, np.int64)
    leaves = np.empty(n_trees * n + 16, np.int32)
    by_column = np.zeros(arity * n_columns, np.float32)
    done = np.int64(0)
    for tree in range(n_trees):
        count, rows, found = walk_tree(forest, tree, arity, x, most_nodes, by_column)
        # Sort the pairs, which are listed leaf by leaf, by row: a counting sort keeps the order of a row's leaves.
        at = tree * n
        for f in range(count):
            ptr[at + rows[f] + 1] += 1
        ptr[at] = done
        for i in range(at, at + n):
            ptr[i + 1] += ptr[i]
        if done + count > leaves.size:
            leaves = enlarged(leaves, done, 2 * (done + count))
        for f in range(count):
            leaves[ptr[at + rows[f]]] = found[f]
            ptr[at + rows[f]] += 1
        for i in range(at + n, at, -1):
            ptr[i] = ptr[i - 1]
        ptr[at] = done
        done += count
    return ptr, enlarged(leaves, done, done)
