"""Kernels that train FALS's network do what their plain twins do."""

import math

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from _kernels.plt_problems import sparse_rows

from xmlcore._kernels import fals_training
from xmlcore.selection.fals.training import step_sizes
from xmlcore.validation import csr_parts


def test_entries_are_grouped_by_feature():
    X = sparse_rows(12, 7, 0)
    rows, place = np.array([3, 0, 9, 4]), np.zeros(7, np.int32)
    features, ptr, entry_rows, values = fals_training.by_feature(*csr_parts(X), rows, place)
    expected = naive.fals_training.by_feature([dict(zip(X[[r]].indices.tolist(), X[[r]].data.tolist())) for r in rows])
    found = {
        int(f): list(zip(entry_rows[a:b].tolist(), values[a:b].tolist()))
        for f, a, b in zip(features, ptr[:-1], ptr[1:])
    }
    assert list(found) == list(expected) and found == expected
    assert not place.any()


def test_the_first_layer_is_a_product_whatever_the_columns_at_once():
    X, random = sparse_rows(12, 7, 0), np.random.default_rng(1)
    weight, bias = random.normal(size=(7, 5)), random.normal(size=5)
    out = np.empty((3, 5))
    rows = np.array([2, 2, 11])
    for first, last in ((0, 2), (2, 5)):
        fals_training.first_layer(*csr_parts(X.astype(np.float64)), rows, weight, bias, first, last, out)
    np.testing.assert_allclose(out, X.toarray()[rows] @ weight + bias)


@pytest.mark.parametrize("present", [[1, 1, 1, 1, 1], [1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0, 0, 0, 0, 1], [1] + [0] * 40])
def test_steps_that_a_feature_missed_are_caught_up_as_adam_makes_them(present):
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
    np.testing.assert_allclose(weights, naive.fals_training.adam(0.5, gradients, 0.01), rtol=1e-7)


def test_a_dense_step_is_adam():
    gradients = np.random.default_rng(0).normal(size=(6, 2, 3))
    weights, mean, square = np.full((2, 3), 0.3), np.zeros((2, 3)), np.zeros((2, 3))
    rates, _ = step_sizes(6, 0.01)
    for rate, gradient in zip(rates, gradients):
        fals_training.dense_step(gradient, rate, 0.0, weights, mean, square)
    for place in np.ndindex(2, 3):
        assert math.isclose(
            weights[place], naive.fals_training.adam(0.3, gradients[:, place[0], place[1]].tolist(), 0.01)
        )


def test_labels_are_taken_off():
    Y = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]])
    ptr, labels, _ = csr_parts(sp.csr_array(Y))
    delta = np.full((2, 3), 0.25)
    fals_training.take_labels(ptr, labels, np.array([2, 0]), 0.5, delta)
    np.testing.assert_allclose(delta, (0.25 - Y[[2, 0]]) * 0.5)
