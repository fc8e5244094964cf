"""Explanations add up to what the model says, and name what it relies on."""

import math
from types import SimpleNamespace

import naive
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import spearmanr

from xmlcore import PLT, DoubleSampling, LdSM, OneVsRest, explain
from xmlcore._kernels import explain as kernels
from xmlcore._kernels.csr import Rows
from xmlcore.arrays import read_only
from xmlcore.explain import _many_rows
from xmlcore.progress import Cancelled
from xmlcore.robustness import GaussianNoise
from xmlcore.robustness.training import AdversarialTraining
from xmlcore.validation import csr_parts

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped", "ignore:.*splits were undone")
D, L = 30, 14


def data(seed=0, n=80, unlabelled=False):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, D), density=0.3, rng=rng, dtype=np.float32, format="csr", data_sampler=rng.standard_normal)
    Y = rng.random((n, L)) < 0.12
    Y[np.arange(n), rng.integers(0, L, n)] = True
    if unlabelled:
        Y[:5] = False
    X = X.toarray()
    X[:, :L] += Y
    return sp.csr_array(X.astype(np.float32)), sp.csr_array(Y)


def plt(unlabelled=False, **params):
    settings = {"max_leaf_labels": 3, "weight_threshold": 0.02, "n_jobs": 1} | params
    return PLT(**settings).fit(*data(unlabelled=unlabelled))


def ldsm(**params):
    settings = {"n_estimators": 3, "max_nodes": 30, "n_epochs": 5, "n_jobs": 1, "integrity_weight": 1.0} | params
    return LdSM(**settings).fit(*data())


@pytest.fixture(scope="module")
def models():
    return {"PLT": plt(), "PLTs": plt(n_estimators=3), "OneVsRest": OneVsRest(n_jobs=1).fit(*data()), "LdSM": ldsm()}


NAMES = ("PLT", "PLTs", "OneVsRest", "LdSM")


class Pairs:
    """What :mod:`xmlcore.explain` asks of DoubleSampling."""

    n_features_in_, n_labels_ = D, L
    feature_names_ = ["common", "largest", "length"]
    weights_ = np.array([0.5, -1.0, 0.25])

    def pair_features(self, X, classes):
        X = X.toarray().astype(np.float64)
        out = np.empty((*classes.shape, 3))
        out[..., 0] = np.take_along_axis(X, classes, axis=1)
        out[..., 1] = X.max(axis=1)[:, None]
        out[..., 2] = np.linalg.norm(X, axis=1)[:, None]
        return out

    def predict_proba(self, X, threshold=0.0):
        classes = np.tile(np.arange(L), (X.shape[0], 1))
        score = np.exp(self.pair_features(X, classes) @ self.weights_)
        return sp.csr_array(score / score.sum(axis=1, keepdims=True))

    def predict_topk(self, X, k=5, progress=None):
        best = np.argsort(-self.predict_proba(X).toarray(), axis=1)[:, :k]
        return SimpleNamespace(labels=best.astype(np.int32))


def log_proba(model, tree, u, label):
    """Log P(label | a row of length 1, or shorter), of one tree, in float64."""
    nodes = model.linear_nodes(tree)
    margins = nodes.weights.astype(np.float64) @ u + nodes.bias
    return sum(naive.plt_search.log_probability(float(margins[v]), nodes.loss) for v in nodes.path(label))


def unit(X, i):
    x = X[[i]].toarray()[0].astype(np.float64)
    return x / (np.linalg.norm(x) or 1.0)


# Contributions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unlabelled", [False, True])
@pytest.mark.parametrize("n_estimators", [1, 3])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_contributions_of_a_label_tree_add_up_to_the_log_probability(loss, n_estimators, unlabelled):
    model = plt(unlabelled, loss=loss, C=1.0, n_estimators=n_estimators)
    X, _ = data(1, n=12)
    proba = model.predict_proba(X).toarray()
    for i in range(12):
        for label in (0, 5, 13):
            frame = explain.contributions(model, X[[i]], label)
            logs = [log_proba(model, tree, unit(X, i), label) for tree in range(n_estimators)]
            empty = [log_proba(model, tree, np.zeros(D), label) for tree in range(n_estimators)]
            total, baseline = np.log(np.mean(np.exp(logs))), np.log(np.mean(np.exp(empty)))
            assert frame.attrs["kind"] == "log_proba"
            assert frame.attrs["total"] == pytest.approx(total, rel=1e-9)
            assert frame.attrs["baseline"] == pytest.approx(baseline, rel=1e-9)
            assert frame.attrs["baseline"] + frame["contribution"].sum() == pytest.approx(total, rel=1e-9, abs=1e-12)
            assert proba[i, label] == pytest.approx(math.exp(total), rel=1e-4, abs=1e-7)


def test_one_feature_by_hand():
    model = PLT(C=1.0, weight_threshold=0).fit([[2.0], [3.0], [1.0], [0.0]], [[0], [0], [1], [1]])
    frame = explain.contributions(model, [[5.0]], 0)
    nodes = model.linear_nodes()
    (leaf,) = nodes.path(0)
    w, b = float(nodes.weights.toarray()[leaf, 0]), float(nodes.bias[leaf])
    assert frame["feature"].tolist() == [0] and frame["value"].tolist() == [5.0]
    assert frame.attrs["baseline"] == pytest.approx(-math.log(1 + math.exp(-b)))
    assert frame.attrs["total"] == pytest.approx(-math.log(1 + math.exp(-(w + b))))
    assert frame["contribution"][0] == pytest.approx(frame.attrs["total"] - frame.attrs["baseline"])


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
    model = plt(n_estimators=3)
    X, _ = data(3, n=1)
    label = 4

    def mean(a, b):
        return (a - b) / (math.log(a) - math.log(b))

    p = [math.exp(log_proba(model, t, unit(X, 0), label)) for t in range(3)]
    q = [math.exp(log_proba(model, t, np.zeros(D), label)) for t in range(3)]
    expected = np.zeros(D)
    for t in range(3):
        nodes = model.linear_nodes(t)
        own = [
            (dict(enumerate(nodes.weights[[v]].toarray()[0].tolist())), float(nodes.bias[v])) for v in nodes.path(label)
        ]
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
    model = PLT(n_estimators=n_estimators, max_leaf_labels=14, n_jobs=1).fit(X, Y)
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
def test_contributions_to_a_share_add_up_to_the_probability_of_ldsm(arity):
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


def test_contributions_to_a_pair_are_weights_times_its_features():
    X, _ = data(6, n=2)
    model = Pairs()
    frame = explain.contributions(model, X[[1]], 3)
    values = model.pair_features(X[[1]], np.array([[3]]))[0, 0]
    assert set(frame["name"]) == set(model.feature_names_) and list(frame.columns)[:2] == ["feature", "name"]
    np.testing.assert_allclose(frame.sort_values("feature")["contribution"], model.weights_ * values)
    np.testing.assert_allclose(frame.sort_values("feature")["value"], values)
    assert frame.attrs == {"baseline": 0.0, "total": pytest.approx(model.weights_ @ values), "kind": "score"}
    assert (frame["contribution"].abs().diff().dropna() <= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_has_each_feature_of_the_row_once_largest_first_with_its_value(models, name):
    X, _ = data(7, n=1)
    frame = explain.contributions(models[name], X, 1, feature_names=[f"f{j}" for j in range(D)])
    assert list(frame.columns) == ["feature", "name", "value", "contribution"]
    assert sorted(frame["feature"]) == X.indices.tolist()
    np.testing.assert_array_equal(frame["value"], X.toarray()[0, frame["feature"]])
    assert frame["name"].tolist() == [f"f{j}" for j in frame["feature"]]
    keys = list(zip(-frame["contribution"].abs(), frame["feature"]))
    assert keys == sorted(keys)


@pytest.mark.parametrize("name", NAMES)
def test_many_rows_are_explained_as_each_alone(models, name):
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
    for model in (PLT(n_jobs=1), OneVsRest(n_jobs=1), LdSM(n_estimators=2, n_jobs=1)):
        frame = explain.contributions(model.fit(wider, Y), row, 0)
        assert sorted(frame["feature"]) == [0, 3, D]
        assert frame.set_index("feature")["contribution"][D] == 0
        scores = explain.label_scores(model, row[None], [0])
        expected = {"log_proba": np.log(scores), "margin": np.log(scores / (1 - scores)), "share": scores}
        assert frame.attrs["total"] == pytest.approx(expected[frame.attrs["kind"]][0], rel=1e-4)


def test_what_cannot_be_explained_is_refused_with_the_reason(models):
    X, _ = data(n=2)
    with pytest.raises(TypeError, match="SimpleNamespace cannot be explained: it has no linear_nodes"):
        explain.attributions(SimpleNamespace(n_features_in_=D, n_labels_=L), X, [0, 1])
    assert explain.can_explain(models["LdSM"]) and not explain.can_explain(object())
    assert explain.explains_features(models["LdSM"]) and not explain.explains_features(object())
    with pytest.raises(ValueError, match="x has 2 rows"):
        explain.contributions(models["PLT"], X, 0)
    with pytest.raises(ValueError, match="label must be from 0 to 13"):
        explain.contributions(models["PLT"], X[[0]], L)
    with pytest.raises(ValueError, match="features"):
        explain.contributions(models["PLT"], np.ones(D - 1), 0)
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        explain.contributions(models["PLT"], X[[0]], 0, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="labels has the id 14 at row 1"):
        explain.attributions(models["PLT"], X, [0, 14])


def test_a_wrapped_model_is_explained_as_the_model_inside():
    X, Y = data()
    wrapped = AdversarialTraining(plt(), sigma=0.1).fit(X, Y)
    inner = wrapped.model_
    pd.testing.assert_frame_equal(explain.contributions(wrapped, X[[0]], 3), explain.contributions(inner, X[[0]], 3))
    pd.testing.assert_frame_equal(explain.path(wrapped, X[[0]], 3), explain.path(inner, X[[0]], 3))
    pd.testing.assert_frame_equal(explain.importance(wrapped, X), explain.importance(inner, X))
    pd.testing.assert_frame_equal(
        explain.deletion_curve(wrapped, X[:3], [0, 1, 2]), explain.deletion_curve(inner, X[:3], [0, 1, 2])
    )
    assert len(explain.stability(wrapped, X[[0]], 3, GaussianNoise(0.1), n_repeats=2)) == 2


def test_double_sampling_is_explained_by_its_pair_features():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 5, 60)
    X = rng.poisson(0.4, (60, 20)) + 3 * np.eye(5, 20, dtype=int)[classes]
    model = DoubleSampling(n_candidates=5, random_state=0).fit(X, [[c] for c in classes.tolist()])
    frame = explain.contributions(model, X[7], 2)
    phi = model.pair_features(X[[7]], np.array([[2]]))[0, 0]
    assert sorted(frame["feature"]) == list(range(10)) and set(frame["name"]) == set(model.feature_names_)
    np.testing.assert_allclose(frame.sort_values("feature")["contribution"], phi * model.weights_)
    assert frame.attrs["total"] == pytest.approx(phi @ model.weights_) and frame.attrs["kind"] == "score"
    assert len(explain.importance(model, X, n=None)) == 10
    found = explain.deletion_curve(model, X[:4], classes[:4], methods=("magnitude", "random"), counts=(0, 2))
    proba = model.predict_proba(X[:4]).toarray()[np.arange(4), classes[:4]]
    np.testing.assert_allclose(found["score"][:4], proba, rtol=1e-6)
    assert explain.can_explain(model) and not explain.explains_features(model)


# Kernels --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "margin"])
def test_sharing_out_along_a_path_is_as_its_twin_does(loss):
    rng = np.random.default_rng(0)
    X = sp.random_array((15, 12), density=0.4, rng=rng, format="csr")
    W = sp.random_array((9, 12), density=0.6, rng=rng, dtype=np.float32, format="csr", data_sampler=rng.standard_normal)
    bias = rng.standard_normal(9).astype(np.float32)
    bias[4] = np.inf
    nodes = rng.integers(0, 9, 30)
    ptr = np.concatenate([[0], np.sort(rng.integers(0, 31, 14)), [30]])
    parts, before, after = np.zeros(X.nnz), np.empty(15), np.empty(15)
    number = {"logistic": kernels.LOGISTIC, "squared_hinge": kernels.SQUARED_HINGE, "margin": kernels.MARGIN}[loss]
    x = csr_parts(X)
    classifiers = kernels.Classifiers(*csr_parts(W), bias, number)
    kernels.share_along_paths(Rows(*x), kernels.Paths(ptr, nodes), classifiers, parts, before, after)
    for i in range(15):
        row = dict(zip(X[[i]].indices.tolist(), X[[i]].data.tolist()))
        own = [
            (dict(zip(W[[v]].indices.tolist(), W[[v]].data.tolist())), float(bias[v]))
            for v in nodes[ptr[i] : ptr[i + 1]]
        ]
        expected, baseline, total = naive.explain.share_along_path(row, own, loss)
        np.testing.assert_allclose(parts[x[0][i] : x[0][i + 1]], list(expected.values()), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose([before[i], after[i]], [baseline, total], rtol=1e-12)


@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e-7, 0.9e-5, 1.1e-5])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_margins_that_cancel_share_out_by_the_slope(loss, distance):
    """Two features of nearly opposite parts: each contributes much, both together next to nothing."""
    w = np.array([3.0, -3.0])
    x = np.array([0.5, 0.5 - distance / 3])
    number = kernels.LOGISTIC if loss == "logistic" else kernels.SQUARED_HINGE
    parts, before, after = np.zeros(2), np.empty(1), np.empty(1)
    ptr, ids = np.array([0, 2]), np.array([0, 1], np.int32)
    classifiers = kernels.Classifiers(ptr, ids, w.astype(np.float32), np.array([-0.5], np.float32), number)
    paths = kernels.Paths(np.array([0, 1]), np.array([0]))
    kernels.share_along_paths(Rows(ptr, ids, x), paths, classifiers, parts, before, after)
    slope = 1 / (1 + math.exp(-0.5)) if loss == "logistic" else 3.0
    np.testing.assert_allclose(parts, slope * w * x, rtol=1e-5)
    assert before[0] + parts.sum() == pytest.approx(after[0], abs=1e-12)


@pytest.mark.parametrize("arity, multiway", [(2, 1.0), (2, 0.1), (3, 0.1)])
def test_sharing_out_along_ways_is_as_its_twin_does(arity, multiway):
    model = ldsm(arity=arity, multiway_weight=multiway)
    X, _ = data(9, n=25)
    labels = np.arange(25) % L
    found = explain.attributions(model, X, labels)
    forest, feature_of = model.forest_, model.feature_of_column_
    trees = []
    for t, tree in enumerate(model.trees_):
        weights = [{} for _ in tree.parent]
        for v in tree.inner.tolist():
            g = forest.group[forest.root[t] + v]
            for q in range(forest.column_ptr[g], forest.column_ptr[g + 1]):
                for c, child in enumerate(tree.children[v].tolist()):
                    weights[child][int(feature_of[forest.columns[q]])] = float(forest.weights[arity * q + c])
        hist = [
            dict(zip(tree.histograms[[v]].indices.tolist(), tree.histograms[[v]].data.tolist()))
            for v in range(tree.parent.size)
        ]
        trees.append(
            {
                "children": [[c for c in row if c >= 0] for row in tree.children.tolist()],
                "weights": weights,
                "bias": forest.bias[forest.root[t] : forest.root[t + 1]].astype(float).tolist(),
                "hist": hist,
                "n_rows": tree.n_samples.tolist(),
            }
        )
    for i in range(25):
        own = X[[i]]
        parts, baseline, total = naive.explain.share_along_ways(
            trees, dict(zip(own.indices.tolist(), own.data.tolist())), int(labels[i])
        )
        np.testing.assert_allclose(found.contributions[[i]].data, list(parts.values()), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose([found.baseline[i], found.total[i]], [baseline, total], rtol=1e-9)


def test_a_row_is_followed_to_all_leaves_however_many():
    """What the kernel knows of the nodes on a row's ways outgrows the room that it starts with."""
    model = ldsm(max_nodes=200, n_attempts=10, n_estimators=2)
    (bias,) = read_only((np.full_like(model.forest_.bias, 50.0),))
    model.forest_ = model.forest_._replace(bias=bias)  # every child's regressor reaches the threshold
    X, _ = data(16, n=20)
    labels = np.arange(20) % L
    n_leaves = [int((tree.children[:, 0] < 0).sum()) for tree in model.trees_]
    assert sum(explain.path(model, X[[0]], 0).groupby("tree")["leaf"].nunique() == n_leaves) == 2
    assert max(tree.parent.size for tree in model.trees_) > 100
    found = explain.attributions(model, X, labels)
    expected = model.predict_proba(X).toarray()[np.arange(20), labels]
    np.testing.assert_allclose(found.total, expected, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), found.total, atol=1e-12)
    for i in (0, 7):
        alone = explain.attributions(model, X[[i]], labels[[i]])
        np.testing.assert_array_equal(alone.contributions.toarray()[0], found.contributions[[i]].toarray()[0])


# Paths ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unlabelled", [False, True])
def test_the_path_of_a_label_tree_ends_in_the_labels_log_probability(unlabelled):
    model = plt(unlabelled, n_estimators=2)
    X, _ = data(10, n=1)
    names = [f"label {j}" for j in range(L)]
    frame = explain.path(model, X, 5, label_names=names)
    for t, part in frame.groupby("tree"):
        nodes = model.linear_nodes(t)
        assert part["node"].tolist() == nodes.path(5).tolist()
        assert part["depth"].tolist() == model.trees_[t].depth[part["node"]].tolist()
        assert part["log_proba"].iloc[-1] == pytest.approx(log_proba(model, t, unit(X, 0), 5), rel=1e-9)
        np.testing.assert_allclose(np.cumprod(part["factor"]), np.exp(part["log_proba"]))
        margins = nodes.weights.astype(np.float64) @ unit(X, 0) + nodes.bias
        np.testing.assert_allclose(part["margin"], margins[part["node"]])
        assert part["label"].tolist() == [-1] * (len(part) - 1) + [5]
        assert part["label_name"].tolist() == [""] * (len(part) - 1) + ["label 5"]
        assert part["n_labels"].iloc[-1] == 1 and (np.diff(part["n_labels"]) <= 0).all()
        assert unlabelled == (part["node"].iloc[0] == 0) == (part["n_labels"].iloc[0] == L)


def test_the_path_of_one_classifier_is_one_line(models):
    X, _ = data(10, n=1)
    frame = explain.path(models["OneVsRest"], X, 5)
    assert len(frame) == 1 and frame["label"][0] == 5 and frame["node"][0] == 0
    assert frame["factor"][0] == pytest.approx(models["OneVsRest"].predict_proba(X)[0, 5], rel=1e-6)


@pytest.mark.parametrize("arity", [2, 3])
def test_ways_through_decision_trees_lead_to_the_leaves_reached(arity):
    model = ldsm(arity=arity, multiway_weight=0.1)
    X, _ = data(11, n=20)
    leaves = model.apply(X)
    row = int(np.argmax(np.diff(leaves.ptr.reshape(-1)[: 20 + 1])))  # of most leaves in the first tree
    frame = explain.path(model, X[[row]], 3)
    ends = frame[frame["node"] == frame["leaf"]]
    for t, tree in enumerate(model.trees_):
        own = frame[frame["tree"] == t]
        reached = np.sort(leaves.of(row, t)).tolist()
        assert ends[ends["tree"] == t]["leaf"].tolist() == reached and set(own["leaf"]) == set(reached)
        np.testing.assert_array_equal(own["n_rows"], tree.n_samples[own["node"]])
        hist = tree.histograms.toarray()[own["node"], 3]
        np.testing.assert_allclose(own["share"], hist / own["n_rows"])
        for leaf, way in own.groupby("leaf"):
            assert way["depth"].tolist() == list(range(len(way)))
            assert way["change"].iloc[1:].sum() + way["share"].iloc[0] == pytest.approx(way["share"].iloc[-1])
            assert np.isnan(way["margin"].iloc[0]) and way["node"].iloc[-1] == leaf
            for (_, above), (_, line) in zip(way.iloc[:-1].iterrows(), way.iloc[1:].iterrows()):
                c = tree.children[int(above["node"])].tolist().index(int(line["node"])) + 1
                assert above[f"entered_{c}"] and above[f"margin_{c}"] == line["margin"]
        inner = own.drop_duplicates("node")
        for _, line in inner[inner["node"] != inner["leaf"]].iterrows():
            children = tree.children[int(line["node"])]
            passed = np.isin(children, own["node"])
            assert [line[f"entered_{c + 1}"] for c in range(arity)] == passed.tolist()
    proba = model.predict_proba(X[[row]]).toarray()[0, 3]
    assert (ends["share"] * ends["weight"]).sum() == pytest.approx(proba, rel=1e-6)
    assert ends["weight"].sum() == pytest.approx(1)


def test_pairs_have_no_path():
    with pytest.raises(TypeError, match="Pairs scores pairs of row and class: there is no path"):
        explain.path(Pairs(), np.ones(D), 0)


# Magnitude, agreement, stability --------------------------------------------------------------------------------------


def test_magnitude_is_the_largest_values_ties_by_id():
    assert explain.magnitude([0.0, -2.0, 1.0, 2.0, 0.5], n=3) == [(1, -2.0), (3, 2.0), (2, 1.0)]
    assert explain.magnitude(sp.csr_array([[0.0, 3.0]]), n=5) == [(1, 3.0)]
    assert explain.magnitude([0.0, 0.0]) == []
    with pytest.raises(ValueError, match="n must be"):
        explain.magnitude([1.0], n=0)


def frame_of(**parts):
    return pd.DataFrame({"feature": [int(name[1:]) for name in parts], "contribution": list(parts.values())})


def test_agreement_by_hand():
    a, b = frame_of(f0=4.0, f1=-3.0, f2=1.0), frame_of(f1=-3.0, f0=5.0, f7=0.5)
    found = explain.agreement(a, b, n=2)
    # sizes over 0, 1, 2, 7: (4, 3, 1, 0) and (5, 3, 0, 0.5)
    assert found == {"spearman": pytest.approx(0.8), "overlap": 1.0}
    assert explain.agreement(a, b, n=3)["overlap"] == pytest.approx(2 / 4)
    assert explain.agreement(a, a) == {"spearman": pytest.approx(1.0), "overlap": 1.0}


def test_agreement_shares_ranks_among_equals_as_scipy_does():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(-3, 4, (2, 12)).astype(float)
        found = explain.agreement(*(pd.DataFrame({"feature": range(12), "contribution": c}) for c in (a, b)))
        assert found["spearman"] == pytest.approx(spearmanr(np.abs(a), np.abs(b)).statistic)


def test_agreement_without_anything_to_rank():
    none, zero, one = frame_of(), frame_of(f1=0.0, f2=0.0), frame_of(f1=2.0)
    assert math.isnan(explain.agreement(one, one)["spearman"]) and explain.agreement(one, one)["overlap"] == 1
    assert math.isnan(explain.agreement(zero, zero)["spearman"]) and explain.agreement(zero, none)["overlap"] == 1
    assert explain.agreement(zero, one)["overlap"] == 0 == explain.agreement(none, one)["overlap"]
    assert math.isnan(explain.agreement(none, none)["spearman"])


class Noise:
    def __init__(self, sigma):
        self.sigma, self.calls = sigma, []

    def apply(self, X, rows=None, seed=0, *, model=None, Y=None, n_jobs=None):
        self.calls.append((X.shape, rows.tolist(), seed, Y.indices.tolist()))
        noise = [np.random.default_rng([seed, row]).standard_normal(X.shape[1]) for row in rows.tolist()]
        return sp.csr_array((X.toarray() + self.sigma * np.array(noise)).astype(np.float32))


@pytest.mark.parametrize("name", NAMES)
def test_without_noise_an_explanation_agrees_with_itself_and_noise_takes_it_away(models, name):
    X, _ = data(12, n=1)
    label = int(models[name].predict_topk(X, 1).labels[0, 0])
    noise = Noise(0.0)
    still = explain.stability(models[name], X, label, noise, n_repeats=3, seed=7)
    assert noise.calls == [((3, D), [0, 1, 2], 7, [label] * 3)]
    assert still["repeat"].tolist() == [0, 1, 2] and (still["overlap"] == 1).all()
    np.testing.assert_allclose(still["spearman"], 1)
    np.testing.assert_allclose(still["total"], still.attrs["total"])
    few, many = (
        explain.stability(models[name], X, label, Noise(sigma), n_repeats=20, n=5)["overlap"].mean()
        for sigma in (0.05, 3.0)
    )
    assert many < few <= 1


def test_stability_is_agreement_with_the_explanation_of_each_perturbed_row(models):
    X, _ = data(13, n=1)
    noise, model = Noise(0.3), models["PLT"]
    found = explain.stability(model, X, 2, noise, n_repeats=4, n=3, seed=1)
    rows = noise.apply(sp.csr_array(sp.vstack([X] * 4)), np.arange(4), 1, Y=sp.csr_array(np.eye(1)))
    clean = explain.contributions(model, X, 2)
    for i in range(4):
        other = explain.contributions(model, rows[[i]], 2)
        expected = explain.agreement(clean, other, n=3)
        assert found["spearman"][i] == pytest.approx(expected["spearman"])
        assert found["overlap"][i] == expected["overlap"] and found["total"][i] == other.attrs["total"]


# Many rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*NAMES, "pairs"])
def test_scores_of_one_label_are_the_models_probabilities(models, name, monkeypatch):
    model = models.get(name, Pairs())
    X, _ = data(14, n=30)
    labels = np.arange(30) % L
    monkeypatch.setattr(_many_rows, "PROBA_ROWS", 7)
    found = explain.label_scores(model, X, labels)
    expected = model.predict_proba(X).toarray()[np.arange(30), labels]
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-9)
    assert explain.label_scores(model, X[:0], []).shape == (0,)


@pytest.mark.parametrize("name", NAMES)
def test_removal_is_that_of_a_loop_over_rows(models, name, monkeypatch):
    model = models[name]
    X, _ = data(15, n=12)
    X = sp.csr_array(sp.vstack([X, sp.csr_array((1, D), dtype=np.float32)]))  # and a row without features
    labels = np.arange(13) % L
    methods, counts = ("contributions", "supporting", "magnitude", "random"), (0, 2, 1, 50)
    found = explain.deletion_curve(model, X, labels, methods=methods, counts=counts, seed=3)
    assert list(found.columns) == ["method", "removed", "row", "score"] and len(found) == 4 * 4 * 13
    table = found.set_index(["method", "removed", "row"])["score"].sort_index()
    for i in range(13):
        frame = explain.contributions(model, X[[i]], int(labels[i]))
        supporting = frame.sort_values(["contribution", "feature"], ascending=[False, True])
        orders = {
            "contributions": frame["feature"].tolist(),
            "supporting": supporting["feature"].tolist(),
            "magnitude": [f for f, _ in explain.magnitude(X[[i]], n=D)],
        }
        for method, order in orders.items():
            for count in counts:
                row = X[[i]].toarray()
                row[0, order[:count]] = 0
                expected = explain.label_scores(model, row, labels[[i]])[0]
                assert table[method, count, i] == pytest.approx(expected, rel=1e-5), (method, count, i)
        assert len({table[method, 0, i] for method in methods}) == 1
        assert len({table[method, 50, i] for method in methods}) == 1  # all are removed
    monkeypatch.setattr(_many_rows, "BLOCK_ENTRIES", 40)
    assert len(_many_rows._blocks(X, 1)) > 3
    again = explain.deletion_curve(model, X, labels, methods=methods, counts=counts, seed=3)
    pd.testing.assert_frame_equal(found, again, rtol=1e-12)
    other = explain.deletion_curve(model, X, labels, methods=("random",), counts=(2,), seed=4)
    assert (other["score"].to_numpy() != table["random", 2].to_numpy()).any()


def test_features_that_contribute_are_missed_more_than_large_or_random_ones(models):
    X, Y = data(16, n=60)
    for name in NAMES:
        labels = models[name].predict_topk(X, 1).labels[:, 0]
        found = explain.deletion_curve(models[name], X, labels, counts=(3,)).groupby("method")["score"].mean()
        assert found["contributions"] < found["magnitude"] and found["contributions"] < found["random"], name


def test_removal_refuses_what_it_cannot_do(models):
    X, _ = data(n=2)
    for methods, message in (((), "methods must be"), (("largest",), "methods must be"), (("random",) * 2, "once")):
        with pytest.raises(ValueError, match=message):
            explain.deletion_curve(models["PLT"], X, [0, 1], methods=methods)
    with pytest.raises(ValueError, match="a count of features to remove must be at least 0"):
        explain.deletion_curve(models["PLT"], X, [0, 1], counts=(-1,))
    with pytest.raises(ValueError, match="each once"):
        explain.deletion_curve(models["PLT"], X, [0, 1], counts=(1, 1))
    with pytest.raises(ValueError, match="those of pairs of row and class.*use methods="):
        explain.deletion_curve(Pairs(), X, [0, 1])
    found = explain.deletion_curve(Pairs(), X, [0, 1], methods=("magnitude", "random"), counts=(0, 1))
    assert len(found) == 8


@pytest.mark.parametrize("name", NAMES)
def test_importance_is_the_mean_over_explanations(models, name, monkeypatch):
    model = models[name]
    X, Y = data(17, n=25)
    labels = model.predict_topk(X, 1).labels[:, 0]
    sizes, sums, rows = np.zeros(D), np.zeros(D), np.zeros(D, int)
    for i in range(25):
        frame = explain.contributions(model, X[[i]], int(labels[i]))
        sizes[frame["feature"]] += frame["contribution"].abs()
        sums[frame["feature"]] += frame["contribution"]
        rows[frame["feature"]] += 1
    found = explain.importance(model, X, n=None, feature_names=[f"f{j}" for j in range(D)])
    assert list(found.columns) == ["feature", "name", "mean_abs", "mean", "n_rows"]
    assert (found["mean_abs"].diff().dropna() <= 0).all() and found["name"][0] == f"f{found['feature'][0]}"
    np.testing.assert_allclose(found["mean_abs"], sizes[found["feature"]] / 25)
    np.testing.assert_allclose(found["mean"], sums[found["feature"]] / 25, atol=1e-12)
    np.testing.assert_array_equal(found["n_rows"], rows[found["feature"]])
    assert found.attrs["n_pairs"] == 25 and found.attrs["n_left_out"] == 0 and found.attrs["n_features"] == len(found)
    monkeypatch.setattr(_many_rows, "RANK_ROWS", 4)
    top = explain.importance(model, X, labels, n=5)
    pd.testing.assert_frame_equal(top, found.drop(columns="name").head(5), rtol=1e-12)


def test_importance_takes_all_labels_of_rows(models):
    X, Y = data(18, n=25, unlabelled=True)
    found = explain.importance(models["PLT"], X, Y, n=None)
    rows, labels = Y.nonzero()
    expected = explain.importance(models["PLT"], X[rows], labels, n=None)
    pd.testing.assert_frame_equal(found, expected)
    assert found.attrs["n_pairs"] == rows.size and found.attrs["n_left_out"] == 5
    nothing = explain.importance(models["PLT"], X[:0])
    assert len(nothing) == 0 and nothing.attrs["n_pairs"] == 0


def test_importance_of_pairs_is_that_of_their_features():
    X, _ = data(19, n=10)
    found = explain.importance(Pairs(), X)
    assert set(found["name"]) == set(Pairs.feature_names_) and found.attrs["kind"] == "score"
    assert (found["n_rows"] == 10).all()


def test_long_work_reports_and_can_be_stopped(models):
    X, _ = data(20, n=30)
    for work in (
        lambda progress: explain.importance(models["PLT"], X, np.zeros(30, int), progress=progress),
        lambda progress: explain.deletion_curve(models["PLT"], X, np.zeros(30, int), progress=progress),
    ):
        said = []
        work(lambda *report, said=said: said.append(report))
        assert said[-1][1] == 1 and [f for _, f, _ in said] == sorted(f for _, f, _ in said)

        def stop(phase, fraction, detail=""):
            raise Cancelled

        with pytest.raises(Cancelled):
            work(stop)


@pytest.mark.real_data
@pytest.mark.parametrize("make", [PLT, OneVsRest, lambda: LdSM(n_estimators=5)], ids=["PLT", "OneVsRest", "LdSM"])
def test_on_bibtex_removing_what_contributes_takes_the_label_away_soonest(make, real_data):
    from xmlcore.datasets import read_dataset

    data = read_dataset(real_data / "bibtex" / "train.txt.gz", real_data / "bibtex" / "test.txt.gz", name="bibtex")
    model = make().fit(data.X_train, data.Y_train)
    X = data.X_test[:200]
    labels = model.predict_topk(X, 1).labels[:, 0]
    found = explain.deletion_curve(model, X, labels, counts=(0, 3, 10))
    mean = found.groupby(["method", "removed"])["score"].mean()
    for count, left in ((3, 0.8), (10, 0.6)):
        assert mean["contributions", count] < left * min(mean["magnitude", count], mean["random", count])


def test_rows_looked_at_with_one_seed_have_noise_of_their_own():
    X, Y = np.eye(6, dtype=np.float32) + 0.1, [[i % 3] for i in range(6)]
    model = PLT(tol=1.0).fit(X, Y)
    noise = GaussianNoise(0.3)
    totals = [explain.stability(model, X[:1], 0, noise, 4, row=row)["total"].tolist() for row in (0, 0, 1)]
    assert totals[0] == totals[1] and not set(totals[0]) & set(totals[2])


def test_a_model_that_is_not_fitted_says_so():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        explain.stability(PLT(), np.ones((1, 3)), 0, GaussianNoise(0.1))
