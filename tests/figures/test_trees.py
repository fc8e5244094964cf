"""Figures of decision trees, of label trees and of one node, and the contrast of their colours."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.figures.seen import contrast, rgb
from xmlcore import figures
from xmlcore.figures._style import GREEN


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
            "share_1": [0.3, 0.5, 0.9],
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


def test_a_tree_draws_names_sizes_and_counts_what_is_hidden():
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
    assert "a label of…long name" in drawn[2][3]
    assert "most gained: a label of a very long name 90 %, before 20 %" in drawn[2][4].replace("<br>", ", ")
    assert "<b>leaf 2</b>, depth 1" in drawn[2][4] and "40 % of those of node 0" in drawn[2][4]
    assert "sends 60 % to 1 / 40 % to 2" in drawn[0][4] and "J = −0.500" in drawn[0][4]
    assert "4 nodes below it not drawn" in drawn[1][4]
    drawn = points(figures.tree(nodes(hidden=[5, 4, 0])))
    assert drawn[0][3] == "" and "5 nodes below it not drawn" in drawn[0][4]
    scales = {
        color: figures.tree(nodes(integrity=0.5), color=color, title="Tree 1").layout.coloraxis.reversescale
        for color in ("share_1", "objective", "integrity")
    }
    assert scales == {"share_1": False, "objective": True, "integrity": False}


def test_leaves_without_j_are_grey_and_the_way_of_a_row_is_thick():
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
    assert ring.name == "Selected node" and ring.showlegend and figure.layout.showlegend
    drawn = points(figure)
    assert drawn[1][1] == 7 < drawn[2][1]
    assert "a &lt;b" not in drawn[1][3]  # what the row passes by is not named


def test_rows_of_a_label_make_edges_thicker():
    label = {"visited": [True, True, False], "share_of_label": [1.0, 0.4, 0.0], "share_with_label": [0.1, 0.05, 0.0]}
    words = {"held": ["100 %", "40 %", "0 %"], "companion": ["b", "a name of many letters", "b"]}
    words["having"] = ["", "so", ""]
    figure = figures.tree(nodes(**label, **words), "share_with_label")
    widths = {trace.y[3]: trace.line.width for trace in figure.data if trace.mode == "lines"}
    assert widths[1.0] == 1.2 < widths[0.0] < 8
    whole = figures.tree(nodes(**{**label, "share_of_label": [1.0, 1.0, 0.0]}, **words), "share_with_label")
    assert {trace.y[3]: trace.line.width for trace in whole.data if trace.mode == "lines"}[0.0] == 8
    drawn = points(figure)
    assert drawn[1][3] == "  <b>40 %</b> a nam…ters <b>+4 nodes</b>" and "so" in drawn[1][4].split("<br>")
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


def test_depths_over_labels_are_in_units_of_the_logarithm():
    columns = {"name": ["a", "b"], "group": ["published", "here"], "n_labels": [64, 16], "arity": [4, 2]}
    figure = figures.depths_over_labels(pd.DataFrame(columns | {"depth": [9, 48]}))
    assert [(trace.name, *trace.x, *trace.y) for trace in figure.data] == [("published", 64, 3), ("here", 16, 12)]
    assert [shape.y0 for shape in figure.layout.shapes] == [1, 3]


def test_j_by_depth_has_least_mean_and_greatest():
    lines = [("J", 1, -2.0, -1.0, 0.0, 2), ("J", 0, -1.0, -1.0, -1.0, 1), ("balance", 0, 0.0, 0.1, 0.2, 1)]
    frame = pd.DataFrame(lines, columns=["part", "depth", "least", "mean", "greatest", "nodes"])
    drawn = [list(trace.y) for trace in figures.objective_by_depth(frame).data]
    assert drawn == [[-1, 0], [-1, -2], [-1, -1]], "the ends of the band, and the mean"
    assert figures.objective_by_depth(frame, "balance").layout.yaxis.title.text == "Balance"


def test_j_in_training_has_a_line_with_a_band_for_each_depth():
    lines = [("J", d, e, -2.0 - d, -1.0 - d, 0.0, 2) for d in range(9) for e in (1, 2)]
    frame = pd.DataFrame(lines, columns=["part", "depth", "epoch", "least", "mean", "greatest", "nodes"])
    figure = figures.objective_at_depths(frame)
    drawn = {trace.name: list(trace.y) for trace in figure.data if trace.name}
    assert list(drawn) == ["root", *(f"depth {d}" for d in (2, 3, 5, 6, 8))] and drawn["depth 8"] == [-9, -9]
    bands = [(list(high.y), list(low.y)) for high, low in zip(figure.data[::3], figure.data[1::3])]
    assert bands[1] == ([0, 0], [-4, -4]) and figure.layout.meta["total"] == 9


def test_splits_stand_beside_the_bound_of_their_lemma():
    frame = pd.DataFrame(
        {"measure": ["alpha"] * 3 + ["beta"], "term": [2.0, 1.0, 3.0, 0.0], "value": [0.5, 0.2, 0.1, 0.0]}
    )
    frame = frame.assign(bound=[0.6, 0.1, np.nan, np.nan], tree=0, node=range(4))
    points, line = figures.lemma_bounds(frame).data
    assert list(points.x) == [1, 2, 3] and list(line.y)[:2] == [0.1, 0.6]
    assert figures.lemma_bounds(frame).layout.meta["above"] == 1
    assert len(figures.lemma_bounds(frame, "beta").data) == 1, "no line where no bound is stated"
    with pytest.raises(ValueError, match="alpha or beta"):
        figures.lemma_bounds(frame, "gamma")


def test_objective_in_training_marks_what_the_split_came_to():
    parts = ("J", "balance", "class integrity", "multi-way")
    frame = pd.DataFrame(
        [(e, p, 0.1 * e, "training") for p in parts for e in (1, 2)] + [(2, p, 0.3, "split") for p in parts],
        columns=["epoch", "part", "value", "stage"],
    )
    figure = figures.objective_in_training(frame)
    shown = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert shown == ["J", "open marks: the split", "Balance", "Class integrity", "Multi-way"]
    rings = {t.legendgroup: t.marker.size for t in figure.data if t.mode == "markers"}
    assert rings["J"] > rings["class integrity"], "seen around a part that it equals"
    assert all(list(t.y) == [0.3] for t in figure.data if t.mode == "markers")
    assert all(t.line.color == figures.OBJECTIVE_COLORS[t.legendgroup] for t in figure.data if t.mode != "markers")


def prefixes():
    rows = []
    for axis, trees, most, depth in (("n_trees", 1, 8, 3), ("n_trees", 2, 8, 4), ("max_nodes", 2, 1, 0)):
        rows += [(axis, trees, most, depth, m, k, 0.1 * trees) for m in ("P@k", "nDCG@k") for k in range(1, 6)]
    return pd.DataFrame(rows, columns=["axis", "n_trees", "max_nodes", "depth", "measure", "k", "value"])


def test_measures_of_prefixes_are_in_percent_beside_the_depth():
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


PAGES = tomllib.loads((Path(__file__).parents[2] / ".streamlit/config.toml").read_text())["theme"]


def test_figures_of_pages_and_of_notebooks_have_the_same_colors():
    assert PAGES["chartCategoricalColors"] == list(figures.PALETTE)


def children(**columns):
    lines = [(4, "a and 3 more", "inner", 120, 0.9), (5, "b <i>", "leaf", 30, 0.5), (9, "c", "leaf", 2, np.nan)]
    return pd.DataFrame(lines, columns=["node", "name", "kind", "rows", "auc"]).assign(**columns)


def features(groups):
    names = [f"word {i}" for i in range(len(groups))]
    return pd.DataFrame({"name": names, "weight": np.linspace(1, -1, len(groups)), "group": groups})


def laid_out(**columns):
    lines = [
        (0, -1, 0, 0, 100, "Root", 1000, np.nan), (1, 0, 1, 0, 60, "a <i> +59", 100, 0.9),
        (2, 0, 1, 60, 40, "b", 10, 0.5), (3, 1, 2, 0, 1, "c", 0, 0.7), (4, 1, 2, 1, 1, "d", 2, 0.8),
    ]  # fmt: skip
    names = ["node", "parent", "depth", "start", "n_labels", "name", "rows", "auc"]
    return pd.DataFrame(lines, columns=names).assign(**columns)


def test_bars_of_a_node_have_the_order_of_the_frame():
    figure = figures.node_bars(children(about="x"), "rows", axis="Training rows", title="Children", total=80)
    inner, leaf = figure.data
    assert list(inner.x) == [120] and list(inner.y) == [2] and list(leaf.x) == [30, 2] and list(leaf.y) == [1, 0]
    assert [point[0] for point in leaf.customdata] == [5, 9]
    assert leaf.customdata[0][1] == "<b>b &lt;i&gt;</b><br>Training rows: 30<br>x"
    assert list(figure.layout.yaxis.ticktext) == ["a and 3 more", "b &lt;i&gt;", "c"]
    assert figure.layout.meta == {"shown": 3, "total": 80} and figure.layout.showlegend
    figure = figures.node_bars(
        features(["for it", "for it", "against it"]), "weight", "group", axis="Weight", title="Words", total=9
    )
    assert [trace.name for trace in figure.data] == ["for it", "against it"]
    assert len({trace.marker.color for trace in figure.data}) == 2
    assert figure.layout.meta == {"shown": 3, "total": 9}


def test_unknown_numbers_of_nodes_are_said_to_be_unknown():
    figure = figures.node_bars(children(), "auc", axis="AUC")
    assert [text for trace in figure.data for text in trace.text] == ["0.9", "0.5", "unknown"]
    assert list(figure.data[1].x) == [0.5, 0] and figure.layout.xaxis.range[1] == pytest.approx(1.08)
    alone = figures.node_bars(children().iloc[[2]], "auc", axis="AUC")
    assert list(alone.data[0].text) == ["unknown"] and not alone.layout.showlegend


# --- contrast


def opaque(color, page):
    """The colour as it is seen on a page."""
    if color.startswith("#"):
        return rgb(color)
    *parts, opacity = [float(number) for number in re.findall(r"[\d.]+", color)]
    return opacity * np.array(parts) + (1 - opacity) * rgb(page)


def colors_of(figure):
    """All colours of marks and lines of a figure, and many along its colour scale; invisible ones are left out."""
    found = []
    for trace in figure.data:
        opacity = trace.marker.opacity or (
            0.7 if np.ndim(getattr(trace.marker, "size", 0)) else 1
        )  # what Plotly takes by default
        assert opacity * (trace.opacity or 1) == 1
        found += [trace.marker.color, trace.marker.line.color, getattr(trace, "line", None) and trace.line.color]
    found += [shape.line.color for shape in figure.layout.shapes if shape.line.color != "#FFFFFF"]  # below green dots
    scale = figure.layout.coloraxis.colorscale or ()
    places, ends = [at for at, _ in scale], [rgb(color) for _, color in scale]
    for at in np.linspace(0, 1, 60) if scale else ():
        mixed = [int(round(np.interp(at, places, [end[i] for end in ends]))) for i in range(3)]
        found.append("#{:02x}{:02x}{:02x}".format(*mixed))
    return {color for color in found if isinstance(color, str) and color != "rgba(0,0,0,0)"}


def drawings():
    tree = nodes(kind=["inner", "leaf", "leaf"], hidden=0, share_1=[0.3, 0.9, np.nan], visited=[True, True, False])
    path = pd.DataFrame({"tree": 0, "depth": [1, 2], "node": [1, 2], "margin": [0.5, 0.1], "factor": [0.6, 0.5]})
    depths = pd.DataFrame({"depth": [1, 2], "leaves": [1, 2], "rows": [5, 4]})
    parts = pd.DataFrame(
        [(part, 0, 0.0, 0.1, 0.2, 1) for part in figures.OBJECTIVE_COLORS],
        columns=["part", "depth", "least", "mean", "greatest", "nodes"],
    )
    eight = features([f"to node {c}" for c in range(8)])
    return {
        "tree": figures.tree(tree, chosen=1),
        "children": figures.node_bars(children(), "rows", axis="Rows"),
        "label tree": figures.label_tree(laid_out(), "auc", axis="AUC", chosen=1, path=[0, 1]),
        "features": figures.node_bars(eight, "weight", "group", axis="Weight", title="Words"),
        "path": figures.path_products(path),
        "depths": figures.leaf_depths(depths, 16, 2),
        "training": figures.objective_at_depths(parts.assign(epoch=1)),
        "lemma": figures.lemma_bounds(
            pd.DataFrame({"measure": ["beta"], "term": 1, "value": 1, "bound": 1, "tree": 0, "node": 1}), "beta"
        ),
        **{f"objective: {part}": figures.objective_by_depth(parts, part) for part in figures.OBJECTIVE_COLORS},
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marks_of_figures_of_trees_have_a_contrast_of_three(theme):
    page = PAGES[theme]["backgroundColor"]
    for name, figure in drawings().items():
        if name in ("tree", "label tree"):
            figure.layout.coloraxis = None  # their marks have an edge of such a contrast
        found = {color: contrast(opaque(color, page), rgb(page)) for color in colors_of(figure)}
        assert found and {color: ratio for color, ratio in found.items() if ratio < 3} == {}, name


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_a_contrast_of_four_and_a_half(theme):
    """Texts in figures have the page's ink with an opacity of 0.75: no figure of a tree gives them another colour."""
    from pages.shared.operator.entrance import STYLE

    opacity = min(map(float, re.findall(r"fill-opacity: ([\d.]+)", STYLE)))
    page = rgb(PAGES[theme]["backgroundColor"])
    assert contrast(opacity * rgb(PAGES[theme]["textColor"]) + (1 - opacity) * page, page) >= 4.5
    assert """:not([style*="255, 255, 255"],""" in STYLE and """[style*="(0, 0, 0)"]""" in STYLE, "of label trees"
    for name, figure in drawings().items():
        colors = {color for trace in figure.data for color in np.atleast_1d(trace.textfont.color)} - {None}
        assert not colors or name == "label tree", "whose names are within bars: see the next test"
        assert all(note.font.color is None for note in figure.layout.annotations)


def test_names_within_bars_of_a_label_tree_are_legible():
    rows = [*range(100), np.nan]
    frame = pd.DataFrame({"node": range(101), "parent": -1, "depth": 0, "start": range(101), "n_labels": 1})
    _, bars = figures.label_tree(
        frame.assign(name="x", rows=rows, n_labels=[1] * 100 + [2]).iloc[::-1], "rows", axis=""
    ).data
    inks = {"white": "#ffffff", "black": "#000000"}
    ratios = [
        contrast(rgb(inks[ink]), rgb(fill)) for ink, fill in zip(bars.textfont.color, bars.marker.color) if ink in inks
    ]
    assert len(ratios) == 100 and min(ratios) >= 4.5


def test_bars_of_a_label_tree_are_as_wide_as_their_labels():
    figure = figures.label_tree(laid_out(about="x"), "rows", axis="Training rows", log=True, chosen=3, total=9)
    scale, bars = figure.data
    assert scale.x == (None,) and scale.marker.coloraxis == "coloraxis", "for the colour bar"
    assert list(bars.base) == [0, 0, 60, 0, 1] and list(bars.x) == [100, 60, 40, 1, 1]
    assert list(bars.y) == [0, 1, 1, 2, 2] and [point[0] for point in bars.customdata] == [0, 1, 2, 3, 4]
    # Plotly warns of each bar whose colour is a number. The root has none; from large to small: dark, then light.
    assert list(bars.marker.color)[:2] + [bars.marker.color[3]] == ["rgba(0,0,0,0)", "#1b5a94", "#b9d4ec"]
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (np.log10(0.5), 2)
    assert list(bars.text) == ["Root", "a &lt;i&gt; +59", "b", "", ""]  # single labels are too narrow for a name
    assert bars.customdata[1][1] == "<b>a &lt;i&gt; +59</b><br>Training rows: 100<br>x"
    outlined = [(shape.y0 + 0.43, shape.x1 - shape.x0, shape.line.width) for shape in figure.layout.shapes]
    np.testing.assert_allclose(outlined, [(2, 1, 3), (1, 60, 1.5), (0, 100, 1.5)])
    assert figure.layout.meta == {"shown": 5, "total": 9} and figure.layout.uniformtext.mode == "hide"


def fan(n_children):
    names = ["Root", *(f"a long name of the label {i}" for i in range(n_children))]
    frame = pd.DataFrame({"node": range(n_children + 1), "parent": [-1] + n_children * [0], "name": names, "rows": 1})
    return frame.assign(
        depth=[0] + n_children * [1], start=[0, *range(n_children)], n_labels=[n_children] + n_children * [1]
    )


def test_names_on_narrow_bars_are_written_upwards():
    frame = fan(50)
    _, wide, narrow = figures.label_tree(frame, "rows", axis="Training rows").data
    assert (wide.textangle, list(wide.text)) == (0, ["Root"]) and narrow.textangle == -90
    assert len(narrow.text) == 50 and narrow.text[49] == "a long n…label 49"
    assert wide.width[0] < 0.3 < narrow.width[0] and wide.y[0] + wide.width[0] / 2 == pytest.approx(0.43)
    rows = figures.label_tree(frame.assign(rows=np.linspace(60, 1100, 51)), "rows", axis="Training rows", log=True)
    assert rows.layout.coloraxis.colorbar.ticktext == ("100", "300", "1,000"), "two numbers would not show a log scale"
    assert rows.layout.yaxis.ticktext == ("Depth 0", "Depth 1")
    deep = figures.label_tree(frame.assign(depth=[0] + 50 * [9]), "rows", axis="Training rows")
    assert [bars.textangle for bars in deep.data[1:]] == [0], "bars of a tree with many levels are low"


def test_nodes_of_a_label_tree_without_a_value_are_grey():
    figure = figures.label_tree(laid_out(), "auc", axis="AUC", percent=True)
    _, bars = figure.data
    assert "AUC: unknown" in bars.customdata[0][1] and bars.marker.color[0] == "rgba(0,0,0,0)", "the root"
    assert "AUC: 90.0 %" in bars.customdata[1][1] and figure.layout.coloraxis.cmin == 0.5
    _, bars = figures.label_tree(laid_out(auc=[0.9, 0.9, np.nan, 0.5, 0.5]), "auc", axis="AUC", percent=True).data
    assert bars.marker.color[2] == "#6E6E6E" and "AUC: unknown" in bars.customdata[2][1]
    alone = figures.label_tree(laid_out().iloc[[0]], "auc", axis="AUC", percent=True)
    assert not alone.layout.coloraxis.showscale and not alone.layout.shapes


def test_the_path_to_a_label_is_dotted_and_ends_at_a_triangle():
    figure = figures.label_tree(laid_out(), "rows", axis="Training rows", chosen=2, path=[0, 1, 4])
    dotted = [(one.x0, one.x1) for one in figure.layout.shapes if one.line.dash == "dot"]
    assert dotted == [(0, 100), (0, 60), (1, 2)] and len(figure.layout.shapes) == 8
    at_root = figures.label_tree(laid_out(), "rows", axis="Training rows", chosen=0, path=[0, 1, 4]).layout.shapes
    assert [one.name for one in at_root if one.x1 == 100] == ["Selected node"], "one outline on each edge"
    assert [one.line.color for one in at_root if one.x1 == 2] == ["#FFFFFF", GREEN], "seen on dark and on light bars"
    named = [shape.name for shape in figure.layout.shapes if shape.showlegend]
    assert named == ["Selected node", "Path to the label"]
    end = figure.data[-1]
    assert (end.x[0], end.marker.symbol, end.customdata[0][0]) == (1.5, "triangle-up", 4)
    assert 2.43 < end.y[0] < figure.layout.yaxis.range[0]
    above = figures.label_tree(laid_out().iloc[:3], "rows", axis="Training rows", path=[0, 1, 4])
    assert len(above.layout.shapes) == 4 and above.data[-1].type == "bar"  # the end is not in this part
