"""Linear classifiers of the children of one tree node, trained together on the rows of that node.

All children see the same rows and differ in their targets only. So the weights stand feature by feature with the
children side by side, one pass over a row serves all of them, and the inner loops run over contiguous children, which
the compiler turns into vector instructions.
"""

import math

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.rng import shuffle, stream

LOGISTIC = 0
SQUARED_HINGE = 1

LOG2_E = np.float32(1.4426950408889634)
ROUND = np.float32(12582912.0)  # 1.5 * 2**23: adding and taking it away rounds a float32 to a whole number
# Minimax-like polynomial of 2**f for f in [-0.5, 0.5] (Taylor coefficients ln(2)**i / i!, relative error 2e-7).
E1 = np.float32(0.6931471805599453)
E2 = np.float32(0.2402265069591007)
E3 = np.float32(0.05550410866482158)
E4 = np.float32(0.009618129107628477)
E5 = np.float32(0.0013333558146428443)
E6 = np.float32(0.00015403530393381608)
ZERO = np.float32(0.0)
ONE = np.float32(1.0)
HALF = np.float32(0.5)
SETTLED = np.float32(0.1)  # a step that moves no margin by more is as good as the last
MOST_STEPS = 40
LIMIT = np.float32(60.0)


@kernel
def gather_rows(indptr, indices, data, rows, n_features):
    """Copy ``rows`` of a CSR matrix, keeping only the features that occur in them.

    Returns
    -------
    features : int32 (F,)
        Ids of the features that occur, ascending.
    local_indptr : int64 (m + 1,)
    local_indices : int32 (nnz,), places in ``features``
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
    local_indices = np.empty(local_indptr[m], np.int32)
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
def child_targets(rows, node_rows_ptr, node_rows, first_child, n_children):
    """Which rows of a node belong to which of its children.

    Parameters
    ----------
    rows : int32 (m,), rows of the parent, ascending
    node_rows_ptr : int64, node_rows : int32
        Rows of every node, ascending within a node.
    first_child, n_children : int
        The children have consecutive ids.

    Returns
    -------
    targets : float32 (m, c), 0 or 1
    """
    targets = np.zeros((rows.size, n_children), np.float32)
    for c in range(n_children):
        r = 0
        for t in range(node_rows_ptr[first_child + c], node_rows_ptr[first_child + c + 1]):
            while rows[r] < node_rows[t]:
                r += 1
            targets[r, c] = ONE
    return targets


@kernel
def sigmoid(margins, scratch, scratch_bits, out, n):
    """``out[:n] = 1 / (1 + exp(-margins[:n]))`` in float32; ``scratch_bits`` is ``scratch`` seen as int32."""
    for c in range(n):
        z = max(min(margins[c], LIMIT), -LIMIT) * -LOG2_E
        whole = z + ROUND
        scratch[c] = whole
        f = z - (whole - ROUND)
        out[c] = ONE + f * (E1 + f * (E2 + f * (E3 + f * (E4 + f * (E5 + f * E6)))))
    for c in range(n):
        scratch_bits[c] = (scratch_bits[c] << np.int32(23)) + np.int32(0x3F800000)
    for c in range(n):
        out[c] = ONE / (ONE + out[c] * scratch[c])


@kernel
def logistic_step(margins, dual, q, C, step, worst, low, high, last, z, p, scratch, scratch_bits, n):
    """One row's visit for the logistic loss; changes ``dual`` (a with the sign of y), sets ``step`` (of y a).

    With z = y margin, the row's optimality condition a + s = C sigmoid(-(z + q s)) has one root s, between 0 and the
    condition's value at 0. Newton's method goes there; where it leaves the bracket or does not halve the last step
    (from one flat end of the sigmoid it jumps to the other), the middle of the bracket is taken. All children take as
    many steps as the slowest needs to know its margin to within ``SETTLED``.
    """
    for c in range(n):
        z[c] = -math.copysign(ONE, dual[c]) * margins[c]
    sigmoid(z, scratch, scratch_bits, p, n)
    move = ZERO
    for c in range(n):
        g = abs(dual[c]) - C * p[c]
        worst[c] = max(worst[c], abs(g))
        low[c] = min(-g, ZERO)
        high[c] = max(-g, ZERO)
        step[c] = -g / (ONE + C * q * p[c] * (ONE - p[c]))
        last[c] = abs(step[c])
        move = max(move, q * last[c])
    visits = 0
    while move > SETTLED and visits < MOST_STEPS:
        for c in range(n):
            margins[c] = z[c] - q * step[c]
        sigmoid(margins, scratch, scratch_bits, p, n)
        move = ZERO
        for c in range(n):
            s = step[c]
            g = abs(dual[c]) + s - C * p[c]
            low[c] = s if g < ZERO else low[c]
            high[c] = high[c] if g < ZERO else s
            newton = s - g / (ONE + C * q * p[c] * (ONE - p[c]))
            good = newton >= low[c] and newton <= high[c] and abs(newton - s) < HALF * last[c]
            step[c] = newton if good else HALF * (low[c] + high[c])
            last[c] = abs(step[c] - s)
            move = max(move, q * last[c])
        visits += 1
    for c in range(n):
        y = math.copysign(ONE, dual[c])
        a = max(abs(dual[c]) + step[c], ZERO)
        step[c] = y * (a - abs(dual[c]))
        dual[c] = math.copysign(a, dual[c])


@kernel
def hinge_step(margins, dual, q, C, step, worst, n):
    """One row's visit for the squared hinge loss; changes ``dual`` (a with the sign of y), sets ``step`` (of y a).

    Hsieh et al. (2008), algorithm 1, for the L2-loss: exact minimum along one dual variable.
    """
    half = HALF / C
    inverse = ONE / (q + half)
    for c in range(n):
        y = math.copysign(ONE, dual[c])
        a = abs(dual[c])
        slack = ONE - y * margins[c]
        worst[c] = max(worst[c], C * abs(a * half - max(slack, ZERO)))
        new = max(a + (slack - a * half) * inverse, ZERO)
        step[c] = y * (new - a)
        dual[c] = math.copysign(new, dual[c])


@kernel
def train_siblings(indptr, indices, data, squares, n_features, targets, loss, C, tol, max_epochs, seed, number):
    """L2-regularised linear classifiers for all children of a node by dual coordinate descent.

    Child c minimises ``(|w|^2 + b^2) / 2 + C * sum_i loss(y_ic (w.x_i + b))``. Each row has one dual variable a per
    child, with w = sum_i a_i x_i, and is visited once per epoch in an order shared by all children.

    Parameters
    ----------
    indptr, indices, data : CSR of the node's rows, (m, F)
    squares : float32 (m,), |x|^2 + 1
    n_features : int, F
    targets : float32 (m, c), 0 or 1; overwritten by the dual variables
    loss : int, LOGISTIC or SQUARED_HINGE
    C, tol : float32
        Stop after an epoch in which no dual variable was further than ``tol`` from what its row's margin asks for,
        in units of C (logistic: difference of probabilities; squared hinge: of slacks).
    max_epochs : int
    seed, number : int
        The rows are visited in the order of this random stream.

    Returns
    -------
    weights : float32 (F + 1, c), the bias in the last row
    epochs : int
    violation : float32, the largest distance met in the last epoch, in units of C

    Notes
    -----
    O(epochs * c * nnz) time, O(c (m + F)) memory.
    """
    m, n = targets.shape
    weights = np.zeros((n_features + 1, n), np.float32)
    bias = weights[n_features]
    margins = np.empty(n, np.float32)
    step = np.empty(n, np.float32)
    worst = np.empty(n, np.float32)
    low = np.empty(n, np.float32)
    high = np.empty(n, np.float32)
    last = np.empty(n, np.float32)
    z = np.empty(n, np.float32)
    p = np.empty(n, np.float32)
    scratch = np.empty(n, np.float32)
    scratch_bits = scratch.view(np.int32)
    moved = np.empty(n, np.int64)
    order = np.arange(m).astype(np.int32)
    for i in range(m):
        for c in range(n):
            targets[i, c] = ZERO if targets[i, c] > ZERO else -ZERO  # every a is 0, with the sign of y
    epochs = 0
    violation = ZERO
    state = stream(seed, number)
    while epochs < max_epochs:
        state = shuffle(order, state)
        worst[:] = ZERO
        for o in range(m):
            i = order[o]
            start = indptr[i]
            end = indptr[i + 1]
            for c in range(n):
                margins[c] = bias[c]
            for t in range(start, end):
                v = data[t]
                w = weights[indices[t]]
                for c in range(n):
                    margins[c] += v * w[c]
            if loss == LOGISTIC:
                logistic_step(
                    margins, targets[i], squares[i], C, step, worst, low, high, last, z, p, scratch, scratch_bits, n
                )
                n_moved = n
            else:
                hinge_step(margins, targets[i], squares[i], C, step, worst, n)
                n_moved = 0
                for c in range(n):
                    moved[n_moved] = c
                    n_moved += step[c] != ZERO
            if n_moved * 8 > n:
                for c in range(n):
                    bias[c] += step[c]
                for t in range(start, end):
                    v = data[t]
                    w = weights[indices[t]]
                    for c in range(n):
                        w[c] += v * step[c]
            elif n_moved > 0:  # most rows ask few children to move
                for k in range(n_moved):
                    bias[moved[k]] += step[moved[k]]
                for t in range(start, end):
                    v = data[t]
                    w = weights[indices[t]]
                    for k in range(n_moved):
                        w[moved[k]] += v * step[moved[k]]
        epochs += 1
        violation = ZERO
        for c in range(n):
            violation = max(violation, worst[c])
        violation /= C
        if violation <= tol:
            break
    return weights, epochs, violation


@kernel
def prune(weights, features, threshold):
    """Keep the weights of at least ``threshold`` in size, feature by feature.

    Parameters
    ----------
    weights : float32 (F + 1, c), c <= 256
    features : int32 (F,)
    threshold : float32

    Returns
    -------
    kept : int32 (G,), features with a kept weight, ascending
    ptr : int64 (G + 1,)
    child : uint8 (w,)
    value : float32 (w,)
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
    kept = np.empty(n_kept, np.int32)
    ptr = np.zeros(n_kept + 1, np.int64)
    child = np.empty(n_values, np.uint8)
    value = np.empty(n_values, np.float32)
    g = 0
    v = 0
    for f in range(n_features):
        before = v
        for c in range(n):
            w = abs(weights[f, c])
            if w >= threshold and w > ZERO:
                child[v] = c
                value[v] = weights[f, c]
                v += 1
        if v > before:
            kept[g] = features[f]
            g += 1
            ptr[g] = v
    return kept, ptr, child, value
