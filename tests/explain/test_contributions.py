"""Contributions add up to the score, and are those of the model's twin."""

import math
from types import SimpleNamespace

import naive
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from explain.fitted import NAMES, D, L, data, ldsm, log_proba, plt, unit

from xmlcore import PLT, LdSM, OneVsRest, explain
from xmlcore.robustness import GaussianNoise
from xmlcore.robustness.training import AdversarialTraining

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped", "ignore:.*splits separated nothing")


@pytest.mark.parametrize("unlabelled", [False, True])
@pytest.mark.parametrize("n_estimators", [1, 3])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_contributions_of_a_label_tree_add_up_to_log_p(loss, n_estimators, unlabelled):
    model = plt(unlabelled, loss=loss, C=1.0, n_estimators=n_estimators)
    X, _ = data(1, n=12)
    proba = model.predict_proba(X).toarray()
    for i in range(12):
        for label in (0, 5, 13):
            frame = explain.contributions(model, X[[i]], label)
            logs = [log_proba(model, tree, unit(X, i), label) for tree in range(n_estimators)]
            empty = [log_proba(model, tree, np.zeros(D), label) for tree in range(n_estimators)]
            total, baseline = np.log(np.mean(np.exp(logs))), np.log(np.mean(np.exp(empty)))
            assert frame.attrs["kind"] == explain.kind_of(model) == ("log_proba" if loss == "logistic" else "log_score")
            assert frame.attrs["total"] == pytest.approx(total, rel=1e-9)
            assert frame.attrs["baseline"] == pytest.approx(baseline, rel=1e-9)
            assert frame.attrs["baseline"] + frame["contribution"].sum() == pytest.approx(total, rel=1e-9, abs=1e-12)
            assert proba[i, label] == pytest.approx(math.exp(total), rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_contributions_of_a_tree_are_integrated_gradients(loss):
    model = plt(loss=loss, C=1.0)
    X, _ = data(2, n=3)
    nodes = model.linear_nodes()
    W, b = nodes.weights.toarray().astype(np.float64), nodes.bias.astype(np.float64)
    for i, label in enumerate((3, 7, 11)):
        u, path = unit(X, i), nodes.path(label)
        path = path[np.isfinite(b[path])]
        steps = (np.arange(2000) + 0.5) / 2000  # the midpoint rule along the straight line from the empty row
        margins = steps[:, None] * (W[path] @ u) + b[path]
        slopes = 1 / (1 + np.exp(margins)) if loss == "logistic" else 2 * np.maximum(0, 1 - margins)
        expected = u * (slopes.mean(axis=0) @ W[path])
        frame = explain.contributions(model, X[[i]], label).sort_values("feature")
        np.testing.assert_allclose(frame["contribution"], expected[frame["feature"]], atol=1e-6)


def test_each_tree_counts_by_what_it_adds_to_the_mean():
    model = plt(n_estimators=3, loss="logistic")
    X, _ = data(3, n=1)
    label = 4

    def mean(a, b):
        return (a - b) / (math.log(a) - math.log(b))

    p = [math.exp(log_proba(model, t, unit(X, 0), label)) for t in range(3)]
    q = [math.exp(log_proba(model, t, np.zeros(D), label)) for t in range(3)]
    expected = np.zeros(D)
    for t in range(3):
        nodes = model.linear_nodes(t)
        weights = {v: dict(enumerate(nodes.weights[[v]].toarray()[0].tolist())) for v in nodes.path(label)}
        own = [(weights[v], float(nodes.bias[v])) for v in nodes.path(label)]
        parts, _, _ = naive.explain.share_along_path(dict(enumerate(unit(X, 0).tolist())), own, "logistic")
        expected += mean(p[t], q[t]) / mean(sum(p), sum(q)) * np.array([parts[f] for f in range(D)])
    frame = explain.contributions(model, X, label)
    np.testing.assert_allclose(frame["contribution"], expected[frame["feature"]], rtol=1e-9)
    assert expected.sum() == pytest.approx(math.log(sum(p) / sum(q)), rel=1e-9)


@pytest.mark.parametrize("n_estimators", [1, 3])
def test_factors_that_are_always_0_or_1_contribute_nothing(n_estimators):
    X, Y = data()
    Y = Y.toarray()
    Y[:, 2], Y[:, 4] = False, True
    model = PLT(n_estimators=n_estimators, max_leaf_labels=14, loss="logistic", n_jobs=1).fit(X, Y)
    never, always = explain.contributions(model, X[[0]], 2), explain.contributions(model, X[[0]], 4)
    assert never.attrs["total"] == never.attrs["baseline"] == -np.inf and not never["contribution"].any()
    assert not always["contribution"].any()
    assert always.attrs["total"] == pytest.approx(0, abs=1e-12) == always.attrs["baseline"]
    assert len(never) == X[[0]].nnz


def test_contributions_to_a_margin_are_exact(models):
    model = models["OneVsRest"]
    X, _ = data(4, n=5)
    W = model.coef_.toarray().astype(np.float64)
    for i in range(5):
        frame = explain.contributions(model, X[[i]], 3)
        np.testing.assert_allclose(frame["contribution"], (W[3] * unit(X, i))[frame["feature"]], rtol=1e-12)
        assert frame.attrs["kind"] == "margin" and frame.attrs["baseline"] == model.intercept_[3]
        proba = model.predict_proba(X[[i]]).toarray()[0, 3]
        assert 1 / (1 + math.exp(-frame.attrs["total"])) == pytest.approx(proba, rel=1e-6)


@pytest.mark.parametrize("arity", [2, 3])
def test_contributions_to_a_share_add_up_to_p_of_ldsm(arity):
    model = ldsm(arity=arity, multiway_weight=0.1)
    X, Y = data(5, n=40)
    leaves = model.apply(X)
    assert np.diff(leaves.ptr).max() > 1
    proba = model.predict_proba(X).toarray()
    found = explain.attributions(model, X, np.full(40, 6))
    np.testing.assert_allclose(found.total, proba[:, 6], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), found.total, atol=1e-12)
    share = data()[1][:, [6]].sum() / 80
    assert (np.abs(found.baseline - share) < 1e-12).mean() > 0.3  # steps that no feature pulled towards are seldom
    empty = explain.attributions(model, np.zeros((1, D)), [6])
    assert empty.total[0] == pytest.approx(model.predict_proba(np.zeros((1, D)))[0, 6], rel=1e-6)
    assert empty.baseline[0] == pytest.approx(empty.total[0], abs=1e-12) and empty.contributions.nnz == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_has_each_feature_once_largest_first(models, name):
    X, _ = data(7, n=1)
    frame = explain.contributions(models[name], X, 1, feature_names=[f"f{j}" for j in range(D)])
    assert list(frame.columns) == ["feature", "name", "value", "contribution"]
    assert sorted(frame["feature"]) == X.indices.tolist()
    np.testing.assert_array_equal(frame["value"], X.toarray()[0, frame["feature"]])
    assert frame["name"].tolist() == [f"f{j}" for j in frame["feature"]]
    keys = list(zip(-frame["contribution"].abs(), frame["feature"]))
    assert keys == sorted(keys)


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_explained_the_same_alone_and_together(models, name):
    X, _ = data(8, n=20)
    labels = np.arange(20) % L
    found = explain.attributions(models[name], X, labels)
    for i in range(20):
        frame = explain.contributions(models[name], X.toarray()[i], int(labels[i])).sort_values("feature")
        np.testing.assert_array_equal(frame["contribution"], found.contributions[[i]].toarray()[0, frame["feature"]])
        assert (frame.attrs["total"], frame.attrs["baseline"]) == (found.total[i], found.baseline[i])
    none = explain.attributions(models[name], X[:0], [])
    assert none.contributions.shape == (0, D) and none.total.size == 0


def test_features_that_no_training_row_has_contribute_nothing(models):
    X, Y = data()
    wider = sp.csr_array(sp.hstack([X, sp.csr_array((80, 2))]))
    row = np.zeros(D + 2, np.float32)
    row[[0, 3, D]] = 1.0, 2.0, 2.0
    for model in (PLT(loss="logistic", n_jobs=1), OneVsRest(n_jobs=1), LdSM(n_estimators=2, n_jobs=1)):
        frame = explain.contributions(model.fit(wider, Y), row, 0)
        assert sorted(frame["feature"]) == [0, 3, D]
        assert frame.set_index("feature")["contribution"][D] == 0
        scores = explain.label_scores(model, row[None], [0])
        expected = {"log_proba": np.log(scores), "margin": np.log(scores / (1 - scores)), "share": scores}
        assert frame.attrs["total"] == pytest.approx(expected[frame.attrs["kind"]][0], rel=1e-4)


def test_models_without_explanations_are_refused_with_the_reason(models):
    X, _ = data(n=2)
    with pytest.raises(TypeError, match="SimpleNamespace cannot be explained: it has no linear_nodes"):
        explain.attributions(SimpleNamespace(n_features_in_=D, n_labels_=L), X, [0, 1])
    assert explain.can_explain(models["LdSM"]) and not explain.can_explain(object())
    assert explain.explains_features(models["LdSM"])
    for row, label, names, message in (
        (X, 0, None, "x has 2 rows"),
        (X[[0]], L, None, "label must be from 0 to 13"),
        (np.ones(D - 1), 0, None, "features"),
        (X[[0]], 0, ["a", "b"], "feature_names has 2 names"),
    ):
        with pytest.raises(ValueError, match=message):
            explain.contributions(models["PLT"], row, label, feature_names=names)
    with pytest.raises(ValueError, match="labels has the id 14 at row 1"):
        explain.attributions(models["PLT"], X, [0, 14])


def test_a_wrapped_model_is_explained_as_the_model_inside():
    X, Y = data()
    wrapped = AdversarialTraining(plt(), sigma=0.1).fit(X, Y)
    inner = wrapped.model_
    for work, arguments in (
        (explain.contributions, (X[[0]], 3)), (explain.path, (X[[0]], 3)), (explain.importance, (X,)),
        (explain.deletion_curve, (X[:3], [0, 1, 2])),
    ):  # fmt: skip
        pd.testing.assert_frame_equal(work(wrapped, *arguments), work(inner, *arguments))
    assert len(explain.stability(wrapped, X[[0]], 3, GaussianNoise(0.1), n_repeats=2)) == 2


def test_double_sampling_is_explained_by_its_pair_features(models):
    model, (X, _) = models["pairs"], data(6, n=8)
    frame = explain.contributions(model, X[[7]], 2)
    phi = model.pair_features(X[[7]], np.array([[2]]))[0, 0]
    assert sorted(frame["feature"]) == list(range(10)) and set(frame["name"]) == set(model.feature_names_)
    np.testing.assert_allclose(frame.sort_values("feature")["value"], phi)
    np.testing.assert_allclose(frame.sort_values("feature")["contribution"], phi * model.weights_)
    assert frame.attrs == {"baseline": 0.0, "total": pytest.approx(phi @ model.weights_), "kind": "score"}
    assert explain.can_explain(model) and not explain.explains_features(model)


def test_magnitude_is_the_largest_values_ties_by_id():
    assert explain.magnitude([0.0, -2.0, 1.0, 2.0, 0.5], n=3) == [(1, -2.0), (3, 2.0), (2, 1.0)]
    assert explain.magnitude(sp.csr_array([[0.0, 3.0]]), n=5) == [(1, 3.0)]
    assert explain.magnitude([0.0, 0.0]) == []


def test_a_model_that_is_not_fitted_is_refused():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        explain.stability(PLT(), np.ones((1, 3)), 0, GaussianNoise(0.1))
