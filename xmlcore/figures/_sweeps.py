"""Figure of a sweep: a measure against each parameter that was varied."""

import textwrap
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from xmlcore.figures._axes import far_apart, log_ticks, small_looks_small
from xmlcore.figures._style import BLUE, ORANGE, PALETTE, RUN_DASHES, VIOLET, need_columns, new_figure, short

PANEL = 280  # height of a row of panels, in pixels
UPRIGHT = 110  # height of texts in place of numbers below a panel, where they stand upright
BELOW = 90  # height of numbers and a line of a title below a panel
LINE, LETTERS = 18, 24  # height of a further line of a title, and most letters of a line
NEAR = 0.15  # of the width of a panel: labels that are nearer to each other would overlap
AGAIN = [*(color for color in PALETTE if color not in (BLUE, ORANGE)), VIOLET]  # of lines that are no means of all
MARKS = ("circle", "square-open", "diamond-open", "x-thin-open", "cross-thin-open")  # each is seen on the ones before
MOST_VALUES = 12  # a line goes through the mean at each value; if there are more values, through means of groups
GROUPS = 6  # groups of neighbouring values, of equal size
WIDE = 10  # a parameter whose values differ by this factor has a logarithmic axis


def sweep_values(
    trials: pd.DataFrame,
    parameters: dict[str, Any],
    measure: str,
    notes: dict[str, str] | None = None,
    together: tuple[str, str, str] | None = None,
) -> go.Figure:
    """Draw a measure against each varied parameter: points for trainings, a line for the mean, stars for the best.

    ``notes`` has further lines below some axes, by parameter. ``together`` has two parameters and the note of one more
    panel: against the one with more values, a line of means for each value of the other.
    """
    need_columns(trials, ["value", "rows", "seed", *parameters], "sweep_values")
    texts = trials[list(parameters)].astype(object)
    trials = trials.assign(**texts.where(texts.notna(), None))  # None among numbers came back as NaN
    drawn = trials[trials["value"].notna()]
    n_panels = len(parameters) + (together is not None)
    n_columns = 2 if n_panels == 4 else min(3, n_panels)
    n_rows = -(-n_panels // n_columns)
    titles = {name: [*textwrap.wrap(short(label, 2 * LETTERS), LETTERS)] for name, label in parameters.items()}
    for name, note in (notes or {}).items():
        titles[name] += textwrap.wrap(note, LETTERS)
    more = LINE * (max(map(len, titles.values())) - 1)
    if not all(_are_numbers(trials[name]) for name in [*parameters][: n_columns * (n_rows - 1)]):
        more += UPRIGHT
    height = (PANEL + more) * n_rows
    figure = make_subplots(
        rows=n_rows, cols=n_columns, shared_yaxes=True, horizontal_spacing=0.06,
        vertical_spacing=(BELOW + more) / max(PANEL, height),
        figure=new_figure(f"{measure} on the rows held out, by setting", shown=len(drawn), total=len(trials)),
    )  # fmt: skip
    sizes = sorted(drawn["rows"].dropna().unique())
    last = drawn[drawn["rows"] == sizes[-1]] if sizes else drawn
    best = last[last["value"] == last["value"].max()]  # of equal ones, all
    for at, name in enumerate(parameters):
        row, column = at // n_columns + 1, at % n_columns + 1
        numbers = _are_numbers(trials[name])
        for order, size in enumerate(reversed(sizes)):  # all rows first, always in the same colour
            part = drawn[drawn["rows"] == size]
            _add(figure, part, name, numbers, measure, f"{int(size):,} rows", PALETTE[order % len(PALETTE)],
                 {"row": row, "col": column}, first=at == 0)  # fmt: skip
        _add_best(figure, best, name, numbers, {"row": row, "col": column}, first=at == 0)
        figure.update_xaxes(title_text="<br>".join(titles[name]), row=row, col=column, **_axis(trials[name], numbers))
    if together is not None:
        place = {"row": n_rows, "col": (n_panels - 1) % n_columns + 1}
        _add_together(figure, drawn[drawn["rows"] == sizes[0]] if sizes else drawn, together, parameters, place)
    figure.update_yaxes(title_text=f"{measure}, percent", col=1)
    small_looks_small(figure)
    figure.update_layout(height=height + 130, showlegend=True)
    return figure


def _add_together(figure, drawn, together, parameters, place):
    """Add the panel of two parameters: a line of means for each value of the one with fewer values."""
    by, name = sorted(together[:2], key=lambda name: drawn[name].map(repr).nunique())
    numbers = _are_numbers(drawn[name])
    for place_of, (value, own) in enumerate(drawn.groupby(drawn[by].map(_text), sort=False)):
        color, dash, mark = (ways[place_of % len(ways)] for ways in (AGAIN, RUN_DASHES, MARKS))
        means = (100 * own["value"]).groupby(own[name].astype(float) if numbers else own[name].map(_text)).mean()
        x, y = (means.index, means) if numbers else _apart(drawn[name], means)
        figure.add_scatter(
            x=x, y=y, mode="lines+markers", name=f"{short(parameters[by], LETTERS)} = {value}",
            line={"color": color, "width": 2, "dash": dash},
            marker={"color": color, "size": 8, "symbol": mark, "line": {"color": color, "width": 2}},
            hovertemplate=f"{value}, %{{x}}: %{{y:.2f}} %<extra></extra>", **place,
        )  # fmt: skip
    title = [*textwrap.wrap(short(parameters[name], 2 * LETTERS), LETTERS), *textwrap.wrap(together[2], LETTERS)]
    figure.update_xaxes(title_text="<br>".join(title), **place, **_axis(drawn[name], numbers))


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
    means = means.groupby(key, as_index=False).mean(numeric_only=True)
    x, y = (means["x"], means["y"]) if numbers else _apart(part[name], means.set_index("x")["y"])
    figure.add_scatter(
        x=x, y=y, mode="lines" if numbers else "lines+markers", name=f"mean, {group}", legendgroup=group,
        showlegend=first, line={"color": color, "width": 2}, hoverinfo="skip",
        marker={"symbol": "line-ew-open", "size": 20, "color": color, "line": {"width": 2}}, **place,
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
        return {
            "type": "category",
            "autotickangles": [0, 90],
            "categoryorder": "array",
            "categoryarray": _ordered(values),
        }
    values = np.unique(values.to_numpy(float))
    wide = values.size > 1 and values[0] > 0 and values[-1] >= WIDE * values[0]
    if values.size > 8 and not wide:
        return {}
    if values.size > 8:  # else a tick at each value
        values = np.array(log_ticks(values[0], values[-1])["tickvals"])
    values = values[far_apart(np.log(values) if wide else values, NEAR)]
    ticks = {"tickvals": values.tolist(), "ticktext": [f"{value:,g}" for value in values]}
    return ticks | ({"type": "log"} if wide else {})


def _ordered(values) -> list[str]:
    """Return the texts of values that are not all numbers: first those that are none, as they come, then numbers."""
    numbers = {value for value in values if _are_numbers([value])}
    others = dict.fromkeys(_text(value) for value in values if not _are_numbers([value]))
    return [*others, *(_text(value) for value in sorted(numbers))]


def _apart(values, means) -> tuple[list, list]:
    """Return a line through the means of texts, from left to right, with a gap behind each that is no number."""
    numbers = {_text(value) for value in values if _are_numbers([value])}
    x = [at for text in _ordered(values) if text in means for at in ([text] if text in numbers else [text, None])]
    return x, [means.get(at) for at in x]


def _text(value) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, (int, float, np.number)):
        return f"{value:,g}"
    return "automatic" if value is None or value == "auto" else short(value)
