"""Tables of labels whose names are written in full, over several lines where needed."""

import math

import pandas as pd
import streamlit as st

NAME = 200  # width of a column of names, in pixels
LETTER, PADDING = 7.5, 20  # width of a letter and of the space around a cell's text, in pixels
LINE, SPACE = 20, 15  # height of a line of text and of the space around a cell's lines, in pixels


def row_height(names) -> int:
    """Return the height of a row, in pixels, in which the longest of the names fits a column of names."""
    longest = max((len(name) for name in names), default=0)
    room = NAME - PADDING
    # Words are not broken, so lines are not full: a little less than the width is counted on.
    lines = math.ceil(longest * LETTER / (room - 3 * LETTER)) if longest * LETTER > room else 1
    return LINE * lines + SPACE


def show(frame: pd.DataFrame, names: dict, config: dict, key: str, **settings) -> None:
    """Show a table of labels; ``names`` gives the titles of the columns that hold names, ``config`` has the others."""
    texts = [name for column in names for name in frame[column]]
    st.dataframe(
        frame,
        hide_index=True,
        key=key,
        row_height=row_height(texts),
        column_config={
            **{column: st.column_config.TextColumn(title, width=NAME) for column, title in names.items()},
            **config,
        },
        **settings,
    )
