"""What the beginning of a file says of its format and its labels, before the file is read."""

import re
from dataclasses import dataclass, field, replace

from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.datasets.readers import archived, arff, arff_header, formats, npz, table, xmlc, xmlc_parts
from xmlcore.datasets.readers.sources import read_head, source_name, telling_name

_HEAD = 4 << 20  # number of bytes that are looked at


@dataclass(frozen=True)
class Look:
    """What the beginning of a file says: of an archive, its training rows."""

    format: str
    sizes: tuple[int, ...] | None = None  # of an XMLC header: rows, features and, if they are in this file, labels
    columns: list[str] | None = None  # names, or numbers from 1, of all features and labels
    n_likely: int = 0  # columns at the beginning, or at the end if negative, that seem to be labels
    n_said: int = 0  # the same, as the file itself says it
    listing: str | None = None  # column that seems to list the labels of each row
    relation: str = ""  # what that of an ARFF file says of its data
    inside: dict[str, str] = field(default_factory=dict)  # names of an archive's files, see :func:`archived.roles`


def look(source, name: str | None = None) -> Look:
    """Return what the beginning of a file says; of an archive, that of its training rows."""
    inside, content = archived.beginning(source, _HEAD + 1)
    if inside:
        return replace(look(content, inside["train"]), inside=inside)
    text, source = read_head(source, _HEAD, name), source_name(source, name)
    if bytes(text[:6]).startswith(npz.MAGIC):
        return Look("npz")
    format = formats.recognised(text, source)
    if format == "csv":
        return _table(text, source)
    if format == "arff":
        return _arff(text, source)
    if format != "auto":  # that is XMLC or svmlight
        return Look(format)
    start, line = xmlc.first_row(text, source)
    header = xmlc.header_at(text, start) or xmlc_parts.header_at(text, start)
    if header is None:
        return Look("svmlight")
    return Look("xmlc", tuple(int(number) for number in header.groups()))


def _table(text, source) -> Look:
    form = table.form_of(text, source)
    first = int(table.has_index(form))
    ahead, last = table.binary_ends(form, first)
    columns = form.names[first:] if form.names else [str(i + 1) for i in range(form.n_columns - first)]
    some = 0 < max(ahead, last) < len(columns)
    likely = 0 if not some else -last if last >= ahead else ahead
    return Look("csv", columns=columns, n_likely=likely, listing=None if likely else table.likely_listing(form))


def _arff(text, source) -> Look:
    try:
        header = arff_header.read_header(text, source)
    except DatasetFormatError:
        return Look("arff")  # too long for the beginning, or wrong, which is said when the file is read
    n_said = arff.said_by(header)
    ahead, last = arff.binary_ends(header)
    likely = -last if last >= ahead else ahead
    return Look("arff", columns=header.names, n_likely=likely, n_said=n_said, relation=_telling(header.relation))


def _telling(relation) -> str:
    """Return the part of an ARFF relation that names the data: without MEKA's options and the filters of Weka."""
    name = telling_name(re.split(r":|\s-[A-Za-z]\s|-weka\.", relation)[0].strip())
    return "" if name.casefold() in ("multilabeldata", "multilabel", "relation", "unnamed") else name
