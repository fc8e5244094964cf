"""Tables of labels whose names are written in full, over several lines where needed."""

import math

import pandas as pd

from pages.shared import tables

NAMES = (110, 200)  # smallest and largest width of a column of names, in pixels
LETTER, PADDING = 7.5, 20  # width of a letter and of the space around a cell's text, in pixels
LINE, SPACE = 20, 15  # height of a line of text and of the space around a cell's lines, in pixels


def width(names, most: int = NAMES[1]) -> int:
    """Return the width of a column of names, in pixels: the longest one is seen in full, up to ``most``."""
    text = LETTER * max((len(name) for name in names), default=0)
    return math.ceil(min(max(text + PADDING, NAMES[0]), most))


def sizes(names, most: int = NAMES[1]) -> tuple[int, int]:
    """Return the width of a column of names and the height of its rows, in pixels: the longest name is seen in full."""
    text = LETTER * max((len(name) for name in names), default=0)
    wide = width(names, most)
    room = wide - PADDING
    # Words are not broken, so lines are not full: a little less than the width is counted on.
    lines = math.ceil(text / (room - 3 * LETTER)) if text > room else 1
    return wide, LINE * lines + SPACE


def show(frame: pd.DataFrame, names: dict, config: dict, key: str, most: int = NAMES[1], **settings) -> None:
    """Show a table of labels; ``names`` gives the titles of the columns that hold names, ``config`` has the others."""
    wide, height = sizes([text for column in names for text in frame[column]], most)
    config = config | {column: tables.text(title, wide) for column, title in names.items()}
    tables.show(frame, key, {column: config[column] for column in frame.columns}, row_height=height, **settings)
