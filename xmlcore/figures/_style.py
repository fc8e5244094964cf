"""What all figures share: colours that keep their meaning, and one template."""

import plotly.graph_objects as go

# Okabe and Ito's colours, told apart with every common colour vision, without the yellow and the black that vanish on
# a white or a dark page. https://jfly.uni-koeln.de/color/
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C8C8C")
BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, GREY = PALETTE

# The same thing has the same colour (and the same mark, for print) in every figure.
MEASURE_COLORS = {
    "P@k": BLUE,
    "nDCG@k": VERMILION,
    "PSP@k": GREEN,
    "R@k": PURPLE,
    "PSnDCG@k": GREY,
}
MEASURE_MARKS = {"P@k": "circle", "nDCG@k": "square", "PSP@k": "diamond", "R@k": "triangle-up", "PSnDCG@k": "x"}
MODEL_COLORS = {
    "PLT": BLUE,
    "ExtendedPLT": SKY,
    "LdSM": VERMILION,
    "DoubleSampling": GREEN,
    "FALS": ORANGE,
    "OneVsRest": GREY,
}
PART_COLORS = {"training": BLUE, "test": VERMILION}
BUCKET_COLORS = {"head": BLUE, "torso": VERMILION, "tail": GREY}

INK = "#1B2329"
QUIET = "#5B6770"  # readable on white and on the dark page alike when used for thin lines
GRID = "#E3E8EC"
MARK = "rgba(128, 140, 150, 0.8)"  # reference lines inside a plot, for either background

HEIGHT = 380
# Fonts of the system: a browser draws the exported image of a figure without a page's own fonts, and with another one
# the texts have other widths than the room that was measured for them.
FONT = "Arial, Helvetica, sans-serif"


def template() -> go.layout.Template:
    """Return the look of every figure on a white page.

    The dashboard lays its light or dark theme over it (sizes and the colours of text, axes and background); colours
    that mean something are set on the traces, and the font on the figure, and stay.

    Returns
    -------
    plotly.graph_objects.layout.Template
    """
    axis = {
        "showgrid": True,
        "gridcolor": GRID,
        "gridwidth": 1,
        "zeroline": False,
        "showline": True,
        "linecolor": QUIET,
        "ticks": "outside",
        "tickcolor": QUIET,
        "ticklen": 4,
        "title": {"standoff": 8},
        "automargin": True,
    }
    return go.layout.Template(
        layout={
            "font": {"family": FONT, "size": 14, "color": INK},
            "title": {"font": {"size": 16}, "x": 0, "xanchor": "left", "xref": "container", "pad": {"l": 8}},
            "colorway": list(PALETTE),
            "paper_bgcolor": "white",
            "plot_bgcolor": "white",
            "margin": {"l": 64, "r": 16, "t": 72, "b": 56},
            "height": HEIGHT,
            "xaxis": axis,
            "yaxis": axis,
            "bargap": 0.15,
            "bargroupgap": 0.05,
            "hovermode": "closest",
            "hoverlabel": {"align": "left"},
            # Under everything else: it may wrap there, on a narrow page, without meeting the title.
            "legend": {
                "orientation": "h",
                "x": 0,
                "xanchor": "left",
                "yref": "container",
                "y": 0,
                "yanchor": "bottom",
                "title": {"text": ""},
            },
        }
    )


def new_figure(title: str, *, shown: int, total: int) -> go.Figure:
    """Return an empty figure in our template that knows how much of the data it draws."""
    figure = go.Figure(layout={"template": template(), "title": {"text": title}})
    family = {"font": {"family": FONT}}  # on the figure itself: a dashboard's theme replaces what a template says
    figure.update_layout(**family, title=family, hoverlabel=family)
    figure.update_layout(meta={"shown": int(shown), "total": int(total)})
    return figure


def need_columns(frame, columns, function: str) -> None:
    """Raise a ValueError that names the columns ``frame`` lacks."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(
            f"{function} needs the column(s) {', '.join(missing)}, the frame has {', '.join(map(str, frame.columns))}"
        )
