"""Every estimator keeps the names of labels: through fit, pickle, copy, save and load, and takes them in ``score``."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from contract.estimators import assert_same, each_model_once, each_once, fitted, problem, results

from xmlcore import PLT, load_model
from xmlcore.models import ModelFormatError, PackedModel, read_packed

NAMES = [f"label {chr(97 + j)}" for j in range(7)]


def lists():
    return [[NAMES[j] for j in np.flatnonzero(row)] for row in problem()[1]]


@each_once
def test_labels_given_by_name_are_the_columns_with_these_names(case):
    X, Y = case.problem()
    found = case.make().fit(X, lists())
    assert found.label_names_ == NAMES
    assert_same(results(found), results(fitted(case)), rounded=case.rounds)
    again = case.make().fit(X, pd.DataFrame(Y, columns=NAMES))
    assert again.label_names_ == NAMES
    assert not hasattr(again.fit(X, Y), "label_names_")


@each_model_once
def test_names_are_copied_pickled_saved_and_loaded(case, tmp_path):
    X, Y = case.problem()
    model = case.make().fit(X, Y, label_names=np.array(NAMES))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), load_model(model.save(tmp_path / "m"))):
        assert other.label_names_ == NAMES
        assert other.predict_topk(X, 9).names(other.label_names_)[:, -1].tolist() == [None] * len(X)


@each_model_once
def test_score_takes_the_names_and_counts_unknown_ones_as_never_found(case):
    X, Y = case.problem()
    model = case.make().fit(X, lists())
    assert model.score(X, lists()) == model.score(X, Y) > 0.3
    assert model.score(X, [["something else"]] * len(X)) == 0
    with pytest.raises(ValueError, match="fitted to labels without names"):
        fitted(case).score(X, lists())


def test_damaged_names_are_a_format_error(tmp_path):
    X, Y = problem()

    model = PLT(max_leaf_labels=2).fit(X, Y, label_names=NAMES)
    folder = model.save(tmp_path / "m")
    for names, message in ((NAMES[:-1], "has 6 names of labels, but the model has 7"), (["a"] * 7, r"\[1\] is 'a'"),
                           ([["a"]] * 7, "must be hashable"), ("abcdefg", "must be a list")):  # fmt: skip
        description = json.loads((folder / "params.json").read_text())
        (folder / "params.json").write_text(json.dumps(description | {"label_names": names}))
        with pytest.raises(ModelFormatError, match=message):
            load_model(folder)


def test_names_that_json_would_change_are_not_saved(tmp_path):
    X, Y = problem()

    model = PLT(max_leaf_labels=2).fit(X, Y, label_names=[("a", j) for j in range(7)])
    with pytest.raises(TypeError, match=r"label_names_\[0\] is \('a', 0\): only strings and numbers can be saved"):
        model.save(tmp_path / "m")
    assert pickle.loads(pickle.dumps(model)).label_names_[6] == ("a", 6)


def test_a_packed_model_has_the_names_with_which_the_model_was_fitted(tmp_path):
    X, Y = problem()
    model = PLT(max_leaf_labels=2).fit(X, Y, label_names=NAMES)
    assert PackedModel(model).label_names == NAMES
    assert read_packed(PackedModel(model).save(tmp_path / "m.zip")).label_name(3) == NAMES[3]
    assert read_packed(model.save(tmp_path / "m")).label_name(3) == NAMES[3]
    assert PackedModel(model, ["other"] + NAMES[1:]).label_name(0) == "other"
    numbers = PLT(max_leaf_labels=2).fit(X, Y, label_names=range(10, 17))
    assert PackedModel(numbers).label_names[0] == "10" and numbers.label_names_[0] == 10
