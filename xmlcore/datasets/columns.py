"""Columns of a user's table beside its texts and labels: they say which rows belong together."""

import functools
import re

import numpy as np

from xmlcore.datasets.readers.names import visible
from xmlcore.datasets.readers.table_cells import ID_NAMES, MISSING
from xmlcore.first_use import pd
from xmlcore.typing import DataFrame
from xmlcore.wording import listed

LONGEST, MOST = 100, 50  # characters of a value, and columns that are kept
LONG = object()  # in the place of lists, and of texts of more characters
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?", re.ASCII)


def short(value):
    """Return a cell as a short text, None if it is missing, or LONG."""
    if value is None or isinstance(value, (list, tuple, dict, bytes)):
        return LONG if value else None
    return _short(value if isinstance(value, str) else str(value))


@functools.lru_cache(1 << 16)
def _short(text):
    text = text[: 2 * LONGEST].strip()
    return None if text in MISSING else visible(text) if len(text) <= LONGEST else LONG


def kept_columns(parts: list[dict[str, list]]) -> tuple[dict, list[str]]:
    """Return the columns that can make groups, of one or two files one after the other, and a note on all columns."""
    found, left_out = {}, {}
    for column in dict.fromkeys(column for part in parts for column in part):
        cells = np.array([value for part in parts for value in part.get(column, ())], dtype=object)
        codes, texts = pd.factorize(cells)
        are_numbers = all(text is not LONG and _NUMBER.fullmatch(text) for text in texts)
        name, why = visible(column)[:LONGEST], _useless(texts, np.count_nonzero(codes >= 0), are_numbers)
        if not all(column in part for part in parts):
            why = "not in both files"
        elif column.lower() in ID_NAMES or name in found:
            why = "a name of each row" if name not in found else "named like another"
        elif not why and len(found) == MOST:
            why = f"beyond the first {MOST}"
        if why:
            left_out.setdefault(why, []).append(name)
        elif are_numbers:
            found[name] = np.array([*map(float, texts), np.nan])[codes]
        else:
            found[name] = pd.Series(pd.Categorical.from_codes(codes, texts))
    count = "1 column" if len(found) == 1 else f"{len(found)} columns"
    notes = [f"{count} kept for groups of rows: {listed(found)}."] if found else []
    reasons = "; ".join(f"{listed(columns)} ({why})" for why, columns in left_out.items())
    notes += [f"Columns left out: {reasons}."] if left_out else []
    return found, notes


def _useless(texts, n_filled, are_numbers) -> str:
    """Return why a column with these different values cannot make groups; "" if it can."""
    if any(text is LONG for text in texts):
        return f"lists, or values of more than {LONGEST} characters"
    if len(texts) < 2:
        return "fewer than two values"
    are_ids = len(texts) == n_filled and all(map(str.isdecimal, texts)) if are_numbers else 2 * len(texts) > n_filled
    return "nearly as many values as rows" if are_ids else ""


def check_columns(columns, n_rows: int) -> DataFrame:
    """Return columns with a value of each row: numbers as float64, all others as categories of texts."""
    frame = pd.DataFrame(columns).reset_index(drop=True)
    if len(frame) != n_rows:
        raise ValueError(f"columns has {len(frame):,} rows, but there are {n_rows:,} training and test rows")
    if not frame.columns.is_unique or not all(isinstance(name, str) for name in frame.columns):
        raise ValueError("columns needs names that are strings, each once")
    for name, values in frame.items():
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            frame[name] = values.astype(np.float64)
        else:
            frame[name] = values.astype(object).map(str, na_action="ignore").astype("category")
    return frame


def codes_of(values) -> tuple[np.ndarray, list[str]]:
    """Return the numbers of a column and no texts, or the numbers of its texts, -1 for none, and the texts."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.cat.codes.to_numpy(), [*values.cat.categories]
    return values.to_numpy(), []
