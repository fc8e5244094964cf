"""Explanations: twins of xmlcore/_kernels/explain.py."""

import math

from naive.plt_search import log_probability


def share_along_path(row, nodes, loss):
    """What features {feature: value} of a row of length 1 add along nodes (weights, bias): parts, baseline, total."""
    score = (lambda margin: margin) if loss == "margin" else (lambda margin: log_probability(margin, loss))
    parts, baseline, total = dict.fromkeys(row, 0.0), 0.0, 0.0
    for weights, bias in nodes:
        own = {f: value * weights.get(f, 0.0) for f, value in row.items()}
        margin = bias + sum(own.values()) if math.isfinite(bias) else bias
        baseline += score(bias)
        total += score(margin)
        if math.isfinite(bias) and margin != bias:
            for f in own:
                parts[f] += own[f] * (score(margin) - score(bias)) / (margin - bias)
    return parts, baseline, total


def ldsm_ways(tree, v, row):
    """Ways down from node v: lists of (node, weights that decided the step to it)."""
    if not tree["children"][v]:
        return [[]]
    margins = {c: tree["bias"][c] + sum(row[f] * tree["weights"][c].get(f, 0.0) for f in row) for c in
               tree["children"][v]}  # fmt: skip
    ranked = sorted(margins, key=lambda c: (-margins[c], c))
    found = []
    for c in [c for c in ranked if margins[c] >= 0.5] or ranked[:1]:
        decided = tree["weights"][c]
        if margins[c] < 0.5:
            other = tree["weights"][ranked[1]]
            decided = {f: decided.get(f, 0.0) - other.get(f, 0.0) for f in {*decided, *other}}
        found += [[(c, decided), *way] for way in ldsm_ways(tree, c, row)]
    return found


def share_along_ways(trees, row, label):
    """What features add to a label's mean share over the leaves reached: parts, baseline, total."""
    parts, baseline, total = dict.fromkeys(row, 0.0), 0.0, 0.0
    for tree in trees:
        share = [hist.get(label, 0) / n for hist, n in zip(tree["hist"], tree["n_rows"])]
        ways = ldsm_ways(tree, 0, row)
        weight = 1 / len(ways) / len(trees)
        baseline += share[0] / len(trees)
        for way in ways:
            before = share[0]
            for node, decided in way:
                change, before = share[node] - before, share[node]
                sizes = {f: max(0.0, row[f] * decided.get(f, 0.0)) for f in row}
                if sum(sizes.values()) == 0:
                    baseline += weight * change
                    continue
                for f, size in sizes.items():
                    parts[f] += weight * change * size / sum(sizes.values())
            total += weight * before
    return parts, baseline, total
