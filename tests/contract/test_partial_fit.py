"""Models that learn further rows do so alike: first as ``fit`` does, then whole calls or nothing."""

import numpy as np
import pytest
from contract.estimators import CASES, N_FEATURES, N_LABELS, assert_same, problem, results
from contract.test_progress import Recorder

from xmlcore import load_model
from xmlcore.progress import Cancelled

LEARNING = [
    case
    for case in CASES
    if hasattr(case.cls, "partial_fit") and not case.takes_texts and case.params.get("candidates_from") != "plt"
]
every_learning = pytest.mark.parametrize("case", LEARNING, ids=lambda case: case.id)


def made(case, **params):
    return case.make(**params | ({"learnable": True} if hasattr(case.cls, "learnable") else {}))


def first(case, **params):
    """A model of the first 30 rows that learns on."""
    X, Y = problem()
    return made(case, **params).fit(X[:30], Y[:30])


@every_learning
def test_a_model_that_is_not_fitted_is_fitted(case):
    X, Y = problem()
    assert_same(results(made(case).partial_fit(X[:30], y=Y[:30], classes=np.arange(N_LABELS))), results(first(case)))


@every_learning
def test_any_number_of_workers_and_a_saved_model_learn_the_same(case, tmp_path):
    X, Y = problem()
    expected = results(first(case, n_jobs=1).partial_fit(X[30:], Y[30:]))
    loaded = load_model(first(case).save(tmp_path / "model")).set_params(n_jobs=3).partial_fit(X[30:], Y[30:])
    assert_same(results(loaded), expected)
    assert_same(results(load_model(loaded.save(tmp_path / "model"))), expected)
    assert loaded.label_counts_.tolist() == Y.sum(axis=0).tolist() and loaded.n_rows_seen_ == len(Y)


@every_learning
def test_a_call_that_is_stopped_changes_nothing(case):
    X, Y = problem()
    wider, recorder = np.hstack([Y, Y[:, :2]]), Recorder()
    first(case).partial_fit(X, wider, progress=recorder)
    model = first(case)
    before = results(model)
    for stop_at in range(len(recorder.reports)):
        with pytest.raises(Cancelled):
            model.partial_fit(X, wider, progress=Recorder(stop_at))
        assert_same(results(model), before)
        assert model.n_labels_ == N_LABELS and model.n_rows_seen_ == 30


@every_learning
def test_rows_of_other_widths_are_refused(case):
    X, Y = problem()
    with pytest.raises(ValueError, match=f"Y has 4 labels, but the model has {N_LABELS}"):
        first(case).partial_fit(X, Y[:, :4])
    with pytest.raises(ValueError, match=f"{N_FEATURES} features"):
        first(case).partial_fit(X[:, :4], Y)
