"""The rows of an ARFF file, dense or sparse: plain ones many at once, all others letter by letter."""

import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import xmlc as kernels
from xmlcore.datasets.readers.arff_header import QUOTED, Header, shown, unescape
from xmlcore.datasets.readers.blocks import MANY_ROWS, LargeText
from xmlcore.datasets.readers.rows import canonical_csr
from xmlcore.datasets.readers.sources import MEMORY_BOUND, NamedSource, text_of
from xmlcore.datasets.readers.xmlc import NUMBER, XmlcReader
from xmlcore.wording import listed

_BLOCK, _FEW = 1 << 20, 8  # characters of the rows that are read at once; rows among which no plain ones are looked for
_PER_ROW = 24  # bytes that a row takes while it is read, even if it has nothing
_CELL = "[-0-9.eE]++"  # nearly always a number
_PLAIN_DENSE = re.compile(rf"(?:{_CELL}(?:, ?{_CELL})*+\n)++")
_PLAIN_SPARSE = re.compile(rf"(?:\{{(?: ?[0-9]++ {_CELL}(?:, ?[0-9]++ {_CELL})*+ ?)?+\}}\n)++")
_BLANKS, _WORD, _DIGITS = re.compile(r"[ \t\r]*+"), re.compile(r"[^ \t\r\n,}]*+"), re.compile(r"[0-9]*+")
_QUOTED, _NUMBER = re.compile(QUOTED), re.compile(NUMBER.pattern.decode())
_MISSING_RULE = "A missing value is written as ?."
_ROW = "A row has a value of each attribute"
_SPARSE = "A sparse row is {number value, number value}; the numbers of attributes ascend from 0."
_PAIR = "In a sparse row, the number of an attribute is followed by a blank and the value. "
_LEFT_OUT = -1.0  # in place of the value of an attribute that is no column


class AttributeColumns(NamedTuple):
    """The columns of X and Y that the attributes have."""

    first: np.ndarray  # of each attribute, in X or in Y
    width: np.ndarray  # columns of X that each has
    is_label: np.ndarray
    is_number: np.ndarray  # others: the value is the column that is 1, counted from the first, or -1
    values: list  # of each type: the value of an attribute by the way it is written; None for numbers and texts
    codes: list  # of each type: columns of its values


class RowReader:
    """Reads the rows of a file; ``rule`` says how labels are written, ``doubted`` what may be wrong of them."""

    def __init__(self, header: Header, columns: AttributeColumns, source: NamedSource, rule: str, doubted: dict):
        self.header, self.columns, self.source, self.rule, self.doubted = header, columns, source, rule, doubted
        self.remarks = {}  # how often something was read otherwise than written, and the first line of it
        left_out = [float(codes[0]) if codes else _LEFT_OUT for codes in columns.codes]  # by sparse rows
        defaults = enumerate(left_out[i] for i in header.type_of.tolist())
        self.defaults = {attribute: value for attribute, value in defaults if value >= 0}
        nominal = [{} if values is None else values for values in columns.values]
        self.zero, self.one = (
            np.array([values.get(each, np.nan) for values in nominal])[header.type_of] for each in "01"
        )
        self._max_bytes = MEMORY_BOUND if source.bound is None else source.bound
        self._n_rows = self._n_sparse = self._n_filled = 0

    def read(self, text: np.ndarray | LargeText) -> tuple[sp.csr_array, sp.csr_array]:
        parts, rows, size = [], [], 0
        for line, row in self._lines(text):
            if row.lstrip(" \t\r")[:1] in ("", "%"):
                continue
            rows.append((line, row))
            size += len(row) + len(self.defaults)
            if size >= _BLOCK:
                parts.append(self._arrays(rows))
                rows, size = [], 0
        parts.append(self._arrays(rows))
        widths = int(self.columns.width.sum()), np.count_nonzero(self.columns.is_label)
        return tuple(_joined(*zip(*arrays), width) for arrays, width in zip(zip(*parts), widths))

    def _lines(self, text) -> Iterator[tuple[int, str]]:
        """Yield the number and the content of each line behind that of @data."""

        def pieces():
            start = self.header.start
            for block, _ in text.blocks() if isinstance(text, LargeText) else [(text, 1.0)]:
                yield block[start:]
                start = 0

        lines = text_of(pieces(), self.header.encoding, lone_cr=False, errors="surrogateescape")
        for number, line in enumerate(lines, self.header.data_line + 1):
            yield number, line.rstrip("\r\n")

    def _plain(self, rows) -> tuple | None:
        """Return what :meth:`_exact` does, of rows of numbers; None if one has something else, or may be wrong."""
        text, n = "".join(f"{row}\n" for _, row in rows), len(self.header.names)
        if _PLAIN_DENSE.fullmatch(text):
            counts = np.array([row.count(",") + 1 for _, row in rows])
            values, attribute = _numbers(text), np.tile(np.arange(n), len(rows))
            if (counts != n).any() or values.size != attribute.size:
                return None
        elif not self.defaults and not (self.zero >= 0).any() and _PLAIN_SPARSE.fullmatch(text):
            reader = XmlcReader(_in_xmlc(text), 0, 1, first_index=0, skip_blank=False)
            if reader.run(len(rows), n, 0) != kernels.OK or reader.out[kernels.REPEATED_FEATURE_ROWS]:
                return None
            counts, attribute, values = np.diff(reader.arrays.x_indptr), reader.arrays.x_indices, reader.arrays.x_data
        else:
            return None
        codes = np.where(values == 1, self.one[attribute], np.where(values == 0, self.zero[attribute], np.nan))
        values = np.where(self.columns.is_number[attribute], values, codes)
        return None if np.isnan(values).any() else (counts, attribute, values)

    def _values(self, rows) -> tuple:
        """Return what :meth:`_exact` does, of as many plain rows at once as there are."""
        found = self._plain(rows)
        if found is None and len(rows) > _FEW:
            halves = (self._values(half) for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]))
            return tuple(map(np.concatenate, zip(*halves)))
        return found or self._exact(rows)

    def _exact(self, rows) -> tuple:
        """Return how many values each row has, their attributes and the values; raise DatasetFormatError."""
        found = [_Row(self, row, line).read() for line, row in rows]
        counts = np.array([len(values) for _, values in found], np.int64)
        attribute = np.fromiter((each for attributes, _ in found for each in attributes), np.int64, int(counts.sum()))
        return counts, attribute, np.fromiter((each for _, values in found for each in values), float, attribute.size)

    def with_defaults(self, attributes, values) -> tuple:
        """Return a sparse row with the values that it leaves out and that are not 0."""
        self._n_sparse += 1
        if not self.defaults:
            return attributes, values
        return tuple(zip(*sorted((self.defaults | dict(zip(attributes, values))).items()))) or ((), ())

    def _arrays(self, rows) -> list[tuple]:
        """Return the columns and the values of some rows, and how many each row has: those of X, then those of Y."""
        counts, attribute, value = self._values(rows)
        self._check_memory(counts)
        with np.errstate(over="ignore"):
            value = value.astype(np.float32)
        row, columns = np.repeat(np.arange(counts.size), counts), self.columns
        is_number, is_label = columns.is_number[attribute], columns.is_label[attribute]
        wrong = ~np.isfinite(value) | is_number & is_label & (value != 0) & (value != 1)
        if wrong.any():
            self._exact(rows)  # raises an error that names the place
        kept = np.where(is_number, value != 0, value >= 0)
        column = columns.first[attribute] + np.where(is_number, 0, value).astype(np.int64)
        value[~is_number] = 1
        kinds = ((kept & ~is_label, np.float32), (kept & is_label, bool))
        return [
            (column[part].astype(np.int32), value[part].astype(kind), np.bincount(row[part], minlength=counts.size))
            for part, kind in kinds
        ]

    def _check_memory(self, counts):
        """Raise DatasetFormatError for more values than allowed, or if nearly all of very many rows are empty."""
        self._n_rows, self._n_filled = self._n_rows + counts.size, self._n_filled + np.count_nonzero(counts)
        n_labels = sum(self.columns.is_label[attribute] for attribute in self.defaults)
        if self._n_sparse * (8 * len(self.defaults) - 4 * n_labels) > self._max_bytes:
            values = self._n_sparse * len(self.defaults)
            found = f"its first {self._n_sparse:,} sparse rows leave out up to {values:,} values that are not 0"
            remedy = "Declare 0 as the first value of nominal attributes, which those are, or allow more bytes."
            raise self.source.error(found, remedy, argument="max_bytes")
        allowed = MANY_ROWS if self.source.bound is None else self._max_bytes // _PER_ROW
        if self._n_rows > allowed and self._n_filled < self._n_rows / 100:
            found = f"of its first {self._n_rows:,} rows, only {self._n_filled:,} are not empty"
            remedy = f"Leave the empty rows out. If they are right, allow {_PER_ROW} bytes for each."
            raise self.source.error(found, remedy, argument="max_bytes")


def _numbers(text) -> np.ndarray:
    """Return the numbers of a text between commas; fewer if something in it is none."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning), suppress(ValueError):
        return np.fromstring(text.replace(",", " "), sep=" ")
    return np.empty(0)


def _in_xmlc(text) -> np.ndarray:
    """Return sparse rows of numbers, whose form is that of _PLAIN_SPARSE, as rows of XMLC text without labels."""
    text = text.replace(", ", ",").replace("{ ", "{").replace(" }", "}")
    text = text.replace(" ", ":").replace(",", " ").replace("{", " ").replace("}", "")
    return np.frombuffer(text.encode(), np.uint8)


def _joined(columns, values, counts, width) -> sp.csr_array:
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    matrix = sp.csr_array((np.concatenate(values), np.concatenate(columns), indptr), shape=(indptr.size - 1, width))
    matrix.sort_indices()  # labels may be asked for in another order than that of the file
    return canonical_csr(matrix.indptr, matrix.indices, matrix.data, width)


class _Row:
    """A row that is read letter by letter."""

    def __init__(self, reader: RowReader, text: str, line: int):
        self.reader, self.header, self.text, self.line, self.at = reader, reader.header, text, line, 0
        self._skip()

    def read(self) -> tuple:
        """Return the attributes of the row and their values; raise DatasetFormatError if it is wrong."""
        found = self._sparse() if self._next() == "{" else self._dense()
        self._weight()
        return found

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _skip(self, pattern=_BLANKS) -> str:
        found = pattern.match(self.text, self.at)[0]
        self.at += len(found)
        return found

    def _comma(self) -> bool:
        self._skip()
        if is_there := self._next() == ",":
            self.at += 1
            self._skip()
        return is_there

    def _ends(self) -> bool:
        return self._next() in ("", "%")

    def _stops(self, at) -> bool:
        return at >= len(self.text) or self.text[at] in " \t\r,}"

    def _dense(self):
        n, values = len(self.header.names), []
        for attribute in range(n):
            if self._ends():
                found = f"the row ends after {counted(attribute, 'value')}, but there are {counted(n, 'attribute')}"
                raise self._error(found, f"{_ROW}. {_MISSING_RULE}")
            values.append(self._value(attribute))
            self._comma()
        if not self._ends() and self._next() != "{":
            found = f"{self._token()} after the {counted(n, 'value')} of the row, one of each attribute"
            raise self._error(found, f"{_ROW}; a value with blanks or commas stands in quotation marks.")
        return range(n), values

    def _sparse(self):
        self.at += 1
        self._skip()
        attributes, values = [], []
        while self._next() != "}":
            if self._ends():
                raise self._error("a brace is not closed", f"{_SPARSE} A weight after it has braces of its own.")
            attributes.append(self._attribute(attributes[-1] if attributes else -1))
            self._skip()
            values.append(self._value(attributes[-1], _PAIR))
            if not self._comma() and not self._ends() and self._next() != "}":
                found = f"{self._token()} after the value of the attribute {self._name(attributes[-1])}"
                raise self._error(found, "Pairs in a sparse row are separated by commas.")
        self.at += 1
        self._comma()
        return self.reader.with_defaults(attributes, values)

    def _attribute(self, before) -> int:
        """Return the number of an attribute, which is larger than the one before."""
        digits, n = _DIGITS.match(self.text, self.at)[0], len(self.header.names)
        if not digits or not self._stops(self.at + len(digits)):
            raise self._error(f"{self._token()} where the number of an attribute belongs", _SPARSE)
        if len(digits) > 18 or int(digits) >= n:
            found = f"attribute number {self._token()[1:-1]}, but there are {counted(n, 'attribute')}, numbered from 0"
            raise self._error(found, "Correct the number, or declare the attribute.")
        number = int(digits)
        if number <= before:
            order = "twice in a row" if number == before else f"after number {before}"
            raise self._error(f"attribute number {number} {order}", _SPARSE)
        self.at += len(digits)
        return number

    def _value(self, attribute, pair="") -> float:
        columns, name, start = self.reader.columns, self._name(attribute), self.at
        is_label, values = columns.is_label[attribute], columns.values[self.header.type_of[attribute]]
        if self._ends() or self._next() in (",", "}"):
            raise self._error(f"no value of the attribute {name}", pair + _MISSING_RULE)
        if self._next() == "?" and self._stops(self.at + 1):
            self.at += 1
            if is_label or columns.is_number[attribute] or values is not None:
                self._note("missing label" if is_label else "missing value")
            return 0.0 if columns.is_number[attribute] else _LEFT_OUT
        quoted = _QUOTED.match(self.text, self.at)
        word = self._skip(_QUOTED)[1:-1] if quoted else self._skip(_WORD)
        is_open = not quoted and self.text[start] in "'\""
        if columns.is_number[attribute]:
            if not _NUMBER.fullmatch(word) or not self._stops(self.at) or np.isinf(_float32(word)):
                raise self._error(*_bad_number(word if quoted else self._token(start, False), name), at=start)
            if is_label and _float32(word) not in (0, 1):
                found = f"{self._token(start)} as the value of the label {name}"
                raise self._error(found, self.reader.rule, start, **self.reader.doubted)
            return float(word)
        if is_open or not self._stops(self.at):
            found = f"the value of the attribute {name} begins with a quotation mark that is not closed"
            found = f"something right behind the quoted value of the attribute {name}" if quoted else found
            remedy = "A quotation mark within quotation marks is written with a backslash before it."
            raise self._error(found, remedy, start)
        if values is None:
            return _LEFT_OUT
        found = values.get(word, values.get(unescape(word)))
        if found is None:
            value = shown(unescape(word) if quoted else word)
            known = listed(map(repr, self.header.type(attribute).values))
            remedy = f"Its values, in line {self.header.lines[attribute]:,}, are {known}."
            raise self._error(f"{value} is not a value of the attribute {name}", remedy, start)
        return found

    def _weight(self) -> None:
        """Read a weight in braces, if there is one, to the end of the row."""
        if self._next() == "{":
            start, self.at = self.at, self.at + 1
            self._skip()
            number = _NUMBER.match(self.text, self.at)
            if number is None or np.isinf(_float32(number[0])):
                remedy = "The weight of a row is a number in braces, such as {2}."
                raise self._error("a weight that is not a number", remedy, start)
            self.at = number.end()
            self._skip()
            if self._next() != "}":
                raise self._error("a brace is not closed", f"{_SPARSE} A weight after it has braces of its own.", start)
            self.at += 1
            self._skip()
            if _float32(number[0]) != 1:
                self._note("row weight")
        if not self._ends():
            found = f"{shown(self.text[self.at : self.at + 400].strip())} after the end of the row"
            raise self._error(found, "A row may be followed by its weight in braces, such as {2}.")

    def _note(self, noun) -> None:
        self.reader.remarks.setdefault(noun, [0, self.line])[0] += 1

    def _name(self, attribute) -> str:
        return shown(self.header.names[attribute])

    def _token(self, at=None, as_shown=True) -> str:
        word = _WORD.match(self.text, self.at if at is None else at)[0]
        return shown(word) if as_shown else word

    def _error(self, found, remedy, at=None, **argument):
        before = self.text[: self.at if at is None else at]
        column = len(before.encode(self.header.encoding, "surrogateescape")) + 1  # as it is in the file
        return self.reader.source.error(found, remedy, self.line, column, **argument)


def _float32(number: str) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(float(number))


def _bad_number(token, name):
    if _NUMBER.fullmatch(token):
        return f"the value {shown(token)} of the attribute {name} is too large for float32 (3.4e38)", "Scale it."
    rule = "Values are separated by commas. " if ";" in token else ""
    rule += f"Values are finite numbers with a point, such as 1, -0.25 or 3e-5. {_MISSING_RULE}"
    return f"{shown(token)} where the attribute {name} needs a number", rule


def counted(number, noun) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
