"""Figure of a sweep: a measure against each parameter that was varied."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from xmlcore.figures._axes import far_apart, small_looks_small
from xmlcore.figures._style import ORANGE, PALETTE, need_columns, new_figure, short

PANEL = 280  # height of a row of panels, in pixels
BELOW = 100  # height of labels and title below a panel: on a phone, the labels stand upright
NOTE = 18  # height of the second line of a title
NEAR = 0.15  # of the width of a panel: labels that are nearer to each other would overlap on a phone
MOST_VALUES = 12  # a line goes through the mean at each value; if there are more values, through means of groups
GROUPS = 6  # groups of neighbouring values, of equal size
WIDE = 10  # a parameter whose values differ by this factor has a logarithmic axis


def sweep_values(
    trials: pd.DataFrame, parameters: dict[str, Any], measure: str, notes: dict[str, str] | None = None
) -> go.Figure:
    """Draw a measure against each varied parameter: points for trainings, a line for the mean, stars for the best.

    ``notes`` has a second line below some axes, by parameter.
    """
    need_columns(trials, ["value", "rows", "seed", *parameters], "sweep_values")
    texts = trials[list(parameters)].astype(object)
    trials = trials.assign(**texts.where(texts.notna(), None))  # None among numbers came back as NaN
    drawn = trials[trials["value"].notna()]
    n_rows, n_columns = -(-len(parameters) // 2), min(2, len(parameters))
    figure = make_subplots(
        rows=n_rows, cols=n_columns, shared_yaxes=True, horizontal_spacing=0.06,
        vertical_spacing=(BELOW + NOTE * bool(notes)) / (PANEL * max(1, n_rows)),
        figure=new_figure(f"{measure} on the rows held out, by setting", shown=len(drawn), total=len(trials)),
    )  # fmt: skip
    sizes = sorted(drawn["rows"].dropna().unique())
    last = drawn[drawn["rows"] == sizes[-1]] if sizes else drawn
    best = last[last["value"] == last["value"].max()]  # of equal ones, all
    for at, (name, label) in enumerate(parameters.items()):
        row, column = at // n_columns + 1, at % n_columns + 1
        numbers = _are_numbers(trials[name])
        for order, size in enumerate(reversed(sizes)):  # all rows first, always in the same colour
            part = drawn[drawn["rows"] == size]
            _add(figure, part, name, numbers, measure, f"{int(size):,} rows", PALETTE[order % len(PALETTE)],
                 {"row": row, "col": column}, first=at == 0)  # fmt: skip
        _add_best(figure, best, name, numbers, {"row": row, "col": column}, first=at == 0)
        title = short(label, 40) if notes is None else f"{short(label, 22)}<br>{notes.get(name, '')}"
        figure.update_xaxes(title_text=title, row=row, col=column, **_axis(trials[name], numbers))
        if column == 1:
            figure.update_yaxes(title_text=f"{measure}, percent", row=row, col=column)
    small_looks_small(figure)
    figure.update_layout(height=PANEL * n_rows + 130, showlegend=True)
    return figure


def _add(figure, part, name, numbers, measure, group, color, place, first):
    """Add the points of trainings on samples of one size, and the line of their mean, to one panel."""
    x = part[name].astype(float) if numbers else part[name].map(_text)
    figure.add_scatter(
        x=x, y=100 * part["value"], mode="markers", name=f"a training on {group}", legendgroup=group, showlegend=first,
        marker={"color": color, "size": 7, "opacity": 0.55}, customdata=part["seed"],
        hovertemplate=f"{measure} = %{{y:.2f}} %<br>%{{x}}, seed %{{customdata}}<extra></extra>", **place,
    )  # fmt: skip
    means = pd.DataFrame({"x": x, "y": 100 * part["value"]})
    key = "x"
    if numbers and x.nunique() > MOST_VALUES:
        means["group"] = pd.qcut(means["x"].rank(method="first"), GROUPS, labels=False)
        key = "group"
    means = means.groupby(key, sort=numbers, as_index=False).mean(numeric_only=True)
    if not numbers:  # the line goes from left to right
        means = means.set_index("x").reindex(_ordered(part[name])).reset_index()
    figure.add_scatter(
        x=means["x"], y=means["y"], mode="lines", name=f"mean, {group}", legendgroup=group, showlegend=first,
        line={"color": color, "width": 2}, hoverinfo="skip", **place,
    )  # fmt: skip


def _add_best(figure, best, name, numbers, place, first):
    figure.add_scatter(
        x=best[name].astype(float) if numbers else best[name].map(_text), y=100 * best["value"], mode="markers",
        name="the best training", legendgroup="best", showlegend=first, hoverinfo="skip",
        marker={"color": ORANGE, "symbol": "star", "size": 14}, **place,
    )  # fmt: skip


def _are_numbers(values) -> bool:
    """Return whether all values of a parameter are numbers, and more than on and off."""
    return all(isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_))
               for value in values)  # fmt: skip


def _axis(values, numbers) -> dict:
    if not numbers:
        return {"type": "category", "categoryorder": "array", "categoryarray": _ordered(values)}
    values = np.unique(values.to_numpy(float))
    wide = values.size > 1 and values[0] > 0 and values[-1] >= WIDE * values[0]
    axis = {"type": "log"} if wide else {}
    if values.size <= 8:  # a tick at each value
        values = values[far_apart(np.log(values) if wide else values, NEAR)]
        axis |= {"tickvals": values.tolist(), "ticktext": [f"{value:,g}" for value in values]}
    return axis


def _ordered(values) -> list[str]:
    """Return the texts of values that are not all numbers: first those that are none, as they come, then numbers."""
    numbers = {value for value in values if _are_numbers([value])}
    others = dict.fromkeys(_text(value) for value in values if not _are_numbers([value]))
    return [*others, *(_text(value) for value in sorted(numbers))]


def _text(value) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, (int, float, np.number)):
        return f"{value:,g}"
    return "automatic" if value is None or value == "auto" else short(value)
