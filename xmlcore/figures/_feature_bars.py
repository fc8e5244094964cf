"""Horizontal bars of features, and of the nodes of a tree: what they contribute, weigh or score."""

import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd

from xmlcore.figures import _grammar as draw
from xmlcore.figures import _style as ink
from xmlcore.figures._axes import name_axis
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._names import short
from xmlcore.figures._style import Figure, need_columns, shade
from xmlcore.wording import probability

ROOM = 0.2  # of the axis, beside the longest bars, for their numbers
MOST_DIGITS = 7  # decimals of a number: what is smaller comes from rounding
OF_EACH_SIGN = 2  # features that have bars of their own, however small they are beside those of the other sign
KINDS = {"inner": ("nodes with labels below", ink.BLUE), "leaf": ("single labels", ink.GREEN)}
# A colour for each child of a node, or for each sign of a weight. All have a contrast of at least 3 on a white and on a
# dark page.
GROUP_COLORS = (ink.BLUE, ink.VERMILION, ink.GREEN, ink.PURPLE, ink.GREY, ink.BROWN, ink.VIOLET, "#B8860B")
PANEL_LINE, PANEL_GAP, PANEL_AROUND = 22, 30, 150  # heights in a figure of panels, in pixels


def contribution_bars(
    frame: pd.DataFrame,
    n: int = 10,
    *,
    unit: str = "log P",
    title: str = "What each feature contributes",
    ends: tuple[float, float] | None = None,
    wording: tuple[str, str] = ("raises the score", "lowers the score"),
    start: tuple[str, float] | None = None,
) -> Figure:
    """Draw the largest contributions of features to a label's score, and the sums of all others, by sign.

    {Parameters: frame}
        A row per feature, largest |contribution| first: columns ``name``, ``value``, ``contribution``.
        :func:`xmlcore.explain.contributions` gives them; names only if it gets them.
    n : int
        Number of features with a bar of their own: the largest, but at least two of each sign if n is 4 or more. The
        positive others share one bar, and so do the negative ones: all bars add up to what the features contribute.
    unit : str
        The score that contributions add up to.
    {title}
    ends : pair of float, optional
        Smallest and largest value on the axis, so that several figures can have the same axis.
    wording : pair of str
        What positive and negative contributions are called in the legend.
    start : pair of str and float, optional
        What the score is without the features, such as ``("bias", -1.5)``: it stands below the title, with the score
        that it and the bars add up to.
    {figure}
        ``layout.meta`` adds ``others`` (number of features that share a bar) and ``ends`` (the smallest and
        the largest value of a bar, or 0).
    """
    need_columns(frame, ["name", "value", "contribution"], "contribution_bars", n=n)
    own = _has_own_bar(frame["contribution"].to_numpy(), n)
    shown, rest = frame[own], frame["contribution"][~own & (frame["contribution"] != 0)]
    texts = [f"{short(name)} <i>{_number(value)}</i>" for name, value in zip(shown["name"], shown["value"])]
    numbers = (f"{value:.5g}".replace("-", "−") for value in shown["value"])
    hovers = [f"<b>{short(name, 80)}</b><br>value {number}" for name, number in zip(shown["name"], numbers)]
    values = list(shown["contribution"])
    for sign, mine in (("positive", rest[rest > 0]), ("negative", rest[rest < 0])):
        if len(mine):
            texts.append(f"{len(mine):,} {sign} {'others' if len(mine) > 1 else 'other'}")
            hovers.append(f"<b>{len(mine):,} other features</b>, together")
            values.append(float(mine.sum()))
    reached = [float(min([0.0, *values])), float(max([0.0, *values]))]
    figure = Drawing(title, shown, frame, others=len(rest), ends=reached)
    x = {"title_text": f"Contribution to {unit}", **draw.ZERO, **_with_room(reached, ends)}
    groups, hover = draw.by_sign(values, *wording), f"%{{x:+.4~f}} to {unit}"
    look = {"textposition": "outside", "textfont": {"size": 11}, "cliponaxis": False, "textangle": 0}
    look["constraintext"] = "none"  # else numbers of thin bars are tiny
    figure.grouped_bars(texts, values, groups, hover, hovers, x)
    for trace in figure.traces:
        trace |= {"text": [_number(x, "+") for x in trace["x"]], **look}
    if start is not None and np.isfinite(start[1]):
        score = f"{_number(start[1], '+')} {start[0]}, {_number(start[1] + sum(values), '+')} with all bars"
        # For it, and for a legend of two lines on a phone.
        height, top = figure.layout["height"] + 2 * ink.TITLE_LINE, 92 + ink.TITLE_LINE * title.count("<br>")
        figure.axes(title_subtitle_text=f"{unit}: {score}", margin_t=top, height=height)
    return figure.checked()


def _with_room(reached, ends) -> dict:
    """Return the range of the axis, with room for the numbers beside the bars."""
    low, high = ends if ends is not None and ends[0] < ends[1] else reached
    room = ROOM * (high - low)
    return {"range": [low - room * (low < 0), high + room * (high > 0)]} if room else {}


def _has_own_bar(contributions, n):
    if len(contributions) <= n + 1:  # "1 other" would be no shorter than the feature itself
        return np.ones(len(contributions), dtype=bool)
    own = np.zeros(len(contributions), dtype=bool)
    for mine in (contributions > 0, contributions < 0):
        own[np.flatnonzero(mine)[: min(OF_EACH_SIGN, n // 2)]] = True
    own[np.flatnonzero(~own)[: n - own.sum()]] = True
    return own


def magnitude_bars(
    frame: pd.DataFrame, n: int = 10, marked: Sequence[int] = (), *, title: str = "The largest feature values"
) -> Figure:
    """Draw the features of a row with the largest absolute values: an explanation that does not depend on the model.

    {Parameters: frame}
        A row per feature, largest absolute value first: columns ``feature``, ``name``, ``value``.
    n : int
        Number of bars.
    marked : sequence of int
        Features in full colour, such as those that contribute most; the others are pale.
    {titled_figure}
        ``layout.meta`` adds ``marked``: the number of bars in full colour.
    """
    need_columns(frame, ["feature", "name", "value"], "magnitude_bars", n=n, marked=marked)
    shown = frame.head(n)
    inside = shown["feature"].isin(list(marked)).to_numpy()
    figure = Drawing(title, shown, frame, marked=int(inside.sum()))
    pale = "not among them", ~inside, shade(ink.ORANGE, 0.35)
    groups = [("among the largest contributions", inside, ink.ORANGE), pale]
    texts, hovers = [*map(short, shown["name"])], [f"<b>{short(name, 80)}</b>" for name in shown["name"]]
    x = {"title_text": "Value of the feature", **draw.ZERO}
    figure.grouped_bars(texts, shown["value"], groups, "value %{x:.5~g}", hovers, x, legend=len(marked) > 0)
    return figure.checked()


def importance_bars(
    frame: pd.DataFrame, n: int = 15, *, unit: str = "log P", title: str = "Features that contribute most"
) -> Figure:
    """Draw the mean absolute contribution of features over rows (bars), and their mean contribution (marks).

    {Parameters: frame}
        A row per feature, largest first: columns ``name``, ``mean_abs``, ``mean``, ``n_rows``.
        :func:`xmlcore.explain.importance` gives them; names only if it gets them.
    n : int
        Number of features with a bar.
    unit : str
        The score that contributions add up to.
    {titled_figure}
    """
    need_columns(frame, ["name", "mean_abs", "mean", "n_rows"], "importance_bars", n=n)
    shown = frame.head(n)
    figure, names = Drawing(title, shown, frame), [*map(short, shown["name"])]
    hovers = [f"<b>{short(name, 80)}</b><br>in {rows:,.0f} rows" for name, rows in zip(shown["name"], shown["n_rows"])]
    x = {"title_text": f"Contribution to {unit}, mean over rows", **draw.ZERO}
    every = [("mean size", np.ones(len(shown), bool), ink.BLUE)]
    figure.grouped_bars(names, shown["mean_abs"], every, "mean size %{x:.4~f}", hovers, x)
    y, marker = np.arange(len(shown))[::-1], {"symbol": "diamond", "size": 9, "color": ink.VERMILION}
    hover = "%{customdata}<br>mean %{x:+.4~f}"
    figure.points(shown["mean"], y, "mean, with its sign", marker, hover, customdata=hovers)
    return figure.checked()


def contributions_compared(frame: pd.DataFrame, *, unit: str = "log P") -> Figure:
    """Draw the contributions per feature without and with noise, joined by a line.

    {Parameters: frame}
        A row per feature, in the order in which they are drawn: columns ``name``, ``first``, ``second``.
    unit : str
        The score that contributions add up to.
    {figure}
    """
    need_columns(frame, ["name", "first", "second"], "contributions_compared")
    figure, y = Drawing("Contributions without and with noise", frame), np.arange(len(frame))[::-1]
    figure.pairs(frame, y, ("first", "second"), ("without noise", "with noise"), "%{x:+.4~f}")
    figure.bar_axes([*map(short, frame["name"])], {"title_text": f"Contribution to {unit}", **draw.ZERO})
    return figure.checked(showlegend=True)


def noisy_features(
    frame: pd.DataFrame, change: str = "noise", *, title: str = "Feature values without and with noise"
) -> Figure:
    """Draw the feature values of some rows without and with noise, in a panel for each row.

    {Parameters: frame}
        A row per row of the data and feature, in the order in which they are drawn: columns ``row``, ``row_name``
        (title of the panel), ``name`` (of the feature), ``clean``, ``noisy`` (values).
    change : str
        What the legend calls the noise, such as "attack".
    {titled_figure}
    """
    need_columns(frame, ["row", "row_name", "name", "clean", "noisy"], "noisy_features")
    parts = [part for _, part in frame.groupby("row", sort=False)]
    figure = Drawing(title, frame)
    if not parts:
        return figure.checked()
    heights = [len(part) + 1.0 for part in parts]
    inner = PANEL_LINE * sum(heights) + PANEL_GAP * (len(parts) - 1)
    apart = min(58 / inner, 1 / (len(parts) - 1)) if len(parts) > 1 else 0
    figure.panels(len(parts), 1, row_heights=(*heights,), vertical_spacing=apart, shared_yaxes=False)
    for place, part in enumerate(parts, 1):
        at, names = {"row": place, "col": 1}, (f"without {change}", f"with {change}")
        y, hover = np.arange(len(part))[::-1], "%{x:.4~g}"
        figure.pairs(part, y, ("clean", "noisy"), names, hover, showlegend=place == 1, **at)
        figure.axes(draw.ZERO, name_axis([*map(short, part["name"])]), **at)
        panel = {"yref": f"y{'' if place == 1 else place} domain", "font": {"size": 13}}
        figure.note(f"<b>{short(part['row_name'].iloc[0], 44)}</b>", 0, xref="paper", xanchor="left", **panel)
    figure.axes("Value of the feature", row=len(parts), col=1)
    return figure.checked(height=inner + PANEL_AROUND, showlegend=True, margin={"t": 84})


def feature_weights(frame: pd.DataFrame) -> Figure:
    """Draw what a typical difference of each feature between two classes adds to the difference of their scores f.

    {Parameters: frame}
        A row per feature, drawn in this order from the top: columns ``name``, ``value`` (weight times scale),
        ``weight``, ``scale`` (size of a typical difference). Optional: ``meaning``.
    {figure}
    """
    need_columns(frame, ["name", "value", "weight", "scale"], "feature_weights")
    meanings = frame["meaning"] if "meaning" in frame.columns else [""] * len(frame)
    hovers = [
        f"<b>{short(name, 60)}</b><br>weight {weight:.4g} × scale {scale:.4g}"
        + "".join(f"<br>{short(line, 60)}" for line in textwrap.wrap(str(meaning), 42))
        for name, weight, scale, meaning in zip(frame["name"], frame["weight"], frame["scale"], meanings)
    ]
    groups = draw.by_sign(frame["value"], "larger raises the score", "larger lowers the score")
    x, names = {"title_text": "Weight × scale", **draw.ZERO}, [*map(short, frame["name"])]
    figure = Drawing("Weights of the features", frame)
    figure.grouped_bars(names, frame["value"], groups, "%{x:+.4~f}", hovers, x)
    return figure.checked()


def feature_bars(
    frame: pd.DataFrame,
    n: int = 15,
    *,
    unit: str = "Score",
    title: str = "Features that matter most",
    by_occurrence: bool = False,
) -> Figure:
    """Draw the scores of a label's best features, with error bars of two standard errors if the frame has them.

    {Parameters: frame}
        Best first: columns ``name``, ``score``. Optional: ``standard_error``; ``with_label`` and ``without_label``, the
        shares of the rows with and without the label that have the feature.
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
    hovers = []
    for at, line in enumerate(shown.to_dict("records"), start=1):
        hovers.append(f"<b>{short(line['name'], 80)}</b>, rank {at}")
        if np.isfinite(line.get("with_label", np.nan)):
            with_it, without = (probability(line[name]) for name in shares)
            hovers[-1] += f"<br>in {with_it} of the rows with the label, in {without} of the others"
    groups = [("score", np.ones(len(shown), bool), ink.ORANGE)]
    if by_occurrence:
        more = np.sign((shown["with_label"] - shown["without_label"]).to_numpy(np.float64))
        words = "more frequent in the label’s rows", "less frequent in them", "equally frequent"
        groups = draw.by_sign(np.nan_to_num(more), *words)
    has_errors = "standard_error" in shown.columns
    hover = "score %{x:.4~g} ± %{error_x.array:.2~g}" if has_errors else "score %{x:.4~g}"
    x = {"title_text": unit, "rangemode": "tozero", "exponentformat": "none", "nticks": 5}
    figure, names, values = Drawing(title, shown, frame), [*map(short, shown["name"])], shown["score"]
    figure.grouped_bars(names, values, groups, hover, hovers, x, legend=by_occurrence)
    if has_errors and len(shown):
        values, errors = values.to_numpy(np.float64), 2 * shown["standard_error"].to_numpy(np.float64)
        for trace in figure.traces:  # on white lines below dark ones: one of them is seen on every bar and page
            at = len(values) - 1 - np.asarray(trace["y"])
            trace["error_x"] = {"array": errors[at], "color": "white", "thickness": 4, "width": 5}
        dark = {"array": errors, "color": ink.INK, "thickness": 1.5, "width": 4}
        unseen = {"hovertemplate": None, "hoverinfo": "skip", "showlegend": False}
        figure.points(values, np.arange(values.size)[::-1], None, {"opacity": 0}, "", error_x=dark, **unseen)
    return figure.checked()


def node_bars(
    frame: pd.DataFrame,
    value: str,
    group: str = "kind",
    *,
    axis: str,
    title: str = "Children",
    total: int | None = None,
) -> Figure:
    """Draw one number of some nodes, or features, as horizontal bars, in the order of the frame from the top.

    {Parameters: frame}
        A row per bar: columns ``name``, and those named by ``value`` and ``group``. Optional: ``node``; ``about``, a
        text for the hover label, in which "<br>" begins a line.
    value : str
        Column of the numbers. Where it is nan there is no bar, and its text says so.
    group : str
        Column of texts, "inner" and "leaf" for nodes: the bars of each have a colour and an entry in the legend.
    axis : str
        Title of the axis of the numbers.
    title : str
    total : int, optional
        Number of nodes, or features, of which the frame has some.
    {figure}
        Bars have their node in ``customdata[0]``.
    """
    need_columns(frame, ["name", value, group], "node_bars", total=total)
    figure, groups = Drawing(title, frame, total), frame[group].unique()
    values = frame[value].to_numpy(np.float64)
    known = np.isfinite(values)
    texts = np.array([_number(number) if np.isfinite(number) else "unknown" for number in values], dtype=object)
    hovers = draw.hovers(frame, [f"{axis}: {text}" for text in texts])
    nodes = frame["node"] if "node" in frame.columns else frame.index
    for at, of_group in enumerate(groups):
        mine = (frame[group] == of_group).to_numpy()
        name, color = KINDS.get(of_group, (of_group, GROUP_COLORS[at % len(GROUP_COLORS)]))
        said = {"customdata": np.array([nodes[mine], hovers[mine]], dtype=object).T, "text": texts[mine].tolist()}
        look = {"textposition": "outside", "textfont": {"size": 12}, "cliponaxis": False, **ink.NOT_PALE}
        said["hovertemplate"] = "%{customdata[1]}<extra></extra>"
        figure.bars(np.where(known, values, 0.0), mine, name, color, "", hovers, **said, **look)
    x = {"title_text": axis, **draw.ZERO}
    x |= _with_room((min([0.0, *values[known]]), max([0.0, *values[known]])), None)
    figure.bar_axes([*map(short, frame["name"])], x, showlegend=len(groups) > 1)
    return figure.checked()


def _number(value, sign="") -> str:
    """Return a number with three digits, or more before the point, and no more decimals than rounding leaves right."""
    rounded = round(float(value), MOST_DIGITS) + 0.0  # so that there is no negative zero
    text = f"{rounded:{sign}.3g}" if abs(rounded) < 1000 else f"{rounded:{sign},.0f}"
    return text.replace("-", "−") if rounded else "0"
