"""Measures of buckets of labels: twin of xmlcore/robustness/measures.py."""

import math


def bucket_measures(true_labels, rankings, members, k):
    """P@k that counts only the labels of ``members``, and R@k among them (nan without any row that has one)."""
    found = [sum(label in true and label in members for label in ranking[:k]) for true, ranking in
             zip(true_labels, rankings)]  # fmt: skip
    there = [len([label for label in true if label in members]) for true in true_labels]
    shares = [f / t for f, t in zip(found, there) if t]
    return sum(found) / k / len(rankings), sum(shares) / len(shares) if shares else math.nan
