"""Model cards as text: what a packed model is, for people."""

import re

from xmlcore.wording import hundredths

_LOAD_ROWS = """from xmlcore import load_model
model = load_model("model.zip")  # or what this file is called
model.predict_topk(X, k=5)  # rows with the features of the training data, in the same order"""
_LOAD_TEXTS = """from xmlcore import load_model
model = load_model("model.zip")  # or what this file is called
model.suggest(["A text to label"], k=5)"""
_DECIDED = """
from xmlcore.decisions import rule_of
rule_of(model).probabilities({})  # the deciding P of what predict returns; predict_proba has that of scores"""


def card_text(card: dict, is_text: bool, decision: str, has_rule: bool) -> str:
    data = _dict(card.get("data"))
    lines = [f"# {_inline(card.get('name') or card.get('model') or 'Model')}", ""]
    takes = "texts" if is_text else f"rows of {_count(card.get('features'))} features"
    lines += [f"A model of the class {_inline(card.get('model'))}. It takes {takes} and ranks "
              f"{_count(card.get('labels'))} labels. `predict` returns {_inline(decision)}."]  # fmt: skip
    lines += ["", "## Load it", "", "```python"]
    code = _LOAD_TEXTS if is_text else _LOAD_ROWS
    code += _DECIDED.format('["A text to label"]' if is_text else "X") if has_rule else ""
    lines += [code, "```", "", "Or behind a URL: `xmlcore serve model.zip`", ""]
    if data:
        known = {name: value for name, value in data.items() if value not in ("", None)}
        lines += ["## Data", "", *_table(("what", "value"), known.items())]
    listed = card.get("measures")
    measures = [line for line in listed if isinstance(line, dict)] if isinstance(listed, list) else []
    if measures:
        lines += ["## Measures", "", "On the test rows, in %; in brackets 95 % intervals over test rows.", ""]
        lines += _measures(measures)
    decided = _dict(card.get("decided"))
    if decided:
        values = [(name, value if name == "labels" else _percent(value)) for name, value in decided.items()]
        lines += ["## Labels that predict returns", "", "On the test rows: their number for a row, the rest in %.", ""]
        lines += _table(("measure", "value"), values)
    for title, part in (("Parameters", "parameters"), ("Chosen by the model", "chosen"), ("Times", "times"),
                        ("Size", "size"), ("Versions", "versions")):  # fmt: skip
        values = _dict(card.get(part))
        if values:
            lines += [f"## {title}", "", *_table(("name", "value"), values.items())]
    if card.get("created"):
        lines += [f"Made at {_inline(card['created'])}.", ""]
    return "\n".join(lines)


def _dict(value) -> dict:
    return value if isinstance(value, dict) else {}


def _measures(lines) -> list[str]:
    """Return the lines of a table with a row for each measure, and columns for 1, 3, 5 and the largest k."""
    found = {(str(line.get("measure")), line.get("k")): line for line in lines if isinstance(line.get("k"), int)}
    most = max((k for _, k in found), default=0)
    ks = [k for k in sorted({1, 3, 5, most}) if any(at == k for _, at in found)]
    names = dict.fromkeys(name for name, _ in found)
    rows = [(name.removesuffix("@k"), *(_measure(found.get((name, k), {})) for k in ks)) for name in names]
    return _table(("measure", *(f"at {k}" for k in ks)), rows)


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
        value = f"{value:.6g}"
    return re.sub(r"([\\`*_\[\]<>|$#])", r"\\\1", " ".join(str(value)[:1000].split()))
