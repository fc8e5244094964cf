"""Excel workbooks (.xlsx, .xlsm): their one table is read as CSV, whose lines are the rows of the sheet."""

import csv
import datetime
import io
import zipfile
from collections.abc import Iterator
from itertools import islice

from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.extras import require

MARK = "xl/workbook.xml"  # a file that each of these archives has
_LOOKED_AT = 1000  # rows of a sheet, of which one has a cell if the sheet is not empty
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
        yield from _lines(_only_table(book.worksheets, source))
    except (DatasetFormatError, MemoryError):
        raise
    except Exception as error:  # damaged XML makes openpyxl raise nearly everything
        found = f"the Excel workbook cannot be read ({type(error).__name__}: {error!s:.200})"
        raise source.error(found, _REMEDY) from error


def _only_table(sheets, source):
    """Return the one sheet that has cells."""
    for sheet in sheets:
        sheet.reset_dimensions()  # some programs write wrong ones
    filled = [sheet for sheet in sheets if any(map(_width, islice(sheet.iter_rows(values_only=True), _LOOKED_AT)))]
    if len(filled) > 1:
        titles = ", ".join(repr(sheet.title) for sheet in filled[:5]) + (", ..." if len(filled) > 5 else "")
        remedy = "Leave one of them in it, or save the one with the rows as CSV."
        raise source.error(f"the Excel workbook has {len(filled)} sheets with cells ({titles:.200})", remedy)
    if not filled:
        raise source.error("the Excel workbook is empty", "Give one with a row of names, and a row for each document.")
    return filled[0]


def _lines(sheet):
    buffer, width, empty = io.StringIO(), 0, 0
    writer = csv.writer(buffer)
    for row in sheet.iter_rows(values_only=True):
        if not (used := _width(row)):
            empty += 1  # handed on if rows follow, so that lines keep their numbers
            continue
        buffer.write("\n" * empty)
        width, empty = width or used, 0
        writer.writerow([_text(row[j]) if j < len(row) else "" for j in range(max(width, used))])
        if buffer.tell() > _PIECE:
            yield buffer.getvalue().encode("utf-8", "replace")
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode("utf-8", "replace")


def _width(row) -> int:
    """Return the number of cells of a row, without empty ones at its end."""
    return next((j for j in range(len(row), 0, -1) if row[j - 1] not in (None, "")), 0)


def _text(value) -> str:
    """Return a cell as a spreadsheet program would write it into CSV."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return str(int(value))
    return value.isoformat(" ") if isinstance(value, datetime.datetime) else str(value)
