"""Figures about why a label was predicted."""

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._style import (
    AGAINST,
    BLUE,
    FOR,
    GREY,
    MARK,
    ORANGE,
    PALETTE,
    RANKING_COLORS,
    RANKING_MARKS,
    RUN_DASHES,
    VERMILION,
    add_band,
    need_columns,
    new_figure,
    shade,
    short,
)

LINE = 24  # pixels of a bar
AROUND = 150  # pixels above and below the bars
OTHERS = "others"  # name of the line that stands for all features without one of their own
MOST_PATHS = 30  # ways through a tree that are drawn one by one


def contribution_bars(
    frame: pd.DataFrame,
    n: int = 10,
    *,
    unit: str = "log P",
    title: str = "What each feature contributes",
    ends: tuple[float, float] | None = None,
) -> go.Figure:
    """Draw the largest contributions of features to a label's score, and the sum of all others.

    Parameters
    ----------
    frame : DataFrame, a line per feature of the row, largest contribution first
        ``name``, ``value``, ``contribution``. :func:`xmlcore.explain.contributions` gives it, without names.
    n : int
        Bars drawn one by one; the others are one bar, so all bars together add up.
    unit : str
        What contributions add up to.
    ends : pair of float, optional
        Least and greatest value on the axis, so that several figures can share one.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta`` adds ``others``: the number of features in the last bar, and ``ends``: the least and the
        greatest length of a bar, 0 among them.
    """
    need_columns(frame, ["name", "value", "contribution"], "contribution_bars")
    shown = frame.head(n) if len(frame) > n + 1 else frame  # "1 other" would be no shorter than the feature itself
    rest = frame.iloc[len(shown) :]
    figure = new_figure(title, shown=len(shown), total=len(frame))
    figure.update_layout(meta={**figure.layout.meta, "others": len(rest)})
    names = list(shown["name"])
    texts = [f"{short(name)} <i>{_number(value)}</i>" for name, value in zip(names, shown["value"])]
    hovers = [f"<b>{short(name, 80)}</b><br>value {value:.5g}" for name, value in zip(names, shown["value"])]
    values = list(shown["contribution"])
    if len(rest):
        texts.append(f"{len(rest):,} {OTHERS}")
        hovers.append(f"<b>{len(rest):,} other features</b>, together")
        values.append(float(rest["contribution"].sum()))
    values = np.array(values, dtype=np.float64)
    known, drawn = len(shown), [0.0, *values]
    figure.update_layout(meta={**figure.layout.meta, "ends": [float(min(drawn)), float(max(drawn))]})
    for said, mine, color in (
        ("for the label", values > 0, FOR),
        ("against it", values < 0, AGAINST),
        ("no influence", values == 0, GREY),
    ):
        if mine.any():
            _bars(figure, values, mine, texts, hovers, color, said, f"%{{x:+.4~f}} to {unit}", solid=known)
    _bar_axes(figure, texts, len(values))
    figure.update_xaxes(title_text=f"Contribution to {unit}", zeroline=True, zerolinecolor=MARK, zerolinewidth=1.5)
    if ends is not None and ends[0] < ends[1]:
        room = 0.05 * (ends[1] - ends[0])
        figure.update_xaxes(range=[ends[0] - room * (ends[0] < 0), ends[1] + room * (ends[1] > 0)])
    figure.update_layout(showlegend=True)
    return figure


def magnitude_bars(
    frame: pd.DataFrame, n: int = 10, marked=(), *, title: str = "The largest feature values"
) -> go.Figure:
    """Draw a row's features of largest absolute value: the paper's explanation, which does not look at the model.

    Parameters
    ----------
    frame : DataFrame, a line per feature, largest absolute value first
        ``feature``, ``name``, ``value``.
    n : int
        Bars drawn.
    marked : sequence of int
        Features drawn in full colour, such as those that contribute most; all others are pale.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta`` adds ``marked``: how many of the drawn features are.
    """
    need_columns(frame, ["feature", "name", "value"], "magnitude_bars")
    shown = frame.head(n)
    figure = new_figure(title, shown=len(shown), total=len(frame))
    inside = shown["feature"].isin(list(marked)).to_numpy()
    figure.update_layout(meta={**figure.layout.meta, "marked": int(inside.sum())})
    values = shown["value"].to_numpy(dtype=np.float64)
    texts = [short(name) for name in shown["name"]]
    hovers = [f"<b>{short(name, 80)}</b>" for name in shown["name"]]
    for said, mine, opacity in (("among the largest contributions", inside, 1.0), ("not among them", ~inside, 0.35)):
        if mine.any():
            _bars(figure, values, mine, texts, hovers, ORANGE, said, "value %{x:.5~g}", opacity=opacity)
    _bar_axes(figure, texts, len(values))
    figure.update_xaxes(title_text="Value of the feature", zeroline=True, zerolinecolor=MARK)
    figure.update_layout(showlegend=len(marked) > 0)
    return figure


def importance_bars(
    frame: pd.DataFrame, n: int = 15, *, unit: str = "log P", title: str = "Features that contribute most"
) -> go.Figure:
    """Draw features by their mean absolute contribution over rows, and their mean contribution.

    Parameters
    ----------
    frame : DataFrame, largest first
        ``name``, ``mean_abs``, ``mean``, ``n_rows``. :func:`xmlcore.explain.importance` gives it, without names.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    need_columns(frame, ["name", "mean_abs", "mean", "n_rows"], "importance_bars")
    shown = frame.head(n)
    figure = new_figure(title, shown=len(shown), total=len(frame))
    texts = [short(name) for name in shown["name"]]
    hovers = [f"<b>{short(name, 80)}</b><br>in {rows:,.0f} rows" for name, rows in zip(shown["name"], shown["n_rows"])]
    values = shown["mean_abs"].to_numpy(dtype=np.float64)
    every = np.ones(len(values), dtype=bool)
    _bars(figure, values, every, texts, hovers, BLUE, "mean size", "mean size %{x:.4~f}", opacity=0.75)
    figure.add_scatter(
        x=shown["mean"],
        y=np.arange(len(shown))[::-1],
        name="mean, with its sign",
        mode="markers",
        marker={"symbol": "diamond", "size": 9, "color": VERMILION},
        customdata=hovers,
        hovertemplate="%{customdata}<br>mean %{x:+.4~f}<extra></extra>",
    )
    _bar_axes(figure, texts, len(values))
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
    frame : DataFrame, a line per feature, in the order in which they are drawn
        ``name``, ``first``, ``second``.
    first, second : str
        What the two are, for the legend.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    need_columns(frame, ["name", "first", "second"], "contributions_compared")
    figure = new_figure(title, shown=len(frame), total=len(frame))
    y = np.arange(len(frame))[::-1]
    gap = np.full(len(frame), np.nan)
    figure.add_scatter(
        x=np.column_stack([frame["first"], frame["second"], gap]).ravel(),
        y=np.column_stack([y, y, gap]).ravel(),
        mode="lines",
        line={"color": MARK, "width": 2},
        hoverinfo="skip",
        showlegend=False,
    )
    texts = [short(name) for name in frame["name"]]
    for column, said, color, symbol in (
        ("first", first, BLUE, "circle-open"),
        ("second", second, VERMILION, "circle"),
    ):
        figure.add_scatter(
            x=frame[column],
            y=y,
            name=short(said, 60),
            mode="markers",
            marker={"symbol": symbol, "size": 10, "color": color, "line": {"color": color, "width": 2}},
            customdata=[short(name, 80) for name in frame["name"]],
            hovertemplate=f"<b>%{{customdata}}</b><br>{short(said, 60)} %{{x:+.4~f}}<extra></extra>",
        )
    _bar_axes(figure, texts, len(frame))
    figure.update_xaxes(title_text=f"Contribution to {unit}", zeroline=True, zerolinecolor=MARK, zerolinewidth=1.5)
    figure.update_layout(showlegend=True)
    return figure


def path_products(frame: pd.DataFrame, *, title: str = "The probability along the path") -> go.Figure:
    """Draw how the probability of a label shrinks from the root of a label tree to its leaf.

    Parameters
    ----------
    frame : DataFrame, a line per node on the way
        ``tree``, ``depth``, ``node``, ``margin``, ``factor``: the probability of the node given its parent.
        :func:`xmlcore.explain.path` gives it.

    Returns
    -------
    plotly.graph_objects.Figure
        A line per tree; ``layout.meta`` has how many of the trees are drawn.
    """
    need_columns(frame, ["tree", "depth", "node", "margin", "factor"], "path_products")
    trees = list(frame["tree"].unique())
    figure = new_figure(title, shown=min(len(trees), MOST_PATHS), total=len(trees))
    for place, tree in enumerate(trees[:MOST_PATHS]):
        mine = frame[frame["tree"] == tree].sort_values("depth")
        product = np.cumprod(mine["factor"].to_numpy(dtype=np.float64))
        start = float(mine["depth"].min()) - 1
        hovers = [
            f"node {row['node']:,}: {_percent(row['factor'])} of its parent’s, margin {row['margin']:+.3f}"
            for row in mine.to_dict("records")
        ]
        color = PALETTE[place % len(PALETTE)]
        figure.add_scatter(
            x=np.concatenate([[start], mine["depth"]]),
            y=100 * np.concatenate([[1.0], product]),
            name=f"tree {tree + 1}",
            mode="lines+markers+text" if len(trees) == 1 and len(mine) <= 12 else "lines+markers",
            text=["", *(f"×{factor:.2f}" for factor in mine["factor"])],
            textposition="top right",
            textfont={"size": 12},
            line={"color": color, "width": 2, "dash": RUN_DASHES[place // len(PALETTE) % len(RUN_DASHES)]},
            marker={"size": 9, "color": color},
            cliponaxis=False,
            customdata=["the start: every row", *hovers],
            hovertemplate="%{customdata}<br>product so far %{y:.3~g} %<extra></extra>",
        )
    depths = frame["depth"].to_numpy()
    figure.update_layout(showlegend=len(trees) > 1)
    axis = _depths(depths.min() - 1, depths.max())
    axis["ticktext"][0] = "start"
    figure.update_xaxes(title_text="Depth in the tree", **axis)
    figure.update_yaxes(title_text="Probability so far, %", rangemode="tozero")
    return figure


def path_shares(frame: pd.DataFrame, *, title: str = "The label’s share along the path") -> go.Figure:
    """Draw a label's share of the rows' labels in the nodes that a row passes, in trees over rows.

    Parameters
    ----------
    frame : DataFrame, a line per node on the way
        ``tree``, ``leaf`` (the leaf that the way ends in), ``depth``, ``node``, ``share``.

    Returns
    -------
    plotly.graph_objects.Figure
        A thin line per way, and their mean at each depth where there are several, with the weights of the frame's
        ``weight`` when it has them.
    """
    need_columns(frame, ["tree", "leaf", "depth", "node", "share"], "path_shares")
    ways = [way for _, way in frame.groupby(["tree", "leaf"], sort=False)]
    figure = new_figure(title, shown=min(len(ways), MOST_PATHS), total=len(ways))
    many = len(ways) > 1
    for place, way in enumerate(ways[:MOST_PATHS]):
        way = way.sort_values("depth")
        figure.add_scatter(
            x=way["depth"],
            y=100 * way["share"],
            name="one way to a leaf",
            mode="lines+markers",
            legendgroup="ways",
            showlegend=many and place == 0,
            opacity=0.45 if many else 1.0,
            line={"color": BLUE, "width": 1.2 if many else 2.5},
            marker={"size": 4 if many else 8, "color": BLUE},
            customdata=[f"tree {t + 1}, node {v:,}" for t, v in zip(way["tree"], way["node"])],
            hovertemplate="%{customdata}<br>share %{y:.2f} %<extra></extra>",
        )
    if many:
        # A way that has ended stays what it came to: the last point is the mean over leaves.
        deepest = int(frame["depth"].max())
        at = np.arange(int(frame["depth"].min()), deepest + 1)
        held = [way.set_index("depth")["share"].sort_index().reindex(at).ffill() for way in ways]
        weights = [way["weight"].iloc[0] if "weight" in frame.columns else 1.0 for way in ways]
        figure.add_scatter(
            x=at,
            y=100 * np.average(np.column_stack(held), axis=1, weights=weights),
            name=f"mean of all {len(ways):,}",
            mode="lines+markers",
            line={"color": VERMILION, "width": 3},
            marker={"symbol": "square", "size": 7, "color": VERMILION},
            hovertemplate="depth %{x}: mean %{y:.2f} %<extra></extra>",
        )
    figure.update_layout(showlegend=many)
    depths = frame["depth"]
    figure.update_xaxes(title_text="Depth in the tree", **_depths(depths.min(), depths.max()))
    figure.update_yaxes(title_text="Share of the node’s rows, %", rangemode="tozero")
    return figure


def deletion_curves(
    frame: pd.DataFrame, *, title: str = "Taking features away", score: str = "Probability of the label"
) -> go.Figure:
    """Draw what is left of a label's score when a row's top features are taken away, by how they were ranked.

    Parameters
    ----------
    frame : DataFrame
        ``method``, ``removed``, ``row``, ``score``. :func:`xmlcore.explain.deletion_curve` gives it.

    Returns
    -------
    plotly.graph_objects.Figure
        Means over rows with 95 % intervals (Student t). ``layout.meta`` adds ``left``: for each method the mean share
        of the score that is left after the most features.
    """
    need_columns(frame, ["method", "removed", "row", "score"], "deletion_curves")
    figure = new_figure(title, shown=len(frame), total=len(frame))
    left = {}
    for method in dict.fromkeys(frame["method"]):
        means = _intervals(frame[frame["method"] == method].groupby("removed")["score"])
        color = RANKING_COLORS.get(method, GREY)
        add_band(figure, means.index, 100 * means["low"], 100 * means["high"], color, method)
        said = [f"{100 * a:.2f} to {100 * b:.2f} %" for a, b in zip(means["low"], means["high"])]
        figure.add_scatter(
            x=means.index,
            y=100 * means["mean"],
            name=method,
            mode="lines+markers",
            legendgroup=method,
            line={"color": color, "width": 2.5},
            marker={"symbol": RANKING_MARKS.get(method, "circle"), "size": 9, "color": color},
            customdata=said,
            hovertemplate=f"<b>{method}</b><br>%{{x}} removed: %{{y:.2f}} %, %{{customdata}}<extra></extra>",
        )
        whole = float(means["mean"].iloc[0])
        left[method] = float(means["mean"].iloc[-1]) / whole if whole > 0 else float("nan")
    figure.update_layout(showlegend=True, meta={**figure.layout.meta, "left": left})
    removed = np.sort(frame["removed"].unique())
    figure.update_xaxes(title_text="Features taken away", **_spaced(removed))
    figure.update_yaxes(title_text=f"{score}, %", rangemode="tozero")
    return figure


def stability_curves(frame: pd.DataFrame, *, title: str = "Do explanations stay the same under noise?") -> go.Figure:
    """Draw how much of an explanation stays the same under noise, against the level of noise.

    Parameters
    ----------
    frame : DataFrame, a line per row and repeat
        ``row``, ``sigma``, ``repeat``, ``spearman`` and ``overlap``, each with the explanation without noise.

    Returns
    -------
    plotly.graph_objects.Figure
        Means over rows (of each row's mean over repeats) with 95 % intervals (Student t).
    """
    need_columns(frame, ["row", "sigma", "repeat", "spearman", "overlap"], "stability_curves")
    figure = new_figure(title, shown=len(frame), total=len(frame))
    per_row = frame.groupby(["sigma", "row"])[["spearman", "overlap"]].mean().reset_index()
    for column, said, color, symbol in (
        ("spearman", "Spearman’s rank correlation", BLUE, "circle"),
        ("overlap", "overlap of the top features", VERMILION, "square"),
    ):
        means = _intervals(per_row.groupby("sigma")[column])
        add_band(figure, means.index, means["low"], means["high"], color, column)
        figure.add_scatter(
            x=means.index,
            y=means["mean"],
            name=said,
            mode="lines+markers",
            legendgroup=column,
            line={"color": color, "width": 2.5},
            marker={"symbol": symbol, "size": 9, "color": color},
            hovertemplate=f"{said} %{{y:.3f}} at σ = %{{x:~g}}<extra></extra>",
        )
    figure.update_layout(showlegend=True)
    levels = np.sort(frame["sigma"].unique())
    figure.update_xaxes(title_text="Noise σ, as a share of the mean size of a value", **_spaced(levels))
    figure.update_yaxes(title_text="Agreement, 1 is the same")
    return figure


def _intervals(groups) -> pd.DataFrame:
    """``mean``, ``low`` and ``high`` of each group: 95 % intervals of its mean; the mean where there is one value."""
    from scipy import stats

    found = groups.agg(["mean", "std", "count"])
    enough = found["count"] > 1
    half = stats.t.ppf(0.975, np.maximum(found["count"] - 1, 1)) * found["std"] / np.sqrt(found["count"])
    half = np.where(enough, half, 0.0)
    return found.assign(low=found["mean"] - half, high=found["mean"] + half)[["mean", "low", "high"]]


def _bars(figure, values, mine, texts, hovers, color, name, hover, opacity=1.0, solid=None):
    """Horizontal bars at the places of ``mine``, the first value on top; those from ``solid`` on are hatched."""
    place = (len(values) - 1 - np.arange(len(values)))[mine]
    shape = ["/" if solid is not None and i >= solid else "" for i in np.flatnonzero(mine)]
    pattern = {"shape": shape, "size": 6} if any(shape) else None
    figure.add_bar(
        x=values[mine],
        y=place,
        orientation="h",
        width=0.75,  # else the bars of a trace with gaps would be wider
        name=name,
        marker={"color": color if opacity == 1 else shade(color, opacity), "line": {"width": 0}, "pattern": pattern},
        customdata=[hovers[i] for i in np.flatnonzero(mine)],
        hovertemplate=f"%{{customdata}}<br>{hover}<extra></extra>",
    )


def _bar_axes(figure, texts, count):
    figure.update_layout(height=max(LINE * count + AROUND, 220), barmode="overlay")
    figure.update_yaxes(
        tickvals=np.arange(count)[::-1], ticktext=texts, range=[-0.7, count - 0.3], showgrid=False, ticks=""
    )


def _number(value) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _percent(share) -> str:
    return f"{100 * share:.3g} %"


def _depths(first, last):
    first, last = int(first), int(last)
    room = 0.06 * max(last - first, 1)
    ticks = list(range(first, last + 1, max(1, math.ceil((last - first) / 10))))
    return {
        "range": [first - room, last + 3 * room],
        "tickvals": ticks,
        "ticktext": [str(tick) for tick in ticks],
        "zeroline": False,
    }


def _spaced(points):
    """A tick at each point that is far enough from the last one."""
    points = np.asarray(points, dtype=np.float64)
    if points.size == 0:
        return {"zeroline": False}
    span = float(points[-1] - points[0]) or 1.0
    shown = [points[0]]
    for point in points[1:]:
        if (point - shown[-1]) / span >= 0.1:
            shown.append(point)
    return {"tickvals": shown, "ticktext": [f"{point:g}" for point in shown], "zeroline": False}
