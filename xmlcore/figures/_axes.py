"""Axes, bars with names beside them, and colour bars with a title: what several figures have."""

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._style import BLUE, MARK, VERMILION, add_note, shade, short

MOST_POINTS = 5000  # largest number of points that are drawn of a curve
LINE = 24  # height of a bar, in pixels
AROUND = 150  # height of the space above and below the bars, in pixels
LENGTH = 150  # of a colour bar, in pixels
COLOR_BAR = {"orientation": "h", "thickness": 10, "len": LENGTH, "lenmode": "pixels", "x": 0, "xpad": 0,
             "xanchor": "left", "tickangle": 0, "tickfont": {"size": 11}}  # fmt: skip
LEAST_SPAN = 0.05  # of an axis of shares: less is a small difference, whatever else is drawn
LEAST_TICKS = 3  # numbers on an axis
MOST_TICKS = 8  # numbers on an axis that need not begin at 0: of fewer, steps of 1, 2 or 5 would leave two at times
LETTER, GAP = 0.023, 0.02  # widths of a letter of a number, and between two, as shares of an axis on a phone
MOST_LINES = 3  # of numbers below an axis
NEAR = (8, 6, 5, 4, 3, 2.5, 2, 1.5, 1)  # digits of steps of which three or four are on an axis: no room for more


def curve_points(counts):
    """Return the positions of the values to draw so that the curve of ``counts``, which descend, looks the same."""
    n = counts.size
    if n <= MOST_POINTS:
        return np.arange(n)
    change = np.flatnonzero(np.diff(counts))
    run_ends = np.unique(np.concatenate([[0], change, change + 1, [n - 1]]))
    if run_ends.size > MOST_POINTS:
        evenly_spread = np.unique(np.geomspace(1, n, MOST_POINTS).astype(np.int64)) - 1
        nearest = np.searchsorted(run_ends, evenly_spread).clip(max=run_ends.size - 1)
        run_ends = np.unique(np.concatenate([run_ends[nearest], [0, n - 1]]))
    return run_ends


def log_axis(smallest, largest, *, whole: bool = True) -> dict:
    """Return a log axis from ``smallest`` to ``largest``, or to twice that at least; ``whole``: of whole numbers."""
    low, high = 10**-0.06 * smallest, 10**0.08 * max(largest, 2 * smallest)
    return log_ticks(low, high, whole=whole) | {"range": [math.log10(low), math.log10(high)]}


def log_ticks(low: float, high: float, *, whole: bool = False) -> dict:
    """Return a log axis with three numbers at least: powers of ten or, of a small range, also what is between them."""
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    for digits in ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 5, 7)):
        values = [float(f"{digit}e{power}") for power in powers for digit in digits]
        if len(values := [value for value in values if low <= value <= high]) >= LEAST_TICKS:
            break
    if len(values) < LEAST_TICKS:
        values = steps(low, high)
    if whole:
        values = [value for value in values if value % 1 == 0]
    return {
        "type": "log",
        "tickvals": values,
        "ticktext": [f"{value:,.9f}".rstrip("0").rstrip(".") for value in values],
    }


def steps(low: float, high: float, digits=(5, 2, 1)) -> list[float]:
    """Return the multiples of the largest round step between two numbers of which three are; steps have the digits."""
    power = math.floor(math.log10(high - low))
    for step in (float(f"{digit}e{power - down}") for down in range(3) for digit in digits):
        values = [float(f"{step * n:.12g}") for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
        if len(values) >= LEAST_TICKS:
            break
    return values


def small_looks_small(figure: go.Figure, whole: float = 100.0) -> None:
    """Let each axis of a share, of which ``whole`` is all, span a 20th of it and three of its intervals at least."""
    figure.update_yaxes(nticks=MOST_TICKS)
    drawn: dict[str, list] = {}
    for trace in figure.data:
        if trace.y is not None and len(trace.y):
            y, error = np.asarray(trace.y, dtype=np.float64), trace.error_y
            over = np.zeros(1) if error.array is None else np.asarray(error.array, dtype=np.float64)
            below = over if error.arrayminus is None else np.asarray(error.arrayminus, dtype=np.float64)
            name = trace.yaxis or "y"
            axis = figure.layout[f"yaxis{name[1:]}"].matches or name
            drawn.setdefault(axis, []).append((np.r_[y - below, y + over], np.r_[over + below]))
    for axis in figure.select_yaxes():
        parts = drawn.get(axis.matches or axis.plotly_name.replace("yaxis", "y"), ())
        ends, widths = (np.concatenate([part[i] for part in parts]) if parts else np.empty(0) for i in (0, 1))
        if not np.isfinite(ends).any():
            continue
        low, high, widest = np.nanmin(ends), np.nanmax(ends), np.nanmax(widths, initial=0.0)
        span = max(LEAST_SPAN * whole, 3 * widest)
        if high - low < span:
            start = (low + high - span) / 2
            if 0 <= low and high <= whole:
                start = max(0.0, min(start, whole - span))
            axis.range = [start - 0.04 * span, start + 1.04 * span]


def far_apart(points, share: float) -> list[int]:
    """Return the positions of ascending points whose distance is a share of the whole at least; the ends are kept."""
    near, shown = share * (points[-1] - points[0]), [0]
    for at in range(1, len(points) - 1):
        if points[at] - points[shown[-1]] >= near and points[-1] - points[at] >= near:
            shown.append(at)
    return [*shown, len(points) - 1] if len(points) > 1 else shown


def spaced_axis(values) -> dict:
    """Return an axis with ticks at values; a number that would touch another one is lower, or else has no tick."""
    points = np.sort(pd.unique(values)).astype(float)
    if points.size == 0:
        return {}
    span, texts = float(points[-1] - points[0]) or 1.0, [f"{point:g}" for point in points]
    half = span * np.array([GAP + LETTER * len(text) for text in texts]) / 2
    lines = _lines(np.maximum(points - half, points[0] - half[0]), points + half)
    return {
        "tickvals": points[list(lines)],
        "ticktext": ["<br>" * line + texts[at] for at, line in lines.items()],
        "range": [points[0] - 0.04 * span, points[-1] + 0.04 * span],  # space for whole marks
        "tickangle": 0,
        "zeroline": False,
    }


def _lines(starts, ends) -> dict[int, int]:
    """Return on which line each text stands, so that none touch, for as many as there is room for, both ends first."""
    last, shown = starts.size - 1, []
    order = [last, *range(last)]
    for _ in range(MOST_LINES):
        line: list[int] = []
        for at in order:
            if at not in shown and all(ends[at] <= starts[other] or ends[other] <= starts[at] for other in line):
                line.append(at)
        shown += line
        order = [*range(last, -1, -1)]  # so that those of all lines do not crowd on the left
    lines, until = {}, [-np.inf] * MOST_LINES
    for at in sorted(shown, key=lambda at: (starts[at], at)):  # in this order the first free line is always good enough
        lines[at] = next(line for line, end in enumerate(until) if end <= starts[at])
        until[lines[at]] = ends[at]
    return dict(sorted(lines.items()))


def spaced_log_axis(points, share: float) -> dict:
    """Return a log axis with ticks at ascending points, each by a share of the axis from the next one."""
    if len(points) == 0:
        return {"type": "log"}
    logs = np.log10(points)
    span = max(logs[-1] - logs[0], 0.3)
    shown = [float(points[at]) for at in spread_from_the_last(logs, share * span)]
    ticks = {"tickvals": shown, "ticktext": [f"{point:,.10g}" for point in shown]}
    return {"type": "log", "range": [float(logs[0] - 0.06 * span), float(logs[-1] + 0.06 * span)], **ticks}


def spread_from_the_last(places, distance: float) -> list[int]:
    """Return the positions of ascending places, of which each is so far from the next one; the last is kept."""
    shown, last = [], np.inf
    for at in range(len(places) - 1, -1, -1):
        if last - places[at] >= distance:
            shown.append(at)
            last = places[at]
    return shown[::-1]


def bars(figure, values, mine, hovers, color, name, hover, opacity=1.0, solid=None):
    """Add the bars of one colour to a figure of horizontal bars, of which the first is on top."""
    place = (len(values) - 1 - np.arange(len(values)))[mine]
    shape = ["/" if solid is not None and i >= solid else "" for i in np.flatnonzero(mine)]
    pattern = {"shape": shape, "size": 6} if any(shape) else None
    in_legend = {}
    if shape and all(shape):  # the legend has the pattern of the first bar, here of none that is named
        in_legend = {"legendgroup": name, "showlegend": False}
        figure.add_bar(x=[None], y=[None], orientation="h", name=name, legendgroup=name, marker={"color": color})
    figure.add_bar(
        x=values[mine],
        y=place,
        orientation="h",
        width=0.75,  # otherwise the bars of a trace with gaps would be wider
        name=name,
        marker={"color": color if opacity == 1 else shade(color, opacity), "line": {"width": 0}, "pattern": pattern},
        customdata=[hovers[i] for i in np.flatnonzero(mine)],
        hovertemplate=f"%{{customdata}}<br>{hover}<extra></extra>",
        **in_legend,
    )


def add_pairs(figure, frame, y, columns, names, hover, **trace):
    """Draw two numbers of each line of a frame as points that are joined, with the names that the legend has."""
    gap = np.full(len(frame), np.nan)
    figure.add_scatter(
        x=np.column_stack([*(frame[column] for column in columns), gap]).ravel(),
        y=np.column_stack([y, y, gap]).ravel(),
        mode="lines",
        line={"color": MARK, "width": 2},
        hoverinfo="skip",
        **trace | {"showlegend": False},
    )
    for column, name, color, symbol in zip(columns, names, (BLUE, VERMILION), ("circle-open", "circle")):
        figure.add_scatter(
            x=frame[column],
            y=y,
            name=name,
            mode="markers",
            marker={"symbol": symbol, "size": 10, "color": color, "line": {"color": color, "width": 2}},
            customdata=[short(text, 80) for text in frame["name"]],
            hovertemplate=f"<b>%{{customdata}}</b><br>{name} {hover}<extra></extra>",
            legendgroup=column,
            **trace,
        )


def bar_axes(figure, texts):
    """Set the height of a figure of horizontal bars, and write a text beside each bar."""
    figure.update_layout(height=max(LINE * len(texts) + AROUND, 220), barmode="overlay")
    figure.update_yaxes(**name_axis(texts), ticks="")


def name_axis(texts, room: float = 0.7) -> dict:
    """Return an axis with a text at each place, of which the first is on top, and some room beyond the last ones."""
    count = len(texts)
    ticks = {"tickvals": np.arange(count)[::-1], "ticktext": texts}
    return {**ticks, "range": [-room, count - 1 + room], "showgrid": False}


def percent_ticks(low: float, high: float) -> dict:
    """Return the ticks of a bar of shares from ``low`` to ``high``, written as figures write percentages: ``20 %``."""
    values = steps(low, high, NEAR) if high > low else [low]
    return {"tickvals": values, "ticktext": [f"{100 * value:.9g} %" for value in values]}


def show_color_bar(figure: go.Figure, title: str, scale: dict, bar: dict, *, shown: bool) -> None:
    """Set the colour scale of a figure and, if ``shown``, a bar below the figure with its title beside it."""
    bar = COLOR_BAR | {"y": 0, "yanchor": "top", "ypad": 16} | bar
    figure.update_layout(coloraxis={**scale, "showscale": shown, "colorbar": bar})
    if shown:
        # The title is an annotation, because the dashboard's theme would put a title of the bar on top of the bar.
        beside = {"xref": "paper", "xanchor": "left", "xshift": LENGTH + 8, "y": 0, "yanchor": "middle", "yshift": -21}
        add_note(figure, title, 0, **beside)
