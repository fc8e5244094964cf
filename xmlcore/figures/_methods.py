"""Figures that compare methods: of selecting features, over seeds, and over data sets."""

import numpy as np
import pandas as pd

from xmlcore.figures import _grammar as draw
from xmlcore.figures import _style as ink
from xmlcore.figures._axes import name_axis, spaced_axis
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._names import apart, short, whole
from xmlcore.figures._runs import abouts, run_style
from xmlcore.figures._style import Figure, need_columns
from xmlcore.metrics.measures import is_smaller_better
from xmlcore.validation import check_number

STEP = 26  # height of a line with a name in the diagram of mean ranks, in pixels
ALL = "all features"  # name of the method that selects nothing
# Colour, mark and dash of variants of FALS, dashed if all labels have the same features, and of trees on all features.
VARIANTS = {
    "FILS": (ink.VERMILION, "diamond", "solid"),
    "FAMS": (ink.BLUE, "square", "dash"),
    "FIMS": (ink.SKY, "triangle-up", "dash"),
    ALL: (ink.GREY, "line-ew", "dot"),
}
# Column of the frame -> name of the measure, colour and mark.
AGREEMENT = {"jaccard": ("Jaccard", ink.BLUE, "circle"), "spearman": ("Spearman", ink.VERMILION, "diamond")}


def patterns_compared(frame: pd.DataFrame, measure: str = "average precision") -> Figure:
    """Draw how well decision trees predict with the features that each method keeps: boxes over seeds.

    {Parameters: frame}
        Columns ``method``, ``share`` (of the features that are kept), ``seed``, ``measure``, ``value``.
    measure : str
    {figure}
        ``layout.meta`` adds ``best``: the method with the best mean.
    """
    need_columns(frame, ["method", "share", "seed", "measure", "value"], "patterns_compared")
    rows = frame[frame["measure"] == measure]
    methods, means = list(dict.fromkeys(rows["method"])), rows.groupby("method")["value"].mean()
    best = None if means.dropna().empty else means.idxmin() if is_smaller_better(measure) else means.idxmax()
    figure = Drawing(f"{measure[:1].upper()}{measure[1:]} by method", rows, best=best)
    for place, method in enumerate(methods[::-1]):
        mine, name = rows[rows["method"] == method], short(method, 40)
        color, mark, _ = method_style(method)
        marker = {"symbol": mark if mark != "line-ew" else "circle", "size": 7}
        hover, jitter = f"<b>{name}</b><br>%{{x:.4f}}, seed %{{customdata}}", 0.4 if len(mine) > 2 else 0
        figure.box(mine["value"], place, color, name, mine["seed"], hover, marker, jitter=jitter)
    if ALL in means.index:
        figure.rule(float(means[ALL]), layer="below")
    y = {**name_axis([short(method, 24) for method in methods], 0.6), "ticks": ""}
    look = {"height": max((draw.LINE + 12) * len(methods) + 130, 240), "showlegend": False, "margin": {"l": 16}}
    return figure.checked({"title_text": _axis(measure), "nticks": 6}, y, **look)


def score_against_share(frame: pd.DataFrame, measure: str = "average precision") -> Figure:
    """Draw how well decision trees predict against the share of features that each label keeps.

    Lines are means over seeds; bands go from the smallest to the largest value.

    {Parameters: frame}
        Columns ``method``, ``share``, ``seed``, ``measure``, ``value``; see :func:`patterns_compared`. The method "all
        features" is drawn as a horizontal line.
    measure : str
    {figure}
    """
    need_columns(frame, ["method", "share", "seed", "measure", "value"], "score_against_share")
    rows = frame[frame["measure"] == measure]
    figure = Drawing(f"{measure[:1].upper()}{measure[1:]} against k/D", rows)
    shares = np.sort(rows.loc[rows["method"] != ALL, "share"].unique())
    for method, mine in rows.groupby("method", sort=False):
        color, mark, dash = method_style(method)
        between = None
        if method == ALL:
            x, y = shares[[0, -1]] if shares.size else np.array([0.0, 1.0]), [float(mine["value"].mean())] * 2
        else:
            over_seeds = mine.groupby("share")["value"].agg(["mean", "min", "max"])
            x, y = over_seeds.index.to_numpy(), over_seeds["mean"]
            if (over_seeds["max"] > over_seeds["min"]).any():
                between = over_seeds["min"], over_seeds["max"]
        hover = f"<b>{short(method, 40)}</b><br>{'' if method == ALL else 'k/D = %{x:~g}: '}%{{y:.4f}}"
        look = {"mark": mark, "width": 2.5, "dash": dash, "mode": "lines" if method == ALL else "lines+markers"}
        figure.line(x, y, short(method, 40), color, hover, between=between, legendgroup=method, **look)
    x = {"title_text": "Share of the features kept, k/D", **spaced_axis(shares)}
    return figure.checked(x, _axis(measure), whole=1.0, showlegend=True, height=420)


def stability_boxes(frame: pd.DataFrame, chance: float | None = None) -> Figure:
    """Draw how similar the selections of a label with different seeds are: box plots over labels.

    {Parameters: frame}
        A row per label: columns ``name``, ``jaccard`` (mean over pairs of seeds). Optional: ``spearman``, also a mean
        over pairs.
    chance : float, optional
        Expected Jaccard similarity of features drawn at random, which is marked.
    {figure}
    """
    chance = None if chance is None else check_number(chance, "chance", 0.0, 1.0)
    need_columns(frame, ["name", "jaccard"], "stability_boxes")
    shown = [column for column in AGREEMENT if column in frame.columns and frame[column].notna().any()]
    figure, names = Drawing("Agreement between seeds", frame), [short(name, 60) for name in frame["name"]]
    for place, column in enumerate(shown[::-1]):
        name, color, _ = AGREEMENT[column]
        hover, marker = f"<b>%{{customdata}}</b><br>{name} %{{x:.3f}}", {"size": 4, "opacity": 0.6}
        drawn = "outliers" if len(frame) > 300 else "all"
        figure.box(frame[column], place, color, name, names, hover, marker, boxpoints=drawn)
    if chance is not None:
        figure.rule(chance, layer="below")
        figure.note("Jaccard by chance", chance, xanchor="left", xshift=-4)
    low = min([0.0, *(float(frame[column].min()) for column in shown)])
    x = {"title_text": "Agreement between two seeds, 1 is the same", "range": [low - 0.02, 1.02]}
    y = {**name_axis([AGREEMENT[column][0] for column in shown], 0.6), "ticks": ""}
    return figure.checked(x, y, height=110 * len(shown) + 150, showlegend=False, margin={"l": 16})


def selections_agree(frame: pd.DataFrame) -> Figure:
    """Draw how much of what the first method keeps others keep, too: boxes over pairs of seeds (FALS, figure 4).

    {Parameters: frame}
        A row per pair: columns ``a``, ``b`` (methods), ``jaccard``, ``spearman``; see
        :func:`xmlcore.selection.agreement`.
    {figure}
    """
    need_columns(frame, ["a", "b", *AGREEMENT], "selections_agree")
    methods, titles = list(dict.fromkeys(frame["b"])), [name for name, _, _ in AGREEMENT.values()]
    figure = Drawing(f"Agreement with {short(str(frame['a'].iloc[0]), 40) if len(frame) else 'no method'}", frame)
    figure.panels(1, 2, titles, horizontal_spacing=0.04)
    for at, column in enumerate(AGREEMENT, start=1):
        for place, method in enumerate(methods[::-1]):
            own, name = frame.loc[frame["b"] == method, column], short(method, 40)
            hover = f"<b>{name}</b><br>{titles[at - 1]} %{{x:.3f}}"
            figure.box(own, place, method_style(method)[0], name, None, hover, {"size": 5}, row=1, col=at)
    y = {**name_axis([short(method, 24) for method in methods], 0.6), "ticks": ""}
    return figure.checked("", y, height=max((draw.LINE + 12) * len(methods) + 130, 240), showlegend=False)


def networks_compared(frame: pd.DataFrame, measure: str) -> Figure:
    """Draw a measure and the time of selecting against the layers of the network (FALS, figure 9).

    {Parameters: frame}
        Columns ``layers``, ``kind`` (a line for each: activation, or a number of hidden units), ``measure``, ``value``,
        ``select_s``.
    measure : str
    {figure}
    """
    need_columns(frame, ["layers", "kind", "measure", "value", "select_s"], "networks_compared")
    rows = frame[frame["measure"] == measure]
    figure = Drawing(f"{measure[:1].upper()}{measure[1:]} and time by network", rows)
    figure.panels(1, 2, ("", "Selection, seconds"), shared_yaxes=False, horizontal_spacing=0.14)
    looks = zip((ink.BLUE, ink.VERMILION, ink.GREEN, ink.PURPLE), ("circle", "diamond", "square", "triangle-up"))
    for (kind, own), (color, mark) in zip(rows.groupby("kind", sort=False), looks):
        means = own.groupby("layers")[["value", "select_s"]].mean()
        for at, column in enumerate(means, start=1):
            look = {"legendgroup": kind, "showlegend": at == 1, "mark": mark, "row": 1, "col": at}
            figure.line(means.index, means[column], kind, color, f"<b>{kind}</b>, %{{x}} layers: %{{y:.4~g}}", **look)
    figure.axes({"title_text": "Layers", "dtick": 1})
    figure.axes(y=_axis(measure), row=1, col=1)
    figure.axes(y={"rangemode": "tozero"}, row=1, col=2)
    return figure.checked(showlegend=True)


def positive_gradients(frame: pd.DataFrame) -> Figure:
    """Draw the share of positive gradients of each label against the share of rows that have it (FALS, figure 5).

    {Parameters: frame}
        A row per label: columns ``name``, ``rows`` and ``gradients`` (shares).
    {figure}
    """
    need_columns(frame, ["name", "rows", "gradients"], "positive_gradients")
    figure = Drawing("Positive labels and positive gradients", frame)
    names = [short(str(name), 60) for name in frame["name"]]
    marker, hover = {"size": 7, "color": ink.BLUE, "opacity": 0.7}, "<b>%{customdata}</b><br>%{x:.3~g} %, %{y:.1f} %"
    figure.points(100 * frame["rows"], 100 * frame["gradients"], None, marker, hover, customdata=names)
    figure.rule(50.0, level=True, layer="below")
    x = {"title_text": "Training rows with the label, % (log)", "type": "log"}
    return figure.checked(x, {"title_text": "Positive gradients, %", "range": [0, 100]}, showlegend=False)


def significance_diagram(nodes: pd.DataFrame, edges: pd.DataFrame) -> Figure:
    """Draw methods on a circle, joined by a line if a test finds no difference: Figure 7 of the FALS paper.

    Parameters
    ----------
    nodes : DataFrame, a row per method
        Columns ``method``, ``x``, ``y``.
    edges : DataFrame, a row per pair of methods without a difference
        Columns ``a``, ``b`` (methods), ``p``, ``line`` ("thick" for p of at least 0.1, "thin" for p of at least 0.05).
        :func:`xmlcore.selection.significance_graph` gives both frames.
    {figure}
        Thick lines are solid, thin lines dashed. Methods without a line differ.
    """
    need_columns(nodes, ["method", "x", "y"], "significance_diagram")
    need_columns(edges, ["a", "b", "p", "line"], "significance_diagram")
    figure, places = Drawing("Methods that a test does not tell apart", nodes), nodes.set_index("method")[["x", "y"]]
    for line, dash, width, name in (
        ("thick", "solid", 3, "not told apart (p ≥ 0.1)"),
        ("thin", "dash", 1.2, "hardly (p ≥ 0.05)"),
    ):
        own = edges[edges["line"] == line]
        ends = np.array([[places.loc[e.a], places.loc[e.b]] for e in own.itertuples()], float).reshape(-1, 2, 2)
        x, y = np.append(ends, np.full((len(ends), 1, 2), np.nan), axis=1).reshape(-1, 2).T
        figure.stroke(x, y, ink.QUIET, width, dash, name=name, showlegend=bool(len(own)))
        pairs = [f"{short(str(e.a), 40)} and {short(str(e.b), 40)}: p = {e.p:.3f}" for e in own.itertuples()]
        middle, unseen = ends.mean(axis=1).T, {"size": 9, "color": "rgba(0, 0, 0, 0)"}
        figure.points(*middle, None, unseen, "%{customdata}", customdata=pairs, showlegend=False)
    for node in nodes.itertuples():
        beside = f"middle {'right' if node.x > 0 else 'left'}"
        place = beside if abs(node.x) > 0.3 else f"{'top' if node.y > 0 else 'bottom'} center"
        text = {"mode": "markers+text", "text": [short(str(node.method), 24)], "textposition": place}
        marker, hover = {"size": 16, "color": method_style(node.method)[0]}, f"<b>{short(str(node.method), 40)}</b>"
        figure.points([node.x], [node.y], None, marker, hover, cliponaxis=False, showlegend=False, **text)
    y = {"visible": False, "range": [-1.35, 1.35], "scaleanchor": "x"}
    legend = {"orientation": "h", "y": -0.05, "x": 0.5, "xanchor": "center"}
    return figure.checked({"visible": False, "range": [-2.1, 2.1]}, y, legend=legend)


def critical_difference(frame: pd.DataFrame, difference: float, title: str = "Mean rank over data sets") -> Figure:
    """Draw the mean ranks of methods, and bars over those that a test does not tell apart: Demšar's diagram.

    {Parameters: frame}
        A row per method: columns ``method``, ``rank`` (mean over data sets, 1 is the best), as ``friedman(...).ranks``
        of :mod:`xmlcore.metrics`.
    difference : float
        The critical difference of two mean ranks.
    {titled_figure}
        A line per method, best first. ``layout.meta`` adds ``groups``: the first and the last rank of each bar.
    """
    difference = check_number(difference, "difference")
    need_columns(frame, ["method", "rank"], "critical_difference")
    frame = frame.sort_values("rank", kind="stable")
    n, groups = len(frame), rank_groups(frame["rank"].tolist(), difference)
    figure = Drawing(title, n, groups=groups)
    # Above the names: a scale of the critical difference, then the bars, from the best ranks to the worst.
    top = n + len(groups)
    text = {"text": [f"critical difference {difference:.2f}", ""], "textposition": "top right", "cliponaxis": False}
    text |= {"mode": "lines+markers+text", "marker": {"symbol": "line-ns-open", "size": 10, "color": ink.QUIET}}
    figure.stroke([1, 1 + difference], [top + 0.6] * 2, ink.QUIET, 2, showlegend=None, **text)
    for place, (low, high) in enumerate(groups):
        said = {"hovertemplate": f"not told apart: mean ranks {low:.2f} to {high:.2f}<extra></extra>"}
        bar = [low - 0.02, high + 0.02], [top - 0.6 - place] * 2
        figure.stroke(*bar, ink.EDGE, 6, hoverinfo=None, showlegend=None, **said)
    for y, method, rank in zip(range(n - 1, -1, -1), frame["method"], frame["rank"]):
        color = run_style(str(method).split(" ")[0].rstrip(","))["color"]
        figure.stroke([rank, rank], [y, top - 0.3], color, 1.2, "dot", showlegend=None)
        hover = f"<b>{whole(method)}</b>: mean rank %{{x:.2f}}"
        figure.points([rank], [y], None, {"color": color, "size": 11}, hover)
    names = apart(frame["method"], 24)
    texts = [f"{names[str(m)]}  {r:.2f}" for m, r in zip(frame["method"], frame["rank"])]
    x = {"title_text": "Mean rank, 1 is the best", "range": [0.8, max(n, 1 + difference) + 0.2], "dtick": 1}
    y = {**name_axis(texts), "range": [-0.6, top + 1.8], "ticks": ""}
    return figure.checked(x, y, height=STEP * (top + 2.5) + 130, showlegend=False, margin={"l": 16})


def rank_groups(ranks, critical_difference: float) -> list[tuple[float, float]]:
    """Return the ends of all groups of neighbours whose ranks differ by less than the critical difference."""
    ranks, groups = sorted(ranks), []
    for i, low in enumerate(ranks):
        high = max(rank for rank in ranks[i:] if rank - low <= critical_difference)
        if high > low and not (groups and groups[-1][1] >= high):
            groups.append((low, high))
    return groups


def _axis(measure):
    return f"{measure[:1].upper()}{measure[1:]} ({'smaller' if is_smaller_better(measure) else 'larger'} is better)"


def method_style(method):
    """Return colour, mark and dash of a method; a variant, such as "FALS (lrp)", is its method dash-dotted."""
    head = method.split(" (")[0].split(",")[0]
    own = (about for name, about in abouts("xmlcore.selection").items() if head in (name, about.title))
    color, mark, dash = VARIANTS.get(head) or next(
        ((about.color, about.mark, "solid") for about in own), (ink.PURPLE, "star", "solid")
    )
    return color, mark, dash if head == method else "dashdot"
