"""Scores become probabilities by held-out rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from decisions.held_out_examples import parts

from xmlcore import Ranking, decisions, metrics
from xmlcore.decisions.calibrating import METHODS, calibration_of
from xmlcore.decisions.held_out import HeldOut


def error(Y, labels, probabilities):
    frame = metrics.reliability(Y, Ranking(labels, probabilities.astype(np.float32)), 5, bins="equal count")
    return metrics.calibration_error(frame).expected


def test_the_error_on_other_rows_is_at_most_half():
    model, held_out, (X, Y) = parts()
    labels, scores = model.predict_topk(X, 5)
    calibration = decisions.calibrate(model, *held_out)
    assert error(Y, labels, calibration(scores)) < 0.5 * error(Y, labels, scores)


@pytest.mark.parametrize("method", METHODS)
def test_probabilities_rise_with_the_score_from_nearly_0_to_at_most_1(method):
    rng = np.random.default_rng(0)
    scores = rng.random(500)
    found = METHODS[method](scores, (rng.random(500) < scores**2).astype(float))
    curve = found(np.linspace(0, 1, 1001))
    assert (np.diff(curve) > 0).all() and 0 < curve[0] < 0.05 and 0.8 < curve[-1] <= 1
    assert np.abs(curve - np.linspace(0, 1, 1001) ** 2).max() < 0.2


def test_a_few_labels_of_the_smallest_scores_do_not_lift_those_above():
    scores = np.concatenate([[0.001], np.linspace(0.01, 0.02, 1000), np.linspace(0.8, 0.9, 100)])
    found = METHODS["isotonic"](scores, (scores > 0.5).astype(float))
    assert found(0.015) < 0.001 < 0.9 < found(0.85)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("right", [[1.0, 1.0], [0.0, 0.0], [1.0], [0.0]])
def test_few_labels_never_make_it_sure(method, right):
    found = METHODS[method](np.array([0.5, 0.5][: len(right)]), np.array(right))
    assert 0 <= found(0.5) <= 1 and abs(found(0.5) - right[0]) > 0.1


@pytest.mark.parametrize(
    ("n", "share", "method"),
    [(1000, lambda scores: scores**2, "beta"), (5000, lambda scores: np.where(scores < 0.5, 0.05, 0.6), "isotonic")],
)
def test_the_method_is_taken_that_predicts_other_rows_better(n, share, method):
    rng = np.random.default_rng(1)
    scores = sp.csr_array(rng.random((n, 3)))
    right = rng.random((n, 3)) < share(scores.toarray())
    assert calibration_of(HeldOut(scores, right.ravel().astype(float), sp.csr_array(right))).method == method


def test_scores_that_are_none_are_refused():
    class Large:
        n_labels_ = 40

        def _check_input(self, X):
            return X

        def predict_topk(self, X, k):
            return Ranking(np.zeros((X.shape[0], 1), np.int32), np.full((X.shape[0], 1), 7, np.float32))

    _, (X, Y), _ = parts()
    with pytest.raises(ValueError, match="the score 7 of row 0 is not between 0 and 1"):
        decisions.calibrate(Large(), X, Y)
    with pytest.raises(TypeError, match="not for dict"):
        decisions.calibrate({}, X, Y)
