"""Estimators are scikit-learn's by what they offer, and load scikit-learn only for those who use it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.validation import check_is_fitted

import xmlcore.models
from xmlcore import PLT

ROOT = Path(__file__).resolve().parents[2]
HAS_TAGS = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 6)

USE = """
import sys
from xmlcore import PLT, load_model

X, Y = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]], [[0], [0], [1, 2], [1, 2]]
model = PLT(n_estimators=2, random_state=0).fit(X, Y)
model.predict_topk(X, k=1), model.predict(X), model.predict_proba(X), repr(model)
load_model(model.set_params(beam=2).save(sys.argv[1])).predict_topk(X)
print(*sorted(sys.modules))
"""


def problem():
    rng = np.random.default_rng(0)
    Y = rng.random((60, 7)) < 0.3
    X = np.where(rng.random((60, 14)) < 0.1, 1.0, 0.0)
    X[:, :7] += Y
    return sp.csr_array(X), Y  # scikit-learn's cross-validation takes no sparse Y


def test_training_predicting_saving_and_loading_leave_the_heavy_packages_alone(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", USE, str(tmp_path / "m")], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    loaded = set(run.stdout.split())
    assert {"xmlcore.models.plt", "numba", "scipy.sparse"} <= loaded
    assert not loaded & {"sklearn", "pandas", "joblib", "plotly", "pyarrow", "scipy.stats", "scipy.optimize"}


# Parameters -----------------------------------------------------------------------------------------------------------


# Before fit -----------------------------------------------------------------------------------------------------------


def test_the_error_of_an_unfitted_model_is_scikit_learns_own():
    assert xmlcore.models.NotFittedError is NotFittedError
    with pytest.raises(NotFittedError, match="This PLT is not fitted yet"):
        PLT().predict([[1.0]])
    with pytest.raises(NotFittedError):
        check_is_fitted(PLT())
    with pytest.raises(NotFittedError):
        PLT().classes_  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'NoSuchError'"):
        xmlcore.models.NoSuchError  # noqa: B018


# scikit-learn's tools -------------------------------------------------------------------------------------------------


def test_a_pipeline_from_text_takes_lists_of_label_ids():
    texts, Y = ["red apple", "green apple", "red car", "fast car"] * 3, [[0], [0], [1, 2], [1, 2]] * 3
    model = make_pipeline(TfidfVectorizer(), PLT()).fit(texts, Y)
    assert model.predict(["apple", "car"]).toarray().tolist() == [[True, False, False], [False, True, True]]


def test_scikit_learns_own_scorers_take_its_predictions():
    X, Y = problem()
    model = PLT(max_leaf_labels=2, loss="logistic")
    scores = cross_val_score(model, X, Y, cv=3, scoring="f1_micro")
    folds = KFold(3).split(X)
    expected = [
        f1_score(Y[test], clone(model).fit(X[train], Y[train]).predict(X[test]).toarray(), average="micro")
        for train, test in folds
    ]
    assert scores == pytest.approx(expected) and min(expected) > 0.5
    brier = make_scorer(lambda Y, P: float(((Y - P.toarray()) ** 2).mean()), response_method="predict_proba")
    assert 0 < brier(model.fit(X, Y), X, Y) < 0.1


def test_metadata_routing_takes_it_for_one_that_asks_for_nothing():
    X, Y = problem()
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(MaxAbsScaler(), PLT()).fit(X, Y)
        scores = cross_val_score(make_pipeline(MaxAbsScaler(), PLT()), X, Y, cv=2, scoring="f1_micro")
    assert model.predict(X).shape == Y.shape and min(scores) > 0.5
