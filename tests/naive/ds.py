"""Double sampling.

Twins of ds_features.py, ds_nearest.py and ds_sampling.py.

Rows are {term: value}, labels one list per row.
"""

import math

from naive.rng import stream, uniform


def mega_documents(rows, labels):
    """Mega-documents {class: {term: y_t}}, {term: rows with it} and rows of each class; a row counts once per label."""
    documents, holding, size = {}, {}, {}
    for row, own in zip(rows, labels):
        for k in own:
            size[k] = size.get(k, 0) + 1
            document = documents.setdefault(k, {})
            for t, x in row.items():
                document[t] = document.get(t, 0.0) + x
                holding[t] = holding.get(t, 0) + 1
    return documents, holding, size


def idf_of(rows, labels):
    _, holding, size = mega_documents(rows, labels)
    return {t: 1 + math.log((1 + sum(size.values())) / (1 + n)) for t, n in holding.items()}


def distance_to(row, document, size, idf, distance="cosine", weighting="tfidf"):
    """Of a row to the mean of a class's rows."""
    weight = idf if weighting == "tfidf" else dict.fromkeys(idf, 1.0)
    x = {t: v * weight[t] for t, v in row.items() if t in idf}
    centre = {t: v * weight[t] / size for t, v in document.items()} if size else {}
    if distance == "cosine":
        x, centre = ({t: v / math.hypot(*a.values()) for t, v in a.items()} for a in (x, centre))
    return math.sqrt(sum((x.get(t, 0.0) - centre.get(t, 0.0)) ** 2 for t in set(x) | set(centre)))


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


def nearest(row, rows, labels, q, **space):
    """The q classes of least distance between the row and the centroid, the smaller id among equals."""
    documents, _, size = mega_documents(rows, labels)
    idf = idf_of(rows, labels)
    return sorted(size, key=lambda k: (round(distance_to(row, documents[k], size[k], idf, **space), 9), k))[:q]


def copies(share, seed, example):
    """How many copies an example gets of which ``share`` are expected: rounded up with the chance of what is over."""
    _, u = uniform(stream(seed, example))
    return math.floor(share) + (u < share - math.floor(share))


def adversaries(n_copies, own, classes, kappa, seed, example):
    """Sets of ``kappa`` classes other than ``own``, one for each copy of an example, by Floyd's algorithm."""
    others = [k for k in classes if k != own]
    state, sets = stream(seed, example), []
    for _ in range(n_copies):
        chosen = set()
        for last in range(len(others) - kappa, len(others)):
            state, u = uniform(state)
            place = int(u * (last + 1))
            chosen.add(last if place in chosen else place)
        sets.append(sorted(others[place] for place in chosen))
    return sets


def other_candidates(i, k, rows, labels, q, **space):
    """The q - 1 nearest classes beside k of row i, and whether k, without the row, is among the q nearest."""
    documents, _, size = mega_documents(rows, labels)
    idf = idf_of(rows, labels)
    left = {t: v - rows[i].get(t, 0.0) for t, v in documents[k].items() if v - rows[i].get(t, 0.0) > 1e-9}
    documents, size = documents | {k: left}, size | {k: size[k] - 1}
    near = sorted(size, key=lambda c: (round(distance_to(rows[i], documents[c], size[c], idf, **space), 9), c))[:q]
    return [c for c in near if c != k][: q - 1], k in near


def pairs(examples, features):
    """The transformation T: (first features, second features, sign) for (row, class, adversaries) in order."""
    out = []
    for row, y, adversaries in examples:
        for k in adversaries:
            own, other = features(row, y), features(row, k)
            out.append((other, own, -1) if k < y else (own, other, 1))
    return out


def risk(examples, f):
    """Equation (7), from its last form."""
    wrong = [f(row, y) - f(row, k) <= 0 for row, y, adversaries in examples for k in adversaries]
    return sum(wrong) / len(wrong)


def ranked(row, candidates, rows, labels, weights, logs=None, **space):
    """(class, f) of each candidate by falling f, the smaller class first among equals."""
    found = []
    for k in candidates:
        phi = features(row, k, rows, labels, **space)
        if len(weights) >= 16:
            phi += more_features(row, k, rows, labels, weighting=space.get("weighting", "tfidf"))
        if logs is not None:
            phi.append(logs[k])
        found.append((k, sum(w * value for w, value in zip(weights, phi, strict=True))))
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))
