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
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.validation import check_is_fitted

import xmlcore.models
from xmlcore import PLT, LabelTree

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


def precision_at_1(model, X, Y):
    best = model.predict_topk(X, k=1).labels[:, 0]
    return np.mean([row[label] for row, label in zip(Y, best)])


def test_training_predicting_saving_and_loading_leave_the_heavy_packages_alone(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", USE, str(tmp_path / "m")], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    loaded = set(run.stdout.split())
    assert {"xmlcore.models.plt", "numba", "scipy.sparse"} <= loaded
    assert not loaded & {"sklearn", "pandas", "joblib", "plotly", "pyarrow", "scipy.stats", "scipy.optimize"}


# Parameters -----------------------------------------------------------------------------------------------------------


def test_parameters_are_those_of_the_constructor_by_name():
    tree = LabelTree.from_nested([[0, 1], 2])
    params = PLT(tree=tree, C=3.0).get_params()
    assert list(params) == sorted(params) and len(params) == 13
    assert params["tree"] is tree and params["C"] == 3.0 and params["arity"] == "auto"
    assert PLT(**params).get_params() == PLT(tree=tree, C=3.0).get_params(deep=False) == params


def test_setting_parameters_gives_the_model_back():
    model = PLT()
    assert model.set_params(arity=4, C=2.0) is model and (model.arity, model.C) == (4, 2.0)
    assert model.set_params() is model


@pytest.mark.parametrize("name", ["c", "tree__arity", "n_features_in_"])
def test_an_unknown_parameter_names_those_there_are_and_nothing_is_set(name):
    model = PLT(C=3.0)
    known = r"\['C', 'arity', 'beam', 'collapse_layers', .*, 'weight_threshold'\]"
    with pytest.raises(ValueError, match=rf"Invalid parameter '{name}' for estimator PLT\(C=3.0\).* are: {known}\.$"):
        model.set_params(arity=9, **{name: 1})
    assert model.get_params() == PLT(C=3.0).get_params() and not hasattr(model, name)


def test_repr_has_the_parameters_that_are_not_default():
    assert repr(PLT()) == "PLT()" == repr(PLT(C="auto", beam=None))
    assert repr(PLT(tree="huffman", beam=5, C=1)) == "PLT(C=1, beam=5, tree='huffman')"
    assert repr(PLT(random_state=None)) == "PLT(random_state=None)"
    assert repr(PLT(tree=LabelTree.from_nested([0, 1]))) == "PLT(tree=LabelTree(n_labels=2, n_nodes=3, depth=1))"


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


def test_a_clone_has_the_parameters_and_not_the_fit():
    X, Y = problem()
    tree = LabelTree.from_nested([[0, 1, 2], [3, 4], [5, 6]])
    model = PLT(tree=tree, C=3.0).fit(X, Y)
    copied = clone(model)
    assert type(copied) is PLT and copied.get_params() == model.get_params() and copied.tree is not tree
    assert check_is_fitted(model) is None
    with pytest.raises(NotFittedError):
        check_is_fitted(copied)


def test_a_pipeline_trains_and_predicts_as_its_steps_do():
    X, Y = problem()
    pipeline = Pipeline([("scale", MaxAbsScaler()), ("plt", PLT(max_leaf_labels=2))])
    with pytest.raises(NotFittedError):
        check_is_fitted(pipeline)
    seen = []
    pipeline.set_params(plt__C=4.0).fit(X, Y, plt__progress=lambda *report: seen.append(report))
    check_is_fitted(pipeline)
    scaled = MaxAbsScaler().fit_transform(X)
    alone = PLT(max_leaf_labels=2, C=4.0).fit(scaled, Y)
    assert (pipeline.predict(X) != alone.predict(scaled)).nnz == 0
    assert (pipeline.predict_proba(X) != alone.predict_proba(scaled)).nnz == 0
    assert seen and pipeline.get_params()["plt__max_leaf_labels"] == 2
    assert "PLT(C=4.0, max_leaf_labels=2)" in repr(pipeline)
    assert "max_leaf_labels" in pipeline._repr_html_() and "max_leaf_labels" in pipeline[-1]._repr_html_()


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


def test_cross_validation_takes_lists_of_ids_with_a_splitter():
    X, Y = problem()
    ids = [np.flatnonzero(row).tolist() for row in Y]

    def hits(model, X, ids):
        return np.mean([label in row for row, label in zip(ids, model.predict_topk(X, k=1).labels[:, 0])])

    scores = cross_val_score(PLT(), X, ids, cv=KFold(3), scoring=hits)
    assert scores.tolist() == cross_val_score(PLT(), X, Y, cv=KFold(3), scoring=precision_at_1).tolist()


def test_a_grid_search_finds_the_better_parameters_also_in_a_pipeline():
    X, Y = problem()
    grid = {"plt__C": [1e-5, 10.0], "plt__tree": ["kmeans", "huffman"]}
    search = GridSearchCV(Pipeline([("plt", PLT())]), grid, scoring="f1_micro", cv=2, error_score="raise")
    search.fit(X, sp.csr_array(Y))
    assert search.best_params_["plt__C"] == 10.0 and search.predict(X).shape == Y.shape
    assert check_is_fitted(search) is None and search.best_estimator_[-1].n_labels_ == 7


def test_metadata_routing_takes_it_for_one_that_asks_for_nothing():
    X, Y = problem()
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(MaxAbsScaler(), PLT()).fit(X, Y)
        scores = cross_val_score(make_pipeline(MaxAbsScaler(), PLT()), X, Y, cv=2, scoring="f1_micro")
    assert model.predict(X).shape == Y.shape and min(scores) > 0.5
