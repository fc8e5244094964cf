"""The Robustness page, opened and used through app.py."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from pages.robustness import noise
from tests.pages.making import estimate, figure, train
from xmlcore import DoubleSampling, experiment, robustness
from xmlcore.datasets import load_saved


def legend(spec):
    return [trace["name"] for trace in spec["data"] if trace.get("name") and "markers" in trace.get("mode", "")]


def measured(page):
    return figure(page, "P@1 under") is not None


@pytest.fixture
def page(ready, key):
    return ready.go("robustness").until(measured)


def gaussian(key):
    """The task that the page begins with."""
    params = {"kind": "gaussian", "levels": [0.01, 0.05, 0.1], "options": {"support": "all"}, "n_repeats": 3}
    return experiment.task("robustness", {"run": key}, params)


def test_the_paper_s_noise_is_measured_once_and_sentence_table_and_figure_say_what_it_does(page, key, server):
    found = gaussian(key).load()
    summary = robustness.summarise(found.frame)
    p1 = summary[(summary["measure"] == "P@k") & (summary["k"] == 1) & (summary["bucket"] == "all")].set_index("sigma")
    said = page.text().replace("\u00a0", " ")
    assert "On **words** (all 30 test rows), Gaussian noise of σ = 0.1 on all features takes P@1 of **PLT**" in said
    assert f"from {100 * p1['mean'][0.0]:.1f} % to **{100 * p1['mean'][0.1]:.1f} %**" in said
    assert "On all 30 test rows" in said
    before = len(server.jobs())
    page.go("train").go("robustness")
    assert len(server.jobs()) == before  # once
    table = page.frame("run", "k", "P@k clean", "P@k", "P@k drop", "PSDCG@k (1/log)")
    assert table["k"].tolist() == [1, 3, 5]
    np.testing.assert_allclose(table["nDCG@k"].iloc[0], table["P@k"].iloc[0])  # at 1 they are the same
    lost = 100 * (1 - table["P@k"] / table["P@k clean"])
    np.testing.assert_allclose(table["P@k drop"], lost, atol=0.5)  # a mean of drops is near the drop of means
    assert (table["ms per row"] > 0).all()
    page.at.select_slider(key="robustness.level").set_value(0.01)
    page.run()
    assert abs(page.frame("run", "k", "P@k drop")["P@k drop"]).max() <= abs(table["P@k drop"]).max() + 1e-9
    assert {"Table, CSV", "All measurements, CSV", "Figure, HTML", "Data, CSV"} <= page.downloads()


def test_before_a_measurement_a_frame_says_what_will_be_there(ready, key, monkeypatch):
    estimate(monkeypatch, "robustness", 100.0)
    page = ready.go("robustness")
    assert "Here will be curves of 1 result, without noise" in page.text()
    assert "Here will be" not in page.press("robustness.start").until(measured).text()


def test_models_that_take_negative_values_as_0_are_named(ready):
    train(ready, "DoubleSampling")
    train(ready)
    page = ready.go("robustness").until(lambda s: measured(s) and len(legend(figure(s, "P@1 under"))) == 2)
    assert "**DoubleSampling** takes negative values as 0 in each prediction" in page.text()
    page.at.selectbox(key="robustness.kind").set_value("words")
    page.run().until(lambda s: figure(s, "P@1 under changed words"))
    assert "negative values" not in page.text()


@pytest.mark.usefixtures("all_sections_open")
def test_measure_k_share_lost_rows_and_buckets_are_chosen(page):
    page.at.selectbox(key="robustness.measure").set_value("nDCG@k")
    page.at.selectbox(key="robustness.k").set_value(3)
    page.at.selectbox(key="robustness.drawn").set_value("drop")
    page.run()
    spec = figure(page, "nDCG@3 under Gaussian noise")
    assert "lost" in spec["layout"]["yaxis"]["title"]["text"]
    page.at.selectbox(key="robustness.k").set_value(1)
    page.at.selectbox(key="robustness.drawn").set_value("value")
    assert [option for option in page.at.selectbox(key="robustness.measure").options if "PS" in option] == [
        "PSP@k",
        "PSDCG@k by 1/log(1 + n)",
    ]
    page.at.selectbox(key="robustness.measure").set_value("PSDCG@k (1/log)")
    page.run()
    spec = figure(page, "PSDCG@1 by 1/log(1 + n) under Gaussian noise")
    assert spec["layout"]["yaxis"]["title"]["text"] == "PSDCG@1 by 1/log(1 + n), %"
    page.at.selectbox(key="robustness.buckets.k").set_value(5)
    page.run()
    spec = figure(page, "P@5 of head")
    assert legend(spec) == ["head", "torso", "tail"]
    assert legend(figure(page, "R@5 of head")) == ["head", "torso", "tail"]
    assert figure(page, "Prediction time")
    page.at.number_input(key="robustness.row").set_value(29)
    page.run()
    spec = figure(page, "Feature values at σ = 0.1")
    said = [annotation["text"] for annotation in spec["layout"]["annotations"]]
    assert said == [f"<b>Test row {row}</b>" for row in (0, 1, 29)]
    assert "Lengths (L2 norms): row" in page.text()


def test_a_failed_training_of_a_model_that_is_not_compared_is_not_shown_here(ready, key, monkeypatch):
    def fail(*args, **settings):
        raise ValueError("this went wrong")

    monkeypatch.setattr(DoubleSampling, "fit", fail)
    ready.go("train").at.selectbox(key="train.model").select("DoubleSampling")
    ready.run().press("train.DoubleSampling.submit").until(lambda s: s.at.error)
    page = ready.go("robustness").until(measured)
    assert not page.at.error, page.at.error[0].value


def test_several_models_are_on_one_axis_and_one_is_taken_away(ready):
    train(ready, "LdSM", n_estimators=2)
    keys = [train(ready), train(ready, noise_sigma=0.1)]
    page = ready.go("robustness").until(lambda s: measured(s) and len(legend(figure(s, "P@1 under"))) == 3)
    assert legend(figure(page, "P@1 under")) == ["PLT trained with noise σ = 0.1", "PLT", "LdSM"]
    page.at.multiselect(key="robustness.runs").set_value(keys)
    page.run()
    assert sorted(legend(figure(page, "P@1 under"))) == ["PLT", "PLT trained with noise σ = 0.1"]
    page.go("data").go("robustness")
    assert page.at.multiselect(key="robustness.runs").value == keys
    page.at.multiselect(key="robustness.runs").set_value([])
    assert "Choose at least one result" in page.run().text()


def test_a_twin_is_trained_by_one_press_and_joins_the_figure(page, key):
    page.press("robustness.twin.train")
    page.until(lambda s: measured(s) and len(legend(figure(s, "P@1 under"))) == 2, seconds=300)
    assert legend(figure(page, "P@1 under")) == ["PLT", "PLT trained with noise σ = 0.05"]
    assert "Compared above: PLT and PLT trained with noise σ = 0.05." in page.text()
    assert page.at.button(key="robustness.twin.train").disabled
    run = experiment.load("train", page.at.multiselect(key="robustness.runs").value[1])
    assert run.params["noise_sigma"] == 0.05 and run.params["noise_support"] == "all"
    assert {**run.params, "noise_sigma": 0.0} == experiment.load("train", key).params


def test_a_twin_of_the_quickest_model_is_offered_first_and_other_noise_than_above_is_said(ready, key, monkeypatch):
    from pages.shared import server

    slow = train(ready, "OneVsRest")
    seconds = {key: 1.0, slow: 9.0}
    loaded = server.run

    def run(one):
        found = loaded(one)
        return dataclasses.replace(found, times=found.times | {"fit_s": seconds[one]})

    monkeypatch.setattr(server, "run", run)
    estimate(monkeypatch, "robustness", 100.0)  # nothing is measured unasked
    page = ready.go("robustness")
    assert page.at.selectbox(key="robustness.twin.of").value == key
    assert "The twin learns from noise on" not in page.text()
    page.at.selectbox(key="robustness.support gaussian").set_value("nonzero")
    assert "The twin learns from noise on all features; the figures above have it on present features only." in (
        page.run().text()
    )


@pytest.mark.slow  # compiles kernels that nothing else on the pages uses
def test_certificates_are_a_curve_of_models_that_have_them(ready):
    train(ready, "OneVsRest")
    key = train(ready)
    page = ready.go("robustness").until(measured)
    page.at.selectbox(key="robustness.kind").set_value("certificate")
    page.run().until(lambda s: figure(s, "Certified rows under any change"))
    X, model = load_saved(experiment.load("train", key).fingerprint).X_test, experiment.load_run_model(key)
    level = robustness.default_levels("certificate", 2, robustness.ValueScale.of(X))[-1]
    share = 100 * (robustness.certified_radius(model, X).radius >= level).mean()
    assert f"**{share:.1f}" in page.text() and "**OneVsRest** is not compared" in page.text()


@pytest.mark.parametrize("kind", ["fgsm", "pgd"])
@pytest.mark.usefixtures("all_sections_open")
def test_attacks_say_on_which_model_they_were_computed(ready, kind):
    train(ready, "LdSM", n_estimators=2)
    train(ready)
    page = ready.go("robustness")
    page.at.selectbox(key="robustness.kind").set_value(kind)
    page.run().until(lambda s: figure(s, f"P@1 under the {kind.upper()} attack (L2)"))
    page.until(lambda s: len(legend(figure(s, "P@1 under"))) == 2)
    said = page.text()
    assert "The attack was computed on a binary PLT with logistic loss" in said
    assert "attacked on a binary PLT" in said  # the rows below


def test_attacks_on_a_model_itself_are_not_compared_with_transferred_ones(ready):
    keys = {model: train(ready, model, **params) for model, params in (("LdSM", {"n_estimators": 2}), ("PLT", {}))}

    def compared(s):
        spec = figure(s, "P@1 under the FGSM")
        return set(legend(spec)) if spec else set()

    page = ready.go("robustness")
    page.at.selectbox(key="robustness.kind").set_value("fgsm")
    page.run().until(lambda s: len(compared(s)) == 2)
    # One of the models has no gradient: at first the same label tree is attacked for both.
    assert "computed on one label tree for all, takes P@1 of **PLT** from" in page.text()
    for key in keys.values():
        levels = [float(o.split("=")[1]) for o in page.at.select_slider(key="robustness.level").options]
        params = {"kind": "fgsm", "levels": levels, "options": {"norm": 2, "support": "all"}, "n_repeats": 1}
        own = key == keys["LdSM"]  # its attack is always transferred
        task = experiment.task("robustness", {"run": key}, params | {"transferred": not own})
        assert task.load().surrogate
    page.at.selectbox(key="robustness.gradient mixed").set_value("own")
    page.run().until(lambda s: compared(s) == {"PLT"})
    said = page.text()
    assert "computed on each model itself, takes P@1 of **PLT** from" in said
    assert "**LdSM** has no gradient and is not compared" in said
    assert page.frame("run", "k", "P@k clean")["run"].unique().tolist() == ["PLT"]
    page.at.multiselect(key="robustness.runs").set_value([keys["LdSM"]])
    page.run().until(lambda s: compared(s) == {"LdSM"})
    assert "None of these models has a gradient" in page.text()


def test_the_attacked_tree_itself_is_not_compared_with_models_that_it_is_transferred_to(ready):
    from xmlcore.experiment.kinds.robustness import SURROGATE_PARAMS

    tree, other = train(ready, **SURROGATE_PARAMS), train(ready, "OneVsRest")
    page = ready.go("robustness")
    page.at.selectbox(key="robustness.kind").set_value("fgsm")
    page.run()
    page.at.selectbox(key="robustness.gradient alike").set_value("tree")
    page.run().until(lambda s: figure(s, "P@1 under the FGSM") and legend(figure(s, "P@1 under")) == ["OneVsRest"])
    assert "**PLT** is the label tree that the attack is computed on, so it is not compared" in page.text()
    assert tree != other


def test_levels_that_cannot_be_read_are_said_to_be_so(page):
    field = next(t.key for t in page.at.text_input if t.key.startswith("robustness.levels"))
    page.at.text_input(key=field).set_value("0.1, much")
    said = page.run().at.error[0].value
    assert "σ" in said and "“much” is not a number" in said, "the field and what is wrong in it"
    assert measured(page) and page.at.number_input(key="robustness.repeats gaussian"), "all else stays"
    assert "Until this is put right, the page is about 0.01, 0.05, 0.1" in page.text()
    page.at.text_input(key=field).set_value("0")
    assert "At least one level above 0" in page.run().at.error[0].value
    page.at.text_input(key=field).set_value("0.2; 0.2, 0.02")
    both = ["σ = 0.02", "σ = 0.2"]
    levels = lambda s: list(s.at.select_slider(key="robustness.level").options) if measured(s) else []  # noqa: E731
    page.run().until(lambda s: levels(s) == both)
    page.at.text_input(key=field).set_value("-1")
    page.run()
    assert page.at.error and levels(page) == both, "what was read last stays"


def test_other_noise_and_a_sample_of_rows_are_measured_when_they_are_chosen(page):
    field = next(n.key for n in page.at.number_input if n.key.startswith("robustness.rows "))
    page.at.number_input(key=field).set_value(10)
    page.run().until(measured)
    assert "On 10 of 30 test rows, drawn at random" in page.text()
    page.at.selectbox(key="robustness.kind").set_value("words")
    page.run().until(lambda s: figure(s, "P@1 under changed words"))
    assert "changed words at a rate of 0.4 (dropped, swapped, inserted) take P@1" in page.text()
    page.at.selectbox(key="robustness.kind").set_value("gaussian")
    page.run()
    page.at.selectbox(key="robustness.support gaussian").set_value("nonzero")
    page.run().until(lambda s: figure(s, "P@1 under Gaussian noise on present features"))


def test_measured_results_are_drawn_while_others_wait_for_their_button_and_are_named(page, monkeypatch):
    estimate(monkeypatch, "robustness", 125.0)
    train(page, "OneVsRest")
    page.go("data").go("robustness")
    assert "Measure OneVsRest" in page.at.button(key="robustness.start").label
    assert measured(page) and "takes P@1 of **PLT**" in page.text()
    from pages.robustness import measured as measuring

    runs, names = [{"key": "a"}, {"key": "b"}], {"a": "PLT", "b": "LdSM"}
    some, both = (SimpleNamespace(results=dict.fromkeys(of)) for of in (["PLT"], ["PLT", "LdSM"]))
    assert measuring.waiting(runs, names, some) == "Not measured yet: **LdSM**."
    assert measuring.waiting(runs, names, both) == ""


@pytest.mark.parametrize(
    ("text", "levels"), [("0.1", [0.1]), (" .5; 0.1,0,0.1,", [0.1, 0.5]), ("1e-3,2", [0.001, 2]), ("0,1", [1.0])]
)
def test_levels_are_read(text, levels):
    assert noise.parse_levels(text, "gaussian") == (levels, None)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("", "gaussian", "At least one level"),
        ("0", "gaussian", "At least one level"),
        ("a", "gaussian", "not a number"),
        ("nan", "gaussian", "cannot be nan"),
        ("0.1, inf", "gaussian", "cannot be inf"),
        ("-inf", "fgsm", "cannot be -inf"),
        ("NaN", "words", "cannot be NaN"),
        ("-1", "gaussian", "0 or more"),
        ("1.5", "words", "between 0 and 1"),
        (",".join(str(i) for i in range(1, 20)), "gaussian", "more than the 12"),
    ],
)
def test_the_problem_of_levels_that_make_no_sense_is_named(text, kind, said):
    levels, problem = noise.parse_levels(text, kind)
    assert levels == [] and said in problem
