"""The marks of which all figures are made: lines, points, bands, bars, boxes, heat, and notes; and panels of them."""

import numpy as np

from xmlcore.figures import _style as ink
from xmlcore.figures._axes import name_axis
from xmlcore.figures._names import short
from xmlcore.figures._style import Figure, make_subplots, shade

LINE = 24  # height of a bar, in pixels
AROUND = 150  # height of the space above and below the bars, in pixels
LENGTH = 150  # of a colour bar, in pixels
COLOR_BAR = {"orientation": "h", "thickness": 10, "len": LENGTH, "lenmode": "pixels", "x": 0, "xpad": 0,
             "xanchor": "left", "tickangle": 0, "tickfont": {"size": 11}}  # fmt: skip
CELL = 17  # height of a row of a heat map, in pixels
LETTERS = 18  # most letters of a name beside a heat map
NO_EDGE = {"width": 0}
ZERO = {"zeroline": True, "zerolinecolor": ink.MARK, "zerolinewidth": 1.5}  # of the axis of bars that go both ways


def panels(figure: Figure, rows: int, columns: int, **layout) -> Figure:
    """Divide a figure into panels, those of a row with one vertical axis."""
    return make_subplots(rows=rows, cols=columns, figure=figure, **{"shared_yaxes": True} | layout)


def axes(figure: Figure, x, y, *, at=(), **layout) -> None:
    """Give the axes their titles, or all their settings, in the panel ``at``; and the figure what else is set."""
    for update, axis in ((figure.update_xaxes, x), (figure.update_yaxes, y)):
        update(**({"title_text": axis} if isinstance(axis, str) else axis), **dict(at))
    figure.update_layout(layout)


def line(figure, x, y, name, color, hover, *, mark=None, size=8.0, width=2.0, dash=None, **trace) -> None:
    """Draw points with a line through them, all in one colour; ``hover`` is what is said where one points at them."""
    line, marker = {"color": color, "width": width, "dash": dash}, {"symbol": mark, "size": size, "color": color}
    said = {"hovertemplate": f"{hover}<extra></extra>"}
    figure.add_scatter(x=x, y=y, name=name, **{"mode": "lines+markers", "line": line, "marker": marker} | said | trace)


def stroke(figure, x, y, color, width=1.5, dash=None, **trace) -> None:
    """Draw a line without points and without hover texts."""
    quiet = {"mode": "lines", "hoverinfo": "skip", "showlegend": False}
    figure.add_scatter(x=x, y=y, line={"color": color, "width": width, "dash": dash}, **quiet | trace)


def points(figure, x, y, name, marker, hover, **trace) -> None:
    """Draw points without a line."""
    said = {"mode": "markers", "hovertemplate": f"{hover}<extra></extra>"}
    figure.add_scatter(x=x, y=y, name=name, marker=marker, **said | trace)


def band(figure, x, low, high, color: str, group: str, **trace) -> None:
    """Fill the area between two lines; a click on its ``group`` in the legend hides it with the group's lines."""
    edge = {"mode": "lines", "line": NO_EDGE, "hoverinfo": "skip", "showlegend": False, "legendgroup": group}
    figure.add_scatter(x=x, y=high, **edge, **trace)
    figure.add_scatter(x=x, y=low, fill="tonexty", fillcolor=shade(color), **edge, **trace)


def rule(figure, x, *, color=ink.MARK, **place) -> None:
    """Draw a dotted vertical line at a value."""
    figure.add_vline(x=x, line={"color": color, "width": 1.5, "dash": "dot"}, **place)


def note(figure, text: str, x, **place: object) -> None:
    """Write a small text above the plot at a place of its horizontal axis, or where ``place`` says."""
    above = {"y": 1, "yref": "paper", "yanchor": "bottom", "font": {"size": 12}}
    figure.add_annotation(text=text, x=x, showarrow=False, **above | place)


def columns(figure, x, y, name, color, hover, *, digits=None, pattern=None, edge=NO_EDGE, **trace) -> None:
    """Draw upright bars of one colour, with numbers above them if ``digits`` says how a value is written."""
    if digits is not None:
        texts = [digits(value) if np.isfinite(value) else "" for value in y]
        trace |= {"text": texts, "textposition": "outside", "cliponaxis": False}
    marker = {"color": color, "line": edge, "pattern": {"shape": pattern}}
    figure.add_bar(x=x, y=y, name=name, marker=marker, hovertemplate=f"{hover}<extra></extra>", **trace)


def bars(figure, values, mine, name, color, hover, hovers, *, solid=None, **trace) -> None:
    """Draw those horizontal bars, the first on top, that have one colour; from the bar ``solid`` on, hatched."""
    own = np.flatnonzero(mine)
    shape = ["/" if solid is not None and i >= solid else "" for i in own]
    pattern = {"shape": shape, "size": 6} if any(shape) else None
    if shape and all(shape):  # the legend has the pattern of the first bar, here of none that is named
        trace |= {"legendgroup": name, "showlegend": False}
        figure.add_bar(x=[None], y=[None], orientation="h", name=name, legendgroup=name, marker={"color": color})
    figure.add_bar(
        x=values[own], y=len(values) - 1 - own, orientation="h", name=name,
        width=0.75,  # otherwise the bars of a trace with gaps would be wider
        marker={"color": color, "line": NO_EDGE, "pattern": pattern},
        **{"customdata": [hovers[i] for i in own], "hovertemplate": f"%{{customdata}}<br>{hover}<extra></extra>"}
        | trace,
    )  # fmt: skip


def bar_figure(figure, names, values, groups, hover, hovers, axis, *, legend=True, **look) -> Figure:
    """Draw horizontal bars with their names, in groups: what the legend says, a mask of the bars, and their colour."""
    values = np.asarray(values, dtype=np.float64)
    for name, mine, color in groups:
        if np.any(mine):
            bars(figure, values, mine, name, color, hover, hovers, **look)
    bar_axes(figure, names)
    figure.update_xaxes(**axis).update_layout(showlegend=legend)
    return figure


def by_sign(values, positive: str, negative: str, none: str = "no influence") -> list[tuple]:
    """Return the groups of bars that say for a label, against it, or nothing."""
    values = np.asarray(values)
    return [(positive, values > 0, ink.FOR), (negative, values < 0, ink.AGAINST), (none, values == 0, ink.GREY)]


def hovers(frame, lines=None) -> np.ndarray:
    """Return what is said of each node: its name, a line if there is one, and what the frame says of it."""
    abouts = frame["about"] if "about" in frame.columns else [""] * len(frame)
    parts = ([f"<b>{short(name, 60)}</b>", line, about]
             for name, line, about in zip(frame["name"], lines or [""] * len(frame), abouts))  # fmt: skip
    return np.array(["<br>".join(filter(None, part)) for part in parts], dtype=object)


def bar_axes(figure, names) -> None:
    """Set the height of a figure of horizontal bars, and write a name beside each bar."""
    figure.update_layout(height=max(LINE * len(names) + AROUND, 220), barmode="overlay")
    figure.update_yaxes(**name_axis(names), ticks="")


def pairs(figure, frame, y, columns, names, hover, **trace) -> None:
    """Draw two numbers of each line of a frame as points that are joined, with the names that the legend has."""
    gap = np.full(len(frame), np.nan)
    x = np.column_stack([*(frame[column] for column in columns), gap]).ravel()
    stroke(figure, x, np.column_stack([y, y, gap]).ravel(), ink.MARK, 2, **trace | {"showlegend": False})
    about = [short(text, 80) for text in frame["name"]]
    for column, name, color, symbol in zip(columns, names, (ink.BLUE, ink.VERMILION), ("circle-open", "circle")):
        marker = {"symbol": symbol, "size": 10, "color": color, "line": {"color": color, "width": 2}}
        said = f"<b>%{{customdata}}</b><br>{name} {hover}"
        points(figure, frame[column], y, name, marker, said, customdata=about, legendgroup=column, **trace)


def box(figure, values, place, color, name, texts, hover, marker, **box) -> None:
    """Draw a box at a place of a vertical axis, with its points."""
    figure.add_box(
        x=values, y=np.full(len(values), place), orientation="h", name=name, width=0.5, pointpos=0,
        line={"color": color, "width": 1.5}, fillcolor=shade(color), marker={"color": color, **marker},
        customdata=texts, hovertemplate=f"{hover}<extra></extra>", hoveron="points",
        **{"boxpoints": "all", "jitter": 0.5} | box,
    )  # fmt: skip


def error_bars(figure, values, errors) -> None:
    """Draw intervals of horizontal bars, on white lines below dark ones: one of them is seen on every bar and page."""
    for trace in figure.data:
        at = len(values) - 1 - np.asarray(trace.y)
        trace.error_x = {"array": errors[at], "color": "white", "thickness": 4, "width": 5}
    figure.add_scatter(
        x=values, y=np.arange(values.size)[::-1], mode="markers", marker={"opacity": 0}, hoverinfo="skip",
        error_x={"array": errors, "color": ink.INK, "thickness": 1.5, "width": 4}, showlegend=False,
    )  # fmt: skip


def heat_map(figure, values, lines, columns, hovers, title, ticks, ends) -> Figure:
    """Draw a heat map with names beside it, and above it a bar of its colours."""
    n_lines, n_columns = values.shape
    # Names are categories of the axis. If there is no space for all of them, Plotly writes every second or third name.
    figure.add_heatmap(
        x=_categories(columns), y=_categories(lines), z=values, coloraxis="coloraxis", hoverongaps=False,
        customdata=np.array(hovers, dtype=object).reshape(n_lines, n_columns),
        hovertemplate="%{customdata}<extra></extra>",
        xgap=0.6 if n_columns <= 80 else 0, ygap=0.6 if n_lines <= 80 else 0,
    )  # fmt: skip
    bar = COLOR_BAR | {"y": 1, "yanchor": "bottom", "ypad": 8, "nticks": 4} | ticks
    colors = {"colorscale": ink.AREAS, "cmin": ends[0], "cmax": ends[1], "colorbar": bar}
    figure.update_layout(
        height=max(CELL * n_lines + 250, 340), margin={"t": 112, "b": 16, "l": 16, "r": 16}, coloraxis=colors
    )
    # The title is an annotation, because the dashboard's theme would put a title of the colour bar on top of the bar.
    note(figure, title[:1].upper() + title[1:], 0, xref="paper", xanchor="left", yshift=42)
    axis = {"type": "category", "tickfont": {"size": 11}, "showgrid": False, "ticks": "", "showline": False}
    axes(figure, {"tickangle": 90, **axis}, {"autorange": "reversed", **axis})
    return figure


def _categories(names) -> list[str]:
    """Return the names as shortened texts, with zero-width spaces at the end of equal texts, so that all differ."""
    times_used, categories = {}, []
    for name in names:
        text = short(name, LETTERS)
        times_used[text] = times_used.get(text, 0) + 1
        categories.append(text + "\u200b" * (times_used[text] - 1))
    return categories


def color_bar(figure, title: str, scale: dict, bar: dict, *, shown: bool) -> None:
    """Set the colour scale of a figure and, if ``shown``, a bar below the figure with its title beside it."""
    bar = COLOR_BAR | {"y": 0, "yanchor": "top", "ypad": 16} | bar
    figure.update_layout(coloraxis={**scale, "showscale": shown, "colorbar": bar})
    if shown:  # the title is an annotation for the same reason
        beside = {"xref": "paper", "xanchor": "left", "xshift": LENGTH + 8, "y": 0, "yanchor": "middle", "yshift": -21}
        note(figure, title, 0, **beside)
