"""Figures of settings: parallel coordinates of runs, sweeps, and the trials by which a model chose its own."""

import math
import textwrap
from typing import Any

import numpy as np
import pandas as pd

from xmlcore.figures import _grammar as draw
from xmlcore.figures import _style as ink
from xmlcore.figures._axes import LEAST_SPAN, NEAR, far_apart, log_ticks, steps
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._names import apart, short
from xmlcore.figures._style import Figure, need_columns

SHADES = [[0.0, "#0072B2"], [0.5, "#CC79A7"], [1.0, "#E69F00"]]  # legible on a white and on a dark page
LETTERS = 100  # of all names above the axes of parallel coordinates
LEGIBLE = "#74808A"  # a contrast of 4.0 on a white page and 4.5 on a dark one
WIDE = 10  # an axis whose largest value is so many times its smallest has equal steps for equal ratios
MOST_TICKS = 8  # values of an axis that are all written beside it

PANEL = 280  # height of a row of panels, in pixels
UPRIGHT = 110  # height of texts in place of numbers below a panel, where they stand upright
BELOW = 90  # height of numbers and a line of a title below a panel
TITLE, IN_TITLE = 18, 24  # height of a further line of a title, and most letters of a line
APART = 0.15  # of the width of a panel: labels that are nearer to each other would overlap
MOST_VALUES = 12  # a line goes through the mean at each value; if there are more values, through means of groups
GROUPS = 6  # groups of neighbouring values, of equal size
NAME = 36  # characters of the name of a trial on a line


def parameters_compared(
    frame: pd.DataFrame, parameters: dict[str, Any], measure: str, title: str | None = None
) -> Figure:
    """Draw parallel coordinates: a line per run through its parameters and its measure, which gives the colour."""
    need_columns(frame, [measure, *parameters], "parameters_compared")
    drawn = frame.dropna(subset=[measure, *parameters])
    figure = Drawing(title or f"{measure} by settings", drawn, frame, left_out=len(frame) - len(drawn))
    titles = apart(parameters.values(), min(24, LETTERS // (len(parameters) + 1)))
    dimensions = [_dimension(drawn[name], titles[str(label)]) for name, label in parameters.items()]
    values = drawn[measure].astype(float).tolist()
    # The colour bar stands beside the last axis, whose numbers are its own.
    bar = {"thickness": 8, "len": 1, "xpad": 6, "ypad": 0, "showticklabels": False, "outlinewidth": 0}
    figure.add("parcoords", 
        dimensions=[*dimensions, {"label": f"{measure}, %", "values": values}],
        line={"color": values, "colorscale": SHADES, "colorbar": bar, "showscale": True},
        # The dashboard's theme does not reach these texts: this grey is legible on a white and on a dark page.
        labelfont={"color": LEGIBLE, "size": 13}, tickfont={"color": LEGIBLE, "size": 12},
        rangefont={"color": "rgba(0, 0, 0, 0)", "size": 1}, unselected={"line": {"color": ink.QUIET, "opacity": 0.15}},
    )  # fmt: skip
    return figure.checked(height=380, margin={"t": 110, "l": 120, "r": 60, "b": 40})


def _dimension(values, label) -> dict:
    """Return an axis of parallel coordinates: of numbers, which may be spaced by ratios, or of texts in their order."""
    if pd.api.types.is_numeric_dtype(values):
        values = values.astype(float)
        distinct = sorted(values.unique())
        by_ratio = _is_wide(distinct)
        marked = distinct if len(distinct) <= MOST_TICKS else []
        if by_ratio and not marked:  # the ends, and the powers of ten between them
            low, high = math.floor(math.log10(distinct[0])) + 1, math.ceil(math.log10(distinct[-1]))
            marked = [distinct[0], *(10.0**power for power in range(low, high)), distinct[-1]]
        places, drawn = (np.log10(marked), np.log10(values)) if by_ratio else (np.array(marked), values)
        ticks = {"tickvals": places.tolist(), "ticktext": [f"{value:g}" for value in marked]} if marked else {}
        return {"label": label, "values": drawn.tolist(), **ticks}
    distinct = sorted(values.astype(str).unique(), key=_by_number)
    ticks = {"tickvals": [*range(len(distinct))], "ticktext": [*apart(distinct, 16).values()]}
    return {"label": label, "values": [distinct.index(str(value)) for value in values], **ticks}


def _is_wide(ascending) -> bool:
    return len(ascending) > 1 and ascending[0] > 0 and ascending[-1] >= WIDE * ascending[0]


def _by_number(text: str):
    try:
        return 0, float(text.replace(",", "")), text
    except ValueError:
        return 1, 0.0, text


def sweep_values(
    trials: pd.DataFrame,
    parameters: dict[str, Any],
    measure: str,
    notes: dict[str, str] | None = None,
) -> Figure:
    """Draw a measure against each varied parameter: points for trainings, a line for the mean, stars for the best."""
    need_columns(trials, ["value", "rows", "seed", *parameters], "sweep_values")
    texts = trials[list(parameters)].astype(object)
    trials = trials.assign(**texts.where(texts.notna(), None))  # None among numbers came back as NaN
    drawn = trials[trials["value"].notna()]
    n_columns = 2 if len(parameters) == 4 else min(3, len(parameters))
    n_rows = -(-len(parameters) // n_columns)
    titles = {}
    for name, label in parameters.items():
        texts = short(label, 2 * IN_TITLE), (notes or {}).get(name, "")
        titles[name] = "<br>".join(line for text in texts for line in textwrap.wrap(text, IN_TITLE))
    more = TITLE * max(title.count("<br>") for title in titles.values())
    if not all(_are_numbers(trials[name]) for name in [*parameters][: n_columns * (n_rows - 1)]):
        more += UPRIGHT
    height = (PANEL + more) * n_rows
    space = {"horizontal_spacing": 0.06, "vertical_spacing": (BELOW + more) / max(PANEL, height)}
    figure = Drawing(f"{measure} on the rows held out, by setting", drawn, trials)
    figure = figure.panels(n_rows, n_columns, **space)
    sizes = sorted(drawn["rows"].dropna().unique(), reverse=True)  # all rows first, always in the same colour
    last = drawn[drawn["rows"] == sizes[0]] if sizes else drawn
    best = last[last["value"] == last["value"].max()]  # of equal ones, all
    for at, name in enumerate(parameters):
        place = {"row": at // n_columns + 1, "col": at % n_columns + 1}
        numbers, in_legend = _are_numbers(trials[name]), {"showlegend": at == 0, **place}
        for order, size in enumerate(sizes):
            part, color = drawn[drawn["rows"] == size], ink.PALETTE[order % len(ink.PALETTE)]
            _add_means(figure, part, name, numbers, measure, f"{int(size):,} rows", color, in_legend)
        x, star = _places(best[name], numbers), {"color": ink.ORANGE, "symbol": "star", "size": 14}
        look = {"hoverinfo": "skip", "hovertemplate": None, "legendgroup": "best", **in_legend}
        figure.points(x, 100 * best["value"], "the best training", star, "", **look)
        figure.axes({"title_text": titles[name], **_axis(trials[name], numbers)}, **place)
    figure.axes(y=f"{measure}, percent", col=1)
    return figure.checked(whole=100.0, height=height + 130, showlegend=True)


def _add_means(figure, part, name, numbers, measure, group, color, place):
    """Add the points of trainings on samples of one size, and the line of their mean, to one panel."""
    means = pd.DataFrame({"x": _places(part[name], numbers), "y": 100 * part["value"]})
    dot, look = {"color": color, "size": 7, "opacity": 0.55}, {"legendgroup": group, **place}
    hover = f"{measure} = %{{y:.2f}} %<br>%{{x}}, seed %{{customdata}}"
    figure.points(means["x"], means["y"], f"a training on {group}", dot, hover, customdata=part["seed"], **look)
    key = "x"
    if numbers and means["x"].nunique() > MOST_VALUES:
        means["group"] = pd.qcut(means["x"].rank(method="first"), GROUPS, labels=False)
        key = "group"
    means = means.groupby(key, as_index=False).mean(numeric_only=True)
    x, y = (means["x"], means["y"]) if numbers else _with_gaps(part[name], means.set_index("x")["y"])
    look |= {"marker": {"symbol": "line-ew-open", "size": 20, "color": color, "line": {"width": 2}}}
    mode = "lines" if numbers else "lines+markers"
    figure.stroke(x, y, color, 2, mode=mode, name=f"mean, {group}", **look)


def _places(values, numbers):
    return values.astype(float) if numbers else values.map(_text)


def _are_numbers(values) -> bool:
    return all(isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_))
               for value in values)  # fmt: skip


def _axis(values, numbers) -> dict:
    if not numbers:
        order = {"categoryorder": "array", "categoryarray": _ordered(values)}
        return {"type": "category", "autotickangles": [0, 90], **order}
    values = np.unique(values.to_numpy(float))
    wide = _is_wide(values)
    if values.size > MOST_TICKS:
        if not wide:
            return {}
        values = np.array(log_ticks(values[0], values[-1])["tickvals"])
    values = values[far_apart(np.log(values) if wide else values, APART)]
    ticks = {"tickvals": values.tolist(), "ticktext": [f"{value:,g}" for value in values]}
    return ticks | ({"type": "log"} if wide else {})


def _ordered(values) -> list[str]:
    """Return the texts of values that are not all numbers: first the texts, as they come, then the numbers."""
    numbers = {value for value in values if _are_numbers([value])}
    others = dict.fromkeys(_text(value) for value in values if not _are_numbers([value]))
    return [*others, *(_text(value) for value in sorted(numbers))]


def _with_gaps(values, means) -> tuple[list, list]:
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


def trials(frame: pd.DataFrame, chosen: int | None = None) -> Figure:
    """Draw the precision of the trials by which a model chose its settings, in percent: its ``chosen_``."""
    measures = ["P@1", "P@3", "P@5"]
    of_trees = "arity" in getattr(frame, "columns", ())
    columns = [*(("arity", "max_leaf_labels", "loss") if of_trees else ()), "C", *measures]
    need_columns(frame, columns, "trials", chosen=chosen)
    figure = Drawing("Precision of each trial", frame).panels(1, 3, horizontal_spacing=0.04)
    names, about = _named_trials(frame, of_trees)
    if chosen is not None:
        names[chosen] = f"<b>{names[chosen]} (chosen)</b>"
    samples = [""] * len(frame)
    if {"rows", "labels"} <= set(frame):
        samples = [f"on {n_rows:,} rows of {n:,} labels" for n_rows, n in zip(frame["rows"], frame["labels"])]
    begin = [at for at in range(len(samples)) if at == 0 or samples[at] != samples[at - 1]]
    for at in begin if len(begin) > 1 else []:
        names[at] = f"<b>{samples[at]}</b><br>{names[at]}"
        figure.rule(at - 0.5, level=True, color=ink.GREY, width=1, xref="paper", row=1, col=1)
    values = [100 * frame[measure].to_numpy(float) for measure in measures]
    span = max(LEAST_SPAN * 100, max(map(np.ptp, values)))  # the same in all panels
    said = [f"{text}<br>{sample}" for text, sample in zip(about, samples)]
    for column, (measure, mark, drawn) in enumerate(zip(measures, ("circle", "diamond", "square"), values), 1):
        start, place = max(0.0, (drawn.min() + drawn.max() - span) / 2), {"row": 1, "col": column}
        ends = start - 0.08 * span, start + 1.08 * span
        figure.axes({"title_text": f"{measure}, %", "range": ends, "tickvals": steps(*ends, NEAR)}, **place)
        marker = {"symbol": mark, "size": 8, "color": ink.BLUE}  # which is seen on a dark page, too
        look = {"hovertemplate": measure + " = %{x:.2f} %<br>%{customdata}<extra>%{y}</extra>", "showlegend": False}
        figure.points(drawn, names, measure, marker, "", customdata=said, **look, **place)
    line = draw.LINE + 12 * max(name.count("<br>") for name in names)
    y = {"type": "category", "categoryarray": names, "autorange": "reversed", "showgrid": False}
    return figure.checked({}, y, height=draw.AROUND + line * len(frame))


def _named_trials(frame, of_trees) -> tuple[list[str], list[str]]:
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
        parts = [part for part in (shapes, parts[0], losses) if part is parts[0] or len(set(part)) > 1]
    if "normalize" in frame and frame["normalize"].nunique() > 1:
        parts.append(frame["normalize"])
    names = [f"{number}: {', '.join(part)}" for number, part in enumerate(zip(*parts), 1)]
    return ["<br>".join(textwrap.wrap(name, NAME)) for name in names], about
