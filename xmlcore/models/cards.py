"""Model cards as text: what a packed model is, for people."""

import re

from xmlcore.wording import COMMAND, hundredths, significant

_LOAD = """```python
from xmlcore import load_model
model = load_model("model.zip")  # or what this file is called
{}
```

Or behind a URL: `COMMAND serve model.zip`
""".replace("COMMAND", COMMAND)
_ROWS = "model.predict_topk(X, k=5)  # rows with the features of the training data, in the same order"
_TEXTS = 'model.suggest(["A text to label"], k=5)'
_DECIDED = """
from xmlcore.decisions import rule_of
rule_of(model).probabilities({})  # calibrated P of the labels that predict returns; predict_proba is uncalibrated"""
# Sections with a table of names and values: their titles, and the parts of the card.
_SECTIONS = {
    "Parameters": "parameters",
    "Chosen by the model": "chosen",
    "Times": "times",
    "Size": "size",
    "Versions": "versions",
}


def card_text(card: dict, is_text: bool, decision: str, has_rule: bool) -> str:
    takes = "texts" if is_text else f"rows of {_count(card.get('features'))} features"
    code = _TEXTS if is_text else _ROWS
    code += _DECIDED.format('["A text to label"]' if is_text else "X") if has_rule else ""
    lines = [f"# {_inline(card.get('name') or card.get('model') or 'Model')}", "",
             f"A model of the class {_inline(card.get('model'))}. It takes {takes} and ranks "
             f"{_count(card.get('labels'))} labels. `predict` returns {_inline(decision)}.",
             "", "## Load it", "", _LOAD.format(code)]  # fmt: skip
    known = {name: value for name, value in _dict(card.get("data")).items() if value not in ("", None)}
    lines += _section("Data", ("what", "value"), known.items())
    listed = card.get("measures")
    measures = _measures([line for line in listed if isinstance(line, dict)] if isinstance(listed, list) else [])
    lines += _section("Measures", *measures, "On the test rows, in %; in brackets 95 % intervals over test rows.")
    decided = _dict(card.get("decided")).items()
    values = [(name, value if name == "labels" else _percent(value)) for name, value in decided]
    note = "On the test rows: their number for a row, the rest in %."
    lines += _section("Labels that predict returns", ("measure", "value"), values, note)
    for title, part in _SECTIONS.items():
        lines += _section(title, ("name", "value"), _dict(card.get(part)).items())
    return "\n".join(lines + ([f"Made at {_inline(card['created'])}.", ""] if card.get("created") else []))


def _section(title, head, rows, note=None) -> list[str]:
    """Return the lines of a section with a table; none without rows."""
    return [f"## {title}", "", *([note, ""] if note else []), *_table(head, rows)] if rows else []


def _dict(value) -> dict:
    return value if isinstance(value, dict) else {}


def _measures(lines) -> tuple:
    """Return the head and the rows of a table: a row for each measure, and columns for 1, 3, 5 and the largest k."""
    found = {(str(line.get("measure")), line.get("k")): line for line in lines if isinstance(line.get("k"), int)}
    most = max((k for _, k in found), default=0)
    ks = sorted({1, 3, 5, most} & {k for _, k in found})
    names = dict.fromkeys(name for name, _ in found)
    rows = [(name.removesuffix("@k"), *(_measure(found.get((name, k), {})) for k in ks)) for name in names]
    return ("measure", *(f"at {k}" for k in ks)), rows


def _measure(line) -> str:
    """Return a value with its interval, as far as they are known."""
    known = all(isinstance(line.get(part), (int, float)) for part in ("low", "high"))
    return _percent(line.get("value")) + (
        f" ({hundredths(line['low'])} to {hundredths(line['high'])})" if known else ""
    )


def _percent(value) -> str:
    return hundredths(value if isinstance(value, (int, float)) else None, "not defined")


def _count(value) -> str:
    """Return a number with separators of thousands, anything else as text."""
    return f"{value:,}" if isinstance(value, int) else _inline(value)


def _table(head, rows) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(_inline(cell) for cell in row) + " |" for row in rows] + [""]


def _inline(value) -> str:
    """Return a value as one line of text in which nothing is markup."""
    if isinstance(value, bool) or value is None:
        value = {True: "yes", False: "no", None: "none"}[value]
    elif isinstance(value, int):
        value = f"{value:,}"
    elif isinstance(value, float):
        value = significant(value, 6)
    return re.sub(r"([\\`*_\[\]<>|$#])", r"\\\1", " ".join(str(value)[:1000].split()))
