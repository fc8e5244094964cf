"""Figures of the features of pairs of a row and a class, and what they add to a class's score."""

import textwrap

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import AROUND, LINE, bars, name_axis
from xmlcore.figures._style import AGAINST, FOR, GREY, MARK, need_columns, new_figure, shade, short

MEAN = "f − mean"  # name of the last column: f of the candidate minus the mean f of all candidates
# Steps of the colour scale: (smallest |value| of the step as a share of the largest |value|, opacity of its cells).
STEPS = ((0.0, 0.0), (0.1, 0.12), (0.25, 0.26), (0.5, 1.0))


def feature_weights(frame: pd.DataFrame, *, title: str = "Weights of the features") -> go.Figure:
    """Draw what a typical difference of each feature between two classes adds to the difference of their scores f.

    Parameters
    ----------
    frame : DataFrame, a row per feature, drawn in this order from the top
        Columns ``name``, ``value`` (weight times scale), ``weight``, ``scale`` (size of a typical difference).
        Optional: ``meaning``.
    {titled_figure}
    """
    need_columns(frame, ["name", "value", "weight", "scale"], "feature_weights")
    figure = new_figure(title, shown=len(frame), total=len(frame))
    values = frame["value"].to_numpy(np.float64)
    meanings = frame["meaning"] if "meaning" in frame.columns else [""] * len(frame)
    hover = [
        f"<b>{short(name, 60)}</b><br>weight {weight:.4g} × scale {scale:.4g}"
        + "".join(f"<br>{short(line, 60)}" for line in textwrap.wrap(str(meaning), 42))
        for name, weight, scale, meaning in zip(frame["name"], frame["weight"], frame["scale"], meanings)
    ]
    for wording, mine, color in (
        ("larger raises the score", values > 0, FOR),
        ("larger lowers the score", values < 0, AGAINST),
        ("no influence", values == 0, GREY),
    ):
        if mine.any():
            bars(figure, values, mine, hover, color, wording, "%{x:+.4~f}")
    figure.update_yaxes(**name_axis([short(name) for name in frame["name"]]))
    figure.update_xaxes(title_text="Weight × scale", zeroline=True, zerolinecolor=MARK, zerolinewidth=1.5)
    figure.update_layout(showlegend=True, height=LINE * len(frame) + AROUND, bargap=0.25)
    return figure


def candidate_features(frame: pd.DataFrame, *, title: str = "What each feature adds to f") -> go.Figure:
    """Draw what each feature adds to each candidate's score f, relative to the mean of the candidates.

    Parameters
    ----------
    frame : DataFrame, a row per candidate and feature, candidates in the order in which they are drawn
        Columns ``label``, ``name``, ``right`` (whether it is a true class), ``candidate`` (False for a true class that
        was not among the candidates), ``f``, ``feature``, ``value``, and ``contribution``: the weight times the
        difference of the value to the mean of the candidates.
    {titled_figure}
        The last column has the sum of a row, which is the difference of f to the mean of the candidates.
    """
    columns = ["label", "name", "right", "candidate", "f", "feature", "value", "contribution"]
    need_columns(frame, columns, "candidate_features")
    features = list(dict.fromkeys(frame["feature"]))
    classes = frame.drop_duplicates("label")
    n = len(classes)
    figure = new_figure(title, shown=n, total=n)
    if n == 0:
        return figure
    shape = (n, len(features))
    contributions = frame["contribution"].to_numpy(np.float64).reshape(shape)
    values = frame["value"].to_numpy(np.float64).reshape(shape)
    total = contributions.sum(axis=1, keepdims=True)
    names = [short(name, 60) for name in classes["name"]]
    hover = [
        [
            f"<b>{name}</b><br>{feature}: {value:.4g}<br>adds {_signed(part)}"
            for feature, value, part in zip(features, line, parts)
        ]
        + [f"<b>{name}</b><br>f = {_signed(f)}<br>{_signed(whole)} against the mean"]
        for name, line, parts, f, whole in zip(names, values, contributions, classes["f"], total[:, 0])
    ]
    z = np.concatenate([contributions, total], axis=1)
    largest = float(np.nanmax(np.abs(contributions))) or 1.0  # sums larger than this have the full colour
    figure.add_heatmap(
        x=np.arange(z.shape[1]),
        y=np.arange(n),
        z=z,
        zmin=-largest,
        zmax=largest,
        colorscale=_steps(),
        customdata=hover,
        hovertemplate="%{customdata}<extra></extra>",
        xgap=2,
        ygap=2,
        showscale=False,
    )
    _write_numbers(figure, z, largest)
    marks = [
        ("✓ " if r.right else "") + short(r.name, 15) + ("" if r.candidate else " *") for r in classes.itertuples()
    ]
    figure.add_vline(x=len(features) - 0.5, line={"color": MARK, "width": 2})
    figure.update_xaxes(
        tickvals=np.arange(z.shape[1]),
        ticktext=[*(short(feature) for feature in features), MEAN],
        tickangle=-45,
        showgrid=False,
        showline=False,
        ticks="",
    )
    figure.update_yaxes(
        tickvals=np.arange(n), ticktext=marks, autorange="reversed", showgrid=False, showline=False, ticks=""
    )
    figure.update_layout(height=LINE * 1.4 * n + AROUND + 60, showlegend=False)
    return figure


def _write_numbers(figure, z, reach):
    """Write the number of each cell, as a trace of its own: a heat map chooses colours that transparent cells hide."""
    digits = 0 if reach >= 9.5 else 1 if reach >= 0.5 else 2
    x, y = np.tile(np.arange(z.shape[1]), z.shape[0]), np.repeat(np.arange(z.shape[0]), z.shape[1])
    strong = np.abs(z.ravel()) >= STEPS[-1][0] * reach
    for mine, font in ((~strong, {}), (strong, {"color": "white"})):
        figure.add_scatter(
            x=x[mine],
            y=y[mine],
            mode="text",
            text=[_rounded(value, digits) for value in z.ravel()[mine]],
            textfont={"size": 10, **font},
            hoverinfo="skip",
            showlegend=False,
        )


def _steps():
    """Return a colour scale in steps: pale colours for text in the page's colour, full colours for white text."""
    ends = [share for share, _ in STEPS] + [1.0]
    scale = [[(1 + sign * at) / 2, shade(color, opacity)]
             for sign, color in ((-1, AGAINST), (1, FOR))
             for (_, opacity), pair in zip(STEPS, zip(ends, ends[1:]))
             for at in pair]  # fmt: skip
    half = len(scale) // 2
    return scale[:half][::-1] + scale[half:]


def _signed(value):
    """Return a number as text with its sign and two decimals, or none if it is 99.5 or larger."""
    return f"{value:+.2f}".replace("-", "−") if abs(value) < 99.5 else f"{value:+.0f}".replace("-", "−")


def _rounded(value, digits):
    """Return a number as text with this many decimals; a number that is rounded to zero is written as "0"."""
    if not np.isfinite(value):
        return "–"
    wording = f"{value:.{digits}f}"
    return "0" if float(wording) == 0 else wording.replace("-", "−")
