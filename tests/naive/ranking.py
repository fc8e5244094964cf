"""Ranking measures: twins of xmlcore/_kernels/ranking.py."""

import math


def top_k(scored, k):
    """The k best of (label, score) pairs, best first; equal scores: the smaller label first."""
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


def first_repeat(rankings):
    """(row, place) of the first label that is there twice in a row, or None; -1 is no label."""
    for i, ranking in enumerate(rankings):
        for j, label in enumerate(ranking):
            if label >= 0 and label in ranking[:j]:
                return i, j
    return None


def hits(true_labels, rankings):
    return [[label in true for label in ranking] for true, ranking in zip(true_labels, rankings)]


def ranking_sums(true_labels, rankings, k, weights):
    """For k' = 1..k the sums over rows that the measures are made of, in the order of the kernel's columns."""
    return [_sums_at(true_labels, rankings, at, weights) for at in range(1, k + 1)]


def _sums_at(true_labels, rankings, k, weights):
    total = [0.0] * 11
    for true, ranking in zip(true_labels, rankings):
        if not true:
            continue
        discounts = [1 / math.log2(place + 1) for place in range(1, k + 1)]
        right = [label in true for label in ranking[:k]]
        gains = [weights[label] if found else 0.0 for label, found in zip(ranking, right)]
        best = sorted((weights[label] for label in true), reverse=True)[:k]
        ideal = sum(discounts[: len(true)])
        gain, most = sum(gains), sum(best)
        dcg_gain = sum(g * d for g, d in zip(gains, discounts))
        dcg_most = sum(b * d for b, d in zip(best, discounts))
        row = [
            sum(right),
            sum(right) / len(true),
            sum(d for found, d in zip(right, discounts) if found) / ideal,
            gain,
            most,
            gain / len(true),
            most / len(true),
            dcg_gain,
            dcg_most,
            dcg_gain / ideal,
            dcg_most / ideal,
        ]
        total = [t + r for t, r in zip(total, row)]
    return total
