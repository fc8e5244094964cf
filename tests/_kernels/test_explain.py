"""The kernels of explanations give the same as their twins."""

import math

import naive
import numpy as np
import pytest
from explain.fitted import L, data, ldsm

from xmlcore import explain
from xmlcore._kernels import explain as kernels
from xmlcore._kernels.arrays import CsrRows
from xmlcore.arrays import read_only
from xmlcore.models.plt import LOSS_NUMBERS

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped", "ignore:.*splits separated nothing")


@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e-7, 0.9e-5, 1.1e-5])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_contributions_that_cancel_are_computed_from_the_slope(loss, distance):
    """Two features of nearly opposite parts: each contributes much, both together next to nothing."""
    w = np.array([3.0, -3.0])
    x = np.array([0.5, 0.5 - distance / 3])
    number = LOSS_NUMBERS[loss]
    parts, before, after = np.zeros(2), np.empty(1), np.empty(1)
    ptr, ids = np.array([0, 2]), np.array([0, 1], np.int32)
    classifiers = kernels.Classifiers(ptr, ids, w.astype(np.float32), np.array([-0.5], np.float32), number)
    paths = kernels.Paths(np.array([0, 1]), np.array([0]))
    kernels.share_along_paths(CsrRows(ptr, ids, x), paths, classifiers, parts, before, after)
    slope = 1 / (1 + math.exp(-0.5)) if loss == "logistic" else 3.0
    np.testing.assert_allclose(parts, slope * w * x, rtol=1e-5)
    assert before[0] + parts.sum() == pytest.approx(after[0], abs=1e-12)


@pytest.mark.parametrize("arity, multiway", [(2, 1.0), (2, 0.1), (3, 0.1)])
def test_contributions_in_decision_trees_equal_those_of_the_twin(arity, multiway):
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
