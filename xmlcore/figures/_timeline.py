"""Figure of what ran when: a bar for each job, from its start to its end."""

import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._style import BLUE, GREY, ORANGE, PURPLE, SKY, VERMILION, apart, need_columns, new_figure, whole

LETTERS = 32  # of a name beside its bar
COLORS = {"done": BLUE, "running": SKY, "failed": VERMILION, "stopped": ORANGE, "interrupted": PURPLE}


def timeline(frame: pd.DataFrame, title: str = "What ran when", *, most: int = 30) -> go.Figure:
    """Draw jobs as bars over time, the newest on top, in a colour for each state.

    The columns are ``name``, ``state`` (text), ``start`` and ``end`` (times); the newest first. Jobs that have the same
    ``group``, an optional column, share a line; ``part``, also optional, names the single job. The first ``most`` lines
    are drawn.
    """
    need_columns(frame, ["name", "state", "start", "end"], "timeline")
    frame = frame.reset_index(drop=True)
    line = pd.factorize(frame["group"] if "group" in frame else frame.index)[0]
    drawn = frame.assign(line=line)[line < most]
    firsts = drawn.drop_duplicates("line")
    start, end = (pd.to_datetime(drawn[column]) for column in ("start", "end"))
    figure = new_figure(title, shown=len(firsts), total=len(set(line)))
    states, edge = dict.fromkeys(drawn["state"]), {"color": GREY, "width": 1}
    for state in states:
        own = drawn["state"] == state
        figure.add_bar(
            base=start[own], x=(end - start)[own].dt.total_seconds() * 1000, y=drawn["line"][own], orientation="h",
            width=0.8, name=state, opacity=0.75, marker={"color": COLORS.get(state.lower(), GREY), "line": edge},
            customdata=[whole(name) for name in drawn["part" if "part" in drawn else "name"][own]],
            hovertemplate="<b>%{customdata}</b><br>from %{base}<extra></extra>",
        )  # fmt: skip
    names = apart(firsts["name"].unique(), LETTERS)
    ticks = {"tickvals": firsts["line"], "ticktext": [names[name] for name in firsts["name"]], "showgrid": False}
    figure.update_layout(
        barmode="overlay", showlegend=len(states) > 1, height=130 + 24 * len(firsts),
        xaxis={"type": "date", "nticks": 3, "tickangle": 0}, yaxis={"autorange": "reversed", **ticks},
    )  # fmt: skip
    return figure
