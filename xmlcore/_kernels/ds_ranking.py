"""Double sampling, prediction: the candidates of rows, ranked by the learnt function f."""

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.ds_features import all_features, longest, sums_by_term
from xmlcore._kernels.ds_nearest import nearest, scratch
from xmlcore._kernels.k_best import sort_best_first
from xmlcore._kernels.sorting import sort_in_place


@kernel
def rank_block(x, index, more, given, tree, w, labels, scores):
    ptr, terms, values = x
    q = labels.shape[1]
    room, near = scratch(0 if given else index.total.size), np.empty(q)
    features, found, nobody = np.empty((q, w.size)), np.empty((q, longest(ptr))), np.empty(0, np.int64)
    for i in range(ptr.size - 1):
        a, b, own = ptr[i], ptr[i + 1], labels[i]
        if not given:
            nearest(terms[a:b], values[a:b], index, room, near, own)
            sort_in_place(own)
        sums_by_term(terms[a:b], own, index, found)
        filled = all_features(terms[a:b], values[a:b], own, found, -1, nobody, index, more, features)
        if filled < w.size:
            for c in range(q):
                features[c, filled] = tree[i, c]
        for c in range(q):
            total = 0.0
            for j in range(w.size):
                total += w[j] * features[c, j]
            scores[i, c] = total
        sort_best_first(scores[i], own, q)
