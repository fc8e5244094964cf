"""Shared parts of all orders of scoring: the task, blocks of labels, and the weight of each row for each label.

Shapes: N rows, D features, L labels, H hidden units, C labels of a block. An order of scoring is a generator that
yields a :class:`Block` of scores for each block of labels.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.parallel import row_blocks
from xmlcore.progress import Progress
from xmlcore.selection.fals.network import Network, sigmoid_slope, slope

ROWS = 1024  # number of rows that are evaluated at a time
MEMORY = 1 << 29  # largest memory of a block of labels, in bytes
ENTRIES = 1 << 21  # number of values per layer that a thread computes at a time
PHASE = "Scoring features"  # name of the phase in progress reports


class Block(NamedTuple):
    """The scores of all features for some labels."""

    labels: slice
    scores: np.ndarray  # float32 (C, D)
    error: np.ndarray | None  # float32 (C, D): standard errors of sampled scores


class ScoringTask(NamedTuple):
    """The network and the rows to compute scores from, and how to compute them."""

    network: Network
    X: sp.csr_array
    method: str  # the method of attribution, see :data:`xmlcore.selection.fals.parameters.METHODS`
    fisher: bool  # whether squared gradients are divided by f (1 - f), with the output f, as in Fisher information
    workers: object  # Workers
    progress: Progress
    seed: int


def label_blocks(n_labels, bytes_per_label):
    """Divide the labels into slices that need at most ``MEMORY`` bytes each, but have at least one label."""
    width = int(max(1, min(n_labels, MEMORY // max(1, bytes_per_label))))
    return [slice(a, min(n_labels, a + width)) for a in range(0, n_labels, width)]


def weights_of(task: ScoringTask, labels: slice) -> np.ndarray:
    """Return the weight of each row in the scores of some labels: (f (1 - f))², or f (1 - f) for Fisher information."""
    network, X = task.network, task.X
    out = np.empty((X.shape[0], labels.stop - labels.start), np.float32)

    def some_rows(first, stop):
        out[first:stop] = sigmoid_slope(network.margins(X[first:stop], labels))
        if not task.fisher:
            np.square(out[first:stop], out=out[first:stop])

    task.workers.each(some_rows, row_blocks(X.shape[0], ROWS))
    return out


def slopes(task: ScoringTask) -> list:
    """Return the derivatives of all hidden units by their inputs: a matrix (N, H) per hidden layer, bool for ReLU."""
    network, X = task.network, task.X
    dtype = bool if network.activation == "relu" else np.float32
    out = [np.empty((X.shape[0], bias.size), dtype) for bias in network.biases[:-1]]

    def some_rows(first, stop):
        for values, derivatives in zip(network.hidden(X[first:stop]), out):
            derivatives[first:stop] = values > 0 if dtype is bool else slope(values, network.activation)

    task.workers.each(some_rows, row_blocks(X.shape[0], ROWS))
    return out


def run_parts(task, function, parts, labels):
    """Call ``function(*part)`` on threads for all parts of the work for a slice of labels, and report progress."""
    n_labels = task.network.biases[-1].size
    start, count = labels.start / n_labels, (labels.stop - labels.start) / n_labels
    task.progress(PHASE, start, f"{labels.start:,} of {n_labels:,} labels")
    for done, _ in enumerate(task.workers.ordered(function, parts), start=1):
        fraction = start + count * done / len(parts)
        task.progress(PHASE, fraction, f"{int(fraction * n_labels + 1e-9):,} of {n_labels:,} labels")
