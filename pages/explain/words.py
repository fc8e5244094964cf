"""Explanations of :mod:`xmlcore.explain` in words: names of features, units, and how bars add up to a score."""

import math

import numpy as np
import pandas as pd

from pages.shared import format
from xmlcore import explain

# Title of an axis of contributions: what they add up to, by the kind of score.
UNITS = {"log_proba": "log P", "margin": "the margin", "share": "the label’s share", "score": "the score"}


def named(frame: pd.DataFrame, data) -> pd.DataFrame:
    """Return the frame with a ``name`` for each feature behind its id, unless it has names of its own."""
    if "name" in frame.columns:
        return frame
    found = frame.copy()
    found.insert(1, "name", [data.feature_name(int(j)) for j in frame["feature"]])
    return found


def by_magnitude(x, data) -> pd.DataFrame:
    """Return all features of a row, largest absolute value first: ``feature, name, value``."""
    pairs = explain.magnitude(x, max(x.nnz, 1))
    frame = pd.DataFrame(pairs, columns=["feature", "value"]).astype({"feature": np.int64, "value": np.float64})
    return named(frame, data)


def share(value: float) -> str:
    """Return a share in whole percent; ``–`` when it is not known."""
    return f"{100 * value:.0f} %" if math.isfinite(value) else "–"


def adds_up(attrs: dict) -> str:
    """Return a sentence on how bars add up to the score; ``attrs`` are those of contributions."""
    kind, baseline, total = attrs["kind"], attrs["baseline"], attrs["total"]
    if kind == "score":
        return f"The bars add up to the score of this class, {format.signed(total)}; only the order of scores counts."
    before, after = (
        _probability(kind, score) for score in (max(baseline, 0.0) if kind == "share" else baseline, total)
    )
    if kind == "share":
        return (
            f"The bars add up from {before}, the label’s share without features, to {after} in the leaves that the row "
            "reaches."
        )
    name = "log P" if kind == "log_proba" else "the margin"
    return (
        f"The bars add up from {name} = {format.signed(baseline)} of a row without features (P = {before}) to "
        f"{format.signed(total)} (P = {after})."
    )


def totals(before: dict, after: dict) -> str:
    """Return a sentence on what noise does to the score as a whole."""
    kind = before["kind"]
    if kind == "score":
        return f"The score goes from {format.signed(before['total'])} to {format.signed(after['total'])}."
    one, other = (_probability(kind, attrs["total"]) for attrs in (before, after))
    return f"The label’s {'share' if kind == 'share' else 'probability'} goes from {one} to {other}."


def range_of_totals(attrs: dict, found) -> str:
    """Return a clause on the values between which a score lies over noisy copies, and what it is without noise."""
    kind, low, high = attrs["kind"], float(found.min()), float(found.max())
    what = {"share": "the label’s share", "score": "the score"}.get(kind, "the label’s probability")
    low, high, without = (
        format.signed(score) if kind == "score" else _probability(kind, score) for score in (low, high, attrs["total"])
    )
    return f"{what} lies between {low} and {high}; without noise it is {without}"


def _probability(kind, score) -> str:
    """Return the probability that belongs to a score of this kind, in percent."""
    return format.probability(explain.probability(kind, score))


def round_size(value: float) -> float:
    """Return a size rounded to one significant digit, the first value of a field; 0.05 if the size is not positive."""
    return float(f"{value:.1g}") if value > 0 and math.isfinite(value) else 0.05
