"""The Explain page, opened and used through app.py."""

import numpy as np
import pytest

from pages.shared.rows import row_editor
from tests.pages import making
from tests.pages.making import figure, numbers, titles, train, word_data
from xmlcore import datasets, experiment, explain

pytestmark = pytest.mark.usefixtures("all_sections_open")


def bars(spec):
    """Lengths of all bars of a figure, from the top down."""
    found = {}
    for trace in spec["data"]:
        if trace["type"] == "bar":
            found |= dict(zip(numbers(trace["y"]), numbers(trace["x"])))
    return [found[place] for place in sorted(found, reverse=True)]


def whole_model(page):
    return figure(page, "Do the features ") is not None


def test_bars_and_the_path_add_up_from_the_empty_row_to_the_score(page, model):
    data = word_data()
    label = int(model.predict_topk(data.X_test[[0]], 1).labels[0, 0])
    found = explain.contributions(model, data.X_test[[0]], label)
    assert f"ranks **topic *{label}*** 1st for test row 0" in page.text()
    drawn = bars(figure(page, f"Contributions to topic *{label}*"))
    assert sum(drawn) == pytest.approx(found.attrs["total"] - found.attrs["baseline"], abs=1e-6)
    assert f"P = {100 * np.exp(found.attrs['total']):.3g} %" in page.text()
    sizes = np.abs(bars(figure(page, "Largest values")))
    assert (np.diff(sizes) <= 0).all()  # the paper's ranking stands beside it
    assert {"Figure, HTML", "Data, CSV", "Noisy copies, CSV"} <= page.downloads()
    table = page.frame("depth", "name", "factor", "product")
    way = explain.path(model, data.X_test[[0]], label)
    assert table["node"].tolist() == way["node"].tolist() and table["name"].iloc[-1] == f"topic *{label}*"
    assert table["product"].iloc[-1] == pytest.approx(100 * np.exp(way["log_proba"].iloc[-1]), rel=1e-6)
    assert figure(page, f"Path to topic *{label}*")
    kinds = [block.type for block in page.at.main]
    assert kinds.index("number_input") < kinds.index("plotly_chart")
    assert kinds.index("selectbox") < kinds.index("plotly_chart")


def test_labels_and_rows_are_found_chosen_and_belong_together(page, model):
    choice = page.at.selectbox(key="explain.label")
    assert "predicted 1st" in choice.options[0] and "predicted 2nd" in choice.options[1]
    second = int(model.predict_topk(word_data().X_test[[0]], 2).labels[0, 1])
    choice.set_value(second)
    page.run()
    assert f"ranks **topic *{second}*** 2nd for test row 0" in page.text()
    page.go("data").go("explain")
    assert page.at.selectbox(key="explain.label").value == second
    page.at.number_input(key="explain.row").set_value(3)
    page.run()
    assert "1st for test row 3" in page.text()
    assert not [box for box in page.at.selectbox if box.key == "explain.second"], "there is one result"
    page.search("explain.query", "topic *7*")
    page.run()
    found = page.at.selectbox(key="explain.found topic *7*")
    data = word_data()
    assert len(found.options) == int(data.Y_test[:, [7]].sum())
    row = int(found.options[0].split(":")[0])
    found.set_value(row)
    page.run()
    assert f"**Test row {row}**" in page.text() and page.at.number_input(key="explain.row").value == row
    page.search("explain.query", "no such thing")
    assert "No test row has" in page.run().text()
    page.search("explain.label.query", "*5*")
    page.run()
    assert figure(page, "Features of topic *5*")
    assert "Contributions to **topic *5***" in page.text()
    page.search("explain.label.query", "no such thing")
    assert "No label has" in page.run().text()


@pytest.mark.parametrize("model", ["PLT", "OneVsRest", "LdSM", "DoubleSampling"])
def test_all_scores_of_a_label_are_on_one_scale(ready, model):
    key = train(ready, model)
    page = ready.go("explain")
    fitted, x = experiment.load_run_model(key), word_data().X_test[[0]]
    label = int(fitted.predict_topk(x, 1).labels[0, 0])
    attrs = explain.contributions(fitted, x, label).attrs
    chance = explain.probability(attrs["kind"], attrs["total"])
    said = page.text().replace("−", "-")
    score = f"f = {attrs['total']:+.2f}" if chance is None else f"P = {100 * chance:.3g} %"
    assert f"1st for test row 0 with {score}" in said
    wanted = attrs["total"] if chance is None else 100 * chance
    for columns in (("correct", "score"), ("before", "score before")):  # predicted labels, and these under noise
        assert page.frame(*columns)[columns[1]].iloc[0] == pytest.approx(wanted, rel=1e-4)
    assert "Scores on this page are" in said


def test_a_second_label_is_compared_with_the_first_also_one_that_was_missed(page, model):
    data = word_data()
    label = int(model.predict_topk(data.X_test[[0]], 1).labels[0, 0])
    box = page.at.selectbox(key="explain.other")
    true = set(data.Y_test[[0]].indices.tolist())
    assert (box.value in true) != (label in true)
    found = explain.contrast(model, data.X_test[[0]], label, box.value)
    spec = figure(page, "What speaks for which label")
    assert sum(bars(spec)) == pytest.approx(found.attrs["total"] - found.attrs["baseline"], abs=1e-6)
    assert {t["name"] for t in spec["data"]} <= {f"for topic *{label}*", f"for topic *{box.value}*", "no influence"}
    other = next(j for j in range(8) if j not in (label, box.value))
    box.set_value(other)
    page.run()
    assert f"**topic *{other}*** has P = " in page.text()
    page.at.number_input(key="explain.row").set_value(4)
    page.run()
    again = page.at.selectbox(key="explain.label").value
    first = page.at.selectbox(key="explain.other").value
    true = set(data.Y_test[[4]].indices.tolist())
    assert first != again and (first in true) != (again in true)  # another row begins with its own second label
    data, run = (
        word_data(),
        experiment.load("train", next(iter(making.workspace_row(page).read()["runs"]))["key"]),
    )
    missed = [
        (row, int(j)) for row in range(30) for j in data.Y_test[[row]].indices if j not in run.ranking.labels[row]
    ]
    assert missed, "the data set of these tests must have a label that is missed"
    row, label = missed[0]
    page.at.number_input(key="explain.row").set_value(row)
    page.run()
    page.at.selectbox(key="explain.label").set_value(label)
    page.run()
    assert (
        f"does not have **topic *{label}*** among its first 5" in page.text()
        and "The row has this label." in page.text()
    )


def test_a_feature_is_added_and_every_model_predicts_again(ready):
    for model in ("LdSM", "DoubleSampling", "OneVsRest"):
        train(ready, model)
    key = train(ready)
    page = ready.go("explain")
    assert "Change a value, drop a feature or add one" in page.text()
    data = word_data()
    x = data.X_test[[0]]
    new = next(j for j in range(10, 24) if j not in x.indices)
    page.at.text_input(key="explain.whatif.query").set_value(f"word_{new}")
    page.run()
    found = next(box for box in page.at.selectbox if box.key.startswith("explain.whatif.found"))
    found.set_value(new)
    page.run()
    value = float(np.median(np.abs(x.data)))
    assert f"**word_{new}** added with {value:.4g}" in page.text()
    after = row_editor.row_of([*x.indices, new], [*x.data, value], [False] * (x.nnz + 1), 24)
    wanted = explain.what_if(experiment.load_run_model(key), x, after)
    tables = [e.value for e in page.at.dataframe if {"rank_after", "rank_before"} <= set(e.value.columns)]
    assert len(tables) == 4  # one for each model
    np.testing.assert_allclose(tables[0]["after"], 100 * wanted["after"], rtol=1e-6)
    assert tables[0]["rank_before"].tolist() == wanted["rank_before"].tolist()
    assert not page.at.button(key="explain.whatif.reset").disabled
    page.press("explain.whatif.reset")
    assert "Change a value, drop a feature or add one" in page.text()
    assert page.at.button(key="explain.whatif.reset").disabled, "there is nothing to undo"


SIGMOID = "the sigmoid of the margin of its classifier"


@pytest.mark.parametrize(
    ("model", "params", "said"),
    [
        ("PLT", {"loss": "logistic"}, SIGMOID),
        ("PLT", {"loss": "squared_hinge"}, "exp(−max(0, 1 − margin)²) for the margin of its classifier"),
        ("OneVsRest", {"loss": "squared_hinge"}, SIGMOID),
        ("OneVsRest", {"noise_sigma": 0.1}, SIGMOID),  # a model within one that makes the noise
    ],
)
def test_the_path_says_how_this_model_makes_margins_probabilities(ready, model, params, said):
    fitted = experiment.load_run_model(train(ready, model, **params))
    x = word_data().X_test[[0]]
    way = explain.path(fitted, x, int(fitted.predict_topk(x, 1).labels[0, 0]))
    margin = way["margin"].to_numpy(np.float64)
    shown = 1 / (1 + np.exp(-margin)) if said == SIGMOID else np.exp(-(np.maximum(0, 1 - margin) ** 2))
    np.testing.assert_allclose(way["factor"], shown, rtol=1e-5)
    where = "its probability given its parent" if model == "PLT" else "so the path has one point"
    shown = ready.go("explain").text()
    assert where in shown and said in shown


def test_noise_changes_contributions_and_none_does_not(page):
    assert figure(page, "Contributions without and with noise")
    field = next(n.key for n in page.at.number_input if n.key.startswith("explain.sigma"))
    page.at.number_input(key=field).set_value(0.0)
    page.run()
    assert "σ is 0, so there is no noise and nothing changes" in page.text()
    spec = figure(page, "Contributions without and with noise")
    one, two = (numbers(t["x"]) for t in spec["data"] if t["mode"] == "markers")
    assert one == pytest.approx(two)
    labels = page.frame("before", "after")
    assert labels["before"].tolist() == labels["after"].tolist()
    page.at.number_input(key=field).set_value(0.5)
    page.run()
    metrics = page.metrics()
    assert {"Rank correlation", "Same top 10"} <= set(metrics)
    before = figure(page, "Contributions without and with noise")
    page.press("explain.noise.again")
    assert figure(page, "Contributions without and with noise") != before


def test_two_models_explain_the_same_label_side_by_side_and_bars_of_ldsm_do_not_add_up(ready):
    ldsm, twin = train(ready, "LdSM", n_estimators=2), train(ready, noise_sigma=0.1)
    train(ready)
    page = ready.go("explain")
    assert page.at.selectbox(key="explain.second").value == twin  # it comes first
    assert "Rank of the label" in page.metrics()
    ends = [figure(page, title)["layout"]["xaxis"]["range"] for title in ("PLT", "PLT trained with noise σ = 0.1")]
    assert ends[0] == ends[1]
    page.at.selectbox(key="explain.second").set_value(ldsm)
    page.run()
    assert figure(page, "LdSM") and figure(page, "PLT trained with noise σ = 0.1") is None
    page.at.selectbox(key="explain.run").set_value(ldsm)
    page.run()
    assert "**LdSM** ranks" in page.text() and "Such bars do not add up" in page.text()
    assert {"leaf", "share", "change"} <= set(page.frame("depth", "node", "share").columns)
    assert figure(page, "Ways to topic")
    assert "of a row without features to P =" in page.text()


def test_the_whole_model_is_explained_by_itself_once(page, key, server):
    page.until(whole_model)
    found = experiment.task("explanations", {"run": key}, {"n_rows": 30}).load()
    assert figure(page, "Do explanations stay the same") and figure(page, "Features that decide most")
    filled = np.flatnonzero(np.diff(word_data().X_test.indptr))
    assert found.rows.tolist() == filled.tolist()
    said = "all 30" if filled.size == 30 else f"{filled.size} of 30"
    assert f"Means over {said} test rows" in page.text()
    before = len(server.jobs())
    page.go("train").go("explain")
    assert len(server.jobs()) == before


@pytest.mark.parametrize("model", [name for name in experiment.MODELS if name != "PLT"])
def test_every_model_is_explained(ready, model):
    train(ready, model)
    page = ready.go("explain").until(whole_model)
    assert f"**{model}** ranks" in page.text() and "Features that decide most" in str(titles(page))
    page.go("robustness").until(lambda s: figure(s, "P@1 under"))
    assert f"takes P@1 of **{model}**" in page.text()


def test_test_rows_without_features_are_said_to_leave_nothing_to_explain(ready, monkeypatch):
    data = word_data()
    empty = datasets.Dataset("words", data.X_train, data.Y_train, np.zeros(data.X_test.shape), data.Y_test)
    train(ready, data=empty)
    page = ready.go("explain").until(lambda s: "nothing to explain about the whole model" in s.text(), seconds=60)
    assert "This row has no features, so nothing contributes" in page.text()
