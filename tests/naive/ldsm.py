"""LdSM.

Twins of ldsm_rows.py, ldsm_objective.py, ldsm_training.py, ldsm_splitting.py, ldsm_reaching.py, ldsm_shares.py and
ldsm_reranking.py.
"""

import math

from naive.rng import permutation, stream, uniform


def standardise(rows):
    """Rows with all columns of any of them, with mean 0 and variance 1; constant ones with mean 0."""
    out = [{} for _ in rows]
    for f in sorted({f for row in rows for f in row}):
        values = [row.get(f, 0.0) for row in rows]
        mean = sum(values) / len(values)
        scale = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values)) or 1.0
        for row, v in zip(out, values):
            row[f] = (v - mean) / scale
    return out


def objective(P, P_of, pi, integrity_weight, multiway_weight):
    """Equation 2: (J, balance, integrity, multi-way penalty); ``P_of[i][j]`` of label i, ``pi[i]`` its share."""
    M = len(P)
    pairs = [(j, other) for j in range(M) for other in range(j + 1, M)]
    balance = sum(abs(P[j] - P[other]) for j, other in pairs)
    integrity = sum(pi[i] * abs(P_of[i][j] - P_of[i][other]) for i in pi for j, other in pairs)
    penalty = abs(sum(P) - 1)
    return balance - integrity_weight * integrity + multiway_weight * penalty, balance, integrity, penalty


def directions(P, P_of, C, met, labels, integrity_weight, multiway_weight):
    """Algorithm 3: the set of children, as bits, of least J when a row with these labels goes there."""
    M, best, chosen = len(P), math.inf, 0
    for s in range(1, 2**M):
        to = [s >> m & 1 for m in range(M)]
        new = [((C - len(labels)) * P[m] + len(labels) * to[m]) / C for m in range(M)]
        new_of = {k: [((met[k] - 1) * P_of[k][m] + to[m]) / met[k] for m in range(M)] for k in labels}
        J, *_ = objective(new, new_of, {k: met[k] / C for k in labels}, integrity_weight, multiway_weight)
        if J < best - 1e-9:  # of equal ones the first
            best, chosen = J, s
    return chosen


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


def route(weights, row, M):
    """Children, by the margins: all that reach one half, or the first of the largest."""
    margins = [weights["bias"][m] + sum(weights[f][m] * v for f, v in row.items() if f in weights) for m in range(M)]
    return [m for m in range(M) if margins[m] >= 0.5] or [margins.index(max(margins))]


def grow(rows, labels, n_features, M, max_nodes, n_epochs, learning_rate, lambdas, seed, optimizer="nag", keep=False):
    """Algorithm 1: (parent, first child, rows of each node, weights by node, J and parts by node).

    Without ``keep`` a split that leaves a child empty, or sends all rows to one, is undone, as in the authors' program.
    """

    def histogram(of):
        found = {}
        for i in of:
            for k in labels[i]:
                found[k] = found.get(k, 0) + 1
        return found

    def priority(of):
        counts = histogram(of).values()
        return sum(counts) - max(counts, default=0)

    parent, first_child, rows_of, weights, stats = [-1], [-1], [list(range(len(rows)))], {}, {}
    queue = [0] if priority(rows_of[0]) else []
    while queue and len(parent) + M <= max_nodes:
        v = min(queue, key=lambda u: (-priority(rows_of[u]), u))
        queue.remove(v)
        own = rows_of[v] = [rows_of[v][i] for i in permutation(len(rows_of[v]), seed, 2**32 + v)]
        met = [rows[i] for i in own]
        if optimizer == "sgd":
            met = standardise(met)
        regressors, *_ = train_node(
            met, [labels[i] for i in own], M, n_epochs, learning_rate, lambdas,
            1 / (2 * n_features), optimizer, stream(seed, v),
        )  # fmt: skip
        sizes = {f: regressors.scale.get(f, 0.0) for f in regressors.weights}
        kept = {
            f: [w if f == "bias" or abs(w) * max(1, sizes[f]) >= 1 / max(n_features, 100) else 0.0 for w in ws]
            for f, ws in regressors.weights.items()
        }
        sent = [route(kept, row, M) for row in met]
        children = [[i for i, to in zip(own, sent) if m in to] for m in range(M)]
        if not keep and any(len(child) in (0, len(own)) for child in children):
            continue
        first_child[v] = len(parent)
        weights[v] = kept
        hist, hists = histogram(own), [histogram(child) for child in children]
        C = sum(hist.values())
        stats[v] = objective(
            [sum(h.values()) / C for h in hists],
            {k: [h.get(k, 0) / hist[k] for h in hists] for k in hist},
            {k: hist[k] / C for k in hist},
            *lambdas,
        )
        for child in children:
            if priority(child):
                queue.append(len(parent))
            parent.append(v)
            first_child.append(-1)
            rows_of.append(child)
    return parent, first_child, rows_of, weights, stats


def leaves_of(tree, row, M):
    """The leaves that a row reaches."""
    _, first_child, _, weights, _ = tree
    stack, leaves = [0], []
    while stack:
        v = stack.pop()
        if first_child[v] < 0:
            leaves.append(v)
        else:
            stack += [first_child[v] + m for m in route(weights[v], row, M)]
    return leaves


def shares_of(tree, labels, row, M, of_rows=False):
    """Algorithm 2: mean of the normalised histograms of the leaves that a row reaches; {label: share}.

    Normalised by the sum of their counts; ``of_rows``: by the leaf's rows.
    """
    rows_of, leaves, shares = tree[2], leaves_of(tree, row, M), {}
    for v in leaves:
        found = [k for i in rows_of[v] for k in labels[i]]
        for k in found:
            shares[k] = shares.get(k, 0) + 1 / ((len(rows_of[v]) if of_rows else len(found)) * len(leaves))
    return shares


def rank_again(shares, row, means, beta, gamma):
    """{label: score} from {label: share}: the paper's tail re-ranking (section 5, as Jain et al., 2016)."""
    scores = {}
    for label, share in shares.items():
        mean = means[label]
        distance = sum((row.get(f, 0.0) - mean.get(f, 0.0)) ** 2 for f in set(row) | set(mean))
        scores[label] = beta * share + (1 - beta) / (1 + math.exp(gamma * distance / 2))
    return scores


def label_means(rows, labels):
    """{label: mean of its rows}."""
    means = {}
    for k in sorted({k for own in labels for k in own}):
        own = [row for row, of in zip(rows, labels) if k in of]
        means[k] = {f: sum(row.get(f, 0.0) for row in own) / len(own) for f in {f for row in own for f in row}}
    return means


def idf_unit(rows, idf):
    """Rows weighted by idf and of unit length."""
    out = []
    for row in rows:
        weighted = {f: v * idf[f] for f, v in row.items()}
        length = math.sqrt(sum(v * v for v in weighted.values())) or 1.0
        out.append({f: v / length for f, v in weighted.items()})
    return out
