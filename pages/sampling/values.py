"""Numbers of candidates, of adversaries and of examples: reading what the user typed, and first values."""

import math

import streamlit as st

from pages.shared import fields, format

# First values: numbers of candidates of a row, of adversarial labels of an example, of examples per label.
CANDIDATES = (1, 2, 5, 10, 20, 50, 100)
ADVERSARIAL = (1, 2, 5, 10, 20)
EXAMPLES = (0.5, 1.0, 2.0, 5.0)
MOST_VALUES = 12  # values of one setting measured at once


def field(label: str, widget: str, first, help: str, **bounds) -> tuple:
    typed = fields.text(label, widget, written(first), help=help)
    values, problem = parse(typed, label.split(",")[0], **bounds)
    if problem:
        st.error(format.plain(f"{label.split(',')[0]}: {problem}"))
    return fields.read_or_last(widget, tuple(values), tuple(first), written)


def parse(text: str, noun: str, *, whole: bool, least: float, most: float) -> tuple[list, str | None]:
    """Read values such as ``1, 2, 5``, and say what is wrong with them."""

    def fault(value):
        if not math.isfinite(value) or (whole and value != int(value)):
            return f"{noun} cannot be {{}}: it is a {'whole ' if whole else ''}number."
        return "" if least <= value <= most else f"{noun} cannot be {{}}: it is from {least:,g} to {most:,g} here."

    values, problem = fields.numbers_in(text, "values", "1, 2, 5", fault, MOST_VALUES)
    if not values:
        return [], problem or "At least one value is needed, such as 5."
    return [int(value) for value in values] if whole else values, problem


def written(values) -> str:
    return ", ".join(f"{value:.10g}" for value in values)


def with_own(values, own, most=math.inf) -> tuple:
    """Return the values up to the most and that of the result, in order."""
    return tuple(sorted({*(value for value in values if value <= most), own}))
