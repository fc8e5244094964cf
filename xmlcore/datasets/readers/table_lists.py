"""Labels from the cells of a table's column that lists those of each row, such as ``red;blue``."""

import ast
import json
import re
import warnings

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.errors import DatasetFormatError, warn
from xmlcore.datasets.readers.xmlc import canonical_csr

SEPARATORS = (";", "|", ",")  # between the labels of one cell, in the order in which they are preferred
IDS = re.compile(r"[0-9]+( +[0-9]+)*")
BRACKETS = {"[": "]", "(": ")", "{": "}"}


def listed(cells, lines, source, column, missing) -> tuple[sp.csr_array, list[str]]:
    """Return the labels that cells list, and their names in alphabetical order."""
    cells = [cell.strip() for cell in cells]
    rows = _lists(cells, lines, source, column, missing) or _separated(cells, missing)
    several = set().union(*(row for row in rows if len(row) > 1))
    absent = {name for name in missing - several if name}
    gone = [i for i, row in enumerate(rows) if len(row) == 1 and row[0] in absent]
    if gone:
        are = "1 cell is" if len(gone) == 1 else f"{len(gone):,} cells are"
        shown = f"{cells[gone[0]]!r:.200} in line {int(lines[gone[0]]):,}"
        warn(f"{source}: {are} missing in column {column}, first {shown}: read as no labels")
        for i in gone:
            rows[i] = []
    sets = [{name for name in row if name} for row in rows]
    names = sorted(set().union(*sets))
    number = {name: j for j, name in enumerate(names)}
    indptr = np.cumsum([0, *map(len, sets)])
    indices = np.array([j for row in sets for j in sorted(number[name] for name in row)], np.int32)
    return canonical_csr(indptr, indices, np.ones(indices.size, bool), len(names)), names


def _separated(cells, missing):
    mark = next((mark for mark in SEPARATORS if any(mark in cell for cell in cells)), None)
    if mark is None and all(IDS.fullmatch(cell) for cell in cells if cell not in missing):
        mark = " "
    return [[name.strip() for name in (cell.split(mark) if mark else [cell])] for cell in cells]


def _lists(cells, lines, source, column, missing):
    """Return the labels of cells that are lists of Python or JSON; None if not all cells are in brackets."""
    filled = [i for i, cell in enumerate(cells) if cell not in missing]
    if not filled or not all(len(c) > 1 and BRACKETS.get(c[0]) == c[-1] for c in (cells[i] for i in filled)):
        return None
    rows = [[cell] for cell in cells]
    for i in filled:
        names = as_list(cells[i])
        if names is None:
            found = f"{cells[i][:40]!r} in column {column} is no list of names"
            remedy = "Write the labels as red;blue, or all cells as lists of Python: ['red', 'blue']."
            raise DatasetFormatError(source, found, remedy, int(lines[i]))
        rows[i] = names
    return rows


def as_list(cell: str) -> list[str] | None:
    """Return the names in a list of Python or JSON; None if it is none."""
    if cell in ("set()", "{}"):
        return []
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of backslashes
                value = ast.literal_eval(cell)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None
    if not isinstance(value, (list, tuple, set)):
        return None
    if not all(isinstance(name, (str, int)) and not isinstance(name, bool) for name in value):
        return None
    names = [str(name).strip() for name in value]
    return None if any("\ud800" <= letter <= "\udfff" for name in names for letter in name) else names
