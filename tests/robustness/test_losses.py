"""Shares of P@1 that models lose under noise, beside each other."""

import numpy as np
import pytest
from scipy.stats import binomtest

from xmlcore import OneVsRest
from xmlcore.datasets import make_synthetic
from xmlcore.robustness import FirstRight, evaluate, losses


def counts(n, *lost):
    """Counts of one repeat: all of n rows are right, and at each level so many of them, the first ones, are lost."""
    lines = np.ones((1 + len(lost), n), int)
    for line, some in zip(lines[1:], lost):
        line[:some] = 0
    return lines


@pytest.mark.parametrize("n", [30, 200, 5000])
def test_a_loss_is_sure_from_as_many_rows_as_in_the_sign_test(n):
    lines = [next(losses({"A": counts(n, lost)}).itertuples()) for lost in range(1, 12)]
    np.testing.assert_allclose([line.lost for line in lines], np.arange(1, 12) / n)
    first = 1 + next(at for at, line in enumerate(lines) if line.low > 0)
    assert first in (5, 6, 7) and binomtest(6, 6).pvalue < 0.05 < binomtest(5, 5).pvalue


def test_intervals_hold_the_true_loss_as_often_as_stated():
    rng, held, told = np.random.default_rng(0), 0, 0
    for _ in range(200):
        clean = rng.random((2, 300)) < 0.7
        kept = rng.binomial(3, 0.8, (2, 300)) * clean  # of three repeats; each model loses 20 %
        both = {name: np.stack([3 * c, k]) for name, c, k in zip("AB", clean, kept)}
        a, b = losses(both).itertuples()
        held += a.low < 0.2 < a.high
        told += b.p_more < 0.05
        assert (b.p_more < 0.05) == (b.more_low * b.more_high > 0)  # one other model: nothing is corrected
    assert 0.9 < held / 200 < 0.99 and 0.01 < told / 200 < 0.1


def test_losses_of_the_same_rows_are_compared_sharply():
    a, b = counts(400, 80), counts(400, 100)
    first, second = losses({"A": a, "B": b}).itertuples()
    assert first.high > second.low and second.more == pytest.approx(0.05) and second.p_more < 0.001
    assert losses({"A": a, "B": b[:, ::-1]})["p_more"].iloc[1] > 0.05


def test_unknown_losses_are_nan():
    wrong = np.zeros((2, 5), int)
    frame = losses({"A": counts(5, 0), "B": wrong})
    assert frame["lost"].iloc[0] == 0 and (frame["low"].iloc[0], frame["high"].iloc[0]) == (0, 0)
    assert frame.loc[frame["run"] == "B", ["lost", "low", "more", "p_more"]].isna().all(axis=None)


def test_first_labels_are_counted_while_rankings_are_evaluated():
    data = make_synthetic("small", n_train=60, n_test=40, n_features=30, n_labels=8, features_per_row=6)
    model = OneVsRest().fit(data.X_train, data.Y_train)
    counting = FirstRight(data.Y_test)
    frame = evaluate(model, data.X_test, data.Y_test, (0.3, 0.1), n_repeats=2, on_ranking=counting)
    at_1 = frame.query("measure == 'P@k' and k == 1").groupby("sigma", sort=False)["value"].mean()
    assert at_1.index.tolist() == [0.0, 0.3, 0.1]
    np.testing.assert_allclose(counting.counts.mean(axis=1) / 2, at_1)


@pytest.mark.parametrize(
    ("arrays", "reference", "said"),
    [
        ({"A": np.ones((2, 3)), "B": np.ones((2, 4))}, None, "shapes"),
        ({}, None, "shapes"),
        ({"A": np.ones(3)}, None, "shapes"),
        ({"A": np.ones((2, 3))}, "C", "reference"),
    ],
)
def test_arrays_of_other_rows_and_unknown_references_are_refused(arrays, reference, said):
    with pytest.raises(ValueError, match=said):
        losses(arrays, reference)
