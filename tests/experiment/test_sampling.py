"""Double sampling with other numbers than a kept run has."""

import time

import numpy as np
import pandas as pd
import pytest
from making import sampling, stop, train

from xmlcore import experiment, metrics
from xmlcore.datasets import Dataset, save_dataset
from xmlcore.experiment.kinds import sampling as study
from xmlcore.progress import Cancelled


def test_a_study_gives_what_training_gives(classes):
    from xmlcore import DoubleSampling

    key = experiment.keep(train(save_dataset(classes), "DoubleSampling", {"random_state": 3}))
    asked = {"n_adversarial": (2, 5), "examples_per_class": (1.0,), "n_candidates": (3, 10, 100), "n_repeats": 2}
    stored = experiment.keep(sampling(key, **asked))
    assert stored == sampling(key, **(asked | {"n_adversarial": [5, 2, 2]})).key
    found = experiment.load("sampling", stored)
    assert found.sweep[["axis", "n_adversarial", "examples_per_class", "seed"]].to_numpy().tolist() == [
        ["n_adversarial", 2, 2.0, 3], ["n_adversarial", 2, 2.0, 4],
        ["n_adversarial", 5, 2.0, 3], ["n_adversarial", 5, 2.0, 4],
        ["examples_per_class", 9, 1.0, 3], ["examples_per_class", 9, 1.0, 4],
    ]  # fmt: skip
    model = DoubleSampling(n_adversarial=5, random_state=4).fit(classes.X_train, classes.Y_train)
    ranking = model.predict_topk(classes.X_test, 1)
    line = found.sweep.iloc[3]
    assert line["accuracy"] == metrics.accuracy(classes.Y_test, ranking)
    assert line["macro_f1"] == metrics.macro_f1(classes.Y_test, ranking)
    assert line["n_pairs"] == model.n_pairs_ and line["empirical_risk"] == model.empirical_risk_
    own, true = experiment.load_run_model(key), classes.Y_test.indices
    recall = [(own.candidates(classes.X_test, q) == true[:, None]).any(axis=1).mean() for q in (3, 10, 100)]
    np.testing.assert_allclose(found.candidates["recall"], recall)
    fewer = own.predict_topk(classes.X_test, 1, n_candidates=3)
    assert found.candidates["accuracy"].iloc[0] == metrics.accuracy(classes.Y_test, fewer)
    assert found.buckets["n_rows"].sum() == np.isin(true, classes.Y_train.indices).sum()
    whole = metrics.accuracy(classes.Y_test, own.predict_topk(classes.X_test, 1))
    shares = (found.buckets["accuracy"].fillna(0) * found.buckets["n_rows"]).sum()
    assert shares / classes.n_test == pytest.approx(whole)

    assert experiment.keep(sampling(key, **asked), stop) == stored
    with pytest.raises(Cancelled):
        experiment.keep(sampling(key, n_adversarial=(3,)), stop)


def test_too_large_values_of_kappa_are_one_training(classes):
    params = experiment.full_params("DoubleSampling", {"adversaries": "candidates", "n_candidates": 4})
    sweep = experiment.sampling_study(classes, params, (2, 3, 5, 50), (1.0,))[0]
    assert sweep["n_adversarial"].tolist() == [2, 3, 3]  # the last one is of the other axis
    assert experiment.most_adversaries(params, 40) == 3 and experiment.most_adversaries(params, 3) == 2
    assert experiment.most_adversaries(params | {"adversaries": "random"}, 40) == 39


def test_a_setting_on_both_axes_is_trained_once(classes):
    params = experiment.full_params("DoubleSampling", {"n_adversarial": 3})
    sweep = experiment.sampling_study(classes, params, (2, 3), (1.0, 2.0), n_repeats=2)[0]
    own = sweep[(sweep["n_adversarial"] == 3) & (sweep["examples_per_class"] == 2)]
    assert (
        own["axis"].value_counts().tolist() == [2, 2]
        and own.drop(columns="axis").drop_duplicates()["seed"].nunique() == 2
    )
    assert own["fit_s"].nunique() == 2


def test_trainings_take_turns_after_a_warm_up(classes, monkeypatch):
    from xmlcore import DoubleSampling

    made, fit = [], DoubleSampling.fit

    def watched(self, *args, **kwargs):
        made.append((self.random_state, self.n_adversarial))
        if self.n_adversarial == 3:
            time.sleep(0.3)  # as beside other programs
        return fit(self, *args, **kwargs)

    params = experiment.full_params("DoubleSampling", {"n_adversarial": 3})
    model = experiment.estimator("DoubleSampling", params).fit(classes.X_train, classes.Y_train)
    monkeypatch.setattr(DoubleSampling, "fit", watched)
    sweep = experiment.sampling_study(classes, params, (2, 3), (2.0,), n_repeats=2, model=model)[0]
    assert made[-5:] == [(0, 2), (0, 2), (0, 3), (1, 2), (1, 3)]
    assert sweep["seed"].tolist() == [0, 1] * 3 and sweep["n_adversarial"].tolist() == [2, 2, 3, 3, 3, 3]
    waited = sweep[sweep["n_adversarial"] == 3]
    assert (waited["fit_s"] > 0.3).all() and (waited["cpu_s"] < 0.2).all() and (sweep["cpu_s"] > 0).all()


def test_a_value_that_cannot_be_trained_with_leaves_the_others(classes):
    rows = np.flatnonzero(np.isin(classes.Y_train.indices, (0, 1)))
    two = Dataset("two", classes.X_train[rows], classes.Y_train[rows], classes.X_test, classes.Y_test)
    params = experiment.full_params("DoubleSampling")
    sweep = experiment.sampling_study(two, params, (), (1e-5, 2.0), (1, 2))[0]
    assert "no example was drawn" in sweep["failed"].iloc[0] and sweep["failed"].iloc[1] == ""
    assert np.isnan(sweep["accuracy"].iloc[0]) and np.isfinite(sweep["accuracy"].iloc[1])


@pytest.mark.parametrize("params", [{}, {"candidates_from": "plt"}])
def test_predicting_in_blocks_of_rows_changes_nothing_but_memory(classes, monkeypatch, params):
    params = experiment.full_params("DoubleSampling", params)
    model = experiment.estimator("DoubleSampling", params).fit(classes.X_train, classes.Y_train)
    timed = "predict_ms_per_row"
    whole = experiment.sampling_study(classes, params, n_candidates=(3, 40), model=model)[1:]
    assert experiment.candidate_bytes(200, 40) == 40 * 200 * 40
    monkeypatch.setattr(study, "CANDIDATES_AT_ONCE", 100)
    assert experiment.candidate_bytes(200, 40) == 40 * 2 * 40 and experiment.candidate_bytes(200, 500) == 40 * 500
    taken, predict = [], model.predict_topk

    def watched(X, *args, **kwargs):
        taken.append(X.shape[0])
        return predict(X, *args, **kwargs)

    monkeypatch.setattr(model, "predict_topk", watched)
    parts = experiment.sampling_study(classes, params, n_candidates=(3, 40), model=model)[1:]
    pd.testing.assert_frame_equal(parts[0].drop(columns=timed), whole[0].drop(columns=timed))
    pd.testing.assert_frame_equal(parts[1], whole[1])
    assert max(taken) == 33 and taken.count(2) >= 98


def test_only_runs_of_double_sampling_have_its_numbers(data):
    with pytest.raises(TypeError, match="not of PLT"):
        experiment.keep(sampling(experiment.keep(train(save_dataset(data), "PLT"))))
