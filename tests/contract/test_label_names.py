"""Every estimator keeps the names of labels, and takes one class for each row as scikit-learn's classifiers do."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from contract.estimators import assert_same, dense, each_model_once, each_once, fitted, problem, results
from sklearn.exceptions import DataConversionWarning

from xmlcore import PLT, LdSM, load_model
from xmlcore.models import ModelFormatError, PackedModel, read_packed
from xmlcore.robustness import AdversarialTraining

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
def test_score_takes_names_and_unknown_ones_are_never_found(case):
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
    for names, message in ((NAMES[:-1], "has 6 label names, but the model has 7"), (["a"] * 7, r"\[1\] is 'a'"),
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


def test_a_packed_model_has_the_names_of_the_fit(tmp_path):
    X, Y = problem()
    model = PLT(max_leaf_labels=2).fit(X, Y, label_names=NAMES)
    assert PackedModel(model).label_names == NAMES
    assert read_packed(PackedModel(model).save(tmp_path / "m.zip")).label_name(3) == NAMES[3]
    assert read_packed(model.save(tmp_path / "m")).label_name(3) == NAMES[3]
    assert PackedModel(model, ["other"] + NAMES[1:]).label_name(0) == "other"
    numbers = PLT(max_leaf_labels=2).fit(X, Y, label_names=range(10, 17))
    assert PackedModel(numbers).label_names[0] == "10" and numbers.label_names_[0] == 10


def rows_of_classes(classes, rows=problem):
    """Rows, and their classes: one of three."""
    X, Y = rows()
    return X, np.asarray(classes)[Y[:, :3].argmax(axis=1)]


@each_model_once
@pytest.mark.parametrize("classes", [("large", "medium", "small"), (-1, 7, 1000), (False, True, True)], ids=str)
def test_a_model_fitted_to_a_class_for_each_row_predicts_classes(case, classes, tmp_path):
    X, y = rows_of_classes(classes, case.problem)
    model, distinct = case.make().fit(X, y), np.unique(y)
    lists = case.make().fit(X, pl.Series([[j] for j in np.searchsorted(distinct, y)]))
    assert model.classes_.tolist() == distinct.tolist() and model.n_labels_ == distinct.size
    first = lists.predict_topk(X, k=1).labels[:, 0]
    alike = [case.make().fit(X, pl.Series(y.tolist())), load_model(model.save(tmp_path / "m"))]
    if set(distinct.tolist()) != {0, 1}:  # else it is a matrix of one label
        with pytest.warns(DataConversionWarning, match="column-vector"):
            alike.append(case.make().fit(X, y[:, None]))
    for found in (model, *alike):
        np.testing.assert_array_equal(found.predict(X), distinct[first])
        assert found.predict(X).dtype.kind == distinct.dtype.kind
        assert found.score(X, y) == np.mean(distinct[first] == y)
    assert model.score(X[:2], ["never seen", "nor this"]) == 0.0
    few = np.flatnonzero(y == distinct[0])  # with all values 0 or 1 a column is classes for a model of classes
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert model.score(X[few], y[few, None]) == model.score(X[few], y[few])
    probabilities = dense(lists.predict_proba(X))
    expected = probabilities[:, 1] - probabilities[:, 0] if distinct.size == 2 else probabilities
    if case.cls.__name__ != "DenseOutput":  # whose shares sum to 1
        np.testing.assert_array_equal(model.decision_function(X), expected)
    assert dense(model.predict(X, threshold=0.1)).shape == (len(X), distinct.size)
    refitted = model.fit(X, case.problem()[1])
    assert dense(refitted.predict(X)).shape == case.problem()[1].shape and refitted.classes_.tolist() == list(range(7))


@each_model_once
def test_classes_0_to_k_are_label_ids_too(case):
    X, y = rows_of_classes([0, 1, 2], case.problem)
    model = case.make().fit(X, y)
    assert not hasattr(model, "label_names_")
    assert model.predict(X).tolist() == model.predict_topk(X, 1).labels[:, 0].tolist()


def test_further_rows_bring_known_and_new_classes():
    X, y = rows_of_classes(["b", "d", "d"])
    model = LdSM(n_estimators=2, n_epochs=3).partial_fit(X, y, classes=["d", "c", "b"])
    assert model.classes_.tolist() == ["b", "c", "d"]
    assert model.label_counts_.tolist() == [(y == "b").sum(), 0, (y == "d").sum()]
    model.partial_fit(X[:3], ["c", "a", "b"])
    assert model.classes_.tolist() == ["b", "c", "d", "a"] and model.n_rows_seen_ == len(X) + 3
    assert set(model.predict(X)) <= set("abcd")
    with pytest.raises(ValueError, match="y has the class 'e', which is not in classes"):
        LdSM().partial_fit(X[:1], ["e"], classes=["a", "b"])


def test_a_model_trained_on_noisy_copies_predicts_classes():
    X, y = rows_of_classes(["a", "b", "c"])
    model = AdversarialTraining(LdSM(n_estimators=2, n_epochs=3), sigma=0.01).fit(X, y)
    assert set(model.predict(X)) <= set("abc") and model.predict(X).tolist() == model.model_.predict(X).tolist()
