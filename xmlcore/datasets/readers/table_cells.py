"""The lines of a table and their cells, where quotes may hold separators and line ends; cells as numbers or texts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.datasets.readers import xmlc
from xmlcore.datasets.readers.sources import NamedSource, text_of

MISSING = ["", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "-nan", "<NA>"]  # cells without a value
# Names of a column of ids, in lower case.
ID_NAMES = ("id", "ids", "_id", "doc_id", "docid", "document_id", "key", "uri", "url", "identifier")
NUMBER = re.compile(xmlc.NUMBER.pattern.decode() + r"|[+-]?(nan|inf(inity)?)", re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
LONGEST_NUMBER = 1000  # characters
# Words that stand for 1 and 0: the first of both in all columns, the others only in columns of labels.
YES, NO = ("true", "t", "yes", "y"), ("false", "f", "no", "n")
LABEL_RULE = "Columns of labels hold 0 and 1, true and false, or yes and no."
_NO_TEXT = re.compile("[\ud800-\udfff]")  # what stands for bytes that are no UTF-8
_BLOCK = 1 << 20  # characters of the rows that are in memory as cells at a time


@dataclass(frozen=True)
class CellForm:
    """How a table is written."""

    separator: str
    names: list[str] | None  # None if the first line is a row of numbers
    n_columns: int
    decimal: str  # a point, or a comma
    sample: list[list[str]]  # some of the first rows
    source: NamedSource

    def called(self, column: int) -> str:
        return repr(self.names[column][:40]) if self.names is not None else f"{column + 1:,}"

    def some_cells(self, columns) -> list[str]:
        """Return the cells of the sample in some columns."""
        return [row[column].strip() for row in self.sample for column in columns if column < len(row)]


class DecimalComma(Exception):
    """A number has a decimal comma, where the mark was taken to be a point."""


class TextColumns(Exception):
    """Some columns have text where numbers are needed; the argument: their numbers."""


def numbers(block, features, labels, leave_out=False):
    """Return the numbers of the columns of features and labels of a block as float64; missing cells are NaN."""
    values, of_text = np.empty((len(block.rows), len(features) + len(labels))), []
    for at, column in enumerate([*features, *labels]):
        cells = block.texts(column)
        found = _plain_numbers(cells, block.form.decimal)
        if found is None:
            found = _numbers_and_words(block, column, cells, at >= len(features), leave_out)
        if found is None:
            of_text.append(column)
        else:
            values[:, at] = found
    if of_text:
        raise TextColumns(of_text)
    return values


def is_number(cell, decimal):
    return cell in MISSING or bool(NUMBER.fullmatch(cell.replace(decimal, ".")))


def _plain_numbers(cells, decimal):
    """Return cells as numbers; None if one is no number, or may be none."""
    every = "".join(cells)
    if not every.isascii() or "_" in every or max(map(len, cells)) > LONGEST_NUMBER:
        return None
    if decimal == ",":
        if "." in every:
            return None
        cells = [cell.replace(",", ".") for cell in cells]
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None


def _numbers_and_words(block, column, cells, is_label, leave_out):
    """Return cells as numbers where words may stand for some: see :data:`YES`; None for texts that are left out."""
    words = {YES[0]: 1.0, NO[0]: 0.0, **dict.fromkeys(map(str.lower, MISSING), np.nan)}
    words |= {**dict.fromkeys(YES, 1.0), **dict.fromkeys(NO, 0.0)} if is_label else {}
    known = {}
    for row, cell in enumerate(cells):
        if cell not in known:
            known[cell] = _number(cell.strip(), block.form, words)
            if known[cell] is None:
                if leave_out and not is_label:
                    return None
                raise _no_number(block, row, column, cell.strip(), is_label)
    return [known[cell] for cell in cells]


def _number(cell, form, words):
    value = words.get(cell.lower())
    if value is not None:
        return value
    if form.decimal == "." and form.separator != "," and DECIMAL_COMMA.fullmatch(cell):
        raise DecimalComma
    number = cell.replace(form.decimal, ".")
    if len(cell) > LONGEST_NUMBER or not NUMBER.fullmatch(number) or (form.decimal == "," and "." in cell):
        return None
    return float(number)


def _no_number(block, row, column, cell, is_label):
    form, name = block.form, block.form.called(column)
    found, remedy, argument = f"{cell[:40]!r} in column {name} is not a number", None, {}
    if len(cell) > LONGEST_NUMBER:
        found = f"{cell[:40]!r}... in column {name} has {len(cell):,} characters"
        remedy = f"Numbers have at most {LONGEST_NUMBER:,}."
    elif form.decimal == "," and "." in cell and NUMBER.fullmatch(cell.replace(".", "").replace(",", ".")):
        found = f"{cell[:40]!r} in column {name} has a point, but other numbers a decimal comma"
        remedy = "Write all decimals in the same way, and no points or commas between thousands."
    elif form.decimal == "." and DECIMAL_COMMA.fullmatch(cell):
        found = f"{cell[:40]!r} in column {name} has a comma"
        remedy = "Write decimals with a point, and no commas between thousands, or separate the cells by semicolons."
    elif is_label:
        found = f"the label {name} is {cell[:40]!r}"
        remedy, argument = f"{LABEL_RULE} Or name the column, if it lists labels.", {"argument": "labels"}
    else:
        remedy = (
            "Features are numbers, true or false. Remove columns of text, or have them left out; if one lists labels, "
        )
        remedy, argument = f"{remedy}name it as that of the labels.", {"argument": "leave_out", "value": True}
    return block.error(found, remedy, row, column, **argument)


# ---- lines ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowBlock:
    """Some consecutive rows of a table."""

    form: CellForm
    lines: tuple[int, ...]  # of the file, from 1, in which each row starts
    records: tuple[str, ...]  # the rows as they are written
    rows: tuple[list[str], ...]  # their cells

    def texts(self, column: int) -> list[str]:
        """Return the cells of a column; raise DatasetFormatError if one is not UTF-8."""
        cells = [cells[column] for cells in self.rows]
        for row, cell in enumerate(cells):
            if not is_decoded(cell):
                problem = f"a cell in column {self.form.called(column)} is not UTF-8"
                raise self.error(problem, "Save the file as UTF-8.", row, column)
        return cells

    def error(self, found, remedy, row: int, cell: int | None = None, **argument) -> DatasetFormatError:
        """Return the error to raise for a row, or the byte within its line, from 1, at which a cell starts."""
        column = None
        if cell is not None:
            before = _raw_cells(self.records[row], self.form.separator)[:cell]
            column = 1 + sum(len(in_bytes(part)) + 1 for part in before)
        return self.form.source.error(found, remedy, self.lines[row], column, **argument)


def in_bytes(cell: str) -> bytes:
    """Return a cell as it is in the file, also where that is not UTF-8."""
    return cell.encode("utf-8", "surrogateescape")


def is_decoded(cell: str) -> bool:
    """Return whether a cell is UTF-8 in the file."""
    return cell.isascii() or not _NO_TEXT.search(cell)


def _records(text) -> Iterator[tuple[int, str]]:
    """Yield the first line, from 1, and the text of each row, which may have line ends in quotes."""
    parts, is_open = [], False
    for number, line in enumerate(text_of([text], "utf-8", lone_cr=False, errors="surrogateescape"), 1):
        parts.append(line)
        is_open ^= line.count('"') % 2 == 1
        if not is_open:
            yield number - len(parts) + 1, "".join(parts).rstrip("\r\n")
            parts = []
    if parts:
        yield number - len(parts) + 1, "".join(parts).rstrip("\r\n")


def first_records(text, count: int) -> list[str]:
    """Return up to ``count`` first rows of a text that are not blank, as they are written."""
    return list(islice((record for _, record in _records(text) if record.strip()), count))


def cells(record: str, separator: str) -> list[str]:
    found = []
    for cell in _raw_cells(record, separator):
        plain = cell.strip(" ")
        if len(plain) >= 2 and plain[:1] == plain[-1:] == '"':
            plain = plain[1:-1].replace('""', '"')
        found.append(plain)
    return found


def _raw_cells(record, separator):
    if '"' not in record:
        return record.split(separator)
    found, parts, is_open = [], [], False
    for piece in record.split(separator):
        parts.append(piece)
        is_open ^= piece.count('"') % 2 == 1
        if not is_open:
            found.append(separator.join(parts))
            parts = []
    return [*found, separator.join(parts)] if parts else found


def blocks(text, form: CellForm) -> Iterator[RowBlock]:
    """Yield the rows of a table, those that are not blank, in blocks of about a megabyte."""
    every = ((line, record, cells(record, form.separator)) for line, record in _records(text))
    rows = (row for row in every if len(row[2]) > 1 or row[1].strip())
    if form.names is not None:
        next(rows, None)
    found, size = [], 0
    for row in rows:
        found.append(row)
        size += len(row[1])
        if size >= _BLOCK:
            yield RowBlock(form, *zip(*found))
            found, size = [], 0
    if found:
        yield RowBlock(form, *zip(*found))
