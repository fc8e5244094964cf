"""Figure of costs against measures of several runs, with those that no other run beats in both."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from xmlcore.figures import _grammar as draw
from xmlcore.figures._axes import log_ticks, small_looks_small
from xmlcore.figures._names import apart, whole
from xmlcore.figures._runs import LEGEND, run_colors, run_style, too_many_to_name
from xmlcore.figures._style import QUIET, Figure, need_columns, new_figure
from xmlcore.typing import ArrayLike

PANEL = 300  # height of a row of panels, in pixels
NARROWEST = 10  # least ratio of the ends of an axis of costs
FAINT = 0.45  # opacity of runs that are not compared


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


def frontier(
    frame: pd.DataFrame,
    costs: dict[str, Any],
    measures: Sequence[str],
    title: str = "What precision costs",
    compared: pd.DataFrame | None = None,
) -> Figure:
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
    space = {"shared_xaxes": True, "horizontal_spacing": 0.04, "vertical_spacing": 0.06}
    figure = draw.panels(new_figure(title, drawn, frame), len(measures), len(costs), **space)
    best, styles, legend = {}, run_colors(frame, compared), apart(drawn["run"], LEGEND)
    chosen = [] if compared is None else [*compared["run"]]
    for row, measure in enumerate(measures, start=1):
        for column, cost in enumerate(costs, start=1):
            at, words = {"row": row, "col": column}, (measure, costs[cost])
            own = drawn.assign(cost_=drawn[cost].where(drawn[cost] > 0), value_=drawn[measure])
            line = own[pareto(own["cost_"], own[measure])].sort_values("cost_")
            is_first = len(line) > 1 and all(len(runs) < 2 for runs in best.values())  # that is seen
            best[f"{measure}, {cost}"] = line["run"].tolist()
            in_legend = {"name": "no result is better in both", "legendgroup": "frontier", "showlegend": is_first}
            draw.stroke(figure, line["cost_"], line[measure], QUIET, 1.5, "dot", **in_legend, **at)
            named = own
            if too_many_to_name(frame):
                named = own[own["run"].isin(chosen)]
                _points_of_models(figure, own, named.index, words, at)
            faint = {*named["run"]} - {*chosen} if chosen else set()
            _points(figure, named, words, at, styles, legend, faint)
            figure.update_xaxes(**_axis(own["cost_"].dropna()), **at)
            if row == len(measures):
                figure.update_xaxes(title_text=f"{costs[cost]} (log)", **at)
        figure.update_yaxes(title_text=f"{measure}, percent", row=row, col=1)
    small_looks_small(figure)
    meta = {**figure.layout.meta, "frontier": best}
    figure.update_layout(height=PANEL * len(measures) + 130, showlegend=True, meta=meta)
    return figure


def _points(figure, drawn, words, at, styles, legend, faint) -> None:
    """Draw a point of its own for each run, with its interval if that is known."""
    measure, title = words
    for _, run in drawn.iterrows():
        name, value, style = run["run"], run["value_"], styles[run["run"]]
        low, high = (run.get(f"{measure} {end}", np.nan) for end in ("low", "high"))
        between, whiskers = "", None
        if np.isfinite(low) and np.isfinite(high):
            between, ends = f" (95 %: {low:.1f} to {high:.1f})", {"array": [high - value], "arrayminus": [value - low]}
            whiskers = {"color": style["color"], "thickness": 1, "width": 3, **ends}
        marker = {**style, "size": 11, "opacity": FAINT if name in faint else 1.0}
        hover = f"<b>{whole(name)}</b><br>{measure} = %{{y:.2f}} %{between}<br>{title}: %{{x:.3~r}}"
        more = {"legendgroup": str(name), "showlegend": at == {"row": 1, "col": 1}, "error_y": whiskers, **at}
        draw.points(figure, [run["cost_"]], [value], legend[str(name)], marker, hover, **more)


def _points_of_models(figure, drawn, named, words, at) -> None:
    """Add the runs of each model as one trace, without those that have a mark each: ``named`` are their lines."""
    hover = f"<b>%{{customdata}}</b><br>{words[0]} = %{{y:.2f}} %<br>{words[1]}: %{{x:.3~r}}"
    for model, own in drawn.drop(named).groupby("model", sort=False):
        style = run_style(model)
        name = f"{model}, others" if (drawn.loc[named, "model"] == model).any() else model
        opacity = 0.7 if named.empty else FAINT
        marker = {"color": style["color"], "symbol": style["mark"], "size": 7, "opacity": opacity}
        more = {"legendgroup": f"model {model}", "showlegend": at == {"row": 1, "col": 1}, **at}
        draw.points(
            figure, own["cost_"], own["value_"], name, marker, hover, customdata=[*map(whole, own["run"])], **more
        )


def _axis(costs) -> dict:
    """Return the axis of costs that are larger than 0; those that are nearly the same stand near to each other."""
    if costs.empty:
        return {"type": "log"}
    least, most = costs.min(), costs.max()
    around = max(1.0, math.sqrt(NARROWEST * least / most))
    ends = least / around, most * around
    return log_ticks(*ends) | ({"range": np.log10(ends).tolist()} if around > 1 else {})
