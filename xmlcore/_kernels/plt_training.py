"""Linear classifiers of siblings, trained on the rows of their parent."""

import math

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.lanes import LANES, add_row, margins_of_row
from xmlcore._kernels.plt_factors import LOGISTIC
from xmlcore._kernels.plt_newton import (
    HALF,
    MOST_STEPS,
    ONE,
    SETTLED,
    ZERO,
    begin_logistic,
    end_logistic,
    go_on_logistic,
    hinge_step,
    largest_distance,
    largest_size,
    sigmoid,
    solve_logistic,
)
from xmlcore._kernels.plt_tree import row_width
from xmlcore._kernels.rng import shuffle, stream

DOZE = np.float32(0.3)  # rows this near to their optimum, in units of the tolerance, rest until the others are there
MOST_PARTIAL = 5  # passes without them: where the others get there slowly, or never, theirs moves on meanwhile


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
def gather_rows(indptr, indices, data, rows, n_features):
    """Copy ``rows`` of a CSR matrix, keeping only the features that occur in them.

    Returns
    -------
    features : int32 (F,)
        Ids of the features that occur, ascending.
    local_indptr : int64 (m + 1,)
    local_indices : uint32 (nnz,), places in ``features``
    local_data : float32 (nnz,)
    squares : float32 (m,), |x|^2 + 1 of each row (1 for the bias)
    """
    m = rows.size
    local_indptr = np.zeros(m + 1, np.int64)
    place = np.full(n_features, -1, np.int32)
    count = 0
    for r in range(m):
        start = indptr[rows[r]]
        end = indptr[rows[r] + 1]
        local_indptr[r + 1] = local_indptr[r] + end - start
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
    local_indices = np.empty(local_indptr[m], np.uint32)
    local_data = np.empty(local_indptr[m], np.float32)
    squares = np.empty(m, np.float32)
    for r in range(m):
        total = ONE
        out = local_indptr[r]
        for t in range(indptr[rows[r]], indptr[rows[r] + 1]):
            local_indices[out] = place[indices[t]]
            local_data[out] = data[t]
            total += data[t] * data[t]
            out += 1
        squares[r] = total
    return features, local_indptr, local_indices, local_data, squares


@kernel
def mark_rows(rows, child_rows, marks, lane, width, mark):
    """Write ``mark`` into column ``lane`` of ``marks`` (m * width,) at the places of ``child_rows`` in ``rows``."""
    r = 0
    for t in range(child_rows.size):
        while rows[r] < child_rows[t]:
            r += 1
        marks[r * width + lane] = mark


@kernel
def descend(indptr, indices, data, squares, weights, bias_at, dual, used, loss, C, tol, max_epochs, seed, number):
    """Dual coordinate descent for up to sixteen children; ``weights`` and ``dual`` come filled with zeros.

    Each row has one dual variable a per child, with w = sum_i a_i y_i x_i. Rows are visited in an order shared by the
    children. A row whose dual variables are all nearly right is not visited again until the others are within ``tol``
    as well, or ``MOST_PARTIAL`` passes later; then all are, and the descent ends after a pass over all rows in which
    none was further away than ``tol``.

    Parameters
    ----------
    indptr, indices, data : CSR of the node's rows, (m, F)
    squares : float32 (m,), |x|^2 + 1
    weights : float32 (F + 1,) or ((F + 1) * 16,), the bias last
    bias_at : int
    dual : float32 (m,) or (m * 16,), zeros with the sign of y
    used : float32 (16,), 1 for a child, 0 for an empty lane
    loss : int, LOGISTIC or SQUARED_HINGE
    C, tol : float32
        ``tol`` is a distance from the optimum: a difference of probabilities with the logistic loss (a dual variable
        divided by C), of slacks with the squared hinge (a dual variable divided by 2 C).
    max_epochs : int
        The rows are visited at most so many times on average.
    seed, number : int
        The rows are visited in the order of this random stream.

    Returns
    -------
    visits : int, rows visited
    violation : float32, the largest distance met in the last pass; infinite when that was not over all rows

    Notes
    -----
    O(visits * nonzeros of a row) time.
    """
    m = squares.size
    order = np.arange(m).astype(np.int32)
    width = dual.size // m
    half = HALF / C
    margins = np.zeros(LANES, np.float32)
    low = np.zeros(LANES, np.float32)
    high = np.zeros(LANES, np.float32)
    last = np.zeros(LANES, np.float32)
    step = np.zeros(LANES, np.float32)
    awake = m
    passes = 0  # since all rows were visited
    visits = 0
    violation = np.float32(np.inf)
    state = stream(seed, number)
    while visits < max_epochs * m:
        awake = min(awake, max_epochs * m - visits)
        state = shuffle(order[:awake], state)
        violation = ZERO
        kept = 0
        for o in range(awake):
            i = order[o]
            start = indptr[i]
            end = indptr[i + 1]
            q = squares[i]
            if width == 1:
                even = weights[bias_at]
                odd = ZERO
                for t in range(start, end - 1, 2):
                    even += data[t] * weights[indices[t]]
                    odd += data[t + 1] * weights[indices[t + 1]]
                if (end - start) & 1:
                    even += data[end - 1] * weights[indices[end - 1]]
                y = math.copysign(ONE, dual[i])
                a = abs(dual[i])
                slack = ONE - y * (even + odd)
                if loss == LOGISTIC:
                    p = sigmoid(slack - ONE)
                    g = a - C * p
                    away = abs(g) / C
                    change = solve_logistic(slack - ONE, a, g, -g / (ONE + C * q * p * (ONE - p)), C, q)
                else:
                    away = abs(a * half - max(slack, ZERO))
                    change = (slack - a * half) / (q + half)
                new = max(a + change, ZERO)
                change = y * (new - a)
                dual[i] = math.copysign(new, y)
                if change != ZERO:
                    weights[bias_at] += change
                    for t in range(start, end):
                        weights[indices[t]] += data[t] * change
            else:
                at = i * LANES
                margins_of_row(weights, bias_at, indices, data, start, end, margins)
                if loss == LOGISTIC:
                    move = begin_logistic(at, dual, margins, step, low, high, last, used, C, q)
                    away = largest_distance(0, low, high) / C
                    steps = 0
                    while move > SETTLED and steps < MOST_STEPS:
                        move = go_on_logistic(at, dual, margins, step, low, high, last, C, q)
                        steps += 1
                    moved = end_logistic(at, dual, step)
                else:
                    away = hinge_step(at, dual, margins, step, used, half, ONE / (q + half))
                    moved = largest_size(0, step)
                if moved > ZERO:
                    add_row(weights, bias_at, indices, data, start, end, step)
            violation = max(violation, away)
            if away > DOZE * tol:
                order[o] = order[kept]
                order[kept] = i
                kept += 1
        visits += awake
        if awake < m:
            passes += 1
            wake = violation <= tol or passes == MOST_PARTIAL
            violation = np.float32(np.inf)  # of the rows that rested nothing is known
        else:
            if violation <= tol:
                break
            passes = 0
            wake = False
        awake = m if wake else kept
    return visits, violation


@kernel
def train_siblings(
    indptr, indices, data, squares, n_features, rows, rows_ptr, child_rows, children, mirrored,
    loss, C, tol, max_epochs, seed, number,
):  # fmt: skip
    """L2-regularised linear classifiers for children of one node.

    Child c minimises ``(|w|^2 + b^2) / 2 + C * sum_i loss(y_ic (w.x_i + b))``.

    Parameters
    ----------
    indptr, indices, data, squares, n_features
        The node's rows, as :func:`gather_rows` gives them.
    rows : int32 (m,)
        Their ids, ascending.
    rows_ptr : int64, child_rows : int32
        ``child_rows[rows_ptr[v]:rows_ptr[v + 1]]`` are the rows of node v, ascending.
    children : int64 (n,), nodes
    mirrored : bool
        There are two children and each row has exactly one: the second is the first with its sign turned.
    loss, C, tol, max_epochs, seed, number
        See :func:`descend`.

    Returns
    -------
    weights : float32 (F + 1, n), the biases in the last row
    epochs : int, passes over all rows that the visits amount to, the most of any sixteen children
    violation : float32, the largest distance met in a last pass, see :func:`descend`

    Notes
    -----
    O(epochs * n / 16 * nnz) time, O(n F + 16 m) memory.
    """
    m = squares.size
    n = children.size
    weights = np.empty((n_features + 1, n), np.float32)
    used = np.empty(LANES, np.float32)
    epochs = 0
    violation = ZERO
    if n == 1 or mirrored:
        flat = np.zeros(n_features + 1, np.float32)
        dual = np.full(m, -ZERO, np.float32)
        mark_rows(rows, child_rows[rows_ptr[children[0]] : rows_ptr[children[0] + 1]], dual, 0, 1, ZERO)
        visits, violation = descend(
            indptr, indices, data, squares, flat, n_features, dual, used, loss, C, tol, max_epochs, seed, number
        )
        for f in range(n_features + 1):
            weights[f, 0] = flat[f]
            if mirrored:
                weights[f, 1] = -flat[f]
        return weights, (visits + m - 1) // m, violation
    flat = np.empty((n_features + 1) * LANES, np.float32)
    dual = np.empty(m * LANES, np.float32)
    for first in range(0, n, LANES):
        here = min(LANES, n - first)
        flat[:] = ZERO
        dual[:] = -ZERO
        used[:] = ZERO
        used[:here] = ONE
        for c in range(here):
            v = children[first + c]
            mark_rows(rows, child_rows[rows_ptr[v] : rows_ptr[v + 1]], dual, c, LANES, ZERO)
        visits, worst = descend(
            indptr, indices, data, squares, flat, LANES * n_features, dual, used, loss, C, tol, max_epochs, seed, number
        )
        for f in range(n_features + 1):
            for c in range(here):
                weights[f, first + c] = flat[f * LANES + c]
        epochs = max(epochs, (visits + m - 1) // m)
        violation = max(violation, worst)
    return weights, epochs, violation


@kernel
def prune(weights, features, threshold, places, n_children):
    """Keep the weights of at least ``threshold`` in size, feature by feature.

    A group in which many of the possible weights are kept is stored densely, the others as 0: at most three times the
    bytes of pairs, fewer where nearly all are kept, and read much faster.

    Parameters
    ----------
    weights : float32 (F + 1, c)
    features : int32 (F,)
    threshold : float32
    places : int64 (c,), place of each column among the ``n_children`` of the group, at most 256

    Returns
    -------
    kept : int32 (G,), features with a kept weight, ascending
    ptr : uint32 (G + 1,), or of size 0 when stored densely
    child : uint8 (w,), or of size 0
    value : float32 (w,), or (G * row_width(n_children),)
    """
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
    width = row_width(n_children)
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
def train_group(
    indptr, indices, data, n_features, own, rows_ptr, child_rows, first, size,
    loss, C, tol, max_epochs, threshold, seed, number,
):  # fmt: skip
    """Train and prune the classifiers of ``size`` siblings from ``first`` on, whose parent's rows are ``own``.

    Parameters
    ----------
    indptr, indices, data, n_features : CSR of all rows, of length 1
    own : int32 (m,), ascending
    rows_ptr, child_rows, loss, C, tol, max_epochs, seed, number
        See :func:`train_siblings`.
    first, size : int
    threshold : float32

    Returns
    -------
    kept, ptr, child, value
        See :func:`prune`.
    bias : float32 (size,)
        Infinite where no classifier is needed: minus when no row has the child, plus when every row has.
    epochs : int
    violation : float32, not a number when the descent diverged
    """
    bias = np.empty(size, np.float32)
    places = np.empty(size, np.int64)
    n_open = 0
    n_targets = 0
    for c in range(size):
        positives = rows_ptr[first + c + 1] - rows_ptr[first + c]
        bias[c] = np.inf if positives > 0 else -np.inf
        if 0 < positives < own.size:
            places[n_open] = c
            n_open += 1
            n_targets += positives
    places = places[:n_open]
    if n_open == 0:
        return (
            np.empty(0, np.int32), np.zeros(1, np.uint32), np.empty(0, np.uint8), np.empty(0, np.float32), bias, 0,
            ZERO,
        )  # fmt: skip
    children = first + places
    mirrored = False
    if n_open == 2 and n_targets == own.size:  # as many targets as rows: mirror images unless some row has both
        a = rows_ptr[children[0]]
        b = rows_ptr[children[1]]
        mirrored = True
        while a < rows_ptr[children[0] + 1] and b < rows_ptr[children[1] + 1]:
            if child_rows[a] == child_rows[b]:
                mirrored = False
                break
            if child_rows[a] < child_rows[b]:
                a += 1
            else:
                b += 1
    features, local_indptr, local_indices, local_data, squares = gather_rows(indptr, indices, data, own, n_features)
    weights, epochs, violation = train_siblings(
        local_indptr, local_indices, local_data, squares, features.size, own, rows_ptr, child_rows, children, mirrored,
        loss, C, tol, max_epochs, seed, number,
    )  # fmt: skip
    kept, ptr, child, value = prune(weights, features, threshold, places, size)
    for c in range(n_open):
        bias[places[c]] = weights[features.size, c]
        if not np.isfinite(weights[features.size, c]):
            violation = np.float32(np.nan)
    return kept, ptr, child, value, bias, epochs, violation
