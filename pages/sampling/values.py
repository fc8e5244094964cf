"""Numbers of candidates, of adversaries and of examples: reading what the user typed, and first values."""

import math

import streamlit as st

from pages.shared import fields, format
from xmlcore.experiment.engine import estimates

# First values: numbers of candidates of a row, of adversarial labels of an example, of examples per label.
CANDIDATES = (1, 2, 5, 10, 20, 50, 100)
ADVERSARIAL = (1, 2, 5, 10, 20, 50)
EXAMPLES = (0.5, 1.0, 2.0, 5.0, 10.0)
FEWER = 2  # how many of the largest values are left out when all would take too long, as they take most of the time
MOST_VALUES = 12  # values of one setting measured at once
REPEATS = 3  # trainings per value at first


def estimate(view, kappas=(), examples=(), candidates=(), n_repeats=1):
    return estimates.sampling(view.run, view.data, view.task(kappas, examples, candidates, n_repeats).params)


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


def with_own(values, own) -> tuple:
    return tuple(sorted({*values, own}))


def first_candidates(seconds, own: int, most: int, within: float) -> tuple:
    """Return first numbers of candidates: the largest are left out until measuring takes at most ``within`` seconds."""
    values = [value for value in CANDIDATES if value <= most]
    while values and seconds(with_own(values, own)) > within:
        values.pop()
    return with_own(values, own)


def first_sweep(seconds, own: tuple, most_adversarial: int, within: float) -> tuple[tuple, tuple, int]:
    """Return first values of κ, of examples per label and of repeats that take no longer than ``within`` seconds."""
    adversarial = tuple(value for value in ADVERSARIAL if value <= most_adversarial)
    for left_out, n_repeats in ((0, REPEATS), (0, 1), (1, 1), (FEWER, 1)):
        kept = adversarial[: len(adversarial) - left_out], EXAMPLES[: len(EXAMPLES) - left_out]
        numbers = tuple(with_own(values, value) for values, value in zip(kept, own))
        if seconds(*numbers, n_repeats) <= within:
            return *numbers, n_repeats
    return with_own(adversarial, own[0]), with_own(EXAMPLES, own[1]), 1
