"""Figures of one node of a tree: its children, and the features that decide there."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import bar_axes, bars
from xmlcore.figures._style import (
    BLUE,
    BROWN,
    EDGE,
    GREEN,
    GREY,
    NOT_PALE,
    PURPLE,
    VERMILION,
    VIOLET,
    need_columns,
    new_figure,
    short,
)

KINDS = {"inner": ("nodes with labels below", BLUE), "leaf": ("single labels", GREEN)}
# A colour for each child of a node, or for each sign of a weight. All have a contrast of at least 3 on a white and on a
# dark page.
GROUP_COLORS = (BLUE, VERMILION, GREEN, PURPLE, GREY, BROWN, VIOLET, "#B8860B")


def node_bars(
    frame: pd.DataFrame,
    value: str,
    *,
    axis: str,
    percent: bool = False,
    chosen: int | None = None,
    title: str = "Children",
    total: int | None = None,
) -> go.Figure:
    """Draw one number of some nodes as horizontal bars, in the order of the frame from the top.

    Parameters
    ----------
    frame : DataFrame, a row per node
        Columns ``node``, ``name``, ``kind`` ("inner" or "leaf") and the one named by ``value``. Optional: ``about``, a
        text for the hover label, in which "<br>" begins a line.
    value : str
        Column of the numbers. Nodes where it is nan have no bar, and their text says so.
    axis : str
        Title of the axis of the numbers.
    percent : bool
        Whether the numbers are shares, which are drawn in percent.
    chosen : int, optional
        A node whose name is bold.
    title : str
    total : int, optional
        Number of nodes of which the frame has some.

    Returns
    -------
    plotly.graph_objects.Figure
        Bars have their node in ``customdata[0]``.
    """
    need_columns(frame, ["node", "name", "kind", value], "node_bars", chosen=chosen, total=total)
    figure = new_figure(title, shown=len(frame), total=len(frame) if total is None else total)
    values = (100 if percent else 1) * frame[value].to_numpy(np.float64)
    known, place = np.isfinite(values), len(frame) - 1 - np.arange(len(frame))
    ends = ".1f" if percent else ",.0f"
    texts = [
        f"{number:{ends}}" + (" %" if percent else "") if known[i] else "unknown" for i, number in enumerate(values)
    ]
    abouts = frame["about"] if "about" in frame.columns else [""] * len(frame)
    hovers = [
        f"<b>{short(name, 60)}</b><br>{axis}: {text}{'<br>' if about else ''}{about}"
        for name, text, about in zip(frame["name"], texts, abouts)
    ]
    for kind, (wording, color) in KINDS.items():
        mine = (frame["kind"] == kind).to_numpy()
        if not mine.any():
            continue
        figure.add_bar(
            x=np.where(known, values, 0.0)[mine],
            y=place[mine],
            orientation="h",
            width=0.75,
            name=wording,
            marker={"color": color, "line": {"width": 0}},
            text=[text for text, own in zip(texts, mine) if own],
            textposition="outside",
            textfont={"size": 12},
            cliponaxis=False,
            customdata=np.array([frame["node"][mine], np.array(hovers, dtype=object)[mine]], dtype=object).T,
            hovertemplate="%{customdata[1]}<extra></extra>",
            **NOT_PALE,
        )
    names = [f"<b>{short(n)}</b>" if v == chosen else short(n) for v, n in zip(frame["node"], frame["name"])]
    bar_axes(figure, names)
    largest = 100.0 if percent else max(float(values[known].max()), 1.0) if known.any() else 1.0
    figure.update_xaxes(title_text=axis + (", %" if percent else ""), range=[0, 1.18 * largest])  # room for the texts
    figure.update_layout(showlegend=frame["kind"].nunique() > 1)
    return figure


def feature_bars_of_node(
    frame: pd.DataFrame, value: str, group: str, *, axis: str, title: str, total: int | None = None
) -> go.Figure:
    """Draw a number of some features as horizontal bars with a colour for each group, in the order of the frame.

    Parameters
    ----------
    frame : DataFrame, a row per feature
        Columns ``name``, and those named by ``value`` and ``group``. Optional: ``about``, a text for the hover label.
    value : str
        Column of the lengths of bars.
    group : str
        Column of texts: the bars of each have a colour and an entry in the legend.
    axis : str
        Title of the axis of the numbers.
    title : str
    total : int, optional
        Number of features of which the frame has some.

    {figure}
    """
    need_columns(frame, ["name", value, group], "feature_bars_of_node", total=total)
    figure = new_figure(title, shown=len(frame), total=len(frame) if total is None else total)
    values = frame[value].to_numpy(np.float64)
    abouts = frame["about"] if "about" in frame.columns else [""] * len(frame)
    hovers = [f"<b>{short(name, 60)}</b>{'<br>' if about else ''}{about}" for name, about in zip(frame["name"], abouts)]
    for number, wording in enumerate(frame[group].unique()):
        mine = (frame[group] == wording).to_numpy()
        bars(figure, values, mine, hovers, GROUP_COLORS[number % len(GROUP_COLORS)], wording, "%{x:+.4~g}")
    bar_axes(figure, [short(name) for name in frame["name"]])
    figure.update_xaxes(title_text=axis, zeroline=True, zerolinecolor=EDGE, zerolinewidth=1.5)
    figure.update_layout(showlegend=True)
    return figure
