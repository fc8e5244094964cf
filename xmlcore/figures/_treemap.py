"""Figure of sizes: rectangles in groups, as large as what they stand for."""

import os.path
import re
import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._style import BLUE, BUCKET_COLORS, GREY, PALETTE, need_columns, new_figure, short, whole

# Letters of a line that fits into a box, which may be half as wide as tall: of all sizes together, at least, at most.
LETTERS, LEAST, MOST = 52, 8, 28
LINES = 3  # of a name at most
FEW = 60  # rectangles; more need more height, so that names fit


def treemap(
    frame: pd.DataFrame, title: str, *, unit: str = "", most: int = 200, groups: Sequence[str] = ()
) -> go.Figure:
    """Draw sizes as areas, in groups, which the legend names, the ``most`` largest of them.

    The columns are ``name``, ``group`` (text) and ``size`` (above 0, in units), and perhaps ``id``: what a click gives.
    Each of up to six ``groups``, by default the largest, has a colour; others are drawn together as "other", in grey.
    A sign like ``TAG_`` with which all names begin is left out, and the title says so; small ones have no number.
    """
    need_columns(frame, ["name", "group", "size"], "treemap", most=most)
    drawn = frame[frame["size"] > 0].sort_values("size", ascending=False, kind="stable").head(most)
    named = (groups or drawn.groupby("group")["size"].sum().sort_values(ascending=False).index)[:6]
    drawn = drawn.assign(group=drawn["group"].astype(object).where(drawn["group"].isin(named), "other"))
    sizes = drawn.groupby("group", sort=False)["size"].sum().sort_values(ascending=False, kind="stable")
    colors = dict(zip(named, PALETTE)) | {"other": GREY} | BUCKET_COLORS
    fills = [colors[group] for group in (*sizes.index, *drawn["group"])]
    letters = np.clip(np.sqrt(drawn["size"] / sizes.sum()) * LETTERS, LEAST, MOST).astype(int)
    common = _beginning(drawn["name"].astype(str).tolist())
    notes = ", ".join(filter(None, [unit, common and f"names without {whole(common.strip())}"]))
    number = f"%{{value:{',d' if pd.api.types.is_integer_dtype(drawn['size']) else ',.3~r'}}}"
    figure = new_figure(f"{title} ({notes})" if notes else title, shown=len(drawn), total=len(frame))
    figure.add_treemap(
        ids=[*(f"group {group}" for group in sizes.index), *(f"part {number}" for number in range(len(drawn)))],
        labels=[*map(whole, sizes.index), *map(_fitted, drawn["name"].astype(str).str[len(common) :], letters)],
        hovertext=[whole(name) for name in (*sizes.index, *drawn["name"])],
        parents=[""] * len(sizes) + [f"group {group}" for group in drawn["group"]],
        values=[*sizes, *drawn["size"]],
        customdata=[[None]] * len(sizes) + [[value] for value in drawn["id" if "id" in drawn else "name"]],
        branchvalues="total",
        marker={"colors": fills, "line": {"width": 1}, "pad": dict.fromkeys("tlrb", 3)},
        texttemplate=[""] * len(sizes)
        + [f"%{{label}}<br>{number}" if room > LEAST else "%{label}" for room in letters],
        hovertemplate=f"<b>%{{hovertext}}</b><br>{number} {unit}<extra></extra>",
        textfont={"color": [*map(_ink, fills)]},
        tiling={"pad": 2, "squarifyratio": 2},  # names are wider than tall
    )
    for group in sizes.index:
        mark = {"color": colors[group], "symbol": "square", "size": 12}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=mark, name=whole(group))
    figure.update_xaxes(visible=False).update_yaxes(visible=False)
    figure.update_layout(margin={"l": 0, "r": 0, "b": 0}, height=380 if len(drawn) <= FEW else 480)
    figure.update_layout(showlegend=True, legend={"itemclick": False, "itemdoubleclick": False})
    figure.update_layout(uniformtext={"minsize": 11, "mode": "hide"})
    return figure


def _ink(color) -> str:
    """Return the colour of text on a rectangle: of a contrast of 5 or more; Plotly would choose one of 2 or 3."""
    return "white" if color == BLUE else "black"


def _beginning(names) -> str:
    """Return the sign, such as ``TAG_``, with which all names begin; nothing where only numbers would be left."""
    common = re.match(r"(\S*([^\w\s]|_))?", os.path.commonprefix(names) if len(names) > 1 else "").group()
    left = [name[len(common) :] for name in names]
    return common if all(left) and any(re.search("[^\\W\\d_]", name) for name in left) else ""


def _fitted(name, letters) -> str:
    """Return a name in lines of so many letters: a few with all of it, or one that is cut in the middle."""
    fits = len(textwrap.wrap(name, letters)) <= LINES and max(map(len, name.split()), default=0) <= letters
    return whole(name, letters) if fits else short(name, letters - 1)  # "…" is wider than a letter
