"""Figures of measures against the level of noise."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import small_looks_small, spaced_axis
from xmlcore.figures._style import (
    BUCKET_COLORS,
    BUCKET_MARKS,
    add_band,
    add_line,
    need_columns,
    new_figure,
    shade,
    short,
    styled_runs,
)
from xmlcore.metrics.buckets import BUCKETS

LEVEL = "Noise level"  # title of the axis of levels


def robustness_curves(
    frame: pd.DataFrame,
    measure: str = "P@k",
    k: int = 1,
    *,
    drop: bool = False,
    level: str = LEVEL,
    title: str | None = None,
) -> go.Figure:
    """Draw a measure of several runs against the level of noise, with intervals over repeats as bands.

    Parameters
    ----------
    frame : DataFrame
        Columns ``run`` (name in the legend), ``model``, ``sigma``, ``k``, ``bucket``, ``measure``, ``n``, ``mean``,
        ``low``, ``high``; with ``drop``, ``drop_mean``, ``drop_low``, ``drop_high`` in place of the last three.
        :func:`xmlcore.robustness.summarise` gives all but the first two, and keeps those if its frame has them.
    measure : str
    k : int
    drop : bool
        Draw the share of the value without noise that is lost, instead of the value.
    level : str
        Title of the axis of levels.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        A run has the colour and mark of its model, or those of its ``place`` as in :func:`frontier` if the frame has
        that column; the second run of a model is dashed.
    """
    columns = ["drop_mean", "drop_low", "drop_high"] if drop else ["mean", "low", "high"]
    need_columns(frame, ["run", "model", "sigma", "k", "bucket", "measure", "n", *columns], "robustness_curves", k=k)
    rows = frame[(frame["measure"] == measure) & (frame["k"] == k) & (frame["bucket"] == "all")]
    wording = measure.replace("@k", f"@{k}")
    figure = new_figure(title or f"{wording} under noise", shown=len(rows), total=len(rows))
    hover = f"{wording}{' lost' if drop else ''} %{{y:.2f}} %"
    for name, mine, style, _ in styled_runs(rows):
        _line(figure, mine.sort_values("sigma"), columns, 100.0, name, style, hover, floor=None if drop else 0.0)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text=level, **spaced_axis(rows["sigma"]))
    figure.update_yaxes(title_text=f"{wording} lost, % of that at level 0" if drop else f"{wording}, %")
    small_looks_small(figure)
    return figure


def prediction_times(
    frame: pd.DataFrame, *, level: str = LEVEL, title: str = "Prediction time under noise"
) -> go.Figure:
    """Draw the time to predict a row against the level of noise.

    Parameters
    ----------
    frame : DataFrame
        Columns ``run``, ``model``, ``sigma``, ``bucket``, ``measure`` ("predict_s" is drawn), ``n``, ``mean``, ``low``,
        ``high``, ``rows`` (number of predicted rows); see :func:`robustness_curves`.
    level : str
        Title of the axis of levels.
    {titled_figure}
    """
    columns = ["mean", "low", "high"]
    need_columns(frame, ["run", "model", "sigma", "bucket", "measure", "n", "rows", *columns], "prediction_times")
    rows = frame[(frame["measure"] == "predict_s") & (frame["bucket"] == "all")]
    rows = rows.assign(**{column: rows[column] / rows["rows"] for column in columns})
    largest = rows["mean"].max() if len(rows) else 0.0
    factor, unit = (1e6, "µs") if largest < 1e-3 else (1e3, "ms") if largest < 1.0 else (1.0, "s")
    figure = new_figure(title, shown=len(rows), total=len(rows))
    for name, mine, style, _ in styled_runs(rows):
        _line(figure, mine.sort_values("sigma"), columns, factor, name, style, f"%{{y:.3~g}} {unit} per row", floor=0.0)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text=level, **spaced_axis(rows["sigma"]))
    figure.update_yaxes(title_text=f"Prediction, {unit} per row", rangemode="tozero")
    return figure


def buckets_under_noise(
    frame: pd.DataFrame, measure: str = "micro R@k", k: int = 5, *, level: str = LEVEL, title: str | None = None
) -> go.Figure:
    """Draw a measure of the head, torso and tail labels for one run, against the level of noise.

    Parameters
    ----------
    frame : DataFrame
        Of one run, with the columns ``sigma``, ``k``, ``bucket`` ("head", "torso" and "tail" are drawn), ``measure``,
        ``n``, ``mean``, ``low``, ``high``; see :func:`robustness_curves`.
    measure : {"micro R@k", "P@k"}
        The values of P@k add up to that of all labels and are stacked; those of recall are drawn as separate lines.
    k : int
        The k of the measure.
    level : str
        Title of the axis of levels.
    {titled_figure}
    """
    need_columns(frame, ["sigma", "k", "bucket", "measure", "n", "mean", "low", "high"], "buckets_under_noise", k=k)
    rows = frame[(frame["measure"] == measure) & (frame["k"] == k) & frame["bucket"].isin(BUCKETS)]
    wording = measure.replace("@k", f"@{k}")
    stacked = measure == "P@k"
    title = title or (f"What {wording} consists of" if stacked else f"Recall@{k} of head, torso and tail")
    figure = new_figure(title, shown=len(rows), total=len(rows))
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
        look = {"mark": mark, "size": 7, "width": 1.5, "stackgroup": "parts", "fillcolor": shade(color, 0.35)}
        add_line(figure, mine["sigma"], 100 * mine["mean"], bucket, color, hover, **look)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text=level, **spaced_axis(rows["sigma"]))
    figure.update_yaxes(title_text=f"Part of {wording}, %" if stacked else f"{wording}, %", rangemode="tozero")
    return figure


def _line(figure, rows, columns, factor, name, style, hover, floor=None):
    mean, low, high = (factor * rows[column].to_numpy(dtype=np.float64) for column in columns)
    # Without repeats there is no interval: the band has no width.
    low, high = np.where(np.isfinite(low), low, mean), np.where(np.isfinite(high), high, mean)
    if floor is not None:
        low = np.maximum(low, floor)
    named, color = str(name), style["color"]
    if (high > low).any():
        add_band(figure, rows["sigma"], low, high, color, named)
    wording = [f", {a:.2f} to {b:.2f}" if b > a else "" for a, b in zip(low, high)]
    hover = f"<b>{short(named, 60)}</b><br>level %{{x:~g}}: {hover}%{{customdata[0]}}<br>repeats: %{{customdata[1]}}"
    look = {"mark": style["mark"], "dash": style["dash"], "size": 9, "width": 2.5, "legendgroup": named}
    about = np.array([wording, rows["n"]], dtype=object).T
    add_line(figure, rows["sigma"], mean, short(named, 60), color, hover, customdata=about, **look)
