"""The drawing of a decision tree."""

import html
import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import percent_ticks, show_color_bar
from xmlcore.figures._style import EDGE, GREY, NOT_PALE, SCALE, VERMILION, need_columns, new_figure, short

COLOR_TITLES = {
    "purity": "Purity",
    "objective": "J",
    "balance": "Balance",
    "integrity": "Class integrity",
    "multiway": "Multi-way penalty",
    "share_with_label": "Rows with the label",
}
SHARES = ("purity", "share_with_label")  # columns that are shown in percent
# Columns of which small values are good.
LESS_IS_BETTER = ("objective", "balance", "multiway")
LINE = 24  # height of a row of the drawing, in pixels
TIGHT = 15  # height of a row of a drawing with more than 40 rows, in pixels
ABOVE, BELOW, LEGEND = 108, 67, 32  # heights of what is above, of the colour bar below, and of the legend, in pixels
NAME = 20  # most letters of a name beside a node: there is room for them on a phone
BESIDE = 168  # width of the space for names beside nodes, in pixels
THIN, THICK = 1.5, 8  # width of an edge that no row, and that every row, of the label goes along, in pixels


def tree(
    frame: pd.DataFrame,
    color: str = "purity",
    *,
    color_range: tuple[float, float] | None = None,
    chosen: int | None = None,
    title: str = "Tree",
    total: int | None = None,
) -> go.Figure:
    """Draw the nodes of a decision tree, from left to right.

    Parameters
    ----------
    frame : DataFrame, a row per node
        Columns ``node``, ``parent`` (-1 for the top), ``x``, ``y``, ``kind`` ("inner" or "leaf"), ``rows`` (training
        rows), ``hidden`` (number of nodes below it that are not in the frame), and the column named by ``color``.

        Optional, for the hover text: ``depth``, ``purity`` and ``share_of_parent``, which are numbers; ``labels`` (most
        frequent labels of the node), ``equation`` (J as a sum of its parts), ``sent`` (shares of rows that go to each
        child), ``having`` (rows with the chosen label) and ``told`` (the label whose share grew most), which are texts.

        Optional, written beside nodes at the ends of branches: ``name_1`` or ``told_name`` (name of a label); or
        ``held`` (share of the chosen label's rows, as text) and ``companion`` (name of another label of the node).

        Optional, to mark the nodes that a row or the rows of a label visit: ``visited`` (these nodes have full size,
        and their edges are thicker) and ``share_of_label`` (edges are thicker, the more of the label's rows go along
        them). :func:`xmlcore.models.ldsm.frames.drawing_frame` gives all of them.
    color : str
        Column of numbers that gives the colours. Nodes where it is nan are grey.
    color_range : pair of float, optional
        Ends of the colour scale, so that several drawings can share one; the range of the frame by default.
    chosen : int, optional
        A node to put a ring around.
    title : str
    total : int, optional
        Number of nodes of the whole tree.

    Returns
    -------
    plotly.graph_objects.Figure
        Points have their node in ``customdata[0]``.
    """
    columns = ["node", "parent", "x", "y", "kind", "rows", "hidden", color]
    need_columns(frame, columns, "tree", chosen=chosen, total=total)
    figure = new_figure(title, shown=len(frame), total=len(frame) if total is None else total)
    on_path = frame["visited"].to_numpy() if "visited" in frame.columns else None
    _edges(figure, frame, on_path)
    sizes = 8 + 14 * np.sqrt(frame["rows"] / frame["rows"].max())
    if on_path is not None:
        sizes = np.where(on_path, sizes, 7)
    if chosen is not None and (frame["node"] == chosen).any():
        mine = (frame["node"] == chosen).to_numpy()
        figure.add_scatter(
            x=frame["x"][mine],
            y=frame["y"][mine],
            mode="markers",
            marker={
                "size": sizes[mine] + 9,
                "color": "rgba(0,0,0,0)",
                "line": {"color": VERMILION, "width": 3},
                "opacity": 1,  # Plotly's default is 0.7 where marks have sizes of their own
            },
            hoverinfo="skip",
            name="Node looked at",
            showlegend=True,
            cliponaxis=False,
        )
        figure.update_layout(showlegend=True)
    values = frame[color].to_numpy(dtype=np.float64)
    _nodes(figure, frame, sizes, values)
    known = values[np.isfinite(values)]
    if color_range is None:
        color_range = (known.min(), known.max()) if known.size else (0.0, 1.0)
    _color_bar(figure, color, color_range, shown=known.size > 0)
    lines = int(frame["y"].max()) + 1
    below = BELOW + (LEGEND if figure.layout.showlegend else 0)
    height = (LINE if lines <= 40 else TIGHT) * lines + ABOVE + below
    figure.update_layout(height=height, margin={"l": 16, "r": BESIDE, "t": ABOVE, "b": below}, dragmode="pan")
    first, last = int(frame["x"].min()), int(frame["x"].max())
    step = max(1, math.ceil((last - first) / 10))
    figure.update_xaxes(
        side="top",
        title={"text": "Depth", "standoff": 4},
        range=[first - 0.25, max(last, first + 1) + 0.1],
        tickvals=list(range(first, max(last, first + 1) + 1, step)),
        tickangle=0,
        showgrid=False,
        showline=False,
    )
    figure.update_yaxes(visible=False, range=[lines - 0.4, -0.6])
    return figure


def _nodes(figure, frame, sizes, values):
    texts, hovers, known = _beside(frame), _hover(frame), np.isfinite(values)
    for kind, symbol in (("inner", "circle"), ("leaf", "square")):
        for colored in (True, False):
            mine = (frame["kind"] == kind).to_numpy() & (known == colored)
            if not mine.any():
                continue
            marker = {"symbol": symbol, "size": sizes[mine], "opacity": 1, "line": {"color": EDGE, "width": 1}}
            marker |= {"color": values[mine], "coloraxis": "coloraxis"} if colored else {"color": GREY}
            figure.add_scatter(
                x=frame["x"][mine],
                y=frame["y"][mine],
                mode="markers+text",
                marker=marker,
                text=texts[mine],
                textposition="middle right",
                textfont={"size": 12},
                cliponaxis=False,
                customdata=np.array([frame["node"][mine], hovers[mine]], dtype=object).T,
                hovertemplate="%{customdata[1]}<extra></extra>",
                showlegend=False,
                **NOT_PALE,
            )


def _color_bar(figure, color, color_range, shown):
    """Set the colour scale and, if ``shown``, its bar with a title beside it."""
    scale = {"colorscale": SCALE, "cmin": float(color_range[0]), "cmax": float(color_range[1])}
    scale |= {"reversescale": color in LESS_IS_BETTER}  # dark is better
    bar = percent_ticks(*map(float, color_range)) if color in SHARES else {"nticks": 5}
    show_color_bar(figure, COLOR_TITLES.get(color, color), scale, bar, shown=bool(shown))


def _edges(figure, frame, on_path):
    position = {v: (x, y) for v, x, y in zip(frame["node"], frame["x"], frame["y"])}
    child = (frame["parent"] >= 0).to_numpy()
    groups = [(child, EDGE, 1.2)]
    if on_path is not None:
        groups = [(child & ~on_path, EDGE, 1.2)]
        if "share_of_label" in frame.columns:
            shares = frame["share_of_label"].to_numpy(dtype=np.float64)
            # Rounded to half a pixel, so that there are few different widths: each width is a trace of its own.
            widths = THIN + np.round(2 * (THICK - THIN) * shares) / 2
        else:
            widths = np.full(len(frame), 3.0)
        groups += [(child & on_path & (widths == width), VERMILION, float(width)) for width in np.unique(widths)]
    for mine, line, width in groups:
        xs, ys = [], []
        for parent, x, y in zip(frame["parent"][mine], frame["x"][mine], frame["y"][mine]):
            px, py = position[parent]
            xs += [px, px + 0.5, px + 0.5, x, None]
            ys += [py, py, y, y, None]
        if xs:
            figure.add_scatter(
                x=xs, y=ys, mode="lines", line={"color": line, "width": width}, hoverinfo="skip", showlegend=False
            )


def _beside(frame) -> np.ndarray:
    """Return the texts beside the ends of branches: a label, and the number of hidden nodes."""
    parents = set(frame["parent"])
    texts = []
    for row in frame.to_dict("records"):
        wording = []
        if row["node"] not in parents and row.get("visited", True):
            room = NAME - (len(" nodes") if row["hidden"] else 0)
            name = str(row.get("told_name") or row.get("name_1", ""))
            if "held" in row:
                wording.append(f"<b>{row['held']}</b>")
                room, name = room - len(row["held"]), row.get("companion", "")
            wording.append(short(name, room))
        if row["hidden"] and row["node"] not in parents:
            wording.append(f"<b>+{row['hidden']:,} node{'' if row['hidden'] == 1 else 's'}</b>")
        texts.append("  " + " ".join(filter(None, wording)) if any(wording) else "")
    return np.array(texts, dtype=object)


def _hover(frame) -> np.ndarray:
    texts = []
    for row in frame.to_dict("records"):
        kind = "leaf" if row["kind"] == "leaf" else "node"
        lines = [f"<b>{kind} {row['node']}</b>" + (f", depth {row['depth']}" if "depth" in row else "")]
        share = row.get("share_of_parent")
        of_parent = f" ({100 * share:.0f} % of those of node {row['parent']})" if share and row["parent"] >= 0 else ""
        lines.append(f"{row['rows']:,} training rows{of_parent}")
        if row.get("having"):
            lines.append(row["having"])
        if row.get("labels"):
            lines += _wrapped(html.escape(row["labels"], quote=False))
        if row.get("told"):
            lines += _wrapped(html.escape(f"most gained: {row['told']}", quote=False))
        if "purity" in row:
            lines.append(f"purity {100 * row['purity']:.0f} %")
        if row.get("sent"):
            lines.append(f"sends {row['sent']}")
        if row.get("equation"):
            lines.append(f"J = {row['equation']}")
        if row["hidden"]:
            lines.append(f"{row['hidden']:,} nodes below it not drawn")
        texts.append("<br>".join(lines))
    return np.array(texts, dtype=object)


def _wrapped(text, width=60):
    lines = [""]
    for word in text.split(", "):
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + word
    return lines
