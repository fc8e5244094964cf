"""How far a row may turn before a label tree's best label can change: lower bounds that hold.

Rows are scaled to length 1 before they meet a classifier, so only their direction matters. A change of length r < |x|
turns x by at most arcsin(r / |x|), and reaches every direction that is no further away: what is bounded here is the
angle. Over all unit vectors u' within the angle t of u = x / |x|, a linear function c . u' ranges up to

    A cos t + B sin t,  where A = c . u and B = sqrt(|c|^2 - A^2),

or to |c| where c itself is within reach (t >= atan2(B, A)): :func:`cap_maximum`.

Let a be the best label and b another. Factors of common ancestors cancel, so compared are the sums of log factors
l(m_v) below their lowest common ancestor, where m_v = w_v . u' + bias_v and l is concave and never falls. Two bounds:

- Each margin for itself: l at the least margin of each of a's nodes, at the largest of each of b's.
- All margins together: l of a's nodes is at least its chord between the least and the largest margin, l of b's nodes is
  at most a tangent (at any place). Both are linear, so the whole difference is at least a constant plus one linear
  function of u', of which the minimum is known. At small angles this is exact to first order.

Factors are at most 1, so the beginning of b's path, from the common ancestor down, bounds every label below: subtrees
beside a's path are searched best first, and only those are opened that are not certified as a whole.

The prediction is made of float32 margins and float64 logarithms. Every margin is therefore widened by what float32 can
do to it at worst (:func:`margin_error`), and every comparison by what float64 can (``ROUNDING``).
"""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.k_best import heap_pop, heap_push
from xmlcore._kernels.plt_factors import log_probability, log_slope

RIGHT_ANGLE = np.pi / 2
ROUNDING = 16 * 2.0**-53  # of a logarithm, and of each sum with it, several times over
PRECISION = 1e-4  # to which the angle of a label is found, relative
HALVINGS = 50
ATTEMPTS = 4  # tangents tried for a label: each touches where the last one was worst


class Nodes(NamedTuple):
    """A tree of linear classifiers with what bounds ask of it. n nodes, numbered level by level."""

    parent: np.ndarray  # int32 (n,), -1 for the root
    label: np.ndarray  # int32 (n,), -1 for inner nodes
    first_child: np.ndarray  # int32 (n,)
    n_children: np.ndarray  # int32 (n,)
    depth: np.ndarray  # int32 (n,)
    bias: np.ndarray  # float64 (n,), may be infinite
    error: np.ndarray  # float64 (n,), how far a margin in float32 may be off, in parts of the sum of its terms' sizes
    weight_ptr: np.ndarray  # int64 (n + 1,)
    weight_features: np.ndarray  # int32
    weight_values: np.ndarray  # float32
    gram_ptr: np.ndarray  # int64 (n + 1,)
    gram: np.ndarray  # float64, see ancestor_products


class Cap(NamedTuple):
    """The path of the best label, d nodes below the root, and its bounds over all rows within an angle."""

    path: np.ndarray  # int64 (d,), nodes at depth 1 to d
    angle: np.ndarray  # float64 (3,): cosine, sine, and how far apart unit vectors at that angle are
    margin: np.ndarray  # float64 (n,), of every node that was looked at, for the row itself
    terms: np.ndarray  # float64 (n,), likewise: sum of the sizes of weight times value
    slope: np.ndarray  # float64 (d,), of each node's chord
    # From each node of the path down to the leaf, float64 (d + 1,):
    least: np.ndarray  # sum of the log factors' least values
    constant: np.ndarray  # of the chords' sum, as a linear function of the unit vector
    along: np.ndarray  # that function's value for the row itself
    square: np.ndarray  # its squared length
    length: np.ndarray  # sum of the lengths that it is made of
    size: np.ndarray  # sum of what the constant is made of, in size
    total: np.ndarray  # float64 (1,), sum of all log factors' least values in size, the root's included


@kernel
def ancestor_products(first_child, n_children, depth, weight_ptr, weight_features, weight_values, n_features):
    """Inner products of every node's weights with its ancestors', the root's left out, and its own.

    Returns
    -------
    gram_ptr : int64 (n + 1,)
    gram : float64
        Of node v at depth d the d values from ``gram_ptr[v]`` on: with its ancestor at depth 1, 2, .., and v itself.

    Notes
    -----
    O(weights * depth) time.
    """
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
        last = v + 1
        while first < last:
            next_first = np.int64(0)
            next_last = np.int64(0)
            for u in range(first, last):
                total = 0.0
                for e in range(weight_ptr[u], weight_ptr[u + 1]):
                    total += dense[weight_features[e]] * weight_values[e]
                gram[gram_ptr[u] + depth[v] - 1] = total
                if n_children[u] > 0:
                    if next_last == 0:
                        next_first = np.int64(first_child[u])
                    next_last = np.int64(first_child[u]) + n_children[u]
            first = next_first
            last = next_last
        for e in range(weight_ptr[v], weight_ptr[v + 1]):
            dense[weight_features[e]] = 0.0
    return gram_ptr, gram


@inlined
def cap_maximum(along, square, cosine, sine, rounding):
    """Largest value of c . u' over the unit vectors u' within an angle of at most 90 degrees of u.

    Parameters
    ----------
    along, square : float
        c . u and c . c.
    rounding : float
        How far ``square`` may be off, absolutely.
    """
    square = max(square, along * along) + rounding
    across = np.sqrt(square - along * along)
    if along > 0.0 and across * cosine <= along * sine:
        return np.sqrt(square)
    return along * cosine + across * sine


@inlined
def margin_error(error, bias, terms, square, chord):
    """How far a node's margin in float32 may be off, for all rows in the cap.

    The sizes of the products add up to at most ``terms``, those of the row itself, and |w| times ``chord``, the
    distance of the unit vectors; and to at most |w| (both: Cauchy, Schwarz).
    """
    length = np.sqrt(square)
    return error * (abs(bias) + min(length, terms + chord * length))


@kernel
def narrow(nodes, cap, loss, root_margin, root_range, rounding, angle):
    """Bound the factors of the best label's path over all rows within ``angle``, into ``cap``.

    Parameters
    ----------
    root_margin, root_range : float
        Least margin of the root's own factor is at least their difference; infinity, 0 where it has none.
    rounding : float
        Relative, of inner products.
    """
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
        if np.isinf(bias):  # plus infinity: rows with a factor of 0 are left out before
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
def is_beaten(nodes, cap, loss, cross, cross_at, chain, tangent, slopes, rounding, attempts, v):
    """Whether the best label surely stays ahead of every label under node v, for all rows in the cap.

    Parameters
    ----------
    cross : float64 (m, d), cross_at : int64 (n,)
        Inner products of a node's weights with those of the path; their row of each node that was looked at.
    chain : int64, tangent, slopes : float64
        Scratch, as long as the tree is deep.
    attempts : int
        Tangents tried, at least 1.
    """
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
                square -= 2.0 * slope * cap.slope[k] * cross[cross_at[s], k]
            for above in range(length - 1, t, -1):
                square += 2.0 * slope * slopes[above] * nodes.gram[nodes.gram_ptr[s] + nodes.depth[chain[above]] - 1]
            slack = score_slack + ROUNDING * (depth + length + 4) * size + rounding * lengths
            worst = cap_maximum(-along, square, cosine, sine, rounding * lengths * lengths)
            if constant - worst > slack:
                return True
        if attempt + 1 == attempts:
            return False
        # Where the bound is least: the next tangents touch there.
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
            for k in range(common, depth):
                product += cap.slope[k] * cross[cross_at[s], k]
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
            tangent[t] = nodes.bias[s] + there
    return False


@kernel
def certify_rows(nodes, leaf_of_label, root_has_factor, loss, x_ptr, x_features, x_values, rows, tops, rounding,
                 n_features, angles, limits):  # fmt: skip
    """Largest angle found by which each row may turn without another label becoming the best.

    Parameters
    ----------
    nodes : Nodes
    leaf_of_label : int32 (L,)
    loss : int
    x_ptr, x_features, x_values : CSR of X
    rows : int64 (m,), tops : int32 (m,)
        Rows and their best labels; rows of one label after the other share some work.
    rounding : float
        How far an inner product may be off, in parts of the product of the lengths.
    angles : float64 (m,), written
        In [0, pi / 2]; 0 where the row is empty, its best label has probability 0, or is not surely ahead.
    limits : int32 (m,), written
        The label at which the bound ends, -1 where none does.

    Notes
    -----
    Of each row, opened nodes cost their weights, once for their margins, and once for each new label among ``tops`` for
    the products with the label's path; checks cost O(depth^2).
    """
    n = nodes.label.size
    row = np.zeros(n_features, np.float64)
    place = np.full(n_features, -1, np.int32)  # of a feature among those of the path
    deepest = max(1, nodes.depth.max())
    chain = np.empty(deepest + 1, np.int64)
    tangent = np.empty(deepest + 1, np.float64)
    slopes = np.empty(deepest + 1, np.float64)
    margin = np.zeros(n, np.float64)
    terms = np.zeros(n, np.float64)
    score = np.zeros(n, np.float64)
    heap_scores = np.empty(n, np.float64)
    heap_nodes = np.empty(n, np.int32)
    cross_at = np.full(n, -1, np.int64)
    cross = np.empty((64, 1), np.float64)
    path_weights = np.zeros((1, 1), np.float32)
    path = np.empty(0, np.int64)
    cap = Cap(
        path, np.empty(3), margin, terms, np.empty(0), np.empty(1), np.empty(1), np.empty(1), np.empty(1),
        np.empty(1), np.empty(1), np.empty(1),
    )  # fmt: skip
    n_cross = 0
    top = -1
    for i in range(rows.size):
        begin = x_ptr[rows[i]]
        end = x_ptr[rows[i] + 1]
        angles[i] = 0.0
        limits[i] = -1
        if begin == end:
            continue
        if tops[i] != top:
            top = tops[i]
            for k in range(path.size):
                for e in range(nodes.weight_ptr[path[k]], nodes.weight_ptr[path[k] + 1]):
                    place[nodes.weight_features[e]] = -1
            leaf = leaf_of_label[top]
            depth = np.int64(nodes.depth[leaf])
            path = np.empty(depth, np.int64)
            v = leaf
            for k in range(depth - 1, -1, -1):
                path[k] = v
                v = nodes.parent[v]
            n_places = 0
            for k in range(depth):
                for e in range(nodes.weight_ptr[path[k]], nodes.weight_ptr[path[k] + 1]):
                    if place[nodes.weight_features[e]] < 0:
                        place[nodes.weight_features[e]] = n_places
                        n_places += 1
            path_weights = np.zeros((n_places, depth), np.float32)
            for k in range(depth):
                for e in range(nodes.weight_ptr[path[k]], nodes.weight_ptr[path[k] + 1]):
                    path_weights[place[nodes.weight_features[e]], k] = nodes.weight_values[e]
            cross = np.empty((64, depth), np.float64)
            cross_at[:] = -1
            n_cross = 0
            cap = Cap(
                path, np.empty(3), margin, terms, np.empty(depth), np.empty(depth + 1), np.empty(depth + 1),
                np.empty(depth + 1), np.empty(depth + 1), np.empty(depth + 1), np.empty(depth + 1), np.empty(1),
            )  # fmt: skip
        depth = path.size
        length = 0.0
        for t in range(begin, end):
            length += np.float64(x_values[t]) * np.float64(x_values[t])
        length = np.sqrt(length)
        for t in range(begin, end):
            row[x_features[t]] = x_values[t] / length
        root_margin = np.inf
        root_range = 0.0
        if root_has_factor:
            root_margin = nodes.bias[0]
            total = 0.0
            for e in range(nodes.weight_ptr[0], nodes.weight_ptr[1]):
                root_margin += row[nodes.weight_features[e]] * nodes.weight_values[e]
                total += np.float64(nodes.weight_values[e]) * nodes.weight_values[e]
            root_range = 2.0 * np.sqrt(total)
            if np.isfinite(root_margin):
                root_range += margin_error(nodes.error[0], nodes.bias[0], 0.0, total, 1.0)
        is_possible = root_margin > -np.inf
        score[0] = 0.0
        for k in range(depth):
            v = path[k]
            margin[v] = nodes.bias[v]
            terms[v] = 0.0
            for e in range(nodes.weight_ptr[v], nodes.weight_ptr[v + 1]):
                product = row[nodes.weight_features[e]] * nodes.weight_values[e]
                margin[v] += product
                terms[v] += abs(product)
            is_possible = is_possible and margin[v] > -np.inf
            score[v] = score[nodes.parent[v]] + log_probability(margin[v], loss)
        if is_possible:
            angle = RIGHT_ANGLE
            narrow(nodes, cap, loss, root_margin, root_range, rounding, angle)
            waiting = 0
            opened = depth  # the path's nodes first, from the top, then those of the heap
            while angle > 0.0 and (opened > 0 or waiting > 0):
                if opened > 0:
                    v = np.int64(nodes.parent[path[depth - opened]])
                    opened -= 1
                else:
                    v = np.int64(heap_nodes[0])
                    waiting = heap_pop(heap_scores, heap_nodes, waiting)
                    if is_beaten(nodes, cap, loss, cross, cross_at, chain, tangent, slopes, rounding, 1, v):
                        continue
                    if nodes.label[v] >= 0:
                        low = 0.0
                        high = angle
                        middle = angle
                        for _ in range(HALVINGS):
                            if is_beaten(
                                nodes, cap, loss, cross, cross_at, chain, tangent, slopes, rounding, ATTEMPTS, v
                            ):
                                low = middle
                            else:
                                high = middle
                            if high - low <= PRECISION * low:
                                break
                            middle = 0.5 * (low + high)
                            narrow(nodes, cap, loss, root_margin, root_range, rounding, middle)
                        if low < angle:
                            angle = low
                            limits[i] = nodes.label[v]
                        if middle != angle:
                            narrow(nodes, cap, loss, root_margin, root_range, rounding, angle)
                        continue
                first = np.int64(nodes.first_child[v])
                for child in range(first, first + nodes.n_children[v]):
                    if nodes.depth[child] <= depth and path[nodes.depth[child] - 1] == child:
                        continue
                    if cross_at[child] < 0:
                        if n_cross == cross.shape[0]:
                            more = np.empty((2 * n_cross, depth), np.float64)
                            more[:n_cross] = cross
                            cross = more
                        cross_at[child] = n_cross
                        cross[n_cross] = 0.0
                        for e in range(nodes.weight_ptr[child], nodes.weight_ptr[child + 1]):
                            at = place[nodes.weight_features[e]]
                            if at >= 0:
                                for k in range(depth):
                                    cross[n_cross, k] += np.float64(nodes.weight_values[e]) * path_weights[at, k]
                        n_cross += 1
                    total = nodes.bias[child]
                    size = 0.0
                    for e in range(nodes.weight_ptr[child], nodes.weight_ptr[child + 1]):
                        product = row[nodes.weight_features[e]] * nodes.weight_values[e]
                        total += product
                        size += abs(product)
                    margin[child] = total
                    terms[child] = size
                    score[child] = score[v] + log_probability(total, loss)
                    if not is_beaten(nodes, cap, loss, cross, cross_at, chain, tangent, slopes, rounding, 1, child):
                        waiting = heap_push(heap_scores, heap_nodes, waiting, score[child], child)
            angles[i] = angle
        for t in range(begin, end):
            row[x_features[t]] = 0.0
