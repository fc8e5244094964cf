"""Calibration agrees with scikit-learn, and scores that are no probabilities are refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from xmlcore import Ranking, metrics


def case(seed=0, n=300, n_labels=8):
    random = np.random.default_rng(seed)
    P = random.random((n, n_labels)) ** 2
    return random.random(P.shape) < P**0.7, P


@pytest.mark.parametrize("bins, strategy", [("equal width", "uniform"), ("equal count", "quantile")])
def test_bins_are_scikit_learns(bins, strategy):
    Y, P = case()
    for k in (1, 3, 8):
        top = metrics.as_ranking(P, k)
        right = np.take_along_axis(Y, top.labels.astype(int), axis=1)
        observed, predicted = calibration_curve(right.ravel(), top.scores.ravel(), n_bins=7, strategy=strategy)
        frame = metrics.reliability(Y, P, k, n_bins=7, bins=bins)
        np.testing.assert_allclose(frame["observed"], observed, atol=1e-6)
        np.testing.assert_allclose(frame["predicted"], predicted, atol=1e-6)
        assert frame["n"].sum() == 300 * k
        assert (frame["predicted"] <= frame["high"]).all() and (frame["predicted"] >= frame["low"]).all()


def test_errors_are_means_and_largest_of_the_bins():
    Y, P = case(seed=1)
    frame = metrics.reliability(Y, P, 8)
    expected = sum(n * abs(p - y) for n, p, y in zip(frame["n"], frame["predicted"], frame["observed"])) / 2400
    found = metrics.calibration_error(frame)
    assert found.expected == pytest.approx(expected) and found.maximal >= found.expected
    right = np.random.default_rng(2).random(P.shape) < P
    assert metrics.calibration_error(metrics.reliability(right, P, 8)).expected < 0.03 < found.expected


def test_the_brier_score_is_scikit_learns():
    Y, P = case(seed=3)
    found = metrics.brier_score_at_k(Y, P, 8)
    assert found[-1] == pytest.approx(brier_score_loss(Y.ravel(), P.ravel()), abs=1e-6)
    first = np.argmax(P, axis=1)
    right = Y[np.arange(300), first]
    assert found[0] == pytest.approx(brier_score_loss(right, P.max(axis=1)), abs=1e-6)


def test_equal_probabilities_stay_in_one_bin():
    ranking = Ranking(np.zeros((10, 1), np.int32), np.full((10, 1), 0.5, np.float32))
    Y = [[0]] * 4 + [[1]] * 6
    for bins in ("equal width", "equal count"):
        frame = metrics.reliability(Y, ranking, 1, bins=bins)
        assert frame[["n", "predicted", "observed"]].values.tolist() == [[10, 0.5, 0.4]]
        assert frame["observed_low"][0] < 0.4 < frame["observed_high"][0]


def test_places_without_a_label_do_not_count():
    ranking = Ranking(np.array([[0, -1], [1, 0]], np.int32), np.array([[1, 0], [0.5, 0.25]], np.float32))
    frame = metrics.reliability([[0], [0]], ranking, 2, n_bins=4)
    assert frame[["n", "observed"]].values.tolist() == [[1, 1], [1, 0], [1, 1]]
    np.testing.assert_allclose(metrics.brier_score_at_k([[0], [0]], ranking, 2), [0.125, (0.25 + 0.5625) / 3])
    nothing = Ranking(np.full((2, 1), -1, np.int32), np.zeros((2, 1), np.float32))
    assert metrics.reliability([[0], [0]], nothing, 1).empty
    assert np.isnan(metrics.calibration_error(metrics.reliability([[0], [0]], nothing, 1)).expected)
    assert np.isnan(metrics.brier_score_at_k([[0], [0]], nothing, 1)).all()


@pytest.mark.parametrize("ranking, error, message", [
    (np.array([[0.5, 1.5]]), ValueError, "score of row 0, label 1 is 1.5, which is no probability: .*1 of 2 are"),
    (np.array([[0.5, -3.0]]), ValueError, "label 1 is -3, which is no probability"),
    (sp.csr_array([[0.5, 2.0]]), ValueError, "label 1 is 2, which"),
    ([[0, 1]], TypeError, "the ranking has no probabilities: give a Ranking with scores"),
    (np.array([[0, 1]]), TypeError, "the ranking has no probabilities"),
    (np.zeros((3, 2)), ValueError, "Y_true has 1 rows, but the ranking has 3"),
])  # fmt: skip
def test_what_is_no_probability_is_refused(ranking, error, message):
    with pytest.raises(error, match=message):
        metrics.reliability(np.array([[True, False]]), ranking, 2)
    with pytest.raises(error, match=message):
        metrics.brier_score_at_k(np.array([[True, False]]), ranking, 2)


def test_bins_have_a_name_and_a_number():
    with pytest.raises(ValueError, match="bins is 'wide': it must be one of equal width, equal count"):
        metrics.reliability(*case(), 2, bins="wide")
