"""Figure of a learning curve: measures against the number of training rows, with a forecast."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import small_looks_small
from xmlcore.figures._style import BUCKET_COLORS, BUCKET_MARKS, GREEN, need_columns, new_figure

_APART = 1.8  # least ratio of two numbers of rows that are written at the axis
_POINTS = 60  # of a fitted line


def learning_curve(
    frame: pd.DataFrame, forecasts: pd.DataFrame, measure: str, buckets: Sequence[str] = ("all",)
) -> go.Figure:
    """Draw a measure against the number of training rows, and what the fitted curve forecasts.

    ``frame`` and ``forecasts`` are those of :class:`xmlcore.experiment.LearningCurve`. There is a point for each
    training, a line through the means over seeds, the fitted curve (dotted), and the forecast with its interval.
    """
    need_columns(frame, ["rows", "seed", "bucket", "measure", "k", "value"], "learning_curve")
    name, _, k = measure.partition("@")
    frame = frame[(frame["measure"] == f"{name}@k") & (frame["k"] == int(k)) & frame["bucket"].isin(buckets)]
    frame = frame[frame["value"].notna()]
    figure = new_figure(f"{measure} by training rows", shown=len(frame), total=len(frame))
    for bucket in buckets:
        part = frame[frame["bucket"] == bucket]
        found = forecasts[(forecasts["bucket"] == bucket) & (forecasts["measure"] == f"{name}@k")
                          & (forecasts["k"] == int(k))]  # fmt: skip
        if len(part):
            _add(figure, part, found.iloc[0] if len(found) else None, bucket, measure)
    figure.update_layout(showlegend=True)
    rows = sorted(frame["rows"].unique())
    far = [float(n) for n in forecasts["n_rows"].unique()]
    ticks = []
    for n in reversed([*rows, *far]):  # the largest numbers, and of the others those that have room beside them
        if not ticks or ticks[0] >= _APART * n:
            ticks.insert(0, n)
    figure.update_xaxes(
        title_text="Training rows (logarithmic)", type="log", tickvals=ticks, ticktext=[f"{n:,.0f}" for n in ticks]
    )
    figure.update_yaxes(title_text=f"{measure}, percent")
    small_looks_small(figure)
    return figure


def _add(figure, part, forecast, bucket, measure):
    color = BUCKET_COLORS.get(bucket, GREEN)
    mark = BUCKET_MARKS.get(bucket, "triangle-up")
    title = "all labels" if bucket == "all" else f"{bucket} labels"
    figure.add_scatter(
        x=part["rows"], y=100 * part["value"], mode="markers", name=f"{title}, a training", legendgroup=bucket,
        showlegend=False, marker={"color": color, "symbol": mark, "size": 7, "opacity": 0.55}, customdata=part["seed"],
        hovertemplate=f"{title}: {measure} = %{{y:.2f}} %<br>%{{x:,}} rows, seed %{{customdata}}<extra></extra>",
    )  # fmt: skip
    means = part.groupby("rows")["value"].mean()
    figure.add_scatter(
        x=means.index, y=100 * means, mode="lines", name=title, legendgroup=bucket,
        line={"color": color, "width": 2}, hoverinfo="skip",
    )  # fmt: skip
    if forecast is None or forecast["reason"]:
        return
    n = np.geomspace(means.index.min(), forecast["n_rows"], _POINTS)
    figure.add_scatter(
        x=n, y=100 * (forecast["a"] - forecast["b"] * n ** -forecast["c"]), mode="lines", legendgroup=bucket,
        name=f"{title}, fitted", showlegend=False, line={"color": color, "width": 1.5, "dash": "dot"}, hoverinfo="skip",
    )  # fmt: skip
    high, low = forecast["high"] - forecast["value"], forecast["value"] - forecast["low"]
    figure.add_scatter(
        x=[forecast["n_rows"]], y=[100 * forecast["value"]], mode="markers", name=f"{title}, forecast",
        legendgroup=bucket, marker={"color": color, "symbol": f"{mark}-open", "size": 11, "line": {"width": 2}},
        error_y={"type": "data", "array": [100 * high], "arrayminus": [100 * low], "color": color},
        hovertemplate=f"{title}: about %{{y:.2f}} % with %{{x:,}} rows<extra></extra>",
    )  # fmt: skip
