"""Changes of a test row on the Explain page, as an address says them."""

import math
import re

import numpy as np

MOST = 60  # changes of a row in an address at most
_ONE = re.compile(r"([0-9]{1,9})~(x|[-+]?[0-9.]+(?:e[-+]?[0-9]+)?)")


def between(before, after) -> list:
    """Return how two rows, sparse and of shape (1, D), differ: lists of a feature and its value, None if it is gone."""
    old, new = (dict(zip(x.indices.tolist(), x.data.tolist())) for x in (before, after))
    changed = sorted(j for j in old.keys() | new.keys() if old.get(j) != new.get(j))
    return [[j, float(str(np.float32(new[j]))) if j in new else None] for j in changed]


def text(edits: list) -> str:
    """Return changes as an address says them, such as ``12~0.5_17~x``; empty when they are too many."""
    if len(edits) > MOST:
        return ""
    return "_".join(f"{j}~{'x' if value is None else repr(value)}" for j, value in edits)


def parsed(text: str) -> list:
    """Return the changes that an address says: of each feature the last one, and only what has the form of a change."""
    found = [(int(j), None if value == "x" else _number(value)) for j, value in _ONE.findall(text)]
    return [[j, value] for j, value in dict(found[:MOST]).items() if value is None or math.isfinite(value)]


def _number(text) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
