"""Figures of labels that occur together: a heat map, and a network on a circle."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from xmlcore.figures._axes import steps
from xmlcore.figures._heat import heat_map
from xmlcore.figures._style import BLUE, VERMILION, need_columns, new_figure, shade, short
from xmlcore.wording import probability

LETTERS = 14  # most letters of a name beside the circle: there is room for them on a phone
HEIGHT = 560  # of the network, in pixels
WIDEST = 9  # width of the line of the strongest pair, in pixels
WIDTHS = 8  # different widths of lines: a browser draws a few traces much faster than one for each line
BEND = 0.4  # the larger, the straighter are lines between labels that are far from each other


def cooccurrence_heat(frame: pd.DataFrame) -> go.Figure:
    """Draw which share of the rows with one label have another label too."""
    columns = ["first", "second", "first_name", "second_name", "n_first", "n_both"]
    need_columns(frame, columns, "cooccurrence_heat")
    names = frame.drop_duplicates("first").set_index("first")["first_name"]
    order = {label: at for at, label in enumerate(names.index)}
    n = len(order)
    values = np.full((n, n), np.nan)
    wording = np.full((n, n), "", object)
    for row in frame.itertuples():
        if row.first == row.second:
            continue
        i, j = order[row.first], order[row.second]
        values[i, j] = row.n_both / row.n_first if row.n_first else np.nan
        wording[i, j] = (
            f"<b>{short(row.first_name, 40)}</b> and <b>{short(row.second_name, 40)}</b><br>{row.n_both:,} of "
            f"{row.n_first:,} rows with {short(row.first_name, 40)}: {probability(row.n_both / max(row.n_first, 1))}"
        )
    figure = new_figure("Labels on the same rows", shown=n, total=n)
    largest = float(np.nanmax(values, initial=0.01)) if n > 1 else 1.0
    texts, ticks = names.tolist(), steps(0.0, largest)
    heat_map(
        figure,
        values,
        texts,
        texts,
        wording.ravel().tolist(),
        "Share of the left label's rows",
        {"tickvals": ticks, "ticktext": [*map(probability, ticks)]},
        (0.0, largest),
    )
    return figure


def label_network(frame: pd.DataFrame, most: int = 60) -> go.Figure:
    """Draw labels on a circle, with a line between labels that occur together more often than by chance."""
    columns = ["first", "second", "first_name", "second_name", "n_first", "n_both", "phi"]
    need_columns(frame, columns, "label_network", most=most)
    labels = frame.drop_duplicates("first")
    n = len(labels)
    angle = np.pi / 2 - 2 * np.pi * (np.arange(n) + 0.5) / max(n, 1)  # no label on top, so that names do not collide
    x, y = np.cos(angle), np.sin(angle)
    place = {label: at for at, label in enumerate(labels["first"])}
    first, second = frame["first"].map(place), frame["second"].map(place)
    pairs = frame[(first < second) & (frame["phi"] > 0)]
    drawn = pairs.sort_values("phi", ascending=False, kind="stable").head(most)
    figure = new_figure("Labels that go together", shown=len(drawn), total=len(pairs))
    largest = float(drawn["phi"].max()) if len(drawn) else 1.0
    lines = [_lines(drawn, level, largest, place, x, y) for level in range(1, WIDTHS + 1)]  # the strongest on top
    figure.add_traces([trace for trace in lines if len(trace["x"])])
    rows = labels["n_first"].to_numpy(float)
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"color": VERMILION, "size": 6 + 12 * np.sqrt(rows / max(rows.max(initial=1), 1)), "opacity": 1},
        customdata=[[short(row.first_name, 60), row.n_first] for row in labels.itertuples()],
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]:,} rows<extra></extra>",
        showlegend=False,
    )
    for name, right, up in zip(labels["first_name"], x, y):
        place = {"x": 1.08 * right, "y": 1.06 * up, "xanchor": "left" if right > 0 else "right"}
        figure.add_annotation(text=short(name, LETTERS), font_size=12, showarrow=False, **place)
    axis = {"visible": False, "fixedrange": True}
    figure.update_xaxes(range=[-2.15, 2.15], **axis)
    figure.update_yaxes(range=[-1.12, 1.12], **axis)
    figure.update_layout(height=HEIGHT, margin={"t": 56, "b": 8, "l": 4, "r": 4}, hovermode="closest")
    return figure


def _lines(pairs, level, largest, place, x, y) -> dict:
    """Return one trace with the lines of a width, from 1 to :data:`WIDTHS`, between the places of labels."""
    strengths = np.ceil(WIDTHS * pairs["phi"].to_numpy(float) / largest).clip(1, WIDTHS)
    xs, ys, hovers = [], [], []
    t = np.append(np.linspace(0, 1, 25), np.nan)  # the last one is the gap between two lines
    for row in pairs[strengths == level].itertuples():
        i, j = place[row.first], place[row.second]
        bend = 1 - (1 - BEND) * np.hypot(x[i] - x[j], y[i] - y[j])  # lines between neighbours are nearly straight
        for ends, curves in ((x, xs), (y, ys)):
            middle = bend * (ends[i] + ends[j]) / 2
            curves.append((1 - t) ** 2 * ends[i] + 2 * t * (1 - t) * middle + t**2 * ends[j])
        hover = (
            f"<b>{short(row.first_name, 40)}</b> and <b>{short(row.second_name, 40)}</b><br>"
            f"phi {row.phi:.2f}; {row.n_both:,} rows with both"
        )
        hovers += [hover] * t.size
    strength = level / WIDTHS
    return {
        "type": "scatter",
        "x": np.concatenate(xs) if xs else [],
        "y": np.concatenate(ys) if ys else [],
        "mode": "lines",
        "line": {"color": shade(BLUE, round(0.35 + 0.55 * strength, 2)), "width": WIDEST * strength},
        "customdata": hovers,
        "hovertemplate": "%{customdata}<extra></extra>",
        "showlegend": False,
    }
