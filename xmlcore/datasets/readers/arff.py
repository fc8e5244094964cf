"""Parser of ARFF files of multi-label data, as Mulan, MEKA and Weka write them."""

import difflib
import numbers
import os
import re
from collections import Counter
from collections.abc import Iterable
from itertools import compress

import numpy as np

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
from xmlcore.datasets.readers.arff_rows import AttributeColumns, RowReader, counted
from xmlcore.datasets.readers.blocks import LargeText, NotInBlocks
from xmlcore.datasets.readers.names import xml_label_names
from xmlcore.datasets.readers.rows import ReadOptions, Rows
from xmlcore.datasets.readers.sources import NamedSource, is_source
from xmlcore.wording import listed

__all__ = ["looks_like", "parse"]

_READ_OTHERWISE = {"missing value": "read as 0", "missing label": "read as not given", "row weight": "not used"}
_FEW = 2  # attributes by which a number of labels seems to be a mistake
_SOME = 3  # number of names that a message lists
_LONGEST_COMPARED = 100  # characters of a name for which similar ones are searched
_MEKA = re.compile(r"(?:^|[\s:])-([Cc])\s*(-?[0-9]{1,9})(?!\S)")
_PAIRS = {("1", "0"), ("1", "-1"), ("true", "false"), ("t", "f"), ("yes", "no"), ("y", "n")}
_YES = {pair[0] for pair in _PAIRS}
_BINARY_RULE = "A label is numeric with the values 0 and 1, or has two values such as {0,1}, {false,true} or {no,yes}."


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
    if not columns.width.any():
        remedy = "Name only some of them as labels."
        raise source.error("all of its attributes are labels", remedy, argument="labels")
    reader = RowReader(header, columns, source, rule, doubted)
    X, Y = reader.read(text)
    label_names = [header.names[a] for a in chosen]
    if header.encoding != "utf-8":
        source.warn("its names are not UTF-8, and were read as Windows-1252 (Western European)")
    for noun, done in _READ_OTHERWISE.items():
        if noun in reader.remarks:
            count, line = reader.remarks[noun]
            source.warn(f"{counted(count, noun)} (first in line {line}) {'is' if count == 1 else 'are'} {done}")
    if doubt:
        read_as = f"the {_end(len(chosen), chosen[0] > 0)} {'is' if len(chosen) == 1 else 'are'} read as labels"
        source.warn(f"{read_as}. {doubt}", **doubted)
    names = {"feature_names": _feature_names(header, columns), "label_names": label_names}
    notes = []
    if (several := np.flatnonzero(columns.width > 1)).size:
        became = f"{counted(several.size, 'nominal attribute')} became {int(columns.width[several].sum()):,} features"
        notes.append(f"{became}, one for each value: {listed(repr(header.names[a]) for a in several)}.")
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
            found = f"{where} the {_end(abs(int(labels)), labels < 0)}, but it has {counted(n, 'attribute')}"
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
        remedy = f"Attributes with a name like {shown(missing[0])}: {listed(map(repr, near))}. " if near else ""
        remedy += "Do the labels belong to this file? Each label is the name of an attribute."
        lacking = f"{len(missing):,} of the {counted(len(names), 'label')} {'is' if len(missing) == 1 else 'are'}"
        raise source.error(f"{lacking} not among its attributes: {listed(map(repr, missing))}", remedy)
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
        has = f"the values {listed(map(repr, type.values))}" if type.kind == NOMINAL else f"the type {type.kind}"
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
        names = listed(repr(header.names[a]) for a in others)
        source.warn(f"{counted(others.size, 'attribute')} of type string or date left out: {names}")


def _code(type: Type) -> tuple:
    """Return for each value of a nominal type the column that is 1, counted from the attribute's first, or -1."""
    values = [value.lower() for value in type.values]
    if _is_binary(type):
        return tuple(0 if value in _YES else -1 for value in values)
    return (-1, 0) if len(values) == 2 else tuple(range(len(values)))


def _columns(header, chosen) -> AttributeColumns:
    types, type_of = header.types, header.type_of
    codes = [_code(type) if type.kind == NOMINAL else () for type in types]
    width = [1 + max((0, *code)) if type.kind in (NUMERIC, NOMINAL) else 0 for type, code in zip(types, codes)]
    width = np.array(width, np.int64)[type_of]
    is_label = np.zeros(type_of.size, bool)
    is_label[chosen] = True
    width[is_label] = 0
    first = np.cumsum(width) - width
    first[chosen] = np.arange(len(chosen))
    is_number = np.array([type.kind == NUMERIC for type in types])[type_of]
    values = [_values(type, code) if code else None for type, code in zip(types, codes)]
    return AttributeColumns(first, width, is_label, is_number, values, codes)


def _values(type: Type, code) -> dict[str, float]:
    """Return the column of each value by the way that it is written; one that fits two is as the header has it."""
    return dict(zip(type.values, map(float, code))) | dict(zip(type.spellings, map(float, code)))


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
