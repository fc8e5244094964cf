"""Figures about a data set."""

import numpy as np
import pandas as pd

from xmlcore.figures import _style as ink
from xmlcore.figures._axes import ROUND, curve_points, log_axis
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._style import Figure, need_columns

MOST_MARKS = 200  # points of a curve with a mark each: marks of more would merge into a line, and take long to draw
MOST_BARS = 25  # numbers of labels with a bar each; where there are more, numbers share bars
MOST_ENDS = 12  # ends of ranges that are written below bars
COMMON = 0.99  # share of the rows whose numbers of labels are drawn before the last bar, which has the rest


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


def labels_per_row(frame: pd.DataFrame) -> Figure:
    """Draw the share of rows with each number of labels."""
    need_columns(frame, ["labels", "rows"], "labels_per_row")
    return _per_row(frame, "labels")


def features_per_row(frame: pd.DataFrame) -> Figure:
    """Draw the share of rows with each number of features that are not zero."""
    need_columns(frame, ["features", "rows"], "features_per_row")
    return _per_row(frame.rename(columns={"features": "labels"}), "features")


def imbalance_ratios(frame: pd.DataFrame) -> Figure:
    """Draw how many labels have an imbalance ratio (IRLbl) within each range: 1 to 2, 2 to 5, 5 to 10, and so on."""
    need_columns(frame, ["irlbl"], "imbalance_ratios")
    ratios = frame["irlbl"].dropna().to_numpy()
    figure = Drawing("How rare the labels are", ratios, frame, without_rows=len(frame) - ratios.size)
    starts = ROUND[: 1 + sum(start <= ratios.max(initial=1.0) for start in ROUND)]
    counts = np.histogram(ratios, starts)[0]
    step = 1 if len(starts) <= MOST_ENDS else 3  # powers of ten alone
    shares = 100 * counts / max(ratios.size, 1)
    about = [[f"{low:,} to {high:,}", share] for low, high, share in zip(starts, starts[1:], shares)]
    hover = "%{y:,} labels (%{customdata[1]:.1f} %)<br>IRLbl %{customdata[0]}"
    figure.upright([*range(len(counts))], counts, "labels", ink.BLUE, hover, customdata=about, showlegend=False)
    ticks = {"tickvals": [i - 0.5 for i in range(0, len(starts), step)], "ticktext": [*map(_short, starts[::step])]}
    x = {"title_text": "Imbalance ratio, IRLbl (log)", **ticks, "range": [-0.7, len(counts) - 0.3], "showgrid": False}
    return figure.checked(x, {"title_text": "Labels", "tickformat": ",d", "rangemode": "tozero"})


def _short(number):
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            return f"{number // size:,}{letter}"
    return f"{number}"


def _per_row(frame, noun):
    """Draw the share of rows with each number in the column ``labels``; ``noun`` is counted: labels or features."""
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
