"""Labels of documents: cells that list them, several columns, lists of JSON, and subjects with URIs."""

from xmlcore.datasets.errors import RecordPlace, warn
from xmlcore.datasets.readers.label_cells import LabelCells, distinct_names

YES, NO = ("1", "true", "yes", "t", "y", "1.0"), ("0", "false", "no", "f", "n", "0.0", "")


def are_binary(cells) -> bool:
    """Return whether cells say yes or no, such as 1 and 0, and at least one says something."""
    words = {cell.strip().lower() for cell in cells} - {""}
    letters = {word for word in words if word in ("t", "y", "f", "n")}  # which may also be names
    return bool(words) and words <= {*YES, *NO} and (not letters or letters == words and len(words) == 2)


class LabelReader:
    """Reads the labels of documents, one document after the other.

    ``names`` are those of labels by their URIs or other ids, ``like`` is the reader of the training file.
    """

    def __init__(self, source: str, columns, separator: str, binary: bool, names: dict[str, str] | None, like=None):
        self._source, self._columns, self.binary, self._vocabulary = source, columns, binary, names
        before = [None] * len(columns) if like is None else like.cells
        self.cells = [LabelCells(source, repr(column), separator, *of) for column, *of in zip(columns, before)]
        self._kept = {}  # each name once in memory
        self._without = self._twice = None  # place of the first document without labels, and with a label twice
        self._n_without = self._n_twice = 0

    def read(self, values, place: RecordPlace) -> list[str]:
        """Return the labels of a document as they are written: names, or URIs without their brackets."""
        if self.binary:
            found = [column for column, value in zip(self._columns, values) if self._says_yes(value, column, place)]
        else:
            found = [label for cells, value in zip(self.cells, values) for label in cells.read(value, place)]
        labels = list(dict.fromkeys(self._kept.setdefault(label, label) for label in found))
        if not labels:
            self._n_without += 1
            self._without = self._without or place
        if len(labels) < len(found):
            self._n_twice += 1
            self._twice = self._twice or place
        return labels

    def finish(self, rows: list[list[str]], first: dict[str, RecordPlace]) -> None:
        """Put names in the place of URIs, in all rows, and warn of what is unusual; ``first``: where each label is."""
        for row, word in (gone for cells in self.cells for gone in cells.finish()):
            rows[row] = [label for label in rows[row] if label != word]
            first.pop(word, None)
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
