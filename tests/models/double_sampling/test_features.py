"""The features of (row, class) pairs are those of their formulas."""

import naive
import numpy as np
import pytest
from models.double_sampling.problems import SPACES, binary, paper, problem

from xmlcore._kernels import ds_features
from xmlcore.models.double_sampling import learning
from xmlcore.validation import check_features


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("distance, weighting", SPACES)
@pytest.mark.parametrize("most, real", [(1, False), (3, True)])
def test_the_features_follow_their_formulas(distance, weighting, most, real, extended):
    X, rows, labels = problem(most=most, real=real)
    kind = {"features": "extended"} if extended else {}
    model = paper(X, binary(labels), distance=distance, weighting=weighting, **kind)
    new, new_rows = (problem(6, seed=1)[i] for i in (0, 1))
    new[0], new_rows[0] = 0.0, {}
    classes = np.random.default_rng(2).permuted(np.tile(np.arange(7), (6, 1)), axis=1)[:, :5]
    found = model.pair_features(new, classes)
    assert found.shape == (6, 5, 16 if extended else 10) and found.dtype == np.float64
    assert model.feature_names_ == list(learning.MEANINGS)[: found.shape[2]]
    assert model.weights_.shape == model.feature_scale_.shape == (found.shape[2],)
    space = {"distance": distance, "weighting": weighting}
    for i, own in enumerate(classes.tolist()):
        for j, k in enumerate(own):
            expected = naive.ds.features(new_rows[i], k, rows, labels, **space)
            if extended:
                expected += naive.ds.more_features(new_rows[i], k, rows, labels, weighting=weighting)
            np.testing.assert_allclose(found[i, j], expected, rtol=1e-5, atol=1e-5)


def test_every_feature_has_a_meaning_in_one_sentence():
    assert all(text.endswith(".") and ". " not in text and "\n" not in text for text in learning.MEANINGS.values())
    names = learning.PAPER_FEATURES + learning.MORE_FEATURES + (learning.TREE_FEATURE,)
    assert tuple(learning.MEANINGS) == names and len(names) == 17


def test_features_of_no_class_and_of_a_class_without_rows():
    X, rows, labels = problem(skip=(2,))
    model = paper(X, binary(labels))
    found = model.pair_features(X[:2], [[-1, 2, 2], [2, -1, 0]])
    assert np.isnan(found[0, 0]).all() and np.isnan(found[1, 1]).all()
    assert np.array_equal(found[0, 1], [0.0] * 8 + [1.0, 0.0]) and np.array_equal(found[0, 1], found[0, 2])
    np.testing.assert_allclose(found[1, 2], naive.ds.features(rows[1], 0, rows, labels), atol=1e-5)


@pytest.mark.parametrize("distance, weighting", SPACES)
def test_left_out_examples_are_not_in_their_class(distance, weighting):
    X, rows, labels = problem(n=25, most=2)
    model = paper(X, binary(labels), distance=distance, weighting=weighting, features="extended")
    index, (ptr, terms, values) = model.ranker_.index, model._rows(check_features(X))
    size, space = model.class_size_, {"distance": distance, "weighting": weighting}
    out, found, everyone, checked = np.empty((7, 16)), np.empty((7, 15)), np.arange(7, dtype=np.int32), 0
    for i, own in enumerate(labels):
        for k in own:
            a, b = ptr[i], ptr[i + 1]
            ds_features.sums_by_term(terms[a:b], everyone, index, found)
            ds_features.row_features(terms[a:b], values[a:b], everyone, found, k, size, index, out)
            ds_features.more_features(terms[a:b], values[a:b], everyone, found, k, index, model.ranker_.more, out)
            other = (k + 1) % 7
            for c, without in ((k, i), (other, None)):
                if c == k and size[k] == 1:
                    continue
                expected = naive.ds.features(rows[i], c, rows, labels, without, **space)
                expected += naive.ds.more_features(rows[i], c, rows, labels, without, weighting=weighting)
                np.testing.assert_allclose(out[c], expected, atol=2e-5)
                checked += c == k
    assert checked > 20


def test_pair_features_refuse_what_is_no_list_of_classes_per_row():
    X, _, labels = problem()
    model = paper(X, binary(labels))
    for classes, error, message in (
        ([[0]], ValueError, "a row of class ids for each of the 40 rows"),
        (np.zeros((40, 2)), TypeError, "whole numbers"),
        (np.full((40, 1), 7), ValueError, "from 0 to 6"),
        (np.full((40, 1), -2), ValueError, "-2"),
    ):
        with pytest.raises(error, match=message):
            model.pair_features(X, classes)
