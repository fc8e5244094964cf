"""Figure of feature values without and with noise."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from xmlcore.figures._axes import add_pairs, name_axis
from xmlcore.figures._style import MARK, add_note, need_columns, new_figure, short

LINE = 22  # height of a feature's row, in pixels
GAP = 30  # additional height between two panels, in pixels
AROUND = 150  # height of the space above and below all panels, in pixels


def noisy_features(
    frame: pd.DataFrame, change: str = "noise", *, title: str = "Feature values without and with noise"
) -> go.Figure:
    """Draw the feature values of some rows without and with noise, in a panel for each row.

    Parameters
    ----------
    frame : DataFrame, a row per row of the data and feature, in the order in which they are drawn
        Columns ``row``, ``row_name`` (title of the panel), ``name`` (of the feature), ``clean``, ``noisy`` (values).
    change : str
        What the legend calls the noise, such as "attack".
    {titled_figure}
    """
    need_columns(frame, ["row", "row_name", "name", "clean", "noisy"], "noisy_features")
    parts = [part for _, part in frame.groupby("row", sort=False)]
    figure = new_figure(title, shown=len(frame), total=len(frame))
    if not parts:
        return figure
    heights = [len(part) + 1.0 for part in parts]
    total = LINE * sum(heights) + GAP * (len(parts) - 1) + AROUND
    grid = make_subplots(
        rows=len(parts),
        cols=1,
        shared_xaxes=False,
        row_heights=heights,
        vertical_spacing=min(58 / (total - AROUND), 1 / max(len(parts) - 1, 1)) if len(parts) > 1 else 0,
        figure=figure,
    )
    for place, part in enumerate(parts, 1):
        _panel(grid, part, place, (f"without {change}", f"with {change}"))
    grid.update_xaxes(title_text="Value of the feature", row=len(parts), col=1)
    grid.update_layout(height=total, showlegend=True, margin={"t": 84})
    return grid


def _panel(grid, part, place, names):
    """Draw the feature values of one row of the data into the panel with the number ``place``, from 1."""
    y = np.arange(len(part))[::-1]
    where = {"row": place, "col": 1}
    add_pairs(grid, part, y, ("clean", "noisy"), names, "%{x:.4~g}", showlegend=place == 1, **where)
    grid.update_yaxes(**name_axis([short(name) for name in part["name"]]), **where)
    grid.update_xaxes(zeroline=True, zerolinecolor=MARK, **where)
    panel = {"yref": f"y{'' if place == 1 else place} domain", "font": {"size": 13}}
    add_note(grid, f"<b>{short(part['row_name'].iloc[0], 44)}</b>", 0, xref="paper", xanchor="left", **panel)
