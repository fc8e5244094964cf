"""Colours, the template, and a new figure with a frame that has the columns it needs."""

from xmlcore.extras import OF_PARTS, require
from xmlcore.validation import check_count
from xmlcore.wording import listed

require("figures", OF_PARTS["figures"])

import plotly.graph_objects as go  # noqa: E402
from plotly.subplots import make_subplots  # noqa: E402, F401

Figure = go.Figure

# The colours of Okabe and Ito, which differ for people with every common colour vision, without the yellow and the
# black that are invisible on a white or a dark page. https://jfly.uni-koeln.de/color/
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C8C8C")
BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE, GREY = PALETTE
# Two more colours for figures that need more than seven. They differ from all of these with every common colour vision.
BROWN, VIOLET = "#8B5A2B", "#8A5CF0"

# A measure or a bucket has the same colour in every figure, and the same mark, for print. Colours of measures are
# shades of one hue that no model has; each has a contrast of at least 2.5 on a white and on a dark page.
MEASURE_SHADES = ("#4A5C6E", "#6A8095", "#8AA1B8", "#5A6E82", "#7A91A7")
BAR_SHADES = ("#566B80", "#8FA6BC", "#C9D7E3")  # of bars beside each other, which have an edge
MEASURE_COLORS = dict(zip(("P@k", "nDCG@k", "PSP@k", "R@k", "PSnDCG@k"), MEASURE_SHADES))
MEASURE_MARKS = {"P@k": "circle", "nDCG@k": "square", "PSP@k": "diamond", "R@k": "triangle-up", "PSnDCG@k": "x"}
RUN_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
PART_COLORS = {"training": BLUE, "test": VERMILION}
BUCKET_COLORS = {"head": BLUE, "torso": VERMILION, "tail": GREY}
BUCKET_MARKS = {"head": "circle", "torso": "square", "tail": "diamond"}
# Rankings of features; contributions for and against a label.
RANKING_COLORS = {"contributions": BLUE, "supporting": GREEN, "magnitude": ORANGE, "random": GREY}
RANKING_MARKS = {"contributions": "circle", "supporting": "diamond", "magnitude": "square", "random": "x"}
FOR, AGAINST = BLUE, VERMILION

INK = "#1B2329"
QUIET = "#5B6770"  # visible as a thin line on a white and on a dark page
GRID = "#E3E8EC"
EDGE = "#7A858E"  # lines between nodes: a contrast of 3.7 on a white page and 4.7 on a dark one
MARK = "rgba(128, 140, 150, 0.8)"  # reference lines in a plot, visible on a white and on a dark page

# A click selects a node. Plotly would make all other marks pale.
NOT_PALE = {"selected": {"marker": {"opacity": 1}}, "unselected": {"marker": {"opacity": 1}}}

HEIGHT = 380
TOP, TITLE_LINE = 72, 22  # margin above a figure with a title of one line, and height of each further line, in pixels
BUTTONS = 33  # space for the buttons at the top of a figure, in pixels
# Fonts of the system: an exported image is drawn without the fonts of the page, and with another font texts would be
# wider than the space that was measured for them.
FONT = "Arial, Helvetica, sans-serif"


_AXIS = {
    "showgrid": True,
    "separatethousands": True,
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
    # Otherwise Plotly measures every tick label once more, one by one, to hide those that would leave the figure,
    # which takes half of the time that it draws for. None does: margins grow with the labels.
    "ticklabeloverflow": "allow",
}
TEMPLATE = {
    "layout": {
        "font": {"family": FONT, "size": 14, "color": INK},
        "title": {"font": {"size": 16}, "x": 0, "xanchor": "left", "xref": "container", "pad": {"l": 8}},
        "colorway": list(PALETTE),
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "margin": {"l": 64, "r": 16, "t": TOP, "b": 56},
        "height": HEIGHT,
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        "bargap": 0.15,
        "bargroupgap": 0.05,
        "hovermode": "closest",
        "hoverlabel": {"align": "left"},
        # At the bottom, where a long legend can wrap on a narrow page without covering the title.
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 0, "yanchor": "bottom",
                   "title": {"text": ""}},
    }
}  # fmt: skip


def template() -> go.layout.Template:
    """Return the template of every figure, for a white page."""
    return go.layout.Template(TEMPLATE)


def shade(color: str, opacity: float = 0.18) -> str:
    """Return the colour ``#rrggbb`` with an opacity, for areas that do not hide what is below them."""
    return f"rgba({int(color[1:3], 16)}, {int(color[3:5], 16)}, {int(color[5:7], 16)}, {opacity})"


# From small to large, in one hue that gets darker: of marks that have an edge, which tells them from the page; and of
# areas without one, which begin near the page, light or dark, and where nothing is measured there is the page itself.
SCALE = ((0.0, "#B9D4EC"), (1.0, "#1B5A94"))
AREAS = ((0.0, shade(BLUE, 0.12)), (1.0, shade(BLUE, 1.0)))


def need_columns(frame, columns, function: str, **counts) -> None:
    """Raise an error unless it is a DataFrame with these columns, and the function's ``counts`` are such, or None."""
    for name, count in counts.items():
        for each in count if hasattr(count, "__len__") else [count]:
            check_count(0 if each is None else each, name, 0)
    if not hasattr(frame, "columns"):
        raise ValueError(f"{function} takes a DataFrame with {listed(columns)}, not a {type(frame).__name__}")
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(f"{function} needs the column(s) {listed(missing)}, the frame has {listed(frame.columns)}")
