"""Documents of a file one after the other: tables, JSON lines, Parquet and folders, none of them read as a whole."""

import csv
import io
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath

from xmlcore.datasets.errors import DatasetFormatError, RecordPlace
from xmlcore.datasets.readers.names import visible
from xmlcore.datasets.readers.sources import ADDED, DAMAGED, NamedSource, is_utf_8, reading_zip, text_of
from xmlcore.progress import Progress

LONGEST_CELL = 1 << 28  # characters; a longer one is an open quotation mark
BATCH = 1024  # rows of Parquet that are in memory at a time
DOCUMENT, SUBJECTS = (".txt", ".json"), (".tsv", ".key")  # in lower case or not
_IN_LINES = (
    'Write a JSON object in each line, such as {"text": "...", "labels": ["a", "b"]}: pandas does with '
    "to_json(..., orient='records', lines=True)."
)
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class RecordForm:
    """How the documents of a file are written."""

    format: str
    columns: tuple[str, ...] = ()  # "1", "2", ... if there are no names
    header: bool = True  # whether the first line of a table has the names
    delimiter: str = ","
    quoted: bool = True  # whether cells may be in double quotation marks
    encoding: str = "utf-8"


def records(source: NamedSource, form: RecordForm, columns, progress: Progress) -> Iterator[tuple]:
    if form.format == "folder":
        yield from _documents(source, form.encoding, progress)
    elif form.format == "parquet":
        yield from _parquet_rows(source, columns, progress)
    else:
        with source.pieces(progress) as (pieces, _):
            lone_cr = form.quoted and form.format != "jsonl"
            with text_of(pieces, form.encoding, lone_cr=lone_cr) as text:
                number = count()
                lines = (line for line, _ in zip(text, number))
                try:
                    if form.format == "jsonl":
                        for place, value in json_objects(lines, source):
                            yield place, [value.get(column) for column in columns]
                        return
                    read = _fasttext_rows if form.format == "fasttext" else _table_rows
                    yield from read(lines, form, columns, source)
                except UnicodeDecodeError as error:
                    raise not_encoded(error, form.encoding, source, next(number)) from error


def not_encoded(error, encoding, source, lines_before) -> DatasetFormatError:
    line = lines_before + 1 + bytes(error.object[: error.start]).count(b"\n")
    found = f"the byte {bytes(error.object[error.start : error.start + 1])!r:.200} is not {encoding.upper()}"
    remedy = "Choose its encoding, such as cp1252 (Windows), latin-1 or utf-16, or save it as UTF-8."
    return source.error(found, remedy, line, argument="encoding")


def _table_rows(lines, form, columns, source):
    width = len(form.columns)
    wanted = [form.columns.index(column) for column in columns]
    skipped, blank = not form.header, []
    for line, row in read_cells(lines, form, source):
        if _is_blank(row):
            if width == 1 and skipped:
                blank.append(line)
            continue
        yield from ((RecordPlace(source, empty), [""] * len(wanted)) for empty in blank)  # rows keep their numbers
        blank = []
        if not skipped:
            skipped = True
            continue
        if len(row) != width:
            raise RecordPlace(source, line).error(*_uneven(row, width, form))
        yield RecordPlace(source, line), [row[column] for column in wanted]


def read_cells(lines, form: RecordForm, source: NamedSource) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the cells of each row of a table, from 1."""
    if not form.quoted:
        last = len(form.columns) - 1
        for number, line in enumerate(lines, 1):
            yield number, line.rstrip("\r\n").split(form.delimiter, last if last > 0 else -1)
        return
    if csv.field_size_limit() < LONGEST_CELL:
        csv.field_size_limit(LONGEST_CELL)  # of this process; nothing else depends on the default
    rows = csv.reader(lines, delimiter=form.delimiter, strict=True)
    before = 0
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise source.error(*_unreadable(str(error), before + 1, rows.line_num)) from None
        if row is None:
            return
        yield before + 1, row
        before = rows.line_num


def _is_blank(row) -> bool:
    return len(row) < 2 and not any(cell.strip() for cell in row)


def _unreadable(reason, line, until):
    """Return the fault of a row that the csv module refuses, its remedy, and its line."""
    if "expected after" in reason:
        remedy = 'Inside a cell in quotation marks, write each quotation mark twice: "a ""word""".'
        return "a cell goes on after its closing quotation mark", remedy, until
    if "unexpected end" in reason or "field larger" in reason:
        remedy = 'Close it, or write a quotation mark inside a cell as """".'
        return "a quotation mark opens a cell here and is never closed", remedy, line
    if "NUL" in reason:
        return "it holds binary data (a NUL byte)", "Give rows of text.", until
    return f"the row cannot be read ({reason})", "Write it as other tables are written.", until


def _uneven(row, width, form):
    """Return the fault of a row of too many or too few cells, and its remedy."""
    cells = "1 cell" if len(row) == 1 else f"{len(row):,} cells"
    name = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "vertical bars"}.get(form.delimiter, form.delimiter)
    first = "the first line" if form.header else "the lines before"
    if len(row) < width:
        remedy = f"Add the missing {name}, or put a text with line breaks in double quotation marks."
        return f"it has {cells}, but {first} {width:,}", remedy
    return f"it has {cells}, but {first} {width:,}", f"Put cells with {name} in them in double quotation marks."


def _fasttext_rows(lines, form, columns, source):
    """Yield the lines of a fastText file: words after its prefix are labels, wherever they stand."""
    prefix, blank = form.delimiter, []
    label = re.compile(rf"(?<!\S){re.escape(prefix)}(\S*)\s?", re.ASCII)
    for number, line in enumerate(lines, 1):
        place = RecordPlace(source, number)
        if not line.strip():
            blank.append(place)
            continue
        yield from ((empty, ["" if column == "text" else [] for column in columns]) for empty in blank)
        blank, names = [], label.findall(line)
        for name in names:
            if not name or prefix in name:
                found = f"a label has no name after {prefix}" if not name else f"{name!r:.60} has {prefix} in it"
                raise place.error(found, f"Write {prefix} before the name of each label, and blanks between labels.")
        document = {"text": label.sub("", line).strip(), "labels": names}
        yield place, [document[column] for column in columns]


def json_objects(lines, source: NamedSource) -> Iterator[tuple[RecordPlace, dict]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = RecordPlace(source, number)
        yield place, _json_object(line, place, _IN_LINES)


def _json_object(text, place, remedy) -> dict:
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise place.error(f"it is no JSON that can be read ({error})", remedy) from None
    if not isinstance(value, dict):
        raise place.error(f"it is a JSON {_JSON.get(type(value), 'value')}, not an object", remedy)
    return {name: whole(each) for name, each in value.items()} if "\\u" in text else value


def _object(pairs) -> dict:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the name {max(names, key=names.count)!r:.60} stands twice in an object")
    return value


_JSON = {list: "list", str: "string", int: "number", float: "number", bool: "truth value", type(None): "null"}


def whole(value):
    """Return a value of JSON with � for each half of a character, which cannot be written to a file."""
    if isinstance(value, str) and _SURROGATE.search(value):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [whole(each) for each in value] if isinstance(value, list) else value


def open_parquet(source: NamedSource):
    """Open a Parquet file; raise DatasetFormatError if it is damaged, or cannot be read because pyarrow is missing."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        remedy = "Install it (pip install pyarrow; xmlcore[app] brings it), or write the table as CSV or as JSON lines."
        raise source.error("it is a Parquet file, and pyarrow, which reads it, is missing", remedy) from error
    given = source.given
    if not source.is_path:
        held = source.held()
        given = pa.BufferReader(given.read() if held is None else held)
    try:
        # Read page by page: a group of rows, which may be the whole file, is not in memory at once.
        file = pq.ParquetFile(given, memory_map=False, pre_buffer=False, buffer_size=1 << 20)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise source.error(f"the Parquet file cannot be read ({_first_line(error)})", DAMAGED) from error
    names = file.schema_arrow.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise source.error(f"it has two columns {twice!r:.200}", "Give each column a name of its own.")
    return file


def _parquet_rows(source, columns, progress):
    file, row, size = open_parquet(source), 0, 0
    total = max(file.metadata.num_rows, 1)
    with file:
        batches = iter(file.iter_batches(BATCH, columns=list(dict.fromkeys(columns))))
        while True:
            try:
                batch = next(batches, None)
            except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
                found = f"the Parquet file cannot be read after row {row:,} ({_first_line(error)})"
                raise source.error(found, DAMAGED) from error
            if batch is None:
                return
            progress("Reading", row / total)
            size += batch.nbytes
            if size > source.max_bytes:
                raise source.too_large()
            try:
                found = [batch.column(column).to_pylist() for column in columns]
            except UnicodeDecodeError as error:
                raise RecordPlace(source, row=row + 1).error("its text is not UTF-8", DAMAGED) from error
            for values in zip(*found):
                row += 1
                yield RecordPlace(source, row=row), list(values)


def _first_line(error) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


@contextmanager
def opened_folder(source: NamedSource):
    """Open a folder, or a zip archive of several documents; give None if it is another one.

    It is the sizes of files by name, a function that reads one, and the names of those that systems have added.
    """
    root = Path(source.given) if source.is_path and os.path.isdir(source.given) else None
    with nullcontext() if root else source.archive() as archive:
        if root:
            found = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if path.is_file()}
            sizes = {name: path.stat().st_size for name, path in found.items()}
        else:
            files = () if archive is None else archive.infolist()
            sizes = {file.filename: file.file_size for file in files if file.filename[-1:] != "/"}
        names = {name: size for name, size in sizes.items() if not ADDED.search(name)}
        read = (lambda name: found[name].read_bytes()) if root else getattr(archive, "read", None)
        yield (names, read, [name for name in sizes if name not in names]) if is_folder(names) else None


def is_folder(names) -> bool:
    """Return whether files of these names are documents: texts with a file of subjects beside one, or several texts."""
    documents = [PurePosixPath(name) for name in names if name.lower().endswith(DOCUMENT)]
    beside = {str(PurePosixPath(name).with_suffix("")) for name in names if name.lower().endswith(SUBJECTS)}
    plain = [path for path in documents if path.suffix.lower() == ".txt"]
    return any(str(path.with_suffix("")) in beside for path in plain) or len(documents) > 1 and not beside


def _documents(source, encoding, progress):
    """Yield the places, the texts and the subjects of the documents of a folder or an archive."""
    with opened_folder(source) as folder:
        names, read, _ = folder
        if sum(names.values()) > source.max_bytes:
            raise source.too_large()

        def text_in(name):
            shown = NamedSource(b"", _named(source, name))
            with reading_zip(shown, "it"):
                content = read(name)
            try:
                return content.decode("utf-8-sig" if is_utf_8(encoding) else encoding)
            except UnicodeDecodeError as error:
                raise not_encoded(error, encoding, shown, 0) from error

        if alike := _alike(names, lambda name: name[:-4] + name[-4:].lower()):
            found = f"{visible(alike[0])!r:.200} and {visible(alike[1])!r:.200} differ only in the case of their ending"
            raise source.error(found, "Rename or remove one of them.")
        documents = sorted(name for name in names if name.lower().endswith(DOCUMENT))
        subjects = {name[:-4] + name[-4:].lower(): name for name in names if name.lower().endswith(SUBJECTS)}
        for i, name in enumerate(documents):
            progress("Reading", i / len(documents))
            place = RecordPlace(_named(source, name))
            if name.lower().endswith(".json"):
                value = _json_object(text_in(name), place, 'Write {"text": "...", "subjects": [...]}.')
                yield place, [value.get("text"), value.get("subjects", value.get("labels"))]
                continue
            stem = name[: -len(".txt")]
            beside = next((subjects[stem + ending] for ending in SUBJECTS if stem + ending in subjects), None)
            listed = [] if beside is None else _subjects(text_in(beside), beside.lower().endswith(".tsv"))
            yield place, [text_in(name), listed]


def _named(source, name) -> str:
    return f"{source}: {visible(PurePosixPath(name).name)}"


def _alike(names, key) -> tuple[str, str] | None:
    """Return two names of documents or subjects, the first ones, that have the same key."""
    known = {}
    read = sorted(name for name in names if name.lower().endswith((*DOCUMENT, *SUBJECTS)))
    return next(((other, name) for name in read if (other := known.setdefault(key(name), name)) != name), None)


def warn_of_files_left_out(source: NamedSource) -> None:
    """Warn of files in a folder or an archive that are not read, and of two that many systems take for one."""
    with opened_folder(source) as (names, _, added):
        names = sorted(names)
    if added:
        count = "1 file is" if len(added) == 1 else f"{len(added):,} files are"
        source.warn(f"{count} not read, as hidden ones and those of macOS or Windows are, such as {visible(added[0])}")
    if alike := _alike(names, str.lower):
        source.warn(f"{visible(alike[0])!r:.200} and {visible(alike[1])!r:.200} differ only in case: both are read")
    stems = {name[: -len(".txt")] for name in names if name.lower().endswith(DOCUMENT[0])}
    alone = [name for name in names if name.lower().endswith(SUBJECTS) and name[: -len(".key")] not in stems]
    if alone:
        shown = ", ".join(visible(PurePosixPath(name).name) for name in alone[:3]) + (", ..." if len(alone) > 3 else "")
        have = "1 file of subjects has" if len(alone) == 1 else f"{len(alone):,} files of subjects have"
        source.warn(f"{have} no .txt file of the same name, and no document is made of it ({shown})")


def _subjects(text, table) -> list:
    """Return the subjects that a file beside a document lists: a label in each line, or a URI, a tab and a label."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("\t")] if table else [line.strip()]
        if table and len(cells) > 1 and cells[0]:
            found.append({"uri": cells[0], "label": cells[1]})
        elif cells[0]:
            found.append(cells[0])
    return found


def first_cells(text, form: RecordForm, count: int, whole_file: bool, source) -> list[tuple[int, list[str]]]:
    """Return the lines and cells of the first rows of a table, without blank ones."""
    found = []
    try:
        for line, row in read_cells(iter(io.StringIO(text, newline="")), form, source):
            if not _is_blank(row):
                found.append((line, row))
            if len(found) > count:
                break
    except DatasetFormatError:
        if whole_file or len(found) < 2:
            raise
        return found
    return found[:count] if whole_file or len(found) > count else found[:-1] or found
