"""The settings that a sweep tries: all combinations of values, or some that are drawn at random."""

import math
from itertools import product

import numpy as np

from xmlcore.experiment.catalog import MODELS
from xmlcore.validation import check_count, check_number
from xmlcore.wording import listed

METHODS = ("grid", "random", "halving")
STEPS = 5  # values of a range that a grid has, unless it says how many
WIDE = 10  # a range whose ends differ by this factor is divided, and drawn from, by ratios
MOST_SETTINGS = 10_000  # settings of one sweep
ATTEMPTS = 100  # draws for each setting that is wanted, while drawn settings are repeated
_RANGE = ("low", "high", "steps", "log")


def checked_grid(model: str, grid: dict) -> dict:
    """Return the values to try for each parameter, as plain lists and ranges, in the order of the model's parameters.

    The settings are numbered in this order, and a key does not tell two grids that differ only in it apart.
    """
    if not isinstance(grid, dict) or not grid:
        raise ValueError("grid names no parameter: give values to try, such as {'C': [1, 10]}")
    checked = {}
    for name, values in grid.items():
        if name == "random_state":
            raise ValueError("random_state cannot be swept: give seeds=")
        if isinstance(values, dict):
            checked[name] = _checked_range(model, name, values)
            continue
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise TypeError(f"the values of {listed([name])} must be a list or a range, not {values!r:.200}")
        values = [_checked_value(model, name, value) for value in values]
        if not values:
            raise ValueError(f"{listed([name])} has no values to try")
        checked[name] = list({repr(value): value for value in values}.values())  # each value once
    return {p.name: checked[p.name] for p in MODELS[model].parameters if p.name in checked}


def _checked_range(model, name, values) -> dict:
    if not {"low", "high"} <= set(values) <= set(_RANGE):
        raise ValueError(
            f"the range of {name} needs low and high, and may have steps and log; it has {listed(sorted(values))}"
        )
    low, high = (_checked_value(model, name, values[end]) for end in ("low", "high"))
    for end, value in (("low", low), ("high", high)):
        check_number(value, f"{end} of {name}", -math.inf, math.inf)
    if low >= high:
        raise ValueError(f"the range of {name} goes from {low:g} to {high:g}: low must be less than high")
    log = bool(values.get("log", low > 0 and high >= WIDE * low))
    if log and low <= 0:
        raise ValueError(f"the range of {name} begins at {low:g}: by ratios (log) it must be above 0")
    steps = check_count(values.get("steps", STEPS), f"steps of {name}", least=2)
    number = int if isinstance(low, int) and isinstance(high, int) else float
    return {"low": number(low), "high": number(high), "steps": steps, "log": log}


def _checked_value(model, name, value):
    return MODELS[model].filled(model, {name: value})[name]


def values_of(values) -> list:
    """Return the values of a parameter in a grid of :func:`checked_grid`."""
    if not isinstance(values, dict):
        return values
    spaced = np.geomspace if values["log"] else np.linspace
    points = spaced(values["low"], values["high"], values["steps"])
    if isinstance(values["low"], int):
        return sorted({int(round(point)) for point in points})
    return sorted({float(f"{point:.4g}") for point in points} | {values["low"], values["high"]})[: values["steps"] + 2]


def settings_of(grid: dict, method: str, budget: int | None, seed: int) -> list[dict]:
    """Return the settings to try, in the order in which they are tried; of equally good ones the first is chosen."""
    lists = {name: values_of(values) for name, values in grid.items()}
    n_grid, is_countless = math.prod(map(len, lists.values())), any(isinstance(one, dict) for one in grid.values())
    draws = method != "grid" and budget is not None and (is_countless or budget < n_grid)
    wanted = budget if draws else n_grid
    if wanted > MOST_SETTINGS:
        raise ValueError(
            f"that is {wanted:,} settings, and a sweep tries up to {MOST_SETTINGS:,}: give fewer values, or "
            "method='random' with a budget"
        )
    if not draws:
        return [dict(zip(lists, values)) for values in product(*lists.values())]
    rng, drawn = np.random.default_rng([seed, 2]), {}
    for _ in range(ATTEMPTS * wanted):  # a range of whole numbers may have fewer different values
        setting = {name: _drawn(values, rng) for name, values in grid.items()}
        drawn.setdefault(repr(setting), setting)
        if len(drawn) == wanted:
            break
    return list(drawn.values())


def _drawn(values, rng):
    if not isinstance(values, dict):
        return values[rng.integers(len(values))]
    low, high = values["low"], values["high"]
    whole = isinstance(low, int)
    if values["log"]:
        value = math.exp(rng.uniform(math.log(low), math.log(high + whole)))
    else:
        value = rng.uniform(low, high + whole)
    return min(int(value), high) if whole else float(f"{value:.4g}")
