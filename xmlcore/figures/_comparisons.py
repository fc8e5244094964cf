"""Figures that put several runs side by side."""

import math
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from xmlcore import wording
from xmlcore.figures._axes import NEAR, steps
from xmlcore.figures._style import QUIET, apart, need_columns, new_figure, run_colors, whole

LEGEND, NAME = 40, 28  # letters of a name in a legend, and beside an axis: a model and two of its settings
FAINT = 0.45  # opacity of a point that may be chance
SHADES = [[0.0, "#0072B2"], [0.5, "#CC79A7"], [1.0, "#E69F00"]]  # legible on a white and on a dark page


def measures_compared(
    frame: pd.DataFrame, title: str = "Measures side by side", compared: pd.DataFrame | None = None
) -> go.Figure:
    """Draw measures of several runs with their intervals, a panel per measure; ``compared``: :func:`differences`."""
    need_columns(frame, ["run", "model", "measure", "k", "value", "low", "high"], "measures_compared")
    measures, runs = list(dict.fromkeys(frame["measure"])), list(dict.fromkeys(frame["run"]))
    columns = min(2, max(1, len(measures)))
    figure = make_subplots(
        rows=-(-len(measures) // columns), cols=columns, subplot_titles=measures, horizontal_spacing=0.1,
        vertical_spacing=0.16, figure=new_figure(title, shown=len(frame), total=len(frame)),
    )  # fmt: skip
    ks = sorted(frame["k"].unique())
    styles, legend = run_colors(frame.drop_duplicates("run"), compared), apart(runs, LEGEND)
    groups = {names: own.sort_values("k") for names, own in frame.groupby(["run", "measure"], sort=False)}
    traces, layout = [], {"height": 230 * -(-len(measures) // columns) + 110 + 22 * len(runs), "showlegend": True}
    for place, measure in enumerate(measures):
        axis = str(place + 1) if place else ""
        for number, run in enumerate(runs):
            if (run, measure) in groups:
                shift = 0.6 * ((number + 0.5) / len(runs) - 0.5)
                trace = _intervals(groups[run, measure], ks, shift, styles[run], legend[str(run)])
                traces.append({**trace, "showlegend": place == 0, "xaxis": f"x{axis}", "yaxis": f"y{axis}"})
        layout[f"xaxis{axis}"] = {
            "tickvals": list(range(len(ks))),
            "ticktext": [f"k = {k}" for k in ks],
            "range": [-0.5, len(ks) - 0.5],
            "showgrid": False,
        }
        if place % columns == 0:
            layout[f"yaxis{axis}"] = {"title": {"text": "Percent"}}
    figure.add_traces(traces)  # all at once: Plotly takes several times as long to add each alone
    figure.update_layout(layout)
    return figure


def _intervals(own, ks, shift, style, name) -> dict:
    """Return the trace of one run and measure, a point for each k, moved sideways by ``shift``."""
    run, measure = own["run"].iloc[0], own["measure"].iloc[0]
    value, low, high = (own[column].to_numpy(float) for column in ("value", "low", "high"))
    return {
        "type": "scatter",
        "x": [ks.index(k) + shift for k in own["k"]],
        "y": 100 * value,
        "error_y": {"array": 100 * (high - value), "arrayminus": 100 * (value - low), "thickness": 1.5, "width": 3},
        "mode": "markers",
        "name": name,
        "legendgroup": run,
        "marker": {**style, "size": 9},
        "customdata": list(zip(own["k"], 100 * low, 100 * high)),
        "hovertemplate": f"<b>{whole(run)}</b><br>{measure.replace('@k', '@%{customdata[0]}')} = %{{y:.2f}} %"
        " (%{customdata[1]:.2f} to %{customdata[2]:.2f})<extra></extra>",
    }


def differences(
    frame: pd.DataFrame, title: str = "Better or worse than the first", compared: pd.DataFrame | None = None
) -> go.Figure:
    """Draw by how much runs differ from another one, with intervals, a panel per measure.

    Parameters
    ----------
    frame : DataFrame, a row per run and measure
        Columns ``run``, ``model``, ``measure``, ``difference``, ``low``, ``high`` (shares of 1) and ``sure``, as
        ``xmlcore.experiment.side_by_side.differences`` gives them. A point that is not sure is faint.
    title : str
    compared : DataFrame, optional
        Runs, the first among them, which have the colours and marks that :func:`frontier` gives them: by ``place``
        among the runs of a model, from 0, if the column is there.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    need_columns(frame, ["run", "model", "measure", "difference", "low", "high", "sure"], "differences")
    measures, runs = list(dict.fromkeys(frame["measure"])), list(dict.fromkeys(frame["run"]))
    figure = make_subplots(
        rows=1, cols=max(1, len(measures)), shared_yaxes=True, subplot_titles=measures, horizontal_spacing=0.04,
        figure=new_figure(title, shown=len(frame), total=len(frame)),
    )  # fmt: skip
    figure.update_annotations(font_size=13)  # three titles beside each other fit on a phone
    styles, names = run_colors(frame.drop_duplicates("run"), compared), apart(runs, NAME)
    for column, measure in enumerate(measures, start=1):
        own = frame[frame["measure"] == measure]
        points, low, high = (100 * own[name].to_numpy(float) for name in ("difference", "low", "high"))
        colors = [styles[run]["color"] for run in own["run"]]
        figure.add_scatter(
            x=points, y=[names[str(run)] for run in own["run"]], mode="markers", showlegend=False,
            error_x={"array": high - points, "arrayminus": points - low, "color": QUIET, "thickness": 1.5, "width": 4},
            marker={
                "size": 9, "color": colors, "line": {"width": 2, "color": colors},
                "symbol": [styles[run]["symbol"] for run in own["run"]],
                "opacity": [1.0 if sure else FAINT for sure in own["sure"]],
            },
            customdata=[whole(name) for name in own["run"]],
            hovertext=[wording.points(*test) for test in zip(own["difference"], own["low"], own["high"])],
            hovertemplate=f"<b>%{{customdata}}</b><br>{measure}: %{{hovertext}}<extra></extra>",
            row=1, col=column,
        )  # fmt: skip
        figure.add_vline(x=0, line={"color": QUIET, "width": 1.5, "dash": "dot"}, row=1, col=column)
    low, high = 100 * min(0.0, frame["low"].min()), 100 * max(0.0, frame["high"].max())
    space = 0.15 * (high - low) or 1.0
    ends, inner = ([low - part * space, high + part * space] for part in (1, 0.2))  # numbers of two panels do not meet
    figure.update_xaxes(tickangle=0, matches="x", range=ends, tickvals=steps(*inner, NEAR))
    figure.update_yaxes(range=[len(runs) - 0.5, -0.5])
    figure.update_layout(height=160 + 50 * len(runs), margin_t=100)
    faint = "" if frame["sure"].all() else "; faint: may be chance, corrected for all tests"
    figure.update_layout(title_subtitle_text=f"in points{faint}")
    return figure


def buckets_compared(
    frame: pd.DataFrame, column: str = "recall", title: str | None = None, compared: pd.DataFrame | None = None
) -> go.Figure:
    """Draw how well several runs predict head, torso and tail labels; ``compared``: see :func:`differences`."""
    need_columns(frame, ["run", "model", "bucket", "n_labels", column], "buckets_compared")
    name = {"recall": "Recall", "precision": "Precision", "macro_f1": "Macro F1"}.get(column, column)
    figure = new_figure(title or f"{name} of head, torso and tail labels", shown=len(frame), total=len(frame))
    styles, legend = run_colors(frame.drop_duplicates("run"), compared), apart(frame["run"], LEGEND)
    patterns = ("", "/", ".", "x", "-", "|", "+", "\\")
    for number, (run, own) in enumerate(frame.groupby("run", sort=False)):
        figure.add_bar(
            x=own["bucket"],
            y=100 * own[column],
            name=legend[str(run)],
            marker={"color": styles[run]["color"], "pattern": {"shape": patterns[number % len(patterns)]}},
            customdata=own["n_labels"],
            hovertemplate=f"<b>{whole(run)}</b><br>%{{x}}: {name} %{{y:.2f}} %, %{{customdata:,}} labels with a "
            "test row<extra></extra>",
        )
    figure.update_layout(barmode="group", showlegend=True, height=330 + 22 * frame["run"].nunique())
    figure.update_xaxes(title_text="Labels by their number of training rows", showgrid=False)
    figure.update_yaxes(title_text=f"{name}, percent", rangemode="tozero")
    return figure


def parameters_compared(
    frame: pd.DataFrame, parameters: dict[str, Any], measure: str, title: str | None = None
) -> go.Figure:
    """Draw parallel coordinates: a line per run through its parameters and its measure, which gives the colour."""
    need_columns(frame, [measure, *parameters], "parameters_compared")
    drawn = frame.dropna(subset=[measure, *parameters])
    left_out = len(frame) - len(drawn)
    figure = new_figure(title or f"{measure} by settings", shown=len(drawn), total=len(frame), left_out=left_out)
    titles = apart(parameters.values(), min(24, LETTERS // (len(parameters) + 1)))
    dimensions = [_dimension(drawn[name], titles[str(label)]) for name, label in parameters.items()]
    values = drawn[measure].astype(float)
    dimensions.append({"label": f"{measure}, %", "values": values.tolist()})
    figure.add_parcoords(
        dimensions=dimensions,
        # The colour bar stands beside the last axis, whose numbers are its own.
        line={
            "color": values.tolist(),
            "colorscale": SHADES,
            "colorbar": {"thickness": 8, "len": 1, "xpad": 6, "ypad": 0, "showticklabels": False, "outlinewidth": 0},
            "showscale": True,
        },
        # The dashboard's theme does not reach these texts: this grey is legible on a white and on a dark page.
        labelfont={"color": LEGIBLE, "size": 13},
        tickfont={"color": LEGIBLE, "size": 12},
        rangefont={"color": "rgba(0, 0, 0, 0)", "size": 1},
        unselected={"line": {"color": QUIET, "opacity": 0.15}},
    )
    # The name of the first axis is centred above it, and its values stand to its left.
    left = max(4 * len(dimensions[0]["label"]), 10 + 7 * max(map(len, dimensions[0].get("ticktext", ())), default=0))
    figure.update_layout(height=380, margin={"t": 110, "l": max(70, left), "r": 60, "b": 40})
    return figure


LETTERS = 100  # of all names above the axes
LEGIBLE = "#74808A"  # a contrast of 4.0 on a white page and 4.5 on a dark one
BY_RATIO = 10  # the largest value by the smallest from which an axis has equal steps for equal ratios
MOST_TICKS = 8  # values of an axis that are all written beside it


def _dimension(values, label) -> dict:
    """Return an axis of parallel coordinates: of numbers, which may be spaced by ratios, or of texts in their order."""
    if pd.api.types.is_numeric_dtype(values):
        distinct = sorted(values.astype(float).unique())
        by_ratio = bool(distinct) and distinct[0] > 0 and distinct[-1] >= BY_RATIO * distinct[0]
        marked = distinct if len(distinct) <= MOST_TICKS else _powers(distinct) if by_ratio else []
        places, drawn = (np.log10(marked), np.log10(values.astype(float))) if by_ratio else (np.array(marked), values)
        ticks = {"tickvals": places.tolist(), "ticktext": [f"{value:g}" for value in marked]} if marked else {}
        return {"label": label, "values": drawn.astype(float).tolist(), **ticks}
    distinct = sorted(values.astype(str).unique(), key=_by_number)
    places = {text: place for place, text in enumerate(distinct)}
    ticks = {"tickvals": list(places.values()), "ticktext": list(apart(distinct, 16).values())}
    return {"label": label, "values": [places[str(value)] for value in values], **ticks}


def _powers(values: list) -> list:
    """Return the first and the last of sorted numbers, and the powers of ten between them."""
    low, high = math.floor(math.log10(values[0])) + 1, math.ceil(math.log10(values[-1]))
    return [values[0], *(10.0**power for power in range(low, high)), values[-1]]


def _by_number(text: str):
    """Return by what texts are ordered: numbers by their size, before other texts."""
    try:
        return 0, float(text.replace(",", "")), text
    except ValueError:
        return 1, 0.0, text
