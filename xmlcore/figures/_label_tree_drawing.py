"""The drawing of a whole label tree: nodes as bars below each other, as wide as they have labels."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import percent_ticks, show_color_bar
from xmlcore.figures._style import EDGE, GREEN, NOT_PALE, VERMILION, need_columns, new_figure, short

# From small to large: blue, grey, gold. A white text has a contrast of at least 4.5 on each, and each has a contrast of
# at least 3 on a white and on a dark page.
SCALE = ((0.0, "#3F6CB5"), (0.5, "#756D74"), (1.0, "#91690A"))
UNKNOWN = "#6E6E6E"  # a grey with the same contrasts
LEVEL = 30  # height of a level, in pixels
TALL, TALL_LEVELS = 98, 4  # height of a level with names that are written upwards, and most levels of such a drawing
TRIANGLE = 15  # height of the space for the triangle below a node that is searched for, in pixels
AROUND = 150  # height of the space above and below the levels, in pixels
NAMED = 0.03  # least share of the width that a node has to have for its name to be tried; without room it is left out
UPWARDS = (0.012, 0.08)  # shares of the width from and below which a name is written upwards, if levels are few
LETTERS = 10  # most letters of such a name


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
        Column of the numbers that colour the bars. Nodes where it is nan are grey.
    axis : str
        Title of the colour bar.
    percent : bool
        Whether the numbers are shares, which are shown in percent.
    log : bool
        Whether colours follow the logarithm of the numbers.
    chosen : int, optional
        A node that has a thick outline; the nodes above it have a thin one.
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
    need_columns(frame, ["node", "parent", "depth", "start", "n_labels", "name", color], "label_tree")
    figure = new_figure(title, shown=len(frame), total=len(frame) if total is None else total)
    values = frame[color].to_numpy(np.float64)
    known = np.isfinite(values)
    scaled = np.log10(np.maximum(values, 0.5)) if log else values
    width = float(frame["n_labels"].max())
    first, last = int(frame["depth"].min()), int(frame["depth"].max())
    share = frame["n_labels"].to_numpy(np.float64) / width
    upwards = (share >= UPWARDS[0]) & (share < UPWARDS[1]) & (last - first < TALL_LEVELS)
    wide = (share >= NAMED) & ~upwards
    level = TALL if upwards.any() else LEVEL
    texts, hovers = _texts(frame, wide, upwards), _hovers(frame, values, axis, percent)
    low, high = (float(scaled[known].min()), float(scaled[known].max())) if known.any() else (0.0, 1.0)
    if known.any():  # an invisible point, for the colour bar
        scale = {"color": [low], "coloraxis": "coloraxis", "opacity": 1}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=scale, hoverinfo="skip", showlegend=False)
    colors = np.full(len(frame), UNKNOWN, dtype=object)
    colors[known] = _colors(scaled[known], low, high)
    for mine, angle in [(known & ~upwards, 0), (known & upwards, -90), (~known & ~upwards, 0), (~known & upwards, -90)]:
        if mine.any():
            figure.add_bar(
                base=frame["start"][mine],
                x=frame["n_labels"][mine],
                y=frame["depth"][mine],
                orientation="h",
                width=0.86,
                marker={"color": colors[mine], "line": {"color": EDGE, "width": 0.5}},
                text=texts[mine],
                textposition="inside",
                insidetextanchor="middle",
                textangle=angle,
                textfont={"size": 12, "color": "white"},
                customdata=np.array([frame["node"][mine], hovers[mine]], dtype=object).T,
                hovertemplate="%{customdata[1]}<extra></extra>",
                showlegend=False,
                **NOT_PALE,
            )
    found = _point_at(figure, frame, path[-1] if len(path) else -1)
    _color_bar(figure, low, high, axis, percent, log, shown=known.any())
    figure.update_layout(
        height=level * (last - first + 1) + AROUND + (TRIANGLE if found else 0),
        barmode="overlay",
        shapes=_outlines(frame, chosen, path),  # at once: adding them one by one takes ten times as long
        uniformtext={"minsize": 12, "mode": "hide"},
        margin={"l": 40, "r": 16, "t": 56, "b": 84},
    )
    depths = list(range(first, last + 1))
    step = max(1, len(depths) // 15)
    figure.update_yaxes(
        range=[last + 0.6 + (TRIANGLE / level if found else 0), first - 0.6],
        tickvals=depths[::step],
        showgrid=False,
        showline=False,
        title_text="Depth",
    )
    figure.update_xaxes(range=[0, width], visible=False)
    return figure


def _colors(values, low, high) -> list[str]:
    """Return the colours of numbers on the scale: Plotly takes numbers, too, but slowly, as it warns of each."""
    at = (values - low) / (high - low if high > low else 1.0)
    ends = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for _, color in SCALE])
    mixed = np.column_stack([np.interp(at, [place for place, _ in SCALE], ends[:, i]) for i in range(3)])
    return ["#{:02x}{:02x}{:02x}".format(*color) for color in mixed.round().astype(int).tolist()]


def _texts(frame, wide, upwards):
    """Return the texts within bars: the names of wide nodes and of those written upwards, an object array of str."""
    letters = np.where(wide, 40, np.where(upwards, LETTERS, 0))
    return np.array([short(name, n) if n else "" for name, n in zip(frame["name"], letters.tolist())], dtype=object)


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
        shapes.append(_rectangle(lines[node], {"color": VERMILION, "width": width}))
        node, width = lines[node]["parent"], 1.5
    return shapes + [_rectangle(lines[v], {"color": GREEN, "width": 2, "dash": "dot"}) for v in path if v in lines]


def _rectangle(line, pen) -> dict:
    start, depth = line["start"], line["depth"]
    return {
        "type": "rect",
        "x0": start,
        "x1": start + line["n_labels"],
        "y0": depth - 0.43,
        "y1": depth + 0.43,
        "line": pen,
    }


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
        powers = np.arange(np.ceil(low), np.floor(high) + 1)
        ticks = powers if powers.size > 1 else np.unique([low, high])
        bar = {"tickvals": ticks.tolist(), "ticktext": [f"{10**tick:,.0f}" for tick in ticks]}
    else:
        bar = percent_ticks(low, high) if percent else {"nticks": 4}
    scale = {"colorscale": SCALE, "cmin": low, "cmax": high if high > low else low + 1.0}
    show_color_bar(figure, axis, scale, bar, shown=bool(shown))
