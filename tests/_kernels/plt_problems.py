"""Small problems that the tests of label trees' kernels share."""

import numpy as np
import scipy.sparse as sp

from xmlcore import PLT


def sparse_rows(n, d, seed, density=0.3):
    X = sp.random_array((n, d), density=density, rng=np.random.default_rng(seed), dtype=np.float32, format="csr")
    X.sort_indices()
    return X


def fitted(loss, arity, max_leaf_labels, empty_rows, seed=0):
    """A small model with every sort of node: unused labels, labels of all rows, rows without labels."""
    rng_ = np.random.default_rng(seed)
    X = sparse_rows(60, 25, seed)
    Y = rng_.random((60, 17)) < 0.15
    Y[:, 4] = False
    Y[:, 9] = True
    if empty_rows:
        Y[::7] = False
    C = 10.0 if loss == "logistic" else 1.0
    model = PLT(loss=loss, C=C, arity=arity, max_leaf_labels=max_leaf_labels, weight_threshold=0.02, n_jobs=1)
    return model.fit(X, Y), sparse_rows(15, 25, seed + 100)


SHAPES = [("logistic", 2, 1, False), ("logistic", 3, 4, True), ("squared_hinge", 2, 5, True), ("logistic", 2, 99, True)]
