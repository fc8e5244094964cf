"""Measures in plain Python: of rankings and of buckets, and of scores; none uses a kernel.

``true`` is a set of labels for each row, ``ranking`` a list of labels, best first; k is the last place.
"""

import itertools
import math


def _ratio(part, whole, otherwise=0.0):
    return part / whole if whole else otherwise


def measure(name, true, ranking, k, n_labels, weights=None, labels=None, tree=None):
    """The measure of this name; only over ``labels`` when they are given. ``tree`` is names of labels and parents."""
    top = [row[:k] for row in ranking]
    if name.startswith("hierarchical "):
        return _hierarchical(name.split()[1].removesuffix("@k"), true, top, *tree)
    if labels is not None:
        true = [row & labels for row in true]
        top = [[label for label in row if label in labels] for row in top]
    average, _, of = name.removesuffix("@k").partition(" ")
    if average in ("micro", "macro", "weighted"):
        return _of_pairs(average, of, true, top, n_labels)
    if name == "F1 of means@k":
        P, R = (_of_pairs("macro", of, true, top, n_labels) for of in "PR")
        return math.nan if math.isnan(P) else _ratio(2 * P * R, P + R)
    if name == "coverage@k":
        found = {label for t, row in zip(true, top) for label in row if label in t}
        return _ratio(len(found), len(set().union(*true)), math.nan)
    if name.startswith("PS"):
        return _weighted(name, true, top, k, weights)
    return sum(OF_ROWS[name](t, row, k, n_labels) for t, row in zip(true, top)) / len(true)


def _hierarchical(of, true, top, names, parents):
    def with_ancestors(name):
        above = parents.get(name, ())
        return {name}.union(*map(with_ancestors, [above] if isinstance(above, str) else above))

    above = [with_ancestors(name) for name in names]
    roots = set.intersection(*above) - set(names)
    counts = [0, 0, 0]
    for sets in zip(true, top):
        is_true, found = (set().union(*(above[label] for label in row)) - roots for row in sets)
        counts = [a + len(b) for a, b in zip(counts, (is_true, found, is_true & found))]
    return _of(of, *counts, math.nan)


def _ndcg(true, top, k, n_labels):
    discount = [1 / math.log2(place + 2) for place in range(k)]
    return _ratio(sum(d for d, label in zip(discount, top) if label in true), sum(discount[: len(true)]))


# The value of a row, of measures that are means over rows.
OF_ROWS = {
    "P@k": lambda true, top, k, n_labels: len(true & set(top)) / k,
    "R@k": lambda true, top, k, n_labels: _ratio(len(true & set(top)), len(true)),
    "nDCG@k": _ndcg,
    "abandonment@k": lambda true, top, k, n_labels: float(not true & set(top)),
    "subset accuracy@k": lambda true, top, k, n_labels: float(set(top) == true),
    "Hamming loss@k": lambda true, top, k, n_labels: len(set(top) ^ true) / n_labels,
    "samples P@k": lambda true, top, k, n_labels: _ratio(len(true & set(top)), len(top)),
    "samples R@k": lambda true, top, k, n_labels: _ratio(len(true & set(top)), len(true)),
    "samples F1@k": lambda true, top, k, n_labels: _ratio(2 * len(true & set(top)), len(true) + len(top)),
}


def _of_pairs(average, of, true, top, n_labels):
    counts = []
    for label in range(n_labels):
        rows = sum(label in t for t in true)
        predicted = sum(label in row for row in top)
        right = sum(label in t and label in row for t, row in zip(true, top))
        counts.append((rows, predicted, right))
    if average == "micro":
        return _of(of, *map(sum, zip(*counts)), math.nan)
    occurring = [count for count in counts if count[0]]
    share = [1 if average == "macro" else count[0] for count in occurring]
    return _ratio(sum(s * _of(of, *count, 0.0) for s, count in zip(share, occurring)), sum(share), math.nan)


def _of(of, rows, predicted, right, otherwise):
    parts = {"P": (right, predicted), "R": (right, rows), "F1": (2 * right, rows + predicted)}
    return _ratio(*parts[of], otherwise)


def _weighted(name, true, top, k, weights):
    discount = [1 / math.log2(place + 2) for place in range(k)] if "DCG" in name else [1.0] * k
    gains = most = 0.0
    for t, row in zip(true, top):
        if t:
            norm = {"PSR@k": len(t), "PSnDCG@k": sum(discount[: len(t)])}.get(name, 1)
            best = sorted((weights[label] for label in t), reverse=True)
            gains += sum(d * weights[label] for d, label in zip(discount, row) if label in t) / norm
            most += sum(d * weight for d, weight in zip(discount, best)) / norm
    return _ratio(gains, most, math.nan)


def confused(true, ranking, k=None):
    """Swaps and rows of each pair of a missed and a wrong label; ``k`` None: as many labels as are true."""
    pairs = {}
    for i, (of_row, row) in enumerate(zip(true, ranking)):
        top = row[: len(of_row) if k is None else k]
        missed, wrong = of_row - set(top), [label for label in top if label not in of_row]
        for pair in ((a, b) for a in missed for b in wrong):
            swaps, rows = pairs.setdefault(pair, (0.0, []))
            pairs[pair] = swaps + 1 / max(len(missed), len(wrong)), [*rows, (max(len(missed), len(wrong)), i)]
    return pairs


def bucket_measures(true_labels, rankings, members, k):
    """P@k that counts only the labels of ``members``, and micro R@k of them (nan without any row that has one)."""
    found = [sum(label in true and label in members for label in ranking[:k]) for true, ranking in
             zip(true_labels, rankings)]  # fmt: skip
    there = sum(label in members for true in true_labels for label in true)
    return sum(found) / k / len(rankings), sum(found) / there if there else math.nan


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
