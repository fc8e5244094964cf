"""Double sampling, the pairs to learn from: differences between the features of two classes of an example."""

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.ds_features import all_features, longest_of, sums_by_class


@kernel
def pair_block(x, sample, first, stop, leave_out, class_size, by_class, index, more, tree, pairs, signs):
    """Compute the pairs of copies ``first`` to ``stop`` - 1 of examples: the paper's transformation T, as differences.

    Parameters
    ----------
    x : int64 (N + 1,), int32, float32
        CSR rows.
    sample : Sample
        ``rows`` int64 (M,), ``classes`` int32 (M,), and ``adversaries`` int32 (M, kappa), rising in each row.
    first, stop : int
    leave_out : bool
        Whether the example is first subtracted from the sums of its own class.
    class_size : int64 (K,)
        The number of rows of each class.
    by_class : int64 (K + 1,), int32, float32
        The terms of each class, in rising order, and their sums y_t (CSR).
    index : ClassIndex
    more : MoreOfClasses
    tree : float64 (M, kappa + 1) or (0, 0)
        The label tree's feature of the own class and of the adversaries; empty in models without it.
    pairs : float64 (M * kappa, p)
        Filled: the features of the class with the smaller id minus those of the other.
    signs : int8 (M * kappa,)
        Filled: -1 when the adversary is the class with the smaller id, else 1.
    """
    (ptr, terms, values), rows, own_class, adversaries = x, sample.rows, sample.classes, sample.adversaries
    kappa, n_features = adversaries.shape[1], pairs.shape[1]
    classes, features = np.empty(kappa + 1, np.int32), np.empty((kappa + 1, n_features))
    found = np.empty((kappa + 1, longest_of(ptr, rows[first:stop])))
    for i in range(first, stop):
        a, b, y = ptr[rows[i]], ptr[rows[i] + 1], own_class[i]
        own = 0
        while own < kappa and adversaries[i, own] < y:
            classes[own] = adversaries[i, own]
            own += 1
        classes[own] = y
        classes[own + 1 :] = adversaries[i, own:]
        sums_by_class(terms[a:b], classes, by_class, found)
        left = own if leave_out else -1
        all_features(terms[a:b], values[a:b], classes, found, left, class_size, index, more, features)
        if tree.size:
            for j in range(kappa):
                features[j if j < own else j + 1, n_features - 1] = tree[i, j + 1]
            features[own, n_features - 1] = tree[i, 0]
        for j in range(kappa):
            at = i * kappa + j
            if j < own:
                pairs[at] = features[j] - features[own]
                signs[at] = -1
            else:
                pairs[at] = features[own] - features[j + 1]
                signs[at] = 1
