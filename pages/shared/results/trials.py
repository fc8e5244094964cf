"""The trials of sweeps: which sweep is shown, what it has found so far, and its figure."""

import dataclasses
import functools
import math
from typing import Any

import pandas as pd
import streamlit as st

from pages.shared import fields, format, server, settings, sweeping
from pages.shared.figures import charts
from pages.shared.workspaces import workspace
from xmlcore import experiment, figures, metrics, store
from xmlcore.experiment.engine.sweeps import kept_trial, settings_table
from xmlcore.experiment.kinds.train import value_text
from xmlcore.experiment.main_effects import SAME
from xmlcore.metrics.calibration import wilson
from xmlcore.metrics.measures import MEAN

UNFOUND = "no influence found"  # by the test, among settings that were drawn: each has a share, whatever it matters
LEAST = 0.01  # share of the differences that two parameters explain only together, or that is left: less is not said
OPTION_LETTERS = 16  # of the words for an option, beside an axis
HELP = (
    "Share of the differences between settings, in {}, that one parameter explains alone (eta squared of an analysis "
    "of variance over the means of settings) or two only together (their interaction). Of a grid, shares add up to "
    f"100\u00a0%; of settings that were drawn, they overlap. “Perhaps chance”, or “{UNFOUND}”: the F test’s p-value is "
    f"{metrics.SURE} or more, or unknown, as that of “only together” with one seed and two parameters."
)


@dataclasses.dataclass(frozen=True)
class Tried:
    """What a sweep has found so far; ``result`` is None before it is done, and ``plan`` after."""

    task: Any
    settings: list  # of a kept sweep its own: earlier versions numbered them in the order of the choice
    result: Any
    plan: Any
    trials: pd.DataFrame
    table: pd.DataFrame

    @property
    def varied(self) -> dict[str, str]:
        """The names on pages of the parameters that were varied."""
        known = {p.name: p.label for p in experiment.MODELS[self.task.params["model"]].parameters}
        return {name: known[name] for name in self.task.params["grid"] if name in known}

    @functools.cached_property
    def chosen(self) -> list[str]:
        """What was chosen for settings on automatic, in words, for each line of the table."""
        model, short = self.task.params["model"], settings.short_words
        last = self.trials.drop_duplicates("setting", keep="last").set_index("setting")  # in its last round
        kept = [kept_trial(last.loc[setting, "key"]) for setting in self.table["setting"]]
        values = [{} if one is None else one.chosen for one in kept]
        # What is the same in all lines is no news beside them, but for the shape of the tree.
        news = {name for own in values for name in own if any(own.get(name) != other.get(name) for other in values)}
        told = [{name: value for name, value in one.items() if name in {*news, "max_leaf_labels"}} for one in values]
        return [settings.chosen_words(model, one, of.size, short) if one else "" for one, of in zip(told, kept)]


def choose(fingerprint: str, records: list, place: str):
    """Return the record of the sweep that is shown; the choice is the same on all pages."""
    by_key = {record["key"]: record for record in records}
    wanted = workspace.get("widgets").get(f"tried {fingerprint}")
    key = wanted if wanted in [*by_key] else records[0]["key"]
    if len(records) > 1:
        titles = {record["key"]: _title(record) for record in records}
        take = functools.partial(workspace.remember, f"tried {fingerprint}")
        fields.pick("Trials shown", titles, f"{place}.shown", key, take)
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
    """Return what a sweep has found so far; None, with a message, if it cannot be read."""
    try:
        task = sweeping.task_of(record)
        if sweeping.state(record) == "done":
            result = server.loaded(task)
            return Tried(task, result.settings, result, None, result.trials, result.table)
    except (store.StoreError, ValueError, TypeError) as error:
        st.error(f"These trials cannot be shown: {format.plain(error)}. Try the settings again.")
        return None
    plan = sweeping.plan(record)
    table = settings_table(plan.trials, task.settings)
    return Tried(task, task.settings, None, plan, pd.DataFrame(plan.trials), table)


def draw(found: Tried, name: str, place: str) -> None:
    """Say which settings matter and draw the measure against each; nothing before a training is done."""
    if not found.trials["value"].notna().any():
        return
    measure, varied = found.task.params["measure"], found.varied
    effects = experiment.main_effects(found.trials, list(varied))
    together, rest = _together(found, effects)
    if _drawn(found):
        told = effects["parameter"].isin([together.first, together.second] if together else [])
        unsure = (effects["why"] == "") & ~(effects["p"] < metrics.SURE) & ~told
        effects["why"] = effects["why"].mask(unsure, UNFOUND)
    st.markdown(_sentence(found, effects, together, rest), help=HELP.format(measure))
    alone = len(varied) == 1 and effects["why"].iloc[0]  # what one setting matters beside none is no question
    notes = None if alone else {effect.parameter: _share(effect) for effect in effects.itertuples()}
    if only := _only(effects):
        notes[only] = "all differences"
    labels = {key: varied[key] for key in notes or varied}
    both = together and (together.first, together.second, f"only together {_share(together)}")
    charts.show_figure(
        figures.sweep_values(_in_words(found), labels, measure, notes, both),
        found.trials,
        name,
        f"Each point is a training, and its height {measure} on the training rows that are held out. Lines go "
        "through the mean of all trainings with about the same value, whatever the other settings. A star is the best "
        "among the trainings on the most rows. Other rows held out would move the points, mostly together: all are of "
        "the same rows.",
        key=f"wide.{place}",
    )


def _in_words(found) -> pd.DataFrame:
    """Return the trials with the form's words for options, cut where they are long."""
    texts = {}
    for parameter in experiment.MODELS[found.task.params["model"]].parameters:
        if parameter.name in found.varied and parameter.options:
            words = [value_text(option, parameter) for option in parameter.options]
            cut = dict(zip(parameter.options, figures.cut_apart(words, OPTION_LETTERS).values()))
            texts[parameter.name] = [cut.get(value, value) for value in found.trials[parameter.name]]
    return found.trials.assign(**texts)


def margin(result) -> float | None:
    """Return by how much other rows held out might move the best; None if unknown, as for quotients over rows."""
    if result is None or result.best is None:
        return None
    name, _, _ = result.measure.rpartition("@")
    if metrics.MEASURES[f"{name}@k"].kind != MEAN:
        return None
    low, high = wilson(result.value, result.n_held_out)  # of values between 0 and 1 none vary more than 0 and 1
    return (high - low) / 2


def _moved(result) -> str:
    reach = margin(result)
    if reach is None:
        return ""
    return f" Other rows held out than these {result.n_held_out:,} might move the best by ±{100 * reach:.1f} points."


def _drawn(found) -> bool:
    """Return whether the settings are some of the combinations of several parameters, and not all."""
    values = [len({str(setting.get(name)) for setting in found.settings}) for name in found.varied]
    return len(values) > 1 and len(found.settings) < math.prod(values)


def _together(found, effects) -> tuple[Any, float]:
    """Return the two parameters that explain most only together, if no test says chance, and the share that is left."""
    own = effects.loc[effects["why"] != SAME, "parameter"].tolist()
    pairs = experiment.interaction_effects(found.trials, own)
    told = pairs[(pairs["share"] > LEAST) & ~(pairs["p"] >= metrics.SURE)]
    pair = next(told.itertuples(), None)
    rest = 1 - effects["share"].sum() - (pair.share if pair else 0.0)
    return pair, rest if len(pairs) and not pairs["why"].any() else 0.0


def _sentence(found, effects, together, rest) -> str:
    """Return which settings matter, over how many, for Markdown."""
    model, measure = found.task.params["model"], found.task.params["measure"]
    n = format.count(int(effects["n_settings"].max()), "setting")
    names = {name: f"**{format.plain(label.split(',')[0])}**" for name, label in found.varied.items()}
    said = [f"{names[effect.parameter]} explains {_share(effect)}" for effect in effects.itertuples() if not effect.why]
    if together:
        who = "both" if len(said) == 2 else f"{names[together.first]} and {names[together.second]}"
        said.append(f"{who} only together {_share(together)}")
    low, high = map(format.percent, (found.trials["value"].min(), found.trials["value"].max()))
    moved = _moved(found.result)
    if not said:
        spread = f"{measure} is {low} to {high}" if low != high else f"{measure} is {low}"
        if len(found.varied) == 1:
            return f"Only {next(iter(names.values()))} varies, in {n} of {format.plain(model)}: {spread}.{moved}"
        why = format.listed(list(dict.fromkeys(effects["why"])))
        return f"What matters is not known from {n} of {format.plain(model)} ({why}): {spread}.{moved}"
    same = [names[name] for name in effects.loc[effects["why"] == SAME, "parameter"]]
    none = _no_difference(found, format.listed(same)) if same else ""
    values = f"{measure} of {n} of {format.plain(model)} is {low} to {high}.{moved}"
    if only := _only(effects):
        return f"{values} All of these differences come from {names[only]}.{none}"
    if unfound := [names[name] for name in effects.loc[effects["why"] == UNFOUND, "parameter"]]:
        said.append(f"no influence of {format.listed(unfound)} is found")
    left = f" The other {format.percent(rest)} are chance, or of several together." if rest > LEAST else ""
    return f"{values} Of these differences, {format.listed(said)}.{left}{none}"


def _no_difference(found, names) -> str:
    """Return that parameters made no difference, and that they may where the model chooses other settings."""
    chosen = [words for words, is_done in zip(found.chosen, found.table["mean"].notna()) if is_done]
    if not any(chosen):
        return f" {names} made no difference in any."
    shapes = {format.plain(words.partition(";")[0]) for words in chosen}
    where = f", where each trial chose {shape}" if len(shapes) == 1 and (shape := next(iter(shapes))) else ""
    anew = f"On all training rows, what is on automatic is chosen anew, and {names} may matter."
    return f" {names} made no difference in any{where}. {anew}"


def _only(effects) -> str | None:
    """Return the only parameter that makes a difference; its share would count each setting more than once."""
    left = effects.loc[effects["why"] != SAME, "parameter"]
    return left.iloc[0] if len(left) == 1 < len(effects) else None


def _share(effect) -> str:
    if effect.why:
        return effect.why
    return format.percent(effect.share) + ("" if effect.p < metrics.SURE else " (perhaps chance)")
