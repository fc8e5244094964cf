"""Sorting and selection with Python's own sort, and hits.

Twins of arrays.py, sorting.py, k_best.py, ranking.py and stratify.py.
"""


def enlarged(array, filled, size):
    """Cut or extend a list; None stands for anything."""
    return array[:filled] + [None] * (size - filled)


def stable_order(keys):
    """Sort places by key; Python's sort is stable."""
    return sorted(range(len(keys)), key=lambda i: keys[i])


def sort_in_place(keys):
    keys.sort()


def in_order(pairs):
    """Sort (score, id) pairs as rankings have them: larger score first, then smaller id."""
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))


def k_best(pairs, k):
    """The k best of (score, id) pairs, best first."""
    return in_order(pairs)[:k]


def top_k(scored, k):
    """The k best of (label, score) pairs, best first; equal scores: the smaller label first."""
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


def distribute(rows, n_labels, order, shares, ties):
    """The part of each row; ``order`` is the order in which the rows of a label are distributed."""
    remaining = {j: [i for i in order if j in rows[i]] for j in range(n_labels)}
    wanted = {j: [len(mine) * share for share in shares] for j, mine in remaining.items()}
    total = [len(rows) * share for share in shares]
    part_of = [None] * len(rows)

    def choose(row, wants):
        best = max((want, all_in) for want, all_in in zip(wants, total))
        equal = [part for part in range(len(shares)) if (wants[part], total[part]) == best]
        part = part_of[row] = equal[ties[row] % len(equal)]
        total[part] -= 1
        for j in rows[row]:
            wanted[j][part] -= 1
            remaining[j].remove(row)

    while any(remaining.values()):
        label = min((len(mine), j) for j, mine in remaining.items() if mine)[1]
        for row in list(remaining[label]):
            choose(row, wanted[label])
    for row in range(len(rows)):
        if part_of[row] is None:
            choose(row, [0.0] * len(shares))
    return part_of
