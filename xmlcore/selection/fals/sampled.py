"""Scores that are estimated from rows drawn for each label, with their standard errors."""

from collections.abc import Iterator

import numpy as np

from xmlcore._kernels import fals_scoring, fals_training
from xmlcore.parallel import row_blocks
from xmlcore.selection.fals.blocks import ENTRIES, ROWS, Block, Task, label_blocks, run_parts
from xmlcore.selection.fals.exact import back_to_first
from xmlcore.selection.fals.network import DRAWS, activate, sigmoid_slope, slope


def sampled_order(task: Task, n_draws: int) -> Iterator[Block]:
    """Yield estimates of the mean over rows, from rows drawn for each label in proportion to their weights.

    With one hidden layer, the weighted mean of the derivatives is computed exactly from all rows; the drawn rows only
    estimate the variance around this mean.

    Parameters
    ----------
    task : Task
    n_draws : int
        The number of rows that are drawn for each label, with replacement.
    """
    n_features, n_labels = task.network.weights[0].shape[0], task.network.biases[-1].size
    width = task.network.biases[0].size if len(task.network.weights) == 2 else 0
    for drawn_labels in label_blocks(
        n_labels, 4 * width + 8 * ROWS + 8 * n_draws
    ):  # drawing needs one pass over all rows per block
        count = drawn_labels.stop - drawn_labels.start
        weight_sums, drawn = np.zeros(count), np.zeros((count, n_draws), np.int64)
        slope_sums = np.zeros((count, width), np.float32)
        _draw(task, drawn_labels, weight_sums, drawn, slope_sums)
        for part in label_blocks(count, 12 * n_features):
            labels = slice(drawn_labels.start + part.start, drawn_labels.start + part.stop)
            yield Block(labels, *_from_draws(task, labels, weight_sums[part], drawn[part], slope_sums[part]))


def rows_at_once(n_features):
    """Return the number of drawn rows that a thread multiplies by the first layer's weights at a time."""
    return max(16, 4 * ENTRIES // n_features)


def _from_draws(task, labels, weight_sums, drawn, slope_sums):
    """Return the scores of a slice of labels and their standard errors, both float32 (C, D), from the drawn rows.

    Parameters
    ----------
    labels : slice
    weight_sums : ndarray of float64, shape (C,)
        The sum of the weights of all rows, for each label.
    drawn : ndarray of int64, shape (C, n_draws)
        The rows that were drawn for each label.
    slope_sums : ndarray of float32, shape (C, H) or (C, 0)
        The weighted sums, over all rows, of the hidden units' derivatives; empty unless there is one hidden layer.
    """
    weights = task.network.weights
    n_rows, n_features, width = task.X.shape[0], *weights[0].shape
    count, n_draws = drawn.shape
    one_hidden = slope_sums.shape[1] > 0
    scores, error = np.empty((2, count, n_features), np.float32)
    most = rows_at_once(n_features)

    def centre_of(c):
        """Return label c's weighted mean derivative by the inputs of the hidden units; 0 if it is not known."""
        mean = np.zeros(width, np.float32)
        if one_hidden and weight_sums[c]:
            mean = (slope_sums[c] / weight_sums[c] * weights[1][:, labels.start + c]).astype(np.float32)
        return mean

    def derivatives(c, rows):
        """Return the derivatives of label c's margin by the inputs of the hidden units, for some rows."""
        return back_to_first(_slopes_of(task, rows), weights, labels.start + c)

    def set_score(c, centre, spread, variance):
        """Set the scores and errors of label c, from the mean gradient, and mean and variance of squares around it."""
        factor = weight_sums[c] / n_rows
        scores[c] = factor * (np.square(centre, dtype=np.float64) + spread)
        error[c] = factor * np.sqrt(variance / (n_draws - 1))

    def score_together(first, last):
        """Score several labels by one matrix product, if few rows are drawn per label."""
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
            set_score(c, centre, spread, share @ np.square(around - spread))

    def score_alone(c, _):
        """Score one label if many rows are drawn: in blocks of rows, whose means and variances are combined."""
        rows, times = np.unique(drawn[c], return_counts=True)
        mean = centre_of(c)
        spread, variance, share_before = np.zeros(n_features), np.zeros(n_features), 0.0
        for a, b in row_blocks(rows.size, most):
            around = np.square((derivatives(c, rows[a:b]) - mean) @ weights[0].T, dtype=np.float64)
            share = times[a:b] / n_draws
            share_of_block = share.sum()
            part = share @ around / share_of_block
            difference = part - spread
            variance += share @ np.square(around - part) + np.square(difference) * (
                share_before * share_of_block / (share_before + share_of_block)
            )
            share_before += share_of_block
            spread += difference * (share_of_block / share_before)
        set_score(c, mean @ weights[0].T, spread, variance)

    if n_draws > most:
        run_parts(task, score_alone, [(c, c + 1) for c in range(count)], labels)
    else:
        group = max(1, min(16, count // 16, most // (n_draws + 1)))
        run_parts(task, score_together, [(c, min(count, c + group)) for c in range(0, count, group)], labels)
    return scores, error


def _slopes_of(task, rows):
    """Return the derivatives of all hidden units for some rows: one matrix per hidden layer."""
    X = task.X[rows]
    return [slope(values, task.network.activation) for values in task.network.hidden(X)]


def _draw(task, labels, weight_sums, drawn, slope_sums):
    """Draw rows for each label in one pass over all rows.

    The results are written into ``weight_sums``, ``drawn`` and ``slope_sums``, see :func:`_from_draws`.
    """
    network = task.network
    parts = row_blocks(task.X.shape[0], ROWS)
    columns = [(c, min(weight_sums.size, c + 64)) for c in range(0, weight_sums.size, 64)]
    bias = network.biases[0]
    pieces = [(h, min(bias.size, h + 512)) for h in range(0, bias.size, 512)]
    for number, (a, b) in enumerate(parts):
        X = task.X[a:b]
        ptr, indices, data = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data
        rows = np.arange(b - a)
        first = np.empty((b - a, bias.size), np.float32)

        def forward(h, last, first=first, ptr=ptr, indices=indices, data=data, rows=rows):
            """Compute hidden units h to ``last`` - 1 of the first layer."""
            fals_training.first_layer(ptr, indices, data, rows, network.weights[0], bias, h, last, first)
            activate(first[:, h:last], network.activation)

        task.workers.each(forward, pieces)
        values = first
        for weight, own in zip(network.weights[1:-1], network.biases[1:-1]):
            values = activate(values @ weight + own, network.activation)
        slope_of_rows = slope(first, network.activation) if slope_sums.shape[1] else None

        def some_labels(c, last, values=values, slope_of_rows=slope_of_rows, number=number, a=a):
            """Draw rows of this block for labels c to ``last`` - 1."""
            labels_of_part = slice(labels.start + c, labels.start + last)
            slope_of_output = sigmoid_slope(
                values @ network.weights[-1][:, labels_of_part] + network.biases[-1][labels_of_part]
            )
            weight = np.ascontiguousarray((slope_of_output if task.fisher else np.square(slope_of_output)).T)
            if slope_of_rows is not None:
                slope_sums[c:last] += weight @ slope_of_rows
            stream = np.arange(labels_of_part.start, labels_of_part.stop, dtype=np.int64) * len(parts) + number
            fals_scoring.draw_rows(weight, a, weight_sums[c:last], task.seed * 64 + DRAWS, stream, drawn[c:last])

        task.workers.each(some_labels, columns)
        task.progress("Drawing rows", (number + 1) / len(parts), f"{b:,} of {task.X.shape[0]:,} rows")
