"""Parser of ARFF files of multi-label data, as Mulan, MEKA and Weka write them."""

import difflib
import numbers
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import compress

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import arff as kernels
from xmlcore.datasets.readers.arff_header import (
    NOMINAL,
    NUMERIC,
    Header,
    Type,
    looks_like,
    read_header,
    shown,
    unescape,
)
from xmlcore.datasets.readers.blocks import MANY_ROWS, SHORT, LargeText, NotInBlocks, TextReader
from xmlcore.datasets.readers.names import xml_label_names
from xmlcore.datasets.readers.rows import ReadOptions, Rows, canonical_csr
from xmlcore.datasets.readers.sources import MEMORY_BOUND, NamedSource, is_source
from xmlcore.datasets.readers.xmlc import NUMBER

__all__ = ["looks_like", "parse"]

_FEW = 2  # attributes by which a number of labels seems to be a mistake
_SOME = 3  # number of names that a message lists
_LONGEST_COMPARED = 100  # characters of a name for which similar ones are searched
_MEKA = re.compile(r"(?:^|[\s:])-([Cc])\s*(-?[0-9]{1,9})(?!\S)")
_PAIRS = {("1", "0"), ("1", "-1"), ("true", "false"), ("t", "f"), ("yes", "no"), ("y", "n")}
_YES = {pair[0] for pair in _PAIRS}
_BINARY_RULE = "A label is numeric with the values 0 and 1, or has two values such as {0,1}, {false,true} or {no,yes}."
_MISSING_RULE = "A missing value is written as ?."


def parse(text: np.ndarray | LargeText, source: NamedSource, options: ReadOptions) -> Rows:
    try:
        header = read_header(text, source)
    except NotInBlocks:
        text = text.whole()
        header = read_header(text, source)
    lacks_labels = options.known is not None and not said_by(header)
    chosen = [] if lacks_labels else _label_attributes(header, options.labels, source)
    doubt, value = _doubt(header, options.labels) if chosen else ("", None)
    doubted = {"argument": "labels", "value": value} if doubt else {}
    rule = f"{_BINARY_RULE} {doubt}".rstrip()
    _check_kinds(header, chosen, options.leave_out, source, rule, doubted)
    columns = _columns(header, chosen)
    if columns.n_features == 0:
        remedy = "Name only some of them as labels."
        raise source.error("all of its attributes are labels", remedy, argument="labels")
    reader, status = run(text, header, columns, source)
    if status != kernels.OK:
        raise _error(reader, status, source, rule, doubted)
    X, Y = matrices(reader)
    label_names = [header.names[a] for a in chosen]
    if header.encoding != "utf-8":
        source.warn("its names are not UTF-8, and were read as Windows-1252 (Western European)")
    _warn(reader.out, source)
    if doubt:
        read_as = f"the {_end(len(chosen), chosen[0] > 0)} {'is' if len(chosen) == 1 else 'are'} read as labels"
        source.warn(f"{read_as}. {doubt}", **doubted)
    names = {"feature_names": _feature_names(header, columns), "label_names": label_names}
    notes = []
    if (several := np.flatnonzero(columns.width > 1)).size:
        became = f"{_counted(several.size, 'nominal attribute')} became {int(columns.width[several].sum()):,} features"
        notes.append(f"{became}, one for each value: {_some([header.names[a] for a in several])}.")
    return Rows(source, "arff", X, Y, header.data_line, **names, notes=tuple(notes))


def _label_attributes(header: Header, labels, source) -> list[int]:
    n, where = len(header.names), "labels are to be"
    if labels is None:
        labels, where = said_by(header), "its relation says that labels are"
        if not labels:
            found, (remedy, value) = "it does not say which attributes are labels", _how_to_say(header)
            raise source.error(found, remedy, argument="labels", value=value)
    if isinstance(labels, numbers.Integral) and not isinstance(labels, (bool, np.bool_)):
        if not 0 < abs(labels) <= n:
            found = f"{where} the {_end(abs(int(labels)), labels < 0)}, but it has {_counted(n, 'attribute')}"
            raise source.error(found, "Correct the number.", argument="labels")
        return list(range(labels) if labels > 0 else range(n + int(labels), n))
    if isinstance(labels, str) and labels in header.names and not os.path.exists(labels):
        found = f"{labels!r:.200} is an attribute, but no file"
        raise source.error(found, "Give names of attributes as a list.", argument="labels", value=[labels])
    if is_source(labels):
        return _attributes_named(header, xml_label_names(labels), source)
    names = list(labels) if isinstance(labels, Iterable) else [labels]
    if isinstance(labels, bool) or not all(isinstance(name, str) for name in names):
        raise TypeError("labels must be a Mulan XML file, a list of names of attributes, or a whole number")
    if not names or len(set(names)) < len(names):
        raise ValueError("labels names " + ("no attributes" if not names else "an attribute twice"))
    return _attributes_named(header, names, source)


def said_by(header: Header) -> int:
    """Return the number of MEKA's option ``-C`` in the relation; 0 if there is none."""
    options = {}
    for letter, number in _MEKA.findall(header.relation):
        options.setdefault(letter, int(number))
    return options.get("C", options.get("c")) or 0


def _doubt(header, labels) -> tuple[str, int | None]:
    """Return why a number of labels seems to be off by one or two, and the right one; nothing if it does not."""
    n = said_by(header) if labels is None else labels
    if not isinstance(n, numbers.Integral) or isinstance(n, (bool, np.bool_)):
        return "", None
    n, last = int(n), n < 0
    binary, elsewhere = binary_ends(header)[:: -1 if last else 1]
    if binary == 0 and elsewhere == abs(n):  # the wrong end of the file
        binary, last = elsewhere, not last
    elif binary == 0 or not 0 < abs(abs(n) - binary) <= _FEW:
        return "", None
    if abs(n) < binary and len(set((header.type_of[-binary:] if last else header.type_of[:binary]).tolist())) > 1:
        return "", None  # labels seldom have values of several kinds, such as {0,1} and {no,yes}
    have = f"Exactly the {_end(binary, last)} {'has' if binary == 1 else 'have'} the two values of a label."
    return f"{have} Are these the labels?", -binary if last else binary


def _end(count, last) -> str:
    return f"{'last' if last else 'first'} {'attribute' if count == 1 else f'{count:,} attributes'}"


def _attributes_named(header, names, source) -> list[int]:
    """Return the numbers of the attributes of these names; raise DatasetFormatError if a name is missing."""
    number = {name: i for i, name in enumerate(header.names)}

    def place(name):
        ways = number.get(name), number.get(name.strip()), header.spellings.get(name), number.get(unescape(name))
        return next((i for i in ways if i is not None), None)

    found = [place(name) for name in names]
    missing = [name for name, i in zip(names, found) if i is None]
    if missing:
        near = difflib.get_close_matches(missing[0][:_LONGEST_COMPARED], header.names[:5000], _SOME, cutoff=0.5)
        remedy = f"Attributes with a name like {shown(missing[0])}: {_some(near)}. " if near else ""
        remedy += "Do the labels belong to this file? Each label is the name of an attribute."
        lacking = f"{len(missing):,} of the {_counted(len(names), 'label')} {'is' if len(missing) == 1 else 'are'}"
        raise source.error(f"{lacking} not among its attributes: {_some(missing)}", remedy)
    if len(set(found)) < len(found):
        most = Counter(found).most_common(1)[0][0]
        twice = names[len(found) - 1 - found[::-1].index(most)]
        raise source.error(f"the label {shown(twice)} names an attribute a second time", "Name it once.")
    return found


def _how_to_say(header) -> tuple[str, int | None]:
    """Return how to say which attributes are labels, and how many seem to be, by their two values."""
    rule = "Labels come from Mulan's XML file, a list of names, or a number, which is negative for the last attributes."
    first, last = binary_ends(header)
    if not first + last:
        return rule, None
    which = f"{_end(last or first, last > 0)} {'has' if (last or first) == 1 else 'have'}"
    return f"{rule} The {which} the two values of a label: are these the labels?", -last or first


def binary_ends(header) -> tuple[int, int]:
    """Return how many attributes at the beginning, and at the end, have the two values of a label; 0 if all have."""
    binary = np.array([_is_binary(type) for type in header.types])[header.type_of]
    return (0, 0) if binary.all() else (int(np.argmin(binary)), int(np.argmin(binary[::-1])))


def _is_binary(type: Type) -> bool:
    """Return whether the values of a type are those of a label, such as 0 and 1, or one of the two."""
    values = {value.lower() for value in type.values}
    if type.kind != NOMINAL or len(values) > 2:
        return False
    return any(values <= set(pair) for pair in _PAIRS)


def _check_kinds(header, chosen, leave_out, source, rule, doubted):
    """Raise DatasetFormatError if an attribute is neither a number nor nominal, or a label is not binary."""
    kinds = np.array([type.kind for type in header.types])
    binary = np.array([type.kind == NUMERIC or _is_binary(type) for type in header.types])
    type_of = header.type_of
    for a in [a for a in sorted(chosen) if not binary[type_of[a]]][:1]:
        type = header.type(a)
        has = f"the values {_some(type.values)}" if type.kind == NOMINAL else f"the type {type.kind}"
        found = f"the label {shown(header.names[a])} has {has}"
        raise source.error(found, rule, int(header.lines[a]), **doubted)
    others = np.flatnonzero(~np.isin(kinds, (NUMERIC, NOMINAL))[type_of])
    for a in others.tolist():
        kind = header.type(a).kind
        if not leave_out or kind == "relational":
            remedy = "Features are numbers or nominal: remove the attribute, or turn its words into numbers."
            argument = {} if kind == "relational" else {"argument": "leave_out", "value": True}
            found = f"the attribute {shown(header.names[a])} has the type {kind}"
            raise source.error(found, remedy, int(header.lines[a]), **argument)
    if others.size:
        names = _some([header.names[a] for a in others])
        source.warn(f"{_counted(others.size, 'attribute')} of type string or date left out: {names}")


@dataclass
class _Columns:
    """The columns of X and Y that the attributes have."""

    attributes: tuple  # xmlcore._kernels.arff.Attributes
    n_features: int
    n_labels: int
    codes: list  # see :func:`_code`, for each type
    is_label: np.ndarray  # for each attribute
    width: np.ndarray  # columns of X that each has


def _code(type: Type) -> tuple:
    """Return for each value of a nominal type the column that is 1, counted from the attribute's first, or -1."""
    values = [value.lower() for value in type.values]
    if _is_binary(type):
        return tuple(0 if value in _YES else -1 for value in values)
    return (-1, 0) if len(values) == 2 else tuple(range(len(values)))


def _columns(header, chosen) -> _Columns:
    types = header.types
    codes = [_code(type) if type.kind == NOMINAL else () for type in types]
    kinds = {NUMERIC: kernels.NUMERIC, NOMINAL: kernels.NOMINAL}
    type_of = header.type_of
    kind = np.array([kinds.get(type.kind, kernels.LEFT_OUT) for type in types], np.int8)[type_of]
    width = [max(1, 1 + max(code, default=0)) if type.kind in kinds else 0 for type, code in zip(types, codes)]
    width = np.array(width, np.int64)[type_of]
    is_label = np.zeros(type_of.size, bool)
    is_label[chosen] = True
    kind[is_label] += kernels.LABEL
    width[is_label] = 0
    column = np.cumsum(width) - width
    column[chosen] = np.arange(len(chosen))
    first, stop, ends, letters, offsets, ones, zeros = [], [], [0], [], [], [], []
    for type, code in zip(types, codes):
        first.append(len(offsets))
        spellings = _spellings(type, header.encoding)
        for spelling, value in sorted(spellings.items()):
            letters.append(spelling)
            ends.append(ends[-1] + len(spelling))
            offsets.append(code[value])
        stop.append(len(offsets))
        is_number = type.kind == NUMERIC
        ones.append(0 if is_number else code[spellings[b"1"]] if b"1" in spellings else -1)
        zeros.append(is_number or (b"0" in spellings and code[spellings[b"0"]] < 0))
    default = np.array([code[0] if code else -1 for code in codes])[type_of]  # sparse rows leave out the first value
    defaults = np.flatnonzero(default >= 0)
    attributes = kernels.Attributes(
        kind=kind,
        column=column.astype(np.int32),
        first=np.array(first, np.int64)[type_of],
        stop=np.array(stop, np.int64)[type_of],
        ends=np.array(ends, np.int64),
        letters=np.frombuffer(bytearray(b"".join(letters) or b"\0"), np.uint8),
        offset=np.array(offsets or [0], np.int32),
        one=np.array(ones, np.int32)[type_of],
        zero=np.array(zeros, bool)[type_of],
        default=defaults.astype(np.int32),
        default_column=(column[defaults] + default[defaults]).astype(np.int32),
    )
    return _Columns(attributes, int(width.sum()), len(chosen), codes, is_label, width)


def _spellings(type: Type, encoding) -> dict[bytes, int]:
    """Return the number of each value by all ways to write it between quotation marks, in bytes."""
    # Rows are compared with these, so that they need not be unescaped: ``it's`` may be written ``it\'s``, ``don't \
    # do`` as ``don\'t \\ do``. A way that fits two values means the one that the header writes so.
    found = {}
    ways = [type.spellings, type.values]
    if any(letter in value for value in type.values for letter in "\\'\"%\n\t\r"):
        for letters in ("\\'\"%", "\\'", '\\"', "\\"):
            ways.append([re.sub(f"([{re.escape(letters)}])", r"\\\1", value) for value in type.values])
        blanks = str.maketrans({"\n": "\\n", "\t": "\\t", "\r": "\\r"})
        ways = [[value.translate(blanks) for value in way] for way in ways]
    for way in ways:
        for number, value in enumerate(way):
            found.setdefault(value.encode(encoding, "replace"), number)
    return found


def _feature_names(header, columns) -> list[str]:
    suffixes = []
    for type, code in zip(header.types, columns.codes):
        if type.kind == NOMINAL and not _is_binary(type):
            suffixes.append([f"={value}" for value, offset in zip(type.values, code) if offset >= 0])
        else:
            suffixes.append([""] if type.kind in (NUMERIC, NOMINAL) else [])
    if all(of_type == [""] for of_type in suffixes):
        return list(compress(header.names, (~columns.is_label).tolist()))
    found = zip(header.names, header.type_of.tolist(), columns.is_label.tolist())
    return [name + suffix for name, number, is_label in found if not is_label for suffix in suffixes[number]]


def _counted(number, noun) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _some(names) -> str:
    more = len(names) - _SOME
    return ", ".join(shown(name) for name in names[:_SOME]) + (f" and {more:,} more" if more > 0 else "")


def _warn(out, source):
    for count, first, noun, done in (
        (kernels.MISSING_FEATURES, kernels.MISSING_FEATURE_LINE, "missing value", "read as 0"),
        (kernels.MISSING_LABELS, kernels.MISSING_LABEL_LINE, "missing label", "read as not given"),
        (kernels.WEIGHTED_ROWS, kernels.WEIGHT_LINE, "row weight", "not used"),
    ):
        if out[count]:
            are = "is" if out[count] == 1 else "are"
            source.warn(f"{_counted(int(out[count]), noun)} (first in line {out[first]:,}) {are} {done}")


_ROW, _SPARSE = "A row has a value of each attribute", "A sparse row is {{number value, number value}}"
_SPARSE += "; the numbers of attributes ascend from 0."
_ERRORS = {  # by the status of the compiled parser: what was found, and what to do
    kernels.BAD_LABEL: ("{token} as the value of the label {name}", "{rule}"),
    kernels.NO_VALUE: ("no value of the attribute {name}", "{pair}" + _MISSING_RULE),
    kernels.TOO_FEW: ("the row ends after {values}, but there are {attributes}", f"{_ROW}. {_MISSING_RULE}"),
    kernels.TOO_MANY: (
        "{token} after the {needed} of the row, one of each attribute",
        f"{_ROW}; a value with blanks or commas stands in quotation marks.",
    ),
    kernels.AFTER_ROW: (
        "{rest} after the end of the row", "A row may be followed by its weight in braces, such as {{2}}."
    ),
    kernels.BAD_WEIGHT: (
        "a weight that is not a number", "The weight of a row is a number in braces, such as {{2}}."
    ),
    kernels.INDEX_RANGE: (
        "attribute number {bare}, but there are {attributes}, numbered from 0",
        "Correct the number, or declare the attribute.",
    ),
    kernels.INDEX_ORDER: ("attribute number {number} {order}", _SPARSE),
    kernels.NOT_CLOSED: ("a brace is not closed", f"{_SPARSE} A weight after it has braces of its own."),
    kernels.BAD_INDEX: ("{token} where the number of an attribute belongs", _SPARSE),
}  # fmt: skip


def _error(reader, status, source, rule, doubted):
    """Return the DatasetFormatError for a status of the compiled parser other than OK; ``rule``: for labels."""
    text, out, header = reader.text, reader.out, reader.header
    at, start = int(out[kernels.POSITION]), int(out[kernels.LINE_START])
    line_text = text[at : at + 400].tobytes().split(b"\n")[0]
    a, n, previous = int(out[kernels.ATTRIBUTE]), len(header.names), int(out[kernels.PREVIOUS])
    name = shown(header.names[a]) if a < n else ""
    token = re.match(rb"[^ \t\r\n,}]*", line_text).group().decode(header.encoding, "replace")
    sparse = text[start : start + 400].tobytes().lstrip(b" \t\r").startswith(b"{")
    if status == kernels.BAD_NUMBER:
        found, remedy = _bad_number(token, line_text, name)
    elif status == kernels.BAD_NOMINAL:
        found, remedy = _bad_nominal(header, a, token, line_text)
    elif status == kernels.BAD_TOKEN:
        found, remedy = _bad_token(token, line_text, name, sparse)
    else:
        pair = "In a sparse row, the number of an attribute is followed by a blank and the value. "
        facts = {"name": name, "token": shown(token), "bare": shown(token)[1:-1], "number": a, "rule": rule}
        facts |= {"values": _counted(a, "value"), "needed": _counted(n, "value"), "pair": pair * sparse}
        facts |= {"attributes": _counted(n, "attribute")}
        facts |= {"order": "twice in a row" if a == previous else f"after number {previous}"}
        facts |= {"rest": shown(line_text.decode(header.encoding, "replace").strip())}
        found, remedy = (sentence.format(**facts) for sentence in _ERRORS[status])
    argument = doubted if status == kernels.BAD_LABEL else {}
    return source.error(found, remedy, int(out[kernels.LINE]), at - start + 1, **argument)


def _bad_number(token, line_text, name):
    quoted = _quoted(line_text)
    token = token if quoted is None else quoted.decode("utf-8", "replace")
    if NUMBER.fullmatch(token.encode()):
        return f"the value {shown(token)} of the attribute {name} is too large for float32 (3.4e38)", "Scale it."
    rule = "Values are separated by commas. " if ";" in token else ""
    rule += f"Values are finite numbers with a point, such as 1, -0.25 or 3e-5. {_MISSING_RULE}"
    return f"{shown(token)} where the attribute {name} needs a number", rule


def _quoted(line_text):
    """Return the bytes between the quotation marks at the beginning of a line; None if they are not there."""
    match = re.match(rb"(['\"])((?:(?!\1)[^\\]|\\.)*)\1", line_text)
    return match.group(2) if match else None


def _bad_nominal(header, a, token, line_text):
    quoted = _quoted(line_text)
    value = token if quoted is None else unescape(quoted.decode(header.encoding, "replace"))
    remedy = f"Its values, in line {header.lines[a]:,}, are {_some(header.type(a).values)}."
    return f"{shown(value)} is not a value of the attribute {shown(header.names[a])}", remedy


def _bad_token(token, line_text, name, sparse):
    if line_text[:1] in (b"'", b'"'):
        if _quoted(line_text) is not None:
            found = f"something right behind the quoted value of the attribute {name}"
        else:
            found = f"the value of the attribute {name} begins with a quotation mark that is not closed"
        return found, "A quotation mark within quotation marks is written with a backslash before it."
    if sparse:
        found = f"{shown(token)} after the value of the attribute {name}"
        return found, "Pairs in a sparse row are separated by commas."
    return f"{shown(token)} where a value of the attribute {name} belongs", _MISSING_RULE


def warm_up() -> None:
    text = np.frombuffer(b"@relation 'a: -C 1'\n@attribute a {0,1}\n@attribute b real\n@data\n1,2\n{1 3}\n", np.uint8)
    parse(text, NamedSource(b"", "warm-up"), ReadOptions())


_PER_ROW = 24  # bytes that a row takes while it is read, even if it has nothing


def run(text, header, columns, source):
    """Run the compiled parser over a text; return the reader that ran, and the status of the parser."""
    reader = ArffReader(text, header, columns, source)
    try:
        return reader, reader.run()
    except NotInBlocks:
        return run(text.whole(), header, columns, source)


class ArffReader(TextReader):
    """A run of the parser, which knows how many values rows can have at most."""

    kernels = kernels
    remarks = (
        (kernels.MISSING_FEATURES, kernels.MISSING_FEATURE_LINE),
        (kernels.MISSING_LABELS, kernels.MISSING_LABEL_LINE),
        (kernels.WEIGHTED_ROWS, kernels.WEIGHT_LINE),
    )

    def __init__(self, text, header, columns, source):
        super().__init__(text, header.start, header.data_line + 1)
        self.header, self.columns, self.source = header, columns, source
        kind, default = columns.attributes.kind, columns.attributes.default
        self._n_features = int(np.count_nonzero(kind < kernels.LABEL))
        self._n_label_defaults = int(np.count_nonzero(kind[default] >= kernels.LABEL))
        self._n_defaults = default.size - self._n_label_defaults
        self._max_bytes = MEMORY_BOUND if source.bound is None else source.bound
        self._n_rows = self._n_sparse = self._n_filled = 0

    def places(self, start, line, n_before):
        return start, line, self.columns.attributes

    def most_of(self, text):
        """Return how many rows and values of X and Y a text has at most; raise an error if all so far are too many."""
        n_rows, n_sparse, separators = kernels.count_entries(text)
        n_sparse, entries = min(n_sparse, n_rows), separators + n_rows
        self._n_rows, self._n_sparse = self._n_rows + n_rows, self._n_sparse + n_sparse
        if self._n_sparse * (8 * self._n_defaults + 4 * self._n_label_defaults) > self._max_bytes:
            values = self._n_sparse * (self._n_defaults + self._n_label_defaults)
            found = f"its {self._n_sparse:,} sparse rows leave out up to {values:,} values that are not 0"
            remedy = "Declare 0 as the first value of nominal attributes, which those are, or allow more bytes."
            raise self.source.error(found, remedy, argument="max_bytes")
        self._check_not_empty(text, n_rows)
        n_x = min(entries + n_sparse * self._n_defaults, n_rows * self._n_features)
        return n_rows, n_x, min(entries + n_sparse * self._n_label_defaults, n_rows * self.columns.n_labels)

    def _check_not_empty(self, text, n_rows):
        """Raise DatasetFormatError if nearly all of very many rows are empty: few packed bytes can be 10^8 rows."""
        short = text.size <= SHORT * n_rows
        self._n_filled += int(np.count_nonzero((text > ord(" ")) & (text < ord("{")))) if short else n_rows
        allowed = MANY_ROWS if self.source.bound is None else self._max_bytes // _PER_ROW
        if self._n_rows > allowed and self._n_filled < self._n_rows / 100:
            found = f"it has {self._n_rows:,} rows, but at most {self._n_filled:,} of them are not empty"
            remedy = "Leave the empty rows out. If they are right, allow the memory that they take."
            raise self.source.error(found, remedy, argument="max_bytes", value=_PER_ROW * self._n_rows)


def matrices(reader):
    """Return X and Y of a reader that has run; they take the place of the arrays that were parsed into."""
    arrays, columns = reader.arrays, reader.columns
    X = canonical_csr(arrays.x_indptr, arrays.x_indices, arrays.x_data, columns.n_features)
    indices, ones = arrays.y_indices, np.ones(arrays.y_indices.size, bool)
    labels = columns.attributes.column[columns.is_label]
    if np.any(np.diff(labels) < 0):  # the labels' order is not that of the file
        Y = sp.csr_array((ones, indices, arrays.y_indptr), shape=(X.shape[0], columns.n_labels))
        Y.sort_indices()
        indices = Y.indices
    return X, canonical_csr(arrays.y_indptr, indices, ones, columns.n_labels)
