"""Figures of measures against the level of noise."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._style import (
    BUCKET_COLORS,
    BUCKET_MARKS,
    add_band,
    need_columns,
    new_figure,
    run_style,
    shade,
    short,
)

BUCKETS = ("head", "torso", "tail")
LEVEL = "Noise level"


def robustness_curves(
    frame: pd.DataFrame,
    measure: str = "P@k",
    k: int = 1,
    *,
    drop: bool = False,
    level: str = LEVEL,
    title: str | None = None,
) -> go.Figure:
    """Draw a measure of several runs against the level of noise, with the intervals over repeats as bands.

    Parameters
    ----------
    frame : DataFrame
        ``run`` (a name for the legend), ``model``, ``sigma``, ``k``, ``bucket``, ``measure``, ``n``, ``mean``, ``low``,
        ``high``; for drops ``drop_mean``, ``drop_low``, ``drop_high``. :func:`xmlcore.robustness.summarise` gives it;
        the first two are columns of the frames it is given.
    measure : str
    k : int
    drop : bool
        Draw how much of the value without noise is lost, instead of the value.
    level : str
        Title of the axis of levels.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        A run's colour and mark are its model's; the second run of a model is dashed.
    """
    columns = ["drop_mean", "drop_low", "drop_high"] if drop else ["mean", "low", "high"]
    need_columns(frame, ["run", "model", "sigma", "k", "bucket", "measure", "n", *columns], "robustness_curves")
    rows = frame[(frame["measure"] == measure) & (frame["k"] == k) & (frame["bucket"] == "all")]
    said = measure.replace("@k", f"@{k}")
    figure = new_figure(title or f"{said} under noise", shown=len(rows), total=len(rows))
    hover = f"{said}{' lost' if drop else ''} %{{y:.2f}} %"
    for name, mine, style in _runs(rows):
        _line(figure, mine, columns, 100.0, name, style, hover, floor=None if drop else 0.0)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text=level, **_levels(rows["sigma"]))
    figure.update_yaxes(title_text=f"{said} lost, % of that without noise" if drop else f"{said}, %")
    return figure


def prediction_times(
    frame: pd.DataFrame, *, level: str = LEVEL, title: str = "Prediction time under noise"
) -> go.Figure:
    """Draw the time to predict a row against the level of noise.

    Parameters
    ----------
    frame : DataFrame
        As :func:`robustness_curves` takes it, with the measure "predict_s", and ``rows``, the rows predicted.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    columns = ["mean", "low", "high"]
    need_columns(frame, ["run", "model", "sigma", "bucket", "measure", "n", "rows", *columns], "prediction_times")
    rows = frame[(frame["measure"] == "predict_s") & (frame["bucket"] == "all")]
    rows = rows.assign(**{column: rows[column] / rows["rows"] for column in columns})
    largest = rows["mean"].max() if len(rows) else 0.0
    factor, unit = (1e6, "µs") if largest < 1e-3 else (1e3, "ms") if largest < 1.0 else (1.0, "s")
    figure = new_figure(title, shown=len(rows), total=len(rows))
    for name, mine, style in _runs(rows):
        _line(figure, mine, columns, factor, name, style, f"%{{y:.3~g}} {unit} per row", floor=0.0)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text=level, **_levels(rows["sigma"]))
    figure.update_yaxes(title_text=f"Prediction, {unit} per row", rangemode="tozero")
    return figure


def buckets_under_noise(
    frame: pd.DataFrame, measure: str = "R@k", k: int = 5, *, level: str = LEVEL, title: str | None = None
) -> go.Figure:
    """Draw the parts that head, torso and tail labels have in a measure of one run, against the level of noise.

    Parameters
    ----------
    frame : DataFrame
        As :func:`robustness_curves` takes it, of one run, with the buckets "head", "torso" and "tail".
    measure : {"R@k", "P@k"}
        Parts of P@k add up to it and are stacked; R@k is of each bucket by itself.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    need_columns(frame, ["sigma", "k", "bucket", "measure", "n", "mean", "low", "high"], "buckets_under_noise")
    rows = frame[(frame["measure"] == measure) & (frame["k"] == k) & frame["bucket"].isin(BUCKETS)]
    said = measure.replace("@k", f"@{k}")
    figure = new_figure(title or f"{said} of head, torso and tail", shown=len(rows), total=len(rows))
    stacked = measure == "P@k"
    for bucket in BUCKETS:
        mine = rows[rows["bucket"] == bucket].sort_values("sigma")
        if mine.empty:
            continue
        color, mark = BUCKET_COLORS[bucket], BUCKET_MARKS[bucket]
        hover = f"{bucket}: %{{y:.2f}} %"
        if not stacked:
            style = {"color": color, "mark": mark, "dash": "solid"}
            _line(figure, mine, ["mean", "low", "high"], 100.0, bucket, style, hover, floor=0.0)
            continue
        figure.add_scatter(
            x=mine["sigma"],
            y=100 * mine["mean"],
            name=bucket,
            mode="lines+markers",
            stackgroup="parts",
            line={"color": color, "width": 1.5},
            marker={"symbol": mark, "size": 7, "color": color},
            fillcolor=shade(color, 0.35),
            hovertemplate=f"{hover}<extra></extra>",
        )
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text=level, **_levels(rows["sigma"]))
    figure.update_yaxes(title_text=f"{said}{' by bucket' if stacked else ' of the bucket'}, %", rangemode="tozero")
    return figure


def _runs(rows):
    """Name, lines and style of each run, in the order of the frame."""
    seen = {}
    for name, mine in rows.groupby("run", sort=False):
        model = mine["model"].iloc[0]
        yield name, mine.sort_values("sigma"), run_style(model, seen.get(model, 0))
        seen[model] = seen.get(model, 0) + 1


def _line(figure, rows, columns, factor, name, style, hover, floor=None):
    """A line with its band; ``columns`` are its mean, low and high."""
    mean, low, high = (factor * rows[column].to_numpy(dtype=np.float64) for column in columns)
    # Without noise nothing is repeated, and without repeats there is no interval: the line itself stands for it.
    low, high = np.where(np.isfinite(low), low, mean), np.where(np.isfinite(high), high, mean)
    if floor is not None:
        low = np.maximum(low, floor)
    named, color = str(name), style["color"]
    if (high > low).any():
        add_band(figure, rows["sigma"], low, high, color, named)
    said = [f", {a:.2f} to {b:.2f}" if b > a else "" for a, b in zip(low, high)]
    figure.add_scatter(
        x=rows["sigma"],
        y=mean,
        name=short(named, 60),
        mode="lines+markers",
        legendgroup=named,
        line={"color": color, "width": 2.5, "dash": style["dash"]},
        marker={"symbol": style["mark"], "size": 9, "color": color},
        customdata=np.array([said, rows["n"]], dtype=object).T,
        hovertemplate=f"<b>{short(named, 60)}</b><br>level %{{x:~g}}: {hover}%{{customdata[0]}}"
        "<br>repeats: %{customdata[1]}<extra></extra>",
    )


def _levels(sigma):
    """A tick at each level, as far as they are far enough from each other."""
    points = np.sort(pd.unique(sigma))
    if points.size == 0:
        return {}
    span = float(points[-1] - points[0]) or 1.0
    shown, last = [], np.inf
    for point in points[::-1]:
        if (last - point) / span >= 0.12:
            shown.append(float(point))
            last = point
    if shown[-1] != points[0]:  # no noise is always named
        shown[-1 if (shown[-1] - points[0]) / span < 0.12 and len(shown) > 1 else len(shown) :] = [float(points[0])]
    return {
        "tickvals": shown[::-1],
        "ticktext": [f"{point:g}" for point in shown[::-1]],
        "range": [float(points[0]) - 0.04 * span, float(points[-1]) + 0.04 * span],  # room for whole marks
        "zeroline": False,
    }
