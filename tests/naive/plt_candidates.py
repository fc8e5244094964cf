"""Labels that several trees offer: twins of xmlcore/_kernels/plt_candidates.py."""

from naive.k_best import k_best
from naive.plt_search import label_log_probabilities


def score_labels(tree, loss, x, wanted):
    """Log of the path product of each wanted label for a row x in columns."""
    every = label_log_probabilities(tree, loss, x)
    return [every[label] for label in wanted]


def merge_candidates(offered):
    """Each row's offered labels, each once, in ascending order; -1 is no label."""
    return [sorted(set(row) - {-1}) for row in offered]


def best_candidates(best, more, k):
    """The k best (score, label) pairs of a row's ``best`` so far and ``more``; a label that is among them stays."""
    there = {label for _, label in best}
    return k_best([*best, *(pair for pair in more if pair[1] not in there)], k)
