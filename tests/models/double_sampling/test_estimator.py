"""DoubleSampling keeps what every estimator promises."""

import pickle

import joblib
import numpy as np
import pytest
from models.double_sampling.problems import (
    EXTENSIONS,
    binary,
    problem,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from xmlcore import DoubleSampling
from xmlcore.models.base import warm_up
from xmlcore.models.double_sampling import learning, prediction, sampling
from xmlcore.progress import Cancelled


@pytest.mark.parametrize("params", [{}, EXTENSIONS[3], EXTENSIONS[4]], ids=str)
def test_same_seed_same_model_for_1_2_and_4_workers_and_any_block_of_rows(params, monkeypatch):
    X, _, labels = problem(n=90, n_classes=30, n_terms=40, most=2)
    models = [DoubleSampling(n_jobs=n, **params).fit(X, binary(labels, 30)) for n in (1, 2, 4)]
    for module in (sampling, learning, prediction):
        monkeypatch.setattr(module, "BLOCK", 7)
    models += [DoubleSampling(n_jobs=n, **params).fit(X, binary(labels, 30)) for n in (1, 3)]
    expected = models[0].predict_topk(X, 10)
    for model in models[1:]:
        assert np.array_equal(model.weights_, models[0].weights_)
        found = model.predict_topk(X, 10)
        assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)
    other = DoubleSampling(random_state=1, **params).fit(X, binary(labels, 30))
    assert not np.array_equal(other.weights_, models[0].weights_)
    single = np.concatenate([models[0].predict_topk(X[[i]], 10).labels for i in range(90)])
    assert np.array_equal(single, expected.labels)


@pytest.mark.parametrize("phase", ["Adding up classes", "Drawing pairs", "Features of pairs", "Learning f"])
def test_stopping_keeps_the_old_model(phase):
    X, _, labels = problem()
    model = DoubleSampling().fit(X, binary(labels))
    before = model.weights_

    def stop(now, *_):
        if now == phase:
            raise Cancelled

    with pytest.raises(Cancelled):
        model.set_params(random_state=5).fit(X[:30], binary(labels[:30]), progress=stop)
    assert model.weights_ is before


def test_progress_rises_to_the_end_of_each_phase():
    X, _, labels = problem()
    seen = {}
    model = DoubleSampling().fit(X, binary(labels), progress=lambda p, f, d: seen.setdefault(p, []).append(f))
    model.predict_topk(X, progress=lambda p, f, d: seen.setdefault(p, []).append(f))
    assert list(seen) == ["Adding up classes", "Drawing pairs", "Features of pairs", "Learning f", "Predicting"]
    assert all(fractions == sorted(fractions) and fractions[-1] == 1.0 for fractions in seen.values())


def test_scikit_learn_clones_searches_and_copies_it(tmp_path):
    X, _, labels = problem()
    Y = binary(labels).toarray()
    model = DoubleSampling(n_candidates=4).fit(X, Y)
    assert clone(model).get_params() == model.get_params() and not hasattr(clone(model), "weights_")
    search = GridSearchCV(make_pipeline(MaxAbsScaler(), DoubleSampling()), {"doublesampling__n_candidates": [1, 5]},
                          scoring="f1_micro", cv=2, error_score="raise")  # fmt: skip
    assert search.fit(X, Y).predict(X).shape == Y.shape
    joblib.dump(model, tmp_path / "model.joblib")
    for other in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert np.array_equal(other.predict_topk(X).scores, model.predict_topk(X).scores)
    with pytest.raises(NotFittedError, match="This DoubleSampling is not fitted yet"):
        DoubleSampling().predict(X)


@pytest.mark.parametrize("params", EXTENSIONS, ids=str)
def test_extensions_warm_up_report_and_stop(params):
    X, _, labels = problem(n=60)
    warm_up(DoubleSampling(**params))
    seen = {}
    model = DoubleSampling(**params)
    model.fit(X, binary(labels), progress=lambda p, f, d: seen.setdefault(p, []).append(f))
    assert all(fractions == sorted(fractions) and fractions[-1] == 1.0 for fractions in seen.values()), seen
    assert ("Training label trees" in seen) == ("candidates_from" in params)
    before = model.weights_
    for phase in seen:

        def stop(now, *_, phase=phase):
            if now == phase:
                raise Cancelled

        with pytest.raises(Cancelled):
            model.set_params(random_state=5).fit(X[:40], binary(labels[:40]), progress=stop)
        assert model.weights_ is before


@pytest.mark.parametrize("params", EXTENSIONS, ids=str)
def test_extensions_predict_rows_without_features_and_no_rows_and_values_at_the_ends_of_float32(params):
    X, _, labels = problem(n=60)
    model = DoubleSampling(**params).fit(X * 1e30, binary(labels))
    assert np.isfinite(model.weights_).all() and np.isfinite(model.predict_topk(X * 1e30).scores).all()
    assert np.isfinite(DoubleSampling(**params).fit(X * 1e-38, binary(labels)).weights_).all()
    empty = model.predict_topk(np.zeros((2, 15)), k=3)
    assert (empty.labels[0] == empty.labels[1]).all() and np.isfinite(empty.scores).all()
    assert model.predict_topk(np.zeros((0, 15)), k=3).labels.shape == (0, 3)
    assert model.candidates(np.zeros((0, 15)), 3).shape == (0, 3)
    for other in (pickle.loads(pickle.dumps(model)), clone(model).fit(X * 1e30, binary(labels))):
        assert np.array_equal(other.predict_topk(X).scores, model.predict_topk(X).scores)


def test_warming_up_runs_and_leaves_the_model_alone():
    model = DoubleSampling(leave_one_out=True, distance="euclidean")
    warm_up(model)
    assert not hasattr(model, "weights_")
