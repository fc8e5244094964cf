"""Fields whose values the workspace keeps, their first values, and replacements of invalid values."""

import math
from collections import Counter

import streamlit as st

from pages.shared import format
from pages.shared.workspaces import workspace
from pages.shared.workspaces.records import free_name
from xmlcore.figures import cut_apart

QUARTER, FIFTH = 34, 24  # letters that fit into a select box of this share of a page of 1440 pixels


def choice(label: str, options, key: str, default=None, *, place=st, widget: str = "selectbox", **settings):
    """Return the one of ``options``, values or texts by value, that is chosen; at first the default or the first."""
    if isinstance(options, dict):
        settings["format_func"] = told_apart(options).get
    offered = list(options)
    first = offered[0] if default is None else default
    if widget == "select_slider":  # whose first value is no index
        kept = workspace.keep(key, first, offered.__contains__)
    else:
        kept = workspace.keep(key, first, options=offered)
    return getattr(place, widget)(label, offered, **settings, **kept)


def radio(label: str, options, key: str, default=None, **settings):
    return choice(label, options, key, default, widget="radio", horizontal=True, **settings)


def several(
    label: str, options, key: str, default: list, *, widget: str = "multiselect", least: int = 0, **settings
) -> list:
    """Return those of ``options``, values or texts by value, that are chosen; fewer than ``least`` are not kept."""
    if isinstance(options, dict):
        settings["format_func"] = told_apart(options).get
    offered = list(options)
    kept = workspace.keep(
        key, default, lambda value: isinstance(value, list) and len(value) >= least and all(v in offered for v in value)
    )
    kept["default"] = kept.pop("value")
    return getattr(st, widget)(label, offered, **settings, **kept)


def text(label: str, key: str, default: str = "", *, place=st, **settings) -> str:
    return place.text_input(label, **workspace.keep(key, default, lambda value: isinstance(value, str)), **settings)


def switch(label: str, key: str, default: bool, *, place=st, **settings) -> bool:
    return place.toggle(label, **workspace.keep(key, default, lambda value: isinstance(value, bool)), **settings)


def pick(label: str, options: dict, key: str, value, take, *, widget: str = "selectbox", **settings):
    """Return the value chosen by its text; the workspace does not keep it, but ``take`` gets it."""
    st.session_state[key] = value

    def chosen():
        picked = st.session_state[key]
        if set(picked if isinstance(picked, list) else [picked]) <= options.keys():  # else of a list before this one
            take(picked)

    texts = told_apart(options)
    return getattr(st, widget)(label, list(options), format_func=texts.get, key=key, on_change=chosen, **settings)


def told_apart(texts: dict) -> dict:
    """Return texts by value; empty and equal ones get the value or its beginning, as browsers know options by texts."""
    often, told = Counter(texts.values()), {}  # values by their new texts
    for value, text in texts.items():
        if often[text] > 1 or not text.strip():
            text = f"{text} [{value[:4]}]" if isinstance(value, str) else f"{text} ({value})"
        told[free_name(text.strip(), told)] = value
    return {value: text for text, value in told.items()}


def cut(titles: dict, letters: int) -> dict:
    """Return texts by value, cut in the middle where a select box would cut their end; different ones stay so."""
    short = cut_apart(titles.values(), letters)
    return {value: short[text] for value, text in titles.items()}


def whole(label: str, low: int, high: int | None, key: str, default: int | None, *, place=st, **settings) -> int | None:
    """Return the whole number from ``low`` to ``high`` that is typed; the field may be empty if ``default`` is None."""
    is_whole = whole_number(low, high)
    kept = workspace.keep(key, default, lambda value: is_whole(value) or (value is None and default is None))
    settings = {"step": 1} | settings
    value = place.number_input(label, min_value=low, max_value=high, **settings, **kept)
    return None if value is None else int(value)


def slider(label: str, low: float, high: float, key: str, default: float, *, place=st, **settings) -> float:
    kept = workspace.keep(key, default, lambda value: isinstance(value, float | int) and low <= value <= high)
    return place.slider(label, low, high, **settings, **kept)


def real(label: str, low: float, high: float | None, key: str, default: float, *, place=st, **settings) -> float:
    most = math.inf if high is None else high
    kept = workspace.keep(key, default, lambda value: isinstance(value, float) and low <= value <= most)
    return place.number_input(label, min_value=low, max_value=high, format="%g", **settings, **kept)


def number(label: str, low, high, key: str, value, take, *, place=st, **settings) -> None:
    """Show a field with a number that the workspace does not keep: ``take`` gets the number."""
    st.session_state[key] = value

    def typed():
        take(st.session_state[key])

    place.number_input(label, min_value=low, max_value=high, key=key, on_change=typed, **settings)


def sample(low: int, n_rows: int, key: str, values, most_values: float, samples, **settings) -> int:
    """Return a number of rows: first all if so few values are read, else the largest sample of which they are."""
    first = n_rows
    if key not in workspace.get("widgets") and values(n_rows) is not None:
        quick = (n for n in (n_rows, *samples) if n <= n_rows and values(n) <= most_values)
        first = next(quick, min(n_rows, samples[-1]))
        workspace.remember(key, first)
    return whole(f"Rows, up to {n_rows:,}", low, n_rows, key, first, **settings)


def described(parameter, key: str, *, place=st, **own):
    """Return the value of a field for a parameter; ``own`` replaces or adds to what the parameter says."""
    about = {"label": parameter.label, "default": parameter.default, "help": parameter.form_help}
    about |= {"key": key, "place": place}
    low, high = parameter.offered or (parameter.minimum, parameter.maximum)
    if parameter.kind == "choice":
        empty = [parameter.empty] if parameter.optional else []
        about |= {"options": [*empty, *parameter.options], "format_func": parameter.named} | own
        if parameter.optional and about["default"] is None:
            about["default"] = parameter.empty
        value = choice(**about)
        return None if value in empty else value
    if parameter.kind in ("bool", "text"):
        return (switch if parameter.kind == "bool" else text)(**about | own)
    if parameter.kind == "float":
        return real(**about | {"low": low, "high": high} | own)
    about |= {"low": 1 if low is None else low, "high": high, "step": parameter.step or 1} | own
    about["placeholder"] = parameter.empty
    if about["high"] is not None and about["default"] is not None:  # a default may be too much for the data
        about["default"] = min(about["default"], about["high"])
    return whole(**about)


def percent(parameter, key: str, field=whole, **own) -> float:
    """Return the value of a field for a parameter that is a share, which users read and type in percent."""
    low, high = parameter.offered or (parameter.minimum, parameter.maximum)
    about = {"label": f"{parameter.label}, %", "help": parameter.form_help, "default": round(100 * parameter.default)}
    return field(**about | {"low": round(100 * low), "high": round(100 * high), "key": key} | own) / 100


def whole_number(low: int, high: int | None):
    """Return a function that says whether a remembered value is a whole number from ``low`` to ``high``."""
    most = math.inf if high is None else high
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= most


def numbers_in(text: str, plural: str, example: str, fault, most: int, none: str, skip=None) -> tuple[list, str | None]:
    """Read numbers with commas between them, or say what is wrong: ``fault(number)`` is a template, or ``none``."""
    numbers = set()
    for part in filter(None, map(str.strip, text.replace(";", ",").split(","))):
        try:
            value = float(part)
        except ValueError:
            return [], f"“{part[:20]}” is not a number. Write {plural} as {example}."
        if wrong := fault(value):
            return [], wrong.format(part[:20])
        numbers |= {float(f"{value:.9g}")} - {skip}  # results are told apart by as many digits
    if len(numbers) > most:
        return [], f"{len(numbers)} {plural} are more than the {most} this page measures at once."
    return sorted(numbers), None if numbers else none


def written(values) -> str:
    return ", ".join(f"{value:.10g}" for value in values)


def numbers(label: str, key: str, first, parse, help: str) -> list:
    """Return the numbers that are typed, which ``parse`` reads as :func:`numbers_in`; else those read last."""
    values, problem = parse(text(label, key, written(first), help=help))
    if problem:
        st.error(format.plain(f"{label.split(',')[0]}: {problem}"))
    kept = f"{key} read last"
    if values:
        st.session_state[kept] = values
        return values
    last = st.session_state.get(kept, first)
    st.caption(f"Until this is corrected, the page shows {written(last)}.")
    return last
