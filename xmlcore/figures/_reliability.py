"""The figure of calibration."""

import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._style import BLUE, MARK, add_line, need_columns, new_figure, shade


def reliability_curve(frame: pd.DataFrame, title: str = "Are probabilities right?") -> go.Figure:
    """Draw how often predictions are right against their probability, in percent, with the number of predictions."""
    need_columns(frame, ["low", "high", "n", "predicted", "observed"], "reliability_curve")
    rows = frame[frame["n"] > 0]
    figure = new_figure(title, shown=len(rows), total=len(rows))
    figure.add_scatter(
        x=[0, 100],
        y=[0, 100],
        mode="lines",
        line={"color": MARK, "width": 1.5, "dash": "dot"},
        name="as sure as right",
        hoverinfo="skip",
    )
    about = rows[["low", "high", "n"]].assign(low=100 * rows["low"], high=100 * rows["high"]).to_numpy()
    error = None
    if {"observed_low", "observed_high"} <= set(rows.columns):
        error = {
            "symmetric": False,
            "array": 100 * (rows["observed_high"] - rows["observed"]),
            "arrayminus": 100 * (rows["observed"] - rows["observed_low"]),
            "color": BLUE,
            "thickness": 1.2,
            "width": 4,
        }
    hover = (
        "<b>%{y:.1f} % right</b><br>mean probability %{x:.1f} %<br>"
        "%{customdata[2]:,} predictions with %{customdata[0]:.3g} to %{customdata[1]:.3g} %"
    )
    shares = 100 * rows["predicted"], 100 * rows["observed"]
    add_line(figure, *shares, "predictions", BLUE, hover, error_y=error, customdata=about)
    figure.add_bar(
        x=50 * (rows["low"] + rows["high"]),
        y=rows["n"],
        width=100 * (rows["high"] - rows["low"]),
        marker={"color": shade(BLUE, 0.45), "line": {"width": 0}},
        yaxis="y2",
        name="number of predictions",
        hovertemplate="%{y:,} predictions<extra></extra>",
    )
    figure.update_layout(
        showlegend=True,
        height=440,
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
