"""Scores of all features for all labels: means of squared attributions, in the cheapest order that is known.

N rows, D features, L labels, H hidden units. Functions here take the labels in blocks and yield :class:`Block`.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import fals as kernels
from xmlcore.progress import Progress
from xmlcore.selection import _orders
from xmlcore.selection._network import Network, activate, product, sigmoid_slope, slope
from xmlcore.selection.attribution import IG_STEPS, along, factors

ROWS = 1024  # rows at once
MEMORY = 1 << 29  # bytes that a block of labels may take
CELLS = 1 << 16  # label x feature cells per task of the reference order: its sums stay in the cache
WIDEST, TASKS = 128, 16  # most labels per such task, and about the least tasks
ENTRIES = 1 << 21  # numbers at once, where entries of X go through the layers
CLUSTER_ROUNDS = 3
DRAWS, REFERENCES, ROW_SAMPLE = 4, 5, 6  # streams of random numbers
PHASE = "Scoring features"


class Block(NamedTuple):
    """Scores of some labels."""

    labels: slice
    scores: np.ndarray  # float32 (C, D)
    error: np.ndarray | None  # float32 (C, D), standard errors of sampled scores


class Task(NamedTuple):
    """What to score."""

    network: Network
    X: sp.csr_array
    method: str
    fisher: bool  # squares over f (1 - f)
    workers: object
    progress: Progress
    seed: int


def row_blocks(n, size=ROWS):
    """Bounds of blocks of rows."""
    return [(a, min(n, a + size)) for a in range(0, n, size)]


def label_blocks(n_labels, bytes_per_label):
    """As many labels as ``MEMORY`` allows, at least one."""
    width = int(max(1, min(n_labels, MEMORY // max(1, bytes_per_label))))
    return [slice(a, min(n_labels, a + width)) for a in range(0, n_labels, width)]


def weights_of(task: Task, labels: slice) -> np.ndarray:
    """What each row's squares count: (f (1 - f))^2, or f (1 - f) for Fisher information; float32 (N, C)."""
    network, X = task.network, task.X
    out = np.empty((X.shape[0], labels.stop - labels.start), np.float32)

    def some_rows(first, last):
        out[first:last] = row_weights(network, X[first:last], labels, task.fisher)

    task.workers.each(some_rows, row_blocks(X.shape[0]))
    return out


def row_weights(network, X, labels, fisher):
    """As :func:`weights_of`, of some rows."""
    hidden = network.hidden(X)
    last = hidden[-1] if hidden else X
    rise = sigmoid_slope(product(last, network.weights[-1][:, labels]) + network.biases[-1][labels])
    return rise if fisher else np.square(rise, out=rise)


def closed_form(task: Task) -> Iterator[Block]:
    """Without hidden units the gradient is f (1 - f) times a weight."""
    weight = task.network.weights[0]
    for labels in label_blocks(weight.shape[1], 4 * task.X.shape[0] + 12 * weight.shape[0]):
        mean = weights_of(task, labels).mean(axis=0, dtype=np.float64)
        task.progress(PHASE, labels.stop / weight.shape[1], f"{labels.stop:,} labels")
        yield Block(labels, (mean[:, None] * np.square(weight[:, labels].T, dtype=np.float64)).astype(np.float32), None)


def slopes(task: Task) -> list:
    """Derivatives of all hidden units, a matrix (N, H) for each layer: bool with ReLU."""
    network, X = task.network, task.X
    kind = bool if network.activation == "relu" else np.float32
    out = [np.empty((X.shape[0], bias.size), kind) for bias in network.biases[:-1]]

    def some_rows(first, last):
        for values, own in zip(network.hidden(X[first:last]), out):
            own[first:last] = values > 0 if kind is bool else slope(values, network.activation)

    task.workers.each(some_rows, row_blocks(X.shape[0]))
    return out


def clusters(active, seed):
    """Group rows that have nearly the same active units; returns the group of each row and references (k, H), bool."""
    random = np.random.default_rng([seed, REFERENCES])
    count = _orders.references(active.shape[0])
    reference = active[np.sort(random.choice(active.shape[0], count, replace=False))]
    group = np.empty(active.shape[0], np.int32)
    for _ in range(CLUSTER_ROUNDS):
        centre = reference.astype(np.float32)
        offset = centre.sum(axis=1)
        sums, sizes = np.zeros(centre.shape, np.float32), np.zeros(count)
        for a, b in row_blocks(active.shape[0]):
            rows = active[a:b].astype(np.float32)
            group[a:b] = (offset - 2 * (rows @ centre.T)).argmin(axis=1)
            member = np.zeros((count, b - a), np.float32)
            member[group[a:b], np.arange(b - a)] = 1
            sums += member @ rows
            sizes += member.sum(axis=1)
        reference = np.where(sizes[:, None] > 0, sums > sizes[:, None] / 2, reference)
    return group, reference


class References(NamedTuple):
    """Rows in groups, as differences from the group's reference."""

    order: np.ndarray  # int64 (N,), rows by group
    bounds: np.ndarray  # int64 (k + 1,), of groups in ``order``
    reference: np.ndarray  # bool (k, H)
    differences: list  # ptr, units, signs of each group
    share: float  # of the hidden units, in which a row differs


def find_references(active, seed) -> References:
    """Groups of rows and their differences."""
    group, reference = clusters(active, seed)
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(reference) + 1))
    differences = [kernels.deviations(active[order[a:b]], own) for a, b, own in zip(bounds[:-1], bounds[1:], reference)]
    total = sum(part[1].size for part in differences)
    return References(order, bounds, reference, differences, total / max(1, active.size))


def reference_order(task: Task, found: References) -> Iterator[Block]:
    """Each row as its group's reference and the few units in which it differs: N L D (share of H)."""
    n_features, n_labels = task.network.weights[0].shape[0], task.network.biases[-1].size
    for labels in label_blocks(n_labels, 8 * task.X.shape[0] + 16 * n_features):
        yield Block(labels, _by_reference(task, found, labels), None)


def _by_reference(task, found, labels):
    into, out_of = task.network.weights
    n_rows, n_features, count = task.X.shape[0], into.shape[0], labels.stop - labels.start
    weight = weights_of(task, labels)[found.order]
    scores = np.empty((count, n_features), np.float32)

    def one(own, features):
        before = np.ascontiguousarray(into[features].T)
        after = np.ascontiguousarray(out_of[:, labels][:, own])
        sums = np.zeros((after.shape[1], before.shape[1]), np.float32)
        total = np.zeros(sums.shape)
        for j, part in enumerate(found.differences):
            rows = slice(found.bounds[j], found.bounds[j + 1])
            if rows.start == rows.stop:
                continue
            units = found.reference[j]
            base = after[units].T @ before[units]
            kernels.reference_squares(*part, before, after, base, np.ascontiguousarray(weight[rows, own]), sums)
            kernels.flush(sums, total)
        scores[own, features] = total / n_rows

    pieces = -(-count // WIDEST)
    width = -(-count // pieces)
    breadth = max(128, min(CELLS // width, -(-n_features * pieces // TASKS)))
    parts = [
        (slice(a, min(count, a + width)), slice(b, min(n_features, b + breadth)))
        for a in range(0, count, width)
        for b in range(0, n_features, breadth)
    ]
    _report(task, one, parts, labels)
    return scores


def expanded_order(task: Task, slope_of_rows) -> Iterator[Block]:
    """The square multiplied out, for each label an H x H matrix: L H^2 (N / 2 + D).

    About the weighted mean of the slopes, so that nothing cancels.
    """
    into, out_of = task.network.weights

    def scores_of(label, weight):
        return expanded_scores(into, out_of[:, label], slope_of_rows, weight)

    return _label_by_label(task, scores_of)


def _label_by_label(task, scores_of):
    """Blocks of what ``scores_of(label, weight (N,))`` returns for each label."""
    n_features, n_labels = task.network.weights[0].shape[0], task.network.biases[-1].size
    for labels in label_blocks(n_labels, 4 * task.X.shape[0] + 4 * n_features):
        yield Block(labels, _each_label(task, labels, scores_of), None)


def _each_label(task, labels, scores_of):
    weight = weights_of(task, labels)
    scores = np.empty((weight.shape[1], task.network.weights[0].shape[0]), np.float32)

    def one(c):
        scores[c] = scores_of(labels.start + c, weight[:, c])

    _report(task, one, [(c,) for c in range(weight.shape[1])], labels)
    return scores


def expanded_scores(into, out_of, slope_of_rows, weight):
    """Mean of weight[n] * (into @ (slope[n] * out_of)) ** 2 over rows, float64 (D,)."""
    total = weight.sum(dtype=np.float64)
    n_rows, H = slope_of_rows.shape
    if total == 0:
        return np.zeros(into.shape[0])
    mean = np.zeros(H)
    for a, b in row_blocks(n_rows):
        mean += weight[a:b] @ slope_of_rows[a:b].astype(np.float32, copy=False)
    mean /= total
    spread = np.zeros((H, H), np.float32)
    for a, b in row_blocks(n_rows):
        rows = slope_of_rows[a:b] - mean.astype(np.float32)
        rows *= np.sqrt(weight[a:b])[:, None]
        spread += rows.T @ rows
    spread *= out_of[:, None] * out_of
    along_mean = into @ (mean * out_of).astype(np.float32)
    around = np.einsum("dh,dh->d", into @ spread, into)
    return (total * np.square(along_mean, dtype=np.float64) + np.maximum(around, 0)) / n_rows


def direct_order(task: Task, slope_of_rows: list) -> Iterator[Block]:
    """As the formula is written: N L D H. For any number of layers."""
    weights = task.network.weights
    n_rows, n_features = task.X.shape[0], weights[0].shape[0]

    def scores_of(label, weight):
        total = np.zeros(n_features)
        for a, b in row_blocks(n_rows, max(16, min(ROWS, ENTRIES // n_features))):
            hidden = back_to_first([own[a:b] for own in slope_of_rows], weights, label)
            total += weight[a:b] @ np.square(hidden @ weights[0].T)
        return total / n_rows

    return _label_by_label(task, scores_of)


def back_to_first(slope_of_rows, weights, label):
    """Derivative of a label's margin by the first hidden layer's inputs, (n, H)."""
    values = slope_of_rows[-1] * weights[-1][:, label]
    for own, weight in zip(slope_of_rows[-2::-1], weights[-2:0:-1]):
        values = (values @ weight.T) * own
    return values


def sampled_order(task: Task, n_draws: int) -> Iterator[Block]:
    """The mean over rows, estimated for each label from rows drawn for it, in proportion to what they count.

    With one hidden layer the mean derivative is exact, and the sample estimates only the spread around it.
    """
    n_features, n_labels = task.network.weights[0].shape[0], task.network.biases[-1].size
    width = task.network.biases[0].size if len(task.network.weights) == 2 else 0
    for many in label_blocks(n_labels, 4 * width + 8 * ROWS + 8 * n_draws):  # a pass over the rows for each
        count = many.stop - many.start
        so_far, drawn = np.zeros(count), np.zeros((count, n_draws), np.int64)
        means = np.zeros((count, width), np.float32)
        _draw(task, many, so_far, drawn, means)
        for part in label_blocks(count, 12 * n_features):
            labels = slice(many.start + part.start, many.start + part.stop)
            yield Block(labels, *_from_draws(task, labels, so_far[part], drawn[part], means[part]))


def rows_at_once(n_features):
    """Drawn rows whose products a thread holds at a time."""
    return max(16, 4 * ENTRIES // n_features)


def _from_draws(task, labels, so_far, drawn, means):
    weights = task.network.weights
    n_rows, n_features, width = task.X.shape[0], *weights[0].shape
    count, n_draws = drawn.shape
    one_hidden = means.shape[1] > 0
    scores, error = np.empty((2, count, n_features), np.float32)
    most = rows_at_once(n_features)

    def centre_of(c):
        mean = np.zeros(width, np.float32)
        if one_hidden and so_far[c]:
            mean = (means[c] / so_far[c] * weights[1][:, labels.start + c]).astype(np.float32)
        return mean

    def derivatives(c, rows):
        return back_to_first(_slopes_of(task, rows), weights, labels.start + c)

    def take(c, centre, spread, variance):
        factor = so_far[c] / n_rows
        scores[c] = factor * (np.square(centre, dtype=np.float64) + spread)
        error[c] = factor * np.sqrt(variance / (n_draws - 1))

    def together(first, last):  # labels of few draws: one product for all
        parts, shares = [], []
        for c in range(first, last):
            rows, times = np.unique(drawn[c], return_counts=True)
            mean = centre_of(c)
            parts += [mean[None], derivatives(c, rows) - mean]
            shares.append((times / n_draws).astype(np.float32))
        values = np.concatenate(parts) @ weights[0].T
        at = 0
        for c, share in zip(range(first, last), shares):
            centre, around = values[at], np.square(values[at + 1 : at + 1 + share.size])
            at += 1 + share.size
            spread = share @ around
            take(c, centre, spread, share @ np.square(around - spread))

    def alone(c, _):  # a label of many: in parts, whose means and squares about them are put together
        rows, times = np.unique(drawn[c], return_counts=True)
        mean = centre_of(c)
        spread, variance, seen = np.zeros(n_features), np.zeros(n_features), 0.0
        for a, b in row_blocks(rows.size, most):
            around = np.square((derivatives(c, rows[a:b]) - mean) @ weights[0].T, dtype=np.float64)
            share = times[a:b] / n_draws
            own = share.sum()
            part = share @ around / own
            away = part - spread
            variance += share @ np.square(around - part) + np.square(away) * (seen * own / (seen + own))
            seen += own
            spread += away * (own / seen)
        take(c, mean @ weights[0].T, spread, variance)

    if n_draws > most:
        _report(task, alone, [(c, c + 1) for c in range(count)], labels)
    else:
        group = max(1, min(16, count // 16, most // (n_draws + 1)))
        _report(task, together, [(c, min(count, c + group)) for c in range(0, count, group)], labels)
    return scores, error


def _slopes_of(task, rows):
    X = task.X[rows]
    return [slope(values, task.network.activation) for values in task.network.hidden(X)]


def _draw(task, labels, so_far, drawn, means):
    """One pass over the rows: draws for each label, and, with one hidden layer, sums of weighted slopes."""
    network = task.network
    parts = row_blocks(task.X.shape[0])
    columns = [(c, min(so_far.size, c + 64)) for c in range(0, so_far.size, 64)]
    bias = network.biases[0]
    pieces = [(h, min(bias.size, h + 512)) for h in range(0, bias.size, 512)]
    for number, (a, b) in enumerate(parts):
        X = task.X[a:b]
        ptr, indices, data = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data
        rows = np.arange(b - a)
        first = np.empty((b - a, bias.size), np.float32)

        def forward(h, last, first=first, ptr=ptr, indices=indices, data=data, rows=rows):
            kernels.first_layer(ptr, indices, data, rows, network.weights[0], bias, h, last, first)
            activate(first[:, h:last], network.activation)

        task.workers.each(forward, pieces)
        values = first
        for weight, own in zip(network.weights[1:-1], network.biases[1:-1]):
            values = activate(values @ weight + own, network.activation)
        slope_of_rows = slope(first, network.activation) if means.shape[1] else None

        def some_labels(c, last, values=values, slope_of_rows=slope_of_rows, number=number, a=a):
            own = slice(labels.start + c, labels.start + last)
            rise = sigmoid_slope(values @ network.weights[-1][:, own] + network.biases[-1][own])
            weight = np.ascontiguousarray((rise if task.fisher else np.square(rise)).T)
            if slope_of_rows is not None:
                means[c:last] += weight @ slope_of_rows
            stream = np.arange(own.start, own.stop, dtype=np.int64) * len(parts) + number
            kernels.draw_rows(weight, a, so_far[c:last], task.seed * 64 + DRAWS, stream, drawn[c:last])

        task.workers.each(some_labels, columns)
        task.progress("Drawing rows", (number + 1) / len(parts), f"{b:,} of {task.X.shape[0]:,} rows")


def present_order(task: Task, rows, shared: bool = False) -> Iterator[Block]:
    """Attributions that only features which are there have, of all or of some rows: nonzeros L H.

    With ``shared`` their sum over all labels, one block: labels have the same rows, and its error is that of the sum.
    """
    X = task.X if rows is None else task.X[rows]
    n_features, n_labels = X.shape[1], task.network.biases[-1].size
    blocks = label_blocks(n_labels, 48 * n_features)
    if shared:
        total = np.zeros(X.nnz)
        for labels in blocks:
            for at, own in _of_present(task, X, labels, lambda part, squares: squares.sum(axis=1, dtype=np.float64)):
                total[at] += own
        sums = np.stack([np.bincount(X.indices, w, n_features) for w in (total, np.square(total))])
        yield _block_of_present(task, X, slice(0, n_labels), sums[:, None], rows is not None)
        return
    for labels in blocks:
        sums = np.zeros((1 if rows is None else 2, n_features, labels.stop - labels.start))
        for _, (features, parts) in _of_present(task, X, labels, partial(_by_feature, len(sums))):
            for into, own in zip(sums, parts):
                into[features] += own
        yield _block_of_present(task, X, labels, sums.transpose(0, 2, 1), rows is not None)


def _by_feature(count, part, squares):
    """Features that rows have, and sums over their entries: of the squares and, with a count of 2, of theirs."""
    order = np.argsort(part.indices, kind="stable")
    features, starts = np.unique(part.indices[order], return_index=True)
    squares = squares[order]
    powers = [squares, np.square(squares)][:count]
    return features, [np.add.reduceat(own, starts, axis=0) if starts.size else own for own in powers]


def _block_of_present(task, X, labels, sums, sampled):
    """Means over rows, and their errors, from sums of squares and of their squares (2, C, D)."""
    mean, error = sums[0] / X.shape[0], None
    if sampled:
        variance = np.maximum(0, sums[1] / X.shape[0] - mean**2)
        left = 1 - X.shape[0] / task.X.shape[0]
        error = np.sqrt(variance / max(1, X.shape[0] - 1) * left).astype(np.float32)
    return Block(labels, mean.astype(np.float32), error)


def _of_present(task, X, labels, reduced):
    """Parts of the rows, in their order: the places of their entries, and what ``reduced`` makes of the squares."""
    n_labels, count = task.network.biases[-1].size, labels.stop - labels.start

    def one(first, last):
        part = X[first:last]
        squares = np.square(entry_attributions(task.network, part, task.method, labels))
        return slice(X.indptr[first], X.indptr[last]), reduced(part, squares)

    per_row = max(1.0, X.nnz / max(1, X.shape[0]))
    widest = max(weight.shape[1] for weight in task.network.weights)
    steps = row_blocks(X.shape[0], int(max(1, min(ROWS, ENTRIES // (per_row * widest)))))
    for (_, last), result in zip(steps, task.workers.ordered(one, steps)):
        yield result
        done = (labels.start + count * last / X.shape[0]) / n_labels
        task.progress(PHASE, done, f"{last:,} of {X.shape[0]:,} rows")


def entry_attributions(network, X, method, labels):
    """Attributions of the features that rows have, in the order of their entries, float32 (nonzeros, C)."""
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
    """One hidden layer: integrate over slopes and outputs, then go to the features once and not for each point."""
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


def _report(task, function, parts, labels):
    """Run ``function(*part)`` for all parts on threads, telling progress; an exception from it stops the rest."""
    n_labels = task.network.biases[-1].size
    start, count = labels.start / n_labels, (labels.stop - labels.start) / n_labels
    task.progress(PHASE, start, f"{labels.start:,} of {n_labels:,} labels")
    for done, _ in enumerate(task.workers.ordered(function, parts), start=1):
        fraction = start + count * done / len(parts)
        task.progress(PHASE, fraction, f"{int(fraction * n_labels + 1e-9):,} of {n_labels:,} labels")
