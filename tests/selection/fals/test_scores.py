"""Scores are those of the paper's formulas in every order of computation."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from selection.fals.problems import joined, problem, random_network, task_of

from xmlcore import FALS
from xmlcore.selection.fals import blocks, exact, orders, present, sampled
from xmlcore.selection.fals.attribution import attributions


@pytest.mark.parametrize("pattern", ["FALS", "FAMS", "FILS", "FIMS"])
@pytest.mark.parametrize("activation, n_layers", [("relu", 2), ("sigmoid", 2), ("relu", 3), ("relu", 1)])
def test_scores_are_those_of_the_formulas(pattern, activation, n_layers):
    X, Y = problem(n=25, d=7, n_labels=3)
    model = FALS(3, pattern, n_epochs=3, activation=activation, n_layers=n_layers, scoring="exact").fit(X, Y)
    network = model.network_
    weights, biases = ([array.tolist() for array in arrays] for arrays in (network.weights, network.biases))
    expected = naive.fals.fals_scores(X.toarray().tolist(), weights, biases, activation, pattern)
    np.testing.assert_allclose(model.scores_, expected, rtol=2e-4)
    assert model.scoring_ == "exact" and model.n_scored_ == 25
    for label in range(3):
        own = model.scores_[label if pattern in ("FALS", "FILS") else 0]
        assert model.selected_[label].tolist() == np.argsort(-own, kind="stable")[:3].tolist()
        np.testing.assert_array_equal(model.selected_scores_[label], own[model.selected_[label]])


@pytest.mark.parametrize("fisher", [False, True])
@pytest.mark.parametrize("activation", ["relu", "sigmoid"])
def test_the_cheaper_orders_give_the_direct_scores(fisher, activation):
    X, _ = problem(n=700, d=40)
    network = random_network([40, 23, 9], activation)
    task = task_of(network, X, fisher=fisher)
    slopes = blocks.slopes(task)
    direct = joined(exact.direct_order(task, slopes))
    np.testing.assert_allclose(joined(exact.expanded_order(task, slopes[0])), direct, rtol=1e-4)
    if activation == "relu":
        found = exact.find_references(slopes[0], 0)
        assert len(found.reference) == 7 and 0 < found.share < 0.5
        np.testing.assert_allclose(joined(exact.reference_order(task, found)), direct, rtol=1e-4)


def test_every_order_is_taken_where_it_is_cheapest():
    X, Y = problem()
    wide = sp.csr_array(np.tile(X.toarray(), (4, 6)))
    assert FALS(n_hidden=4, n_epochs=1).fit(wide, sp.csr_array(np.tile(Y.toarray(), (4, 1)))).order_ == "expanded"
    model = FALS(n_hidden=300, n_epochs=1).fit(wide, sp.csr_array(np.tile(Y.toarray(), (4, 1))))
    assert model.order_ == "reference" == min(model.costs_.keys() - {"drawn rows"}, key=model.costs_.get)
    assert FALS(n_layers=3, n_epochs=1).fit(X, Y).order_ == "direct"
    assert FALS(n_layers=1, n_epochs=1).fit(X, Y).order_ == "closed form"


@pytest.mark.parametrize("sizes, activation", [([12, 9, 5], "relu"), ([12, 9, 5], "sigmoid"), ([12, 9, 7, 5], "relu")])
@pytest.mark.parametrize("fisher", [False, True])
def test_sampled_scores_are_within_their_standard_errors(sizes, activation, fisher):
    X, _ = problem(n=400)
    network = random_network(sizes, activation)
    wanted = joined(exact.direct_order(task_of(network, X, fisher=fisher), blocks.slopes(task_of(network, X))))
    off, errors = [], []
    for seed in range(30):
        (block,) = sampled.sampled_order(task_of(network, X, fisher=fisher, seed=seed), 60)
        off.append(block.scores - wanted)
        errors.append(block.error)
    within = 5 * np.sqrt(np.mean(np.square(errors), axis=0) / 30) + 1e-5 * wanted  # of float32
    assert (np.abs(np.mean(off, axis=0)) < within).all()  # the estimate is right on average
    assert 0.8 < np.std(np.divide(off, errors)) < 1.3  # and as far off as it says
    (more,) = sampled.sampled_order(task_of(network, X, fisher=fisher), 60 * 25)
    assert more.error.mean() == pytest.approx(np.mean(errors) / 5, rel=0.1)
    assert np.abs(more.scores - wanted).mean() < np.mean(errors) / 3


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("method", ["integrated_gradients", "deeplift", "lrp"])
def test_scores_of_sampled_rows_have_standard_errors(method, shared, monkeypatch):
    """Those of a sum over labels, too, although all labels have the same rows."""
    X, _ = problem(n=300)
    task = task_of(random_network([12, 9, 5]), X, method)
    each = joined(present.present_order(task, None))
    expected = each.sum(axis=0)[None] if shared else each
    (whole,) = present.present_order(task, None if shared else np.arange(300), shared=shared)
    np.testing.assert_allclose(whole.scores, expected, rtol=1e-5)
    assert whole.error is None if shared else not whole.error.any()
    assert whole.labels == slice(0, 5)
    if shared:
        monkeypatch.setattr(blocks, "MEMORY", 48 * 12 * 2)  # two labels at a time
    z = []
    for seed in range(12):
        rows = np.random.default_rng(seed).choice(300, 100, replace=False)
        (block,) = present.present_order(task, rows, shared=shared)
        z.append(((block.scores - whole.scores) / np.maximum(block.error, 1e-12))[whole.scores > 0])
    assert abs(np.mean(z)) < 0.5 and 0.7 < np.std(z) < 1.5


@pytest.mark.parametrize("method", ["integrated_gradients", "deeplift", "lrp"])
@pytest.mark.parametrize("sizes", [[12, 9, 5], [12, 8, 7, 5], [12, 5]])
def test_scores_of_other_attributions_are_means_of_their_squares(method, sizes):
    X, _ = problem(n=30)
    X = sp.csr_array(sp.vstack([X, sp.csr_array((1, 12), dtype=np.float32)]))  # a row without features
    network = random_network(sizes)
    expected = np.square(attributions(network, X, method)).mean(axis=0)
    found = joined(present.present_order(task_of(network, X, method), None))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-9)


def test_blocks_of_labels_features_and_rows_change_nothing(monkeypatch):
    X, _ = problem(n=700, d=300, n_labels=5)
    network = random_network([300, 11, 9])

    def all_orders():
        task = task_of(network, X)
        slopes = blocks.slopes(task)
        drawn = list(sampled.sampled_order(task, 100))
        return [
            joined(exact.direct_order(task, slopes)),
            joined(exact.expanded_order(task, slopes[0])),
            joined(exact.reference_order(task, exact.find_references(slopes[0], 0))),
            joined(present.present_order(task._replace(method="deeplift"), None)),
            np.concatenate([block.error for block in drawn]),
            joined(drawn),
        ]

    whole = all_orders()
    monkeypatch.setattr(blocks, "MEMORY", 30_000)
    monkeypatch.setattr(exact, "CELLS", 300)
    monkeypatch.setattr(exact, "WIDEST", 2)
    for module in (exact, sampled, present):
        monkeypatch.setattr(module, "ENTRIES", 5_000)
    for a, b in zip(whole, all_orders()):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-9)


def test_scores_beyond_the_limit_are_not_kept():
    X, Y = problem()
    whole = FALS(4).fit(X, Y)
    less = FALS(4, max_score_bytes=100).fit(X, Y)
    np.testing.assert_array_equal(less.selected_, whole.selected_)
    np.testing.assert_array_equal(less.selected_scores_, whole.selected_scores_)
    assert not hasattr(less, "scores_")
    with pytest.raises(AttributeError, match="240 bytes, more than max_score_bytes"):
        _ = less.scores_
    assert hasattr(FALS(4, "FAMS", max_score_bytes=100).fit(X, Y), "scores_")  # one row of 48 bytes


def test_auto_scoring_samples_where_exact_scores_cost_much(monkeypatch):
    X, Y = problem(n=500)
    monkeypatch.setattr(orders, "EXACT_UP_TO", 1e3)
    assert FALS(n_hidden=300, n_epochs=1).fit(X, Y).order_ == "drawn rows"
    assert FALS(n_hidden=300, n_epochs=1, scoring="exact").fit(X, Y).scoring_ == "exact"


def test_errors_count_among_the_bytes_of_scores():
    X, Y = problem()
    assert hasattr(FALS(4, n_epochs=1, scoring="sampled", max_score_bytes=480).fit(X, Y), "standard_error_")
    with pytest.raises(AttributeError, match="and their standard errors take 480 bytes"):
        _ = FALS(4, n_epochs=1, scoring="sampled", max_score_bytes=479).fit(X, Y).scores_
