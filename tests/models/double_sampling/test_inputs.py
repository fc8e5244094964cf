"""What DoubleSampling accepts as rows, classes and parameters, and what it refuses."""

import warnings

import numpy as np
import pytest
from models.double_sampling.problems import binary, paper, problem


def test_one_class_for_all_rows_is_refused():
    with pytest.raises(ValueError, match="at least two labels"):
        paper(np.eye(3), [2, 2, 2])


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
