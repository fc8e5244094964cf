"""Scores estimated from rows that are drawn for each label, with their standard errors."""

from collections.abc import Iterator

import numpy as np

from xmlcore._kernels import fals_scoring, fals_training
from xmlcore.parallel import row_blocks
from xmlcore.selection.fals.blocks import ENTRIES, ROWS, Block, Task, label_blocks, run_parts
from xmlcore.selection.fals.exact import back_to_first
from xmlcore.selection.fals.network import DRAWS, activate, sigmoid_slope, slope


def sampled_order(task: Task, n_draws: int) -> Iterator[Block]:
    """Estimate the mean over rows from rows that are drawn for each label, in proportion to their weights.

    With one hidden layer the mean derivative is computed exactly; the sample only estimates the spread around it.

    Parameters
    ----------
    task : Task
    n_draws : int
        The number of rows drawn for each label, with replacement.
    """
    n_features, n_labels = task.network.weights[0].shape[0], task.network.biases[-1].size
    width = task.network.biases[0].size if len(task.network.weights) == 2 else 0
    for many in label_blocks(n_labels, 4 * width + 8 * ROWS + 8 * n_draws):  # each block takes a pass over the rows
        count = many.stop - many.start
        so_far, drawn = np.zeros(count), np.zeros((count, n_draws), np.int64)
        means = np.zeros((count, width), np.float32)
        _draw(task, many, so_far, drawn, means)
        for part in label_blocks(count, 12 * n_features):
            labels = slice(many.start + part.start, many.start + part.stop)
            yield Block(labels, *_from_draws(task, labels, so_far[part], drawn[part], means[part]))


def rows_at_once(n_features):
    """Return the number of drawn rows whose products a thread holds at a time."""
    return max(16, 4 * ENTRIES // n_features)


def _from_draws(task, labels, so_far, drawn, means):
    """Compute the scores of some labels and their standard errors from the rows drawn for each label.

    Parameters
    ----------
    labels : slice
    so_far : ndarray of float64, shape (C,)
        The sum of the weights of all rows, for each label.
    drawn : ndarray of int64, shape (C, n_draws)
    means : ndarray of float32, shape (C, H) or (C, 0)
        The sums of weighted slopes; empty unless there is exactly one hidden layer.
    """
    weights = task.network.weights
    n_rows, n_features, width = task.X.shape[0], *weights[0].shape
    count, n_draws = drawn.shape
    one_hidden = means.shape[1] > 0
    scores, error = np.empty((2, count, n_features), np.float32)
    most = rows_at_once(n_features)

    def centre_of(c):  # the mean derivative by the sums that reach the hidden units, or 0 where it is not known
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

    def together(first, last):  # several labels of few draws, by one matrix product
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

    def alone(c, _):  # one label of many draws, in parts: their means and variances are combined
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
        run_parts(task, alone, [(c, c + 1) for c in range(count)], labels)
    else:
        group = max(1, min(16, count // 16, most // (n_draws + 1)))
        run_parts(task, together, [(c, min(count, c + group)) for c in range(0, count, group)], labels)
    return scores, error


def _slopes_of(task, rows):
    """Compute the derivatives of all hidden units for some rows."""
    X = task.X[rows]
    return [slope(values, task.network.activation) for values in task.network.hidden(X)]


def _draw(task, labels, so_far, drawn, means):
    """Draw rows for each label in one pass over the rows; with one hidden layer, sum their weighted slopes, too."""
    network = task.network
    parts = row_blocks(task.X.shape[0], ROWS)
    columns = [(c, min(so_far.size, c + 64)) for c in range(0, so_far.size, 64)]
    bias = network.biases[0]
    pieces = [(h, min(bias.size, h + 512)) for h in range(0, bias.size, 512)]
    for number, (a, b) in enumerate(parts):
        X = task.X[a:b]
        ptr, indices, data = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data
        rows = np.arange(b - a)
        first = np.empty((b - a, bias.size), np.float32)

        def forward(h, last, first=first, ptr=ptr, indices=indices, data=data, rows=rows):
            fals_training.first_layer(ptr, indices, data, rows, network.weights[0], bias, h, last, first)
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
            fals_scoring.draw_rows(weight, a, so_far[c:last], task.seed * 64 + DRAWS, stream, drawn[c:last])

        task.workers.each(some_labels, columns)
        task.progress("Drawing rows", (number + 1) / len(parts), f"{b:,} of {task.X.shape[0]:,} rows")
