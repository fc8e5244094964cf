"""The figure of a sweep."""

import numpy as np
import pandas as pd
import pytest

from xmlcore import figures


def trials(**columns):
    n = len(next(iter(columns.values())))
    return pd.DataFrame({"value": np.linspace(0.1, 0.5, n), "rows": 100, "seed": np.arange(n) % 2, **columns})


def test_each_parameter_has_a_panel_with_a_point_for_each_training_and_the_mean():
    frame = trials(C=[1.0, 1.0, 10.0, 10.0], tree=["kmeans", "huffman"] * 2)
    figure = figures.sweep_values(frame, {"C": "C, weight", "tree": "Tree"}, "P@1")
    points, mean, _, by_tree = figure.data
    assert points.y == pytest.approx(100 * frame["value"]) and list(mean.x) == [1.0, 10.0]
    assert list(mean.y) == pytest.approx([100 * frame["value"][:2].mean(), 100 * frame["value"][2:].mean()])
    assert list(by_tree.x) == ["kmeans", "huffman"] and figure.layout.xaxis2.type == "category"
    assert figure.layout.xaxis.type == "log" and figure.layout.xaxis2.title.text == "Tree"


def test_samples_of_other_sizes_have_lines_of_their_own_and_failed_trials_are_not_drawn():
    frame = trials(C=[1.0, 2.0, 3.0, 3.0]).assign(rows=[50, 50, 50, 150])
    frame.loc[1, "value"] = np.nan
    figure = figures.sweep_values(frame, {"C": "C"}, "P@1")
    assert [len(trace.x) for trace in figure.data[::2]] == [1, 2] and figure.layout.meta["shown"] == 3
    assert figure.data[0].marker.color != figure.data[2].marker.color


def test_many_values_are_grouped_for_the_line_and_automatic_values_are_named():
    figure = figures.sweep_values(trials(C=np.geomspace(0.1, 10, 40)), {"C": "C"}, "P@1")
    assert len(figure.data[0].x) == 40 and len(figure.data[1].x) == 6
    named = figures.sweep_values(trials(C=["auto", 1.0]), {"C": "C"}, "P@1")
    assert list(named.data[0].x) == ["automatic", "1.0"]
