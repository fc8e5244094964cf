"""The perceptron whose gradients FALS reads: its shape, its first weights and its outputs."""

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import fals_training as kernels

# Streams of random numbers: first weights, order of rows, dropout, rows drawn for a label, first references, rows drawn
# for all labels, networks of one label.
WEIGHTS, ORDER, DROPOUT, DRAWS, REFERENCES, ROW_SAMPLE, LABEL = range(1, 8)


class Network(NamedTuple):
    """A perceptron: layer l has the weights[l] of shape (n_in, n_out) and the biases[l] of shape (n_out,)."""

    weights: tuple
    biases: tuple
    activation: str

    @property
    def nbytes(self) -> int:
        """Return the bytes of weights and biases."""
        return sum(array.nbytes for array in (*self.weights, *self.biases))

    def hidden(self, X) -> list:
        """Return the values of the hidden units for the rows of X, CSR or dense: a matrix (n, H) per layer."""
        layers = []
        values = X
        for weight, bias in zip(self.weights[:-1], self.biases[:-1]):
            values = activate(product(values, weight) + bias, self.activation)
            layers.append(values)
        return layers

    def outputs(self, X) -> np.ndarray:
        """Return the probabilities of the labels, shape (n, L)."""
        layers = self.hidden(X)
        last = layers[-1] if layers else X
        return sigmoid(product(last, self.weights[-1]) + self.biases[-1])


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
    with np.errstate(over="ignore"):  # exp overflows to inf, and 1 / inf is the 0 it should be
        np.exp(z, out=z)
    z += 1
    return np.reciprocal(z, out=z)


def sigmoid_slope(z):
    """Replace z by the derivative of the sigmoid f at z, in place.

    It is computed from z: f (1 - f) would be 0 where f is so near to 1 that it is rounded to 1.
    """
    np.abs(z, out=z)
    np.negative(z, out=z)
    np.exp(z, out=z)
    return np.divide(z, np.square(1 + z), out=z)


def activate(z, activation):
    """Replace the sums z that reach hidden units by the units' values, in place."""
    return np.maximum(z, 0, out=z) if activation == "relu" else sigmoid(z)


def slope(values, activation, scale=1.0):
    """Return the derivatives of hidden units from their values, which dropout multiplied by ``scale`` or 0."""
    if activation == "relu":
        return (values > 0) * values.dtype.type(scale)
    return values * (1 - values / values.dtype.type(scale))


def layer_sizes(n_features, n_labels, n_layers, n_hidden=None):
    """Return the number of units of each layer, input and output included.

    Parameters
    ----------
    n_features, n_labels, n_layers : int
    n_hidden : int, optional
        The width of all hidden layers; None makes widths a geometric series from D to L.
    """
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
    """Draw weights and biases uniformly from ±1/sqrt(n_in); ``seed`` is a number or a list of numbers."""
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
