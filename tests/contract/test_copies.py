"""Saved, pickled and copied estimators give the same results, to the last bit."""

import copy
import json
import pickle
import re

import joblib
import numpy as np
import pytest
from compiled import compiled
from contract.estimators import (
    CASES,
    N_ROWS,
    assert_same,
    each_model_once,
    each_once,
    every_case,
    fitted,
    results,
)
from sklearn.utils.validation import check_is_fitted

from xmlcore import load_model
from xmlcore.models import ModelFormatError, NotFittedError


@each_once
def test_pickles_joblib_files_and_copies_are_the_same_estimator(case, tmp_path):
    estimator, expected = fitted(case), results(fitted(case))
    joblib.dump(estimator, tmp_path / "estimator.joblib")
    others = {
        "pickle": pickle.loads(pickle.dumps(estimator)),
        "old pickle": pickle.loads(pickle.dumps(estimator, protocol=2)),
        "joblib": joblib.load(tmp_path / "estimator.joblib"),
        "copy": copy.copy(estimator),
        "deepcopy": copy.deepcopy(estimator),
    }
    for how, other in others.items():
        assert repr(other) == repr(estimator), how
        assert_same(results(other), expected)
    unfitted = pickle.loads(pickle.dumps(case.make()))
    assert repr(unfitted) == repr(case.make()) and not hasattr(unfitted, "n_features_in_")


@every_case
def test_a_model_mapped_from_a_file_needs_no_kernels_of_its_own(case, tmp_path):
    model, expected = fitted(case), results(fitted(case))
    joblib.dump(model, tmp_path / "model.joblib")
    before = compiled()
    assert_same(results(joblib.load(tmp_path / "model.joblib", mmap_mode="r")), expected)
    assert compiled() == before


@each_once
def test_fitting_a_copy_leaves_the_original_as_it_was(case):
    X, Y = case.problem()
    expected = results(fitted(case))
    for copied in (copy.copy(fitted(case)), copy.deepcopy(fitted(case))):
        copied.fit(X[::2], Y[::2])
        assert_same(results(fitted(case)), expected)


@every_case
def test_a_saved_model_is_the_same_when_it_is_loaded(case, tmp_path):
    model, expected = fitted(case), results(fitted(case))
    folder = model.save(tmp_path / "model")
    assert {path.name for path in folder.iterdir()} == {"params.json", "arrays.npz"}
    loaded, before = load_model(folder), compiled()
    assert_same(results(loaded), expected)
    assert_same(results(load_model(folder, mmap=True)), expected)
    assert compiled() == before
    assert (loaded.n_features_in_, loaded.n_labels_) == (model.n_features_in_, model.n_labels_)
    assert loaded.label_counts_.tolist() == case.problem()[1].sum(axis=0).tolist() and loaded.n_rows_seen_ == N_ROWS
    if case.saves_itself:
        assert type(loaded) is type(model) and repr(loaded) == repr(model)
        fitted_names = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
        assert fitted_names == {name for name in vars(loaded) if name.endswith("_") and not name.startswith("_")}
    again = load_model(loaded.save(tmp_path / "model"))  # replaces it
    assert_same(results(again), expected)


@each_model_once
def test_what_is_not_fitted_is_not_saved_and_predicts_nothing(case, tmp_path):
    model = case.make()
    for act in (model.predict, model.predict_topk, model.predict_proba):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            act([[1.0]])
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        model.save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert not list(tmp_path.iterdir())


@each_once
def test_a_saved_parameter_that_cannot_be_is_named(case, tmp_path):
    if not case.saves_itself:
        pytest.skip("it saves another class")
    folder = fitted(case).save(tmp_path / "model")
    description = json.loads((folder / "params.json").read_text())
    for parameter in case.cls.PARAMETERS:
        damaged = description | {"params": description["params"] | {parameter.name: "no such value"}}
        (folder / "params.json").write_text(json.dumps(damaged))
        with pytest.raises(ModelFormatError, match=f"params.json has an invalid parameter: {parameter.name} "):
            load_model(folder)
    damaged = description | {"params": description["params"] | {parameter.name: {"in arrays": "Other"}}}
    (folder / "params.json").write_text(json.dumps(damaged))
    with pytest.raises(ModelFormatError, match="params.json has an invalid parameter: "):
        load_model(folder)
    damaged = description | {"params": description["params"] | {"no_such_parameter": 1}}
    (folder / "params.json").write_text(json.dumps(damaged))
    with pytest.raises(ModelFormatError, match="unknown parameters"):
        load_model(folder)


@each_once
def test_saving_replaces_a_saved_model_and_nothing_else(case, tmp_path):
    other = tmp_path / "notes"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="not only, a saved model"):
        fitted(case).save(other)
    assert (other / "notes.txt").read_text() == "mine"
    (other / "notes.txt").rename(other / "params.json")
    with pytest.raises(FileExistsError):
        fitted(case).save(other)
    assert (other / "params.json").read_text() == "mine"


# The arrays of a class have the same names and checks whatever its parameters are, but for these.
FURTHER_ARRAYS = {"n_estimators", "features", "rerank_beta", "scoring"}


@pytest.mark.parametrize(
    "case",
    [
        case if case in each_once.args[1] else pytest.param(case, marks=[pytest.mark.slow, pytest.mark.long])
        for case in CASES
        if case in each_once.args[1] or FURTHER_ARRAYS & case.params.keys()
    ],
    ids=lambda case: case.id,
)
def test_a_damaged_or_missing_array_is_a_format_error(case, tmp_path):
    folder = fitted(case).save(tmp_path / "model")
    with np.load(folder / "arrays.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    last = {re.sub(r"tree\d+", "tree", name): name for name in arrays}  # of several trees, of the last one
    for name in last.values():
        array = arrays[name]
        harms = [({}, f"lacks {re.escape(name)}: save the model again")]
        harms += [({name: array.astype("U4")}, None), ({name: array[None]}, None)] if array.ndim else []
        harms += [({name: array[:-1]}, None)] if array.ndim and array.size > 1 else []
        for harm, message in harms:
            np.savez(folder / "arrays.npz", **{key: value for key, value in arrays.items() if key != name} | harm)
            with pytest.raises(ModelFormatError, match=message):
                load_model(folder)
