"""Squares in lines and columns: which labels keep which features, occur together, or are confused."""

import numpy as np
import pandas as pd

from xmlcore.figures import _grammar as draw
from xmlcore.figures import _style as ink
from xmlcore.figures._axes import percent_ticks, steps
from xmlcore.figures._grammar import Drawing
from xmlcore.figures._names import apart, short, signed
from xmlcore.figures._style import Figure, need_columns, shade
from xmlcore.wording import probability, significant

SIZE = 20  # width of a square of confusions, in pixels
FAINT, STRONG = 0.12, 0.6  # opacity of a square without swaps, and of the one with most: its number is read on both
MEAN = "f − mean"  # name of the last column: f of the candidate minus the mean f of all candidates
# From against to for: opaque, so that Plotly chooses numbers on them that are legible, on a white and on a dark page.
AGAINST_TO_FOR = ((0.0, "#A34700"), (0.4, "#F4D3BE"), (0.5, "#EEF1F4"), (0.6, "#B9D4EC"), (1.0, "#1B5A94"))


def selection_heat(frame: pd.DataFrame, *, n_labels: int, n_features: int) -> Figure:
    """Draw the ranks of features in the selections of labels; a cell is blank where a label does not keep a feature.

    {Parameters: frame}
        A row per label and feature, in the order in which they are drawn: columns ``label``, ``feature`` (ids),
        ``label_name``, ``name``, ``value`` in [0, 1] (nan: not kept), ``rank`` (0: not kept).
        :func:`xmlcore.selection.frames.heat_frame` gives all but the names.
    n_labels, n_features : int
        Number of all labels and features, for the count of those that are drawn.
    {figure}
        ``layout.meta``: ``shown`` and ``total`` count cells.
    """
    columns = ["label", "feature", "label_name", "name", "value", "rank"]
    need_columns(frame, columns, "selection_heat", n_labels=n_labels, n_features=n_features)
    shape = frame["label"].nunique(), frame["feature"].nunique()
    figure = Drawing("Labels and their features", shape[0] * shape[1], n_labels * n_features)
    rank = frame["rank"].to_numpy(dtype=np.float64).reshape(shape)
    values = -np.log10(np.where(rank > 0, rank, np.nan))  # scores would give all but a few cells the same colour
    hovers = [
        f"<b>{short(a, 60)}</b><br>{short(b, 60)}<br>"
        + ("not kept" if rank == 0 else f"rank {rank}, {probability(value)} of the label’s largest score")
        for a, b, value, rank in zip(frame["label_name"], frame["name"], frame["value"], frame["rank"])
    ]
    names, labels = list(frame["name"].iloc[: shape[1]]), list(frame["label_name"].iloc[:: shape[1]])
    most = int(rank.max(initial=1))
    ticks = [10**power for power in range(len(str(most)))]
    ticks += [most] if len(ticks) == 1 < most else []
    scale = {"tickvals": -np.log10(ticks), "ticktext": [f"{tick:,}" for tick in ticks]}
    last = np.log10(most) or 1.0  # if all ranks are 1, only the end of the scale is used
    return figure.heat_map(values, labels, names, hovers, "rank of the feature", scale, (-last, 0.0))


def overlap_heat(frame: pd.DataFrame, *, n_labels: int) -> Figure:
    """Draw how many features each two labels have in common; rows and columns have the same order.

    {Parameters: frame}
        A row per ordered pair of labels, in the order in which they are drawn: columns ``a``, ``b`` (ids), ``a_name``,
        ``b_name``, ``share`` (of the features of one label that the other keeps, too).
    n_labels : int
        Number of all labels, for the count of those that are drawn.
    {figure}
    """
    need_columns(frame, ["a", "b", "a_name", "b_name", "share"], "overlap_heat", n_labels=n_labels)
    n = frame["a"].nunique()
    figure = Drawing("Features in common", n, n_labels)
    values = frame["share"].to_numpy(dtype=np.float64).reshape(n, n).copy()
    np.fill_diagonal(values, np.nan)  # a label shares all features with itself
    hovers = [
        f"<b>{short(a, 60)}</b><br>{short(b, 60)}<br>{probability(value)} of their features are the same"
        for a, b, value in zip(frame["a_name"], frame["b_name"], frame["share"])
    ]
    names = list(frame["b_name"].iloc[:n])
    known = values[np.isfinite(values)]
    # The scale ends at a quantile, so that a few nearly equal pairs do not give all others the same colour.
    low, high = map(float, np.quantile(known, [0.0, 0.99]) if known.size else (0.0, 1.0))
    ends = (low, high) if low < high else (0.0, max(high, 1e-9))
    return figure.heat_map(values, names, names, hovers, "share of the features kept", percent_ticks(*ends), ends)


def cooccurrence_heat(frame: pd.DataFrame) -> Figure:
    """Draw which share of the rows with one label have another label too."""
    columns = ["first", "second", "first_name", "second_name", "n_first", "n_both"]
    need_columns(frame, columns, "cooccurrence_heat")
    names = frame.drop_duplicates("first").set_index("first")["first_name"]
    order = {label: at for at, label in enumerate(names.index)}
    n = len(order)
    values, hovers = np.full((n, n), np.nan), np.full((n, n), "", object)
    for row in frame[frame["first"] != frame["second"]].itertuples():
        at, first, second = (order[row.first], order[row.second]), short(row.first_name, 40), short(row.second_name, 40)
        values[at] = row.n_both / row.n_first if row.n_first else np.nan
        share = probability(row.n_both / max(row.n_first, 1))
        counted = f"{row.n_both:,} of {row.n_first:,} rows with {first}: {share}"
        hovers[at] = f"<b>{first}</b> and <b>{second}</b><br>{counted}"
    figure = Drawing("Labels on the same rows", n)
    largest = float(np.nanmax(values, initial=0.01)) if n > 1 else 1.0
    texts, ticks = names.tolist(), steps(0.0, largest)
    scale, title = {"tickvals": ticks, "ticktext": [*map(probability, ticks)]}, "Share of the left label's rows"
    return figure.heat_map(values, texts, texts, hovers.ravel().tolist(), title, scale, (0.0, largest))


def confusions(frame: pd.DataFrame, *, total: int | None = None, most: int = 12) -> Figure:
    """Draw a square for each confused pair: its line is the label missed, its column the one predicted instead.

    On it stands the number of swaps, and the more there are, the stronger is its colour.

    {Parameters: frame}
        ``pairs`` of :func:`xmlcore.metrics.confusions`, with ``missed_name`` and ``wrong_name``; the first are drawn.
    total : int, optional
        Number of all pairs; the frame may have only the first ones.
    most : int
        Number of lines, and of columns, that are drawn at most.
    {figure}
        The first of a square's ``customdata`` is its line in the frame.
    """
    needed = ["missed", "wrong", "missed_name", "wrong_name", "swaps", "rows", "n_missed"]
    need_columns(frame, needed, "confusions", total=total, most=most)
    lines, columns, drawn = {}, {}, []  # label -> a line of the frame with its name
    for at, (missed, wrong) in enumerate(zip(frame["missed"], frame["wrong"])):
        if (missed in lines or len(lines) < most) and (wrong in columns or len(columns) < most):
            lines.setdefault(missed, at), columns.setdefault(wrong, at)
            drawn.append(at)
    figure = Drawing("Predicted instead, swaps", drawn, frame if total is None else total)
    pairs, largest = frame.iloc[drawn], frame.iloc[drawn]["swaps"].max()
    colors = [shade(ink.VERMILION, opacity) for opacity in FAINT + (STRONG - FAINT) * pairs["swaps"] / largest]
    hovers = [
        f"<b>{short(pair.missed_name, 60)}</b> missed,<br><b>{short(pair.wrong_name, 60)}</b> predicted<br>"
        f"in {pair.rows:,} of {pair.n_missed:,} rows that miss the first; swaps: {significant(pair.swaps)}"
        for pair in pairs.itertuples()
    ]
    x, y = (pairs[name].map({label: at for at, label in enumerate(of)}) for name, of in
            (("wrong", columns), ("missed", lines)))  # fmt: skip
    marker = {"symbol": "square", "color": colors, "size": SIZE, "opacity": 1, "line": {"width": 0}}
    text = pairs["swaps"].map(("{:.1f}" if largest < 9.95 else "{:,.0f}").format).tolist()
    look = {"mode": "markers+text", "text": text, "textfont": {"size": 11}, "showlegend": False}
    figure.points(x, y, None, marker, "%{customdata[1]}", customdata=[*map(list, zip(drawn, hovers))], **look)
    x, y = _label_axis(frame["wrong_name"], columns), _label_axis(frame["missed_name"], lines)
    x |= {"title_text": "Predicted instead", "tickangle": -60}
    y |= {"title_text": "Missed", "range": [len(lines) - 0.4, -0.6]}
    return figure.checked(x, y, height=draw.LINE * len(lines) + 260)


def _label_axis(names, places) -> dict:
    named = [str(names.iloc[at]) for at in places.values()]
    cut, look = apart(named, draw.LETTERS), {"tickfont": {"size": 11}, "ticks": "", "fixedrange": True}
    ticks = {"tickvals": [*range(len(named))], "ticktext": [cut[name] for name in named]}
    return {**ticks, "range": [-0.6, len(named) - 0.4], **look}


def candidate_features(frame: pd.DataFrame) -> Figure:
    """Draw what each feature adds to each candidate's score f, relative to the mean of the candidates.

    {Parameters: frame}
        A row per candidate and feature, candidates in the order in which they are drawn: columns ``label``, ``name``,
        ``right`` (whether it is a true class), ``candidate`` (False for a true class that was not among the
        candidates), ``f``, ``feature``, ``value``, and ``contribution``: the weight times the difference of the value
        to the mean of the candidates.
    {figure}
        The last column has the sum of a row, which is the difference of f to the mean of the candidates.
    """
    columns = ["label", "name", "right", "candidate", "f", "feature", "value", "contribution"]
    need_columns(frame, columns, "candidate_features")
    features, classes = list(dict.fromkeys(frame["feature"])), frame.drop_duplicates("label")
    figure = Drawing("What each feature adds to f", classes)
    if classes.empty:
        return figure.checked()
    parts, values = (frame[name].to_numpy(np.float64).reshape(len(classes), -1) for name in ("contribution", "value"))
    z = np.column_stack([parts, parts.sum(axis=1)])
    hovers = []
    for own, of_features, sums in zip(classes.itertuples(), values, z):
        name = f"<b>{short(own.name, 60)}</b><br>"
        hovers += [f"{name}{feature}: {value:.4g}<br>adds {signed(part, 2)}"
                   for feature, value, part in zip(features, of_features, sums)]  # fmt: skip
        hovers.append(f"{name}f = {signed(own.f, 2)}<br>{signed(sums[-1], 2)} against the mean")
    marks = [("✓ " if r.right else "") + r.name + ("" if r.candidate else " *") for r in classes.itertuples()]
    largest = float(np.nanmax(np.abs(parts))) or 1.0  # sums larger than this have the full colour
    digits = 0 if largest >= 9.5 else 1 if largest >= 0.5 else 2
    texts = [["–" if np.isnan(value) else f"{value:z.{digits}f}".replace("-", "−") for value in line] for line in z]
    figure.rule(len(features) - 0.5, width=2, dash=None)
    look = {"scale": AGAINST_TO_FOR, "text": texts, "texttemplate": "%{text}"}
    ticks = steps(-largest, largest)
    bar = {"tickvals": ticks, "ticktext": [f"{tick:g}".replace("-", "−") for tick in ticks]}
    title = "added to f, against the mean"
    return figure.heat_map(z, marks, [*features, MEAN], hovers, title, bar, (-largest, largest), **look)
