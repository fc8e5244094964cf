"""Linear classifiers of the children of one tree node, trained on the rows of that node.

All children see the same rows and differ in their targets only, so they are trained sixteen at a time. The weights of
sixteen children stand side by side for every feature: one pass over a row serves all of them, and one vector
instruction updates them together (``lanes.py``). Two cases are cheaper as a single classifier with scalar code: one
child alone, and two children of which every row has exactly one, so that their classifiers are mirror images.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.arrays import fill
from xmlcore._kernels.lanes import LANES, add_row
from xmlcore._kernels.plt_descent import Costs, LocalRows, descend
from xmlcore._kernels.plt_newton import ONE, ZERO
from xmlcore._kernels.plt_tree import padded_size


class NodeRows(NamedTuple):
    """The rows that have a label under each node: ``rows[ptr[v]:ptr[v + 1]]`` for node v, ascending."""

    ptr: np.ndarray  # int64 (nodes + 1,)
    rows: np.ndarray  # int32
    # float32 (nodes,): the factor in a node's loss of the rows that it has; empty if all are 1
    boosts: np.ndarray


class ScaledRows(NamedTuple):
    """All training rows, scaled, in columns."""

    ptr: np.ndarray  # int64 (N + 1,)
    columns: np.ndarray  # uint32
    values: np.ndarray  # float32
    weights: np.ndarray  # float32 (N,): the weight of each row in the loss


class DescentSettings(NamedTuple):
    """The settings that all groups of siblings of a tree are trained with."""

    loss: int  # LOGISTIC or SQUARED_HINGE
    C: np.float32
    # Distance from the optimum that is small enough: a difference of probabilities with the logistic loss (a dual
    # variable divided by C), of slacks with the squared hinge (a dual variable divided by 2 C).
    tol: np.float32
    max_epochs: int  # The rows of a node are visited at most so many times on average.
    threshold: np.float32  # Smallest size of a weight that is kept.
    seed: int


@kernel
def node_rows(indptr, indices, leaf_of_label, parent):
    """List the rows that have a label under each node."""
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
    filled = ptr.copy()
    fill(seen, -1)
    for i in range(indptr.size - 1):
        for t in range(indptr[i], indptr[i + 1]):
            v = leaf_of_label[indices[t]]
            while v >= 0 and seen[v] != i:
                seen[v] = i
                rows[filled[v]] = i
                filled[v] += 1
                v = parent[v]
    return NodeRows(ptr, rows, np.empty(0, np.float32))


@kernel
def gather_rows(indptr, indices, data, rows, n_features):
    """Copy ``rows`` of a CSR matrix; number the features that occur, which are returned as well, from 0 on.

    ``indices`` are uint32: with signed ones, each use would be tested for a position from the end.
    """
    # All rows with all features are not copied: that would take as much memory again in every thread.
    m = rows.size
    whole = m == indptr.size - 1
    local_indptr = np.zeros(m + 1, np.int64)
    place = np.full(n_features, -1, np.int32)
    count = 0
    for r in range(m):
        start = indptr[rows[r]]
        end = indptr[rows[r] + 1]
        local_indptr[r + 1] = local_indptr[r] + end - start
        whole = whole and rows[r] == r
        for t in range(start, end):
            if place[indices[t]] < 0:
                place[indices[t]] = 0
                count += 1
    features = np.empty(count, np.int32)
    count = 0
    for f in range(n_features):
        if place[f] == 0:
            place[f] = count
            features[count] = f
            count += 1
    whole = whole and count == n_features
    local_indices = indices if whole else np.empty(local_indptr[m], np.uint32)
    local_data = data if whole else np.empty(local_indptr[m], np.float32)
    squares = np.empty(m, np.float32)
    for r in range(m):
        total = ONE
        out = local_indptr[r]
        for t in range(indptr[rows[r]], indptr[rows[r] + 1]):
            if not whole:
                local_indices[out] = place[indices[t]]
                local_data[out] = data[t]
            total += data[t] * data[t]
            out += 1
        squares[r] = total
    return features, LocalRows(local_indptr, local_indices, local_data, squares)


@kernel
def mark_rows(rows, child_rows, marks, lane, width, mark):
    """Write ``mark`` into column ``lane`` of ``marks`` for the rows of a node that a child has; both ascend."""
    r = 0
    for t in range(child_rows.size):
        while rows[r] < child_rows[t]:
            r += 1
        marks[r * width + lane] = mark


@inlined
def write_costs(costs, C, weights_of_rows, own):
    for r in range(own.size):
        costs[r] = C * weights_of_rows[own[r]]


@kernel
def take_duals(x, kept, places, C, flat, bias_at, dual, lanes):
    """Begin with dual variables that were kept, and with the weights that they add up to."""
    for i in range(kept.shape[0]):
        moved = False
        for c in range(min(lanes, places.size)):
            at = i * lanes + c
            dual[at] = math.copysign(kept[i, places[c]] * C, dual[at])
            moved = moved or dual[at] != ZERO
        if moved and lanes == LANES:
            add_row(flat, bias_at, x.features, x.values, x.ptr[i], x.ptr[i + 1], dual[i * LANES : (i + 1) * LANES])
        elif moved:
            flat[bias_at] += dual[i]
            for t in range(x.ptr[i], x.ptr[i + 1]):
                flat[x.features[t]] += x.values[t] * dual[i]


@kernel
def first_rows(m, fresh):
    """Return all of m rows, those in ``fresh``, which ascend, at the begin, and how many are visited at first."""
    order = np.empty(m, np.int32)
    order[: fresh.size] = fresh
    at = fresh.size
    f = 0
    for i in range(m):
        if f < fresh.size and fresh[f] == i:
            f += 1
        else:
            order[at] = i
            at += 1
    return order, fresh.size if fresh.size > 0 else m


@kernel
def keep_duals(dual, lanes, C, places, kept):
    """Keep the sizes of dual variables as multiples of C."""
    for i in range(kept.shape[0]):
        for c in range(places.size):
            kept[i, places[c]] = abs(dual[i * lanes + min(c, lanes - 1)]) / C


@kernel
def train_siblings(
    local, weights_of_rows, n_features, own, under, children, mirrored, settings, number, places, kept, fresh
):  # fmt: skip
    """Train L2-regularised linear classifiers for children of one node."""
    # Child c minimises ``(|w|^2 + b^2) / 2 + C * sum_i v_i loss(y_ic (w.x_i + b))``, where v_i is the weight of row i,
    # times the child's boost if the row has the child. ``kept`` and ``fresh`` are as in :func:`train_group`.
    m = own.size
    n = children.size
    weights = np.empty((n_features + 1, n), np.float32)
    used = np.empty(LANES, np.float32)
    boost = np.ones(LANES, np.float32)
    has_boosts = under.boosts.size > 0
    costs = Costs(np.empty(m, np.float32), boost, has_boosts)
    write_costs(costs.of_row, settings.C, weights_of_rows, own)
    if has_boosts:
        boost[0] = under.boosts[children[0]]
    epochs = 0
    violation = ZERO
    if n == 1 or mirrored:
        flat = np.zeros(n_features + 1, np.float32)
        dual = np.full(m, -ZERO, np.float32)
        mark_rows(own, under.rows[under.ptr[children[0]] : under.ptr[children[0] + 1]], dual, 0, 1, ZERO)
        take_duals(local, kept, places, settings.C, flat, n_features, dual, 1)
        order, awake = first_rows(m, fresh)
        visits, violation = descend(local, order, awake, flat, n_features, dual, used, costs, settings, number)
        keep_duals(dual, 1, settings.C, places, kept)
        for f in range(n_features + 1):
            weights[f, 0] = flat[f]
            if mirrored:
                weights[f, 1] = -flat[f]
        return weights, (visits + m - 1) // m, violation
    flat = np.empty((n_features + 1) * LANES, np.float32)
    dual = np.empty(m * LANES, np.float32)
    for first in range(0, n, LANES):
        here = min(LANES, n - first)
        fill(flat, ZERO)
        fill(dual, -ZERO)
        fill(used, ZERO)
        for c in range(here):
            used[c] = ONE
            v = children[first + c]
            if has_boosts:
                boost[c] = under.boosts[v]
            mark_rows(own, under.rows[under.ptr[v] : under.ptr[v + 1]], dual, c, LANES, ZERO)
        of_lanes = places[first : first + here]
        take_duals(local, kept, of_lanes, settings.C, flat, LANES * n_features, dual, LANES)
        order, awake = first_rows(m, fresh)
        visits, worst = descend(local, order, awake, flat, LANES * n_features, dual, used, costs, settings, number)
        keep_duals(dual, LANES, settings.C, of_lanes, kept)
        for f in range(n_features + 1):
            for c in range(here):
                weights[f, first + c] = flat[f * LANES + c]
        epochs = max(epochs, (visits + m - 1) // m)
        violation = max(violation, worst)
    return weights, epochs, violation


@kernel
def prune(weights, features, threshold, places, n_children):
    """Keep the weights of at least ``threshold`` in size, feature by feature."""
    # A group that keeps many of the possible weights is stored densely, with zeros for the others. That takes at most
    # three times the bytes of pairs, less than these where nearly all weights are kept, and is read much faster.
    n_features = features.size
    n = weights.shape[1]
    n_kept = 0
    n_values = 0
    for f in range(n_features):
        before = n_values
        for c in range(n):
            w = abs(weights[f, c])
            n_values += w >= threshold and w > ZERO
        n_kept += n_values > before
    width = padded_size(n_children)
    dense = 4 * width * n_kept <= 3 * (4 * n_kept + 5 * n_values)  # at most three times the bytes
    kept = np.empty(n_kept, np.int32)
    ptr = np.empty(0 if dense else n_kept + 1, np.uint32)
    child = np.empty(0 if dense else n_values, np.uint8)
    value = np.zeros(n_kept * width if dense else n_values, np.float32)
    g = 0
    v = 0
    for f in range(n_features):
        before = v
        for c in range(n):
            w = abs(weights[f, c])
            if w >= threshold and w > ZERO:
                if dense:
                    value[g * width + places[c]] = weights[f, c]
                else:
                    child[v] = places[c]
                    value[v] = weights[f, c]
                v += 1
        if v > before:
            kept[g] = features[f]
            if not dense:
                ptr[g] = before
            g += 1
    if not dense:
        ptr[g] = v
    return kept, ptr, child, value


@kernel
def are_disjoint(rows_a, rows_b):
    """Return whether two ascending lists of rows have no row in common."""
    a = 0
    b = 0
    while a < rows_a.size and b < rows_b.size:
        if rows_a[a] == rows_b[b]:
            return False
        if rows_a[a] < rows_b[b]:
            a += 1
        else:
            b += 1
    return True


@kernel
def train_group(x, n_columns, own, under, first, size, settings, number, kept, fresh):
    """Train and prune the classifiers of ``size`` siblings from node ``first`` on; ``own`` are their parent's rows."""
    # ``kept``, (rows, size) or (0, size), has the dual variables to begin with, and then those of the end. ``fresh``
    # are places of rows, or none for all: no others are visited unless one of these is beyond the tolerance.
    # Returns what :func:`prune` does, the biases (infinite where no row, or every row, has the child), the epochs, and
    # the violation, which is nan when the descent diverged.
    bias = np.empty(size, np.float32)
    places = np.empty(size, np.int64)
    children = np.empty(size, np.int64)
    n_open = 0
    n_targets = 0
    for c in range(size):
        positives = under.ptr[first + c + 1] - under.ptr[first + c]
        bias[c] = np.inf if positives > 0 else -np.inf
        if 0 < positives < own.size:
            places[n_open] = c
            children[n_open] = first + c
            n_open += 1
            n_targets += positives
        else:
            kept[:, c] = ZERO
    places = places[:n_open]
    children = children[:n_open]
    if n_open == 0:
        return (
            np.empty(0, np.int32), np.zeros(1, np.uint32), np.empty(0, np.uint8), np.empty(0, np.float32), bias, 0,
            ZERO,
        )  # fmt: skip
    mirrored = False
    if n_open == 2 and n_targets == own.size:  # as many targets as rows: mirror images unless some row has both
        a = under.rows[under.ptr[children[0]] : under.ptr[children[0] + 1]]
        b = under.rows[under.ptr[children[1]] : under.ptr[children[1] + 1]]
        mirrored = are_disjoint(a, b)
        if under.boosts.size > 0:
            mirrored = mirrored and under.boosts[children[0]] == ONE and under.boosts[children[1]] == ONE
    features, local = gather_rows(x.ptr, x.columns, x.values, own, n_columns)
    weights, epochs, violation = train_siblings(
        local, x.weights, features.size, own, under, children, mirrored, settings, number, places, kept,
        fresh,
    )  # fmt: skip
    kept, ptr, child, value = prune(weights, features, settings.threshold, places, size)
    for c in range(n_open):
        bias[places[c]] = weights[features.size, c]
        if not np.isfinite(weights[features.size, c]):
            violation = np.float32(np.nan)
    return kept, ptr, child, value, bias, epochs, violation
