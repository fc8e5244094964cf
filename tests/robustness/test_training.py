"""Adversarial training: every model, every kind of perturbation, parameters, saving and copying."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from tests.test_noise import problem
from xmlcore import PLT, DoubleSampling, ExtendedPLT, LdSM
from xmlcore.datasets import make_synthetic
from xmlcore.models import DenseOutput
from xmlcore.robustness import AdversarialTraining, GaussianNoise, WordNoise, augment

pytestmark = pytest.mark.filterwarnings("ignore:.*splits separated nothing", "ignore:.*sibling groups stopped")


@pytest.mark.parametrize(
    "model, kind",
    [(PLT(max_leaf_labels=3), "gaussian"), (LdSM(n_estimators=2, max_nodes=20), "gaussian"), (PLT(), "words")],
)
def test_every_model_is_trained_on_clean_and_noisy_rows(model, kind):
    X, Y = problem()
    wrapped = AdversarialTraining(model, sigma=0.2, kind=kind, random_state=5).fit(X, Y)
    both = augment(X, Y, GaussianNoise(0.2) if kind == "gaussian" else WordNoise(0.2, reference=X), 1.0, 5)
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


def test_attacks_follow_the_surrogate_or_the_clean_model():
    X, Y = problem()
    attacked = AdversarialTraining(PLT(), sigma=0.3, kind="fgsm").fit(X, Y)
    given = AdversarialTraining(PLT(), sigma=0.3, kind="fgsm", surrogate=PLT().fit(X, Y)).fit(X, Y)
    np.testing.assert_array_equal(attacked.predict_topk(X, 3).scores, given.predict_topk(X, 3).scores)
    with pytest.raises(ValueError, match="LdSM has no gradient.*surrogate="):
        AdversarialTraining(LdSM(), sigma=0.3, kind="fgsm").fit(X, Y)
    AdversarialTraining(LdSM(n_estimators=1), sigma=0.3, kind="pgd", surrogate=PLT().fit(X, Y)).fit(X, Y)


def test_a_cut_is_that_of_the_model_which_is_trained_now():
    data = make_synthetic(n_train=900, n_test=50, n_features=300, n_labels=40, random_state=0)
    dense = DenseOutput(PLT()).fit(data.X_train, data.Y_train)
    assert dense.threshold_ == dense.model_.threshold_ != 0.5
    wrapped = AdversarialTraining(PLT(), sigma=0.1).fit(data.X_train, data.Y_train)
    assert wrapped.threshold_ == dense.threshold_
    wrapped.set_params(model=LdSM(n_estimators=1)).fit(data.X_train, data.Y_train)
    assert wrapped.threshold_ == wrapped.model_.threshold_ == 0.5


def test_a_fitted_wrapper_has_the_gradient_of_its_model():
    wrapped = AdversarialTraining(PLT()).fit(*problem())
    for model in (wrapped, pickle.loads(pickle.dumps(wrapped))):
        assert hasattr(model, "log_proba_gradient")
    assert not hasattr(AdversarialTraining(PLT()), "log_proba_gradient")


def test_negative_values_of_the_noise_are_read_as_zero():
    X, Y = problem()
    first = [[row[0]] for row in np.split(Y.indices, Y.indptr[1:-1])]
    with pytest.warns(UserWarning, match="negative"):
        model = AdversarialTraining(DoubleSampling(), sigma=0.3).fit(X, first)
    assert model.model_.negative == "zero" and model.model.negative == "refuse"
    with pytest.raises(ValueError, match="negative"):
        AdversarialTraining(DoubleSampling(), sigma=0.3).fit(-1.0 * X, first)  # the user's own are not hidden


def test_a_surrogate_that_no_attack_would_use_is_refused():
    with pytest.raises(ValueError, match="surrogate is for"):
        AdversarialTraining(PLT(), surrogate=PLT()).fit(*problem())
