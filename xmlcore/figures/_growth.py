"""Figures of the trees of LdSM: their depth, their objective, and what smaller models reach."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import spaced_log_axis
from xmlcore.figures._style import (
    BLUE,
    EDGE,
    GREEN,
    GREY,
    MEASURE_COLORS,
    MEASURE_MARKS,
    PURPLE,
    VERMILION,
    add_line,
    add_note,
    need_columns,
    new_figure,
    shade,
)

OBJECTIVE_COLORS = {"J": BLUE, "balance": VERMILION, "class integrity": GREEN, "multi-way": PURPLE}
OBJECTIVE_MARKS = {"J": "circle", "balance": "square", "class integrity": "diamond", "multi-way": "triangle-up"}
DASHES = {1: "solid", 3: "dash", 5: "dot"}  # dash of the line of a measure at k


def leaf_depths(frame: pd.DataFrame, n_labels: int, arity: int, title: str = "Depth of the leaves") -> go.Figure:
    """Draw the shares of leaves and of training rows at each depth, with log_M L and 3 log_M L marked.

    Parameters
    ----------
    frame : DataFrame
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
    figure = new_figure(title, shown=len(sums), total=len(sums), deepest=deepest, log=log)
    for column, color, name in (("leaves", BLUE, "of the leaves"), ("rows", VERMILION, "of the training rows")):
        figure.add_bar(
            x=sums.index,
            y=100 * sums[column] / sums[column].sum(),
            customdata=sums[column],
            name=name,
            marker={"color": color, "line": {"width": 0}},
            hovertemplate=f"depth %{{x}}: %{{y:.1f}} % {name} (%{{customdata:,}})<extra></extra>",
        )
    for place, wording in ((log, "log"), (3 * log, "3 log")):
        figure.add_vline(x=place, line={"color": EDGE, "width": 1.5, "dash": "dot"})
        text = f"{wording}<sub>{arity}</sub> L = {place:.1f}"
        add_note(figure, text, place, xanchor="center" if place == log else "right")
    figure.update_layout(barmode="group", showlegend=True)
    figure.update_xaxes(title_text="Depth", range=[-0.6, max(deepest, 3 * log) + 1.5], tickformat="d", showgrid=False)
    figure.update_yaxes(title_text="Share, %", rangemode="tozero")
    return figure


def objective_by_depth(frame: pd.DataFrame, part: str = "J", title: str | None = None) -> go.Figure:
    """Draw the smallest, mean and largest objective J of the splits at each depth, or one part of J.

    Parameters
    ----------
    frame : DataFrame
        Columns ``part``, ``depth``, ``least``, ``mean``, ``greatest``, ``nodes``.
        :func:`xmlcore.models.ldsm.frames.objective_by_depth` gives it.
    part : str
        Draws the rows of the frame with this ``part``.
    {titled_figure}
    """
    need_columns(frame, ["part", "depth", "least", "mean", "greatest", "nodes"], "objective_by_depth")
    rows = frame[frame["part"] == part].sort_values("depth")
    figure = new_figure(title or f"{_title(part)} of the splits by depth", shown=len(rows), total=len(rows))
    color = OBJECTIVE_COLORS.get(part, GREY)
    band = shade(color)
    for name, dash, width, fill in (
        ("greatest", "dot", 1.5, None),
        ("least", "dash", 1.5, "tonexty"),
        ("mean", "solid", 2.5, None),
    ):
        hover = f"depth %{{x}}: {name} %{{y:.3f}}, of %{{customdata:,}} splits"
        look = {"size": 7 if name == "mean" else 4, "width": width, "dash": dash, "fill": fill, "fillcolor": band}
        add_line(figure, rows["depth"], rows[name], name, color, hover, customdata=rows["nodes"], **look)
    figure.update_layout(showlegend=True, legend={"traceorder": "normal"})
    figure.update_xaxes(title_text="Depth", tickformat="d", **_whole(rows["depth"]))
    figure.update_yaxes(title_text=_title(part))
    return figure


def objective_in_training(frame: pd.DataFrame, title: str = "J while the node was trained") -> go.Figure:
    """Draw J of a node and its weighted parts after each epoch of its training.

    Parameters
    ----------
    frame : DataFrame
        Columns ``epoch``, ``part``, ``value``, ``stage`` ("training", or "split" for the value of the final split).
        :func:`xmlcore.models.ldsm.frames.training_trace` gives it.
    {titled_figure}
    """
    need_columns(frame, ["epoch", "part", "value", "stage"], "objective_in_training")
    figure = new_figure(title, shown=len(frame), total=len(frame))
    for part in dict.fromkeys(frame["part"]):
        mine = frame[frame["part"] == part]
        color, mark = OBJECTIVE_COLORS.get(part, GREY), OBJECTIVE_MARKS.get(part, "circle")
        during, split = mine[mine["stage"] == "training"], mine[mine["stage"] == "split"]
        # J is thick and below its parts, because it equals one of them where the others are near 0.
        size, width = (10, 5) if part == "J" else (5, 1.5)
        look = {"mark": mark, "size": size, "width": width, "legendgroup": part}
        hover = f"after epoch %{{x}}: {part} %{{y:.3f}}"
        add_line(figure, during["epoch"], during["value"], _title(part), color, hover, **look)
        figure.add_scatter(
            x=split["epoch"],
            y=split["value"],
            name=f"{_title(part)} of the split",
            mode="markers",
            marker={"symbol": f"{mark}-open", "size": size + 8, "color": color, "line": {"width": 2}},
            legendgroup=part,
            showlegend=part == "J",
            hovertemplate=f"the split: {part} %{{y:.3f}}<extra></extra>",
        )
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text="Epoch", tickformat="d", **_whole(frame["epoch"]))
    figure.update_yaxes(title_text="J and its parts")
    return figure


def measures_of_prefixes(
    frame: pd.DataFrame,
    axis: str = "n_trees",
    measures: Sequence[Any] = ("P@k", "nDCG@k"),
    ks: Sequence[Any] = (1, 3, 5),
    title: str | None = None,
) -> go.Figure:
    """Draw measures against the number of trees, or against the largest number of nodes of a tree, in percent.

    Parameters
    ----------
    frame : DataFrame
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
    words = {"n_trees": "Trees", "max_nodes": "Largest number of nodes in a tree, T_max"}
    if axis not in words:
        raise ValueError(f"axis must be n_trees or max_nodes, not {axis!r:.200}")
    rows = frame[frame["axis"] == axis]
    wording = {"n_trees": "More trees", "max_nodes": "Larger trees"}[axis]
    points = np.sort(rows[axis].unique())
    figure = new_figure(title or wording, shown=points.size, total=points.size)
    unit = "%{x:,} " + ("trees" if axis == "n_trees" else "nodes")
    for measure in measures:
        for k in ks:
            mine = rows[(rows["measure"] == measure) & (rows["k"] == k)].sort_values(axis)
            if mine.empty or (measure == "nDCG@k" and k == 1 and "P@k" in measures):
                continue
            color, name = MEASURE_COLORS.get(measure, GREY), measure.replace("@k", f"@{k}")
            look = {"mark": MEASURE_MARKS.get(measure, "circle"), "size": 7, "dash": DASHES.get(k, "dashdot")}
            hover = f"{name} = %{{y:.2f}} %, {unit}, depth %{{customdata}}"
            add_line(figure, mine[axis], 100 * mine["value"], name, color, hover, customdata=mine["depth"], **look)
    if axis == "max_nodes":
        depth = rows.drop_duplicates(axis).sort_values(axis)
        figure.add_scatter(
            x=depth[axis],
            y=depth["depth"],
            name="deepest tree (right)",
            mode="lines+markers",
            line={"color": GREY, "width": 1.5, "shape": "linear"},
            marker={"symbol": "x-thin", "size": 6, "color": GREY, "line": {"color": GREY, "width": 1.5}},
            yaxis="y2",
            hovertemplate=f"depth %{{y}}, {unit}<extra></extra>",
        )
        figure.update_layout(
            yaxis2={
                "overlaying": "y",
                "side": "right",
                "title": {"text": "Depth"},
                "rangemode": "tozero",
                "showgrid": False,
                "dtick": max(1, math.ceil(int(depth["depth"].max()) / 5)),
            }
        )
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text=f"{words[axis]} (log)", **spaced_log_axis(points, 0.14))  # for numbers on a phone
    figure.update_yaxes(title_text="Percent", selector={"overlaying": None})
    return figure


def _title(part):
    return part[:1].upper() + part[1:]


def _whole(values):
    """Return an axis with a tick at each whole number if the largest value is at most 12, and else no setting."""
    return {"dtick": 1} if max(values, default=0) <= 12 else {}
