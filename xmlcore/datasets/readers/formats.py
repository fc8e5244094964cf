"""The formats that can be read: one table says which module reads each, and with which options."""

import os
from types import ModuleType
from typing import NamedTuple

from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.datasets.readers import arff, npz, table, xmlc, xmlc_parts
from xmlcore.datasets.readers.blocks import LargeText, head_of, read_or_open
from xmlcore.datasets.readers.recognise import other_format
from xmlcore.datasets.readers.sources import read_text, source_name
from xmlcore.datasets.readers.xmlc import Rows
from xmlcore.progress import silent
from xmlcore.validation import check_count


class Reader(NamedTuple):
    """How a format is read."""

    module: ModuleType  # ``parse(text, source=..., **options)`` returns Rows; ``looks_like(text)``
    options: tuple[str, ...]  # of those of read_matrix


# Most features, and most labels, of a file unless max_columns is given: so many, or so many for each of its values.
ENOUGH_COLUMNS, COLUMNS_PER_VALUE = 1 << 24, 1000
_XMLC_OPTIONS = ("format", "first_index", "counts")
IN_BLOCKS = ("auto", "xmlc", "svmlight", "arff")  # formats of large files that are parsed block after block
# In the order in which a text of unknown format is compared with them. XMLC and svmlight are what remains: their parser
# tells the two apart, and its errors say what is wrong with a text that has no format at all.
READERS = {
    "xmlc": Reader(xmlc, _XMLC_OPTIONS),
    "svmlight": Reader(xmlc, _XMLC_OPTIONS),
    "npz": Reader(npz, ("max_bytes", "classes")),
    "arff": Reader(arff, ("labels", "max_bytes", "leave_out")),
    "csv": Reader(table, ("labels", "leave_out", "like")),
}


def read_rows(
    source,
    format="auto",
    labels=None,
    first_index=0,
    max_bytes=None,
    counts="header",
    leave_out=False,
    max_columns=None,
    name=None,
    progress=silent,
    classes=False,
    like=None,
) -> Rows:
    """Check the arguments of :func:`xmlcore.datasets.read_matrix`, and read the rows of one file, or of two.

    ``like`` is what has read the lists of labels of the training file, by whose marks those of a test file are read.
    """
    if not isinstance(format, str) or format not in ("auto", *READERS):
        formats = ", ".join(f'"{known}"' for known in READERS)
        raise ValueError(f'format {format!r:.200} cannot be read: use one of {formats}, or "auto"')
    if not isinstance(counts, str) or counts not in ("header", "data"):
        raise ValueError(f'counts must be "header" or "data", not {counts!r:.200}')
    first_index = check_count(first_index, "first_index", 0, 1)
    max_columns = None if max_columns is None else check_count(max_columns, "max_columns", 1)
    npz_too = format in ("auto", "npz")
    text = read_or_open(source, max_bytes=max_bytes, name=name, npz=npz_too, progress=progress)
    source = source_name(source, name)
    format = format if format != "auto" else recognised(head_of(text), source)
    if isinstance(text, LargeText) and (format not in IN_BLOCKS or labels is not None and format != "arff"):
        text = text.whole()
    names_columns = labels is not None and (
        not is_source(labels) or (isinstance(labels, str) and not os.path.exists(labels))
    )
    if format == "auto" and names_columns and table.may_be(text):
        format = "csv"
    reader = READERS.get(format, READERS["xmlc"])
    options = {"format": format, "labels": labels, "first_index": first_index, "max_bytes": max_bytes, "counts": counts}
    options |= {"leave_out": leave_out, "classes": classes, "like": like}
    if labels is not None and "labels" not in reader.options and not is_source(labels):
        raise DatasetFormatError(
            source,
            f"it has no columns, but labels={str(labels)[:40]} names columns",
            "A table has commas, semicolons, tabs or vertical bars between its cells. If this is none, leave labels= "
            "out, or give the file with the labels, if this file has none.",
        )
    if reader.module is xmlc and labels is not None:
        rows = xmlc_parts.parse_features(text, source, first_index, counts)
    else:
        rows = reader.module.parse(text, source=source, **{option: options[option] for option in reader.options})
    del text
    if rows.Y is None:
        _add_labels(rows, labels, first_index, max_bytes, counts, classes)
    elif labels is not None and "labels" not in reader.options:
        raise DatasetFormatError(
            source, "it has the labels of its rows, but labels= is given too", "Leave labels= out."
        )
    _check_width(rows, "feature", rows.X, max_columns)
    _check_width(rows, "label", rows.Y, max_columns)
    return rows


def _check_width(rows, noun, matrix, max_columns):
    """Raise DatasetFormatError if a few large ids, or a header, make far more columns than there are values."""
    width = matrix.shape[1]
    most = max(ENOUGH_COLUMNS, COLUMNS_PER_VALUE * matrix.nnz) if max_columns is None else max_columns
    if width <= most:
        return
    own = noun == "label" and rows.label_source is not None
    line = None if own else rows.header_line or None
    has = f"the rows have only {matrix.nnz:,} {noun}{'' if matrix.nnz == 1 else 's'} in all"
    found, remedy = f"the largest {noun} id makes {width:,} {noun}s, but {has}", f"Number the {noun}s without gaps."
    if rows.has_width(noun):
        found = f"{'it' if line is None else 'the header'} promises {width:,} {noun}s, but {has}"
        remedy = "Correct the number."
    remedy += f" If it is right, pass max_columns={width}."
    raise DatasetFormatError(rows.label_source if own else rows.source, found, remedy, line)


def _add_labels(rows, labels, first_index, max_bytes, counts, classes):
    """Read the file of the labels of rows that have none, and put them into ``rows``."""
    if labels is None:
        raise DatasetFormatError(
            rows.source, "it holds features, but no labels", "Give the file that holds the labels as labels=..."
        )
    rows.label_source = source_name(labels) if source_name(labels) != "data" else "labels"
    text = read_text(labels, max_bytes=max_bytes, name=rows.label_source, npz=True)
    n_rows = rows.X.shape[0]
    if npz.looks_like(text):
        rows.Y, rows.label_names, rows.has_label_width = npz.parse_labels(text, rows.label_source, max_bytes, classes)
        rows.classes = not rows.has_label_width  # a number that is exact is that of a matrix
    elif table.looks_like(text) or table.is_one_label(text):
        rows.Y, rows.label_names = table.parse_labels(text, rows.label_source)
        rows.has_label_width = True
    else:
        rows.Y, header_line, rows.least_label = xmlc_parts.parse_labels(
            text, rows.label_source, n_rows, first_index, counts
        )
        rows.has_label_width = header_line is not None
    if rows.Y.shape[0] != n_rows:
        found = f"it has {rows.Y.shape[0]:,} rows, but {rows.source} has {n_rows:,}"
        raise DatasetFormatError(rows.label_source, found, "Do both files belong together, training or test rows?")


def is_source(value) -> bool:
    return isinstance(value, (str, os.PathLike, bytes, bytearray, memoryview)) or hasattr(value, "read")


def recognised(text, source: str) -> str:
    """Return the name of the format that a text has: a key of ``READERS``, or "auto" for XMLC or svmlight."""
    for name, reader in READERS.items():
        if reader.module is not xmlc and reader.module.looks_like(text):
            return name
    other = other_format(text)
    if other is not None:
        found, remedy = other
        raise DatasetFormatError(source, found, remedy)
    return "auto"


def warm_up() -> None:
    arff.warm_up()
    xmlc.warm_up()
