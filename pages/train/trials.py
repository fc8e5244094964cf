"""The trials of sweeps: the sweep shown, its trials so far, and its figure."""

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from pages.shared import cached, fields, format, settings, sweeping
from pages.shared.figures import charts
from pages.shared.workspaces import workspace
from xmlcore import experiment, figures, metrics, store
from xmlcore.experiment.engine.sweeps import kept_trial, settings_table
from xmlcore.experiment.kinds.train import value_text
from xmlcore.experiment.main_effects import SAME
from xmlcore.metrics.calibration import wilson
from xmlcore.metrics.measures import MEAN

UNFOUND = "no influence found"  # by the test, among settings that were drawn: each has a share, whatever it matters
OPTION_LETTERS = 16  # of the words for an option, beside an axis
HELP = (
    "Share of the differences between settings, in {}, that one parameter explains alone (eta squared of an analysis "
    f"of variance over the means of settings). “Not significant”, or “{UNFOUND}”: the F test’s p-value is "
    f"{metrics.SURE} or more."
)


@dataclasses.dataclass(frozen=True)
class Tried:
    """The trials of a sweep so far; ``result`` is None before it is done, and ``plan`` after."""

    task: Any
    settings: list
    result: Any
    plan: Any
    trials: pd.DataFrame
    table: pd.DataFrame

    @property
    def varied(self) -> dict[str, str]:
        known = {p.name: p.label for p in experiment.MODELS[self.task.params["model"]].parameters}
        return {name: known[name] for name in self.task.params["grid"] if name in known}

    @functools.cached_property
    def chosen(self) -> list[str]:
        model, short = self.task.params["model"], settings.short_words
        last = self.trials.drop_duplicates("setting", keep="last").set_index("setting")  # in its last round
        kept = [kept_trial(last.loc[setting, "key"]) for setting in self.table["setting"]]
        values = [{} if one is None else one.chosen for one in kept]
        # Only settings that differ between lines are told, and the shape of the tree.
        news = {name for own in values for name in own if any(own.get(name) != other.get(name) for other in values)}
        told = [{name: value for name, value in one.items() if name in {*news, "max_leaf_labels"}} for one in values]
        return [settings.chosen_words(model, one, of.size, short) if one else "" for one, of in zip(told, kept)]


def choose(fingerprint: str, records: list) -> dict:
    by_key = {record["key"]: record for record in records}
    wanted = workspace.get("widgets").get(f"tried {fingerprint}")
    key = wanted if wanted in [*by_key] else records[0]["key"]
    if len(records) > 1:
        titles = {record["key"]: _title(record) for record in records}
        take = functools.partial(workspace.remember, f"tried {fingerprint}")
        fields.pick("Trials shown", titles, "tried.shown", key, take)
    else:
        st.caption(format.plain(_title(by_key[key])))
    return by_key[key]


def _title(record) -> str:
    params = record["params"]
    known = {p.name: p.label for p in experiment.MODELS[params["model"]].parameters}
    varied = format.listed([known.get(name, name) for name in params["grid"]])
    how = {"random": ", at random", "halving": ", few rows first"}.get(params["method"], "")
    when = f" ({format.since(record['asked'])})" if record["asked"] else ""
    return f"{params['model']}: {varied}{how}{when}"


def read(record) -> Tried | None:
    """Return the trials of a sweep so far; None, with a message, if they cannot be read."""
    try:
        task = sweeping.task_of(record)
        if sweeping.state(record) == "done":
            result = cached.loaded(task)
            return Tried(task, task.settings, result, None, result.trials, result.table)
    except (store.StoreError, ValueError, TypeError) as error:
        st.error(f"These trials cannot be shown: {format.plain(error)}. Try the settings again.")
        return None
    plan = sweeping.plan(record)
    table = settings_table(plan.trials, task.settings)
    return Tried(task, task.settings, None, plan, pd.DataFrame(plan.trials), table)


class Influences(NamedTuple):
    """How a measure differs between the settings of a sweep, and which parameters explain that."""

    low: float
    high: float
    effects: pd.DataFrame  # of each parameter: see xmlcore.experiment.main_effects
    margin: float | None  # by how much other rows held out might move the best; None if it is not known

    @property
    def only(self) -> str | None:
        """The only parameter that makes a difference; its share would count each setting more than once."""
        left = self.effects.loc[self.effects["why"] != SAME, "parameter"]
        return left.iloc[0] if len(left) == 1 < len(self.effects) else None

    @property
    def notes(self) -> dict | None:
        """The share that each parameter explains, in a few words; None if it is unknown."""
        if len(self.effects) == 1 and self.effects["why"].iloc[0]:
            return None
        notes = {effect.parameter: _share(effect) for effect in self.effects.itertuples()}
        return notes | ({self.only: "all differences"} if self.only else {})


def influences(tried: Tried) -> Influences:
    """Return how the measure of trials that are done differs, and which parameters explain that."""
    effects, values = experiment.main_effects(tried.trials, list(tried.varied)), tried.trials["value"]
    if _drawn(tried):
        unsure = (effects["why"] == "") & ~(effects["p"] < metrics.SURE)
        effects["why"] = effects["why"].mask(unsure, UNFOUND)
    return Influences(values.min(), values.max(), effects, margin(tried.result))


def draw(tried: Tried, name: str) -> None:
    """Say how much settings matter and draw the measure against each; nothing before a training is done."""
    if not tried.trials["value"].notna().any():
        return
    measure, of, varied = tried.task.params["measure"], influences(tried), tried.varied
    settings_of = f"{format.count(len(tried.settings), 'setting')} of {format.plain(tried.task.params['model'])}"
    moved = "" if of.margin is None else f" Other rows held out might move the best by ±{100 * of.margin:.1f} points."
    low, high = format.percent(of.low), format.percent(of.high)
    st.markdown(f"{measure} of {settings_of} is {low} to {high}.{moved}", help=HELP.format(measure))
    labels = {key: varied[key] for key in of.notes or varied}
    charts.show_figure(
        figures.sweep_values(_in_words(tried), labels, measure, of.notes),
        tried.trials,
        name,
        f"A point is a training, its height {measure} on held-out rows; lines go through the means of trainings with "
        "about the same value. A star is the best of those on the most rows.",
        key="wide.train.tried",
    )


def _in_words(tried) -> pd.DataFrame:
    """Return the trials with the form's words for options, cut where they are long."""
    texts = {}
    for parameter in experiment.MODELS[tried.task.params["model"]].parameters:
        if parameter.name in tried.varied and parameter.options:
            words = [value_text(option, parameter) for option in parameter.options]
            cut = dict(zip(parameter.options, figures.cut_apart(words, OPTION_LETTERS).values()))
            texts[parameter.name] = [cut.get(value, value) for value in tried.trials[parameter.name]]
    return tried.trials.assign(**texts)


def margin(result) -> float | None:
    """Return by how much other rows held out might move the best; None if unknown, as for quotients over rows."""
    if result is None or result.best is None:
        return None
    name, _, _ = result.measure.rpartition("@")
    if metrics.MEASURES[f"{name}@k"].kind != MEAN:
        return None
    low, high = wilson(result.value, result.n_held_out)  # of values between 0 and 1 none vary more than 0 and 1
    return (high - low) / 2


def _drawn(tried) -> bool:
    """Return whether the settings are some of the combinations of several parameters, and not all."""
    values = [len({str(setting.get(name)) for setting in tried.settings}) for name in tried.varied]
    return len(values) > 1 and len(tried.settings) < math.prod(values)


def _share(effect) -> str:
    if effect.why:
        return effect.why
    return format.percent(effect.share) + ("" if effect.p < metrics.SURE else " (not significant)")
