"""Kernels that train FALS's networks and score features do what their plain-Python twins do."""

import naive
import numpy as np
import pytest
from _kernels.plt_problems import sparse_rows

from xmlcore._kernels import fals_label_networks, fals_scoring, fals_training
from xmlcore.selection.fals.network import first_weights
from xmlcore.selection.fals.training import step_sizes
from xmlcore.validation import csr_parts


@pytest.mark.parametrize("present", [[1, 1, 1, 1, 1], [1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0, 0, 0, 0, 1], [1] + [0] * 40])
def test_missed_steps_are_caught_up_as_adam_makes_them(present):
    random = np.random.default_rng(0)
    gradients = [float(random.normal()) * p for p in present]
    weights, mean, square = np.array([[0.5, 0.5]]), np.zeros((1, 2)), np.zeros((1, 2))
    rates, tail = step_sizes(len(present), 0.01)
    done, feature = np.zeros(1, np.int32), np.zeros(1, np.int32)
    for step, (gradient, there) in enumerate(zip(gradients, present)):
        if there:
            for h in range(2):
                fals_training.catch_up(feature, done, step, tail, weights, mean, square, h, h + 1)
            entry = np.array([0, 1]), np.zeros(1, np.int32), np.ones(1)
            fals_training.sparse_step(
                feature, *entry, np.full((1, 2), gradient), rates[step], 0.0, weights, mean, square, 0, 2
            )
            done[0] = step + 1
    fals_training.catch_up(feature, done, len(present), tail, weights, mean, square, 0, 2)
    np.testing.assert_allclose(weights, naive.fals.adam(0.5, gradients, 0.01), rtol=1e-7)


@pytest.mark.parametrize("activation", ["relu", "sigmoid"])
@pytest.mark.parametrize("dropout, l2", [(0.0, 0.0), (0.4, 0.0), (0.4, 0.05)])
def test_a_network_of_one_label_trains_as_its_twin(activation, dropout, l2):
    X, member = sparse_rows(30, 8, 3), np.random.default_rng(1).random(30) < 0.3
    (into, out_of), (bias, last) = first_weights([8, 4, 1], 5)  # float32, as they are trained
    network = into, bias, np.ascontiguousarray(out_of[:, 0]), last
    order = np.stack([np.random.default_rng([5, epoch]).permutation(30) for epoch in range(3)])
    batches = [rows[start : start + 8].tolist() for rows in order for start in range(0, 30, 8)]
    rates, tail = step_sizes(len(batches), 0.02)
    expected = naive.fals.train_binary(
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


def test_rows_are_drawn_in_proportion_to_their_weights():
    weight = np.array([[1, 0, 3, 4], [0, 0, 0, 0], [5, 5, 0, 0]], np.float32)
    for bounds in ([0, 4], [0, 1, 2, 4]):
        drawn, so_far = np.full((3, 20_000), -1), np.zeros(3)
        for number, (a, b) in enumerate(zip(bounds[:-1], bounds[1:])):
            part = np.ascontiguousarray(weight[:, a:b])
            fals_scoring.draw_rows(part, a, so_far, 7, np.arange(3) * 10 + number, drawn)
        np.testing.assert_allclose(so_far, weight.sum(axis=1))
        assert (drawn[1] == -1).all()  # nothing to draw
        for c in (0, 2):
            share = np.bincount(drawn[c], minlength=4) / drawn.shape[1]
            np.testing.assert_allclose(share, weight[c] / weight[c].sum(), atol=0.015)  # more than 4 deviations
            assert (share[weight[c] == 0] == 0).all()
