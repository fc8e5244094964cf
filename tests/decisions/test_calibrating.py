"""Scores become probabilities by held-out rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from decisions.held_out_examples import parts

from xmlcore import PLT, DoubleSampling, Ranking, datasets, decisions, metrics
from xmlcore.decisions.calibrating import METHODS, calibration_of
from xmlcore.decisions.held_out import HeldOut, held_out, held_out_parts


def error(Y, labels, probabilities):
    frame = metrics.reliability(Y, Ranking(labels, probabilities.astype(np.float32)), 5, bins="equal count")
    return metrics.calibration_error(frame).expected


def rows(scores, right):
    """Return held-out rows whose labels are ranked in the order of their ids."""
    place = np.tile(np.arange(scores.shape[1]), len(scores))
    return HeldOut(sp.csr_array(scores), place, right.ravel().astype(float), sp.csr_array(right))


def curve(method, scores, right):
    order = np.argsort(scores, kind="stable")
    found = METHODS[method](scores[order], np.ones(scores.size), right[order])
    return lambda at: np.interp(at, *found)


def test_the_error_on_other_rows_is_at_most_half():
    model, held_out, (X, Y) = parts()
    labels, scores = model.predict_topk(X, 5)
    calibration = decisions.calibrate(model, *held_out)
    assert error(Y, labels, calibration(scores)) < 0.5 * error(Y, labels, scores)


def test_a_score_is_worth_what_it_is_at_its_place():
    rng = np.random.default_rng(0)
    scores, shares = np.sort(rng.random((4000, 8)))[:, ::-1], np.array([0.9, 0.6, *[0.3] * 3, *[0.1] * 3])
    calibration = calibration_of(rows(scores, rng.random(scores.shape) < shares))
    np.testing.assert_allclose(calibration(scores).mean(axis=0), shares, atol=0.03)
    assert calibration.probabilities[4].tolist() == calibration.probabilities[3].tolist()  # no row had so many labels


def test_calibration_keeps_rankings():
    rng = np.random.default_rng(0)
    scores = np.sort(rng.random((2000, 4)))[:, ::-1]
    calibration = calibration_of(rows(scores, rng.random(scores.shape) < [0.3, 0.5, 0.7, 0.9]))
    assert (np.diff(calibration(scores)) < 0).all() and (np.diff(calibration(np.full(40, 0.5))) < 0).all()


@pytest.mark.parametrize(("model", "expected"), [(PLT(max_leaf_labels=20), 800), (DoubleSampling(), 500)])
def test_few_of_many_rows_have_all_candidates(model, expected, monkeypatch):
    data = datasets.make_synthetic(n_train=300, n_test=800, n_features=100, n_labels=20, random_state=0)
    model, asked = model.fit(abs(data.X_train), data.Y_train), []
    rank = type(model).predict_topk

    def counted(self, X, k=5, **options):
        asked.append((X.shape[0], k))
        return rank(self, X, k, **options)

    monkeypatch.setattr(type(model), "predict_topk", counted)
    decisions.calibrate(model, abs(data.X_test), data.Y_test)
    assert asked == [(300, 20), (expected - 300, 5)]


def test_the_place_is_that_in_the_ranking_of_the_row():
    model, (X, Y), _ = parts()
    found, ranking = held_out(model, X, Y, 10), model.predict_topk(X, 10)
    assert (ranking.labels[found.row, found.place] == found.scores.indices).all()
    np.testing.assert_array_equal(ranking.scores[found.row, found.place], found.scores.data.astype(np.float32))


def test_parts_of_rows_have_their_own_numbers_of_candidates():
    model, (X, Y), _ = parts()
    few, others = held_out_parts(model, X, Y, [(50, 10), (None, 3)])
    assert few.Y.shape == (50, 40) and few.place.max() == 9 and others.place.max() == 2
    assert ((few.Y.sum(axis=0) + others.Y.sum(axis=0)) == held_out(model, X, Y, 10).Y.sum(axis=0)).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_curve_rises_as_the_shares_do(method):
    rng = np.random.default_rng(0)
    scores = rng.random(500)
    found = curve(method, scores, (rng.random(500) < scores**2).astype(float))(np.linspace(0, 1, 1001))
    assert (np.diff(found) >= 0).all() and 0 <= found[0] < 0.05 and 0.8 < found[-1] <= 1
    assert np.abs(found - np.linspace(0, 1, 1001) ** 2).max() < 0.2


def test_probabilities_rise_from_above_0_to_at_most_1():
    scores = np.random.default_rng(0).random((500, 3))
    calibration = calibration_of(rows(scores, np.argsort(scores) == 2))
    assert (np.diff(calibration.scores) > 0).all() and calibration.scores[[0, -1]].tolist() == [0, 1]
    assert (np.diff(calibration.probabilities) > 0).all() and 0 < calibration.probabilities.min()
    assert calibration.probabilities.max() <= 1


def test_a_few_smallest_scores_do_not_lift_those_above():
    scores = np.concatenate([[0.001], np.linspace(0.01, 0.02, 1000), np.linspace(0.8, 0.9, 100)])
    found = curve("isotonic", scores, (scores > 0.5).astype(float))
    assert found(0.015) < 0.001 < 0.9 < found(0.85)


def test_beta_calibration_of_falling_shares_is_the_mean():
    scores = np.linspace(0.01, 0.99, 500)
    found = curve("beta", scores, (scores < 0.2).astype(float))
    assert found(0.001) == pytest.approx(found(0.999)) == pytest.approx(0.194, abs=0.01)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("right", [[1.0], [0.0]])
def test_few_labels_never_make_it_sure(method, right):
    for n in (1, 2):
        found = METHODS[method](np.array([0.5]), np.array([n]), n * np.array(right))
        assert 0 <= np.interp(0.5, *found) <= 1 and abs(np.interp(0.5, *found) - right[0]) > 0.1


@pytest.mark.parametrize(
    ("n", "share", "method"),
    [(1000, lambda scores: scores**2, "beta"), (5000, lambda scores: np.where(scores < 0.5, 0.05, 0.6), "isotonic")],
)
def test_the_method_is_taken_that_predicts_other_rows_better(n, share, method):
    rng = np.random.default_rng(1)
    scores = rng.random((3 * n, 1))
    assert calibration_of(rows(scores, rng.random((3 * n, 1)) < share(scores))).method.split(", ")[0] == method


def test_scores_that_are_none_are_refused():
    class Large:
        n_labels_ = 40

        def _check_input(self, X):
            return X

        def predict_topk(self, X, k):
            return Ranking(np.zeros((X.shape[0], 1), np.int32), np.full((X.shape[0], 1), 7, np.float32))

    _, (X, Y), _ = parts()
    with pytest.raises(ValueError, match="the score 7 is not between 0 and 1"):
        decisions.calibrate(Large(), X, Y)
    with pytest.raises(TypeError, match="not for dict"):
        decisions.calibrate({}, X, Y)
