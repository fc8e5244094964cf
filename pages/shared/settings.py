"""Settings of a model or a selection in words: which differ from the defaults, and which values are allowed."""

import math
import re
from collections import Counter

from xmlcore import experiment
from xmlcore.experiment.kinds.train import LARGEST_EXACT, changed_params, value_text

# Parameter names without "_" that are no English words, so :func:`in_form` replaces them wherever they occur. Other
# names, such as "loss", may be meant as words.
_NO_WORDS = ("tol", "l2")
_OF_ANOTHER = "predictions of another program"  # in the place of settings


def known_parameters(model: str) -> dict:
    """Return the parameters of a model or a method by name; none of one of another version of xmlcore."""
    info = (experiment.MODELS | experiment.SELECTORS).get(model)
    return {p.name: p for p in info.parameters} if info else {}


def changed(model: str, params: dict) -> str:
    """Return what differs from the defaults, such as ``Trees: 3, Arity: 16``; empty when nothing does."""
    if model == experiment.GIVEN:
        return _OF_ANOTHER
    if not known_parameters(model):
        return ", ".join(f"{name}: {value_text(value)}" for name, value in params.items())
    return changed_params((experiment.MODELS | experiment.SELECTORS)[model], params)


def short_changed(model: str, params: dict) -> str:
    """Return what differs from the defaults in a few words, such as ``Trees 3, Arity 16``; empty when nothing does."""
    known = known_parameters(model)
    return short_words(model, {n: v for n, v in params.items() if n not in known or v != known[n].default})


def words(model: str, params: dict) -> str:
    """Return settings in the words of the form, such as ``Arity = 16; C, weight of the loss = 0.5``."""
    if model == experiment.GIVEN:
        return _OF_ANOTHER
    known = known_parameters(model)
    labels = {name: known[name].label if name in known else name for name in params}
    return "; ".join(f"{labels[name]} = {value_text(value, known.get(name))}" for name, value in params.items())


def chosen_words(model: str, chosen: dict, size: dict, in_words=words) -> str:
    flat = size.get("depth") == 1 and "max_leaf_labels" in chosen  # then its other settings of the shape say nothing
    others = {name: value for name, value in chosen.items() if not flat or name not in ("arity", "max_leaf_labels")}
    return "; ".join(filter(None, ["one level" * flat, in_words(model, others)]))


def short_words(model: str, params: dict) -> str:
    """Return settings for a name, such as ``C 0.5, Trees 3``: with the distinctive part of the form's labels."""
    if model == experiment.GIVEN:
        return ""
    known = known_parameters(model)
    often = Counter(p.label.split(",")[0] for p in known.values())
    labels = {name: name for name in params}
    for name in params.keys() & known.keys():
        first, _, rest = known[name].label.partition(",")
        labels[name] = first if often[first] == 1 else first + rest
    return ", ".join(f"{labels[name]} {value_text(value, known.get(name))}" for name, value in params.items())


def in_form(model: str, message: str) -> str:
    """Return a message of a model or a selection with names of parameters replaced by the labels of the form."""
    for p in known_parameters(model).values():
        field = f"“{p.label}”"
        message = re.sub(rf"(?<!\w){p.name}='(\w+)'", lambda m, p=p, f=field: f"{f} = {p.named(m[1])}", message)
        if p.kind == "bool":
            message = re.sub(rf"(?<!\w){p.name}=True\b", f"{field} = on", message)
            message = re.sub(rf"(?<!\w){p.name}=False\b", f"{field} = off", message)
        message = re.sub(rf"(?<!\w){p.name}=(?=[\w.-])", f"{field} = ", message)
        if "_" in p.name or p.name in _NO_WORDS:
            message = re.sub(rf"(?<!\w){p.name}(?![\w=])", field, message)
    return message


def needs_amounts(model: str) -> str:
    """Return a warning for a model that does not take the negative values of a data set."""
    return in_form(
        model,
        f"This data set has negative values, and {model} needs amounts, such as counts of words or tf-idf weights. "
        "Set negative='zero' under More settings of the Train page, or choose another model.",
    )


def limits(parameter) -> str:
    """Return which numbers are allowed, such as ``1 to 100,000``; empty when all are."""
    low, high = (None if end is None else value_text(end) for end in (parameter.minimum, parameter.maximum))
    if parameter.above_minimum:
        return f"above {low}" + ("" if high is None else f", up to {high}")
    if low is not None and high is not None:
        return f"{low} to {high}"
    if low is not None:
        return f"{low} or more"
    return "" if high is None else f"{high} or less"


def is_number(parameter, value) -> bool:
    """Return whether a number field can show ``value``, be it allowed or not."""
    if value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return False
    return parameter.kind != "int" or (value == int(value) and abs(value) < LARGEST_EXACT)


def problem(parameter, value) -> str | None:
    """Return a sentence that says why ``value`` is not allowed; None when it is."""
    try:
        parameter.check(value)
    except (ValueError, TypeError):
        wrong = "a number is missing" if value is None else f"{value_text(value)} is not allowed"
        allowed = ", ".join(map(parameter.named, parameter.options)) or limits(parameter)
        return f"{parameter.label}: {wrong}" + (f" (allowed: {allowed})." if allowed else ".")
    return None
