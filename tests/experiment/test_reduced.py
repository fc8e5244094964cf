"""A model on selected features beside the same one on all."""

import numpy as np
import pytest
import scipy.sparse as sp
from making import reduced, select

from xmlcore import OneVsRest, evaluate, experiment
from xmlcore.datasets import Dataset, save_dataset


@pytest.fixture
def kept(words):
    return experiment.keep(select(save_dataset(words), "ChiSquared", {"n_features": 4}))


def test_a_model_on_the_union_stands_beside_all_features(words, kept):
    selected = experiment.load("select", kept).selected
    key = experiment.keep(reduced(kept, "OneVsRest", n_per_label=2))
    found = experiment.load("reduced", key)
    union = np.unique(selected[:, :2])
    assert found.n_used == union.size < found.n_features == 30 and not found.per_label
    expected = {
        "all": evaluate(OneVsRest().fit(words.X_train, words.Y_train), words),
        "selected": experiment.run(
            Dataset("part", words.X_train[:, union], words.Y_train, words.X_test[:, union], words.Y_test), "OneVsRest"
        ).measures,
    }
    values = found.measures.set_index(["features", "measure", "k"])["value"]
    assert values["all", "P@k", 1] == expected["all"]["P@k"][0]
    part = expected["selected"].set_index(["measure", "k"])["value"]
    assert values["selected", "nDCG@k", 5] == part["nDCG@k", 5]
    assert found.numbers.loc["selected", "n_features"] == union.size
    assert experiment.load("train", found.run_key).model == "OneVsRest"
    assert experiment.keep(reduced(kept, "OneVsRest", None, False, 2)) == key


def test_each_label_learns_from_its_own_features_alone(words, kept):
    selected = experiment.load("select", kept).selected
    model = experiment.PerLabelOneVsRest(selected, C=2.0).fit(words.X_train, words.Y_train)
    ranking = model.predict_topk(words.X_test, 6)
    scores = np.zeros((words.n_test, 6))
    scores[np.arange(words.n_test)[:, None], ranking.labels] = ranking.scores
    for label in (0, 4):
        own = np.sort(selected[label])
        alone = OneVsRest(C=2.0).fit(words.X_train[:, own], sp.csr_array(words.Y_train[:, [label]]))
        expected = alone.predict_proba(words.X_test[:, own]).toarray()[:, 0]
        np.testing.assert_allclose(scores[:, label], expected, rtol=1e-5)
    assert (np.diff(ranking.scores, axis=1) <= 0).all()
    assert model.size()["n_weights"] <= selected.size
    found = experiment.load("reduced", experiment.keep(reduced(kept, "OneVsRest", per_label=True)))
    assert found.per_label and found.n_per_label == 4
    assert set(found.measures["features"]) == {"all", "selected"}


def test_C_is_chosen_once_for_all_labels(words, kept):
    selected = experiment.load("select", kept).selected
    X, Y = (sp.csr_array(sp.vstack([part] * 8)) for part in (words.X_train, words.Y_train))
    Y = sp.csr_array(Y[np.random.default_rng(0).permutation(Y.shape[0])])  # nothing to be learned: a small C is best
    used = np.unique(selected)
    C = OneVsRest().choose(X[:, used], Y).settings["C"]
    model, given = (experiment.PerLabelOneVsRest(selected, **params).fit(X, Y) for params in ({}, {"C": C}))
    np.testing.assert_array_equal(model.predict_topk(X).scores, given.predict_topk(X).scores)
    other = experiment.PerLabelOneVsRest(selected, C=10.0).fit(X, Y)
    assert C != 10.0 and (other.predict_topk(X).scores != given.predict_topk(X).scores).any()


@pytest.mark.parametrize("normalize", ["auto", "standardize", "l2", None])
def test_rows_are_scaled_as_by_the_model_of_all_features(normalize):
    random = np.random.default_rng(0)
    Y = np.eye(3, dtype=bool)[random.integers(0, 3, 60)]
    X = sp.csr_array((random.standard_normal((60, 3)) + 2 * Y) * [1.0, 100.0, 0.01] + 1.0)
    params = {"normalize": normalize, "C": 1.0}
    model = experiment.PerLabelOneVsRest(np.tile([0, 1, 2], (3, 1)), **params).fit(X, sp.csr_array(Y))
    expected = OneVsRest(**params, tol=1e-4).fit(X, Y).predict_topk(X, 3)
    np.testing.assert_allclose(model.predict_topk(X, 3).scores, expected.scores, atol=0.1)
    assert (model.predict_topk(X, 1).labels == expected.labels[:, :1]).mean() > 0.9


def test_labels_of_no_row_and_of_all_rows_are_predicted_so():
    X = sp.csr_array(np.random.default_rng(0).random((20, 4)))
    Y = np.zeros((20, 3), dtype=bool)
    Y[:, 1] = True
    Y[:10, 2] = True
    model = experiment.PerLabelOneVsRest(np.tile([0, 1], (3, 1))).fit(X, sp.csr_array(Y))
    ranking = model.predict_topk(X, 5)
    assert (ranking.labels[:, 0] == 1).all() and (ranking.scores[:, 0] == 1).all()
    assert 0 not in ranking.labels and (ranking.labels[:, 2:] == -1).all() and (ranking.scores[:, 2:] == 0).all()


def test_only_independent_labels_have_own_features(kept):
    with pytest.raises(ValueError, match="PLT learns all labels together"):
        experiment.keep(reduced(kept, "PLT", per_label=True))
    with pytest.raises(ValueError, match="noise in training"):
        experiment.keep(reduced(kept, "OneVsRest", {"noise_sigma": 0.1}, per_label=True))
    with pytest.raises(ValueError, match="n_per_label"):
        experiment.keep(reduced(kept, "OneVsRest", n_per_label=5))


def test_fitting_depth_is_the_deepest_with_a_small_union(words, kept):
    selected = experiment.load("select", kept).selected
    sizes = [experiment.union_of_features(selected, m).size for m in range(1, 5)]
    for most in range(1, 31):
        fitting = [m for m, size in enumerate(sizes, start=1) if size <= most]
        assert experiment.fitting_depth(selected, most) == (max(fitting) if fitting else 1)
