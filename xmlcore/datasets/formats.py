"""The formats that can be read: one table says which module reads each, and with which options."""

from types import ModuleType
from typing import NamedTuple

from xmlcore.datasets import xmlc
from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.datasets.recognise import other_format
from xmlcore.datasets.sources import read_text, source_name
from xmlcore.datasets.xmlc import Rows
from xmlcore.validation import check_count


class Reader(NamedTuple):
    """How a format is read.

    Attributes
    ----------
    module : module
        Its function ``parse(text, source=..., **options)`` returns :class:`Rows`. Its function ``looks_like(text)``
        returns whether a text has the format.
    options : tuple of str
        The options that ``parse`` takes, of those of :func:`xmlcore.datasets.read_matrix`.
    """

    module: ModuleType
    options: tuple[str, ...]


_TEXT_OPTIONS = ("format", "first_index")
# In the order in which a text of unknown format is compared with them. XMLC and svmlight come last: their parser tells
# the two apart, and its errors say what is wrong with a text that has no format at all.
READERS = {
    "xmlc": Reader(xmlc, _TEXT_OPTIONS),
    "svmlight": Reader(xmlc, _TEXT_OPTIONS),
}
_NEEDLESS = {  # why an option is refused by the formats that do not take it
    "labels": "is for formats that do not mark their labels: xmlc and svmlight have them in each row",
}


def read_rows(source, format="auto", labels=None, first_index=0, max_bytes=None, name=None) -> Rows:
    """Check the arguments of :func:`xmlcore.datasets.read_matrix`, and read the rows of one file."""
    if format not in ("auto", *READERS):
        formats = ", ".join(f'"{known}"' for known in READERS)
        raise ValueError(f'format {format!r} cannot be read: use one of {formats}, or "auto"')
    first_index = check_count(first_index, "first_index", 0, 1)
    text = read_text(source, max_bytes=max_bytes, name=name)
    source = source_name(source, name)
    reader = READERS[format if format != "auto" else _recognised(text, source)]
    options = {"format": format, "labels": labels, "first_index": first_index, "max_bytes": max_bytes}
    for option, why in _NEEDLESS.items():
        if option not in reader.options and options[option] is not None:
            raise ValueError(f"{option}= {why}")
    return reader.module.parse(text, source=source, **{option: options[option] for option in reader.options})


def _recognised(text, source) -> str:
    """Return the name of the format that a text has; raise DatasetFormatError if it is one that cannot be read."""
    for name, reader in READERS.items():
        if reader.module is not xmlc and reader.module.looks_like(text):
            return name
    other = other_format(text)
    if other is not None:
        found, remedy = other
        raise DatasetFormatError(source, found, remedy)
    return "xmlc"
