"""The trials of a sweep: the measure against each setting, and how much each setting matters."""

import streamlit as st

from pages.shared import format, sweeping
from pages.shared.results import trials
from xmlcore import experiment, metrics

HELP = (
    "Share of the differences between settings, in {}, that one parameter explains alone: epsilon squared of a one-way "
    "analysis of variance over the means of settings, less what chance gives. Shares need not add up to 100\u00a0%: "
    f"parameters also act together. “Perhaps chance”: the F test’s p-value is {metrics.SURE} or more."
)


def section(fingerprint: str, file_name: str) -> None:
    record = trials.choose(fingerprint, sweeping.kept(fingerprint), "compare.trials")
    found = trials.read(record)
    if found is None:
        return
    if found.plan is not None:
        st.caption(f"{found.plan.done:,} of {found.plan.total:,} trainings are done.")
    if found.trials.empty or not found.trials["value"].notna().any():
        st.caption("No training of this sweep has a result yet.")
        return
    effects = experiment.main_effects(found.trials, list(found.varied))
    st.markdown(_sentence(found, effects), help=HELP.format(found.task.params["measure"]))
    alone = len(found.varied) == 1 and effects["why"].iloc[0]  # what one setting matters beside none is no question
    notes = None if alone else {effect.parameter: _share(effect) for effect in effects.itertuples()}
    trials.draw(found, f"{file_name}-trials-{record['key'][:6]}", "compare.trials.figure", notes)


def _sentence(found, effects) -> str:
    """Return which settings matter, over how many, for Markdown."""
    model, measure = found.task.params["model"], found.task.params["measure"]
    n = format.count(int(effects["n_settings"].max()), "setting")
    said = [
        f"**{format.plain(found.varied[effect.parameter].split(',')[0])}** {_share(effect)}"
        for effect in effects.itertuples()
        if not effect.why
    ]
    if not said:
        low, high = map(format.percent, (found.trials["value"].min(), found.trials["value"].max()))
        spread = f"{measure} is {low} to {high}" if low != high else f"{measure} is {low}"
        if len(found.varied) == 1:
            (varied,) = found.varied.values()
            return f"Only **{format.plain(varied.split(',')[0])}** varies, in {n} of {format.plain(model)}: {spread}."
        why = format.listed(list(dict.fromkeys(effects["why"])))
        return f"What matters is not known from {n} of {format.plain(model)} ({why}): {spread}."
    return f"What matters for {measure}, over {n} of {format.plain(model)}: {format.listed(said)}."


def _share(effect) -> str:
    if effect.why:
        return effect.why
    return format.percent(effect.share) + ("" if effect.p < metrics.SURE else " (perhaps chance)")
