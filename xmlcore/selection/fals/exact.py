"""Exact scores from gradients, in the order of computation that is cheapest for the shape of the data.

The score of feature d for label c is the mean over rows n of weight[n, c] (W1 (slope[n] w_c))_d². Here W1 are the
weights from features to hidden units, slope[n] the derivatives of the hidden units, and w_c the weights from hidden
units to the label; :func:`xmlcore.selection.fals.blocks.weights_of` returns weight[n, c]. All orders compute this mean.
Costs are in multiply-adds, for N rows, D features, L labels and H hidden units.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from xmlcore._kernels import fals_scoring as kernels
from xmlcore.arrays import pointers
from xmlcore.parallel import row_blocks
from xmlcore.selection.fals import orders
from xmlcore.selection.fals.blocks import ENTRIES, PHASE, ROWS, Block, ScoringTask, label_blocks, run_parts, weights_of
from xmlcore.selection.fals.network import REFERENCES

CELLS = 1 << 16  # number of scores per task of the reference order, so that the sums fit in the processor's cache
WIDEST = 128  # largest number of labels per task of the reference order
TASKS = 16  # approximate smallest number of tasks of the reference order, so that all threads have work
CLUSTER_ROUNDS = 3  # number of rounds of k-means


def closed_form(task: ScoringTask) -> Iterator[Block]:
    """Yield scores of a network without hidden units, whose gradient is f (1 - f) times a weight, with the output f."""
    weight = task.network.weights[0]
    for labels in label_blocks(weight.shape[1], 4 * task.X.shape[0] + 12 * weight.shape[0]):
        mean = weights_of(task, labels).mean(axis=0, dtype=np.float64)
        task.progress(PHASE, labels.stop / weight.shape[1], f"{labels.stop:,} labels")
        yield Block(labels, (mean[:, None] * np.square(weight[:, labels].T, dtype=np.float64)).astype(np.float32), None)


def direct_order(task: ScoringTask, slope_of_rows: list) -> Iterator[Block]:
    """Yield scores computed by the formula as it is written, for any number of layers: N L D H multiply-adds."""
    weights = task.network.weights
    n_rows, n_features = task.X.shape[0], weights[0].shape[0]

    def scores_of(label, weight):
        total = np.zeros(n_features)
        for a, b in row_blocks(n_rows, rows_at_once(n_rows, n_features)):
            hidden = back_to_first([slopes_of_layer[a:b] for slopes_of_layer in slope_of_rows], weights, label)
            total += weight[a:b] @ np.square(hidden @ weights[0].T)
        return total / n_rows

    return _label_by_label(task, scores_of)


def rows_at_once(n_rows, n_features) -> int:
    """Return how many rows a thread evaluates at a time in the direct order."""
    return min(n_rows, max(16, min(ROWS, ENTRIES // n_features)))


def back_to_first(slope_of_rows, weights, label):
    """Return the derivative of a label's margin by the sums that reach the first hidden layer, shape (n, H)."""
    values = slope_of_rows[-1] * weights[-1][:, label]
    for slopes_of_layer, weight in zip(slope_of_rows[-2::-1], weights[-2:0:-1]):
        values = (values @ weight.T) * slopes_of_layer
    return values


def expanded_order(task: ScoringTask, slope_of_rows) -> Iterator[Block]:
    """Yield scores computed by multiplying out the square: L H² (N / 2 + D) operations, an H x H matrix per label."""
    weights_in, weights_out = task.network.weights
    n_rows, H = slope_of_rows.shape

    def scores_of(label, weight):
        total, weights_of_label, mean = weight.sum(dtype=np.float64), weights_out[:, label], np.zeros(H)
        if total == 0:
            return np.zeros(weights_in.shape[0])
        for a, b in row_blocks(n_rows, ROWS):
            mean += weight[a:b] @ slope_of_rows[a:b].astype(np.float32, copy=False)
        mean /= total
        spread = np.zeros((H, H), np.float32)
        for a, b in row_blocks(n_rows, ROWS):
            rows = slope_of_rows[a:b] - mean.astype(np.float32)
            rows *= np.sqrt(weight[a:b])[:, None]
            spread += rows.T @ rows
        spread *= weights_of_label[:, None] * weights_of_label
        along_mean = weights_in @ (mean * weights_of_label).astype(np.float32)
        around = np.einsum("dh,dh->d", weights_in @ spread, weights_in)
        return (total * np.square(along_mean, dtype=np.float64) + np.maximum(around, 0)) / n_rows

    return _label_by_label(task, scores_of)


def _label_by_label(task, scores_of):
    """Yield blocks of scores; ``scores_of(label, weight)`` returns one label's scores (D,) from its weights (N,)."""
    n_features, n_labels = task.network.weights[0].shape[0], task.network.biases[-1].size
    for labels in label_blocks(n_labels, 4 * task.X.shape[0] + 4 * n_features):
        yield Block(labels, _each_label(task, labels, scores_of), None)


def _each_label(task, labels, scores_of):
    """Return the scores of a slice of labels, float32 (C, D), see :func:`_label_by_label`."""
    weight = weights_of(task, labels)
    scores = np.empty((weight.shape[1], task.network.weights[0].shape[0]), np.float32)

    def one(c):
        scores[c] = scores_of(labels.start + c, weight[:, c])

    run_parts(task, one, [(c,) for c in range(weight.shape[1])], labels)
    return scores


class References(NamedTuple):
    """Groups of rows. Rows are described by the active units in which they differ from the reference of their group."""

    order: np.ndarray  # int64 (N,): the rows sorted by group
    bounds: np.ndarray  # int64 (k + 1,): group j is ``order[bounds[j]:bounds[j + 1]]``
    reference: np.ndarray  # bool (k, H): the active units of the reference of each group
    differences: list  # for each group the arrays ptr, units and signs, see :func:`deviations`
    share: float  # mean share of the hidden units in which a row differs from its reference, in [0, 1]


def find_references(active, seed) -> References:
    """Return groups of the rows with similar active units, ``active``: bool (N, H)."""
    group, reference = clusters(active, seed)
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(reference) + 1))
    differences = [
        deviations(active[order[a:b]], reference_of_group)
        for a, b, reference_of_group in zip(bounds[:-1], bounds[1:], reference)
    ]
    total = sum(part[1].size for part in differences)
    return References(order, bounds, reference, differences, total / max(1, active.size))


def deviations(active, reference) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """List the hidden units in which rows differ from their reference; +1 if active in the row only, else -1."""
    rows, units = np.nonzero(active != reference)
    signs = np.where(reference[units], np.float32(-1), np.float32(1))
    return pointers(np.bincount(rows, minlength=len(active))), units.astype(np.int32), signs


def clusters(active, seed):
    """Group the rows that have nearly the same active units (k-means)."""
    random = np.random.default_rng([seed, REFERENCES])
    count = orders.references(active.shape[0])
    reference = active[np.sort(random.choice(active.shape[0], count, replace=False))]
    group = np.empty(active.shape[0], np.int32)
    for _ in range(CLUSTER_ROUNDS):
        centre = reference.astype(np.float32)
        offset = centre.sum(axis=1)
        sums, sizes = np.zeros(centre.shape, np.float32), np.zeros(count)
        for a, b in row_blocks(active.shape[0], ROWS):
            rows = active[a:b].astype(np.float32)
            group[a:b] = (offset - 2 * (rows @ centre.T)).argmin(axis=1)
            member = np.zeros((count, b - a), np.float32)
            member[group[a:b], np.arange(b - a)] = 1
            sums += member @ rows
            sizes += member.sum(axis=1)
        reference = np.where(sizes[:, None] > 0, sums > sizes[:, None] / 2, reference)
    return group, reference


def reference_order(task: ScoringTask, groups: References) -> Iterator[Block]:
    """Yield scores computed from the reference of each row's group and the few units in which the row differs."""
    n_features, n_labels = task.network.weights[0].shape[0], task.network.biases[-1].size
    for labels in label_blocks(n_labels, 8 * task.X.shape[0] + 16 * n_features):
        yield Block(labels, _by_reference(task, groups, labels), None)


def _by_reference(task, groups, labels):
    """Return the scores of a slice of labels, float32 (C, D), see :func:`reference_order`."""
    weights_in, weights_out = task.network.weights
    n_rows, n_features, count = task.X.shape[0], weights_in.shape[0], labels.stop - labels.start
    weight = weights_of(task, labels)[groups.order]
    scores = np.empty((count, n_features), np.float32)

    def one(labels_of_part, features):
        in_of_part = np.ascontiguousarray(weights_in[features].T)
        out_of_part = np.ascontiguousarray(weights_out[:, labels][:, labels_of_part])
        sums = np.zeros((out_of_part.shape[1], in_of_part.shape[1]), np.float32)
        total = np.zeros(sums.shape)
        for j, part in enumerate(groups.differences):
            rows = slice(groups.bounds[j], groups.bounds[j + 1])
            if rows.start == rows.stop:
                continue
            units = groups.reference[j]
            base = out_of_part[units].T @ in_of_part[units]
            kernels.reference_squares(
                *part, in_of_part, out_of_part, base, np.ascontiguousarray(weight[rows, labels_of_part]), sums
            )
            total += sums
            sums[:] = 0
        scores[labels_of_part, features] = total / n_rows

    pieces = -(-count // WIDEST)
    width = -(-count // pieces)
    breadth = max(128, min(CELLS // width, -(-n_features * pieces // TASKS)))
    parts = [
        (slice(a, min(count, a + width)), slice(b, min(n_features, b + breadth)))
        for a in range(0, count, width)
        for b in range(0, n_features, breadth)
    ]
    run_parts(task, one, parts, labels)
    return scores
