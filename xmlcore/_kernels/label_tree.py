"""Label trees as flat arrays: which rows a node is trained on, and the search for labels.

Nodes are numbered so that the children of a node have consecutive ids and every parent comes before its children;
node 0 is the root. The classifiers of siblings are kept in groups of at most 256 consecutive siblings. A group's
``features[feature_ptr[g]:feature_ptr[g + 1]]`` are the features with a weight, ascending; a group in which many of the
possible weights are there keeps a row of them for every feature (``dense``), another one only those that are there, as
(child, value) pairs.
"""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.lanes import LANES, add_scaled
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


@kernel
def log_probability(margin, loss):
    """Log of a node's factor: sigmoid(margin), or exp(-max(0, 1 - margin)^2) for the squared hinge."""
    z = np.float64(margin)
    if loss == LOGISTIC:
        if z > 0.0:
            return -np.log1p(np.exp(-z))
        return z - np.log1p(np.exp(z))
    slack = max(0.0, 1.0 - z)
    return -slack * slack


@kernel
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


@kernel
def row_scale(data, start, end):
    """1 / |x|, and 1 for a row without entries."""
    total = 0.0
    for t in range(start, end):
        total += np.float64(data[t]) * np.float64(data[t])
    return 1.0 / np.sqrt(total) if total > 0.0 else 1.0


@kernel(forceinline=True)
def group_margins(tree, g, indices, data, start, end, scale, margins):
    """``margins[:group size]``: of the group's children for one row; returns the group's size."""
    n = tree.group_size[g]
    width = row_width(n)
    first = tree.group_first[g]
    for c in range(n):
        margins[c] = tree.bias[first + c]
    begin = tree.feature_ptr[g]
    if begin == tree.feature_ptr[g + 1]:
        return n
    last = tree.features[tree.feature_ptr[g + 1] - 1]
    shift = tree.bucket_shift[g]
    buckets = tree.bucket_at[g]
    dense = tree.dense_ptr[g]
    is_dense = tree.dense_ptr[g + 1] > dense
    sparse = tree.sparse_ptr[g]
    entries = tree.entry_at[g]
    for t in range(start, end):
        f = indices[t]
        if f > last:
            break
        b = buckets + (f >> shift)
        at = np.int64(tree.bucket_start[b])
        stop = np.int64(tree.bucket_start[b + 1])
        while at < stop and tree.features[begin + at] < f:
            at += 1
        if at == stop or tree.features[begin + at] != f:
            continue
        v = np.float32(data[t] * scale)
        if is_dense:
            row = dense + at * width
            if width <= NARROW:
                for c in range(width):
                    margins[c] += v * tree.dense[row + c]
            else:
                for c in range(0, width, LANES):
                    add_scaled(margins, c, tree.dense, row + c, v)
        else:
            for e in range(sparse + tree.entry_ptr[entries + at], sparse + tree.entry_ptr[entries + at + 1]):
                margins[tree.entry_child[e]] += v * tree.entry_value[e]
    return n


@kernel(forceinline=True)
def leaf_bar(tree, loss, first, n, margins, k, bar, best):
    """A margin that k leaves among the group's children reach, or ``bar`` if that is more.

    Leaves below it need not be looked at: k siblings are surely better. ``best`` is scratch, (k,).
    """
    if n <= k or k > SELECT_LIMIT:
        return bar
    for i in range(k):
        best[i] = -np.inf
    for c in range(n):
        if tree.label[first + c] >= 0 and margins[c] > best[k - 1]:
            at = k - 1
            while at > 0 and margins[c] > best[at - 1]:
                best[at] = best[at - 1]
                at -= 1
            best[at] = margins[c]
    sure = SURE_LOGISTIC if loss == LOGISTIC else SURE_HINGE
    return max(bar, min(np.float64(best[k - 1]), sure) - NEAR)


@kernel
def root_log_probability(tree, loss, indices, data, start, end, scale, margins):
    """Log of the root's own factor: 0 unless the training data had rows without labels."""
    if tree.root_group < 0:
        return 0.0
    group_margins(tree, tree.root_group, indices, data, start, end, scale, margins)
    return log_probability(margins[0], loss)


@kernel
def better(score_a, label_a, score_b, label_b):
    """Whether a comes before b in a ranking: larger score, then smaller label id."""
    return score_a > score_b or (score_a == score_b and label_a < label_b)


@kernel
def offer(best_scores, best_labels, count, k, score, label):
    """Insert a label into the sorted list of the k best; returns the new count."""
    if count == k:
        if not better(score, label, best_scores[k - 1], best_labels[k - 1]):
            return count
        at = k - 1
    else:
        at = count
        count += 1
    while at > 0 and better(score, label, best_scores[at - 1], best_labels[at - 1]):
        best_scores[at] = best_scores[at - 1]
        best_labels[at] = best_labels[at - 1]
        at -= 1
    best_scores[at] = score
    best_labels[at] = label
    return count


@kernel
def heap_push(scores, nodes, size, score, node):
    """Push onto a max-heap; returns the new size."""
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if scores[up] >= score:
            break
        scores[at] = scores[up]
        nodes[at] = nodes[up]
        at = up
    scores[at] = score
    nodes[at] = node
    return size + 1


@kernel
def heap_pop(scores, nodes, size):
    """Remove the top of a max-heap (read it before); returns the new size."""
    size -= 1
    score = scores[size]
    node = nodes[size]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= size:
            break
        if down + 1 < size and scores[down + 1] > scores[down]:
            down += 1
        if scores[down] <= score:
            break
        scores[at] = scores[down]
        nodes[at] = nodes[down]
        at = down
    scores[at] = score
    nodes[at] = node
    return size


@kernel
def search_best_first(tree, loss, indptr, indices, data, first_row, last_row, out_labels, out_scores):
    """The k labels of greatest path product for rows [first_row, last_row), exactly.

    A product never grows along a path, so a subtree is dropped as soon as k labels beat its root. Scores are kept as
    logarithms, so a product of many small factors does not vanish. Equal scores are ranked by label id.

    Parameters
    ----------
    tree : TreeArrays
    loss : int
    indptr, indices, data : CSR of X, not normalised (the search divides by the row's length)
    first_row, last_row : int
    out_labels : int32 (n, k), out_scores : float64 (n, k)
        Written at the same rows; must come filled with -1 and 0. Scores are logarithms.

    Notes
    -----
    Per row, O(expanded nodes * (nonzeros + weights touched)).
    """
    k = out_labels.shape[1]
    heap_scores = np.empty(tree.label.size, np.float64)
    heap_nodes = np.empty(tree.label.size, np.int32)
    margins = np.zeros(SCRATCH, np.float32)
    best = np.empty(SELECT_LIMIT, np.float32)
    for i in range(first_row, last_row):
        start = indptr[i]
        end = indptr[i + 1]
        scale = row_scale(data, start, end)
        best_scores = out_scores[i]
        best_labels = out_labels[i]
        count = 0
        root = root_log_probability(tree, loss, indices, data, start, end, scale, margins)
        size = heap_push(heap_scores, heap_nodes, 0, root, 0)
        while size > 0:
            score = heap_scores[0]
            v = heap_nodes[0]
            if count == k and score < best_scores[k - 1]:
                break
            size = heap_pop(heap_scores, heap_nodes, size)
            for g in range(tree.group_ptr[v], tree.group_ptr[v + 1]):
                n = group_margins(tree, g, indices, data, start, end, scale, margins)
                first = tree.group_first[g]
                bar = -np.inf
                leaf = -np.inf
                if n > NARROW:
                    if count == k:
                        bar = least_margin(best_scores[k - 1] - score, loss)
                    leaf = leaf_bar(tree, loss, first, n, margins, k, bar, best)
                for c in range(n):
                    if margins[c] < bar:
                        continue
                    child = first + c
                    label = tree.label[child]
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
def search_beam(tree, loss, indptr, indices, data, first_row, last_row, beam, out_labels, out_scores):
    """As :func:`search_best_first`, but at each depth only the ``beam`` best inner nodes are expanded.

    Approximate: a label under a dropped node is not found. Equal nodes are ranked by id.
    """
    k = out_labels.shape[1]
    now_scores = np.empty(beam, np.float64)
    now_nodes = np.empty(beam, np.int32)
    next_scores = np.empty(beam, np.float64)
    next_nodes = np.empty(beam, np.int32)
    margins = np.zeros(SCRATCH, np.float32)
    best = np.empty(SELECT_LIMIT, np.float32)
    for i in range(first_row, last_row):
        start = indptr[i]
        end = indptr[i + 1]
        scale = row_scale(data, start, end)
        best_scores = out_scores[i]
        best_labels = out_labels[i]
        count = 0
        now_scores[0] = root_log_probability(tree, loss, indices, data, start, end, scale, margins)
        now_nodes[0] = 0
        n_now = 1
        while n_now > 0:
            n_next = 0
            for b in range(n_now):
                v = now_nodes[b]
                score = now_scores[b]
                if count == k and score < best_scores[k - 1]:
                    break
                for g in range(tree.group_ptr[v], tree.group_ptr[v + 1]):
                    n = group_margins(tree, g, indices, data, start, end, scale, margins)
                    first = tree.group_first[g]
                    bar = -np.inf
                    leaf = -np.inf
                    if n > NARROW:
                        if count == k:
                            bar = least_margin(best_scores[k - 1] - score, loss)
                        leaf = leaf_bar(tree, loss, first, n, margins, k, bar, best)
                    for c in range(n):
                        if margins[c] < bar:
                            continue
                        child = first + c
                        label = tree.label[child]
                        if label >= 0 and margins[c] < leaf:
                            continue
                        child_score = score + log_probability(margins[c], loss)
                        if label >= 0:
                            count = offer(best_scores, best_labels, count, k, child_score, label)
                        else:
                            n_next = offer(next_scores, next_nodes, n_next, beam, child_score, child)
            n_now = n_next
            now_scores[:n_now] = next_scores[:n_now]
            now_nodes[:n_now] = next_nodes[:n_now]


@kernel
def search_threshold(tree, loss, indptr, indices, data, first_row, last_row, log_threshold):
    """Every label whose path product is at least a threshold, exactly: subtrees below it are dropped.

    Returns
    -------
    counts : int64 (last_row - first_row,)
    labels : int32, row after row, in the order of the search
    scores : float64, logarithms; labels of probability 0 are left out even at threshold 0
    """
    counts = np.zeros(last_row - first_row, np.int64)
    labels = np.empty(1024, np.int32)
    scores = np.empty(1024, np.float64)
    stack_scores = np.empty(tree.label.size, np.float64)
    stack_nodes = np.empty(tree.label.size, np.int32)
    margins = np.zeros(SCRATCH, np.float32)
    count = 0
    for i in range(first_row, last_row):
        start = indptr[i]
        end = indptr[i + 1]
        scale = row_scale(data, start, end)
        before = count
        stack_scores[0] = root_log_probability(tree, loss, indices, data, start, end, scale, margins)
        stack_nodes[0] = 0
        size = 1
        while size > 0:
            size -= 1
            score = stack_scores[size]
            v = stack_nodes[size]
            for g in range(tree.group_ptr[v], tree.group_ptr[v + 1]):
                n = group_margins(tree, g, indices, data, start, end, scale, margins)
                bar = least_margin(log_threshold - score, loss) if n > NARROW else -np.inf
                for c in range(n):
                    if margins[c] < bar:
                        continue
                    child = tree.group_first[g] + c
                    child_score = score + log_probability(margins[c], loss)
                    if child_score < log_threshold or child_score == -np.inf:
                        continue
                    if tree.label[child] < 0:
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
                    labels[count] = tree.label[child]
                    scores[count] = child_score
                    count += 1
        counts[i - first_row] = count - before
    return counts, labels[:count].copy(), scores[:count].copy()


@kernel
def score_labels(tree, loss, leaf_of_label, indptr, indices, data, first_row, last_row, wanted_ptr, wanted, out):
    """Log of the path products of chosen labels.

    Parameters
    ----------
    wanted_ptr : int64 (n + 1,), wanted : int32
        The labels of each row.
    out : float64, written at the places of ``wanted``
    """
    n_nodes = tree.label.size
    node_margins = np.empty(n_nodes, np.float32)
    node_scores = np.empty(n_nodes, np.float64)
    known = np.full(n_nodes, -1, np.int64)  # 2 i: row i's margin; 2 i + 1: its score as well
    path = np.empty(n_nodes, np.int32)
    margins = np.zeros(SCRATCH, np.float32)
    for i in range(first_row, last_row):
        start = indptr[i]
        end = indptr[i + 1]
        scale = row_scale(data, start, end)
        node_scores[0] = root_log_probability(tree, loss, indices, data, start, end, scale, margins)
        known[0] = 2 * i + 1
        for t in range(wanted_ptr[i], wanted_ptr[i + 1]):
            v = leaf_of_label[wanted[t]]
            length = 0
            while known[v] != 2 * i + 1:
                path[length] = v
                length += 1
                v = tree.parent[v]
            for step in range(length - 1, -1, -1):
                child = path[step]
                v = tree.parent[child]
                if known[child] != 2 * i:
                    g = tree.group_ptr[v]
                    while child >= tree.group_first[g] + tree.group_size[g]:
                        g += 1
                    n = group_margins(tree, g, indices, data, start, end, scale, margins)
                    for c in range(n):
                        known[tree.group_first[g] + c] = 2 * i
                        node_margins[tree.group_first[g] + c] = margins[c]
                node_scores[child] = node_scores[v] + log_probability(node_margins[child], loss)
                known[child] = 2 * i + 1
            out[t] = node_scores[leaf_of_label[wanted[t]]]
