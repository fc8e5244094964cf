"""Importance of features over many rows, and for one label."""

import numpy as np
import pandas as pd
import pytest
from contract.test_progress import Recorder, assert_rising
from explain.fitted import NAMES, D, data

from xmlcore import explain
from xmlcore.datasets import Dataset
from xmlcore.explain import _importance
from xmlcore.progress import Cancelled

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped", "ignore:.*splits separated nothing")


@pytest.mark.parametrize("name", NAMES)
def test_importance_is_the_mean_over_explanations(models, name, monkeypatch):
    model = models[name]
    X, Y = data(17, n=25)
    labels = model.predict_topk(X, 1).labels[:, 0]
    sizes, sums, rows = np.zeros(D), np.zeros(D), np.zeros(D, int)
    for i in range(25):
        frame = explain.contributions(model, X[[i]], int(labels[i]))
        sizes[frame["feature"]] += frame["contribution"].abs()
        sums[frame["feature"]] += frame["contribution"]
        rows[frame["feature"]] += 1
    found = explain.importance(model, X, n=None, feature_names=[f"f{j}" for j in range(D)])
    assert list(found.columns) == ["feature", "name", "mean_abs", "mean", "n_rows"]
    assert (found["mean_abs"].diff().dropna() <= 0).all() and found["name"][0] == f"f{found['feature'][0]}"
    np.testing.assert_allclose(found["mean_abs"], sizes[found["feature"]] / 25)
    np.testing.assert_allclose(found["mean"], sums[found["feature"]] / 25, atol=1e-12)
    np.testing.assert_array_equal(found["n_rows"], rows[found["feature"]])
    assert found.attrs["n_pairs"] == 25 and found.attrs["n_left_out"] == 0 and found.attrs["n_features"] == len(found)
    monkeypatch.setattr(_importance, "BLOCK_ROWS", 4)
    top = explain.importance(model, X, labels, n=5)
    pd.testing.assert_frame_equal(top, found.drop(columns="name").head(5), rtol=1e-12)


def test_importance_takes_all_labels_of_rows(models):
    X, Y = data(18, n=25, unlabelled=True)
    found = explain.importance(models["PLT"], X, Y, n=None)
    rows, labels = Y.nonzero()
    expected = explain.importance(models["PLT"], X[rows], labels, n=None)
    pd.testing.assert_frame_equal(found, expected)
    assert found.attrs["n_pairs"] == rows.size and found.attrs["n_left_out"] == 5
    nothing = explain.importance(models["PLT"], X[:0])
    assert len(nothing) == 0 and nothing.attrs["n_pairs"] == 0


def test_importance_of_pairs_is_that_of_their_features(models):
    X, _ = data(19, n=10)
    found = explain.importance(models["pairs"], X)
    assert set(found["name"]) == set(models["pairs"].feature_names_) and found.attrs["kind"] == "score"
    assert (found["n_rows"] == 10).all()


def test_long_work_reports_and_can_be_stopped(models):
    X, _ = data(20, n=30)
    for work in (explain.importance, explain.deletion_curve):
        recorder = Recorder()
        work(models["PLT"], X, np.zeros(30, int), progress=recorder)
        assert_rising(recorder.reports)
        with pytest.raises(Cancelled):
            work(models["PLT"], X, np.zeros(30, int), progress=Recorder(stop_at=0))


@pytest.fixture(scope="module")
def dataset():
    """60 training and 60 test rows; no test row has label 3."""
    X, Y = data(n=120)
    Y = Y.toarray()
    Y[60:, 3] = False
    return Dataset("labels", X[:60], Y[:60], X[60:], Y[60:])


def test_all_test_rows_with_the_label_are_explained(dataset, models):
    found = explain.label_importance(models["PLT"], dataset, 1)
    rows = np.flatnonzero(dataset.Y_test[:, [1]].toarray().ravel())
    assert (found.part, found.n_rows, found.n_having) == ("test", rows.size, rows.size)
    whole = explain.importance(models["PLT"], dataset.X_test[rows], np.full(rows.size, 1), n=None)
    assert found.frame.equals(whole)


def test_rows_of_a_label_are_a_sample_of_test_or_training(dataset, models):
    found = explain.label_importance(models["PLT"], dataset, 1, at_most=3)
    assert found.n_rows == 3 < found.n_having
    assert explain.label_importance(models["PLT"], dataset, 3).part == "training"
