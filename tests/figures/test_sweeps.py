"""Figures of sweeps and learning curves."""

import numpy as np
import pandas as pd
import pytest

from xmlcore import figures


def trials(**columns):
    n = len(next(iter(columns.values())))
    return pd.DataFrame({"value": np.linspace(0.1, 0.5, n), "rows": 100, "seed": np.arange(n) % 2, **columns})


def test_values_have_means_by_size_of_the_sample_and_failed_trials_are_not_drawn():
    frame = trials(C=[1.0, 1.0, 10.0, 10.0], tree=["kmeans", "huffman"] * 2)
    figure = figures.sweep_values(frame, {"C": "C, weight", "tree": "Tree"}, "P@1")
    points, mean, _, by_tree = figure.data
    assert points.y == pytest.approx(100 * frame["value"]) and list(mean.x) == [1.0, 10.0]
    assert list(mean.y) == pytest.approx([100 * frame["value"][:2].mean(), 100 * frame["value"][2:].mean()])
    assert list(by_tree.x) == ["kmeans", "huffman"] and figure.layout.xaxis2.type == "category"
    assert figure.layout.xaxis.type == "log" and figure.layout.xaxis2.title.text == "Tree"
    frame = trials(C=[1.0, 2.0, 3.0, 3.0]).assign(rows=[50, 50, 50, 150])
    frame.loc[1, "value"] = np.nan
    figure = figures.sweep_values(frame, {"C": "C"}, "P@1")
    assert [len(trace.x) for trace in figure.data[::2]] == [1, 2] and figure.layout.meta["shown"] == 3
    assert figure.data[0].marker.color != figure.data[2].marker.color
    figure = figures.sweep_values(trials(C=np.geomspace(0.1, 10, 40)), {"C": "C"}, "P@1")
    assert len(figure.data[0].x) == 40 and len(figure.data[1].x) == 6
    named = figures.sweep_values(trials(C=["auto", 1.0]), {"C": "C"}, "P@1")
    assert list(named.data[0].x) == ["automatic", "1"]
    frame = trials(C=[3.0, 10.0, "auto", 1.0, 10.0, 1.0]).assign(rows=[50, 50, 50, 50, 150, 150])
    figure = figures.sweep_values(frame, {"C": "C"}, "P@1")
    assert list(figure.layout.xaxis.categoryarray) == ["automatic", "1", "3", "10"]
    assert [list(trace.x) for trace in figure.data[1::2]] == [["1", "10"], ["automatic", "1", "3", "10"]]


@pytest.fixture
def curve():
    lines = [(rows, seed, bucket, "P@k", 1, 0.5 - 1 / rows + seed / 1000) for rows in (10, 100) for seed in (0, 1)
             for bucket in ("all", "tail")]  # fmt: skip
    frame = pd.DataFrame(lines, columns=["rows", "seed", "bucket", "measure", "k", "value"])
    known = {"measure": "P@k", "k": 1, "n_rows": 200.0, "now": 0.49, "a": 0.5, "b": 1.0, "c": 1.0}
    forecasts = pd.DataFrame(
        [
            {"bucket": "all", **known, "value": 0.495, "low": 0.485, "high": 0.5, "reason": ""},
            {"bucket": "tail", **known, "value": np.nan, "low": np.nan, "high": np.nan, "reason": "it does not rise"},
        ]
    )
    return frame, forecasts


def test_a_learning_curve_has_its_forecast_with_the_interval_if_there_is_one(curve):
    figure = figures.learning_curve(*curve, "P@1")
    points, means, fitted, forecast = figure.data
    assert len(points.x) == 4 and list(means.y) == pytest.approx([40.05, 49.05])
    assert fitted.x[-1] == forecast.x[0] == 200 and fitted.y[-1] == pytest.approx(49.5)
    assert (forecast.error_y.array[0], forecast.error_y.arrayminus[0]) == pytest.approx((0.5, 1.0))
    assert len(figures.learning_curve(*curve, "P@1", ["tail"]).data) == 2


def test_numbers_of_rows_that_lie_close_together_are_not_all_written(curve):
    frame, forecasts = curve
    frame = pd.concat([frame, frame[frame["rows"] == 100].assign(rows=70)])
    axis = figures.learning_curve(frame, forecasts, "P@1").layout.xaxis
    assert list(axis.ticktext) == ["10", "100", "200"]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([10, 11, 12, 100], ["10", "100"]),
        ([0.8, 1.0, 1.2, 200.0], ["0.8", "200"]),
        ([0.1, 0.3, 1.0, 3.0, 10.0], ["0.1", "0.3", "1", "3", "10"]),
        ([1, 2, 3, 4, 5, 6, 7, 8], ["1", "3", "5", "8"]),
        ([5], ["5"]),
    ],
)
def test_values_of_a_setting_that_lie_close_together_are_not_all_written(values, shown):
    trials = pd.DataFrame({"C": values, "value": 0.5, "rows": 100, "seed": 0})
    assert list(figures.sweep_values(trials, {"C": "C"}, "P@1").layout.xaxis.ticktext) == shown
