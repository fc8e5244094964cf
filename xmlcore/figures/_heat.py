"""Draw heat maps with names beside them."""

import numpy as np

from xmlcore.figures._axes import COLOR_BAR
from xmlcore.figures._style import AREAS, add_note, short

CELL = 17  # height of a row of the map, in pixels
LETTERS = 18  # most letters of a name beside the map


def heat_map(figure, values, labels, names, wording, title, scale, ends):
    rows, columns = values.shape
    # Names are categories of the axis. If there is no space for all of them, Plotly writes every second or third name.
    figure.add_heatmap(
        x=_categories(names),
        y=_categories(labels),
        z=values,
        customdata=np.array(wording, dtype=object).reshape(rows, columns),
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
            "colorscale": AREAS,
            "cmin": ends[0],
            "cmax": ends[1],
            "colorbar": COLOR_BAR | {"y": 1, "yanchor": "bottom", "ypad": 8, "nticks": 4} | scale,
        },
    )
    # The title is an annotation, because the dashboard's theme would put a title of the colour bar on top of the bar.
    add_note(figure, title[:1].upper() + title[1:], 0, xref="paper", xanchor="left", yshift=42)
    axis = {"type": "category", "tickfont": {"size": 11}, "showgrid": False, "ticks": "", "showline": False}
    figure.update_xaxes(tickangle=90, **axis)
    figure.update_yaxes(autorange="reversed", **axis)
    return figure


def _categories(names):
    """Return the names as shortened texts, with zero-width spaces at the end of equal texts, so that all differ."""
    times_used, categories = {}, []
    for name in names:
        wording = short(name, LETTERS)
        times_used[wording] = times_used.get(wording, 0) + 1
        categories.append(wording + "\u200b" * (times_used[wording] - 1))
    return categories
