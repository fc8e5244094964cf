"""The network is trained by the gradients of its loss; attributions keep their axioms, and their digits."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from selection.fals.problems import problem, random_network, task_of

from xmlcore import FALS
from xmlcore.selection.fals import exact, training
from xmlcore.selection.fals.attribution import attributions
from xmlcore.selection.fals.network import Network, first_weights, layer_sizes
from xmlcore.selection.fals.training import Training, Workers
from xmlcore.validation import csr_parts


@pytest.mark.parametrize("n_layers", [1, 2, 3, 5])
@pytest.mark.parametrize("activation, l2", [("relu", 0.0), ("sigmoid", 0.1)])
def test_gradients_are_those_of_finite_differences(n_layers, activation, l2, monkeypatch):
    X, Y = problem(n=9, d=6, n_labels=3)
    sizes = layer_sizes(6, 3, n_layers)
    settings = FALS(activation=activation, n_epochs=1, batch_size=9, l2=l2)
    for dense in (0.0, 2.0):
        monkeypatch.setattr(training, "DENSE", dense)
        with Workers(2) as workers:
            trained = Training(csr_parts(X), csr_parts(Y)[:2], sizes, settings, workers, np.float64)
            start = [array.copy() for array in (*trained.weights, *trained.biases)]
            trained.run()  # one epoch of one batch: one step
        rows, labels = X.toarray().astype(np.float64), Y.toarray()
        for number, mean in enumerate(trained.mean):
            for place in list(np.ndindex(mean.shape))[:: max(1, mean.size // 6)]:
                moved = [array.copy() for array in start]
                values = []
                for step in (1e-6, -1e-6):
                    moved[number][place] = start[number][place] + step
                    network = moved[:n_layers], moved[n_layers:]
                    values.append(naive.fals.perceptron_loss(rows, labels, *network, activation, l2))
                wanted = (values[0] - values[1]) / 2e-6
                found = mean[place] / 0.1  # the first mean is a tenth of the gradient
                assert found == pytest.approx(wanted, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("sizes, settings", [
    ([12, 8, 5], FALS(n_epochs=3, batch_size=16, learning_rate=1e-2)),
    ([12, 8, 7, 5], FALS(0.1, "FALS", 3, 1, activation="sigmoid", l2=0.05, dropout=0.3, batch_size=16)),
    ([12, 5], FALS(n_epochs=3, batch_size=16, learning_rate=1e-2, random_state=2)),
])  # fmt: skip
def test_sparse_and_dense_rows_train_the_same_network(sizes, settings, monkeypatch):
    X, Y = problem()
    found = []
    for dense, work, threads in ((0.0, 4e6, 1), (2.0, 4e6, 1), (2.0, 1.0, 3)):
        monkeypatch.setattr(training, "DENSE", dense)
        monkeypatch.setattr(training, "SLICE_WORK", work)
        with Workers(threads) as workers:
            found.append(Training(csr_parts(X), csr_parts(Y)[:2], sizes, settings, workers, np.float64).run())
    for other in found[1:]:
        for a, b in zip((*found[0].weights, *found[0].biases), (*other.weights, *other.biases)):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_the_network_learns_what_there_is_to_learn():
    X, Y = problem(n=600)
    model = FALS(n_epochs=30, learning_rate=0.01, batch_size=32, random_state=1).fit(X, Y)
    assert (model.predict(X).toarray() == Y.toarray()).mean() > 0.95
    assert [int(label[0]) for label in model.selected_] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("n_layers, sizes", [(1, [16, 4]), (2, [16, 8, 4]), (4, [16, 11, 8, 6, 4])])
def test_hidden_layers_are_a_geometric_series(n_layers, sizes):
    assert layer_sizes(16, 4, n_layers) == sizes
    assert layer_sizes(16, 4, 3, 10) == [16, 10, 10, 4]


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
