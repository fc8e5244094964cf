import numpy as np
import pandas as pd
import pytest

from xmlcore import figures
from xmlcore.selection import significance_graph


def test_feature_bars_are_the_best_with_intervals():
    frame = pd.DataFrame({"name": ["a <b>", "b", "c"], "score": [3.0, 2.0, 1.0], "standard_error": [0.1, 0.2, 0.3]})
    figure = figures.feature_bars(frame, 2)
    bar = figure.data[0]
    assert list(bar.x) == [3, 2] and list(bar.y) == [1, 0]
    assert list(bar.error_x.array) == pytest.approx([0.2, 0.4])
    line = figure.data[1]  # dark, on the white one of the bar: visible on every bar and page
    assert (list(line.x), list(line.y), bar.error_x.color) == ([3, 2], [1, 0], "white")
    assert line.error_x.array.tolist() == bar.error_x.array.tolist() and line.error_x.thickness < bar.error_x.thickness
    assert figure.layout.yaxis.ticktext[0] == "a &lt;b&gt;"
    assert figure.layout.meta == {"shown": 2, "total": 3}
    assert figures.feature_bars(frame[["name", "score"]]).data[0].error_x.array is None
    frame = pd.DataFrame({"name": ["a"], "score": [1.0], "with_label": [0.5], "without_label": [0.01]})
    assert "in 50 % of the rows with the label, in 1 %" in figures.feature_bars(frame).data[0].customdata[0]
    unknown = figures.feature_bars(frame.assign(with_label=np.nan))
    assert "rows" not in unknown.data[0].customdata[0]


def test_feature_bars_tell_what_goes_with_the_label():
    frame = pd.DataFrame({"name": ["a", "b", "c"], "score": [3.0, 2.0, 1.0], "standard_error": [0.3, 0.2, 0.1]})
    frame = frame.assign(with_label=[0.5, 0.1, 0.2], without_label=[0.1, 0.7, 0.1])
    more, less, _ = figures.feature_bars(frame, by_occurrence=True).data
    assert (more.name, more.x.tolist(), more.y.tolist()) == ("more frequent in the label’s rows", [3, 1], [2, 0])
    assert (less.name, less.x.tolist(), less.error_x.array.tolist()) == ("less frequent in them", [2], [0.4])
    assert [bar.name for bar in figures.feature_bars(frame.head(1), by_occurrence=True).data[:-1]] == [more.name]
    equal = frame.assign(without_label=frame["with_label"])
    assert [bar.name for bar in figures.feature_bars(equal, by_occurrence=True).data[:-1]] == ["equally frequent"]
    with pytest.raises(ValueError, match="with_label"):
        figures.feature_bars(frame[["name", "score"]], by_occurrence=True)


def heat():
    return pd.DataFrame(
        {
            **{"label": [4, 4, 7, 7], "feature": [9, 2, 9, 2], "label_name": "same", "name": ["<i>", "two"] * 2},
            **{"value": [1.0, np.nan, 0.5, 0.25], "rank": [1, 0, 10, 100]},
        }
    )


@pytest.mark.parametrize("page", [(255, 255, 255), (20, 24, 28)])
def test_heat_maps_have_one_hue_in_even_steps(page):
    scale = figures.selection_heat(heat(), n_labels=50, n_features=100).layout.coloraxis.colorscale
    (start, *low), (end, *high) = ([float(part) for part in color[5:-1].split(",")] for _, color in scale)
    assert (start, *low[:-1]) == (end, *high[:-1]) and low[-1] > 0.1, "a blank cell is told from the smallest value"
    blue = np.array([start, *low[:-1]])
    seen = [opacity * blue + (1 - opacity) * np.array(page) for opacity in np.linspace(low[-1], high[-1], 9)]
    steps = np.diff([np.abs(color - page).sum() for color in seen])
    assert steps.min() > 10 and steps.max() - steps.min() < 1e-6


def test_heat_maps_leave_out_what_is_not_kept_and_the_diagonal():
    figure = figures.selection_heat(heat(), n_labels=50, n_features=100)
    cells = figure.data[0]
    np.testing.assert_allclose(cells.z, [[0, np.nan], [-1, -2]])
    assert len(set(cells.y)) == 2 and [name.strip("\u200b") for name in cells.y] == ["same", "same"]
    assert cells.x[0] == "&lt;i&gt;"
    assert "not kept" in cells.customdata[0][1] and "rank 10, 50 %" in cells.customdata[1][0]
    assert figure.layout.meta == {"shown": 4, "total": 5000}
    assert list(figure.layout.coloraxis.colorbar.ticktext) == ["1", "10", "100"]
    pairs = {"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "share": [1.0, 0.2, 0.2, 1.0]}
    frame = pd.DataFrame({**pairs, "a_name": [*"aabb"], "b_name": [*"abab"]})
    figure = figures.overlap_heat(frame, n_labels=9)
    np.testing.assert_allclose(figure.data[0].z, [[np.nan, 0.2], [0.2, np.nan]])
    assert figure.layout.coloraxis.cmax == pytest.approx(0.2) and figure.layout.coloraxis.cmin == 0
    assert figure.layout.meta == {"shown": 2, "total": 9}
    assert figure.layout.coloraxis.colorbar.ticktext == ("0 %", "10 %", "20 %")


@pytest.mark.parametrize("most, ticks", [(1, ["1"]), (4, ["1", "4"]), (10, ["1", "10"]), (250, ["1", "10", "100"])])
def test_the_bar_of_ranks_ends_at_the_last_rank(most, ticks):
    frame = heat().assign(rank=[1, 0, 1, most])
    axis = figures.selection_heat(frame, n_labels=50, n_features=100).layout.coloraxis
    assert list(axis.colorbar.ticktext) == ticks and axis.cmax == 0
    assert axis.cmin == (-1 if most == 1 else pytest.approx(-np.log10(most)))
    np.testing.assert_allclose(axis.colorbar.tickvals, [-np.log10(int(tick)) for tick in ticks])


def judged():
    lines = [("all features", 1.0, s, "average precision", 0.3) for s in (0, 1)]
    for method, base in (("FALS", 0.35), ("FIMS", 0.2), ("FALS (lrp)", 0.25)):
        for share in (0.1, 0.5):
            lines += [(method, share, s, "average precision", base + share / 10 + 0.01 * s) for s in (0, 1)]
            lines += [(method, share, s, "Hamming loss", base) for s in (0, 1)]
    lines += [("all features", 1.0, s, "Hamming loss", 0.3) for s in (0, 1)]
    return pd.DataFrame(lines, columns=["method", "share", "seed", "measure", "value"])


def test_methods_have_a_box_each_and_the_best_is_known():
    figure = figures.patterns_compared(judged().query("share != 0.5"), "average precision")
    assert list(figure.layout.yaxis.ticktext) == ["all features", "FALS", "FIMS", "FALS (lrp)"]
    boxes = {trace.name: list(trace.x) for trace in figure.data}
    assert boxes["FALS"] == pytest.approx([0.36, 0.37]) and boxes["all features"] == [0.3, 0.3]
    assert figure.layout.meta["best"] == "FALS"
    assert figure.layout.shapes[0].x0 == pytest.approx(0.3)
    assert figures.patterns_compared(judged(), "Hamming loss").layout.meta["best"] == "FIMS"  # smaller is better
    assert "smaller is better" in figures.patterns_compared(judged(), "Hamming loss").layout.xaxis.title.text


def test_scores_against_shares_are_means_beside_all_features():
    figure = figures.score_against_share(judged())
    lines = {trace.name: trace for trace in figure.data if trace.showlegend is not False}
    assert list(lines["FALS"].x) == [0.1, 0.5] and list(lines["FALS"].y) == pytest.approx([0.365, 0.405])
    assert list(lines["all features"].y) == [0.3, 0.3] and list(lines["all features"].x) == [0.1, 0.5]
    bands = [trace for trace in figure.data if trace.legendgroup == "FALS" and trace.showlegend is False]
    assert list(bands[0].y) == pytest.approx([0.37, 0.41]) and list(bands[1].y) == pytest.approx([0.36, 0.40])
    assert lines["FALS"].line.color == lines["FALS (lrp)"].line.color  # a variant has its method's colour
    assert lines["FALS"].line.dash != lines["FALS (lrp)"].line.dash
    methods = ["FALS", "FILS", "FAMS", "FIMS", "Random forest", "LASSO", "Chi-squared", "Mutual information"]
    every = pd.concat([judged().query("method == 'FIMS'").assign(method=method) for method in methods])
    looks = {(line.line.color, line.marker.symbol) for line in figures.score_against_share(every).data if line.name}
    assert len(looks) == len({color for color, _ in looks}) == len(methods)


def test_stability_boxes_have_a_point_per_label_and_chance():
    frame = pd.DataFrame({"name": ["a", "b"], "jaccard": [0.5, 0.7], "spearman": [-0.1, 0.9]})
    figure = figures.stability_boxes(frame, chance=0.05)
    assert {trace.name: list(trace.x) for trace in figure.data} == {"Jaccard": [0.5, 0.7], "Spearman": [-0.1, 0.9]}
    assert figure.layout.shapes[0].x0 == 0.05 and figure.layout.xaxis.range[0] < -0.1
    unknown = figures.stability_boxes(frame.assign(spearman=np.nan))
    assert [trace.name for trace in unknown.data] == ["Jaccard"]
    assert [trace.name for trace in figures.stability_boxes(frame.drop(columns="spearman")).data] == ["Jaccard"]


def test_methods_that_a_test_does_not_tell_apart_are_joined():
    names = ["FALS", "LASSO", "a <b>", "all features"]
    p = pd.DataFrame(1.0, index=names, columns=names)
    for (a, b), value in {("FALS", "LASSO"): 0.2, ("FALS", "a <b>"): 0.07, ("LASSO", "a <b>"): 0.01}.items():
        p.loc[a, b] = p.loc[b, a] = value
    p.loc["all features", :"a <b>"] = p.loc[:"a <b>", "all features"] = 0.0
    figure = figures.significance_diagram(*significance_graph(p))
    thick, pointed, thin, _, *nodes = figure.data
    assert len(thick.x) == len(thin.x) == 3 and thick.line.width > thin.line.width
    assert list(thick.x[:2]) == pytest.approx([0, 1]) and list(thick.y[:2]) == pytest.approx([1, 0])
    assert pointed.customdata[0] == "FALS and LASSO: p = 0.200"
    assert [node.text[0] for node in nodes] == ["FALS", "LASSO", "a &lt;b&gt;", "all features"]


def test_agreement_has_boxes_of_both_similarities_by_method():
    frame = pd.DataFrame({"a": "FALS", "b": ["FALS", "FALS (lrp)", "FALS (lrp)"], "jaccard": [0.7, 0.2, 0.3]})
    figure = figures.selections_agree(frame.assign(spearman=[0.8, -0.1, 0.1]))
    boxes = [(box.x.tolist(), box.y[0], box.xaxis) for box in figure.data]
    assert boxes == [([0.2, 0.3], 0, "x"), ([0.7], 1, "x"), ([-0.1, 0.1], 0, "x2"), ([0.8], 1, "x2")]
    assert figure.layout.title.text == "Agreement with FALS"


def test_networks_have_a_line_of_means_of_each_kind_and_of_its_time():
    frame = pd.DataFrame({"layers": [1, 2, 2, 2], "kind": ["relu"] * 3 + ["relu, H = D"], "measure": "one-error"})
    figure = figures.networks_compared(frame.assign(value=[0.5, 0.3, 0.4, 0.6], select_s=[1.0, 2, 4, 9]), "one-error")
    lines = [(line.name, list(line.x), list(line.y), line.yaxis) for line in figure.data]
    assert lines[:2] == [("relu", [1, 2], [0.5, 0.35], "y"), ("relu", [1, 2], [1.0, 3.0], "y2")]
    assert lines[2][:3] == ("relu, H = D", [2], [0.6]) and len(lines) == 4
    assert "smaller is better" in figure.layout.yaxis.title.text


def test_positive_gradients_are_percent_beside_how_rare_the_label_is():
    frame = pd.DataFrame({"name": ["a", "b"], "rows": [0.5, 0.01], "gradients": [0.6, 0.4]})
    (points,) = figures.positive_gradients(frame).data
    assert points.x.tolist() == [50, 1] and points.y.tolist() == [60, 40] and list(points.customdata) == ["a", "b"]
