"""Learning curves: nested samples, the same test rows, and forecasts."""

import numpy as np
import pytest

from xmlcore import experiment
from xmlcore.datasets import save_dataset
from xmlcore.experiment.kinds import learning_curves
from xmlcore.experiment.kinds.learning_curves import sizes_of

ROWS = [50, 100, 200, 350, 500, 700, 1000]


def right(n_rows, a, b, c, n_test=2000, seeds=3, seed=0, noise=0.0):
    """Whether each test row is predicted rightly, by a power law: gains for a forecast of P@1."""
    rng = np.random.default_rng(seed)
    hard = rng.random(n_test)  # the same rows are hard for all models
    share = learning_curves.curve_at(a, b, c, n_rows)[:, None] + noise * rng.standard_normal((len(n_rows), seeds))
    return (hard < share[:, :, None]).astype(np.uint8)


@pytest.mark.parametrize("a, b, c", [(0.7, 2.0, 0.5), (0.9, 1.5, 0.3), (0.6, 8.0, 1.0)])
def test_an_exact_power_law_is_found(a, b, c):
    found = learning_curves.fit_curve(ROWS, learning_curves.curve_at(a, b, c, ROWS))
    assert learning_curves.curve_at(*found, 2000) == pytest.approx(learning_curves.curve_at(a, b, c, 2000), abs=2e-3)


def test_many_curves_are_fitted_as_each_alone():
    curves = np.random.default_rng(0).random((20, len(ROWS))).cumsum(axis=1) / 10
    together = np.array(learning_curves.fit_curve(ROWS, curves))
    alone = np.array([learning_curves.fit_curve(ROWS, curve) for curve in curves]).T
    np.testing.assert_allclose(together, alone)
    a, b, _ = together
    assert (a <= 1).all() and (b >= 0).all()


def test_a_forecast_holds_the_truth_and_is_wider_with_more_noise():
    truth, widths = learning_curves.curve_at(0.7, 2.0, 0.5, 2000), {}
    for noise in (0.002, 0.01):
        made = [
            learning_curves.forecast(ROWS, right(ROWS, 0.7, 2.0, 0.5, seed=seed, noise=noise), 2000)
            for seed in range(10)
        ]
        made = [one for one in made if not one.reason]
        # The test rows are the same: what they have in common is in the last point, too.
        shifts = [one.now - learning_curves.curve_at(0.7, 2.0, 0.5, 1000) for one in made]
        inside = sum(one.low <= truth + shift <= one.high for one, shift in zip(made, shifts))
        assert len(made) >= 6 and inside >= len(made) - 1
        widths[noise] = np.mean([one.high - one.low for one in made])
    assert widths[0.01] > 1.2 * widths[0.002]


@pytest.mark.parametrize("n_rows, gains, said", [
    (ROWS[:3], right(ROWS[:3], 0.7, 2.0, 0.5), "3 numbers of rows were measured, and 4 are needed"),
    (ROWS, right(ROWS[::-1], 0.7, 2.0, 0.5), "does not rise"),
    (ROWS, right(ROWS, 0.7, 2.0, 0.5, n_test=60, noise=0.15), "closely enough"),
])  # fmt: skip
def test_what_cannot_be_forecast_is_said(n_rows, gains, said):
    found = learning_curves.forecast(n_rows, gains, 2000)
    assert said in found.reason and np.isnan(found.value)


def test_a_bucket_without_test_rows_has_no_forecast():
    found = learning_curves.forecast(ROWS, right(ROWS, 0.7, 2.0, 0.5), 2000, best=np.zeros(2000))
    assert found.reason == "no test row has such a label"


def test_samples_have_different_numbers_of_rows():
    assert sizes_of(1000, [0.05, 0.1, 1.0]) == [50, 100, 1000] and sizes_of(100, [0.05, 0.1, 1.0]) == [10, 100]


def test_a_learning_curve_ends_with_the_ordinary_result(easy):
    fingerprint = save_dataset(easy)
    params = {"max_leaf_labels": 4, "loss": "logistic", "C": 1.0, "arity": 2}
    of = {"model": "PLT", "params": params, "shares": [0.1, 0.3, 0.6, 1.0], "seeds": [0, 1]}
    task = experiment.task("learning_curve", {"dataset": fingerprint}, of)
    experiment.keep(task)
    curve = task.load()
    run = experiment.run(easy, "PLT", params)
    frame = curve.frame
    p = frame[(frame["bucket"] == "all") & (frame["measure"] == "P@k") & (frame["rows"] == 200) & (frame["seed"] == 0)]
    kept = run.measures[(run.measures["measure"] == "P@k") & run.measures["k"].isin([1, 3, 5])]["value"]
    np.testing.assert_allclose(p.sort_values("k")["value"], kept)
    assert sorted(frame["rows"].unique()) == [20, 60, 120, 200] and set(frame["bucket"]) >= {"all", "head", "tail"}
    one = frame[frame["measure"] == "Recall@k"].groupby(["rows", "seed", "k", "bucket"])["value"].count()
    assert (one == 1).all()
    assert set(curve.forecasts["n_rows"]) == {400.0} and "twice the rows" in curve.sentence("P@1")
    assert curve.sentence("Recall@5", "tail").startswith(("With twice", "The effect of twice"))
    assert curve.params["C"] == 1.0 and "random_state" not in curve.params


def test_samples_that_cannot_be_trained_are_noted(easy, monkeypatch):
    from xmlcore.experiment.kinds import learning_curves

    train = learning_curves.run_and_model

    def refuse(data, *others):
        if data.n_train < 50:
            raise ValueError("too few rows")
        return train(data, *others)

    monkeypatch.setattr(learning_curves, "run_and_model", refuse)
    curve = experiment.learning_curve(easy, "OneVsRest", shares=[0.1, 0.5, 1.0], seeds=[0])
    assert curve.notes == ["rows: 20, seed 0: too few rows"] and sorted(curve.frame["rows"].unique()) == [100, 200]
