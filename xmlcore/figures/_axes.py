"""Axes that several figures share, and which points of a long curve are drawn."""

import numpy as np

MOST_POINTS = 5000  # largest number of points that are drawn of a curve


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


def log_axis(smallest, largest):
    """Return a log axis with ticks at powers of ten, and at 2 and 5 times these if the range is small."""
    return {
        "type": "log",
        "dtick": 1 if largest > 200 * smallest else "D2",
        "tickformat": ",d",
        "range": [float(np.log10(smallest)) - 0.06, float(np.log10(max(largest, 2 * smallest))) + 0.08],
    }


def far_apart(points, share: float) -> list[int]:
    """Return the positions of ascending points whose distance is a share of the whole at least; the ends are kept."""
    near, shown = share * (points[-1] - points[0]), [0]
    for at in range(1, len(points) - 1):
        if points[at] - points[shown[-1]] >= near and points[-1] - points[at] >= near:
            shown.append(at)
    return [*shown, len(points) - 1] if len(points) > 1 else shown


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
