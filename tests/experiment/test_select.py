"""Selections are kept whole and agree between seeds; a model on selected features stands beside the same one on all."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from making import reduced, select, stability

from xmlcore import OneVsRest, evaluate, experiment, store
from xmlcore.datasets import Dataset, save_dataset
from xmlcore.experiment.kinds.compare_selections import expected_jaccard
from xmlcore.selection import ChiSquaredSelection

FEW = {"n_epochs": 2, "n_hidden": 6}


def test_a_selection_is_what_the_selector_keeps(words):
    found = experiment.select(words, "ChiSquared", {"n_features": 4})
    fitted = ChiSquaredSelection(4).fit(words.X_train, words.Y_train)
    np.testing.assert_array_equal(found.selected, fitted.selected_)
    expected = np.take_along_axis(fitted.scores_, fitted.selected_, axis=1)
    np.testing.assert_allclose(found.selected_scores, expected)
    assert found.standard_error is None and found.selected.dtype == np.int32
    assert (found.title, found.shared, found.n_selected) == ("Chi-squared", False, 4)
    assert found.params == {"n_features": 4, "per_label": True} and found.times["fit_s"] > 0


def test_fals_is_kept_with_how_it_was_computed_and_its_model(words):
    from xmlcore.models import load_model

    fingerprint = save_dataset(words)
    key = experiment.keep(select(fingerprint, "FALS", FEW))
    assert key == select(fingerprint, "FALS", FEW).key and store.exists("selections", key)
    found = experiment.load("select", key)
    assert found.selected.shape == found.selected_scores.shape == (6, 3)
    assert found.info["scoring"] == "exact" and found.info["order"] and found.standard_error is None
    assert (np.diff(found.selected_scores, axis=1) <= 0).all()
    model = load_model(store.folder("selections", key) / "model")
    np.testing.assert_array_equal(model.selected_, found.selected)


@pytest.mark.parametrize("method", ["ChiSquared", "FALS"])
def test_scores_belong_to_their_features_when_all_are_kept(words, method):
    params = {"n_features": 1.0} | (FEW if method == "FALS" else {})
    found = experiment.select(words, method, params)
    assert found.n_selected == 30 and (np.diff(found.selected_scores, axis=1) <= 0).all()


def test_a_selection_is_not_refused_for_what_its_warm_up_gives(words):
    params = {"n_layers": 5, "n_epochs": 5, "random_state": 2, "n_features": 3}
    assert experiment.select(words, "FALS", params).n_selected == 3


@pytest.mark.parametrize("per_label", [True, False])
def test_scores_and_standard_errors_are_of_features_kept(words, per_label):
    n_rows = 25  # more than the warm-up has
    params = {**FEW, "pattern": "FALS" if per_label else "FAMS", "scoring": "sampled", "n_scored_rows": n_rows}
    found = experiment.select(words, "FALS", params)
    fitted = experiment.selector("FALS", params).fit(words.X_train, words.Y_train)
    for label in (0, 5):
        row = label if per_label else 0
        np.testing.assert_array_equal(found.standard_error[label], fitted.standard_error_[row, found.selected[label]])
        np.testing.assert_array_equal(found.selected_scores[label], fitted.scores_[row, found.selected[label]])


def test_patterns_for_all_labels_repeat_one_set(words):
    found = experiment.select(words, "FALS", {**FEW, "pattern": "FAMS"})
    assert found.shared and found.title == "FAMS"
    assert (found.selected == found.selected[0]).all() and found.selected_scores.shape == (6, 3)


def test_a_share_of_all_differs_from_one_feature():
    share = select("ab" * 16, "FALS", {"n_features": 1.0}).key
    count = select("ab" * 16, "FALS", {"n_features": 1}).key
    assert share != count
    assert select("ab" * 16, "FALS", {"n_features": 0.1}).key == select("ab" * 16).key


@pytest.mark.parametrize("method, params, said", [("ReliefF", None, "'ReliefF'"), ("FALS", {"depth": 3}, "depth")])
def test_what_a_method_refuses_is_refused_when_the_task_is_made(method, params, said):
    with pytest.raises(ValueError, match=said):
        select("0" * 32, method, params)


def test_memory_of_a_selection_is_known_before_it_is_made(words):
    for method in experiment.SELECTORS:
        found = experiment.selection_plan(words, method)
        assert found["seconds"] is None and found["bytes"] > 0
    assert experiment.selection_plan(words, "FALS")["order"]
    with pytest.raises(ValueError, match="FILS"):
        experiment.selection_plan(words, "FALS", {"pattern": "FILS", "attribution": "lrp"})


def test_stability_compares_each_pair_of_seeds(words):
    from xmlcore.selection import jaccard, spearman

    found = experiment.selection_stability(words, "FALS", FEW, seeds=(0, 4, 2))
    assert found.seeds == [0, 2, 4] and len(found.pairs) == 3
    kept = [
        experiment.selector("FALS", {**FEW, "random_state": s}).fit(words.X_train, words.Y_train) for s in (0, 2, 4)
    ]
    line = found.pairs[(found.pairs["seed_a"] == 0) & (found.pairs["seed_b"] == 4)].iloc[0]
    assert line["jaccard"] == pytest.approx(jaccard(kept[0].selected_, kept[2].selected_).mean())
    ranks = spearman(kept[0].scores_, kept[0].selected_, kept[2].scores_, kept[2].selected_)
    assert line["spearman"] == pytest.approx(np.nanmean(ranks))
    assert found.labels.shape == (2, 6) and found.labels[0].mean() == pytest.approx(found.pairs["jaccard"].mean())
    shared = np.concatenate([jaccard(a.selected_, b.selected_) for a, b in combinations(kept, 2)])
    shares = [2 * j / (1 + j) for j in shared]
    assert found.share == pytest.approx(np.mean(shares)) and found.chance == expected_jaccard(3, 30)


@pytest.mark.parametrize("k, n_features", [(1, 4), (2, 6), (3, 5), (4, 4)])
def test_chance_is_the_mean_over_all_sets(k, n_features):
    sets = [set(one) for one in combinations(range(n_features), k)]
    mean = np.mean([len(sets[0] & other) / len(sets[0] | other) for other in sets])
    assert expected_jaccard(k, n_features) == pytest.approx(mean)


def test_stability_is_kept_whatever_the_selections_own_seed(words):
    fingerprint = save_dataset(words)
    key = experiment.keep(stability(fingerprint, "FALS", FEW, (0, 1)))
    assert key == stability(fingerprint, "FALS", {**FEW, "random_state": 9}, [1, 0]).key
    assert experiment.load("selection_stability", key).seeds == [0, 1]


@pytest.mark.parametrize(
    "method, seeds, message", [("ChiSquared", (0, 1), "has no seed"), ("FALS", (3, 3), "at least two")]
)
def test_stability_needs_seeds(words, method, seeds, message):
    with pytest.raises(ValueError, match=message):
        experiment.selection_stability(words, method, None, seeds)


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
