from itertools import product

import numpy as np
import pandas as pd

from xmlcore import figures
from xmlcore.figures._runs import run_colors, run_style


def summary(runs=(("PLT", "PLT"),), measures=("P@k",), buckets=("all",), sigmas=(0.0, 0.05, 0.1)):
    """What summarise gives: run number r loses r + 1 points per hundredth of noise; the intervals are 2 points wide."""
    every = [(run, model, *rest) for (run, model), *rest in product(runs, sigmas, buckets, measures, (1, 3))]
    frame = pd.DataFrame(every, columns=["run", "model", "sigma", "bucket", "measure", "k"]).assign(n=3, rows=100)
    losing = frame["run"].map({run: place for place, (run, _) in enumerate(runs, start=1)})
    value, half = 0.8 - frame["sigma"] * losing, np.where(frame["sigma"] == 0, 0.0, 0.01)
    for name, middle in (("", value), ("drop_", 1 - value / 0.8)):
        frame = frame.assign(**{f"{name}mean": middle, f"{name}low": middle - half, f"{name}high": middle + half})
    return frame


def lines(figure):
    """Traces with points, without the bands, by name."""
    return {trace.name: trace for trace in figure.data if trace.mode and "markers" in trace.mode}


def bands(figure):
    return [trace for trace in figure.data if trace.fill == "tonexty"]


def test_a_run_has_its_models_colour_and_its_name():
    runs = [("PLT", "PLT"), ("PLT (C: 1)", "PLT"), ("PLT trained with noise", "ExtendedPLT")]
    drawn = lines(figures.robustness_curves(summary(runs)))
    assert list(drawn) == [name for name, _ in runs]
    assert [trace.line.color for trace in drawn.values()] == [run_style(model)["color"] for _, model in runs]
    assert [trace.line.dash for trace in drawn.values()] == ["solid", "dash", "solid"]
    assert len({(trace.line.color, trace.line.dash, trace.marker.symbol) for trace in drawn.values()}) == 3
    later = {"PLT": 1, "PLT (C: 1)": 2, "PLT trained with noise": 0}  # one of PLT that is not drawn has its colour
    placed = summary(runs).assign(place=lambda frame: frame["run"].map(later))
    elsewhere = run_colors(placed.drop_duplicates("run"))
    drawn = lines(figures.robustness_curves(placed))
    assert {name: trace.line.color for name, trace in drawn.items()} == {r: elsewhere[r]["color"] for r in elsewhere}
    assert drawn["PLT"].line.color != run_style("PLT")["color"]
    drawn = lines(figures.robustness_curves(summary([("<b>PLT</b>", "PLT")])))
    assert list(drawn) == ["&lt;b&gt;PLT&lt;/b&gt;"]


def test_curves_under_noise_are_in_percent_with_bands():
    figure = figures.robustness_curves(summary(), "P@k", 3)
    line = lines(figure)["PLT"]
    np.testing.assert_allclose(line.x, [0, 0.05, 0.1])
    np.testing.assert_allclose(line.y, [80, 75, 70])
    (band,) = bands(figure)
    np.testing.assert_allclose(band.y, [80, 74, 69])
    assert band.legendgroup == line.legendgroup
    assert figure.layout.yaxis.title.text == "P@3, %" and figure.layout.meta == {"shown": 3, "total": 3}
    figure = figures.robustness_curves(summary(), drop=True)
    np.testing.assert_allclose(lines(figure)["PLT"].y, [0, 6.25, 12.5])
    assert "lost" in figure.layout.yaxis.title.text
    figure = figures.robustness_curves(summary().assign(low=np.nan, high=np.nan, n=1))
    assert not bands(figure)
    assert lines(figure)["PLT"].customdata[1][0] == ""
    axis = figures.robustness_curves(summary(sigmas=(0.0, 0.001, 0.01, 0.05, 0.1))).layout.xaxis
    assert list(axis.ticktext) == ["0", "0.01", "0.05", "0.1"]
    axis = figures.robustness_curves(summary(sigmas=(0.0, 0.5))).layout.xaxis
    assert list(axis.ticktext) == ["0", "0.5"], "both ends are written"
    levels = [0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1]
    axis = figures.robustness_curves(summary(sigmas=(0.0, *levels))).layout.xaxis
    assert axis.tickvals[0] == 0 and axis.tickvals[-1] == 1 and min(np.diff(axis.tickvals)) > 0.08, "numbers have room"


def test_times_are_per_row_in_a_unit_that_fits():
    frame = summary(measures=("predict_s",))
    figure = figures.prediction_times(frame[frame["k"] == 3])
    assert figure.layout.yaxis.title.text == "Prediction, ms per row"
    np.testing.assert_allclose(lines(figure)["PLT"].y, [8, 7.5, 7])
    assert {"PLT, k = 1", "PLT, k = 3"} <= lines(figures.prediction_times(frame)).keys()
    quick = frame[frame["k"] == 3].assign(rows=100_000)
    assert figures.prediction_times(quick).layout.yaxis.title.text == "Prediction, µs per row"


def test_parts_of_precision_are_stacked_and_recalls_are_not():
    frame = summary(measures=("P@k", "micro R@k"), buckets=("all", "head", "torso", "tail"))
    stacked = figures.buckets_under_noise(frame, "P@k", 3)
    assert stacked.layout.title.text == "Parts of P@3" and stacked.layout.yaxis.title.text == "Part of P@3, %"
    assert [trace.name for trace in stacked.data] == ["head", "torso", "tail"]
    assert {trace.stackgroup for trace in stacked.data} == {"parts"}
    apart = figures.buckets_under_noise(frame, "micro R@k", 3)
    assert apart.layout.yaxis.title.text == "micro R@3, %"
    assert list(lines(apart)) == ["head", "torso", "tail"] and len(bands(apart)) == 3
    assert not any(trace.stackgroup for trace in apart.data)


def test_each_row_under_noise_has_a_panel_of_its_features():
    lines = [
        (4, "Test row 4: <i>x</i>", "a <b>name</b>", 2.0, 2.5),
        (4, "Test row 4: <i>x</i>", "a feature with a very long name", 1.0, 0.5),
        (7, "Test row 7", "c", 0.0, 0.3),
    ]
    frame = pd.DataFrame(lines, columns=["row", "row_name", "name", "clean", "noisy"])
    figure = figures.noisy_features(frame)
    clean = [trace for trace in figure.data if trace.name == "without noise"]
    noisy = [trace for trace in figure.data if trace.name == "with noise"]
    assert [list(trace.x) for trace in (*clean, *noisy)] == [[2, 1], [0], [2.5, 0.5], [0.3]]
    assert list(clean[0].y) == [1, 0]
    assert list(figure.layout.yaxis.ticktext) == ["a &lt;b&gt;name&lt;/b&gt;", "a feature …long name"]
    assert [trace.showlegend for trace in clean] == [True, False]
    said = [annotation.text for annotation in figure.layout.annotations]
    assert said == ["<b>Test row 4: &lt;i&gt;x&lt;/i&gt;</b>", "<b>Test row 7</b>"]
    frame = pd.DataFrame({"row": [1], "row_name": ["one"], "name": ["a"], "clean": [1.0], "noisy": [2.0]})
    assert figures.noisy_features(frame).layout.meta["shown"] == 1
    assert figures.noisy_features(frame.iloc[:0]).layout.meta == {"shown": 0, "total": 0}
