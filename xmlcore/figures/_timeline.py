"""Figure of what ran when: a bar for each job, from its start to its end."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore import wording
from xmlcore.figures._axes import LEAST_TICKS
from xmlcore.figures._style import (
    BLUE,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    cut_apart,
    need_columns,
    new_figure,
    whole,
)

LETTERS = 28  # of a line of a name beside its bar, of which there are three as a rule
ROOM = 0.35  # of the axis, beyond the last bar
MINUTE, DAY = 60, 86_400  # seconds
STEPS = (1, 2, 3, 5, 10, 15, 30, *(MINUTE * n for n in (1, 2, 3, 5, 10, 15, 30, 60, 120, 180, 360, 720)),
         *(DAY * n for n in (1, 2, 4, 7)))  # fmt: skip
NARROW = 0.005  # share of the time
COLORS = {"done": BLUE, "running": SKY, "failed": VERMILION, "stopped": ORANGE, "interrupted": PURPLE}


def timeline(frame: pd.DataFrame, title: str = "What ran when", *, most: int = 30) -> go.Figure:
    """Draw jobs as bars over time, the newest on top, in a colour for each state.

    The columns are ``name``, ``state`` (text), ``start`` and ``end`` (times); the newest first. Jobs that have the same
    ``group``, an optional column, share a line; ``part``, also optional, names the single job; ``took``, in seconds, is
    what stands beside the line, by default the time from its first start to its last end. The first ``most`` lines are
    drawn.
    """
    need_columns(frame, ["name", "state", "start", "end"], "timeline", most=most)
    frame = frame.reset_index(drop=True)
    line = pd.factorize(frame["group"] if "group" in frame else frame.index)[0]
    drawn = frame.assign(line=line)[line < most]
    firsts = drawn.drop_duplicates("line")
    start, end = (pd.to_datetime(drawn[column]) for column in ("start", "end"))
    took = (end - start).dt.total_seconds()
    lines = drawn["line"]
    lane, lanes = _lanes(lines, start, end)
    wide, place = 0.8 / lanes, lines + 0.8 * ((lane + 0.5) / lanes - 0.5)
    span = (end.groupby(lines).transform("max") - start.groupby(lines).transform("min")).dt.total_seconds()
    is_last = drawn.index.isin(end.groupby(lines).idxmax())
    beside = np.where(is_last, [f" {wording.duration(seconds)}" for seconds in drawn.get("took", span)], "")
    figure = new_figure(title, shown=len(firsts), total=len(set(line)))
    part = "part" if "part" in drawn else "name"
    states = dict.fromkeys(drawn["state"])
    narrow = took < NARROW * (end.max() - start.min()).total_seconds()  # such bars have an edge that can be seen
    for state in states:
        own, color = drawn["state"] == state, COLORS.get(state.lower(), GREY)
        edge = {"color": color, "width": np.where(narrow[own], 3, 1)}
        figure.add_bar(
            base=start[own], x=took[own] * 1000, y=place[own], orientation="h",
            width=0.8 if (lanes == 1).all() else wide[own], name=state,
            marker={"color": color, "line": edge},
            text=beside[own], textposition="outside", textangle=0, constraintext="none",
            cliponaxis=False, textfont_size=11,
            customdata=[[whole(name), wording.duration(s)] for name, s in zip(drawn[part][own], took[own])],
            hovertemplate="<b>%{customdata[0]}</b><br>from %{base|%H:%M:%S}, for %{customdata[1]}<extra></extra>",
        )  # fmt: skip
    names = cut_apart(firsts["name"].unique(), 3 * LETTERS)
    texts = [whole(names[name], LETTERS) for name in firsts["name"]]
    of_line = 24 + 12 * max((text.count("<br>") for text in texts), default=0)  # all lines have the same
    height = 130 + 30 * (len(states) > 1) + len(texts) * of_line
    height += 12 * int((lanes.groupby(lines).max() - 1).sum())
    ticks = {"tickvals": firsts["line"], "ticktext": texts, "showgrid": False}
    figure.update_layout(
        barmode="overlay", showlegend=len(states) > 1, height=height,
        xaxis_type="date", yaxis={"autorange": "reversed", **ticks},
    )  # fmt: skip
    if len(drawn):  # with room for what is written beside the last bar
        first, last = start.min(), end.max()
        wide = last - first
        ends, midnight = (first - 0.02 * wide, last + ROOM * wide), first.normalize()
        low, high = ((end - midnight).total_seconds() for end in ends)
        step = next((step for step in STEPS[::-1] if high // step - -(-low // step) + 1 >= LEAST_TICKS), STEPS[0])
        # What stands below a time is said once, where it changes.
        time = "%S\u00a0s\n%H:%M, %-d %b" if step < MINUTE else "%H:%M\n%-d %b" if step < DAY else "%-d %b"
        ticks = {"tick0": midnight, "dtick": 1000 * step, "tickformat": time, "tickangle": 0}
        figure.update_xaxes(range=ends, **ticks)
    return figure


def _lanes(line, start, end) -> tuple[pd.Series, pd.Series]:
    """Return the place of each bar among those of its line, so that none overlap, and the number of places there."""
    lane, free = pd.Series(0, index=line.index), {}
    for at in start.sort_values(kind="stable").index:
        ends = free.setdefault(line[at], [])
        place = next((place for place, over in enumerate(ends) if over <= start[at]), len(ends))
        ends[place : place + 1] = [end[at]]
        lane[at] = place
    return lane, line.map({of: len(ends) for of, ends in free.items()})
