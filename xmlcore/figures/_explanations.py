"""Figures of how good explanations are: removing features, and adding noise."""

import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import spaced_axis
from xmlcore.figures._style import (
    BLUE,
    GREY,
    RANKING_COLORS,
    RANKING_MARKS,
    VERMILION,
    add_band,
    add_line,
    need_columns,
    new_figure,
)
from xmlcore.metrics.statistics import mean_intervals


def deletion_curves(
    frame: pd.DataFrame, *, title: str = "Taking features away", score: str = "Probability of the label"
) -> go.Figure:
    """Draw a label's score against the number of removed features, for each ranking of the features.

    Parameters
    ----------
    frame : DataFrame
        Columns ``method``, ``removed``, ``row``, ``score``. :func:`xmlcore.explain.deletion_curve` gives them.
    {title}
    score : str
        Title of the axis of scores.

    Returns
    -------
    plotly.graph_objects.Figure
        Means over rows with 95 % intervals (Student's t). ``layout.meta`` adds ``left``: for each method, the mean
        score after the largest number of removed features, divided by the mean score after the smallest.
    """
    need_columns(frame, ["method", "removed", "row", "score"], "deletion_curves")
    figure = new_figure(title, shown=len(frame), total=len(frame))
    left = {}
    for method in dict.fromkeys(frame["method"]):
        means = mean_intervals(frame[frame["method"] == method].groupby("removed")["score"])
        color = RANKING_COLORS.get(method, GREY)
        add_band(figure, means.index, 100 * means["low"], 100 * means["high"], color, method)
        wording = [f"{100 * a:.2f} to {100 * b:.2f} %" for a, b in zip(means["low"], means["high"])]
        hover = f"<b>{method}</b><br>%{{x}} removed: %{{y:.2f}} %, %{{customdata}}"
        look = {"mark": RANKING_MARKS.get(method, "circle"), "size": 9, "width": 2.5, "legendgroup": method}
        add_line(figure, means.index, 100 * means["mean"], method, color, hover, customdata=wording, **look)
        whole = float(means["mean"].iloc[0])
        left[method] = float(means["mean"].iloc[-1]) / whole if whole > 0 else float("nan")
    figure.update_layout(showlegend=True, meta={**figure.layout.meta, "left": left})
    figure.update_xaxes(title_text="Features taken away", **spaced_axis(frame["removed"]))
    figure.update_yaxes(title_text=f"{score}, %", rangemode="tozero")
    return figure


def stability_curves(frame: pd.DataFrame, *, title: str = "Do explanations stay the same under noise?") -> go.Figure:
    """Draw the agreement of explanations with noise and without noise, against the level of noise.

    Parameters
    ----------
    frame : DataFrame, a row per row of the data, level and repeat
        Columns ``row``, ``sigma``, ``repeat``, ``spearman``, ``overlap``. :func:`xmlcore.explain.stability` gives the
        last three.
    {titled_figure}
        Means over rows (of each row's mean over repeats) with 95 % intervals (Student's t).
    """
    need_columns(frame, ["row", "sigma", "repeat", "spearman", "overlap"], "stability_curves")
    figure = new_figure(title, shown=len(frame), total=len(frame))
    per_row = frame.groupby(["sigma", "row"])[["spearman", "overlap"]].mean().reset_index()
    for column, wording, color, symbol in (
        ("spearman", "Spearman’s rank correlation", BLUE, "circle"),
        ("overlap", "overlap of the top features", VERMILION, "square"),
    ):
        means = mean_intervals(per_row.groupby("sigma")[column])
        add_band(figure, means.index, means["low"], means["high"], color, column)
        hover = f"{wording} %{{y:.3f}} at σ = %{{x:~g}}"
        look = {"mark": symbol, "size": 9, "width": 2.5, "legendgroup": column}
        add_line(figure, means.index, means["mean"], wording, color, hover, **look)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text="Noise σ, as a share of the mean size of a value", **spaced_axis(frame["sigma"]))
    figure.update_yaxes(title_text="Agreement, 1 is the same")
    return figure
