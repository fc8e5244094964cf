"""Bounds on a label tree's log probabilities over all rows within an angle of a row.

Rows are scaled to length 1 before they are classified, so only their direction matters. A change of length r < |x|
turns x by at most arcsin(r / |x|), and can turn it to every direction within that angle. The kernels therefore bound
the angle. Over all unit vectors u' within the angle t of u = x / |x|, the largest value of a linear function c . u' is

    A cos t + B sin t,  where A = c . u and B = sqrt(|c|^2 - A^2),

or |c| if the direction of c is within the angle (t >= atan2(B, A)); see :func:`cap_maximum`. The unit vectors within
the angle are called a cap.

Let a be the best label and b another one. Factors of common ancestors cancel, so that the sums of log factors l(m_v)
below the lowest common ancestor are compared, where m_v = w_v . u' + bias_v, and l is concave and increasing. There are
two lower bounds on the difference of these sums:

- Each margin separately: l at the smallest margin of each of a's nodes, minus l at the largest margin of each of b's.
- All margins together: l of a's nodes is at least its chord between the smallest and the largest margin, and l of b's
  nodes is at most its tangent at any point. Chords and tangents are linear, so the difference is at least a constant
  plus one linear function of u', whose minimum is known. At small angles this bound is exact to first order.

Factors are at most 1. Therefore the nodes at the beginning of b's path, below the common ancestor, bound every label
below them, and a subtree can be certified as a whole (``certificate_search``).

Predictions are computed from float32 margins and float64 logarithms. Every margin is therefore widened by the largest
error in float32 (:func:`margin_error`), and every comparison by that in float64 (``ROUNDING``).
"""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.plt_factors import log_probability, log_slope

ROUNDING = 16 * 2.0**-53  # assumed relative error of a logarithm and of a sum with it; several times the largest


class Nodes(NamedTuple):
    """A tree of n linear classifiers, numbered level by level, and the products and errors that the bounds need."""

    parent: np.ndarray  # int32 (n,), -1 for the root
    label: np.ndarray  # int32 (n,), -1 for inner nodes
    first_child: np.ndarray  # int32 (n,)
    n_children: np.ndarray  # int32 (n,)
    depth: np.ndarray  # int32 (n,)
    bias: np.ndarray  # float64 (n,), may be infinite
    error: np.ndarray  # float64 (n,), largest error of a float32 margin, relative to the sum of |terms|
    weight_ptr: np.ndarray  # int64 (n + 1,)
    weight_features: np.ndarray  # int32
    weight_values: np.ndarray  # float32
    gram_ptr: np.ndarray  # int64 (n + 1,)
    gram: np.ndarray  # float64, see ancestor_products


class Cap(NamedTuple):
    """The path of the best label, with d nodes below the root, and its bounds over all rows within an angle."""

    path: np.ndarray  # int64 (d,), nodes at depth 1 to d
    angle: np.ndarray  # float64 (3,): cosine, sine, and distance of unit vectors at that angle
    margin: np.ndarray  # float64 (n,), margin of the row itself, at each node that was evaluated
    terms: np.ndarray  # float64 (n,), sum of |weight * value| of the row itself, at each node that was evaluated
    slope: np.ndarray  # float64 (d,), slope of each node's chord
    # Sums over the path from each of its nodes down to the leaf, float64 (d + 1,):
    least: np.ndarray  # of the smallest log factors
    constant: (
        np.ndarray
    )  # of the constant parts of the chords; their other part is a linear function of the unit vector
    along: np.ndarray  # of the linear parts, for the row itself
    square: np.ndarray  # squared length of the sum of the linear parts
    length: np.ndarray  # of the lengths of the linear parts
    size: np.ndarray  # of the absolute values that the constant is a sum of
    total: np.ndarray  # float64 (1,), sum of |smallest log factor| over the whole path, the root included


class Search(NamedTuple):
    """The tree, and the constants of a search for the largest angle."""

    nodes: Nodes
    leaf_of_label: np.ndarray  # int32 (L,)
    root_has_factor: bool
    loss: int
    rounding: float  # largest error of an inner product, relative to the product of the lengths
    n_features: int


class BoundScratch(NamedTuple):
    """Work space of a search in a tree with n nodes, D features and depth d."""

    row: np.ndarray  # float64 (D,), the current row, scaled to length 1
    place: np.ndarray  # int32 (D,), number of a feature among those of the best label's path; -1 for none
    cross_at: np.ndarray  # int64 (n,), row of ``cross`` that belongs to a node; -1 for none
    score: np.ndarray  # float64 (n,), log probability of a node that was evaluated
    heap_scores: np.ndarray  # float64 (n,)
    heap_nodes: np.ndarray  # int32 (n,)
    chain: np.ndarray  # int64 (d + 1,), nodes from a compared node up to the best label's path
    tangent: np.ndarray  # float64 (d + 1,), margin at which the tangent of each chain node touches
    slopes: np.ndarray  # float64 (d + 1,), slope of that tangent


@kernel
def ancestor_products(first_child, n_children, depth, weight_ptr, weight_features, weight_values, n_features):
    """Return the inner products of every node's weights with those of its ancestors (not the root) and its own."""
    n = depth.size
    gram_ptr = np.zeros(n + 1, np.int64)
    for v in range(n):
        gram_ptr[v + 1] = gram_ptr[v] + depth[v]
    gram = np.zeros(gram_ptr[n], np.float64)
    dense = np.zeros(n_features, np.float64)
    for v in range(1, n):
        for e in range(weight_ptr[v], weight_ptr[v + 1]):
            dense[weight_features[e]] = weight_values[e]
        first = v
        stop = v + 1
        while first < stop:
            next_first = np.int64(0)
            next_stop = np.int64(0)
            for u in range(first, stop):
                total = 0.0
                for e in range(weight_ptr[u], weight_ptr[u + 1]):
                    total += dense[weight_features[e]] * weight_values[e]
                gram[gram_ptr[u] + depth[v] - 1] = total
                if n_children[u] > 0:
                    if next_stop == 0:
                        next_first = np.int64(first_child[u])
                    next_stop = np.int64(first_child[u]) + n_children[u]
            first = next_first
            stop = next_stop
        for e in range(weight_ptr[v], weight_ptr[v + 1]):
            dense[weight_features[e]] = 0.0
    return gram_ptr, gram


@inlined
def cap_maximum(along, square, cosine, sine, rounding):
    """Return the largest value of c . u' over the unit vectors u' within an angle of at most 90 degrees of u."""
    square = max(square, along * along) + rounding
    across = np.sqrt(square - along * along)
    if along > 0.0 and across * cosine <= along * sine:
        return np.sqrt(square)
    return along * cosine + across * sine


@inlined
def margin_error(error, bias, terms, square, chord):
    """Return the largest error of a node's margin in float32, for all rows in the cap."""
    # ``square`` is |w|^2, ``terms`` the sum of |weight * value| for the row itself, and ``chord`` the largest distance
    # of a unit vector in the cap from the row. By the Cauchy-Schwarz inequality the sum of |weight * value| for any row
    # in the cap is at most ``terms`` + |w| ``chord``, and at most |w|.
    length = np.sqrt(square)
    return error * (abs(bias) + min(length, terms + chord * length))


@kernel
def narrow(search, cap, root_margin, root_range, angle):
    """Write the bounds of the best label's path over all rows within ``angle`` into ``cap``."""
    # The smallest margin of the root's factor is at least ``root_margin - root_range``.
    nodes = search.nodes
    loss = search.loss
    rounding = search.rounding
    cosine = np.cos(angle)
    sine = np.sin(angle)
    cap.angle[0] = cosine
    cap.angle[1] = sine
    cap.angle[2] = 2.0 * np.sin(0.5 * angle)
    depth = cap.path.size
    cap.least[depth] = 0.0
    cap.constant[depth] = 0.0
    cap.along[depth] = 0.0
    cap.square[depth] = 0.0
    cap.length[depth] = 0.0
    cap.size[depth] = 0.0
    cap.total[0] = -log_probability(root_margin - root_range, loss)
    for k in range(depth - 1, -1, -1):
        v = cap.path[k]
        bias = nodes.bias[v]
        cap.slope[k] = 0.0
        if np.isinf(bias):  # +inf: rows with a factor of 0 are not searched
            lowest = 0.0
            constant = 0.0
            size = 0.0
            length = 0.0
            along = 0.0
        else:
            along = cap.margin[v] - bias
            square = nodes.gram[nodes.gram_ptr[v + 1] - 1]
            low = bias - cap_maximum(-along, square, cosine, sine, rounding * square)
            high = bias + cap_maximum(along, square, cosine, sine, rounding * square)
            error = margin_error(nodes.error[v], bias, cap.terms[v], square, cap.angle[2])
            lowest = log_probability(low - error, loss)
            highest = log_probability(high + error, loss)
            width = high - low + 2.0 * error
            if width > 0.0:
                cap.slope[k] = max(0.0, (highest - lowest) / width)
            constant = lowest + cap.slope[k] * (bias - low)
            size = abs(lowest) + cap.slope[k] * (abs(bias) + abs(low))
            length = cap.slope[k] * np.sqrt(square)
        square = 0.0
        for j in range(k, depth):
            twice = 1.0 if j == k else 2.0
            square += twice * cap.slope[k] * cap.slope[j] * nodes.gram[nodes.gram_ptr[cap.path[j]] + k]
        cap.least[k] = cap.least[k + 1] + lowest
        cap.constant[k] = cap.constant[k + 1] + constant
        cap.along[k] = cap.along[k + 1] + cap.slope[k] * along
        cap.square[k] = cap.square[k + 1] + square
        cap.length[k] = cap.length[k + 1] + length
        cap.size[k] = cap.size[k + 1] + size
        cap.total[0] -= lowest


@kernel
def is_beaten(search, cap, scratch, cross, attempts, v):
    """Return whether the best label is certainly ahead of every label below node v, for all rows in the cap."""
    # ``cross[scratch.cross_at[v]]`` has the products of the node's weights with those of the path. Each of the
    # ``attempts`` tries the tangent that touches where the last bound was smallest.
    nodes = search.nodes
    loss = search.loss
    rounding = search.rounding
    chain = scratch.chain
    tangent = scratch.tangent
    slopes = scratch.slopes
    length = 0
    while v > 0 and not (nodes.depth[v] <= cap.path.size and cap.path[nodes.depth[v] - 1] == v):
        chain[length] = v
        length += 1
        v = nodes.parent[v]
    common = nodes.depth[v]  # v is the lowest common ancestor
    depth = cap.path.size
    cosine = cap.angle[0]
    sine = cap.angle[1]
    score_slack = ROUNDING * (depth + length + 4) * (1.0 + cap.total[0])
    for t in range(length):
        if nodes.bias[chain[t]] == -np.inf:
            return True
        tangent[t] = cap.margin[chain[t]]
    for attempt in range(attempts):
        most = 0.0
        constant = cap.constant[common]
        along = cap.along[common]
        square = cap.square[common]
        lengths = cap.length[common]
        size = cap.size[common]
        for t in range(length - 1, -1, -1):
            s = chain[t]
            bias = nodes.bias[s]
            slopes[t] = 0.0
            if bias == np.inf:
                continue
            part = cap.margin[s] - bias
            own = nodes.gram[nodes.gram_ptr[s + 1] - 1]
            error = margin_error(nodes.error[s], bias, cap.terms[s], own, cap.angle[2])
            if attempt == 0:
                high = bias + cap_maximum(part, own, cosine, sine, rounding * own)
                most += log_probability(high + error, loss)
                if cap.least[common] - most > score_slack + ROUNDING * (depth + length + 4) * abs(most):
                    return True
            slope = log_slope(tangent[t], loss)
            slopes[t] = slope
            value = log_probability(tangent[t], loss)
            constant -= value + slope * (bias - tangent[t] + error)
            size += abs(value) + slope * (abs(bias) + abs(tangent[t]) + error)
            along -= slope * part
            lengths += slope * np.sqrt(own)
            square += slope * slope * own
            for k in range(common, depth):
                square -= 2.0 * slope * cap.slope[k] * cross[scratch.cross_at[s], k]
            for above in range(length - 1, t, -1):
                square += 2.0 * slope * slopes[above] * nodes.gram[nodes.gram_ptr[s] + nodes.depth[chain[above]] - 1]
            slack = score_slack + ROUNDING * (depth + length + 4) * size + rounding * lengths
            worst = cap_maximum(-along, square, cosine, sine, rounding * lengths * lengths)
            if constant - worst > slack:
                return True
        if attempt + 1 == attempts or not move_tangents(nodes, cap, scratch, cross, common, length, along, square):
            return False
    return False


@inlined
def move_tangents(nodes, cap, scratch, cross, common, length, along, square):
    """Move the tangents of the chain to the row in the cap where the bound is smallest; False if there is none."""
    chain = scratch.chain
    slopes = scratch.slopes
    cosine = cap.angle[0]
    sine = cap.angle[1]
    square = max(square, along * along)
    across = np.sqrt(square - along * along)
    inside = along < 0.0 and across * cosine <= -along * sine
    if square == 0.0 or (across == 0.0 and not inside):
        return False
    for t in range(length):
        s = chain[t]
        if nodes.bias[s] == np.inf:
            continue
        product = 0.0
        for k in range(common, cap.path.size):
            product += cap.slope[k] * cross[scratch.cross_at[s], k]
        for other in range(length):
            if nodes.depth[chain[other]] <= nodes.depth[s]:
                at = nodes.gram_ptr[s] + nodes.depth[chain[other]] - 1
            else:
                at = nodes.gram_ptr[chain[other]] + nodes.depth[s] - 1
            product -= slopes[other] * nodes.gram[at]
        part = cap.margin[s] - nodes.bias[s]
        if inside:
            there = -product / np.sqrt(square)
        else:
            there = cosine * part - sine * (product - along * part) / across
        scratch.tangent[t] = nodes.bias[s] + there
    return True
