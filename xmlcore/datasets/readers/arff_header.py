"""Read the header of an ARFF file: its relation and its attributes."""

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from xmlcore.datasets.readers.blocks import LargeText, NotInBlocks, head_of

NUMERIC, NOMINAL = "numeric", "nominal"
_NUMBERS = ("numeric", "real", "integer")
_NOT_NUMBERS = ("string", "date", "relational")

_BLANKS = " \t\r"
_SHOWN = 40  # largest number of characters of a piece of the file that a message shows
_HEAD_BOUND = 64 << 20  # bytes of a file without @data that are searched for what is wrong
QUOTED = r"""'([^'\\]*+(?:\\.[^'\\]*+)*+)'|"([^"\\]*+(?:\\.[^"\\]*+)*+)\""""
_DATA = re.compile(rb"@[Dd][Aa][Tt][Aa](?![^ \t\r\n%])[ \t\r]*+")
_RELATION = re.compile(
    rf"[ \t]*+@relation(?![^ \t\r])[ \t\r]*+(?:(?:{QUOTED})[ \t\r]*+(?:%.*+)?+$|(.*+))", re.IGNORECASE
)
_ATTRIBUTE = re.compile(
    rf"[ \t\r]*+@attribute[ \t\r]++(?:{QUOTED}|([^ \t\r'\"{{}},%][^ \t\r{{]*+))[ \t\r]*+", re.IGNORECASE | re.ASCII
)
_VALUE = re.compile(rf"[ \t\r,]*+(?:{QUOTED}|([^ \t\r,{{}}'\"%][^ \t\r,{{}}]*+))")
_CLOSE = re.compile(r"[ \t\r,]*+\}")
_REST = re.compile(r"[ \t\r]*+(?:\[[^\]]*+\][ \t\r]*+)?+(?:\{[^}]*+\}[ \t\r]*+)?+(?:%.*+)?+", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|[0-3]?[0-7]{1,2}|.)", re.DOTALL)
_SPECIAL = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}
_LIST_RULE = "Nominal values stand in braces, {a,b,'c d'}, in one line; those with blanks or commas in quotation marks."
_TYPES_RULE = "An attribute has a name and then numeric, real, integer, or its values in braces, such as {0,1}."


class Type(NamedTuple):
    kind: str  # "numeric", "nominal", "string", "date" or "relational"
    values: tuple = ()  # of a nominal attribute, in the order of the file
    spellings: tuple = ()  # the values as they are written, without quotation marks but with backslashes


@dataclass
class Header:
    relation: str = ""
    names: list = field(default_factory=list)  # of the attributes
    lines: np.ndarray | None = None  # of the attributes in the file, int64
    types: list = field(default_factory=list)  # the different ones
    type_of: np.ndarray | None = None  # number of each attribute's type, int64
    spellings: dict = field(default_factory=dict)  # number of the attribute by a name with backslashes as it is written
    encoding: str = "utf-8"
    data_line: int = 0  # line of ``@data``
    start: int = 0  # place of the first byte after that line

    def type(self, attribute: int) -> Type:
        return self.types[int(self.type_of[attribute])]


def shown(text: str) -> str:
    return repr(text[:_SHOWN]) + ("..." if len(text) > _SHOWN else "")


def unescape(text: str, quoted: bool = True) -> str:
    if "\\" not in text:
        return text
    if not quoted:
        return re.sub(r"\\(['\"%])", r"\1", text)

    def character(match):
        escape = match.group(1)
        if escape[0] == "u" and len(escape) == 5:
            return chr(int(escape[1:], 16))
        return chr(int(escape, 8)) if escape[0] in "01234567" else _SPECIAL.get(escape, escape)

    # \uD83D\uDE00 is one character in two halves; a half alone is no text
    return _ESCAPE.sub(character, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def looks_like(text: np.ndarray) -> bool:
    """Return whether a text is an ARFF file: its first line that is no comment declares a relation or an attribute."""
    return (
        re.match(rb"(?:[ \t\r]*+(?:%[^\n]*+)?+\n)*+[ \t]*+@(?:relation|attribute)(?![^ \t\r\n])", text, re.I)
        is not None
    )


def read_header(text: np.ndarray | LargeText, source: str) -> Header:
    large, text = isinstance(text, LargeText), head_of(text)
    if bytes(text[:2]) in (b"\xff\xfe", b"\xfe\xff"):
        raise source.error("it is UTF-16 text", "Save the file as UTF-8.")
    data = _data_line(text)
    if large and not data:
        raise NotInBlocks
    content = text[: data.start() if data else _HEAD_BOUND].tobytes()
    header = Header(encoding=_encoding(content))
    rows = content.decode(header.encoding).split("\n")
    _read_attributes(header, rows, source)
    line = len(rows) if data else 1 + int(np.count_nonzero(text == 10))
    if not data:
        raise source.error("it ends without a line @data", "The rows follow after a line @data.", line)
    header.data_line = line
    _finish(header, text, data.end(), source)
    return header


def _data_line(text):
    """Return the match of the first ``@data`` that begins a line; None without one."""
    for match in _DATA.finditer(text):
        before = match.start() - 1
        while before >= 0 and text[before] in b" \t":
            before -= 1
        if before < 0 or text[before] == 10:
            return match
    return None


def _read_attributes(header, rows, source):
    """Read the lines before that of @data."""
    numbers, type_of, lines = {}, [], []  # numbers of types by the way they are written
    for line, row in enumerate(rows, 1):
        match = _ATTRIBUTE.match(row)
        if match is None:
            _read_other(header, row, line, source)
            continue
        single, double, plain = match.groups()
        name = next(each for each in (single, double, plain) if each is not None)
        if "\\" in name:
            header.spellings.setdefault(name, len(lines))
            name = unescape(name, plain is None)
        written = row[match.end() :].rstrip(_BLANKS)
        if written not in numbers:
            numbers[written] = len(numbers)
            header.types.append(_read_type(header, row, match.end(), name, line, source))
        header.names.append(name)
        type_of.append(numbers[written])
        lines.append(line)
    header.lines, header.type_of = np.array(lines, np.int64), np.array(type_of, np.int64)


def _finish(header, text, end, source):
    """Check what follows @data in its line, and that there are attributes, each of its own name."""
    if end < text.size and text[end] not in b"\n%":
        rest = re.match(rb"[^\n]*+", text[end : end + 400]).group().decode(header.encoding, "replace").strip(_BLANKS)
        raise source.error(f"{shown(rest)} in the line of @data", "The rows begin in the next line.", header.data_line)
    following = re.compile(rb"[^\n]*+\n?").match(text, end)
    header.start = following.end()
    if not header.names:
        remedy = "Before it, give each column a line such as @attribute age numeric."
        raise source.error("@data without any @attribute before it", remedy, header.data_line)
    if len(set(header.names)) < len(header.names):
        first = {}
        for name, line in zip(header.names, header.lines.tolist()):
            if name in first:
                raise source.error(
                    f"a second attribute is named {shown(name)}, as that in line {first[name]:,}",
                    "Give each feature and each label a name of its own.",
                    line,
                )
            first[name] = line


def _encoding(content) -> str:
    """Return the encoding of bytes: UTF-8, or else one that older programs on Windows write."""
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            content.decode(encoding)
            return encoding
    return "latin-1"


def _read_other(header, row, line, source):
    """Read a line of the header that is no valid attribute: nothing, a comment, the relation, or an error."""
    content = row.strip(_BLANKS)
    if not content or content[0] == "%":
        return
    column = len(row[: len(row) - len(row.lstrip(_BLANKS))].encode(header.encoding)) + 1
    match = _RELATION.match(row)
    if match:
        single, double, plain = match.groups()
        header.relation = plain.strip(_BLANKS) if plain is not None else unescape(double if single is None else single)
        return
    word = re.match(r"@?[^ \t\r]*", content).group().lower()
    if word == "@attribute":
        rest = content[len(word) :].strip(_BLANKS)
        if rest[:1] in ("'", '"'):
            found, remedy = "the name's quotation mark is not closed", f"Write \\{rest[0]} for {rest[0]} within a name."
        else:
            found, remedy = f"{shown(rest)} where the name of an attribute belongs", _TYPES_RULE
    elif word == "@end":
        found = "@end, which ends a relational attribute: its values are tables, as in multi-instance data"
        remedy = "Features are numbers or nominal: remove the attribute."
    elif word.startswith("@"):
        found, remedy = (
            f"{shown(word)} in the header",
            "Its lines begin with @relation, @attribute and, at last, @data.",
        )
    else:
        found = f"{shown(content)} in the header, where each line begins with @"
        remedy = "If it is a row, put a line @data before the first row. A comment begins with %."
    raise source.error(found, remedy, line, column)


def _read_type(header, row, at, name, line, source) -> Type:
    """Return the type that is written from ``at`` on in a line of an attribute."""

    def error(found, remedy, at):
        column = len(row[:at].encode(header.encoding, "replace")) + 1
        return source.error(found, remedy, line, column)

    if row[at : at + 1] != "{":
        word = re.match(r"[^ \t\r{\[%]*", row[at:]).group()
        kind = NUMERIC if word.lower() in _NUMBERS else word.lower()
        if not word:
            raise error(f"the attribute {shown(name)} has no type", _TYPES_RULE, at)
        if kind != NUMERIC and kind not in _NOT_NUMBERS:
            raise error(f"{shown(word)} where the type of {shown(name)} belongs", _TYPES_RULE, at)
        end = at + len(word)
        if kind == NUMERIC and _REST.fullmatch(row, end) is None:
            raise error(f"{shown(row[end:].strip(_BLANKS))} after the type of {shown(name)}", _TYPES_RULE, end)
        return Type(kind)
    values, spellings = [], []
    at += 1
    while match := _VALUE.match(row, at):
        single, double, plain = match.groups()
        spelling = plain if plain is not None else double if single is None else single
        spellings.append(spelling)
        values.append(unescape(spelling, plain is None))
        at = match.end()
    close = _CLOSE.match(row, at)
    if not close:
        rest = row[at:].strip(_BLANKS)
        found = f"{shown(rest)} in the list of values" if rest else "the list of values has no closing brace"
        raise error(f"attribute {shown(name)}: {found}", _LIST_RULE, at)
    if not values:
        raise error(f"the attribute {shown(name)} has no values", _LIST_RULE, at)
    if len(set(values)) < len(values):
        twice = Counter(values).most_common(1)[0][0]
        raise error(f"the attribute {shown(name)} has the value {shown(twice)} twice", "Name each value once.", at)
    if _REST.fullmatch(row, close.end()) is None:
        rest = row[close.end() :].strip(_BLANKS)
        raise error(f"{shown(rest)} after the values of {shown(name)}", _LIST_RULE, close.end())
    return Type(NOMINAL, tuple(values), tuple(spellings))
