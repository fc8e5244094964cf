"""The colour bar below a tree, with its title beside it."""

import math

import plotly.graph_objects as go

LENGTH = 150  # in pixels
TICKS = 4  # numbers below a bar in percent: for more, there is no room


def percent_ticks(low: float, high: float) -> dict:
    """Return the ticks of a bar of shares from ``low`` to ``high``, written as figures write percentages: ``20 %``."""
    if not high > low:
        return {"tickvals": [low], "ticktext": [f"{100 * low:.3g} %"]}
    power = 10.0 ** math.floor(math.log10((high - low) / TICKS))
    step = next(power * factor for factor in (1, 2, 5, 10) if (high - low) / (power * factor) < TICKS)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values, digits = [step * n for n in range(first, last + 1)], max(0, -math.floor(math.log10(100 * step) + 1e-9))
    return {"tickvals": values, "ticktext": [f"{100 * value:.{digits}f} %" for value in values]}


def show_color_bar(figure: go.Figure, title: str, scale: dict, bar: dict, *, shown: bool) -> None:
    """Set the colour scale of a figure and, if ``shown``, a bar below the figure with its title beside it."""
    place = {"orientation": "h", "thickness": 10, "len": LENGTH, "lenmode": "pixels", "x": 0, "xpad": 0}
    place |= {"xanchor": "left", "y": 0, "yanchor": "top", "ypad": 16, "tickangle": 0, "tickfont": {"size": 11}}
    figure.update_layout(coloraxis={**scale, "showscale": shown, "colorbar": place | bar})
    if shown:
        # The title is an annotation, because the dashboard's theme would put a title of the bar on top of the bar.
        figure.add_annotation(
            text=title,
            showarrow=False,
            x=0,
            xref="paper",
            xanchor="left",
            xshift=LENGTH + 8,
            y=0,
            yref="paper",
            yanchor="middle",
            yshift=-21,
            font={"size": 12},
        )
