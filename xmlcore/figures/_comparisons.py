"""Measures of one result or of several side by side, and what they cost."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from xmlcore import wording
from xmlcore.figures import _style as ink
from xmlcore.figures._axes import NEAR, log_ticks, steps
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._names import apart, whole
from xmlcore.figures._runs import LEGEND, run_colors, run_style, too_many_to_name
from xmlcore.figures._style import Figure, need_columns
from xmlcore.metrics.measures import MORE_MEASURES
from xmlcore.typing import ArrayLike

SHOWN_AT_K = ("P@k", "nDCG@k", "PSP@k")
NAME = 28  # letters of a name beside an axis: a model and two of its settings
FAINT = 0.45  # opacity of a point that is not significant, or of a run that is not compared
PANEL = 300  # height of a row of panels of costs, in pixels
NARROWEST = 10  # least ratio of the ends of an axis of costs
WHISKER = {"color": ink.QUIET, "thickness": 1.5, "width": 4}
PATTERNS = ("", "/", ".", "x", "-", "|", "+", "\\")
OF_BUCKETS = {"recall": "Recall", "precision": "Precision", "macro_f1": "Macro F1"}
LABELS_BY_ROWS = {"title_text": "Labels by their number of training rows", "showgrid": False}


def measures_compared(
    frame: pd.DataFrame, title: str = "Measures side by side", compared: pd.DataFrame | None = None
) -> Figure:
    """Draw measures of several runs with their intervals, a panel per measure; ``compared``: :func:`differences`."""
    need_columns(frame, ["run", "model", "measure", "k", "value", "low", "high"], "measures_compared")
    measures, runs = list(dict.fromkeys(frame["measure"])), list(dict.fromkeys(frame["run"]))
    columns = min(2, max(1, len(measures)))
    rows, ks = -(-len(measures) // columns), sorted(frame["k"].unique())
    space = {"horizontal_spacing": 0.1, "vertical_spacing": 0.16, "shared_yaxes": False}
    figure = Drawing(title, frame).panels(rows, columns, measures, **space)
    styles, legend = run_colors(frame.drop_duplicates("run"), compared), apart(runs, LEGEND)
    groups = {names: own.sort_values("k") for names, own in frame.groupby(["run", "measure"], sort=False)}
    names = [f"k = {k}" for k in ks]
    ticks = {"tickvals": [*range(len(ks))], "ticktext": names, "range": [-0.5, len(ks) - 0.5], "showgrid": False}
    for place, measure in enumerate(measures):
        at = {"row": place // columns + 1, "col": place % columns + 1}
        for number, run in enumerate(runs):
            if (run, measure) in groups:
                shift, in_legend = 0.6 * ((number + 0.5) / len(runs) - 0.5), {"showlegend": place == 0, **at}
                own = groups[run, measure]
                value, low, high = (own[column].to_numpy(float) for column in ("value", "low", "high"))
                error = {"array": 100 * (high - value), "arrayminus": 100 * (value - low), "thickness": 1.5, "width": 3}
                hover = f"<b>{whole(run)}</b><br>{measure.replace('@k', '@%{customdata[0]}')} = %{{y:.2f}} %"
                hover += " (%{customdata[1]:.2f} to %{customdata[2]:.2f})"
                look = {"error_y": error, "customdata": list(zip(own["k"], 100 * low, 100 * high)), **in_legend}
                x, style = [ks.index(k) + shift for k in own["k"]], {**styles[run], "size": 9}
                figure.points(x, 100 * value, legend[str(run)], style, hover, legendgroup=run, **look)
        figure.axes(ticks, "" if place % columns else "Percent", **at)
    return figure.checked(height=230 * rows + 110 + 22 * len(runs), showlegend=True)


def differences(
    frame: pd.DataFrame, title: str = "Better or worse than the first", compared: pd.DataFrame | None = None
) -> Figure:
    """Draw by how much runs differ from another one, with intervals, a panel per measure.

    {Parameters: frame}
        A row per run and measure: columns ``run``, ``model``, ``measure``, ``difference``, ``low``, ``high`` (shares of
        1) and ``sure``, as ``xmlcore.experiment.side_by_side.differences`` gives them. Points that are not
        significant are faint.
    title : str
    compared : DataFrame, optional
        Runs, the first among them, which have the colours and marks that :func:`frontier` gives them: by ``place``
        among the runs of a model, from 0, if the column is there.
    {figure}
    """
    need_columns(frame, ["run", "model", "measure", "difference", "low", "high", "sure"], "differences")
    measures, runs = list(dict.fromkeys(frame["measure"])), list(dict.fromkeys(frame["run"]))
    figure = Drawing(title, frame).panels(1, max(1, len(measures)), measures, horizontal_spacing=0.04)
    for note in figure.layout.get("annotations", ()):
        note["font"]["size"] = 13  # three titles beside each other fit on a phone
    styles, names = run_colors(frame.drop_duplicates("run"), compared), apart(runs, NAME)
    for column, measure in enumerate(measures, start=1):
        own, at = frame[frame["measure"] == measure], {"row": 1, "col": column}
        points, low, high = (100 * own[name].to_numpy(float) for name in ("difference", "low", "high"))
        colors = [styles[run]["color"] for run in own["run"]]
        marker = {"size": 9, "color": colors, "line": {"width": 2, "color": colors}}
        marker["symbol"] = [styles[run]["symbol"] for run in own["run"]]
        marker["opacity"] = [1.0 if sure else FAINT for sure in own["sure"]]
        look = {"error_x": {"array": high - points, "arrayminus": points - low} | WHISKER, "showlegend": False, **at}
        look["hovertext"] = [wording.points(*test) for test in zip(own["difference"], own["low"], own["high"])]
        y, hover = [names[str(run)] for run in own["run"]], f"<b>%{{customdata}}</b><br>{measure}: %{{hovertext}}"
        figure.points(points, y, None, marker, hover, customdata=[*map(whole, own["run"])], **look)
        figure.rule(0, color=ink.QUIET, **at)
    low, high = 100 * min(0.0, frame["low"].min()), 100 * max(0.0, frame["high"].max())
    space = 0.15 * (high - low) or 1.0
    ends, inner = ([low - part * space, high + part * space] for part in (1, 0.2))  # numbers of two panels do not meet
    x = {"tickangle": 0, "matches": "x", "range": ends, "tickvals": steps(*inner, NEAR)}
    faint = "" if frame["sure"].all() else "; faint: not significant after correction for all tests"
    layout = {"height": 160 + 50 * len(runs), "margin_t": 100, "title_subtitle_text": f"in points{faint}"}
    return figure.checked(x, {"range": [len(runs) - 0.5, -0.5]}, **layout)


def buckets_compared(
    frame: pd.DataFrame, column: str = "recall", title: str | None = None, compared: pd.DataFrame | None = None
) -> Figure:
    """Draw how well several runs predict head, torso and tail labels; ``compared``: see :func:`differences`."""
    need_columns(frame, ["run", "model", "bucket", "n_labels", column], "buckets_compared")
    name = OF_BUCKETS.get(column, column)
    figure = Drawing(title or f"{name} of head, torso and tail labels", frame)
    styles, legend = run_colors(frame.drop_duplicates("run"), compared), apart(frame["run"], LEGEND)
    said = f"<br>%{{x}}: {name} %{{y:.2f}} %, %{{customdata:,}} labels with a test row"
    for number, (run, own) in enumerate(frame.groupby("run", sort=False)):
        look = {"pattern": PATTERNS[number % len(PATTERNS)], "edge": None, "customdata": own["n_labels"]}
        y, color = 100 * own[column], styles[run]["color"]
        figure.upright(own["bucket"], y, legend[str(run)], color, f"<b>{whole(run)}</b>{said}", **look)
    y, height = {"title_text": f"{name}, percent", "rangemode": "tozero"}, 330 + 22 * frame["run"].nunique()
    return figure.checked(LABELS_BY_ROWS, y, barmode="group", showlegend=True, height=height)


def labels_by_bucket(frame: pd.DataFrame, k: int) -> Figure:
    """Draw precision, recall and macro F1 of head, torso and tail labels, in percent.

    {Parameters: frame}
        As :func:`xmlcore.metrics.labels_by_bucket` returns it.
    k : int
        Labels predicted for a row.
    {figure}
    """
    need_columns(frame, ["bucket", "n_labels", "never_right", "rows", *OF_BUCKETS], "labels_by_bucket", k=k)
    figure = Drawing(f"Head, torso and tail, top {k}", frame)
    about = frame[["n_labels", "rows", "never_right"]].to_numpy()
    said = "%{y:.2f} %<br>%{x}: %{customdata[0]:,} labels with a test row, %{customdata[2]:,} of them never right; on "
    for (column, name), color in zip(OF_BUCKETS.items(), ink.BAR_SHADES):
        hover = f"<b>{name}</b> {said}%{{customdata[1]:,}} places"
        look = {"edge": {"color": ink.EDGE, "width": 1}, "customdata": about}
        # Two digits, so that those of neighbours do not run into each other.
        look["digits"] = lambda value: f"{value:.{1 if value < 9.95 else 0}f}"
        figure.upright(frame["bucket"], 100 * frame[column], name, color, hover, **look)
    y = {"title_text": "Percent", "rangemode": "tozero"}
    return figure.checked(LABELS_BY_ROWS, y, barmode="group", showlegend=True)


def measures_at_k(frame: pd.DataFrame) -> Figure:
    """Draw measures against k, in percent; those that are not shown at first are in the legend."""
    need_columns(frame, ["measure", "k", "value"], "measures_at_k")
    frame = frame[~frame["measure"].isin(MORE_MEASURES)]
    figure = Drawing("Measures at k", frame)
    present, dashes = list(dict.fromkeys(frame["measure"])), dict(zip(ink.MEASURE_COLORS, ink.RUN_DASHES))
    known = [measure for measure in ink.MEASURE_COLORS if measure in present]
    for measure in dict.fromkeys([*known, *present]):
        rows = frame[frame["measure"] == measure].sort_values("k")
        look = {"mark": ink.MEASURE_MARKS.get(measure, "circle"), "size": 9, "dash": dashes.get(measure)}
        look["visible"] = True if measure in SHOWN_AT_K else "legendonly"
        color, hover = ink.MEASURE_COLORS.get(measure, ink.GREY), measure.replace("@k", "@%{x}") + " = %{y:.2f} %"
        figure.line(rows["k"], 100 * rows["value"], measure, color, hover, **look)
    x = {"title_text": "k, labels predicted per row", "dtick": 1, "tickformat": "d"}
    return figure.checked(x, {"title_text": "Percent", "rangemode": "tozero"}, showlegend=True)


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
    title: str = "Precision against cost",
    compared: pd.DataFrame | None = None,
) -> Figure:
    """Draw measures of runs against what they cost, with a line through the runs that no other run beats."""
    need_columns(frame, ["run", "model", *costs, *measures], "frontier")
    drawn = frame[(frame[list(costs)] > 0).any(axis=1)]
    space = {"shared_xaxes": True, "horizontal_spacing": 0.04, "vertical_spacing": 0.06}
    figure = Drawing(title, drawn, frame).panels(len(measures), len(costs), **space)
    best, styles, legend = {}, run_colors(frame, compared), apart(drawn["run"], LEGEND)
    chosen = [] if compared is None else [*compared["run"]]
    for row, measure in enumerate(measures, start=1):
        for column, cost in enumerate(costs, start=1):
            at, words = {"row": row, "col": column}, (measure, costs[cost])
            own = drawn.assign(cost_=drawn[cost].where(drawn[cost] > 0), value_=drawn[measure])
            line = own[pareto(own["cost_"], own[measure])].sort_values("cost_")
            is_first = len(line) > 1 and all(len(runs) < 2 for runs in best.values())  # that is seen
            best[f"{measure}, {cost}"] = line["run"].tolist()
            in_legend = {"name": "Pareto front", "legendgroup": "frontier", "showlegend": is_first}
            figure.stroke(line["cost_"], line[measure], ink.QUIET, 1.5, "dot", **in_legend, **at)
            named = own
            if too_many_to_name(frame):
                named = own[own["run"].isin(chosen)]
                _points_of_models(figure, own, named.index, words, at)
            faint = {*named["run"]} - {*chosen} if chosen else set()
            _points(figure, named, words, at, styles, legend, faint)
            titled = {"title_text": f"{costs[cost]} (log)"} if row == len(measures) else {}
            figure.axes(_axis(own["cost_"].dropna()) | titled, **at)
        figure.axes(y=f"{measure}, percent", row=row, col=1)
    figure.facts["frontier"] = best
    return figure.checked(whole=100.0, height=PANEL * len(measures) + 130, showlegend=True)


def _points(figure, drawn, words, at, styles, legend, faint) -> None:
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
        figure.points([run["cost_"]], [value], legend[str(name)], marker, hover, **more)


def _points_of_models(figure, drawn, named, words, at) -> None:
    """Add the runs of each model as one trace, without those that have a mark each: ``named`` are their lines."""
    hover = f"<b>%{{customdata}}</b><br>{words[0]} = %{{y:.2f}} %<br>{words[1]}: %{{x:.3~r}}"
    for model, own in drawn.drop(named).groupby("model", sort=False):
        style = run_style(model)
        name = f"{model}, others" if (drawn.loc[named, "model"] == model).any() else model
        opacity = 0.7 if named.empty else FAINT
        marker = {"color": style["color"], "symbol": style["mark"], "size": 7, "opacity": opacity}
        more = {"legendgroup": f"model {model}", "showlegend": at == {"row": 1, "col": 1}, **at}
        figure.points(own["cost_"], own["value_"], name, marker, hover, customdata=[*map(whole, own["run"])], **more)


def _axis(costs) -> dict:
    """Return the axis of costs that are larger than 0; those that are nearly the same stand near to each other."""
    if costs.empty:
        return {"type": "log"}
    least, most = costs.min(), costs.max()
    around = max(1.0, math.sqrt(NARROWEST * least / most))
    ends = least / around, most * around
    return log_ticks(*ends) | ({"range": np.log10(ends).tolist()} if around > 1 else {})
