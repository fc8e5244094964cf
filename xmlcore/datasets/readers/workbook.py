"""Excel workbooks (.xlsx, .xlsm): their one table is read as CSV, whose lines are the rows of the sheet."""

import datetime
import re
import zipfile
from collections.abc import Iterator

from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.extras import require
from xmlcore.wording import listed

MARK = "xl/workbook.xml"  # a file that each of these archives has
_MOST_ROWS = 1 << 20  # of a sheet in Excel; what follows a higher number would be read for hours
_MARKS = re.compile(r"[,;|\t\"\r\n]")  # of all tables: a cell with one of them is quoted
_PIECE = 1 << 20  # characters of CSV that are handed on at a time
_REMEDY = "Open it in a spreadsheet program and save it again, as .xlsx or as CSV."


def csv_of(stream, source) -> Iterator[bytes]:
    """Yield the table of a workbook, an open stream, as CSV in UTF-8; ``source`` makes the errors."""
    require("excel", "openpyxl")
    import openpyxl

    with zipfile.ZipFile(stream) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > source.max_bytes:  # no more than this is unpacked
            raise source.too_large()
    try:
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
        yield from _lines(_only_table(book.worksheets, source), source)
    except (DatasetFormatError, MemoryError):
        raise
    except Exception as error:  # damaged XML makes openpyxl raise nearly everything
        found = f"the Excel workbook cannot be read ({type(error).__name__}: {error!s:.200})"
        raise source.error(found, _REMEDY) from error


def _only_table(sheets, source):
    """Return the one sheet that has cells."""
    for sheet in sheets:
        sheet.reset_dimensions()  # some programs write wrong ones
    filled = [sheet for sheet in sheets if any(_width(row) for row in _rows(sheet, source))]
    if len(filled) > 1:
        titles = listed(repr(one.title) + " (hidden)" * (one.sheet_state != "visible") for one in filled)
        remedy = "Leave one of them in it, or save the one with the rows as CSV."
        raise source.error(f"the Excel workbook has {len(filled)} sheets with cells ({titles})", remedy)
    if not filled:
        raise source.error("the Excel workbook is empty", "Give one with a row of names, and a row for each document.")
    return filled[0]


def _rows(sheet, source):
    for number, row in enumerate(sheet.iter_rows(values_only=True)):
        if number == _MOST_ROWS:
            raise source.error(f"the Excel workbook has a row after row {_MOST_ROWS:,}, the last one of Excel", _REMEDY)
        yield row


def _lines(sheet, source):
    parts, size, width, empty, total = [], 0, 0, 0, 0
    for row in _rows(sheet, source):
        if not (used := _width(row)):
            empty += 1  # handed on if rows follow, so that lines keep their numbers
            continue
        width = width or used
        cells = [_text(row[j]) if j < len(row) else "" for j in range(max(width, used))]
        total += sum(map(len, cells))  # cells may share one long text
        if total > source.max_bytes:
            raise source.too_large()
        cells = ('"' + cell.replace('"', '""') + '"' if _MARKS.search(cell) else cell for cell in cells)
        parts.append("\n" * empty + ",".join(cells) + "\n")
        size, empty = size + len(parts[-1]), 0
        if size > _PIECE:
            yield "".join(parts).encode("utf-8", "replace")
            parts, size = [], 0
    yield "".join(parts).encode("utf-8", "replace")


def _width(row) -> int:
    """Return the number of cells of a row, without empty ones at its end."""
    return next((j for j in range(len(row), 0, -1) if row[j - 1] not in (None, "")), 0)


def _text(value) -> str:
    """Return the value of a cell, without its format in the sheet."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return str(value.date() if value.time() == datetime.time() else value)
    return str(value)
