"""Measures of buckets of labels: twin of xmlcore/robustness/evaluation.py."""

import math


def bucket_measures(true_labels, rankings, members, k):
    """P@k that counts only the labels of ``members``, and micro R@k of them (nan without any row that has one)."""
    found = [sum(label in true and label in members for label in ranking[:k]) for true, ranking in
             zip(true_labels, rankings)]  # fmt: skip
    there = sum(label in members for true in true_labels for label in true)
    return sum(found) / k / len(rankings), sum(found) / there if there else math.nan
