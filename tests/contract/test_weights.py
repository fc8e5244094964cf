"""Labels are ranked by weight times probability, exactly as by going through all labels."""

import inspect

import numpy as np
import pytest
from contract.estimators import N_LABELS, dense, every_model, fitted

from xmlcore import PLT, DoubleSampling, LdSM


@every_model
@pytest.mark.parametrize("k", [1, 3, N_LABELS + 2])
@pytest.mark.parametrize("weights", [np.arange(N_LABELS), 10.0 ** -np.arange(N_LABELS)], ids=["with a 0", "steep"])
def test_the_ranking_is_that_of_all_products(case, k, weights):
    X, model = case.problem()[0], fitted(case)
    products = dense(model.predict_proba(X)) * weights
    found = model.predict_topk(X, k, weights=weights)
    width = min(k, N_LABELS)
    expected = -np.sort(-products, axis=1)[:, :width]
    rows, scores, labels = np.arange(len(X))[:, None], found.scores[:, :width], found.labels[:, :width]
    np.testing.assert_allclose(scores, np.where(labels >= 0, products[rows, labels], 0), rtol=1e-5, atol=1e-7)
    if case.params.get("beam"):  # it may miss labels
        assert (scores <= expected + 1e-6).all() and (scores[:, 0] > 0).any()
        return
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-7)
    assert all(len({*row}) == width for row in found.labels[:, :width].tolist()) and (found.labels[:, width:] < 0).all()


@every_model
def test_equal_weights_change_nothing_but_the_scores(case):
    X, model = case.problem()[0], fitted(case)
    plain, found = model.predict_topk(X, 3), model.predict_topk(X, 3, weights=np.full(N_LABELS, 2.0))
    if case.cls in (LdSM, DoubleSampling):  # which rank by something else than their probabilities without weights
        plain = model.predict_topk(X, 3, weights=np.ones(N_LABELS))
    np.testing.assert_array_equal(found.labels, plain.labels)
    np.testing.assert_allclose(found.scores, 2 * plain.scores, rtol=1e-5)


REFUSED = {
    "weights has 1 numbers, but there are 7 labels": [1.0],
    "2 dimension": [[1.0] * 7],
    "weights of label 1 is -1.0: weights are from 0 to 3.4e": [1.0, -1.0, 1, 1, 1, 1, 1],
    "weights of label 1 is nan": [1.0, np.nan, 1, 1, 1, 1, 1],
    "weights of label 1 is 1e\\+39": [1.0, 1e39, 1, 1, 1, 1, 1],
    "weights is zero for all labels": [0.0] * 7,
}


@every_model
def test_weights_that_are_none_are_refused(case):
    for says, weights in REFUSED.items():
        with pytest.raises(ValueError, match=says):
            fitted(case).predict_topk(case.problem()[0], weights=weights)


@every_model
def test_options_that_a_ranking_by_weights_would_ignore_are_refused(case):
    for option in {"n_candidates", "n_trees", "max_nodes"} & {*inspect.signature(case.cls.predict_topk).parameters}:
        with pytest.raises(ValueError, match=f"{option} and weights are given"):
            fitted(case).predict_topk(case.problem()[0], weights=np.ones(N_LABELS), **{option: 2})


def test_a_single_tree_and_an_ensemble_find_rare_labels_of_large_weight(mixed_rows):
    """The heaviest labels are far down: more of them are read until no other one can be better."""
    X, Y = mixed_rows
    weights = 1000.0 ** np.random.default_rng(1).random(Y.shape[1])
    for n_estimators in (1, 3):
        model = PLT(n_estimators=n_estimators, max_leaf_labels=4, C=1.0, loss="logistic").fit(X, Y)
        products = model.predict_proba(X).toarray().astype(float) * weights
        found = model.predict_topk(X, 4, weights=weights)
        np.testing.assert_allclose(found.scores, -np.sort(-products, axis=1)[:, :4], rtol=1e-5)


@pytest.fixture
def mixed_rows():
    rng = np.random.default_rng(0)
    Y = rng.random((150, 60)) < 0.05
    Y[:, 0] |= ~Y.any(axis=1)
    return np.hstack([Y[:, ::2] + rng.random((150, 30)), rng.random((150, 20)) < 0.2]), Y
