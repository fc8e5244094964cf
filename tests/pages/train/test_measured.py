"""Intervals, calibration and all measures on the Train page."""

import re

import pandas as pd
import pytest

from pages.train import calibration, every, listed
from tests.pages.making import figure, said_plainly, train, word_data
from xmlcore import datasets, experiment, metrics


def said(*bins, of_scores=False):
    """What is said of bins: (low, high, predictions, mean probability, share that is right)."""
    frame = pd.DataFrame(bins, columns=["low", "high", "n", "predicted", "observed"])
    return said_plainly(calibration.sentence(frame, metrics.calibration_error(frame), of_scores))


def test_a_sentence_names_the_probabilities_that_are_wrong_for_the_most_predictions():
    sure = said((0.0, 0.1, 500, 0.05, 0.05), (0.8, 0.9, 400, 0.85, 0.71), (0.9, 1.0, 5, 0.95, 0.0))
    assert "of 80 to 90 %: **71 % are right**" in sure and "is 85 %" in sure
    assert "**too sure**" in sure and "6.7 points off" in sure
    assert "**not sure enough**" in said((0.4, 0.5, 100, 0.45, 0.9))
    assert "can be taken as they are" in said((0.4, 0.5, 100, 0.45, 0.46))


@pytest.mark.sections("Calibration")
@pytest.mark.parametrize(
    ("model", "params"), [("PLT", {"loss": "squared_hinge"}), ("LdSM", {}), ("DoubleSampling", {})]
)
def test_scores_that_are_no_probabilities_are_not_called_so(ready, model, params):
    sure = said((0.8, 0.9, 400, 0.85, 0.71), of_scores=True)
    assert sure.startswith("On average a score, taken as a probability, is 14.0 points off")
    assert "a score of 0.8 to 0.9: **71 % are right**, and their mean score is 0.85" in sure
    assert "Scores can be taken as probabilities" in said((0.4, 0.5, 100, 0.45, 0.46), of_scores=True)
    train(ready, model, **params)
    page = ready.go("train").until(lambda s: figure(s, "Are "))
    drawn = figure(page, "Are scores right as probabilities?")["layout"]
    assert drawn["xaxis"]["title"]["text"] == "Score, taken as a probability, %"
    assert not re.search("(with|On average) a probability", page.text())


def test_measures_are_lines_of_text_with_their_meaning_left_out_only_where_they_repeat_another():
    frame = pd.DataFrame(
        {"bucket": ["all"] * 4 + ["tail"], "measure": ["P@k"] * 4 + ["macro F1@k"], "k": [1, 2, 3, 5, 1],
         "value": [0.5, 0.4, 0.3, 0.2, float("nan")], "low": 0.1, "high": 0.9}
    )  # fmt: skip
    lines = every.lines(frame, "all")
    assert lines["k = 1"].tolist() == ["50.00 (10.0–90.0)"] and "k = 2" not in lines
    assert lines["meaning"].tolist() == [metrics.MEASURES["P@k"].meaning]
    assert every.lines(frame, "tail")["k = 1"].tolist() == ["–"]
    frame = pd.DataFrame(
        {"bucket": "all", "measure": ["P@k", "P@k", "samples P@k", "samples P@k", "micro P@k", "micro P@k"],
         "k": [1, 3] * 3, "value": [0.5, 0.4, 0.5, 0.4, 0.5, 0.41]}
    )  # fmt: skip
    assert every.repeated(frame, "all") == {"samples P@k": "P@k"} and every.repeated(frame, "tail") == {}


def test_a_small_measure_has_three_significant_digits():
    small = pd.Series({"value": 0.00024681, "low": 0.00023681, "high": 0.00025681})
    assert every.in_percent(small) == "0.0247 (0.0237–0.0257)"


@pytest.mark.sections("all")
def test_of_four_labels_there_is_no_measure_at_5(ready):
    data = word_data()
    few = datasets.Dataset("few", data.X_train, data.Y_train[:, :4], data.X_test, data.Y_test[:, :4])
    train(ready, "PLT", few)
    page = ready.go("train")
    assert {"P@1", "P@3", "PSP@3"} <= set(page.metrics()) and "P@5" not in page.metrics()
    assert "k = 5" not in page.frame("measure", "k = 3")
    assert all("5" not in radio.options for radio in page.at.radio if radio.label == "Labels predicted")
    train(ready, "LdSM", few)
    assert "have no label and are left out" in ready.go("train").text() and not ready.at.warning


@pytest.mark.parametrize("model", ["PLT", "LdSM"])
@pytest.mark.sections("Measures", "Calibration")
def test_the_page_has_intervals_and_all_measures_and_calibration_of_probabilities(ready, model):
    key = train(ready, model)
    page = ready.go("train")
    run = experiment.load("train", key)
    headline = page.frame("measure", "k = 1").set_index("measure")["k = 1"]
    assert {"coverage@k", "abandonment@k", "macro P@k", "macro F1@k"} <= set(headline.index)
    value = run.measures.query("measure == 'P@k' and k == 1")["value"].iloc[0]
    assert headline["P@k"].startswith(f"{100 * value:.2f} (") and page.metrics()["P@1"].startswith(f"{100 * value:.1f}")
    page.until(lambda s: "Calibrated, it is" in s.text())
    assert "calibrated" in [trace.get("name") for trace in figure(page, "Are scores right as probabilities?")["data"]]
    [card] = [metric for metric in page.at.metric if metric.label == "Expected error"]
    learnt = experiment.task("decide", {"run": key}).load().rule("micro F1").calibration
    Y, calibrated = word_data().Y_test, run.ranking._replace(scores=learnt(run.ranking.scores))
    own, other = (metrics.calibration_error(metrics.reliability(Y, of, 5)) for of in (run.ranking, calibrated))
    assert card.value == f"{100 * own.expected:.1f} points", "the model's own is what is quoted"
    assert card.delta == f"{100 * other.expected:.1f} points calibrated" and own.expected > other.expected
    page.press("train.every").until(lambda s: "draws of the test rows" in s.text())
    lines = page.frame("measure", "meaning")
    left_out = {"micro P@k", "samples P@k", "samples R@k"}
    assert set(lines["measure"]) == set(metrics.MEASURES) - left_out
    assert "samples P@k is the same as P@k here" in page.text()
    page.at.radio(key="train.every.bucket").set_value("tail")
    assert len(page.run().frame("measure", "meaning")) == len(experiment.kinds.measures.OF_BUCKETS)


def test_the_interval_of_a_result_that_is_always_right_is_not_empty(monkeypatch):
    frame, drawn = (
        pd.DataFrame({"run": ["a"], "model": ["PLT"], "P@1": [100.0], listed.COST: [1.0], listed.WORK: [None]}),
        [],
    )
    monkeypatch.setattr(listed, "table", lambda runs: frame)
    monkeypatch.setattr(listed.charts, "show_figure", lambda figure, frame, *_, **__: drawn.append(frame))
    listed.frontier([], 30, "a")
    assert 85 < drawn[0]["P@1 low"].item() < 90 and drawn[0]["P@1 high"].item() == 100
