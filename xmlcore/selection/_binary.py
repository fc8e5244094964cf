"""FALSb: a network of its own for every label."""

import numpy as np

from xmlcore._kernels import fals as kernels
from xmlcore._kernels import rng
from xmlcore.progress import Progress, silent
from xmlcore.selection import _scoring
from xmlcore.selection._network import DROPOUT, LABEL, ORDER, Network, first_weights, step_sizes, steps_per_epoch


def train(x, y, n_labels, sizes, settings, workers, progress: Progress = silent) -> Network:
    """Train all labels' networks, each on all rows.

    Parameters
    ----------
    x : ptr, columns, values
    y : ptr, labels
    n_labels : int
    sizes : D, H, 1
    settings, workers
        As :class:`xmlcore.selection._network.Training` has them.
    progress : callable

    Returns
    -------
    Network
        Weights (L, D, H) and (L, H, 1), biases (L, H) and (L,): see :func:`of_label`.
    """
    n_features, width, _ = sizes
    n_rows = x[0].size - 1
    into, bias = np.empty((n_labels, n_features, width), np.float32), np.empty((n_labels, width), np.float32)
    out_of, last = np.empty((n_labels, width, 1), np.float32), np.empty(n_labels, np.float32)
    rates, tail = step_sizes(settings.n_epochs * steps_per_epoch(n_rows, settings.batch_size), settings.learning_rate)
    order = np.stack(
        [np.random.default_rng([settings.seed, ORDER, epoch]).permutation(n_rows) for epoch in range(settings.n_epochs)]
    )
    row_of = np.repeat(np.arange(n_rows), np.diff(y[0]))
    by_label = np.argsort(y[1], kind="stable")
    bounds = np.searchsorted(y[1][by_label], np.arange(n_labels + 1))

    def one(first, end):
        for c in range(first, end):
            weights, biases = first_weights(sizes, [settings.seed, LABEL, c])
            member = np.zeros(n_rows, bool)
            member[row_of[by_label[bounds[c] : bounds[c + 1]]]] = True
            state = np.uint64(rng.stream(settings.seed * 64 + DROPOUT, c))
            after = np.ascontiguousarray(weights[1][:, 0])
            kernels.train_binary(
                *x, order, min(settings.batch_size, n_rows), member, tail, rates, float(settings.l2),
                float(settings.dropout), settings.activation == "relu", state, weights[0], biases[0],
                after, biases[1],
            )  # fmt: skip
            into[c], bias[c], out_of[c, :, 0], last[c] = weights[0], biases[0], after, biases[1][0]

    progress("Training networks", 0.0, f"0 of {n_labels:,} labels")
    parts = [(c, c + 1) for c in range(n_labels)]
    for done, _ in enumerate(workers.ordered(one, parts), start=1):
        progress("Training networks", done / n_labels, f"{done:,} of {n_labels:,} labels")
    return Network((into, out_of), (bias, last), settings.activation)


def of_label(network: Network, label: int) -> Network:
    """Return the network of one label, with one output."""
    (into, out_of), (bias, last) = network.weights, network.biases
    return Network((into[label], out_of[label]), (bias[label], last[label : label + 1]), network.activation)


class _Here:
    """Workers that do all in the calling thread: threads take a label each."""

    def each(self, function, parts):
        for part in parts:
            function(*part)

    def ordered(self, function, parts):
        for part in parts:
            yield function(*part)


def scores(task: "_scoring.Task"):
    """Scores of all labels, as the orders in :mod:`xmlcore.selection._scoring` yield them; all are exact."""
    n_labels, n_features = task.network.biases[-1].size, task.X.shape[1]

    def one(label, _):
        own = task._replace(network=of_label(task.network, label), workers=_Here(), progress=silent)
        if task.method == "gradient":
            return next(_scoring.expanded_order(own, _scoring.slopes(own)[0])).scores[0]
        return next(_scoring.present_order(own, None)).scores[0]

    for labels in _scoring.label_blocks(n_labels, 8 * n_features):
        out = np.empty((labels.stop - labels.start, n_features), np.float32)
        parts = [(label, label + 1) for label in range(labels.start, labels.stop)]
        for place, result in enumerate(task.workers.ordered(one, parts)):
            out[place] = result
            done = parts[place][1]
            task.progress(_scoring.PHASE, done / n_labels, f"{done:,} of {n_labels:,} labels")
        yield _scoring.Block(labels, out, None)
