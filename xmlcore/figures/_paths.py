"""Figures of the nodes that a row visits on the path to a label, in a label tree or in decision trees."""

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._style import BLUE, VERMILION, add_line, need_columns, new_figure, short, signed
from xmlcore.wording import probability, score

MOST_PATHS = 30  # largest number of paths (from roots to leaves) that are drawn
MANY = {"size": 4, "width": 1.2, "opacity": 0.45}  # how each looks where there are several


def path_products(
    frame: pd.DataFrame, *, percent: bool = True, title: str = "The probability along the path"
) -> go.Figure:
    """Draw how a label's probability decreases from the root of a label tree to the label's leaf.

    Parameters
    ----------
    frame : DataFrame, a row per node of the path
        Columns ``tree``, ``depth``, ``node``, ``margin``, ``factor`` (the probability of the node given its parent).
        :func:`xmlcore.explain.path` gives them. Optional: ``name`` (of the node).
    percent : bool
        False for factors that are no probabilities, as those of the squared hinge: they are scores between 0 and 1.
    {titled_figure}
        A line per tree, thin if there are several, and their mean. ``shown`` and ``total`` in ``layout.meta`` count
        trees.
    """
    need_columns(frame, ["tree", "depth", "node", "margin", "factor"], "path_products")
    written, full, unit = (probability, 100, " %") if percent else (score, 1, "")
    ways = [way.sort_values("depth") for _, way in frame.groupby("tree", sort=False)]
    figure, many = new_figure(title, shown=min(len(ways), MOST_PATHS), total=len(ways)), len(ways) > 1
    products = [full * np.cumprod([1.0, *way["factor"]]) for way in ways]
    for way, product in zip(ways[:MOST_PATHS], products):
        hovers = [
            f"{_named(row)}: {written(row['factor'])} of its parent’s, margin {signed(row['margin'], 3)}"
            for row in way.to_dict("records")
        ]
        tree = f"tree {way['tree'].iloc[0] + 1}: " if many else ""
        depths = np.concatenate([[way["depth"].min() - 1], way["depth"]])
        hover = f"{tree}%{{customdata}}<br>product so far %{{y:.3~g}}{unit}"
        look = MANY if many else {"size": 9, "cliponaxis": False}
        also = {"legendgroup": "ways", "showlegend": many and not figure.data}
        said = ["the start: every row", *hovers]
        add_line(figure, depths, product, "one tree", BLUE, hover, customdata=said, **look, **also)
    if many:
        ends = range(int(frame["depth"].min()) - 1, int(frame["depth"].max()) + 1)
        at = [np.pad(product, (0, len(ends) - product.size), "edge") for product in products]
        _add_mean(figure, ends, np.mean(at, axis=0), len(ways), f"depth %{{x}}: mean %{{y:.3~g}}{unit}")
    elif len(frame) <= 12:
        factors = (f"×{min(factor, 0.99 if factor < 1 else 1):#.2g}" for factor in ways[0]["factor"])
        figure.update_traces(
            mode="lines+markers+text", text=["", *factors], textposition="top right", textfont={"size": 12}
        )
    depths = frame["depth"].to_numpy()
    figure.update_layout(showlegend=many)
    axis = _depths(depths.min() - 1, depths.max())
    axis["ticktext"][0] = "start"
    figure.update_xaxes(title_text="Depth in the tree", **axis)
    figure.update_yaxes(title_text="Probability so far, %" if percent else "Score so far", rangemode="tozero")
    return figure


def path_shares(frame: pd.DataFrame, *, title: str = "The label’s share along the path") -> go.Figure:
    """Draw the share of training rows with a label in the nodes that a row visits in decision trees.

    Parameters
    ----------
    frame : DataFrame, a row per node on each way
        Columns ``tree``, ``leaf`` (where the way ends), ``depth``, ``node``, ``share``. Optional: ``weight`` (of the
        way in the mean). :func:`xmlcore.explain.path` gives them.
    {titled_figure}
        A thin line per way, and their weighted mean at each depth if there are several.
    """
    need_columns(frame, ["tree", "leaf", "depth", "node", "share"], "path_shares")
    ways = [way for _, way in frame.groupby(["tree", "leaf"], sort=False)]
    figure = new_figure(title, shown=min(len(ways), MOST_PATHS), total=len(ways))
    many = len(ways) > 1
    for place, way in enumerate(ways[:MOST_PATHS]):
        way = way.sort_values("depth")
        look = MANY if many else {"size": 8, "width": 2.5, "opacity": 1.0}
        also = {"legendgroup": "ways", "showlegend": many and place == 0}
        also["customdata"] = [f"tree {t + 1}, node {v:,}" for t, v in zip(way["tree"], way["node"])]
        hover = "%{customdata}<br>share %{y:.2f} %"
        add_line(figure, way["depth"], 100 * way["share"], "one way to a leaf", BLUE, hover, **look, **also)
    if many:
        # A way that has ended keeps its last share, so that the last point is the mean over leaves.
        deepest = int(frame["depth"].max())
        all_depths = np.arange(int(frame["depth"].min()), deepest + 1)
        share_at_depth = [way.set_index("depth")["share"].sort_index().reindex(all_depths).ffill() for way in ways]
        weights = [way["weight"].iloc[0] if "weight" in frame.columns else 1.0 for way in ways]
        means = 100 * np.average(np.column_stack(share_at_depth), axis=1, weights=weights)
        _add_mean(figure, all_depths, means, len(ways), "depth %{x}: mean %{y:.2f} %")
    figure.update_layout(showlegend=many)
    depths = frame["depth"]
    figure.update_xaxes(title_text="Depth in the tree", **_depths(depths.min(), depths.max()))
    figure.update_yaxes(title_text="Share of the node’s rows, %", rangemode="tozero")
    return figure


def _add_mean(figure, depths, means, count, hover):
    add_line(figure, [*depths], means, f"mean of all {count:,}", VERMILION, hover, mark="square", size=7, width=3)


def _depths(first, last):
    """Return an axis for depths from ``first`` to ``last``, with at most 11 ticks."""
    first, last = int(first), int(last)
    room = 0.06 * max(last - first, 1)
    ticks = list(range(first, last + 1, max(1, math.ceil((last - first) / 10))))
    return {
        "range": [first - room, last + 3 * room],
        "tickvals": ticks,
        "ticktext": [str(tick) for tick in ticks],
        "zeroline": False,
    }


def _named(row) -> str:
    return f"{short(row['name'], 40)} (node {row['node']:,})" if "name" in row else f"node {row['node']:,}"
