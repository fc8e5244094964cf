"""Training of the network by Adam on minibatches, in which sparse rows only change the weights of their features."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import fals_training as kernels
from xmlcore.progress import Progress, silent
from xmlcore.selection.fals.network import DROPOUT, ORDER, Network, activate, first_weights, sigmoid, slope
from xmlcore.system import effective_jobs

PHASE = "Training the network"
SLICE_WORK = 4e6  # smallest number of multiplications that are given to a thread
STEPS_PER_EPOCH = 100  # number of steps per epoch, unless batch_size is given
MAX_SLICES = 8  # largest number of parts that a layer is divided into
DENSE = 0.2  # smallest share of non-zero values of X at which rows are multiplied as dense rows


class Workers:
    """Threads, in a ``with`` statement, for many short pieces of work; with ``n_jobs=1`` the caller does all."""

    def __init__(self, n_jobs):
        threads = effective_jobs(n_jobs)
        self._ahead = 2 * threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._pool:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def each(self, function, parts):
        """Call ``function(*part)`` for each part and wait until all are done."""
        for _ in self.ordered(function, parts):
            pass

    def ordered(self, function, parts):
        """Yield ``function(*part)`` for each part, in their order."""
        if self._pool is None or len(parts) == 1:
            yield from (function(*part) for part in parts)
            return
        waiting = deque()
        try:
            for part in parts:
                waiting.append(self._pool.submit(function, *part))
                if len(waiting) >= self._ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def step_sizes(n_steps, learning_rate):
    """Return the length of each step of Adam, and the sums of later ones that ``catch_up`` takes at once."""
    steps = np.arange(1, n_steps + 1)
    rates = learning_rate * np.sqrt(1 - kernels.BETA_2**steps) / (1 - kernels.BETA_1**steps)
    tail = np.empty(n_steps + 1)
    tail[n_steps] = 0.0  # only differences of two elements are used, so that steps after the last one do not matter
    for step in range(n_steps - 1, -1, -1):
        tail[step] = kernels.DECAY * (rates[step] + tail[step + 1])
    return rates, tail


def steps_per_epoch(n_rows, batch_size):
    return -(-n_rows // batch_size)


def slices(width, work):
    """Divide the ``width`` columns of a layer into parts for threads: a list of (first, stop)."""
    count = int(min(MAX_SLICES, max(1, work // SLICE_WORK), max(1, width // 16)))
    bounds = [width * i // count for i in range(count + 1)]
    return list(zip(bounds[:-1], bounds[1:]))


class Training:
    """Minibatch training by Adam of layers with ``sizes`` units; float64 is for tests of gradients.

    ``settings`` is a FALS whose ``batch_size`` and ``random_state`` are numbers.

    The weights of a feature are moved only in steps whose rows have it; the steps that they missed, in which Adam's
    momentum would have moved them, are then made at once by ``kernels.catch_up``.
    """

    def __init__(self, x, y, sizes, settings, workers, dtype=np.float32):
        self.sizes, self.settings, self.workers = sizes, settings, workers
        self.ptr, self.columns, self.values = x[0], x[1], x[2].astype(dtype, copy=False)
        self.label_ptr, self.labels = y
        self.n_rows = self.ptr.size - 1
        self.dense = None
        if self.values.size > DENSE * self.n_rows * sizes[0]:
            self.dense = sp.csr_array((self.values, self.columns, self.ptr), (self.n_rows, sizes[0])).toarray()
        self.weights, self.biases = first_weights(sizes, settings.random_state, dtype)
        arrays = [*self.weights, *self.biases]
        self.mean, self.square = [np.zeros_like(a) for a in arrays], [np.zeros_like(a) for a in arrays]
        self.steps = settings.n_epochs * steps_per_epoch(self.n_rows, settings.batch_size)
        self.rates, self.tail = step_sizes(self.steps, settings.learning_rate)
        self.done, self.place = np.zeros(sizes[0], np.int32), np.zeros(sizes[0], np.int32)
        self.step = 0
        batch = min(settings.batch_size, self.n_rows)
        mean_nonzeros = max(1.0, self.values.size / max(1, self.n_rows))
        per_row = sizes[0] if self.dense is not None else 4 * mean_nonzeros
        self.parts = [
            slices(n_out, batch * n_out * (per_row if i == 0 else n_in))
            for i, (n_in, n_out) in enumerate(zip(sizes[:-1], sizes[1:]))
        ]
        if len(sizes) > 2:  # gradients that come back through the second layer are computed in the same parts
            self.parts[0] = slices(sizes[1], batch * sizes[1] * (per_row + 2 * sizes[2]))

    def run(self, progress: Progress = silent) -> Network:
        """Train for all epochs, and report progress about a hundred times."""
        batches = self._batches()
        following = self._prepared(next(batches))
        self.workers.each(lambda a, b: self._first_part(following, a, b), self.parts[0])
        every = max(1, self.steps // 100)
        progress(PHASE, 0.0, f"0 of {self.settings.n_epochs:,} epochs")
        while following is not None:
            current, rows = following, next(batches, None)
            following = None if rows is None else self._prepared(rows)
            self._one_step(current, following)
            if self.step % every == 0 or following is None:
                fraction = self.step / self.steps
                epochs = int(fraction * self.settings.n_epochs)
                progress(PHASE, fraction, f"{epochs:,} of {self.settings.n_epochs:,} epochs")
        self.settle()
        return Network(tuple(self.weights), tuple(self.biases), self.settings.activation)

    def settle(self):
        """Apply the delayed steps of features that recent batches did not have, so that all weights are up to date."""
        if self.dense is not None:
            return
        everything = np.arange(self.sizes[0], dtype=np.int32)
        self.workers.each(lambda a, b: self._catch_up(everything, a, b), self.parts[0])
        self.done[:] = self.step

    def _batches(self):
        size = self.settings.batch_size
        for epoch in range(self.settings.n_epochs):
            order = np.random.default_rng([self.settings.random_state, ORDER, epoch]).permutation(self.n_rows)
            for start in range(0, self.n_rows, size):
                yield order[start : start + size]

    def _prepared(self, rows):
        """Return a batch: row numbers, their entries by feature (or dense rows), and empty arrays for unit values."""
        hidden = [np.empty((rows.size, width), self.values.dtype) for width in self.sizes[1:]]
        if self.dense is not None:
            return rows, self.dense[rows], hidden
        parts = kernels.by_feature(self.ptr, self.columns, self.values, rows, self.place)
        if self.settings.l2:  # weight decay moves the weights of absent features, too
            absent = np.setdiff1d(np.arange(self.sizes[0], dtype=np.int32), parts[0])
            ends = np.full(absent.size, parts[1][-1])
            parts = (np.concatenate([parts[0], absent]), np.concatenate([parts[1], ends]), *parts[2:])
        return rows, parts, hidden

    def _catch_up(self, features, first, stop):
        """Make the steps that the weights of some features to units ``first`` to ``stop`` - 1 have missed."""
        kernels.catch_up(
            features, self.done, self.step, self.tail, self.weights[0], self.mean[0], self.square[0], first, stop
        )

    def _first_part(self, batch, first, stop):
        """Compute units ``first`` to ``stop`` - 1 of the first layer, after their weights' missed steps."""
        rows, parts, hidden = batch
        if self.dense is None:
            self._catch_up(parts[0], first, stop)
            kernels.first_layer(
                self.ptr, self.columns, self.values, rows, self.weights[0], self.biases[0], first, stop, hidden[0]
            )
        else:
            np.matmul(parts, self.weights[0][:, first:stop], out=hidden[0][:, first:stop])
            hidden[0][:, first:stop] += self.biases[0][first:stop]
        if len(hidden) > 1:
            activate(hidden[0][:, first:stop], self.settings.activation)

    def _drop(self, values, layer):
        share = self.settings.dropout
        if not share:
            return
        random = np.random.default_rng([self.settings.random_state, DROPOUT, self.step, layer])
        values *= (random.random(values.shape, np.float32) >= share) * values.dtype.type(1 / (1 - share))

    def _one_step(self, batch, following):
        rows, parts, hidden = batch
        output = len(self.sizes) - 2
        for layer in range(1, output + 1):
            self._drop(hidden[layer - 1], layer - 1)
            self.workers.each(lambda a, b, layer=layer: self._forward_part(hidden, layer, a, b), self.parts[layer])
            if layer < output:
                activate(hidden[layer], self.settings.activation)
        delta = sigmoid(hidden[output])
        for of_row, row in zip(delta, rows.tolist()):
            of_row[self.labels[self.label_ptr[row] : self.label_ptr[row + 1]]] -= 1
        delta *= delta.dtype.type(1 / rows.size)
        rate = self.rates[self.step]
        if self.dense is None:
            self.done[parts[0]] = self.step + 1
        self.step += 1
        for layer in range(output, 1, -1):
            before = np.empty_like(hidden[layer - 1])
            out = self.parts[layer - 1]
            self.workers.each(
                lambda a, b, layer=layer, delta=delta, before=before: self._backward_part(
                    hidden, layer, delta, before, rate, a, b
                ),
                out,
            )
            self._bias_step(layer, delta, rate)
            delta = before

        def first_layer_part(a, b):
            gradient_before = delta
            if output > 0:
                gradient_before = np.empty_like(hidden[0]) if before_first is None else before_first
                self._backward_part(hidden, 1, delta, gradient_before, rate, a, b)
            self._first_step(parts, gradient_before, rate, a, b)
            if following is not None:
                self._first_part(following, a, b)

        before_first = np.empty_like(hidden[0]) if output > 0 else None
        self.workers.each(first_layer_part, self.parts[0])
        if output > 0:
            self._bias_step(1, delta, rate)

    def _forward_part(self, hidden, layer, first, stop):
        out = hidden[layer][:, first:stop]
        np.matmul(hidden[layer - 1], self.weights[layer][:, first:stop], out=out)
        out += self.biases[layer][first:stop]

    def _backward_part(self, hidden, layer, delta, before, rate, first, stop):
        """Make a step of the weights from inputs ``first`` to ``stop`` - 1 of a layer, and pass the gradient back."""
        weights = self.weights[layer][first:stop]
        gradient_before = before[:, first:stop]
        np.matmul(delta, weights.T, out=gradient_before)
        values = hidden[layer - 1][:, first:stop]
        gradient_before *= slope(values, self.settings.activation, 1 / (1 - self.settings.dropout))
        gradient = values.T @ delta
        kernels.dense_step(
            gradient, rate, self.settings.l2, weights, self.mean[layer][first:stop], self.square[layer][first:stop]
        )

    def _bias_step(self, layer, delta, rate, first=0, stop=None):
        """Make a step of the biases of units ``first`` to ``stop`` - 1 of a layer; by default of all."""
        at = len(self.weights) + layer
        kernels.dense_step(
            delta[:, first:stop].sum(axis=0)[None], rate, 0.0, self.biases[layer][None, first:stop],
            self.mean[at][None, first:stop], self.square[at][None, first:stop],
        )  # fmt: skip

    def _first_step(self, parts, delta, rate, first, stop):
        if self.dense is None:
            kernels.sparse_step(
                *parts, delta, rate, self.settings.l2, self.weights[0], self.mean[0], self.square[0], first, stop
            )
        else:
            kernels.dense_step(
                parts.T @ delta[:, first:stop], rate, self.settings.l2, self.weights[0][:, first:stop],
                self.mean[0][:, first:stop], self.square[0][:, first:stop],
            )  # fmt: skip
        self._bias_step(0, delta, rate, first, stop)


def batch_size(wanted: int | None, n_rows: int) -> int:
    """Return the number of rows per training step: ``wanted``, or else as many as make 100 steps, from 32 to 1,024."""
    return wanted or min(1024, max(32, round(n_rows / STEPS_PER_EPOCH)))
