"""LdSM: growing a tree by splitting its nodes."""

from naive.ldsm_objective import objective
from naive.ldsm_rows import standardise
from naive.ldsm_training import train_node
from naive.rng import permutation, stream


def route(weights, row, M):
    """Children, by the margins: all that reach one half, or the first of the largest."""
    margins = [weights["bias"][m] + sum(weights[f][m] * v for f, v in row.items() if f in weights) for m in range(M)]
    return [m for m in range(M) if margins[m] >= 0.5] or [margins.index(max(margins))]


def grow(rows, labels, n_features, M, max_nodes, n_epochs, learning_rate, lambdas, seed, optimizer="nag"):
    """Algorithm 1: (parent, first child, rows of each node, weights by node, J and parts by node)."""

    def histogram(of):
        found = {}
        for i in of:
            for k in labels[i]:
                found[k] = found.get(k, 0) + 1
        return found

    def priority(of):
        counts = histogram(of).values()
        return sum(counts) - max(counts)

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
        if any(len(child) in (0, len(own)) for child in children):
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
