"""Names of features and labels: how they are read, shown, and what is unusual about them."""

import csv
import re
from collections import Counter
from itertools import repeat
from xml.parsers import expat

import numpy as np

from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.datasets.readers.recognise import EMPTY
from xmlcore.datasets.readers.sources import NamedSource, is_source
from xmlcore.validation import check_names
from xmlcore.wording import listed

ONE_PER_LINE = "Give one name per line, in the order of the {} ids."
_SHOWN = 3  # most examples that a warning names
_BOUND = 256 << 20  # largest size of such a file in bytes
_FORM = 'A Mulan file looks like <labels><label name="first"></label><label name="second"></label></labels>.'
_BLANK = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]")
# Control characters, and those that turn the direction of what follows; marks of languages written from right to left,
# and the joiners of letters and of emoji, stay.
_HIDDEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def visible(name: str) -> str:
    """Return a name with a blank for each line break or tab, and with � for each control character."""
    return _HIDDEN.sub("�", _BLANK.sub(" ", name))


def all_visible(names: list[str] | None) -> tuple[list[str] | None, int]:
    """Return names as :func:`visible` returns each, and how many of them have changed."""
    if names is None:
        return None, 0
    shown = [name if name.isprintable() else visible(name) for name in names]
    return shown, sum(a != b for a, b in zip(names, shown))


def read_names(given, field: str, max_bytes: int | None = _BOUND) -> tuple[list[str], NamedSource | None]:
    """Return names of features or labels as a list, and the file that they are from; None if that is a list."""
    if not is_source(given):
        return check_names(given, field), None
    source = NamedSource(given, max_bytes=max_bytes, unnamed=field)
    try:
        content = source.text().tobytes()
    except DatasetFormatError as error:
        if error.found != EMPTY:
            raise
        of_names = field.endswith("_names")
        remedy = ONE_PER_LINE.format(field.removesuffix("_names")) if of_names else "Is it the right file?"
        raise source.error(EMPTY, remedy) from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        place = content.count(b"\n", 0, error.start) + 1, error.start - content.rfind(b"\n", 0, error.start)
        found = f"the byte 0x{content[error.start]:02x} is not UTF-8"
        raise source.error(found, "Save the file as UTF-8.", *place) from error
    return [name.strip() for name in text.removesuffix("\n").split("\n")], source


def read_label_table(given) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return what is above labels, and further names of them with the label of each (docs/formats.md)."""
    lines, source = read_names(given, "label_table")
    for delimiter in "\t;,":
        columns = [name.strip().lower() for name in next(csv.reader(lines[:1], delimiter=delimiter), ())]
        if "label" in columns and {"parent", "aliases"} & {*columns}:
            break
    else:
        return _above(read_pairs(lines, source)), {}
    pairs, aliases, labels = [], {}, set()
    for number, cells in enumerate(csv.reader([f"{line}\n" for line in lines[1:]], delimiter=delimiter), 2):
        if len(cells) > len(columns):
            found = f"it has {len(cells):,} cells, but the table has {len(columns):,} columns"
            raise source.error(found, "Put quotation marks around a cell with several names.", number)
        row = dict(zip(columns, map(str.strip, cells)))
        label = row.get("label")
        above, others = (
            [part for one in row.get(of, "").split(";") if (part := one.strip())] for of in ("parent", "aliases")
        )
        if not label and (above or others):
            raise source.error("it has no label", "Write the label into the column label.", number)
        pairs += zip(repeat(label), above)
        for other in others:
            if other != label and aliases.setdefault(other, label) != label:
                found = f"{other!r:.80} is a further name of {aliases[other]!r:.80} and of {label!r:.80}"
                raise source.error(found, "Give each further name to one label.", number)
        labels.add(label)
    if twice := sorted(labels & aliases.keys()):
        found = f"{twice[0]!r:.80} is a further name of {aliases[twice[0]]!r:.80}, and a label with a line of its own"
        raise source.error(found, "Leave out one of the two.")
    return {label: tuple(aliases.get(one, one) for one in above) for label, above in _above(pairs).items()}, aliases


def _above(pairs) -> dict[str, tuple[str, ...]]:
    """Return the second names of pairs for each first one, in their order, once each."""
    found = {}
    for label, above in dict.fromkeys(pairs):
        found[label] = (*found.get(label, ()), above)
    return found


def read_pairs(lines: list[str], source: NamedSource) -> list[tuple[str, str]]:
    """Return the two names in each line of a file that is not blank."""
    pairs = []
    for number, line in enumerate(lines, 1):
        name, _, other = (part.strip() for part in line.partition("\t"))
        if name and other:
            pairs.append((name, other))
        elif name:
            raise source.error(f"it has one name, {name!r:.60}", "Write two in each line, with a tab between.", number)
    return pairs


class _Refused(Exception):
    """The XML is refused for another reason than its syntax."""


def xml_label_names(given) -> list[str]:
    """Return the names of the labels in a Mulan XML file, in its order; a DOCTYPE, which may be huge, is refused."""
    source = NamedSource(given, max_bytes=_BOUND, unnamed="labels")
    content = source.text(any_text=True).tobytes()
    if not content.strip():
        raise source.error(EMPTY, _FORM)
    if not re.match(rb"\s*<|\xfe\xff|\xff\xfe|<\x00|\x00<", content):
        raise source.error("it is not XML", f"Labels come from Mulan's XML file. {_FORM}")
    try:
        names = _parse(content, source, None)
    except expat.ExpatError as error:
        names = _parse_again(content, source, error)
    if not names:
        raise source.error("it names no labels", _FORM)
    return names


def _parse_again(content, source, error):
    """Read XML that says it is UTF-8 but is not; raise DatasetFormatError if there is another reason for the error."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        try:
            names = _parse(content, source, "iso-8859-1")
        except expat.ExpatError:
            pass
        else:
            source.warn("it is not written in the encoding that it declares, so its names were read as Latin-1")
            return names
    fault = expat.errors.messages[error.code] if error.code in expat.errors.messages else str(error)
    remedy = f"In a name, write &amp; for & and &lt; for <. {_FORM}"
    raise source.error(f"it is not valid XML ({fault})", remedy, error.lineno, error.offset + 1) from error


def _parse(content, source, encoding):
    """Return the names of labels; raise ExpatError if the text is not XML, or DatasetFormatError."""
    parser = expat.ParserCreate(encoding)  # without namespaces: it would copy a long one for each element
    names, depth = {}, 0

    def start(tag, attributes):
        nonlocal depth
        tag = tag.rpartition(":")[2].lower()
        if depth == 0 and tag != "labels":
            raise _Refused(f"its first element is <{tag[:40]}>, not <labels>")
        if tag == "label":
            name = attributes.get("name")
            if name is None:
                raise _Refused("a <label> without a name")
            if name in names:
                raise _Refused(f"the label {name[:40]!r} is named twice")
            names[name] = None
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
        raise source.error(str(refused), _FORM, line, column) from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not know, or one of several bytes
        raise source.error(f"its encoding cannot be read ({error})", "Save it as UTF-8.", 1) from error
    return list(names)


def remark(parts, feature_names, label_names) -> None:
    """Warn of names that stand for two things, and of labels that all rows have or, in tables and ARFF, none."""
    source = parts[0].source
    for noun, names in (("label", label_names), ("feature", feature_names)):
        _warn_of_repeated(source, noun, names)
    if feature_names is not None and label_names is not None:
        both = sorted(set(feature_names) & set(label_names))
        if both:
            count = "a label is" if len(both) == 1 else f"{len(both):,} labels are"
            source.warn(f"{count} named like a feature: {listed(map(repr, both))}. Is it among the features too?")
    if (n_rows := sum(part.Y.shape[0] for part in parts)) > 1:
        # Not counted by column, as there may be billions of labels.
        labels, counts = np.unique(np.concatenate([part.Y.indices for part in parts]), return_counts=True)
        _warn_of_constant(source, labels[counts == n_rows], label_names, "every row has")
    if parts[0].format in ("arff", "csv"):  # there each label has a column; elsewhere ids without rows are usual
        counts = sum(np.bincount(part.Y.indices, minlength=part.Y.shape[1]) for part in parts)
        _warn_of_constant(source, np.flatnonzero(counts == 0), label_names, "no row has")


def _warn_of_constant(source, labels, names, which):
    if labels.size:
        shown = (j if names is None else repr(names[j]) for j in labels[:_SHOWN].tolist())
        count = "a label that" if labels.size == 1 else f"{labels.size:,} labels that"
        source.warn(f"there {'is' if labels.size == 1 else 'are'} {count} {which}: {listed(shown, labels.size)}")


def _warn_of_repeated(source, noun, names):
    """Warn if two labels or two features have one name."""
    if names is None or len(set(names)) == len(names):
        return
    repeated = [name for name, count in Counter(names).items() if count > 1]
    places = (j for j, name in enumerate(names) if name == repeated[0])
    are = f"a {noun} name is" if len(repeated) == 1 else f"{len(repeated):,} {noun} names are"
    first = f"{listed([repr(repeated[0])])} stands for the {noun}s {listed(places)}"
    source.warn(f"{are} not unique: {first}. Ids tell them apart.")
