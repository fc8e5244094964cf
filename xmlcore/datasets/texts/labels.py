"""Labels of documents: cells that list them, several columns, lists of JSON, and subjects with URIs."""

import re
from collections import Counter

from xmlcore.datasets.errors import warn
from xmlcore.datasets.readers.table_lists import BRACKETS, IDS, as_list
from xmlcore.datasets.readers.visible import visible
from xmlcore.datasets.texts.records import RecordPlace

# How a cell lists labels, as ``separator`` of read_texts names it, and what a page says of it.
SEPARATORS = {"\n": "line breaks", ";": "semicolons", "|": "vertical bars", ",": "commas", "\t": "tabs", " ": "blanks"}
NONE, LISTS, URIS = "none", "lists", "uris"
MARKS = ("\n", ";", "|", ",")  # what is looked for, the first are preferred
YES, NO = ("1", "true", "yes", "t", "y", "1.0"), ("0", "false", "no", "f", "n", "0.0", "")
_BRACKETED = re.compile(r"<([a-z][a-z0-9+.-]*:[^<>\s]+)>", re.IGNORECASE)
_PLAIN = re.compile(r"(https?://|urn:)[^<>\s]+", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;|]+")


def uris_in(cell: str) -> list[str] | None:
    """Return the URIs in a cell, in angle brackets or not; None if it has something else."""
    found = _BRACKETED.findall(cell)
    if found:
        return None if _BETWEEN.sub("", _BRACKETED.sub("", cell)) else found
    found = [part for part in _BETWEEN.split(cell) if part]
    return found if found and all(map(_PLAIN.fullmatch, found)) else None


def guess_separator(cells) -> str:
    filled = [stripped for cell in cells if (stripped := cell.strip())]
    if not filled:
        return NONE
    if all(len(cell) > 1 and BRACKETS.get(cell[0]) == cell[-1] and as_list(cell) is not None for cell in filled):
        return LISTS
    if all(uris_in(cell) is not None for cell in filled):
        return URIS
    counts = Counter(mark for cell in filled for mark in MARKS if mark in cell)
    if counts:
        most = max(counts.values())
        return next(mark for mark in MARKS if 2 * counts[mark] >= most)
    if any(" " in cell for cell in filled) and all(map(IDS.fullmatch, filled)):
        return " "
    return NONE


def are_binary(cells) -> bool:
    """Return whether cells say yes or no, such as 1 and 0, and at least one says something."""
    words = {cell.strip().lower() for cell in cells} - {""}
    letters = {word for word in words if word in ("t", "y", "f", "n")}  # which may also be names
    return bool(words) and words <= {*YES, *NO} and (not letters or letters == words and len(words) == 2)


class LabelReader:
    """Reads the labels of documents, one document after the other; ``names``: of labels by their URIs or other ids."""

    def __init__(self, source: str, columns, separator: str, binary: bool, names: dict[str, str] | None):
        self._source, self._columns, self._separator, self._binary = source, columns, separator, binary
        self._vocabulary, self._names_of_uris = names, {}
        self._kept = {}  # each name once in memory
        self._without = self._twice = None  # place of the first document without labels, and with a label twice
        self._n_without = self._n_twice = 0

    def read(self, values, place: RecordPlace) -> list[str]:
        """Return the labels of a document as they are written: names, or URIs without their brackets."""
        if self._binary:
            found = [column for column, value in zip(self._columns, values) if self._says_yes(value, column, place)]
        else:
            found = [label for value in values for label in self._of(value, place)]
        labels = list(dict.fromkeys(self._kept.setdefault(label, label) for label in found if label))
        if not labels:
            self._n_without += 1
            self._without = self._without or place
        if len(labels) < len([label for label in found if label]):
            self._n_twice += 1
            self._twice = self._twice or place
        return labels

    def finish(self, rows: list[list[str]], first: dict[str, RecordPlace]) -> None:
        """Put names in the place of URIs, in all rows, and warn of what is unusual."""
        names = self._names(first)
        if names:
            for row in rows:
                row[:] = dict.fromkeys(names.get(label, label) for label in row)
        total = len(rows)
        if self._n_without and self._columns:
            warn(f"{self._source}: {of_many(self._n_without, total, 'document', self._without)} without labels")
        if self._n_twice:
            of = of_many(self._n_twice, total, "document", self._twice)
            warn(f"{self._source}: {of} listed with a label more than once, which counts once")

    def _names(self, first) -> dict[str, str]:
        """Return the names of labels by what is written, those that have one; two of one name get their URIs, too."""
        if self._vocabulary is not None:
            known = {label: self._vocabulary[label] for label in first if label in self._vocabulary}
            written = set(self._vocabulary.values())
            lacking = [label for label in first if label not in known and label not in written]
            if lacking:
                of = of_many(len(lacking), len(first), "label", f"{lacking[0]} in {first[lacking[0]]}")
                warn(
                    f"{self._source}: {of} not in the vocabulary and kept as written. Is it the vocabulary of these "
                    "documents?"
                )
        else:
            known = {label: self._names_of_uris[label] for label in first if label in self._names_of_uris}
        times = Counter(known.values())
        return {label: name if times[name] == 1 else f"{name} <{label}>" for label, name in known.items()}

    def _says_yes(self, value, column, place) -> bool:
        word = "" if value is None else str(value).strip().lower()
        if word not in YES and word not in NO:
            raise place.error(
                f"the cell of the label {column!r:.200} is {_shown(value)}",
                "Write 1 or 0, true or false, or yes or no in columns that are labels; or names of labels everywhere.",
            )
        return word in YES

    def _of(self, value, place) -> list[str]:
        if value is None:
            return []
        if isinstance(value, str):
            return self._in_cell(value, place)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value):
            return [str(int(value))]
        if isinstance(value, (list, tuple)):
            return [self._id_of(each, place) for each in value]
        raise place.error(f"the labels are {_shown(value)}", 'Write a list of names: ["art", "law"].')

    def _in_cell(self, cell, place) -> list[str]:
        cell = cell.strip()
        if not cell:
            return []
        if self._separator == NONE:
            return [_clean(cell)]
        if self._separator == LISTS:
            found = as_list(cell)
            if found is None:
                raise place.error(f"{_shown(cell)} is no list of names", 'Write the labels as ["art", "law"].')
            return [_clean(name) for name in found]
        if self._separator == URIS:
            found = uris_in(cell)
            if found is None:
                raise place.error(f"{_shown(cell)} is no list of URIs", "Write them as <http://a> <http://b>.")
            return [_clean(uri) for uri in found]
        return [_clean(part) for part in cell.split(self._separator)]

    def _id_of(self, value, place) -> str:
        if isinstance(value, str):
            return _clean(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, dict) and isinstance(value.get("uri"), str):
            uri = _clean(value["uri"])
            if isinstance(value.get("label"), str) and value["label"].strip():
                self._names_of_uris[uri] = _clean(value["label"])
            return uri
        if isinstance(value, dict) and isinstance(value.get("label"), str):
            return _clean(value["label"])
        remedy = 'Write names, such as "art", or subjects, such as {"uri": "http://...", "label": "art"}.'
        raise place.error(f"a label is {_shown(value)}", remedy)


def of_many(count: int, total: int, noun: str, first) -> str:
    """Return the subject and the verb of a warning, such as "2 of 30 texts (first in line 7) are"."""
    where = f"in {first}" if isinstance(first, RecordPlace) else first
    return (
        f"1 of {total:,} {noun}s ({where}) is" if count == 1 else f"{count:,} of {total:,} {noun}s (first {where}) are"
    )


def _clean(label: str) -> str:
    """Return a label without blanks and angle brackets around it, and without line breaks."""
    label = label.strip()
    if label[:1] == "<" and label[-1:] == ">":
        label = label[1:-1]
    return label if label.isprintable() else visible(label).strip()


def _shown(value) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."
