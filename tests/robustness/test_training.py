"""Training on perturbed rows: which rows are copied, what the copies are, and that every model is trained so."""

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from xmlcore import PLT, DoubleSampling, ExtendedPLT, LdSM, load_model
from xmlcore.robustness import AdversarialTraining, GaussianNoise, WordNoise, augment, augmented_bytes

pytestmark = pytest.mark.filterwarnings("ignore:.*splits were undone", "ignore:.*sibling groups stopped")


def problem(n=60, D=12, L=7, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, L)) < 0.2
    Y[np.arange(n), rng.integers(0, L, n)] = True
    X = np.where(rng.random((n, D)) < 0.1, 1.0, 0.0)
    X[:, :L] += Y
    return sp.csr_array(X.astype(np.float32)), sp.csr_array(Y)


@pytest.mark.parametrize("ratio, copies", [(0.25, 15), (1.0, 60), (1.51, 91), (2.0, 120), (0.01, 1)])
def test_as_many_copies_as_asked_under_the_clean_rows_each_row_as_often_as_the_others(ratio, copies):
    X, Y = problem()
    both = augment(X, Y, GaussianNoise(0.05), ratio)
    assert both.X.shape == (60 + copies, 12) and both.X.dtype == np.float32 and both.Y.dtype == bool
    assert (both.X[:60] != X).nnz == 0 and (both.Y[:60] != Y).nnz == 0
    assert (both.Y[60:] != Y[both.rows]).nnz == 0
    counts = np.bincount(both.rows, minlength=60)
    assert counts.max() - counts.min() <= 1


def test_copies_are_their_rows_with_noise_on_every_feature_or_on_the_present_ones():
    X, Y = problem(400)
    for support in ("all", "nonzero"):
        both = augment(X, Y, GaussianNoise(0.05, support))
        noise = both.X[400:].toarray() - X[both.rows].toarray()
        changed = noise if support == "all" else noise[X[both.rows].toarray() != 0]
        assert np.all(changed != 0)
        assert changed.std() == pytest.approx(0.05, rel=0.1) and abs(changed.mean()) < 0.005
        if support == "nonzero":
            assert not noise[X[both.rows].toarray() == 0].any()


def test_copies_of_one_row_differ_and_the_seed_decides():
    X, Y = problem()
    both = augment(X, Y, GaussianNoise(0.05), 2.0, random_state=3)
    first, second = both.X[60:120].toarray(), both.X[120:].toarray()
    assert (first != second).all()
    assert (augment(X, Y, GaussianNoise(0.05), 2.0, random_state=3).X != both.X).nnz == 0
    assert (augment(X, Y, GaussianNoise(0.05), 2.0, random_state=4).X != both.X).nnz > 0
    drawn = [augment(X, Y, GaussianNoise(0.05), 0.5, random_state=seed).rows.tolist() for seed in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("model", [PLT(max_leaf_labels=3), LdSM(n_estimators=2, max_nodes=20)])
def test_every_model_is_trained_on_clean_and_noisy_rows(model):
    X, Y = problem()
    wrapped = AdversarialTraining(model, sigma=0.2, random_state=5).fit(X, Y)
    both = augment(X, Y, GaussianNoise(0.2), 1.0, 5)
    expected = clone(model).fit(both.X, both.Y)
    for a, b in (
        (wrapped.predict_topk(X, 3).scores, expected.predict_topk(X, 3).scores),
        (wrapped.predict_proba(X, 0.1).toarray(), expected.predict_proba(X, 0.1).toarray()),
    ):
        np.testing.assert_array_equal(a, b)
    assert wrapped.n_augmented_ == 60 and wrapped.size() == expected.size()
    assert not hasattr(model, "n_features_in_")  # what was handed in is not fitted


def test_adversarial_training_of_a_plt_is_the_extended_plt():
    X, Y = problem()
    ours = ExtendedPLT(max_leaf_labels=3, sigma=0.1, random_state=2).fit_for_adversarial_examples(X, Y)
    other = AdversarialTraining(PLT(max_leaf_labels=3, random_state=2), sigma=0.1, random_state=2).fit(X, Y)
    np.testing.assert_array_equal(ours.predict_topk(X, 7).scores, other.predict_topk(X, 7).scores)


def test_words_are_drawn_from_the_training_rows():
    X, Y = problem()
    wrapped = AdversarialTraining(PLT(), sigma=0.3, kind="words").fit(X, Y)
    both = augment(X, Y, WordNoise(0.3, reference=X), 1.0, 0)
    expected = PLT().fit(both.X, both.Y)
    np.testing.assert_array_equal(wrapped.predict_topk(X, 3).scores, expected.predict_topk(X, 3).scores)


def test_attacks_are_computed_on_a_model_of_the_clean_rows_or_on_the_one_handed_in():
    X, Y = problem()
    attacked = AdversarialTraining(PLT(), sigma=0.3, kind="fgsm").fit(X, Y)
    given = AdversarialTraining(PLT(), sigma=0.3, kind="fgsm", surrogate=PLT().fit(X, Y)).fit(X, Y)
    np.testing.assert_array_equal(attacked.predict_topk(X, 3).scores, given.predict_topk(X, 3).scores)
    with pytest.raises(ValueError, match="LdSM has no gradient.*surrogate="):
        AdversarialTraining(LdSM(), sigma=0.3, kind="fgsm").fit(X, Y)
    AdversarialTraining(LdSM(n_estimators=1), sigma=0.3, kind="pgd", surrogate=PLT().fit(X, Y)).fit(X, Y)


def test_the_wrapper_is_cloned_with_its_model_and_sets_the_models_parameters(tmp_path):
    X, Y = problem()
    wrapped = AdversarialTraining(PLT(C=3.0), sigma=0.2)
    again = clone(wrapped).set_params(model__C=2.0, sigma=0.1)
    assert (wrapped.model.C, again.model.C, again.sigma) == (3.0, 2.0, 0.1)
    assert wrapped.get_params()["model__C"] == 3.0
    again.fit(X, Y)
    saved = load_model(again.save(tmp_path / "m"))
    assert type(saved) is PLT
    np.testing.assert_array_equal(saved.predict_topk(X).scores, again.predict_topk(X).scores)


def test_a_fitted_wrapper_can_be_copied_to_another_process(tmp_path):
    X, Y = problem()
    wrapped = AdversarialTraining(PLT()).fit(X, Y)
    joblib.dump(wrapped, tmp_path / "w.joblib")
    again = joblib.load(tmp_path / "w.joblib")
    np.testing.assert_array_equal(again.predict_topk(X).scores, wrapped.predict_topk(X).scores)
    assert hasattr(again, "log_proba_gradient") and not hasattr(AdversarialTraining(PLT()), "log_proba_gradient")


@pytest.mark.parametrize(
    "params, error, said",
    [
        ({"sigma": 0}, ValueError, "sigma must be positive"),
        ({"sigma": "much"}, TypeError, "sigma must be a number"),
        ({"augment_ratio": -1}, ValueError, "augment_ratio must be positive"),
        ({"augment_ratio": np.nan}, ValueError, "augment_ratio must be positive"),
        ({"noise_support": "some"}, ValueError, "noise_support must be"),
        ({"kind": "blur"}, ValueError, "kind must be"),
        ({"random_state": -1}, ValueError, "random_state"),
        ({"model": PLT}, TypeError, "model must be an estimator"),
        ({"model": None}, TypeError, "model must be an estimator"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_trained(params, error, said):
    with pytest.raises(error, match=said):
        AdversarialTraining(**{"model": PLT()} | params).fit(*problem())


def test_the_estimate_of_memory_counts_dense_copies_whole():
    assert augmented_bytes(1000, 500, 20_000, 1.0, "nonzero") == 6 * 8 * 40_000
    assert augmented_bytes(1000, 500, 20_000, 0.5, "all") == 6 * 8 * (20_000 + 500 * 500)


def test_noise_in_training_is_not_the_noise_of_a_test_with_the_same_seed():
    X, Y = problem(200)
    for seed in (0, 5):
        trained = augment(X, Y, GaussianNoise(0.05), 1.0, seed).X[200:].toarray() - X.toarray()
        tested = GaussianNoise(0.05).apply(X, seed=seed).toarray() - X.toarray()
        assert abs(np.corrcoef(trained.ravel(), tested.ravel())[0, 1]) < 0.1


def test_too_few_rows_for_a_copy_and_too_much_for_the_memory_are_refused_with_what_to_do(monkeypatch):
    X, Y = problem()
    with pytest.raises(ValueError, match="0.001 of 60 rows makes no copy"):
        ExtendedPLT(augment_ratio=0.001).fit_for_adversarial_examples(X, Y)
    with pytest.raises(MemoryError, match="noise_support='nonzero'"):
        AdversarialTraining(PLT(), augment_ratio=1e12).fit(X, Y)
    monkeypatch.setattr("xmlcore.robustness.training.free_bytes", lambda: 10)
    with pytest.raises(MemoryError, match="12 features of 60 rows"):
        augment(X, Y, GaussianNoise(0.05))
    augment(X, Y, GaussianNoise(0.05, "nonzero"))


def test_the_wrapper_shows_itself():
    assert repr(AdversarialTraining(PLT(C=3.0))) == "AdversarialTraining(model=PLT(C=3.0))"
    assert "AdversarialTraining" in AdversarialTraining(PLT())._repr_html_()


def test_a_model_of_amounts_takes_what_noise_made_negative_as_nothing():
    X, Y = problem()
    first = [[row[0]] for row in np.split(Y.indices, Y.indptr[1:-1])]
    with pytest.warns(UserWarning, match="negative"):
        model = AdversarialTraining(DoubleSampling(), sigma=0.3).fit(X, first)
    assert model.model_.negative == "zero" and model.model.negative == "refuse"
    with pytest.raises(ValueError, match="negative"):
        AdversarialTraining(DoubleSampling(), sigma=0.3).fit(-1.0 * X, first)  # the user's own are not hidden


@pytest.mark.parametrize(
    "params, error, said",
    [({"options": [1]}, TypeError, "options must be a dict"), ({"surrogate": PLT()}, ValueError, "surrogate is for")],
)
def test_what_is_not_used_is_not_taken_in_silence(params, error, said):
    with pytest.raises(error, match=said):
        AdversarialTraining(PLT(), **params).fit(*problem())
