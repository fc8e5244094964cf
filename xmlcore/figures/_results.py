"""Figures of the measures of a model."""

import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from xmlcore.figures._axes import AROUND, LEAST_SPAN, LINE, NEAR, steps
from xmlcore.figures._style import (
    BAR_SHADES,
    BLUE,
    EDGE,
    GREY,
    MEASURE_COLORS,
    MEASURE_MARKS,
    RUN_DASHES,
    add_line,
    need_columns,
    new_figure,
)
from xmlcore.metrics.measures import MORE_MEASURES

NAME = 36  # characters of the name of a trial on a line


def measures_at_k(frame: pd.DataFrame, shown: Sequence[str] = ("P@k", "nDCG@k", "PSP@k")) -> go.Figure:
    """Draw measures against k, in percent."""
    need_columns(frame, ["measure", "k", "value"], "measures_at_k")
    frame = frame[~frame["measure"].isin(MORE_MEASURES)]
    figure = new_figure("Measures at k", shown=len(frame), total=len(frame))
    present = list(dict.fromkeys(frame["measure"]))
    known = [measure for measure in MEASURE_COLORS if measure in present]
    dashes = dict(zip(MEASURE_COLORS, RUN_DASHES))
    for measure in [*known, *(m for m in present if m not in MEASURE_COLORS)]:
        rows = frame[frame["measure"] == measure].sort_values("k")
        color = MEASURE_COLORS.get(measure, GREY)
        visible, mark = True if measure in shown else "legendonly", MEASURE_MARKS.get(measure, "circle")
        hover = measure.replace("@k", "@%{x}") + " = %{y:.2f} %"
        look = {"mark": mark, "size": 9, "dash": dashes.get(measure), "visible": visible}
        add_line(figure, rows["k"], 100 * rows["value"], measure, color, hover, **look)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text="k, labels predicted per row", dtick=1, tickformat="d")
    figure.update_yaxes(title_text="Percent", rangemode="tozero")
    return figure


def labels_by_bucket(frame: pd.DataFrame, k: int) -> go.Figure:
    """Draw precision, recall and macro F1 of head, torso and tail labels, in percent.

    Parameters
    ----------
    frame : DataFrame
        What :func:`xmlcore.metrics.labels_by_bucket` returns.
    k : int
        Labels predicted for a row.

    {figure}
    """
    shown = {"recall": "Recall", "precision": "Precision", "macro_f1": "Macro F1"}
    need_columns(frame, ["bucket", "n_labels", "never_right", "rows", *shown], "labels_by_bucket", k=k)
    figure = new_figure(f"Head, torso and tail, top {k}", shown=len(frame), total=len(frame))
    about = frame[["n_labels", "rows", "never_right"]].to_numpy()
    for (column, name), color in zip(shown.items(), BAR_SHADES):
        values = 100 * frame[column]
        figure.add_bar(
            x=frame["bucket"],
            y=values,
            name=name,
            marker={"color": color, "line": {"color": EDGE, "width": 1}},
            # Two digits, so that the numbers of neighbours do not run into each other; the hover label has more.
            text=[f"{value:.{1 if value < 9.95 else 0}f}" if value == value else "" for value in values],
            textposition="outside",
            cliponaxis=False,
            customdata=about,
            hovertemplate=f"<b>{name}</b> %{{y:.2f}} %<br>%{{x}}: %{{customdata[0]:,}} labels with a test row, "
            "%{customdata[2]:,} of them never right; on %{customdata[1]:,} places<extra></extra>",
        )
    figure.update_layout(barmode="group", showlegend=True)
    figure.update_xaxes(title_text="Labels by their number of training rows", showgrid=False)
    figure.update_yaxes(title_text="Percent", rangemode="tozero")
    return figure


def trials(frame: pd.DataFrame, chosen: int | None = None) -> go.Figure:
    """Draw the precision of the trials by which a model chose its settings, in percent: its ``chosen_``.

    Each measure has a panel of its own, so that trials are told apart. A dotted line parts trials on different samples
    of rows and labels: only those on the same one can be compared. The name of the trial on line ``chosen`` is bold.
    """
    measures = ["P@1", "P@3", "P@5"]
    of_trees = "arity" in getattr(frame, "columns", ())
    columns = [*(("arity", "max_leaf_labels", "loss") if of_trees else ()), "C", *measures]
    need_columns(frame, columns, "trials", chosen=chosen)
    figure = make_subplots(
        rows=1, cols=3, shared_yaxes=True, horizontal_spacing=0.04,
        figure=new_figure("Precision of each trial", shown=len(frame), total=len(frame)),
    )  # fmt: skip
    about = [f"C\u00a0=\u00a0{C:.3g}" for C in frame["C"]]
    parts = [about]
    if of_trees:
        n_labels = frame["labels"] if "labels" in frame else np.full(len(frame), np.inf)
        shapes = [
            "one level" if n <= max(arity, leaf) else f"arity {arity}, ≤ {leaf:,} per leaf"
            for n, arity, leaf in zip(n_labels, frame["arity"], frame["max_leaf_labels"])
        ]
        losses = [loss.replace("_", " ") for loss in frame["loss"]]
        about = [f"{shape}, {loss}" for shape, loss in zip(shapes, losses)]
        parts = [shapes] * (len(set(shapes)) > 1) + parts + [losses] * (len(set(losses)) > 1)
    if "normalize" in frame and frame["normalize"].nunique() > 1:
        parts.append(frame["normalize"])
    names = [f"{number}: {', '.join(part)}" for number, part in enumerate(zip(*parts), 1)]
    names = ["<br>".join(textwrap.wrap(name, NAME)) for name in names]
    if chosen is not None:
        names[chosen] = f"<b>{names[chosen]} (chosen)</b>"
    samples = np.full(len(frame), "", object)
    if {"rows", "labels"} <= set(frame):
        samples[:] = [f"on {n_rows:,} rows of {n:,} labels" for n_rows, n in zip(frame["rows"], frame["labels"])]
    begin = [at for at in range(len(samples)) if at == 0 or samples[at] != samples[at - 1]]
    for at in begin if len(begin) > 1 else []:
        names[at] = f"<b>{samples[at]}</b><br>{names[at]}"
        line = {"color": GREY, "width": 1, "dash": "dot"}
        figure.add_shape(type="line", x0=0, x1=1, y0=at - 0.5, y1=at - 0.5, line=line, xref="paper", yref="y")
    frame = frame.assign(trial=names, about=about)
    values = [100 * frame[measure].to_numpy(float) for measure in measures]
    span = max(LEAST_SPAN * 100, max(map(np.ptp, values)))  # the same in all panels
    for column, (measure, mark, drawn) in enumerate(zip(measures, ("circle", "diamond", "square"), values), 1):
        start = max(0.0, (drawn.min() + drawn.max() - span) / 2)
        ends = start - 0.08 * span, start + 1.08 * span
        place = {"row": 1, "col": column}
        figure.update_xaxes(title_text=f"{measure}, %", range=ends, tickvals=steps(*ends, NEAR), **place)
        figure.add_scatter(
            x=drawn,
            y=frame["trial"],
            name=measure,
            mode="markers",
            marker={"symbol": mark, "size": 8, "color": BLUE},  # which is seen on a dark page, too
            customdata=[f"{text}<br>{sample}" for text, sample in zip(frame["about"], samples)],
            hovertemplate=measure + " = %{x:.2f} %<br>%{customdata}<extra>%{y}</extra>",
            showlegend=False,
            **place,
        )
    line = LINE + 12 * max(trial.count("<br>") for trial in frame["trial"])
    figure.update_layout(height=AROUND + line * len(frame))
    figure.update_yaxes(type="category", categoryarray=frame["trial"], autorange="reversed", showgrid=False)
    return figure
