"""Double sampling, candidates: twin of xmlcore/_kernels/ds_nearest.py."""

from naive.ds_classes import distance_to, idf_of, mega_documents


def nearest(row, rows, labels, q, **space):
    """The q classes of least distance between the row and the centroid, the smaller id among equals."""
    documents, _, size = mega_documents(rows, labels)
    idf = idf_of(rows, labels)
    return sorted(size, key=lambda k: (round(distance_to(row, documents[k], size[k], idf, **space), 9), k))[:q]
