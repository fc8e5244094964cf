"""A figure of the wrong labels that are predicted where true ones are missed."""

import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import LINE
from xmlcore.figures._style import VERMILION, apart, need_columns, new_figure, shade, short

LETTERS = 18  # of a name beside the squares
SIZE = 20  # width of a square, in pixels
FAINT, STRONG = 0.12, 0.6  # opacity of a square without swaps, and of the one with most: its number is read on both


def confusions(
    frame: pd.DataFrame, *, total: int | None = None, most: int = 12, title: str = "Predicted instead, swaps"
) -> go.Figure:
    """Draw a square for each confused pair: its line is the label missed, its column the one predicted instead.

    On it stands the number of swaps, and the more there are, the stronger is its colour.

    Parameters
    ----------
    frame : DataFrame
        ``pairs`` of :func:`xmlcore.metrics.confusions`, with ``missed_name`` and ``wrong_name``; the first are drawn.
    total : int, optional
        Number of all pairs, of which the frame may have the first.
    most : int
        Number of lines, and of columns, that are drawn at most.
    title : str

    Returns
    -------
    plotly.graph_objects.Figure
        The first of a square's ``customdata`` is its line in the frame.
    """
    columns = ["missed", "wrong", "missed_name", "wrong_name", "swaps", "rows", "n_missed"]
    need_columns(frame, columns, "confusions", total=total, most=most)
    lines, columns, drawn = {}, {}, []
    for at, (missed, wrong) in enumerate(zip(frame["missed"], frame["wrong"])):
        if (missed in lines or len(lines) < most) and (wrong in columns or len(columns) < most):
            lines.setdefault(missed, at), columns.setdefault(wrong, at)
            drawn.append(at)
    figure = new_figure(title, shown=len(drawn), total=len(frame) if total is None else total)
    pairs, places = frame.iloc[drawn], {side: {label: at for at, label in enumerate(of)} for side, of in
                                        (("missed", lines), ("wrong", columns))}  # fmt: skip
    strength = FAINT + (STRONG - FAINT) * pairs["swaps"] / pairs["swaps"].max()
    figure.add_scatter(
        x=pairs["wrong"].map(places["wrong"]),
        y=pairs["missed"].map(places["missed"]),
        mode="markers+text",
        text=pairs["swaps"].map(("{:.1f}" if pairs["swaps"].max() < 9.95 else "{:,.0f}").format).tolist(),
        textfont={"size": 11},
        marker={
            "symbol": "square",
            "color": [shade(VERMILION, opacity) for opacity in strength],
            "size": SIZE,
            "opacity": 1,
            "line": {"width": 0},
        },
        customdata=[
            [at, f"<b>{short(pair.missed_name, 60)}</b> missed,<br><b>{short(pair.wrong_name, 60)}</b> predicted<br>"
             f"in {pair.rows:,} of {pair.n_missed:,} rows that miss the first; swaps: {pair.swaps:.3g}"]
            for at, pair in zip(drawn, pairs.itertuples())
        ],
        hovertemplate="%{customdata[1]}<extra></extra>",
        showlegend=False,
    )  # fmt: skip
    for update, of, side in ((figure.update_yaxes, lines, "missed"), (figure.update_xaxes, columns, "wrong")):
        names = [str(frame[f"{side}_name"].iloc[at]) for at in of.values()]
        cut = apart(names, LETTERS)
        update(
            tickvals=list(range(len(of))), ticktext=[cut[name] for name in names], range=[-0.6, len(of) - 0.4],
            tickfont={"size": 11}, ticks="", fixedrange=True,
        )  # fmt: skip
    figure.update_yaxes(title_text="Missed", range=[len(lines) - 0.4, -0.6])
    figure.update_xaxes(title_text="Predicted instead", tickangle=-60)
    figure.update_layout(height=LINE * len(lines) + 260)
    return figure
