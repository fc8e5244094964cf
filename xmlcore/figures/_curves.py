"""Lines with bands: measures against noise, rows, features taken away, or thresholds; and calibration."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from xmlcore.figures import _style as ink
from xmlcore.figures._axes import APART, spaced_axis, spaced_log_axis
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._names import short
from xmlcore.figures._runs import styled_runs
from xmlcore.figures._style import Figure, need_columns, shade
from xmlcore.metrics.buckets import BUCKETS
from xmlcore.metrics.statistics import mean_intervals

LEVEL = "Noise level"  # title of the axis of levels
ENDS = ["mean", "low", "high"]  # columns of a value and its interval
POINT = {"size": 12, "color": ink.VERMILION, "symbol": "diamond"}
RING = {"size": 20, "color": ink.GREY, "symbol": "circle-open", "line": {"width": 2}}  # seen around the point


def robustness_curves(
    frame: pd.DataFrame,
    measure: str = "P@k",
    k: int = 1,
    *,
    drop: bool = False,
    level: str = LEVEL,
    title: str | None = None,
) -> Figure:
    """Draw a measure of several runs against the level of noise, with intervals over repeats as bands.

    {Parameters: frame}
        Columns ``run`` (name in the legend), ``model``, ``sigma``, ``k``, ``bucket``, ``measure``, ``n``, ``mean``,
        ``low``, ``high``; with ``drop``, ``drop_mean``, ``drop_low``, ``drop_high`` in place of the last three.
        :func:`xmlcore.robustness.summarise` gives all but the first two, and keeps those if its frame has them.
    measure : str
    k : int
    drop : bool
        Draw the share of the value without noise that is lost, instead of the value.
    level : str
        Title of the axis of levels.
    {titled_figure}
        A run has the colour and mark of its model, or those of its ``place`` as in :func:`frontier` if the frame has
        that column; the second run of a model is dashed.
    """
    columns = [f"drop_{name}" if drop else name for name in ENDS]
    need_columns(frame, ["run", "model", "sigma", "k", "bucket", "measure", "n", *columns], "robustness_curves", k=k)
    rows = frame[(frame["measure"] == measure) & (frame["k"] == k) & (frame["bucket"] == "all")]
    name = measure.replace("@k", f"@{k}")
    figure = Drawing(title or f"{name} under noise", rows)
    hover, floor = f"{name}{' lost' if drop else ''} %{{y:.2f}} %", None if drop else 0.0
    for run, mine, style in styled_runs(rows):
        _add_run(figure, mine, columns, 100.0, run, style, hover, floor)
    y = f"{name} lost, % of that at level 0" if drop else f"{name}, %"
    return figure.checked({"title_text": level, **spaced_axis(rows["sigma"])}, y, whole=100.0, showlegend=True)


def prediction_times(frame: pd.DataFrame, *, level: str = LEVEL, title: str = "Prediction time under noise") -> Figure:
    """Draw the time to predict a row against the level of noise, with a line for each k.

    {Parameters: frame}
        Columns ``run``, ``model``, ``sigma``, ``k``, ``bucket``, ``measure`` ("predict_s" is drawn), ``n``, ``mean``,
        ``low``, ``high``, ``rows`` (number of predicted rows); see :func:`robustness_curves`.
    level : str
        Title of the axis of levels.
    {titled_figure}
    """
    need_columns(frame, ["run", "model", "sigma", "k", "bucket", "measure", "n", "rows", *ENDS], "prediction_times")
    rows = frame[(frame["measure"] == "predict_s") & (frame["bucket"] == "all")]
    rows = rows.assign(**{column: rows[column] / rows["rows"] for column in ENDS})
    factor, unit = time_unit(rows["mean"].max() if len(rows) else 0.0)
    figure = Drawing(title, rows)
    hover, several = f"%{{y:.3~g}} {unit} per row", rows["k"].nunique() > 1
    for name, mine, style in styled_runs(rows):
        for dash, (k, own) in zip(ink.RUN_DASHES[2::-1], mine.groupby("k") if several else [("", mine)]):
            look = style | {"dash": dash} if several else style
            _add_run(figure, own, ENDS, factor, f"{name}, k = {k}" if several else name, look, hover, 0.0)
    y = {"title_text": f"Prediction, {unit} per row", "rangemode": "tozero"}
    return figure.checked({"title_text": level, **spaced_axis(rows["sigma"])}, y, showlegend=True)


def time_unit(seconds: float) -> tuple[float, str]:
    """Return by what seconds are multiplied, and in which unit they are then."""
    return (1e6, "µs") if seconds < 1e-3 else (1e3, "ms") if seconds < 1.0 else (1.0, "s")


def buckets_under_noise(
    frame: pd.DataFrame, measure: str = "micro R@k", k: int = 5, *, level: str = LEVEL, title: str | None = None
) -> Figure:
    """Draw a measure of the head, torso and tail labels for one run, against the level of noise.

    {Parameters: frame}
        Of one run, with the columns ``sigma``, ``k``, ``bucket`` ("head", "torso" and "tail" are drawn), ``measure``,
        ``n``, ``mean``, ``low``, ``high``; see :func:`robustness_curves`.
    measure : {"micro R@k", "P@k"}
        The values of P@k add up to that of all labels and are stacked; those of recall are drawn as separate lines.
    k : int
        The k of the measure.
    level : str
        Title of the axis of levels.
    {titled_figure}
    """
    need_columns(frame, ["sigma", "k", "bucket", "measure", "n", *ENDS], "buckets_under_noise", k=k)
    rows = frame[(frame["measure"] == measure) & (frame["k"] == k) & frame["bucket"].isin(BUCKETS)]
    name, stacked = measure.replace("@k", f"@{k}"), measure == "P@k"
    titled = f"Parts of {name}" if stacked else f"Recall@{k} of head, torso and tail"
    figure = Drawing(title or titled, rows)
    for bucket in BUCKETS:
        mine = rows[rows["bucket"] == bucket].sort_values("sigma")
        color, mark, hover = ink.BUCKET_COLORS[bucket], ink.BUCKET_MARKS[bucket], f"{bucket}: %{{y:.2f}} %"
        if stacked and len(mine):
            look = {"mark": mark, "size": 7, "width": 1.5, "stackgroup": "parts", "fillcolor": shade(color, 0.35)}
            figure.line(mine["sigma"], 100 * mine["mean"], bucket, color, hover, **look)
        elif len(mine):
            style = {"color": color, "mark": mark, "dash": "solid"}
            _add_run(figure, mine, ENDS, 100.0, bucket, style, hover, 0.0)
    y = {"title_text": f"Part of {name}, %" if stacked else f"{name}, %", "rangemode": "tozero"}
    return figure.checked({"title_text": level, **spaced_axis(rows["sigma"])}, y, showlegend=True)


def _add_run(figure, rows, columns, factor, name, style, hover, floor) -> None:
    """Add the line of a run over levels, and the band of its intervals over repeats, if there are repeats."""
    rows = rows.sort_values("sigma")
    mean, low, high = (factor * rows[column].to_numpy(dtype=np.float64) for column in columns)
    low, high = np.where(np.isfinite(low), low, mean), np.where(np.isfinite(high), high, mean)
    low = low if floor is None else np.maximum(low, floor)
    named, color = str(name), style["color"]
    between = (low, high) if (high > low).any() else None
    texts = [f", {a:.2f} to {b:.2f}" if b > a else "" for a, b in zip(low, high)]
    hover = f"<b>{short(named, 60)}</b><br>level %{{x:~g}}: {hover}%{{customdata[0]}}<br>repeats: %{{customdata[1]}}"
    look = {"mark": style["mark"], "dash": style["dash"], "size": 9, "width": 2.5, "legendgroup": named}
    about = np.array([texts, rows["n"]], dtype=object).T
    figure.line(rows["sigma"], mean, short(named, 60), color, hover, between=between, customdata=about, **look)


def deletion_curves(
    frame: pd.DataFrame, *, title: str = "Taking features away", score: str = "Probability of the label"
) -> Figure:
    """Draw a label's score against the number of removed features, for each ranking of the features.

    {Parameters: frame}
        Columns ``method``, ``removed``, ``row``, ``score``. :func:`xmlcore.explain.deletion_curve` gives them.
    {title}
    score : str
        Title of the axis of scores.
    {figure}
        Means over rows with 95 % intervals (Student's t). ``layout.meta`` adds ``left``: for each method, the mean
        score after the largest number of removed features, divided by the mean score after the smallest.
    """
    need_columns(frame, ["method", "removed", "row", "score"], "deletion_curves")
    figure = Drawing(title, frame, left={})
    for method, rows in frame.groupby("method", sort=False):
        means = 100 * mean_intervals(rows.groupby("removed")["score"])
        texts = [f"{a:.2f} to {b:.2f} %" for a, b in zip(means["low"], means["high"])]
        hover = f"<b>{method}</b><br>%{{x}} removed: %{{y:.2f}} %, %{{customdata}}"
        style = ink.RANKING_COLORS.get(method, ink.GREY), ink.RANKING_MARKS.get(method, "circle")
        _add_means(figure, means, method, method, *style, hover, customdata=texts)
        first, last = (float(means["mean"].iloc[at]) for at in (0, -1))
        figure.facts["left"][method] = last / first if first > 0 else float("nan")
    x = {"title_text": "Features taken away", **spaced_axis(frame["removed"])}
    return figure.checked(x, {"title_text": f"{score}, %", "rangemode": "tozero"}, showlegend=True)


def stability_curves(frame: pd.DataFrame) -> Figure:
    """Draw the agreement of explanations with noise and without noise, against the level of noise.

    {Parameters: frame}
        A row per row of the data, level and repeat: columns ``row``, ``sigma``, ``repeat``, ``spearman``, ``overlap``.
        :func:`xmlcore.explain.stability` gives the last three.
    {figure}
        Means over rows (of each row's mean over repeats) with 95 % intervals (Student's t).
    """
    need_columns(frame, ["row", "sigma", "repeat", "spearman", "overlap"], "stability_curves")
    figure = Drawing("Do explanations stay the same under noise?", frame)
    per_row = frame.groupby(["sigma", "row"])[["spearman", "overlap"]].mean().reset_index()
    for column, name, color, mark in (
        ("spearman", "Spearman’s rank correlation", ink.BLUE, "circle"),
        ("overlap", "overlap of the top features", ink.VERMILION, "square"),
    ):
        means = mean_intervals(per_row.dropna(subset=column).groupby("sigma")[column])
        if len(means):  # rows of few features have no overlap of the top ones
            _add_means(figure, means, column, name, color, mark, f"{name} %{{y:.3f}} at σ = %{{x:~g}}")
    x = {"title_text": "Noise σ, as a share of the mean size of a value", **spaced_axis(frame["sigma"])}
    return figure.checked(x, "Agreement, 1 is the same", showlegend=True)


def _add_means(figure, means, group, name, color, mark, hover, **trace) -> None:
    look = {"mark": mark, "size": 9, "width": 2.5, "legendgroup": group, "between": (means["low"], means["high"])}
    figure.line(means.index, means["mean"], name, color, hover, **look, **trace)


def learning_curve(frame: pd.DataFrame, measure: str, buckets: Sequence[str] = ("all",)) -> Figure:
    """Draw a measure against the number of training rows."""
    need_columns(frame, ["rows", "seed", "bucket", "measure", "k", "value"], "learning_curve")
    name, _, k = measure.partition("@")
    frame = frame[(frame["measure"] == f"{name}@k") & (frame["k"] == int(k)) & frame["bucket"].isin(buckets)]
    frame = frame[frame["value"].notna()]
    figure = Drawing(f"{measure} by training rows", frame)
    for bucket in buckets:
        part = frame[frame["bucket"] == bucket]
        if part.empty:
            continue
        color, mark = ink.BUCKET_COLORS.get(bucket, ink.GREEN), ink.BUCKET_MARKS.get(bucket, "triangle-up")
        name, own = "all labels" if bucket == "all" else f"{bucket} labels", {"legendgroup": bucket}
        hover = f"{name}: {measure} = %{{y:.2f}} %<br>%{{x:,}} rows, seed %{{customdata}}"
        dots, about = {"color": color, "symbol": mark, "size": 7, "opacity": 0.55}, {"customdata": part["seed"]}
        values = 100 * part["value"]
        figure.points(part["rows"], values, f"{name}, a training", dots, hover, showlegend=False, **own, **about)
        means = part.groupby("rows")["value"].mean()
        figure.stroke(means.index, 100 * means, color, 2, name=name, showlegend=None, **own)
    x = {"title_text": "Training rows (logarithmic)", **spaced_log_axis(np.unique(frame["rows"]), APART)}
    return figure.checked(x, f"{measure}, percent", whole=100.0, showlegend=True)


def precision_recall(
    frame: pd.DataFrame, points: dict[str, pd.Series | None] | None = None, *, least: dict[str, float] | None = None
) -> Figure:  # fmt: skip
    """Draw the precision and the recall of each threshold, in percent, and points that stand for decisions.

    {Parameters: frame}
        A row per threshold, as :func:`xmlcore.decisions.cuts` returns them.
    points : dict of str to Series or None, optional
        Lines of such a frame by the names of decisions; None is not drawn.
    least : dict of str to float, optional
        Bounds that were asked for, drawn as lines: the least ``micro P`` (precision) or ``micro R`` (recall).
    {figure}
    """
    need_columns(frame, ["cut", "micro P", "micro R", "labels"], "precision_recall")
    figure = Drawing("Precision–recall curve", frame)
    x, y = ({"title_text": text, "range": [-2, 102]} for text in ("Recall, % of the true labels", "Precision, % right"))
    figure.axes(x, y, showlegend=True)
    hover = "%{y:.1f} % right, %{x:.1f} % of the true labels<br>%{customdata[1]:.2~f} labels a row<br>"
    about, places = frame[["cut", "labels"]].to_numpy(), (100 * frame["micro R"], 100 * frame["micro P"])
    threshold = "threshold %{customdata[0]:.3~g}"
    figure.line(*places, "thresholds", ink.BLUE, hover + threshold, size=3, customdata=about)
    for of, at in (least or {}).items():
        level, bound = of == "micro P", 100 * at
        figure.rule(bound, level=level, color=ink.GREY)
        place = {"xref": "x domain", "y": bound, "yref": "y", "xanchor": "right"}
        place = place if level else {"xref": "x", "yref": "y domain", "xanchor": "left", "yanchor": "top"}
        figure.note(f"at least {bound:.4g} %", 1 if level else bound, font=None, **place)
    for (name, line), mark in zip((points or {}).items(), (POINT, RING)):
        if line is not None:
            about, place = [[None, line["labels"]]], ([100 * line["micro R"]], [100 * line["micro P"]])
            figure.points(*place, name, mark, f"<b>{name}</b><br>{hover}", customdata=about)
    return figure.checked()


def abstention_curve(frame: pd.DataFrame) -> Figure:
    """Draw the precision of the rows that are kept, in percent, against the share of rows that people label.

    {Parameters: frame}
        A row per share, as :func:`xmlcore.decisions.abstention` returns them.
    {figure}
    """
    need_columns(frame, ["by hand", "low", "high"], "abstention_curve")
    name = next(column for column in frame.columns if column.startswith("P@"))
    figure, x = Drawing("With uncertain rows left to people", frame), 100 * frame["by hand"]
    hover = "%{y:.1f} % right where %{x:.0f} % are labelled by hand<br>%{customdata:,} rows"
    look = {"between": (100 * frame["low"], 100 * frame["high"]), "legendgroup": name, "size": 4}
    figure.line(x, 100 * frame[name], name, ink.BLUE, hover, customdata=frame["rows"], **look)
    return figure.checked("Rows left to people, %", f"{name} of the others, %", whole=100.0)


def reliability_curve(
    frame: pd.DataFrame, title: str = "Are probabilities right?", *, calibrated: pd.DataFrame | None = None
) -> Figure:
    """Draw how often predictions are right against their probability, in percent, with the number of predictions."""
    parts = {"predictions": frame} if calibrated is None else {"uncalibrated": frame, "calibrated": calibrated}
    for part in parts.values():
        need_columns(part, ["low", "high", "n", "predicted", "observed"], "reliability_curve")
    parts = {name: part[part["n"] > 0] for name, part in parts.items()}
    figure = Drawing(title, sum(map(len, parts.values())))
    figure.stroke([0, 100], [0, 100], ink.MARK, 1.5, "dot", name="perfectly calibrated", showlegend=None)
    for (name, rows), color, mark in zip(parts.items(), (ink.BLUE, ink.GREEN), ("circle", "diamond")):
        _add_reliability(figure, rows, name, color, mark)
    above = {"domain": [0.3, 1.0], "title_text": "Right, %", "range": [-2, 102]}
    below = {"domain": [0.0, 0.2], "title_text": "Predictions", "anchor": "x", "nticks": 3, "tickformat": ",d"}
    x = {"anchor": "y2", "title_text": "Predicted probability, %", "range": [-2, 102], "dtick": 20}
    layout = {"yaxis2": {**below, "rangemode": "tozero"}, "barmode": "overlay", "showlegend": True, "height": 440}
    return figure.checked(x, above, **layout)


def _add_reliability(figure, rows, name, color, mark) -> None:
    low, high, n = 100 * rows["low"], 100 * rows["high"], rows["n"]
    error = None
    if {"observed_low", "observed_high"} <= set(rows.columns):
        over, under = rows["observed_high"] - rows["observed"], rows["observed"] - rows["observed_low"]
        error = {"symmetric": False, "array": 100 * over, "arrayminus": 100 * under, "color": color}
        error |= {"thickness": 1.2, "width": 4}
    hover = (
        "<b>%{y:.1f} % right</b><br>mean probability %{x:.1f} %<br>"
        "%{customdata[2]:,} predictions with %{customdata[0]:.3g} to %{customdata[1]:.3g} %"
    )
    shares, about = (100 * rows["predicted"], 100 * rows["observed"]), np.column_stack([low, high, n])
    figure.line(*shares, name, color, hover, mark=mark, error_y=error, customdata=about, legendgroup=name)
    marker = {"color": shade(color, 0.45), "line": {"width": 0}}
    below = {"yaxis": "y2", "legendgroup": name, "showlegend": False}
    said = "%{y:,} predictions<extra></extra>"
    figure.add("bar", x=(low + high) / 2, y=n, width=high - low, marker=marker, hovertemplate=said, **below)
