"""Figures about a data set."""

import os.path
import re
import textwrap
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from xmlcore.figures import _style as ink
from xmlcore.figures._axes import ROUND, curve_points, log_axis
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._names import short, whole
from xmlcore.figures._style import Figure, need_columns
from xmlcore.validation import check_count

MOST_MARKS = 200  # points of a curve with a mark each: marks of more would merge into a line, and take long to draw
MOST_BARS = 25  # numbers of labels with a bar each; where there are more, numbers share bars
COMMON = 0.99  # share of the rows whose numbers of labels are drawn before the last bar, which has the rest
# Letters of a line that fits into a box, which may be half as wide as tall: of all sizes together, at least, at most.
LETTERS, LEAST, MOST = 52, 8, 28
LINES = 3  # of a name at most
MOST_POINTS, SQUARES = 20_000, 100  # points of a map; where there are more, squares across it that are drawn instead
MOST_AREAS = 200
MANY_RINGS = 20  # likewise
KIND_COLORS = [color for color in ink.PALETTE if color not in (ink.VERMILION, ink.GREY)]  # rings are vermilion
MANY_MARKS = 2_000  # of a map; fewer are larger
FEW = 60  # rectangles; more need more height, so that names fit


def label_frequency(frame: pd.DataFrame) -> Figure:
    """Draw the number of training rows of each label against the label's rank, on log axes; buckets have colours."""
    need_columns(frame, ["n_train"], "label_frequency")
    counts = frame["n_train"].to_numpy()
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    n = order.size
    buckets = frame["bucket"].to_numpy(str) if "bucket" in frame.columns else np.full(len(frame), "labels")
    ends = np.flatnonzero(buckets[order][1:] != buckets[order][:-1])
    kept = np.unique([*curve_points(counts[order]), *ends, *(ends + 1)]).astype(np.int64)
    figure = Drawing("How often each label occurs", kept, n, without_rows=int(len(frame) - n))
    if n == 0:
        return figure.checked("Rank of the label", "Training rows")
    named = frame["name"].to_numpy()[order] if "name" in frame.columns else None
    hover = ("" if named is None else "<b>%{customdata}</b><br>") + "rank %{x:,}<br>%{y:,} training rows"
    marks = {"mode": "lines+markers", "width": 2} if kept.size <= MOST_MARKS else {"mode": "lines", "width": 3}
    for bucket in dict.fromkeys(buckets[order]):
        mine, of = kept[buckets[order][kept] == bucket], np.count_nonzero(buckets == bucket)
        name, color = f"{bucket}: {of:,} label{'' if of == 1 else 's'}", ink.BUCKET_COLORS.get(bucket, ink.BLUE)
        look = marks | {"customdata": None if named is None else named[mine], "showlegend": "bucket" in frame.columns}
        figure.line(mine + 1, counts[order][mine], name, color, hover, size=4, **look)
    y = {"title_text": "Training rows (log)", **log_axis(counts[order[-1]], counts[order[0]])}
    return figure.checked({"title_text": "Rank of the label (log)", **log_axis(1, n)}, y)


def per_row(frame: pd.DataFrame, noun: str = "labels") -> Figure:
    """Draw the share of rows with each number of labels, or of features that are not zero: ``noun`` is the column."""
    need_columns(frame, [noun, "rows"], "per_row")
    frame = frame.rename(columns={noun: "labels"})
    width, last = _groups(frame)
    figure = Drawing(f"{noun.capitalize()} per row", frame, width=width, last=last)
    parts = frame["part"] if "part" in frame.columns else pd.Series("training", index=frame.index)
    starts = frame["labels"] // width * width
    starts = starts if last is None else starts.clip(upper=last)
    highest = 0.0
    for part, rows in frame["rows"].groupby(parts, sort=False):
        total = max(int(rows.sum()), 1)
        rows = rows.groupby(starts).sum()
        about = [[n, _number_of_labels(start, width, last)] for start, n in rows.items()]
        y, named = 100 * rows.to_numpy() / total, f"{part} ({total:,} {'row' if total == 1 else 'rows'})"
        hover = f"%{{customdata[0]:,}} {part} rows (%{{y:.1f}} %) have %{{customdata[1]}} {noun}"
        figure.upright(rows.index // width, y, named, ink.PART_COLORS.get(part, ink.GREY), hover, customdata=about)
        highest = max(highest, float(y.max(initial=0)))
    grouped = width > 1 or last is not None
    axis = _group_axis(starts.min(), starts.max(), width, last) if grouped else _counting_axis(frame["labels"])
    x = {"title_text": f"{noun.capitalize()} of a row", "tickformat": ",d", "showgrid": False, **axis}
    y = {"title_text": "Share of the rows, %", "range": [0, min(1.08 * (highest or 1), 100)]}
    return figure.checked(x, y, barmode="group", showlegend=True)


def _groups(frame):
    """Return how many numbers of labels share a bar, and the number from which on all do; None if they do not."""
    least, most = (int(frame["labels"].min()), int(frame["labels"].max())) if len(frame) else (0, 0)
    if most - least < MOST_BARS:
        return 1, None
    rows = frame.groupby("labels")["rows"].sum()
    common = int(rows.index[np.searchsorted(rows.cumsum(), COMMON * rows.sum())])  # few rows have more labels
    width = next(size for size in ROUND if common // size - least // size + 2 <= MOST_BARS)
    last = (common // width + 1) * width
    return width, last if last + width <= most else None


def _number_of_labels(start, width, last):
    """Return which numbers of labels a bar stands for: ``3``, ``10–14`` or ``20 or more``."""
    if start == last:
        return f"{start:,} or more"
    return f"{start:,}" if width == 1 else f"{start:,}–{start + width - 1:,}"


def _group_axis(least, most, width, last):
    """Return an axis with the numbers of labels below groups: below some of many, always below the ends."""
    starts = list(range(int(least), int(most) + 1, width))
    step = -(-len(starts) // 8)
    shown = starts[:-step:step] + starts[-1:]
    texts = [f"≥ {start:,}" if start == last else _number_of_labels(start, width, last) for start in shown]
    return {"tickvals": [start // width for start in shown], "ticktext": texts}


def _counting_axis(numbers):
    """Return an axis for whole numbers, long enough that the bars of one or two values are not too wide."""
    least, most = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 20)
    first = max(0, (least + most) // 2 - 2)
    axis = {"range": [first - 0.5, first + 4.5]} if most - least < 4 else {}
    return axis | ({"dtick": 1 + (most - least > 10)} if most - least <= 20 else {})


def treemap(frame: pd.DataFrame, title: str, *, unit: str = "", groups: Sequence[str] = ()) -> Figure:
    """Draw sizes as areas, in groups, which the legend names, the 200 largest of them."""
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


def marks_of(frame: pd.DataFrame) -> np.ndarray:
    """Return the number of the mark that :func:`point_map` draws for each line, from 0 on; -1 for one without a place.

    Up to 20,000 places have a mark each; more share one where they lie in the same of 100 x 100 squares.
    """
    need_columns(frame, ["x", "y"], "marks_of")
    places = frame[["x", "y"]].to_numpy(np.float64)
    marks, known = np.full(len(frame), -1), np.flatnonzero(np.isfinite(places).all(axis=1))
    marks[known] = np.arange(known.size)
    if known.size > MOST_POINTS:
        low, high = places[known].min(axis=0), places[known].max(axis=0)
        square = ((places[known] - low) / np.maximum(high - low, 1e-9) * (SQUARES - 1e-6)).astype(np.int64)
        marks[known] = np.unique(square @ [SQUARES, 1], return_inverse=True)[1]
    return marks


def point_map(
    frame: pd.DataFrame, title: str, value: str, name_of: Callable[[int], str], marked: Sequence[int] = ()
) -> Figure:
    """Draw points at ``x``, ``y`` in the colour of their ``value``, which ``value`` names; see :func:`marks_of`.

    Values are numbers, or a few categories, of which the last is grey and stands for points without a value, too.
    ``name_of(line)`` is said of a point, and lines in ``marked`` have a ring.
    """
    marked = [check_count(line, "marked", 0, len(frame) - 1) for line in marked]
    need_columns(frame, ["x", "y", "value"], "point_map")
    marks, numbers, kinds = marks_of(frame), frame["value"], []
    known, lines = np.flatnonzero(marks >= 0), np.arange(len(frame))
    if isinstance(numbers.dtype, pd.CategoricalDtype):
        kinds = [*numbers.cat.categories]
        numbers = numbers.cat.codes.to_numpy(np.int64) % len(kinds)
    sums = frame.assign(value=numbers).iloc[known].assign(line=lines[known], rows=1).groupby(marks[known])
    drawn = sums.agg({"x": "mean", "y": "mean", "value": "mean", "line": "first", "rows": "sum"})
    if kinds:  # the one that most points of a mark have
        counts = np.bincount(marks[known] * len(kinds) + numbers[known], minlength=len(drawn) * len(kinds))
        drawn["value"] = counts.reshape(-1, len(kinds)).argmax(axis=1)
    drawn = drawn.sort_values("value", ascending=not kinds, kind="stable", na_position="first")  # the last is on top
    drawn["text"] = [name_of(line) if n == 1 else f"{n:,} points" for line, n in zip(drawn["line"], drawn["rows"])]
    drawn["size"] = np.sqrt(drawn["rows"]).clip(upper=14) + (8 if len(drawn) < MANY_MARKS else 4)
    figure = Drawing(title, known, len(frame), marks=len(drawn))
    for i, kind in enumerate(kinds or [None]):
        part, name = drawn, "%{marker.color:,.4~r}"
        look = {"color": drawn["value"], "coloraxis": "coloraxis"}
        if kinds:
            part, name = drawn[drawn["value"] == i], whole(kind)
            look = {"color": ink.GREY if kind == kinds[-1] else KIND_COLORS[i % len(KIND_COLORS)]}
        said = {"hovertemplate": f"%{{hovertext}}<br>{value}: {name}<extra></extra>", "hovertext": part["text"]}
        said |= {"showlegend": bool(kinds), "name": short(kind, 30) if kinds else ""}
        look |= {"size": part["size"], "line": {"width": 0.5, "color": ink.EDGE}}
        at = {"x": part["x"], "y": part["y"], "customdata": [[mark] for mark in part.index.tolist()]}
        figure.add("scattergl", mode="markers", marker=look, **at, **said)
    rings = frame.iloc[[line for line in marked if marks[line] >= 0]]
    size, width = (18, 3) if len(rings) <= MANY_RINGS else (9, 1.5)
    ring = {"size": size, "color": ink.VERMILION, "symbol": "circle-open", "line": {"width": width}}
    figure.add("scattergl", x=rings["x"], y=rings["y"], mode="markers", marker=ring, hoverinfo="skip", showlegend=False)
    low, high = (float(drawn["value"].min()), float(drawn["value"].max())) if len(drawn) else (0.0, 1.0)
    if not kinds:
        figure.color_bar(value, {"colorscale": ink.SCALE, "cmin": low, "cmax": high}, {"nticks": 4}, shown=high > low)
    margin = {"l": 8, "r": 8, "b": 56}
    return figure.checked({"visible": False}, {"visible": False}, height=560, margin=margin, dragmode="select")


def _beginning(names) -> str:
    """Return the sign, such as ``TAG_``, with which all names begin; nothing where only numbers would be left."""
    common = re.match(r"(\S*([^\w\s]|_))?", os.path.commonprefix(names) if len(names) > 1 else "").group()
    left = [name[len(common) :] for name in names]
    return common if all(left) and any(re.search("[^\\W\\d_]", name) for name in left) else ""


def _fitted(name, letters) -> str:
    """Return a name in lines of so many letters: a few with all of it, or one that is cut in the middle."""
    fits = len(textwrap.wrap(name, letters)) <= LINES and max(map(len, name.split()), default=0) <= letters
    return whole(name, letters) if fits else short(name, letters - 1)  # "…" is wider than a letter
