"""The search for a row's most probable labels finds what its plain-Python twin finds."""

import naive
import numpy as np
import pytest
from _kernels.plt_problems import SHAPES, fitted

from xmlcore._kernels import plt_search


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [1, 3, 17])
def test_best_first_search_finds_what_brute_force_over_all_leaves_finds(shape, k):
    model, X = fitted(*shape)
    found = model.predict_topk(X, k)
    for i, x in enumerate(X.toarray().astype(float)):
        expected = naive.plt_search.search_best_first(
            model.fitted_[0], shape[0], naive.plt_rows.in_columns(x, model.feature_of_column_), k
        )
        assert found.labels[i].tolist() == [label for label, _ in expected]
        np.testing.assert_allclose(found.scores[i], np.exp([s for _, s in expected]), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_gains_are_those_of_the_twin(shape):
    tree, weights = fitted(*shape)[0].fitted_[0], np.random.default_rng(0).integers(0, 3, 17) * 1.5
    found = plt_search.gains_of_nodes(tree.parent, tree.label, weights)
    np.testing.assert_array_equal(found, naive.plt_search.gains_of_nodes(tree.parent, tree.label, weights))


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_beam_search_expands_the_best_nodes_of_each_depth(beam):
    model, X = fitted("logistic", 2, 1, True)
    model.set_params(beam=beam)
    found = model.predict_topk(X, 6)
    for i, x in enumerate(X.toarray().astype(float)):
        expected = naive.plt_search.search_beam(
            model.fitted_[0], "logistic", naive.plt_rows.in_columns(x, model.feature_of_column_), beam, 6
        )
        labels = [label for label, _ in expected]
        assert found.labels[i].tolist() == labels + [-1] * (6 - len(labels))
        np.testing.assert_allclose(found.scores[i][: len(labels)], np.exp([s for _, s in expected]), rtol=1e-5)
