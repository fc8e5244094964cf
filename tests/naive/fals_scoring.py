"""FALS, scores: twins of xmlcore/_kernels/fals_scoring.py, and the scores by the paper's formulas."""

from naive.fals_training import perceptron


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


def deviations(active, reference):
    """For each row the units in which it differs: (unit, +1 or -1)."""
    return [
        [(h, 1.0 if own else -1.0) for h, (own, usual) in enumerate(zip(row, reference)) if own != usual]
        for row in active
    ]


def reference_squares(active, weights_in, weights_out, weight):
    """Sum over rows of weight[n][c] * (sum over active units of weights_in[h][d] * weights_out[h][c]) ** 2."""
    H, D, C = len(weights_in), len(weights_in[0]), len(weights_out[0])
    sums = [[0.0] * D for _ in range(C)]
    for n, row in enumerate(active):
        for c in range(C):
            for d in range(D):
                sums[c][d] += weight[n][c] * sum(weights_in[h][d] * weights_out[h][c] for h in range(H) if row[h]) ** 2
    return sums
