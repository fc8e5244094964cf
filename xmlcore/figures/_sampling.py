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

# Column of the frame -> name, colour and mark of the measure. Micro R@1, which the paper calls accuracy, has the colour
# of P@1, to which it is equal for rows with one class. Candidate recall has the colour of R@k.
SHARES = {
    "recall": ("candidate recall", PURPLE, "triangle-up"),
    "candidate_recall": ("candidate recall", PURPLE, "triangle-up"),
    "attainable": ("attainable micro R@1", PURPLE, "triangle-down"),
    "accuracy": ("micro R@1", BLUE, "circle"),
    "macro_f1": ("F1 of means", ORANGE, "diamond"),
}
SIGNS = {"n_adversarial": "κ", "examples_per_class": "π"}
SWEPT = ("accuracy", "macro_f1", "fit_s")  # what a sweep has of each training
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
    """Draw candidate recall, micro R@1, F1 of means and time against the number q of candidates.

    Parameters
    ----------
    frame : DataFrame, a row per q
        Columns ``n_candidates``, ``recall`` (share of rows whose class is a candidate), ``accuracy`` (micro R@1),
        ``macro_f1`` (in [0, 1]), ``predict_ms_per_row`` (milliseconds). Optional: ``attainable`` (in [0, 1]), the most
        that micro R@1 can be, which is drawn where it is less than the recall.
    own : int, optional
        The q with which the model was trained. It is marked.
    {titled_figure}
    """
    columns = ["n_candidates", "recall", "accuracy", "macro_f1", "predict_ms_per_row"]
    need_columns(frame, columns, "candidate_curves", own=own)
    rows = frame.sort_values("n_candidates")
    figure = _panels(new_figure(title, shown=len(rows), total=len(rows)))
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
    _swept_axis(figure, x, "Candidates, q (log)", own)
    figure.update_layout(showlegend=True, height=500)
    return figure


def sampling_sweep(
    frame: pd.DataFrame,
    own: tuple[float, float] | None = None,
    *,
    title: str = "Micro R@1 and time over κ and π",
) -> go.Figure:
    """Draw micro R@1 and training time against κ, and against π, the examples per label.

    Points are means over seeds. Bars of micro R@1 are 95 % intervals over seeds (Student's t) or ``margin``,
    whichever is longer; those of the time go from the least to the most of the seeds.

    Parameters
    ----------
    frame : DataFrame, a row per training
        Columns ``axis`` ("n_adversarial" or "examples_per_class": which of the next two is varied), ``n_adversarial``,
        ``examples_per_class``, ``seed``, ``accuracy``, ``macro_f1`` (in [0, 1]), ``fit_s`` (seconds), ``pair_bytes``,
        ``model_bytes``. Optional: ``cpu_s``, processor time in seconds, which is drawn in place of ``fit_s``;
        ``failed`` (why the training failed, or an empty text); failed trainings are not drawn; ``margin`` (in [0, 1]),
        how far other test rows would change ``accuracy``, micro R@1.
    own : tuple of float, optional
        κ and π of the trained model, which are marked.
    {titled_figure}
        ``layout.meta`` adds ``seeds`` (largest number of trainings per point), ``failed`` (number of failed trainings)
        and ``processor_time`` (whether that is drawn).
    """
    need_columns(frame, ["axis", *SIGNS, "seed", *SWEPT, "pair_bytes", "model_bytes"], "sampling_sweep")
    failed = (frame["failed"] != "").to_numpy() if "failed" in frame.columns else np.zeros(len(frame), bool)
    rows = frame[~failed].assign(bytes=lambda rows: rows["pair_bytes"] + rows["model_bytes"])
    by_processor = "cpu_s" in rows and rows["cpu_s"].notna().all()
    rows["seconds"] = rows["cpu_s" if by_processor else "fit_s"]
    groups = rows.groupby(["axis", *SIGNS])
    seeds = int(groups["seed"].nunique().max()) if len(rows) else 0
    facts = {"seeds": seeds, "failed": int(failed.sum()), "processor_time": bool(by_processor)}
    figure = new_figure(title, shown=groups.ngroups, total=groups.ngroups, **facts)
    swept = [axis for axis in SIGNS if (rows["axis"] == axis).any()]
    figure = _panels(figure, max(1, len(swept)))
    for column, axis in enumerate(swept, 1):
        figure.add_traces(_of_one_setting(axis, rows[rows["axis"] == axis], seeds), rows=[1, 2], cols=[column] * 2)
        values = np.unique(rows.loc[rows["axis"] == axis, axis])
        _swept_axis(figure, values, f"{SIGNS[axis]} (log)", own and own[list(SIGNS).index(axis)], column, 0.2)
    small_looks_small(figure)
    figure.update_yaxes(title_text="micro R@1, %", row=1, col=1)
    title = "Processor seconds" if by_processor else "Seconds"
    figure.update_yaxes(title_text=title, row=2, col=1)
    figure.update_yaxes(range=None, rangemode="tozero", row=2)
    figure.update_layout(height=500, showlegend=False)
    return figure


def _of_one_setting(axis, rows, seeds) -> list[go.Scatter]:
    """Return the lines of micro R@1 and of time over κ or over π, with their bars."""
    sign, groups = SIGNS[axis], rows.groupby(axis)
    intervals = 100 * mean_intervals(groups["accuracy"], groups["margin"] if "margin" in rows else None)
    mean, low, high = (intervals[column].to_numpy() for column in ("mean", "low", "high"))
    least, seconds, most = (groups["seconds"].agg(of).to_numpy() for of in ("min", "mean", "max"))
    x, f1, size = np.array(list(groups.groups)), 100 * groups["macro_f1"].mean(), groups["bytes"].mean() / 1e6
    bars = {"thickness": 1, "width": 3}
    spread = " (%{customdata[0]:.3~g} to %{customdata[1]:.3~g})" if seeds > 1 else ""
    return [
        go.Scatter(
            x=x,
            y=mean,
            error_y={"array": high - mean, "visible": bool((high > low).any()), **bars},
            marker={"symbol": "circle", "size": 8, "color": BLUE},
            name=f"micro R@1 over {sign}",
            customdata=np.column_stack([low, high, f1]),
            hovertemplate=f"<b>{sign} = %{{x:~g}}</b><br>micro R@1 %{{y:.2f}} % (%{{customdata[0]:.2f}} to "
            "%{customdata[1]:.2f})<br>F1 of means %{customdata[2]:.2f} %<extra></extra>",
        ),
        go.Scatter(
            x=x,
            y=seconds,
            error_y={"array": most - seconds, "arrayminus": seconds - least, "visible": seeds > 1, **bars},
            marker={"symbol": "x", "size": 8, "color": GREY},
            name=f"seconds over {sign}",
            customdata=np.column_stack([least, most, size]),
            hovertemplate=f"<b>{sign} = %{{x:~g}}</b><br>%{{y:.3~g}} s{spread}, %{{customdata[2]:.3~g}} MB"
            "<extra></extra>",
        ),
    ]


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
    figure.update_yaxes(title_text=f"{wording}, %", rangemode="tozero")
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


def _panels(figure, n_columns=1):
    """Return the figure with two rows of panels, the first twice as high."""
    return make_subplots(
        rows=2,
        cols=n_columns,
        shared_xaxes=True,
        shared_yaxes=True,
        row_heights=[2.0, 1.0],
        vertical_spacing=0.06,
        horizontal_spacing=0.06,
        figure=figure,
    )


def _swept_axis(figure, x, title, own, column=1, share=0.1):
    """Set the log axis of a column of panels, with ticks a share of it apart, and mark the value ``own``."""
    axis = spaced_log_axis(x, share)
    figure.update_xaxes(**axis, col=column)
    figure.update_xaxes(title_text=title, row=2, col=column)
    if len(x) == 0 or own is None or not own > 0:
        return
    figure.add_vline(x=float(own), line={"color": MARK, "width": 1.5, "dash": "dot"}, row="all", col=column)
    at = float(np.log10(own))
    side = "left" if at < sum(axis["range"]) / 2 else "right"
    add_note(figure, f"as trained: {own:g}", at, xref=f"x{column}" if column > 1 else "x", xanchor=side)


def _time_unit(seconds):
    return (1e6, "µs") if seconds < 1e-3 else (1e3, "ms") if seconds < 1.0 else (1.0, "s")
