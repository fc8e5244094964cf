"""Rows without labels are chosen by what a model does not know, and get the labels that it predicts as suggestions."""

import numpy as np
import pytest

from xmlcore import PLT, NearestRows, review
from xmlcore.datasets import make_synthetic
from xmlcore.review.labelling import WAYS


@pytest.fixture(scope="module")
def data():
    return make_synthetic("small", n_train=400, feature_noise=0.1, random_state=1)


@pytest.fixture(scope="module")
def model(data):
    return PLT().fit(data.X_train[:200], data.Y_train[:200])


def chosen(found):
    return found["row"].drop_duplicates().tolist()


def test_most_uncertain_rows_come_first(data, model):
    X = data.X_train[200:]
    found = review.to_label(model, X, 7, by="uncertainty", n_suggestions=3)
    first = model.predict_topk(X, 3)
    rows = np.argsort(first.scores[:, 0], kind="stable")[:7]
    assert chosen(found) == rows.tolist() and found["label"].tolist() == first.labels[rows].ravel().tolist()
    assert found["score"].to_numpy()[::3] == pytest.approx(1 - first.scores[rows, 0].astype(float))
    predicted = model.predict(X).toarray()[found["row"], found["label"]]
    assert (found["suggested"] == predicted.astype(bool)).all()


@pytest.mark.parametrize("by", WAYS)
def test_ways_choose_as_many_rows_as_asked_for_or_all(data, model, by):
    X = data.X_train[200:]
    few = chosen(review.to_label(model, X, 20, by=by))
    assert len(few) == 20 and few == chosen(review.to_label(model, X, 20, by=by))
    assert sorted(chosen(review.to_label(model, X, 999, by=by))) == list(range(200))
    assert review.to_label(model, X[:0], by=by).empty and review.to_label(model, X, 0, by=by).empty


@pytest.mark.parametrize("by", ["drawn", "diversity"])
def test_drawn_rows_are_more_uncertain_than_others(data, model, by):
    X = data.X_train[200:]
    u = 1 - model.predict_topk(X, 1).scores[:, 0]
    assert u[chosen(review.to_label(model, X, 20, by=by))].mean() > u.mean()


def test_equal_rows_are_drawn_once_for_diversity(data, model):
    X = data.X_train[np.repeat(np.arange(200, 240), 5)]
    rows = np.array(chosen(review.to_label(model, X, 8, by="diversity"))) // 5
    assert np.unique(rows).size == 8


def test_another_way_is_refused_and_other_models_are_taken(data):
    model = NearestRows().fit(data.X_train[:100], data.Y_train[:100])
    assert len(chosen(review.to_label(model, data.X_train[100:], 9, by="change"))) == 9
    with pytest.raises(ValueError, match="drawn"):
        review.to_label(model, data.X_train, by="entropy")
