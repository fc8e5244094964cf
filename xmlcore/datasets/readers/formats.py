"""The formats that can be read: what a file is by its beginning, and the rows of a file in any format."""

import os
import re
from dataclasses import dataclass, field, replace

from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.datasets.readers import archived, arff, arff_header, npz, table, xmlc
from xmlcore.datasets.readers.blocks import LargeText, head_of, read_or_open
from xmlcore.datasets.readers.recognise import other_format
from xmlcore.datasets.readers.rows import ReadOptions, Rows
from xmlcore.datasets.readers.sources import NamedSource, is_source, telling_name
from xmlcore.progress import silent
from xmlcore.validation import check_count

# Most features, and most labels, of a file unless max_columns is given: so many, or so many for each of its values.
ENOUGH_COLUMNS, COLUMNS_PER_VALUE = 1 << 24, 1000
IN_BLOCKS = ("auto", "xmlc", "svmlight", "arff")  # formats of large files that are parsed block after block
OF_COLUMNS = ("arff", "csv")  # formats in which ``labels`` says which columns are labels
# The module that reads a format: ``parse(text, source, options)`` returns Rows, ``looks_like(text)`` recognises it. In
# the order in which a text of unknown format is compared with them. XMLC and svmlight are what remains: their parser
# tells the two apart, and its errors say what is wrong with a text that has no format at all.
READERS = {"xmlc": xmlc, "svmlight": xmlc, "npz": npz, "arff": arff, "csv": table}
_HEAD = 4 << 20  # bytes read to describe a file


def check_options(options: ReadOptions) -> ReadOptions:
    """Return arguments of :func:`xmlcore.datasets.read_matrix` with numbers as int; ValueError if one is wrong."""
    format, counts, most = options.format, options.counts, options.max_columns
    if not isinstance(format, str) or format not in ("auto", *READERS):
        formats = ", ".join(f'"{known}"' for known in READERS)
        raise ValueError(f'format {format!r:.200} cannot be read: use one of {formats}, or "auto"')
    if not isinstance(counts, str) or counts not in ("header", "data"):
        raise ValueError(f'counts must be "header" or "data", not {counts!r:.200}')
    first_index = check_count(options.first_index, "first_index", 0, 1)
    return options._replace(
        first_index=first_index, max_columns=None if most is None else check_count(most, "max_columns", 1)
    )


def read_rows(source: NamedSource, options: ReadOptions, progress=silent) -> Rows:
    """Read the rows of one file, or of two, the second of which has the labels."""
    rows = parse(source, options, progress)
    if rows.Y is None:
        _add_labels(rows, options)
    elif options.labels is not None and rows.format not in OF_COLUMNS:
        found = "it has the labels of its rows, but labels are given beside it too"
        raise source.error(found, "Leave those out.", argument="labels")
    _check_width(rows, "feature", options.max_columns)
    _check_width(rows, "label", options.max_columns)
    return rows


def parse(source: NamedSource, options: ReadOptions, progress=silent) -> Rows:
    """Open a file, recognise its format, and parse it; the rows have no labels yet if another file has them."""
    labels = options.labels
    text = read_or_open(source, npz=options.format in ("auto", "npz"), progress=progress)
    format = options.format if options.format != "auto" else recognised(head_of(text), source)
    if isinstance(text, LargeText) and (format not in IN_BLOCKS or labels is not None and format != "arff"):
        text = text.whole()
    names_columns = labels is not None and (
        not is_source(labels) or isinstance(labels, str) and not os.path.exists(labels)
    )
    if format == "auto" and names_columns and table.may_be(text):
        format = "csv"
    if labels is not None and format not in OF_COLUMNS and not is_source(labels):
        found = f"it has no columns, but {str(labels)[:40]} is to be a column, or columns, of labels"
        remedy = (
            "A table has commas, semicolons, tabs or vertical bars between its cells. For a file of another kind, give "
        )
        raise source.error(found, f"{remedy}the file with the labels, if it has none.", argument="labels")
    return READERS.get(format, xmlc).parse(text, source, options._replace(format=format))


def _check_width(rows, noun, max_columns):
    """Raise DatasetFormatError if a few large ids, or a header, make far more columns than there are values."""
    matrix, own = rows.matrix(noun), noun == "label" and rows.label_source is not None
    width = matrix.shape[1]
    if width <= (max(ENOUGH_COLUMNS, COLUMNS_PER_VALUE * matrix.nnz) if max_columns is None else max_columns):
        return
    line = None if own else rows.header_line or None
    found, remedy = f"the largest {noun} id makes {width:,} {noun}s", f"Number the {noun}s without gaps."
    if rows.has_width(noun):
        found = f"{'it' if line is None else 'the header'} states {width:,} {noun}s"
        remedy = "Correct the number."
    found += f", but the rows have only {matrix.nnz:,} {noun}{'' if matrix.nnz == 1 else 's'} in all"
    source = rows.label_source if own else rows.source
    raise source.error(found, f"{remedy} If it is right, allow so many.", line, argument="max_columns", value=width)


def _add_labels(rows, options):
    """Read the file of the labels of rows that have none, and put them into ``rows``."""
    if options.labels is None:
        raise rows.source.error("it holds features, but no labels", "Give the file with the labels.", argument="labels")
    source = rows.label_source = NamedSource(options.labels, max_bytes=rows.source.bound, unnamed="labels")
    text, n_rows = source.text(npz=True), rows.X.shape[0]
    if npz.looks_like(text):
        rows.Y, rows.label_names, rows.has_label_width = npz.parse_labels(text, source, options.classes)
        rows.classes = not rows.has_label_width  # a number that is exact is that of a matrix
    elif table.looks_like(text) or table.is_one_label(text):
        rows.Y, rows.label_names = table.parse_labels(text, source)
        rows.has_label_width = True
    else:
        rows.Y, header_line, rows.least_label = xmlc.parse_labels(text, source, n_rows, options)
        rows.has_label_width = header_line is not None
    if rows.Y.shape[0] != n_rows:
        found = f"it has {rows.Y.shape[0]:,} rows, but {rows.source} has {n_rows:,}"
        raise source.error(found, "Do both files belong together, training or test rows?")


def recognised(text, source: NamedSource) -> str:
    """Return the name of the format that a text has: a key of ``READERS``, or "auto" for XMLC or svmlight."""
    for name, reader in READERS.items():
        if reader is not xmlc and reader.looks_like(text):
            return name
    if other := other_format(text):
        found, remedy, argument = other
        raise source.error(found, remedy, argument=argument)
    return "auto"


@dataclass(frozen=True)
class FileHead:
    """A file as its beginning describes it; of an archive, its training rows."""

    format: str
    sizes: tuple[int, ...] | None = None  # of an XMLC header: rows, features and, if they are in this file, labels
    columns: list[str] | None = None  # names, or numbers from 1, of all features and labels
    n_likely: int = 0  # columns at the beginning, or at the end if negative, that seem to be labels
    n_declared: int = 0  # the same, as the file itself says it
    listing: str | None = None  # column that seems to list the labels of each row
    relation: str = ""  # what that of an ARFF file says of its data
    inside: dict[str, str] = field(default_factory=dict)  # names of an archive's files, see :func:`archived.roles`


def read_head(given, name: str | None = None) -> FileHead:
    """Describe a file by its beginning; an archive by that of its training rows."""
    source = NamedSource(given, name)
    inside, content = archived.beginning(source, _HEAD + 1)
    if inside:
        return replace(read_head(content, inside["train"]), inside=inside)
    text = source.head(_HEAD)
    if bytes(text[:6]).startswith(npz.MAGIC):
        return FileHead("npz")
    format = recognised(text, source)
    if format == "csv":
        return _head_of_table(text, source)
    if format == "arff":
        return _head_of_arff(text, source)
    if format != "auto":  # that is XMLC or svmlight
        return FileHead(format)
    sizes = xmlc.sizes_in_header(text, source)
    return FileHead("svmlight") if sizes is None else FileHead("xmlc", sizes)


def _head_of_table(text, source):
    form = table.form_of(text, source)
    first = int(table.has_index(form))
    ahead, last = table.binary_ends(form, first)
    columns = form.names[first:] if form.names else [str(i + 1) for i in range(form.n_columns - first)]
    likely = -last if last >= ahead else ahead
    return FileHead("csv", columns=columns, n_likely=likely, listing=None if likely else table.likely_listing(form))


def _head_of_arff(text, source):
    try:
        header = arff_header.read_header(text, source)
    except DatasetFormatError:
        return FileHead("arff")  # too long for the beginning, or wrong, which is said when the file is read
    ahead, last = arff.binary_ends(header)
    likely, said = -last if last >= ahead else ahead, arff.said_by(header)
    # The part of the relation that names the data: without MEKA's options and the filters of Weka.
    name = telling_name(re.split(r":|\s-[A-Za-z]\s|-weka\.", header.relation)[0].strip())
    name = "" if name.casefold() in ("multilabeldata", "multilabel", "relation", "unnamed") else name
    return FileHead("arff", columns=header.names, n_likely=likely, n_declared=said, relation=name)
