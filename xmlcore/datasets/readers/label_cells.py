"""Labels from the values of a column that lists them: cells of a table, JSON and Parquet (docs/text.md)."""

import ast
import json
import re
import warnings
from collections import Counter

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.errors import RecordPlace
from xmlcore.datasets.readers.names import visible
from xmlcore.datasets.readers.rows import canonical_csr
from xmlcore.datasets.readers.table_cells import MISSING

TAGS = "><"
PREFIX = "__label__"  # before the name of a label in fastText's files
# How a cell lists labels, as ``separator`` of read_texts names it, and what a page says of it.
SEPARATORS = {"\n": "line breaks", ";": "semicolons", "|": "vertical bars", ",": "commas", "\t": "tabs", " ": "blanks"}
SEPARATORS |= {TAGS: "angle brackets: <a><b>"}
NONE, LISTS, URIS = "none", "lists", "uris"
_MARKS = (TAGS, ";", "\n", "|", ",")  # what is looked for, the first are preferred
_TAG = re.compile(r"<((?!/)[^<>]+(?:<[^<>]*>)?)>")
_TAGS = re.compile(rf"({_TAG.pattern}[\s,;|]*)+|[^<>]+(><[^<>]+)+")
_MARK_AFTER = re.compile(rf"[,;|]\s*{PREFIX}|[,;|]\Z")
_IDS = re.compile(r"[0-9]+( +[0-9]+)*")
_BRACKETED = re.compile(r"<([a-z][a-z0-9+.-]*:[^<>\s]+)>", re.IGNORECASE)
_PLAIN = re.compile(r"(https?://|urn:)[^<>\s]+", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;|]+")
_OPENED = re.compile(r"[\w.]*[\[({]")
_ENCLOSED = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}")
_BEGUN = re.compile(
    r"""\[\s*((['"]).*?\2\s*([,'"]|$|\][\s,;|]*\[)|[{\[])""", re.DOTALL
)  # a list that may be damaged, no name
_TEXT = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_QUOTED = re.compile(rf"""{_TEXT}(\s*(?=['"]))?""", re.DOTALL)
_BARE = re.compile(rf"{_TEXT}((\s*,\s*|\s+){_TEXT})+", re.DOTALL)  # a list without brackets
_CALL = re.compile(r"[\w.]+\(\s*([\[({].*[\])}])\s*(,[^\[\](){}]*)?\)", re.DOTALL)  # may be a list of another type
_VALUES = re.compile(r"\[(\s*(-?[0-9.]+|True|False|None|nan)(?![^\s\]]))+\s*\]")  # with blanks between them
_ITERABLES = ("array", "list", "tuple", "set", "frozenset", "Index")
_REMEDY = 'Write the labels as red;blue, or as a list of names: ["red", "blue"].'
_KEYS = ("label", "name")  # which of an object is its label
_BITS = {"0", "1", "-1", "+1", "0.0", "1.0", "-1.0", "true", "false", "yes", "no"}  # of a vector of labels
_NEARLY_ALL = 0.9
# Words in columns that are labels, or not.
YES, NO = ("1", "true", "yes", "t", "y", "1.0"), ("0", "false", "no", "f", "n", "0.0", "")
_WHOLE = 2**53  # from which floating-point numbers are not exact


def are_binary(cells) -> bool:
    """Return whether cells are yes or no, such as 1 and 0, or empty, but not all empty."""
    words = {cell.strip().lower() for cell in cells} - {""}
    letters = {word for word in words if word in ("t", "y", "f", "n")}  # which may also be names
    return bool(words) and words <= {*YES, *NO} and (not letters or letters == words and len(words) == 2)


class _Set(list):
    """The elements of a set, in the order in which they are written."""


def uris_in(cell: str) -> list[str] | None:
    """Return the URIs in a cell, in angle brackets or not; None if it has something else."""
    found = _BRACKETED.findall(cell)
    if found:
        return None if _BETWEEN.sub("", _BRACKETED.sub("", cell)) else found
    found = [part for part in _BETWEEN.split(cell) if part]
    return found if found and all(map(_PLAIN.fullmatch, found)) else None


def lists_prefixed(cell: str) -> bool:
    """Return whether all in a cell has fastText's prefix."""
    return all(part.startswith(PREFIX) for part in cell.split())


def guess_separator(cells, like: "LabelCells | None" = None) -> str:
    """Return how cells list labels; ``like``: the reader of the training file, whose mark, if it has one, is taken."""
    if like is not None and like.separator in SEPARATORS:
        return like.separator
    filled = [stripped for cell in cells if (stripped := cell.strip()) not in MISSING]
    plain = [cell for cell in filled if not _BEGUN.match(cell) and _literal(cell) is None]
    if filled and all(cell[0] == "[" and _ENCLOSED.fullmatch(cell) for cell in plain):
        return LISTS
    if not filled:
        return NONE
    if all(uris_in(cell) is not None for cell in plain):
        return URIS
    if all(lists_prefixed(cell) and not _MARK_AFTER.search(cell) for cell in plain):
        return " "
    counts = Counter(
        mark for cell in plain for mark in _MARKS if (_TAGS.fullmatch(cell) if mark == TAGS else mark in cell)
    )
    if counts:
        most = max(counts.values())
        return next(mark for mark in _MARKS if 2 * counts[mark] >= most)
    if any(" " in cell for cell in plain) and all(map(_IDS.fullmatch, plain)):
        return " "
    return NONE


def _literal(cell: str) -> list | tuple | dict | None:
    """Return the list that a cell is, as JSON, Python and NumPy write it, or the object; None if it is neither."""
    cell = f"[{cell}]" if _BARE.fullmatch(cell) else cell
    if cell[-1:] not in ("]", ")", "}") or not _OPENED.match(cell):
        return None
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        if _VALUES.fullmatch(cell):
            cell = re.sub(r"(?<=[\w.])\s+", ",", cell)
        cell = _QUOTED.sub(lambda found: found[1] + {None: "", "": ";"}.get(found[2], ","), cell)  # Python joins them
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of backslashes
                value = _value_of(ast.parse(cell, mode="eval").body)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None
    return value if isinstance(value, (list, tuple, dict)) else None


def _value_of(node):
    """Return the value of a literal of Python, in which there may be arrays, and numbers and texts of NumPy."""
    match node:
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple() | ast.Set():
            return (_Set if isinstance(node, ast.Set) else list)(map(_value_of, node.elts))
        case ast.Dict():
            return dict(zip(map(_value_of, node.keys), map(_value_of, node.values)))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Name(id="nan" | "inf"):
            return float(node.id)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in _ITERABLES:
            return (_Set if "set" in name else list)(_value_of(args[0]) if args else [])
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy")), args=[argument]):
            return _value_of(argument)
    raise ValueError


class LabelCells:
    """Reads the labels of the values of a column, one after the other; ``separator`` None: each is one id.

    ``like`` is the reader of the same column of the training file: values are judged as if they stood after those.
    """

    def __init__(self, source: str, column: str, separator: str | None, like: "LabelCells | None" = None):
        self.names = {}  # of labels that are URIs, where they stand beside them
        self.separator = separator
        self._source, self._column, self._n_rows, self._absent = source, column, 0, []
        self._bracketed = None  # error to raise if there are lists, too
        self._vector = None  # the same if nearly all rows have 0 and 1, and as many of these
        self._listed, self._certain, self._ids, self._widths = False, set(), {}, Counter()
        if like is not None:
            self._listed, self._certain, self._ids = like._listed, like._certain, like._ids
            self._widths = like._widths

    def read(self, value, place: RecordPlace) -> list[str]:
        """Return the labels of a value as they are written: names, or URIs without their brackets."""
        row, self._n_rows = self._n_rows, self._n_rows + 1
        value = value.strip() if isinstance(value, str) else value
        if value is None or value != value or value in ("", '""', "''", {}):
            return []
        if self.separator is None:
            return [_clean(str(value))]
        found = _literal(value) if isinstance(value, str) else value
        if found is None and value in MISSING:
            self._absent.append((row, value, place))
            return [value]
        if found is None:
            labels = [_clean(part) for part in self._parts(value, place)]
            if merged := next((label for label in labels if PREFIX in label), None):
                found = f"the label {_shown(merged)} in column {self._column} has {PREFIX} in it"
                raise place.error(found, "Write the same mark between labels in all rows.")
        else:
            self._listed |= isinstance(value, str)
            found = found if isinstance(found, (list, tuple)) else [found] * (found != {})
            labels = [self._label(each, place) for each in found]
        labels = [label for label in labels if label]
        if len(labels) > 1 or isinstance(found, (list, tuple)):
            self._certain.update(labels)
        if labels:
            are_names = PREFIX in value if found is None else any(isinstance(each, (str, dict)) for each in found)
            is_vector = not (are_names or isinstance(found, _Set)) and _BITS.issuperset(map(str.lower, labels))
            self._widths[len(labels) if is_vector else 0] += 1
            if is_vector and self._vector is None:
                self._vector = place.error(
                    f"{_shown(value)} in column {self._column} may be labels or a 0 or 1 for each label, as may others",
                    "Write a column of 0 and 1 for each label. If these are labels, write them as a list of names: "
                    '["0", "1"].',
                )
        return labels

    def finish(self) -> list[tuple[int, str]]:
        """Return the rows, from 0, whose cell has no value, and its word; raise an error if it is ambiguous."""
        if self._bracketed is not None and self._listed:
            raise self._bracketed
        width, count = max(self._widths.items(), key=lambda each: each[1], default=(0, 0))
        share = count / max(1, self._widths.total())
        if self._vector is not None and width > 1 and share >= (_NEARLY_ALL if width > 2 else 1):
            raise self._vector
        gone = [each for each in self._absent if each[1] not in self._certain]
        if gone:
            are = "1 cell is" if len(gone) == 1 else f"{len(gone):,} cells are"
            shown = f"{gone[0][1]!r:.200} in {gone[0][2]}"
            self._source.warn(f"{are} missing in column {self._column}, first {shown}: read as no labels")
        return [(row, word) for row, word, _ in gone]

    def _parts(self, cell, place) -> list[str]:
        mark = self.separator
        enclosed = _ENCLOSED.fullmatch(cell)
        call = _CALL.fullmatch(cell)
        is_damaged = _BEGUN.match(cell) or call is not None and _literal(call[1]) is not None
        if mark == LISTS or is_damaged or enclosed and mark in cell:
            raise self._no_list(cell, place)
        if mark == URIS:
            found = uris_in(cell)
            if found is None:
                remedy = "Write them as <http://a> <http://b>."
                raise place.error(f"{_shown(cell)} in column {self._column} is no list of URIs", remedy)
            return found
        if mark == TAGS:
            is_whole = not _TAGS.fullmatch(cell)  # other marks in angle brackets, as in <i>mer</i>
            return [cell] if is_whole else _TAG.findall(cell) if cell[0] == "<" else cell.split(TAGS)
        if self._bracketed is None and (enclosed or _is_half(cell)):
            self._bracketed = self._no_list(cell, place)
        return [cell] if mark == NONE else _split(cell, mark)

    def _no_list(self, cell, place):
        return place.error(f"{_shown(cell)} in column {self._column} is no list of names", _REMEDY)

    def _label(self, value, place) -> str:
        if isinstance(value, str):
            return _clean(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE:
            return str(int(value))
        remedy = 'Write names, such as "art", or subjects, such as {"uri": "http://...", "label": "art"}.'
        remedy = "Write a column of 0 and 1 for each label, or names." if isinstance(value, bool) else remedy
        found = f"a label in column {self._column} is {_shown(value)}"
        if isinstance(value, dict):
            names = {value[key].strip() for key in _KEYS if isinstance(value.get(key), str)} - {""}
            if isinstance(value.get("uri"), str) and len(names) < 2:
                uri = _clean(value["uri"].strip().removeprefix("<").removesuffix(">"))
                self.names.update((uri, _clean(name)) for name in names)
                return uri
            if len(names) == 1:
                name = _clean(*names)
                own = value.get("id")
                known = own if own is None else self._ids.setdefault(name, own)
                if str(known) == str(own):
                    return name
                ids = f"{own!r:.40}, and before it had {known!r:.40}"
                found = f"the label {name!r:.60} in column {self._column} has the id {ids}"
                remedy = "Write names in place of objects; two labels need different names."
            else:
                found += f", {keys_of(value)}"
                remedy = f'Write names, or objects whose "{_KEYS[1]}" alone (or "{_KEYS[0]}") is the label.'
        raise place.error(found, remedy)


def _split(cell: str, mark: str) -> list[str]:
    """Return the parts of a cell between marks, but for marks in brackets, which belong to names: f(a, b)."""
    parts, depth = [], 0
    for part in cell.split(mark):
        parts[-1:] = [mark.join([*parts[-1:], part])] if depth else [*parts[-1:], part]
        depth = max(0, depth + sum(map(part.count, "([{")) - sum(map(part.count, ")]}")))
    return cell.split(mark) if depth else parts


def _is_half(cell: str) -> bool:
    """Return whether a cell begins or ends with a bracket that has no other one."""
    is_at_end = cell[0] in "[({" or cell[-1] in "])}"
    return is_at_end and any(cell.count(begin) != cell.count(end) for begin, end in ("[]", "()", "{}"))


def keys_of(value: dict) -> str:
    return f"an object with the keys {', '.join(map(repr, value))}" if value else "an object without keys"


def distinct_names(names: dict[str, str]) -> dict[str, str]:
    """Return the names of labels by their URIs; two of one name get their URIs, too."""
    times = Counter(names.values())
    return {label: name if times[name] == 1 else f"{name} <{label}>" for label, name in names.items()}


def listed(cells, lines, source, column, like) -> tuple[sp.csr_array, list[str], LabelCells]:
    """Return the labels that the cells of a table list, their names in alphabetical order, and the reader."""
    reader = LabelCells(source, column, guess_separator(cells, like), like)
    rows = [reader.read(cell, RecordPlace(source, int(line))) for cell, line in zip(cells, lines)]
    for i, _ in reader.finish():
        rows[i] = []
    known = distinct_names(reader.names)
    sets = [{known.get(label, label) for label in row} for row in rows]
    names = sorted(set().union(*sets))
    return label_matrix(sets, names), names, reader


def label_matrix(label_lists, names: list[str]) -> sp.csr_array:
    """Return lists of label names as a matrix of bool, with a column for each of ``names``."""
    ids = {name: i for i, name in enumerate(names)}
    rows = [sorted({ids[name] for name in row}) for row in label_lists]
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    indices = np.fromiter((j for row in rows for j in row), np.int32, int(indptr[-1]))
    return canonical_csr(indptr, indices, np.ones(indices.size, bool), len(names))


def _clean(label: str) -> str:
    """Return a label without blanks around it, the angle brackets of a URI, line breaks and halves of characters."""
    label = label.strip().removeprefix(PREFIX)
    if _BRACKETED.fullmatch(label):
        label = label[1:-1]
    return label if label.isprintable() else visible(label).strip()


def _shown(value) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."
