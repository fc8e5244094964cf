"""What the beginning of a file says of its format and its labels, before the file is read."""

import re
from dataclasses import dataclass, field, replace

from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.datasets.readers import archived, arff, arff_header, formats, npz, table, xmlc, xmlc_parts
from xmlcore.datasets.readers.sources import read_head, source_name, telling_name

_HEAD = 4 << 20  # number of bytes that are looked at


@dataclass(frozen=True)
class Look:
    """What the beginning of a file says.

    Attributes
    ----------
    format : str
        "xmlc", "svmlight", "npz", "arff" or "csv".
    sizes : tuple of int, or None
        The numbers of an XMLC header: rows, features and labels, or rows and features if the labels are elsewhere.
    columns : list of str, or None
        The names of all columns of features and labels, or their numbers from 1 as text; None if the format has no
        columns, or the names are not all in the beginning.
    n_likely : int
        How many columns at the beginning seem to be labels, or at the end if it is negative; 0 if none do.
    n_said : int
        The same, if the file itself says so; 0 if it does not.
    listing : str or None
        Name of a column that seems to list the labels of each row.
    relation : str
        What the relation of an ARFF file says of its data; empty if it says nothing, or for other formats.
    inside : dict of str to str
        For an archive of several files their names, by what they are: see :func:`archived.roles`. All
        else is said of the training rows.
    """

    format: str
    sizes: tuple[int, ...] | None = None
    columns: list[str] | None = None
    n_likely: int = 0
    n_said: int = 0
    listing: str | None = None
    relation: str = ""
    inside: dict[str, str] = field(default_factory=dict)


def look(source, name: str | None = None) -> Look:
    inside, content = archived.beginning(source, _HEAD + 1)
    if inside:
        return replace(look(content, inside["train"]), inside=inside)
    text, source = read_head(source, _HEAD, name), source_name(source, name)
    if bytes(text[: len(npz.MAGIC)]) == npz.MAGIC:
        return Look("npz")
    found = formats.recognised(text, source)
    if found == "csv":
        return _table(text, source)
    if found == "arff":
        return _arff(text, source)
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
    said = arff.said_by(header)
    ahead, last = arff.binary_ends(header)
    likely = -last if last >= ahead else ahead
    return Look("arff", columns=header.names, n_likely=likely, n_said=said, relation=_telling(header.relation))


def _telling(relation) -> str:
    """Return the part of an ARFF relation that names the data: without MEKA's options and the filters of Weka."""
    name = telling_name(re.split(r":|\s-[A-Za-z]\s|-weka\.", relation)[0].strip())
    return "" if name.casefold() in ("multilabeldata", "multilabel", "relation", "unnamed") else name
