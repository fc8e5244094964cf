"""Explanations of :mod:`xmlcore.explain` as the Explain page writes them: names, units, sums in words."""

import html
import math

import numpy as np
import pandas as pd
import streamlit as st

from xmlcore import explain

UNITS = {"log_proba": "log P", "margin": "the margin", "share": "the label’s share", "score": "the score"}
ABOUT_PATH = "The margin is what the node’s classifier says of the row."
_RATES = {"PLT": 0.01, "OneVsRest": 0.01, "LdSM": 0.04, "DoubleSampling": 0.04}  # seconds per row explained


def unit(kind: str) -> str:
    """What contributions add up to, as an axis says it."""
    return UNITS[kind]


def named(frame: pd.DataFrame, data) -> pd.DataFrame:
    """The frame with a ``name`` for each feature behind its id, unless it has names of its own."""
    if "name" in frame.columns:
        return frame
    found = frame.copy()
    found.insert(1, "name", [data.feature_name(int(j)) for j in frame["feature"]])
    return found


def in_title(name: str, letters: int = 22) -> str:
    """A label's name as part of a figure's title: short enough for a phone, and no mark-up of its own."""
    return html.escape(name if len(name) <= letters else name[: letters - 1] + "…", quote=False)


def by_magnitude(x, data) -> pd.DataFrame:
    """All features of a row, largest absolute value first: ``feature, name, value``."""
    pairs = explain.magnitude(x, max(x.nnz, 1))
    frame = pd.DataFrame(pairs, columns=["feature", "value"]).astype({"feature": np.int64, "value": np.float64})
    return named(frame, data)


def signed(value: float) -> str:
    """``+1.23`` or ``−0.45``, with three digits that mean something."""
    if not math.isfinite(value):
        return "−∞" if value < 0 else "∞" if value > 0 else "–"
    size = abs(value)
    digits = 2 if size >= 0.095 or size == 0 else min(1 - math.floor(math.log10(size)), 6)
    return f"{value:+.{digits}f}".replace("-", "−")


def number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−") if math.isfinite(value) else "–"


def share(value: float) -> str:
    return f"{100 * value:.0f} %" if math.isfinite(value) else "–"


def percent(value: float) -> str:
    """A probability with three digits that mean something."""
    return f"{100 * value:.3g} %" if value >= 1e-6 else "nearly 0 %"


def adds_up(attrs: dict) -> str:
    """How bars add up to the score, in a sentence or two."""
    kind, baseline, total = attrs["kind"], attrs["baseline"], attrs["total"]
    if kind == "score":
        return f"The bars add up to the score of this class, {signed(total)}; only the order of scores counts."
    if kind == "share":
        return (
            f"The bars add up from {percent(max(baseline, 0.0))}, the label’s share without features, to "
            f"{percent(total)} in the leaves that the row reaches."
        )
    said = "log P" if kind == "log_proba" else "the margin"
    before, after = (percent(explain.probability(kind, score)) for score in (baseline, total))
    return (
        f"The bars add up from {said} = {signed(baseline)} of a row without features (P = {before}) to "
        f"{signed(total)} (P = {after})."
    )


def totals(before: dict, after: dict) -> str:
    """What noise does to the score as a whole."""
    kind = before["kind"]
    if kind == "score":
        return f"The score goes from {signed(before['total'])} to {signed(after['total'])}."
    one, other = (percent(explain.probability(kind, attrs["total"])) for attrs in (before, after))
    return f"The label’s {'share' if kind == 'share' else 'probability'} goes from {one} to {other}."


def total_said(attrs: dict, totals_found) -> str:
    """Between which values a score lies over noisy copies, and what it is without noise."""
    kind, low, high = attrs["kind"], float(totals_found.min()), float(totals_found.max())
    write = signed if kind == "score" else lambda score: percent(explain.probability(kind, score))
    what = {"share": "the label’s share", "score": "the score"}.get(kind, "the label’s probability")
    return f"{what} lies between {write(low)} and {write(high)}; without noise it is {write(attrs['total'])}"


def path_table(way: pd.DataFrame):
    """Columns of a path as a table shows them, and their settings."""
    number_, several = st.column_config.NumberColumn, way["tree"].nunique() > 1
    shown = pd.DataFrame({"tree": way["tree"] + 1} if several else {})
    config = {"tree": number_("Tree", format="%d", width=50)}
    over_rows = "share" in way.columns
    if over_rows:
        shown["leaf"] = way["leaf"]
        config["leaf"] = number_("To leaf", format="%d", width=65)
    for column, label, format_, width, help_ in (
        ("depth", "Depth", "%d", 55, None),
        ("node", "Node", "%d", 65, None),
        ("n_labels", "Labels", "localized", 65, "Labels at or below the node."),
        ("n_rows", "Rows", "localized", 65, "Training rows of the node."),
        ("margin", "Margin", "%.3f", 75, "Of the classifier that leads here."),
        ("factor", "Factor, %", "%.2f", 80, "Probability of the node given its parent."),
        ("product", "Product, %", "%.3g", 85, "The factors so far: the last is the label’s probability."),
        ("share", "Share, %", "%.2f", 75, "Of the node’s training rows, those with the label."),
        ("change", "Change", "%+.2f", 75, "Of the share, in points, from the node above."),
    ):
        if column == "product" and "log_proba" in way.columns:
            shown[column] = 100 * np.exp(way["log_proba"])
        elif column in way.columns:
            shown[column] = 100 * way[column] if column in ("factor", "share", "change") else way[column]
        else:
            continue
        config[column] = number_(label, format=format_, width=width, help=help_)
    return shown, config


def round_size(value: float) -> float:
    """A size with one digit that means something, to begin with in a field."""
    return float(f"{value:.1g}") if value > 0 and math.isfinite(value) else 0.05


def seconds(run, n_rows: int) -> float:
    """Estimate how long explaining so many rows takes: contributions, deletions and noisy copies of each."""
    deletions = 24 * run.times["predict_ms_per_row"] / 1000
    return 1.0 + n_rows * (_RATES.get(run.model, 0.04) + deletions)
