"""Double sampling, the classes: twin of ds_classes.py. Rows are {term: value}, labels one list per row."""

import math


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
