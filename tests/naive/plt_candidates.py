"""Probabilities of requested labels: twins of xmlcore/_kernels/plt_candidates.py."""

from naive.plt_search import label_log_probabilities


def score_labels(tree, loss, x, wanted):
    """Log of the path product of each wanted label for a row x in columns."""
    every = label_log_probabilities(tree, loss, x)
    return [every[label] for label in wanted]
