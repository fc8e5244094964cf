"""Figure of what ran when: a bar for each job, from its start to its end."""

import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._style import BLUE, GREY, PALETTE, apart, need_columns, new_figure, whole

LETTERS = 32  # of a name beside its bar


def timeline(frame: pd.DataFrame, title: str = "What ran when", *, most: int = 30) -> go.Figure:
    """Draw jobs as bars over time, the newest on top, in a colour for each state.

    The columns are ``name``, ``state`` (text), ``start`` and ``end`` (times); the newest first. The first ``most`` are
    drawn.
    """
    need_columns(frame, ["name", "state", "start", "end"], "timeline")
    drawn = frame.head(most)
    start, end = (pd.to_datetime(drawn[column]) for column in ("start", "end"))
    figure = new_figure(title, shown=len(drawn), total=len(frame))
    places, states = pd.Series(range(len(drawn)), index=drawn.index), dict.fromkeys(drawn["state"])
    colors = dict(zip(states, (BLUE, *(color for color in PALETTE[1:] if color != GREY), GREY)))
    for state in states:
        own = drawn["state"] == state
        figure.add_bar(
            base=start[own], x=(end - start)[own].dt.total_seconds() * 1000, y=places[own], orientation="h", name=state,
            marker={"color": colors[state]}, customdata=[whole(name) for name in drawn["name"][own]],
            hovertemplate="<b>%{customdata}</b><br>from %{base}<extra></extra>",
        )  # fmt: skip
    names = apart(drawn["name"].unique(), LETTERS)
    ticks = {"tickvals": places, "ticktext": [names[name] for name in drawn["name"]], "showgrid": False}
    figure.update_layout(
        barmode="overlay", showlegend=len(states) > 1, height=130 + 24 * len(drawn),
        xaxis={"type": "date"}, yaxis={"autorange": "reversed", **ticks},
    )  # fmt: skip
    return figure
