"""Figures of data sets and what all figures have."""

import inspect

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import scipy.sparse as sp

from tests.figures.seen import contrast, rgb
from xmlcore import figures
from xmlcore.datasets import together
from xmlcore.figures._runs import model_styles


def labels(counts, **columns):
    counts = np.asarray(counts)
    return pd.DataFrame({"n_train": counts, "name": [f"l{j}" for j in range(counts.size)], **columns})


def curve(figure):
    trace = figure.data[0]
    return np.asarray(trace.x), np.asarray(trace.y)


def test_label_frequencies_are_on_log_axes_most_frequent_first():
    figure = figures.label_frequency(labels([3, 10, 1]))
    x, y = curve(figure)
    assert x.tolist() == [1, 2, 3]
    assert y.tolist() == [10, 3, 1]
    assert figure.data[0].customdata.tolist() == ["l1", "l0", "l2"]
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert figure.layout.meta == {"shown": 3, "total": 3, "without_rows": 0}
    marks = {n: figures.label_frequency(labels(np.arange(n) + 1)).data[0].mode for n in (200, 201)}
    assert marks == {200: "lines+markers", 201: "lines"}
    figure = figures.label_frequency(labels([0, 5, 0, 2]))
    assert curve(figure)[1].tolist() == [5, 2]
    assert figure.layout.meta["without_rows"] == 2
    assert figures.label_frequency(labels([0, 0])).layout.meta["shown"] == 0
    assert figures.label_frequency(labels([])).layout.meta["total"] == 0


def test_many_label_frequencies_are_thinned():
    rng = np.random.default_rng(0)
    counts = np.sort(rng.zipf(1.6, 60_000).clip(max=5_000))[::-1]
    figure = figures.label_frequency(labels(counts))
    x, y = curve(figure)
    assert x.size <= 5_000
    assert figure.layout.meta["shown"] == x.size
    assert figure.layout.meta["total"] == 60_000
    between = np.interp(np.arange(1, 60_001), x, y)
    assert np.abs(between - counts).max() < 1e-9
    figure = figures.label_frequency(labels(np.arange(40_000, 0, -1)))
    x, y = curve(figure)
    assert 1_000 < x.size <= 5_002
    assert (x[0], x[-1]) == (1, 40_000)
    assert np.all(np.diff(x) > 0)


def test_head_torso_and_tail_are_coloured_and_counted():
    buckets = ["head", "torso", "torso", "tail", "tail", "tail"]
    figure = figures.label_frequency(labels([9, 5, 1, 1, 1, 0], bucket=buckets))
    assert [line.name for line in figure.data] == ["head: 1 label", "torso: 2 labels", "tail: 3 labels"]
    assert [line.line.color for line in figure.data] == [
        figures.BUCKET_COLORS[bucket] for bucket in dict.fromkeys(buckets)
    ]
    assert [list(line.x) for line in figure.data] == [[1], [2, 3], [4, 5]]
    assert figure.layout.meta["without_rows"] == 1
    alike = figures.label_frequency(labels(np.ones(9000), bucket=np.repeat(["torso", "tail"], [4000, 5000])))
    assert [(line.x[0], line.x[-1]) for line in alike.data] == [(1, 4000), (4001, 9000)]


@pytest.mark.parametrize("most", [(1, 3), (3, 9), (30, 100), (41, 59), (11, 2300), (1, 40_000), (105, 500)])
def test_a_log_axis_of_counts_has_three_whole_numbers_at_least(most):
    figure = figures.label_frequency(labels(most))
    axis = figure.layout.yaxis
    low, high = 10 ** np.array(axis.range)
    seen = [int(text.replace(",", "")) for text in axis.ticktext]
    assert seen == list(axis.tickvals) and all(low <= tick <= high for tick in seen)
    assert 3 <= len(seen) <= 8


def test_labels_and_features_per_row_are_shares_of_each_part():
    frame = pd.DataFrame({"part": ["training", "training", "test"], "labels": [0, 2, 2], "rows": [1, 3, 5]})
    figure = figures.per_row(frame)
    assert [bar.name for bar in figure.data] == ["training (4 rows)", "test (5 rows)"]
    assert figure.data[0].y.tolist() == [25, 75]
    assert figure.data[1].y.tolist() == [100]
    assert figure.layout.yaxis.range == (0, 100)  # more cannot be
    assert figure.layout.legend.y is None  # below, as in all figures: above the bars it covers the title on a phone
    assert figure.data[0].marker.color == figures.PART_COLORS["training"]
    counts = {"rows": [3, 1], "part": ["training", "test"]}
    figure = figures.per_row(pd.DataFrame({"features": [2, 4], **counts}), "features")
    labels = figures.per_row(pd.DataFrame({"labels": [2, 4], **counts}))
    assert [list(bar.y) for bar in figure.data] == [list(bar.y) for bar in labels.data] == [[100], [100]]
    assert (figure.layout.title.text, figure.layout.xaxis.title.text) == ("Features per row", "Features of a row")
    assert "features" in figure.data[0].hovertemplate


def test_many_numbers_of_labels_share_bars():
    counts = np.arange(1, 101)
    frame = pd.DataFrame({"part": "training", "labels": counts, "rows": np.where(counts <= 40, 200, 1)})
    figure = figures.per_row(frame)  # 8,000 rows have up to 40 labels, 60 rows have more
    bar, axis = figure.data[0], figure.layout.xaxis
    assert len(bar.x) <= 25 and sum(n for n, _ in bar.customdata) == 8060 and sum(bar.y) == pytest.approx(100)
    assert (figure.layout.meta["width"], figure.layout.meta["last"]) == (2, 42)
    assert [text for _, text in bar.customdata][:2] == ["0–1", "2–3"] and bar.customdata[-1][1] == "42 or more"
    assert bar.customdata[-1][0] == 59 and axis.ticktext[-1] == "≥ 42" and len(axis.ticktext) <= 8
    assert axis.ticktext[0] == "0–1", "the first bar has a number, too"
    assert list(axis.tickvals) == sorted(axis.tickvals)
    figure = figures.per_row(pd.DataFrame({"labels": np.arange(25), "rows": 1}))
    assert list(figure.data[0].x) == list(range(25))
    assert (figure.layout.meta["width"], figure.layout.meta["last"]) == (1, None)
    figure = figures.per_row(pd.DataFrame({"labels": [1], "rows": [2]}))
    assert figure.layout.xaxis.range == (-0.5, 4.5)
    assert figure.data[0].name == "training (2 rows)"
    assert figures.per_row(pd.DataFrame({"labels": [1], "rows": [1]})).data[0].name == "training (1 row)"
    assert figures.per_row(pd.DataFrame({"labels": [0, 30], "rows": [2, 1]})).layout.xaxis.range is None


def test_measures_are_percent_with_their_own_colour_and_mark():
    frame = pd.DataFrame({"measure": ["P@k", "P@k", "R@k", "own"], "k": [2, 1, 1, 1], "value": [0.25, 0.5, 0.125, 1.0]})
    figure = figures.measures_at_k(frame)
    assert [line.name for line in figure.data] == ["P@k", "R@k", "own"]
    assert figure.data[0].x.tolist() == [1, 2]
    assert figure.data[0].y.tolist() == [50, 25]
    assert figure.data[0].line.color == figures.MEASURE_COLORS["P@k"]
    assert len({line.line.dash for line in figure.data}) == len(figure.data), "shades alone are hard to tell apart"
    assert [line.visible for line in figure.data] == [True, "legendonly", "legendonly"]


REQUIRED = {"difference": 1.0, "value": "a", "group": "b", "axis": "c", "title": "d", "n_labels": 1, "n_features": 1}
REQUIRED |= {"arity": 2, "color": "e", "measure": "P@1", "parameters": {"C": "C"}, "k": 1}
REQUIRED |= {"costs": {"s": "Seconds"}, "measures": ["P@1"], "name_of": str}


def draws_frame(public):
    return inspect.isfunction(public) and next(iter(inspect.signature(public).parameters), "") in ("frame", "trials")


@pytest.mark.parametrize("draw", [draw for draw in map(figures.__dict__.get, figures.__all__) if draws_frame(draw)])
def test_frames_without_what_is_drawn_are_refused_by_name(draw):
    _, *others = inspect.signature(draw).parameters.values()
    given = {one.name: REQUIRED[one.name] for one in others if one.default is one.empty}
    with pytest.raises(ValueError, match="needs the column"):
        draw(pd.DataFrame({"x": [1]}), **given)
    for wrong in ({"x": [1]}, 3, None, object()):
        with pytest.raises(
            ValueError, match=f"{draw.__name__} takes a DataFrame with .*, not a {type(wrong).__name__}"
        ):
            draw(wrong, **given)


def test_a_figure_has_template_titles_and_an_offline_page():
    figure = figures.per_row(pd.DataFrame({"labels": [1], "rows": [2]}))
    assert isinstance(figure, go.Figure)
    assert figure.layout.template.layout.colorway == figures.PALETTE
    assert figure.layout.title.text and figure.layout.xaxis.title.text and figure.layout.yaxis.title.text
    page = figure.to_html(include_plotlyjs=True)
    assert '<script src="http' not in page and len(page) > 1_000_000


def test_colours_are_told_apart():
    of_models = {name: color for name, (color, _) in model_styles().items()}
    for colors in (of_models, figures.PART_COLORS, figures.BUCKET_COLORS):
        assert len(set(colors.values())) == len(colors)
        assert set(colors.values()) <= set(figures.PALETTE)
    assert len(set(figures.MEASURE_COLORS.values())) == len(figures.MEASURE_COLORS)
    frame = pd.DataFrame({"bucket": ["head"], "n_labels": 1, "never_right": 0, "rows": 1, "recall": 0.5})
    by_bucket = figures.labels_by_bucket(frame.assign(precision=0.5, macro_f1=0.5), 5)
    shades = [bars.marker.color for bars in by_bucket.data] + list(figures.MEASURE_COLORS.values())
    assert not {*shades} & {*figures.PALETTE} and all(bars.marker.pattern.shape is None for bars in by_bucket.data)


def test_trials_are_named_by_what_differs_and_drawn_in_percent():
    def named(line):
        return [name.replace("\u00a0", " ") for name in line.y]

    measured = {"C": [2.0, 0.5], "P@1": [0.5, 0.625], "P@3": [0.4, 0.5], "P@5": [0.3, 0.4]}
    of_one_level = figures.trials(pd.DataFrame(measured))
    assert [named(line) for line in of_one_level.data] == [["1: C = 2", "2: C = 0.5"]] * 3
    assert list(of_one_level.data[0].x) == [50.0, 62.5]
    chosen = figures.trials(pd.DataFrame(measured), 1).data[0]
    assert named(chosen) == ["1: C = 2", "<b>2: C = 0.5 (chosen)</b>"]
    close = {measure: [value, value + 0.02] for measure, value in (("P@1", 0.55), ("P@3", 0.3), ("P@5", 0.2))}
    ranges = [axis.range for axis in figures.trials(pd.DataFrame({"C": [2.0, 0.5], **close})).select_xaxes()]
    assert all(0.3 < 2 / (high - low) < 0.5 for low, high in ranges), "trials are told apart, near as they are"
    assert [low < 100 * close[measure][0] < high - 2 for measure, (low, high) in zip(close, ranges)] == [True] * 3
    assert of_one_level.layout.yaxis.autorange == "reversed", "names stand one below another, the first on top"
    trees = pd.DataFrame(measured | {"arity": [2, 16], "max_leaf_labels": [100, 1200], "loss": ["logistic"] * 2})
    of_trees = figures.trials(trees)
    assert named(of_trees.data[0]) == ["1: arity 2, ≤ 100 per leaf, C = 2", "2: arity 16, ≤ 1,200 per leaf,<br>C = 0.5"]
    assert of_trees.data[0].customdata[1].startswith("arity 16, ≤ 1,200 per leaf, logistic")
    of_two_samples = figures.trials(trees.assign(rows=[500, 600], labels=[900, 100]))
    named_samples = [name.partition("</b>")[0] for name in named(of_two_samples.data[0])]
    assert named_samples == ["<b>on 500 rows of 900 labels", "<b>on 600 rows of 100 labels"], (
        "beside points, not on one"
    )
    assert [line.y0 for line in of_two_samples.layout.shapes] == [-0.5, 0.5]
    assert not of_trees.layout.shapes, "one sample needs no line"
    scaled = figures.trials(trees.assign(normalize=["rows of length 1", "standardised columns"], labels=50))
    assert named(scaled.data[0])[0] == "1: C = 2, rows of length 1", "both trees have one level"
    assert type(scaled.layout.height) is int, "Streamlit takes no other height"
    assert [points.name for points in of_two_samples.data] == ["P@1", "P@3", "P@5"]
    assert of_two_samples.data[0].customdata[1].endswith("on 600 rows of 100 labels")


def pairs(n=6, rows=200, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.random((rows, n)) < 0.2
    Y[:, 3] |= Y[:, 0]
    frame = together(sp.csr_array(Y), range(n))
    names = [f"label <{j}>" for j in range(n)]
    return frame.assign(
        first_name=[names[j] for j in frame["first"]], second_name=[names[j] for j in frame["second"]]
    ), Y


def test_a_cell_is_the_share_of_rows_that_have_both_labels():
    frame, Y = pairs()
    figure = figures.cooccurrence_heat(frame)
    order = frame.drop_duplicates("first")["first"].tolist()
    values = np.array(figure.data[0].z)
    i, j = order.index(0), order.index(3)
    assert values[i, j] == 1 and values[j, i] == pytest.approx(Y[:, 0].sum() / Y[:, 3].sum())
    assert np.isnan(values.diagonal()).all()
    assert "&lt;0&gt;" in figure.data[0].customdata[i, j]
    assert abs(i - j) == 1, "labels that go together stand beside each other"
    frame = pd.DataFrame({"first": [0, 1], "second": [1, 0], "n_first": [250, 1000], "n_both": 132})
    bar = figures.cooccurrence_heat(frame.assign(first_name=["a", "b"], second_name="c")).layout.coloraxis.colorbar
    assert list(bar.ticktext) == ["0 %", "20 %", "40 %"], "round, and below the largest, 52.8 %"


def test_a_map_of_sizes_has_groups_and_nothing_of_size_0():
    frame = pd.DataFrame({"name": ["a", "<b>", "c", "d"], "group": ["x", "y", "x", "y"], "size": [3.0, 2.0, 4.0, 0.0]})
    trace = figures.treemap(frame, "Sizes").data[0]
    assert list(trace.labels) == ["x", "y", "c", "a", "&lt;b&gt;"] and list(trace.values) == [7.0, 2.0, 4.0, 3.0, 2.0]
    assert all("%{value" in text for text in trace.texttemplate[2:]), "the size is written on each that has room"
    assert list(trace.parents) == ["", "", "group x", "group x", "group y"]


def test_groups_of_a_map_of_sizes_are_in_the_legend_with_colours():
    frame = pd.DataFrame({"name": ["a", "b"], "group": ["large", "<small>"], "size": [999.0, 1.0]})
    figure = figures.treemap(frame, "Sizes")
    trace, *marks = figure.data
    named = [(mark.name, mark.marker.color) for mark in marks]
    assert named == [*zip(["large", "&lt;small&gt;"], trace.marker.colors)] and figure.layout.showlegend
    assert list(trace.texttemplate[:2]) == ["", ""], "their names take no room from what is in them"
    frame = pd.DataFrame({"name": list("abcdefgh"), "group": list("stuvwxyz"), "size": np.arange(8.0, 0.0, -1.0)})
    trace, *marks = figures.treemap(frame, "Sizes").data
    assert [mark.name for mark in marks] == [*"stuvwx", "other"] and len({mark.marker.color for mark in marks}) == 7
    assert list(trace.parents[7:]) == [*map("group {}".format, "stuvwx"), "group other", "group other"]
    inks = {"white": "#FFFFFF", "black": "#000000"}
    colors = set(zip(trace.marker.colors, trace.textfont.color))
    assert len(colors) == 7 and all(contrast(rgb(fill), rgb(inks[text])) >= 4.5 for fill, text in colors), "legible"
    _, *marks = figures.treemap(frame.assign(group=list("tsssuuuu")), "Sizes").data
    assert [mark.name for mark in marks] == ["s", "u", "t"], "the largest sum first"
    for left in (frame, frame[1:]):
        _, *marks = figures.treemap(left, "Sizes", groups=["s", "t", "z"]).data
        colors = {mark.name: mark.marker.color for mark in marks}
        assert colors["t"] == figures.PALETTE[1] and colors["z"] == figures.PALETTE[2], "also after a deletion"


def test_names_in_a_map_of_sizes_are_cut_to_their_box():
    frame = pd.DataFrame({"name": ["immunoassays"] * 2, "group": ["head", "tail"], "size": [99, 1]})
    figure = figures.treemap(frame, "Sizes", unit="rows")
    trace = figure.data[0]
    assert list(trace.labels[2:]) == ["immunoassays", "imm…ays"] and figure.layout.title.text == "Sizes (rows)"
    short = figures.treemap(frame.assign(name=["ab", "label 1234"]), "Sizes").data[0]
    assert short.labels[3] == "label<br>1234", "whole where a few lines have room"
    assert list(trace.hovertext[2:]) == ["immunoassays"] * 2 and "%{hovertext}" in trace.hovertemplate
    assert list(trace.marker.colors[:2]) == [figures.BUCKET_COLORS[part] for part in ("head", "tail")]


def test_a_map_leaves_out_the_beginning_of_all_names():
    frame = pd.DataFrame({"name": ["TAG_<apob>", "TAG_ontology"], "group": ["head", "tail"], "size": [199, 1]})
    figure = figures.treemap(frame, "Labels", unit="rows")
    trace = figure.data[0]
    assert list(trace.labels[2:]) == ["&lt;apob&gt;", "ontology"]
    assert figure.layout.title.text == "Labels (rows, names without TAG_)" and trace.hovertext[3] == "TAG_ontology"
    assert ["%{value" in text for text in trace.texttemplate[2:]] == [True, False]
    few_numbers = figures.treemap(frame.assign(name=["TAG_2006", "TAG_ontology"]), "Labels").data[0]
    assert list(few_numbers.labels[2:]) == ["2006", "ontology"]
    for names in (["label 1", "label 22"], ["TAG_1", "TAG_22"], ["tan", "tap"], ["a_", "a_b"], ["only one", "other"]):
        drawn = figures.treemap(frame.assign(name=names), "Labels")
        assert list(drawn.data[0].hovertext[2:]) == names and drawn.layout.title.text == "Labels"


def test_confused_pairs_are_squares_with_their_swaps():
    frame = pd.DataFrame({"missed": [3, 1, 3, 7], "wrong": [1, 3, 2, 9], "swaps": [8.0, 2.0, 0.5, 0.1]})
    frame = frame.assign(
        rows=[9, 12, 1, 1], n_missed=20, missed_name=frame["missed"].map("a <b> {}".format), wrong_name="same"
    )
    figure = figures.confusions(frame, total=50, most=2)
    (squares,) = figure.data
    assert list(zip(squares.y, squares.x)) == [(0, 0), (1, 1)] and figure.layout.meta == {"shown": 2, "total": 50}
    assert list(squares.text) == ["8.0", "2.0"] and figure.layout.title.text == "Predicted instead, swaps"
    (of_many,) = figures.confusions(frame.assign(swaps=frame["swaps"] + 4.2), most=2).data
    assert list(of_many.text) == ["12", "6"], "as many decimals for all"
    strong, faint = (float(color.rpartition(",")[2][:-1]) for color in squares.marker.color)
    assert strong == pytest.approx(0.6) and strong > faint > 0.1, "a number is read on both"
    assert [at for at, _ in squares.customdata] == [0, 1] and "a &lt;b&gt; 3" in squares.customdata[0][1]
    assert list(figure.layout.yaxis.ticktext) == ["a &lt;b&gt; 3", "a &lt;b&gt; 1"]
    assert len(figures.confusions(frame).data[0].x) == 4 and len(figures.confusions(frame.head(0)).data[0].x) == 0
