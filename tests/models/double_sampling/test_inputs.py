"""What DoubleSampling accepts as rows, classes and parameters, and what it refuses."""

import warnings

import numpy as np
import pytest
from models.double_sampling.problems import binary, paper, problem


def test_classes_may_be_ids():
    X, _, labels = problem()
    ids = [own[0] for own in labels]
    expected = paper(X, binary(labels)).predict_topk(X)
    for Y in (ids, np.array(ids), np.array(ids, np.uint8)):
        found = paper(X, Y).predict_topk(X)
        assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)


@pytest.mark.parametrize("Y, message", [
    ([0, 1], "2 rows, but the features have 3"),
    ([0, -1, 1], "row 1 has the class id -1"),
    ([0, 2**40, 1], "row 1 has the class id 1099511627776"),
    ([2, 2, 2], "at least two labels"),
    ([0.5, 1.0, 2.0], "binary matrix"),
    ([True, False, True], "binary matrix"),
])  # fmt: skip
def test_bad_classes_are_refused_with_what_to_do(Y, message):
    with pytest.raises(ValueError, match=message):
        paper(np.eye(3), Y)


def test_negative_values_are_refused_in_training_unless_negative_is_zero_and_count_as_zero_in_prediction():
    X, _, labels = problem()
    noisy = X.copy()
    noisy[3, 4], noisy[5, 6] = -1.5, -2.0
    with pytest.raises(ValueError, match=r"2 negative value\(s\), the first -1.5 at row 3, column 4.*negative='zero'"):
        paper(noisy, binary(labels))
    with pytest.warns(UserWarning, match="2 negative"):
        model = paper(noisy, binary(labels), negative="zero")
    clean = np.maximum(noisy, 0)
    same = paper(clean, binary(labels))
    assert np.array_equal(model.weights_, same.weights_) and noisy[3, 4] == -1.5
    found, expected = same.predict_topk(noisy), same.predict_topk(clean)
    assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)


def test_data_without_any_feature_can_be_trained_on():
    with warnings.catch_warnings(action="error"):
        model = paper(np.zeros((4, 3)), [0, 1, 2, 2])
    assert model.predict_topk(np.ones((1, 3)), k=2).labels.tolist() == [[0, 1]] and model.empirical_risk_ == 1.0


def test_sums_beyond_float32_are_refused():
    with pytest.raises(ValueError, match="beyond float32: scale X"):
        paper(np.full((4, 2), 3e38), [0, 0, 1, 1])
