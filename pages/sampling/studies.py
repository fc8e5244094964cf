"""Double sampling with other numbers of adversaries, κ, of examples per label, π, and of candidates, q."""

import math
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.sampling.answer import MODEL, if_kept, most_accurate
from pages.shared import fields, format, settings, tasks
from pages.shared.figures import charts
from xmlcore import figures
from xmlcore.metrics.calibration import wilson
from xmlcore.metrics.statistics import mean_intervals

# First values: numbers of candidates of a row, of adversarial labels of an example, of examples per label.
CANDIDATES = (1, 2, 5, 10, 20, 50, 100)
ADVERSARIAL = (1, 2, 5, 10, 20)
EXAMPLES = (0.5, 1.0, 2.0, 5.0)
MOST_VALUES = 12  # values of one setting measured at once
MOST_REPEATS = 20  # trainings per value
SIGNS = {"n_adversarial": "κ", "examples_per_class": "π"}
LEAST = 1e-3  # processor seconds: what the clocks of all systems tell
KAPPA_HELP = (
    "Other labels that each copy of an example is compared with, with commas between them; the result’s own is always "
    "measured. Published results use 5 to 122."
)
EXAMPLES_HELP = (
    "Copies of examples drawn per label, with commas between them; the result’s own is always measured. Published "
    "results use 1 or 2."
)


class Tradeoff(NamedTuple):
    """Accuracy and time at the least and at the most value of κ or π."""

    sign: str
    least: float
    most: float
    at_least: float  # micro R@1
    at_most: float
    by_chance: bool  # whether other test rows or seeds might change which is larger
    times: float | None  # processor time at the most value by that at the least; None if the times are not known


def sweep(view, name) -> None:
    """Draw the result, called ``name``, among trainings with other settings, and let the user have these trained."""
    place = st.container()
    kappas, examples, n_repeats = _choose(view)
    kappas, examples = with_own(kappas, view.kappa), with_own(examples, view.examples)
    # The own settings are in both; before all, one training warms up.
    button = f"Train {format.count(n_repeats * (len(kappas) + len(examples) - 1), 'time')}, varying κ, then π"
    task = view.task(kappas, examples, (), n_repeats)
    study = tasks.ready(task, button=button, key="sampling.measure.sweep")
    is_before = study is None and (study := if_kept(task, *SIGNS, "n_repeats")) is not None  # it stays meanwhile
    if study is None:  # the cards have the result alone
        return
    frame = study.sweep.assign(margin=_margin(view.data, study.sweep["accuracy"]))
    with place:
        for text in failures(study):
            st.warning(text)
        charts.show_figure(
            figures.sampling_sweep(frame, (view.kappa, view.examples)),
            frame,
            f"{view.files}-sweep",
            f"One of κ, labels that each row is compared with, and π, examples per label, is varied; the other is that "
            f"of {format.plain(name)} (dotted). Bars are 95\u00a0% intervals; of times, least and most of the seeds.",
        )
        if is_before:
            st.caption("These settings are not trained together yet, so earlier ones are shown.")
        for found in tradeoffs(frame):
            st.markdown(sentence(found))


def tradeoffs(frame) -> list[Tradeoff]:
    """Return what more of κ and of π brings, for each that was varied."""
    trained, found = frame[frame["failed"] == ""], []
    for axis, sign in SIGNS.items():
        groups = trained[trained["axis"] == axis].groupby(axis)
        if groups.ngroups < 2:
            continue
        mean, _, high = mean_intervals(groups["accuracy"], groups["margin"]).T.to_numpy()[:, [0, -1]]
        seconds = groups["cpu_s"].mean().clip(lower=LEAST).to_numpy() if "cpu_s" in frame else np.full(2, np.nan)
        times, tried = seconds[-1] / seconds[0], [*groups.groups]
        by_chance = bool(abs(mean[1] - mean[0]) <= np.hypot(*(high - mean)))
        found.append(Tradeoff(sign, tried[0], tried[-1], *mean, by_chance, times if np.isfinite(times) else None))
    return found


def sentence(tradeoff: Tradeoff) -> str:
    ends = ((tradeoff.at_least, tradeoff.least), (tradeoff.at_most, tradeoff.most))
    least, most = (f"**{format.percent(mean)} at {tradeoff.sign} = {value:,.10g}**" for mean, value in ends)
    time = "" if tradeoff.times is None else f", for {format.significant(tradeoff.times, 2)} times the processor time"
    return f"Micro R@1 is {least} and {most}{time}{' (not significant)' if tradeoff.by_chance else ''}."


def _margin(data, accuracy) -> np.ndarray:
    """Return half of the 95 % interval of accuracies over test rows."""
    n_rows, n_true = max(1, np.count_nonzero(np.diff(data.Y_test.indptr))), max(1, data.Y_test.nnz)
    low, high = wilson(accuracy.to_numpy(dtype=np.float64) * n_true / n_rows, np.array(n_rows))
    return (high - low) / 2 * n_rows / n_true


def failures(study) -> list[str]:
    """Return a sentence for each value with which trainings failed, with the reason."""
    failed, text = study.sweep[study.sweep["failed"] != ""], []
    for axis, sign in SIGNS.items():
        for value, why in failed[failed["axis"] == axis].groupby([axis, "failed"]).groups:
            text.append(f"Failed with {sign} = {value:,g}: {format.plain(settings.in_form(MODEL, why))}")
    return text


def _choose(view):
    short, most = view.key[:8], view.most_kappa
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="top")
    with left:
        first = with_own(ADVERSARIAL, view.kappa, most)
        help = KAPPA_HELP + (f" The result has κ = {view.kappa:,}{view.fewer}." if view.fewer else "")
        kappas = field(f"Other κ, up to {most:,}", f"sampling.kappa {short}", first, help, most)
    with middle:
        first, label = with_own(EXAMPLES, view.examples), "Other π, examples per label"
        examples = field(label, f"sampling.examples {short}", first, EXAMPLES_HELP, 1000, least=0.01)
    about = "Trainings per value, each with its own seed."
    n_repeats = fields.whole("Repeats", 1, MOST_REPEATS, f"sampling.repeats {short}", 1, place=right, help=about)
    return kappas, examples, int(n_repeats)


def candidates(view):
    """Show accuracy and candidate recall with other q; return the measurements of this result, or None."""
    place, most, first = st.container(), view.n_present, with_own(CANDIDATES, view.q, view.n_present)
    help = "Numbers with commas between them; the result’s own is always measured. Nothing is trained for this."
    label = f"Other q, candidates, up to {most:,}"
    typed = field(label, f"sampling.candidates {view.key[:8]}", first, help, most)
    study_of_own_q = if_kept(view.task(candidates=first))
    task, button = view.task(candidates=with_own(typed, view.q)), "Measure other numbers of candidates"
    study = tasks.ready(task, button=button, key="sampling.measure.candidates")
    if study is None:
        return study_of_own_q
    attainable = study.candidates["recall"].clip(upper=most_accurate(view.data))
    table = study.candidates.assign(attainable=attainable)
    with place:
        charts.show_figure(
            figures.candidate_curves(table, view.q),
            table,
            f"{view.files}-candidates",
            "The gap between micro R@1 and the attainable is the most that f gets wrong. Choose q on held-out rows.",
        )
    return study_of_own_q or study


def field(label: str, widget: str, first, help: str, most: float, least: float | None = None) -> tuple:
    noun = label.split(",")[0]
    return tuple(fields.numbers(label, widget, first, lambda typed: parse(typed, noun, most, least), help))


def parse(text: str, noun: str, most: float, least: float | None = None) -> tuple[list, str | None]:
    """Read values such as ``1, 2, 5``, and say what is wrong with them; without ``least`` they are whole, from 1."""
    whole, least = least is None, 1 if least is None else least

    def fault(value):
        if not math.isfinite(value) or (whole and value != int(value)):
            return f"{noun} cannot be {{}}: it is a {'whole ' if whole else ''}number."
        return "" if least <= value <= most else f"{noun} cannot be {{}}: it is from {least:,g} to {most:,g} here."

    none = "At least one value is needed, such as 5."
    values, problem = fields.numbers_in(text, "values", "1, 2, 5", fault, MOST_VALUES, none)
    return [int(value) for value in values] if whole else values, problem


def with_own(values, own, most=math.inf) -> tuple:
    return tuple(sorted({*(value for value in values if value <= most), own}))
