"""Parser of the text formats XMLC (``N D L``, then ``l1,l2 f:v f:v`` per row) and svmlight (without the header).

XMLC may be in two files, with the features of the rows in one (``N D``, then ``f:v f:v``), their labels in the other.
"""

import re
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import xmlc as kernels
from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.datasets.readers.blocks import MANY_ROWS, Growing, LargeText, NotInBlocks, RowArrays, cut, head_of
from xmlcore.datasets.readers.rows import ReadOptions, Rows, canonical_csr
from xmlcore.datasets.readers.sources import NamedSource
from xmlcore.mapped import MappedRows
from xmlcore.validation import INT32_MAX

HARD_CAPACITY = 256  # number of numbers that the first run of the compiled parser can leave to Python
SHORT = 16  # bytes of a row, on average, with which many rows may be empty
_SHOWN = 40  # largest number of bytes of a token that a message shows
_NOT_ROWS = re.compile(  # blank lines and comments before the first row
    rb"(?:[ \t\r]*+(?:#[^\n]*+)?+\n)*+(?:[ \t\r]*+(?:#[^\n]*+)?+\Z)?"
)
_NUMBER, _END = rb"[ \t\r]*+([0-9]++)", rb"[ \t\r]*+(?:#[^\n]*+)?+(?=\n|\Z)"  # of a header
_HEADER = re.compile(_NUMBER + rb"[ \t]++([0-9]++)" * 2 + _END)
_HEADER_OF_HALF = re.compile(rb"[ \t\r]*+([0-9]{1,19}+)[ \t]++([0-9]{1,19}+)" + _END)
_COMMA_HEADER = re.compile(_NUMBER + rb"[ \t]*+,[ \t]*+([0-9]++)" * 2 + _END)
_BLANKS, _PART = b" \t\r\n", 1 << 16  # bytes of a text that are looked at together
NUMBER = re.compile(rb"[+-]?+(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+")
_SPACES = "The numbers of a header are separated by spaces: rows, features, labels."
_OTHER_SIZES = (kernels.FEATURE_RANGE, kernels.LABEL_RANGE, kernels.TOO_FEW_ROWS, kernels.TOO_MANY_ROWS)
_FROM_DATA = {"argument": "counts", "value": "data"}
_OR_DATA = " Or ignore the header's counts."
_RULES = {
    "row": "A row is its labels, separated by commas, then id:value for each feature, separated by spaces.",
    "feature": "A row of a file of features is id:value for each feature, separated by spaces.",
    "label": "A row of a file of labels is id:1 for each label, separated by spaces, or label ids separated by commas.",
}


class _Sizes(NamedTuple):
    """The sizes that a header states; without one, -1 rows and as many columns as there can be."""

    n_rows: int = -1
    n_features: int = INT32_MAX
    n_labels: int = INT32_MAX
    line: int | None = None  # of the header


class XmlcReader:
    """A run of the compiled parser over a text, with arrays that hold all its values."""

    remarks = (
        (kernels.REPEATED_FEATURE_ROWS, kernels.REPEATED_FEATURE_LINE),
        (kernels.REPEATED_LABEL_ROWS, kernels.REPEATED_LABEL_LINE),
    )

    def __init__(
        self, text: np.ndarray | LargeText, start: int, first_line: int, first_index: int, skip_blank: bool, to=None
    ):
        self.text, self.start, self.first_line = text, start, first_line
        self.folder = to if isinstance(text, LargeText) else None  # of the values of X, if they are in files
        self.first_index, self.skip_blank, self._size = first_index, skip_blank, 0
        self.arrays, self.out = None, np.zeros(kernels.OUT_SIZE, np.int64)

    def run(self, n_rows: int, n_features: int, n_labels: int) -> int:
        """Parse rows with ids below these numbers; -1 rows are any number. NotInBlocks: a large text has an error."""
        self._n_rows, self._limits = n_rows, (n_features, n_labels)
        if isinstance(self.text, LargeText):
            return self._run_in_blocks()
        if self.arrays is None:
            self.arrays = RowArrays.empty(*self._most_of(self.text[self.start :]))
        status = self._parse(self.text, self.start, self.first_line, 0, self.arrays, self.out)
        if status == kernels.OK:
            cut(self.arrays, *_counts(self.out))
        return status

    def _run_in_blocks(self) -> int:
        grown, start, line, total = Growing(self.folder), self.start, self.first_line, None
        for block, share in self.text.blocks():
            arrays, out = grown.room(*self._most_of(block[start:]), share), np.zeros_like(self.out)
            if self._parse(block, start, line, grown.rows, arrays, out) not in (kernels.OK, kernels.TOO_FEW_ROWS):
                raise NotInBlocks
            grown.add(*_counts(out))
            if grown.rows >= MANY_ROWS and self._size <= SHORT * grown.rows:
                raise NotInBlocks
            total = out if total is None else self._together(total, out)
            start, line = 0, int(out[kernels.LINE])
        total[[kernels.ROWS, kernels.N_FEATURES, kernels.N_LABELS]] = grown.rows, grown.n_x, grown.n_y
        self.out[:], self.arrays = total, grown.finished()
        if self.out[kernels.ROWS] < self._n_rows:
            raise NotInBlocks
        return kernels.OK

    def _most_of(self, text):
        """Return how many rows, and values of X and Y, a text has at most."""
        self._size += text.size
        lines, colons, commas = kernels.count_tokens(text)
        return lines, colons, commas + lines

    def _parse(self, text, start, line, n_before, arrays, out) -> int:
        """Parse a text after some rows, again if it has numbers that are hard to round and left to Python."""
        left = -1 if self._n_rows < 0 else self._n_rows - n_before
        form = kernels.TextForm(start, line, left, *self._limits, self.first_index, self.skip_blank)
        spans, resolved = np.empty((HARD_CAPACITY, 2), np.int64), np.empty(0, np.float32)
        while True:
            status = kernels.parse_rows(text, form, arrays, spans, resolved, out)
            found = int(out[kernels.N_HARD])
            if found <= resolved.size:
                return status
            if found > len(spans):
                spans = np.empty((found, 2), np.int64)
                continue
            with np.errstate(over="ignore"):
                resolved = np.array([float(text[a:b].tobytes()) for a, b in spans[:found]]).astype(np.float32)

    def _together(self, total, out):
        """Return the parser's numbers of a block combined with those of the blocks before."""
        for place in (kernels.MIN_FEATURE, kernels.MIN_LABEL):
            out[place] = min(total[place], out[place])
        for place in (kernels.MAX_FEATURE, kernels.MAX_LABEL):
            out[place] = max(total[place], out[place])
        for count, first in self.remarks:
            out[first] = total[first] if total[count] else out[first]
            out[count] += total[count]
        return out


def _counts(out) -> tuple[int, ...]:
    return tuple(int(out[count]) for count in (kernels.ROWS, kernels.N_FEATURES, kernels.N_LABELS))


def first_row(text, source, large=None) -> tuple[int, int]:
    start = _NOT_ROWS.match(text).end()
    if start == text.size:
        if large is not None:
            raise NotInBlocks
        raise source.error("it holds no rows, only blank lines or comments", "Give one row per line.")
    return start, 1 + int(np.count_nonzero(text[:start] == 10))


def sizes_in_header(text, source) -> tuple[int, ...] | None:
    """Return the numbers of the header, two or three; None if there is no header."""
    start, _ = first_row(text, source)
    header = _HEADER.match(text, start) or _HEADER_OF_HALF.match(text, start)
    return None if header is None else tuple(int(number) for number in header.groups())


def parse(text: np.ndarray | LargeText, source: NamedSource, options: ReadOptions = ReadOptions()) -> Rows:  # noqa: B008
    is_half = options.labels is not None
    if options.known is not None:
        is_half = len(sizes_in_header(head_of(text), source) or ()) == 2
    if isinstance(text, LargeText):
        if not is_half:
            with suppress(NotInBlocks):
                return _parse(text.head, source, options, text)
        text = text.whole()
    return _parse_features(text, source, options) if is_half else _parse(text, source, options)


def _parse(text, source, options, large=None):
    """Parse a file with labels as :func:`parse` does; ``large`` is the whole text if ``text`` is its beginning."""
    sizes, start, line = _stated_sizes(text, source, options, large)
    reader = XmlcReader(
        text if large is None else large, start, line, options.first_index, sizes.line is None, options.to
    )
    status = reader.run(*sizes[:3])
    if status in _OTHER_SIZES and options.counts == "data" and sizes.line is not None:
        reader, status = _read_without_counts(reader, sizes.n_rows, source)
        if status == kernels.OK:
            out = reader.out
            found = out[kernels.ROWS], out[kernels.MAX_FEATURE] + 1, out[kernels.MAX_LABEL] + 1
            _warn_of_counts(sizes, found, ("rows", "features", "labels"), source)
            sizes = _Sizes()
    if status != kernels.OK:
        raise _Stop(reader, status, source, sizes).error()
    out, arrays = reader.out, reader.arrays
    _warn_of_repeats(out, source)
    n_features, n_labels = sizes.n_features, sizes.n_labels
    if sizes.line is None:
        n_features, n_labels = int(out[kernels.MAX_FEATURE]) + 1, int(out[kernels.MAX_LABEL]) + 1
    in_memory = reader.folder is None
    X = canonical_csr(*arrays[:3], n_features) if in_memory else MappedRows.of(*arrays[:3], n_features, reader.folder)
    Y = canonical_csr(*arrays[3:], np.ones(arrays.y_indices.size, bool), n_labels)
    least = (int(out[i]) + options.first_index for i in (kernels.MIN_FEATURE, kernels.MIN_LABEL))
    return Rows(source, "svmlight" if sizes.line is None else "xmlc", X, Y, sizes.line, *least)


def _stated_sizes(text, source, options, large):
    """Return what the header says, where the rows begin, and the line of the first one."""
    start, line = first_row(text, source, large)
    header = None if options.format == "svmlight" else _HEADER.match(text, start)
    commas = None if header else _COMMA_HEADER.match(text, start)
    if commas and large is not None:
        raise NotInBlocks
    if header is not None:
        sizes = _Sizes(*_numbers(header, source, line), line)
        start = header.end() + 1
        if large is None:
            _check_not_blank(text, start, sizes.n_rows, source, line)
        return sizes, start, line + 1
    if options.format == "auto" and commas and _fits(text, commas, source, line, options.first_index):
        found = f"{_shown(text, start, b'')} is separated by commas, but fits the file as its header"
        remedy = f"{_SPACES} If it is a row with three labels, the file has no header."
        raise source.error(found, remedy, line, 1, argument="format", value="svmlight")
    if options.format == "xmlc":
        found = f"{_shown(text, start, b'')} where the header belongs: three whole numbers, rows, features and labels"
        remedy = _SPACES if commas else "A file without a header has another format."
        raise source.error(found, remedy, line, 1, argument="format", value="svmlight")
    return _Sizes(), start, line


def _numbers(match, source, line, nouns=("rows", "features", "labels")) -> list[int]:
    values = []
    for group, noun in enumerate(nouns, 1):
        digits = match.group(group).lstrip(b"0")
        value = int(digits or b"0") if len(digits) < 20 else 10**19
        least, most = (0, 2**62) if noun == "rows" else (1, INT32_MAX)
        if not least <= value <= most:
            shown = match.group(group)[:_SHOWN].decode() + ("..." if len(match.group(group)) > _SHOWN else "")
            counted = " and ".join(nouns[1:])
            remedy = f"The header is: {', '.join(nouns)}. At most {INT32_MAX} {counted} are supported."
            column = match.start(group) - match.start() + 1
            raise source.error(f"the header states {shown} {noun}", remedy, line, column)
        values.append(value)
    return values


def _fits(text, header, source, line, first_index):
    """Return whether the rest of the file agrees with a header of these numbers of rows, features and labels."""
    try:
        n_rows, n_features, n_labels = _numbers(header, source, line)
    except DatasetFormatError:
        return False
    readers = (XmlcReader(text, header.end() + 1, line + 1, first, skip_blank=False) for first in {first_index, 1})
    return n_rows > 0 and any(reader.run(n_rows, n_features, n_labels) == kernels.OK for reader in readers)


def _without_blank_end(text, start):
    """Return a text without the blank lines at its end, but not less than to ``start``."""
    end = text.size
    while end > start and text[end - 1] in _BLANKS:
        begin = max(start, end - _PART)
        end = begin + len(text[begin:end].tobytes().rstrip(_BLANKS))
    return text[:end]


def _check_not_blank(text, start, n_rows, source, line):
    """Raise DatasetFormatError if nearly all of very many rows are blank: few bytes, compressed, can be 10^8 rows."""
    stated = n_rows >= 0
    if not stated:
        n_rows = 1 + int(np.count_nonzero(text[start:] == ord("\n")))
    if n_rows < MANY_ROWS or not n_rows <= text.size - start + 1 <= SHORT * n_rows:
        return  # or there are fewer rows, which the parser says, or not very many blank ones
    filled = int(np.count_nonzero(text[start:] > ord(" ")))  # no more rows than this have something in them
    if filled < n_rows / 100:
        has = "the header states" if stated else "it has"
        found = f"{has} {n_rows:,} rows, but at most {filled:,} of them are not blank"
        raise source.error(found, "Leave the blank rows out, also in the number of rows of a header.", line)


def _read_without_counts(reader, n_rows, source):
    """Read rows whose header states other numbers; return the reader that did, and the status of the parser."""
    status = reader.run(n_rows, INT32_MAX, INT32_MAX)
    if status in (kernels.TOO_FEW_ROWS, kernels.TOO_MANY_ROWS):
        text = _without_blank_end(reader.text, reader.start)
        _check_not_blank(text, reader.start, -1, source, reader.first_line)
        reader = XmlcReader(text, reader.start, reader.first_line, reader.first_index, reader.skip_blank)
        status = reader.run(-1, INT32_MAX, INT32_MAX)
    return reader, status


def _warn_of_counts(sizes, found, nouns, source):
    counts = [each for each in zip(nouns, sizes, found) if each[1] != each[2]]
    if counts:
        differ = "; ".join(f"{stated:,} {noun}, but there are {seen:,}" for noun, stated, seen in counts)
        source.warn(f"the header states {differ}. Its counts are ignored.")


def _warn_of_repeats(counts, source):
    found = []
    for (count, first), done in zip(
        XmlcReader.remarks, ("feature {}: values were summed", "label {}: label counts once")
    ):
        if counts[count]:
            rows = "1 row names" if counts[count] == 1 else f"{counts[count]:,} rows name"
            found.append(f"{rows} a {done.format(f'more than once (first in line {counts[first]:,})')}")
    if found:
        source.warn("; ".join(found))


# ---- features and labels in two files -------------------------------------------------------------------------------


def _parse_features(text, source, options) -> Rows:
    """Parse features alone: a header ``N D``, which may be absent, then ``f:v f:v`` for each row."""
    reader, header_line, width = _run_half(text, source, "feature", -1, options)
    least = int(reader.out[kernels.MIN_FEATURE]) + options.first_index
    return Rows(source, "xmlc", canonical_csr(*reader.arrays[:3], width), None, header_line, least)


def parse_labels(text, source, n_rows, options) -> tuple[sp.csr_array, int | None, int]:
    """Parse labels alone: a header ``N L``, which may be absent, then ``l:1 l:1`` or ``l,l`` for each row."""
    reader, header_line, width = _run_half(text, source, "label", n_rows, options)
    weights = canonical_csr(*reader.arrays[:3], width)
    if weights.nnz and weights.data.min() < 0:
        found = f"a label has the value {weights.data.min():g}"
        raise source.error(found, "A label that a row has is written id:1, and the others are left out.")
    if (n_other := np.count_nonzero(weights.data != 1)) > 0:
        swapped = " Did features and labels change places?" if n_other > weights.nnz / 2 else ""
        other = f"{n_other:,} of {weights.nnz:,} labels have a value other than 1"
        source.warn(f"{other}: each counts as one label.{swapped}")
    Y = weights.astype(bool)
    *_, indptr, indices = reader.arrays
    if indices.size:  # rows written as ids with commas
        Y = sp.csr_array(Y + canonical_csr(indptr, indices, np.ones(indices.size, bool), width))
        Y.sort_indices()
        Y.has_canonical_format = True
    least = min(int(reader.out[kernels.MIN_FEATURE]), int(reader.out[kernels.MIN_LABEL])) + options.first_index
    return Y, header_line, least


def _run_half(text, source, noun, n_rows, options):
    """Parse a file of features or labels alone; return the reader, the line of the header, and the columns."""
    start, line = first_row(text, source)
    header = _HEADER_OF_HALF.match(text, start)
    header_line, width, stated = None, INT32_MAX, n_rows
    if header is not None:
        header_line, (stated, width) = line, _numbers(header, source, line, ("rows", f"{noun}s"))
        if options.counts == "header" and n_rows not in (-1, stated):
            found = f"the header states {stated:,} rows, but the file of features has {n_rows:,}"
            raise source.error(found, "Do both files belong together, training or test rows?", line)
        start, line = header.end() + 1, line + 1
        _check_not_blank(text, start, stated, source, header_line)
    if n_rows < 0 and (header is None or options.counts == "data"):
        text = _without_blank_end(text, start)
    if header is not None and options.counts == "data":
        stated, width, header_line = n_rows, INT32_MAX, None
    if stated < 0:
        _check_not_blank(text, start, -1, source, line)
    reader = XmlcReader(text, start, line, options.first_index, skip_blank=False)
    status = reader.run(stated, width, width if noun == "label" else 0)
    if status != kernels.OK:
        sizes = _Sizes(stated, width, width, line if header is not None else None)
        raise _Stop(reader, status, source, sizes, noun).error()
    if header_line is None:
        width = 1 + int(max(reader.out[kernels.MAX_FEATURE], reader.out[kernels.MAX_LABEL]))
        if header is not None:
            found = int(reader.out[kernels.ROWS]), width
            _warn_of_counts(map(int, header.groups()), found, ("rows", f"{noun}s"), source)
    return reader, header_line, width


# ---- errors ---------------------------------------------------------------------------------------------------------


class _Stop:
    """Why and where the compiled parser stopped; ``half``: what the file has, if that is features or labels alone."""

    def __init__(self, reader, status, source, sizes, half=None):
        self.reader, self.source, self.sizes, self.half = reader, source, sizes, half
        self.text, self.out, self.first_index = reader.text, reader.out, reader.first_index
        self.line, self.at = int(self.out[kernels.LINE]), int(self.out[kernels.POSITION])
        self.column = self.at - int(self.out[kernels.LINE_START]) + 1
        self.token = _piece(self.text, self.at, b" \t\r#")
        self.shown = _shown(self.text, self.at, b" \t\r#")
        starts_with_feature = b":" in self.token and re.match(rb"[^,0-9]", self.token)
        self.status = kernels.BAD_FEATURE if status == kernels.BAD_LABEL and starts_with_feature else status

    def error(self) -> DatasetFormatError:
        about = {
            kernels.TOO_FEW_ROWS: self._too_few_rows,
            kernels.TOO_MANY_ROWS: self._too_many_rows,
            kernels.SUM_OVERFLOW: lambda: (
                "the values of a repeated feature add up to more than float32 holds (3.4e38)",
                "Name each feature once per row.",
            ),
            kernels.BAD_LABEL: self._bad_label,
            kernels.LABEL_RANGE: lambda: self._out_of_range("label", self.sizes.n_labels),
            kernels.BAD_FEATURE: self._bad_feature,
            kernels.FEATURE_RANGE: lambda: self._out_of_range(self.half or "feature", self.sizes.n_features),
        }.get(self.status, self._bad_value)
        if self.half == "feature" and self.status in (kernels.LABEL_RANGE, kernels.BAD_LABEL):
            about = self._labels_in_features
        found, remedy, argument = (*about(), {})[:3]
        return self.source.error(found, remedy, self.line, self.column, **argument)

    def _labels_in_features(self):
        self.at, self.column = int(self.out[kernels.LINE_START]), 1
        remedy = "If its rows name their labels, give no file of labels; if that one has names, give it as such."
        return f"{_shown(self.text, self.at, b'')} where a row of features belongs", remedy, {"argument": "label_names"}

    def _too_few_rows(self):
        got = int(self.out[kernels.ROWS])
        self.line, self.column = max(self.line - 1, self.reader.first_line - 1), None
        if self.sizes.line is None:
            return self._other_rows(f"only {got:,}")
        found = f"the file ends after {got} row{'' if got == 1 else 's'} but the header states {self.sizes.n_rows}"
        return found, f"The file is cut off, or the header should say {got}.{_OR_DATA}", _FROM_DATA

    def _too_many_rows(self):
        if self.sizes.line is None:
            self.column = None
            return self._other_rows("more")
        scan = self._whole_file(_without_blank_end(self.text, self.reader.start))
        seen = "" if scan is None else f" The file has {int(scan[kernels.ROWS])} rows."
        found = f"a row after the {self.sizes.n_rows} that the header states"
        return found, f"Put the right number of rows in the header.{seen}{_OR_DATA}", _FROM_DATA

    def _other_rows(self, more):
        found = f"the file of features has {self.sizes.n_rows:,} rows, but this file of labels has {more}"
        return found, "Give a line for each row, a blank one for a row without labels."

    def _bad_label(self):
        rule = _RULES.get(self.half, "Labels are whole numbers from 0, separated by commas, before the first feature.")
        if not self.token or self.token.startswith(b","):
            return "a label is missing beside a comma", rule
        return f"{self.shown} where a label belongs", rule

    def _bad_feature(self):
        noun, rule = self.half or "feature", _RULES[self.half or "row"]
        key, colon, _ = self.token.partition(b":")
        if key.lower() == b"qid" and colon:
            return f"the query id {self.shown}", "Ranking data is not multi-label data: remove the qid tokens."
        if colon:
            rule = f"Ids are whole numbers from 0; names of {noun}s are given beside the file."
            return f"the {noun} id in {self.shown} is not a whole number from 0", rule, {"argument": f"{noun}_names"}
        found = f"{self.shown} where a {noun} (id:value) belongs"
        if self.line != self.reader.first_line or self.sizes.line is not None or self.half:
            return found, f"{rule} A line that starts with a blank has no labels." if not self.half else rule
        if _HEADER.match(self.text, int(self.out[kernels.LINE_START])):
            return found, "The line looks like a header.", {"argument": "format", "value": "xmlc"}
        header = (
            "A header has three whole numbers, rows, features and labels; two if the labels have a file of their own."
        )
        return found, f"{rule} {header}", {"argument": "labels"}

    def _bad_value(self):
        if not self.token:
            noun = self.half or "feature"
            return f"a {noun} without a value", f"Write id:value without a space; absent {noun}s are simply left out."
        if NUMBER.fullmatch(self.token):
            return f"the value {self.shown} is too large for float32 (3.4e38)", "Scale the feature."
        return f"{self.shown} where a number belongs", "Values are finite decimal numbers, such as 1, -0.25 or 3e-5."

    def _out_of_range(self, noun, count):
        digits, first = re.match(rb"[0-9]+", self.token).group(), self.first_index
        found = f"{noun} id {digits[:_SHOWN].decode()}{'...' * (len(digits) > _SHOWN)}"
        if len(digits) < 20 and int(digits) < first:
            remedy = "Do ids start at 0 in this file?"
            return f"{found} but ids start at 1", remedy, {"argument": "first_index", "value": 0}
        if self.sizes.line is None:
            return found, f"At most {INT32_MAX} features and labels are supported: number them without gaps."
        stated = f"the header states {count} {noun}{'' if count == 1 else 's'}"
        found = f"{found} but {stated} (ids {first} to {count - 1 + first})"
        scan = self._whole_file(self.text)
        if scan is None:  # the file has other errors
            return found, f"Put the right number of {noun}s in the header, or correct the id.{_OR_DATA}", _FROM_DATA
        if first == 0 and self._counts_from_one(scan):
            remedy = "No id in this file is 0, so its ids seem to start at 1."
            return found, remedy, {"argument": "first_index", "value": 1}
        of_half = max(scan[kernels.MAX_FEATURE], scan[kernels.MAX_LABEL])
        greatest = int(of_half if self.half else scan[kernels.MAX_FEATURE if noun == "feature" else kernels.MAX_LABEL])
        greatest_is = f"The greatest {noun} id in the file is {greatest + first}."
        return found, f"{greatest_is} Put {greatest + 1} in the header, or correct the id.{_OR_DATA}", _FROM_DATA

    def _counts_from_one(self, scan) -> bool:
        """Return whether the ids of the whole file fit the header if they are counted from 1."""
        ends = (kernels.MIN_FEATURE, kernels.MAX_FEATURE), (kernels.MIN_LABEL, kernels.MAX_LABEL)
        stated = self.sizes.n_features, self.sizes.n_labels
        return all(scan[b] < 0 or 1 <= scan[a] and scan[b] <= count for (a, b), count in zip(ends, stated))

    def _whole_file(self, text):
        """Return the parser's numbers for all rows, with the header's limits ignored; None for other errors."""
        scan = XmlcReader(text, self.reader.start, self.reader.first_line, self.first_index, self.reader.skip_blank)
        return scan.out if scan.run(-1, INT32_MAX, INT32_MAX) == kernels.OK else None


def _piece(text, at, ends) -> bytes:
    """Return the bytes from ``at`` to the next newline or one of ``ends``, at most 400."""
    piece = text[at : at + 400].tobytes().split(b"\n")[0]
    stop = min((place for end in ends if (place := piece.find(end)) >= 0), default=len(piece))
    return piece[:stop]


def _shown(text, at, ends) -> str:
    """Return the beginning of a piece (see :func:`_piece`) for a message."""
    piece = _piece(text, at, ends).rstrip(b"\r")
    cut = piece[:_SHOWN]
    try:
        shown = repr(cut.decode())
    except UnicodeDecodeError as error:
        in_two = len(piece) > _SHOWN and error.start > _SHOWN - 4  # the bytes are text, but were cut within a character
        shown = repr(cut[: error.start].decode()) if in_two else repr(cut)[1:]
    return shown + ("..." if len(piece) > _SHOWN else "")


def warm_up() -> None:
    parse(np.frombuffer(b"1 2 2\n1,0 1:0.5 0:2\n", np.uint8), NamedSource(b"", "warm-up"))
