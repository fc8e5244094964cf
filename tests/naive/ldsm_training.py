"""LdSM: training the regressors of one node."""

import math

from naive.ldsm_objective import directions, objective
from naive.rng import uniform


class Regressors:
    """M linear regressors on {column: value}, trained one row after the other, in float64."""

    def __init__(self, columns, M, spread, state, optimizer, learning_rate, min_error=0.0, weight_decay=0.0):
        self.min_error, self.weight_decay = min_error, weight_decay
        self.M, self.optimizer, self.learning_rate = M, optimizer, learning_rate
        self.weights = {}
        for column in [*columns, "bias"]:
            self.weights[column] = []
            for _ in range(M):
                state, drawn = uniform(state)
                self.weights[column].append((2 * drawn - 1) * spread)
        self.squares = {column: [0.0] * M for column in self.weights}
        self.scale = {"bias": 1.0}
        self.seen, self.norm = 0, 0.0

    def margin(self, row, m):
        return self.weights["bias"][m] + sum(self.weights[f][m] * v for f, v in row.items())

    def see(self, row):
        """Scales, before the row is learnt from (normalised adaptive gradient, Ross et al., algorithm 3)."""
        if self.optimizer == "nag":
            for f, v in row.items():
                old = self.scale.get(f, 0.0)
                if abs(v) > old:
                    if old > 0 or abs(v) > 1:  # the first value leaves the start as it is, unless it is large
                        self.weights[f] = [w * (old or 1.0) / abs(v) for w in self.weights[f]]
                    self.scale[f] = abs(v)
            self.norm += 1.0 + sum((v / self.scale[f]) ** 2 for f, v in row.items())
            self.seen += 1

    def learn(self, row, m, target):
        error = 1 / (1 + math.exp(-self.margin(row, m))) - target
        if abs(error) < self.min_error:
            return
        for f, v in {**row, "bias": 1.0}.items():
            gradient = error * v
            if gradient == 0:
                continue
            if f != "bias":
                self.weights[f][m] *= 1 - self.weight_decay
            if self.optimizer == "nag":
                self.squares[f][m] += gradient**2
                rate = self.learning_rate * math.sqrt(self.seen / self.norm)
                self.weights[f][m] -= rate * gradient / (self.scale[f] * math.sqrt(self.squares[f][m]))
            else:
                self.weights[f][m] -= self.learning_rate * gradient


def train_node(
    rows, labels, M, n_epochs, learning_rate, lambdas, spread, optimizer, state, min_error=0.0, weight_decay=0.0
):
    """Algorithm 4: regressors, and P_m, P_m^k, C, l_k at the end, and the directions of every visit."""
    columns = sorted({f for row in rows for f in row})
    regressors = Regressors(columns, M, spread, state, optimizer, learning_rate, min_error, weight_decay)
    P, P_of, C, met, chosen, trace = [0.0] * M, {}, 0, {}, [], []
    for _ in range(n_epochs):
        for row, own in zip(rows, labels):
            C += len(own)
            for k in own:
                met[k] = met.get(k, 0) + 1
                P_of.setdefault(k, [0.0] * M)
            s = directions(P, P_of, C, met, own, *lambdas)
            chosen.append(s)
            regressors.see(row)
            for m in range(M):
                regressors.learn(row, m, s >> m & 1)
                p = min(max(regressors.margin(row, m), 0.0), 1.0)
                P[m] = ((C - len(own)) * P[m] + len(own) * p) / C
                for k in own:
                    P_of[k][m] = ((met[k] - 1) * P_of[k][m] + p) / met[k]
        trace.append(objective(P, P_of, {k: met[k] / C for k in met}, *lambdas))
    return regressors, P, P_of, C, met, chosen, trace
