"""Figures of decisions: precision against recall, and what is gained by leaving rows to people."""

import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import small_looks_small
from xmlcore.figures._style import BLUE, GREY, VERMILION, add_band, add_line, need_columns, new_figure

POINT = {"size": 12, "color": VERMILION, "symbol": "diamond"}
RING = {"size": 20, "color": GREY, "symbol": "circle-open", "line": {"width": 2}}  # seen around the point
OF_CUT = ("micro P", "micro R", "labels")


def precision_recall(
    frame: pd.DataFrame, points: dict[str, pd.Series | None] | None = None, *, least: dict[str, float] | None = None,
    title: str = "From precise to complete",
) -> go.Figure:  # fmt: skip
    """Draw the precision and the recall of each cut, in percent, and points that stand for decisions.

    Parameters
    ----------
    frame : DataFrame, a row per cut
        What :func:`xmlcore.decisions.cuts` returns.
    points : dict of str to Series or None, optional
        Lines of such a frame by the names of decisions; None is not drawn.
    least : dict of str to float, optional
        Bounds that were asked for, drawn as lines: the least ``micro P`` (precision) or ``micro R`` (recall).
    {titled_figure}
    """
    need_columns(frame, ["cut", *OF_CUT], "precision_recall")
    figure = new_figure(title, shown=len(frame), total=len(frame))
    figure.update_xaxes(title_text="Recall, % of the true labels", range=[-2, 102])
    figure.update_yaxes(title_text="Precision, % right", range=[-2, 102])
    figure.update_layout(showlegend=True)
    hover = "%{y:.1f} % right, %{x:.1f} % of the true labels<br>%{customdata[1]:.2~f} labels a row<br>"
    about = frame[["cut", "labels"]].to_numpy()
    places = 100 * frame["micro R"], 100 * frame["micro P"]
    cut = "probability from %{customdata[0]:.3~g} on"
    add_line(figure, *places, "cuts", BLUE, hover + cut, size=3, customdata=about)
    for of, at in (least or {}).items():
        add = figure.add_hline if of == "micro P" else figure.add_vline
        add(100 * at, line={"color": GREY, "dash": "dot", "width": 1.5}, annotation_text=f"at least {100 * at:.4g} %")
    for (name, line), mark in zip((points or {}).items(), (POINT, RING)):
        if line is None:
            continue
        figure.add_scatter(
            x=[100 * line["micro R"]],
            y=[100 * line["micro P"]],
            name=name,
            mode="markers",
            marker=mark,
            customdata=[[None, line["labels"]]],
            hovertemplate=f"<b>{name}</b><br>{hover}<extra></extra>",
        )
    return figure


def abstention_curve(frame: pd.DataFrame, *, title: str = "With the unsure rows left to people") -> go.Figure:
    """Draw the precision of the rows that are kept, in percent, against the share of rows that people label.

    Parameters
    ----------
    frame : DataFrame, a row per share
        What :func:`xmlcore.decisions.abstention` returns.
    {titled_figure}
    """
    need_columns(frame, ["by hand", "low", "high"], "abstention_curve")
    name = next(column for column in frame.columns if column.startswith("P@"))
    figure = new_figure(title, shown=len(frame), total=len(frame))
    figure.update_xaxes(title_text="Rows left to people, %")
    figure.update_yaxes(title_text=f"{name} of the others, %")
    x = 100 * frame["by hand"]
    add_band(figure, x, 100 * frame["low"], 100 * frame["high"], BLUE, name)
    hover = "%{y:.1f} % right where %{x:.0f} % are labelled by hand<br>%{customdata:,} rows"
    add_line(figure, x, 100 * frame[name], name, BLUE, hover, size=4, customdata=frame["rows"], legendgroup=name)
    small_looks_small(figure)
    return figure
