"""Small problems that the tests of PLT share."""

import numpy as np
import scipy.sparse as sp


def problem(n=200, d=40, n_labels=30, seed=0, n_test=25):
    """Sparse rows whose labels depend on their features."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n + n_test, d), density=0.2, rng=rng, dtype=np.float32, format="csr")
    scores = X @ rng.standard_normal((d, n_labels)) + 0.3 * rng.standard_normal((n + n_test, n_labels))
    Y = scores > np.quantile(scores, 0.9, axis=0)
    return X[:n], sp.csr_array(Y[:n]), X[n:], sp.csr_array(Y[n:])


def same_scores(a, b):
    return np.array_equal(a.labels, b.labels) and np.array_equal(a.scores, b.scores)
