"""Figures about selections of features."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._explain import LINE, _bar_axes, _bars, _spaced
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
    need_columns,
    new_figure,
    shade,
    short,
)

SCALE = "Cividis"
CELL = 17  # pixels of a line of a heat map
BAR = 150  # pixels that the bar of colours is long
LETTERS = 18  # of a name beside it
ALL = "all features"
# FALS's patterns in warm and cold, what is shared between labels dashed; then its rivals.
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
SMALLER_IS_BETTER = ("Hamming loss", "one-error", "ranking loss")
AGREEMENT = {"jaccard": ("Jaccard", BLUE, "circle"), "spearman": ("Spearman", VERMILION, "diamond")}


def feature_bars(
    frame: pd.DataFrame, n: int = 15, *, unit: str = "Score", title: str = "Features that matter most"
) -> go.Figure:
    """Draw the best features of a label by their scores, with two standard errors either way where there are some.

    Parameters
    ----------
    frame : DataFrame, best first
        ``name``, ``score``. Optional: ``standard_error``; ``with_label`` and ``without_label``, shares of the rows that
        have the feature.
    n : int
        Bars.
    unit : str
        Title of the axis.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    need_columns(frame, ["name", "score"], "feature_bars")
    shown = frame.head(n)
    figure = new_figure(title, shown=len(shown), total=len(frame))
    texts = [short(name) for name in shown["name"]]
    hovers = []
    for at, line in enumerate(shown.to_dict("records"), start=1):
        said = f"<b>{short(line['name'], 80)}</b>, rank {at}"
        if "with_label" in line and np.isfinite(line["with_label"]):
            said += (
                f"<br>in {100 * line['with_label']:.3g} % of the rows with the label, "
                f"in {100 * line['without_label']:.3g} % of the others"
            )
        hovers.append(said)
    values = shown["score"].to_numpy(dtype=np.float64)
    every = np.ones(values.size, dtype=bool)
    errors = None
    if "standard_error" in shown.columns:
        errors = 2 * shown["standard_error"].to_numpy(dtype=np.float64)
    said = "%{x:.4~g}" if errors is None else "%{x:.4~g} ± %{error_x.array:.2~g}"
    _bars(figure, values, every, texts, hovers, ORANGE, "score", f"score {said}")
    if errors is not None and values.size:
        figure.data[0].error_x = {"type": "data", "array": errors, "color": QUIET, "thickness": 1.5, "width": 4}
    _bar_axes(figure, texts, values.size)
    figure.update_xaxes(title_text=unit, rangemode="tozero", exponentformat="power", nticks=5)
    figure.update_layout(showlegend=False)
    return figure


def selection_heat(
    frame: pd.DataFrame, *, n_labels: int, n_features: int, title: str = "Labels and their features"
) -> go.Figure:
    """Draw how much features matter to labels: blank where a label does not keep a feature.

    Parameters
    ----------
    frame : DataFrame, a line per label and feature, in the order in which they are drawn
        ``label``, ``feature`` (ids), ``label_name``, ``name``, ``value`` in [0, 1] (nan: not kept), ``rank``.
        :func:`xmlcore.selection.frames.heat_frame` gives it, without names.
    n_labels, n_features : int
        Of how many these are.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta`` adds ``rows`` and ``columns`` that are drawn.
    """
    need_columns(frame, ["label", "feature", "label_name", "name", "value", "rank"], "selection_heat")
    rows, columns = frame["label"].nunique(), frame["feature"].nunique()
    figure = new_figure(title, shown=rows * columns, total=n_labels * n_features)
    rank = frame["rank"].to_numpy(dtype=np.float64).reshape(rows, columns)
    values = -np.log10(np.where(rank > 0, rank, np.nan))  # of many scores all but a few would have one colour
    said = [
        f"<b>{short(a, 60)}</b><br>{short(b, 60)}<br>"
        + ("not kept" if rank == 0 else f"rank {rank}, {100 * value:.3g} % of the label’s largest score")
        for a, b, value, rank in zip(frame["label_name"], frame["name"], frame["value"], frame["rank"])
    ]
    names = list(frame["name"].iloc[:columns])
    labels = list(frame["label_name"].iloc[::columns])
    most = int(rank.max(initial=1))
    ticks = [10**power for power in range(len(str(most)))]
    ticks += [most] if len(ticks) == 1 < most else []
    scale = {"tickvals": -np.log10(ticks), "ticktext": [f"{tick:,}" for tick in ticks]}
    last = np.log10(most) or 1.0  # of a bar with rank 1 alone only the end is used
    return _heat(figure, values, labels, names, said, "rank of the feature", scale, (-last, 0.0))


def group_heat(
    frame: pd.DataFrame, *, n_labels: int, n_features: int, title: str = "Groups of labels and of features"
) -> go.Figure:
    """Draw which groups of labels keep which groups of features.

    Parameters
    ----------
    frame : DataFrame, a line per pair of groups, in the order in which they are drawn
        ``label_group``, ``feature_group``, ``value`` (share of the pairs kept), ``label_name``, ``name`` (what stands
        for a group), ``n_labels``, ``n_features``. :func:`xmlcore.selection.frames.group_frame` gives it, without
        names.
    n_labels, n_features : int
        In all groups, of which these are.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    needed = ["label_group", "feature_group", "value", "label_name", "name", "n_labels", "n_features"]
    need_columns(frame, needed, "group_heat")
    rows, columns = frame["label_group"].nunique(), frame["feature_group"].nunique()
    figure = new_figure(title, shown=rows * columns, total=n_labels * n_features)
    values = frame["value"].to_numpy(dtype=np.float64).reshape(rows, columns)
    said = [
        f"<b>{_and_more(line['label_name'], line['n_labels'], 'label', 40)}</b><br>"
        f"{_and_more(line['name'], line['n_features'], 'feature', 40)}<br>{100 * line['value']:.3g} % of their pairs"
        for line in frame.to_dict("records")
    ]
    heads, firsts = frame.iloc[:columns], frame.iloc[::columns]
    labels = [_plus(name, count) for name, count in zip(firsts["label_name"], firsts["n_labels"])]
    names = [_plus(name, count) for name, count in zip(heads["name"], heads["n_features"])]
    most = float(values.max()) if values.size else 1.0
    return _heat(figure, values, labels, names, said, "share of the pairs kept", {"tickformat": ".0%"}, (0, most))


def _and_more(name, count, what, letters):
    rest = count - 1
    return short(name, letters) + (f" and {rest:,} more {what}{'s' if rest > 1 else ''}" if rest else "")


def _plus(name, count):
    """A group's name beside the map; how many more there are must not be cut off."""
    if count == 1:
        return str(name)
    more = f" +{count - 1:,}"
    room = LETTERS - len(more)
    return (name if len(name) <= room else name[: room - 1] + "…") + more


def overlap_heat(frame: pd.DataFrame, *, n_labels: int, title: str = "Features in common") -> go.Figure:
    """Draw how much of what labels keep is the same, each label with each; columns have the order of the lines.

    Parameters
    ----------
    frame : DataFrame, a line per pair of labels, both ways, in the order in which they are drawn
        ``a``, ``b`` (ids), ``a_name``, ``b_name``, ``jaccard``.
    n_labels : int
        Of how many these are.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    need_columns(frame, ["a", "b", "a_name", "b_name", "jaccard"], "overlap_heat")
    n = frame["a"].nunique()
    figure = new_figure(title, shown=n, total=n_labels)
    values = frame["jaccard"].to_numpy(dtype=np.float64).reshape(n, n).copy()
    np.fill_diagonal(values, np.nan)  # 1, which says nothing and would set the scale
    said = [
        f"<b>{short(a, 60)}</b><br>{short(b, 60)}<br>Jaccard similarity {value:.3g}"
        for a, b, value in zip(frame["a_name"], frame["b_name"], frame["jaccard"])
    ]
    names = list(frame["b_name"].iloc[:n])
    known = values[np.isfinite(values)]
    # A few pairs that are nearly the same must not make all others look alike.
    ends = np.quantile(known, [0.0, 0.99]) if known.size else (0.0, 1.0)
    ends = (float(ends[0]), float(ends[1])) if ends[0] < ends[1] else (0.0, max(float(ends[1]), 1e-9))
    return _heat(figure, values, names, None, said, "Jaccard similarity", {"tickformat": ".2~f"}, ends)


def _heat(figure, values, labels, names, said, what, scale, ends):
    rows, columns = values.shape
    # Names as categories: where there is no room for all, every second or third is written.
    figure.add_heatmap(
        x=_categories(names, columns),
        y=_categories(labels, rows),
        z=values,
        customdata=np.array(said, dtype=object).reshape(rows, columns),
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=False,
        coloraxis="coloraxis",
        xgap=0.6 if columns <= 80 else 0,
        ygap=0.6 if rows <= 80 else 0,
    )
    figure.update_layout(
        height=max(CELL * rows + 250, 340),
        margin={"t": 112, "b": 16, "l": 16, "r": 16},
        coloraxis={
            "colorscale": SCALE,
            "cmin": ends[0],
            "cmax": ends[1],
            "colorbar": {
                "orientation": "h",
                "thickness": 10,
                "len": BAR,
                "lenmode": "pixels",
                "x": 0,
                "xpad": 0,
                "xanchor": "left",
                "y": 1,
                "yanchor": "bottom",
                "ypad": 8,
                "nticks": 4,
                "tickangle": 0,
                "tickfont": {"size": 11},
                **scale,
            },
        },
    )
    # Not the bar's own title, which a dashboard's theme sets upon the bar.
    figure.add_annotation(
        text=what[:1].upper() + what[1:],
        showarrow=False,
        x=0,
        xref="paper",
        xanchor="left",
        y=1,
        yref="paper",
        yanchor="bottom",
        yshift=36,
        font={"size": 12},
    )
    axis = {"type": "category", "tickfont": {"size": 11}, "showgrid": False, "ticks": "", "showline": False}
    figure.update_xaxes(tickangle=90, showticklabels=names is not None, **axis)
    figure.update_yaxes(autorange="reversed", **axis)
    return figure


def _categories(names, count):
    """Names as they are written, told apart where two are the same by a space of no width."""
    if names is None:
        return np.arange(count)
    seen, found = {}, []
    for name in names:
        said = short(name, LETTERS)
        seen[said] = seen.get(said, 0) + 1
        found.append(said + "\u200b" * (seen[said] - 1))
    return found


def patterns_compared(
    frame: pd.DataFrame, measure: str = "average precision", share: float | None = None, title: str | None = None
) -> go.Figure:
    """Draw what decision trees reach on the features that each method keeps: a box per method, a point per seed.

    Parameters
    ----------
    frame : DataFrame
        ``method``, ``share``, ``seed``, ``measure``, ``value``. :func:`xmlcore.experiment.judge` gives it.
    measure : str
    share : float, optional
        Which share of the features; all lines of the frame when None. "all features" has its own, 1.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta`` adds ``best``: the method of best mean.
    """
    need_columns(frame, ["method", "share", "seed", "measure", "value"], "patterns_compared")
    rows = frame[frame["measure"] == measure]
    if share is not None:
        rows = rows[np.isclose(rows["share"], share) | (rows["method"] == ALL)]
    figure = new_figure(title or f"{measure[:1].upper()}{measure[1:]} by method", shown=len(rows), total=len(rows))
    methods = list(dict.fromkeys(rows["method"]))
    means = rows.groupby("method")["value"].mean()
    fewer = measure in SMALLER_IS_BETTER
    best = None if means.dropna().empty else means.idxmin() if fewer else means.idxmax()
    figure.update_layout(meta={**figure.layout.meta, "best": best})
    for place, method in enumerate(methods[::-1]):
        mine = rows[rows["method"] == method]
        color, mark, _ = _style(method)
        figure.add_box(
            x=mine["value"],
            y=np.full(len(mine), place),
            orientation="h",
            name=short(method, 40),
            width=0.5,
            boxpoints="all",
            jitter=0.4 if len(mine) > 2 else 0,
            pointpos=0,
            line={"color": color, "width": 1.5},
            fillcolor=shade(color),
            marker={"color": color, "symbol": mark if mark != "line-ew" else "circle", "size": 7},
            customdata=mine["seed"],
            hovertemplate=f"<b>{short(method, 40)}</b><br>%{{x:.4f}}, seed %{{customdata}}<extra></extra>",
            hoveron="points",
        )
    if ALL in means.index:
        figure.add_vline(x=float(means[ALL]), line={"color": MARK, "width": 1.5, "dash": "dot"}, layer="below")
    figure.update_layout(height=max((LINE + 12) * len(methods) + 130, 240), showlegend=False, margin={"l": 16})
    figure.update_yaxes(
        tickvals=np.arange(len(methods)),
        ticktext=[short(method, 24) for method in methods[::-1]],
        range=[-0.6, len(methods) - 0.4],
        showgrid=False,
        ticks="",
    )
    figure.update_xaxes(title_text=_axis(measure), nticks=6)
    return figure


def score_against_share(frame: pd.DataFrame, measure: str = "average precision", title: str | None = None) -> go.Figure:
    """Draw what decision trees reach against the share of features that each label keeps: means, least and greatest.

    Parameters
    ----------
    frame : DataFrame
        As :func:`patterns_compared` takes it. "all features" becomes a level line.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    need_columns(frame, ["method", "share", "seed", "measure", "value"], "score_against_share")
    rows = frame[frame["measure"] == measure]
    said = f"{measure[:1].upper()}{measure[1:]}"
    figure = new_figure(title or f"{said} against k/D", shown=len(rows), total=len(rows))
    shares = np.sort(rows.loc[rows["method"] != ALL, "share"].unique())
    for method in dict.fromkeys(rows["method"]):
        mine = rows[rows["method"] == method]
        color, mark, dash = _style(method)
        if method == ALL:
            level = float(mine["value"].mean())
            x, y = shares[[0, -1]] if shares.size else np.array([0.0, 1.0]), [level] * 2
        else:
            found = mine.groupby("share")["value"].agg(["mean", "min", "max"])
            x, y = found.index.to_numpy(), found["mean"]
            if (found["max"] > found["min"]).any():
                add_band(figure, x, found["min"], found["max"], color, method)
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
    figure.update_xaxes(title_text="Share of the features kept, k/D", **_spaced(shares))
    figure.update_yaxes(title_text=_axis(measure))
    return figure


def stability_boxes(
    frame: pd.DataFrame, chance: float | None = None, title: str = "Agreement between seeds"
) -> go.Figure:
    """Draw how alike what labels keep is with other seeds: the spread over labels.

    Parameters
    ----------
    frame : DataFrame, a line per label
        ``name``, ``jaccard`` (mean over pairs of seeds). Optional: ``spearman``, likewise.
    chance : float, optional
        Jaccard similarity of sets drawn at random.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    need_columns(frame, ["name", "jaccard"], "stability_boxes")
    shown = [column for column in AGREEMENT if column in frame.columns and frame[column].notna().any()]
    figure = new_figure(title, shown=len(frame), total=len(frame))
    for place, column in enumerate(shown[::-1]):
        said, color, _ = AGREEMENT[column]
        figure.add_box(
            x=frame[column],
            y=np.full(len(frame), place),
            orientation="h",
            name=said,
            width=0.5,
            boxpoints="outliers" if len(frame) > 300 else "all",
            jitter=0.5,
            pointpos=0,
            line={"color": color, "width": 1.5},
            fillcolor=shade(color),
            marker={"color": color, "size": 4, "opacity": 0.6},
            customdata=[short(name, 60) for name in frame["name"]],
            hovertemplate=f"<b>%{{customdata}}</b><br>{said} %{{x:.3f}}<extra></extra>",
            hoveron="points",
        )
    if chance is not None:
        figure.add_vline(x=chance, line={"color": MARK, "width": 1.5, "dash": "dot"}, layer="below")
        figure.add_annotation(
            text="Jaccard by chance",
            showarrow=False,
            x=chance,
            xanchor="left",
            xshift=-4,
            y=1,
            yref="paper",
            yanchor="bottom",
            font={"size": 12},
        )
    figure.update_layout(height=110 * len(shown) + 150, showlegend=False, margin={"l": 16})
    figure.update_yaxes(
        tickvals=np.arange(len(shown)),
        ticktext=[AGREEMENT[column][0] for column in shown[::-1]],
        range=[-0.6, len(shown) - 0.4],
        showgrid=False,
        ticks="",
    )
    low = min([0.0, *(float(frame[column].min()) for column in shown)])
    figure.update_xaxes(title_text="Agreement between two seeds, 1 is the same", range=[low - 0.02, 1.02])
    return figure


def significance_diagram(p: pd.DataFrame, title: str = "Methods that a test does not tell apart") -> go.Figure:
    """Draw methods on a circle, joined where a test does not tell them apart: the FALS paper's Figure 7.

    Parameters
    ----------
    p : DataFrame
        Methods by methods. :func:`xmlcore.selection.wilcoxon` gives it.

    Returns
    -------
    plotly.graph_objects.Figure
        Thick lines from p = 0.1 on, thin and dashed ones from 0.05 on; no line: the two differ.
    """
    from xmlcore.selection import significance_graph
    from xmlcore.selection.similarity import THICK, THIN

    if p.shape[0] != p.shape[1] or list(p.index) != list(p.columns):
        raise ValueError(
            f"significance_diagram needs a table of methods by methods, the frame has {p.shape[0]} lines and "
            f"{p.shape[1]} columns, or other names for them"
        )
    nodes, edges = significance_graph(p)
    figure = new_figure(title, shown=len(nodes), total=len(nodes))
    place = nodes.set_index("method")
    for line, dash, width, said in (
        ("thick", "solid", 3, f"not told apart (p ≥ {THICK:g})"),
        ("thin", "dash", 1.2, f"hardly (p ≥ {THIN:g})"),
    ):
        own = edges[edges["line"] == line]
        ends = [[place.loc[e.a], place.loc[e.b]] for e in own.itertuples()]
        figure.add_scatter(
            x=[v for a, b in ends for v in (a["x"], b["x"], None)],
            y=[v for a, b in ends for v in (a["y"], b["y"], None)],
            mode="lines",
            line={"color": QUIET, "width": width, "dash": dash},
            name=said,
            hoverinfo="skip",
            showlegend=bool(len(own)),
        )
        figure.add_scatter(  # what to point at
            x=[(a["x"] + b["x"]) / 2 for a, b in ends],
            y=[(a["y"] + b["y"]) / 2 for a, b in ends],
            mode="markers",
            marker={"size": 9, "color": "rgba(0, 0, 0, 0)"},
            customdata=[f"{short(str(e.a), 40)} and {short(str(e.b), 40)}: p = {e.p:.3f}" for e in own.itertuples()],
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
        )
    for node in nodes.itertuples():
        color, _, _ = _style(node.method)
        aside = abs(node.x) > 0.3
        figure.add_scatter(
            x=[node.x],
            y=[node.y],
            mode="markers+text",
            marker={"size": 16, "color": color},
            text=[short(str(node.method), 24)],
            textposition=f"{'middle' if aside else 'top' if node.y > 0 else 'bottom'} "
            f"{('right' if node.x > 0 else 'left') if aside else 'center'}",
            cliponaxis=False,
            hovertemplate=f"<b>{short(str(node.method), 40)}</b><extra></extra>",
            showlegend=False,
        )
    figure.update_xaxes(visible=False, range=[-2.1, 2.1])
    figure.update_yaxes(visible=False, range=[-1.35, 1.35], scaleanchor="x")
    figure.update_layout(legend={"orientation": "h", "y": -0.05, "x": 0.5, "xanchor": "center"})
    return figure


def _axis(measure):
    return f"{measure[:1].upper()}{measure[1:]} ({'smaller' if measure in SMALLER_IS_BETTER else 'larger'} is better)"


def _style(method):
    """Colour, mark and dash; of a variant, such as "FALS (lrp)" or "LASSO, one set", those of its method."""
    head = method.split(" (")[0].split(",")[0]
    color, mark, dash = METHOD_STYLE.get(head, (PURPLE, "star", "solid"))
    return color, mark, dash if head == method else "dashdot"
