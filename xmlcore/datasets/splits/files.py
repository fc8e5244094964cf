"""Files that list the rows of a split."""

import numpy as np

from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.datasets.readers.sources import read_text, source_name
from xmlcore.typing import Source
from xmlcore.validation import check_count

PUBLISHED_SPLIT = "Training and test rows are"  # begins the note on a data set that has a published split of its rows


def read_row_numbers(
    source: Source, n_rows: int | None = None, column: int = 0, *, first: int = 1, name: str | None = None
) -> np.ndarray:
    """Read the row numbers of a part from a file, as the Extreme Classification Repository's split files have them.

    Parameters
    ----------
    source : path, bytes, or binary file object
        A text with a line of whole numbers for each row of the part, separated by spaces, tabs or commas: the first
        number of each line belongs to the first split, the second to the second, and so on. Such files are called
        ``trSplit.txt`` and ``tstSplit.txt``. May be compressed.
    n_rows : int, optional
        Number of rows of the data; without it, numbers that are too large are not found here.
    column : int
        Which split, from 0.
    first : {1, 0}
        The number of the first row. The repository counts from 1.
    name : str, optional
        Name of the source in errors; by default its file name.

    Returns
    -------
    ndarray of int64
        Row numbers from 0, in the order of the file.

    Raises
    ------
    DatasetFormatError
        A line has another number of columns than the first line, something is not the number of a row, or a row is
        listed twice. The error has the line.
    """
    label = source_name(source, name)
    n_rows = None if n_rows is None else check_count(n_rows, "n_rows", 0)
    column, first = check_count(column, "column", 0), check_count(first, "first", 0, 1)
    lines = read_text(source, name=name).tobytes().decode("utf-8", "replace").splitlines()
    rows, seen, width = [], {}, None
    for number, line in enumerate(lines, 1):
        parts = line.replace(",", " ").split()
        if not parts:
            continue
        width = len(parts) if width is None else width
        if len(parts) != width:
            found = f"the line has {len(parts)} numbers, but the first line has {width}"
            raise DatasetFormatError(label, found, "Each line needs one row number for each split.", number)
        if column >= width:
            found = f"there is no split {column + 1}: the file has {width} column{'s' if width > 1 else ''}"
            raise DatasetFormatError(label, found, "Choose a smaller number of the split.", number)
        text = parts[column]
        row = int(text) - first if text.isdecimal() and len(text) < 19 else -1
        if row < 0 or (n_rows is not None and row >= n_rows):
            most = "" if n_rows is None else f" to {n_rows - 1 + first:,}"
            remedy = f"Row numbers are whole numbers from {first}{most}."
            if text == "0" and first == 1:
                remedy += " If the first row has the number 0, pass first=0."
            raise DatasetFormatError(label, f"{text[:40]!r} is not the number of a row", remedy, number)
        if row in seen:
            found = f"row {text} is listed twice: line {seen[row]:,} has it too"
            raise DatasetFormatError(label, found, "List each row once.", number)
        seen[row] = number
        rows.append(row)
    if not rows:
        raise DatasetFormatError(label, "it lists no rows", "Give a file with one row number per line.")
    return np.array(rows, np.int64)


def read_split(train, test, n_rows: int) -> tuple[tuple[np.ndarray, np.ndarray], list[str]]:
    """Read the first split of two files of row numbers, without test rows that are training rows too."""
    train_rows, test_rows = read_row_numbers(train, n_rows), read_row_numbers(test, n_rows)
    notes = [f"{PUBLISHED_SPLIT} the first of the published splits."]
    leaks = np.isin(test_rows, train_rows)
    if leaks.all():
        found = "all of its rows are training rows too"
        raise DatasetFormatError(source_name(test), found, "Replace it by a file with the numbers of other rows.")
    if leaks.any():
        rows_are = "1 test row" if leaks.sum() == 1 else f"{int(leaks.sum()):,} test rows"
        notes.append(f"Left out: {rows_are}, which the split has among the training rows too.")
    return (train_rows, test_rows[~leaks]), notes
