"""What all figures share: colours that keep their meaning, and one template."""

import html

import plotly.graph_objects as go

# Okabe and Ito's colours, told apart with every common colour vision, without the yellow and the black that vanish on
# a white or a dark page. https://jfly.uni-koeln.de/color/
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C8C8C")
BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, GREY = PALETTE
# For a figure with more than seven: apart from all of these with every common colour vision, readable on either page.
BROWN, VIOLET = "#8B5A2B", "#8A5CF0"

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
MODEL_MARKS = {
    "PLT": "circle",
    "ExtendedPLT": "diamond",
    "LdSM": "square",
    "DoubleSampling": "triangle-up",
    "FALS": "x",
    "OneVsRest": "cross",
}
RUN_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
PART_COLORS = {"training": BLUE, "test": VERMILION}
BUCKET_COLORS = {"head": BLUE, "torso": VERMILION, "tail": GREY}
BUCKET_MARKS = {"head": "circle", "torso": "square", "tail": "diamond"}
# How features are ranked, and which way they push.
RANKING_COLORS = {"contributions": BLUE, "supporting": GREEN, "magnitude": ORANGE, "random": GREY}
RANKING_MARKS = {"contributions": "circle", "supporting": "diamond", "magnitude": "square", "random": "x"}
FOR, AGAINST = BLUE, VERMILION

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


def run_style(model: str, before: int = 0) -> dict:
    """Colour and mark of a model, and the dash that tells a run of it from ``before`` others in the same figure."""
    return {
        "color": MODEL_COLORS.get(model, PURPLE),
        "mark": MODEL_MARKS.get(model, "star"),
        "dash": RUN_DASHES[before % len(RUN_DASHES)],
    }


def shade(color: str, opacity: float = 0.18) -> str:
    """Return ``#rrggbb`` as a colour to fill bands with: what lies under it stays in sight."""
    return f"rgba({int(color[1:3], 16)}, {int(color[3:5], 16)}, {int(color[5:7], 16)}, {opacity})"


def add_band(figure: go.Figure, x, low, high, color: str, group: str, **trace) -> None:
    """Fill between two lines; it comes and goes with the lines of its ``group``, a click in the legend away."""
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False, "legendgroup": group}
    figure.add_scatter(x=x, y=high, **edge, **trace)
    figure.add_scatter(x=x, y=low, fill="tonexty", fillcolor=shade(color), **edge, **trace)


def short(name: str, letters: int = 20) -> str:
    """A name as it is written beside a mark: no mark-up of its own, and not longer than there is room for."""
    name = str(name)
    return html.escape(name if len(name) <= letters else name[: letters - 1] + "…", quote=False)


def need_columns(frame, columns, function: str) -> None:
    """Raise a ValueError that names the columns ``frame`` lacks."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(
            f"{function} needs the column(s) {', '.join(missing)}, the frame has {', '.join(map(str, frame.columns))}"
        )
