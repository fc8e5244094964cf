"""Scores from attributions that are 0 for absent features, so that only non-zero values of X need computation.

An entry is a non-zero value of X: a pair of a row and a feature. C is the number of labels of a block.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from xmlcore.parallel import row_blocks
from xmlcore.selection.fals.attribution import IG_STEPS, along, factors
from xmlcore.selection.fals.blocks import ENTRIES, PHASE, ROWS, Block, ScoringTask, label_blocks
from xmlcore.selection.fals.network import activate, product, sigmoid_slope, slope


def present_order(task: ScoringTask, rows, shared: bool = False) -> Iterator[Block]:
    """Yield scores, the means of squared attributions: (entries of X) L H multiply-adds."""
    X = task.X if rows is None else task.X[rows]
    n_features, n_labels = X.shape[1], task.network.biases[-1].size
    blocks = label_blocks(n_labels, 48 * n_features)
    if shared:
        total = np.zeros(X.nnz)
        for labels in blocks:
            for at, sums_of_part in _of_present(
                task, X, labels, lambda part, squares: squares.sum(axis=1, dtype=np.float64)
            ):
                total[at] += sums_of_part
        sums = np.stack([np.bincount(X.indices, w, n_features) for w in (total, np.square(total))])
        yield _block_of_present(task, X, slice(0, n_labels), sums[:, None], rows is not None)
        return
    for labels in blocks:
        sums = np.zeros((1 if rows is None else 2, n_features, labels.stop - labels.start))
        for _, (features, parts) in _of_present(task, X, labels, partial(_by_feature, len(sums))):
            for into, sums_of_part in zip(sums, parts):
                into[features] += sums_of_part
        yield _block_of_present(task, X, labels, sums.transpose(0, 2, 1), rows is not None)


def _by_feature(count, part, squares):
    """Return the features of some rows, and the sums of ``squares`` over the entries of each feature."""
    order = np.argsort(part.indices, kind="stable")
    features, starts = np.unique(part.indices[order], return_index=True)
    squares = squares[order]
    powers = [squares, np.square(squares)][:count]
    return features, [np.add.reduceat(values, starts, axis=0) if starts.size else values for values in powers]


def _block_of_present(task, X, labels, sums, sampled):
    """Return a block of mean squares over rows, with standard errors if the rows are sampled."""
    mean, error = sums[0] / X.shape[0], None
    if sampled:
        variance = np.maximum(0, sums[1] / X.shape[0] - mean**2)
        share_not_sampled = 1 - X.shape[0] / task.X.shape[0]  # correction for a sample without replacement
        error = np.sqrt(variance / max(1, X.shape[0] - 1) * share_not_sampled).astype(np.float32)
    return Block(labels, mean.astype(np.float32), error)


def _of_present(task, X, labels, reduced):
    """Compute the squared attributions of blocks of rows, and yield for each block its entries and a summary."""
    n_labels, count = task.network.biases[-1].size, labels.stop - labels.start

    def summarise(first, stop):
        part = X[first:stop]
        squares = np.square(entry_attributions(task.network, part, task.method, labels))
        return slice(X.indptr[first], X.indptr[stop]), reduced(part, squares)

    per_row = max(1.0, X.nnz / max(1, X.shape[0]))
    widest = max(weight.shape[1] for weight in task.network.weights)
    steps = row_blocks(X.shape[0], int(max(1, min(ROWS, ENTRIES // (per_row * widest)))))
    for (_, stop), result in zip(steps, task.workers.ordered(summarise, steps)):
        yield result
        done = (labels.start + count * stop / X.shape[0]) / n_labels
        task.progress(PHASE, done, f"row {stop:,} of {X.shape[0]:,}")


def entry_attributions(network, X, method, labels):
    """Return the attributions of the entries of X to some labels, in the order of the entries: float32 (entries, C)."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    if method != "integrated_gradients":
        parts = factors(network, X, method, labels)
        return along(parts, rows, X.indices) * parts.out[rows] * X.data[:, None]
    if len(network.weights) == 2:
        return _integrated(network, X, labels)
    total = 0
    for k in range(1, IG_STEPS + 1):
        parts = factors(network, X * np.float32(k / IG_STEPS), "gradient", labels)
        total = total + along(parts, rows, X.indices) * parts.out[rows]
    return total * (X.data / IG_STEPS)[:, None]


def _integrated(network, X, labels):
    """Return integrated gradients of the entries of X, float32 (entries, C), for a network with one hidden layer."""
    into, out_of = network.weights[0], network.weights[1][:, labels]
    bias = network.biases[1][labels]
    points = (np.arange(1, IG_STEPS + 1, dtype=np.float32) / IG_STEPS)[:, None]
    whole = product(X, into)
    back = np.ascontiguousarray(out_of.T)
    result = np.empty((X.nnz, out_of.shape[1]), np.float32)
    for row in range(X.shape[0]):
        a, b = X.indptr[row], X.indptr[row + 1]
        if a == b:
            continue
        hidden = activate(points * whole[row] + network.biases[0], network.activation)
        mean = sigmoid_slope(hidden @ out_of + bias).T @ slope(hidden, network.activation)
        mean *= back
        result[a:b] = (into[X.indices[a:b]] @ mean.T) * (X.data[a:b] / IG_STEPS)[:, None]
    return result
