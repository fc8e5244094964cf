"""Selections are steps of scikit-learn's pipelines: they keep columns, and name them."""

import copy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.estimators import CASES, problem
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from xmlcore import PLT
from xmlcore.selection.columns import KeepsColumns

SELECTIONS = [case for case in CASES if issubclass(case.cls, KeepsColumns)]
every_selection = pytest.mark.parametrize("case", SELECTIONS, ids=lambda case: case.id)


def test_all_selections_keep_columns():
    assert len({case.cls for case in SELECTIONS}) == 6


@every_selection
def test_it_keeps_the_selected_features_in_their_order(case):
    X, Y = problem()
    selection = case.make(n_features=0.3).fit(X, Y)
    kept = sorted(set(selection.selected_.ravel().tolist()))
    assert selection.get_support(indices=True).tolist() == kept
    assert np.flatnonzero(selection.get_support()).tolist() == kept and selection.get_support().shape == (X.shape[1],)
    expected = X[:, kept]
    for rows in (X, X.astype(np.float32), X.astype(int), sp.csr_array(X), sp.csc_matrix(X), sp.coo_array(X)):
        found = selection.transform(rows)
        assert sp.issparse(found) == sp.issparse(rows) and found.dtype == rows.dtype
        np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, expected)
    np.testing.assert_array_equal(case.make(n_features=0.3).fit_transform(X, y=Y), expected)
    np.testing.assert_array_equal(selection.transform(X[3]), expected[[3]])
    np.testing.assert_array_equal(selection.transform(sp.coo_array(X[3])).toarray(), expected[[3]])
    assert selection.transform(X[:0]).shape == (0, len(kept))


@every_selection
def test_it_names_the_features_that_it_keeps(case):
    X, Y = problem()
    words = np.array([f"word {i}" for i in range(X.shape[1])], dtype=object)
    frame = pd.DataFrame(X, columns=words).astype({"word 1": "Int64"}).assign(**{"word 2": X[:, 2] > 0})
    frame.index = frame.index + 100
    selection = case.make(n_features=0.3).fit(X, Y)
    kept = selection.get_support(indices=True)
    assert selection.get_feature_names_out().tolist() == [f"x{i}" for i in kept]
    assert selection.get_feature_names_out(words).tolist() == words[kept].tolist()
    with pytest.raises(ValueError, match="should have length equal to number of features"):
        selection.get_feature_names_out(words[1:])
    selection = clone(case.make(n_features=0.3).set_output(transform="pandas"))
    found = selection.fit_transform(frame, Y)
    kept = selection.get_support(indices=True)
    assert found.columns.tolist() == selection.get_feature_names_out().tolist() == words[kept].tolist()
    assert found.index.equals(frame.index)
    np.testing.assert_array_equal(found.to_numpy(float), frame.to_numpy(float)[:, kept])
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        selection.get_feature_names_out(words[::-1])
    with pytest.raises(ValueError, match="same order"):
        selection.transform(frame.iloc[:, ::-1])
    with pytest.raises(ValueError, match="default, pandas or polars"):
        selection.set_output(transform="table")
    assert isinstance(selection.set_output(transform="default").transform(frame), np.ndarray)


@every_selection
def test_a_pipeline_trains_a_model_on_the_selected_features(case):
    X, Y = problem()
    pipeline = make_pipeline(MaxAbsScaler(), case.make(n_features=0.3), PLT(max_leaf_labels=2)).fit(X, Y)
    scaled = MaxAbsScaler().fit_transform(X)
    kept = case.make(n_features=0.3).fit(scaled, Y).get_support()
    alone = PLT(max_leaf_labels=2).fit(scaled[:, kept], Y)
    assert pipeline[-1].n_features_in_ == kept.sum() and is_classifier(pipeline)
    assert (pipeline.predict_proba(X) != alone.predict_proba(scaled[:, kept])).nnz == 0
    np.testing.assert_array_equal(copy.deepcopy(pipeline).predict(X).toarray(), pipeline.predict(X).toarray())
    assert 0 < cross_val_score(pipeline, X, Y, cv=2, scoring="f1_micro", error_score="raise").mean() <= 1
