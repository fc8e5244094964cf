"""Labels of documents: cells that list them, several columns, lists of JSON, subjects with URIs, and vocabularies."""

from dataclasses import replace
from typing import Any

from xmlcore.datasets.errors import RecordPlace
from xmlcore.datasets.readers.label_cells import NO, YES, LabelCells, distinct_names, uris_in
from xmlcore.datasets.readers.sources import NamedSource
from xmlcore.datasets.texts import records
from xmlcore.datasets.texts.guess import Asked, guess_with_values
from xmlcore.progress import silent
from xmlcore.typing import Source

_WITHOUT, _TWICE = "without labels", "listed with a label more than once, which counts once"
_REMEDY = "Give TSV with <uri>, a tab and a name in each line, or CSV with the columns uri and label_en."


class LabelReader:
    """Reads the labels of documents, one document after the other.

    ``names`` are those of labels by their URIs or other ids, ``like`` is the reader of the training file.
    """

    def __init__(
        self, source: NamedSource, columns, separator: str, binary: bool, names: dict[str, str] | None, like=None
    ):
        self._source, self._columns, self.binary, self._vocabulary = source, columns, binary, names
        before = [None] * len(columns) if like is None else like.cells
        self.cells = [LabelCells(source, repr(column), separator, *of) for column, *of in zip(columns, before)]
        self._kept = {}  # each name once in memory
        self._first = {}  # where each label stands first
        self._remarks = {}  # number of documents with a problem, and the place of the first one

    def read(self, values, place: RecordPlace) -> list[str]:
        """Return the labels of a document as they are written: names, or URIs without their brackets."""
        if self.binary:
            found = [column for column, value in zip(self._columns, values) if self._says_yes(value, column, place)]
        else:
            found = [label for cells, value in zip(self.cells, values) for label in cells.read(value, place)]
        labels = list(dict.fromkeys(self._kept.setdefault(label, label) for label in found))
        for label in labels:
            self._first.setdefault(label, place)
        if not labels and self._columns:
            self._remarks.setdefault(_WITHOUT, [0, place])[0] += 1
        if len(labels) < len(found):
            self._remarks.setdefault(_TWICE, [0, place])[0] += 1
        return labels

    def finish(self, rows: list[list[str]]) -> None:
        """Put names in the place of URIs, in all rows, with warnings."""
        for row, word in (gone for cells in self.cells for gone in cells.finish()):
            rows[row] = [label for label in rows[row] if label != word]
            self._first.pop(word, None)
        names = self._names()
        if names:
            for row in rows:
                row[:] = dict.fromkeys(names.get(label, label) for label in row)
        for problem in (_WITHOUT, _TWICE):
            if problem in self._remarks:
                count, first = self._remarks[problem]
                self._source.warn(f"{of_many(count, len(rows), 'document', first)} {problem}")

    def _names(self) -> dict[str, str]:
        """Return the names of labels by what is written, those that have one; two of one name get their URIs, too."""
        first = self._first
        if self._vocabulary is not None:
            known = {label: self._vocabulary[label] for label in first if label in self._vocabulary}
            written = set(self._vocabulary.values())
            lacking = [label for label in first if label not in known and label not in written]
            if lacking:
                of = of_many(len(lacking), len(first), "label", f"{lacking[0]} in {first[lacking[0]]}")
                self._source.warn(
                    f"{of} not in the vocabulary and kept as written. Is it the vocabulary of these documents?"
                )
        else:
            known = {uri: name for cells in self.cells for uri, name in cells.names.items()}
        return distinct_names(known)

    def _says_yes(self, value, column, place) -> bool:
        word = "" if value is None else str(value).strip().lower()
        if word not in YES and word not in NO:
            raise place.error(
                f"the cell of the label {column!r:.200} is {value!r:.40}",
                "Write 1 or 0, true or false, or yes or no in columns that are labels; or names of labels everywhere.",
            )
        return word in YES


def of_many(count: int, total: int, noun: str, first) -> str:
    """Return the subject and the verb of a warning, such as "2 of 30 texts (first in line 7) are"."""
    where = f"in {first}" if isinstance(first, RecordPlace) else first
    return (
        f"1 of {total:,} {noun}s ({where}) is" if count == 1 else f"{count:,} of {total:,} {noun}s (first {where}) are"
    )


def read_vocabulary(
    source: Source, language: str | None = None, *, encoding: str = "utf-8", name: str | None = None
) -> dict[str, Any]:
    """Read the names of subjects by their URIs, which are without angle brackets.

    Parameters
    ----------
    source : path, bytes, or binary file object
        Annif's vocabularies: TSV with ``<uri>``, a tab and a name in each line, or CSV with the columns ``uri`` and
        ``label_en`` (or of another language, or ``label``). Other columns are not read. May be compressed.
    language : str, optional
        The language of the names, of a CSV file with several: "en" for the column ``label_en``.
    encoding : str
    name : str, optional
        Name of the source in errors.

    Raises
    ------
    DatasetFormatError
        The file has another format, or names no subject.

    Warns
    -----
    DatasetWarning
        A URI occurs more than once (its first name counts), or has no name (and keeps its URI).
    """
    named = NamedSource(source, name)
    guess, _ = guess_with_values(named, Asked(encoding=encoding))
    if guess.format not in ("csv", "tsv"):
        raise named.error(f"it is no vocabulary, but {guess.format}", _REMEDY)
    columns = _columns(guess, language, named)
    form = guess.form
    if not form.header and form.delimiter == "\t":  # some lines may have a notation behind the name
        form = replace(form, quoted=False, columns=("1", "2"))
    found, again, bare = {}, [], []
    for place, (key, value) in records.records(named, form, columns, silent):
        key, value = key.strip().removeprefix("<").removesuffix(">").strip(), value.split("\t")[0].strip()
        if not key:
            raise place.error("it has a name without a URI", _REMEDY)
        if key in found:
            again.append((key, place))
        elif not value:
            bare.append((key, place))
        else:
            found[key] = value
    if not found:
        raise named.error("it names no subject", _REMEDY)
    for those, problem in ((again, "twice: its first name counts"), (bare, "without a name: the URI is kept")):
        if those:
            more = f" and {len(those) - 1:,} more" if len(those) > 1 else ""
            named.warn(f"{those[0][0]} in {those[0][1]}{more} {problem}")
    return found


def _columns(guess, language, named) -> tuple[str, str]:
    lower = {}
    for column in guess.columns:
        lower.setdefault(column.lower(), column)
    if not guess.form.header:
        if len(guess.columns) < 2:
            raise named.error("its lines have one cell", _REMEDY)
        if guess.rows and uris_in(guess.rows[0][guess.columns[0]]) is None:
            raise named.error(f"its lines start with {guess.rows[0][guess.columns[0]]!r:.40}", _REMEDY)
        return guess.columns[0], guess.columns[1]
    labels = {column: lower[column] for column in lower if column == "label" or column.startswith("label_")}
    if "uri" not in lower or not labels:
        raise named.error(f"its columns are {', '.join(guess.columns[:8])}", _REMEDY, 1)
    if language is not None:
        if f"label_{language.lower()}" not in labels:
            has = ", ".join(labels)
            raise named.error(f"it has no names in {language!r:.200}", f"It has the columns {has}.", 1)
        return lower["uri"], labels[f"label_{language.lower()}"]
    first = next(name for name in ("label", "label_en", *labels) if name in labels)
    if len(labels) > 1:
        others = ", ".join(sorted(name.removeprefix("label_") for name in labels if name != first))
        named.warn(f"names are those of the column {first}. It also has names in: {others}", argument="language")
    return lower["uri"], labels[first]
