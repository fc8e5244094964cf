"""Estimators are scikit-learn's by what they offer, and load scikit-learn only for those who use it."""

import subprocess
import sys
from pathlib import Path

import pytest
import sklearn
from contract.estimators import problem
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import xmlcore.models
from xmlcore import PLT

ROOT = Path(__file__).resolve().parents[2]

USE = """
import sys
from xmlcore import PLT, load_model

X, Y = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]], [[0], [0], [1, 2], [1, 2]]
model = PLT(n_estimators=2, random_state=0).fit(X, Y)
model.predict_topk(X, k=1), model.predict(X), model.predict_proba(X), repr(model)
load_model(model.set_params(beam=2).save(sys.argv[1])).predict_topk(X)
print(*sorted(sys.modules))
"""


def test_models_leave_the_heavy_packages_alone(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", USE, str(tmp_path / "m")], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    loaded = set(run.stdout.split())
    assert {"xmlcore.models.plt", "numba", "scipy.sparse"} <= loaded
    assert not loaded & {"sklearn", "pandas", "joblib", "plotly", "pyarrow", "scipy.stats", "scipy.optimize"}


def test_the_error_of_an_unfitted_model_is_scikit_learns_own():
    assert xmlcore.models.NotFittedError is NotFittedError
    with pytest.raises(NotFittedError):
        PLT().classes_  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'NoSuchError'"):
        xmlcore.models.NoSuchError  # noqa: B018


def test_metadata_routing_takes_it_for_one_that_asks_for_nothing():
    X, Y = problem()
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(MaxAbsScaler(), PLT()).fit(X, Y)
        scores = cross_val_score(make_pipeline(MaxAbsScaler(), PLT()), X, Y, cv=2, scoring="f1_micro")
    assert model.predict(X).shape == Y.shape and min(scores) > 0.5
