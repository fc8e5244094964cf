"""Read texts and their labels from files."""

from collections.abc import Mapping, Sequence

from xmlcore.datasets.columns import LONG, short
from xmlcore.datasets.errors import InputError, warn, warnings_of_data
from xmlcore.datasets.readers.label_cells import LISTS, NONE, SEPARATORS, URIS, are_binary, guess_separator, keys_of
from xmlcore.datasets.readers.sources import NamedSource
from xmlcore.datasets.texts.guess import ANNIF_LABELS, Asked, as_cells, guess_with_values
from xmlcore.datasets.texts.labels import LabelReader, of_many, read_vocabulary
from xmlcore.datasets.texts.records import records, warn_of_files_left_out
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import Source
from xmlcore.validation import check_count
from xmlcore.wording import listed

TEXT, LABELS = "text", "labels"  # default columns
TABLES = ("csv", "tsv", "jsonl", "parquet")


def read_texts(
    source: Source,
    text: str | Sequence[str] = "text",
    labels: str | Sequence[str] | None = "labels",
    *,
    format: str = "auto",
    separator: str = "auto",
    names: Mapping[str, str] | Source | None = None,
    encoding: str = "utf-8",
    delimiter: str = "auto",
    quoted: bool | str = "auto",
    header: bool | str = "auto",
    max_documents: int | None = None,
    max_bytes: int | None = None,
    name: str | None = None,
    progress: ProgressLike = silent,
) -> tuple[list[str], list[list[str]]]:
    r"""Read texts and the labels of each from a file of documents, or a folder of them.

    Parameters
    ----------
    source : path, bytes, or binary file object
        May be compressed (gzip, bzip2, xz, or a zip of one file). A path may be that of a folder.
    text : str or list of str
        The column of the texts, or several whose texts are joined by line breaks. Upper and lower case do not matter if
        that is clear. Without names in the first line, columns are "1", "2", ...
    labels : str, list of str, or None
        The column that lists the labels of a document; or several columns, with a label in each cell, or with 1 and 0
        for the label that is the column's name. The default also finds Annif's "subject_uris" and "subjects".
    format : {"auto", "csv", "tsv", "jsonl", "parquet", "folder", "fasttext", "lines"}
        docs/text.md describes them. ``"lines"``: each line is a text, also an empty one, without labels. ``"auto"``:
        one of the others, as the content says.
    separator : str
        Between the labels of a cell: ``";"``, ``"|"``, ``","``, ``"\n"``, ``"\t"``, ``" "`` or ``"><"``; ``"lists"``,
        ``"uris"``, or ``"none"`` for one label in a cell. Lists are read with each of these.
    names : dict of str to str, or path, bytes, or binary file object, optional
        Names of the labels by their URIs, or the vocabulary with them: see :func:`xmlcore.datasets.read_vocabulary`.
        Without it, a label has the name that stands beside its URI in the file, or else the URI.
    encoding : str
        Of text.
    delimiter, quoted, header : str, bool, bool, or "auto"
        What stands between the cells of a table, or in a fastText file before each label; whether cells may be in
        quotation marks; whether the first line has the names of the columns.
    max_documents : int, optional
        Read only so many documents, from the beginning. By default all.
    max_bytes : int, optional
        Most bytes of decompressed text. By default 16 GiB from a path, 4 GiB otherwise.
    name : str, optional
        Name of the source in errors; by default its file name.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Returns
    -------
    texts : list of str
        As they are in the file; may be empty.
    label_lists : list of list of str
        The labels of each text, each once; may be empty.

    Raises
    ------
    DatasetFormatError
        The file cannot be read so; the error has the line or the name of the file, and a remedy.

    Warns
    -----
    DatasetWarning
        Texts are empty, documents have no labels or one twice, files of subjects have no text beside them, or the
        vocabulary lacks labels.

    Examples
    --------
    >>> from xmlcore.datasets import read_texts
    >>> read_texts(b"text,labels\nA cat.,animal;small\n")
    (['A cat.'], [['animal', 'small']])
    """
    return read_like(None, **locals())[:2]


def read_like(
    like, source, text, labels, *, format, separator, names, encoding, delimiter, quoted, header, max_documents,
    max_bytes, name, progress, with_columns=False,
):  # fmt: skip
    """Return what :func:`read_texts` does, the reader of the labels, and the values of the other columns of a table.

    ``like``: the reader of the labels of the training file.
    """
    max_documents = None if max_documents is None else check_count(max_documents, "max_documents")
    if hasattr(source, "read") and not hasattr(source, "getvalue") and not source.seekable():
        source = source.read()  # a pipe: its beginning is needed twice
    if separator not in ("auto", *SEPARATORS, LISTS, URIS, NONE):
        allowed = ", ".join(map(repr, ("auto", *SEPARATORS, LISTS, URIS, NONE)))
        raise ValueError(f"separator must be one of {allowed}, not {separator!r:.200}")
    source = NamedSource(source, name, max_bytes)
    guessed = guess_with_values(source, Asked(format, encoding, delimiter, quoted, header))
    return _read(
        source, guessed, text, labels, separator, names, max_documents, to_progress(progress), like, with_columns
    )


def _read(source, guessed, text, labels, separator, names, max_documents, progress, like=None, with_columns=False):
    """Return what :func:`read_like` does, of a file whose form and first values are known."""
    guess, values = guessed
    text_columns, label_columns = _chosen(guess, text, labels, source)
    cells = [cell for column in label_columns for cell in as_cells(values[column])]
    before = like.cells[0] if like is not None and like.cells else None
    separator = guess_separator(cells, before) if separator == "auto" else separator
    every = ("" if cell is None else str(cell) for column in label_columns for cell in values[column])
    binary = isinstance(labels, (list, tuple)) and are_binary(every) if like is None else like.binary
    names = names if names is None or isinstance(names, dict) else read_vocabulary(names)
    reader = LabelReader(source, label_columns, separator, binary, names, like)

    texts, rows, n_empty, empty = [], [], 0, None
    n_texts, n_read = len(text_columns), len(text_columns) + len(label_columns)
    others = [column for column in guess.columns if column not in {*text_columns, *label_columns}]
    table = {column: [] for column in others if with_columns and guess.format in TABLES}
    for column in [column for column in table if LONG in map(short, values[column])]:
        table[column] = [LONG]  # it is not read, since it may be large
    filled = {column: of for column, of in table.items() if not of}
    for place, found in records(source, guess.form, (*text_columns, *label_columns, *filled), progress):
        parts = [_text_of(value, column, place) for value, column in zip(found, text_columns)]
        whole = parts[0] if n_texts == 1 else "\n".join(filter(None, parts))
        if not whole or whole.isspace():
            n_empty, empty = n_empty + 1, empty or place
        texts.append(whole)
        rows.append(reader.read(found[n_texts:n_read], place))
        for of, value in zip(filled.values(), found[n_read:]):
            of.append(short(value))
        if len(texts) == max_documents:
            break
    if not texts:
        raise source.error("it has no documents", "Give a file with at least one.")
    if n_empty:
        source.warn(f"{of_many(n_empty, len(texts), 'text', empty)} empty and will have no features")
    reader.finish(rows)
    if guess.format == "folder":
        warn_of_files_left_out(source)
    return texts, rows, reader, table


def texts_with_ids(source: Source, text=None, *, format="auto", encoding="utf-8", max_bytes=None, progress=silent):
    """Return the texts of a file as :func:`read_texts` does, and their ids; None if no column has some.

    An id is "" where the cell is empty. The column of the texts is guessed if ``text`` is None.
    """
    named = NamedSource(source, max_bytes=max_bytes)
    guessed = guess_with_values(named, Asked(format, encoding))
    guess = guessed[0]
    text = guess.text if text is None else text
    ids = guess.ids_beside(text)
    with warnings_of_data() as warned:
        texts, lists, *_ = _read(named, guessed, text, ids, None, None, None, to_progress(progress))
    for message in warned:
        warn(message.replace("without labels", "without an id"))
    return texts, None if ids is None else ["".join(labels) for labels in lists]


def _chosen(guess, text, labels, source) -> tuple[list[str], list[str]]:
    if text is None:
        found = f"nothing says which of its columns has the texts: {', '.join(guess.columns[:10])}"
        raise source.error(found, 'Name it, or call it "text" in the file.', argument="text")
    texts = [text] if isinstance(text, str) else list(text)
    labels = [] if labels is None else [labels] if isinstance(labels, str) else list(labels)
    if not texts:
        raise ValueError("text names no column")
    if guess.format == "lines" and labels:
        raise InputError("a file with a text in each line has no labels", "Read none.", argument="labels")
    for column in (*texts, *labels):
        if not isinstance(column, str):
            raise TypeError(f"a column is {column!r:.200}: give its name; without names, columns are '1', '2', ...")
    of_default = not guess.form.header and texts == [TEXT] and labels in ([LABELS], []) and guess.format != "folder"
    short_texts = len(guess.columns) == 2 and guess.text == "1" and guess.separator == URIS  # of Annif
    if of_default and (short_texts or not labels and len(guess.columns) == 1):
        return ["1"], ["2"][: len(labels)]
    if labels == [LABELS] and LABELS not in map(str.lower, guess.columns):
        labels = [column for column in ANNIF_LABELS if column in guess.columns][:1] or labels
    return [_column(guess, each, source) for each in texts], [_column(guess, each, source) for each in labels]


def _column(guess, name, source) -> str:
    if name in guess.columns:
        return name
    like = [column for column in guess.columns if column.lower() == name.lower()]
    if len(like) == 1:
        return like[0]
    which = "text" if guess.text is not None and name.lower() != LABELS else "labels"
    remedy = f"Its columns are {listed(map(repr, guess.columns))}."
    if guess.text is not None and guess.labels is not None:
        remedy += f" Texts seem to be in {guess.text!r:.200}, labels in {guess.labels!r:.200}."
    raise source.error(f"it has no column {name!r:.200}", remedy, argument=which, value=getattr(guess, which))


def _text_of(value, column, place) -> str:
    """Return a value as a text: that of lists of tokens has a blank between them, and that of null and NaN is empty."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, (list, tuple)) and all(isinstance(token, str) for token in value):
        return " ".join(value)
    shown = keys_of(value) if isinstance(value, dict) else f"{value!r:.40}"
    raise place.error(f"the text in {column!r:.200} is {shown}", "Choose a column of texts, or write them as text.")
