"""Guesses from the beginning of a file of documents: format, columns, and which of them are texts and labels."""

import os
import re
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, NamedTuple

from xmlcore.datasets.errors import DatasetFormatError, SeveralFilesError
from xmlcore.datasets.readers.label_cells import (
    LISTS,
    NONE,
    PREFIX,
    URIS,
    are_binary,
    guess_separator,
    lists_prefixed,
    uris_in,
)
from xmlcore.datasets.readers.recognise import NPY
from xmlcore.datasets.readers.sources import NamedSource, ending_of, files_in, is_utf_8, text_of
from xmlcore.datasets.readers.table_cells import ID_NAMES
from xmlcore.datasets.texts import records
from xmlcore.datasets.texts.records import RecordForm
from xmlcore.datasets.texts.words import lack_blanks
from xmlcore.progress import silent
from xmlcore.typing import Source

FORMATS = {
    "csv": "a CSV table",
    "tsv": "a TSV table",
    "jsonl": "JSON lines",
    "parquet": "a Parquet file",
    "folder": "a folder of documents",
    "fasttext": "a file of fastText",
    "lines": "one text per line",
}
HEAD = 4 << 20  # bytes read for a guess
SAMPLE = 1000  # rows used for a guess
WITHOUT_COLUMNS = ("folder", "fasttext")  # formats in which the place of the labels needs no guess
DELIMITERS = ("\t", ",", ";", "|")
TEXT_NAMES = ("text", "texts", "abstract", "body", "content", "document", "description", "summary", "sentence", "title")
LABEL_NAMES = (
    *("labels", "label", "subjects", "subject_uris", "subject", "tags", "tag", "keywords", "topics", "topic"),
    *("categories", "category", "classes", "class", "genres", "genre"),
)
ANNIF_LABELS = ("subject_uris", "subjects")  # columns of labels in Annif's corpora
DOCUMENTS = "Give a folder, or a zip of it, with document.txt and document.tsv or document.key beside it."
_NUMBERED = re.compile(r"(?i)(label|tag|subject|topic|category|keyword|class)s?[ _-]?[0-9]+")
_LABELLED = re.compile(rf"(?<!\S){PREFIX}[^\s,;|]+(?!\S)", re.ASCII)  # a label of fastText among words
_MANY = 5  # rows that a guess has for show
REPEATED = 0.5  # share of repeated labels in a column that rather has the labels than the texts
_LONG = 60  # characters of a cell that is rather a text than a name


class Asked(NamedTuple):
    """Arguments of :func:`xmlcore.datasets.read_texts`: how a file is written."""

    format: str = "auto"
    encoding: str = "utf-8"
    delimiter: str = "auto"
    quoted: bool | str = "auto"
    header: bool | str = "auto"


@dataclass(frozen=True)
class Guess:
    """Result of :func:`guess_columns`."""

    format: str
    columns: tuple[str, ...]  # "1", "2", ... if the file has no names
    text: str | None  # the column that seems to have the texts
    labels: str | tuple[str, ...] | None  # the column, or columns, that seem to have the labels
    separator: str  # how a cell lists labels: a mark, "lists", "uris" or "none"
    binary: bool  # whether the cells of several columns of labels say yes or no
    ids: tuple[str, ...]  # columns that are named as those of ids; repeated ones may also seem to be labels
    rows: tuple[dict, ...]  # the first ones: values by column
    form: RecordForm
    no_blanks: bool = False  # whether the texts are of a script without blanks between words

    def ids_beside(self, text: str | list[str] | None) -> str | None:
        """Return the column of ids where the texts are in a column, or in columns, of these names."""
        texts = [text] if isinstance(text, str) else text or ()
        return next((column for column in self.ids if column not in texts), None)

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of :func:`xmlcore.datasets.read_texts` that read the file as guessed."""
        labels = list(self.labels) if isinstance(self.labels, tuple) else self.labels
        options = {"text": self.text, "labels": labels, "format": self.format}
        return options | ({"separator": self.separator} if isinstance(labels, str) else {})


def guess_columns(
    source: Source,
    *,
    format: str = "auto",
    encoding: str = "utf-8",
    delimiter: str = "auto",
    quoted: bool | str = "auto",
    header: bool | str = "auto",
    name: str | None = None,
) -> Guess:
    """Guess which columns of a file of documents are texts and labels, from its beginning.

    Parameters
    ----------
    source : path, bytes, or binary file object
        A file object stays where it is, if it can be read again.
    format, encoding, delimiter : str
        See :func:`xmlcore.datasets.read_texts`.
    quoted, header : bool or "auto"
        See :func:`xmlcore.datasets.read_texts`.
    name : str, optional
        Name of the source in errors; by default its file name.

    Raises
    ------
    DatasetFormatError
        The file has no documents that can be read.
    """
    return guess_with_values(NamedSource(source, name), Asked(format, encoding, delimiter, quoted, header))[0]


def guess_with_values(source: NamedSource, asked: Asked) -> tuple[Guess, dict[str, list]]:
    """Return a guess, and the values of each column in the first rows."""
    if asked.format not in ("auto", *FORMATS):
        raise ValueError(f"format must be 'auto', {', '.join(map(repr, FORMATS))}, not {asked.format!r:.200}")
    if source.is_workbook():
        asked = asked._replace(encoding="utf-8", delimiter=",", quoted=True)
    if asked.format == "lines":
        if source.begins_with(NPY):
            raise _of_numbers(source)
        form = RecordForm("lines", ("1",), header=False, delimiter="\n", quoted=False, encoding=asked.encoding)
        guess, values = _guess(form, [])
        return replace(guess, text="1"), values
    return _guess(*(_sample_folder(source, asked) or _sample_parquet(source, asked) or _sample_text(source, asked)))


def _sample_folder(source, asked):
    """Return the form and the first documents of a folder or an archive; None for others."""
    if asked.format not in ("auto", "folder"):
        return None
    form = RecordForm("folder", ("text", "labels"), encoding=asked.encoding)
    with records.opened_folder(source) as folder:
        if folder is not None:
            return form, _first(source, form)
    if asked.format == "folder" or source.is_path and os.path.isdir(source.given):
        raise source.error("it has no .txt files with .tsv or .key files beside them", DOCUMENTS)
    return None


def _sample_parquet(source, asked):
    if asked.format != "parquet" and not (asked.format == "auto" and source.begins_with(b"PAR1")):
        return None
    with records.open_parquet(source) as file:
        form = RecordForm("parquet", tuple(file.schema_arrow.names))
    _rewind(source)
    return form, _first(source, form)


def _sample_text(source, asked):
    format, encoding = asked.format, asked.encoding
    try:
        text, is_whole = _head(source, encoding)
    except SeveralFilesError as error:
        remedy = f"{DOCUMENTS} Or give a table with a column of texts and one of labels."
        raise source.error(f"{error.found}, which are no documents", remedy) from None
    start = text.lstrip()[:1]
    if format == "auto" and start == "[":
        remedy = "Write one object in each line: pandas does with frame.to_json(path, orient='records', lines=True)."
        raise source.error("it is one JSON list, not an object in each line", remedy)
    if format == "jsonl" or format == "auto" and start == "{":
        form = _json_form(text, is_whole, source, encoding)
    elif format == "fasttext" or format == "auto" and _is_fasttext(text):
        prefix = PREFIX if asked.delimiter == "auto" else asked.delimiter
        form = RecordForm("fasttext", ("text", "labels"), delimiter=prefix, quoted=False, encoding=encoding)
    else:
        delimiter = "\t" if format == "tsv" and asked.delimiter == "auto" else asked.delimiter
        return _table_form(text, is_whole, source, asked._replace(delimiter=delimiter))
    return form, _first(NamedSource(text.encode("utf-8"), source.name), replace(form, encoding="utf-8"))


def guess_new_texts(source, encoding: str = "utf-8", name: str | None = None) -> Guess:
    """Guess which column of a file has texts to be labelled: in a file called .txt, each line is one (docs/text.md)."""
    named = NamedSource(source, name)
    with records.opened_folder(named) as folder, named.archive() as archive:
        packed = [] if archive is None else [file.filename for file in files_in(archive)]
        is_text = not folder and ending_of(packed[0] if len(packed) == 1 else named.name) == ".txt"
    of_lines = is_text and _are_lines(*_head(named, encoding), named, encoding)
    return guess_columns(source, format="lines" if of_lines else "auto", encoding=encoding, name=name)


def _are_lines(text, is_whole, source, encoding) -> bool:
    first = text.lstrip().partition("\n")[0]
    if _is_fasttext(text):
        return False
    try:
        if first[:1] == "{":
            return not list(records.json_objects([first], source))
        form, rows = _table_form(text, is_whole, source, Asked(encoding=encoding))
    except DatasetFormatError:
        return bool(text.strip())
    if len({len(row) for _, row in records.first_cells(text, form, SAMPLE, is_whole, source)}) > 1:
        return True
    if not form.header:
        return len(form.columns) != 2 or not _lists_marked([row[1] for row in rows])
    names = {column.lower() for column in form.columns}
    return names.isdisjoint(TEXT_NAMES) or names.isdisjoint({*LABEL_NAMES, *ID_NAMES})


def is_fasttext(source, encoding: str = "utf-8") -> bool:
    """Return whether a source has lines of fastText with labels; not if it cannot be read as text."""
    try:
        return _is_fasttext(_head(NamedSource(source), encoding)[0])
    except DatasetFormatError:
        return False


def _is_fasttext(text) -> bool:
    """Return whether at least half of the first lines have a label; tables may have some in a column of a name."""
    lines = [line for line in text.split("\n", SAMPLE)[:SAMPLE] if line.strip()]
    labelled = [line for line in lines if _LABELLED.search(line)]
    if not labelled or 2 * len(labelled) < len(lines):
        return False
    cells = [cell.strip().lower() for cell in re.split("[\t,;|]", lines[0])]
    return lines[0] is labelled[0] or len(cells) == 1 or {*TEXT_NAMES, *LABEL_NAMES}.isdisjoint(cells)


def _rewind(source):
    if hasattr(source.given, "seek"):
        source.given.seek(0)


def _head(source, encoding) -> tuple[str, bool]:
    """Return the first lines of a source as text, and whether these are all."""
    # Text of another encoding may not look like text.
    content = source.head(HEAD).tobytes() if is_utf_8(encoding) else bytes(source.first_bytes(HEAD)[:HEAD])
    if content.startswith((NPY, b"PK\x03\x04")):
        if not source.begins_with(bytes(content[:4])):  # as it is packed
            raise source.error("it is an archive or a workbook within compressed data", "Unpack it once.")
        raise _of_numbers(source)
    is_whole = len(content) < HEAD * 3 // 4
    try:
        with text_of([content], encoding) as text:
            return text.read(), is_whole
    except UnicodeDecodeError as error:
        if not is_whole and error.end >= len(content) - 4:  # cut within a character
            return content[: error.start].decode(encoding), False
        raise records.not_encoded(error, encoding, source, 0) from error
    except LookupError:
        raise ValueError(
            f"there is no encoding {encoding!r:.200}: use one that Python knows, such as 'cp1252'"
        ) from None


def _of_numbers(source) -> DatasetFormatError:
    found = "it is a NumPy array file, of numbers, not of texts"
    return source.error(found, "It is read as rows.", argument="xmlcore.datasets.read_dataset")


def _first(source, form) -> list[list]:
    found = [values for _, (_, values) in zip(range(SAMPLE), records.records(source, form, form.columns, silent))]
    _rewind(source)
    return found


def _json_form(text, is_whole, source, encoding) -> RecordForm:
    """Return the form of lines of JSON: its columns are the names in the first lines."""
    lines = text.split("\n")
    lines = lines if is_whole or len(lines) == 1 else lines[:-1]
    form = RecordForm("jsonl", (), encoding=encoding)
    names = {}
    for _, value in zip(range(SAMPLE), records.json_objects(lines, source)):
        names |= dict.fromkeys(value[1])
    return replace(form, columns=tuple(names))


def _table_form(text, is_whole, source, asked) -> tuple[RecordForm, list[list[str]]]:
    delimiter, quoted, header = asked.delimiter, asked.quoted, asked.header
    if not text.strip():
        raise source.error("it holds no rows, only blank lines", "Give one document per line.")
    best, problem = None, None
    for each in DELIMITERS if delimiter == "auto" else (delimiter,):
        for in_quotes in (True, False) if quoted == "auto" and each == "\t" else (quoted in ("auto", True),):
            form = RecordForm(
                "tsv" if each == "\t" else "csv", delimiter=each, quoted=in_quotes, encoding=asked.encoding
            )
            try:
                found = records.first_cells(text, form, SAMPLE, is_whole, source)
            except DatasetFormatError as error:
                if each in text.partition("\n")[0]:
                    problem = problem or error
                continue
            if best is None or _evenness(found) > best[0]:
                best = _evenness(found), form, found
    if best is None or problem is not None and not best[0][0]:
        raise problem
    _, form, found = best
    rows = [row for _, row in found]
    if form.delimiter == "\t" and len(rows[0]) > 1 and uris_in(" ".join(rows[0][1:])):
        # Annif's short texts: a text, a tab, and URIs with blanks or tabs between them; no marks around a cell.
        form = replace(form, quoted=False) if quoted == "auto" else form
        rows = [
            row for _, row in records.first_cells(text, replace(form, columns=("1", "2")), SAMPLE, is_whole, source)
        ]
    width = len(rows[0])
    is_header = _is_header(rows) if header == "auto" else bool(header)
    names = [cell.strip() for cell in rows[0]] if is_header else [str(i + 1) for i in range(width)]
    sample = [row for row in rows[int(is_header) :] if len(row) == width]
    return replace(form, columns=tuple(_distinct(names)), header=is_header), sample


def _evenness(rows) -> tuple:
    """Return how well first rows are told apart by a delimiter: larger is better."""
    widths = [len(row) for _, row in rows]
    if widths[0] < 2:
        return 0, 0.0
    return 1, round(sum(width == widths[0] for width in widths) / len(widths), 3)


def _distinct(names) -> list[str]:
    """Return names without repeated and empty ones, which get their number."""
    seen, found = set(), []
    for i, name in enumerate(names, 1):
        name = name or f"column {i}"
        while name in seen:
            name += f" ({i})"
        seen.add(name)
        found.append(name)
    return found


def _are_numbers(cells) -> bool:
    return bool(cells) and all(re.fullmatch(r"\s*[0-9.,+-]+\s*", cell) for cell in cells)


def _is_header(rows) -> bool:
    first = [cell.strip() for cell in rows[0]]
    if any(len(cell) > _LONG or _lists_marked([cell]) for cell in first) or len(set(first)) < len(first):
        return False
    if any(cell.lower() in (*TEXT_NAMES, *LABEL_NAMES, "uri") for cell in first):
        return True
    if len(rows) == 1 or _are_numbers(first):
        return False
    columns = [[row[i] for row in rows[1:] if len(row) == len(first)] for i in range(len(first))]
    for name, cells in zip(first, columns):
        if _NUMBERED.fullmatch(name) or any(
            rule(cells) and not rule([name]) for rule in (are_binary, _are_numbers, _lists_marked)
        ):
            return True
    others = [max(map(len, row)) for row in rows[1:]]
    return max(map(len, first)) < sum(others) / len(others) / 2 and all(re.match(r"[^\W\d]", cell) for cell in first)


def _guess(form, rows) -> tuple[Guess, dict[str, list]]:
    """Return a guess from the first rows, and the values of each column."""
    values = {column: [row[i] for row in rows] for i, column in enumerate(form.columns)}
    by_name = {column.strip().lower(): column for column in reversed(values)}
    labels = next((by_name[name] for name in LABEL_NAMES if name in by_name), None)
    text = _text_column(values, named=True)
    if labels is None and text is None:  # what repeats itself rather has the labels
        labels = _label_columns(values, least=REPEATED)
    if text is None:
        taken = () if labels is None else (labels,) if isinstance(labels, str) else labels
        text = _text_column({column: cells for column, cells in values.items() if column not in taken})
    if labels is None:
        labels = _label_columns({column: cells for column, cells in values.items() if column != text})
    binary = isinstance(labels, tuple) and all(are_binary(map(_text, values[column])) for column in labels)
    cells = values.get(labels, []) if isinstance(labels, str) else []
    separator = guess_separator(as_cells(cells)) if cells else NONE
    shown = tuple(dict(zip(form.columns, row)) for row in rows[:_MANY])
    named = (column for column in values if column.strip().lower() in ID_NAMES and column != text)
    ids = tuple(column for column in named if all(type(cell) in (str, int, NoneType) for cell in values[column]))
    no_blanks = lack_blanks(as_cells(values.get(text, [])))
    return Guess(form.format, form.columns, text, labels, separator, binary, ids, shown, form, no_blanks), values


def as_cells(values) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _length(value) -> int:
    if isinstance(value, str):
        return len(value)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return sum(1 + _length(part) for part in parts)


def _mean_length(values, kinds=str) -> float:
    """Return the mean number of characters of values of some kinds; 0 if there are others."""
    filled = [value for value in values if value is not None and value == value]
    if not filled or not all(isinstance(value, kinds) for value in filled):
        return 0.0
    return sum(map(_length, filled)) / len(filled)


def _text_column(values, named: bool = False) -> str | None:
    """Return the column that seems to have the texts: the longest of those with a usual name, or of all."""
    # One with a usual name may have lists of tokens or objects, so that its rows are read or refused. Beside others of
    # these, a column of single words rather has ids.
    kinds = (str, list, tuple, dict) if named else str
    lengths = {column: _mean_length(cells, kinds) for column, cells in values.items()}
    lengths = {column: length for column, length in lengths.items() if length > 0 and not _lists_marked(values[column])}
    if named:
        return max((each for each in lengths if each.strip().lower() in TEXT_NAMES), key=lengths.get, default=None)
    lengths = {column: length for column, length in lengths.items() if column.strip().lower() not in ID_NAMES}
    tokens = {column: _mean_length(cells, (list, tuple, dict)) for column, cells in values.items()}
    if any(tokens.values()):
        lengths = {column: n for column, n in lengths.items() if any(" " in cell for cell in as_cells(values[column]))}
        lengths = lengths or {column: n for column, n in tokens.items() if n > 0}
    return max(lengths, key=lengths.get, default=None)


def _lists_marked(cells) -> bool:
    """Return whether cells show by themselves that they list labels: URIs, or names with fastText's prefix."""
    filled = [cell for cell in as_cells(cells) if cell.strip()]
    return bool(filled) and (all(uris_in(cell) is not None for cell in filled) or all(map(lists_prefixed, filled)))


def _label_columns(values, least: float = 0.0) -> str | tuple[str, ...] | None:
    lists = [column for column, cells in values.items() if any(isinstance(cell, (list, tuple)) for cell in cells)]
    uris = [column for column, cells in values.items() if _lists_marked(cells)]
    if lists or uris:  # of several columns of lists, the longest may have the tokens of texts
        return min(lists, key=lambda column: sum(map(_length, values[column]))) if lists else uris[0]
    several = tuple(column for column in values if _NUMBERED.fullmatch(column.strip()))
    binary = tuple(column for column, cells in values.items() if len(cells) > 1 and are_binary(map(_text, cells)))
    if len(several) > 1 or len(binary) > 1:
        return several if len(several) > 1 else binary
    texts = {column: as_cells(cells) for column, cells in values.items()}
    again = {column: _repeated(cells) for column, cells in texts.items() if cells}
    marked = [column for column in again if guess_separator(texts[column]) not in (NONE, " ")]
    listing = [column for column in marked if again[column] >= least]
    repeated = [column for column, share in again.items() if share >= max(least, 0.2)]
    return max(listing or repeated, key=again.get, default=None)


def _repeated(cells) -> float:
    separator = guess_separator(cells)
    marks = {LISTS: ",", NONE: None, URIS: " "}
    mark = marks.get(separator, separator)
    parts = [part.strip() for cell in cells for part in (cell.split(mark) if mark else [cell]) if part.strip()]
    return 1 - len(set(parts)) / len(parts) if parts else 0.0


def _text(value) -> str:
    return "" if value is None else str(value)
