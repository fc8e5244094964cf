"""The figure of calibration."""

import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._style import BLUE, GREEN, MARK, add_line, need_columns, new_figure, shade


def reliability_curve(
    frame: pd.DataFrame, title: str = "Are probabilities right?", *, calibrated: pd.DataFrame | None = None
) -> go.Figure:
    """Draw how often predictions are right against their probability, in percent, with the number of predictions.

    ``calibrated`` is the same of the calibrated probabilities, which are drawn beside those as they are.
    """
    parts = {"predictions": frame} if calibrated is None else {"as they are": frame, "calibrated": calibrated}
    for part in parts.values():
        need_columns(part, ["low", "high", "n", "predicted", "observed"], "reliability_curve")
    parts = {name: part[part["n"] > 0] for name, part in parts.items()}
    n = sum(map(len, parts.values()))
    figure = new_figure(title, shown=n, total=n)
    figure.add_scatter(
        x=[0, 100],
        y=[0, 100],
        mode="lines",
        line={"color": MARK, "width": 1.5, "dash": "dot"},
        name="as sure as right",
        hoverinfo="skip",
    )
    for (name, rows), color, mark in zip(parts.items(), (BLUE, GREEN), ("circle", "diamond")):
        _add(figure, rows, name, color, mark)
    figure.update_layout(
        showlegend=True,
        height=440,
        barmode="overlay",
        yaxis={"domain": [0.3, 1.0], "title": {"text": "Right, %"}, "range": [-2, 102]},
        yaxis2={
            "domain": [0.0, 0.2],
            "title": {"text": "Predictions"},
            "anchor": "x",
            "nticks": 3,
            "rangemode": "tozero",
            "tickformat": ",d",
        },
        xaxis={"anchor": "y2", "title": {"text": "Predicted probability, %"}, "range": [-2, 102], "dtick": 20},
    )
    return figure


def _add(figure, rows, name, color, mark) -> None:
    """Add a line of shares, with intervals if there are any, and bars of counts."""
    about = rows[["low", "high", "n"]].assign(low=100 * rows["low"], high=100 * rows["high"]).to_numpy()
    error = None
    if {"observed_low", "observed_high"} <= set(rows.columns):
        error = {
            "symmetric": False,
            "array": 100 * (rows["observed_high"] - rows["observed"]),
            "arrayminus": 100 * (rows["observed"] - rows["observed_low"]),
            "color": color,
            "thickness": 1.2,
            "width": 4,
        }
    hover = (
        "<b>%{y:.1f} % right</b><br>mean probability %{x:.1f} %<br>"
        "%{customdata[2]:,} predictions with %{customdata[0]:.3g} to %{customdata[1]:.3g} %"
    )
    shares = 100 * rows["predicted"], 100 * rows["observed"]
    add_line(figure, *shares, name, color, hover, mark=mark, error_y=error, customdata=about, legendgroup=name)
    figure.add_bar(
        x=50 * (rows["low"] + rows["high"]),
        y=rows["n"],
        width=100 * (rows["high"] - rows["low"]),
        marker={"color": shade(color, 0.45), "line": {"width": 0}},
        yaxis="y2",
        legendgroup=name,
        showlegend=False,
        hovertemplate="%{y:,} predictions<extra></extra>",
    )
