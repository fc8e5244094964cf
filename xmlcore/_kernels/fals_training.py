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
    """List the entries of some rows by feature.

    Parameters
    ----------
    ptr, columns, values
        CSR rows.
    rows : int64 (B,)
    place : int32 (D,)
        Zeros before and after the call.

    Returns
    -------
    features : int32 (U,)
        The features of these rows, in the order in which they first occur.
    feature_ptr : int64 (U + 1,)
        Where the entries of each feature begin.
    entry_rows : int32
        Positions in ``rows``.
    entry_values
        Of the type of ``values``.
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
def first_layer(ptr, columns, values, rows, weights, bias, first, stop, out):
    """Compute the sums that reach hidden units ``first`` to ``stop`` - 1 of the first layer, for some rows.

    Parameters
    ----------
    ptr, columns, values
        CSR rows.
    rows : int64 (B,)
        The rows to compute.
    weights : (D, H), bias : (H,)
    first, stop : int
    out : (at least B, H)
        Columns ``first`` to ``stop`` - 1 of row b are written: bias[h] plus the product of row ``rows[b]`` and
        weights[:, h].
    """
    for b in range(rows.size):
        own = out[b, first:stop]
        own[:] = bias[first:stop]
        for i in range(ptr[rows[b]], ptr[rows[b] + 1]):
            value = values[i]
            weight = weights[columns[i], first:stop]
            for h in range(own.size):
                own[h] += value * weight[h]


@kernel
def catch_up(features, done, step, tail, weights, mean, square, first, stop):
    """Make up for the steps of Adam that were skipped because the weights had no gradient.

    Without a gradient both moments only shrink, and the steps of a weight are a geometric series. ``tail[s]`` is its
    sum from step s on, in units of mean / (sqrt(square) + epsilon) at step s.

    Parameters
    ----------
    features : int32 (U,)
        The features whose weights are brought up to date.
    done : int32 (D,)
        The step up to which each feature's weights are right. It is not changed here, as other threads read it for
        their columns.
    step : int
        The number of steps done by now.
    tail : float64 (steps + 1,)
    weights, mean, square : (D, H)
        The weights and the two moments of Adam: running means of the gradient and of its square. Columns ``first`` to
        ``stop`` - 1 are changed.
    first, stop : int
    """
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
    """Make one step of Adam on the weights of the features that some row of a batch has.

    Parameters
    ----------
    features, feature_ptr, entry_rows, entry_values
        The entries of the batch by feature, see :func:`by_feature`.
    delta : (B, H)
        The gradient of the loss by the sums that reach the hidden units. The gradient by the weights of a feature is
        the sum of its values times the rows of ``delta``.
    rate, l2 : float
        Step size and weight decay.
    weights, mean, square, first, stop
        See :func:`catch_up`.
    """
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


@kernel
def take_labels(ptr, labels, rows, scale, delta):
    """Replace probabilities p of B rows by (p - y) * scale, in place, where y is 1 for labels of the row, else 0."""
    for b in range(rows.size):
        own = delta[b]
        for i in range(ptr[rows[b]], ptr[rows[b] + 1]):
            own[labels[i]] -= 1
        for c in range(own.size):
            own[c] *= scale
