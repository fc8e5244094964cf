"""Probabilities, and the searches in one tree and in several, are those of the plain-Python twins."""

import os
import subprocess
import sys

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from _kernels.plt_problems import SHAPES, fitted, sparse_rows

from xmlcore import PLT
from xmlcore._kernels import plt_factors, plt_search, plt_search_together
from xmlcore._kernels.plt_ensemble import as_ensemble
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.validation import csr_parts


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("threshold", [0.0, 0.01, 0.3])
def test_threshold_search_finds_what_brute_force_finds(shape, threshold):
    model, X = fitted(*shape)
    found = model.predict_proba(X, threshold)
    with np.errstate(divide="ignore"):
        least = np.log(threshold)
    for i, x in enumerate(X.toarray().astype(float)):
        expected = naive.plt_search.search_threshold(
            model.fitted_[0], shape[0], naive.plt_search.in_columns(x, model.feature_of_column_), least
        )
        row = dict(zip(found[[i]].indices.tolist(), found[[i]].data.tolist()))
        assert row.keys() == {label for label, score in expected.items() if np.float32(np.exp(score)) > 0}
        for label, value in row.items():
            assert value == pytest.approx(np.exp(expected[label]), rel=1e-5)


@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
def test_factors_at_extreme_margins(loss):
    for margin in (-np.inf, -800.0, -1.0, 0.0, 0.5, 1.0, 800.0, np.inf):
        expected = naive.plt_search.log_probability(margin, loss)
        assert plt_factors.log_probability(np.float32(margin), LOSS_NUMBERS[loss]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
def test_margins_below_the_least_have_smaller_factors(loss):
    margins = np.concatenate([np.linspace(-30, 30, 601), [0.999, 1.0, 1.001]]).astype(np.float32)
    factors = np.array([plt_factors.log_probability(m, LOSS_NUMBERS[loss]) for m in margins])
    for wanted in [-np.inf, -900.0, -5.0, -0.7, -1e-3, -1e-13, 0.0]:
        least = plt_factors.least_margin(wanted, LOSS_NUMBERS[loss])
        assert (factors[margins < least] < wanted).all()
        assert (factors[margins > least + 1e-3] >= wanted - 1e-11).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [1, 3, 17])
def test_best_first_search_finds_what_brute_force_finds(shape, k):
    model, X = fitted(*shape)
    found = model.predict_topk(X, k)
    for i, x in enumerate(X.toarray().astype(float)):
        expected = naive.plt_search.search_best_first(
            model.fitted_[0], shape[0], naive.plt_search.in_columns(x, model.feature_of_column_), k
        )
        assert found.labels[i].tolist() == [label for label, _ in expected]
        np.testing.assert_allclose(found.scores[i], np.exp([s for _, s in expected]), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_beam_search_expands_the_best_nodes_of_each_depth(beam):
    model, X = fitted("logistic", 2, 1, True)
    model.set_params(beam=beam)
    found = model.predict_topk(X, 6)
    for i, x in enumerate(X.toarray().astype(float)):
        expected = naive.plt_search.search_beam(
            model.fitted_[0], "logistic", naive.plt_search.in_columns(x, model.feature_of_column_), beam, 6
        )
        labels = [label for label, _ in expected]
        assert found.labels[i].tolist() == labels + [-1] * (6 - len(labels))
        np.testing.assert_allclose(found.scores[i][: len(labels)], np.exp([s for _, s in expected]), rtol=1e-5)


def as_pairs(triples):
    return np.array([(score, row, node) for score, row, node in triples], plt_search_together.PAIR)


@pytest.mark.parametrize("most", [0, 1, 5, 2047, 2048, 5_000_000])
def test_pairs_are_sorted_by_node_and_stay_in_order_within(most):
    rng_ = np.random.default_rng(most)
    nodes = 7 + rng_.integers(0, most + 1, 400)
    pairs = as_pairs((float(i), i % 9, node) for i, node in enumerate(nodes))
    expected = pairs[:390][np.argsort(nodes[:390], kind="stable")]
    last = pairs[390:].copy()
    plt_search_together.sort_by_node(pairs, 390, np.empty(400, plt_search_together.PAIR))
    assert (pairs[:390] == expected).all() and (pairs[390:] == last).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [1, 4, 20])
@pytest.mark.parametrize("beam", [0, 1, 3])
def test_searching_together_finds_the_same_as_alone(shape, k, beam):
    model, X = fitted(*shape)
    X = sp.csr_array(sp.vstack([X, X[:3], X[:1] * 0, sparse_rows(90, 25, 5)]))
    x, rows = (
        model._search.take(csr_parts(X), (0, X.shape[0])),
        np.random.default_rng(k).permutation(X.shape[0])[:100],
    )
    for weights in (None, np.arange(17.0)):
        (gains,) = model._search.gains(weights)
        asked = model.fitted_[0], gains, LOSS_NUMBERS[shape[0]], x, rows, beam
        alone = np.full((100, k), -1, np.int32), np.full((100, k), -np.inf)
        plt_search.search_best_first(*asked, *alone)
        for most in (0, 40, 10_000):
            together = np.full((100, k), -1, np.int32), np.full((100, k), -np.inf)
            given_up = plt_search_together.search_together(*asked, most, *together)
            assert {0: given_up.all(), 40: True, 10_000: not given_up.any()}[most]
            for one, other in zip(alone, together):
                np.testing.assert_array_equal(one[~given_up], other[~given_up])


NO_GAINS = [np.zeros(0)] * 3


@pytest.fixture(scope="module")
def ensemble():
    Y = np.random.default_rng(0).random((60, 17)) < 0.15
    return PLT(n_estimators=3, max_leaf_labels=2, n_jobs=1).fit(sparse_rows(60, 25, 0), Y)


def test_a_tree_with_arrays_of_other_types_is_refused(ensemble):
    one, two, three = ensemble.fitted_
    with pytest.raises(TypeError, match="bias of a tree must be a contiguous array of float32, not of float64"):
        as_ensemble([one, two._replace(bias=two.bias.astype(np.float64)), three], ensemble.leaves_, NO_GAINS)
    with pytest.raises(TypeError, match="leaf_of_label of a tree must be a contiguous array"):
        as_ensemble([one, two], [ensemble.leaves_[0], np.repeat(ensemble.leaves_[1], 2)[::2]], NO_GAINS)


@pytest.mark.parametrize("n_labels", [1, 2])
def test_an_ensemble_over_one_or_two_labels_ranks_them(n_labels):
    Y = sp.csr_array(np.ones((8, n_labels), bool))
    found = PLT(n_estimators=2, n_jobs=1).fit(sparse_rows(8, 5, 0), Y).predict_topk(sparse_rows(4, 5, 1), 2)
    assert found.labels.tolist() == [[0, 1] if n_labels == 2 else [0, -1]] * 4


PREDICT = """
import sys
import numpy as np
from xmlcore import load_model

model, X, found = load_model(sys.argv[1]), np.load(sys.argv[2]), []
for beam in (None, 1, 2):
    for k in (1, 3, model.n_labels_):
        found.append(model.set_params(beam=beam).predict_topk(X, k).labels.ravel())
np.save(sys.argv[3], np.concatenate(found))
"""


@pytest.mark.parametrize(
    "leaf, C, unlabelled", [(1, 0.1, 0), pytest.param(2, 1.0, 20, marks=[pytest.mark.slow, pytest.mark.long])]
)
def test_nothing_is_read_or_written_outside_an_array(tmp_path, monkeypatch, leaf, C, unlabelled):
    """Without the compiler, in another process, an index outside an array is an error.

    Rows without labels give each root a probability, which is 0 in some trees only for some rows of large values.
    """
    random = np.random.default_rng(0)
    X = (random.random((60, 12)) * (random.random((60, 12)) < 0.5)).astype(np.float32)
    Y = np.eye(9, dtype=bool)[random.integers(0, 9, 60)] | (random.random((60, 9)) < 0.1)
    Y[:unlabelled] = False
    settings = {"loss": "logistic", "C": C, "n_estimators": 3, "n_jobs": 1, "weight_threshold": 0, "normalize": None}
    PLT(tree="random", arity=2, max_leaf_labels=leaf, **settings).fit(X, Y).save(tmp_path / "model")
    far = random.normal(size=(3 * unlabelled, 12)) * 10 ** random.uniform(0, 6, (3 * unlabelled, 1))
    np.save(tmp_path / "X.npy", np.concatenate([X[:20], far]))
    names = [str(tmp_path / name) for name in ("model", "X.npy", "without.npy", "found.npy")]
    command = [sys.executable, "-c", PREDICT, *names[:3]]
    subprocess.run(command, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, check=True)
    monkeypatch.setattr(sys, "argv", ["", *names[:2], names[3]])
    exec(PREDICT, {})
    np.testing.assert_array_equal(*map(np.load, names[2:]))
