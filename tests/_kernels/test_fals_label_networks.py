"""A network of one label trains as the general network does, and as its plain-Python twin does."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore._kernels import fals_label_networks
from xmlcore.selection.fals.network import first_weights
from xmlcore.selection.fals.training import Settings, Training, step_sizes
from xmlcore.selection.fals.workers import Workers
from xmlcore.validation import csr_parts


def sparse(n=12, d=7, density=0.4, seed=0):
    random = np.random.default_rng(seed)
    X = (random.random((n, d)) < density) * random.normal(size=(n, d))
    return sp.csr_array(X.astype(np.float32))


@pytest.mark.parametrize("activation, l2", [("relu", 0.0), ("sigmoid", 0.0), ("relu", 0.01)])
def test_a_network_of_one_label_trains_as_the_general_one_does(activation, l2):
    X, member = sparse(n=50, d=8, seed=3), np.random.default_rng(1).random(50) < 0.3
    settings = Settings(activation, 4, 16, 0.01, l2, 0.0, 5)
    Y = sp.csr_array(member[:, None])
    with Workers(1) as workers:
        training = Training(csr_parts(X), csr_parts(Y)[:2], [8, 3, 1], settings, workers, np.float64)
        assert training.dense is not None
        expected = training.run()
    (into, out_of), (bias, last) = first_weights([8, 3, 1], 5, np.float64)
    out_of = np.ascontiguousarray(out_of[:, 0])
    rates, tail = step_sizes(16, 0.01)
    order = np.stack([np.random.default_rng([5, 2, epoch]).permutation(50) for epoch in range(4)])
    fals_label_networks.train_binary(
        csr_parts(X.astype(np.float64)), order, 16, member, fals_label_networks.Schedule(rates, tail),
        fals_label_networks.Options(l2, 0.0, activation == "relu"), np.uint64(0),
        fals_label_networks.LabelNetwork(into, bias, out_of, last),
    )  # fmt: skip
    wanted = (expected.weights[0], expected.biases[0], expected.weights[1][:, 0], expected.biases[1])
    for own, other in zip((into, bias, out_of, last), wanted):
        np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("activation", ["relu", "sigmoid"])
@pytest.mark.parametrize("dropout, l2", [(0.0, 0.0), (0.4, 0.0), (0.4, 0.05)])
def test_a_network_of_one_label_trains_as_its_twin(activation, dropout, l2):
    X, member = sparse(n=30, d=8, seed=3), np.random.default_rng(1).random(30) < 0.3
    (into, out_of), (bias, last) = first_weights([8, 4, 1], 5, np.float64)
    network = into, bias, np.ascontiguousarray(out_of[:, 0]), last
    order = np.stack([np.random.default_rng([5, epoch]).permutation(30) for epoch in range(3)])
    batches = [rows[start : start + 8].tolist() for rows in order for start in range(0, 30, 8)]
    rates, tail = step_sizes(len(batches), 0.02)
    expected = naive.fals_label_networks.train_binary(
        X.toarray().astype(float), member, batches, rates, l2, dropout, activation == "relu", 7, network
    )
    before = into.copy()
    fals_label_networks.train_binary(
        csr_parts(X.astype(np.float64)), order, 8, member, fals_label_networks.Schedule(rates, tail),
        fals_label_networks.Options(l2, dropout, activation == "relu"), np.uint64(7),
        fals_label_networks.LabelNetwork(*network),
    )  # fmt: skip
    assert np.abs(into - before).max() > 0.05
    for found, wanted in zip(network, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7)
