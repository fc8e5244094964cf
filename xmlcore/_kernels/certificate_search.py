"""The largest angle by which a row may turn before a label tree's best label can change: a lower bound.

The subtrees beside the best label's path are searched best first. A subtree is opened only if the best label is not
certainly ahead of all its labels within the angle found so far (``certificate_bounds``). At a leaf the angle is halved
until the best label is ahead.
"""

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.certificate_bounds import BoundScratch, Cap, is_beaten, margin_error, narrow
from xmlcore._kernels.k_best import heap_pop, heap_push
from xmlcore._kernels.plt_factors import log_probability

RIGHT_ANGLE = np.pi / 2
PRECISION = 1e-4  # relative precision of the angle of a label
HALVINGS = 50  # most halvings of the angle for a label
ATTEMPTS = 4  # tangents that are tried for a label


@kernel
def certify_rows(search, x, rows, tops, angles, limits):
    """Find the largest certified angle by which each row may turn without another label becoming the best."""
    nodes = search.nodes
    scratch = new_scratch(nodes, search.n_features)
    row = scratch.row
    margin = np.zeros(nodes.label.size, np.float64)
    terms = np.zeros(nodes.label.size, np.float64)
    cap = new_cap(np.empty(0, np.int64), margin, terms)
    cross = np.empty((64, 1), np.float64)
    path_weights = np.zeros((1, 1), np.float32)
    n_cross = 0
    top = -1
    for i in range(rows.size):
        begin = x.ptr[rows[i]]
        end = x.ptr[rows[i] + 1]
        angles[i] = 0.0
        limits[i] = -1
        if begin == end:
            continue
        if tops[i] != top:
            top = tops[i]
            clear_places(nodes, cap.path, scratch.place)
            cap = new_cap(path_to(nodes, search.leaf_of_label[top]), margin, terms)
            path_weights = weights_by_place(nodes, cap.path, scratch.place)
            cross = np.empty((64, cap.path.size), np.float64)
            scratch.cross_at[:] = -1
            n_cross = 0
        length = 0.0
        for t in range(begin, end):
            length += np.float64(x.values[t]) * np.float64(x.values[t])
        length = np.sqrt(length)
        for t in range(begin, end):
            row[x.features[t]] = x.values[t] / length
        root_margin, root_range = root_bounds(search, row)
        is_possible = root_margin > -np.inf
        scratch.score[0] = 0.0
        for k in range(cap.path.size):
            v = cap.path[k]
            margin[v], terms[v] = margin_of(nodes, v, row)
            is_possible = is_possible and margin[v] > -np.inf
            scratch.score[v] = scratch.score[nodes.parent[v]] + log_probability(margin[v], search.loss)
        if is_possible:
            angles[i], limits[i], cross, n_cross = largest_angle(
                search, cap, scratch, path_weights, cross, n_cross, root_margin, root_range
            )
        for t in range(begin, end):
            row[x.features[t]] = 0.0


@kernel
def largest_angle(search, cap, scratch, path_weights, cross, n_cross, root_margin, root_range):
    """Find the largest certified angle of one row, whose path is evaluated."""
    nodes = search.nodes
    depth = cap.path.size
    limit = np.int32(-1)
    angle = RIGHT_ANGLE
    narrow(search, cap, root_margin, root_range, angle)
    waiting = 0
    unopened = depth  # the path's nodes are opened first, from the top, then those of the heap
    while angle > 0.0 and (unopened > 0 or waiting > 0):
        if unopened > 0:
            v = np.int64(nodes.parent[cap.path[depth - unopened]])
            unopened -= 1
        else:
            v = np.int64(scratch.heap_nodes[0])
            waiting = heap_pop(scratch.heap_scores, scratch.heap_nodes, waiting)
            if is_beaten(search, cap, scratch, cross, 1, v):
                continue
            if nodes.label[v] >= 0:
                found = angle_against(search, cap, scratch, cross, root_margin, root_range, angle, v)
                if found < angle:
                    angle = found
                    limit = nodes.label[v]
                continue
        first = np.int64(nodes.first_child[v])
        for child in range(first, first + nodes.n_children[v]):
            if nodes.depth[child] <= depth and cap.path[nodes.depth[child] - 1] == child:
                continue
            if scratch.cross_at[child] < 0:
                if n_cross == cross.shape[0]:
                    more = np.empty((2 * n_cross, depth), np.float64)
                    for c in range(n_cross):
                        for d in range(depth):
                            more[c, d] = cross[c, d]
                    cross = more
                scratch.cross_at[child] = n_cross
                multiply_with_path(nodes, child, scratch.place, path_weights, cross, n_cross)
                n_cross += 1
            cap.margin[child], cap.terms[child] = margin_of(nodes, child, scratch.row)
            scratch.score[child] = scratch.score[v] + log_probability(cap.margin[child], search.loss)
            if not is_beaten(search, cap, scratch, cross, 1, child):
                waiting = heap_push(scratch.heap_scores, scratch.heap_nodes, waiting, scratch.score[child], child)
    return angle, limit, cross, n_cross


@kernel
def angle_against(search, cap, scratch, cross, root_margin, root_range, angle, v):
    """Return the largest angle, at most ``angle``, at which the best label is certainly ahead; update ``cap``."""
    low = 0.0
    high = angle
    middle = angle
    for _ in range(HALVINGS):
        if is_beaten(search, cap, scratch, cross, ATTEMPTS, v):
            low = middle
        else:
            high = middle
        if high - low <= PRECISION * low:
            break
        middle = 0.5 * (low + high)
        narrow(search, cap, root_margin, root_range, middle)
    found = min(low, angle)
    if middle != found:
        narrow(search, cap, root_margin, root_range, found)
    return found


@inlined
def root_bounds(search, row):
    """Return the margin of the root's factor and how much it can change; infinity and 0 where the root has none."""
    root_margin = np.inf
    root_range = 0.0
    if search.root_has_factor:
        nodes = search.nodes
        root_margin = nodes.bias[0]
        total = 0.0
        for e in range(nodes.weight_ptr[0], nodes.weight_ptr[1]):
            root_margin += row[nodes.weight_features[e]] * nodes.weight_values[e]
            total += np.float64(nodes.weight_values[e]) * nodes.weight_values[e]
        root_range = 2.0 * np.sqrt(total)
        if np.isfinite(root_margin):
            root_range += margin_error(nodes.error[0], nodes.bias[0], 0.0, total, 1.0)
    return root_margin, root_range


@inlined
def margin_of(nodes, v, row):
    """Return the margin of node v for a row, and the sum of the absolute values of its products; row: float64 (D,)."""
    margin = nodes.bias[v]
    terms = 0.0
    for e in range(nodes.weight_ptr[v], nodes.weight_ptr[v + 1]):
        product = row[nodes.weight_features[e]] * nodes.weight_values[e]
        margin += product
        terms += abs(product)
    return margin, terms


@inlined
def multiply_with_path(nodes, v, place, path_weights, cross, at):
    """Write the inner products of node v's weights with those of the path's nodes into ``cross[at]``."""
    cross[at] = 0.0
    for e in range(nodes.weight_ptr[v], nodes.weight_ptr[v + 1]):
        feature = place[nodes.weight_features[e]]
        if feature >= 0:
            for k in range(path_weights.shape[1]):
                cross[at, k] += np.float64(nodes.weight_values[e]) * path_weights[feature, k]


@kernel
def path_to(nodes, leaf):
    path = np.empty(np.int64(nodes.depth[leaf]), np.int64)
    v = leaf
    for k in range(path.size - 1, -1, -1):
        path[k] = v
        v = nodes.parent[v]
    return path


@kernel
def weights_by_place(nodes, path, place):
    """Return the weights of a path's nodes over the features that occur in them: float32 (n_places, d)."""
    # A feature's number, its place, is written into ``place``, which must be -1 for all features.
    n_places = 0
    for k in range(path.size):
        for e in range(nodes.weight_ptr[path[k]], nodes.weight_ptr[path[k] + 1]):
            if place[nodes.weight_features[e]] < 0:
                place[nodes.weight_features[e]] = n_places
                n_places += 1
    weights = np.zeros((n_places, path.size), np.float32)
    for k in range(path.size):
        for e in range(nodes.weight_ptr[path[k]], nodes.weight_ptr[path[k] + 1]):
            weights[place[nodes.weight_features[e]], k] = nodes.weight_values[e]
    return weights


@inlined
def clear_places(nodes, path, place):
    """Set ``place`` back to -1 for the features of the path's nodes."""
    for k in range(path.size):
        for e in range(nodes.weight_ptr[path[k]], nodes.weight_ptr[path[k] + 1]):
            place[nodes.weight_features[e]] = -1


@kernel
def new_cap(path, margin, terms):
    d = path.size
    return Cap(
        path, np.empty(3), margin, terms, np.empty(d), np.empty(d + 1), np.empty(d + 1), np.empty(d + 1),
        np.empty(d + 1), np.empty(d + 1), np.empty(d + 1), np.empty(1),
    )  # fmt: skip


@kernel
def new_scratch(nodes, n_features):
    n = nodes.label.size
    deepest = max(1, nodes.depth[-1])
    return BoundScratch(
        np.zeros(n_features, np.float64), np.full(n_features, -1, np.int32), np.full(n, -1, np.int64),
        np.zeros(n, np.float64), np.empty(n, np.float64), np.empty(n, np.int32),
        np.empty(deepest + 1, np.int64), np.empty(deepest + 1, np.float64), np.empty(deepest + 1, np.float64),
    )  # fmt: skip
