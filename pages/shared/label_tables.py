"""Tables of labels whose names are written in full, over several lines where needed."""

import pandas as pd

from pages.shared import tables


def show(frame: pd.DataFrame, names: dict, config: dict, key: str, most: int = tables.WIDEST, **settings) -> None:
    """Show a table of labels; ``names`` gives the titles of the columns that hold names, ``config`` has the others."""
    config = config | {column: tables.text(title) for column, title in names.items()}
    tables.show(frame, key, {column: config[column] for column in frame.columns}, widest=most, **settings)
