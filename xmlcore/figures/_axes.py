"""Axes: their ticks and ranges, and the ticks of colour bars."""

import math

import numpy as np
import pandas as pd

MOST_POINTS = 5000  # largest number of points that are drawn of a curve
LEAST_SPAN = 0.05  # of an axis of shares: less is a small difference, whatever else is drawn
LEAST_TICKS = 3  # numbers on an axis
MOST_TICKS = 8  # numbers on an axis that need not begin at 0: of fewer, steps of 1, 2 or 5 would leave two at times
APART = 0.09  # least distance of two numbers on an axis, as a share of it: there is room for them on a phone
NEAR = (8, 6, 5, 4, 3, 2.5, 2, 1.5, 1)  # digits of steps of which three or four are on an axis: no room for more
ROUND = [factor * 10**power for power in range(20) for factor in (1, 2, 5)]


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
    tried = ([float(f"{digit}e{power}") for power in powers for digit in digits]
             for digits in ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 5, 7)))  # fmt: skip
    within = ([value for value in values if low <= value <= high] for values in tried)
    values = next((values for values in within if len(values) >= LEAST_TICKS), None) or steps(low, high)
    values = [value for value in values if not whole or value % 1 == 0]
    texts = [f"{value:,.9f}".rstrip("0").rstrip(".") for value in values]
    return {"type": "log", "tickvals": values, "ticktext": texts}


def steps(low: float, high: float, digits=(5, 2, 1)) -> list[float]:
    """Return the multiples of the largest round step between two numbers of which three are; steps have the digits."""
    power = math.floor(math.log10(high - low))
    for step in (float(f"{digit}e{power - down}") for down in range(3) for digit in digits):
        values = [float(f"{step * n:.12g}") for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
        if len(values) >= LEAST_TICKS:
            break
    return values


def small_looks_small(figure, whole: float = 100.0) -> None:
    """Let each axis of shares of ``whole`` span at least a 20th of it and three of its intervals."""
    axes = {f"y{panel}": figure.layout.setdefault(f"yaxis{panel}", {}) for panel in figure.panels_at()}
    drawn: dict[str, list] = {}
    for trace in figure.traces:
        if "y" in trace and len(trace["y"]):
            name = trace.get("yaxis", "y")
            drawn.setdefault(axes[name].get("matches", name), []).append(_extent(trace["y"], trace.get("error_y")))
    for name, axis in axes.items():
        axis["nticks"] = MOST_TICKS
        extents = np.array(drawn.get(axis.get("matches", name), np.empty((0, 3))))
        if not np.isfinite(extents).any():
            continue
        low, high, widest = np.nanmin(extents[:, 0]), np.nanmax(extents[:, 1]), np.nanmax(extents[:, 2], initial=0.0)
        span = max(LEAST_SPAN * whole, 3 * widest)
        if high - low < span:
            start = (low + high - span) / 2
            if 0 <= low and high <= whole:
                start = max(0.0, min(start, whole - span))
            axis["range"] = [start - 0.04 * span, start + 1.04 * span]


def _extent(y, error) -> tuple[float, float, float]:
    """Return the lowest and the highest end of a trace with its intervals, and the width of the widest interval."""
    y, error = np.asarray(y, dtype=np.float64), error or {"array": [0.0]}
    over = np.asarray(error["array"], dtype=np.float64)
    below = np.asarray(error.get("arrayminus", over), dtype=np.float64)
    if not np.isfinite(y).any():
        return (np.nan,) * 3
    return np.nanmin(y - below), np.nanmax(y + over), np.nanmax(over + below, initial=0.0)


def far_apart(points, share: float) -> list[int]:
    """Return the positions of ascending points whose distance is a share of the whole at least; the ends are kept."""
    if len(points) < 2:
        return [*range(len(points))]
    near, shown = share * (points[-1] - points[0]), [0]
    for at in range(1, len(points) - 1):
        if points[at] - points[shown[-1]] >= near and points[-1] - points[at] >= near:
            shown.append(at)
    return [*shown, len(points) - 1]


def spaced_axis(values) -> dict:
    """Return an axis with ticks at values, as many as there is room for."""
    points = np.sort(pd.unique(values)).astype(float)
    if points.size == 0:
        return {}
    span, shown = float(points[-1] - points[0]) or 1.0, points[far_apart(points, APART)]
    return {
        "tickvals": shown,
        "ticktext": [f"{point:g}" for point in shown],
        "range": [points[0] - 0.04 * span, points[-1] + 0.04 * span],  # space for whole marks
        "tickangle": 0,
        "zeroline": False,
    }


def spaced_log_axis(points, share: float) -> dict:
    """Return a log axis with ticks at ascending points, each by a share of the axis from the next one."""
    if len(points) == 0:
        return {"type": "log"}
    logs = np.log10(points)
    span = max(logs[-1] - logs[0], 0.3)
    shown = [float(points[at]) for at in far_apart(logs, share)]
    ticks = {"tickvals": shown, "ticktext": [f"{point:,.10g}" for point in shown]}
    return {"type": "log", "range": [float(logs[0] - 0.06 * span), float(logs[-1] + 0.06 * span)], **ticks}


def whole_axis(values) -> dict:
    """Return an axis of whole numbers, with a tick at each if the largest is at most 12."""
    return {"tickformat": "d", **({"dtick": 1} if max(values, default=0) <= 12 else {})}


def name_axis(texts, room: float = 0.7) -> dict:
    """Return an axis with a text at each place, the first on top, and some room beyond the last one."""
    count = len(texts)
    ticks = {"tickvals": np.arange(count)[::-1], "ticktext": texts}
    return {**ticks, "range": [-room, count - 1 + room], "showgrid": False}


def percent_ticks(low: float, high: float) -> dict:
    """Return the ticks of a bar of shares from ``low`` to ``high``, written as figures write percentages: ``20 %``."""
    values = steps(low, high, NEAR) if high > low else [low]
    return {"tickvals": values, "ticktext": [f"{100 * value:.9g} %" for value in values]}
