"""Figures about a data set."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import curve_points, log_axis
from xmlcore.figures._style import BLUE, GREY, MARK, PART_COLORS, QUIET, add_note, need_columns, new_figure
from xmlcore.metrics.buckets import BUCKETS

FLAT = 4  # counts have a linear axis if the largest is less than this many times the smallest
MOST_MARKS = 200  # points of a curve with a mark each
MOST_BARS = 25  # numbers of labels with a bar each; where there are more, numbers share bars
MOST_ENDS = 12  # ends of ranges that are written below bars
COMMON = 0.99  # share of the rows whose numbers of labels are drawn before the last bar, which has the rest
NARROWEST = 260  # width of the plot on a phone, in pixels: texts must fit there


def label_frequency(frame: pd.DataFrame, fit: pd.DataFrame | None = None) -> go.Figure:
    """Draw the number of training rows of each label against the label's rank, on log axes."""
    need_columns(frame, ["n_train"], "label_frequency")
    counts = frame["n_train"].to_numpy()
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    n = order.size
    kept = curve_points(counts[order])
    buckets = {}
    if "bucket" in frame.columns:
        buckets = {bucket: int(np.count_nonzero(frame["bucket"] == bucket)) for bucket in BUCKETS}
    least, most = (int(counts[order[-1]]), int(counts[order[0]])) if n else (0, 0)
    flat = most < FLAT * least
    facts = {"without_rows": int(len(frame) - n), "buckets": buckets, "least": least, "most": most, "flat": flat}
    figure = new_figure("How often each label occurs", shown=kept.size, total=n, **facts)
    if n == 0:
        figure.update_xaxes(title_text="Rank of the label", showticklabels=False, ticks="", showgrid=False)
        figure.update_yaxes(title_text="Training rows", showticklabels=False, ticks="", showgrid=False)
        nothing = "No label has a training row."
        figure.add_annotation(text=nothing, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
        return figure
    rank, count = kept + 1, counts[order][kept]
    hover = "rank %{x:,}<br>%{y:,} training rows<extra></extra>"
    names = None
    if "name" in frame.columns:
        names = frame["name"].to_numpy()[order][kept]
        hover = "<b>%{customdata}</b><br>" + hover
    figure.add_scatter(
        x=rank,
        y=count,
        customdata=names,
        # Marks of many labels would merge into a line, and take a browser longer than all else in the figure.
        mode="lines+markers" if kept.size <= MOST_MARKS else "lines",
        line={"color": BLUE, "width": 2 if kept.size <= MOST_MARKS else 3},
        marker={"size": 4, "color": BLUE},
        hovertemplate=hover,
        showlegend=False,
        name="labels",
    )
    if fit is not None and len(fit):
        figure.add_scatter(
            x=fit["rank"],
            y=fit["count"],
            mode="lines",
            line={"color": QUIET, "width": 2, "dash": "dash"},
            hovertemplate="the fit: %{x:,.0f} labels<br>with %{y:,.0f} or more training rows<extra></extra>",
            name="closest power law",
        )
        figure.update_layout(showlegend=True)
    if "bucket" in frame.columns:
        _mark_buckets(figure, frame["bucket"].to_numpy()[order], buckets)
        figure.update_layout(margin={"t": 88})  # for two lines
    figure.update_xaxes(title_text="Rank of the label (log)", **log_axis(1, n))
    if flat:
        figure.update_yaxes(title_text="Training rows", **_flat_axis(least, most))
    else:
        figure.update_yaxes(title_text="Training rows (log)", **log_axis(least, most))
    if kept.size < n:
        drawn = f"{kept.size:,} of {n:,} labels are points of the line"
        add_note(figure, drawn, 0.01, y=0.01, xref="paper", xanchor="left")
    return figure


def labels_per_row(frame: pd.DataFrame) -> go.Figure:
    """Draw the share of rows with each number of labels."""
    need_columns(frame, ["labels", "rows"], "labels_per_row")
    return _per_row(frame, "labels")


def features_per_row(frame: pd.DataFrame) -> go.Figure:
    """Draw the share of rows with each number of features that are not zero."""
    need_columns(frame, ["features", "rows"], "features_per_row")
    return _per_row(frame.rename(columns={"features": "labels"}), "features")


def imbalance_ratios(frame: pd.DataFrame) -> go.Figure:
    """Draw how many labels have an imbalance ratio (IRLbl) within each range: 1 to 2, 2 to 5, 5 to 10, and so on."""
    need_columns(frame, ["irlbl"], "imbalance_ratios")
    ratios = frame["irlbl"].dropna().to_numpy()
    without_rows = len(frame) - ratios.size
    figure = new_figure("How rare the labels are", shown=ratios.size, total=len(frame), without_rows=without_rows)
    most = ratios.max(initial=1.0)
    starts = [factor * 10**power for power in range(20) for factor in (1, 2, 5)]
    starts = starts[: 1 + sum(start <= most for start in starts)]
    counts = np.histogram(ratios, starts)[0]
    step = 1 if len(starts) <= MOST_ENDS else 3  # powers of ten alone
    ranges = [f"{low:,} to {high:,}" for low, high in zip(starts, starts[1:])]
    shares = 100 * counts / max(ratios.size, 1)
    figure.add_bar(
        x=list(range(len(counts))),
        y=counts,
        customdata=[[text, share] for text, share in zip(ranges, shares)],
        marker={"color": BLUE, "line": {"width": 0}},
        hovertemplate="%{y:,} labels (%{customdata[1]:.1f} %)<br>IRLbl %{customdata[0]}<extra></extra>",
        showlegend=False,
        name="labels",
    )
    figure.update_xaxes(
        title_text="Imbalance ratio, IRLbl (log)",
        tickvals=[i - 0.5 for i in range(0, len(starts), step)],
        ticktext=[_short(start) for start in starts[::step]],
        range=[-0.7, len(counts) - 0.3],
        showgrid=False,
    )
    figure.update_yaxes(title_text="Labels", tickformat=",d", rangemode="tozero")
    return figure


def _short(number):
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            return f"{number // size:,}{letter}"
    return f"{number}"


def _per_row(frame, noun):
    """Draw the share of rows with each number in the column ``labels``; ``noun`` is counted: labels or features."""
    width, last = _groups(frame)
    figure = new_figure(f"{noun.capitalize()} per row", shown=len(frame), total=len(frame), width=width, last=last)
    parts = frame["part"] if "part" in frame.columns else pd.Series("training", index=frame.index)
    starts = frame["labels"] // width * width
    starts = starts if last is None else starts.clip(upper=last)
    for part, rows in frame["rows"].groupby(parts, sort=False):
        total = max(int(rows.sum()), 1)
        rows = rows.groupby(starts).sum()
        figure.add_bar(
            x=rows.index // width,
            y=100 * rows.to_numpy() / total,
            customdata=[[n, _number_of_labels(start, width, last)] for start, n in rows.items()],
            name=f"{part} ({total:,} {'row' if total == 1 else 'rows'})",
            marker={"color": PART_COLORS.get(part, GREY), "line": {"width": 0}},
            hovertemplate="%{customdata[0]:,} "
            + str(part)
            + f" rows (%{{y:.1f}} %) have %{{customdata[1]}} {noun}<extra></extra>",
        )
    figure.update_layout(barmode="group", showlegend=True)
    axis = _counting_axis(frame["labels"])
    if width > 1 or last is not None:
        axis = _group_axis(starts.min(), starts.max(), width, last)
    figure.update_xaxes(title_text=f"{noun.capitalize()} of a row", tickformat=",d", showgrid=False, **axis)
    highest = max((max(bar.y, default=0) for bar in figure.data), default=0) or 1
    figure.update_yaxes(title_text="Share of the rows, %", range=[0, min(1.08 * float(highest), 100)])
    return figure


def _groups(frame):
    """Return how many numbers of labels share a bar, and the number from which on all do; None if they do not."""
    least, most = (int(frame["labels"].min()), int(frame["labels"].max())) if len(frame) else (0, 0)
    if most - least < MOST_BARS:
        return 1, None
    rows = frame.groupby("labels")["rows"].sum()
    common = int(rows.index[np.searchsorted(rows.cumsum(), COMMON * rows.sum())])  # few rows have more labels
    sizes = (factor * 10**power for power in range(10) for factor in (1, 2, 5))
    width = next(size for size in sizes if common // size - least // size + 2 <= MOST_BARS)
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
            add_note(figure, f"{bucket}<br>{text}", (first + last) / 2, hovertext=f"{bucket}: {labels}", xref="x")
        start += size
        if start < n:
            figure.add_vline(x=start + 0.5, line={"color": MARK, "width": 1, "dash": "dot"})


def _flat_axis(smallest, largest):
    """Return a linear axis for counts that differ little; it starts at 0 if they are small."""
    low = 0 if largest <= 20 else smallest - 0.15 * max(largest - smallest, 4)
    high = largest + 0.15 * max(largest - smallest, 4)
    return {"range": [float(low), float(high)], "tickformat": ",d", **({"dtick": 1} if high - low < 8 else {})}


def _counting_axis(numbers):
    """Return an axis for whole numbers, long enough that the bars of one or two values are not too wide."""
    if len(numbers) == 0:
        return {}
    least, most = int(numbers.min()), int(numbers.max())
    axis = {"dtick": 1 if most - least <= 10 else 2} if most - least <= 20 else {}
    if most - least < 4:
        first = max(0, (least + most) // 2 - 2)
        axis["range"] = [first - 0.5, first + 4.5]
    return axis
