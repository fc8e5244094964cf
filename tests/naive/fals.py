"""FALS.

Twins of fals_training.py, fals_label_networks.py and fals_scoring.py, and the network, its loss and the scores by their
formulas.
"""

import math

import numpy as np

from naive.rng import uniform


def adam(weight, gradients, learning_rate):
    """One weight after a step of Adam for each gradient; gradients of 0 move it, too."""
    mean = square = 0.0
    for t, gradient in enumerate(gradients, start=1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        rate = learning_rate * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        weight -= rate * mean / (math.sqrt(square) + 1e-8)
    return weight


def perceptron(x, weights, biases, activation):
    """Values before and after the activation of each layer, as lists of lists; the last layer is a sigmoid."""

    def act(z, last):
        return max(0.0, z) if activation == "relu" and not last else 1 / (1 + math.exp(-z))

    before, after, values = [], [], list(x)
    for level, (weight, bias) in enumerate(zip(weights, biases)):
        z = [bias[j] + sum(values[i] * weight[i][j] for i in range(len(values))) for j in range(len(bias))]
        values = [act(v, level == len(weights) - 1) for v in z]
        before.append(z)
        after.append(values)
    return before, after


def perceptron_loss(X, Y, weights, biases, activation, l2=0.0):
    """Cross-entropy, summed over labels, mean over rows, and l2 / 2 times the squared weights."""
    total = 0.0
    for x, y in zip(X, Y):
        f = perceptron(x, weights, biases, activation)[1][-1]
        total -= sum(math.log(p) if known else math.log(1 - p) for p, known in zip(f, y))
    return total / len(X) + l2 / 2 * sum(float(v) ** 2 for weight in weights for row in weight for v in row)


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


def perceptron_gradient(x, weights, biases, activation):
    """Derivatives of each output by each feature, outputs first: the paper's equation 4, for any number of layers."""
    after = perceptron(x, weights, biases, activation)[1]
    result = []
    for c in range(len(biases[-1])):
        f = after[-1][c]
        back = [f * (1 - f) * weights[-1][h][c] for h in range(len(weights[-1]))]
        for level in range(len(weights) - 2, -1, -1):
            values = after[level]
            slopes = [float(v > 0) if activation == "relu" else v * (1 - v) for v in values]
            back = [b * s for b, s in zip(back, slopes)]
            back = [sum(weights[level][i][j] * back[j] for j in range(len(back))) for i in range(len(weights[level]))]
        result.append(back)
    return result


def fals_scores(X, weights, biases, activation, pattern):
    """Scores of the four patterns by a loop over rows: (L, D), or (1, D) for those that share one selection."""
    L, D = len(biases[-1]), len(X[0])
    scores = [[0.0] * D for _ in range(L)]
    for x in X:
        f = perceptron(x, weights, biases, activation)[1][-1]
        for c, gradient in enumerate(perceptron_gradient(x, weights, biases, activation)):
            divisor = f[c] * (1 - f[c]) if pattern in ("FILS", "FIMS") else 1.0
            for d in range(D):
                scores[c][d] += gradient[d] ** 2 / divisor / len(X)
    if pattern in ("FAMS", "FIMS"):
        return [[sum(scores[c][d] for c in range(L)) for d in range(D)]]
    return scores
