"""A network of one label trains as its plain-Python twin does."""

import naive
import numpy as np
import pytest
from _kernels.plt_problems import sparse_rows

from xmlcore._kernels import fals_label_networks
from xmlcore.selection.fals.network import first_weights
from xmlcore.selection.fals.training import step_sizes
from xmlcore.validation import csr_parts


@pytest.mark.parametrize("activation", ["relu", "sigmoid"])
@pytest.mark.parametrize("dropout, l2", [(0.0, 0.0), (0.4, 0.0), (0.4, 0.05)])
def test_a_network_of_one_label_trains_as_its_twin(activation, dropout, l2):
    X, member = sparse_rows(30, 8, 3), np.random.default_rng(1).random(30) < 0.3
    (into, out_of), (bias, last) = first_weights([8, 4, 1], 5)  # float32, as they are trained
    network = into, bias, np.ascontiguousarray(out_of[:, 0]), last
    order = np.stack([np.random.default_rng([5, epoch]).permutation(30) for epoch in range(3)])
    batches = [rows[start : start + 8].tolist() for rows in order for start in range(0, 30, 8)]
    rates, tail = step_sizes(len(batches), 0.02)
    expected = naive.fals_label_networks.train_binary(
        X.toarray().astype(float), member, batches, rates, l2, dropout, activation == "relu", 7, network
    )
    before = into.copy()
    fals_label_networks.train_binary(
        csr_parts(X), order, 8, member, fals_label_networks.Schedule(rates, tail),
        fals_label_networks.Options(l2, dropout, activation == "relu"), np.uint64(7),
        fals_label_networks.LabelNetwork(*network),
    )  # fmt: skip
    assert np.abs(into - before).max() > 0.05
    for found, wanted in zip(network, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
