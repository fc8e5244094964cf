"""Intervals, calibration and all measures on the Train page."""

import pandas as pd
import pytest

from pages.train import measures
from tests.pages.making import figure, train, word_data
from xmlcore import experiment, metrics


def found(*bins):
    """The worst of bins (low, high, predictions, mean probability, share that is right), and the expected error."""
    frame = pd.DataFrame(bins, columns=["low", "high", "n", "predicted", "observed"])
    return measures.worst(frame), metrics.calibration_error(frame).expected


def test_the_worst_bin_has_most_of_the_error():
    sure, expected = found((0.0, 0.1, 500, 0.05, 0.05), (0.8, 0.9, 400, 0.85, 0.71), (0.9, 1.0, 5, 0.95, 0.0))
    assert (sure.low, sure.high, sure.observed) == (0.8, 0.9, 0.71) and expected == pytest.approx(0.067, abs=1e-3)
    assert "overconfident there" in measures.in_words(sure, expected, "score")
    assert "underconfident there" in measures.in_words(*found((0.4, 0.5, 100, 0.45, 0.9)), "score")
    assert found((0.4, 0.5, 100, 0.45, 0.46))[1] <= measures.RIGHT


def test_measures_are_lines_of_text_with_their_meaning():
    frame = pd.DataFrame(
        {"bucket": ["all"] * 4 + ["tail"], "measure": ["P@k"] * 4 + ["macro F1@k"], "k": [1, 2, 3, 5, 1],
         "value": [0.5, 0.4, 0.3, 0.2, float("nan")], "low": 0.1, "high": 0.9}
    )  # fmt: skip
    lines = measures.lines(frame, "all")
    assert lines["k = 1"].tolist() == ["50.00 (10.0–90.0)"] and "k = 2" not in lines
    assert lines["meaning"].tolist() == [metrics.MEASURES["P@k"].meaning]
    assert measures.lines(frame, "tail")["k = 1"].tolist() == ["–"]
    small = pd.Series({"value": 0.00024681, "low": 0.00023681, "high": 0.00025681})
    assert measures.in_percent(small) == "0.0247 (0.0237–0.0257)", "three significant digits"


@pytest.mark.sections("Measures", "Calibration")
def test_intervals_all_measures_and_calibration(ready):
    key = train(ready, "LdSM")
    page = ready.go("train")
    run = experiment.load("train", key)
    headline = page.frame("measure", "k = 1").set_index("measure")["k = 1"]
    assert {"coverage@k", "abandonment@k", "macro P@k", "macro F1@k"} <= set(headline.index)
    value = run.measures.query("measure == 'P@k' and k == 1")["value"].iloc[0]
    assert headline["P@k"].startswith(f"{100 * value:.2f} (") and page.metrics()["P@1"].startswith(f"{100 * value:.1f}")
    page.until(lambda s: any(metric.delta for metric in s.at.metric if metric.label == "Expected error"))
    assert "calibrated" in [trace.get("name") for trace in figure(page, "Are scores right")["data"]]
    [card] = [metric for metric in page.at.metric if metric.label == "Expected error"]
    learnt = experiment.task("decide", {"run": key}).load().rule("micro F1").calibration
    Y, calibrated = word_data().Y_test, run.ranking._replace(scores=learnt(run.ranking.scores))
    own, other = (metrics.calibration_error(metrics.reliability(Y, of, 5)) for of in (run.ranking, calibrated))
    assert card.value == f"{100 * own.expected:.1f} points", "the model's own is what is quoted"
    assert card.delta == f"{100 * other.expected:.1f} points calibrated" and own.expected > other.expected
    page.press("train.every").until(lambda s: "draws of the test rows" in s.text())
    lines = page.frame("measure", "meaning")
    assert set(lines["measure"]) == {name for name in metrics.MEASURES if "hierarchical" not in name}
    page.at.radio(key="train.every.bucket").set_value("tail")
    assert len(page.run().frame("measure", "meaning")) == len(experiment.kinds.measures.OF_BUCKETS)
