"""Draw horizontal bars with names beside them."""

import numpy as np

from xmlcore.figures._style import shade

LINE = 24  # height of a bar, in pixels
AROUND = 150  # height of the space above and below the bars, in pixels


def bars(figure, values, mine, hovers, color, name, hover, opacity=1.0, solid=None):
    """Add the bars of one colour to a figure of horizontal bars, of which the first is on top."""
    place = (len(values) - 1 - np.arange(len(values)))[mine]
    shape = ["/" if solid is not None and i >= solid else "" for i in np.flatnonzero(mine)]
    pattern = {"shape": shape, "size": 6} if any(shape) else None
    figure.add_bar(
        x=values[mine],
        y=place,
        orientation="h",
        width=0.75,  # otherwise the bars of a trace with gaps would be wider
        name=name,
        marker={"color": color if opacity == 1 else shade(color, opacity), "line": {"width": 0}, "pattern": pattern},
        customdata=[hovers[i] for i in np.flatnonzero(mine)],
        hovertemplate=f"%{{customdata}}<br>{hover}<extra></extra>",
    )


def bar_axes(figure, texts, count):
    """Set the height of a figure of ``count`` horizontal bars, and write a text beside each bar."""
    figure.update_layout(height=max(LINE * count + AROUND, 220), barmode="overlay")
    figure.update_yaxes(
        tickvals=np.arange(count)[::-1], ticktext=texts, range=[-0.7, count - 0.3], showgrid=False, ticks=""
    )
