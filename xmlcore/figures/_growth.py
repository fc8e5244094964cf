"""Lines over the depth, the size or the training of trees, and along the path of a row in them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from xmlcore.figures import _style as ink
from xmlcore.figures._axes import spaced_log_axis, whole_axis
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._names import short, signed
from xmlcore.figures._style import Figure, need_columns
from xmlcore.wording import probability, score

OBJECTIVE_COLORS = {"J": ink.BLUE, "balance": ink.VERMILION, "class integrity": ink.GREEN, "multi-way": ink.PURPLE}
OBJECTIVE_MARKS = {"J": "circle", "balance": "square", "class integrity": "diamond", "multi-way": "triangle-up"}
DEPTH_DASHES = ("solid", "dash", "dot")
DASHES = {1: "solid", 3: "dash", 5: "dot"}  # dash of the line of a measure at k
# Parameter that is varied -> the title of the figure, of its axis, and the unit.
SIZES = {
    "n_trees": ("More trees", "Trees", "trees"),
    "max_nodes": ("Larger trees", "Largest number of nodes in a tree, T_max", "nodes"),
}
DEPTH_COLORS = (ink.BLUE, ink.VERMILION, ink.GREEN, ink.PURPLE, ink.VIOLET, ink.GREY)  # as many depths are drawn
MOST_SPLITS = 3000  # largest number of splits that are drawn as points
LEMMAS = {  # column of splits -> its axis, that of the part of J which bounds it, and the number of the lemma
    "beta": ("β, imbalance", "J − J<sub>purity</sub>, the balancing term", 3),
    "alpha": ("α, impurity", "J − J<sub>balance</sub>, the purity term", 4),
}
MOST_PATHS = 30  # largest number of paths (from roots to leaves) that are drawn
MANY = {"size": 4, "width": 1.2, "opacity": 0.45}  # how each looks where there are several


def leaf_depths(frame: pd.DataFrame, n_labels: int, arity: int, title: str = "Depth of the leaves") -> Figure:
    """Draw the shares of leaves and of training rows at each depth, with log_M L and 3 log_M L marked.

    {Parameters: frame}
        Columns ``depth``, ``leaves``, ``rows``; rows of the frame with the same depth are added up.
        :func:`xmlcore.models.ldsm.frames.depth_frame` gives it.
    n_labels, arity : int
        L and M.
    {titled_figure}
        ``layout.meta`` adds ``deepest`` (the largest depth) and ``log`` (log_M L).
    """
    need_columns(frame, ["depth", "leaves", "rows"], "leaf_depths", n_labels=n_labels, arity=arity)
    sums = frame.groupby("depth")[["leaves", "rows"]].sum()
    log = math.log(max(n_labels, 1)) / math.log(arity)
    deepest = int(sums.index.max())
    figure = Drawing(title, sums, deepest=deepest, log=log)
    for column, color, name in (("leaves", ink.BLUE, "of the leaves"), ("rows", ink.VERMILION, "of the training rows")):
        share, hover = 100 * sums[column] / sums[column].sum(), f"depth %{{x}}: %{{y:.1f}} % {name} (%{{customdata:,}})"
        figure.upright(sums.index, share, name, color, hover, customdata=sums[column])
    for place, name, side in ((log, "log", "center"), (3 * log, "3 log", "right")):
        figure.rule(place, color=ink.EDGE)
        figure.note(f"{name}<sub>{arity}</sub> L = {place:.1f}", place, xanchor=side)
    x = {"title_text": "Depth", "range": [-0.6, max(deepest, 3 * log) + 1.5], "tickformat": "d", "showgrid": False}
    return figure.checked(x, {"title_text": "Share, %", "rangemode": "tozero"}, barmode="group", showlegend=True)


def depths_over_labels(frame: pd.DataFrame) -> Figure:
    """Draw the depth of the deepest tree on data sets of L labels in units of log_M L, with 1 and 3 marked."""
    need_columns(frame, ["name", "group", "n_labels", "arity", "depth"], "depths_over_labels")
    figure = Drawing("Depth of the deepest tree over data sets", frame)
    for (group, own), look in zip(
        frame.groupby("group", sort=False), (("circle", ink.BLUE), ("diamond", ink.VERMILION))
    ):
        marker = {"symbol": look[0], "size": 11, "color": look[1]}
        depths = own["depth"] / (np.log(own["n_labels"]) / np.log(own["arity"]))
        about = [f"<b>{short(str(name), 40)}</b>, depth {depth:,}" for name, depth in zip(own["name"], own["depth"])]
        hover = "%{customdata}: %{y:.2f} log<sub>M</sub> L"
        figure.points(own["n_labels"], depths, group, marker, hover, customdata=about, cliponaxis=False)
    figure.rule(1, level=True)
    figure.rule(3, level=True)
    y = {"title_text": "Depth / log<sub>M</sub> L (log)", "type": "log"}
    return figure.checked({"title_text": "Labels, L (log)", "type": "log"}, y, showlegend=True)


def objective_by_depth(frame: pd.DataFrame, part: str = "J", title: str | None = None) -> Figure:
    """Draw the mean objective J of the splits at each depth, or one part of J, with a band from least to greatest.

    {Parameters: frame}
        Columns ``part``, ``depth``, ``least``, ``mean``, ``greatest``, ``nodes``.
        :func:`xmlcore.models.ldsm.frames.objective_by_depth` gives it.
    part : str
        Draws the rows of the frame with this ``part``.
    {titled_figure}
    """
    need_columns(frame, ["part", "depth", "least", "mean", "greatest", "nodes"], "objective_by_depth")
    rows = frame[frame["part"] == part].sort_values("depth")
    figure = Drawing(title or f"{_title(part)} of the splits by depth", rows)
    hover = "depth %{x}: mean %{y:.3f}, %{customdata[0]:.3f} to %{customdata[1]:.3f}, of %{customdata[2]:,} splits"
    look = {"between": (rows["least"], rows["greatest"]), "legendgroup": part, "width": 2.5}
    about, color = rows[["least", "greatest", "nodes"]].to_numpy(), OBJECTIVE_COLORS.get(part, ink.GREY)
    figure.line(rows["depth"], rows["mean"], "mean", color, hover, customdata=about, **look)
    return figure.checked({"title_text": "Depth", **whole_axis(rows["depth"])}, _title(part))


def objective_at_depths(frame: pd.DataFrame, part: str = "J", title: str | None = None) -> Figure:
    """Draw the objective J, or one part of it, against the epoch of training: for each depth the mean, in a band.

    {Parameters: frame}
        Columns ``part``, ``depth``, ``epoch``, ``least``, ``mean``, ``greatest``, ``nodes``.
        :func:`xmlcore.models.ldsm.frames.training_by_depth` gives it.
    part : str
        Draws the rows of the frame with this ``part``; of more than six depths some, with the first and the last.
    {titled_figure}
    """
    columns = ["part", "depth", "epoch", "least", "mean", "greatest", "nodes"]
    need_columns(frame, columns, "objective_at_depths")
    rows = frame[frame["part"] == part]
    depths = np.unique(rows["depth"])
    drawn = np.unique(depths[np.linspace(0, depths.size - 1, min(len(DEPTH_COLORS), depths.size)).round().astype(int)])
    figure = Drawing(title or f"{_title(part)} in training, by depth", len(drawn), len(depths))
    for at, (depth, color) in enumerate(zip(drawn, DEPTH_COLORS)):
        mine, name = rows[rows["depth"] == depth].sort_values("epoch"), f"depth {depth}" if depth else "root"
        hover = f"{name}, after epoch %{{x}}: %{{y:.3f}}, mean of %{{customdata:,}} nodes"
        look = {"between": (mine["least"], mine["greatest"]), "legendgroup": name, "dash": DEPTH_DASHES[at % 3]}
        figure.line(mine["epoch"], mine["mean"], name, color, hover, size=5, customdata=mine["nodes"], **look)
    return figure.checked({"title_text": "Epoch", **whole_axis(rows["epoch"])}, _title(part), showlegend=True)


def lemma_bounds(frame: pd.DataFrame, measure: str = "alpha", title: str | None = None) -> Figure:
    """Draw the imbalance β or the impurity α of splits against the part of J that bounds it, and the bound.

    {Parameters: frame}
        Columns ``measure``, ``term``, ``value``, ``bound`` (NaN where the lemma states none), ``tree``, ``node``.
        :func:`xmlcore.models.ldsm.frames.lemmas_frame` gives it.
    measure : {"alpha", "beta"}
        Draws the rows of the frame with this ``measure``; of more than 3,000 some, evenly spread.
    {titled_figure}
        ``layout.meta`` adds ``above``: the number of splits above their bound.
    """
    need_columns(frame, ["measure", "term", "value", "bound", "tree", "node"], "lemma_bounds")
    if measure not in LEMMAS:
        raise ValueError(f"measure must be alpha or beta, not {measure!r:.200}")
    axis, term, lemma = LEMMAS[measure]
    rows = frame[frame["measure"] == measure].sort_values("term")
    few = rows.iloc[:: -(-len(rows) // MOST_SPLITS) or 1]
    above = int((rows["value"] > rows["bound"] + 1e-9).sum())
    figure = Drawing(title or f"{axis} and the bound of lemma {lemma}", few, rows, above=above)
    said = [f"node {node:,} of tree {tree + 1:,}" for node, tree in zip(few["node"], few["tree"])]
    hover, mark = "%{customdata}: %{y:.3f}", {"color": ink.BLUE, "size": 5}
    figure.points(few["term"], few["value"], "splits", mark, hover, customdata=said)
    if rows["bound"].notna().any():
        line = {"name": f"bound of lemma {lemma}", "showlegend": True}
        figure.stroke(rows["term"], rows["bound"], ink.VERMILION, 2, **line)
    return figure.checked(term, axis, showlegend=True)


def objective_in_training(frame: pd.DataFrame, title: str = "J while the node was trained") -> Figure:
    """Draw J of a node and its weighted parts after each epoch of its training.

    {Parameters: frame}
        Columns ``epoch``, ``part``, ``value``, ``stage`` ("training", or "split" for the value of the final split).
        :func:`xmlcore.models.ldsm.frames.training_trace` gives it.
    {titled_figure}
    """
    need_columns(frame, ["epoch", "part", "value", "stage"], "objective_in_training")
    figure = Drawing(title, frame)
    for part, mine in frame.groupby("part", sort=False):
        color, mark = OBJECTIVE_COLORS.get(part, ink.GREY), OBJECTIVE_MARKS.get(part, "circle")
        during, split = mine[mine["stage"] == "training"], mine[mine["stage"] == "split"]
        # J is thick and below its parts, because it equals one of them where the others are near 0.
        size, width = (10, 5) if part == "J" else (5, 1.5)
        look = {"mark": mark, "size": size, "width": width, "legendgroup": part}
        hover = f"after epoch %{{x}}: {part} %{{y:.3f}}"
        figure.line(during["epoch"], during["value"], _title(part), color, hover, **look)
        ring = {"symbol": f"{mark}-open", "size": size + 8, "color": color, "line": {"width": 2}}
        name, own = "open marks: the split", {"legendgroup": part, "showlegend": part == "J"}
        figure.points(split["epoch"], split["value"], name, ring, f"the split: {part} %{{y:.3f}}", **own)
    return figure.checked({"title_text": "Epoch", **whole_axis(frame["epoch"])}, "J and its parts", showlegend=True)


def measures_of_prefixes(
    frame: pd.DataFrame,
    axis: str = "n_trees",
    measures: Sequence[Any] = ("P@k", "nDCG@k"),
    ks: Sequence[Any] = (1, 3, 5),
    title: str | None = None,
) -> Figure:
    """Draw measures against the number of trees, or against the largest number of nodes of a tree, in percent.

    {Parameters: frame}
        Columns ``axis`` (which of the next two is varied), ``n_trees``, ``max_nodes``, ``depth``, ``measure``, ``k``,
        ``value`` in [0, 1].
        :func:`xmlcore.experiment.prefix_measures` gives it.
    axis : {"n_trees", "max_nodes"}
        With "max_nodes", the depth of the deepest tree is drawn on a second axis.
    measures, ks : sequence
        The measures and values of k to draw. nDCG@1 equals P@1 and is not drawn beside it.
    {titled_figure}
    """
    need_columns(frame, ["axis", "n_trees", "max_nodes", "depth", "measure", "k", "value"], "measures_of_prefixes")
    if axis not in SIZES:
        raise ValueError(f"axis must be n_trees or max_nodes, not {axis!r:.200}")
    named, of, unit = SIZES[axis]
    rows = frame[frame["axis"] == axis].sort_values(axis)
    points = rows[axis].unique()
    figure = Drawing(title or named, points)
    twice = "P@k" in measures  # nDCG@1 is P@1
    for measure, k in ((m, k) for m in measures for k in ks if not (twice and m == "nDCG@k" and k == 1)):
        mine = rows[(rows["measure"] == measure) & (rows["k"] == k)]
        if len(mine):
            color, name = ink.MEASURE_COLORS.get(measure, ink.GREY), measure.replace("@k", f"@{k}")
            look = {"mark": ink.MEASURE_MARKS.get(measure, "circle"), "size": 7, "dash": DASHES.get(k, "dashdot")}
            hover = f"{name} = %{{y:.2f}} %, %{{x:,}} {unit}, depth %{{customdata}}"
            figure.line(mine[axis], 100 * mine["value"], name, color, hover, customdata=mine["depth"], **look)
    x = {"title_text": f"{of} (log)", **spaced_log_axis(points, 0.14)}  # for numbers on a phone
    figure.axes(x, "Percent", showlegend=True)
    if axis == "max_nodes":
        depth, line = rows.drop_duplicates(axis), {"color": ink.GREY, "width": 1.5}
        marker = {"symbol": "x-thin", "size": 6, "color": ink.GREY, "line": line}
        look, hover = {"mode": "lines+markers", "line": line, "yaxis": "y2"}, f"depth %{{y}}, %{{x:,}} {unit}"
        figure.points(depth[axis], depth["depth"], "deepest tree (right)", marker, hover, **look)
        right = {"overlaying": "y", "side": "right", "title": {"text": "Depth"}, "rangemode": "tozero"}
        step = max(1, math.ceil(int(depth["depth"].max()) / 5))
        figure.axes(yaxis2={**right, "showgrid": False, "dtick": step})
    return figure.checked()


def _title(part):
    return part[:1].upper() + part[1:]


def path_products(
    frame: pd.DataFrame, *, percent: bool = True, title: str = "The probability along the path"
) -> Figure:
    """Draw how a label's probability decreases from the root of a label tree to the label's leaf.

    {Parameters: frame}
        A row per node of the path: columns ``tree``, ``depth``, ``node``, ``margin``, ``factor`` (the probability of
        the node given its parent). :func:`xmlcore.explain.path` gives them. Optional: ``name`` (of the node).
    percent : bool
        False for factors that are no probabilities, as those of the squared hinge: they are scores between 0 and 1.
    {titled_figure}
        A line per tree, thin if there are several, and their mean. ``shown`` and ``total`` in ``layout.meta`` count
        trees.
    """
    need_columns(frame, ["tree", "depth", "node", "margin", "factor"], "path_products")
    written, full, unit = (probability, 100, " %") if percent else (score, 1, "")
    ways = [way.sort_values("depth") for _, way in frame.groupby("tree", sort=False)]
    products = [full * np.cumprod([1.0, *way["factor"]]) for way in ways]
    first, last, many = int(frame["depth"].min()) - 1, int(frame["depth"].max()), len(ways) > 1
    lines = []
    for way, product in zip(ways, products):
        texts = ["the start: every row"]
        for row in way.to_dict("records"):
            named = f"{short(row['name'], 40)} (node {row['node']:,})" if "name" in row else f"node {row['node']:,}"
            texts.append(f"{named}: {written(row['factor'])} of its parent’s, margin {signed(row['margin'], 3)}")
        of_tree = f"tree {way['tree'].iloc[0] + 1}: " if many else ""
        lines.append(([way["depth"].min() - 1, *way["depth"]], product, [of_tree + text for text in texts]))
    look = {"size": 9, "cliponaxis": False}
    figure = _ways_figure(title, lines, "one tree", f"product so far %{{y:.3~g}}{unit}", look)
    if many:
        ends = range(first, last + 1)
        at = [np.pad(product, (0, len(ends) - product.size), "edge") for product in products]
        _add_mean(figure, ends, np.mean(at, axis=0), len(ways), f"depth %{{x}}: mean %{{y:.3~g}}{unit}")
    elif len(frame) <= 12:
        factors = (f"×{min(factor, 0.99 if factor < 1 else 1):#.2g}" for factor in ways[0]["factor"])
        text = {"text": ["", *factors], "textposition": "top right", "textfont": {"size": 12}}
        figure.traces[0] |= {"mode": "lines+markers+text", **text}
    y = {"title_text": "Probability so far, %" if percent else "Score so far", "rangemode": "tozero"}
    return figure.checked({"title_text": "Depth in the tree", **whole_axis([last])}, y)


def _ways_figure(title, lines, name, hover, look) -> Figure:
    """Return a figure of lines: depths, values and texts of each; thin ones where there are several."""
    many = len(lines) > 1
    figure = Drawing(title, min(len(lines), MOST_PATHS), lines)
    for place, (depths, values, texts) in enumerate(lines[:MOST_PATHS]):
        own = {"customdata": texts, "legendgroup": "ways", "showlegend": many and place == 0}
        figure.line(depths, values, name, ink.BLUE, f"%{{customdata}}<br>{hover}", **MANY if many else look, **own)
    figure.axes(showlegend=many)
    return figure


def path_shares(frame: pd.DataFrame, *, title: str = "The label’s share along the path") -> Figure:
    """Draw the share of training rows with a label in the nodes that a row visits in decision trees.

    {Parameters: frame}
        A row per node on each way: columns ``tree``, ``leaf`` (where the way ends), ``depth``, ``node``, ``share``.
        Optional: ``weight`` (of the way in the mean). :func:`xmlcore.explain.path` gives them.
    {titled_figure}
        A thin line per way, and their weighted mean at each depth if there are several.
    """
    need_columns(frame, ["tree", "leaf", "depth", "node", "share"], "path_shares")
    ways = [way.sort_values("depth") for _, way in frame.groupby(["tree", "leaf"], sort=False)]
    lines = [
        (way["depth"], 100 * way["share"], [f"tree {t + 1}, node {v:,}" for t, v in zip(way["tree"], way["node"])])
        for way in ways
    ]
    look = {"size": 8, "width": 2.5, "opacity": 1.0}
    figure = _ways_figure(title, lines, "one way to a leaf", "share %{y:.2f} %", look)
    first, last = int(frame["depth"].min()), int(frame["depth"].max())
    if len(ways) > 1:  # a way that has ended keeps its last share, so that the last point is the mean over leaves
        depths = np.arange(first, last + 1)
        shares = [way.set_index("depth")["share"].reindex(depths).ffill() for way in ways]
        weights = [way["weight"].iloc[0] if "weight" in frame.columns else 1.0 for way in ways]
        means = 100 * np.average(np.column_stack(shares), axis=1, weights=weights)
        _add_mean(figure, depths, means, len(ways), "depth %{x}: mean %{y:.2f} %")
    y = {"title_text": "Share of the node’s rows, %", "rangemode": "tozero"}
    return figure.checked({"title_text": "Depth in the tree", **whole_axis([last])}, y)


def _add_mean(figure, depths, means, count, hover):
    figure.line([*depths], means, f"mean of all {count:,}", ink.VERMILION, hover, mark="square", size=7, width=3)
