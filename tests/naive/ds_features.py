"""Double sampling, features of pairs: twins of xmlcore/_kernels/ds_features.py."""

import math

from naive.ds_classes import distance_to, idf_of, mega_documents


def sums(k, rows, labels, without):
    """The inverse document frequencies, mean length of classes, F_t, and rows of class k and their sums.

    ``without`` is the place of a row that is taken out of class k.
    """
    documents, _, _ = mega_documents(rows, labels)
    idf, lengths = idf_of(rows, labels), [sum(document.values()) for document in documents.values()]
    F = {t: sum(document.get(t, 0.0) for document in documents.values()) for t in idf}
    own_rows = [r for i, (r, own) in enumerate(zip(rows, labels)) if k in own and i != without]
    y = {}
    for r in own_rows:
        for t, x in r.items():
            y[t] = y.get(t, 0.0) + x
    return idf, sum(lengths) / len(lengths), F, own_rows, y


def features(row, k, rows, labels, without=None, **space):
    """The ten features of Table 1."""
    idf, mean, F, own_rows, y = sums(k, rows, labels, without)
    length, total, common = sum(y.values()), sum(F.values()), [t for t in row if t in y]
    middle = 0.25 + 0.75 * length / mean
    return [
        sum(math.log(1 + y[t]) for t in common),
        sum(math.log(1 + total / F[t]) for t in common),
        sum(idf[t] for t in common),
        sum(y[t] / length * idf[t] for t in common),
        sum(math.log(1 + y[t] / length) for t in common),
        sum(math.log(1 + y[t] / length * idf[t]) for t in common),
        sum(math.log(1 + y[t] / length * total / F[t]) for t in common),
        float(len(common)),
        distance_to(row, y, len(own_rows), idf, **space),
        sum(idf[t] * 2 * y[t] / (y[t] + middle) for t in common),
    ]


def more_features(row, k, rows, labels, without=None, weighting="tfidf"):
    """The features that the paper does not have, without the label tree's."""
    idf, mean, F, _, y = sums(k, rows, labels, without)
    row = {t: x for t, x in row.items() if t in idf}
    length, total, common = sum(y.values()), sum(F.values()), [t for t in row if t in y]
    other = dict.fromkeys(idf, 1.0) if weighting == "tfidf" else idf

    def between(a, b):
        a, b = ({t: v / math.hypot(*u.values()) for t, v in u.items()} for u in (a, b))
        return math.sqrt(sum((a.get(t, 0.0) - b.get(t, 0.0)) ** 2 for t in set(a) | set(b)))

    return [
        sum(idf[t] for t in common) / sum(idf[t] for t in row) if row else 0.0,
        max((idf[t] for t in common), default=0.0),
        max((math.log(1 + y[t] / length * total / F[t]) for t in common), default=0.0),
        sum(row[t] * math.log(1 + y[t] / mean * total / F[t]) for t in common)
        - sum(row.values()) * math.log(1 + length / mean),
        between({t: x * idf[t] for t, x in row.items()}, {t: math.log(1 + v) * idf[t] for t, v in y.items()}),
        between({t: x * other[t] for t, x in row.items()}, {t: v * other[t] for t, v in y.items()}),
    ]
