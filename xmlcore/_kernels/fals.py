"""Parts of FALS that are no matrix products: sparse rows through the first layer, Adam, and squares added up.

Weights of the first layer are (D, H): a feature is a row. Threads share the work by columns, ``first`` to ``last``, and
what a column gets does not depend on how columns are shared out.

Kernels that divide do so by NumPy's rules: Python's, which ask before each division whether it is by 0, made these
loops ten times slower, as no two numbers then go through the processor together.
"""

import math

import numpy as np

from xmlcore._kernels import rng
from xmlcore._kernels._jit import kernel

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
DECAY = BETA_1 / math.sqrt(BETA_2)  # of the step of a weight without gradient


@kernel
def by_feature(ptr, columns, values, rows, place):
    """Entries of some rows, by feature.

    Parameters
    ----------
    ptr, columns, values : CSR
    rows : int64 (B,)
    place : int32 (D,)
        Zeros, and zeros again at the end.

    Returns
    -------
    features : int32 (U,), in the order in which they come
    feature_ptr : int64 (U + 1,)
    entry_rows : int32, places in ``rows``
    entry_values : as ``values``
    """
    n = 0
    for row in rows:
        n += ptr[row + 1] - ptr[row]
    features = np.empty(min(n, place.size), np.int32)
    counts = np.zeros(features.size + 1, np.int64)
    found = 0
    for row in rows:
        for i in range(ptr[row], ptr[row + 1]):
            feature = columns[i]
            if place[feature] == 0:
                features[found] = feature
                found += 1
                place[feature] = found
            counts[place[feature]] += 1
    feature_ptr = np.zeros(found + 1, np.int64)
    for u in range(found):
        feature_ptr[u + 1] = feature_ptr[u] + counts[u + 1]
        counts[u + 1] = feature_ptr[u]
    entry_rows = np.empty(n, np.int32)
    entry_values = np.empty(n, values.dtype)
    for b in range(rows.size):
        for i in range(ptr[rows[b]], ptr[rows[b] + 1]):
            u = place[columns[i]]
            entry_rows[counts[u]] = b
            entry_values[counts[u]] = values[i]
            counts[u] += 1
    for u in range(found):
        place[features[u]] = 0
    return features[:found], feature_ptr, entry_rows, entry_values


@kernel
def first_layer(ptr, columns, values, rows, weights, bias, first, last, out):
    """out[b, h] = bias[h] + x of row b times weights[:, h], for h in [first, last)."""
    for b in range(rows.size):
        own = out[b, first:last]
        own[:] = bias[first:last]
        for i in range(ptr[rows[b]], ptr[rows[b] + 1]):
            value = values[i]
            weight = weights[columns[i], first:last]
            for h in range(own.size):
                own[h] += value * weight[h]


@kernel(error_model="numpy")
def catch_up(features, done, step, tail, weights, mean, square, first, last):
    """Steps that Adam would have made on weights without a gradient since they last had one.

    Without a gradient both moments only shrink, and the steps of one weight are a geometric series: ``tail[s]`` is its
    sum after step s, in units of mean / (sqrt(square) + epsilon) at step s.

    Parameters
    ----------
    features : int32 (U,)
    done : int32 (D,)
        Step up to which each feature's weights are right; stays, for the other threads' columns.
    step : int
        Steps done by now.
    """
    epsilon = weights.dtype.type(EPSILON)
    for feature in features:
        missed = step - done[feature]
        if missed == 0:
            continue
        along = weights.dtype.type(tail[done[feature]] - DECAY**missed * tail[step])
        shrink_1, shrink_2 = weights.dtype.type(BETA_1**missed), weights.dtype.type(BETA_2**missed)
        w, m, v = weights[feature, first:last], mean[feature, first:last], square[feature, first:last]
        for h in range(w.size):
            w[h] -= along * m[h] / (np.sqrt(v[h]) + epsilon)
            m[h] *= shrink_1
            v[h] *= shrink_2


@kernel(error_model="numpy")
def sparse_step(features, feature_ptr, entry_rows, entry_values, delta, rate, l2, weights, mean, square, first, last):
    """One step of Adam on the weights of features that some row has: the gradient is x times delta (B, H)."""
    kind = weights.dtype.type
    epsilon, decay = kind(EPSILON), kind(l2)
    keep_1, keep_2, new_1, new_2 = kind(BETA_1), kind(BETA_2), kind(1.0 - BETA_1), kind(1.0 - BETA_2)
    size = kind(rate)
    gradient = np.empty(last - first, weights.dtype)
    for u in range(features.size):
        w = weights[features[u], first:last]
        m = mean[features[u], first:last]
        v = square[features[u], first:last]
        for h in range(w.size):
            gradient[h] = decay * w[h]
        for i in range(feature_ptr[u], feature_ptr[u + 1]):
            value = entry_values[i]
            d = delta[entry_rows[i], first:last]
            for h in range(w.size):
                gradient[h] += value * d[h]
        for h in range(w.size):
            g = gradient[h]
            m[h] = keep_1 * m[h] + new_1 * g
            v[h] = keep_2 * v[h] + new_2 * g * g
            w[h] -= size * m[h] / (np.sqrt(v[h]) + epsilon)


@kernel(error_model="numpy")
def dense_step(gradient, rate, l2, weights, mean, square):
    """One step of Adam; all arrays (n, m)."""
    kind = weights.dtype.type
    epsilon, decay, size = kind(EPSILON), kind(l2), kind(rate)
    keep_1, keep_2, new_1, new_2 = kind(BETA_1), kind(BETA_2), kind(1.0 - BETA_1), kind(1.0 - BETA_2)
    for i in range(weights.shape[0]):
        w, m, v, own = weights[i], mean[i], square[i], gradient[i]
        for h in range(w.size):
            g = own[h] + decay * w[h]
            m[h] = keep_1 * m[h] + new_1 * g
            v[h] = keep_2 * v[h] + new_2 * g * g
            w[h] -= size * m[h] / (np.sqrt(v[h]) + epsilon)


@kernel
def take_labels(ptr, labels, rows, scale, delta):
    """Turn probabilities, delta (B, L), into (delta - y) * scale."""
    for b in range(rows.size):
        own = delta[b]
        for i in range(ptr[rows[b]], ptr[rows[b] + 1]):
            own[labels[i]] -= 1
        for c in range(own.size):
            own[c] *= scale


@kernel
def flush(sums, out):
    """Add float32 sums to float64 ones, and set them to 0."""
    for c in range(sums.shape[0]):
        own, total = sums[c], out[c]
        for d in range(own.size):
            total[d] += own[d]
            own[d] = 0


@kernel
def deviations(active, reference):
    """Hidden units in which rows differ from their reference, and how: +1 for active where the reference is not.

    Parameters
    ----------
    active : bool (n, H)
    reference : bool (H,)

    Returns
    -------
    ptr : int64 (n + 1,), units : int32, signs : float32
    """
    ptr = np.zeros(active.shape[0] + 1, np.int64)
    for i in range(active.shape[0]):
        count = 0
        for h in range(active.shape[1]):
            count += active[i, h] != reference[h]
        ptr[i + 1] = ptr[i] + count
    units, signs = np.empty(ptr[-1], np.int32), np.empty(ptr[-1], np.float32)
    at = 0
    for i in range(active.shape[0]):
        for h in range(active.shape[1]):
            if active[i, h] != reference[h]:
                units[at] = h
                signs[at] = 1.0 if active[i, h] else -1.0
                at += 1
    return ptr, units, signs


@kernel
def reference_squares(ptr, units, signs, into, out_of, base, weight, sums):
    """Add weighted squares of rows that differ from a reference in a few hidden units.

    Parameters
    ----------
    ptr, units, signs
        Of n rows; see :func:`deviations`.
    into : float32 (H, D), contiguous
    out_of : float32 (H, C), contiguous
        Weights before and after the hidden units.
    base : float32 (C, D)
        The product of the two over the units that are active in the reference.
    weight : float32 (n, C)
    sums : float32 (C, D)
        Gets weight[i, c] * (the product over the units of row i)[c, d] ** 2.
    """
    longest = 0
    for i in range(ptr.size - 1):
        longest = max(longest, ptr[i + 1] - ptr[i])
    left = np.empty((longest, out_of.shape[1]), np.float32)
    right = np.empty((longest, into.shape[1]), np.float32)
    change = np.zeros(base.shape, np.float32)
    for i in range(ptr.size - 1):
        n = ptr[i + 1] - ptr[i]
        for j in range(n):
            unit, sign = units[ptr[i] + j], signs[ptr[i] + j]
            own, source = left[j], out_of[unit]
            for c in range(own.size):
                own[c] = sign * source[c]
            right[j, :] = into[unit]
        if n:
            np.dot(left[:n].T, right[:n], change)
        else:
            change[:] = 0
        for c in range(base.shape[0]):
            factor = weight[i, c]
            fixed, moved, total = base[c], change[c], sums[c]
            for d in range(fixed.size):
                value = fixed[d] + moved[d]
                total[d] += factor * value * value


@kernel
def draw_rows(weight, first_row, so_far, seed, part, drawn):
    """Weighted draws with replacement from rows that come in parts: each of r draws keeps a row seen so far.

    Parameters
    ----------
    weight : float32 (C, n)
        Of the rows of this part, at least 0.
    first_row : int
        Number of the first of them.
    so_far : float64 (C,)
        Sums of the weights of earlier parts; is added to.
    seed : int
    part : int64 (C,)
        Number of the stream of random numbers, for each c.
    drawn : int64 (C, r)
        A row that was drawn takes the place of an earlier one with the probability of its part.
    """
    n = weight.shape[1]
    running = np.empty(n, np.float64)
    for c in range(weight.shape[0]):
        total = 0.0
        for i in range(n):
            total += weight[c, i]
            running[i] = total
        if total == 0.0:
            continue
        so_far[c] += total
        state = rng.stream(seed, part[c])
        for j in range(drawn.shape[1]):
            state, chance = rng.uniform(state)
            state, where = rng.uniform(state)
            if chance * so_far[c] < total:
                drawn[c, j] = first_row + min(n - 1, np.searchsorted(running, where * total, side="right"))


@kernel(error_model="numpy")
def train_binary(
    ptr, columns, values, order, batch_size, label_rows, tail, rates, l2, dropout, relu, state, into, bias, out_of, last
):
    """Train a network with one output, in place, as the larger ones are trained.

    Parameters
    ----------
    ptr, columns, values : CSR (N, D)
    order : int64 (epochs, N)
        The rows of each epoch.
    batch_size : int
    label_rows : bool (N,)
        The rows that have the label.
    tail, rates : float64
        See :func:`catch_up`; the step sizes of Adam.
    l2, dropout : float
    relu : bool
        Else sigmoid.
    state : uint64
        Random numbers for dropout.
    into (D, H), bias (H,), out_of (H,), last (1,) : float32 or float64
        Weights and biases.
    """
    D, H = into.shape
    kind = into.dtype.type
    m_into, v_into = np.zeros_like(into), np.zeros_like(into)
    small = np.zeros((3, 2 * H + 1), into.dtype)  # gradient and moments of all the rest
    rest = np.empty((1, 2 * H + 1), into.dtype)
    done, place = np.zeros(D, np.int32), np.zeros(D, np.int32)
    everything = np.arange(D).astype(np.int32)
    hidden = np.empty((batch_size, H), into.dtype)
    grow = kind(1.0 / (1.0 - dropout))
    step, n_rows = 0, order.shape[1]
    for epoch in range(order.shape[0]):
        for start in range(0, n_rows, batch_size):
            rows = order[epoch, start : start + batch_size]
            features, feature_ptr, entry_rows, entry_values = by_feature(ptr, columns, values, rows, place)
            if l2 > 0:
                n_present, n_entries = features.size, feature_ptr[-1]
                seen = np.zeros(D, np.bool_)
                for feature in features:
                    seen[feature] = True
                extended, ends = np.empty(D, np.int32), np.full(D + 1, n_entries)
                extended[:n_present], ends[: n_present + 1] = features, feature_ptr
                at = n_present
                for feature in range(D):
                    if not seen[feature]:
                        extended[at] = feature
                        at += 1
                features, feature_ptr = extended, ends
            catch_up(features, done, step, tail, into, m_into, v_into, 0, H)
            first_layer(ptr, columns, values, rows, into, bias, 0, H, hidden)
            small[0] = 0
            for b in range(rows.size):
                own = hidden[b]
                margin = last[0]
                for h in range(H):
                    value = own[h]
                    value = max(value, kind(0)) if relu else kind(1) / (kind(1) + np.exp(-value))
                    if dropout > 0:
                        state, chance = rng.uniform(state)
                        value = value * grow if chance >= dropout else kind(0)
                    own[h] = value
                    margin += value * out_of[h]
                delta = kind(1) / (kind(1) + np.exp(-margin)) - kind(label_rows[rows[b]])
                delta /= kind(rows.size)
                small[0, 2 * H] += delta
                for h in range(H):
                    value = own[h]
                    small[0, H + h] += delta * value
                    rise = (grow if value > 0 else kind(0)) if relu else value * (kind(1) - value / grow)
                    own[h] = delta * out_of[h] * rise
                    small[0, h] += own[h]
            sparse_step(
                features, feature_ptr, entry_rows, entry_values, hidden, rates[step], l2, into, m_into, v_into, 0, H
            )
            for feature in features:
                done[feature] = step + 1
            rest[0, :H], rest[0, H : 2 * H], rest[0, 2 * H] = bias, out_of, last[0]
            for h in range(H):
                small[0, H + h] += kind(l2) * out_of[h]
            dense_step(small[:1], rates[step], 0.0, rest, small[1:2], small[2:])
            bias[:], out_of[:], last[0] = rest[0, :H], rest[0, H : 2 * H], rest[0, 2 * H]
            step += 1
    catch_up(everything, done, step, tail, into, m_into, v_into, 0, H)
