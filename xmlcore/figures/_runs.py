"""Colours, dashes and marks of runs and models, and small pictures of the marks for tables beside figures."""

from collections.abc import Iterator
from functools import cache
from urllib.parse import quote

import pandas as pd

from xmlcore.figures import _style as ink
from xmlcore.figures._style import need_columns
from xmlcore.models.saving import SAVED_CLASSES, saved_class
from xmlcore.parameters import About

LEGEND = 40  # letters of a name in a legend
NAMED = 15  # most runs that have a mark and a line in the legend each
LETTERS = 240  # most letters of their names together: a longer legend would leave points no room
OF_NO_MODEL = (ink.PURPLE, ink.VIOLET, ink.BROWN)  # colours of further runs of a model, before those of other models


@cache
def abouts(package: str) -> dict[str, About]:
    """Return what stands beside the classes of models or of selectors that have a colour and a mark, by class."""
    every = {name: saved_class(name).ABOUT for name, module in SAVED_CLASSES.items() if module.startswith(package)}
    return {name: about for name, about in every.items() if about is not None and about.color}


def model_styles() -> dict[str, tuple[str, str]]:
    return {name: (about.color, about.mark) for name, about in abouts("xmlcore.models").items()}


def run_style(model: str) -> dict:
    """Return colour and mark of a model."""
    return dict(zip(("color", "mark"), model_styles().get(model, (ink.PURPLE, "star"))))


def run_colors(frame: pd.DataFrame, compared: pd.DataFrame | None = None) -> dict:
    """Return colour and mark of each run: the first of each model has the model's, the others have further colours."""
    free = dict.fromkeys([*OF_NO_MODEL, *ink.PALETTE])
    taken, styles = set(), {}
    for part in [frame] if compared is None else [compared, frame]:
        part = part.sort_values("run", key=lambda names: names.astype(str))
        places = part["place"] if "place" in part else part.groupby("model").cumcount()
        for place, run, model in sorted(zip(places, part["run"], part["model"]), key=lambda line: line[0]):
            style = run_style(model)
            ways = [(color, way) for way in ("-open", "-open-dot") for color in free if color != style["color"]]
            own = [{"color": color, "symbol": style["mark"] + way} for color, way in [(style["color"], ""), *ways]]
            own = own[place % len(own) :] + own[: place % len(own)]
            styles.setdefault(run, next((one for one in own if (*one.values(),) not in taken), own[0]))
            taken.add((*styles[run].values(),))
    return styles


def styled_runs(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, dict]]:
    """Yield each run: its name, its rows, and its colour with mark and dash."""
    runs = frame.drop_duplicates("run")
    own = run_colors(runs) if "place" in runs else {}  # as wherever else they are drawn
    for run, model, before in zip(runs["run"], runs["model"], runs.groupby("model").cumcount()):
        style = run_style(model) | {"dash": ink.RUN_DASHES[before % len(ink.RUN_DASHES)]}
        if run in own:
            style |= {"color": own[run]["color"], "mark": own[run]["symbol"]}
        yield run, frame[frame["run"] == run], style


def too_many_to_name(frame: pd.DataFrame) -> bool:
    return len(frame) > NAMED or frame["run"].astype(str).str.len().clip(upper=LEGEND).sum() > LETTERS


SHAPES = {  # symbol of Plotly -> its outline, in a square of 20 units
    "circle": "M10 4a6 6 0 1 0 .01 0z",
    "square": "M4.5 4.5h11v11h-11z",
    "diamond": "M10 2.5l7.5 7.5l-7.5 7.5l-7.5-7.5z",
    "triangle-up": "M10 3.5l7 12.5h-14z",
    "cross": "M7.5 3h5v4.5h4.5v5h-4.5v4.5h-5v-4.5h-4.5v-5h4.5z",
    "x": "M6.5 3l3.5 3.5l3.5-3.5l3.5 3.5l-3.5 3.5l3.5 3.5l-3.5 3.5l-3.5-3.5l-3.5 3.5l-3.5-3.5l3.5-3.5l-3.5-3.5z",
    "hexagon": "M10 3l6.1 3.5v7l-6.1 3.5l-6.1-3.5v-7z",
    "star": "M10 2l2 5.6h6l-4.8 3.6l1.8 5.8l-5-3.5l-5 3.5l1.8-5.8l-4.8-3.6h6z",
}
BEGIN = '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="-6 -6 32 32">'


def run_marks(frame: pd.DataFrame, compared: pd.DataFrame | None = None) -> dict[str, str]:
    """Return the mark that each run has in :func:`frontier` of the same frames, as the ``data:`` address of an SVG."""
    need_columns(frame, ["run", "model"], "run_marks")
    styles = run_colors(frame, compared)
    if too_many_to_name(frame):
        models = dict(zip(frame["run"], map(run_style, frame["model"])))
        others = models.keys() - set([] if compared is None else compared["run"])
        styles |= {run: {"color": models[run]["color"], "symbol": models[run]["mark"]} for run in others}
    return {run: _picture(**style) for run, style in styles.items()}


def _picture(color: str, symbol: str) -> str:
    mark, is_open, dot = symbol.partition("-open")
    fill, inside = "none" if is_open else color, f'<circle cx="10" cy="10" r="1.8" fill="{color}"/>' if dot else ""
    path = f'<path d="{SHAPES.get(mark, SHAPES["star"])}" fill="{fill}" stroke="{color}" stroke-width="2"/>'
    return f"data:image/svg+xml,{quote(f'{BEGIN}{path}{inside}</svg>')}"
