"""Parser of the text formats XMLC (``N D L``, then ``l1,l2 f:v f:v`` per row) and svmlight (without the header)."""

import re
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import xmlc as kernels
from xmlcore.datasets.errors import DatasetFormatError, warn
from xmlcore.datasets.readers.blocks import LargeText, NotInBlocks
from xmlcore.datasets.readers.xmlc_rows import BlockReader, TextReader
from xmlcore.validation import INT32_MAX

NO_ID = 2**40  # the smallest id of a file that has none

_SHOWN = 40  # largest number of bytes of a token that a message shows
_NOT_ROWS = re.compile(  # blank lines and comments before the first row
    rb"(?:[ \t\r]*+(?:#[^\n]*+)?+\n)*+(?:[ \t\r]*+(?:#[^\n]*+)?+\Z)?"
)
_HEADER = re.compile(rb"[ \t\r]*+([0-9]++)[ \t]++([0-9]++)[ \t]++([0-9]++)[ \t\r]*+(?:#[^\n]*+)?+(?=\n|\Z)")
_COMMA_HEADER = re.compile(
    rb"[ \t\r]*+([0-9]++)[ \t]*+,[ \t]*+([0-9]++)[ \t]*+,[ \t]*+([0-9]++)[ \t\r]*+(?:#[^\n]*+)?+(?=\n|\Z)"
)
_BLANKS = frozenset(b" \t\r\n")
NUMBER = re.compile(rb"[+-]?+(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+")
_SPACES = "The numbers of a header are separated by spaces: rows, features, labels."
_MANY_ROWS = 1_000_000  # from which on the rows of a file are checked for being blank
_COUNTS = 'To take the numbers from the data, pass counts="data".'
_ONE_BASED = "If ids start at 1 in this file, pass first_index=1."


@dataclass
class Rows:
    """The rows of a file."""

    source: str  # its name in messages
    format: str  # such as "xmlc"
    X: sp.csr_array
    Y: sp.csr_array | None  # None until the file with the labels is read
    header_line: int | None  # 0 if sizes are said in another way; None without a header: widths are lower bounds
    least_feature: int = NO_ID  # smallest id in the file, before ``first_index`` is subtracted
    least_label: int = NO_ID
    feature_names: list[str] | None = None
    label_names: list[str] | None = None
    label_source: str | None = None  # name of the file with the labels, if that is another
    has_label_width: bool | None = None  # whether the number of labels is exact; None: as ``header_line`` says
    classes: bool = False  # whether the file lists the class number of each row
    notes: tuple[str, ...] = ()  # sentences on how it was read
    ids: list[str] | None = None  # what a column of a table calls the rows
    lists: object = None  # what has read the column of a table that lists labels

    def has_width(self, noun: str) -> bool:
        """Return whether the file says how many features or labels there are, so that the number is exact."""
        if noun == "label" and self.has_label_width is not None:
            return self.has_label_width
        return self.header_line is not None


def canonical_csr(indptr, indices, data, n_columns) -> sp.csr_array:
    """Return a CSR matrix from arrays that are already sorted, and have no duplicates and no zeros."""
    kind = np.int32 if indices.size <= INT32_MAX else np.int64  # scipy needs both index arrays of one type
    indptr, indices = indptr.astype(kind, copy=False), indices.astype(kind, copy=False)
    matrix = sp.csr_array((data, indices, indptr), shape=(indptr.size - 1, n_columns))
    matrix.has_canonical_format = True
    return matrix


def first_row(text, source, large=None) -> tuple[int, int]:
    start = _NOT_ROWS.match(text).end()
    if start == text.size:
        if large is not None:
            raise NotInBlocks
        raise DatasetFormatError(source, "it holds no rows, only blank lines or comments", "Give one row per line.")
    return start, 1 + int(np.count_nonzero(text[:start] == 10))


def header_at(text, start):
    return _HEADER.match(text, start)


def without_blank_end(text, start):
    """Return a text without the blank lines at its end; ``start`` and what precedes it stays."""
    end = text.size
    while end > start and text[end - 1] in _BLANKS:
        end -= 1
    return text[:end]


def parse(
    text: np.ndarray | LargeText, source: str, format: str = "auto", first_index: int = 0, counts: str = "header"
) -> Rows:
    if isinstance(text, LargeText):
        try:
            return _parse(text.head, source, format, first_index, counts, text)
        except NotInBlocks:
            text = text.whole()
    return _parse(text, source, format, first_index, counts)


def _parse(text, source, format, first_index, counts, large=None):
    """Do what :func:`parse` does; ``large`` is the text of which ``text`` is the beginning, if it is large."""
    start, line = first_row(text, source, large)
    header = _HEADER.match(text, start)
    commas = None if header else _COMMA_HEADER.match(text, start)
    if commas and large is not None:
        raise NotInBlocks
    if format == "auto":
        if commas and _fits(text, commas, line, first_index):
            raise DatasetFormatError(
                source,
                f"{shown_line(text, start)} is separated by commas, but fits the file as its header",
                f'{_SPACES} If it is a row with three labels, pass format="svmlight".',
                line,
                1,
            )
        format = "xmlc" if header else "svmlight"
    if format == "xmlc":
        if not header:
            found = shown_line(text, start)
            raise DatasetFormatError(
                source,
                f"{found} where the header belongs: three whole numbers, rows, features and labels",
                _SPACES if commas else 'A file without a header is read with format="svmlight".',
                line,
                1,
            )
        n_rows, n_features, n_labels = _header(header, source, line)
        start = header.end() + 1
        if large is None:
            check_not_blank(text, start, n_rows, source, line)
        header_line = line
        line += 1
    else:
        n_rows, n_features, n_labels, header_line = -1, INT32_MAX, INT32_MAX, None

    Reader = TextReader if large is None else BlockReader
    reader = Reader(text if large is None else large, start, line, first_index, format == "svmlight")
    status = reader.run(n_rows, n_features, n_labels)
    if status in (kernels.FEATURE_RANGE, kernels.LABEL_RANGE, kernels.TOO_FEW_ROWS, kernels.TOO_MANY_ROWS):
        if counts == "data" and header_line is not None:
            reader, status = _read_without_counts(reader, n_rows, source)
            if status == kernels.OK:
                _warn_of_counts(reader.out, source, (n_rows, n_features, n_labels))
                header_line = None
    if status != kernels.OK:
        raise error_of(reader, status, source, format, n_rows, n_features, n_labels)
    out, arrays = reader.out, reader.arrays
    _warn_of_repeats(out, source)
    if header_line is None:
        n_features = int(out[kernels.MAX_FEATURE]) + 1
        n_labels = int(out[kernels.MAX_LABEL]) + 1
    rows, n_x, n_y = (int(out[i]) for i in (kernels.ROWS, kernels.N_FEATURES, kernels.N_LABELS))
    X = canonical_csr(
        _cut(arrays.x_indptr, rows + 1), _cut(arrays.x_indices, n_x), _cut(arrays.x_data, n_x), n_features
    )
    Y = canonical_csr(_cut(arrays.y_indptr, rows + 1), _cut(arrays.y_indices, n_y), np.ones(n_y, bool), n_labels)
    least = (int(out[i]) + first_index for i in (kernels.MIN_FEATURE, kernels.MIN_LABEL))
    return Rows(source, format, X, Y, header_line, *least)


def check_not_blank(text, start, n_rows, source, line):
    """Raise DatasetFormatError if nearly all of very many rows are blank: few bytes, compressed, can be 10^8 rows."""
    promised = n_rows >= 0
    if not promised:
        n_rows = 1 + int(np.count_nonzero(text[start:] == ord("\n")))
    if n_rows < _MANY_ROWS or not n_rows <= text.size - start + 1 <= 16 * n_rows:
        return  # or there are fewer rows, which the parser says, or not very many blank ones
    filled = int(np.count_nonzero(text[start:] > ord(" ")))  # no more rows than this have something in them
    if filled < n_rows / 100:
        has = "the header promises" if promised else "it has"
        found = f"{has} {n_rows:,} rows, of which all but {filled:,} or fewer are blank"
        remedy = "Leave the blank rows out" + (", and count the others." if promised else ".")
        raise DatasetFormatError(source, found, remedy, line)


def _read_without_counts(reader, n_rows, source):
    """Read rows whose header promises other numbers; return the reader that did, and the status of the parser."""
    status = reader.run(n_rows, INT32_MAX, INT32_MAX)
    if status in (kernels.TOO_FEW_ROWS, kernels.TOO_MANY_ROWS):
        text = without_blank_end(reader.text, reader.start)
        check_not_blank(text, reader.start, -1, source, reader.first_line)
        reader = TextReader(text, reader.start, reader.first_line, reader.first_index, reader.skip_blank)
        status = reader.run(-1, INT32_MAX, INT32_MAX)
    return reader, status


def _warn_of_counts(out, source, promised):
    found = (int(out[kernels.ROWS]), int(out[kernels.MAX_FEATURE]) + 1, int(out[kernels.MAX_LABEL]) + 1)
    differ = [
        f"{promise:,} {noun}, but there are {seen:,}"
        for noun, promise, seen in zip(("rows", "features", "labels"), promised, found)
        if promise != seen
    ]
    warn(f"{source}: the header promises {'; '.join(differ)}. The numbers of the data are taken.")


def _fits(text, header, line, first_index):
    """Return whether the rest of the file agrees with a header of these numbers of rows, features and labels."""
    try:
        n_rows, n_features, n_labels = _header(header, "", line)
    except DatasetFormatError:
        return False
    if n_rows == 0:
        return False
    for first in {first_index, 1}:
        reader = TextReader(text, header.end() + 1, line + 1, first, skip_blank=False)
        if reader.run(n_rows, n_features, n_labels) == kernels.OK:
            return True
    return False


def _cut(array, size):
    """Return the first ``size`` elements of an array, as a copy if it has more."""
    return array if array.size == size else array[:size].copy()


def _header(match, source, line):
    values = []
    for group, noun, least, most in ((1, "rows", 0, 2**62), (2, "features", 1, INT32_MAX), (3, "labels", 1, INT32_MAX)):
        digits = match.group(group).lstrip(b"0")
        value = int(digits or b"0") if len(digits) < 20 else 10**19
        if not least <= value <= most:
            shown = match.group(group)[:_SHOWN].decode() + ("..." if len(match.group(group)) > _SHOWN else "")
            remedy = "The header is: rows, features, labels."
            if value > most:
                remedy += f" At most {INT32_MAX} features and labels are supported."
            column = match.start(group) - match.start() + 1
            raise DatasetFormatError(source, f"the header promises {shown} {noun}", remedy, line, column)
        values.append(value)
    return values


def _warn_of_repeats(counts, source):
    """Warn if rows name a feature or a label twice."""
    warnings_of_file = []
    for count, first, noun, done in (
        (kernels.REPEATED_FEATURE_ROWS, kernels.REPEATED_FEATURE_LINE, "feature", "values were summed"),
        (kernels.REPEATED_LABEL_ROWS, kernels.REPEATED_LABEL_LINE, "label", "label counts once"),
    ):
        if counts[count]:
            rows = "1 row names" if counts[count] == 1 else f"{counts[count]:,} rows name"
            warnings_of_file.append(f"{rows} a {noun} more than once (first in line {counts[first]:,}): {done}")
    if warnings_of_file:
        warn(f"{source}: {'; '.join(warnings_of_file)}")


def _token(text, at):
    """Return the bytes from ``at`` to the next blank, newline or comment, at most 400."""
    return re.match(rb"[^ \t\r\n#]*", text[at : at + 400].tobytes()).group()


def shown_line(text, at) -> str:
    return _shown(text, at, until_newline=True)


def _shown(text, at, until_newline=False):
    piece = text[at : at + 400].tobytes()
    piece = re.match(rb"[^\n]*" if until_newline else rb"[^ \t\r\n#]*", piece).group().rstrip(b"\r")
    cut = piece[:_SHOWN]
    try:
        shown = repr(cut.decode())
    except UnicodeDecodeError as error:
        in_two = len(piece) > _SHOWN and error.start > _SHOWN - 4  # the bytes are text, but were cut within a character
        shown = repr(cut[: error.start].decode()) if in_two else repr(cut)[1:]
    return shown + ("..." if len(piece) > _SHOWN else "")


def error_of(reader, status, source, format, n_rows, n_features, n_labels):
    text, out = reader.text, reader.out
    line, at = int(out[kernels.LINE]), int(out[kernels.POSITION])
    column = at - int(out[kernels.LINE_START]) + 1
    token = _token(text, at)
    shown = _shown(text, at)
    if status == kernels.TOO_FEW_ROWS:
        got = int(out[kernels.ROWS])
        return DatasetFormatError(
            source,
            f"the file ends after {got} row{'' if got == 1 else 's'} but the header promises {n_rows}",
            f"The file is cut off, or the header should say {got}. {_COUNTS}",
            max(line - 1, reader.first_line - 1),
        )
    if status == kernels.TOO_MANY_ROWS:
        return DatasetFormatError(
            source,
            f"a row after the {n_rows} that the header promises",
            "Put the right number of rows in the header." + _seen_rows(reader),
            line,
            column,
        )
    if status == kernels.SUM_OVERFLOW:
        return DatasetFormatError(
            source,
            "the values of a repeated feature add up to more than float32 holds (3.4e38)",
            "Name each feature once per row.",
            line,
            column,
        )
    if status == kernels.BAD_LABEL and b":" in token and re.match(rb"[^,0-9]", token):
        status = kernels.BAD_FEATURE  # the row starts with a feature that is wrong
    if status == kernels.BAD_LABEL:
        found, remedy = _bad_label(token, shown)
    elif status == kernels.LABEL_RANGE:
        found, remedy = _out_of_range(reader, "label", token, n_features, n_labels, n_labels, format)
    elif status == kernels.BAD_FEATURE:
        found, remedy = _bad_feature(token, shown)
        first = line == reader.first_line
        if first and format == "svmlight":
            if _HEADER.match(text, int(out[kernels.LINE_START])):
                remedy = 'The line looks like a header: read the file with format="xmlc".'
            elif b":" not in text[at : at + 400].tobytes().split(b"\n")[0]:
                remedy += " If this line is a header, it needs three whole numbers: rows, features, labels."
                if re.match(
                    rb"[ \t]*[0-9]+[ \t]+[0-9]+[ \t\r]*(\n|$)", text[int(out[kernels.LINE_START]) :][:400].tobytes()
                ):
                    remedy += " If the labels are in a file of their own, give that as labels=..."
    elif status == kernels.FEATURE_RANGE:
        found, remedy = _out_of_range(reader, "feature", token, n_features, n_labels, n_features, format)
    else:
        found, remedy = _bad_value(token, shown)
    return DatasetFormatError(source, found, remedy, line, column)


def _bad_label(token, shown):
    rule = "Labels are whole numbers from 0, separated by commas, before the first feature."
    if token == b"":
        return "the label list ends with a comma", rule
    if token.startswith(b","):
        return "a label is missing before the comma", rule
    label = token.split(b",")[0]
    if re.match(rb"-[0-9]", label):
        return f"the label {shown} is negative", f"{rule} Targets such as -1 and 1 are classes, not label ids."
    if NUMBER.fullmatch(label):
        return f"the label {shown} is not written as a whole number", rule
    if b":" in token:
        return f"the feature {shown} where a label belongs, after a comma", rule
    return f"{shown} where a label belongs", rule


def _bad_feature(token, shown):
    rule = "A row is its labels, separated by commas, then id:value for each feature, separated by spaces."
    key, colon, _ = token.partition(b":")
    if key.lower() == b"qid" and colon:
        return f"the query id {shown}", "Ranking data is not multi-label data: remove the qid tokens."
    if re.fullmatch(rb"-[0-9]+", key) and colon:
        return f"the feature id in {shown} is negative", "Feature ids are whole numbers from 0."
    if re.fullmatch(rb"[0-9]+(,[0-9]+)*,?", token):
        remedy = rule + " A line that starts with a blank has no labels."
        return f"{shown} where a feature (id:value) belongs", remedy
    if colon and NUMBER.fullmatch(key):
        return f"the feature id in {shown} is not written as a whole number", "Feature ids are whole numbers from 0."
    if colon:
        return f"the feature id in {shown} is not a whole number", "Give names separately, as feature_names."
    return f"{shown} where a feature (id:value) belongs", rule


def _bad_value(token, shown):
    value = token.removeprefix(b"+").removeprefix(b"-").lower()
    if not token:
        return "a feature without a value", "Write id:value without a space; absent features are simply left out."
    if value in (b"nan", b"inf", b"infinity"):
        return f"the value {shown}", "Values are finite numbers: leave the feature out, or replace the value."
    if NUMBER.fullmatch(token):
        return f"the value {shown} is too large for float32 (3.4e38)", "Scale the feature."
    return f"{shown} where a number belongs", "Values are decimal numbers, such as 1, -0.25 or 3e-5."


def _out_of_range(reader, noun, token, n_features, n_labels, count, format):
    digits = re.match(rb"[0-9]+", token).group()
    shown = digits.decode() if len(digits) <= _SHOWN else digits[:_SHOWN].decode() + "..."
    value = int(digits) if len(digits) < 20 else 10**19
    first = reader.first_index
    if value < first:
        return (
            f"{noun} id {shown} but with first_index=1 ids start at 1",
            "Pass first_index=0 if ids start at 0 in this file.",
        )
    if format == "svmlight":
        return f"{noun} id {shown}", f"At most {INT32_MAX} features and labels are supported: number them without gaps."
    plural = "" if count == 1 else "s"
    found = f"{noun} id {shown} but the header promises {count} {noun}{plural} (ids {first} to {count - 1 + first})"
    if first == 0 and value == count:
        return found, _one_based_remedy(reader, n_features, n_labels)
    greatest = _greatest(reader, noun)
    if greatest < 0:
        return found, f"Put the right number of {noun}s in the header, or correct the id. {_COUNTS}"
    return (
        found,
        f"{_greatest_text(noun, greatest + first)} Put {greatest + 1} in the header, or correct the id. {_COUNTS}",
    )


def _whole_file(reader, text, first_index):
    """Return a reader that has read all rows, whatever the header promises; None if the file has other errors."""
    scan = TextReader(text, reader.start, reader.first_line, first_index, reader.skip_blank)
    return scan if scan.run(-1, INT32_MAX, INT32_MAX) == kernels.OK else None


def _greatest_text(noun, greatest):
    return f"The greatest {noun} id in the file is {greatest}."


def _greatest(reader, noun):
    """Return the greatest id of features or labels in the file, counted from 0; -1 if the file has other errors."""
    scan = _whole_file(reader, reader.text, reader.first_index)
    if scan is None:
        return -1
    return int(scan.out[kernels.MAX_FEATURE if noun == "feature" else kernels.MAX_LABEL])


def _seen_rows(reader):
    """Return how many rows a file has that has more than its header promises; nothing if it has other errors."""
    scan = _whole_file(reader, without_blank_end(reader.text, reader.start), reader.first_index)
    if scan is None:
        return f" {_COUNTS}"
    return f" The file has {int(scan.out[kernels.ROWS])} rows. {_COUNTS}"


def _one_based_remedy(reader, n_features, n_labels):
    """Return the remedy for an id that equals the header's number, after checking whether all ids start at 1."""
    scan = _whole_file(reader, reader.text, 0)
    if scan is None:
        return _ONE_BASED
    features = tuple(int(scan.out[i]) for i in (kernels.MIN_FEATURE, kernels.MAX_FEATURE))
    labels = tuple(int(scan.out[i]) for i in (kernels.MIN_LABEL, kernels.MAX_LABEL))
    shifted = {
        "feature": features[0] >= 1 and features[1] == n_features,
        "label": labels[0] >= 1 and labels[1] == n_labels,
    }
    fits = {
        "feature": 1 <= features[0] and features[1] <= n_features,
        "label": 1 <= labels[0] and labels[1] <= n_labels,
    }
    fits["feature"] |= features[1] < 0  # the file has no features
    fits["label"] |= labels[1] < 0
    if fits["feature"] and fits["label"]:
        return "No id in this file is 0, so its ids seem to start at 1: pass first_index=1."
    for noun in ("feature", "label"):
        if shifted[noun]:
            return (
                f"Only the {noun} ids of this file seem to start at 1: promise one more {noun} in the header, "
                f"and {noun} 0 stays unused."
            )
    noun, greatest = ("feature", features[1]) if features[1] >= n_features else ("label", labels[1])
    return (
        f"{_greatest_text(noun, greatest)} The header promises too little, or an id is wrong: put {greatest + 1} in "
        f"the header. {_COUNTS}"
    )


def warm_up() -> None:
    parse(np.frombuffer(b"1 2 2\n1,0 1:0.5 0:2\n", np.uint8), "warm-up")
