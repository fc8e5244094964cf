"""FALS, training the network: sparse rows through the first layer, and the steps of Adam.

The weights of the first layer are (D, H): one row for each feature. Threads share the work by columns, ``first`` to
``stop`` - 1; what a column gets does not depend on how the columns are divided.

Division follows NumPy's rules, as in all kernels. Python's rules test for 0 before each division, which keeps the loops
from using vector instructions and made them ten times slower.
"""

import math

import numpy as np

from xmlcore._kernels._jit import kernel

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # the constants of Adam
DECAY = BETA_1 / math.sqrt(BETA_2)  # ratio of two successive steps of a weight without a gradient


@kernel
def by_feature(ptr, columns, values, rows, place):
    """List the entries of some CSR rows by feature: features, pointers, positions in ``rows``, values."""
    # ``place``, (D,), must come filled with zeros.
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
def first_layer(ptr, columns, values, rows, weights, bias, first, stop, out):
    """Write bias plus products for hidden units ``first`` to ``stop`` - 1 of some rows into ``out``."""
    for b in range(rows.size):
        own = out[b, first:stop]
        for h in range(own.size):
            own[h] = bias[first + h]
        for i in range(ptr[rows[b]], ptr[rows[b] + 1]):
            value = values[i]
            weight = weights[columns[i], first:stop]
            for h in range(own.size):
                own[h] += value * weight[h]


@kernel
def catch_up(features, done, step, tail, weights, mean, square, first, stop):
    """Make up for the steps of Adam that were skipped because the weights had no gradient."""
    # Without a gradient both moments only shrink, and the steps of a weight are a geometric series. ``tail[s]`` is its
    # sum from step s on, in units of mean / (sqrt(square) + epsilon) at step s. ``done``, the step up to which a
    # feature's weights are right, is not changed here: other threads read it for their columns.
    epsilon = weights.dtype.type(EPSILON)
    for feature in features:
        missed = step - done[feature]
        if missed == 0:
            continue
        along = weights.dtype.type(tail[done[feature]] - DECAY**missed * tail[step])
        shrink_1, shrink_2 = weights.dtype.type(BETA_1**missed), weights.dtype.type(BETA_2**missed)
        w, m, v = weights[feature, first:stop], mean[feature, first:stop], square[feature, first:stop]
        for h in range(w.size):
            w[h] -= along * m[h] / (np.sqrt(v[h]) + epsilon)
            m[h] *= shrink_1
            v[h] *= shrink_2


@kernel
def sparse_step(features, feature_ptr, entry_rows, entry_values, delta, rate, l2, weights, mean, square, first, stop):
    """Make one step of Adam on the weights of a batch's features; ``delta`` is the gradient by the hidden sums."""
    kind = weights.dtype.type
    epsilon, decay = kind(EPSILON), kind(l2)
    keep_1, keep_2, new_1, new_2 = kind(BETA_1), kind(BETA_2), kind(1.0 - BETA_1), kind(1.0 - BETA_2)
    size = kind(rate)
    gradient = np.empty(stop - first, weights.dtype)
    for u in range(features.size):
        w = weights[features[u], first:stop]
        m = mean[features[u], first:stop]
        v = square[features[u], first:stop]
        for h in range(w.size):
            gradient[h] = decay * w[h]
        for i in range(feature_ptr[u], feature_ptr[u + 1]):
            value = entry_values[i]
            d = delta[entry_rows[i], first:stop]
            for h in range(w.size):
                gradient[h] += value * d[h]
        for h in range(w.size):
            g = gradient[h]
            m[h] = keep_1 * m[h] + new_1 * g
            v[h] = keep_2 * v[h] + new_2 * g * g
            w[h] -= size * m[h] / (np.sqrt(v[h]) + epsilon)


@kernel
def dense_step(gradient, rate, l2, weights, mean, square):
    """Make one step of Adam on all weights; the arrays, see :func:`catch_up`, have the shape (n, m)."""
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
