"""Colours, marks, the template and helpers that all figures share."""

import html
import os
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

import pandas as pd
import plotly.graph_objects as go

from xmlcore.validation import check_count
from xmlcore.wording import listed

# The colours of Okabe and Ito, which differ for people with every common colour vision, without the yellow and the
# black that are invisible on a white or a dark page. https://jfly.uni-koeln.de/color/
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C8C8C")
BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, GREY = PALETTE
# Two more colours for figures that need more than seven. They differ from all of these with every common colour vision.
BROWN, VIOLET = "#8B5A2B", "#8A5CF0"

# A measure or a bucket has the same colour in every figure, and the same mark, for print. Colours of measures are
# shades of one hue that no model has; each has a contrast of at least 2.5 on a white and on a dark page.
MEASURE_SHADES = ("#4A5C6E", "#6A8095", "#8AA1B8", "#5A6E82", "#7A91A7")
BAR_SHADES = ("#566B80", "#8FA6BC", "#C9D7E3")  # of bars beside each other, which have an edge
MEASURE_COLORS = dict(zip(("P@k", "nDCG@k", "PSP@k", "R@k", "PSnDCG@k"), MEASURE_SHADES))
MEASURE_MARKS = {"P@k": "circle", "nDCG@k": "square", "PSP@k": "diamond", "R@k": "triangle-up", "PSnDCG@k": "x"}
RUN_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
PART_COLORS = {"training": BLUE, "test": VERMILION}
BUCKET_COLORS = {"head": BLUE, "torso": VERMILION, "tail": GREY}
BUCKET_MARKS = {"head": "circle", "torso": "square", "tail": "diamond"}
# Rankings of features; contributions for and against a label.
RANKING_COLORS = {"contributions": BLUE, "supporting": GREEN, "magnitude": ORANGE, "random": GREY}
RANKING_MARKS = {"contributions": "circle", "supporting": "diamond", "magnitude": "square", "random": "x"}
FOR, AGAINST = BLUE, VERMILION

INK = "#1B2329"
QUIET = "#5B6770"  # visible as a thin line on a white and on a dark page
GRID = "#E3E8EC"
EDGE = "#7A858E"  # lines between nodes: a contrast of 3.7 on a white page and 4.7 on a dark one
MARK = "rgba(128, 140, 150, 0.8)"  # reference lines in a plot, visible on a white and on a dark page

# A click selects a node. Plotly would make all other marks pale.
NOT_PALE = {"selected": {"marker": {"opacity": 1}}, "unselected": {"marker": {"opacity": 1}}}

HEIGHT = 380
TOP, TITLE_LINE = 72, 22  # margin above a figure with a title of one line, and height of each further line, in pixels
BUTTONS = 33  # space for the buttons at the top of a figure, in pixels
# Fonts of the system: an exported image is drawn without the fonts of the page, and with another font texts would be
# wider than the space that was measured for them.
FONT = "Arial, Helvetica, sans-serif"


def template() -> go.layout.Template:
    """Return the template of every figure, for a white page."""
    return go.layout.Template(_template())


def _template() -> dict:
    """Return the template as a dict, which Plotly checks once; it would check a Template for each figure once more."""
    axis = {
        "showgrid": True,
        "separatethousands": True,
        "gridcolor": GRID,
        "gridwidth": 1,
        "zeroline": False,
        "showline": True,
        "linecolor": QUIET,
        "ticks": "outside",
        "tickcolor": QUIET,
        "ticklen": 4,
        "title": {"standoff": 8},
        "automargin": True,
        # Otherwise Plotly measures every tick label once more, one by one, to hide those that would leave the figure,
        # which takes half of the time that it draws for. None does: margins grow with the labels.
        "ticklabeloverflow": "allow",
    }
    return {
        "layout": {
            "font": {"family": FONT, "size": 14, "color": INK},
            "title": {"font": {"size": 16}, "x": 0, "xanchor": "left", "xref": "container", "pad": {"l": 8}},
            "colorway": list(PALETTE),
            "paper_bgcolor": "white",
            "plot_bgcolor": "white",
            "margin": {"l": 64, "r": 16, "t": TOP, "b": 56},
            "height": HEIGHT,
            "xaxis": axis,
            "yaxis": axis,
            "bargap": 0.15,
            "bargroupgap": 0.05,
            "hovermode": "closest",
            "hoverlabel": {"align": "left"},
            # At the bottom, where a long legend can wrap on a narrow page without covering the title.
            "legend": {
                "orientation": "h",
                "x": 0,
                "xanchor": "left",
                "yref": "container",
                "y": 0,
                "yanchor": "bottom",
                "title": {"text": ""},
            },
        }
    }


def new_figure(title: str, *, shown: int, total: int, **facts: object) -> go.Figure:
    """Return an empty figure with the template, and with points drawn, points in total, and facts in its ``meta``."""
    font = {"font": {"family": FONT}}  # set on the figure itself, because the dashboard's theme replaces the template
    # Below the buttons that the dashboard and notebooks show at the top right, which would lie on a long title.
    place = {"y": 1, "yref": "container", "yanchor": "top", "pad": {"t": BUTTONS}}
    layout = {"template": _template(), "title": {"text": title, **font, **place}, "hoverlabel": font, **font}
    if lines := title.count("<br>"):
        layout["margin"] = {"t": TOP + TITLE_LINE * lines}
    return go.Figure(layout=layout | {"meta": {"shown": int(shown), "total": int(total), **facts}})


@cache
def model_styles() -> dict[str, tuple[str, str]]:
    """Return colour and mark of the models that have them, which stand beside their classes."""
    from xmlcore.models.saving import SAVED_CLASSES, saved_class

    every = {name: saved_class(name).ABOUT for name in SAVED_CLASSES}
    return {name: (about.color, about.mark) for name, about in every.items() if about is not None and about.color}


def run_style(model: str) -> dict:
    """Return colour and mark of a model."""
    return dict(zip(("color", "mark"), model_styles().get(model, (PURPLE, "star"))))


def run_colors(frame: pd.DataFrame, compared: pd.DataFrame | None = None) -> dict:
    """Return colour and mark of each run: the first of each model has the model's, the others have further colours.

    They are given by ``place`` among the runs of a model, from 0, whatever else is drawn; without it, by name. Only a
    run whose style another one has already, ``compared`` ones before others, gets the next.
    """
    reserved = {color for color, _ in model_styles().values()}
    of_no_model = [color for color in (*PALETTE, VIOLET, BROWN) if color not in reserved]
    free = dict.fromkeys([*of_no_model, *PALETTE])
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


def styled_runs(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, dict, int]]:
    """Yield each run: its name, rows, colour with mark and dash, and how many runs of its model stand before it.

    Colours are those of :func:`run_colors` if the runs have a ``place``, as wherever else they are drawn.
    """
    runs = frame.drop_duplicates("run")
    own = run_colors(runs) if "place" in runs else {}
    for run, model, before in zip(runs["run"], runs["model"], runs.groupby("model").cumcount()):
        style = run_style(model) | {"dash": RUN_DASHES[before % len(RUN_DASHES)]}
        if run in own:
            style |= {"color": own[run]["color"], "mark": own[run]["symbol"]}
        yield run, frame[frame["run"] == run], style, before


def shade(color: str, opacity: float = 0.18) -> str:
    """Return the colour ``#rrggbb`` with an opacity, for areas that do not hide what is below them."""
    return f"rgba({int(color[1:3], 16)}, {int(color[3:5], 16)}, {int(color[5:7], 16)}, {opacity})"


# From small to large, in one hue that gets darker: of marks that have an edge, which tells them from the page; and of
# areas without one, which begin near the page, light or dark, and where nothing is measured there is the page itself.
SCALE = ((0.0, "#B9D4EC"), (1.0, "#1B5A94"))
AREAS = ((0.0, shade(BLUE, 0.12)), (1.0, shade(BLUE, 1.0)))


def add_line(
    figure: go.Figure, x, y, name: str, color: str, hover: str, *, mark=None, size=8.0, width=2.0, dash=None, **trace
) -> None:
    """Draw points with a line through them, all in one colour; ``hover`` is what is said where one points at them."""
    figure.add_scatter(
        x=x,
        y=y,
        name=name,
        mode="lines+markers",
        line={"color": color, "width": width, "dash": dash},
        marker={"symbol": mark, "size": size, "color": color},
        hovertemplate=f"{hover}<extra></extra>",
        **trace,
    )


def add_note(figure: go.Figure, text: str, x, **place: object) -> None:
    """Write a small text above the plot at a place of its horizontal axis, or where ``place`` says."""
    above = {"y": 1, "yref": "paper", "yanchor": "bottom", "font": {"size": 12}}
    figure.add_annotation(text=text, x=x, showarrow=False, **above | place)


def add_band(figure: go.Figure, x, low, high, color: str, group: str, **trace) -> None:
    """Fill the area between two lines; a click on its ``group`` in the legend hides it with the group's lines."""
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False, "legendgroup": group}
    figure.add_scatter(x=x, y=high, **edge, **trace)
    figure.add_scatter(x=x, y=low, fill="tonexty", fillcolor=shade(color), **edge, **trace)


def short(name: object, letters: int = 20) -> str:
    """Return a name for a figure: its beginning and end where it is longer than ``letters``, and without markup."""
    return html.escape(*_cut_in_the_middle([str(name)], check_count(letters, "letters")), quote=False)


def apart(names: Iterable[object], letters: int = 20) -> dict[str, str]:
    """Return names for a figure, by name: cut as :func:`cut_apart` does, and without markup."""
    return {name: html.escape(text, quote=False) for name, text in cut_apart(names, letters).items()}


def cut_apart(names: Iterable[object], letters: int = 20) -> dict[str, str]:
    """Return names, cut in the middle where they are long, so that different names stay different."""
    names, letters = list(dict.fromkeys(map(str, names))), check_count(letters, "letters")
    found = {name: name for name in names if len(name) <= letters}
    for cut in (_cut_in_the_middle, _cut_at_the_end, _cut_before_the_difference):
        left = [name for name in names if name not in found]
        cuts = cut(left, letters)
        often = Counter([*found.values(), *cuts])
        found |= {name: text for name, text in zip(left, cuts) if often[text] == 1}
    left = [name for name in names if name not in found]
    found |= {name: f"{name[: letters - 6]}… ({number})" for number, name in enumerate(left, start=1)}
    return {name: found[name] for name in names}


def _cut_at_the_end(names, letters) -> list[str]:
    return [f"{name[: letters - 1]}…" for name in names]


def _cut_in_the_middle(names, letters) -> list[str]:
    end = (letters - 1) // 2
    return [
        name if len(name) <= letters else f"{name[: letters - 1 - end]}…{name[len(name) - end :]}" for name in names
    ]


def _cut_before_the_difference(names, letters) -> list[str]:
    """Return a few letters of each name, and what begins with the word in which it differs from others."""
    beginnings: dict[str, list[str]] = {}
    for name in names:
        beginnings.setdefault(name[: letters - 1], []).append(name)
    common = {beginning: len(os.path.commonprefix(group)) for beginning, group in beginnings.items()}
    cuts = []
    for name in names:
        at = common[name[: letters - 1]]
        word = name.rfind(" ", 0, at) + 1
        at = word if at - word < letters // 3 else at
        rest = name[at:]
        room = letters - letters // 3 - 1
        cuts.append(f"{name[: letters // 3]}…{rest if len(rest) <= room else f'{rest[: room - 1]}…'}")
    return cuts


def whole(name: str, letters: int = 44) -> str:
    """Return all of a name for what a figure says where one points: without markup, in lines of so many letters."""
    name = str(name)
    lines = [name] if len(name) <= letters else textwrap.wrap(name, letters)
    return "<br>".join(html.escape(line, quote=False) for line in lines)


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, the minus as Plotly writes it."""
    return f"{value:+.{digits}f}".replace("-", "−")


def need_columns(frame, columns, function: str, **counts) -> None:
    """Raise an error unless it is a DataFrame with these columns, and the function's ``counts`` are such, or None."""
    for name, count in counts.items():
        for each in count if hasattr(count, "__len__") else [count]:
            check_count(0 if each is None else each, name, 0)
    if not hasattr(frame, "columns"):
        raise ValueError(f"{function} takes a DataFrame with {listed(columns)}, not a {type(frame).__name__}")
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(f"{function} needs the column(s) {listed(missing)}, the frame has {listed(frame.columns)}")
