"""The Robustness page, opened and used through app.py."""

import dataclasses
import re
import types

import numpy as np
import pandas as pd
import pytest

from pages.predict.predictor import CHOSEN
from pages.robustness import answer, choices
from pages.robustness import measured as measured_runs
from pages.shared import cached
from tests.pages.making import estimate, fields_of, figure, said_plainly, train
from xmlcore import DoubleSampling, experiment, robustness, store
from xmlcore.datasets import load_saved
from xmlcore.experiment.engine.times import Work
from xmlcore.experiment.kinds.robustness import SURROGATE_PARAMS
from xmlcore.parameters import Parameter
from xmlcore.robustness import evaluation
from xmlcore.robustness.perturbations import KINDS


def legend(spec):
    """The results that a figure has lines of, also while there is none."""
    return (
        [trace["name"] for trace in spec["data"] if trace.get("name") and "markers" in trace.get("mode", "")]
        if spec
        else []
    )


def measured(page):
    return figure(page, "P@1 under") is not None


@pytest.fixture
def page(ready, key):
    return ready.go("robustness").until(measured)


STYLES = pd.DataFrame({"model": "PLT", "place": 0}, ["A", "B", "C"])


def measured_shares(n_rows, levels, *shares):
    """What three repeats measured, of shares of rows whose first label is right: the last rows are wrong first."""
    lines = [
        ("gaussian", level, 1, repeat, "all", measure, share, 1 - share / shares[0])
        for measure in ("P@k", "PSP@k")
        for level, share in zip((0.0, *levels), shares)
        for repeat in range(3)
    ]
    right = 3 * (np.arange(n_rows) < np.round(n_rows * np.array(shares)[:, None]))
    frame = pd.DataFrame(lines, columns=evaluation.COLUMNS)
    return types.SimpleNamespace(frame=frame, n_rows=n_rows, levels=list(levels), first_right=right)


def gaussian(key):
    """The task that the page begins with."""
    params = {"kind": "gaussian", "levels": [0.01, 0.05, 0.1], "options": {"support": "all"}, "n_repeats": 3}
    return experiment.task("robustness", {"run": key}, params)


def test_the_paper_s_noise_is_measured_and_told(page):
    assert "**PLT** loses **0.0 points**" in said_plainly(page.text())
    below = figure(page, "P@1 under")["layout"]["title"]["subtitle"]["text"]
    assert {*said_plainly(below).split("; ")} == {"all 30 test rows", "bands: 95 % over 3 repeats"}
    table = page.frame("run", "k", "P@k clean", "P@k", "P@k drop", "PSDCG@k (1/log)")
    assert table["k"].tolist() == [1, 3, 5]
    np.testing.assert_allclose(table["nDCG@k"].iloc[0], table["P@k"].iloc[0])  # at 1 they are the same
    lost = 100 * (1 - table["P@k"] / table["P@k clean"])
    np.testing.assert_allclose(table["P@k drop"], lost, atol=0.5)  # a mean of drops is near the drop of means
    order = lambda: next(t.proto.column_order for t in page.at.dataframe if "P@k drop" in t.value.columns)  # noqa: E731
    assert list(order()) == ["run", "k", "P@k clean", "P@k", "P@k drop"]
    less = page.set("robustness.level", 0.01).frame("run", "k", "P@k drop")
    assert abs(less["P@k drop"]).max() <= abs(table["P@k drop"]).max() + 1e-9
    assert {"Table, CSV", "All measurements, CSV", "Figure, HTML", "Data, CSV"} <= page.downloads()


def under_noise(results, levels=(0.25, 0.5)):
    """Results as the page compares them under Gaussian noise."""
    settings = types.SimpleNamespace(levels=list(levels), kind="gaussian", options={"support": "all"})
    return measured_runs.UnderNoise(results, STYLES, settings, "files")


@pytest.mark.parametrize(("n_rows", "level"), [(150, 1.0), (200_000, 0.5)])
def test_the_answer_is_of_the_first_level_of_significant_loss(n_rows, level):
    def result(lost):
        return measured_shares(n_rows, (0.5, 1.0), *(0.6 * (1 - level * lost) for level in (0.0, 0.5, 1.0)))

    found = answer.facts(under_noise({"B": result(0.9), "A": result(0.1)}, (0.5, 1.0)))
    assert found == ("A", level, pytest.approx(6 * level), True, n_rows), "of equals the first by name"


def test_the_table_says_where_each_result_begins_to_lose():
    shares = {"A": (0.6, 0.6, 0.55), "B": (0.6, 0.1, 0.05), "C": (0.6, 0.6, 0.6)}
    runs = {name: measured_shares(400, (0.25, 0.5), *of) for name, of in shares.items()}
    table = answer.compared(under_noise(runs))
    assert table["from"].tolist() == ["σ = 0.5", "σ = 0.25", ""]
    np.testing.assert_allclose(table["lost"], [100 * 5 / 60, 100 * 55 / 60, 0.0], atol=1e-9)
    assert table["more"].tolist() == ["", "larger", "smaller"]


@pytest.mark.parametrize(
    ("after", "significant"), [(0.60, False), (0.61, False), (0.59, False), (0.7, True), (0.5, True)]
)
def test_one_row_of_a_hundred_is_not_significant(after, significant):
    one = measured_shares(100, (0.5,), 0.6, after)
    found = answer.facts(under_noise({"A": one}, [0.5]))
    assert found[3] == significant and found[2] == pytest.approx(60 - 100 * after)
    one.first_right = None  # as of certificates, so nothing is tested
    assert not answer.facts(under_noise({"A": one}, [0.5]))[3]


@pytest.mark.sections()
def test_the_number_of_rows_stays_when_estimates_change(ready, key, session, monkeypatch):
    def rows(page, share_of_row):
        every = choices.tasks.AUTOMATIC_BELOW * share_of_row
        work = lambda task: Work("", every * (task.params["n_rows"] or 30))  # noqa: E731
        monkeypatch.setattr(experiment.KINDS["robustness"], "work", work)
        (field,) = (one for one in page.go("robustness").at.number_input if one.label == "Rows, up to 30")
        return field.value

    monkeypatch.setattr(choices, "SAMPLES", (20, 10, 5))
    assert rows(ready, 0.1) == 10  # the largest sample that is quick
    ready.go("train")
    assert rows(ready, 0.001) == 10
    assert rows(session(ready.token), 0.001) == 10, "what was measured before is in sight after a reload"


@pytest.mark.sections()
def test_models_that_take_negative_values_as_0_are_named(ready):
    train(ready, "DoubleSampling")
    train(ready)
    page = ready.go("robustness").until(lambda s: len(legend(figure(s, "P@1 under"))) == 2)
    said = "as 0 for **DoubleSampling**"
    assert said in page.text()
    page.set("robustness.kind", "words").until(lambda s: figure(s, "P@1 under changed words"))
    assert said not in page.text()


@pytest.mark.sections("Head, torso and tail", "Prediction time", "Single rows")
def test_measure_k_share_lost_rows_and_buckets_are_chosen(page):
    page.at.selectbox(key="robustness.measure").set_value("nDCG@k")
    page.at.selectbox(key="robustness.k").set_value(3)
    spec = figure(page.set("robustness.drawn", "drop"), "nDCG@3 under Gaussian noise")
    assert "lost" in spec["layout"]["yaxis"]["title"]["text"]
    page.at.selectbox(key="robustness.k").set_value(1)
    page.at.selectbox(key="robustness.drawn").set_value("value")
    measures = page.at.selectbox(key="robustness.measure").options
    assert [measure for measure in measures if "PS" in measure] == ["PSP@k", "PSDCG@k by 1/log(1 + n)"]
    spec = figure(page.set("robustness.measure", "PSDCG@k (1/log)"), "PSDCG@1 by 1/log(1 + n) under")
    assert spec["layout"]["yaxis"]["title"]["text"] == "PSDCG@1 by 1/log(1 + n), %"
    page.set("robustness.buckets.k", 5)
    for title, axis in (("Parts of P@5", "Part of P@5, %"), ("Recall@5 of head", "micro R@5, %")):
        assert legend(figure(page, title)) == ["head", "torso", "tail"]
        assert figure(page, title)["layout"]["yaxis"]["title"]["text"] == axis
    page.until(lambda s: len(legend(figure(s, "Prediction time"))) == 3)
    assert legend(figure(page, "Prediction time")) == ["PLT, k = 1", "PLT, k = 3", "PLT, k = 5"]
    spec = figure(page.set("robustness.row", 29), "Feature values at σ = 0.1")
    said = [annotation["text"] for annotation in spec["layout"]["annotations"]]
    assert said == [f"<b>Test row {row}</b>" for row in (0, 1, 29)]
    assert "Lengths (L2 norms): row" in page.text()


@pytest.mark.sections()
def test_a_failed_training_of_another_model_is_not_shown(ready, key, monkeypatch):
    monkeypatch.setattr(DoubleSampling, "fit", lambda *args, **settings: 1 / 0)
    ready.go("train").set("train.model", "DoubleSampling").press("train.DoubleSampling.submit")
    page = ready.until(lambda s: s.at.error).go("robustness").until(measured)
    assert not page.at.error


def test_several_models_are_on_one_axis_and_one_is_taken_away(ready):
    train(ready, "LdSM", n_estimators=2)
    keys = [train(ready), train(ready, noise_sigma=0.1)]
    page = ready.go("robustness").until(lambda s: len(legend(figure(s, "P@1 under"))) == 3)
    assert legend(figure(page, "P@1 under")) == ["PLT trained with noise σ = 0.1", "PLT", "LdSM"]
    beside = page.at.dataframe[0].value
    assert beside["run"].tolist() == ["PLT trained with noise σ = 0.1", "PLT", "LdSM"]
    assert list(beside.columns) == ["run", "0", "0.01", "0.05", "0.1", "from", "lost", "more"]
    best = beside.sort_values("run").loc[lambda frame: frame["0"].idxmax(), "run"]
    assert re.search(rf"\*\*{best}\*\* (loses|gains) ", page.text())
    page.set("robustness.runs", keys)
    assert sorted(legend(figure(page, "P@1 under"))) == ["PLT", "PLT trained with noise σ = 0.1"]
    assert page.go("data").go("robustness").at.multiselect(key="robustness.runs").value == keys
    assert "Choose at least one result" in page.set("robustness.runs", []).text()


@pytest.mark.sections()
def test_unasked_results_have_a_star_and_come_last(ready, key):
    made = train(ready, "LdSM")
    with fields_of(ready) as fields:
        fields["runs"][1]["asked"] = -1.0
    compared = ready.go("robustness").at.multiselect(key="robustness.runs")
    assert compared.options == ["LdSM*", "PLT"] and compared.value == [key, made] and "background" in compared.help
    assert sorted(ready.go("compare").frame("run", "P@1")["run"]) == ["LdSM*", "PLT"]
    assert ready.go("predict").at.selectbox(key=CHOSEN).value == key, "it is not the newest"


@pytest.mark.sections("Training with noise")
def test_a_counterpart_trained_by_one_press_joins_the_figure(page, key):
    page.press("robustness.noisy.train")
    page.until(lambda s: len(legend(figure(s, "P@1 under"))) == 2, seconds=300)
    assert legend(figure(page, "P@1 under")) == ["PLT", f"PLT trained with noise σ = {0.05}"]
    assert page.at.button(key="robustness.noisy.train").disabled
    run = experiment.load("train", page.at.multiselect(key="robustness.runs").value[1])
    assert run.params["noise_sigma"] == 0.05 and run.params["noise_support"] == "all"
    assert {**run.params, "noise_sigma": 0.0} == experiment.load("train", key).params
    page.set("robustness.noisy.kind", "fgsm")
    assert "learns from the FGSM attack; the figures above have Gaussian noise" in page.text()
    page.press("robustness.noisy.train")
    page.until(lambda s: len(legend(figure(s, "P@1 under"))) == 3, seconds=300)
    assert legend(figure(page, "P@1 under"))[2].startswith("PLT trained with the FGSM attack of ε = ")


@pytest.mark.sections("Training with noise")
def test_a_counterpart_of_the_quickest_model_is_offered_first(ready, key, monkeypatch):
    slow = train(ready, "OneVsRest")
    seconds = {key: 1.0, slow: 9.0}
    loaded = cached.run

    def run(key):
        result = loaded(key)
        return dataclasses.replace(result, times=result.times | {"fit_s": seconds[key]})

    monkeypatch.setattr(cached, "run", run)
    estimate(monkeypatch, "robustness", 100.0)  # nothing is measured unasked
    page = ready.go("robustness")
    assert page.at.selectbox(key="robustness.noisy.of").value == key
    assert "The counterpart learns from noise on" not in page.text()
    page.set("robustness.support gaussian", "nonzero")
    assert "The counterpart learns from noise on" in page.text()


@pytest.mark.slow  # compiles kernels that nothing else on the pages uses
def test_certificates_are_a_curve_of_models_that_have_them(ready):
    train(ready, "OneVsRest")
    key = train(ready)
    page = ready.go("robustness").until(measured)
    page.set("robustness.kind", "certificate").until(lambda s: figure(s, "Certified rows under"))
    X, model = load_saved(experiment.load("train", key).fingerprint).X_test, experiment.load_run_model(key)
    level = robustness.default_levels("certificate", 2, robustness.ValueScale.of(X))[-1]
    share = 100 * (robustness.certified_radius(model, X).radius >= level).mean()
    assert f"**{share:.1f}" in page.text() and "Not compared: **OneVsRest**" in page.text()


@pytest.mark.sections("At one level", "Prediction time", "Single rows")
def test_attacks_say_on_which_model_they_were_computed(ready):
    train(ready, "LdSM", n_estimators=2)
    train(ready)
    page = ready.go("robustness").set("robustness.kind", "pgd")
    page.until(lambda s: len(legend(figure(s, "P@1 under the PGD attack (L2)"))) == 2)
    assert "was computed on a binary PLT" in page.text()
    assert "attacked on a binary PLT" in page.text()  # the rows below
    table = next(t.proto for t in page.at.dataframe if "P@k drop" in t.value.columns)
    assert "P@k attacked" in table.columns
    drawn = figure(page, "Feature values at"), figure(page, "Prediction time under attack")
    assert {trace.get("name") for trace in drawn[0]["data"]} >= {"without attack", "with attack"} and drawn[1]
    assert "noisy" not in table.columns


def test_own_attacks_are_not_compared_with_transferred_ones(ready):
    keys = {model: train(ready, model, **params) for model, params in (("LdSM", {"n_estimators": 2}), ("PLT", {}))}

    def compared(s):
        return set(legend(figure(s, "P@1 under the FGSM")))

    page = ready.go("robustness").set("robustness.kind", "fgsm").until(lambda s: len(compared(s)) == 2)
    # One of the models has no gradient: at first the same label tree is attacked for both.
    for model, key in keys.items():
        levels = [float(o.split("=")[1]) for o in page.at.select_slider(key="robustness.level").options]
        params = {"kind": "fgsm", "levels": levels, "options": {"norm": 2, "support": "all"}, "n_repeats": 1}
        transferred = model != "LdSM"  # whose attack always is
        assert experiment.task("robustness", {"run": key}, params | {"transferred": transferred}).load().surrogate
    page.set("robustness.gradient mixed", "own").until(lambda s: compared(s) == {"PLT"})
    assert "**LdSM** (no gradient" in page.text()
    assert page.frame("run", "k", "P@k clean")["run"].unique().tolist() == ["PLT"]
    page.set("robustness.runs", [keys["LdSM"]]).until(lambda s: compared(s) == {"LdSM"})
    assert "None of these models has" in page.text()


@pytest.mark.sections()
def test_the_attacked_tree_itself_is_not_compared(ready):
    train(ready, **SURROGATE_PARAMS)
    train(ready, "OneVsRest")
    page = ready.go("robustness").set("robustness.kind", "fgsm").set("robustness.gradient alike", "tree")
    page.until(lambda s: legend(figure(s, "P@1 under the FGSM")) == ["OneVsRest"])
    assert "Not compared: **PLT**" in page.text()


def test_levels_that_cannot_be_read_are_said_to_be_so(page):
    field = next(t.key for t in page.at.text_input if t.key.startswith("robustness.levels"))
    said = page.set(field, "0.1, much").at.error[0].value
    assert "Noise" in said and "“much” is not a number" in said, "the field and what is wrong in it"
    assert measured(page) and page.at.number_input(key="robustness.repeats gaussian"), "all else stays"
    assert "shows 0.01, 0.05, 0.1" in page.text()
    both = ["σ = 0.02", "σ = 0.2"]
    levels = lambda s: list(s.at.select_slider(key="robustness.level").options) if measured(s) else []  # noqa: E731
    page.set(field, "0.2; 0.2, 0.02").until(lambda s: levels(s) == both)
    assert page.set(field, "-1").at.error and levels(page) == both, "what was read last stays"


def test_other_noise_and_a_sample_are_measured_when_chosen(page):
    field = next(n.key for n in page.at.number_input if n.key.startswith("robustness.rows "))
    page.set(field, 10).until(measured)
    below = figure(page, "P@1 under")["layout"]["title"]["subtitle"]["text"]
    assert below.startswith("10 of 30 test rows;") and "On 10 of 30 test rows" in page.text()
    page.set("robustness.kind", "words").until(lambda s: figure(s, "P@1 under changed words"))
    assert re.search(r"With \d+ % of words changed \(", said_plainly(page.text()))
    assert "Measured too:" in page.text(), "other kinds of noise that are kept are one click away"
    page.press("robustness.also gaussian").until(lambda s: figure(s, "P@1 under Gaussian noise"))
    assert page.at.selectbox(key="robustness.kind").value == "gaussian"
    page.set("robustness.support gaussian", "nonzero")
    page.until(lambda s: figure(s, "P@1 under Gaussian noise on pr"))


def test_curves_stay_until_the_levels_chosen_now_are_measured(page, monkeypatch):
    estimate(monkeypatch, "robustness", 125.0)
    field = next(t.key for t in page.at.text_input if t.key.startswith("robustness.levels"))
    text = said_plainly(page.set(field, "0.02, 0.2").text())
    assert "not measured together" in text and "σ = 0.1 on all features, " in text
    assert measured(page) and list(page.at.select_slider(key="robustness.level").options)[-1] == "σ = 0.1"
    train(page, "OneVsRest")
    text = page.go("data").go("robustness").text()
    assert measured(page) and "Not measured: **OneVsRest**." in text
    assert "Measure " in page.at.button(key="robustness.start").label
    page.press("robustness.start").until(lambda s: "not measured together" not in s.text())
    assert "σ = 0.2 on all features, " in said_plainly(page.text())
    page.set(field, "0.02, 0.3")
    assert legend(figure(page, "P@1 under")) == ["OneVsRest", "PLT"], "the levels that most results have"
    with fields_of(page) as fields:
        fields["made"] = []
    assert not measured(page.set(field, "0.02, 0.4")), "others have measured those levels"


@pytest.mark.sections()
def test_a_form_offers_every_option_of_a_kind(ready, key, monkeypatch):
    steps, pgd = Parameter("n_steps", "Steps", "Number of steps.", "int", 20, minimum=1), KINDS["pgd"]
    monkeypatch.setitem(KINDS, "pgd", dataclasses.replace(pgd, options=(*pgd.options, steps)))
    ready.go("robustness").set("robustness.kind", "pgd").set("robustness.n_steps pgd", 2).until(measured)
    kept = [experiment.load("robustness", entry["key"]).options for entry in store.entries("robustness")]
    assert {"norm": 2, "support": "all", "random_start": False, "n_steps": 2} in kept


@pytest.mark.parametrize(("text", "levels"), [
    ("0.1", [0.1]), (" .5; 0.1,0,0.1,", [0.1, 0.5]), ("1e-3,2", [0.001, 2]), ("0,1", [1.0]),
    ("0.1, 0.10000000001", [0.1]),
])  # fmt: skip
def test_levels_are_read(text, levels):
    assert choices.parse_levels(text, "gaussian") == (levels, None)


@pytest.mark.parametrize(("kind", "said", "texts"), [
    ("gaussian", "At least one level", ["", "0"]),
    ("gaussian", "not a number", ["a"]),
    ("gaussian", "levels are from 0 to 1e+30", ["nan", "0.1, inf", "-1", "1e31"]),
    ("fgsm", "-inf is no level", ["-inf"]),
    ("words", "levels are from 0 to 1", ["1.5", "NaN"]),
    ("gaussian", "more than the 12", [",".join(map(str, range(1, 20)))]),
])  # fmt: skip
def test_the_problem_of_levels_that_make_no_sense_is_named(kind, said, texts):
    for text in texts:
        levels, problem = choices.parse_levels(text, kind)
        assert levels == [] and said in problem
