"""Label trees as flat arrays: which rows a node is trained on, and the search for labels.

Nodes are numbered so that the children of a node have consecutive ids and every parent comes before its children;
node 0 is the root. The classifiers of siblings are kept in groups of at most 256 consecutive siblings. A group's
``features[feature_ptr[g]:feature_ptr[g + 1]]`` are the features with a weight, ascending; a group in which many of the
possible weights are there keeps a row of them for every feature (``dense``), another one only those that are there, as
(child, value) pairs.
"""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.lanes import LANES, add_scaled, lane_operation
from xmlcore._kernels.siblings import LOGISTIC, NARROW, row_width

GROUP_LIMIT = 256  # children are stored as uint8 within their group
SCRATCH = GROUP_LIMIT + LANES
SELECT_LIMIT = 64  # more labels than these are not selected by margin first
# Scores decide, margins only rule out. Where a factor is so near to 1 that sums of logarithms may be equal by rounding,
# a larger margin is no reason.
SURE_LOGISTIC = 20.0
SURE_HINGE = 0.999
NEAR = 1e-3
HAIR = 1e-12


class TreeArrays(NamedTuple):
    """A fitted tree, flat. n nodes, g groups, F (group, feature) pairs."""

    parent: np.ndarray  # int32 (n,), -1 for the root
    label: np.ndarray  # int32 (n,), -1 for inner nodes
    bias: np.ndarray  # float32 (n,), may be infinite: a factor that is always 0 or 1
    group_ptr: np.ndarray  # int64 (n + 1,), the groups of a node's children
    group_first: np.ndarray  # int32 (g,), first child
    group_size: np.ndarray  # int32 (g,)
    feature_ptr: np.ndarray  # int64 (g + 1,)
    features: np.ndarray  # int32 (F,)
    dense_ptr: np.ndarray  # int64 (g + 1,), the group's rows of row_width(size) values; empty for a sparse group
    dense: np.ndarray  # float32
    sparse_ptr: np.ndarray  # int64 (g + 1,), the group's pairs; empty for a dense group
    entry_at: np.ndarray  # int64 (g + 1,), the group's part of entry_ptr: one more than its features, or nothing
    entry_ptr: np.ndarray  # uint32, where each feature's pairs start, counted from sparse_ptr[g]
    entry_child: np.ndarray  # uint8 (pairs,)
    entry_value: np.ndarray  # float32 (pairs,)
    # Where to find a feature: bucket b of a group holds its features f with f >> shift == b.
    bucket_shift: np.ndarray  # int32 (g,)
    bucket_at: np.ndarray  # int64 (g + 1,)
    bucket_start: np.ndarray  # uint32, places in the group's features
    depth: np.ndarray  # int32 (n,)
    root_group: int  # the group of the root's own factor, -1 when that is 1


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
def index_features(feature_ptr, features):
    """Buckets by which a group's features are found: about as many as it has features.

    Parameters
    ----------
    feature_ptr : int64 (g + 1,)
    features : int32 (F,), ascending within a group

    Returns
    -------
    bucket_shift : int32 (g,)
    bucket_at : int64 (g + 1,)
    bucket_start : uint32
        Group g's bucket b holds ``features[feature_ptr[g]:][start[b]:start[b + 1]]``, with
        ``start = bucket_start[bucket_at[g]:bucket_at[g + 1]]``.
    """
    n_groups = feature_ptr.size - 1
    bucket_shift = np.zeros(n_groups, np.int32)
    bucket_at = np.zeros(n_groups + 1, np.int64)
    for g in range(n_groups):
        count = feature_ptr[g + 1] - feature_ptr[g]
        if count > 0:
            last = np.int64(features[feature_ptr[g + 1] - 1])
            while last >> bucket_shift[g] >= 2 * count:
                bucket_shift[g] += 1
            bucket_at[g + 1] = (last >> bucket_shift[g]) + 2
        bucket_at[g + 1] += bucket_at[g]
    bucket_start = np.empty(bucket_at[n_groups], np.uint32)
    for g in range(n_groups):
        at = feature_ptr[g]
        for b in range(bucket_at[g + 1] - bucket_at[g]):
            while at < feature_ptr[g + 1] and features[at] >> bucket_shift[g] < b:
                at += 1
            bucket_start[bucket_at[g] + b] = at - feature_ptr[g]
    return bucket_shift, bucket_at, bucket_start


@inlined
def log_probability(margin, loss):
    """Log of a node's factor: sigmoid(margin), or exp(-max(0, 1 - margin)^2) for the squared hinge."""
    z = np.float64(margin)
    if loss == LOGISTIC:
        if z > 0.0:
            return -np.log1p(np.exp(-z))
        return z - np.log1p(np.exp(z))
    slack = max(0.0, 1.0 - z)
    return -slack * slack


@inlined
def least_margin(log_factor, loss):
    """A margin below which the log of a node's factor is surely less than ``log_factor``."""
    if log_factor == -np.inf:
        return -np.inf
    reach = min(log_factor * (1.0 + HAIR) - HAIR, -HAIR)
    if loss == LOGISTIC:
        least = reach - np.log(-np.expm1(reach))
    else:
        least = 1.0 - np.sqrt(-reach)
    return least - 1e-9 * (1.0 + abs(least))


@inlined
def row_scale(data, start, end):
    """1 / |x|, and 1 for a row without entries."""
    total = 0.0
    for t in range(start, end):
        total += np.float64(data[t]) * np.float64(data[t])
    return 1.0 / np.sqrt(total) if total > 0.0 else 1.0


@lane_operation(n_arrays=1, n_scalars=0)
def largest_of_lanes(ops, values):
    return (), ops.largest(values)


@inlined
def group_margins(
    g, indices, data, start, end, scale, margins,
    bias, group_first, group_size, feature_ptr, features, dense_ptr, dense, sparse_ptr, entry_at, entry_ptr,
    entry_child, entry_value, bucket_shift, bucket_at, bucket_start,
):  # fmt: skip
    """``margins[:group size]``: of the group's children for one row; returns the group's size.

    The lanes that the last sixteen do not fill are minus infinity. The rest of the arguments are fields of
    :class:`TreeArrays`, which the callers read once: reading an array out of a tuple counts a reference to it.
    """
    n = group_size[g]
    width = row_width(n)
    first = group_first[g]
    for c in range(n):
        margins[c] = bias[first + c]
    for c in range(n, width):
        margins[c] = -np.inf
    begin = feature_ptr[g]
    last = features[feature_ptr[g + 1] - 1] if feature_ptr[g + 1] > begin else -1
    shift = bucket_shift[g]
    buckets = bucket_at[g]
    rows = dense_ptr[g]
    is_dense = dense_ptr[g + 1] > rows
    sparse = sparse_ptr[g]
    entries = entry_at[g]
    for t in range(start, end):
        f = indices[t]
        if f > last:
            break
        b = buckets + (f >> shift)
        at = np.int64(bucket_start[b])
        stop = np.int64(bucket_start[b + 1])
        while at < stop and features[begin + at] < f:
            at += 1
        if at == stop or features[begin + at] != f:
            continue
        v = np.float32(data[t] * scale)
        if is_dense:
            row = rows + at * width
            if width <= NARROW:
                for c in range(width):
                    margins[c] += v * dense[row + c]
            else:
                for c in range(0, width, LANES):
                    add_scaled(margins, c, dense, row + c, v)
        else:
            for e in range(sparse + entry_ptr[entries + at], sparse + entry_ptr[entries + at + 1]):
                margins[entry_child[e]] += v * entry_value[e]
    return n


@inlined
def leaf_bar(labels, loss, first, n, margins, k, bar, best):
    """A margin that k leaves among the group's children reach, or ``bar`` if that is more.

    Leaves below it need not be looked at: k siblings are surely better. ``best`` is scratch, (k,).
    """
    if n > k and k <= SELECT_LIMIT:
        for i in range(k):
            best[i] = -np.inf
        for block in range(0, n, LANES):
            top = largest_of_lanes(block, margins)
            if top > best[k - 1] and top >= bar:
                for c in range(block, min(n, block + LANES)):
                    if margins[c] > best[k - 1] and labels[first + c] >= 0:
                        at = k - 1
                        while at > 0 and margins[c] > best[at - 1]:
                            best[at] = best[at - 1]
                            at -= 1
                        best[at] = margins[c]
        sure = SURE_LOGISTIC if loss == LOGISTIC else SURE_HINGE
        bar = max(bar, min(np.float64(best[k - 1]), sure) - NEAR)
    return bar


@kernel
def root_log_probability(tree, loss, indices, data, start, end, scale, margins):
    """Log of the root's own factor, when it has one."""
    g = tree.root_group
    group_margins(
        g, indices, data, start, end, scale, margins,
        tree.bias, tree.group_first, tree.group_size, tree.feature_ptr, tree.features, tree.dense_ptr, tree.dense,
        tree.sparse_ptr, tree.entry_at, tree.entry_ptr, tree.entry_child, tree.entry_value, tree.bucket_shift,
        tree.bucket_at, tree.bucket_start,
    )  # fmt: skip
    return log_probability(margins[0], loss)


@inlined
def better(score_a, label_a, score_b, label_b):
    """Whether a comes before b in a ranking: larger score, then smaller label id."""
    return score_a > score_b or (score_a == score_b and label_a < label_b)


@inlined
def offer(best_scores, best_labels, count, k, score, label):
    """Insert a label into the sorted list of the k best; returns the new count."""
    if count < k or better(score, label, best_scores[k - 1], best_labels[k - 1]):
        count = min(count + 1, k)
        at = count - 1
        while at > 0 and better(score, label, best_scores[at - 1], best_labels[at - 1]):
            best_scores[at] = best_scores[at - 1]
            best_labels[at] = best_labels[at - 1]
            at -= 1
        best_scores[at] = score
        best_labels[at] = label
    return count


@inlined
def heap_push(scores, nodes, size, score, node):
    """Push onto a heap whose top is the larger score, then the smaller node; returns the new size."""
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if better(scores[up], nodes[up], score, node):
            break
        scores[at] = scores[up]
        nodes[at] = nodes[up]
        at = up
    scores[at] = score
    nodes[at] = node
    return size + 1


@inlined
def heap_pop(scores, nodes, size):
    """Remove the top of the heap (read it before); returns the new size."""
    size -= 1
    score = scores[size]
    node = nodes[size]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= size:
            break
        if down + 1 < size and better(scores[down + 1], nodes[down + 1], scores[down], nodes[down]):
            down += 1
        if better(score, node, scores[down], nodes[down]):
            break
        scores[at] = scores[down]
        nodes[at] = nodes[down]
        at = down
    scores[at] = score
    nodes[at] = node
    return size


@kernel
def search_best_first(tree, loss, indptr, indices, data, rows, beam, out_labels, out_scores):
    """The k labels of greatest path product for some rows.

    A product never grows along a path, so a subtree is dropped as soon as k labels beat its root: exact. Scores are
    kept as logarithms, so a product of many small factors does not vanish. Equal scores are ranked by label id.

    With a beam, only that many inner nodes are expanded at each depth. Nodes are expanded in the order of their scores,
    and a node's parent before it, so these are the best of their depth, the same that a search level by level would
    keep; but no node is expanded that k labels beat already. Equal nodes are ranked by id.

    Parameters
    ----------
    tree : TreeArrays
    loss : int
    indptr, indices, data : CSR of X, not normalised (the search divides by the row's length)
    rows : int64 (n,)
    beam : int, 0 for an exact search
    out_labels : int32 (n, k), out_scores : float64 (n, k)
        Must come filled with -1 and minus infinity. Scores are logarithms.

    Notes
    -----
    Per row, O(expanded nodes * (nonzeros + weights touched)).
    """
    label_of = tree.label
    group_ptr = tree.group_ptr
    depth = tree.depth
    bias = tree.bias
    group_first = tree.group_first
    group_size = tree.group_size
    feature_ptr = tree.feature_ptr
    features = tree.features
    dense_ptr = tree.dense_ptr
    dense = tree.dense
    sparse_ptr = tree.sparse_ptr
    entry_at = tree.entry_at
    entry_ptr = tree.entry_ptr
    entry_child = tree.entry_child
    entry_value = tree.entry_value
    bucket_shift = tree.bucket_shift
    bucket_at = tree.bucket_at
    bucket_start = tree.bucket_start
    k = out_labels.shape[1]
    heap_scores = np.empty(label_of.size, np.float64)
    heap_nodes = np.empty(label_of.size, np.int32)
    margins = np.zeros(SCRATCH, np.float32)
    best = np.empty(SELECT_LIMIT, np.float32)
    expanded = np.zeros(depth.max() + 1 if beam > 0 else 0, np.int32)
    for r in range(rows.size):
        start = indptr[rows[r]]
        end = indptr[rows[r] + 1]
        scale = row_scale(data, start, end)
        best_scores = out_scores[r]
        best_labels = out_labels[r]
        count = 0
        expanded[:] = 0
        root = 0.0
        if tree.root_group >= 0:
            root = root_log_probability(tree, loss, indices, data, start, end, scale, margins)
        size = heap_push(heap_scores, heap_nodes, 0, root, 0)
        while size > 0:
            score = heap_scores[0]
            v = heap_nodes[0]
            if count == k and score < best_scores[k - 1]:
                break
            size = heap_pop(heap_scores, heap_nodes, size)
            if beam > 0:
                if expanded[depth[v]] == beam:
                    continue
                expanded[depth[v]] += 1
            for g in range(group_ptr[v], group_ptr[v + 1]):
                n = group_margins(
                    g, indices, data, start, end, scale, margins,
                    bias, group_first, group_size, feature_ptr, features, dense_ptr, dense, sparse_ptr, entry_at,
                    entry_ptr, entry_child, entry_value, bucket_shift, bucket_at, bucket_start,
                )  # fmt: skip
                first = group_first[g]
                bar = -np.inf
                leaf = -np.inf
                if n > NARROW:
                    if count == k:
                        bar = least_margin(best_scores[k - 1] - score, loss)
                    leaf = leaf_bar(label_of, loss, first, n, margins, k, bar, best)
                for block in range(0, n, LANES):
                    if n > NARROW and largest_of_lanes(block, margins) < bar:
                        continue
                    for c in range(block, min(n, block + LANES)):
                        if margins[c] < bar:
                            continue
                        child = first + c
                        label = label_of[child]
                        if label >= 0 and margins[c] < leaf:
                            continue
                        child_score = score + log_probability(margins[c], loss)
                        if count == k and child_score < best_scores[k - 1]:
                            continue
                        if label >= 0:
                            count = offer(best_scores, best_labels, count, k, child_score, label)
                        else:
                            size = heap_push(heap_scores, heap_nodes, size, child_score, child)


@kernel
def search_threshold(tree, loss, indptr, indices, data, rows, log_thresholds):
    """Every label whose path product is at least the row's threshold, exactly: subtrees below it are dropped.

    Returns
    -------
    counts : int64, as ``rows``
    labels : int32, row after row, in the order of the search
    scores : float64, logarithms; labels of probability 0 are left out even at threshold 0
    """
    label_of = tree.label
    group_ptr = tree.group_ptr
    bias = tree.bias
    group_first = tree.group_first
    group_size = tree.group_size
    feature_ptr = tree.feature_ptr
    features = tree.features
    dense_ptr = tree.dense_ptr
    dense = tree.dense
    sparse_ptr = tree.sparse_ptr
    entry_at = tree.entry_at
    entry_ptr = tree.entry_ptr
    entry_child = tree.entry_child
    entry_value = tree.entry_value
    bucket_shift = tree.bucket_shift
    bucket_at = tree.bucket_at
    bucket_start = tree.bucket_start
    counts = np.zeros(rows.size, np.int64)
    labels = np.empty(1024, np.int32)
    scores = np.empty(1024, np.float64)
    stack_scores = np.empty(label_of.size, np.float64)
    stack_nodes = np.empty(label_of.size, np.int32)
    margins = np.zeros(SCRATCH, np.float32)
    count = 0
    for r in range(rows.size):
        start = indptr[rows[r]]
        end = indptr[rows[r] + 1]
        scale = row_scale(data, start, end)
        before = count
        log_threshold = log_thresholds[r]
        stack_scores[0] = 0.0
        if tree.root_group >= 0:
            stack_scores[0] = root_log_probability(tree, loss, indices, data, start, end, scale, margins)
        stack_nodes[0] = 0
        size = 1
        while size > 0:
            size -= 1
            score = stack_scores[size]
            v = stack_nodes[size]
            for g in range(group_ptr[v], group_ptr[v + 1]):
                n = group_margins(
                    g, indices, data, start, end, scale, margins,
                    bias, group_first, group_size, feature_ptr, features, dense_ptr, dense, sparse_ptr, entry_at,
                    entry_ptr, entry_child, entry_value, bucket_shift, bucket_at, bucket_start,
                )  # fmt: skip
                bar = least_margin(log_threshold - score, loss) if n > NARROW else -np.inf
                for c in range(n):
                    if margins[c] < bar:
                        continue
                    child = group_first[g] + c
                    child_score = score + log_probability(margins[c], loss)
                    if child_score < log_threshold or child_score == -np.inf:
                        continue
                    if label_of[child] < 0:
                        stack_scores[size] = child_score
                        stack_nodes[size] = child
                        size += 1
                        continue
                    if count == labels.size:
                        more_labels = np.empty(2 * count, np.int32)
                        more_scores = np.empty(2 * count, np.float64)
                        more_labels[:count] = labels
                        more_scores[:count] = scores
                        labels = more_labels
                        scores = more_scores
                    labels[count] = label_of[child]
                    scores[count] = child_score
                    count += 1
        counts[r] = count - before
    return counts, labels[:count].copy(), scores[:count].copy()


@kernel
def score_labels(tree, loss, leaf_of_label, indptr, indices, data, rows, wanted_ptr, wanted, out):
    """Log of the path products of chosen labels.

    Parameters
    ----------
    rows : int64 (n,)
    wanted_ptr : int64 (n + 1,), wanted : int32
        The labels of each of them.
    out : float64, written at the places of ``wanted``
    """
    label_of = tree.label
    group_ptr = tree.group_ptr
    parent = tree.parent
    bias = tree.bias
    group_first = tree.group_first
    group_size = tree.group_size
    feature_ptr = tree.feature_ptr
    features = tree.features
    dense_ptr = tree.dense_ptr
    dense = tree.dense
    sparse_ptr = tree.sparse_ptr
    entry_at = tree.entry_at
    entry_ptr = tree.entry_ptr
    entry_child = tree.entry_child
    entry_value = tree.entry_value
    bucket_shift = tree.bucket_shift
    bucket_at = tree.bucket_at
    bucket_start = tree.bucket_start
    n_nodes = label_of.size
    node_margins = np.empty(n_nodes, np.float32)
    node_scores = np.empty(n_nodes, np.float64)
    known = np.full(n_nodes, -1, np.int64)  # 2 r: the r-th row's margin; 2 r + 1: its score as well
    path = np.empty(n_nodes, np.int32)
    margins = np.zeros(SCRATCH, np.float32)
    for r in range(rows.size):
        start = indptr[rows[r]]
        end = indptr[rows[r] + 1]
        scale = row_scale(data, start, end)
        node_scores[0] = 0.0
        if tree.root_group >= 0:
            node_scores[0] = root_log_probability(tree, loss, indices, data, start, end, scale, margins)
        known[0] = 2 * r + 1
        for t in range(wanted_ptr[r], wanted_ptr[r + 1]):
            v = leaf_of_label[wanted[t]]
            length = 0
            while known[v] != 2 * r + 1:
                path[length] = v
                length += 1
                v = parent[v]
            for step in range(length - 1, -1, -1):
                child = path[step]
                v = parent[child]
                if known[child] != 2 * r:
                    g = group_ptr[v]
                    while child >= group_first[g] + group_size[g]:
                        g += 1
                    n = group_margins(
                        g, indices, data, start, end, scale, margins,
                        bias, group_first, group_size, feature_ptr, features, dense_ptr, dense, sparse_ptr, entry_at,
                        entry_ptr, entry_child, entry_value, bucket_shift, bucket_at, bucket_start,
                    )  # fmt: skip
                    for c in range(n):
                        known[group_first[g] + c] = 2 * r
                        node_margins[group_first[g] + c] = margins[c]
                node_scores[child] = node_scores[v] + log_probability(node_margins[child], loss)
                known[child] = 2 * r + 1
            out[t] = node_scores[leaf_of_label[wanted[t]]]


@kernel
def merge_candidates(offered):
    """Every label that some tree offered for a row, once, ascending.

    Parameters
    ----------
    offered : int32 (n, t), -1 for none

    Returns
    -------
    ptr : int64 (n + 1,), labels : int32
    """
    n, t = offered.shape
    ptr = np.zeros(n + 1, np.int64)
    labels = np.empty(n * t, np.int32)
    count = 0
    for i in range(n):
        begin = count
        for c in range(t):
            label = offered[i, c]
            at = count
            while at > begin and labels[at - 1] > label:
                at -= 1
            if label < 0 or (at > begin and labels[at - 1] == label):
                continue
            for move in range(count, at, -1):
                labels[move] = labels[move - 1]
            labels[at] = label
            count += 1
        ptr[i + 1] = count
    return ptr, labels[:count].copy()


@kernel
def best_candidates(ptr, labels, scores, out_labels, out_scores):
    """Put each row's candidates in their places among the k best in ``out_labels`` (n, k), ``out_scores``.

    Empty places have label -1. A label that is there already is left alone.
    """
    k = out_labels.shape[1]
    for i in range(ptr.size - 1):
        best_labels = out_labels[i]
        best_scores = out_scores[i]
        count = 0
        while count < k and best_labels[count] >= 0:
            count += 1
        for t in range(ptr[i], ptr[i + 1]):
            if count == k and not better(scores[t], labels[t], best_scores[k - 1], best_labels[k - 1]):
                continue
            at = 0
            while at < count and best_labels[at] != labels[t]:
                at += 1
            if at == count:
                count = offer(best_scores, best_labels, count, k, scores[t], labels[t])
