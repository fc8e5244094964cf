"""FALS, training: twins of xmlcore/_kernels/fals_training.py, and the network and its loss by their formulas."""

import math


def by_feature(rows):
    """For rows as dicts: feature -> [(row, value)], features in the order in which they come."""
    found = {}
    for b, row in enumerate(rows):
        for feature, value in row.items():
            found.setdefault(feature, []).append((b, value))
    return found


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
