"""Every model takes one class for each row, as scikit-learn's classifiers do, and then predicts one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from contract.estimators import dense, each_model_once, problem
from sklearn.exceptions import DataConversionWarning

from xmlcore import LdSM, load_model
from xmlcore.robustness import AdversarialTraining


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
    alike = [case.make().fit(X, form) for form in (pd.Series(y), pl.Series(y.tolist()), y.tolist())]
    alike.append(load_model(model.save(tmp_path / "m")))
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
