"""Tables of labels, with columns as wide as their names need."""

import math

import pandas as pd

from pages.shared import tables

NAMES = (110, 200)  # smallest and largest width of a column of names, in pixels


def width(names, most: int = NAMES[1]) -> int:
    """Return the width of a column of names, in pixels: the longest one is seen in full, up to ``most``."""
    text = tables.LETTER * max((len(name) for name in names), default=0)
    return math.ceil(min(max(text + tables.CELL, NAMES[0]), most))


def show(frame: pd.DataFrame, names: dict, config: dict, key: str, most: int = NAMES[1], **settings) -> None:
    """Show a table of labels; ``names`` gives the titles of the columns that hold names, ``config`` has the others."""
    wide = width([text for column in names for text in frame[column]], most)
    config = config | {column: tables.text(title, wide) for column, title in names.items()}
    tables.show(frame, key, {column: config[column] for column in frame.columns}, **settings)
