"""Counts of scores for all labels: twin of xmlcore/_kernels/bipartition.py."""

import itertools


def score_counts(true, scores):
    """What a row counts: pairs, precisions and labels at the top, in the order of the kernel's columns."""
    others = [label for label in range(len(scores)) if label not in true]
    precision = strict = 0.0
    for label in true:
        reach = [m for m, score in enumerate(scores) if score >= scores[label]]
        above = [m for m, score in enumerate(scores) if score > scores[label]]
        precision += sum(m in true for m in reach) / len(reach)
        strict += sum(m in true for m in above) / (1 + len(above))
    best = [label for label, score in enumerate(scores) if score == max(scores)]
    return [
        sum(scores[p] > scores[q] for p in others for q in true),
        sum(scores[p] == scores[q] for p in others for q in true),
        precision,
        _expected_precision(true, scores),
        strict,
        len(best),
        sum(label in true for label in best),
        int(best[0] in true),
    ]


def _expected_precision(true, scores):
    """Sum of the precisions at true labels, mean over all orders of labels with equal scores."""
    order = sorted(range(len(scores)), key=lambda label: -scores[label])
    levels = [list(itertools.permutations(group)) for _, group in itertools.groupby(order, key=scores.__getitem__)]
    total = count = 0
    for orders in itertools.product(*levels):
        right = [label in true for label in itertools.chain(*orders)]
        total += sum(sum(right[: i + 1]) / (i + 1) for i in range(len(right)) if right[i])
        count += 1
    return total / count
