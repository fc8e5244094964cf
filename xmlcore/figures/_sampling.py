"""Figures of double sampling: what is sampled, and how settings change results."""

import numpy as np
import pandas as pd

from xmlcore.figures import _style as ink
from xmlcore.figures._axes import curve_points, log_axis, small_looks_small, spaced_log_axis
from xmlcore.figures._curves import time_unit
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._names import short
from xmlcore.figures._style import Figure, need_columns
from xmlcore.metrics.statistics import mean_intervals

# Column of a frame of double sampling -> name, colour and mark of the measure. Micro R@1, which the paper calls
# accuracy, has the colour of P@1, to which it is equal for rows with one class. Candidate recall has that of R@k.
SHARES = {
    "recall": ("candidate recall", ink.PURPLE, "triangle-up"),
    "attainable": ("attainable micro R@1", ink.PURPLE, "triangle-down"),
    "accuracy": ("micro R@1", ink.BLUE, "circle"),
    "macro_f1": ("F1 of means", ink.ORANGE, "diamond"),
}
SIGNS = {"n_adversarial": "κ", "examples_per_class": "π"}
SWEPT = ("accuracy", "macro_f1", "fit_s")  # what a sweep has of each training
STRETCHES = 24  # largest number of ranges of ranks over which sampled copies are averaged
LEAST_COPIES = 0.5  # smallest number on the axis of copies: 0 has no place on a log axis
PANELS = {"shared_xaxes": True, "row_heights": (2.0, 1.0), "vertical_spacing": 0.06, "horizontal_spacing": 0.06}


def sampled_classes(frame: pd.DataFrame) -> Figure:
    """Draw the training rows and the sampled copies of each class against its rank by training rows, on log axes.

    The ranks are divided into ranges of equal width on the axis. The line of copies is their mean over each range, and
    the band goes from the 5th to the 95th percentile.

    {Parameters: frame}
        A row per class: columns ``class_size`` (training rows), ``sampled_size`` (copies of its examples that were
        sampled). Optional: ``name``.
    {figure}
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
    figure = Drawing("Label sizes before and after sampling", kept, n, **facts)
    figure.axes("Rank of the label by training rows (log)", "Rows or copies (log)", showlegend=True)
    if n == 0:
        return figure.checked()
    # Below LEAST_COPIES only as far as the line of means needs it: where most labels of a stretch have no copies.
    least = min(max(min(before.min(), low.min()), LEAST_COPIES), mean[mean > 0].min(initial=np.inf))
    between = (np.maximum(low, least), np.maximum(high, least)) if (high > low).any() else None
    names = [short(name, 60) for name in frame["name"].to_numpy()[order][kept]] if "name" in frame.columns else None
    hover = ("" if names is None else "<b>%{customdata}</b><br>") + "rank %{x:,}<br>%{y:,} training rows"
    figure.line(kept + 1, before[kept], "training rows", ink.BLUE, hover, size=4, customdata=names)
    ends = np.append(start[1:], n)
    ranks = [f"rank {a + 1:,}" if b == a + 1 else f"ranks {a + 1:,} to {b:,}" for a, b in zip(start, ends)]
    hover, means = "%{customdata}<br>%{y:.3~g} copies per label", np.where(mean > 0, mean, np.nan)
    look = {"mark": "square", "size": 6, "legendgroup": "after", "customdata": ranks, "between": between}
    figure.line(place, means, "sampled copies, mean", ink.VERMILION, hover, **look)
    return figure.checked(log_axis(1, n), log_axis(least, max(before.max(), high.max()), whole=False))


def candidate_curves(frame: pd.DataFrame, own: int | None = None) -> Figure:
    """Draw candidate recall, micro R@1, F1 of means and time against the number q of candidates.

    {Parameters: frame}
        A row per q: columns ``n_candidates``, ``recall`` (share of rows whose class is a candidate), ``accuracy``
        (micro R@1), ``macro_f1`` (in [0, 1]), ``predict_ms_per_row`` (milliseconds). Optional: ``attainable`` (in [0,
        1]), the most that micro R@1 can be, which is drawn where it is less than the recall.
    own : int, optional
        The q with which the model was trained. It is marked.
    {figure}
    """
    columns = ["n_candidates", "recall", "accuracy", "macro_f1", "predict_ms_per_row"]
    need_columns(frame, columns, "candidate_curves", own=own)
    rows = frame.sort_values("n_candidates")
    figure, x = Drawing("Gain from more candidates", rows).panels(2, 1, **PANELS), rows["n_candidates"].to_numpy()
    above, below = {"row": 1, "col": 1}, {"row": 2, "col": 1}
    is_limited = "attainable" in rows and (rows["attainable"] < rows["recall"]).any()
    for column in ("recall", *(["attainable"] if is_limited else []), "accuracy", "macro_f1"):
        if rows[column].notna().any():
            name, color, mark = SHARES[column]
            hover, dash = f"q = %{{x:,}}: {name} %{{y:.2f}} %", "dash" if column == "attainable" else None
            figure.line(x, 100 * rows[column], name, color, hover, mark=mark, dash=dash, **above)
    factor, unit = time_unit(rows["predict_ms_per_row"].max() / 1000 if len(rows) else 0.0)
    times, hover = rows["predict_ms_per_row"] / 1000 * factor, f"q = %{{x:,}}: %{{y:.3~g}} {unit} per row"
    figure.line(x, times, "time per row", ink.GREY, hover, mark="x", **below)
    figure.axes({}, {"title_text": "Percent", "rangemode": "tozero"}, **above)
    figure.axes({}, {"title_text": f"{unit} per row", "rangemode": "tozero"}, **below)
    _swept_axis(figure, x, "Candidates, q (log)", own)
    return figure.checked(showlegend=True, height=500)


def sampling_sweep(frame: pd.DataFrame, own: tuple[float, float] | None = None) -> Figure:
    """Draw micro R@1 and training time against κ, and against π, the examples per label.

    Points are means over seeds. Bars of micro R@1 are 95 % intervals over seeds (Student's t) or ``margin``,
    whichever is longer; those of the time go from the least to the most of the seeds.

    {Parameters: frame}
        A row per training: columns ``axis`` ("n_adversarial" or "examples_per_class": which of the next two is varied),
        ``n_adversarial``, ``examples_per_class``, ``seed``, ``accuracy``, ``macro_f1`` (in [0, 1]), ``fit_s``
        (seconds), ``pair_bytes``, ``model_bytes``. Optional: ``cpu_s``, processor time in seconds, which is drawn in
        place of ``fit_s``; ``failed`` (why the training failed, or an empty text); failed trainings are not drawn;
        ``margin`` (in [0, 1]), how far other test rows would change ``accuracy``, micro R@1.
    own : tuple of float, optional
        κ and π of the trained model, which are marked.
    {figure}
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
    swept = [axis for axis in SIGNS if (rows["axis"] == axis).any()]
    figure = Drawing("Micro R@1 and time over κ and π", groups.ngroups, **facts)
    figure.panels(2, max(1, len(swept)), **PANELS)
    for column, axis in enumerate(swept, 1):
        _add_setting(figure, axis, rows[rows["axis"] == axis], seeds, column)
        values = np.unique(rows.loc[rows["axis"] == axis, axis])
        _swept_axis(figure, values, f"{SIGNS[axis]} (log)", own and own[list(SIGNS).index(axis)], column, 0.2)
    small_looks_small(figure)
    figure.axes(y="micro R@1, %", row=1, col=1)
    figure.axes(y="Processor seconds" if by_processor else "Seconds", row=2, col=1)
    figure.axes(y={"range": None, "rangemode": "tozero"}, row=2)
    return figure.checked(height=500, showlegend=False)


def _add_setting(figure, axis, rows, seeds, column) -> None:
    """Add the lines of micro R@1 and of time over κ or over π, with their bars."""
    sign, groups = SIGNS[axis], rows.groupby(axis)
    intervals = 100 * mean_intervals(groups["accuracy"], groups["margin"] if "margin" in rows else None)
    mean, low, high = (intervals[name].to_numpy() for name in ("mean", "low", "high"))
    least, seconds, most = (groups["seconds"].agg(of).to_numpy() for of in ("min", "mean", "max"))
    x, f1, size = np.array(list(groups.groups)), 100 * groups["macro_f1"].mean(), groups["bytes"].mean() / 1e6
    begin, whiskers, place = f"<b>{sign} = %{{x:~g}}</b><br>", {"thickness": 1, "width": 3}, {"col": column}
    said = "micro R@1 %{y:.2f} % (%{customdata[0]:.2f} to %{customdata[1]:.2f})<br>F1 of means %{customdata[2]:.2f} %"
    for row, name, y, marker, error, about, hover in (
        (1, "micro R@1", mean, {"symbol": "circle", "size": 8, "color": ink.BLUE},
         {"array": high - mean, "visible": bool((high > low).any())}, [low, high, f1], said),
        (2, "seconds", seconds, {"symbol": "x", "size": 8, "color": ink.GREY},
         {"array": most - seconds, "arrayminus": seconds - least, "visible": seeds > 1}, [least, most, size],
         f"%{{y:.3~g}} s{' (%{customdata[0]:.3~g} to %{customdata[1]:.3~g})' * (seeds > 1)}, "
         "%{customdata[2]:.3~g} MB"),
    ):  # fmt: skip
        look = {"mode": None, "error_y": error | whiskers, "customdata": np.column_stack(about)}
        figure.points(x, y, f"{name} over {sign}", marker, begin + hover, row=row, **look, **place)


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


def _swept_axis(figure, x, title, own, column=1, share=0.1):
    """Set the log axis of a column of panels, with ticks a share of it apart, and mark the value ``own``."""
    axis = spaced_log_axis(x, share)
    figure.axes(axis, col=column)
    figure.axes(title, row=2, col=column)
    if len(x) == 0 or own is None or not own > 0:
        return
    figure.rule(float(own), col=column)
    at = float(np.log10(own))
    side = "left" if at < sum(axis["range"]) / 2 else "right"
    figure.note(f"as trained: {own:g}", at, xref=f"x{column}" if column > 1 else "x", xanchor=side)
