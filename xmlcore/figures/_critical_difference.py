"""The diagram of mean ranks with the critical difference."""

import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._style import EDGE, QUIET, apart, need_columns, new_figure, run_style, whole
from xmlcore.validation import check_number

STEP = 26  # height of a line with a name, in pixels


def rank_groups(ranks, critical_difference: float) -> list[tuple[float, float]]:
    """Return the ends of all groups of neighbours whose ranks differ by less than the critical difference."""
    ranks, groups = sorted(ranks), []
    for i, low in enumerate(ranks):
        high = max(rank for rank in ranks[i:] if rank - low <= critical_difference)
        if high > low and not (groups and groups[-1][1] >= high):
            groups.append((low, high))
    return groups


def critical_difference(frame: pd.DataFrame, difference: float, title: str = "Mean rank over data sets") -> go.Figure:
    """Draw the mean ranks of methods, and bars over those that a test does not tell apart: Demšar's diagram.

    Parameters
    ----------
    frame : DataFrame, a row per method
        Columns ``method``, ``rank`` (mean over data sets, 1 is the best), as ``friedman(...).ranks`` of
        :mod:`xmlcore.metrics`.
    difference : float
        The critical difference of two mean ranks.
    {titled_figure}
        A line per method, best first. ``layout.meta`` adds ``groups``: the first and the last rank of each bar.
    """
    difference = check_number(difference, "difference")
    need_columns(frame, ["method", "rank"], "critical_difference")
    frame = frame.sort_values("rank", kind="stable")
    n = len(frame)
    groups = rank_groups(frame["rank"].tolist(), difference)
    figure = new_figure(title, shown=n, total=n, groups=groups)
    # Above the names: a scale of the critical difference, then the bars, from the best ranks to the worst.
    top = n + len(groups)
    figure.add_scatter(
        x=[1, 1 + difference],
        y=[top + 0.6] * 2,
        mode="lines+markers+text",
        line={"color": QUIET, "width": 2},
        marker={"symbol": "line-ns-open", "size": 10, "color": QUIET},
        text=[f"critical difference {difference:.2f}", ""],
        textposition="top right",
        cliponaxis=False,
        hoverinfo="skip",
    )
    for place, (low, high) in enumerate(groups):
        figure.add_scatter(
            x=[low - 0.02, high + 0.02],
            y=[top - 0.6 - place] * 2,
            mode="lines",
            line={"color": EDGE, "width": 6},
            hovertemplate=f"not told apart: mean ranks {low:.2f} to {high:.2f}<extra></extra>",
        )
    for place, (method, rank) in enumerate(zip(frame["method"], frame["rank"])):
        y = n - 1 - place
        color = run_style(str(method).split(" ")[0].rstrip(","))["color"]
        figure.add_scatter(
            x=[rank, rank],
            y=[y, top - 0.3],
            mode="lines",
            line={"color": color, "width": 1.2, "dash": "dot"},
            hoverinfo="skip",
        )
        figure.add_scatter(
            x=[rank],
            y=[y],
            mode="markers",
            marker={"color": color, "size": 11},
            hovertemplate=f"<b>{whole(method)}</b>: mean rank %{{x:.2f}}<extra></extra>",
        )
    names = apart(frame["method"], 24)
    figure.update_layout(height=STEP * (top + 2.5) + 130, showlegend=False, margin={"l": 16})
    figure.update_xaxes(title_text="Mean rank, 1 is the best", range=[0.8, max(n, 1 + difference) + 0.2], dtick=1)
    figure.update_yaxes(
        tickvals=[n - 1 - place for place in range(n)],
        ticktext=[f"{names[str(m)]}  {r:.2f}" for m, r in zip(frame["method"], frame["rank"])],
        range=[-0.6, top + 1.8],
        showgrid=False,
        ticks="",
    )
    return figure
