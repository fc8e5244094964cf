"""Selections are compared by trees that see only the features they keep."""

import warnings

import pytest
from making import compare

from xmlcore import experiment, metrics
from xmlcore.datasets import Dataset, save_dataset
from xmlcore.selection import BRDT, ChiSquaredSelection

FEW = {"n_epochs": 2, "n_hidden": 6}


def test_comparing_trains_trees_on_the_best_of_each_share(words):
    found = experiment.compare_selections(words, [None, ("ChiSquared", {})], shares=(0.1, 0.3), seeds=(0, 5))
    frame = found.frame
    assert (found.n_rows, found.n_train, found.n_test_rows) == (120, 120, 40)
    assert frame["method"].unique().tolist() == ["all features", "Chi-squared"]
    assert len(frame) == 5 * 2 * (1 + 2)
    selected = ChiSquaredSelection(9).fit(words.X_train, words.Y_train).selected_
    for columns, method, share in ((None, "all features", 1.0), (3, "Chi-squared", 0.1), (9, "Chi-squared", 0.3)):
        own = None if columns is None else selected[:, :columns]
        trees = BRDT(own, random_state=5).fit(words.X_train, words.Y_train)
        scores = trees.predict_proba(words.X_test)
        rows = frame[(frame["method"] == method) & (frame["share"] == share) & (frame["seed"] == 5)]
        values = rows.set_index("measure")["value"]
        assert values["Hamming loss"] == metrics.hamming_loss(words.Y_test, trees.predict(words.X_test))
        average_precision = metrics.average_precision(words.Y_test, scores, ties="mean")
        assert values["average precision"] == average_precision != metrics.average_precision(words.Y_test, scores)
        assert values["micro-AUC"] == metrics.micro_auc(words.Y_test, scores)
        assert values["one-error"] == metrics.one_error(words.Y_test, scores, ties="mean")
        assert values["ranking loss"] == metrics.ranking_loss(words.Y_test, scores, ties="mean")


def test_fewer_rows_are_drawn_and_counted(words):
    found = experiment.compare_selections(words, [None], (0.1,), (0,), n_rows=30)
    assert (found.n_rows, found.n_test_rows, found.n_test) == (30, 30, 40)
    again = experiment.compare_selections(words, [None], (0.1,), (0,), n_rows=30)
    assert found.frame["value"].tolist() == again.frame["value"].tolist()


def test_fals_is_compared_by_pattern_and_told_from_its_variants(words):
    selections = [("FALS", FEW), ("FALS", {**FEW, "n_epochs": 1}), ("FALS", {**FEW, "pattern": "FIMS"})]
    assert experiment.comparison_titles(selections) == ["FALS (n_epochs 2)", "FALS (n_epochs 1)", "FIMS"]
    frame = experiment.compare_selections(words, selections, (0.2,), (0,)).frame
    assert frame["method"].nunique() == 3 and frame["pattern"].unique().tolist() == ["FALS", "FIMS"]


def test_a_comparison_ignores_what_it_varies(words):
    fingerprint = save_dataset(words)
    asked = ((None, ("ChiSquared", {"n_features": 5})), (0.1,), (0,), 40)
    key = experiment.keep(compare(fingerprint, *asked))
    other = ((None, ("ChiSquared", {"n_features": 7})), [0.1], [0], 40)
    assert compare(fingerprint, *other).key == key
    assert compare(fingerprint, *asked[:3], None).key != key
    assert experiment.load("compare_selections", key).frame["seed"].unique().tolist() == [0]


@pytest.mark.parametrize("selections, shares, seeds, message", [
    ([None], (0.0,), (0,), "shares must be"),
    ([None], (1.5,), (0,), "shares must be"),
    ([None], (), (0,), "shares is empty"),
    ([], (0.1,), (0,), "no selection"),
    ([None], (0.1,), (), "seeds is empty"),
    ([("FALS", FEW)], (0.1,), (0, 2**31), "seeds must be from 0 to 2147483647, not 2147483648"),
    ([("FALS", FEW)], (0.1,), (0, -1), "seeds must be from 0 to 2147483647, not -1"),
])  # fmt: skip
def test_bad_comparisons_are_refused_before_any_work(words, selections, shares, seeds, message):
    seen = []
    with pytest.raises(ValueError, match=message):
        experiment.compare_selections(words, selections, shares, seeds, progress=lambda *said: seen.append(said))
    assert not seen


def test_the_largest_seed_is_taken_by_selections_and_trees(words):
    frame = experiment.compare_selections(
        words, [("FALS", FEW), ("RandomForest", {})], (0.1,), (2**31 - 1,), n_rows=20
    ).frame
    assert frame["seed"].unique().tolist() == [2**31 - 1]


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
def test_warnings_of_comparisons_are_kept_once(words, monkeypatch):
    noisy(monkeypatch)
    selections = [None, ("ChiSquared", {}), ("FALS", FEW), ("FALS", {**FEW, "pattern": "FAMS"})]
    found = experiment.compare_selections(words, selections, (0.1,), (0, 2), n_rows=30)
    said = ["seeds 0, 2: it is so", "seed 2: and so"]
    assert found.warnings == [f"{title}, {one}" for title in ("FALS", "FAMS") for one in said]
    assert experiment.selection_stability(words, "FALS", FEW, seeds=(0, 2)).warnings == [f"FALS, {one}" for one in said]


def test_a_number_of_features_is_measured_once(words):
    few = Dataset("few", words.X_train[:, :3], words.Y_train, words.X_test[:, :3], words.Y_test)
    shares, seen = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), []
    found = experiment.compare_selections(
        few, [("ChiSquared", {})], shares, (0,), progress=lambda p, f, d="": seen.append((f, d))
    )
    own = found.frame.drop_duplicates(["share", "n_features"])
    assert own[["share", "n_features"]].values.tolist() == [[0.3, 1], [0.7, 2]]
    fractions, said = zip(*seen)
    assert list(fractions) == sorted(fractions) and any(
        one.startswith("Chi-squared, seed 0, 1 feature") for one in said
    )
    assert compare(save_dataset(few), [None], shares, (0,)).work().values > 0


def test_lift_has_the_same_value_at_every_share_and_selects_nothing(words):
    found = experiment.compare_selections(words, [None, ("LIFT", {"ratio": 0.2})], shares=(0.1, 0.5), seeds=(0,)).frame
    own = found[(found["method"] == "LIFT") & (found["measure"] == "average precision")]["value"].tolist()
    assert len(own) == 2 and own[0] == own[1] > 0.5
    few = [("FALS", FEW), ("ChiSquared", {})]
    alike = experiment.compare_selections(words, few, shares=(0.2,), seeds=(0, 1)).agreement
    assert alike[["a", "b"]].value_counts().to_dict() == {("FALS", "FALS"): 1, ("FALS", "Chi-squared"): 4}
    with pytest.raises(ValueError, match="LIFT"):
        experiment.task("select", {"dataset": "a"}, {"method": "LIFT"})
