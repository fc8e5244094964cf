"""``metrics.scorer`` in scikit-learn's model selection."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from contract.estimators import problem
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from xmlcore import PLT, OneVsRest, TextClassifier, metrics
from xmlcore.models import DenseOutput


def test_a_scorer_is_the_measure_and_of_losses_the_negative():
    X, Y = problem()
    model = OneVsRest(max_iter=5, tol=1.0).fit(X, Y)
    for measure in (*metrics.MEASURES.values(), *metrics.SCORE_MEASURES.values()):
        check_scorer(measure, model, X, Y)


def check_scorer(measure, model, X, Y):
    of_labels = {"inv_ps": metrics.inverse_propensity(Y)} if measure.needs == "inv_ps" else {}
    if measure.needs == "hierarchy":
        names = [str(j) for j in range(Y.shape[1])]
        of_labels = {"hierarchy": metrics.Hierarchy({names[0]: "group", names[1]: "group"}, names)}
    if measure.name in metrics.MEASURES:
        expected = metrics.measures(Y, model.predict_topk(X, 3), 3, names=[measure.name], **of_labels)[measure.name][-1]
        assert metrics.value(Y, model.predict_topk(X, 3), measure.name.replace("@k", "@3"), **of_labels) == expected
    else:
        expected = measure.compute(Y, model.predict_proba(X))
    scorer = metrics.scorer(measure.name.replace("@k", "@3"), **of_labels)
    assert scorer(model, X, Y) == (-expected if measure.smaller_is_better else expected)
    again = pickle.loads(pickle.dumps(scorer))
    assert again(model, sp.csr_array(X), [np.flatnonzero(row).tolist() for row in Y]) == pytest.approx(
        scorer(model, X, Y)
    )
    assert repr(scorer).startswith(f"scorer('{scorer.measure}'")


def test_cross_validation_scores_each_fold_as_a_loop_would():
    X, Y = problem()
    found = cross_val_score(PLT(), X, Y, cv=KFold(3), scoring=metrics.scorer("P@2"))
    expected = []
    for train, test in KFold(3).split(X):
        ranking = PLT().fit(X[train], Y[train]).predict_topk(X[test], 2)
        expected.append(metrics.precision_at_k(Y[test], ranking, 2)[-1])
    assert found.tolist() == expected


def test_a_grid_search_over_texts_finds_the_better_parameter():
    texts = ["red apple", "green apple", "red car", "fast car"] * 6
    Y = [[0], [0], [1, 2], [1, 2]] * 6
    pipeline = make_pipeline(TfidfVectorizer(), MaxAbsScaler(), "passthrough", PLT(max_leaf_labels=2))
    grid = {"plt__C": [1e-6, 10.0], "tfidfvectorizer__lowercase": [True, False]}
    scorer = metrics.scorer("nDCG@2")
    search = GridSearchCV(pipeline, grid, scoring=scorer, cv=KFold(3), error_score="raise").fit(texts, Y)
    assert search.best_params_["plt__C"] == 10.0 and search.best_score_ == 1.0
    assert scorer(search, texts, Y) == 1.0 and search.score(texts, Y) == 1.0


def test_a_model_without_rankings_is_scored_by_its_probabilities():
    X, Y = problem()
    model = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    expected = metrics.precision_at_k(Y, model.predict_proba(X), 3)[-1]
    assert metrics.scorer("P@3")(model, X, Y) == expected


@pytest.mark.parametrize("make", [
    lambda: PLT(), lambda: DenseOutput(PLT()), lambda: make_pipeline(PLT()),
    lambda: OneVsRestClassifier(LogisticRegression()),
])  # fmt: skip
def test_the_scorer_of_the_hamming_loss_measures_decisions(make):
    X, Y = problem()
    model = make().fit(X, Y.astype(int))
    for threshold in (0.089, 0.5):
        inner = getattr(model, "steps", [("", model)])[-1][1]
        inner.threshold_ = threshold  # which scikit-learn's do not heed
        assert metrics.scorer("Hamming loss")(model, X, Y) == -metrics.hamming_loss(Y, model.predict(X)) < 0


@pytest.mark.parametrize("labels", [["a", "b", "c"] * 3, [["a"], ["b", "c"], []] * 3, [4, 2, 2] * 3], ids=str)
def test_the_hamming_loss_of_texts_is_that_of_names_and_classes(labels):
    model = TextClassifier(OneVsRest()).fit(["red", "green", "blue"] * 3, labels)
    assert metrics.scorer("Hamming loss")(model, ["red", "green", "blue"] * 3, labels) == 0
    assert metrics.scorer("Hamming loss")(model, ["red", "green"], labels[1:3]) < 0


@pytest.mark.parametrize("given, options, error, message", [
    (lambda model, X: model.predict_topk(X, 3), {}, TypeError, "a Ranking has scores for its best labels alone"),
    (lambda model, X: [[0], [1, 2]] * 24, {}, ValueError, "the scores are no matrix"),
    (lambda model, X: model.predict_proba(X), {"labels": np.arange(7) < 3}, ValueError, "no measure of some labels"),
    (lambda model, X: model.predict_proba(X), {"n_labels": 99}, ValueError, "99"),
])  # fmt: skip
def test_measures_of_scores_refuse_what_they_cannot_heed(given, options, error, message):
    X, Y = problem()
    model = PLT().fit(X, Y)
    for measure in metrics.SCORE_MEASURES:
        for true in (Y, [np.flatnonzero(row).tolist() for row in Y]):
            with pytest.raises(error, match=message):
                metrics.value(true, given(model, X), measure, **options)
        assert metrics.value(Y, model.predict_proba(X), measure, n_labels=7) >= 0


@pytest.mark.parametrize("measure, inv_ps, error, message", [
    ("P", None, ValueError, "measure must be one of P@k"),
    ("ranking loss@3", None, ValueError, "ranking loss"),
    ("F@3", None, ValueError, "not 'F@3'"),
    (3, None, ValueError, "measure must be"),
    ("p@1", None, ValueError, r"not 'p@1'. Did you mean P@1\?"),
    ("micro AUC", None, ValueError, r"Did you mean micro-AUC\?"),
    ("hamming_loss", None, ValueError, r"Did you mean Hamming loss\?"),
    ("micro-f1", None, ValueError, r"Did you mean micro F1@5\?"),
    ("nothing", None, ValueError, "not 'nothing'$"),
    ("PSP@3", None, TypeError, "PSP@k needs inv_ps"),
    ("P@3", [1.0], TypeError, "P@k takes no inv_ps"),
])  # fmt: skip
def test_unknown_measures_and_missing_weights_are_refused(measure, inv_ps, error, message):
    with pytest.raises(error, match=message):
        metrics.scorer(measure, inv_ps)
