"""The Features page, opened and used through app.py."""

import re
import threading
import warnings

import numpy as np
import pandas as pd
import pytest

from pages.features import compare
from pages.shared import cached
from pages.shared.figures import charts
from tests.pages import making
from tests.pages.making import Row, estimate, figure, said_plainly, titles, train, word_data
from xmlcore import datasets, experiment
from xmlcore.selection import FALS

pytestmark = pytest.mark.sections()

FEW = {"n_epochs": 3, "n_features": 4}


def select(session, method="FALS", **params):
    """Put a quick selection into the workspace."""
    return making.select(session, method, **(FEW if method == "FALS" else {"n_features": 4}) | params)


@pytest.fixture(autouse=True)
def nothing_by_itself(monkeypatch):
    """Selections are not compared without being asked: a test asks."""
    estimate(monkeypatch, "compare_selections", 100.0)


@pytest.fixture
def key(ready):
    return select(ready)


@pytest.fixture
def found(key):
    return experiment.load("select", key)


def test_a_selection_of_another_workspace_is_at_once_there(ready):
    fingerprint = making.workspace_row(ready).read()["dataset"]
    experiment.keep(experiment.task("select", {"dataset": fingerprint}, {"method": "FALS", "params": None}))
    assert ready.go("features").text().count("Done already") == 1 and "of memory" not in ready.text()
    assert ready.at.button(key="features.begin").label.partition("(at once")[1]


def test_no_button_starts_the_first_selection_twice(ready, monkeypatch):
    page = ready.go("features")
    assert len(re.findall("Takes .* of memory", page.text())) == 1
    (form,) = (one for one in page.at.expander if one.label == "Other methods and settings")
    assert not form.proto.expanded and form.button(key="features.select"), "one button is in sight"
    go_on = threading.Event()
    monkeypatch.setattr(experiment.KINDS["select"], "run", lambda *args, **settings: go_on.wait(60))
    try:
        page.press("features.begin")
        assert "features.begin" not in [button.key for button in page.at.button]
        assert page.at.button(key="features.select").disabled
        assert not titles(page), "no example beside the progress"
        page.set("features.share", 0.5)
        assert not page.at.button(key="features.select").disabled, "with other settings it is another selection"
    finally:
        go_on.set()


def excesses(X, data):
    """Return by how much more often the rows of label 5 have each feature than others."""
    has_label = data.Y_train.toarray()[:, 5].astype(bool)
    return (X[has_label] != 0).mean(axis=0) - (X[~has_label] != 0).mean(axis=0)


def test_the_page_has_the_features_of_a_label_searched_for(page, found):
    data, box = word_data(), "features.label"
    assert page.search("features.query", "*5*").at.selectbox(key=box).value == 5
    excess = np.maximum(excesses(data.X_train.toarray(), data)[found.selected[5]], 0)
    order = np.argsort(-found.selected_scores[5] * excess, kind="stable")
    best = [data.feature_name(int(j)) for j in found.selected[5][order]]
    n = np.count_nonzero(excess)
    assert f"**{best[0]}** matters most" in said_plainly(page.text())
    assert page.metrics()["Kept per label"] == "4 of 24"
    drawn = figure(page, "Features of topic *5*")["layout"]["yaxis"]["ticktext"]
    assert drawn == best[: len(drawn)] and len(drawn) == n
    assert page.frame("rank", "name", "with_label")["name"].tolist() == best
    assert "No label has" in page.search("features.query", "no such label").text()
    assert page.at.selectbox(key=box).value == 5  # the box stays, and what it shows
    assert figure(page.set(box, 2), "Features of topic *2*")
    page.search("features.query", "5")  # its id, and part of a name
    assert page.at.selectbox(key=box).value == 5


@pytest.fixture
def misled(ready, monkeypatch):
    """A selection whose feature of largest score for label 5 occurs in none of the label's rows."""
    selection, data = experiment.load("select", select(ready)), word_data()
    X, has_label = data.X_train.toarray(), data.Y_train.toarray()[:, 5]
    share = (X[has_label] != 0).mean(axis=0)
    never, (other, some, often) = int(share.argmin()), map(int, np.argsort(excesses(X, data))[-3:])
    X[has_label, never] = X[np.flatnonzero(has_label)[:3], some] = 0
    names = {"label_names": data.label_names, "feature_names": data.feature_names}
    data = datasets.Dataset("words", X, data.Y_train, data.X_test, data.Y_test, **names)
    selection.selected[5] = [never, some, often, other]
    selection.selected_scores[5] = [8.0, 4.0, 3.9, 1e-6]
    monkeypatch.setattr(cached, "selection", lambda key: selection)
    monkeypatch.setattr(cached, "dataset", lambda fingerprint: data)
    page = ready.go("features").set("features.label", 5)
    return page, [data.feature_name(j) for j in (never, some, often)]


@pytest.mark.sections("All features")
def test_a_feature_of_no_row_is_only_best_in_the_papers_ranking(misled):
    page, (never, some, often) = misled
    bars = figure(page, "Features of topic *5*")["layout"]["yaxis"]["ticktext"]
    assert bars[:2] == [often, some] and never not in bars
    table = page.frame("rank", "weighted_rank", "with_label")
    assert table["name"].iloc[[0, -1]].tolist() == [often, never] and table["rank"].iloc[-1] == 1
    assert page.frame("name", "features").set_index("label")["features"][5].startswith(f"{often}, {some}, ")
    best = [never, some, often]
    page.set("features.order", "Score alone, as in the paper")
    assert figure(page, "Features of topic *5*")["layout"]["yaxis"]["ticktext"][:3] == best
    assert said_plainly(page.text()).split(", by the score")[0].splitlines()[-1].startswith(f"**{never}**")
    assert page.frame("rank", "with_label")["name"].tolist()[:3] == best
    assert page.frame("name", "features").set_index("label")["features"][5].startswith(", ".join(best))


@pytest.mark.sections("Labels and features", "Other seeds")
def test_other_selections_are_described_by_what_they_are(ready):
    select(ready, attribution="deeplift")
    page = ready.go("features")
    assert not [box for box in page.at.radio if box.key == "features.order"]
    assert "weighted_score" not in page.frame("rank", "score")
    select(ready, "ChiSquared")
    assert "involves no chance" in ready.go("features").text()
    select(ready, pattern="FAMS")
    page = ready.go("features")
    assert "for all labels together, by" in page.text()
    assert "The same for all 8 labels" in page.at.metric[0].help and not figure(page, "Features in common")
    data = word_data()
    bare = datasets.Dataset("bare", data.X_train, data.Y_train, data.X_test, data.Y_test)
    making.select(ready, "ChiSquared", data=bare, n_features=2)
    assert ready.go("features").metrics()["Kept per label"] == "2 of 24"


def test_the_form_selects_by_another_method_and_a_count(page):
    page.set("features.method", "ChiSquared").set("features.way", "count")
    page.set("features.count 24", 3)
    page.press("features.select").until(lambda s: s.metrics().get("Kept per label") == "3 of 24")
    options = page.at.selectbox(key="features.selection").options
    assert len(options) == 2 and options[0].startswith("Chi-squared")
    assert page.set("features.selection", page_key(page, "FALS")).metrics()["Kept per label"] == "4 of 24"
    assert page.go("data").go("features").at.selectbox(key="features.selection").value == page_key(page, "FALS")


def page_key(page, method):
    workspace = Row(page.token).read()
    return next(one["key"] for one in workspace["selections"] if one["method"] == method)


def test_settings_that_do_not_go_together_start_nothing(page):
    def errors():
        return " ".join(error.value for error in page.at.error)

    page.set("features.share", 5.0)
    assert "k/D is 5, but must be above 0" in errors()
    page.press("features.select")
    assert "The selection was not started" in page.text() and page.metrics()["Kept per label"] == "4 of 24"
    page.set("features.way", "count").set("features.count 24", 25)
    assert "must be from 1 to 24" in errors()
    page.at.number_input(key="features.count 24").set_value(3)
    page.set("form.FALS.pattern", "FILS").set("form.FALS.attribution", "lrp")
    assert "Fisher information" in errors()
    assert "The selection was not started" in page.press("features.select").text()


def test_chi_squared_refuses_negative_values(page, monkeypatch):
    data = word_data()
    odd = datasets.Dataset("odd", -data.X_train, data.Y_train, data.X_test, data.Y_test)
    monkeypatch.setattr(cached, "dataset", lambda fingerprint: odd)
    page.run().set("features.method", "ChiSquared")
    assert any("needs values of at least 0" in error.value for error in page.at.error)


@pytest.mark.sections("Labels and features")
def test_heat_maps_show_labels_and_overlap(page, found):
    pairs = [(a, b) for a in range(8) for b in range(a)]
    share = np.mean([np.isin(found.selected[a], found.selected[b]).mean() for a, b in pairs])
    assert page.metrics()["Shared by two labels"] == f"{100 * share:.0f} %"
    table = page.frame("a_name", "b_name", "share")
    assert len(table) == 28 and table["share"].mean() == pytest.approx(100 * share)
    assert figure(page, "Labels and their features") and figure(page, "Features in common")
    page.set("features.heat", "Labels with most in common").set("features.heat.n 8", 3)
    assert "3 of 8 labels" in page.text() and len(page.frame("a_name", "b_name", "share")) == 28


@pytest.mark.sections("Other methods")
def test_compared_methods_have_all_measures_and_warnings(page, monkeypatch):
    noisy_fit(monkeypatch)
    page.at.multiselect(key="features.methods").set_value(["all features", "FIMS", "Chi-squared"])
    page.set("features.seeds", 2)
    page.press("features.compare").until(lambda s: figure(s, "Average precision by method"))
    table = page.frame("method", "average precision", "select_s")
    assert table["method"].tolist() == ["all features", "FIMS", "Chi-squared"]
    assert "FIMS, seed 0: label 0 is odd" in said_plainly(page.text())
    assert figure(page.set("features.measure", "Hamming loss"), "Hamming loss by method")
    page.press("features.curve").until(lambda s: figure(s, "Hamming loss against k/D"))


@pytest.mark.sections("Other methods", "Labels and features")
def test_figures_of_the_paper_are_one_press_away(page):
    assert figure(page, "Positive labels and positive gradients")
    for of, few, drawn in (
        ("variants", ["FALS", "FALS (lrp)"], "Agreement with FALS"),
        ("networks", ["FALS", "FALS (n_layers 1)"], "Average precision and time by network"),
    ):
        page.set("features.compared", of)
        page.at.multiselect(key=f"features.methods {of}").set_value(few)
        page.set("features.seeds", 1).press("features.compare").until(lambda s, drawn=drawn: figure(s, drawn))
    page.set("features.compared", "variants")
    assert "1 data set so far" in page.text()


@pytest.mark.parametrize("n_features", [1, 5])
@pytest.mark.sections("Other seeds")
def test_stability_has_spearman_from_five_features_on(ready, monkeypatch, n_features):
    key = select(ready, n_features=n_features)
    noisy_fit(monkeypatch)
    page = ready.go("features").until(lambda s: figure(s, "Agreement between seeds"))  # starts by itself
    table, measures = page.frame("name", "rows", "jaccard"), {"Jaccard", "Spearman"} if n_features == 5 else {"Jaccard"}
    assert len(table) == 8 and ("spearman" in table) == ("Spearman" in page.metrics()) == (n_features == 5)
    assert {trace["name"] for trace in figure(page, "Agreement between seeds")["data"]} == measures
    selection = experiment.load("select", key)
    params = {"method": selection.method, "params": selection.params, "seeds": list(range(5))}
    stability = experiment.task("selection_stability", {"dataset": selection.fingerprint}, params).load()
    assert f"**{100 * stability.share:.0f} %**" in page.text()
    warned = [warning.value.replace("\\", "") for warning in page.at.warning]
    warned = [warning for warning in warned if warning.startswith("FALS, seed")]
    assert warned == [f"FALS, seed {seed}: label {seed} is odd" for seed in range(3)]
    assert "And 2 more warnings." in page.text()


def noisy_fit(monkeypatch):
    fit = FALS.fit

    def fit_and_warn(self, X, Y, **kwargs):
        warnings.warn(f"label {self.random_state} is odd", UserWarning, stacklevel=2)
        return fit(self, X, Y, **kwargs)

    monkeypatch.setattr(FALS, "fit", fit_and_warn)


@pytest.mark.parametrize("values, best, methods", [
    ({"all features": 0.8, "FALS": 0.9}, "FALS", ["FALS"]),
    ({"all features": 0.5, "FALS": 0.50001, "LASSO": 0.5}, "FALS", ["all features", "FALS", "LASSO"]),
    ({"all features": 0.8971, "FALS": 0.5, "LASSO": 0.8974}, "LASSO", ["all features", "LASSO"]),
    ({"all features": 0.9, "FALS": np.nan}, "all features", ["all features"]),
    ({"FALS": np.nan}, None, None),
])  # fmt: skip
def test_methods_equal_at_the_digits_shown_are_all_best(values, best, methods):
    lines = pd.DataFrame({"method": list(values), "value": list(values.values())})
    found = compare.best_here(lines, best)
    assert (found and found[0]) == methods


@pytest.mark.sections("Train on them")
def test_a_model_is_trained_on_the_union_and_compared(page, found):
    union = experiment.union_of_features(found.selected, experiment.fitting_depth(found.selected, 12)).size
    assert f"**{union} of 24 features**" in page.text()
    page.press("features.train").until(lambda s: "**PLT** has P@1" in s.text(), seconds=300)
    table = page.frame("measure", "all", "selected", "difference")
    assert table["measure"].tolist() == [f"{m}@{k}" for m in ("P", "nDCG", "PSP") for k in (1, 3, 5)]
    np.testing.assert_allclose(table["difference"], table["selected"] - table["all"])
    assert "Both results, CSV" in page.downloads()


@pytest.mark.sections("Train on them")
def test_labels_learn_from_their_own_features(ready):
    run = train(ready, C=3.0)
    select(ready)
    page = ready.go("features")
    box = next(box for box in page.at.selectbox if str(box.key).startswith("features.model"))
    assert box.value == run and box.options[0] == "PLT (C 3)"
    assert any(option.endswith(", not trained yet") for option in box.options)
    assert "each label on its own" in page.set(box.key, "OneVsRest").text()
    page.press("features.train").until(lambda s: "**OneVsRest** has P@1" in s.text(), seconds=300)


@pytest.mark.sections("Labels and features", "Other methods", "All features")
def test_files_are_named_by_what_is_in_them(page, monkeypatch):
    files = {}
    monkeypatch.setattr(charts, "show_figure", lambda f, frame, name, *_, **__: files.__setitem__(name, frame))
    monkeypatch.setattr(charts, "csv_button", lambda _, make, name, *__, **___: files.__setitem__(name, make))
    page.at.multiselect(key="features.methods").set_value(["Chi-squared"])
    page.at.number_input(key="features.seeds").set_value(1)
    rows = next(box.key for box in page.at.number_input if str(box.key).startswith("features.rows"))
    page.set(rows, 40).press("features.compare").until(lambda s: any("compared" in name for name in files))
    page.set("features.heat", "Labels with most in common")
    files = {name.split(page_key(page, "FALS")[:6] + "-", 1)[1]: made for name, made in files.items()}
    label = page.at.selectbox(key="features.label").value
    heats = {f"{heat}-8labels-by-excess" for heat in ("heat-frequent", "heat-alike")}
    overlaps = {"overlap-frequent-8labels", "overlap-alike-8labels"}
    assert heats | overlaps | {f"label{label}-topic--{label}-by-excess"} <= files.keys()
    for name, n_lines in (("compared-40rows-1seeds", 5), ("compared-average-precision-40rows-1seeds", 1)):
        frame = files[name]() if callable(files[name]) else files[name]
        assert len(frame) == n_lines and set(frame["n_rows"]) == {40} and set(frame["n_test_rows"]) == {30}
