"""What double sampling has learned, and how it ranks the candidates of a row."""

import numpy as np
import pytest
from models.double_sampling.problems import binary, problem

from xmlcore import DoubleSampling
from xmlcore.datasets import Dataset
from xmlcore.explain.candidates import CandidateRanking, bound_terms, class_sizes, feature_weights
from xmlcore.models.double_sampling import MEANINGS


@pytest.fixture(scope="module")
def data():
    """90 training and 30 test rows of 12 classes; each class has a word of its own, and rows have other words, too."""
    X, _, labels = problem(n=120, n_terms=24, n_classes=12, seed=1)
    Y = binary(labels, 12)
    return Dataset("classes", X[:90], Y[:90], X[90:], Y[90:], label_names=[f"class {j}" for j in range(12)])


@pytest.fixture(scope="module")
def model(data):
    made = DoubleSampling(examples_per_class=2, n_adversarial=4, n_candidates=3, random_state=0)
    return made.fit(data.X_train, data.Y_train)


def test_class_sizes_are_ordered_by_training_rows(data, model):
    found = class_sizes(model, data)
    assert (np.diff(found["class_size"]) <= 0).all() and found["class_size"].sum() == 90
    assert found["sampled_size"].tolist() == model.sampled_size_[found["label"]].tolist()
    assert found["name"].iloc[0] == f"class {found['label'].iloc[0]}"


def test_weights_are_ordered_by_influence(model):
    found = feature_weights(model)
    assert (np.diff(found["value"].abs()) <= 0).all() and set(found["name"]) == set(model.feature_names_)
    np.testing.assert_allclose(found["value"], found["weight"] * found["scale"])
    assert found["meaning"].tolist() == [MEANINGS[name] for name in found["name"]]


@pytest.mark.parametrize("row", range(10))
def test_candidates_have_the_order_of_the_prediction(data, model, row):
    found = CandidateRanking(model, data, row)
    ranked = model.predict_topk(data.X_test[[row]], 3)
    assert found.labels[: found.q].tolist() == ranked.labels[0].tolist()
    np.testing.assert_allclose(found.shares[: found.q], ranked.scores[0], atol=1e-6)
    nearest = model.candidates(data.X_test[[row]])[0]
    assert nearest[found.nearness[: found.q] - 1].tolist() == found.labels[: found.q].tolist()
    features = model.pair_features(data.X_test[[row]], found.labels[None, :])[0]
    np.testing.assert_allclose(found.features, features)
    np.testing.assert_allclose(found.contributions.sum(axis=1), found.f - found.f[: found.q].mean(), atol=1e-9)


def test_a_true_class_that_is_no_candidate_comes_last(data, model):
    nearest = model.candidates(data.X_test)
    row = int(np.flatnonzero(~(nearest == data.Y_test.indices[:, None]).any(axis=1))[0])
    found = CandidateRanking(model, data, row)
    assert found.missed.tolist() == found.true.tolist() == [found.labels[-1]]
    wide, tidy = found.wide(), found.tidy(2, 1)
    assert wide["rank"].isna().tolist() == [False] * 3 + [True] and np.isnan(wide["share"].iloc[-1])
    assert tidy["label"].unique().tolist() == [*found.labels[:2], found.labels[-1]]
    assert tidy.groupby("label")["candidate"].first()[found.labels[-1]] == False  # noqa: E712
    assert len(found.tidy()) == 4 * len(model.feature_names_)


def test_terms_of_the_bound_are_those_of_the_paper():
    found = bound_terms([30, 10, 0], [1, 4], [2], delta=0.1).set_index(["stated", "n_adversarial"])
    alpha, beta, log = 30 / 40 / (2 / 30), 30 / 2, np.log(4 * 2 / 0.1)
    printed = found.loc["as printed", 1]
    assert printed[["alpha", "beta"]].tolist() == pytest.approx([alpha, beta])
    assert printed["pairs"] == pytest.approx(alpha * np.sqrt(np.log(2 / 0.1) / (2 * 4)))
    assert printed["classes"] == pytest.approx(np.sqrt(2 * alpha * log / (beta * 39)) + 7 * beta * log / (3 * 39))
    proved = found.loc["as proved", 1]
    assert proved[["alpha", "beta"]].tolist() == [2 * 30 / 40, 2]
    assert proved["classes"] == pytest.approx(np.sqrt(2 * 1.5 * 2 * log / 39) + 7 * 2 * log / (3 * 39))
    assert found.loc["as printed", 4]["pairs"] == printed["pairs"] / 2


def test_lemma_4_fails_as_printed_and_holds_as_proved():
    true, drawn, m, log = np.array([0.5, 0.005, 0.495]), np.array([0.45, 0.01, 0.54]), 10**8, np.log(2 * 3 / 0.05)
    shares = np.random.default_rng(0).multinomial(m, true, size=20_000) / m
    alpha, beta = (shares / drawn).max(axis=1), 1 / drawn.min()
    rest = alpha * drawn[0] + 7 * beta * log / (3 * (m - 1))  # f is wrong for the first class only
    fails = [(true[0] > rest + np.sqrt(2 * alpha * of * log / (m - 1))).mean() for of in (1 / beta, beta)]
    assert fails[0] == pytest.approx(0.185, abs=0.01) and fails[1] == 0
