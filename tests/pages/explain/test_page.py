"""The Explain page, opened and used through app.py."""

import re
import types

import numpy as np
import pytest
import scipy.sparse as sp

from pages.explain import answer, compared
from pages.shared import cached, fields, format
from pages.shared.results import predictions
from pages.shared.rows import explaining, row_editor
from tests.pages.making import figure, numbers, said_plainly, titles, train, word_data
from xmlcore import datasets, experiment, explain, metrics
from xmlcore.models.rules import row_decided
from xmlcore.ranking import Ranking

pytestmark = pytest.mark.sections()


def bars(spec):
    """Lengths of all bars of a figure, from the top down."""
    found = {}
    for trace in spec["data"]:
        if trace["type"] == "bar":
            found |= dict(zip(numbers(trace["y"]), numbers(trace["x"])))
    return [found[place] for place in sorted(found, reverse=True)]


def whole_model(page):
    return figure(page, "Do the features ") is not None


@pytest.mark.sections("Path", "Noise", "Largest values")
def test_bars_and_the_path_add_up_to_the_score(page, model):
    x = word_data().X_test[[0]]
    label = int(model.predict_topk(x, 1).labels[0, 0])
    found = explain.contributions(model, x, label)
    (shown,) = (
        one for one in page.at.markdown if f"ranks **topic *{label}*** 1st for test row 0" in said_plainly(one.value)
    )
    assert explaining.SCALES[found.attrs["kind"]].about in shown.help
    drawn = bars(figure(page, f"Contributions to topic *{label}*"))
    assert sum(drawn) == pytest.approx(found.attrs["total"] - found.attrs["baseline"], abs=1e-6)
    sizes = np.abs(bars(figure(page, "Values of test row")))
    assert (np.diff(sizes) <= 0).all()  # the paper's ranking stands beside it
    assert {"Figure, HTML", "Data, CSV", "Noisy copies, CSV"} <= page.downloads()
    table = page.frame("depth", "name", "factor", "product")
    way = explain.path(model, x, label)
    assert table["node"].tolist() == way["node"].tolist() and table["name"].iloc[-1] == f"topic *{label}*"
    assert table["product"].iloc[-1] == pytest.approx(np.exp(way["log_proba"].iloc[-1]), rel=1e-6)
    assert figure(page, f"Path to topic *{label}*")


def test_long_labels_to_choose_from_keep_their_ends_and_differ():
    names = types.SimpleNamespace(
        label_name=["geography of the coast::island", "geography of the lake::island", "a"].__getitem__
    )
    options = explaining.label_options(names, [1, 2], {0, 2})
    assert list(options) == [1, 2, 0] and len(set(options.values())) == 3
    assert options[1].startswith("geogra") and "…" in options[1] and "island – 1st, wrong" in options[1]
    assert max(map(len, options.values())) <= fields.QUARTER, "a box of a quarter of the page has room"
    assert options[2] == "a – 2nd, right" and "island – missed" in options[0]


@pytest.mark.sections("Features of a label")
def test_labels_and_rows_are_found_chosen_and_belong_together(page, model, monkeypatch):
    data, options = word_data(), page.at.selectbox(key="explain.label").options
    assert "– 1st, " in options[0] and "– 2nd, " in options[1]
    second = int(model.predict_topk(data.X_test[[0]], 2).labels[0, 1])
    assert f"ranks **topic *{second}*** 2nd for test row 0" in page.set("explain.label", second).text()
    assert page.go("data").go("explain").at.selectbox(key="explain.label").value == second
    assert "1st for test row 3" in page.set("explain.row", 3).text()
    assert not [box for box in page.at.selectbox if box.key == "explain.second"], "there is one result"
    page.search("explain.query", "topic *7*")
    found = page.at.selectbox(key="explain.found topic *7*")
    assert len(found.options) == int(data.Y_test[:, [7]].sum())
    row = int(found.options[0].split(":")[0])
    assert f"**Test row {row}**" in page.set(found.key, row).text()
    assert page.at.number_input(key="explain.row").value == row
    with monkeypatch.context() as patch:  # this model makes no mistakes
        patch.setattr(predictions, "worst_mistakes", lambda ranking, Y, most=None: np.array([5, 2]))
        assert "worst" not in page.set("explain.row", 2).text()
        assert "**Test row 5**, the most confident mistake" in page.press("explain.row.mistake").text()
    assert "No test row has" in page.search("explain.query", "no such thing").text()
    page.search("explain.label.query", "*5*")
    assert figure(page, "Features of topic *5*")
    assert "No label has" in page.search("explain.label.query", "no such thing").text()


HINGE = {"loss": "squared_hinge"}


@pytest.mark.parametrize(
    ("model", "params", "name"),
    [
        ("PLT", HINGE, "score"),
        ("LdSM", {}, "P"),
        ("OneVsRest", {}, "P"),
        ("DoubleSampling", {}, "decision P"),
        ("NearestRows", {}, "score"),
    ],
)
@pytest.mark.sections("Whole model", "Noise")
def test_every_model_is_explained_on_one_scale(ready, model, params, name):
    key = train(ready, model, **params)
    page = ready.go("explain").until(whole_model)
    fitted, x = experiment.load_run_model(key), word_data().X_test[[0]]
    label = int(fitted.predict_topk(x, 1).labels[0, 0])
    attrs = explain.contributions(fitted, x, label).attrs
    chance = explain.probability(attrs["kind"], attrs["total"])
    chance = row_decided(fitted, x)[0][label] if name == "decision P" else chance
    score = f"{chance:.3g}" if name == "score" else f"{100 * chance:.3g} %"
    assert f"({name} = {score})" in page.text().replace("−", "-")
    most = "Training rows" if model == "NearestRows" else "Features"
    assert f"**{model}** ranks" in page.text() and f"{most} that decide most" in str(titles(page))
    wanted = chance if name == "score" else 100 * chance
    for columns in (("correct", "score"), ("rank_before", "before")):  # predicted labels, and these under noise
        line = page.frame(*columns).set_index("name").filter(regex=rf"topic \*{label}\*$", axis=0)
        assert line[columns[1]].tolist() == [pytest.approx(wanted, rel=1e-4)]


@pytest.mark.parametrize("where", ["explain", "predict"])
@pytest.mark.sections("What if", "Another label", "Path")
def test_wrong_probabilities_are_said_to_be_so(ready, where, monkeypatch):
    """With a C near 0 all probabilities of one-vs-rest are near a half; the squared hinge has scores."""
    monkeypatch.setattr(explaining, "FAR_OFF", 0.01)  # as if there were many test rows
    data = word_data()
    said = {}
    for params in ({"C": 1e-4}, HINGE | {"C": 1e-4}):
        key = train(ready, "OneVsRest", **params)
        found = re.search(r"P is (\d+)\spoints off", ready.go(where).until(titles).text())
        said[key] = found and int(found[1])
    (logistic, points), (_, hinge) = said.items()
    bins = metrics.reliability(data.Y_test, cached.run(logistic).ranking)
    assert points == round(100 * metrics.calibration_error(bins).expected) > 5
    assert hinge is None


@pytest.mark.parametrize("kind", ["margin", "share"])
@pytest.mark.parametrize(("wrong", "said"), [(0.0, 0), (0.3, 30)])
def test_few_test_rows_are_not_taken_for_wrong_probabilities(monkeypatch, own_cache, kind, wrong, said):
    """With 30 rows, the mean error of right probabilities is 8 points by chance. LdSM ranks by other scores."""
    rng = np.random.default_rng(0)
    P = -np.sort(-rng.uniform(0.05, 0.65, (30, 5)), axis=1)
    data = types.SimpleNamespace(Y_test=sp.csr_array((rng.random((30, 5)) < P).astype(np.uint8)), X_test=P)
    shown = (P + wrong).astype(np.float32)
    ranking = Ranking(np.tile(np.arange(5), (30, 1)), shown if kind == "margin" else shown / 9)
    monkeypatch.setattr(cached, "run", lambda key: types.SimpleNamespace(fingerprint="", ranking=ranking))
    monkeypatch.setattr(cached, "dataset", lambda fingerprint: data)
    monkeypatch.setattr(cached, "model", lambda key: types.SimpleNamespace(predict_proba=lambda X: shown[: len(X)]))
    bins = metrics.reliability(data.Y_test, ranking._replace(scores=shown))
    assert metrics.calibration_error(bins).expected > explaining.FAR_OFF
    assert 100 * explaining.far_off(f"{kind} {wrong}", kind) == pytest.approx(said, abs=5)


@pytest.mark.sections("Another label")
def test_a_second_label_is_compared_with_the_first(page, model, key):
    data = word_data()
    label = int(model.predict_topk(data.X_test[[0]], 1).labels[0, 0])
    second = page.at.selectbox(key="explain.other").value
    true = set(data.Y_test[[0]].indices.tolist())
    assert (second in true) != (label in true)
    found = explain.contrast(model, data.X_test[[0]], label, second)
    spec = figure(page, "Evidence for each label")
    assert sum(bars(spec)) == pytest.approx(found.attrs["total"] - found.attrs["baseline"], abs=1e-6)
    assert {t["name"] for t in spec["data"]} <= {f"for topic *{label}*", f"for topic *{second}*", "no influence"}
    other = next(j for j in range(8) if j not in (label, second))
    assert f"topic *{other}*" in {said_plainly(label) for label in page.set("explain.other", other).metrics()}
    page.set("explain.row", 4)
    again, first = (page.at.selectbox(key=f"explain.{which}").value for which in ("label", "other"))
    true = set(data.Y_test[[4]].indices.tolist())
    assert first != again and (first in true) != (again in true)  # another row begins with its own second label
    ranked = experiment.load("train", key).ranking.labels
    row, label = next((i, int(j)) for i in range(30) for j in data.Y_test[[i]].indices if j not in ranked[i])
    page.set("explain.row", row).set("explain.label", label)
    assert f"**topic *{label}*** not among the first 5 for" in page.text()


@pytest.mark.sections("What if")
def test_the_fewest_features_that_keep_a_label_are_dropped(page, model):
    data = word_data()
    firsts = model.predict_topk(data.X_test, 1).labels[:, 0].tolist()
    found = {i: explain.counterfactual(model, data.X_test[[i]], label) for i, label in enumerate(firsts[:20])}
    row = next(i for i, features in found.items() if features is not None)
    page.set("explain.row", row)
    names = [data.feature_name(j) for j in found[row].tolist()]
    assert f"Without {format.listed([f'**{name}**' for name in names])}, PLT does not" in page.text()
    page.press("explain.whatif.fewest")
    assert all(f"**{name}** dropped" in page.text() for name in names)
    assert " changed in rank." in page.text()


@pytest.mark.sections("What if")
def test_a_feature_is_added_and_every_model_predicts_again(ready):
    for model in ("LdSM", "DoubleSampling", "OneVsRest"):
        train(ready, model)
    key = train(ready)
    page = ready.go("explain")
    x = word_data().X_test[[0]]
    new = next(j for j in range(10, 24) if j not in x.indices)
    page.set("explain.whatif.query", f"word_{new}")
    page.set(next(box.key for box in page.at.selectbox if box.key.startswith("explain.whatif.found")), new)
    value = float(np.median(np.abs(x.data)))
    assert f"**word_{new}** added with {value:.4g}" in page.text()
    after = row_editor.row_of([*x.indices, new], [*x.data, value], [False] * (x.nnz + 1), 24)
    wanted = explain.what_if(experiment.load_run_model(key), x, after)
    tables = [e.value for e in page.at.dataframe if {"rank_after", "rank_before"} <= set(e.value.columns)]
    assert len(tables) == 4  # one for each model
    np.testing.assert_allclose(tables[0]["after"], wanted["after"], rtol=1e-6)
    assert tables[0]["rank_before"].tolist() == wanted["rank_before"].tolist()
    assert not page.at.button(key="explain.whatif.reset").disabled
    assert "added with" not in page.press("explain.whatif.reset").text()
    assert page.at.button(key="explain.whatif.reset").disabled, "there is nothing to undo"


@pytest.mark.sections("Path")
@pytest.mark.parametrize(("model", "params", "is_hinge"), [
    ("PLT", {"loss": "logistic"}, False),
    ("PLT", HINGE, True),
    ("OneVsRest", HINGE, False),
    ("OneVsRest", {"noise_sigma": 0.1}, False),  # a model within one that makes the noise
])  # fmt: skip
def test_the_path_says_how_margins_become_probabilities(ready, model, params, is_hinge):
    fitted = experiment.load_run_model(train(ready, model, **params))
    x = word_data().X_test[[0]]
    way = explain.path(fitted, x, int(fitted.predict_topk(x, 1).labels[0, 0]))
    margin = way["margin"].to_numpy(np.float64)
    shown = np.exp(-(np.maximum(0, 1 - margin) ** 2)) if is_hinge else 1 / (1 + np.exp(-margin))
    np.testing.assert_allclose(way["factor"], shown, rtol=1e-5)
    assert answer.PROBABILITY["squared_hinge" if is_hinge else "logistic"] in ready.go("explain").text()


@pytest.mark.sections("Noise")
def test_noise_changes_contributions_and_none_does_not(page):
    title = "Contributions without and"
    field = next(n.key for n in page.at.number_input if n.key.startswith("explain.sigma"))
    assert "σ is 0, so there is no noise" in page.set(field, 0.0).text()
    one, two = (numbers(t["x"]) for t in figure(page, title)["data"] if t["mode"] == "markers")
    assert one == pytest.approx(two)
    labels = page.frame("before", "after")
    assert labels["before"].tolist() == labels["after"].tolist()
    page.set("explain.support", "all")  # so that there are more than ten features
    assert {"Rank correlation of features", "Jaccard index of top 10"} <= set(page.set(field, 0.5).metrics())
    before = figure(page, title)
    assert figure(page.press("explain.noise.again"), title) != before


@pytest.mark.sections("Noise", "Largest values")
def test_a_row_of_equal_values_has_no_largest_ones(ready):
    data = word_data()
    X_train, X_test = (sp.csr_array(X != 0, dtype=float) for X in (data.X_train, data.X_test))
    train(ready, data=datasets.Dataset("ones", X_train, data.Y_train, X_test, data.Y_test))
    sizes = np.diff(X_test.indptr)
    for row in sizes.argmax(), (sizes == 5).argmax():
        page, n = ready.go("explain").set("explain.row", int(row)), X_test[[row]].nnz
        assert figure(page, "Values of test row") is None and f"All {n} values of this row" in page.text()
        cards = page.metrics()
        assert "Rank correlation of features" in cards and ("Jaccard index of top 10" in cards) == (n > 10)


@pytest.mark.sections("Another result", "Path", "Another label")
def test_two_models_explain_the_same_label_side_by_side(ready):
    ldsm, noisy = train(ready, "LdSM", n_estimators=2), train(ready, noise_sigma=0.1)
    train(ready)
    page = ready.go("explain")
    assert page.at.selectbox(key="explain.second").value == noisy  # it comes first
    assert "Rank of the label" in page.metrics()
    ends = [figure(page, title)["layout"]["xaxis"]["range"] for title in ("PLT", "PLT trained with noise σ = 0.1")]
    assert ends[0] == ends[1]
    page.set("explain.second", ldsm)
    assert figure(page, "LdSM") and figure(page, "PLT trained with noise σ = 0.1") is None
    page.set("explain.run", ldsm)
    assert {"leaf", "share", "change"} <= set(page.frame("depth", "node", "share").columns)
    assert figure(page, "Ways to topic")


@pytest.mark.sections("Another label")
def test_ldsm_compares_two_labels_as_it_explains_each(ready):
    key = train(ready, "LdSM", n_estimators=2)
    page = ready.go("explain")
    label, other = (int(page.at.selectbox(key=f"explain.{which}").value) for which in ("label", "other"))
    fitted, x = experiment.load_run_model(key), word_data().X_test[[0]]
    one, two = (explain.contributions(fitted, x, j).attrs for j in (label, other))
    expected = 100 * sum(sign * (attrs["total"] - attrs["baseline"]) for sign, attrs in ((1, one), (-1, two)))
    assert sum(bars(figure(page, "Evidence for each label"))) == pytest.approx(expected, abs=1e-4)


@pytest.mark.sections("Whole model")
def test_the_whole_model_is_explained_by_itself(page, key):
    page.until(whole_model)
    found = experiment.task("explanations", {"run": key}, {"n_rows": 30}).load()
    assert figure(page, "Do explanations stay the same") and figure(page, "Features that decide most")
    filled = np.flatnonzero(np.diff(word_data().X_test.indptr))
    assert found.rows.tolist() == filled.tolist()
    assert f"{filled.size} of 30 test rows" in page.text()


def test_the_best_result_is_shown_until_one_is_asked_for(ready):
    best, last = train(ready), train(ready, "LdSM", n_estimators=1, max_nodes=3)
    assert ready.go("train").at.selectbox(key="train.run").value == best
    assert ready.go("explain").at.selectbox(key="explain.run").value == best
    ready.set("explain.run", last)
    for name in ("explain", "predict", "train"):
        box = {"predict": "predict.model", "train": "train.run"}.get(name, "explain.run")
        assert ready.go(name).at.selectbox(key=box).value == last
        assert f"result-{last[:12]}" in ready.view


def test_the_row_stays_when_another_model_is_chosen(ready, monkeypatch):
    keys, firsts = [train(ready), train(ready, "LdSM", n_estimators=1, max_nodes=3)], {}

    def worst(ranking, Y, most=None):
        return np.array([3 + firsts.setdefault(ranking.scores.tobytes(), len(firsts))])

    monkeypatch.setattr(predictions, "worst_mistakes", worst)
    shown = ready.go("explain").at.number_input(key="explain.row").value
    other = next(key for key in keys if key != ready.at.selectbox(key="explain.run").value)
    assert shown == 3 == ready.set("explain.run", other).at.number_input(key="explain.row").value
    for name, box in (("predict", "predict.model"), ("train", "train.run")):
        for key in keys:
            ready.go(name).set(box, key)
        assert ready.go("explain").at.number_input(key="explain.row").value == shown


@pytest.mark.sections("Another label", "Features of a label")
def test_of_a_model_of_which_all_weights_are_0_no_bars_are_drawn(ready):
    train(ready, weight_threshold=1e30)
    page = ready.go("explain")
    assert not titles(page)


def test_each_kind_of_score_that_is_explained_has_a_difference():
    assert compared.DIFFERENCE.keys() == explaining.SCALES.keys() - {explaining.DECIDES}
