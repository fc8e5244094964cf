"""FALSb, the network of one label: twin of xmlcore/_kernels/fals_label_networks.py."""

import math

import numpy as np

from naive.rng import uniform


def train_binary(X, member, batches, rates, l2, dropout, relu, state, network):
    """Train a network with one output by Adam, all weights in every step; all numbers are float64.

    X is dense (N, D), ``member`` says which rows have the label, ``batches`` lists the rows of each step, ``rates`` is
    the step size of each with Adam's corrections in it, ``state`` the random numbers of dropout. Returns the weights
    before the hidden units (D, H), their biases, the weights after them and the bias of the output.
    """
    params = [np.array(part, float) for part in network]
    moments = [(np.zeros_like(part), np.zeros_like(part)) for part in params]
    for rows, rate in zip(batches, rates, strict=True):
        gradients, state = batch_gradients(X, member, rows, l2, dropout, relu, state, params)
        for part, gradient, (mean, square) in zip(params, gradients, moments, strict=True):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            part -= rate * mean / (np.sqrt(square) + 1e-8)
    return params


def batch_gradients(X, member, rows, l2, dropout, relu, state, params):
    """Gradients of the mean cross-entropy of some rows, plus l2 / 2 times the squared weights, by backpropagation."""
    into, bias, out_of, last = params
    gradients = [l2 * into, np.zeros_like(bias), l2 * out_of, np.zeros_like(last)]
    for i in rows:
        values, slopes = [], []
        for z in X[i] @ into + bias:
            value = max(z, 0.0) if relu else 1 / (1 + math.exp(-z))
            slope = float(z > 0) if relu else value * (1 - value)
            kept = 1.0
            if dropout:
                state, u = uniform(state)
                kept = 1 / (1 - dropout) if u >= dropout else 0.0
            values.append(value * kept)
            slopes.append(slope * kept)
        delta = (1 / (1 + math.exp(-(np.dot(values, out_of) + last[0]))) - member[i]) / len(rows)
        own = delta * out_of * slopes
        for gradient, change in zip(gradients, (np.outer(X[i], own), own, delta * np.array(values), [delta])):
            gradient += change
    return gradients, state
