"""The colour bar below a tree, with its title beside it."""

import plotly.graph_objects as go

LENGTH = 150  # in pixels


def show_color_bar(figure: go.Figure, title: str, scale: dict, bar: dict, *, shown: bool) -> None:
    """Set the colour scale of a figure and, if ``shown``, a bar below the figure with its title beside it.

    Parameters
    ----------
    figure : Figure
    title : str
    scale : dict
        Settings of plotly's ``coloraxis``, such as its limits.
    bar : dict
        Settings of plotly's ``colorbar``, such as its ticks.
    shown : bool
    """
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
