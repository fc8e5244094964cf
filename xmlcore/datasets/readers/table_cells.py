"""The lines of a table and their cells, where quotes may hold separators and line ends; cells as numbers or texts."""

import io
import itertools
import re
from dataclasses import dataclass

import numpy as np

from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.datasets.readers import xmlc
from xmlcore.datasets.readers.sources import NamedSource
from xmlcore.first_use import pd

MISSING = ["", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "-nan", "<NA>"]  # cells without a value
# Names of a column of ids, in lower case.
ID_NAMES = ("id", "ids", "_id", "doc_id", "docid", "document_id", "key", "uri", "url", "identifier")
NUMBER = re.compile(xmlc.NUMBER.pattern + rb"|[+-]?(nan|inf(inity)?)", re.IGNORECASE)
DECIMAL_COMMA = re.compile(rb"[+-]?[0-9]+,[0-9]+")
LONGEST_NUMBER = 1000  # characters
# Words that stand for 1 and 0: the first of both in all columns, the others only in columns of labels.
YES, NO = ("true", "t", "yes", "y"), ("false", "f", "no", "n")
LABEL_RULE = "Columns of labels hold 0 and 1, true and false, or yes and no."
_BLOCK = 4 << 20  # number of bytes of text that are read at a time
_NEWLINE, _QUOTE, _BLANKS = 10, 34, (9, 10, 13, 32)


@dataclass(frozen=True)
class CellForm:
    """How a table is written."""

    separator: bytes
    names: list[str] | None  # None if the first line is a row of numbers
    n_columns: int
    decimal: str  # a point, or a comma
    sample: list[list[bytes]]  # some of the first rows
    source: NamedSource

    def called(self, column: int) -> str:
        return repr(self.names[column][:40]) if self.names is not None else f"{column + 1:,}"

    def some_cells(self, columns) -> list[bytes]:
        """Return the cells of the sample in some columns."""
        return [row[column].strip() for row in self.sample for column in columns if column < len(row)]


class DecimalComma(Exception):
    """A number has a decimal comma, where the mark was taken to be a point."""


class TextColumns(Exception):
    """Some columns have text where numbers are needed; the argument: their numbers."""


def numbers(block, features, labels, leave_out=False):
    """Return the numbers of the columns of features and labels of a block as float64; missing cells are NaN."""
    columns = features + labels
    if not columns:
        return np.empty((block.n_rows, 0))
    plain = _plain_numbers(block, columns)
    if plain is not None:
        return plain
    # Few columns have words, nearly always from the first rows on: the others are read as numbers once more.
    worded = {c for c in columns if not all(is_number(cell, ",") for cell in block.form.some_cells([c]))}
    easy = np.array([column not in worded for column in columns])
    values, plain = np.empty((block.n_rows, len(columns))), None
    if worded and easy.any():
        plain = _plain_numbers(block, [column for column in columns if column not in worded])
    if plain is None:
        easy[:] = False
    else:
        values[:, easy] = plain
    rest = [column for column, is_easy in zip(columns, easy) if not is_easy]
    values[:, ~easy] = _numbers_from_texts(block, rest, set(labels), leave_out)
    return values


def is_number(cell, decimal):
    return cell.decode("latin-1") in MISSING or bool(NUMBER.fullmatch(cell.replace(decimal.encode(), b".")))


def _plain_numbers(block, columns):
    """Return the numbers of some columns of a block; None if a cell is neither a number nor missing."""
    frame = _frame(block, columns, np.float64)
    if frame is None:
        return None
    if len(frame) != block.n_rows:
        raise _unreadable(block)
    values = frame.to_numpy(copy=True) if list(frame.columns) == columns else frame[columns].to_numpy(copy=True)
    hard = np.flatnonzero(_is_hard_to_round(values))
    if hard.size:
        values[:, hard] = _numbers_from_texts(block, [columns[at] for at in hard], set(), False)
    return values


def _is_hard_to_round(values):
    """Return whether a column has a value so near to the middle of two float32 that an error of some bits moves it."""
    from_middle = (values.view(np.int64) & ((1 << 29) - 1)) - (1 << 28)  # float64 has 29 bits more than float32
    magnitude = np.abs(values)
    hard = (np.abs(from_middle) <= 16) | ((magnitude < 2e-38) & (magnitude > 0)) | (magnitude > 3.4e38)
    return hard.any(axis=0)


def _frame(block, columns, kind):
    """Return columns of a block as a DataFrame, in the order of the file; None if a cell is no number."""
    try:
        return pd.read_csv(
            io.BytesIO(block.content),
            sep=block.form.separator.decode(),
            header=None,
            names=range(block.form.n_columns),
            usecols=columns,
            dtype=kind,
            index_col=False,
            na_values=MISSING if kind is np.float64 else None,
            keep_default_na=False,
            na_filter=kind is np.float64,
            skip_blank_lines=False,
            skipinitialspace=True,
            decimal=block.form.decimal,
            encoding="latin-1",  # takes all bytes; cells that are used as text are decoded as UTF-8
        )
    except (ValueError, OverflowError):  # pandas.errors.ParserError is a ValueError
        return None


def _unreadable(block) -> DatasetFormatError:
    return block.error("its rows cannot be told apart", 'Are quotes (") closed, and do all lines end the same way?', 0)


def _numbers_from_texts(block, columns, labels, leave_out):
    """Return the numbers of some columns of a block that holds words too: see :data:`YES`; others are errors."""
    of_features = {YES[0]: 1.0, NO[0]: 0.0, **dict.fromkeys(map(str.lower, MISSING), np.nan)}
    of_labels = {**of_features, **dict.fromkeys(YES, 1.0), **dict.fromkeys(NO, 0.0)}
    values, of_text = np.empty((block.n_rows, len(columns))), []
    for at, (column, cells) in enumerate(zip(columns, texts(block, columns))):
        words, known = of_labels if column in labels else of_features, {}
        for row, cell in enumerate(cells):
            if cell not in known:
                known[cell] = _number(cell.strip(), block.form, words)
                if known[cell] is None:
                    if not leave_out or column in labels:
                        raise _no_number(block, row, column, cell.strip(), column in labels)
                    of_text.append(column)
                    break
            values[row, at] = known[cell]
    if of_text:
        raise TextColumns(of_text)
    return values


def _number(cell, form, words):
    value = words.get(cell.lower())
    if value is not None:
        return value
    if form.decimal == "." and form.separator != b"," and DECIMAL_COMMA.fullmatch(cell.encode()):
        raise DecimalComma
    number = cell.replace(form.decimal, ".")
    if len(cell) > LONGEST_NUMBER or not NUMBER.fullmatch(number.encode()) or (form.decimal == "," and "." in cell):
        return None
    return float(number)


def _no_number(block, row, column, cell, is_label):
    form, name = block.form, block.form.called(column)
    found, remedy, argument = f"{cell[:40]!r} in column {name} is not a number", None, {}
    if len(cell) > LONGEST_NUMBER:
        found = f"{cell[:40]!r}... in column {name} has {len(cell):,} characters"
        remedy = f"Numbers have at most {LONGEST_NUMBER:,}."
    elif form.decimal == "," and "." in cell and NUMBER.fullmatch(cell.replace(".", "").replace(",", ".").encode()):
        found = f"{cell[:40]!r} in column {name} has a point, but other numbers a decimal comma"
        remedy = "Write all decimals in the same way, and no points or commas between thousands."
    elif form.decimal == "." and DECIMAL_COMMA.fullmatch(cell.encode()):
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


def texts(block, columns):
    frame = _frame(block, columns, str)
    if frame is None or len(frame) != block.n_rows:
        raise _unreadable(block)
    for column in columns:
        found = frame[column].tolist()
        for row, cell in enumerate(found):
            if not isinstance(cell, str):
                raise _unreadable(block)
            if cell.isascii():
                continue
            try:
                found[row] = cell.encode("latin-1").decode("utf-8")
            except UnicodeDecodeError:
                problem = f"a cell in column {block.form.called(column)} is not UTF-8"
                raise block.error(problem, "Save the file as UTF-8.", row, column) from None
        yield found


# ---- lines ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecordBlock:
    """Some consecutive rows of a table."""

    form: CellForm
    content: bytes  # without blank lines
    starts: np.ndarray  # where each row starts in ``content``, and the end of the last one
    lines: np.ndarray  # of the file, from 1, in which each row starts
    n_cells: np.ndarray

    @property
    def n_rows(self) -> int:
        return self.lines.size

    def error(self, found, remedy, row: int, cell: int | None = None, **argument) -> DatasetFormatError:
        """Return the error to raise for a row, or the byte within its line, from 1, at which a cell starts."""
        column = None
        if cell is not None:
            before = _raw_cells(self.content[self.starts[row] : self.starts[row + 1]], self.form.separator)[:cell]
            column = 1 + sum(len(part) + 1 for part in before)
        return self.form.source.error(found, remedy, int(self.lines[row]), column, **argument)


def first_records(text, count: int) -> list[bytes]:
    """Return up to ``count`` first lines of a text that are not blank, with line ends in quotes."""
    for power in itertools.count(8):
        piece = text[: 4**power]
        ends = np.append(_line_ends(piece)[1], [piece.size] * (piece.size == text.size)).astype(np.int64)
        lines = np.searchsorted(ends, np.flatnonzero(~np.isin(piece, _BLANKS)), side="right")
        lines = np.unique(lines[lines < ends.size])[:count].tolist()
        if len(lines) == count or piece.size == text.size:
            starts = np.append(0, ends)
            return [piece[starts[line] : ends[line]].tobytes().rstrip(b"\r\n") for line in lines]


def _line_ends(piece) -> tuple[np.ndarray, np.ndarray]:
    """Return which bytes are in quotes, and where lines end: behind a line end that is not."""
    quoted = piece == _QUOTE
    inside = np.logical_xor.accumulate(quoted) if quoted.any() else quoted
    return inside, np.flatnonzero((piece == _NEWLINE) & ~inside) + 1


def cells(line: bytes, separator: bytes) -> list[bytes]:
    found = []
    for cell in _raw_cells(line.rstrip(b"\r\n"), separator):
        plain = cell.strip(b" ")
        if len(plain) >= 2 and plain[:1] == plain[-1:] == b'"':
            plain = plain[1:-1].replace(b'""', b'"')
        found.append(plain)
    return found


def _raw_cells(line, separator):
    if b'"' not in line:
        return line.split(separator)
    found, parts, is_open = [], [], False
    for piece in line.split(separator):
        parts.append(piece)
        is_open ^= piece.count(b'"') % 2 == 1
        if not is_open:
            found.append(separator.join(parts))
            parts = []
    return [*found, separator.join(parts)] if parts else found


def blocks(text, form: CellForm):
    """Yield the rows of a table in blocks of some megabytes."""
    at, line, has_header = 0, 1, form.names is not None
    while at < text.size:
        size = _BLOCK
        while True:
            piece = text[at : at + size]
            inside, ends = _line_ends(piece)
            if at + piece.size >= text.size:
                if not ends.size or ends[-1] < piece.size:
                    ends = np.append(ends, piece.size)
                break
            if ends.size:
                break
            size *= 2
        piece, inside = piece[: ends[-1]], inside[: ends[-1]]
        starts = np.concatenate([[0], ends[:-1]])
        newlines = _counts(piece == _NEWLINE, starts) if inside.any() else np.ones(starts.size, np.int64)
        lines = line + np.concatenate([[0], np.cumsum(newlines)[:-1]])
        n_cells = 1 + _counts((piece == form.separator[0]) & ~inside, starts)
        line += int(newlines.sum())
        at += piece.size
        blank = _is_blank(piece, starts, n_cells)
        if has_header and not blank.all():  # the first line that is not blank
            blank[int(np.argmin(blank))] = True
            has_header = False
        if blank.all():
            continue
        if blank.any():
            kept = np.repeat(~blank, np.diff(np.append(starts, piece.size)))
            piece = piece[kept]
            lengths = np.diff(np.append(starts, kept.size))[~blank]
            starts, lines, n_cells = np.cumsum(np.concatenate([[0], lengths[:-1]])), lines[~blank], n_cells[~blank]
        yield RecordBlock(form, piece.tobytes(), np.append(starts, piece.size), lines, n_cells)


def _counts(marked, starts):
    return np.diff(np.searchsorted(np.flatnonzero(marked), np.append(starts, marked.size)))


def _is_blank(piece, starts, n_cells):
    blank = n_cells == 1
    if blank.any():
        full = (piece != 32) & (piece != 9) & (piece != 13) & (piece != _NEWLINE)
        blank &= ~np.logical_or.reduceat(full, starts)
    return blank
