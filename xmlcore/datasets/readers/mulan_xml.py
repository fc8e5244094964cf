"""Read the names of labels from the XML file that comes with a Mulan data set."""

import re
from xml.parsers import expat

from xmlcore.datasets.errors import DatasetFormatError, warn
from xmlcore.datasets.readers.sources import read_text, source_name

_BOUND = 256 << 20  # largest size of such a file in bytes
_FORM = 'A Mulan file looks like <labels><label name="first"></label><label name="second"></label></labels>.'


class _Refused(Exception):
    """What is wrong with the XML, other than its syntax."""


def label_names(source, name: str | None = None) -> list[str]:
    """Return the names of the labels in a Mulan XML file, in its order; a DOCTYPE, which may be huge, is refused."""
    label = source_name(source, name)
    if label == "data":
        label = "labels"
    content = read_text(source, max_bytes=_BOUND, name=label, any_text=True).tobytes()
    if not content.strip():
        raise DatasetFormatError(label, "it is empty", _FORM)
    if not re.match(rb"\s*<|\xfe\xff|\xff\xfe|<\x00|\x00<", content):
        raise DatasetFormatError(label, "it is not XML", f"Labels come from Mulan's XML file. {_FORM}")
    try:
        names = _parse(content, label, None)
    except expat.ExpatError as error:
        names = _parse_again(content, label, error)
    if not names:
        raise DatasetFormatError(label, "it names no labels", _FORM)
    return names


def _parse_again(content, label, error):
    """Read XML that says it is UTF-8 but is not; raise DatasetFormatError if there is another reason for the error."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        try:
            names = _parse(content, label, "iso-8859-1")
        except expat.ExpatError:
            pass
        else:
            warn(f"{label}: it is not written in the encoding that it declares, so its names were read as Latin-1")
            return names
    fault = expat.errors.messages[error.code] if error.code in expat.errors.messages else str(error)
    remedy = f"In a name, write &amp; for & and &lt; for <. {_FORM}"
    raise DatasetFormatError(label, f"it is not valid XML ({fault})", remedy, error.lineno, error.offset + 1) from error


def _parse(content, label, encoding):
    """Return the names of labels; raise ExpatError if the text is not XML, or DatasetFormatError."""
    parser = expat.ParserCreate(encoding)  # without namespaces: it would copy a long one for each element
    names, seen = [], set()
    depth = 0

    def start(tag, attributes):
        nonlocal depth
        tag = tag.rpartition(":")[2].lower()
        if depth == 0 and tag != "labels":
            raise _Refused(f"its first element is <{tag[:40]}>, not <labels>")
        if tag == "label":
            name = attributes.get("name")
            if name is None:
                raise _Refused("a <label> without a name")
            if name in seen:
                raise _Refused(f"the label {name[:40]!r} is named twice")
            seen.add(name)
            names.append(name)
        depth += 1

    def end(_):
        nonlocal depth
        depth -= 1

    def doctype(*_):
        raise _Refused("it has a DOCTYPE, which is not read for safety")

    parser.StartElementHandler, parser.EndElementHandler, parser.StartDoctypeDeclHandler = start, end, doctype
    try:
        parser.Parse(content, True)
    except _Refused as refused:
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        raise DatasetFormatError(label, str(refused), _FORM, line, column) from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not know, or one of several bytes
        raise DatasetFormatError(label, f"its encoding cannot be read ({error})", "Save it as UTF-8.", 1) from error
    return names
