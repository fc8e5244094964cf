"""Scores that are estimated from rows drawn for each label, with their standard errors."""

from collections.abc import Iterator

import numpy as np

from xmlcore._kernels import fals_scoring, fals_training
from xmlcore.parallel import row_blocks
from xmlcore.selection.fals.blocks import ENTRIES, PHASE, ROWS, Block, ScoringTask, label_blocks, run_parts
from xmlcore.selection.fals.exact import back_to_first
from xmlcore.selection.fals.network import DRAWS, SEEDS_PER_SEED, activate, sigmoid_slope, slope

LABELS_AT_ONCE = 64  # number of labels that a thread draws rows for at a time
UNITS_AT_ONCE = 512  # number of hidden units of the first layer that a thread computes at a time


def sampled_order(task: ScoringTask, n_draws: int) -> Iterator[Block]:
    """Yield scores that are estimated from rows drawn for each label, for one block of labels after the other."""
    n_features, n_labels = task.network.weights[0].shape[0], task.network.biases[-1].size
    width = task.network.biases[0].size if len(task.network.weights) == 2 else 0
    for drawn_labels in label_blocks(
        n_labels, 4 * width + 8 * ROWS + 8 * n_draws
    ):  # drawing needs one pass over all rows per block
        count = drawn_labels.stop - drawn_labels.start
        row_weight_sums, drawn = np.zeros(count), np.zeros((count, n_draws), np.int64)
        slope_sums = np.zeros((count, width), np.float32)
        _draw(task, drawn_labels, row_weight_sums, drawn, slope_sums)
        for part in label_blocks(count, 12 * n_features):
            labels = slice(drawn_labels.start + part.start, drawn_labels.start + part.stop)
            yield Block(labels, *_from_draws(task, labels, row_weight_sums[part], drawn[part], slope_sums[part]))


def rows_at_once(n_features):
    """Return the number of drawn rows that a thread multiplies by the first layer's weights at a time."""
    return max(16, 4 * ENTRIES // n_features)


def _from_draws(task, labels, row_weight_sums, drawn, slope_sums):
    """Return the scores of a slice of labels and their standard errors, both float32 (C, D), from the drawn rows."""
    weights = task.network.weights
    n_rows, n_features, width = task.X.shape[0], *weights[0].shape
    count, n_draws = drawn.shape
    scores, error = np.empty((2, count, n_features), np.float32)
    most = rows_at_once(n_features)

    def centre_of(c):
        """Return the mean derivative of a label's rows, by their weights; 0 where there are several hidden layers."""
        if not (slope_sums[c].size and row_weight_sums[c]):
            return np.zeros(width, np.float32)
        return (slope_sums[c] / row_weight_sums[c] * weights[-1][:, labels.start + c]).astype(np.float32)

    def derivatives(c, rows):
        slopes = [slope(values, task.network.activation) for values in task.network.hidden(task.X[rows])]
        return back_to_first(slopes, weights, labels.start + c)

    def set_score(c, centre, spread, variance):
        factor = row_weight_sums[c] / n_rows
        scores[c] = factor * (np.square(centre, dtype=np.float64) + spread)
        error[c] = factor * np.sqrt(variance / (n_draws - 1))

    def score_together(first, stop):
        """Score labels ``first`` to ``stop`` - 1 by one matrix product; used if few rows are drawn for a label."""
        parts, shares = [], []
        for c in range(first, stop):
            rows, times = np.unique(drawn[c], return_counts=True)
            mean = centre_of(c)
            parts += [mean[None], derivatives(c, rows) - mean]
            shares.append((times / n_draws).astype(np.float32))
        values = np.concatenate(parts) @ weights[0].T
        at = 0
        for c, share in zip(range(first, stop), shares):
            centre, around = values[at], np.square(values[at + 1 : at + 1 + share.size])
            at += 1 + share.size
            spread = share @ around
            set_score(c, centre, spread, share @ np.square(around - spread))

    def score_alone(c, _):
        """Score label c; used if many rows are drawn for a label."""
        rows, times = np.unique(drawn[c], return_counts=True)
        mean = centre_of(c)

        def squares(a, b):
            return np.square((derivatives(c, rows[a:b]) - mean) @ weights[0].T, dtype=np.float64)

        set_score(c, mean @ weights[0].T, *_spread(squares, times / n_draws, most))

    if n_draws > most:
        run_parts(task, score_alone, row_blocks(count, 1), labels)
    else:
        group = max(1, min(16, count // 16, most // (n_draws + 1)))
        run_parts(task, score_together, row_blocks(count, group), labels)
    return scores, error


def _spread(squares, shares, most):
    """Return the mean and the variance of ``squares(first, stop)`` of rows with shares, of so many at a time."""
    spread, variance, share_before = 0.0, 0.0, 0.0
    for a, b in row_blocks(shares.size, most):
        around, share = squares(a, b), shares[a:b]
        share_of_block = share.sum()
        part = share @ around / share_of_block
        difference = part - spread
        weight = share_before * share_of_block / (share_before + share_of_block)
        variance = variance + share @ np.square(around - part) + np.square(difference) * weight
        share_before += share_of_block
        spread = spread + difference * (share_of_block / share_before)
    return spread, variance


def _draw(task, labels, row_weight_sums, drawn, slope_sums):
    """Draw rows of labels, with replacement, by their weights, and add to the three arrays, which begin as zeros."""
    network = task.network
    hidden_bias = network.biases[0]
    blocks_of_rows = row_blocks(task.X.shape[0], ROWS)
    ranges_of_units = row_blocks(hidden_bias.size, UNITS_AT_ONCE)
    ranges_of_labels = row_blocks(row_weight_sums.size, LABELS_AT_ONCE)
    seed = task.seed * SEEDS_PER_SEED + DRAWS
    for block, (first_row, stop_row) in enumerate(blocks_of_rows):
        X = task.X[first_row:stop_row]
        ptr, indices, data = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data
        rows = np.arange(stop_row - first_row)
        first_layer = np.empty((rows.size, hidden_bias.size), np.float32)

        # The default arguments of both functions bind the values that the variables have in this round of the loop.
        def compute_units(h, stop, first_layer=first_layer, ptr=ptr, indices=indices, data=data, rows=rows):
            fals_training.first_layer(ptr, indices, data, rows, network.weights[0], hidden_bias, h, stop, first_layer)
            activate(first_layer[:, h:stop], network.activation)  # in place

        task.workers.each(compute_units, ranges_of_units)
        values = first_layer
        for matrix, layer_bias in zip(network.weights[1:-1], network.biases[1:-1]):
            values = activate(values @ matrix + layer_bias, network.activation)
        hidden_slope = slope(first_layer, network.activation) if slope_sums.shape[1] else None

        def draw_for_labels(c, stop, values=values, hidden_slope=hidden_slope, block=block, first_row=first_row):
            ids = slice(labels.start + c, labels.start + stop)
            output_slope = sigmoid_slope(values @ network.weights[-1][:, ids] + network.biases[-1][ids])
            row_weight = np.ascontiguousarray((output_slope if task.fisher else np.square(output_slope)).T)
            if hidden_slope is not None:
                slope_sums[c:stop] += row_weight @ hidden_slope
            # Each label has its own stream of random numbers for each block of rows.
            streams = np.arange(ids.start, ids.stop, dtype=np.int64) * len(blocks_of_rows) + block
            fals_scoring.draw_rows(row_weight, first_row, row_weight_sums[c:stop], seed, streams, drawn[c:stop])

        task.workers.each(draw_for_labels, ranges_of_labels)
        done = labels.start / network.biases[-1].size
        task.progress(PHASE, done, f"drawing rows, {stop_row:,} of {task.X.shape[0]:,}")
