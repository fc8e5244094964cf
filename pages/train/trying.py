"""The form that tries several settings of a model: which values, with which seeds, by which method."""

import math
import re

import streamlit as st

from pages.shared import actions, cached, fields, format, forms, settings, sweeping, tasks
from pages.shared.results import results
from pages.shared.workspaces import workspace
from xmlcore import experiment
from xmlcore.experiment.catalog import MOST_SEEDS, NOISE
from xmlcore.experiment.engine.sweep_settings import STEPS
from xmlcore.parameters import AUTO

SWEEP = experiment.KINDS["sweep"]
MEASURES = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@5", "R@5", "F1 of means@1")
TRIED = "Several settings"  # title of the section
BUDGET = 20  # combinations drawn at random, at first
FIRST = {"PLT": ["C"], "LdSM": ["n_estimators"], "OneVsRest": ["C"]}  # varied at first
_BETWEEN = re.compile(r"\bto\b|\.\.|–")  # the word between the ends of a range: "0.1 to 10"
# Values to begin with, for parameters that a model chooses itself by default.
_SUGGESTED = {"C": "auto, 1, 3, 10", "arity": "auto, 8, 32", "max_leaf_labels": "auto, 25, 100"}
_LEFT_OUT = ("random_state", *(p.name for p in NOISE))


def show(fingerprint: str, model: str) -> None:
    offered = {p.name: p for p in experiment.MODELS[model].parameters if p.name not in _LEFT_OUT}
    labels = {name: parameter.label for name, parameter in offered.items()}
    names = fields.several(f"Settings of {model} to vary", labels, f"try.{model}.names", FIRST.get(model, []))
    for name in names:
        _values_field(model, offered[name])
    method, budget = fields.described(SWEEP.parameter("method"), "try.method"), SWEEP.parameter("budget")
    if method != "grid":
        key, first = f"try.budget.{method}", BUDGET if method == "random" else None
        fields.whole(budget.label, budget.minimum, None, key, first, help=budget.help, placeholder="all")
    left, right = st.columns(2)
    about = "Each setting is trained with so many seeds, and judged by the mean."
    no_seed = "random_state" not in experiment.full_params(model)
    fields.whole("Seeds", 1, MOST_SEEDS, "try.seeds", 1, place=left, help=about, disabled=no_seed)
    measures = results.measurable(MEASURES, cached.dataset(fingerprint).n_labels)
    about = "The setting with the largest value is chosen."
    fields.choice("Measure", measures, "try.measure", "P@1", place=right, help=about)
    _start(fingerprint, model, {name: offered[name] for name in names})


def _start(fingerprint, model, varied) -> None:
    task, problem = _task(fingerprint, model, varied)
    pressed = actions.button(
        "Try settings", key=f"try.{model}.start", width="stretch", on_click=_begin, args=(fingerprint, model, varied)
    )
    if problem:
        (st.error if pressed else st.caption)(format.plain(problem))
        return
    many = [format.count(len(task.settings), "setting"), format.count(task.n_trials, "training")]
    seconds = cached.estimated_seconds(task)
    if seconds is not None:
        many.append(tasks.takes(seconds) if seconds else "known already")
    st.caption("Tried already." if task.exists() else f"{', '.join(many)}.")


def _begin(fingerprint, model, varied):
    task, problem = _task(fingerprint, model, varied)
    if not problem:
        workspace.remember(f"tried {fingerprint}", task.key)
        sweeping.start(task)


def _task(fingerprint, model, varied):
    """Return the task that tries values of some parameters, or None and what is wrong with them."""
    if not varied:
        return None, "Choose a setting to vary."
    state, info = st.session_state, experiment.MODELS[model]
    params = {name: value for name, value in forms.values(model, info).items() if name not in varied}
    if problems := forms.problems(info, params):
        return None, "  ".join(problems)
    method = state["try.method"]
    try:
        wanted = {
            "model": model,
            "params": params,
            "grid": {name: _typed(model, parameter) for name, parameter in varied.items()},
            "seeds": list(range(state["try.seeds"] if "random_state" in params else 1)),
            "method": method,
            "measure": state["try.measure"],
            "budget": None if method == "grid" else state[f"try.budget.{method}"],
        }
        return experiment.task("sweep", {"dataset": fingerprint}, wanted), None
    except (ValueError, TypeError) as error:
        return None, settings.in_form(model, str(error))


def _values_field(model, parameter) -> None:
    key = f"try.{model}.{parameter.name}"
    if parameter.kind in ("choice", "bool"):
        options = list(parameter.options) if parameter.kind == "choice" else [False, True]
        texts = {value: settings.words(model, {parameter.name: value}).split(" = ", 1)[1] for value in options}
        fields.several(parameter.label, texts, key, options)
        return
    allowed = settings.limits(parameter)
    help = f"Values with commas between them, or a range: “1 to 10” tries {STEPS} values of it, or draws some."
    help += f" Allowed: {allowed}." if allowed else ""
    fields.text(parameter.label, key, suggestion(parameter), placeholder="1, 3, 10 or 1 to 10", help=help)


def _typed(model, parameter):
    value = st.session_state[f"try.{model}.{parameter.name}"]
    if not value and not isinstance(value, str):
        raise ValueError(f"{parameter.label}: choose values to try.")
    return parsed(parameter, value) if isinstance(value, str) else list(value)


def parsed(parameter, text: str):
    """Return the values in ``1, 3, 10`` as a list, or the range ``1 to 10`` as a dict."""
    both = _BETWEEN.split(text, maxsplit=1)
    if len(both) == 2 and all(len(part.split()) == 1 for part in both) and "," not in text:
        low, high = (_number(parameter, part) for part in both)
        if low is None or high is None or AUTO in (low, high) or low >= high:
            raise ValueError(f"{parameter.label}: “{text.strip()}” is not a range. Write it as 1 to 10.")
        return {"low": low, "high": high}
    values = [_number(parameter, part) for part in re.split(r"[,;]", text) if part.strip()]
    if not values:
        raise ValueError(f"{parameter.label}: write the values to try, such as 1, 3, 10, or a range, 1 to 10.")
    return values


def _number(parameter, text):
    text = text.strip()
    if text.lower() in (AUTO, "automatic", parameter.empty.lower()):
        value = AUTO if parameter.can_be_auto else None
    else:
        try:
            value = float(text.replace("_", ""))
            value = int(value) if parameter.kind == "int" and math.isfinite(value) and value == int(value) else value
        except ValueError:
            raise ValueError(
                f"{parameter.label}: “{text[:40]}” is not a number. Write values as 1, 3, 10, or a range as 1 to 10."
            ) from None
    problem = settings.problem(parameter, value)
    if problem:
        raise ValueError(problem)
    return value


def suggestion(parameter) -> str:
    """Return values to try: the default, and one below and above it."""
    default = parameter.default
    if isinstance(default, bool) or not isinstance(default, (int, float)) or default == 0:
        return _SUGGESTED.get(parameter.name, AUTO) if parameter.can_be_auto else ""
    low = -math.inf if parameter.minimum is None else parameter.minimum
    high = math.inf if parameter.maximum is None else parameter.maximum
    values = (default / 3, default, default * 3)
    if parameter.kind == "int":
        values = (round(value) for value in values)
    allowed = (float(f"{min(max(value, low), high):.2g}") for value in values)
    return ", ".join(f"{value:g}" for value in dict.fromkeys(allowed))
