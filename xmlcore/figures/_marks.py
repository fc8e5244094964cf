"""Small pictures of the marks that runs have in figures, for tables beside them."""

from urllib.parse import quote

import pandas as pd

from xmlcore.figures._frontier import too_many_to_name
from xmlcore.figures._style import need_columns, run_colors, run_style

SHAPES = {  # symbol of Plotly -> its outline, in a square of 20 units
    "circle": "M10 4a6 6 0 1 0 .01 0z",
    "square": "M4.5 4.5h11v11h-11z",
    "diamond": "M10 2.5l7.5 7.5l-7.5 7.5l-7.5-7.5z",
    "triangle-up": "M10 3.5l7 12.5h-14z",
    "cross": "M7.5 3h5v4.5h4.5v5h-4.5v4.5h-5v-4.5h-4.5v-5h4.5z",
    "x": "M6.5 3l3.5 3.5l3.5-3.5l3.5 3.5l-3.5 3.5l3.5 3.5l-3.5 3.5l-3.5-3.5l-3.5 3.5l-3.5-3.5l3.5-3.5l-3.5-3.5z",
    "star": "M10 2l2 5.6h6l-4.8 3.6l1.8 5.8l-5-3.5l-5 3.5l1.8-5.8l-4.8-3.6h6z",
}
BEGIN = '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="-6 -6 32 32">'


def run_marks(frame: pd.DataFrame, compared: pd.DataFrame | None = None) -> dict[str, str]:
    """Return the mark that each run has in :func:`frontier` of the same frames, as the ``data:`` address of an SVG."""
    need_columns(frame, ["run", "model"], "run_marks")
    styles = run_colors(frame, compared)
    if too_many_to_name(frame):
        models = dict(zip(frame["run"], map(run_style, frame["model"])))
        others = models.keys() - set([] if compared is None else compared["run"])
        styles |= {run: {"color": models[run]["color"], "symbol": models[run]["mark"]} for run in others}
    return {run: _picture(**style) for run, style in styles.items()}


def _picture(color: str, symbol: str) -> str:
    mark, is_open, dot = symbol.partition("-open")
    fill, inside = "none" if is_open else color, f'<circle cx="10" cy="10" r="1.8" fill="{color}"/>' if dot else ""
    path = f'<path d="{SHAPES.get(mark, SHAPES["star"])}" fill="{fill}" stroke="{color}" stroke-width="2"/>'
    return f"data:image/svg+xml,{quote(f'{BEGIN}{path}{inside}</svg>')}"
