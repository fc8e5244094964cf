"""The best labels of several trees: by going through all labels, and twins of xmlcore/_kernels/plt_mean.py."""

import math

from naive.plt_search import label_log_probabilities


def search_all(trees, loss, x, k):
    """The k labels with the largest sum of probabilities for a row x in columns: (label, sum), ties by label id."""
    sums = {}
    for tree in trees:
        for label, score in label_log_probabilities(tree, loss, x).items():
            sums[label] = sums.get(label, 0.0) + math.exp(score)
    return _best(sums, k)


def possible_labels(lists, rest, k):
    """Scores in each tree of the labels of a row that may be among the k best; inf where they are not listed."""
    scores = {}
    for t, (labels, values) in enumerate(lists):
        for label, value in zip(labels.tolist(), values.tolist()):
            scores.setdefault(label, [math.inf] * len(lists))[t] = value
    least = {label: sum(math.exp(s) for s in line if s < math.inf) for label, line in scores.items()}
    bar = _best(least, k)[-1][1] if len(least) >= k else 0.0
    most = {
        label: sum(math.exp(s if s < math.inf else of_rest) for s, of_rest in zip(line, rest))
        for label, line in scores.items()
    }
    return {label: line for label, line in scores.items() if most[label] >= bar * (1 - 1e-12)}


def best_sums(scores, rest, k):
    """The k labels with the largest sums of a row, and whether no label that is not among these can be one of them."""
    best = _best({label: sum(map(math.exp, line)) for label, line in scores.items()}, k)
    unseen = sum(map(math.exp, rest))
    return best, unseen == 0 or (len(best) == k and unseen < best[-1][1] * (1 - 1e-12))


def _best(sums, k):
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:k]
