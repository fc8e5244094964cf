"""Features that contribute most to one label."""

import numpy as np
import pytest

from xmlcore import PLT, explain
from xmlcore.datasets import Dataset


@pytest.fixture(scope="module")
def data():
    """40 training and 20 test rows; label j goes with feature j; no test row has label 3."""
    rng = np.random.default_rng(0)
    Y = rng.random((60, 4)) < 0.4
    Y[40:, 3] = False
    Y[0, 3] = True
    X = Y * rng.uniform(0.5, 1.5, (60, 4)) + 0.1
    return Dataset("labels", X[:40], Y[:40], X[40:], Y[40:])


@pytest.fixture(scope="module")
def model(data):
    return PLT(random_state=0).fit(data.X_train, data.Y_train)


def test_all_test_rows_with_the_label_are_explained(data, model):
    found = explain.label_importance(model, data, 1)
    rows = np.flatnonzero(data.Y_test[:, [1]].toarray().ravel())
    assert (found.part, found.n_rows, found.n_having) == ("test", rows.size, rows.size)
    whole = explain.importance(model, data.X_test[rows], np.full(rows.size, 1), n=None)
    assert found.frame.equals(whole)


def test_rows_are_a_sample_when_there_are_many(data, model):
    found = explain.label_importance(model, data, 1, at_most=3)
    assert found.n_rows == 3 < found.n_having


def test_a_label_that_no_test_row_has_is_explained_on_training_rows(data, model):
    assert explain.label_importance(model, data, 3).part == "training"
