"""What LdSM offers: parameters, warnings, progress, and precision on real data."""

import numpy as np
import pytest
import scipy.sparse as sp
from ldsm_examples import assert_same_model, small_data, small_model

from xmlcore import LdSM, metrics


def test_rows_without_labels_are_left_out_with_a_warning():
    X, labels = small_data()
    with pytest.warns(UserWarning, match="2 of 62 training rows have no label and are left out"):
        model = small_model().fit(sp.vstack([X[[0]], X, X[[1]]], format="csr"), [[], *labels, []])
    assert model.n_unlabelled_ == 2
    assert_same_model(model, small_model().fit(X, labels), X)
    with pytest.raises(ValueError, match="no row of Y has a label"):
        small_model().fit(X, sp.csr_array((60, 3), dtype=bool))


@pytest.mark.parametrize(
    "params, message",
    [
        ({"arity": 1}, "arity"),
        ({"arity": 9}, "arity must be from 2 to 8, not 9"),
        ({"max_nodes": 0}, "max_nodes"),
        ({"n_epochs": 0}, "n_epochs"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"optimizer": "adam"}, "optimizer must be one of auto, nag, sgd, not 'adam'"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"learning_rate": "fast"}, "learning_rate must be a finite number"),
        ({"integrity_weight": -1}, "integrity_weight"),
        ({"rerank_beta": 1.5}, "rerank_beta must be from 0 to 1"),
        ({"rerank_space": "tf"}, "rerank_space must be one of raw, idf"),
        ({"min_error": 0.7}, "min_error"),
        ({"weight_decay": 1}, "weight_decay"),
        ({"n_attempts": 0}, "n_attempts"),
        ({"random_state": -1}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises((ValueError, TypeError), match=message):
        small_model(**params).fit(*small_data())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_stopped_fit_keeps_the_earlier_model(n_jobs):
    X, labels = small_data()
    model = small_model(n_jobs=n_jobs).fit(X, labels)
    before = model.predict_topk(X, 3)

    class Stop(Exception):
        pass

    def stop(phase, fraction, detail=""):
        assert phase == "Growing trees" and 0 <= fraction <= 1
        if fraction > 0.2:
            raise Stop

    with pytest.raises(Stop):
        model.set_params(random_state=9).fit(X, labels, progress=stop)
    np.testing.assert_array_equal(before.labels, model.predict_topk(X, 3).labels)


def test_progress_never_falls_and_ends_at_1():
    reported = []
    small_model(n_jobs=2).fit(
        *small_data(), progress=lambda phase, fraction, detail="": reported.append((fraction, detail))
    )
    fractions = [fraction for fraction, _ in reported]
    assert fractions == sorted(fractions) and fractions[-1] == 1 and reported[-1][1] == "3 of 3 trees"


@pytest.mark.real_data
@pytest.mark.parametrize(
    "name, figures",
    [("bibtex", (58.3, 34.4, 25.7)), pytest.param("delicious", (67.9, 61.5, 56.4), marks=pytest.mark.slow)],
)
def test_precision_is_that_of_the_published_program(name, figures, real_data):
    """The figures are means of three seeds; one seed may be 1 point below in P@1 and half a point in the others."""
    from xmlcore.datasets import read_dataset

    data = read_dataset(real_data / name / "train.txt.gz", real_data / name / "test.txt.gz", name=name)
    ranking = LdSM().fit(data.X_train, data.Y_train).predict_topk(data.X_test, 5)
    found = 100 * metrics.precision_at_k(data.Y_test, ranking, 5)[[0, 2, 4]]
    assert (found >= np.array(figures) - [1.0, 0.5, 0.5]).all(), found
