"""The perceptron whose gradients FALS reads: its shape, its first weights and its outputs."""

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import fals_training as kernels

# The purposes of random numbers: initial weights, order of rows, dropout, rows drawn for a label, initial references of
# groups, rows drawn for all labels, networks of one label. Each purpose has random numbers of its own.
WEIGHTS, ORDER, DROPOUT, DRAWS, REFERENCES, ROW_SAMPLE, LABEL = range(1, 8)
SEEDS_PER_SEED = 64  # a kernel that draws for one of these purposes gets the seed seed * SEEDS_PER_SEED + purpose


class Network(NamedTuple):
    """A perceptron: ``weights[l]`` of layer l has the shape (n_in, n_out), and ``biases[l]`` has the shape (n_out,)."""

    weights: tuple
    biases: tuple
    activation: str

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (*self.weights, *self.biases))

    def hidden(self, X) -> list:
        """Return the values of the hidden units for the rows of X, CSR or dense: a matrix (n, H) per layer."""
        layers = []
        values = X
        for weight, bias in zip(self.weights[:-1], self.biases[:-1]):
            values = activate(product(values, weight) + bias, self.activation)
            layers.append(values)
        return layers

    def margins(self, X, labels: slice = slice(None)) -> np.ndarray:
        """Return the sums that become the probabilities of some labels, shape (n, C)."""
        hidden = self.hidden(X)
        return product(hidden[-1] if hidden else X, self.weights[-1][:, labels]) + self.biases[-1][labels]

    def outputs(self, X) -> np.ndarray:
        """Return the probabilities of the labels, shape (n, L)."""
        return sigmoid(self.margins(X))


def product(X, weight):
    """Return X @ weight; X may be sparse."""
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
    """Replace z by 1 / (1 + exp(-z)), in place."""
    np.negative(z, out=z)
    with np.errstate(over="ignore"):  # where exp overflows to infinity, the result is 0, as it should be
        np.exp(z, out=z)
    z += 1
    return np.reciprocal(z, out=z)


def sigmoid_slope(z):
    """Replace z by the derivative of the sigmoid f at z, in place: f (1 - f) would be 0 where f is rounded to 1."""
    np.abs(z, out=z)
    np.negative(z, out=z)
    np.exp(z, out=z)
    return np.divide(z, np.square(1 + z), out=z)


def activate(z, activation):
    """Replace the inputs z of hidden units by the values of the units, in place, and return them."""
    return np.maximum(z, 0, out=z) if activation == "relu" else sigmoid(z)


def slope(values, activation, scale=1.0):
    if activation == "relu":
        return (values > 0) * values.dtype.type(scale)
    return values * (1 - values / values.dtype.type(scale))


def layer_sizes(n_features, n_labels, n_layers, n_hidden=None):
    """Return the number of units of each layer, input and output included."""
    inner = [
        n_hidden or max(1, round(n_features ** (1 - i / n_layers) * n_labels ** (i / n_layers)))
        for i in range(1, n_layers)
    ]
    return [n_features, *inner, n_labels]


def sizes_of(params, n_features: int, n_labels: int) -> list[int]:
    """Return the number of units of each layer of a FALS; with ``binary``, of the network of one label."""
    if params.binary:
        return [n_features, params.n_hidden or max(1, round(math.sqrt(n_features))), 1]
    return layer_sizes(n_features, n_labels, params.n_layers, params.n_hidden)


def first_weights(sizes, seed, dtype=np.float32):
    """Return initial weights and biases: an array per layer, uniformly between -1/sqrt(n_in) and 1/sqrt(n_in)."""
    random = np.random.default_rng([*np.atleast_1d(seed), WEIGHTS])
    weights, biases = [], []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        bound = dtype(1 / math.sqrt(n_in))
        for shape, arrays in (((n_in, n_out), weights), ((n_out,), biases)):
            values = random.random(shape, np.float32).astype(dtype, copy=False)
            values *= 2 * bound
            values -= bound
            arrays.append(values)
    return weights, biases
