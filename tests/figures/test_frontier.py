"""The figure of costs against measures, and which runs no other run beats."""

import numpy as np
import pandas as pd
import pytest

from xmlcore import figures

RUNS = pd.DataFrame(
    {
        "run": ["quick", "good", "slow", "best"],
        "model": ["PLT", "PLT", "LdSM", "unknown"],
        "fit_s": [1.0, 2.0, 3.0, 40.0],
        "ms_per_row": [0.1, 0.3, 0.2, 9.0],
        "P@1": [50.0, 60.0, 55.0, 61.0],
        "PSP@5": [20.0, 10.0, 15.0, 20.0],
    }
)
COSTS = {"fit_s": "Training, seconds", "ms_per_row": "Prediction, ms per row"}


@pytest.mark.parametrize("seed", range(5))
def test_a_point_is_on_the_frontier_if_no_other_beats_it_and_it_has_a_value(seed):
    rng = np.random.default_rng(seed)
    costs, values = rng.integers(0, 6, 20).astype(float), rng.integers(0, 6, 20).astype(float)
    expected = [
        not any((c <= cost and v > value) or (c < cost and v >= value) for c, v in zip(costs, values))
        for cost, value in zip(costs, values)
    ]
    assert figures.pareto(costs, values).tolist() == expected
    assert figures.pareto([1, 2, np.nan], [np.nan, 3, 9]).tolist() == [False, True, False]
    assert figures.pareto([], []).tolist() == []


def test_each_panel_has_all_runs_with_its_cost_and_a_line_through_the_best():
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
    assert marks["quick"] == "circle" and marks["good"] == "circle-open"


def test_many_runs_are_drawn_by_model_and_named_when_pointed_at():
    frame = pd.DataFrame(
        {
            "run": [f"run {i}" for i in range(40)],
            "model": ["PLT", "LdSM"] * 20,
            "s": np.arange(1.0, 41),
            "P@1": np.linspace(50, 60, 40),
        }
    )
    figure = figures.frontier(frame, {"s": "Seconds"}, ["P@1"])
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.name for trace in marks] == ["PLT", "LdSM"]
    assert marks[0].customdata[1] == "run 2" and len(marks[0].x) == 20
    figure = figures.frontier(frame, {"s": "Seconds"}, ["P@1"], compared=frame.iloc[[2, 4]])
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.name for trace in marks] == ["PLT, others", "LdSM", "run 2", "run 4"]
    assert len(marks[0].x) == 18 and list(marks[2].x) == [3] and marks[2].marker.size > marks[0].marker.size


def test_runs_that_another_figure_compares_have_its_colours_and_marks_whatever_else_is_drawn():
    names = [f"run {number}" for number in range(7)]
    runs = pd.DataFrame({"run": ["other", *names], "model": ["LdSM"] + ["PLT"] * 7, "fit_s": 1.0, "P@1": 50.0})
    runs.loc[runs["run"] == "run 0", "fit_s"] = np.nan  # its time is not known
    values = {"measure": "P@k", "k": 1, "value": 0.5, "low": 0.4, "high": 0.6}
    there = styles(figures.measures_compared(runs[1:].assign(**values)))
    here = styles(figures.frontier(runs, {"fit_s": "Training, seconds"}, ["P@1"], compared=runs[1:]))
    assert {name: here[name] for name in names[1:]} == {name: there[name] for name in names[1:]}
    assert here["other"] not in there.values()


def styles(figure):
    return {t.name: (t.marker.color, t.marker.symbol) for t in figure.data if t.mode == "markers"}
