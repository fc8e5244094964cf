"""Double sampling, candidates: twins of xmlcore/_kernels/ds_nearest.py and of near_others in ds_sampling.py."""

from naive.ds_classes import distance_to, idf_of, mega_documents


def nearest(row, rows, labels, q, **space):
    """The q classes of least distance between the row and the centroid, the smaller id among equals."""
    documents, _, size = mega_documents(rows, labels)
    idf = idf_of(rows, labels)
    return sorted(size, key=lambda k: (round(distance_to(row, documents[k], size[k], idf, **space), 9), k))[:q]


def other_candidates(i, k, rows, labels, q, **space):
    """The q - 1 nearest classes beside k of row i, and whether k, without the row, is among the q nearest."""
    documents, _, size = mega_documents(rows, labels)
    idf = idf_of(rows, labels)
    left = {t: v - rows[i].get(t, 0.0) for t, v in documents[k].items() if v - rows[i].get(t, 0.0) > 1e-9}
    documents, size = documents | {k: left}, size | {k: size[k] - 1}
    near = sorted(size, key=lambda c: (round(distance_to(rows[i], documents[c], size[c], idf, **space), 9), c))[:q]
    return [c for c in near if c != k][: q - 1], k in near
