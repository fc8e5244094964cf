"""Training and scores of FALSb, which has one network for each label."""

import numpy as np

from xmlcore._kernels import fals_label_networks as kernels
from xmlcore._kernels import rng
from xmlcore.progress import Progress, silent
from xmlcore.selection.fals import blocks, exact, present
from xmlcore.selection.fals.network import DROPOUT, LABEL, ORDER, SEEDS_PER_SEED, Network, first_weights
from xmlcore.selection.fals.training import Workers, step_sizes, steps_per_epoch

PHASE = "Training a network per label"


def train(x, y, n_labels, sizes, settings, workers, progress: Progress = silent) -> Network:
    n_features, width, _ = sizes
    n_rows = x[0].size - 1
    into, bias = np.empty((n_labels, n_features, width), np.float32), np.empty((n_labels, width), np.float32)
    out_of, out_bias = np.empty((n_labels, width, 1), np.float32), np.empty(n_labels, np.float32)
    n_steps = settings.n_epochs * steps_per_epoch(n_rows, settings.batch_size)
    schedule = kernels.Schedule(*step_sizes(n_steps, settings.learning_rate))
    options = kernels.Options(float(settings.l2), float(settings.dropout), settings.activation == "relu")
    order = np.stack(
        [
            np.random.default_rng([settings.random_state, ORDER, epoch]).permutation(n_rows)
            for epoch in range(settings.n_epochs)
        ]
    )
    row_of = np.repeat(np.arange(n_rows), np.diff(y[0]))
    by_label = np.argsort(y[1], kind="stable")
    bounds = np.searchsorted(y[1][by_label], np.arange(n_labels + 1))

    def train_one(c, _):
        weights, biases = first_weights(sizes, [settings.random_state, LABEL, c])
        member = np.zeros(n_rows, bool)
        member[row_of[by_label[bounds[c] : bounds[c + 1]]]] = True
        state = np.uint64(rng.stream(settings.random_state * SEEDS_PER_SEED + DROPOUT, c))
        network = kernels.LabelNetwork(weights[0], biases[0], np.ascontiguousarray(weights[1][:, 0]), biases[1])
        kernels.train_binary(x, order, min(settings.batch_size, n_rows), member, schedule, options, state, network)
        into[c], bias[c], out_of[c, :, 0] = network.into, network.bias, network.out_of
        out_bias[c] = network.output_bias[0]

    progress(PHASE, 0.0, f"0 of {n_labels:,} labels")
    parts = [(c, c + 1) for c in range(n_labels)]
    for done, _ in enumerate(workers.ordered(train_one, parts), start=1):
        progress(PHASE, done / n_labels, f"{done:,} of {n_labels:,} labels")
    return Network((into, out_of), (bias, out_bias), settings.activation)


def of_label(network: Network, label: int) -> Network:
    (into, out_of), (bias, last) = network.weights, network.biases
    return Network((into[label], out_of[label]), (bias[label], last[label : label + 1]), network.activation)


def scores(task: blocks.ScoringTask):
    """Yield blocks of exact scores; each thread computes the scores of one label at a time."""
    n_labels, n_features = task.network.biases[-1].size, task.X.shape[1]
    alone = Workers(1)

    def score_one(label, _):
        task_of_label = task._replace(network=of_label(task.network, label), workers=alone, progress=silent)
        if task.method == "gradient":
            return next(exact.expanded_order(task_of_label, blocks.slopes(task_of_label)[0])).scores[0]
        return next(present.present_order(task_of_label, None)).scores[0]

    for labels in blocks.label_blocks(n_labels, 8 * n_features):
        out = np.empty((labels.stop - labels.start, n_features), np.float32)
        parts = [(label, label + 1) for label in range(labels.start, labels.stop)]
        for place, result in enumerate(task.workers.ordered(score_one, parts)):
            out[place] = result
            done = parts[place][1]
            task.progress(blocks.PHASE, done / n_labels, f"{done:,} of {n_labels:,} labels")
        yield blocks.Block(labels, out, error=None)
