"""Figures of double sampling: what is sampled, and how settings change results."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from xmlcore.figures._axes import curve_points, log_axis, small_looks_small, spaced_log_axis
from xmlcore.figures._style import (
    BLUE,
    GREY,
    MARK,
    ORANGE,
    PURPLE,
    VERMILION,
    add_band,
    add_line,
    add_note,
    need_columns,
    new_figure,
    short,
    styled_runs,
)
from xmlcore.metrics.buckets import BUCKETS
from xmlcore.metrics.statistics import mean_intervals

# Column of the frame -> name, colour and mark of the measure. Accuracy has the colour of P@1, to which it is equal for
# rows with one class. Candidate recall has the colour of R@k.
SHARES = {
    "recall": ("candidate recall", PURPLE, "triangle-up"),
    "candidate_recall": ("candidate recall", PURPLE, "triangle-up"),
    "attainable": ("attainable accuracy", PURPLE, "triangle-down"),
    "accuracy": ("accuracy", BLUE, "circle"),
    "macro_f1": ("F1 of means", ORANGE, "diamond"),
}
SIGNS = {"n_adversarial": "κ", "examples_per_class": "π"}
LOOKS = {"n_adversarial": (BLUE, "circle"), "examples_per_class": (ORANGE, "diamond")}
SWEPT = ("accuracy", "macro_f1", "fit_s")  # what a sweep has of each training
LEAST_SECONDS = 1e-4  # drawn of a training: 0 has no place on a log axis
RING = (0.9, 0.6)  # half of width and height that the mark of the trained model takes, as ROOM is counted
MEANING = {"n_adversarial": "labels each row is compared with", "examples_per_class": "examples per label"}
ROOM = (0.03, 0.06)  # of the axes, which a character and a line of the numbers beside points take
BESIDE = {"top center": (0, 1), "top right": (1, 1), "top left": (-1, 1),
          "bottom center": (0, -1), "bottom right": (1, -1), "bottom left": (-1, -1)}  # fmt: skip
STRETCHES = 24  # largest number of ranges of ranks over which sampled copies are averaged
LEAST_COPIES = 0.5  # smallest number on the axis of copies: 0 has no place on a log axis


def sampled_classes(frame: pd.DataFrame, *, title: str = "Label sizes before and after sampling") -> go.Figure:
    """Draw the training rows and the sampled copies of each class against its rank by training rows, on log axes.

    The ranks are divided into ranges of equal width on the axis. The line of copies is their mean over each range, and
    the band goes from the 5th to the 95th percentile.

    Parameters
    ----------
    frame : DataFrame, a row per class
        Columns ``class_size`` (training rows), ``sampled_size`` (copies of its examples that were sampled). Optional:
        ``name``.
    {titled_figure}
        ``layout.meta`` adds ``without_rows`` (number of classes without training rows, which are not drawn),
        ``without_copies`` (number of classes with rows but without copies) and ``stretches`` (number of ranges).
    """
    need_columns(frame, ["class_size", "sampled_size"], "sampled_classes")
    size = frame["class_size"].to_numpy(np.int64)
    order = np.argsort(-size, kind="stable")
    order = order[size[order] > 0]
    n, before, after = order.size, size[order], frame["sampled_size"].to_numpy(np.int64)[order]
    kept = curve_points(before)
    start, place, mean, low, high = _stretches(after)
    facts = {"without_rows": int(size.size - n), "without_copies": int((after == 0).sum()), "stretches": place.size}
    figure = new_figure(title, shown=kept.size, total=n, **facts)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text="Rank of the label by training rows (log)")
    figure.update_yaxes(title_text="Rows or copies (log)")
    if n == 0:
        return figure
    # Below LEAST_COPIES only as far as the line of means needs it: where most labels of a stretch have no copies.
    least = min(max(min(before.min(), low.min()), LEAST_COPIES), mean[mean > 0].min(initial=np.inf))
    if (high > low).any():
        floor = np.maximum(low, least)
        add_band(figure, place, floor, np.maximum(high, floor), VERMILION, "after")
    names = frame["name"].to_numpy()[order][kept] if "name" in frame.columns else None
    hover = ("" if names is None else "<b>%{customdata}</b><br>") + "rank %{x:,}<br>%{y:,} training rows"
    names = None if names is None else [short(name, 60) for name in names]
    add_line(figure, kept + 1, before[kept], "training rows", BLUE, hover, size=4, customdata=names)
    ends = np.append(start[1:], n)
    ranks = [f"rank {a + 1:,}" if b == a + 1 else f"ranks {a + 1:,} to {b:,}" for a, b in zip(start, ends)]
    hover, means = "%{customdata}<br>%{y:.3~g} copies per label", np.where(mean > 0, mean, np.nan)
    look = {"mark": "square", "size": 6, "legendgroup": "after", "customdata": ranks}
    add_line(figure, place, means, "sampled copies, mean", VERMILION, hover, **look)
    figure.update_xaxes(**log_axis(1, n))
    figure.update_yaxes(**log_axis(least, max(before.max(), high.max()), whole=False))
    return figure


def candidate_curves(
    frame: pd.DataFrame, own: int | None = None, *, title: str = "What more candidates bring"
) -> go.Figure:
    """Draw candidate recall, accuracy, macro-F1 and time against the number q of candidates.

    Parameters
    ----------
    frame : DataFrame, a row per q
        Columns ``n_candidates``, ``recall`` (share of rows whose class is a candidate), ``accuracy``, ``macro_f1`` (in
        [0, 1]), ``predict_ms_per_row`` (milliseconds). Optional: ``attainable`` (in [0, 1]), the most that the accuracy
        can be, which is drawn where it is less than the recall.
    own : int, optional
        The q with which the model was trained. It is marked.
    {titled_figure}
    """
    columns = ["n_candidates", "recall", "accuracy", "macro_f1", "predict_ms_per_row"]
    need_columns(frame, columns, "candidate_curves")
    rows = frame.sort_values("n_candidates")
    figure = _panels(new_figure(title, shown=len(rows), total=len(rows)), 2)
    x = rows["n_candidates"].to_numpy()
    is_limited = "attainable" in rows and (rows["attainable"] < rows["recall"]).any()
    for column in ("recall", *(["attainable"] if is_limited else []), "accuracy", "macro_f1"):
        if rows[column].isna().all():
            continue
        wording, color, mark = SHARES[column]
        hover, dash = f"q = %{{x:,}}: {wording} %{{y:.2f}} %", "dash" if column == "attainable" else None
        add_line(figure, x, 100 * rows[column], wording, color, hover, mark=mark, dash=dash, row=1, col=1)
    factor, unit = _time_unit(rows["predict_ms_per_row"].max() / 1000 if len(rows) else 0.0)
    times = rows["predict_ms_per_row"] / 1000 * factor
    hover = f"q = %{{x:,}}: %{{y:.3~g}} {unit} per row"
    add_line(figure, x, times, "time per row", GREY, hover, mark="x", row=2, col=1)
    figure.update_yaxes(title_text="Percent", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text=f"{unit} per row", rangemode="tozero", row=2, col=1)
    _swept_axis(figure, x, "Candidates, q (log)", own, 2)
    figure.update_layout(showlegend=True, height=500)
    return figure


def sampling_sweep(
    frame: pd.DataFrame,
    own: tuple[float, float] | None = None,
    *,
    title: str = "Accuracy and time over κ and π",
) -> go.Figure:
    """Draw accuracy against training time: points for κ and points for π, the examples per label.

    Points are means over seeds. Bars of the accuracy are 95 % intervals over seeds (Student's t) or ``margin``,
    whichever is longer; those of the time go from the least to the most of the seeds. No line joins points: times of
    neighbours may be equal but for chance.

    Parameters
    ----------
    frame : DataFrame, a row per training
        Columns ``axis`` ("n_adversarial" or "examples_per_class": which of the next two is varied), ``n_adversarial``,
        ``examples_per_class``, ``seed``, ``accuracy``, ``macro_f1`` (in [0, 1]), ``fit_s`` (seconds), ``pair_bytes``,
        ``model_bytes``. Optional: ``cpu_s``, processor time in seconds, which is drawn in place of ``fit_s``;
        ``failed`` (why the training failed, or an empty text); failed trainings are not drawn; ``margin`` (in [0, 1]),
        how far other test rows would change the accuracy.
    own : tuple of float, optional
        κ and π of the trained model, which has a mark of its own.
    {titled_figure}
        ``layout.meta`` adds ``seeds`` (largest number of trainings per point), ``failed`` (number of failed trainings)
        and ``processor_time`` (whether that is drawn).
    """
    need_columns(frame, ["axis", *SIGNS, "seed", *SWEPT, "pair_bytes", "model_bytes"], "sampling_sweep")
    failed = (frame["failed"] != "").to_numpy() if "failed" in frame.columns else np.zeros(len(frame), bool)
    rows = frame[~failed].assign(bytes=lambda rows: rows["pair_bytes"] + rows["model_bytes"])
    by_processor = "cpu_s" in rows and rows["cpu_s"].notna().all()
    rows["seconds"] = rows["cpu_s" if by_processor else "fit_s"].clip(lower=LEAST_SECONDS)
    groups = rows.groupby(["axis", *SIGNS])
    points = groups[["accuracy", "macro_f1", "seconds", "bytes"]].mean()
    points = points.assign(least=groups["seconds"].min(), most=groups["seconds"].max()).reset_index()
    seeds = int(groups["seed"].nunique().max()) if len(rows) else 0
    facts = {"seeds": seeds, "failed": int(failed.sum()), "processor_time": bool(by_processor)}
    figure = new_figure(title, shown=len(points), total=len(points), **facts)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text=f"Training, {'processor ' if by_processor else ''}seconds (log)")
    figure.update_yaxes(title_text="Accuracy, %")
    points["own"] = False if own is None else np.isclose(points[list(SIGNS)], own).all(axis=1)
    lines = []
    for axis in SIGNS:
        if (points["axis"] == axis).any():
            mine = points[points["axis"] == axis].sort_values(axis)
            lines.append((_of_one_setting(axis, rows[rows["axis"] == axis], mine, seeds), mine["own"]))
    figure.add_traces([line for line, _ in lines])
    mine = points[points["own"]].head(1)
    if own is not None:
        accuracy, seconds = 100 * mine["accuracy"], mine["seconds"]
        figure.add_scatter(
            x=seconds,
            y=accuracy,
            mode="markers" if figure.data else "markers+text",  # alone it is named
            text=[f"{percent:.1f} %, {time:.3g} s" for percent, time in zip(accuracy, seconds)],
            textposition="bottom center",
            marker={"symbol": "circle-open", "size": 18, "color": VERMILION, "line": {"width": 2.5}},
            name=f"as trained: κ = {own[0]:g}, π = {own[1]:g}",
            hoverinfo="skip",
        )
    small_looks_small(figure)
    if len(points):
        around = 2 if len(points) == 1 else 1  # so that a point alone is in the middle
        lowest, highest = points["least"].min() / around, points["most"].max() * around
        figure.update_xaxes(**log_axis(lowest, highest, whole=False))
        numbers = [_numbers(line, is_own) for line, is_own in lines]
        if lines:
            _place_numbers(numbers, [line for line, _ in lines], figure.layout.xaxis.range, figure.layout.yaxis.range)
        figure.add_traces(numbers)
    return figure


def _of_one_setting(axis, rows, line, seeds) -> go.Scatter:
    """Return the points of κ or of π, with their bars."""
    sign, color, symbol = SIGNS[axis], *LOOKS[axis]
    groups = rows.groupby(axis)
    intervals = 100 * mean_intervals(groups["accuracy"], groups["margin"] if "margin" in rows else None)
    mean, low, high = (intervals[column].to_numpy() for column in ("mean", "low", "high"))
    more, less = ((line["most"] - line["seconds"]).clip(lower=0), (line["seconds"] - line["least"]).clip(lower=0))
    look = {"thickness": 1, "width": 3}
    facts = [line[axis], 100 * line["macro_f1"], line["bytes"] / 1e6, low, high, line["least"], line["most"]]
    spread = " (%{customdata[5]:.3~g} to %{customdata[6]:.3~g})" if seeds > 1 else ""
    return go.Scatter(
        x=line["seconds"],
        y=mean,
        error_x={"array": more, "arrayminus": less, "visible": seeds > 1, **look},
        error_y={"array": high - mean, "visible": bool((high > low).any()), **look},
        mode="markers",
        customdata=np.column_stack(facts),
        marker={"symbol": symbol, "size": 8, "color": color},
        name=f"other {sign}, {MEANING[axis]}",
        legendgroup=axis,
        hovertemplate=f"<b>{sign} = %{{customdata[0]:~g}}</b><br>accuracy %{{y:.2f}} % (%{{customdata[3]:.2f}} to "
        f"%{{customdata[4]:.2f}})<br>F1 of means %{{customdata[1]:.2f}} %<br>%{{x:.3~g}} s{spread}, "
        "%{customdata[2]:.3~g} MB<extra></extra>",
    )


def _numbers(points, own) -> go.Scatter:
    """Return the numbers of κ above the bars of points, or those of π below; the legend has those of the ring."""
    above = points.legendgroup == "n_adversarial"
    return go.Scatter(
        x=points.x,
        y=points.customdata[:, 4 if above else 3],
        mode="markers+text",
        text=["" if mine else f"{value:g}" for value, mine in zip(points.customdata[:, 0], own)],
        textposition="top center" if above else "bottom center",
        marker={"size": 8, "opacity": 0},
        cliponaxis=False,
        legendgroup=points.legendgroup,
        showlegend=False,
        hoverinfo="skip",
    )


def _place_numbers(numbers, lines, across, ends) -> None:
    """Put each number where it lies over no other number or point, better beside the ring; without room it goes."""
    bars = np.concatenate([line.customdata[:, 3:5].ravel() for line in lines])
    low, high = (bars.min(), bars.max()) if ends is None else ends
    letter, height = (across[1] - across[0]) * ROOM[0], max(high - low, 1e-9) * ROOM[1]
    points = [list(zip(np.log10(line.x) / letter, np.asarray(line.y) / height)) for line in lines]
    taken = [(*point, 0.25, 0.1) for places in points for point in places]  # with half of width and height
    rings = [(*at, *RING) for trace, places in zip(numbers, points) for text, at in zip(trace.text, places) if not text]
    for trace in numbers:
        side, texts, positions = trace.textposition.split()[0], list(trace.text), [trace.textposition] * len(trace.text)
        for i, (along, up) in enumerate(zip(np.log10(trace.x) / letter, np.asarray(trace.y) / height)):
            if not texts[i]:
                continue
            half = len(texts[i]) / 2 + 0.25
            boxes = {
                position: (along + right * (half + 0.5), up + 0.7 * above, half, 0.5)
                for position, (right, above) in BESIDE.items()
                if position.startswith(side)
            }
            free = [position for position, box in boxes.items() if not any(_meet(box, at) for at in taken)]
            free.sort(key=lambda position, boxes=boxes: any(_meet(boxes[position], ring) for ring in rings))
            texts[i] = texts[i] if free else ""
            positions[i] = next(iter(free), positions[i])
            taken += [boxes[position] for position in free[:1]]
        trace.update(text=texts, textposition=positions)


def _meet(one, other) -> bool:
    return abs(one[0] - other[0]) < one[2] + other[2] and abs(one[1] - other[1]) < one[3] + other[3]


def bucket_bars(frame: pd.DataFrame, measure: str = "accuracy", *, title: str | None = None) -> go.Figure:
    """Draw a measure of head, torso and tail classes, a bar for each run.

    Parameters
    ----------
    frame : DataFrame
        Columns ``run`` (name in the legend), ``model``, ``bucket`` ("head", "torso", "tail"), ``n_classes``,
        ``n_rows``, and the column named by ``measure``, in [0, 1].
    measure : {"accuracy", "macro_f1"}
    {titled_figure}
        A run has the colour of its model, or that of its ``place`` as in :func:`frontier` if the frame has that
        column; the second run of a model is hatched.
    """
    need_columns(frame, ["run", "model", "bucket", "n_classes", "n_rows", measure], "bucket_bars")
    wording = SHARES[measure][0]
    figure = new_figure(
        title or f"{wording[:1].upper()}{wording[1:]} by label frequency", shown=len(frame), total=len(frame)
    )
    present = [bucket for bucket in BUCKETS if (frame["bucket"] == bucket).any()]
    for run, mine, style, before in styled_runs(frame):
        mine = mine.set_index("bucket").reindex(present)
        values = 100 * mine[measure].to_numpy(np.float64)
        figure.add_bar(
            x=present,
            y=values,
            name=short(run, 60),
            marker={
                "color": style["color"],
                "line": {"width": 0},
                "pattern": {"shape": ("", "/", "x", ".")[before % 4]},
            },
            text=[f"{value:.1f}" if np.isfinite(value) else "" for value in values],
            textposition="outside",
            textfont={"size": 11},
            cliponaxis=False,
            customdata=mine[["n_classes", "n_rows"]].to_numpy(),
            hovertemplate=f"<b>{short(run, 60)}</b><br>%{{x}}: {wording} %{{y:.2f}} %<br>%{{customdata[0]:,}} labels, "
            "%{customdata[1]:,} test examples<extra></extra>",
        )
    figure.update_layout(barmode="group", showlegend=True)
    figure.update_xaxes(title_text="Labels by their number of training rows", showgrid=False)
    figure.update_yaxes(title_text=f"{wording[:1].upper()}{wording[1:]}, %", rangemode="tozero")
    return figure


def _stretches(counts):
    """Divide ranks into ranges of equal width on a log axis, and summarise the counts of each range."""
    n = counts.size
    if n == 0:
        return (np.empty(0),) * 5
    start = np.unique(np.geomspace(1, n + 1, STRETCHES + 1).astype(np.int64))[:-1] - 1
    parts = np.split(counts, start[1:])
    ends = np.append(start[1:], n)
    place = np.sqrt((start + 1.0) * ends)
    mean = np.array([part.mean() for part in parts])
    low, high = np.array([np.percentile(part, [5, 95]) for part in parts]).T
    return start, place, mean, low, high


def _panels(figure, n):
    heights = [2.0, *([1.0] * (n - 1))]
    return make_subplots(rows=n, cols=1, shared_xaxes=True, row_heights=heights, vertical_spacing=0.06, figure=figure)


def _swept_axis(figure, x, title, own, n):
    """Set the log axis of n panels, with a tick at each value for which there is space, and mark the value ``own``."""
    figure.update_xaxes(**spaced_log_axis(x, 0.1))
    figure.update_xaxes(title_text=title, row=n, col=1)
    if len(x) == 0 or own is None or not own > 0:
        return
    figure.add_vline(x=float(own), line={"color": MARK, "width": 1.5, "dash": "dot"}, row="all", col=1)
    at = float(np.log10(own))
    side = "left" if at < sum(figure.layout.xaxis.range) / 2 else "right"
    add_note(figure, f"as trained: {own:g}", at, xref="x", xanchor=side)


def _time_unit(seconds):
    return (1e6, "µs") if seconds < 1e-3 else (1e3, "ms") if seconds < 1.0 else (1.0, "s")
