"""The distribution of rows is that of the plain-Python twin."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore._kernels.stratify import distribute
from xmlcore.validation import csr_parts


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shares", [(0.8, 0.2), (0.25, 0.25, 0.5), (0.25,) * 4])
def test_rows_are_distributed_as_by_the_twin(seed, shares):
    rng = np.random.default_rng(seed)
    dense = rng.random((50, 8)) < rng.uniform(0.02, 0.5, 8)
    Y, order = sp.csr_array(dense), rng.permutation(50)
    by_label, ties = Y[order].tocsc(), rng.integers(0, 2**40, 50)
    found = distribute(
        *csr_parts(Y)[:2],
        by_label.indptr.astype(np.int64),
        order[by_label.indices].astype(np.int32),
        np.array(shares),
        ties,
    )
    rows = [set(np.flatnonzero(row).tolist()) for row in dense]
    assert found.tolist() == naive.stratify.distribute(rows, 8, order.tolist(), list(shares), ties.tolist())
