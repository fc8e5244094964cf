"""Selection of labels and hits: twins of xmlcore/_kernels/ranking.py."""


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
