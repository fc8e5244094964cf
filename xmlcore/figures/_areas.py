"""Areas and networks: a treemap of sizes, and labels on a circle."""

import os.path
import re
import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd

from xmlcore.figures import _style as ink
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._names import short, whole
from xmlcore.figures._style import Figure, need_columns, shade

# Letters of a line that fits into a box, which may be half as wide as tall: of all sizes together, at least, at most.
LETTERS, LEAST, MOST = 52, 8, 28
LINES = 3  # of a name at most
MOST_AREAS = 200
FEW = 60  # rectangles; more need more height, so that names fit

MOST_PAIRS = 60
BESIDE = 14  # most letters of a name beside the circle: there is room for them on a phone
WIDEST = 9  # width of the line of the strongest pair, in pixels
WIDTHS = 8  # different widths of lines: a browser draws a few traces much faster than one for each line
BEND = 0.4  # the larger, the straighter are lines between labels that are far from each other


def treemap(frame: pd.DataFrame, title: str, *, unit: str = "", groups: Sequence[str] = ()) -> Figure:
    """Draw sizes as areas, in groups, which the legend names, the 200 largest of them.

    The columns are ``name``, ``group`` (text) and ``size`` (above 0, in units), and perhaps ``id``: what a click gives.
    Each of up to six ``groups``, by default the largest, has a colour; others are drawn together as "other", in grey.
    A sign like ``TAG_`` with which all names begin is left out, and the title says so; small ones have no number.
    """
    need_columns(frame, ["name", "group", "size"], "treemap")
    drawn = frame[frame["size"] > 0].sort_values("size", ascending=False, kind="stable").head(MOST_AREAS)
    named = (groups or drawn.groupby("group")["size"].sum().sort_values(ascending=False).index)[:6]
    drawn = drawn.assign(group=drawn["group"].astype(object).where(drawn["group"].isin(named), "other"))
    sizes = drawn.groupby("group", sort=False)["size"].sum().sort_values(ascending=False, kind="stable")
    colors = dict(zip(named, ink.PALETTE)) | {"other": ink.GREY} | ink.BUCKET_COLORS
    fills, names = [colors[group] for group in (*sizes.index, *drawn["group"])], drawn["name"].astype(str)
    letters = np.clip(np.sqrt(drawn["size"] / sizes.sum()) * LETTERS, LEAST, MOST).astype(int)
    common = _beginning(names.tolist())
    notes = ", ".join(filter(None, [unit, common and f"names without {whole(common.strip())}"]))
    number = f"%{{value:{',d' if pd.api.types.is_integer_dtype(drawn['size']) else ',.3~r'}}}"
    figure = Drawing(f"{title} ({notes})" if notes else title, drawn, frame)
    figure.add(
        "treemap",
        ids=[*(f"group {group}" for group in sizes.index), *(f"part {number}" for number in range(len(drawn)))],
        labels=[*map(whole, sizes.index), *map(_fitted, names.str[len(common) :], letters)],
        hovertext=[whole(name) for name in (*sizes.index, *names)],
        parents=[""] * len(sizes) + [f"group {group}" for group in drawn["group"]],
        values=[*sizes, *drawn["size"]],
        customdata=[[None]] * len(sizes) + [[value] for value in drawn["id" if "id" in drawn else "name"]],
        branchvalues="total",
        marker={"colors": fills, "line": {"width": 1}, "pad": dict.fromkeys("tlrb", 3)},
        texttemplate=[""] * len(sizes) + np.where(letters > LEAST, f"%{{label}}<br>{number}", "%{label}").tolist(),
        hovertemplate=f"<b>%{{hovertext}}</b><br>{number} {unit}<extra></extra>",
        # Of a contrast of 5 or more; Plotly would choose one of 2 or 3.
        textfont={"color": ["white" if fill == ink.BLUE else "black" for fill in fills]},
        tiling={"pad": 2, "squarifyratio": 2},  # names are wider than tall
    )
    for group in sizes.index:
        mark = {"color": colors[group], "symbol": "square", "size": 12}
        figure.add("scatter", x=[None], y=[None], mode="markers", marker=mark, name=whole(group))
    legend, texts = {"itemclick": False, "itemdoubleclick": False}, {"minsize": 11, "mode": "hide"}
    layout = {"margin": {"l": 0, "r": 0, "b": 0}, "height": 380 if len(drawn) <= FEW else 480, "uniformtext": texts}
    return figure.checked({"visible": False}, {"visible": False}, showlegend=True, legend=legend, **layout)


def _beginning(names) -> str:
    """Return the sign, such as ``TAG_``, with which all names begin; nothing where only numbers would be left."""
    common = re.match(r"(\S*([^\w\s]|_))?", os.path.commonprefix(names) if len(names) > 1 else "").group()
    left = [name[len(common) :] for name in names]
    return common if all(left) and any(re.search("[^\\W\\d_]", name) for name in left) else ""


def _fitted(name, letters) -> str:
    """Return a name in lines of so many letters: a few with all of it, or one that is cut in the middle."""
    fits = len(textwrap.wrap(name, letters)) <= LINES and max(map(len, name.split()), default=0) <= letters
    return whole(name, letters) if fits else short(name, letters - 1)  # "…" is wider than a letter


def label_network(frame: pd.DataFrame) -> Figure:
    """Draw labels on a circle, with a line between labels that occur together more often than by chance."""
    columns = ["first", "second", "first_name", "second_name", "n_first", "n_both", "phi"]
    need_columns(frame, columns, "label_network")
    labels = frame.drop_duplicates("first")
    n = len(labels)
    angle = np.pi / 2 - 2 * np.pi * (np.arange(n) + 0.5) / max(n, 1)  # no label on top, so that names do not collide
    places = dict(zip(labels["first"], zip(np.cos(angle), np.sin(angle))))
    order = {label: at for at, label in enumerate(places)}
    pairs = frame[(frame["first"].map(order) < frame["second"].map(order)) & (frame["phi"] > 0)]
    drawn = pairs.sort_values("phi", ascending=False, kind="stable").head(MOST_PAIRS)
    figure = Drawing("Labels that go together", drawn, pairs)
    levels = np.ceil(WIDTHS * drawn["phi"] / drawn["phi"].max()).clip(1, WIDTHS)
    # The strongest last.
    for level, own in drawn.groupby(levels):
        _add_lines(figure, own, level / WIDTHS, places)
    rows = labels["n_first"].to_numpy(float)
    sizes = 6 + 12 * np.sqrt(rows / max(rows.max(initial=1), 1))
    about = [[short(row.first_name, 60), row.n_first] for row in labels.itertuples()]
    marker = {"color": ink.VERMILION, "size": sizes, "opacity": 1}
    hover = "<b>%{customdata[0]}</b><br>%{customdata[1]:,} rows"
    figure.points(np.cos(angle), np.sin(angle), None, marker, hover, customdata=about, showlegend=False)
    for name, (right, up) in zip(labels["first_name"], places.values()):
        place = {"x": 1.08 * right, "y": 1.06 * up, "xanchor": "left" if right > 0 else "right"}
        figure.note(short(name, BESIDE), **place, yref=None, yanchor=None)
    x, y = ({"visible": False, "fixedrange": True, "range": [-end, end]} for end in (2.15, 1.12))
    return figure.checked(x, y, height=560, margin={"t": 56, "b": 8, "l": 4, "r": 4}, hovermode="closest")


def _add_lines(figure, pairs, strength, places) -> None:
    """Add the lines of pairs that are about as strong, between the places of their labels."""
    curves, hovers = [], []
    t = np.append(np.linspace(0, 1, 25), np.nan)[:, None]  # the last one is the gap between two lines
    for row in pairs.itertuples():
        start, end = np.array(places[row.first]), np.array(places[row.second])
        bend = 1 - (1 - BEND) * np.hypot(*(start - end))  # lines between neighbours are nearly straight
        middle = bend * (start + end) / 2
        curves.append((1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end)
        named = f"<b>{short(row.first_name, 40)}</b> and <b>{short(row.second_name, 40)}</b>"
        hovers += [f"{named}<br>phi {row.phi:.2f}; {row.n_both:,} rows with both"] * t.size
    x, y = np.concatenate(curves).T
    said = {"customdata": hovers, "hovertemplate": "%{customdata}<extra></extra>", "hoverinfo": None}
    figure.stroke(x, y, shade(ink.BLUE, round(0.35 + 0.55 * strength, 2)), WIDEST * strength, **said)
