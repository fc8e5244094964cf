"""Axes that several figures share, and which points of a long curve are drawn."""

import numpy as np

MOST_POINTS = 5000  # most points of a curve, unless more have different counts


def curve_points(counts):
    """Return positions in ``counts``, which descend, whose points give the same curve."""
    n = counts.size
    if n <= MOST_POINTS:
        return np.arange(n)
    change = np.flatnonzero(np.diff(counts))
    kept = np.unique(np.concatenate([[0], change, change + 1, [n - 1]]))
    if kept.size > MOST_POINTS:
        spread = np.unique(np.geomspace(1, n, MOST_POINTS).astype(np.int64)) - 1
        nearest = np.searchsorted(kept, spread).clip(max=kept.size - 1)
        kept = np.unique(np.concatenate([kept[nearest], [0, n - 1]]))
    return kept


def log_axis(smallest, largest):
    """Return a log axis with ticks at powers of ten, and at 2 and 5 times these if the range is small."""
    return {
        "type": "log",
        "dtick": 1 if largest > 200 * smallest else "D2",
        "tickformat": ",d",
        "range": [float(np.log10(smallest)) - 0.06, float(np.log10(max(largest, 2 * smallest))) + 0.08],
    }


def spaced_axis(points):
    """Return an axis with a tick at each point that is far enough from the tick before."""
    points = np.asarray(points, dtype=np.float64)
    if points.size == 0:
        return {"zeroline": False}
    span = float(points[-1] - points[0]) or 1.0
    shown = [points[0]]
    for point in points[1:]:
        if (point - shown[-1]) / span >= 0.1:
            shown.append(point)
    return {"tickvals": shown, "ticktext": [f"{point:g}" for point in shown], "zeroline": False}
