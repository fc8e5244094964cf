"""Figures of which features labels keep."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import bar_axes, bars, percent_ticks
from xmlcore.figures._heat import LETTERS, heat_map
from xmlcore.figures._style import AGAINST, FOR, GREY, INK, ORANGE, need_columns, new_figure, short
from xmlcore.wording import probability


def feature_bars(
    frame: pd.DataFrame,
    n: int = 15,
    *,
    unit: str = "Score",
    title: str = "Features that matter most",
    by_occurrence: bool = False,
) -> go.Figure:
    """Draw the scores of a label's best features, with error bars of two standard errors if the frame has them.

    Parameters
    ----------
    frame : DataFrame, best first
        Columns ``name``, ``score``. Optional: ``standard_error``; ``with_label`` and ``without_label``, the shares of
        the rows with and without the label that have the feature.
    n : int
        Number of bars.
    unit : str
        Title of the axis.
    {title}
    by_occurrence : bool
        Whether features that are more frequent, less frequent and equally frequent in the label's rows, compared with
        other rows, differ in colour; ``frame`` needs the shares for it.

    {figure}
    """
    shares = ["with_label", "without_label"]
    need_columns(frame, ["name", "score", *(shares if by_occurrence else [])], "feature_bars", n=n)
    shown = frame.head(n)
    figure = new_figure(title, shown=len(shown), total=len(frame))
    texts = [short(name) for name in shown["name"]]
    hovers = []
    for at, line in enumerate(shown.to_dict("records"), start=1):
        wording = f"<b>{short(line['name'], 80)}</b>, rank {at}"
        if "with_label" in line and np.isfinite(line["with_label"]):
            wording += (
                f"<br>in {probability(line['with_label'])} of the rows with the label, "
                f"in {probability(line['without_label'])} of the others"
            )
        hovers.append(wording)
    values = shown["score"].to_numpy(dtype=np.float64)
    parts = [(np.ones(values.size, dtype=bool), ORANGE, "score")]
    if by_occurrence:
        more = (shown["with_label"] > shown["without_label"]).to_numpy(dtype=bool)
        less = (shown["with_label"] < shown["without_label"]).to_numpy(dtype=bool)
        parts = [(more, FOR, "more frequent in the label’s rows"), (less, AGAINST, "less frequent in them")]
        parts.append((~more & ~less, GREY, "equally frequent"))
    errors = None
    if "standard_error" in shown.columns:
        errors = 2 * shown["standard_error"].to_numpy(dtype=np.float64)
    wording = "%{x:.4~g}" if errors is None else "%{x:.4~g} ± %{error_x.array:.2~g}"
    for mine, color, meaning in parts:
        if by_occurrence and not mine.any():
            continue
        bars(figure, values, mine, hovers, color, meaning, f"score {wording}")
        if errors is not None and values.size:
            # A white line below the dark one: one of them is seen on every bar, on a white and on a dark page.
            figure.data[-1].error_x = {"array": errors[mine], "color": "white", "thickness": 4, "width": 5}
    if errors is not None and values.size:
        figure.add_scatter(
            x=values,
            y=np.arange(values.size)[::-1],
            error_x={"array": errors, "color": INK, "thickness": 1.5, "width": 4},
            mode="markers",
            marker={"opacity": 0},
            hoverinfo="skip",
            showlegend=False,
        )
    bar_axes(figure, texts)
    figure.update_xaxes(title_text=unit, rangemode="tozero", exponentformat="power", nticks=5)
    figure.update_layout(showlegend=by_occurrence)
    return figure


def selection_heat(
    frame: pd.DataFrame, *, n_labels: int, n_features: int, title: str = "Labels and their features"
) -> go.Figure:
    """Draw the ranks of features in the selections of labels; a cell is blank where a label does not keep a feature.

    Parameters
    ----------
    frame : DataFrame, a row per label and feature, in the order in which they are drawn
        Columns ``label``, ``feature`` (ids), ``label_name``, ``name``, ``value`` in [0, 1] (nan: not kept), ``rank``
        (0: not kept). :func:`xmlcore.selection.frames.heat_frame` gives all but the names.
    n_labels, n_features : int
        Number of all labels and features, for the count of those that are drawn.
    {titled_figure}
        ``layout.meta``: ``shown`` and ``total`` count cells.
    """
    columns = ["label", "feature", "label_name", "name", "value", "rank"]
    need_columns(frame, columns, "selection_heat", n_labels=n_labels, n_features=n_features)
    rows, columns = frame["label"].nunique(), frame["feature"].nunique()
    figure = new_figure(title, shown=rows * columns, total=n_labels * n_features)
    rank = frame["rank"].to_numpy(dtype=np.float64).reshape(rows, columns)
    values = -np.log10(np.where(rank > 0, rank, np.nan))  # scores would give all but a few cells the same colour
    wording = [
        f"<b>{short(a, 60)}</b><br>{short(b, 60)}<br>"
        + ("not kept" if rank == 0 else f"rank {rank}, {probability(value)} of the label’s largest score")
        for a, b, value, rank in zip(frame["label_name"], frame["name"], frame["value"], frame["rank"])
    ]
    names = list(frame["name"].iloc[:columns])
    labels = list(frame["label_name"].iloc[::columns])
    most = int(rank.max(initial=1))
    ticks = [10**power for power in range(len(str(most)))]
    ticks += [most] if len(ticks) == 1 < most else []
    scale = {"tickvals": -np.log10(ticks), "ticktext": [f"{tick:,}" for tick in ticks]}
    last = np.log10(most) or 1.0  # if all ranks are 1, only the end of the scale is used
    return heat_map(figure, values, labels, names, wording, "rank of the feature", scale, (-last, 0.0))


def group_heat(
    frame: pd.DataFrame, *, n_labels: int, n_features: int, title: str = "Groups of labels and of features"
) -> go.Figure:
    """Draw which groups of labels keep which groups of features.

    Parameters
    ----------
    frame : DataFrame, a row per pair of groups, in the order in which they are drawn
        Columns ``label_group``, ``feature_group``, ``value`` (share of the pairs that are kept), ``label_name`` and
        ``name`` (of one label and one feature of the groups), ``n_labels``, ``n_features`` (sizes of the groups).
        :func:`xmlcore.selection.frames.group_frame` gives all but the names.
    n_labels, n_features : int
        Number of all groups of labels and of features.
    {titled_figure}
    """
    needed = ["label_group", "feature_group", "value", "label_name", "name", "n_labels", "n_features"]
    need_columns(frame, needed, "group_heat", n_labels=n_labels, n_features=n_features)
    rows, columns = frame["label_group"].nunique(), frame["feature_group"].nunique()
    figure = new_figure(title, shown=rows * columns, total=n_labels * n_features)
    values = frame["value"].to_numpy(dtype=np.float64).reshape(rows, columns)
    wording = [
        f"<b>{_and_more(line['label_name'], line['n_labels'], 'label', 40)}</b><br>"
        f"{_and_more(line['name'], line['n_features'], 'feature', 40)}<br>{probability(line['value'])} of their pairs"
        for line in frame.to_dict("records")
    ]
    first_row, first_column = frame.iloc[:columns], frame.iloc[::columns]
    labels = [_plus(name, count) for name, count in zip(first_column["label_name"], first_column["n_labels"])]
    names = [_plus(name, count) for name, count in zip(first_row["name"], first_row["n_features"])]
    most = float(values.max()) if values.size else 1.0
    return heat_map(
        figure, values, labels, names, wording, "share of the pairs kept", percent_ticks(0, most), (0, most)
    )


def overlap_heat(frame: pd.DataFrame, *, n_labels: int, title: str = "Features in common") -> go.Figure:
    """Draw how many features each two labels have in common; rows and columns have the same order.

    Parameters
    ----------
    frame : DataFrame, a row per ordered pair of labels, in the order in which they are drawn
        Columns ``a``, ``b`` (ids), ``a_name``, ``b_name``, ``share`` (of the features of one label that the other
        keeps, too).
    n_labels : int
        Number of all labels, for the count of those that are drawn.
    {titled_figure}
    """
    need_columns(frame, ["a", "b", "a_name", "b_name", "share"], "overlap_heat", n_labels=n_labels)
    n = frame["a"].nunique()
    figure = new_figure(title, shown=n, total=n_labels)
    values = frame["share"].to_numpy(dtype=np.float64).reshape(n, n).copy()
    np.fill_diagonal(values, np.nan)  # a label shares all features with itself
    wording = [
        f"<b>{short(a, 60)}</b><br>{short(b, 60)}<br>{probability(value)} of their features are the same"
        for a, b, value in zip(frame["a_name"], frame["b_name"], frame["share"])
    ]
    names = list(frame["b_name"].iloc[:n])
    known = values[np.isfinite(values)]
    # The scale ends at a quantile, so that a few nearly equal pairs do not give all others the same colour.
    ends = np.quantile(known, [0.0, 0.99]) if known.size else (0.0, 1.0)
    ends = (float(ends[0]), float(ends[1])) if ends[0] < ends[1] else (0.0, max(float(ends[1]), 1e-9))
    scale = percent_ticks(*ends)
    return heat_map(figure, values, names, names, wording, "share of the features kept", scale, ends)


def _and_more(name, count, noun, letters):
    """Return a group's name followed by the number of its other members."""
    rest = count - 1
    return short(name, letters) + (f" and {rest:,} more {noun}{'s' if rest > 1 else ''}" if rest else "")


def _plus(name, count):
    """Return a group's name followed by the number of its other members; only the name is shortened."""
    if count == 1:
        return str(name)
    more = f" +{count - 1:,}"
    room = LETTERS - len(more)
    return (name if len(name) <= room else name[: room - 1] + "…") + more
