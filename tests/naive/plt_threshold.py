"""All labels whose probability reaches a threshold: twin of xmlcore/_kernels/plt_threshold.py."""

import math

from naive.plt_search import label_log_probabilities


def search_threshold(tree, loss, x, log_threshold):
    """Every label whose path product is not 0 and reaches the threshold: {label: log probability}."""
    found = label_log_probabilities(tree, loss, x)
    return {label: score for label, score in found.items() if score >= log_threshold and score > -math.inf}
