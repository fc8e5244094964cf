"""scikit-learn's own checks, and its tools on our estimators."""

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from contract.estimators import (
    assert_same,
    dense,
    each_model_once,
    each_of_rows,
    each_once,
    fitted,
    model_of_rows,
    problem,
    results,
)
from sklearn.base import is_classifier
from sklearn.metrics import average_precision_score, label_ranking_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.validation import check_is_fitted

from xmlcore import FALS, PLT, DoubleSampling, ExtendedPLT, LdSM, OneVsRest, load_model, metrics, selection
from xmlcore.models import DenseOutput, NotFittedError
from xmlcore.models import rows as of_rows

VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
HAS_CHECKS = VERSION >= (1, 6)  # one by one, and tags

# docs/scikit_learn.md gives the reasons.
ALL = {
    "check_fit2d_predict1d": "a 1-d X is one row: our predictions are often about one row",
}
SETS = {
    "check_classifiers_multilabel_representation_invariance": "lists hold labels, never 0 and 1 for each label",
    "check_classifiers_multilabel_output_format_predict": "predictions of sets are sparse, and bool",
}
SPARSE = {
    "check_classifiers_multilabel_output_format_predict_proba": "probabilities are sparse",
    "check_decision_proba_consistency": "probabilities are sparse",
}
OF_LABELS = {"check_classifiers_train": "each label has a probability of its own: they need not sum to 1"}
WEIGHTS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "training stops at a tolerance, or depends on the order of rows, which the check changes",
)
COUNTS = {"check_classifiers_train": "its features are made of counts of terms; it wants 0.83 on dense blobs"}
OF_LEAVES = {"check_classifiers_multilabel_output_format_predict_proba": "trees give probabilities 0 and 1"}

# Estimators as users get them, or quicker -> the checks that they fail, at most 8, with the reason.
CHECKED = [
    (PLT(), ALL | SETS | SPARSE | OF_LABELS | WEIGHTS),
    (ExtendedPLT(), ALL | SETS | SPARSE | OF_LABELS | WEIGHTS),
    (OneVsRest(), ALL | SETS | SPARSE | OF_LABELS | WEIGHTS),
    (LdSM(n_estimators=3, n_epochs=5), ALL | SETS | SPARSE | WEIGHTS),
    (DoubleSampling(), ALL | SETS | SPARSE | COUNTS | WEIGHTS),
    (FALS(n_hidden=32), ALL | SETS | SPARSE | OF_LABELS),
    (DenseOutput(), ALL | SETS),
    (selection.BRDT(), ALL | SETS | OF_LEAVES),
    (selection.RandomForestSelection(n_estimators=3), ALL),
    (selection.LIFT(), ALL | SETS | OF_LEAVES),
    (selection.GradEnFSSelection(n_epochs=2, n_hidden=20), ALL),
    (selection.LassoSelection(), ALL),
    (selection.ChiSquaredSelection(), ALL),
    (selection.MutualInformationSelection(), ALL),
]

# They take what is checked from the class of another one above: label trees, linear models, or selections.
RELATED = (ExtendedPLT, OneVsRest, selection.RandomForestSelection, selection.MutualInformationSelection,
           selection.GradEnFSSelection)  # fmt: skip

if HAS_CHECKS:
    from sklearn.utils.estimator_checks import estimator_checks_generator

    def checks_of(are_related):
        models = [one for one in CHECKED if isinstance(one[0], RELATED) == are_related]
        checks = [one for model, failing in models for one in estimator_checks_generator(model)
                  if one[1].func.__name__ not in failing]  # fmt: skip
        names = [f"{type(model).__name__}-{check.func.__name__}" for model, check in checks]
        return pytest.mark.parametrize(("estimator", "check"), checks, ids=names)

    @pytest.mark.filterwarnings("ignore")
    @checks_of(are_related=False)
    def test_scikit_learns_check_passes(estimator, check):
        check(estimator)

    @pytest.mark.slow
    @pytest.mark.long
    @pytest.mark.filterwarnings("ignore")
    @checks_of(are_related=True)
    def test_scikit_learns_check_passes_on_related_estimators(estimator, check):
        check(estimator)


def test_the_documentation_lists_the_checks_that_do_not_pass():
    text = (Path(__file__).resolve().parents[2] / "docs/scikit_learn.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(check_\w+)`", text)) == {name for _, failing in CHECKED for name in failing}
    assert max(len(failing) for _, failing in CHECKED) <= 8


# Its tools on every model ---------------------------------------------------------------------------------------------


def table(names=None):
    X, Y = problem()
    names = [f"word {i}" for i in range(X.shape[1])] if names is None else names
    return pd.DataFrame(X, columns=names), Y


@each_of_rows
def test_names_of_features_are_kept_and_compared(case, tmp_path):
    X, Y = table()
    estimator = case.make().fit(X, Y)
    assert estimator.feature_names_in_.tolist() == list(X.columns) and estimator.feature_names_in_.dtype == object
    assert_same(results(estimator, X), results(fitted(case)))
    with pytest.raises(TypeError, match="string"):
        case.make().fit(X.rename(columns={"word 3": 3}), Y)
    if hasattr(estimator, "predict_proba"):
        names_are_compared(estimator, case, X)
    if hasattr(estimator, "save"):
        loaded = load_model(estimator.save(tmp_path / "model"))
        assert loaded.feature_names_in_.tolist() == list(X.columns)
        assert_same(results(loaded, X), results(fitted(case)))
    assert not hasattr(estimator.fit(X.to_numpy(), Y), "feature_names_in_")


def names_are_compared(estimator, case, X):
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        estimator.predict_proba(X.to_numpy())
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        fitted(case).predict_proba(X)
    with pytest.raises(ValueError, match="must be in the same order"):
        estimator.predict_proba(X.iloc[:, ::-1])
    with pytest.raises(ValueError, match="unseen at fit time:\n- other\n.*now missing:\n- word 2"):
        estimator.predict_proba(X.rename(columns={"word 2": "other"}))


@model_of_rows
def test_it_is_taken_for_a_multi_label_classifier(case):
    model = fitted(case)
    assert is_classifier(model) and is_classifier(make_pipeline(MaxAbsScaler(), model))
    assert check_is_fitted(model) is None and model.classes_.tolist() == list(range(model.n_labels_))
    if VERSION >= (1, 7):  # its diagram has a table of the parameters
        assert all(name in case.make()._repr_html_() for name in case.make().get_params(deep=False))
    with sklearn.config_context(display="text"):
        assert case.make()._repr_html_() is None
    if HAS_CHECKS:
        from sklearn.utils import get_tags

        tags = get_tags(model)
        assert tags.classifier_tags.multi_label and tags.input_tags.sparse and tags.requires_fit
        assert tags.target_tags.required and tags.target_tags.single_output and tags.classifier_tags.multi_class


def test_decision_trees_are_taken_for_a_multi_label_classifier():
    X, Y = problem()
    model = selection.BRDT().fit(X, Y)
    assert is_classifier(model) and model.classes_.tolist() == list(range(Y.shape[1]))
    with pytest.raises(NotFittedError):
        selection.BRDT().classes_  # noqa: B018
    found = cross_val_score(selection.BRDT(), X, Y, cv=2, scoring="roc_auc_ovr", error_score="raise")
    assert (found > 0.5).all()


@model_of_rows
def test_a_pipeline_trains_and_predicts_as_its_steps_do(case):
    X, Y = case.problem()
    pipeline = make_pipeline(MaxAbsScaler(), case.make()).fit(X, Y)
    scaled = MaxAbsScaler().fit_transform(X)
    alone = case.make().fit(scaled, Y)
    for how in ("predict", "predict_proba"):
        np.testing.assert_array_equal(dense(getattr(pipeline, how)(X)), dense(getattr(alone, how)(scaled)))
    assert pipeline.get_params()[f"{case.cls.__name__.lower()}__{case.cls.PARAMETERS[0].name}"] is not None


@each_model_once
def test_its_score_is_the_precision_at_1_in_every_form(case):
    X, Y = case.problem()
    model = fitted(case)
    X, Y = X[:20], Y[:20]
    first = model.predict_topk(X, k=1).labels[:, 0]
    expected = sum(bool(row[label]) for row, label in zip(Y, first)) / len(Y)
    assert 0 < expected <= 1
    lists = [np.flatnonzero(row).tolist() for row in Y]
    for rows in (X, X.tolist() if case.takes_texts else sp.csc_array(X)):
        for labels in (Y, Y.astype(float), sp.csr_array(Y), lists):
            found = model.score(rows, labels)
            assert type(found) is float and found == expected
    assert metrics.scorer("P@1")(model, X, Y) == expected
    assert model.score(X, [[Y.shape[1] + 2]] * 20) == 0.0, "a label that no training row had is never found"
    assert np.isnan(model.score(X[:0], Y[:0]))


@each_model_once
def test_its_score_refuses_labels_that_do_not_fit(case):
    X, Y = case.problem()
    model = fitted(case)
    for labels, message in (
        (Y[:, 1:], f"Y has 6 labels, but {case.cls.__name__} was fitted to 7"),
        (np.hstack([Y, Y]), "Y has 14 labels"),
        (Y[1:], f"{len(Y) - 1} rows"),
        (Y * 0.5, "labels are 0 or 1"),
    ):
        with pytest.raises(ValueError, match=message):
            model.score(X, labels)
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        case.make().score(X, Y)


@each_model_once
def test_a_grid_search_without_a_measure_compares_by_the_score(case):
    X, Y = case.problem()
    name = next(name for name, value in case.make().get_params().items() if name != "model" and value is not None)
    value = case.make().get_params()[name]
    search = GridSearchCV(case.make(), {name: [value]}, cv=KFold(2), error_score="raise").fit(X, Y)
    folds = [case.make().fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in KFold(2).split(X)]
    assert search.best_score_ == np.mean(folds)
    assert search.score(X, Y) == fitted(case).score(X, Y)


@each_once
def test_labels_are_given_by_either_name_and_not_by_both(case):
    X, Y = case.problem()
    assert_same(results(case.make().fit(X, Y=Y)), results(fitted(case)))
    with pytest.raises(TypeError, match="both Y and y"):
        case.make().fit(X, Y, Y=Y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        case.make().fit(X)
    if case.predicts:
        assert fitted(case).score(X, Y=Y) == fitted(case).score(X, Y)
        with pytest.raises(ValueError, match="requires y to be passed"):
            fitted(case).score(X)


@model_of_rows
def test_dense_rows_are_predicted_part_by_part(case, monkeypatch):
    X, _ = table()
    model = case.make().fit(*table())
    expected = results(model, X)
    monkeypatch.setattr(of_rows, "PREDICTED", 100)
    assert_same(results(model, X), expected, rounded=case.rounds)
    with pytest.warns(UserWarning, match="does not have valid feature names") as warned:
        model.predict_topk(X.to_numpy())
    assert {warning.filename for warning in warned} == {__file__}
    with pytest.raises(ValueError, match="at row 40, column 2"):
        model.predict_proba(X.mask(np.indices(X.shape)[0] * 14 + np.indices(X.shape)[1] == 40 * 14 + 2))
    with pytest.raises(ValueError, match="has 13 features, but .* is expecting 14"):
        fitted(case).predict_topk(X.to_numpy()[:, 1:])


@pytest.mark.parametrize("method", ["predict", "predict_topk", "predict_proba", "decision_function"])
def test_many_dense_rows_of_integers_take_little_memory(method, monkeypatch):
    monkeypatch.setattr(of_rows, "PREDICTED", 1 << 17)
    X = np.random.default_rng(0).integers(0, 256, (25_000, 256), np.uint8)
    model = OneVsRest().fit(X[:200], [[i % 3, 3 + i % 2] for i in range(200)])
    predict = getattr(model, method)
    predict(X[:5])
    tracemalloc.start()
    predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * X.nbytes


SETS_AND_RANKINGS = ["f1_micro", "precision_macro", "jaccard_weighted", "accuracy", "average_precision", "roc_auc"]


@pytest.mark.parametrize("measure", SETS_AND_RANKINGS)
def test_measures_of_sets_and_rankings_take_sparse_predictions(measure):
    X, Y = problem()
    how = {"cv": 2, "scoring": measure, "error_score": "raise"}
    sparse, dense_ = (cross_val_score(model, X, Y, **how) for model in (OneVsRest(), DenseOutput(OneVsRest())))
    assert sparse.tolist() == dense_.tolist() and (sparse > 0).all()


def test_measures_of_probabilities_take_dense_predictions():
    X, Y = problem()
    measures = ["average_precision", "roc_auc_ovr", "neg_log_loss", "neg_brier_score"]
    known = [measure for measure in measures if measure != "neg_brier_score" or VERSION >= (1, 7)]
    found = cross_validate(DenseOutput(OneVsRest()), X, Y, cv=2, scoring=known, error_score="raise")
    for i, (train, test) in enumerate(KFold(2).split(X)):
        probabilities = OneVsRest().fit(X[train], Y[train]).predict_proba(X[test]).toarray()
        expected = average_precision_score(Y[test], probabilities)
        assert found["test_average_precision"][i] == pytest.approx(expected)
    assert label_ranking_loss(Y[test], DenseOutput(OneVsRest()).fit(X[train], Y[train]).predict_proba(X[test])) < 0.5
    grid = {"model__C": [0.001, 10.0]}
    search = GridSearchCV(DenseOutput(OneVsRest()), grid, cv=2, scoring="average_precision", error_score="raise")
    assert search.fit(X, Y).best_params_ == {"model__C": 10.0}
