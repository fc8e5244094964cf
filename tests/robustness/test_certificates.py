"""Certified radii hold, against attacks and against the truth where it can be computed, and are not much too small."""

import math

import naive
import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import PLT, LdSM
from xmlcore._kernels.certificate_search import ATTEMPTS
from xmlcore.robustness import certificates
from xmlcore.robustness.attacks import PGD
from xmlcore.robustness.certificates import certified_radius
from xmlcore.robustness.evaluation import evaluate

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped")

SHAPES = [
    dict(arity=2, max_leaf_labels=2),
    dict(arity=2, max_leaf_labels=100),
    dict(arity=3, max_leaf_labels=1, tree="random"),
    dict(tree="huffman"),
    dict(arity=2, max_leaf_labels=1, collapse_layers=1, weight_threshold=0),
]


def problem(seed, n=50, D=12, L=9, unlabelled=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, D), density=0.5, rng=rng, dtype=np.float32, format="csr")
    X = X.multiply(rng.choice([1.0, -1.0, 3.0], (n, 1))).tocsr().astype(np.float32)
    Y = rng.random((n, L)) < 0.08
    Y[np.arange(n), rng.integers(0, L, n)] = True
    Y[:unlabelled] = False
    return X, sp.csr_array(Y)


def models(count, **more):
    for seed in range(count):
        loss = ("logistic", "squared_hinge")[seed % 2]
        X, Y = problem(seed, unlabelled=3 * (seed % 3 == 0))
        C = (10.0, 1.0, 100.0)[seed % 3]
        yield X, PLT(loss=loss, C=C, random_state=seed, **SHAPES[seed % len(SHAPES)], **more).fit(X, Y)


def scaled_to(X, lengths):
    """Rows brought to other lengths: neither predictions nor relative radii change."""
    norms = np.sqrt(X.power(2).sum(axis=1))
    return sp.csr_array(X.multiply((lengths / norms)[:, None]).tocsr().astype(np.float32))


def attacked(model, X, epsilon, seed, n_steps=20):
    return PGD(epsilon, n_steps=n_steps, random_start=seed > 0).apply(X, seed=seed, model=model, n_jobs=1)


def test_no_attack_within_the_radius_changes_the_first_label():
    n_rows = 0
    for number, (X, model) in enumerate(models(10)):
        found = certified_radius(model, X, n_jobs=1)
        some = np.flatnonzero(found.relative > 1e-5)
        X = scaled_to(X[some], 1 / found.relative[some])  # now every radius is 1, but for rounding
        epsilon = 0.9999 * certified_radius(model, X, n_jobs=1).radius.min()
        assert epsilon > 0.99
        moved = attacked(model, X, epsilon, number // 5)  # from the row, or from a random start
        assert model.predict_topk(moved, k=1).labels[:, 0].tolist() == found.label[some].tolist()
        n_rows += some.size
    assert n_rows > 400


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_in_two_dimensions_the_true_radius_is_larger(shape, loss):
    rng = np.random.default_rng(shape)
    X = rng.standard_normal((60, 2)).astype(np.float32)
    Y = [[int(4 * (math.atan2(y, x) / math.pi + 1)) % 7] for x, y in X]
    model = PLT(loss=loss, C=100.0, **SHAPES[shape]).fit(X, Y)
    found = certified_radius(model, X, n_jobs=1)
    turns = np.linspace(0, math.pi / 2, 2001)
    at = np.arctan2(X[:, 1], X[:, 0]).astype(float)
    ratios = []
    for i in range(20):
        first = np.full(2, math.pi / 2)
        for side, sign in enumerate((1, -1)):
            ring = np.stack([np.cos(at[i] + sign * turns), np.sin(at[i] + sign * turns)], axis=1)
            other = np.flatnonzero(model.predict_topk(ring, k=1).labels[:, 0] != found.label[i])
            first[side] = turns[other[0]] if other.size else math.pi / 2
        truth = math.sin(first.min())
        assert found.relative[i] <= truth + 1e-6
        ratios.append(found.relative[i] / max(truth, 1e-3))
    assert np.median(ratios) > 0.6


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_a_row_that_rounding_could_decide_has_radius_zero(loss):
    X, Y = problem(1, n=80, D=6, L=2)
    model = PLT(loss=loss, C=1.0, weight_threshold=0).fit(X, Y)

    def gap(x):
        logs = [model.log_proba_gradient(x, [label])[0][0] for label in (0, 1)]
        return logs[0] - logs[1]

    rows = [X[[i]].toarray() for i in range(80)]
    low, high = next(x for x in rows if gap(x) > 0), next(x for x in rows if gap(x) < 0)
    for _ in range(60):
        middle = (low + high) / 2  # in float32: they end up side by side
        low, high = (middle, high) if gap(middle) > 0 else (low, middle)
    assert 0 < abs(gap(low)) < 1e-5
    assert certified_radius(model, low).radius[0] == 0


def test_rows_without_a_sure_first_label_have_radius_zero():
    X, Y = problem(3)
    model = PLT(max_leaf_labels=2).fit(X, Y)
    found = certified_radius(model, np.zeros((1, 12)))
    assert (found.radius[0], found.relative[0], found.rival[0]) == (0.0, 0.0, -1)
    twins = PLT(max_leaf_labels=9, tol=1e-3, C=1.0).fit([[1.0, 0.0]] * 4, [{0, 1}] * 4)  # two labels, one classifier
    found = certified_radius(twins, [[1.0, 0.0], [0.3, 0.4]])
    assert not found.radius.any()


def test_the_radius_stays_below_the_length_of_the_row():
    X, model = next(models(1))
    one, ten = certified_radius(model, X), certified_radius(model, 10 * X)
    np.testing.assert_allclose(ten.radius, 10 * one.radius, rtol=1e-3)
    lengths = np.sqrt(X.power(2).sum(axis=1))
    assert (one.radius < lengths).all() and (one.relative < 1).all()
    alone = PLT().fit([[1.0, 2.0], [0.0, 1.0]], [[0], [0]])  # no other label to fear
    found = certified_radius(alone, [[3.0, 4.0]])
    assert 4.999 < found.radius[0] < 5 and found.rival[0] == -1


def test_factors_that_are_always_0_or_1_are_no_obstacle():
    X, Y = problem(4, L=12)
    Y = Y.tolil()
    Y[:, [2, 5, 7]] = False
    Y[:, 0] = True
    model = PLT(max_leaf_labels=3, tree="random").fit(X, Y.tocsr())
    assert np.isneginf(model.linear_nodes().bias).any() and np.isposinf(model.linear_nodes().bias).any()
    found = certified_radius(model, X)
    assert np.isfinite(found.radius).all() and not np.isin(found.rival, [2, 5, 7]).any()
    assert found.radius.max() > 0


def test_results_do_not_depend_on_neighbours_or_threads(monkeypatch):
    X, model = next(models(1))
    whole = certified_radius(model, X, n_jobs=1)
    monkeypatch.setattr(certificates, "TASK_ROWS", 7)
    other = certified_radius(model, X, n_jobs=3)
    for a, b in zip(whole, other):
        np.testing.assert_array_equal(a, b)
    alone = [certified_radius(model, X[[i]]).radius[0] for i in range(10)]
    np.testing.assert_array_equal(alone, whole.radius[:10])
    assert whole.label.dtype == np.int32 and whole.radius.dtype == np.float64


@pytest.mark.parametrize("seed", range(len(SHAPES)))
def test_the_kernel_finds_what_its_twin_finds(seed):
    X, model = list(models(seed + 1))[-1]
    nodes, rounding = certificates._nodes(model)
    found = certified_radius(model, X[:8])
    angles = np.arcsin(found.relative)
    for i, x in enumerate(X[:8].toarray().astype(float)):
        expected = naive.certificates.certified_angle(
            model.linear_nodes(), nodes.error, x, int(found.label[i]), ATTEMPTS
        )
        assert angles[i] == pytest.approx(expected, rel=2e-3, abs=1e-7)


def test_the_certified_share_falls_with_the_size():
    X, Y = problem(1)
    model = PLT(random_state=0).fit(X, Y)
    radius = certified_radius(model, X).radius
    levels = [0.0, *np.quantile(radius, [0.3, 0.8]).tolist()]
    frame = evaluate(model, X, Y, levels, perturbation="certificate")
    assert set(frame["measure"]) == {"certified"} and frame["sigma"].tolist() == levels
    assert frame["value"].tolist() == [(radius >= level).mean() for level in levels]
    assert frame["value"].is_monotonic_decreasing and frame["value"].iloc[0] == 1.0


@pytest.mark.parametrize(
    "params, error",
    [({"n_estimators": 2, "max_leaf_labels": 2}, "mean of 2 trees"), ({"beam": 3}, "beam=3, which may miss")],
)
def test_models_that_cannot_be_certified_are_refused(params, error):
    X, Y = problem(5)
    with pytest.raises(ValueError, match=f"{error}.*only PLTs with one tree"):
        certified_radius(PLT(**params).fit(X, Y), X)
    with pytest.raises(ValueError, match="a LdSM cannot be certified"):
        certified_radius(LdSM(), X)
