"""LdSM: training the regressors of one node (algorithm 4 of Majzoubi and Choromanska, 2020).

The update of the weights is the normalised adaptive gradient of Ross, Mineiro and Langford ("Normalized online
learning", UAI 2013), or plain stochastic gradient descent.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.arrays import longest
from xmlcore._kernels.ldsm_objective import choose_directions, objective
from xmlcore._kernels.ldsm_rows import read_standardised
from xmlcore._kernels.rng import stream, uniform

NAG = 0
SGD = 1
TINY = 1e-30  # a step is divided by the root of the sum of squared gradients; smaller sums are raised to this


class NodeSettings(NamedTuple):
    """The settings by which a node is trained and split."""

    arity: int  # M, children of a node
    n_epochs: int  # passes over the node's rows
    learning_rate: float
    integrity_weight: float  # λ1, of the J that is reported
    trained_weight: float  # λ1 of the J that training minimises: less at further attempts
    multiway_weight: float  # λ2
    spread: float  # weights start uniform in [-spread, spread]
    least: float  # weights that add less than this to a margin are set to 0 after training
    optimizer: int  # NAG or SGD
    min_error: float  # a regressor learns from a row only if its sigmoid differs from the target by at least this
    weight_decay: float  # share that the weights of a row's columns lose when a regressor learns from the row


class _State(NamedTuple):
    """Arrays that change while a node is trained; M entries per column, the biases last."""

    weights: np.ndarray  # ((n_columns + 1) * M,), as the values
    squares: np.ndarray  # likewise: sums of squared gradients
    scale: np.ndarray  # (n_columns,), the largest absolute value met in each column
    ratio: np.ndarray  # the values of one row, divided by the scales of its columns
    own: np.ndarray  # the weights of its columns for one child
    own_squares: np.ndarray  # likewise their squares
    moves: np.ndarray  # by how much each entry of the row has changed the margin


@inlined
def meet_row(node, i, state, M):
    """Raise the scales of the columns of row i to the row's values; return its squared norm in scaled values."""
    # The weights of a column shrink when its scale grows, so that what they add to a margin stays as large.
    columns, values = node.columns, node.values
    weights, scale = state.weights, state.scale
    kind = values.dtype
    norm = 1.0
    for t in range(node.ptr[i], node.ptr[i + 1]):
        f = columns[t]
        size = abs(values[t])
        if size > scale[f]:
            before = scale[f] if scale[f] > 0.0 else kind.type(1.0)
            if scale[f] > 0.0 or size > 1.0:
                for c in range(M):
                    weights[M * f + c] *= before / size
            scale[f] = size
        ratio = np.float64(values[t] / scale[f])
        norm += ratio * ratio
    return norm


@inlined
def learn(node, begin, end, child, target, rate, state, settings):
    """Update the regressor of a child on a row, whose values begin and end there; return its margin afterwards."""
    columns, values = node.columns, node.values
    weights, squares, ratio, own, own_squares, moves = (
        state.weights, state.squares, state.ratio, state.own, state.own_squares, state.moves,
    )  # fmt: skip
    M = np.uint64(settings.arity)
    c = np.uint64(child)
    kind = values.dtype
    tiny = kind.type(TINY)
    decay = kind.type(settings.weight_decay)
    bias = M * np.uint64(node.n_columns) + c
    a = np.uint64(begin)
    n = np.uint64(end) - a
    margin = weights[bias]
    for t in range(n):
        own[t] = weights[M * np.uint64(columns[a + t]) + c]
        margin += own[t] * values[a + t]
    error = kind.type(1.0 / (1.0 + math.exp(-np.float64(margin)))) - kind.type(target)
    if not (error != 0.0 and abs(error) >= settings.min_error):  # nan does not learn
        return margin
    step = kind.type(rate) * error
    if settings.optimizer == NAG:
        for t in range(n):
            own_squares[t] = squares[M * np.uint64(columns[a + t]) + c]
            ratio[t] = values[a + t] / state.scale[columns[a + t]]
        for t in range(n):
            gradient = error * values[a + t]
            square = own_squares[t] + gradient * gradient
            move = step * ratio[t] / np.sqrt(max(square, tiny)) + decay * own[t]
            own_squares[t] = square
            own[t] -= move
            moves[t] = move * values[a + t]
        for t in range(n):
            weights[M * np.uint64(columns[a + t]) + c] = own[t]
            squares[M * np.uint64(columns[a + t]) + c] = own_squares[t]
            margin -= moves[t]
        squares[bias] += error * error
        move = step / np.sqrt(max(squares[bias], tiny))
    else:
        for t in range(n):
            move = step * values[a + t] + decay * own[t]
            weights[M * np.uint64(columns[a + t]) + c] = own[t] - move
            margin -= move * values[a + t]
        move = step
    weights[bias] -= move
    return margin - move


@kernel
def start_training(node, settings, seed, number):
    """Return the state of a node before training: random weights from a stream of random numbers, all else 0."""
    kind = node.values.dtype
    M = settings.arity
    weights = np.empty(M * (node.n_columns + 1), kind)
    state = stream(seed, number)
    for i in range(weights.size):
        state, drawn = uniform(state)
        weights[i] = (2.0 * drawn - 1.0) * settings.spread
    most = node.n_columns if node.ptr.size == 1 else longest(node.ptr)
    return _State(
        weights, np.zeros(weights.size, kind), np.zeros(node.n_columns, kind), np.empty(most, kind),
        np.empty(most, kind), np.empty(most, kind), np.empty(most, kind),
    )  # fmt: skip


@kernel
def scaled_norms(node, state, norms):
    """Write the squared norm of each row in final scales into ``norms``."""
    for i in range(node.ptr.size - 1):
        norms[i] = 1.0
        for t in range(node.ptr[i], node.ptr[i + 1]):
            ratio = np.float64(node.values[t] / state.scale[node.columns[t]])
            norms[i] += ratio * ratio


@kernel
def train_node(node, standards, settings, seed, number, trace, stop):
    """Train the regressors of a node (algorithm 4 of the paper), until ``stop`` is not 0."""
    # ``standards`` are how the rows are read with SGD; with NAG they are rows of ``node``.
    # ``trace``, (n_epochs, 4), gets J and its parts after each epoch, estimated from the margins met so far. Returns
    # the weights, ((n_columns + 1) * M,) with the biases last, the sums that :func:`objective` reads, how often each
    # label was met, and the largest absolute value of each column (zeros with SGD).
    m = node.label_ptr.size - 1
    M = settings.arity
    nag = settings.optimizer == NAG
    label_ptr, labels = node.label_ptr, node.labels
    state = start_training(node, settings, seed, number)
    norms = np.zeros(m)
    sums = np.zeros(M)
    label_sums = np.zeros(node.n_labels * M)
    label_counts = np.zeros(node.n_labels, np.int64)
    table = np.empty(3 * M * M)
    total = 0
    seen = 0
    norm_sum = 0.0
    for epoch in range(settings.n_epochs):
        if stop[0]:
            break
        for i in range(m):
            size = label_ptr[i + 1] - label_ptr[i]
            total += size
            for t in range(label_ptr[i], label_ptr[i + 1]):
                label_counts[labels[t]] += 1
            directions = choose_directions(
                sums, total, label_sums, labels, label_ptr[i], label_ptr[i + 1], settings.trained_weight,
                settings.multiway_weight, table,
            )  # fmt: skip
            rate = settings.learning_rate
            begin, end = np.int64(0), np.int64(node.n_columns)
            if nag:
                begin, end = node.ptr[i], node.ptr[i + 1]
                if epoch == 0:
                    norms[i] = meet_row(node, i, state, M)
                norm_sum += norms[i]
                seen += 1
                rate *= math.sqrt(seen / norm_sum)
            else:
                read_standardised(standards, i, node.values)
            for c in range(M):
                margin = learn(node, begin, end, c, (directions >> c) & 1, rate, state, settings)
                share = min(max(np.float64(margin), 0.0), 1.0)
                sums[c] += size * share
                for t in range(label_ptr[i], label_ptr[i + 1]):
                    label_sums[M * np.int64(labels[t]) + c] += share
        if epoch == 0 and nag:
            scaled_norms(node, state, norms)
        objective(
            sums, total, label_sums, label_counts, settings.trained_weight, settings.multiway_weight, trace[epoch]
        )
    return state.weights, sums, label_sums, label_counts, state.scale
