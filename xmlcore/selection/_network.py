"""The perceptron whose gradients FALS reads: its shape, its outputs, and its training."""

import math
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import fals as kernels
from xmlcore.progress import Progress, silent
from xmlcore.system import effective_jobs

ACTIVATIONS = ("relu", "sigmoid")
WEIGHTS, ORDER, DROPOUT, LABEL = 1, 2, 3, 7  # streams of random numbers; _scoring has more
SLICE_WORK = 4e6  # multiplications worth a thread's while
MAX_SLICES = 8
DENSE = 0.2  # share of X that is not 0, from which on rows go through matrix products as they are


class Settings(NamedTuple):
    """How to train; see :class:`xmlcore.selection.FALS`."""

    activation: str
    n_epochs: int
    batch_size: int
    learning_rate: float
    l2: float
    dropout: float
    seed: int


class Network(NamedTuple):
    """A perceptron: layer l maps with weights[l] (n_in, n_out) and biases[l] (n_out,)."""

    weights: tuple
    biases: tuple
    activation: str

    @property
    def nbytes(self) -> int:
        """Bytes of weights and biases."""
        return sum(array.nbytes for array in (*self.weights, *self.biases))

    def hidden(self, X) -> list:
        """Values of the hidden units of the rows of X (CSR or dense), a matrix (n, H) for each hidden layer."""
        layers = []
        values = X
        for weight, bias in zip(self.weights[:-1], self.biases[:-1]):
            values = activate(product(values, weight) + bias, self.activation)
            layers.append(values)
        return layers

    def outputs(self, X) -> np.ndarray:
        """Probabilities, shape (n, L)."""
        layers = self.hidden(X)
        last = layers[-1] if layers else X
        return sigmoid(product(last, self.weights[-1]) + self.biases[-1])


def product(X, weight):
    """X @ weight, where X may be sparse."""
    if not sp.issparse(X):
        return X @ weight
    out = np.empty((X.shape[0], weight.shape[1]), weight.dtype)
    rows = np.arange(X.shape[0])
    kernels.first_layer(
        X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False),
        X.data.astype(weight.dtype, copy=False), rows, weight, np.zeros(weight.shape[1], weight.dtype),
        0, weight.shape[1], out,
    )  # fmt: skip
    return out


def sigmoid(z):
    """1 / (1 + exp(-z)), in place."""
    np.negative(z, out=z)
    with np.errstate(over="ignore"):  # exp overflows to inf, and 1 / inf is the 0 it should be
        np.exp(z, out=z)
    z += 1
    return np.reciprocal(z, out=z)


def sigmoid_slope(z):
    """The derivative of the sigmoid, in place; f (1 - f) would be 0 where f is 1 but for less than a rounding."""
    np.abs(z, out=z)
    np.negative(z, out=z)
    np.exp(z, out=z)
    return np.divide(z, np.square(1 + z), out=z)


def activate(z, activation):
    """Hidden units' values, in place."""
    return np.maximum(z, 0, out=z) if activation == "relu" else sigmoid(z)


def slope(values, activation, scale=1.0):
    """Derivative of hidden units from their values; dropout has multiplied these by ``scale``, or by 0."""
    if activation == "relu":
        return (values > 0) * values.dtype.type(scale)
    return values * (1 - values / values.dtype.type(scale))


def layer_sizes(n_features, n_labels, n_layers, n_hidden=None):
    """Units of each layer, input and output included: a geometric series from D to L, unless ``n_hidden`` says."""
    inner = [
        n_hidden or max(1, round(n_features ** (1 - i / n_layers) * n_labels ** (i / n_layers)))
        for i in range(1, n_layers)
    ]
    return [n_features, *inner, n_labels]


def steps_per_epoch(n_rows, batch_size):
    """Batches that an epoch has."""
    return -(-n_rows // batch_size)


def first_weights(sizes, seed, dtype=np.float32):
    """Weights and biases, uniform in ±1/sqrt(n_in); the seed may be several numbers."""
    random = np.random.default_rng([*np.atleast_1d(seed), WEIGHTS])
    weights, biases = [], []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        bound = dtype(1 / math.sqrt(n_in))
        for shape, kept in (((n_in, n_out), weights), ((n_out,), biases)):
            values = random.random(shape, np.float32).astype(dtype, copy=False)
            values *= 2 * bound
            values -= bound
            kept.append(values)
    return weights, biases


def step_sizes(n_steps, learning_rate):
    """Adam's step size at steps 1 to n, and :func:`xmlcore._kernels.fals.catch_up`'s tails after steps 0 to n."""
    steps = np.arange(1, n_steps + 1)
    rates = learning_rate * np.sqrt(1 - kernels.BETA_2**steps) / (1 - kernels.BETA_1**steps)
    tail = np.empty(n_steps + 1)
    tail[n_steps] = 0.0  # what would come after the last step is in no difference of two tails
    for step in range(n_steps - 1, -1, -1):
        tail[step] = kernels.DECAY * (rates[step] + tail[step + 1])
    return rates, tail


def slices(width, work):
    """Parts of a layer for threads, by what there is to do, not by how many threads there are."""
    count = int(min(MAX_SLICES, max(1, work // SLICE_WORK), max(1, width // 16)))
    bounds = [width * i // count for i in range(count + 1)]
    return list(zip(bounds[:-1], bounds[1:]))


class Workers:
    """Threads that stay: a training step is too short to start new ones."""

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
        """Call ``function(first, last)`` for each part and wait for all."""
        if self._pool is None or len(parts) == 1:
            for part in parts:
                function(*part)
            return
        futures = [self._pool.submit(function, *part) for part in parts]
        for future in futures:
            future.result()

    def ordered(self, function, parts):
        """Yield ``function(*part)`` in the order of the parts, with few results waiting; leaving it stops the rest."""
        if self._pool is None:
            for part in parts:
                yield function(*part)
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


class Training:
    """Minibatch training by Adam, step by step.

    Parameters
    ----------
    x : ptr, columns, values
        CSR rows, (N, D).
    y : ptr, labels
        (N, L), at least one row.
    sizes : list of int
        Of all layers.
    settings : Settings
    workers : Workers
    dtype : type
        float32; tests of gradients take float64.

    Notes
    -----
    A row of the first layer's weights moves only when the feature occurs; what momentum would have moved it in between
    is caught up when it is next needed, so that it is Adam all the same (see ``kernels.catch_up``).
    """

    def __init__(self, x, y, sizes, settings, workers, dtype=np.float32):
        self.sizes, self.settings, self.workers = sizes, settings, workers
        self.ptr, self.columns, self.values = x[0], x[1], x[2].astype(dtype, copy=False)
        self.label_ptr, self.labels = y
        self.n_rows = self.ptr.size - 1
        self.dense = None
        if self.values.size > DENSE * self.n_rows * sizes[0]:
            self.dense = sp.csr_array((self.values, self.columns, self.ptr), (self.n_rows, sizes[0])).toarray()
        self.weights, self.biases = first_weights(sizes, settings.seed, dtype)
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
        if len(sizes) > 2:  # the same parts, when gradients come back through the second layer
            self.parts[0] = slices(sizes[1], batch * sizes[1] * (per_row + 2 * sizes[2]))

    def run(self, progress: Progress = silent) -> Network:
        """All epochs; progress is told of about each hundredth part."""
        batches = self._batches()
        following = self._prepared(next(batches))
        self._forward_first(following)
        every = max(1, self.steps // 100)
        progress("Training the network", 0.0, f"0 of {self.settings.n_epochs:,} epochs")
        while following is not None:
            current, rows = following, next(batches, None)
            following = None if rows is None else self._prepared(rows)
            self._one_step(current, following)
            if self.step % every == 0 or following is None:
                fraction = self.step / self.steps
                epochs = int(fraction * self.settings.n_epochs)
                progress("Training the network", fraction, f"{epochs:,} of {self.settings.n_epochs:,} epochs")
        self.settle()
        return Network(tuple(self.weights), tuple(self.biases), self.settings.activation)

    def settle(self):
        """Catch up with all weights."""
        if self.dense is not None:
            return
        everything = np.arange(self.sizes[0], dtype=np.int32)
        self.workers.each(lambda a, b: self._catch_up(everything, a, b), self.parts[0])
        self.done[:] = self.step

    def one_step(self, rows):
        """A step on some rows, as :meth:`run` makes them."""
        batch = self._prepared(np.asarray(rows, dtype=np.int64))
        self._forward_first(batch)
        self._one_step(batch, None)

    def _batches(self):
        size = self.settings.batch_size
        for epoch in range(self.settings.n_epochs):
            order = np.random.default_rng([self.settings.seed, ORDER, epoch]).permutation(self.n_rows)
            for start in range(0, self.n_rows, size):
                yield order[start : start + size]

    def _prepared(self, rows):
        """Rows, their entries by feature, and room for hidden units."""
        hidden = [np.empty((rows.size, width), self.values.dtype) for width in self.sizes[1:]]
        if self.dense is not None:
            return rows, self.dense[rows], hidden
        parts = kernels.by_feature(self.ptr, self.columns, self.values, rows, self.place)
        if self.settings.l2:  # then weights move without a row that has the feature, too
            absent = np.setdiff1d(np.arange(self.sizes[0], dtype=np.int32), parts[0])
            ends = np.full(absent.size, parts[1][-1])
            parts = (np.concatenate([parts[0], absent]), np.concatenate([parts[1], ends]), *parts[2:])
        return rows, parts, hidden

    def _catch_up(self, features, first, last):
        kernels.catch_up(
            features, self.done, self.step, self.tail, self.weights[0], self.mean[0], self.square[0], first, last
        )

    def _first_part(self, batch, first, last):
        """Columns first to last - 1 of the first layer, forward."""
        rows, parts, hidden = batch
        if self.dense is None:
            self._catch_up(parts[0], first, last)
            kernels.first_layer(
                self.ptr, self.columns, self.values, rows, self.weights[0], self.biases[0], first, last, hidden[0]
            )
        else:
            np.matmul(parts, self.weights[0][:, first:last], out=hidden[0][:, first:last])
            hidden[0][:, first:last] += self.biases[0][first:last]
        if len(hidden) > 1:
            activate(hidden[0][:, first:last], self.settings.activation)

    def _forward_first(self, batch):
        self.workers.each(lambda a, b: self._first_part(batch, a, b), self.parts[0])

    def _drop(self, values, layer):
        share = self.settings.dropout
        if not share:
            return
        random = np.random.default_rng([self.settings.seed, DROPOUT, self.step, layer])
        values *= (random.random(values.shape, np.float32) >= share) * values.dtype.type(1 / (1 - share))

    def _one_step(self, batch, following):
        rows, parts, hidden = batch
        last = len(self.sizes) - 2
        for layer in range(1, last + 1):
            self._drop(hidden[layer - 1], layer - 1)
            self.workers.each(lambda a, b, layer=layer: self._forward_part(hidden, layer, a, b), self.parts[layer])
            if layer < last:
                activate(hidden[layer], self.settings.activation)
        delta = sigmoid(hidden[last])
        kernels.take_labels(self.label_ptr, self.labels, rows, delta.dtype.type(1 / rows.size), delta)
        rate = self.rates[self.step]
        if self.dense is None:
            self.done[parts[0]] = self.step + 1
        self.step += 1
        for layer in range(last, 1, -1):
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
            own = delta
            if last > 0:
                own = np.empty_like(hidden[0]) if before_first is None else before_first
                self._backward_part(hidden, 1, delta, own, rate, a, b)
            self._first_step(parts, own, rate, a, b)
            if following is not None:
                self._first_part(following, a, b)

        before_first = np.empty_like(hidden[0]) if last > 0 else None
        self.workers.each(first_layer_part, self.parts[0])
        if last > 0:
            self._bias_step(1, delta, rate)

    def _forward_part(self, hidden, layer, first, last):
        out = hidden[layer][:, first:last]
        np.matmul(hidden[layer - 1], self.weights[layer][:, first:last], out=out)
        out += self.biases[layer][first:last]

    def _backward_part(self, hidden, layer, delta, before, rate, first, last):
        """Gradient before a layer, for inputs first to last - 1 of it, and a step of their weights."""
        weights = self.weights[layer][first:last]
        own = before[:, first:last]
        np.matmul(delta, weights.T, out=own)
        values = hidden[layer - 1][:, first:last]
        own *= slope(values, self.settings.activation, 1 / (1 - self.settings.dropout))
        gradient = values.T @ delta
        kernels.dense_step(
            gradient, rate, self.settings.l2, weights, self.mean[layer][first:last], self.square[layer][first:last]
        )

    def _bias_step(self, layer, delta, rate, first=0, last=None):
        at = len(self.weights) + layer
        kernels.dense_step(
            delta[:, first:last].sum(axis=0)[None], rate, 0.0, self.biases[layer][None, first:last],
            self.mean[at][None, first:last], self.square[at][None, first:last],
        )  # fmt: skip

    def _first_step(self, parts, delta, rate, first, last):
        if self.dense is None:
            kernels.sparse_step(
                *parts, delta, rate, self.settings.l2, self.weights[0], self.mean[0], self.square[0], first, last
            )
        else:
            kernels.dense_step(
                parts.T @ delta[:, first:last], rate, self.settings.l2, self.weights[0][:, first:last],
                self.mean[0][:, first:last], self.square[0][:, first:last],
            )  # fmt: skip
        self._bias_step(0, delta, rate, first, last)
