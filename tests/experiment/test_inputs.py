"""Kept runs and selections that tasks read: damaged ones are made again, and then used."""

import numpy as np
import pytest
from making import train

from xmlcore import experiment, store
from xmlcore.datasets import save_dataset
from xmlcore.experiment.kinds import train as inputs


def cut_model(key):
    """Cut the model of a run short."""
    arrays = store.folder("runs", key) / "model" / "arrays.npz"
    arrays.write_bytes(arrays.read_bytes()[:100])


def change_value(folder, key):
    """Change the last byte of a result."""
    file = store.folder(folder, key) / store.VALUE
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def test_a_run_with_a_damaged_model_stays_until_made_again(data):
    key = experiment.keep(train(save_dataset(data), "PLT"))
    before = experiment.load_run_model(key).predict_topk(data.X_test, 5)
    cut_model(key)
    with pytest.raises(store.DamagedArtifactError, match="make the run again"):
        experiment.load_run_model(key)
    assert store.exists("runs", key)
    phases = []
    with pytest.warns(experiment.DamagedResultWarning, match="was damaged"):
        run, model = inputs.kept_run_and_model(key, lambda phase, fraction, detail="": phases.append(phase))
    np.testing.assert_array_equal(model.predict_topk(data.X_test, 5).scores, before.scores)
    assert run.model == "PLT" and "Saving" in phases


@pytest.mark.parametrize("damage", [cut_model, lambda key: change_value("runs", key)], ids=["model", "run"])
@pytest.mark.parametrize(
    "kind, params",
    [("explanations", {"n_rows": 5}), ("robustness", {"kind": "gaussian", "levels": [0.1], "n_repeats": 1})],
)
def test_a_task_makes_a_damaged_run_again_and_measures_it(data, kind, params, damage):
    key = experiment.keep(train(save_dataset(data), "PLT"))
    made = experiment.task(kind, {"run": key}, params)
    damage(key)
    with pytest.warns(experiment.DamagedResultWarning):
        experiment.keep(made)
    assert made.load().run_key == key
    experiment.load("train", key)
    experiment.load_run_model(key)


@pytest.mark.parametrize("is_known", [False, True], ids=["unread", "read before"])
def test_a_damaged_selection_is_made_again(data, is_known):
    key = experiment.keep(experiment.task("select", {"dataset": save_dataset(data)}, {"method": "ChiSquared"}))
    before = experiment.load("select", key).selected
    change_value("selections", key)
    if is_known:
        with pytest.raises(store.DamagedArtifactError):
            experiment.load("select", key)
    with pytest.warns(experiment.DamagedResultWarning):
        np.testing.assert_array_equal(inputs.kept_selection(key).selected, before)


def test_a_run_that_is_not_kept_cannot_be_made_again():
    with pytest.raises(store.MissingArtifactError):
        inputs.kept_run("ab" * 16)
