"""Figures about a data set."""

import numpy as np
import pandas as pd

from xmlcore.figures import _style as ink
from xmlcore.figures._axes import ROUND, curve_points, log_axis
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._style import Figure, need_columns
from xmlcore.metrics.buckets import BUCKETS

FLAT = 4  # counts have a linear axis if the largest is less than this many times the smallest
MOST_MARKS = 200  # points of a curve with a mark each: marks of more would merge into a line, and take long to draw
MOST_BARS = 25  # numbers of labels with a bar each; where there are more, numbers share bars
MOST_ENDS = 12  # ends of ranges that are written below bars
COMMON = 0.99  # share of the rows whose numbers of labels are drawn before the last bar, which has the rest
NARROWEST = 260  # width of the plot on a phone, in pixels: texts must fit there


def label_frequency(frame: pd.DataFrame) -> Figure:
    """Draw the number of training rows of each label against the label's rank, on log axes."""
    need_columns(frame, ["n_train"], "label_frequency")
    counts = frame["n_train"].to_numpy()
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    n = order.size
    kept = curve_points(counts[order])
    in_buckets = frame["bucket"].to_numpy() if "bucket" in frame.columns else np.empty(0)
    buckets = {bucket: int(np.count_nonzero(in_buckets == bucket)) for bucket in BUCKETS if in_buckets.size}
    least, most = (int(counts[order[-1]]), int(counts[order[0]])) if n else (0, 0)
    flat = most < FLAT * least
    facts = {"without_rows": int(len(frame) - n), "buckets": buckets, "least": least, "most": most, "flat": flat}
    figure = Drawing("How often each label occurs", kept, n, **facts)
    if n == 0:
        blank = {"showticklabels": False, "ticks": "", "showgrid": False}
        figure.axes({"title_text": "Rank of the label", **blank}, {"title_text": "Training rows", **blank})
        figure.note("No label has a training row.", 0.5, y=0.5, xref="paper", yanchor=None, font=None)
        return figure.checked()
    named = frame["name"].to_numpy()[order][kept] if "name" in frame.columns else None
    hover = ("" if named is None else "<b>%{customdata}</b><br>") + "rank %{x:,}<br>%{y:,} training rows"
    marks = {"mode": "lines+markers", "width": 2} if kept.size <= MOST_MARKS else {"mode": "lines", "width": 3}
    points = kept + 1, counts[order][kept]
    figure.line(*points, "labels", ink.BLUE, hover, size=4, customdata=named, showlegend=False, **marks)
    if in_buckets.size:
        _mark_buckets(figure, in_buckets[order], buckets)
        figure.axes(margin_t=88)  # for two lines
    log = {"title_text": "Training rows (log)", **log_axis(least, most)}
    y = {"title_text": "Training rows", **_flat_axis(least, most)} if flat else log
    figure.axes({"title_text": "Rank of the label (log)", **log_axis(1, n)}, y)
    if kept.size < n:
        drawn = f"{kept.size:,} of {n:,} labels are points of the line"
        figure.note(drawn, 0.01, y=0.01, xref="paper", xanchor="left")
    return figure.checked()


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


def _mark_buckets(figure, drawn, sizes):
    """Draw lines between the buckets of the labels drawn, and name those that are wider than their name."""
    n = drawn.size
    low, high = log_axis(1, n)["range"]
    start = 0
    for bucket, of in sizes.items():
        size = int(np.count_nonzero(drawn == bucket))
        if size == 0:
            continue
        first, last = (np.log10(start + 0.5) if start else low), (np.log10(start + size + 0.5))
        last = high if start + size == n else min(last, high)  # the last one has the space at the end of the axis, too
        labels = f"{of:,} label{'s' * (of != 1)}"  # not their rows: two buckets may have labels of equally many rows
        width = (last - first) / (high - low) * NARROWEST
        if width >= 7 * len(bucket):
            text = next(text for text in (labels, f"{of:,}", "") if width >= 5.5 * len(text))
            figure.note(f"{bucket}<br>{text}", (first + last) / 2, hovertext=f"{bucket}: {labels}", xref="x")
        start += size
        if start < n:
            figure.rule(start + 0.5)


def _flat_axis(smallest, largest):
    """Return a linear axis for counts that differ little; it starts at 0 if they are small."""
    low = 0 if largest <= 20 else smallest - 0.15 * max(largest - smallest, 4)
    high = largest + 0.15 * max(largest - smallest, 4)
    return {"range": [float(low), float(high)], "tickformat": ",d", **({"dtick": 1} if high - low < 8 else {})}


def _counting_axis(numbers):
    """Return an axis for whole numbers, long enough that the bars of one or two values are not too wide."""
    least, most = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 20)
    first = max(0, (least + most) // 2 - 2)
    axis = {"range": [first - 0.5, first + 4.5]} if most - least < 4 else {}
    return axis | ({"dtick": 1 + (most - least > 10)} if most - least <= 20 else {})
