"""Attributions keep their axioms, and their digits."""

import numpy as np
import pytest
import scipy.sparse as sp
from selection.fals.problems import problem, random_network, task_of

from xmlcore.selection.fals import exact
from xmlcore.selection.fals.attribution import attributions
from xmlcore.selection.fals.network import Network, first_weights


@pytest.mark.parametrize("sizes", [[12, 9, 5], [12, 8, 7, 5], [12, 5]])
def test_each_attribution_keeps_its_axiom(sizes):
    X, _ = problem(n=6)
    X = X.astype(np.float64)
    for activation in ("relu", "sigmoid"):
        network = random_network(sizes, activation, dtype=np.float64)
        rise = network.outputs(X) - network.outputs(np.zeros((1, 12)))
        complete = attributions(network, X, "integrated_gradients", n_steps=1000).sum(axis=2)
        np.testing.assert_allclose(complete, rise, atol=5e-3)
        np.testing.assert_allclose(attributions(network, X, "deeplift").sum(axis=2), rise, atol=1e-9)


@pytest.mark.parametrize("activation", ["relu", "sigmoid"])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-20])
def test_small_differences_from_the_baseline_keep_their_digits(activation, scale):
    X, _ = problem(n=20)
    exact, rounded = (random_network([12, 9, 7, 5], activation, dtype=kind) for kind in (np.float64, np.float32))
    exact = exact._replace(weights=tuple(w.astype(np.float64) for w in rounded.weights),
                           biases=tuple(b.astype(np.float64) for b in rounded.biases))  # fmt: skip
    wanted = attributions(exact, X.astype(np.float64) * scale, "deeplift")
    found = attributions(rounded, X * np.float32(scale), "deeplift")
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=2e-5 * np.abs(wanted).max())
    assert np.abs(wanted).max() > 0


def test_outputs_near_1_have_gradients():
    network = Network((np.full((2, 1), 20, np.float32),), (np.zeros(1, np.float32),), "relu")
    X = sp.csr_array(np.array([[1, 0.5]], np.float32))  # f differs from 1 by e^-30
    (block,) = exact.closed_form(task_of(network, X))
    np.testing.assert_allclose(block.scores, (np.exp(-30) * 20) ** 2, rtol=1e-5)


@pytest.mark.parametrize("sizes", [[12, 9, 5], [12, 8, 7, 5]])
def test_relevance_is_conserved_where_contributions_are_positive(sizes):
    X, _ = problem(n=6)
    weights, biases = first_weights(sizes, 0, np.float64)
    for weight in weights:
        weight += 0.3  # so that each active unit has positive input
    network = Network(tuple(3 * weight for weight in weights), tuple(0 * bias for bias in biases), "relu")
    relevance = attributions(network, X.astype(np.float64), "lrp")
    np.testing.assert_allclose(relevance.sum(axis=2), network.outputs(X.astype(np.float64)), rtol=1e-4)
    assert (relevance >= 0).all()


def test_gradients_of_rows_are_those_of_finite_differences():
    X, _ = problem(n=4)
    for sizes, activation in (([12, 9, 5], "relu"), ([12, 9, 8, 5], "sigmoid")):
        network = random_network(sizes, activation, dtype=np.float64)
        rows = X.toarray().astype(np.float64)
        found = attributions(network, rows, "gradient")
        for d in range(12):
            step = np.zeros(12)
            step[d] = 1e-6
            wanted = (network.outputs(rows + step) - network.outputs(rows - step)) / 2e-6
            np.testing.assert_allclose(found[:, :, d], wanted, rtol=1e-5, atol=1e-8)
