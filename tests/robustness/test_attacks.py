"""Attacks stay in their ball, go where the model's gradient says, and treat each row on its own."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import PLT, LdSM
from xmlcore.robustness import attacks
from xmlcore.robustness.attacks import FGSM, PGD

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped")

INF = float("inf")


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 40), density=0.3, rng=rng, dtype=np.float32, format="csr")
    Y = rng.random((60, 12)) < 0.1
    Y[np.arange(60), rng.integers(0, 12, 60)] = True
    Y = sp.csr_array(Y)
    return SimpleNamespace(X=X, Y=Y, model=PLT(max_leaf_labels=3, loss="logistic", C=3.0).fit(X, Y))


def distances(X, Z, norm):
    change = np.abs((Z - X).toarray().astype(float))
    return change.max(axis=1) if norm in (INF, "inf") else np.sqrt((change**2).sum(axis=1))


def objective(model, X, Y, kind):
    """What attacks raise, from all probabilities."""
    logs = np.log(np.maximum(model.predict_proba(X).toarray().astype(float), 1e-30))
    true = Y.toarray()
    if kind == "loss":
        return -(logs * true).sum(axis=1) / true.sum(axis=1)
    return np.where(true, -np.inf, logs).max(axis=1) - np.where(true, logs, -np.inf).max(axis=1)


@pytest.mark.parametrize("kind", ["margin", "loss"])
@pytest.mark.parametrize("support", ["all", "nonzero"])
@pytest.mark.parametrize(("make", "norm"), [(FGSM, 2), (FGSM, "inf"), (PGD, 2), (PGD, INF)])
def test_rows_stay_in_the_ball_and_the_objective_rises(problem, make, norm, support, kind):
    X, Y, model = problem.X, problem.Y, problem.model
    epsilon = 0.2 if norm == 2 else 0.04
    Z = make(epsilon, norm, support=support, objective=kind).apply(X, model=model, Y=Y)
    assert Z.dtype == np.float32 and Z.shape == X.shape and Z.has_canonical_format
    assert distances(X, Z, norm).max() <= epsilon * (1 + 1e-5)
    assert distances(X, Z, norm).min() > 0.5 * epsilon
    before, after = objective(model, X, Y, kind), objective(model, Z, Y, kind)
    assert (after > before).mean() > (0.9 if make is FGSM else 0.99)
    if support == "nonzero":
        assert not np.any((Z.toarray() != 0) & (X.toarray() == 0))
    else:
        assert np.any((Z.toarray() != 0) & (X.toarray() == 0))


@pytest.mark.parametrize("kind", ["margin", "loss"])
def test_one_step_goes_along_the_gradient(problem, kind):
    X, Y, model = problem.X[:10], problem.Y[:10], problem.model
    logs, gradients = zip(*(model.log_proba_gradient(X, np.full(10, label)) for label in range(12)))
    logs, gradients, true = np.stack(logs, axis=1), np.stack([g.toarray() for g in gradients], axis=1), Y.toarray()
    if kind == "loss":
        expected = -np.stack([gradients[i][true[i]].mean(axis=0) for i in range(10)])
    else:
        wrong = np.where(true, -np.inf, logs).argmax(axis=1)
        right = np.where(true, logs, -np.inf).argmax(axis=1)
        expected = gradients[np.arange(10), wrong] - gradients[np.arange(10), right]
    change = (FGSM(0.1, objective=kind).apply(X, model=model, Y=Y) - X).toarray()
    unit = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(change, 0.1 * unit, atol=1e-6)
    change = (FGSM(0.1, INF, objective=kind).apply(X, model=model, Y=Y) - X).toarray()
    clear = np.abs(expected) > 1e-6
    np.testing.assert_allclose(change[clear], 0.1 * np.sign(expected[clear]), atol=1e-6)
    within = X.toarray() != 0
    change = (FGSM(0.1, support="nonzero", objective=kind).apply(X, model=model, Y=Y) - X).toarray()
    part = np.where(within, expected, 0)
    np.testing.assert_allclose(change, 0.1 * part / np.linalg.norm(part, axis=1, keepdims=True), atol=1e-6)


def test_features_without_influence_keep_their_values(problem):
    X = sp.csr_array(sp.hstack([problem.X, np.zeros((60, 3), np.float32)], format="csr"))  # three features unseen
    model = PLT(max_leaf_labels=3, C=3.0).fit(X, problem.Y)
    Z = FGSM(0.1, INF).apply(X, model=model, Y=problem.Y)
    assert Z[:, 40:].nnz == 0


@pytest.mark.parametrize("norm, epsilon", [(2, 0.3), (INF, 0.06)])
def test_many_steps_are_at_least_as_strong_as_one(problem, norm, epsilon):
    X, Y, model = problem.X, problem.Y, problem.model
    clean = objective(model, X, Y, "margin")
    one = objective(model, FGSM(epsilon, norm).apply(X, model=model, Y=Y), Y, "margin")
    many = objective(model, PGD(epsilon, norm, n_steps=30).apply(X, model=model, Y=Y), Y, "margin")
    assert (many >= clean - 1e-6).all() and many.mean() > one.mean()
    wild = objective(model, PGD(epsilon, norm, n_steps=3, step=100 * epsilon).apply(X, model=model, Y=Y), Y, "margin")
    assert (wild >= clean - 1e-6).all()


def test_rows_without_labels_are_attacked_for_the_first(problem):
    X, model = problem.X, problem.model
    first = model.predict_topk(X, k=1).labels[:, 0]
    own = sp.csr_array((np.ones(60, bool), (np.arange(60), first)), shape=(60, 12))
    mixed = problem.Y.tolil()
    mixed[30:] = False
    for attack in (FGSM(0.2), PGD(0.2, n_steps=3), FGSM(0.2, objective="loss")):
        expected = attack.apply(X, model=model, Y=own)
        assert (attack.apply(X, model=model) != expected).nnz == 0
        found = attack.apply(X, model=model, Y=mixed.tocsr())
        assert (found[30:] != expected[30:]).nnz == 0
        assert (found[:30] != attack.apply(X, model=model, Y=problem.Y)[:30]).nnz == 0


@pytest.mark.parametrize(
    "attack",
    [FGSM(0.2), FGSM(0.05, "inf", objective="loss"), PGD(0.2, n_steps=4), PGD(0.1, INF, n_steps=3, random_start=True)],
)
def test_a_row_is_attacked_the_same_in_any_company(problem, attack, monkeypatch):
    X, Y, model = problem.X, problem.Y, problem.model
    whole = attack.apply(X, seed=5, model=model, Y=Y, n_jobs=1)
    monkeypatch.setattr(attacks, "BLOCK_ROWS", 7)
    for n_jobs in (1, 3):
        assert (attack.apply(X, seed=5, model=model, Y=Y, n_jobs=n_jobs) != whole).nnz == 0
    some = np.array([3, 59, 17])
    assert (attack.apply(X[some], some, 5, model=model, Y=Y[some]) != whole[some]).nnz == 0


@pytest.mark.parametrize("norm", [2, INF])
def test_a_random_start_belongs_to_seed_and_row(problem, norm):
    X, model = problem.X[:5], problem.model
    attack = PGD(0.1, norm, n_steps=1, step=1e-6, random_start=True)

    def start(seed, rows):
        return attack.apply(X, rows, seed, model=model).toarray()

    np.testing.assert_array_equal(start(1, np.arange(5)), start(1, None))
    assert (start(1, None) != start(2, None)).any(axis=1).sum() >= 3  # where the start was better than the clean row
    shifted = start(1, np.arange(5) + 7)
    assert (start(1, None) != shifted).any(axis=1).sum() >= 3
    assert distances(X, sp.csr_array(shifted), norm).max() <= 0.1 * (1 + 1e-5)


def test_values_stay_nonnegative_on_request(problem):
    X, Y, model = problem.X, problem.Y, problem.model
    assert FGSM(1.0).apply(X, model=model, Y=Y).data.min() < 0
    for attack in (FGSM(1.0, nonnegative=True), PGD(1.0, n_steps=3, nonnegative=True)):
        Z = attack.apply(X, model=model, Y=Y)
        assert Z.data.min() > 0 and distances(X, Z, 2).max() <= 1 + 1e-5
    with pytest.raises(ValueError, match="nonnegative=True, but X holds -"):
        FGSM(1.0, nonnegative=True).apply(-X, model=model)


def test_what_cannot_be_attacked_stays_as_it_is(problem):
    X, model = problem.X[:3], problem.model
    for attack in (FGSM(0.5), PGD(0.5, n_steps=2)):
        Z = attack.apply(np.zeros((2, 40)), model=model)
        assert Z.nnz == 0
        Y = np.zeros((3, 12), bool)
        Y[0] = True  # nothing is wrong for row 0
        Z = attack.apply(X, model=model, Y=Y)
        assert (Z[[0]] != X[[0]]).nnz == 0 and (Z[[1]] != X[[1]]).nnz > 0
    assert PGD(0.5).apply(X[:0], model=model).shape == (0, 40)


@pytest.mark.parametrize("kind", ["margin", "loss"])
def test_labels_of_probability_zero_do_no_harm(problem, kind):
    Y = problem.Y.tolil()
    Y[:, 3] = False
    model = PLT(max_leaf_labels=2, loss="squared_hinge", C=1.0).fit(problem.X, Y.tocsr())
    only = sp.csr_array((np.ones(60, bool), (np.arange(60), np.full(60, 3))), shape=(60, 12))
    Z = PGD(0.2, n_steps=3, objective=kind).apply(problem.X, model=model, Y=only)
    assert np.isfinite(Z.data).all()


def test_ensembles_are_attacked_through_their_mean(problem):
    X, Y = problem.X, problem.Y
    model = PLT(n_estimators=3, max_leaf_labels=2).fit(X, Y)
    Z = PGD(0.3, n_steps=5).apply(X, model=model, Y=Y)
    assert (objective(model, Z, Y, "margin") > objective(model, X, Y, "margin")).all()


@pytest.mark.parametrize("make, error", [
    (lambda: FGSM(1, norm=1), "norm must be 2 or infinity"),
    (lambda: PGD(1, support="some"), "support must be"),
    (lambda: PGD(1, objective="none"), "objective must be"),
])  # fmt: skip
def test_bad_parameters_are_named(make, error):
    with pytest.raises((TypeError, ValueError), match=error):
        make()


def test_unsuitable_models_and_rows_are_refused(problem):
    X = problem.X
    with pytest.raises(ValueError, match="give model="):
        FGSM(1).apply(X)
    with pytest.raises(ValueError, match="LdSM has no log_proba_gradient"):
        PGD(1).apply(X, model=LdSM())
    with pytest.raises(ValueError, match="41 features"):
        FGSM(1).apply(np.ones((2, 41)), model=problem.model)
    with pytest.raises(ValueError, match="X has 60 rows"):
        FGSM(1).apply(X, np.arange(3), model=problem.model)
    with pytest.raises(ValueError, match="Y has"):
        FGSM(1).apply(X, model=problem.model, Y=problem.Y[:4])
