"""Figures that put several runs side by side, of what they cost, of sweeps and of learning curves."""

import html
import os
import re
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

from xmlcore import PLT, LdSM, figures
from xmlcore.figures._runs import SHAPES, model_styles, run_style


def measures(n_runs=3):
    lines = [
        (f"run {run}", "PLT", measure, k, 0.5, 0.4, 0.65)
        for run in range(n_runs)
        for measure in ("P@k", "PSP@k")
        for k in (1, 3, 5)
    ]
    return pd.DataFrame(lines, columns=["run", "model", "measure", "k", "value", "low", "high"])


def test_measures_have_a_panel_each_with_intervals():
    figure = figures.measures_compared(measures())
    assert [text.text for text in figure.layout.annotations] == ["P@k", "PSP@k"]
    assert len(figure.data) == 6 and sum(trace.showlegend for trace in figure.data) == 3
    trace = figure.data[0]
    np.testing.assert_allclose(trace.y - trace.error_y.arrayminus, 40)
    np.testing.assert_allclose(trace.y + trace.error_y.array, 65)
    assert figure.layout.meta["shown"] == 18


def test_runs_of_one_model_have_colours_of_their_own():
    figure = figures.measures_compared(measures(5))
    assert len({trace.marker.color for trace in figure.data}) == 5
    assert figure.data[0].marker.color == PLT.ABOUT.color
    frame = measures(3)
    frame.loc[frame["run"] == "run 2", "model"] = "LdSM"
    colors = {trace.name: trace.marker.color for trace in figures.measures_compared(frame).data}
    assert colors["run 0"] == PLT.ABOUT.color and colors["run 2"] == LdSM.ABOUT.color
    assert colors["run 1"] not in {colors["run 0"], colors["run 2"]}
    values = {"measure": "P@k", "k": 1, "value": 0.5, "low": 0.4, "high": 0.6}
    frame = pd.DataFrame({"run": [f"run {number}" for number in range(12)], "model": "PLT", **values})
    marks = [trace.marker for trace in figures.measures_compared(frame).data]
    assert len({(mark.color, mark.symbol) for mark in marks}) == 12


def test_buckets_are_drawn_in_percent_for_each_run():
    frame = pd.DataFrame(
        {"run": ["a"] * 3 + ["b"] * 3, "model": "PLT", "bucket": ["head", "torso", "tail"] * 2, "n_labels": 4}
    ).assign(recall=[0.9, 0.5, 0.1, 0.8, 0.6, 0.2])
    figure = figures.buckets_compared(frame)
    assert [trace.name for trace in figure.data] == ["a", "b"] and list(figure.data[1].y) == [80, 60, 20]
    assert figure.layout.title.text == "Recall of head, torso and tail labels"
    with pytest.raises(ValueError, match="precision"):
        figures.buckets_compared(frame, "precision")


def test_axes_of_parameters_are_in_order_and_spaced_by_ratios():
    frame = pd.DataFrame({"C": ["10", "automatic", "0.3", None], "trees": [3, 1, 1, 1], "P@1": [70.0, 60, 50, 40]})
    figure = figures.parameters_compared(frame, {"C": "C", "trees": "Trees"}, "P@1")
    c, trees, measure = figure.data[0].dimensions
    assert list(c.ticktext) == ["0.3", "10", "automatic"] and list(c.values) == [1, 2, 0]
    assert list(trees.tickvals) == [1, 3] and measure.label == "P@1, %"
    assert figure.layout.meta == {"shown": 3, "total": 4, "left_out": 1}
    few = [0.1, 0.3, 1.0, 10.0]
    frame = pd.DataFrame({"C": few, "trees": [1, 3, 5, 9], "eps": [0.0, 1, 2, 50], "P@1": [60.0, 64, 62, 61]})
    axes = figures.parameters_compared(frame, {"C": "C", "trees": "Trees", "eps": "ε"}, "P@1").data[0].dimensions
    C, trees, eps, measure = axes
    assert list(C.values) == pytest.approx(np.log10(few)) == list(C.tickvals)
    assert list(C.ticktext) == ["0.1", "0.3", "1", "10"]
    assert list(trees.values) == [1, 3, 5, 9] and list(eps.values) == [0, 1, 2, 50], "0 has no ratio to 50"
    assert list(measure.values) == frame["P@1"].tolist()
    many = pd.DataFrame({"C": np.geomspace(0.02, 300, 20), "P@1": np.arange(20.0)})
    axis = figures.parameters_compared(many, {"C": "C"}, "P@1").data[0].dimensions[0]
    assert list(axis.ticktext) == ["0.02", "0.1", "1", "10", "100", "300"]
    assert list(axis.tickvals) == pytest.approx(np.log10([0.02, 0.1, 1, 10, 100, 300]))


LONG = [f"PLT (Trees {trees}, {'Arity 16, ' * 4}C {c}, {'Epochs 20, ' * 3}end)" for trees in (1, 3) for c in (0.5, 1.0)]
SAME_ENDS = [f"{'a' * 50} {place}, {'b' * 50}" for place in range(3)]
MANY = [f"{'x' * 30}{number:03d} {'y' * 40} {number % 2}{'z' * 40}" for number in range(100)]


@pytest.mark.parametrize("names", [LONG, SAME_ENDS, MANY, ["short", "s" * 40, "s" * 41, f"{'s' * 39}…", "<b>" * 20]])
def test_long_names_differ_in_the_legend_and_are_whole_in_hovers(names):
    from xmlcore.figures._names import apart

    cut = apart(names, 40)
    assert list(cut) == names and len(set(cut.values())) == len(names)
    assert all(len(html.unescape(text)) <= 40 and "<" not in text for text in cut.values())
    assert all(text == name for name, text in cut.items() if len(name) <= 40)
    few = names[:6]
    frame = pd.concat([measures(1).assign(run=name) for name in few])
    costs = pd.DataFrame({"run": few, "model": "PLT", "s": 1.0, "P@1": 50.0})
    buckets = pd.DataFrame({"run": few, "model": "PLT", "bucket": "head", "n_labels": 4, "recall": 0.5})
    of = {text: name for name, text in apart(few, 40).items()}
    for figure in (
        figures.measures_compared(frame),
        figures.buckets_compared(buckets),
        figures.frontier(costs, {"s": "s"}, ["P@1"]),
    ):
        traces = [trace for trace in figure.data if trace.hovertemplate]
        assert {trace.name for trace in traces} == set(of)
        for trace in traces:
            hover = html.unescape(re.search("<b>(.*?)</b>", trace.hovertemplate)[1].replace("<br>", ""))
            assert hover.replace(" ", "") == of[trace.name].replace(" ", "")


def test_differences_that_may_be_chance_are_faint():
    frame = pd.DataFrame(
        {"run": ["b", "c"] * 2, "model": "PLT", "measure": ["P@1", "P@1", "PSP@5", "PSP@5"], "sure": [False, True] * 2}
    ).assign(difference=[0.01, -0.02, 0.03, 0.0], low=-0.03, high=0.04)
    figure = figures.differences(frame)
    first, second = figure.data
    assert "faint: not significant after correction for all tests" in figure.layout.title.subtitle.text
    for low, high in ((-0.03, 0.04), (-0.4, 0.4), (0.0, 0.2), (-0.001, 0.0)):
        axis = figures.differences(frame.assign(low=low, high=high)).layout.xaxis
        start, end = axis.range
        assert all(start + 0.09 * (end - start) < tick < end - 0.09 * (end - start) for tick in axis.tickvals)
        assert 0 in axis.tickvals and len(axis.tickvals) >= 3, "numbers of two panels do not meet"
    for low, high in np.random.default_rng(0).uniform([-0.2, 0], [0, 0.2], (12, 2)):
        axis = figures.differences(frame.assign(low=low, high=high)).layout.xaxis
        assert 3 <= len(axis.tickvals) <= 4 and 0 in axis.tickvals, "more would lie over each other on a phone"
    assert first.hovertext[1] == "−2.0 points (−3.0 to 4.0)" and "%{hovertext}" in first.hovertemplate
    assert list(first.x) == [1.0, -2.0] and list(first.y) == ["b", "c"] and list(second.x) == [3.0, 0.0]
    axis = figure.layout.yaxis
    assert axis.range == (1.5, -0.5) and axis.autorange is None, "else Plotly puts points on the ends of the panels"
    assert list(first.error_x.array) == [3.0, 6.0] and list(first.error_x.arrayminus) == [4.0, 1.0]
    assert first.marker.opacity[0] < first.marker.opacity[1] == 1
    first, _ = figures.differences(frame.assign(model=["OneVsRest", "LdSM"] * 2)).data
    assert list(first.marker.symbol) == [run_style("OneVsRest")["mark"], run_style("LdSM")["mark"]]
    compared = pd.DataFrame({"run": ["a", "b", "c"], "model": "PLT", "s": 1.0, "P@1": 50.0})
    points = figures.differences(frame, compared=compared).data[0].marker
    there = styles(figures.frontier(compared, {"s": "s"}, ["P@1"]))
    assert dict(zip(("b", "c"), zip(points.color, points.symbol))) == {run: there[run] for run in ("b", "c")}
    assert points.symbol[0] == "circle-open", "the first, which is not drawn, has the mark of the model"


@pytest.mark.parametrize("number", ["+1,238", "12.8 %", "12.8\u00a0%", "(0.31)"])
def test_no_number_at_the_end_of_a_name_is_cut(number):
    cut = figures.short(f"implementation of a feature {number}", 16)
    assert len(cut) == 16 and cut.startswith("imp") and "…" in cut and cut.endswith(f" {number}")
    assert figures.short(f"implementation {number}", 9) == "implemen…", "rather no number than a part of one"


def test_cut_names_keep_the_words_in_which_they_differ(monkeypatch):
    assert figures.cut_apart(["PLT (Arity 16, Trees 3)", "PLT (Arity 16, Trees 5)"], 20) == {
        "PLT (Arity 16, Trees 3)": "PLT (Arity… Trees 3)", "PLT (Arity 16, Trees 5)": "PLT (Arity… Trees 5)"
    }  # fmt: skip
    compared, common = [], os.path.commonprefix
    monkeypatch.setattr(os.path, "commonprefix", lambda names: compared.extend(names) or common(names))
    cut = figures.cut_apart(f"{'x' * 40}{i}{'x' * 40}" for i in range(1000))
    assert len({*cut.values()}) == len(compared) == 1000, "each name is compared once, however many are alike"


RUNS = pd.DataFrame(
    [
        ("quick", "PLT", 1.0, 0.1, 50.0, 20.0), ("good", "PLT", 2.0, 0.3, 60.0, 10.0),
        ("slow", "LdSM", 3.0, 0.2, 55.0, 15.0), ("best", "unknown", 40.0, 9.0, 61.0, 20.0),
    ],
    columns=["run", "model", "fit_s", "ms_per_row", "P@1", "PSP@5"],
)  # fmt: skip
COSTS = {"fit_s": "Training, seconds", "ms_per_row": "Prediction, ms per row"}


@pytest.mark.parametrize("seed", range(5))
def test_a_point_is_on_the_frontier_if_no_other_beats_it(seed):
    rng = np.random.default_rng(seed)
    costs, values = rng.integers(0, 6, 20).astype(float), rng.integers(0, 6, 20).astype(float)
    expected = [
        not any((c <= cost and v > value) or (c < cost and v >= value) for c, v in zip(costs, values))
        for cost, value in zip(costs, values)
    ]
    assert figures.pareto(costs, values).tolist() == expected
    assert figures.pareto([1, 2, np.nan], [np.nan, 3, 9]).tolist() == [False, True, False]
    assert figures.pareto([], []).tolist() == []


def test_panels_of_costs_have_all_runs_and_a_line_of_the_best():
    figure = figures.frontier(RUNS, COSTS, ["P@1", "PSP@5"])
    assert figure.layout.meta["frontier"] == {
        "P@1, fit_s": ["quick", "good", "best"],
        "P@1, ms_per_row": ["quick", "slow", "good", "best"],
        "PSP@5, fit_s": ["quick"],
        "PSP@5, ms_per_row": ["quick"],
    }
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert len(marks) == 4 * len(RUNS) and sum(trace.showlegend for trace in marks) == len(RUNS)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert list(lines[0].x) == [1, 2, 40] and list(lines[0].y) == [50, 60, 61]
    assert [trace.showlegend for trace in lines] == [True, False, False, False]
    alone = figures.frontier(RUNS, {"fit_s": "s"}, ["PSP@5"])
    assert not alone.data[0].showlegend, "a line of one point is not seen"
    figure = figures.frontier(RUNS.assign(ms_per_row=[0.1, np.nan, 0.2, 9.0]), COSTS, ["P@1"])
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert sum(bool(trace.x[0] > 0) for trace in marks) == 7
    assert [trace.marker.symbol for trace in marks][:4] == [trace.marker.symbol for trace in marks][4:]
    assert figure.layout.meta["shown"] == 4
    assert figure.layout.meta["frontier"]["P@1, ms_per_row"] == ["quick", "slow", "best"]
    figure = figures.frontier(RUNS.assign(fit_s=[0.0, 2.0, 3.0, 40.0]), {"fit_s": "s"}, ["P@1"])
    assert figure.layout.meta["shown"] == 3 and figure.layout.meta["total"] == 4
    figure = figures.frontier(RUNS, {"fit_s": "s"}, ["P@1"])
    marks = {trace.name: trace.marker.symbol for trace in figure.data if trace.mode == "markers"}
    assert marks["good"] == "circle" and marks["quick"] == "circle-open"
    figure = figures.frontier(RUNS.assign(fit_s=[0.004, 0.005, 0.006, 0.007]), {"fit_s": "s"}, ["P@1"])
    assert figure.layout.xaxis.ticktext[-1] == "0.01"


@pytest.mark.parametrize(
    "costs", [(0.17, 0.2), (2.5, 3.5), (0.31, 0.39), (1.0001, 1.0002), (98.0, 101.0), (2.0, 11.0), (0.5, 900.0)]
)
def test_a_logarithmic_axis_has_three_numbers_or_more(costs):
    runs = pd.DataFrame({"run": ["a", "b"], "model": "PLT", "s": costs, "P@1": [50.0, 60.0]})
    axis = figures.frontier(runs, {"s": "Seconds"}, ["P@1"]).layout.xaxis
    low, high = costs if axis.range is None else 10.0 ** np.array(axis.range)
    assert high / low >= 9.99 and low <= costs[0] and costs[1] <= high, "nearly equal costs stand near to each other"
    seen = [tick for tick in axis.tickvals if low <= tick <= high]
    assert axis.title.text == "Seconds (log)" and 3 <= len(seen) <= 8
    assert [float(text) for text in axis.ticktext] == pytest.approx(axis.tickvals, rel=1e-9)
    assert len(figures.frontier(runs.assign(s=costs[0]), {"s": "Seconds"}, ["P@1"]).layout.xaxis.tickvals) >= 3


def test_a_legend_of_long_names_has_models_and_compared_runs():
    long = pd.DataFrame({"run": [f"LdSM (Noise in training copies per row {n})" for n in range(12)], "model": "LdSM"})
    long = long.assign(s=range(1, 13), **{"P@1": 60.0})
    compared = long.assign(place=range(12))[:2]
    legend = [trace.name for trace in figures.frontier(long, {"s": "s"}, ["P@1"], compared=compared).data[1:]]
    assert legend[0] == "LdSM, others" and len(legend) == 3
    assert len({*figures.run_marks(long, compared).values()}) == 2, "others have the mark of their model"
    assert len(figures.frontier(long.assign(run=[*"abcdefghijkl"]), {"s": "s"}, ["P@1"]).data) == 13


def test_a_point_of_a_frontier_has_its_interval():
    ends = {"P@1 low": [48.0, np.nan, 59.5, 60.0], "P@1 high": [53.0, np.nan, 60.5, 63.0]}
    figure = figures.frontier(RUNS.assign(**ends), {"fit_s": "Seconds"}, ["P@1"])
    quick, other = [trace for trace in figure.data if trace.mode == "markers"][:2]
    assert quick.y[0] - quick.error_y.arrayminus[0] == 48 and quick.y[0] + quick.error_y.array[0] == 53
    assert "48.0 to 53.0" in quick.hovertemplate and other.error_y.array is None and " to " not in other.hovertemplate
    assert "Seconds: %{x" in quick.hovertemplate, "no number is without name and unit"


def test_many_runs_are_drawn_by_model_and_named_when_pointed_at():
    frame = pd.DataFrame(
        {"run": [f"run {i}" for i in range(40)], "model": ["PLT", "LdSM"] * 20, "s": np.arange(1.0, 41)}
    )
    frame["P@1"] = np.linspace(50, 60, 40)
    figure = figures.frontier(frame, {"s": "Seconds"}, ["P@1"])
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.name for trace in marks] == ["PLT", "LdSM"] and "Seconds: %{x" in marks[0].hovertemplate
    assert marks[0].customdata[1] == "run 2" and len(marks[0].x) == 20
    figure = figures.frontier(frame, {"s": "Seconds"}, ["P@1"], compared=frame.iloc[[2, 4]])
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.name for trace in marks] == ["PLT, others", "LdSM", "run 2", "run 4"]
    assert len(marks[0].x) == 18 and list(marks[2].x) == [3] and marks[2].marker.size > marks[0].marker.size


def test_compared_runs_have_the_same_marks_in_all_figures():
    names = [f"run {number}" for number in range(7)]
    runs = pd.DataFrame({"run": ["other", *names], "model": ["LdSM"] + ["PLT"] * 7, "fit_s": 1.0, "P@1": 50.0})
    runs.loc[runs["run"] == "run 0", "fit_s"] = np.nan  # its time is not known
    values = {"measure": "P@k", "k": 1, "value": 0.5, "low": 0.4, "high": 0.6}
    there = styles(figures.measures_compared(runs[1:].assign(**values)))
    figure = figures.frontier(runs, {"fit_s": "Training, seconds"}, ["P@1"], compared=runs[1:])
    here = styles(figure)
    assert {trace.name for trace in figure.data if (trace.marker.opacity or 1) < 1} == {"other"}, "it is not compared"
    assert {name: here[name] for name in names[1:]} == {name: there[name] for name in names[1:]}
    assert here["other"] not in there.values()
    newest_first = styles(figures.frontier(runs[:0:-1], {"fit_s": "Training, seconds"}, ["P@1"]))
    assert {name: newest_first[name] for name in names[1:]} == {name: there[name] for name in names[1:]}


@pytest.mark.parametrize("n_runs", [7, 40])
def test_pictures_of_marks_are_those_of_the_figure(n_runs):
    runs = pd.DataFrame({"run": [f"run {number}" for number in range(n_runs)], "s": np.arange(n_runs) + 1})
    runs["model"] = [[*model_styles(), "mine"][number % 6 if number < 6 else 0] for number in range(n_runs)]
    runs, compared = runs.assign(**{"P@1": 50.0}), runs.iloc[[6, 1]]
    marks = {run: unquote(mark) for run, mark in figures.run_marks(runs, compared).items()}
    for points in figures.frontier(runs, {"s": "s"}, ["P@1"], compared=compared).data:
        for x in points.x if points.mode == "markers" else ():
            mark, (shape, is_open, dot) = marks.pop(f"run {x - 1:.0f}"), points.marker.symbol.partition("-open")
            assert SHAPES[shape] in mark and f'stroke="{points.marker.color}"' in mark
            assert ('fill="none"' in mark) == bool(is_open) and ("<circle" in mark) == bool(dot)
    assert not marks


def styles(figure):
    return {t.name: (t.marker.color, t.marker.symbol) for t in figure.data if t.mode == "markers"}


def trials(**columns):
    n = len(next(iter(columns.values())))
    return pd.DataFrame({"value": np.linspace(0.1, 0.5, n), "rows": 100, "seed": np.arange(n) % 2, **columns})


def test_a_sweep_has_means_by_sample_size_without_failed_trials():
    frame = trials(C=[1.0, 1.0, 10.0, 10.0], tree=["kmeans", "huffman"] * 2)
    figure = figures.sweep_values(frame, {"C": "C, weight", "tree": "Tree"}, "P@1")
    points, mean, star, _, by_tree, _ = figure.data
    assert (*star.x, *star.y) == (10.0, pytest.approx(50.0)), "the best training"
    assert points.y == pytest.approx(100 * frame["value"]) and list(mean.x) == [1.0, 10.0]
    assert list(mean.y) == pytest.approx([100 * frame["value"][:2].mean(), 100 * frame["value"][2:].mean()])
    assert list(by_tree.x) == ["kmeans", None, "huffman", None], "a line joins numbers only"
    assert by_tree.marker.symbol == "line-ew-open" and figure.layout.xaxis2.type == "category"
    assert figure.layout.xaxis.type == "log" and figure.layout.xaxis2.title.text == "Tree"
    frame = trials(C=[1.0, 2.0, 3.0, 3.0]).assign(rows=[50, 50, 50, 150])
    frame.loc[1, "value"] = np.nan
    figure = figures.sweep_values(frame, {"C": "C"}, "P@1")
    assert [len(trace.x) for trace in figure.data] == [1, 1, 2, 2, 1] and figure.layout.meta["shown"] == 3
    assert figure.data[0].marker.color != figure.data[2].marker.color
    figure = figures.sweep_values(trials(C=np.geomspace(0.1, 10, 40)), {"C": "C"}, "P@1")
    assert figure.layout.xaxis.ticktext == ("0.1", "1", "10"), "powers of ten, with nothing between them"
    assert len(figure.data[0].x) == 40 and len(figure.data[1].x) == 6
    empty = figures.sweep_values(trials(beam=[None, 2.0, 8.0]), {"beam": "Beam"}, "P@1")
    assert list(empty.data[0].x) == ["automatic", "2", "8"], "None among numbers is no gap"
    named = figures.sweep_values(trials(C=["auto", 1.0]), {"C": "C"}, "P@1")
    assert list(named.data[0].x) == ["automatic", "1"]
    frame = trials(C=[3.0, 10.0, "auto", 1.0, 10.0, 1.0]).assign(rows=[50, 50, 50, 50, 150, 150])
    figure = figures.sweep_values(frame, {"C": "C"}, "P@1")
    assert list(figure.layout.xaxis.categoryarray) == ["automatic", "1", "3", "10"]
    assert [list(trace.x) for trace in figure.data[1:4:2]] == [["1", "10"], ["automatic", None, "1", "3", "10"]]


def test_panels_of_settings_have_room_for_words():
    frame = trials(C=[1.0, 1.0, 10.0, 10.0, 100.0, 100.0], loss=["a", "b"] * 3)
    labels, notes = {"C": "C, weight of the loss", "loss": "Loss of the node classifiers"}, {"C": "1 %", "loss": "2 %"}
    figure = figures.sweep_values(frame, labels, "P@1", notes)
    assert figure.layout.xaxis.title.text.split("<br>") == [labels["C"], "1 %"]
    assert figure.layout.xaxis2.autotickangles == (0, 90), "texts aslant would run into the next panel"
    frame = frame.assign(a=frame["loss"], b=frame["loss"])
    four = figures.sweep_values(frame, labels | {"a": "A", "b": "B"}, "P@1", notes)
    gap = four.layout.yaxis.domain[0] - four.layout.yaxis3.domain[1]
    assert gap * (four.layout.height - 310) > 12 + 7 * len("squared hinge") + 18 * 2, "values stand upright"


def test_a_learning_curve_has_trainings_and_their_means():
    lines = [(rows, seed, bucket, "P@k", 1, 0.5 - 1 / rows + seed / 1000) for rows in (10, 100) for seed in (0, 1)
             for bucket in ("all", "tail")]  # fmt: skip
    frame = pd.DataFrame(lines, columns=["rows", "seed", "bucket", "measure", "k", "value"])
    points, means = figures.learning_curve(frame, "P@1").data
    assert len(points.x) == 4 and list(means.y) == pytest.approx([40.05, 49.05])
    assert len(figures.learning_curve(frame, "P@1", ["tail"]).data) == 2


@pytest.mark.parametrize(("values", "shown"), [
    ([10, 11, 12, 100], ["10", "100"]),
    ([0.8, 1.0, 1.2, 200.0], ["0.8", "200"]),
    ([0.1, 0.3, 1.0, 3.0, 10.0], ["0.1", "0.3", "1", "3", "10"]),
    ([1, 2, 3, 4, 5, 6, 7, 8], ["1", "3", "5", "8"]),
    ([5], ["5"]),
])  # fmt: skip
def test_values_of_a_setting_close_together_are_not_all_written(values, shown):
    trials = pd.DataFrame({"C": values, "value": 0.5, "rows": 100, "seed": 0})
    assert list(figures.sweep_values(trials, {"C": "C"}, "P@1").layout.xaxis.ticktext) == shown


def test_the_reliability_curve_leaves_out_empty_bins():
    frame = pd.DataFrame(
        {"low": [0, 0.5, 0.9], "high": [0.5, 0.9, 1], "n": [10, 0, 30], "predicted": [0.2, 0.7, 0.95],
         "observed": [0.1, 0.0, 0.8], "observed_low": [0.05, 0, 0.7], "observed_high": [0.3, 0, 0.9]}
    )  # fmt: skip
    figure = figures.reliability_curve(frame)
    diagonal, curve, bars = figure.data
    assert list(curve.x) == pytest.approx([20, 95]) and list(curve.y) == pytest.approx([10, 80])
    assert list(curve.error_y.array) == pytest.approx([20, 10])
    assert list(curve.error_y.arrayminus) == pytest.approx([5, 10])
    assert list(bars.y) == [10, 30] and list(bars.width) == pytest.approx([50, 10])
    assert (diagonal.x, diagonal.y) == ((0, 100), (0, 100)) and figure.layout.meta == {"shown": 2, "total": 2}
    assert figures.reliability_curve(frame.iloc[:, :5]).data[1].error_y.array is None
    both = figures.reliability_curve(frame, calibrated=frame[2:]).data[1:]
    assert [trace.name for trace in both if trace.showlegend is not False] == ["uncalibrated", "calibrated"]
    assert [(trace.legendgroup, len(trace.x)) for trace in both] == [("uncalibrated", 2)] * 2 + [("calibrated", 1)] * 2


def test_bars_join_the_ranks_that_are_not_told_apart():
    ranks = {(1.0, 1.5, 2.4, 4.0): [(1.0, 1.5), (1.5, 2.4)], (1.0, 1.5, 2.0): [(1.0, 2.0)], (1.0, 3.0): []}
    for of_methods, groups in ranks.items():
        frame = pd.DataFrame({"method": [*map("{:.1f}".format, of_methods)], "rank": of_methods})
        assert figures.critical_difference(frame, 1.0).layout.meta["groups"] == groups
    frame = pd.DataFrame({"method": ["LdSM", "PLT", "a <b>"], "rank": [2.4, 1.1, 2.5]})
    figure = figures.critical_difference(frame, 0.5)
    assert figure.layout.meta["groups"] == [(2.4, 2.5)]
    assert list(figure.layout.yaxis.ticktext) == ["PLT  1.10", "LdSM  2.40", "a &lt;b&gt;  2.50"]
    assert "critical difference 0.50" in figure.data[0].text[0]


@pytest.mark.parametrize(("values", "reach", "ends"), [
    ([78.0, 78.3], 0.5, (75.65, 80.65)),  # 5 points
    ([78.0, 78.3], 2.0, (72.15, 84.15)),  # three intervals
    ([99.8, 100.0], 0.0, (95, 100)),  # no share is above 100 %
    ([60.0, 78.0], 1.0, None),  # Plotly's own range
])  # fmt: skip
def test_an_axis_makes_no_small_difference_look_large(values, reach, ends):
    frame = pd.DataFrame({"run": ["a", "b"], "model": ["PLT", "LdSM"], "s": [1.0, 2.0], "P@1": values})
    frame = frame.assign(**{"P@1 low": frame["P@1"] - reach, "P@1 high": frame["P@1"] + reach})
    span = figures.frontier(frame, {"s": "s"}, ["P@1"]).layout.yaxis.range
    if ends is None:
        assert span is None
    else:
        around = 0.04 * (ends[1] - ends[0])
        assert span == pytest.approx((ends[0] - around, ends[1] + around))
