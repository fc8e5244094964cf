"""Trying several settings on the Train page, and whether more data would help."""

import dataclasses
import re
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pages.train import trials, tried, trying
from tests.pages.making import fields_of, figure, numbers, titles, train, use, word_data
from tests.pages.small import small_data
from xmlcore import datasets, experiment, store

C = next(p for p in experiment.MODELS["PLT"].parameters if p.name == "C")
TREES = next(p for p in experiment.MODELS["PLT"].parameters if p.name == "n_estimators")


@pytest.mark.parametrize("parameter, text, values", [
    (C, "1, 3, 10", [1.0, 3.0, 10.0]),
    (C, "auto; 0.5", ["auto", 0.5]),
    (C, "0.1 to 10", {"low": 0.1, "high": 10.0}),
    (TREES, " 1..5 ", {"low": 1, "high": 5}),
    (TREES, "3", [3]),
])  # fmt: skip
def test_values_are_read_as_they_are_typed(parameter, text, values):
    assert trying.parsed(parameter, text) == values


@pytest.mark.parametrize("parameter, text, said", [
    (C, "", "write the values"),
    (C, "1, two", "“two” is not a number"),
    (C, "10 to 1", "is not a range"),
    (C, "auto to 3", "is not a range"),
    (C, "0", "0 is not allowed"),
    (TREES, "1.5", "1.5 is not allowed"),
    (TREES, "1, 1000", "1,000 is not allowed"),
])  # fmt: skip
def test_what_is_typed_wrongly_is_named(parameter, text, said):
    with pytest.raises(ValueError, match=said) as raised:
        trying.parsed(parameter, text)
    assert parameter.label in str(raised.value)


def test_suggested_values_of_every_parameter_can_be_tried():
    for info in experiment.MODELS.values():
        for parameter in info.parameters:
            text = trying.suggestion(parameter) if parameter.kind in ("int", "float") else ""
            if text:
                assert trying.parsed(parameter, text)


@pytest.fixture
def page(ready):
    train(ready, "OneVsRest", word_data())
    return ready.run().go("train")


def start(page, values="0.01, 3"):
    page.set("train.model", "OneVsRest")
    return page.set("try.OneVsRest.C", values).press("try.OneVsRest.start")


def keep(task, page):
    """Have the trainings of a sweep done, and listed in the workspace of a page."""
    experiment.keep(task)
    listed(task, page)


def listed(task, page):
    with fields_of(page) as fields:
        fields["sweeps"] = [
            {"key": task.key, "fingerprint": task.fingerprint, "params": task.params, "asked": time.time()}
        ]


def sweep(model, **grid):
    params = {"model": model, "grid": grid, "seeds": [0]}
    return experiment.task("sweep", {"dataset": datasets.save_dataset(word_data())}, params)


@pytest.mark.sections("Several settings")
def test_the_best_setting_goes_into_the_form_and_is_trained(page, session):
    page.press("try.open")
    start(page).until(lambda s: "the best of 2 settings" in s.text())
    assert page.at.session_state["train.section"] == "Several settings"
    table = page.frame("C", "mean", "state")
    assert table["state"].tolist() == ["done", "done"] and figure(page, "P@1 on the rows held out") is not None
    key = page.at.session_state["workspace.snapshot"]["sweeps"][0]["key"]
    assert session(page.look_only()).go("train").at.button(key=f"use-best-{key}").disabled
    page.press(f"use-best-{key}")
    assert next(n for n in page.at.number_input if n.label == C.label).value == experiment.load("sweep", key).best["C"]
    page.press(f"train-best-{key}")
    page.until(lambda s: len(s.at.session_state["workspace.snapshot"]["runs"]) == 2)  # listed like other results


def test_the_default_setting_stands_beside_the_best():
    task = sweep("OneVsRest", C=["auto", 3.0])
    experiment.keep(task)
    kept = task.load()
    assert kept.best["C"] == "auto" and tried.best(kept).default is None, "the default is the best itself"
    table = kept.table.assign(mean=[0.75, 1.0])
    other = dataclasses.replace(kept, table=table, best=kept.best | {"C": 3.0}, best_setting=1, value=1.0)
    found = tried.best(other)
    assert (found.setting, found.value, found.default, found.by_chance) == ({"C": 3.0}, 1.0, 0.75, False)
    close = dataclasses.replace(other, table=table.assign(mean=[1 - 1 / kept.n_held_out, 1.0]))
    assert tried.best(close).by_chance and "not significant" in tried.sentence(close, tried.best(close))
    equal = dataclasses.replace(other, table=table.assign(mean=1.0))
    assert tried.best(equal).n_equal == 1


@pytest.mark.sections("Several settings")
def test_the_table_has_what_trials_chose(page):
    keep(sweep("PLT", C=[0.1, 1.0, 10.0], arity=[4, 8]), page)  # of so few labels automatic makes one level
    chosen = page.run().frame("C", "mean", "chosen")["chosen"]
    assert len(chosen) == 6 and chosen.str.startswith("one level").all()


def influences(frame, grid, method="grid"):
    """Return what explains the values of trials, each of another setting unless the frame says otherwise."""
    frame = frame.assign(**{"setting": range(len(frame)), "rung": 0, "seed": 0, "rows": 9, "key": ""} | dict(frame))
    task = SimpleNamespace(params={"model": "PLT", "measure": "P@1", "grid": grid, "method": method})
    lines = frame[list(grid)].to_dict("records")
    return trials.influences(trials.Tried(task, lines, None, None, frame, frame))


def test_of_drawn_settings_only_found_influences_have_shares():
    rng, grid = np.random.default_rng(0), {name: {"low": 0.1, "high": 20} for name in ("C", "arity")}
    frame = pd.DataFrame({"C": np.geomspace(0.1, 10, 20), "arity": rng.permutation(20) + 2})
    of = influences(frame.assign(value=np.linspace(0.3, 0.6, 20)), grid, "random")
    assert "%" in of.notes["C"] and of.notes["arity"] == trials.UNFOUND


@pytest.mark.sections("Several settings")
@pytest.mark.parametrize(
    ("model", "grid"), [("DoubleSampling", {"n_adversarial": [1, 2]}), ("PLT", {"C": [1.0, 3.0], "beam": [None, 2]})]
)
def test_trials_of_any_model_and_empty_settings_are_listed(page, model, grid):
    task = sweep(model, **grid)
    keep(task, page)
    table = page.run().frame("mean", "state")
    assert table["state"].tolist() == ["done"] * len(task.settings) and not (table[[*grid]] == "nan").any().any()


@pytest.mark.sections("Several settings")
def test_settings_have_the_names_of_what_was_trained(page):
    task = sweep("OneVsRest", normalize=["l2", "standardize"], C=[0.001, 0.1, 3.0])
    keep(task, page)
    trained = task.load().trials
    rows = trained["normalize"].map({"l2": "rows of length 1", "standardize": "standardised columns"})
    wanted = sorted(zip(rows, trained["C"], 100 * trained["value"]))
    assert len({value for *_, value in wanted}) > 2
    shown = page.run().frame("normalize", "C", "mean")
    assert sorted(zip(shown["normalize"], shown["C"].astype(float), shown["mean"])) == wanted
    axes = [numbers(trace["x"]) for trace in figure(page, "P@1 on the rows held out")["data"]]
    assert any({"rows of length 1", "standard…columns"} == {*values} for values in axes), "in the words of the form"


@pytest.mark.sections("Several settings")
def test_the_newer_of_two_sweeps_stays_in_sight(page, monkeypatch):
    monkeypatch.setattr(trials.format, "since", lambda seconds: "now")
    start(page, "0.01, 3").until(lambda s: "the best of 2 settings" in s.text())
    start(page, "0.01, 3, 4").until(lambda s: "the best of 3 settings" in s.text())
    assert "the best of 3 settings" in page.run().text(), "also when the browser says again what is chosen"
    assert "2 trainings, known already." in page.set("try.OneVsRest.C", "4, 0.01").text()


@pytest.mark.sections("Several settings")
def test_settings_can_be_tried_before_the_first_result(ready, session):
    use(ready, word_data())
    keys = lambda page: {field.key for field in page.at.text_input}  # noqa: E731
    assert "try.PLT.C" not in keys(ready.go("train"))
    page = ready.press("try.open")
    assert page.at.session_state["train.section"] == "Several settings" and "try.PLT.C" in keys(page)
    assert "try.OneVsRest.C" in keys(page.set("train.model", "OneVsRest"))
    assert not any(key.startswith("try.") for key in keys(session(page.look_only()).go("train")))


@pytest.mark.sections("Several settings")
def test_what_cannot_be_tried_is_said_and_nothing_starts(page, server):
    before = len(server.jobs())
    assert "-3 is not allowed" in start(page, "1, -3").at.error[0].value.replace("\\", "").replace("−", "-")
    assert len(server.jobs()) == before and "trainings done" not in page.text()


@pytest.mark.sections("Several settings")
def test_a_sweep_that_was_interrupted_is_resumed(page):
    task = sweep("OneVsRest", C=[0.1, 1.0, 10.0])
    experiment.keep(task.trial(0, 0, 0))
    listed(task, page)
    assert "interrupted: 1 of 3 trainings" in page.run().text()
    page.press(f"resume-sweep-{task.key}").until(lambda s: "the best of 3 settings" in s.text())
    assert len(store.entries("trials")) == 3


@pytest.mark.sections("Several settings")
def test_trials_are_at_hand_where_data_have_no_result(ready):
    train(ready, "OneVsRest", small_data("words"))
    train(ready, "OneVsRest", small_data("words"), C=3.0)
    data = word_data()
    use(ready, data)
    assert not titles(ready.go("train"))
    keep(sweep("OneVsRest", C=[0.1, 1.0]), ready)
    said = ready.run().text()
    assert "the best of 2 settings" in said and " of 2 settings of OneVsRest is " in said
    assert re.search(r"Other rows held out might move the best by ±\d+\.\d points", said)


@pytest.mark.sections("Several settings")
def test_a_sweep_says_which_settings_matter(ready):
    train(ready, "OneVsRest", word_data())
    task = sweep("OneVsRest", C=[0.001, 1.0, 10.0, 100.0], weight_threshold=[0.0, 0.01])
    keep(task, ready)
    layout = figure(ready.go("train"), "P@1 on the rows held out")["layout"]
    axes = [axis["title"]["text"] for name, axis in layout.items() if name.startswith("xaxis")]
    assert axes[0].endswith("<br>all differences") and "no difference" in axes[1]


@pytest.mark.sections("More data")
def test_what_more_data_would_buy_is_measured_and_drawn(page):
    task = experiment.task("learning_curve", {"dataset": word_data().fingerprint}, {"model": "OneVsRest"})
    page.press(f"start-{task.key}").until(lambda s: task.exists() and figure(s, "P@1 by training rows") is not None)
    assert figure(page.set("train.more_data.view", "Recall@5 by label frequency"), "Recall@5 by training rows")
