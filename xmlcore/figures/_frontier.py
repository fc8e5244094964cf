"""Figure of costs against measures of several runs, with those that no other run beats in both."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from xmlcore.figures._axes import log_ticks, small_looks_small
from xmlcore.figures._style import QUIET, apart, need_columns, new_figure, run_colors, run_style, whole
from xmlcore.typing import ArrayLike

PANEL = 300  # height of a row of panels, in pixels
LEGEND = 40  # letters of a name in the legend
NARROWEST = 10  # least ratio of the ends of an axis of costs
FAINT = 0.45  # opacity of runs that are not compared
NAMED = 15  # most runs that have a mark and a line in the legend each
LETTERS = 240  # most letters of their names together: a longer legend would leave points no room


def pareto(costs: ArrayLike, values: ArrayLike) -> np.ndarray:
    """Return which points no other point beats: with a larger value at no larger cost, or an equal one at less cost."""
    costs, values = np.asarray(costs, float), np.asarray(values, float)
    known = np.isfinite(costs) & np.isfinite(values)
    on_it, best = np.zeros(costs.size, bool), -np.inf
    for i in np.lexsort((-values, costs)):
        if known[i] and values[i] > best:
            on_it[i], best = True, values[i]
        elif known[i] and values[i] == best:  # a second point at the same place is as good
            on_it[i] = (on_it & (costs == costs[i]) & (values == best)).any()
    return on_it


def too_many_to_name(frame: pd.DataFrame) -> bool:
    return len(frame) > NAMED or frame["run"].astype(str).str.len().clip(upper=LEGEND).sum() > LETTERS


def frontier(
    frame: pd.DataFrame,
    costs: dict[str, Any],
    measures: Sequence[str],
    title: str = "What precision costs",
    compared: pd.DataFrame | None = None,
) -> go.Figure:
    """Draw measures of runs against what they cost, with a line through the runs that no other run beats.

    The columns are ``run`` (name in the legend), ``model``, those of ``costs`` (column -> title of the axis: a column
    of panels each, on a logarithmic axis; a run without a cost, or with 0, is left out there) and those of
    ``measures``, in percent: a row of panels each. Columns such as ``P@1 low`` and ``P@1 high`` are the ends of
    intervals, which are drawn of the runs that the legend names. Runs of ``compared`` have the
    colours and marks that they have in figures such as :func:`measures_compared`, for which ``place`` is the number of
    a run among those of its model, from 0, if the column is there; beside them, others are faint. The legend names up
    to 15 runs whose names are short. Of more, it names those that are compared and the models of the others, which are
    named when one points at them.
    ``layout.meta`` adds ``frontier``: for each measure and cost, the names of the runs on the line.
    """
    need_columns(frame, ["run", "model", *costs, *measures], "frontier")
    drawn = frame[(frame[list(costs)] > 0).any(axis=1)]
    figure = make_subplots(
        rows=len(measures), cols=len(costs), shared_xaxes=True, shared_yaxes=True, horizontal_spacing=0.04,
        vertical_spacing=0.06, figure=new_figure(title, shown=len(drawn), total=len(frame)),
    )  # fmt: skip
    best, styles, legend = {}, run_colors(frame, compared), apart(drawn["run"], LEGEND)
    for row, measure in enumerate(measures, start=1):
        for column, cost in enumerate(costs, start=1):
            own = drawn.assign(**{cost: drawn[cost].where(drawn[cost] > 0)})
            line = own[pareto(own[cost], own[measure])].sort_values(cost)
            is_first = len(line) > 1 and all(len(runs) < 2 for runs in best.values())  # that is seen
            best[f"{measure}, {cost}"] = line["run"].tolist()
            figure.add_scatter(
                x=line[cost], y=line[measure], mode="lines", line={"color": QUIET, "width": 1.5, "dash": "dot"},
                name="no result is better in both", legendgroup="frontier", showlegend=is_first,
                hoverinfo="skip", row=row, col=column,
            )  # fmt: skip
            named = own
            if too_many_to_name(frame):
                named = own[own["run"].isin([] if compared is None else compared["run"])]
                _points_of_models(figure, own, named.index, cost, costs[cost], measure, row, column)
            faint = set() if compared is None or compared.empty else {*named["run"]} - {*compared["run"]}
            _points(figure, named, cost, costs[cost], measure, row, column, styles, legend, faint)
            figure.update_xaxes(**_axis(own[cost].dropna()), row=row, col=column)
            if row == len(measures):
                figure.update_xaxes(title_text=f"{costs[cost]} (log)", row=row, col=column)
        figure.update_yaxes(title_text=f"{measure}, percent", row=row, col=1)
    small_looks_small(figure)
    meta = {**figure.layout.meta, "frontier": best}
    figure.update_layout(height=PANEL * len(measures) + 130, showlegend=True, meta=meta)
    return figure


def _points(figure, drawn, cost, title, measure, row, column, styles, legend, faint):
    for _, run in drawn.iterrows():
        name, value = run["run"], run[measure]
        low, high = (run.get(f"{measure} {end}", np.nan) for end in ("low", "high"))
        is_known = np.isfinite(low) and np.isfinite(high)
        between = f" (95 %: {low:.1f} to {high:.1f})" if is_known else ""
        mark = {**styles[name], "size": 11, "opacity": FAINT if name in faint else 1.0}
        whisker = {"color": styles[name]["color"], "thickness": 1, "width": 3}
        figure.add_scatter(
            x=[run[cost]], y=[value], mode="markers", name=legend[str(name)], legendgroup=str(name),
            marker=mark, showlegend=row == column == 1, row=row, col=column,
            error_y=whisker | {"array": [high - value], "arrayminus": [value - low]} if is_known else None,
            hovertemplate=f"<b>{whole(name)}</b><br>{measure} = %{{y:.2f}} %{between}<br>{title}: %{{x:.3~r}}"
            "<extra></extra>",
        )  # fmt: skip


def _points_of_models(figure, drawn, named, cost, title, measure, row, column):
    """Add the runs of each model as one trace, without those that have a mark each: ``named`` are their lines."""
    for model, own in drawn.drop(named).groupby("model", sort=False):
        style = run_style(model)
        name = f"{model}, others" if (drawn.loc[named, "model"] == model).any() else model
        opacity = 0.7 if named.empty else FAINT
        figure.add_scatter(
            x=own[cost], y=own[measure], mode="markers", name=name, legendgroup=f"model {model}",
            marker={"color": style["color"], "symbol": style["mark"], "size": 7, "opacity": opacity},
            showlegend=row == column == 1, row=row, col=column, customdata=[whole(name) for name in own["run"]],
            hovertemplate=f"<b>%{{customdata}}</b><br>{measure} = %{{y:.2f}} %<br>{title}: %{{x:.3~r}}"
            "<extra></extra>",
        )  # fmt: skip


def _axis(costs) -> dict:
    """Return the axis of costs that are larger than 0; those that are nearly the same stand near to each other."""
    if costs.empty:
        return {"type": "log"}
    least, most = costs.min(), costs.max()
    around = max(1.0, math.sqrt(NARROWEST * least / most))
    ends = least / around, most * around
    return log_ticks(*ends) | ({"range": np.log10(ends).tolist()} if around > 1 else {})
