"""Double sampling, the pairs to learn from: differences between the features of two classes of an example."""

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.ds_features import all_features, longest_of, sums_by_class


@kernel
def pair_block(x, sample, first, stop, leave_out, class_size, by_class, index, more, tree, pairs, signs):
    """Compute the pairs of copies ``first`` to ``stop`` - 1 of examples: the paper's T, as differences."""
    (ptr, terms, values), rows, own_class, adversaries = x, sample.rows, sample.classes, sample.adversaries
    kappa, n_features = adversaries.shape[1], pairs.shape[1]
    classes, features = np.empty(kappa + 1, np.int32), np.empty((kappa + 1, n_features))
    found = np.empty((kappa + 1, longest_of(ptr, rows[first:stop])))
    for i in range(first, stop):
        a, b, y = ptr[rows[i]], ptr[rows[i] + 1], own_class[i]
        own = 0
        for j in range(kappa):
            is_before = adversaries[i, j] < y  # they ascend
            classes[j if is_before else j + 1] = adversaries[i, j]
            own += is_before
        classes[own] = y
        sums_by_class(terms[a:b], classes, by_class, found)
        left = own if leave_out else -1
        all_features(terms[a:b], values[a:b], classes, found, left, class_size, index, more, features)
        if tree.size:
            for j in range(kappa):
                features[j if j < own else j + 1, n_features - 1] = tree[i, j + 1]
            features[own, n_features - 1] = tree[i, 0]
        for j in range(kappa):
            at = i * kappa + j
            signs[at] = -1 if j < own else 1
            lower, upper = (j, own) if j < own else (own, j + 1)
            for f in range(n_features):
                pairs[at, f] = features[lower, f] - features[upper, f]
