import numpy as np
import pandas as pd
import pytest

from xmlcore import figures


def nodes(**columns):
    """A root with a split and a leaf below it; the split hides four nodes."""
    frame = pd.DataFrame(
        {
            "node": [0, 1, 2],
            "parent": [-1, 0, 0],
            "x": [0, 1, 1],
            "y": [0.5, 0.0, 1.0],
            "depth": [0, 1, 1],
            "kind": ["inner", "inner", "leaf"],
            "rows": [100, 60, 40],
            "hidden": [0, 4, 0],
            "purity": [0.3, 0.5, 0.9],
            "objective": [-0.5, -0.8, np.nan],
            "share_of_parent": [1.0, 0.6, 0.4],
            "labels": ["a 30 %", "a <b>x</b> 50 %, b 20 %", "b 90 %"],
            "name_1": ["a", "a <b>x</b>", "b"],
            "told_name": ["", "a <b>x</b>", "a label of a very long name"],
            "told": ["", "a <b>x</b> 50 %, before 30 %", "a label of a very long name 90 %, before 20 %"],
            "equation": ["−0.500 = ...", "", ""],
            "sent": ["60 % to 1 / 40 % to 2", "", ""],
        }
    )
    return frame.assign(**columns)


def points(figure):
    """Nodes drawn: {node: (marker's symbol, size, colour, text, hover)}."""
    found = {}
    for trace in figure.data:
        if trace.mode != "markers+text":
            continue
        for i, (node, hover) in enumerate(trace.customdata):
            color = trace.marker.color if isinstance(trace.marker.color, str) else trace.marker.color[i]
            found[int(node)] = (trace.marker.symbol, trace.marker.size[i], color, trace.text[i], hover)
    return found


def test_the_tree_draws_names_sizes_and_kinds_of_nodes_and_counts_what_is_hidden():
    figure = figures.tree(nodes(), total=7, title="Tree 1: 3 of 7 nodes")
    drawn = points(figure)
    assert [drawn[v][0] for v in (0, 1, 2)] == ["circle", "circle", "square"]
    assert drawn[0][1] > drawn[1][1] > drawn[2][1]
    assert [drawn[v][2] for v in (0, 1, 2)] == [0.3, 0.5, 0.9]
    assert drawn[0][3] == ""
    assert "<b>+4 nodes</b>" in drawn[1][3] and "+" not in drawn[2][3]
    assert figure.layout.meta == {"shown": 3, "total": 7}
    assert figure.layout.coloraxis.cmin == 0.3 and figure.layout.coloraxis.cmax == 0.9
    drawn = points(figures.tree(nodes()))
    assert "a &lt;b&gt;x&lt;/b&gt;" in drawn[1][3] and "a &lt;b&gt;x&lt;/b&gt; 50 %" in drawn[1][4]
    assert "a label of a very l…" in drawn[2][3]
    assert "most gained: a label of a very long name 90 %, before 20 %" in drawn[2][4].replace("<br>", ", ")
    assert "<b>leaf 2</b>, depth 1" in drawn[2][4] and "40 % of those of node 0" in drawn[2][4]
    assert "sends 60 % to 1 / 40 % to 2" in drawn[0][4] and "J = −0.500" in drawn[0][4]
    assert "4 nodes below it not drawn" in drawn[1][4]
    drawn = points(figures.tree(nodes(hidden=[5, 4, 0])))
    assert drawn[0][3] == "" and "5 nodes below it not drawn" in drawn[0][4]
    scales = {
        color: figures.tree(nodes(integrity=0.5), color=color, title="Tree 1").layout.coloraxis.reversescale
        for color in ("purity", "objective", "integrity")
    }
    assert scales == {"purity": False, "objective": True, "integrity": False}


def test_leaves_have_no_objective_and_are_grey_and_the_way_of_a_row_is_thick():
    figure = figures.tree(nodes(), "objective", color_range=(-2, 1))
    drawn = points(figure)
    assert drawn[1][2] == -0.8 and drawn[2][2] == "#8C8C8C"
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (-2, 1)
    one = figures.tree(nodes().iloc[[2]].assign(parent=-1), "objective")
    assert points(one)[2][2] == "#8C8C8C" and not one.layout.coloraxis.showscale
    figure = figures.tree(nodes(visited=[True, False, True]), chosen=2)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert sorted(line.line.width for line in lines) == [1.2, 3]
    thick = max(lines, key=lambda line: line.line.width)
    assert thick.y[3] == 1.0 and len(thick.x) == 5
    ring = next(trace for trace in figure.data if trace.mode == "markers")
    assert list(ring.x) == [1] and list(ring.y) == [1.0]
    drawn = points(figure)
    assert drawn[1][1] == 7 < drawn[2][1]
    assert "a &lt;b" not in drawn[1][3]  # what the row passes by is not named


def test_rows_of_a_label_make_edges_thicker_and_ends_say_their_share_and_company():
    label = {"visited": [True, True, False], "share_of_label": [1.0, 0.4, 0.0], "share_with_label": [0.1, 0.05, 0.0]}
    words = {"held": ["100 %", "40 %", "0 %"], "companion": ["b", "a name of many letters", "b"]}
    words["having"] = ["", "so", ""]
    figure = figures.tree(nodes(**label, **words), "share_with_label")
    widths = {trace.y[3]: trace.line.width for trace in figure.data if trace.mode == "lines"}
    assert widths[1.0] == 1.2 < widths[0.0] < 8
    whole = figures.tree(nodes(**{**label, "share_of_label": [1.0, 1.0, 0.0]}, **words), "share_with_label")
    assert {trace.y[3]: trace.line.width for trace in whole.data if trace.mode == "lines"}[0.0] == 8
    drawn = points(figure)
    assert drawn[1][3] == "  <b>40 %</b> a name of… <b>+4 nodes</b>" and "so" in drawn[1][4].split("<br>")
    assert drawn[0][3] == drawn[2][3] == ""
    assert "%" in figure.layout.coloraxis.colorbar.ticktext[0] and not figure.layout.coloraxis.reversescale


def test_leaf_depths_are_shares_beside_the_logarithms():
    frame = pd.DataFrame({"tree": [0, 0, 1], "depth": [2, 3, 3], "leaves": [1, 2, 1], "rows": [50, 30, 20]})
    figure = figures.leaf_depths(frame, n_labels=16, arity=2)
    leaves, rows = figure.data
    assert list(leaves.x) == [2, 3] and list(leaves.y) == [25, 75] and list(rows.y) == [50, 50]
    assert [shape.x0 for shape in figure.layout.shapes] == pytest.approx([4, 12])
    assert figure.layout.meta["deepest"] == 3 and figure.layout.meta["log"] == pytest.approx(4)
    assert figure.layout.xaxis.range[1] > 12


def test_objective_by_depth_draws_least_mean_and_greatest_of_one_part():
    lines = [("J", 1, -2.0, -1.0, 0.0, 2), ("J", 0, -1.0, -1.0, -1.0, 1), ("balance", 0, 0.0, 0.1, 0.2, 1)]
    frame = pd.DataFrame(lines, columns=["part", "depth", "least", "mean", "greatest", "nodes"])
    drawn = {trace.name: list(trace.y) for trace in figures.objective_by_depth(frame).data}
    assert drawn == {"greatest": [-1, 0], "least": [-1, -2], "mean": [-1, -1]}
    assert figures.objective_by_depth(frame, "balance").layout.yaxis.title.text == "Balance"


def test_objective_in_training_marks_what_the_split_came_to():
    parts = ("J", "balance", "class integrity", "multi-way")
    frame = pd.DataFrame(
        [(e, p, 0.1 * e, "training") for p in parts for e in (1, 2)] + [(2, p, 0.3, "split") for p in parts],
        columns=["epoch", "part", "value", "stage"],
    )
    figure = figures.objective_in_training(frame)
    shown = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert shown == ["J", "Balance", "Class integrity", "Multi-way"]
    assert all(list(t.y) == [0.3] for t in figure.data if t.mode == "markers")
    assert all(t.line.color == figures.OBJECTIVE_COLORS[t.legendgroup] for t in figure.data if t.mode != "markers")


def prefixes():
    rows = []
    for axis, trees, most, depth in (("n_trees", 1, 8, 3), ("n_trees", 2, 8, 4), ("max_nodes", 2, 1, 0)):
        rows += [(axis, trees, most, depth, m, k, 0.1 * trees) for m in ("P@k", "nDCG@k") for k in range(1, 6)]
    return pd.DataFrame(rows, columns=["axis", "n_trees", "max_nodes", "depth", "measure", "k", "value"])


def test_measures_of_prefixes_are_drawn_in_percent_with_the_whole_model_last_and_depth_on_an_axis():
    figure = figures.measures_of_prefixes(prefixes())
    assert [trace.name for trace in figure.data] == ["P@1", "P@3", "P@5", "nDCG@3", "nDCG@5"]  # nDCG@1 is P@1
    assert list(figure.data[0].x) == [1, 2] and list(figure.data[0].y) == pytest.approx([10, 20])
    assert list(figure.layout.xaxis.ticktext) == ["1", "2"]
    alone = figures.measures_of_prefixes(prefixes(), measures=("nDCG@k",))
    assert [trace.name for trace in alone.data] == ["nDCG@1", "nDCG@3", "nDCG@5"]
    figure = figures.measures_of_prefixes(prefixes(), "max_nodes")
    assert figure.data[-1].yaxis == "y2" and list(figure.data[-1].y) == [0]
    assert figure.layout.yaxis.title.text == "Percent" and figure.layout.yaxis2.title.text == "Depth"
    with pytest.raises(ValueError, match="n_trees or max_nodes"):
        figures.measures_of_prefixes(prefixes(), "depth")
