"""The drawing of a whole label tree: nodes as bars below each other, as wide as they have labels."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import log_ticks, percent_ticks, show_color_bar
from xmlcore.figures._style import (
    EDGE,
    GREEN,
    NOT_PALE,
    QUIET,
    SCALE,
    VERMILION,
    need_columns,
    new_figure,
    short,
)

LIGHT = 0.74  # place on the scale below which a black text, else a white one, has a contrast of at least 4.5
UNKNOWN = "#6E6E6E"  # a grey with the same contrast to a white text
CHOSEN, SEARCHED = "Node looked at", "Path to the label"
LEVEL = 30  # height of a level, in pixels
TALL, TALL_LEVELS = 132, 4  # height of a level with names that are written upwards, and most levels of such a drawing
TRIANGLE = 15  # height of the space for the triangle below a node that is searched for, in pixels
AROUND, LEGEND, SUBTITLE = 150, 24, 20  # heights around the levels, of the legend, of the line below the title, pixels
THIN = -0.17  # where levels are tall, a bar as wide as all begins so far below its depth, in levels
NAMED = 0.03  # least share of the width that a node has to have for its name to be tried; without room it is left out
UPWARDS = (0.0145, 0.08)  # shares of the width from and below which a name is written upwards, if levels are few
LETTERS = 17  # most letters of such a name


def label_tree(
    frame: pd.DataFrame,
    color: str,
    *,
    axis: str,
    percent: bool = False,
    log: bool = False,
    chosen: int | None = None,
    path: Sequence[int] = (),
    title: str = "Label tree",
    total: int | None = None,
) -> go.Figure:
    """Draw a label tree from the top to the bottom: each node is a bar above the bars of its children.

    Parameters
    ----------
    frame : DataFrame, a row per node
        Columns ``node``, ``parent``, ``depth``, ``start`` and ``n_labels`` (left end and width of the bar, in labels),
        ``name``, and the one named by ``color``. Optional: ``about``, a text for the hover label.
    color : str
        Column of the numbers that colour the bars. Nodes where it is nan are grey; one as wide as all has no colour.
    axis : str
        Title of the colour bar.
    percent : bool
        Whether the numbers are shares, which are shown in percent.
    log : bool
        Whether colours follow the logarithm of the numbers.
    chosen : int, optional
        A node that has a thick outline; the nodes above it have a thin one. The legend names both kinds of outlines.
    path : sequence of int
        Nodes from the root to one that is searched for. They have dotted outlines, and a triangle points at the last.
    title : str
    total : int, optional
        Number of nodes of which the frame has some.

    Returns
    -------
    plotly.graph_objects.Figure
        Bars have their node in ``customdata[0]``.
    """
    columns = ["node", "parent", "depth", "start", "n_labels", "name", color]
    need_columns(frame, columns, "label_tree", chosen=chosen, path=path, total=total)
    figure = new_figure(title, shown=len(frame), total=len(frame) if total is None else total)
    width = float(frame["n_labels"].max())
    first, last = int(frame["depth"].min()), int(frame["depth"].max())
    share = frame["n_labels"].to_numpy(np.float64) / width
    values, whole = frame[color].to_numpy(np.float64), share == 1
    known = np.isfinite(values) & ~whole  # a bar above all others would be the loudest one, and says nothing
    scaled = np.log10(np.maximum(values, 0.5)) if log else values
    upwards = (share >= UPWARDS[0]) & (share < UPWARDS[1]) & (last - first < TALL_LEVELS)
    tall = upwards.any()
    frame = frame.assign(low=frame["depth"] - np.where(whole & tall, THIN, 0.43), high=frame["depth"] + 0.43)
    letters = np.where(upwards, LETTERS, np.where(share >= NAMED, np.clip(120 * share, 6, 40), 0)).astype(int)
    texts = np.array([short(name, n) if n else "" for name, n in zip(frame["name"], letters.tolist())], dtype=object)
    hovers = _hovers(frame, values, axis, percent)
    low, high = (float(scaled[known].min()), float(scaled[known].max())) if known.any() else (0.0, 1.0)
    if known.any():  # an invisible point, for the colour bar
        scale = {"color": [low], "coloraxis": "coloraxis", "opacity": 1}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=scale, hoverinfo="skip", showlegend=False)
    colors = np.where(whole, "rgba(0,0,0,0)", UNKNOWN).astype(object)
    at = (scaled[known] - low) / (high - low if high > low else 1.0)
    colors[known] = _colors(at)
    inks = np.where(whole, QUIET, "white").astype(object)
    inks[np.flatnonzero(known)[at < LIGHT]] = "black"
    for mine, angle, size, fits in [(~upwards, 0, 12, "both"), (upwards, -90, 11, "none")]:
        if mine.any():
            figure.add_bar(
                base=frame["start"][mine],
                x=frame["n_labels"][mine],
                y=(frame["low"] + frame["high"])[mine] / 2,
                orientation="h",
                width=(frame["high"] - frame["low"])[mine],
                marker={"color": colors[mine], "line": {"color": EDGE, "width": 1}},
                text=texts[mine],
                textposition="inside",
                insidetextanchor="middle",
                textangle=angle,
                textfont={"size": size, "color": inks[mine]},
                constraintext=fits,
                customdata=np.array([frame["node"][mine], hovers[mine]], dtype=object).T,
                hovertemplate="%{customdata[1]}<extra></extra>",
                showlegend=False,
                **NOT_PALE,
            )
    found = _point_at(figure, frame, path[-1] if len(path) else -1)
    _color_bar(figure, low, high, axis, percent, log, shown=known.any())
    outlines, level = _outlines(frame, chosen, path), TALL if tall else LEVEL
    ends = [last + 0.6 + (TRIANGLE / level if found else 0), float(frame["low"].min()) - 0.17]
    legend = LEGEND if outlines else 0
    said = 0 if letters.all() else SUBTITLE
    figure.update_layout(
        height=level * (ends[0] - ends[1] - 0.2) + AROUND + legend + said,
        barmode="overlay",
        shapes=outlines,  # at once: adding them one by one takes ten times as long
        uniformtext={"minsize": 10, "mode": "hide"},
        margin={"l": 40, "r": 16, "t": 56 + said, "b": 84 + legend},
        title_subtitle_text="Point at a bar to see its name" if said else None,
    )
    places = frame.groupby("depth")[["low", "high"]].first().mean(axis=1).iloc[:: max(1, (last - first + 1) // 15)]
    ticks = {"tickvals": places.tolist(), "ticktext": [f"Depth {depth}" for depth in places.index]}
    figure.update_yaxes(range=ends, showgrid=False, showline=False, **ticks)
    figure.update_xaxes(range=[0, width], visible=False)
    return figure


def _colors(at) -> list[str]:
    """Return the colours of places on the scale: Plotly takes numbers, too, but slowly, as it warns of each."""
    ends = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for _, color in SCALE])
    mixed = np.column_stack([np.interp(at, [place for place, _ in SCALE], ends[:, i]) for i in range(3)])
    return ["#{:02x}{:02x}{:02x}".format(*color) for color in mixed.round().astype(int).tolist()]


def _hovers(frame, values, axis, percent):
    numbers = [
        "unknown" if not np.isfinite(value) else f"{100 * value:.1f} %" if percent else f"{value:,.0f}"
        for value in values
    ]
    abouts = frame["about"] if "about" in frame.columns else [""] * len(frame)
    lines = [
        f"<b>{short(name, 60)}</b><br>{axis}: {number}{'<br>' if about else ''}{about}"
        for name, number, about in zip(frame["name"], numbers, abouts)
    ]
    return np.array(lines, dtype=object)


def _outlines(frame, chosen, path) -> list[dict]:
    """Return outlines: thick around the chosen node, thinner around those above it, and dotted around a path."""
    lines, shapes = {line["node"]: line for line in frame.to_dict("records")}, []
    node, width = chosen, 3.0
    while node in lines:
        shapes.append(_rectangle(lines[node], CHOSEN, width == 3.0, {"color": VERMILION, "width": width}))
        node, width = lines[node]["parent"], 1.5
    drawn = [v for v in path if v in lines and v != chosen]
    for pen in (
        {"color": "#FFFFFF", "width": 3},
        {"color": GREEN, "width": 3, "dash": "dot"},
    ):  # for light and dark bars
        is_named = "dash" in pen
        shapes += [_rectangle(lines[v], SEARCHED, is_named and v == drawn[0], pen) for v in drawn]
    return shapes


def _rectangle(line, name, in_legend, pen) -> dict:
    place = {"x0": line["start"], "x1": line["start"] + line["n_labels"], "y0": line["low"], "y1": line["high"]}
    return {"type": "rect", "name": name, "legendgroup": name, "showlegend": in_legend, "line": pen} | place


def _point_at(figure, frame, node) -> bool:
    """Draw a triangle below a node; return whether the frame has the node."""
    found = frame[frame["node"] == node].to_dict("records")
    for line in found:
        figure.add_scatter(
            x=[line["start"] + line["n_labels"] / 2],
            y=[line["depth"] + 0.7],
            mode="markers",
            marker={"symbol": "triangle-up", "size": 12, "color": GREEN, "opacity": 1},
            customdata=[[line["node"]]],
            hovertemplate=f"<b>{short(line['name'], 60)}</b><extra></extra>",
            showlegend=False,
            cliponaxis=False,
            **NOT_PALE,
        )
    return bool(found)


def _color_bar(figure, low, high, axis, percent, log, shown):
    """Set the colour scale, and show its bar with a title beside it if ``shown``."""
    if log:
        ticks = log_ticks(10**low, 10**high, whole=True)
        bar = {"tickvals": np.log10(ticks["tickvals"]).tolist(), "ticktext": ticks["ticktext"]}
    else:
        bar = percent_ticks(low, high) if percent else {"nticks": 4}
    scale = {"colorscale": SCALE, "cmin": low, "cmax": high if high > low else low + 1.0}
    show_color_bar(figure, axis, scale, bar, shown=bool(shown))
