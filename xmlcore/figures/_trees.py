"""Drawings of trees: decision trees from left to right, and label trees from the top to the bottom."""

import html
import math
import textwrap
from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from xmlcore.figures import _grammar as draw
from xmlcore.figures import _style as ink
from xmlcore.figures._axes import log_ticks, percent_ticks
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._names import short
from xmlcore.figures._style import Figure, need_columns

CLEAR = "rgba(0,0,0,0)"
CHOSEN, SEARCHED = "Selected node", "Path to the label"
COLUMNS = {  # column of the colours -> its title, whether it is a share, and whether small values are good
    "share_1": ("Most frequent label", True, False),
    "objective": ("J", False, True),
    "balance": ("Balance", False, True),
    "integrity": ("Class integrity", False, False),
    "multiway": ("Multi-way penalty", False, True),
    "alpha": ("Impurity α", False, True),
    "beta": ("Imbalance β", False, True),
    "share_with_label": ("Rows with the label", True, False),
}
ROW = 24  # height of a row of the drawing, in pixels
TIGHT = 15  # height of a row of a drawing with more than 40 rows, in pixels
ABOVE, BELOW, LEGEND = 108, 67, 32  # heights of what is above, of the colour bar below, and of the legend, in pixels
NAME = 20  # most letters of a name beside a node: there is room for them on a phone
BESIDE = 168  # width of the space for names beside nodes, in pixels
THIN, THICK = 1.5, 8  # width of an edge that no row, and that every row, of the label goes along, in pixels

LIGHT = 0.74  # place on the scale below which a black text, else a white one, has a contrast of at least 4.5
UNKNOWN = "#6E6E6E"  # a grey with the same contrast to a white text
LEVEL = 30  # height of a level, in pixels
TALL, TALL_LEVELS = 132, 4  # height of a level with names that are written upwards, and most levels of such a drawing
TRIANGLE = 15  # height of the space for the triangle below a node that is searched for, in pixels
AROUND, OUTLINES, SUBTITLE = 150, 24, 20  # heights around the levels, of the legend, below the title, in pixels
OF_ALL = -0.17  # where levels are tall, a bar as wide as all begins so far below its depth, in levels
NAMED = 0.03  # least share of the width that a node has to have for its name to be tried; without room it is left out
UPWARDS = (0.0145, 0.08)  # shares of the width from and below which a name is written upwards, if levels are few
LETTERS = 17  # most letters of such a name


def tree(
    frame: pd.DataFrame,
    color: str = "share_1",
    *,
    color_range: tuple[float, float] | None = None,
    chosen: int | None = None,
    title: str = "Tree",
    total: int | None = None,
) -> Figure:
    """Draw the nodes of a decision tree, from left to right.

    {Parameters: frame}
        A row per node: columns ``node``, ``parent`` (-1 for the top), ``x``, ``y``, ``kind`` ("inner" or "leaf"),
        ``rows`` (training rows), ``hidden`` (number of nodes below it that are not in the frame), and the column named
        by ``color``.

        Optional, for the hover text: ``depth`` and ``share_of_parent``, which are numbers; ``labels`` (most
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
    {figure}
        Points have their node in ``customdata[0]``.
    """
    columns = ["node", "parent", "x", "y", "kind", "rows", "hidden", color]
    need_columns(frame, columns, "tree", chosen=chosen, total=total)
    figure = Drawing(title, frame, total)
    on_path = frame["visited"].to_numpy() if "visited" in frame.columns else None
    _edges(figure, frame, on_path)
    sizes = 8 + 14 * np.sqrt(frame["rows"] / frame["rows"].max()).to_numpy()
    if on_path is not None:
        sizes = np.where(on_path, sizes, 7)
    mine = (frame["node"] == chosen).to_numpy()
    if mine.any():
        # Plotly's default opacity is 0.7 where marks have sizes of their own.
        ring = {"size": sizes[mine] + 9, "color": CLEAR, "line": {"color": ink.VERMILION, "width": 3}, "opacity": 1}
        look = {"hoverinfo": "skip", "hovertemplate": None, "showlegend": True, "cliponaxis": False}
        figure.points(frame["x"][mine], frame["y"][mine], CHOSEN, ring, "", **look)
        figure.axes(showlegend=True)
    values = frame[color].to_numpy(dtype=np.float64)
    _nodes(figure, frame, sizes, values)
    known = values[np.isfinite(values)]
    low, high = color_range or ((known.min(), known.max()) if known.size else (0.0, 1.0))
    named, is_share, less = COLUMNS.get(color, (color, False, False))
    scale = {"colorscale": ink.SCALE, "cmin": float(low), "cmax": float(high), "reversescale": less}  # dark is better
    bar = percent_ticks(float(low), float(high)) if is_share else {"nticks": 5}
    figure.color_bar(named, scale, bar, shown=known.size > 0)
    lines, below = int(frame["y"].max()) + 1, BELOW + (LEGEND if mine.any() else 0)
    height = (ROW if lines <= 40 else TIGHT) * lines + ABOVE + below
    first, last = int(frame["x"].min()), int(frame["x"].max())
    step, end = max(1, math.ceil((last - first) / 10)), max(last, first + 1)
    x = {"side": "top", "title": {"text": "Depth", "standoff": 4}, "range": [first - 0.25, end + 0.1]}
    x |= {"tickvals": [*range(first, end + 1, step)], "tickangle": 0, "showgrid": False, "showline": False}
    margin = {"l": 16, "r": BESIDE, "t": ABOVE, "b": below}
    y = {"visible": False, "range": [lines - 0.4, -0.6]}
    return figure.checked(x, y, height=height, margin=margin, dragmode="pan")


def _nodes(figure, frame, sizes, values) -> None:
    texts, hovers, known = _beside(frame), _hover(frame), np.isfinite(values)
    look = {"mode": "markers+text", "textposition": "middle right", "textfont": {"size": 12}, "cliponaxis": False}
    parts = product((("inner", "circle"), ("leaf", "square")), (True, False))
    for (kind, symbol), colored in parts:
        mine = (frame["kind"] == kind).to_numpy() & (known == colored)
        if mine.any():
            marker = {"symbol": symbol, "size": sizes[mine], "opacity": 1, "line": {"color": ink.EDGE, "width": 1}}
            marker |= {"color": values[mine], "coloraxis": "coloraxis"} if colored else {"color": ink.GREY}
            said = {"text": texts[mine], "customdata": _said(frame["node"][mine], hovers[mine]), "showlegend": False}
            place = frame["x"][mine], frame["y"][mine], None
            figure.points(*place, marker, "%{customdata[1]}", **said, **look, **ink.NOT_PALE)


def _said(nodes, hovers) -> np.ndarray:
    return np.array([nodes, hovers], dtype=object).T


def _edges(figure, frame, on_path) -> None:
    position = {v: (x, y) for v, x, y in zip(frame["node"], frame["x"], frame["y"])}
    child = (frame["parent"] >= 0).to_numpy()
    groups = [(child if on_path is None else child & ~on_path, ink.EDGE, 1.2)]
    if on_path is not None:
        widths = np.full(len(frame), 3.0)
        if "share_of_label" in frame.columns:
            shares = frame["share_of_label"].to_numpy(dtype=np.float64)
            # Rounded to half a pixel, so that there are few different widths: each width is a trace of its own.
            widths = THIN + np.round(2 * (THICK - THIN) * shares) / 2
        groups += [(child & on_path & (widths == width), ink.VERMILION, float(width)) for width in np.unique(widths)]
    for mine, color, width in groups:
        xs, ys = [], []
        for parent, x, y in zip(frame["parent"][mine], frame["x"][mine], frame["y"][mine]):
            px, py = position[parent]
            xs += [px, px + 0.5, px + 0.5, x, None]
            ys += [py, py, y, y, None]
        if xs:
            figure.stroke(xs, ys, color, width)


def _beside(frame) -> np.ndarray:
    """Return the texts beside the ends of branches: a label, and the number of hidden nodes."""
    parents = set(frame["parent"])
    ends = (row["node"] not in parents for row in frame.to_dict("records"))
    return np.array([_end(row) if end else "" for row, end in zip(frame.to_dict("records"), ends)], dtype=object)


def _end(row) -> str:
    room, held, texts = NAME - (len(" nodes") if row["hidden"] else 0), row.get("held"), []
    if row.get("visited", True):
        name = row.get("companion", "") if held is not None else row.get("told_name") or row.get("name_1", "")
        texts = [] if held is None else [f"<b>{held}</b>"]
        texts.append(short(str(name), room - len(held or "")))
    if row["hidden"]:
        texts.append(f"<b>+{row['hidden']:,} node{'' if row['hidden'] == 1 else 's'}</b>")
    return "  " + " ".join(filter(None, texts)) if any(texts) else ""


def _hover(frame) -> np.ndarray:
    texts = []
    for row in frame.to_dict("records"):
        share, depth = row.get("share_of_parent"), f", depth {row['depth']}" if "depth" in row else ""
        of_parent = f" ({100 * share:.0f} % of those of node {row['parent']})" if share and row["parent"] >= 0 else ""
        lines = [
            f"<b>{'leaf' if row['kind'] == 'leaf' else 'node'} {row['node']}</b>{depth}",
            f"{row['rows']:,} training rows{of_parent}",
            row.get("having"),
            _listed("{}", row.get("labels")),
            _listed("most gained: {}", row.get("told")),
            row.get("sent") and f"sends {row['sent']}",
            row.get("equation") and f"J = {row['equation']}",
            f"{row['hidden']:,} nodes below it not drawn" if row["hidden"] else "",
        ]
        texts.append("<br>".join(filter(None, lines)))
    return np.array(texts, dtype=object)


def _listed(form, labels) -> str:
    """Return labels in lines that break after commas, and without markup; nothing of none."""
    if not labels:
        return ""
    parts = [part.replace(" ", "\u00a0") for part in form.format(labels).split(", ")]
    lines = textwrap.wrap(", ".join(parts), 62, break_long_words=False, break_on_hyphens=False)
    return "<br>".join(html.escape(line, quote=False).replace("\u00a0", " ") for line in lines)


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
) -> Figure:
    """Draw a label tree from the top to the bottom: each node is a bar above the bars of its children.

    {Parameters: frame}
        A row per node: columns ``node``, ``parent``, ``depth``, ``start`` and ``n_labels`` (left end and width of the
        bar, in labels), ``name``, and the one named by ``color``. Optional: ``about``, a text for the hover label.
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
    {figure}
        Bars have their node in ``customdata[0]``.
    """
    columns = ["node", "parent", "depth", "start", "n_labels", "name", color]
    need_columns(frame, columns, "label_tree", chosen=chosen, path=path, total=total)
    figure = Drawing(title, frame, total)
    width = float(frame["n_labels"].max())
    first, last = int(frame["depth"].min()), int(frame["depth"].max())
    share = frame["n_labels"].to_numpy(np.float64) / width
    values, whole = frame[color].to_numpy(np.float64), share == 1
    known = np.isfinite(values) & ~whole  # a bar above all others would be the loudest one, and says nothing
    upwards = (share >= UPWARDS[0]) & (share < UPWARDS[1]) & (last - first < TALL_LEVELS)
    tall = upwards.any()
    frame = frame.assign(low=frame["depth"] - np.where(whole & tall, OF_ALL, 0.43), high=frame["depth"] + 0.43)
    letters = np.where(upwards, LETTERS, np.where(share >= NAMED, np.clip(120 * share, 6, 40), 0)).astype(int)
    texts = np.array([short(name, n) if n else "" for name, n in zip(frame["name"], letters.tolist())], dtype=object)
    fills, inks = _colors(figure, np.where(known, values, np.nan), whole, axis, percent, log)
    written = "{:.1f} %" if percent else "{:,.0f}"
    numbers = (written.format(100 * v if percent else v) if np.isfinite(v) else "unknown" for v in values)
    hovers = draw.hovers(frame, [f"{axis}: {number}" for number in numbers])
    for mine, angle, size, fits in [(~upwards, 0, 12, "both"), (upwards, -90, 11, "none")]:
        if mine.any():
            figure.add("bar", 
                base=frame["start"][mine], x=frame["n_labels"][mine], y=(frame["low"] + frame["high"])[mine] / 2,
                orientation="h", width=(frame["high"] - frame["low"])[mine], showlegend=False,
                marker={"color": fills[mine], "line": {"color": ink.EDGE, "width": 1}}, constraintext=fits,
                text=texts[mine], textposition="inside", insidetextanchor="middle", textangle=angle,
                textfont={"size": size, "color": inks[mine]}, customdata=_said(frame["node"][mine], hovers[mine]),
                hovertemplate="%{customdata[1]}<extra></extra>", **ink.NOT_PALE,
            )  # fmt: skip
    found = _point_at(figure, frame, path[-1] if len(path) else -1)
    outlines, level = _outlines(frame, chosen, path), TALL if tall else LEVEL
    ends = [last + 0.6 + (TRIANGLE / level if found else 0), float(frame["low"].min()) - 0.17]
    legend, said = OUTLINES if outlines else 0, 0 if letters.all() else SUBTITLE
    places = frame.groupby("depth")[["low", "high"]].first().mean(axis=1).iloc[:: max(1, (last - first + 1) // 15)]
    ticks = {"tickvals": places.tolist(), "ticktext": [f"Depth {depth}" for depth in places.index]}
    layout = {"barmode": "overlay", "shapes": outlines, "uniformtext": {"minsize": 10, "mode": "hide"}}
    layout["height"] = level * (ends[0] - ends[1] - 0.2) + AROUND + legend + said
    layout["margin"] = {"l": 40, "r": 16, "t": 56 + said, "b": 84 + legend}
    layout["title_subtitle_text"] = "Point at a bar to see its name" if said else None
    x, y = {"range": [0, width], "visible": False}, {"range": ends, "showgrid": False, "showline": False, **ticks}
    return figure.checked(x, y, **layout)


def _colors(figure, values, whole, axis, percent, log) -> tuple[np.ndarray, np.ndarray]:
    """Return the colours of bars and of the texts on them, and show the scale; bars as wide as all have no colour."""
    known = np.isfinite(values)
    fills = np.where(whole, CLEAR, UNKNOWN).astype(object)
    inks = np.where(whole, ink.QUIET, "white").astype(object)
    scaled = np.log10(np.maximum(values[known], 0.5)) if log else values[known]
    low, high = (float(scaled.min()), float(scaled.max())) if known.any() else (0.0, 1.0)
    at = (scaled - low) / (high - low if high > low else 1.0)
    inks[np.flatnonzero(known)[at < LIGHT]] = "black"
    # Plotly takes numbers, too, but slowly, as it warns of each.
    ends = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for _, color in ink.SCALE])
    mixed = np.column_stack([np.interp(at, [place for place, _ in ink.SCALE], ends[:, i]) for i in range(3)])
    fills[known] = ["#{:02x}{:02x}{:02x}".format(*color) for color in mixed.round().astype(int).tolist()]
    if known.any():  # an invisible point, for the colour bar
        scale = {"color": [low], "coloraxis": "coloraxis", "opacity": 1}
        figure.add("scatter", x=[None], y=[None], mode="markers", marker=scale, hoverinfo="skip", showlegend=False)
    bar = percent_ticks(low, high) if percent else {"nticks": 4}
    if log:
        ticks = log_ticks(10**low, 10**high, whole=True)
        bar = {"tickvals": np.log10(ticks["tickvals"]).tolist(), "ticktext": ticks["ticktext"]}
    scale = {"colorscale": ink.SCALE, "cmin": low, "cmax": high if high > low else low + 1.0}
    figure.color_bar(axis, scale, bar, shown=bool(known.any()))
    return fills, inks


def _outlines(frame, chosen, path) -> list[dict]:
    """Return outlines: thick around the chosen node, thinner around those above it, and dotted around a path."""
    lines, shapes = {line["node"]: line for line in frame.to_dict("records")}, []
    node, width = chosen, 3.0
    while node in lines:
        shapes.append(_rectangle(lines[node], CHOSEN, width == 3.0, {"color": ink.VERMILION, "width": width}))
        node, width = lines[node]["parent"], 1.5
    drawn = [v for v in path if v in lines and v != chosen]
    for color, dash in (("#FFFFFF", None), (ink.GREEN, "dot")):  # for light and dark bars
        pen = {"color": color, "width": 3, "dash": dash}
        shapes += [_rectangle(lines[v], SEARCHED, dash == "dot" and v == drawn[0], pen) for v in drawn]
    return shapes


def _rectangle(line, name, in_legend, pen) -> dict:
    place = {"x0": line["start"], "x1": line["start"] + line["n_labels"], "y0": line["low"], "y1": line["high"]}
    return {"type": "rect", "name": name, "legendgroup": name, "showlegend": in_legend, "line": pen} | place


def _point_at(figure, frame, node) -> bool:
    """Draw a triangle below a node; return whether the frame has the node."""
    found = frame[frame["node"] == node].to_dict("records")
    for line in found:
        marker = {"symbol": "triangle-up", "size": 12, "color": ink.GREEN, "opacity": 1}
        look = {"customdata": [[line["node"]]], "showlegend": False, "cliponaxis": False, **ink.NOT_PALE}
        x, y = [line["start"] + line["n_labels"] / 2], [line["depth"] + 0.7]
        figure.points(x, y, None, marker, f"<b>{short(line['name'], 60)}</b>", **look)
    return bool(found)
