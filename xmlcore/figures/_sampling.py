"""Figures of double sampling: what is sampled, and how settings change results."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.documented import documented
from xmlcore.figures._axes import curve_points, log_axis
from xmlcore.figures._style import (
    BLUE,
    GREY,
    MARK,
    ORANGE,
    PURPLE,
    VERMILION,
    add_band,
    need_columns,
    new_figure,
    run_style,
    short,
)
from xmlcore.metrics.buckets import BUCKETS

# Column of the frame -> name, colour and mark of the measure. Accuracy has the colour of P@1, to which it is equal for
# rows with one class. Candidate recall has the colour of R@k.
SHARES = {
    "recall": ("candidate recall", PURPLE, "triangle-up"),
    "candidate_recall": ("candidate recall", PURPLE, "triangle-up"),
    "accuracy": ("accuracy", BLUE, "circle"),
    "macro_f1": ("F1 of means", ORANGE, "diamond"),
}
AXES = {"n_adversarial": "Adversarial labels, κ", "examples_per_class": "Examples per label"}
SIGNS = {"n_adversarial": "κ", "examples_per_class": "examples per label", "n_candidates": "q"}
STRETCHES = 24  # largest number of ranges of ranks over which sampled copies are averaged
LEAST_COPIES = 0.5  # smallest number on the axis of copies: 0 has no place on a log axis
LEVEL = 0.95  # confidence level of intervals over seeds


@documented
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
    figure = new_figure(title, shown=kept.size, total=n)
    start, place, mean, low, high = _stretches(after)
    facts = {"without_rows": int(size.size - n), "without_copies": int((after == 0).sum()), "stretches": place.size}
    figure.update_layout(meta={**figure.layout.meta, **facts}, showlegend=True)
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
    figure.add_scatter(
        x=kept + 1,
        y=before[kept],
        customdata=None if names is None else [short(name, 60) for name in names],
        mode="lines+markers",
        line={"color": BLUE, "width": 2},
        marker={"size": 4, "color": BLUE},
        name="training rows",
        hovertemplate=("" if names is None else "<b>%{customdata}</b><br>")
        + "rank %{x:,}<br>%{y:,} training rows<extra></extra>",
    )
    ends = np.append(start[1:], n)
    ranks = [f"rank {a + 1:,}" if b == a + 1 else f"ranks {a + 1:,} to {b:,}" for a, b in zip(start, ends)]
    figure.add_scatter(
        x=place,
        y=np.where(mean > 0, mean, np.nan),
        customdata=ranks,
        mode="lines+markers",
        legendgroup="after",
        line={"color": VERMILION, "width": 2},
        marker={"size": 6, "color": VERMILION, "symbol": "square"},
        name="sampled copies, mean",
        hovertemplate="%{customdata}<br>%{y:.3~g} copies per label<extra></extra>",
    )
    figure.update_xaxes(**log_axis(1, n))
    figure.update_yaxes(**log_axis(least, max(before.max(), high.max())), tickvals=None)
    if least < 1:
        figure.update_yaxes(tickformat=",~r")  # without powers of ten
    return figure


@documented
def candidate_curves(
    frame: pd.DataFrame, own: int | None = None, *, title: str = "What more candidates bring"
) -> go.Figure:
    """Draw candidate recall, accuracy, macro-F1 and time against the number q of candidates.

    Parameters
    ----------
    frame : DataFrame, a row per q
        Columns ``n_candidates``, ``recall`` (share of rows whose class is a candidate), ``accuracy``, ``macro_f1`` (in
        [0, 1]), ``predict_ms_per_row`` (milliseconds).
    own : int, optional
        The q with which the model was trained. It is marked.
    {titled_figure}
    """
    columns = ["n_candidates", "recall", "accuracy", "macro_f1", "predict_ms_per_row"]
    need_columns(frame, columns, "candidate_curves")
    rows = frame.sort_values("n_candidates")
    figure = _panels(new_figure(title, shown=len(rows), total=len(rows)), 2)
    x = rows["n_candidates"].to_numpy()
    for column in ("recall", "accuracy", "macro_f1"):
        wording, color, mark = SHARES[column]
        hover = f"q = %{{x:,}}: {wording} %{{y:.2f}} %<extra></extra>"
        _points(figure, x, 100 * rows[column], wording, color, mark, hover, 1)
    factor, unit = _time_unit(rows["predict_ms_per_row"].max() / 1000 if len(rows) else 0.0)
    times = rows["predict_ms_per_row"] / 1000 * factor
    hover = f"q = %{{x:,}}: %{{y:.3~g}} {unit} per row<extra></extra>"
    _points(figure, x, times, "time per row", GREY, "x", hover, 2)
    figure.update_yaxes(title_text="Percent", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text=f"{unit} per row", rangemode="tozero", row=2, col=1)
    _swept_axis(figure, x, "Candidates, q (log)", "n_candidates", own, 2)
    figure.update_layout(showlegend=True, height=500)
    return figure


@documented
def sampling_sweep(
    frame: pd.DataFrame, axis: str = "n_adversarial", own: float | None = None, *, title: str | None = None
) -> go.Figure:
    """Draw accuracy, macro-F1, training time and memory against κ, or against the examples per label.

    Points are means over seeds; bands are their 95 % intervals (Student's t).

    Parameters
    ----------
    frame : DataFrame, a row per training
        Columns ``axis`` (which of the next two is varied), ``n_adversarial``, ``examples_per_class``, ``seed``,
        ``accuracy``, ``macro_f1`` (in [0, 1]), ``fit_s`` (seconds), ``pair_bytes``, ``model_bytes``. Optional:
        ``failed`` (why the training failed, or an empty text); failed trainings are not drawn.
    axis : {"n_adversarial", "examples_per_class"}
    own : float, optional
        The value of the trained model, which is marked.
    {titled_figure}
        ``layout.meta`` adds ``seeds`` (largest number of trainings per point) and ``failed`` (number of failed
        trainings of this axis).
    """
    if axis not in AXES:
        raise ValueError(f"axis must be {' or '.join(AXES)}, not {axis!r}")
    columns = ["axis", axis, "seed", "accuracy", "macro_f1", "fit_s", "pair_bytes", "model_bytes"]
    need_columns(frame, columns, "sampling_sweep")
    rows = frame[frame["axis"] == axis].sort_values(axis)
    failed = (rows["failed"] != "").to_numpy() if "failed" in frame.columns else np.zeros(len(rows), bool)
    rows = rows[~failed]
    rows = rows.assign(bytes=rows["pair_bytes"] + rows["model_bytes"])
    x = np.sort(rows[axis].unique())
    figure = _panels(new_figure(title or f"More {_plural(axis)}", shown=x.size, total=x.size), 3)
    seeds = int(rows.groupby(axis)["seed"].nunique().max()) if x.size else 0
    facts = {"seeds": seeds, "failed": int(failed.sum())}
    figure.update_layout(meta={**figure.layout.meta, **facts}, showlegend=True, height=620)
    sign = SIGNS[axis]
    seconds, time_unit = _time_unit(rows["fit_s"].max() if x.size else 0.0)
    size, size_unit = _size_unit(rows["bytes"].max() if x.size else 0.0)
    for column, wording, color, mark, factor, unit, panel in (
        ("accuracy", *SHARES["accuracy"], 100.0, "%", 1),
        ("macro_f1", *SHARES["macro_f1"], 100.0, "%", 1),
        ("fit_s", "training", GREY, "x", seconds, time_unit, 2),
        ("bytes", "memory", GREY, "square", size, size_unit, 3),
    ):
        mean, low, high = (factor * part for part in _over_seeds(rows, axis, column))
        if (high > low).any():
            low = np.maximum(low, 0.0)
            add_band(figure, x, low, high, color, column, xaxis=_name("x", panel), yaxis=_name("y", panel))
        digits = ".2f" if unit == "%" else ".3~g"
        ranges = [
            f" ({a:{digits.replace('~', '')}} to {b:{digits.replace('~', '')}})" if b > a else ""
            for a, b in zip(low, high)
        ]
        hover = f"{sign} = %{{x:~g}}: {wording} %{{y:{digits}}} {unit}%{{customdata}}<extra></extra>"
        _points(figure, x, mean, wording, color, mark, hover, panel, customdata=ranges, legendgroup=column)
    figure.update_yaxes(title_text="Percent", row=1, col=1)
    figure.update_yaxes(title_text=f"Training, {time_unit}", rangemode="tozero", row=2, col=1)
    figure.update_yaxes(title_text=f"Memory, {size_unit}", rangemode="tozero", row=3, col=1)
    _swept_axis(figure, x, f"{AXES[axis]} (log)", axis, own, 3)
    return figure


@documented
def bucket_bars(frame: pd.DataFrame, measure: str = "accuracy", *, title: str | None = None) -> go.Figure:
    """Draw a measure of head, torso and tail classes, a bar for each run.

    Parameters
    ----------
    frame : DataFrame
        Columns ``run`` (name in the legend), ``model``, ``bucket`` ("head", "torso", "tail"), ``n_classes``,
        ``n_rows``, and the column named by ``measure``, in [0, 1].
    measure : {"accuracy", "macro_f1"}
    {titled_figure}
        A run has the colour of its model; the second run of a model is hatched.
    """
    need_columns(frame, ["run", "model", "bucket", "n_classes", "n_rows", measure], "bucket_bars")
    wording = SHARES[measure][0]
    figure = new_figure(
        title or f"{wording[:1].upper()}{wording[1:]} by label frequency", shown=len(frame), total=len(frame)
    )
    present = [bucket for bucket in BUCKETS if (frame["bucket"] == bucket).any()]
    seen = {}
    for run, mine in frame.groupby("run", sort=False):
        model = mine["model"].iloc[0]
        mine = mine.set_index("bucket").reindex(present)
        before = seen.get(model, 0)
        seen[model] = before + 1
        values = 100 * mine[measure].to_numpy(np.float64)
        figure.add_bar(
            x=present,
            y=values,
            name=short(run, 60),
            marker={
                "color": run_style(model)["color"],
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


def _over_seeds(rows, axis, column):
    """Return the mean over seeds and the ends of its interval for each value of ``axis``; one seed has no interval."""
    from scipy import stats

    statistics = rows.groupby(axis, sort=True)[column].agg(["count", "mean", "std"])
    n, mean = statistics["count"].to_numpy(), statistics["mean"].to_numpy(np.float64)
    half_width = np.zeros(n.size)
    several = n > 1
    half_width[several] = (
        stats.t.ppf(0.5 + LEVEL / 2, n[several] - 1) * statistics["std"].to_numpy()[several] / np.sqrt(n[several])
    )
    return mean, mean - half_width, mean + half_width


def _panels(figure, n):
    from plotly.subplots import make_subplots

    heights = [2.0, *([1.0] * (n - 1))]
    return make_subplots(rows=n, cols=1, shared_xaxes=True, row_heights=heights, vertical_spacing=0.06, figure=figure)


def _points(figure, x, y, name, color, mark, hover, panel, **trace):
    figure.add_scatter(
        x=x,
        y=y,
        name=name,
        mode="lines+markers",
        line={"color": color, "width": 2},
        marker={"symbol": mark, "size": 8, "color": color},
        hovertemplate=hover,
        row=panel,
        col=1,
        **trace,
    )


def _swept_axis(figure, x, title, name, own, n):
    """Set the log axis of n panels, with a tick at each value for which there is space, and mark the value ``own``."""
    figure.update_xaxes(type="log")
    figure.update_xaxes(title_text=title, row=n, col=1)
    if len(x) == 0:
        return
    logs = np.log10(np.asarray(x, np.float64))
    span = max(logs[-1] - logs[0], 0.3)
    ticks, last = [], np.inf
    for value, at in zip(x[::-1], logs[::-1]):
        if last - at >= 0.1 * span:
            ticks.append(float(value))
            last = at
    figure.update_xaxes(
        tickvals=ticks[::-1],
        ticktext=[f"{value:,.10g}" for value in ticks[::-1]],
        range=[float(logs[0] - 0.06 * span), float(logs[-1] + 0.06 * span)],
    )
    if own is None or not own > 0:
        return
    figure.add_vline(x=float(own), line={"color": MARK, "width": 1.5, "dash": "dot"}, row="all", col=1)
    at = float(np.log10(own))
    figure.add_annotation(
        text=f"as trained: {own:g}",
        showarrow=False,
        x=at,
        xref="x",
        xanchor="left" if at < logs[0] + 0.5 * span else "right",
        y=1,
        yref="paper",
        yanchor="bottom",
        font={"size": 12},
    )


def _name(axis, panel):
    return axis if panel == 1 else f"{axis}{panel}"


def _plural(axis):
    return "adversarial labels" if axis == "n_adversarial" else "examples per label"


def _time_unit(seconds):
    """Return the factor and the name of the unit in which to show a time."""
    return (1e6, "µs") if seconds < 1e-3 else (1e3, "ms") if seconds < 1.0 else (1.0, "s")


def _size_unit(n_bytes):
    """Return the factor and the name of the unit in which to show a number of bytes."""
    return (1e-3, "kB") if n_bytes < 1e6 else (1e-6, "MB") if n_bytes < 1e9 else (1e-9, "GB")
