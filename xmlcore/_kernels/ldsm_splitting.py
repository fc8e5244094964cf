"""LdSM: train one node and split its rows among its children."""

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.arrays import enlarged
from xmlcore._kernels.ldsm_objective import objective
from xmlcore._kernels.ldsm_rows import (
    RowsOfNode,
    Standards,
    forget_numbers,
    gather_lists,
    gather_numbers,
    gather_values,
    number_ids,
    standards,
)
from xmlcore._kernels.ldsm_training import SGD, train_node
from xmlcore._kernels.rng import permutation

MADE, UNDONE, BEYOND = 0, 1, 2  # outcomes of a split, see split_node
THRESHOLD = 0.5  # smallest margin at which a row goes to a child
ORDER = 1 << 32  # added to a node's number, gives the number of the random stream for the order of its rows


@kernel
def drop_small(weights, scale, least, arity):
    """Set weights to 0, in place, that times max(1, scale of the column) are below ``least``; biases stay."""
    for f in range(weights.size // arity - 1):
        for c in range(arity):
            if abs(weights[arity * f + c]) * max(1.0, np.float64(scale[f])) < least:
                weights[arity * f + c] = 0.0


@kernel
def to_features(weights, means, scales, arity):
    """Convert weights of standardised columns to those of the original ones; return whether all are finite."""
    n_columns = weights.size // arity - 1
    finite = True
    for c in range(arity):
        shift = 0.0
        for f in range(n_columns):
            weights[arity * f + c] = weights[arity * f + c] / scales[f]
            shift += weights[arity * f + c] * means[f]
            finite = finite and np.isfinite(weights[arity * f + c])
        weights[arity * n_columns + c] -= shift
        finite = finite and np.isfinite(weights[arity * n_columns + c])
    return finite


@kernel
def split_rows(data, rows, place, node, weights, arity):
    """Decide where a node sends each of its rows (algorithm 5 of the paper)."""
    label_ptr, labels, n_labels = node.label_ptr, node.labels, node.n_labels
    m = rows.size
    bias = weights.size - arity
    directions = np.zeros(m, np.uint8)
    hist = np.zeros(arity * n_labels, np.int64)
    counts = np.zeros(arity, np.int64)
    for i in range(m):
        best = -np.inf
        best_child = 0
        sent = 0
        for c in range(arity):
            margin = weights[bias + c]
            for t in range(data.ptr[rows[i]], data.ptr[rows[i] + 1]):
                margin += weights[np.uint64(arity) * np.uint64(place[data.columns[t]]) + np.uint64(c)] * data.values[t]
            if margin > best:
                best = margin
                best_child = c
            if margin >= THRESHOLD:
                sent |= 1 << c
        if sent == 0:
            sent = 1 << best_child
        directions[i] = sent
        for c in range(arity):
            if (sent >> c) & 1:
                counts[c] += 1
                for t in range(label_ptr[i], label_ptr[i + 1]):
                    hist[c * n_labels + labels[t]] += 1
    return directions, hist, counts


@kernel
def list_children(directions, counts, rows):
    """List the rows of each of M children, in the order of ``rows``."""
    M = counts.size
    child_ptr = np.zeros(M + 1, np.int64)
    for c in range(M):
        child_ptr[c + 1] = child_ptr[c] + counts[c]
    child_rows = np.empty(child_ptr[M], np.int32)
    out = 0
    for c in range(M):
        for i in range(rows.size):
            if (directions[i] >> c) & 1:
                child_rows[out] = rows[i]
                out += 1
    return child_ptr, child_rows


@kernel
def list_histograms(hist, kept_labels, arity):
    """List the labels that occur in each child's rows, and how often they occur."""
    n_labels = kept_labels.size
    hist_ptr = np.zeros(arity + 1, np.int64)
    labels = np.empty(hist.size, np.int32)
    counts = np.empty(hist.size, np.int64)
    filled = 0
    for c in range(arity):
        for i in range(n_labels):
            if hist[c * n_labels + i] > 0:
                labels[filled] = kept_labels[i]
                counts[filled] = hist[c * n_labels + i]
                filled += 1
        hist_ptr[c + 1] = filled
    return hist_ptr, enlarged(labels, filled, filled), enlarged(counts, filled, filled)


@kernel
def measure_split(labels, hist, n_labels, settings, parts):
    """Compute the objective J and its three parts for the split that was made, and write them into ``parts``."""
    M = settings.arity
    label_counts = np.zeros(n_labels, np.int64)
    for t in range(labels.size):
        label_counts[labels[t]] += 1
    sums = np.zeros(M)
    label_sums = np.zeros(M * n_labels)
    for c in range(M):
        for i in range(n_labels):
            sums[c] += hist[c * n_labels + i]
            label_sums[M * i + c] = hist[c * n_labels + i]
    objective(
        sums, labels.size, label_sums, label_counts, settings.integrity_weight, settings.multiway_weight, parts
    )  # fmt: skip


@kernel
def used_columns(weights, kept_columns, arity):
    """Leave out, in place, the columns whose weights are 0 for all children; part the biases from the weights."""
    n_columns = kept_columns.size
    columns = np.empty(n_columns, np.int32)
    bias = np.empty(arity, weights.dtype)
    for c in range(arity):
        bias[c] = weights[arity * n_columns + c]
    at = 0
    for f in range(n_columns):
        is_used = False
        for c in range(arity):
            is_used = is_used or weights[arity * f + c] != 0.0
            weights[arity * at + c] = weights[arity * f + c]
        if is_used:
            columns[at] = kept_columns[f]
            at += 1
    return enlarged(columns, at, at), enlarged(weights, arity * at, arity * at), bias


@kernel
def split_node(data, rows, place, settings, seed, number, trace, parts, stop):
    """Train a node on its rows, taken in a random order, and split them."""
    M = settings.arity
    order = permutation(rows.size, seed, ORDER + number)
    for i in range(order.size):
        order[i] = rows[order[i]]
    rows = order
    label_ptr, labels, kept_labels = gather_lists(data.label_ptr, data.labels, rows, place)
    kept_columns = number_ids(data.ptr, data.columns, rows, place)
    status = MADE
    if settings.optimizer == SGD:
        ptr, columns = np.zeros(1, np.int64), np.arange(kept_columns.size).astype(np.uint32)
        values = np.empty(columns.size, data.values.dtype)
        read = standards(data, rows, place, columns.size)
    else:
        ptr, columns = gather_numbers(data.ptr, data.columns, rows, place)
        values = gather_values(data.ptr, data.values, rows)
        read = Standards(data, rows, place, np.empty(0), np.empty(0), False)
    node = RowsOfNode(ptr, columns, values, label_ptr, labels, kept_columns.size, kept_labels.size)
    weights, _, _, _, scale = train_node(node, read, settings, seed, number, trace, stop)
    drop_small(weights, scale, settings.least, M)
    if settings.optimizer == SGD and not to_features(weights, read.means, read.scales, M):
        status = BEYOND
    for e in range(settings.n_epochs):
        trace[e, 0] = trace[e, 1] - settings.integrity_weight * trace[e, 2] + settings.multiway_weight * trace[e, 3]
    directions, hist, counts = split_rows(data, rows, place, node, weights, M)
    forget_numbers(kept_columns, place)
    for c in range(M):
        if counts[c] == 0 or counts[c] == rows.size:
            status = max(status, UNDONE)
    child_ptr, child_rows = list_children(directions, counts, rows)
    hist_ptr, hist_labels, hist_counts = list_histograms(hist, kept_labels, M)
    measure_split(node.labels, hist, kept_labels.size, settings, parts)
    columns, used_weights, bias = used_columns(weights, kept_columns, M)
    return status, child_ptr, child_rows, hist_ptr, hist_labels, hist_counts, columns, used_weights, bias
