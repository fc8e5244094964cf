"""Figures that compare methods of selecting features."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import LINE, name_axis, small_looks_small, spaced_axis
from xmlcore.figures._style import (
    BLUE,
    BROWN,
    GREEN,
    GREY,
    MARK,
    ORANGE,
    PURPLE,
    QUIET,
    SKY,
    VERMILION,
    VIOLET,
    add_band,
    add_note,
    need_columns,
    new_figure,
    shade,
    short,
)
from xmlcore.metrics.measures import is_smaller_better
from xmlcore.validation import check_number

ALL = "all features"  # name of the method that selects nothing
# Colour, mark and dash of each method: FALS and its variants (dashed if all labels have the same features), trees on
# all features, and other methods of selection.
METHOD_STYLE = {
    "FALS": (ORANGE, "circle", "solid"),
    "FILS": (VERMILION, "diamond", "solid"),
    "FAMS": (BLUE, "square", "dash"),
    "FIMS": (SKY, "triangle-up", "dash"),
    ALL: (GREY, "line-ew", "dot"),
    "Random forest": (GREEN, "x", "solid"),
    "LASSO": (PURPLE, "cross", "solid"),
    "Chi-squared": (BROWN, "star", "solid"),
    "Mutual information": (VIOLET, "hexagon", "solid"),
}
# Column of the frame -> name of the measure, colour and mark.
AGREEMENT = {"jaccard": ("Jaccard", BLUE, "circle"), "spearman": ("Spearman", VERMILION, "diamond")}


def patterns_compared(
    frame: pd.DataFrame, measure: str = "average precision", share: float | None = None, title: str | None = None
) -> go.Figure:
    """Draw how well decision trees predict with the features that each method keeps: boxes over seeds.

    Parameters
    ----------
    frame : DataFrame
        Columns ``method``, ``share`` (of the features that are kept), ``seed``, ``measure``, ``value``.
    measure : str
    share : float, optional
        Draw only this share; the method "all features" is always drawn. None draws all rows of the frame.
    {titled_figure}
        ``layout.meta`` adds ``best``: the method with the best mean.
    """
    share = None if share is None else check_number(share, "share", 0.0, 1.0)
    need_columns(frame, ["method", "share", "seed", "measure", "value"], "patterns_compared")
    rows = frame[frame["measure"] == measure]
    if share is not None:
        rows = rows[np.isclose(rows["share"], share) | (rows["method"] == ALL)]
    methods = list(dict.fromkeys(rows["method"]))
    means = rows.groupby("method")["value"].mean()
    best = None if means.dropna().empty else means.idxmin() if is_smaller_better(measure) else means.idxmax()
    title = title or f"{measure[:1].upper()}{measure[1:]} by method"
    figure = new_figure(title, shown=len(rows), total=len(rows), best=best)
    for place, method in enumerate(methods[::-1]):
        mine = rows[rows["method"] == method]
        color, mark, _ = method_style(method)
        name, mark = short(method, 40), mark if mark != "line-ew" else "circle"
        hover = f"<b>{name}</b><br>%{{x:.4f}}, seed %{{customdata}}"
        _add_box(figure, mine["value"], place, color, name, mine["seed"], hover, {"symbol": mark, "size": 7})
        figure.data[-1].jitter = 0.4 if len(mine) > 2 else 0
    if ALL in means.index:
        figure.add_vline(x=float(means[ALL]), line={"color": MARK, "width": 1.5, "dash": "dot"}, layer="below")
    figure.update_layout(height=max((LINE + 12) * len(methods) + 130, 240), showlegend=False, margin={"l": 16})
    figure.update_yaxes(**name_axis([short(method, 24) for method in methods], 0.6), ticks="")
    figure.update_xaxes(title_text=_axis(measure), nticks=6)
    return figure


def score_against_share(frame: pd.DataFrame, measure: str = "average precision", title: str | None = None) -> go.Figure:
    """Draw how well decision trees predict against the share of features that each label keeps.

    Lines are means over seeds; bands go from the smallest to the largest value.

    Parameters
    ----------
    frame : DataFrame
        Columns ``method``, ``share``, ``seed``, ``measure``, ``value``; see :func:`patterns_compared`. The method "all
        features" is drawn as a horizontal line.
    measure : str
        The measure to draw.
    {titled_figure}
    """
    need_columns(frame, ["method", "share", "seed", "measure", "value"], "score_against_share")
    rows = frame[frame["measure"] == measure]
    wording = f"{measure[:1].upper()}{measure[1:]}"
    figure = new_figure(title or f"{wording} against k/D", shown=len(rows), total=len(rows))
    shares = np.sort(rows.loc[rows["method"] != ALL, "share"].unique())
    for method in dict.fromkeys(rows["method"]):
        mine = rows[rows["method"] == method]
        color, mark, dash = method_style(method)
        if method == ALL:
            level = float(mine["value"].mean())
            x, y = shares[[0, -1]] if shares.size else np.array([0.0, 1.0]), [level] * 2
        else:
            over_seeds = mine.groupby("share")["value"].agg(["mean", "min", "max"])
            x, y = over_seeds.index.to_numpy(), over_seeds["mean"]
            if (over_seeds["max"] > over_seeds["min"]).any():
                add_band(figure, x, over_seeds["min"], over_seeds["max"], color, method)
        figure.add_scatter(
            x=x,
            y=y,
            name=short(method, 40),
            legendgroup=method,
            mode="lines" if method == ALL else "lines+markers",
            line={"color": color, "width": 2.5, "dash": dash},
            marker={"symbol": mark, "size": 8, "color": color},
            hovertemplate=f"<b>{short(method, 40)}</b><br>"
            + ("" if method == ALL else "k/D = %{x:~g}: ")
            + "%{y:.4f}<extra></extra>",
        )
    figure.update_layout(showlegend=True, height=420)
    figure.update_xaxes(title_text="Share of the features kept, k/D", **spaced_axis(shares))
    figure.update_yaxes(title_text=_axis(measure))
    small_looks_small(figure, 1.0)
    return figure


def stability_boxes(
    frame: pd.DataFrame, chance: float | None = None, title: str = "Agreement between seeds"
) -> go.Figure:
    """Draw how similar the selections of a label with different seeds are: box plots over labels.

    Parameters
    ----------
    frame : DataFrame, a row per label
        Columns ``name``, ``jaccard`` (mean over pairs of seeds). Optional: ``spearman``, also a mean over pairs.
    chance : float, optional
        Expected Jaccard similarity of features drawn at random, which is marked.
    {titled_figure}
    """
    chance = None if chance is None else check_number(chance, "chance", 0.0, 1.0)
    need_columns(frame, ["name", "jaccard"], "stability_boxes")
    shown = [column for column in AGREEMENT if column in frame.columns and frame[column].notna().any()]
    figure = new_figure(title, shown=len(frame), total=len(frame))
    for place, column in enumerate(shown[::-1]):
        wording, color, _ = AGREEMENT[column]
        names, hover = [short(name, 60) for name in frame["name"]], f"<b>%{{customdata}}</b><br>{wording} %{{x:.3f}}"
        _add_box(figure, frame[column], place, color, wording, names, hover, {"size": 4, "opacity": 0.6})
        figure.data[-1].boxpoints = "outliers" if len(frame) > 300 else "all"
    if chance is not None:
        figure.add_vline(x=chance, line={"color": MARK, "width": 1.5, "dash": "dot"}, layer="below")
        add_note(figure, "Jaccard by chance", chance, xanchor="left", xshift=-4)
    figure.update_layout(height=110 * len(shown) + 150, showlegend=False, margin={"l": 16})
    figure.update_yaxes(**name_axis([AGREEMENT[column][0] for column in shown], 0.6), ticks="")
    low = min([0.0, *(float(frame[column].min()) for column in shown)])
    figure.update_xaxes(title_text="Agreement between two seeds, 1 is the same", range=[low - 0.02, 1.02])
    return figure


def significance_diagram(
    nodes: pd.DataFrame, edges: pd.DataFrame, title: str = "Methods that a test does not tell apart"
) -> go.Figure:
    """Draw methods on a circle, joined by a line if a test finds no difference: Figure 7 of the FALS paper.

    Parameters
    ----------
    nodes : DataFrame, a row per method
        Columns ``method``, ``x``, ``y``.
    edges : DataFrame, a row per pair of methods without a difference
        Columns ``a``, ``b`` (methods), ``p``, ``line`` ("thick" for p of at least 0.1, "thin" for p of at least 0.05).
        :func:`xmlcore.selection.significance_graph` gives both frames.
    {titled_figure}
        Thick lines are solid, thin lines dashed. Methods without a line differ.
    """
    need_columns(nodes, ["method", "x", "y"], "significance_diagram")
    need_columns(edges, ["a", "b", "p", "line"], "significance_diagram")
    figure = new_figure(title, shown=len(nodes), total=len(nodes))
    place = nodes.set_index("method")
    for line, dash, width, wording in (
        ("thick", "solid", 3, "not told apart (p ≥ 0.1)"),
        ("thin", "dash", 1.2, "hardly (p ≥ 0.05)"),
    ):
        own_edges = edges[edges["line"] == line]
        ends = [[place.loc[e.a], place.loc[e.b]] for e in own_edges.itertuples()]
        figure.add_scatter(
            x=[v for a, b in ends for v in (a["x"], b["x"], None)],
            y=[v for a, b in ends for v in (a["y"], b["y"], None)],
            mode="lines",
            line={"color": QUIET, "width": width, "dash": dash},
            name=wording,
            hoverinfo="skip",
            showlegend=bool(len(own_edges)),
        )
        figure.add_scatter(  # invisible marks in the middle of the lines, for the hover text
            x=[(a["x"] + b["x"]) / 2 for a, b in ends],
            y=[(a["y"] + b["y"]) / 2 for a, b in ends],
            mode="markers",
            marker={"size": 9, "color": "rgba(0, 0, 0, 0)"},
            customdata=[
                f"{short(str(e.a), 40)} and {short(str(e.b), 40)}: p = {e.p:.3f}" for e in own_edges.itertuples()
            ],
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
        )
    for node in nodes.itertuples():
        color, _, _ = method_style(node.method)
        is_beside = abs(node.x) > 0.3
        figure.add_scatter(
            x=[node.x],
            y=[node.y],
            mode="markers+text",
            marker={"size": 16, "color": color},
            text=[short(str(node.method), 24)],
            textposition=f"{'middle' if is_beside else 'top' if node.y > 0 else 'bottom'} "
            f"{('right' if node.x > 0 else 'left') if is_beside else 'center'}",
            cliponaxis=False,
            hovertemplate=f"<b>{short(str(node.method), 40)}</b><extra></extra>",
            showlegend=False,
        )
    figure.update_xaxes(visible=False, range=[-2.1, 2.1])
    figure.update_yaxes(visible=False, range=[-1.35, 1.35], scaleanchor="x")
    figure.update_layout(legend={"orientation": "h", "y": -0.05, "x": 0.5, "xanchor": "center"})
    return figure


def _add_box(figure, values, place, color, name, texts, hover, marker):
    figure.add_box(
        x=values,
        y=np.full(len(values), place),
        orientation="h",
        name=name,
        width=0.5,
        boxpoints="all",
        jitter=0.5,
        pointpos=0,
        line={"color": color, "width": 1.5},
        fillcolor=shade(color),
        marker={"color": color, **marker},
        customdata=texts,
        hovertemplate=f"{hover}<extra></extra>",
        hoveron="points",
    )


def _axis(measure):
    return f"{measure[:1].upper()}{measure[1:]} ({'smaller' if is_smaller_better(measure) else 'larger'} is better)"


def method_style(method):
    """Return colour, mark and dash of a method; a variant, such as "FALS (lrp)", is its method dash-dotted."""
    head = method.split(" (")[0].split(",")[0]
    color, mark, dash = METHOD_STYLE.get(head, (PURPLE, "star", "solid"))
    return color, mark, dash if head == method else "dashdot"
