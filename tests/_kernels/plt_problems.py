"""Small problems that the tests of label trees' kernels share."""

import numpy as np
import scipy.sparse as sp


def sparse_rows(n, d, seed, density=0.3):
    X = sp.random_array((n, d), density=density, rng=np.random.default_rng(seed), dtype=np.float32, format="csr")
    X.sort_indices()
    return X
