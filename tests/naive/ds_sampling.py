"""Double sampling, the samples: twins of xmlcore/_kernels/ds_sampling.py."""

import math

from naive.ds_classes import distance_to, idf_of, mega_documents
from naive.rng import stream, uniform


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
