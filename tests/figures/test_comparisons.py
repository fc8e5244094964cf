"""Figures that put several runs side by side."""

import html
import re

import numpy as np
import pandas as pd
import pytest

from xmlcore import PLT, LdSM, figures


def measures(n_runs=3):
    lines = [
        (f"run {run}", "PLT", measure, k, 0.5, 0.4, 0.65)
        for run in range(n_runs)
        for measure in ("P@k", "PSP@k")
        for k in (1, 3, 5)
    ]
    return pd.DataFrame(lines, columns=["run", "model", "measure", "k", "value", "low", "high"])


def test_measures_have_a_panel_each_and_intervals_that_reach_from_low_to_high():
    figure = figures.measures_compared(measures())
    assert [text.text for text in figure.layout.annotations] == ["P@k", "PSP@k"]
    assert len(figure.data) == 6 and sum(trace.showlegend for trace in figure.data) == 3
    trace = figure.data[0]
    np.testing.assert_allclose(trace.y - trace.error_y.arrayminus, 40)
    np.testing.assert_allclose(trace.y + trace.error_y.array, 65)
    assert figure.layout.meta["shown"] == 18


def test_runs_of_one_model_have_colours_and_marks_of_their_own_and_no_other_models():
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


def test_parameters_are_in_order_spaced_by_ratios_and_lines_without_a_value_are_counted():
    frame = pd.DataFrame(
        {"C": ["10", "automatic", "0.3", None], "trees": [3, 1, 1, 1], "P@1": [70.0, 60.0, 50.0, 40.0]}
    )
    figure = figures.parameters_compared(frame, {"C": "C", "trees": "Trees"}, "P@1")
    c, trees, measure = figure.data[0].dimensions
    assert list(c.ticktext) == ["0.3", "10", "automatic"] and list(c.values) == [1, 2, 0]
    assert list(trees.tickvals) == [1, 3] and measure.label == "P@1, %"
    assert figure.layout.meta == {"shown": 3, "total": 4, "left_out": 1}
    few = [0.1, 0.3, 1.0, 10.0]
    frame = pd.DataFrame(
        {"C": few, "trees": [1, 3, 5, 9], "eps": [0.0, 1.0, 2.0, 50.0], "P@1": [60.0, 64.0, 62.0, 61.0]}
    )
    axes = figures.parameters_compared(frame, {"C": "C", "trees": "Trees", "eps": "ε"}, "P@1").data[0].dimensions
    C, trees, eps, measure = axes
    assert list(C.values) == pytest.approx(np.log10(few)) == list(C.tickvals) and list(C.ticktext) == [
        "0.1",
        "0.3",
        "1",
        "10",
    ]
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
def test_long_names_that_begin_or_end_alike_differ_in_the_legend_and_are_whole_where_one_points(names):
    from xmlcore.figures._style import apart

    cut = apart(names, 40)
    assert list(cut) == names and len(set(cut.values())) == len(names)
    assert all(len(html.unescape(text)) <= 40 and "<" not in text for text in cut.values())
    assert all(text == name for name, text in cut.items() if len(name) <= 40)
    few = names[:12]
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


def test_of_names_that_begin_alike_the_words_are_kept_in_which_they_differ():
    from xmlcore.figures._style import apart

    assert apart(["PLT (Arity 16, Trees 3)", "PLT (Arity 16, Trees 5)"], 20) == {
        "PLT (Arity 16, Trees 3)": "PLT (Arity… Trees 3)", "PLT (Arity 16, Trees 5)": "PLT (Arity… Trees 5)"
    }  # fmt: skip
