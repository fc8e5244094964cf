"""Selections are kept whole, judged by trees that see what they keep, and compared with all features."""

import warnings
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import OneVsRest, evaluate, experiment, metrics, store
from xmlcore.datasets import Dataset, save_dataset
judged_module = import_module("xmlcore.experiment.selection_stability")
from xmlcore.progress import Cancelled
from xmlcore.selection import BRDT, ChiSquaredSelection

selection_module = import_module("xmlcore.experiment.select")

FEW = {"n_epochs": 2, "n_hidden": 6}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    Y = rng.random((160, 6)) < 0.3
    X = np.repeat(Y, 3, axis=1) * rng.uniform(0.5, 1.5, (160, 18)) * (rng.random((160, 18)) < 0.8)
    X = np.hstack([X, (rng.random((160, 12)) < 0.2).astype(float)])
    names = [f"word {j}" for j in range(30)]
    return Dataset("toy", X[:120], Y[:120], X[120:], Y[120:], feature_names=names)


def test_a_selection_is_what_the_selector_keeps(data):
    found = experiment.select(data, "ChiSquared", {"n_features": 4})
    fitted = ChiSquaredSelection(4).fit(data.X_train, data.Y_train)
    np.testing.assert_array_equal(found.selected, fitted.selected_)
    expected = np.take_along_axis(fitted.scores_, fitted.selected_, axis=1)
    np.testing.assert_allclose(found.selected_scores, expected)
    assert found.standard_error is None and found.selected.dtype == np.int32
    assert (found.title, found.shared, found.n_selected) == ("Chi-squared", False, 4)
    assert found.params == {"n_features": 4, "per_label": True} and found.times["fit_s"] > 0


def test_fals_is_kept_with_what_it_says_of_itself_and_its_model(data):
    from xmlcore.models import load_model

    fingerprint = save_dataset(data)
    key = experiment.selection_saved(fingerprint, "FALS", FEW)
    assert key == experiment.selection_key(fingerprint, "FALS", FEW) and store.exists("selections", key)
    found = experiment.load_selection(key)
    assert found.selected.shape == found.selected_scores.shape == (6, 3)
    assert found.info["scoring"] == "exact" and found.info["order"] and found.standard_error is None
    assert (np.diff(found.selected_scores, axis=1) <= 0).all()
    model = load_model(store.folder("selections", key) / "model")
    np.testing.assert_array_equal(model.selected_, found.selected)


def test_sampled_scores_have_standard_errors(data):
    found = experiment.select(data, "FALS", {**FEW, "scoring": "sampled", "n_scored_rows": 20})
    assert found.standard_error.shape == found.selected.shape and (found.standard_error >= 0).all()


@pytest.mark.parametrize("method", ["ChiSquared", "FALS"])
def test_scores_belong_to_their_features_when_all_are_kept(data, method):
    params = {"n_features": 1.0} | (FEW if method == "FALS" else {})
    found = experiment.select(data, method, params)
    assert found.n_selected == 30 and (np.diff(found.selected_scores, axis=1) <= 0).all()


@pytest.mark.parametrize("per_label", [True, False])
def test_standard_errors_and_scores_are_those_of_the_features_kept(data, per_label):
    params = {**FEW, "pattern": "FALS" if per_label else "FAMS", "scoring": "sampled", "n_scored_rows": 20}
    found = experiment.select(data, "FALS", params)
    fitted = experiment.selector("FALS", params).fit(data.X_train, data.Y_train)
    for label in (0, 5):
        row = label if per_label else 0
        np.testing.assert_array_equal(found.standard_error[label], fitted.standard_error_[row, found.selected[label]])
        np.testing.assert_array_equal(found.selected_scores[label], fitted.scores_[row, found.selected[label]])


def test_patterns_for_all_labels_repeat_one_set(data):
    found = experiment.select(data, "FALS", {**FEW, "pattern": "FAMS"})
    assert found.shared and found.title == "FAMS"
    assert (found.selected == found.selected[0]).all() and found.selected_scores.shape == (6, 3)


def test_asking_again_does_no_work(data):
    fingerprint = save_dataset(data)
    key = experiment.selection_saved(fingerprint, "MutualInformation")
    reports = []
    again = experiment.selection_saved(fingerprint, "MutualInformation", progress=lambda *r: reports.append(r))
    assert again == key and not reports


def test_a_share_of_all_is_another_question_than_one_feature():
    share = experiment.selection_key("ab" * 16, "FALS", {"n_features": 1.0})
    count = experiment.selection_key("ab" * 16, "FALS", {"n_features": 1})
    assert share != count
    assert experiment.selection_key("ab" * 16, "FALS", {"n_features": 0.1}) == experiment.selection_key("ab" * 16)


def test_a_cancelled_selection_leaves_nothing(data):
    def stop(phase, fraction, detail=""):
        if phase == "Training the network":
            raise Cancelled

    with pytest.raises(Cancelled):
        experiment.selection_saved(save_dataset(data), "FALS", FEW, progress=stop)
    assert store.entries("selections") == []


@pytest.mark.parametrize(
    "method, params, message",
    [("ReliefF", None, "unknown method 'ReliefF'"), ("FALS", {"depth": 3}, "FALS has no parameter depth")],
)
def test_unknown_methods_and_parameters_are_named(method, params, message):
    with pytest.raises(ValueError, match=message):
        experiment.selection_params(method, params)


def test_every_form_parameter_is_the_selectors():
    for name, info in experiment.SELECTORS.items():
        made = info.cls()
        for parameter in info.parameters:
            assert parameter.default == getattr(made, parameter.name), (name, parameter.name)
            assert parameter.help and parameter.label
            if parameter.kind == "choice":
                assert parameter.default in parameter.options
        assert info.summary and experiment.selection_title(name)


def test_estimates_are_numbers_before_anything_is_done(data):
    for method in experiment.SELECTORS:
        found = experiment.selection_estimate(data, method)
        assert found["seconds"] > 0 and found["bytes"] > 0
    assert experiment.selection_estimate(data, "FALS")["order"]
    with pytest.raises(ValueError, match="FILS"):
        experiment.selection_estimate(data, "FALS", {"pattern": "FILS", "attribution": "lrp"})


# Judged by trees ------------------------------------------------------------------------------------------------------


def test_judging_trains_trees_on_the_best_of_each_share(data):
    found = experiment.judge(data, [None, ("ChiSquared", {})], shares=(0.1, 0.3), seeds=(0, 5))
    frame = found.frame
    assert (found.n_rows, found.n_train, found.n_test_rows) == (120, 120, 40)
    assert frame["method"].unique().tolist() == ["all features", "Chi-squared"]
    assert len(frame) == 5 * 2 * (1 + 2)
    selected = ChiSquaredSelection(9).fit(data.X_train, data.Y_train).selected_
    for columns, method, share in ((None, "all features", 1.0), (3, "Chi-squared", 0.1), (9, "Chi-squared", 0.3)):
        own = None if columns is None else selected[:, :columns]
        trees = BRDT(own, random_state=5).fit(data.X_train, data.Y_train)
        scores = trees.predict_proba(data.X_test)
        rows = frame[(frame["method"] == method) & (frame["share"] == share) & (frame["seed"] == 5)]
        values = rows.set_index("measure")["value"]
        assert values["Hamming loss"] == metrics.hamming_loss(data.Y_test, trees.predict(data.X_test))
        average_precision = metrics.average_precision(data.Y_test, scores, ties="mean")
        assert values["average precision"] == average_precision != metrics.average_precision(data.Y_test, scores)
        assert values["micro-AUC"] == metrics.micro_auc(data.Y_test, scores)
        assert values["one-error"] == metrics.one_error(data.Y_test, scores, ties="mean")
        assert values["ranking loss"] == metrics.ranking_loss(data.Y_test, scores, ties="mean")


def test_fewer_rows_are_drawn_and_said(data):
    found = experiment.judge(data, [None], (0.1,), (0,), n_rows=30)
    assert (found.n_rows, found.n_test_rows, found.n_test) == (30, 30, 40)
    again = experiment.judge(data, [None], (0.1,), (0,), n_rows=30)
    assert found.frame["value"].tolist() == again.frame["value"].tolist()


def test_fals_is_judged_by_pattern_and_told_from_its_variants(data):
    selections = [("FALS", FEW), ("FALS", {**FEW, "n_epochs": 1}), ("FALS", {**FEW, "pattern": "FIMS"})]
    assert experiment.judged_titles(selections) == ["FALS (n_epochs 2)", "FALS (n_epochs 1)", "FIMS"]
    frame = experiment.judge(data, selections, (0.2,), (0,)).frame
    assert frame["method"].nunique() == 3 and frame["pattern"].unique().tolist() == ["FALS", "FIMS"]


def test_what_is_judged_is_kept_and_knows_what_is_varied_anyway(data):
    fingerprint = save_dataset(data)
    asked = ((None, ("ChiSquared", {"n_features": 5})), (0.1,), (0,), 40)
    key = experiment.judged_saved(fingerprint, *asked)
    other = ((None, ("ChiSquared", {"n_features": 7})), [0.1], [0], 40)
    assert experiment.judged_key(fingerprint, *other) == key
    assert experiment.judged_key(fingerprint, *asked[:3], None) != key
    assert experiment.load_judged(key).frame["seed"].unique().tolist() == [0]


def test_progress_of_judging_never_goes_back(data):
    seen = []
    experiment.judge(data, [None, ("ChiSquared", {})], (0.1, 0.3), (0, 1), progress=lambda p, f, d="": seen.append(f))
    assert seen == sorted(seen) and 0 <= seen[0] and seen[-1] <= 1


@pytest.mark.parametrize("shares, selections", [((0.0,), [None]), ((1.5,), [None]), ((), [None]), ((0.1,), [])])
def test_nothing_to_judge_is_refused(data, shares, selections):
    with pytest.raises(ValueError, match="shares must be|no selection"):
        experiment.judge(data, selections, shares)


@pytest.mark.parametrize("seed", [2**31, -1])
def test_a_seed_that_not_all_take_is_refused_before_anything_is_done(data, seed):
    seen = []
    with pytest.raises(ValueError, match=f"seed must be from 0 to 2147483647, not {seed}"):
        experiment.judge(data, [("FALS", FEW)], (0.1,), (0, seed), progress=lambda *said: seen.append(said))
    assert not seen


def test_no_seed_is_told_apart_from_an_empty_result(data):
    with pytest.raises(ValueError, match="no seed"):
        experiment.judge(data, [None], (0.1,), ())


def test_the_largest_seed_is_taken_by_selections_and_trees(data):
    frame = experiment.judge(data, [("FALS", FEW), ("RandomForest", {})], (0.1,), (2**31 - 1,), n_rows=20).frame
    assert frame["seed"].unique().tolist() == [2**31 - 1]


def test_stability_compares_each_pair_of_seeds(data):
    from xmlcore.selection import jaccard, spearman

    found = experiment.stability(data, "FALS", FEW, seeds=(0, 4, 2))
    assert found.seeds == [0, 2, 4] and len(found.pairs) == 3
    two = [experiment.selector("FALS", {**FEW, "random_state": s}).fit(data.X_train, data.Y_train) for s in (0, 4)]
    line = found.pairs[(found.pairs["seed_a"] == 0) & (found.pairs["seed_b"] == 4)].iloc[0]
    assert line["jaccard"] == pytest.approx(jaccard(two[0].selected_, two[1].selected_).mean())
    ranks = spearman(two[0].scores_, two[0].selected_, two[1].scores_, two[1].selected_)
    assert line["spearman"] == pytest.approx(np.nanmean(ranks))
    assert found.labels.shape == (2, 6) and found.labels[0].mean() == pytest.approx(found.pairs["jaccard"].mean())
    shares = [2 * j / (1 + j) for j in jaccard_of_pairs(data, (0, 2, 4))]
    assert found.share == pytest.approx(np.mean(shares)) and found.chance == judged_module._chance(3, 30)


def jaccard_of_pairs(data, seeds):
    from xmlcore.selection import jaccard

    kept = [experiment.selector("FALS", {**FEW, "random_state": s}).fit(data.X_train, data.Y_train) for s in seeds]
    return np.concatenate([jaccard(a.selected_, b.selected_) for a, b in combinations(kept, 2)])


@pytest.mark.parametrize("k, n_features", [(1, 4), (2, 6), (3, 5), (4, 4)])
def test_chance_is_the_mean_over_all_sets(k, n_features):
    sets = [set(one) for one in combinations(range(n_features), k)]
    mean = np.mean([len(sets[0] & other) / len(sets[0] | other) for other in sets])
    assert judged_module._chance(k, n_features) == pytest.approx(mean)


def noisy(monkeypatch):
    from xmlcore.selection import FALS

    fit = FALS.fit

    def fit_and_warn(self, X, Y, **kwargs):
        warnings.warn("it is so", UserWarning, stacklevel=2)
        if self.random_state == 2:
            warnings.warn("and so", UserWarning, stacklevel=2)
            warnings.warn("and so", UserWarning, stacklevel=2)
        return fit(self, X, Y, **kwargs)

    monkeypatch.setattr(FALS, "fit", fit_and_warn)


@pytest.mark.filterwarnings("error")
def test_warnings_of_comparisons_are_kept_once_with_their_selection_and_seeds(data, monkeypatch):
    noisy(monkeypatch)
    selections = [None, ("ChiSquared", {}), ("FALS", FEW), ("FALS", {**FEW, "pattern": "FAMS"})]
    found = experiment.judge(data, selections, (0.1,), (0, 2), n_rows=30)
    said = ["seeds 0, 2: it is so", "seed 2: and so"]
    assert found.warnings == [f"{title}, {one}" for title in ("FALS", "FAMS") for one in said]
    assert experiment.stability(data, "FALS", FEW, seeds=(0, 2)).warnings == [f"FALS, {one}" for one in said]


def test_a_number_of_features_is_measured_once_and_by_its_nearest_share(data):
    few = Dataset("few", data.X_train[:, :3], data.Y_train, data.X_test[:, :3], data.Y_test)
    shares, seen = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), []
    found = experiment.judge(few, [("ChiSquared", {})], shares, (0,), progress=lambda p, f, d="": seen.append((f, d)))
    own = found.frame.drop_duplicates(["share", "n_features"])
    assert own[["share", "n_features"]].values.tolist() == [[0.3, 1], [0.7, 2]]
    fractions, said = zip(*seen)
    assert list(fractions) == sorted(fractions) and "Chi-squared, seed 0, 1 feature" in said
    assert experiment.judged_seconds(few, [None], shares, (0,)) > 0


def test_stability_is_kept_whatever_the_selections_own_seed(data):
    fingerprint = save_dataset(data)
    key = experiment.stability_saved(fingerprint, "FALS", FEW, (0, 1))
    assert key == experiment.stability_key(fingerprint, "FALS", {**FEW, "random_state": 9}, [1, 0])
    assert experiment.load_stability(key).seeds == [0, 1]


@pytest.mark.parametrize(
    "method, seeds, message", [("ChiSquared", (0, 1), "has no seed"), ("FALS", (3, 3), "at least two")]
)
def test_stability_needs_seeds(data, method, seeds, message):
    with pytest.raises(ValueError, match=message):
        experiment.stability(data, method, None, seeds)


# A model on fewer features --------------------------------------------------------------------------------------------


@pytest.fixture
def kept(data):
    return experiment.selection_saved(save_dataset(data), "ChiSquared", {"n_features": 4})


def test_a_model_learns_from_the_union_and_stands_beside_all_features(data, kept):
    selected = experiment.load_selection(kept).selected
    key = experiment.reduced_saved(kept, "OneVsRest", n_per_label=2)
    found = experiment.load_reduced(key)
    union = np.unique(selected[:, :2])
    assert found.n_used == union.size < found.n_features == 30 and not found.per_label
    expected = {
        "all": evaluate(OneVsRest().fit(data.X_train, data.Y_train), data),
        "selected": experiment.run(
            Dataset("part", data.X_train[:, union], data.Y_train, data.X_test[:, union], data.Y_test), "OneVsRest"
        ).measures,
    }
    values = found.measures.set_index(["features", "measure", "k"])["value"]
    assert values["all", "P@k", 1] == expected["all"]["P@k"][0]
    part = expected["selected"].set_index(["measure", "k"])["value"]
    assert values["selected", "nDCG@k", 5] == part["nDCG@k", 5]
    assert found.numbers.loc["selected", "n_features"] == union.size
    assert experiment.load_run(found.run_key).model == "OneVsRest"
    assert experiment.reduced_saved(kept, "OneVsRest", None, False, 2) == key


def test_each_label_learns_from_its_own_features_alone(data, kept):
    selected = experiment.load_selection(kept).selected
    model = experiment.PerLabelOneVsRest(selected, C=2.0).fit(data.X_train, data.Y_train)
    ranking = model.predict_topk(data.X_test, 6)
    scores = np.zeros((data.n_test, 6))
    scores[np.arange(data.n_test)[:, None], ranking.labels] = ranking.scores
    for label in (0, 4):
        own = np.sort(selected[label])
        alone = OneVsRest(C=2.0).fit(data.X_train[:, own], sp.csr_array(data.Y_train[:, [label]]))
        expected = alone.predict_proba(data.X_test[:, own]).toarray()[:, 0]
        np.testing.assert_allclose(scores[:, label], expected, rtol=1e-5)
    assert (np.diff(ranking.scores, axis=1) <= 0).all()
    assert model.size()["n_weights"] <= selected.size
    found = experiment.load_reduced(experiment.reduced_saved(kept, "OneVsRest", per_label=True))
    assert found.per_label and found.n_per_label == 4
    assert set(found.measures["features"]) == {"all", "selected"}


def test_labels_without_rows_are_never_predicted_and_labels_of_all_rows_always():
    X = sp.csr_array(np.random.default_rng(0).random((20, 4)))
    Y = np.zeros((20, 3), dtype=bool)
    Y[:, 1] = True
    Y[:10, 2] = True
    model = experiment.PerLabelOneVsRest(np.tile([0, 1], (3, 1))).fit(X, sp.csr_array(Y))
    ranking = model.predict_topk(X, 5)
    assert (ranking.labels[:, 0] == 1).all() and (ranking.scores[:, 0] == 1).all()
    assert 0 not in ranking.labels and (ranking.labels[:, 2:] == -1).all() and (ranking.scores[:, 2:] == 0).all()


def test_only_labels_that_do_not_depend_on_each_other_have_features_of_their_own(kept):
    with pytest.raises(ValueError, match="PLT learns all labels together"):
        experiment.reduced_saved(kept, "PLT", per_label=True)
    with pytest.raises(ValueError, match="noise in training"):
        experiment.reduced_saved(kept, "OneVsRest", {"noise_sigma": 0.1}, per_label=True)
    with pytest.raises(ValueError, match="n_per_label"):
        experiment.reduced_saved(kept, "OneVsRest", n_per_label=5)


def test_fitting_depth_is_the_deepest_whose_union_is_small_enough(data, kept):
    selected = experiment.load_selection(kept).selected
    sizes = [experiment.union_of(selected, m).size for m in range(1, 5)]
    for most in range(1, 31):
        fitting = [m for m, size in enumerate(sizes, start=1) if size <= most]
        assert experiment.fitting_depth(selected, most) == (max(fitting) if fitting else 1)


def test_estimates_of_trees_grow_with_rows_and_features(data):
    seconds = selection_module.tree_seconds
    assert seconds(data, 5, 50) < seconds(data, 30, 50) < seconds(data, 30)
