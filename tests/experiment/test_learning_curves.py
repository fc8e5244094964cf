"""Learning curves: nested samples, and the same test rows."""

import numpy as np

from xmlcore import experiment
from xmlcore.datasets import save_dataset
from xmlcore.experiment.kinds.learning_curves import sizes_of


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
