"""Model cards as text: what a packed model is, for people."""

import re

_LOAD_ROWS = """from xmlcore import load_model
model = load_model("model.zip")
model.predict_topk(X, k=5)  # rows with the features of the training data, in the same order"""
_LOAD_TEXTS = """from xmlcore import load_model
model = load_model("model.zip")
model.suggest(["A text to label"], k=5)"""


def card_text(card: dict, is_text: bool) -> str:
    """Return a model card as Markdown.

    Parameters
    ----------
    card : dict
        See :func:`xmlcore.experiment.pack_run`. Parts that it does not have are left out.
    is_text : bool
        Whether the model takes texts.

    Returns
    -------
    str
    """
    data = _dict(card.get("data"))
    lines = [f"# {_inline(card.get('name') or card.get('model') or 'Model')}", ""]
    takes = "texts" if is_text else f"rows of {_count(card.get('features'))} features"
    lines += [f"A model of the class {_inline(card.get('model'))}. It takes {takes} and ranks "
              f"{_count(card.get('labels'))} labels.", "", "## Load it", "", "```python"]  # fmt: skip
    lines += [_LOAD_TEXTS if is_text else _LOAD_ROWS, "```", "", "Or behind a URL: `xmlcore serve model.zip`", ""]
    if data:
        lines += ["## Data", "", *_table(("what", "value"), data.items())]
    measures = [line for line in card.get("measures") or () if isinstance(line, dict)]
    if measures:
        lines += ["## Measures", "", "On the test rows, in %; 95 % intervals over test rows where they are known.", ""]
        lines += _table(("measure", "value", "interval"), [_measure(line) for line in measures])
    for title, part in (("Parameters", "parameters"), ("Chosen by the model", "chosen"), ("Times", "times"),
                        ("Size", "size"), ("Versions", "versions")):  # fmt: skip
        values = _dict(card.get(part))
        if values:
            lines += [f"## {title}", "", *_table(("name", "value"), values.items())]
    if card.get("created"):
        lines += [f"Made at {_inline(card['created'])}.", ""]
    return "\n".join(lines)


def _dict(value) -> dict:
    """Return a value if it is a dict, else an empty one."""
    return value if isinstance(value, dict) else {}


def _measure(line):
    """Return the cells of a measure."""
    name = str(line.get("measure", "")).replace("@k", f"@{line.get('k')}")
    known = all(isinstance(line.get(part), (int, float)) for part in ("low", "high"))
    return name, _percent(line.get("value")), f"{_percent(line['low'])} to {_percent(line['high'])}" if known else ""


def _percent(value) -> str:
    """Return a share in percent."""
    return f"{100 * value:.2f}" if isinstance(value, (int, float)) else "not defined"


def _count(value) -> str:
    """Return a number with separators of thousands, anything else as text."""
    return f"{value:,}" if isinstance(value, int) else _inline(value)


def _table(head, rows) -> list[str]:
    """Return the lines of a table in Markdown, and an empty one."""
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
