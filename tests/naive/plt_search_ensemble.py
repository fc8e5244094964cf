"""The best labels of several trees, by going through all labels: twin of xmlcore/_kernels/plt_search_ensemble.py."""

import math

from naive.plt_search import label_log_probabilities


def search_ensemble(trees, loss, x, k):
    """The k labels with the largest sum of probabilities for a row x in columns: (label, sum), ties by label id."""
    sums = {}
    for tree in trees:
        for label, score in label_log_probabilities(tree, loss, x).items():
            sums[label] = sums.get(label, 0.0) + math.exp(score)
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:k]
