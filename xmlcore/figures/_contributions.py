"""Figures of the contributions of features to a label's score."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import add_pairs, bar_axes, bars
from xmlcore.figures._style import (
    AGAINST,
    BLUE,
    FOR,
    GREY,
    MARK,
    ORANGE,
    TITLE_LINE,
    VERMILION,
    need_columns,
    new_figure,
    short,
    signed,
)

ROOM = 0.2  # of the axis, beside the longest bars, for their numbers
MOST_DIGITS = 7  # of the score under the title; what is smaller comes from rounding
OF_EACH_SIGN = 2  # features that have bars of their own, however small they are beside those of the other sign


def contribution_bars(
    frame: pd.DataFrame,
    n: int = 10,
    *,
    unit: str = "log P",
    title: str = "What each feature contributes",
    ends: tuple[float, float] | None = None,
    wording: tuple[str, str] = ("raises the score", "lowers the score"),
    start: tuple[str, float] | None = None,
) -> go.Figure:
    """Draw the largest contributions of features to a label's score, and the sums of all others, by sign.

    Parameters
    ----------
    frame : DataFrame, a row per feature, largest |contribution| first
        Columns ``name``, ``value``, ``contribution``. :func:`xmlcore.explain.contributions` gives them; names only if
        it gets them.
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

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta`` adds ``others`` (number of features that share a bar) and ``ends`` (the smallest and
        the largest value of a bar, or 0).
    """
    need_columns(frame, ["name", "value", "contribution"], "contribution_bars", n=n)
    own = _has_own_bar(frame["contribution"].to_numpy(), n)
    shown, rest = frame[own], frame["contribution"][~own & (frame["contribution"] != 0)]
    names = list(shown["name"])
    texts = [f"{short(name)} <i>{_number(value)}</i>" for name, value in zip(names, shown["value"])]
    hovers = [
        f"<b>{short(name, 80)}</b><br>value {f'{value:.5g}'.replace('-', '−')}"
        for name, value in zip(names, shown["value"])
    ]
    values = list(shown["contribution"])
    for sign, mine in (("positive", rest[rest > 0]), ("negative", rest[rest < 0])):
        if len(mine):
            texts.append(f"{len(mine):,} {sign} {'others' if len(mine) > 1 else 'other'}")
            hovers.append(f"<b>{len(mine):,} other features</b>, together")
            values.append(float(mine.sum()))
    values = np.array(values, dtype=np.float64)
    n_named, values_and_zero = len(shown), [0.0, *values]
    reached = [float(min(values_and_zero)), float(max(values_and_zero))]
    figure = new_figure(title, shown=len(shown), total=len(frame), others=len(rest), ends=reached)
    for name, mine, color in (
        (wording[0], values > 0, FOR),
        (wording[1], values < 0, AGAINST),
        ("no influence", values == 0, GREY),
    ):
        if mine.any():
            bars(figure, values, mine, hovers, color, name, f"%{{x:+.4~f}} to {unit}", solid=n_named)
    digits = _digits(max(reached[1], -reached[0]))
    for trace in figure.data:
        trace.update(text=[_not_zero(x, digits, digits + 2) for x in trace.x if x is not None])
        trace.update(textposition="outside", textfont_size=11)
        trace.update(cliponaxis=False, textangle=0, constraintext="none")  # else numbers of thin bars are tiny
    bar_axes(figure, texts)
    figure.update_xaxes(title_text=f"Contribution to {unit}", zeroline=True, zerolinecolor=MARK, zerolinewidth=1.5)
    low, high = ends if ends is not None and ends[0] < ends[1] else reached
    room = ROOM * (high - low)  # for the numbers beside the bars
    if room:
        figure.update_xaxes(range=[low - room * (low < 0), high + room * (high > 0)])
    if start is not None and np.isfinite(start[1]):
        figure.update_layout(
            title_subtitle_text=_ends(*start, float(values.sum()), unit, digits),
            margin_t=92 + TITLE_LINE * title.count("<br>"),
            height=figure.layout.height + 2 * TITLE_LINE,  # for it, and for a legend of two lines on a phone
        )
    figure.update_layout(showlegend=True)
    return figure


def _has_own_bar(contributions, n):
    """Return which contributions, the largest first, have bars of their own."""
    if len(contributions) <= n + 1:  # "1 other" would be no shorter than the feature itself
        return np.ones(len(contributions), dtype=bool)
    own = np.zeros(len(contributions), dtype=bool)
    for mine in (contributions > 0, contributions < 0):
        own[np.flatnonzero(mine)[: min(OF_EACH_SIGN, n // 2)]] = True
    own[np.flatnonzero(~own)[: n - own.sum()]] = True
    return own


def magnitude_bars(
    frame: pd.DataFrame, n: int = 10, marked: Sequence[int] = (), *, title: str = "The largest feature values"
) -> go.Figure:
    """Draw the features of a row with the largest absolute values: an explanation that does not depend on the model.

    Parameters
    ----------
    frame : DataFrame, a row per feature, largest absolute value first
        Columns ``feature``, ``name``, ``value``.
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
    figure = new_figure(title, shown=len(shown), total=len(frame), marked=int(inside.sum()))
    values = shown["value"].to_numpy(dtype=np.float64)
    texts = [short(name) for name in shown["name"]]
    hovers = [f"<b>{short(name, 80)}</b>" for name in shown["name"]]
    for wording, mine, opacity in (("among the largest contributions", inside, 1.0), ("not among them", ~inside, 0.35)):
        if mine.any():
            bars(figure, values, mine, hovers, ORANGE, wording, "value %{x:.5~g}", opacity=opacity)
    bar_axes(figure, texts)
    figure.update_xaxes(title_text="Value of the feature", zeroline=True, zerolinecolor=MARK)
    figure.update_layout(showlegend=len(marked) > 0)
    return figure


def importance_bars(
    frame: pd.DataFrame, n: int = 15, *, unit: str = "log P", title: str = "Features that contribute most"
) -> go.Figure:
    """Draw the mean absolute contribution of features over rows (bars), and their mean contribution (marks).

    Parameters
    ----------
    frame : DataFrame, a row per feature, largest first
        Columns ``name``, ``mean_abs``, ``mean``, ``n_rows``. :func:`xmlcore.explain.importance` gives them; names only
        if it gets them.
    n : int
        Number of features with a bar.
    unit : str
        The score that contributions add up to.
    {titled_figure}
    """
    need_columns(frame, ["name", "mean_abs", "mean", "n_rows"], "importance_bars", n=n)
    shown = frame.head(n)
    figure = new_figure(title, shown=len(shown), total=len(frame))
    texts = [short(name) for name in shown["name"]]
    hovers = [f"<b>{short(name, 80)}</b><br>in {rows:,.0f} rows" for name, rows in zip(shown["name"], shown["n_rows"])]
    values = shown["mean_abs"].to_numpy(dtype=np.float64)
    every = np.ones(len(values), dtype=bool)
    bars(figure, values, every, hovers, BLUE, "mean size", "mean size %{x:.4~f}")
    figure.add_scatter(
        x=shown["mean"],
        y=np.arange(len(shown))[::-1],
        name="mean, with its sign",
        mode="markers",
        marker={"symbol": "diamond", "size": 9, "color": VERMILION},
        customdata=hovers,
        hovertemplate="%{customdata}<br>mean %{x:+.4~f}<extra></extra>",
    )
    bar_axes(figure, texts)
    figure.update_xaxes(title_text=f"Contribution to {unit}, mean over rows", zeroline=True, zerolinecolor=MARK)
    figure.update_layout(showlegend=True)
    return figure


def contributions_compared(
    frame: pd.DataFrame,
    *,
    first: str = "without noise",
    second: str = "with noise",
    unit: str = "log P",
    title: str = "Contributions without and with noise",
) -> go.Figure:
    """Draw two contributions per feature, joined by a line.

    Parameters
    ----------
    frame : DataFrame, a row per feature, in the order in which they are drawn
        Columns ``name``, ``first``, ``second``.
    first, second : str
        Names of the two contributions in the legend.
    unit : str
        The score that contributions add up to.
    {titled_figure}
    """
    need_columns(frame, ["name", "first", "second"], "contributions_compared")
    figure = new_figure(title, shown=len(frame), total=len(frame))
    y = np.arange(len(frame))[::-1]
    add_pairs(figure, frame, y, ("first", "second"), (short(first, 60), short(second, 60)), "%{x:+.4~f}")
    bar_axes(figure, [short(name) for name in frame["name"]])
    figure.update_xaxes(title_text=f"Contribution to {unit}", zeroline=True, zerolinecolor=MARK, zerolinewidth=1.5)
    figure.update_layout(showlegend=True)
    return figure


def _ends(what, start, bars, unit, digits) -> str:
    return f"{unit}: {_written(start, digits)} {what}, {_not_zero(start + bars, digits, MOST_DIGITS)} with all bars"


def _digits(largest) -> int:
    """Return how many decimals a number has that is written with three digits."""
    return max(2 - math.floor(math.log10(largest)), 0) if largest > 0 else 2


def _written(value, digits) -> str:
    rounded = round(value, digits)
    return signed(rounded, digits) if rounded else f"{0:.{digits}f}"


def _not_zero(value, digits, most) -> str:
    """Return a number whose small values have up to ``most`` digits, so that they are not written as 0."""
    of_one_digit = _digits(abs(round(value, most))) - 2
    return _written(value, max(digits, min(of_one_digit, most)))


def _number(value) -> str:
    return (f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}").replace("-", "−")
