"""What all orders of scoring share: the task, blocks of labels, and how much each row counts for each label.

N rows, D features, L labels, H hidden units. An order of scoring takes the labels in blocks and yields :class:`Block`.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.parallel import row_blocks
from xmlcore.progress import Progress
from xmlcore.selection.fals.network import Network, product, sigmoid_slope, slope

ROWS = 1024  # number of rows at a time
MEMORY = 1 << 29  # bytes that a block of labels may take
ENTRIES = 1 << 21  # number of values at a time, where entries of X go through the layers
PHASE = "Scoring features"  # as progress reports it


class Block(NamedTuple):
    """The scores of all features for some labels."""

    labels: slice
    scores: np.ndarray  # float32 (C, D)
    error: np.ndarray | None  # float32 (C, D): standard errors of sampled scores


class Task(NamedTuple):
    """What is scored, and how."""

    network: Network
    X: sp.csr_array
    method: str  # of attribution
    fisher: bool  # whether squares are divided by f (1 - f): Fisher information
    workers: object  # Workers or InCaller
    progress: Progress
    seed: int


def label_blocks(n_labels, bytes_per_label):
    """Divide the labels into slices of as many as ``MEMORY`` allows, at least one."""
    width = int(max(1, min(n_labels, MEMORY // max(1, bytes_per_label))))
    return [slice(a, min(n_labels, a + width)) for a in range(0, n_labels, width)]


def weights_of(task: Task, labels: slice) -> np.ndarray:
    """Compute the factor of each row's squared gradient of the margin, for some labels.

    It is (f (1 - f))², or f (1 - f) for Fisher information, with the output f of the label.

    Returns
    -------
    ndarray of float32, shape (N, C)
    """
    network, X = task.network, task.X
    out = np.empty((X.shape[0], labels.stop - labels.start), np.float32)

    def some_rows(first, last):
        out[first:last] = row_weights(network, X[first:last], labels, task.fisher)

    task.workers.each(some_rows, row_blocks(X.shape[0], ROWS))
    return out


def row_weights(network, X, labels, fisher):
    """Compute what :func:`weights_of` does, for the rows of X."""
    hidden = network.hidden(X)
    last = hidden[-1] if hidden else X
    rise = sigmoid_slope(product(last, network.weights[-1][:, labels]) + network.biases[-1][labels])
    return rise if fisher else np.square(rise, out=rise)


def slopes(task: Task) -> list:
    """Compute the derivatives of all hidden units: one matrix (N, H) per hidden layer, bool with ReLU."""
    network, X = task.network, task.X
    kind = bool if network.activation == "relu" else np.float32
    out = [np.empty((X.shape[0], bias.size), kind) for bias in network.biases[:-1]]

    def some_rows(first, last):
        for values, own in zip(network.hidden(X[first:last]), out):
            own[first:last] = values > 0 if kind is bool else slope(values, network.activation)

    task.workers.each(some_rows, row_blocks(X.shape[0], ROWS))
    return out


def run_parts(task, function, parts, labels):
    """Call ``function(*part)`` for all parts of a block of labels on threads, and report progress."""
    n_labels = task.network.biases[-1].size
    start, count = labels.start / n_labels, (labels.stop - labels.start) / n_labels
    task.progress(PHASE, start, f"{labels.start:,} of {n_labels:,} labels")
    for done, _ in enumerate(task.workers.ordered(function, parts), start=1):
        fraction = start + count * done / len(parts)
        task.progress(PHASE, fraction, f"{int(fraction * n_labels + 1e-9):,} of {n_labels:,} labels")
