"""Short names that tell runs apart, and colours of runs. A run is given as its record in the workspace."""

import contextlib
from collections import Counter

import pandas as pd

from pages.shared import fields, jobs, settings
from pages.shared.workspaces import workspace
from xmlcore import experiment

STAR = "*"
FOOTNOTE = "\\* Computed in the background with default settings."
IN_TITLE = ("pattern", "attribution")  # parameters that the title of a selection already tells


def style_model(record: dict) -> str:
    """Return the name under which a run has its colour."""
    return experiment.model_style(record["model"], record["params"])


def places(records: list[dict]) -> dict[str, int]:
    """Return the place of each of a workspace's runs among those of its model on its data set, oldest first, by key."""
    found, often = {}, Counter()
    for record in records:
        of = record["fingerprint"], style_model(record)
        found[record["key"]] = often[of]
        often[of] += 1
    return found


def styles(records: list[dict], names: dict[str, str]) -> pd.DataFrame:
    """Return the ``model`` whose colour a run has in figures, and its ``place`` among those of it, by names of runs."""
    place = places(workspace.get("runs"))
    lines = {names[r["key"]]: {"model": style_model(r), "place": place.get(r["key"], 0)} for r in records}
    return pd.DataFrame.from_dict(lines, orient="index")


def names(records: list[dict]) -> dict[str, str]:
    """Return a name for each run, by key: the user's, or the model and settings that are not the default and differ."""
    short = [r.get("name") or experiment.model_title(r["model"], r["params"]) for r in records]
    often, varied, by_key = Counter(short), _varied(records), {}
    for r, name in zip(records, short):
        differing = {p: value for p, value in r["params"].items() if p in varied.get(r["model"], ())}
        words = settings.short_words if len(differing) == 1 else settings.short_changed
        if often[name] > 1 and (told := words(r["model"], differing)):
            name += f" ({told})"
        by_key[r["key"]] = name
    return starred(records, fields.told_apart(by_key))


def selection_title(record: dict, skip=()) -> str:
    """Return the title of a selection, with the settings that are not the default; those in ``skip`` are left out."""
    left_out = (*IN_TITLE, *skip)
    params = {name: value for name, value in record["params"].items() if name not in left_out}
    changed, title = settings.short_changed(record["method"], params), record["method"]
    with contextlib.suppress(ValueError):  # a method or a parameter that this version of xmlcore does not have
        title = experiment.selection_title(record["method"], record["params"])
    return f"{title} ({changed})" if changed else title


def selections(records: list[dict]) -> dict[str, str]:
    return starred(records, fields.told_apart({record["key"]: selection_title(record) for record in records}))


def starred(records: list[dict], titles: dict) -> dict:
    """Return the titles, by key, with a star where nobody asked for the result, if others were asked for."""
    unasked = {record["key"] for record in records if jobs.is_unasked(record)}
    star = STAR if len(unasked) < len(records) else ""
    return {key: title + star if key in unasked else title for key, title in titles.items()}


def footnote(titles) -> str:
    """Return the meaning of a star, for Markdown; empty if no title has one."""
    return FOOTNOTE if any(title.endswith(STAR) for title in titles) else ""


def _varied(records) -> dict[str, set]:
    """Return the names of the parameters in which runs of a model differ, by model; the title has the noise."""
    values = {}
    for r in records:
        for name, value in r["params"].items():
            values.setdefault(r["model"], {}).setdefault(name, set()).add(repr(value))
    return {
        model: {name for name, found in of_model.items() if len(found) > 1} - {"noise_sigma", "noise_kind"}
        for model, of_model in values.items()
    }
