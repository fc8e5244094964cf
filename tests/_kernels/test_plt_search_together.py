"""Rows that are searched together find what each finds given_up."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from _kernels.plt_problems import SHAPES, fitted, sparse_rows

from xmlcore._kernels import plt_search, plt_search_together
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.validation import csr_parts


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


@pytest.mark.parametrize("beam", [1, 3, 50])
def test_a_beam_keeps_the_best_pairs_of_each_row(beam):
    rng_ = np.random.default_rng(beam)
    triples = [(round(float(rng_.random()), 1), int(rng_.integers(5)), node) for node in range(60)]
    expanded = np.zeros((5, 3), np.int32)
    expanded[:, 1] = np.minimum([0, 1, 0, 2, 3], beam)
    before = expanded[:, 1].tolist()
    pairs = as_pairs(triples)  # by node
    n = plt_search_together.keep_best_of_rows(pairs, 60, 1, expanded, beam)
    expected = naive.plt_search_together.keep_best_of_rows(triples, before, beam)
    assert sorted(pairs[:n].tolist()) == sorted(expected)
    assert expanded[:, 1].tolist() == [b + sum(p[1] == r for p in expected) for r, b in enumerate(before)]
    assert not expanded[:, [0, 2]].any()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [1, 4, 20])
@pytest.mark.parametrize("beam", [0, 1, 3])
def test_searching_together_finds_what_searching_one_by_one_finds(shape, k, beam):
    model, X = fitted(*shape)
    X = sp.csr_array(sp.vstack([X, X[:3], X[:1] * 0, sparse_rows(90, 25, 5)]))
    x, rows = (
        model._search().take(csr_parts(X), (0, X.shape[0])),
        np.random.default_rng(k).permutation(X.shape[0])[:100],
    )
    for weights in (None, np.arange(17.0)):
        (gains,) = model._search().gains(weights)
        asked = model.fitted_[0], gains, LOSS_NUMBERS[shape[0]], x, rows, beam
        alone = np.full((100, k), -1, np.int32), np.full((100, k), -np.inf)
        plt_search.search_best_first(*asked, *alone)
        for most in (0, 40, 10_000):
            together = np.full((100, k), -1, np.int32), np.full((100, k), -np.inf)
            given_up = plt_search_together.search_together(*asked, most, *together)
            assert {0: given_up.all(), 40: True, 10_000: not given_up.any()}[most]
            for one, other in zip(alone, together):
                np.testing.assert_array_equal(one[~given_up], other[~given_up])
