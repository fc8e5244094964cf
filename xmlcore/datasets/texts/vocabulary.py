"""Vocabularies: the names of subjects by their URIs, as Annif writes them."""

from dataclasses import replace
from typing import Any

from xmlcore.datasets.errors import DatasetFormatError, warn
from xmlcore.datasets.readers.label_cells import uris_in
from xmlcore.datasets.readers.sources import source_name
from xmlcore.datasets.texts import records
from xmlcore.datasets.texts.guess import look
from xmlcore.progress import silent
from xmlcore.typing import Source


def read_vocabulary(
    source: Source, language: str | None = None, *, encoding: str = "utf-8", name: str | None = None
) -> dict[str, Any]:
    """Read the names of subjects by their URIs.

    Parameters
    ----------
    source : path, bytes, or binary file object
        Annif's vocabularies: TSV with ``<uri>``, a tab and a name in each line, or CSV with the columns ``uri`` and
        ``label_en`` (or of another language, or ``label``). Other columns are not read. May be compressed.
    language : str, optional
        The language of the names, of a CSV file with several: "en" for the column ``label_en``.
    encoding : str
    name : str, optional
        Name of the source in errors.

    Returns
    -------
    dict of str to str
        A name for each URI, which is without angle brackets.

    Raises
    ------
    DatasetFormatError
        The file is none of these, or names no subject.

    Warns
    -----
    DatasetWarning
        A URI occurs more than once (its first name counts), or has no name (and keeps its URI).
    """
    label = source_name(source, name)
    guess, _ = look(source, "auto", encoding, "auto", "auto", "auto", label)
    if guess.format not in ("csv", "tsv"):
        raise DatasetFormatError(label, f"it is no vocabulary, but {guess.format}", _REMEDY)
    uri, named = _columns(guess, language, label)
    form = guess.form
    if not form.header and form.delimiter == "\t":  # some lines may have a notation behind the name
        form = replace(form, quoted=False, columns=("1", "2"))
    found, again, bare = {}, [], []
    for place, (key, value) in records.records(source, form, (uri, named), label, None, silent):
        key, value = key.strip().removeprefix("<").removesuffix(">").strip(), value.split("\t")[0].strip()
        if not key:
            raise place.error("it has a name without a URI", _REMEDY)
        if key in found:
            again.append((key, place))
        elif not value:
            bare.append((key, place))
        else:
            found[key] = value
    if not found:
        raise DatasetFormatError(label, "it names no subject", _REMEDY)
    for those, problem in ((again, "twice: its first name counts"), (bare, "without a name: the URI is kept")):
        if those:
            more = f" and {len(those) - 1:,} more" if len(those) > 1 else ""
            warn(f"{label}: {those[0][0]} in {those[0][1]}{more} {problem}")
    return found


_REMEDY = "Give TSV with <uri>, a tab and a name in each line, or CSV with the columns uri and label_en."


def _columns(guess, language, label) -> tuple[str, str]:
    lower = {}
    for column in guess.columns:
        lower.setdefault(column.lower(), column)
    if not guess.form.header:
        if len(guess.columns) < 2:
            raise DatasetFormatError(label, "its lines have one cell", _REMEDY)
        if guess.rows and uris_in(guess.rows[0][guess.columns[0]]) is None:
            raise DatasetFormatError(label, f"its lines start with {guess.rows[0][guess.columns[0]]!r:.40}", _REMEDY)
        return guess.columns[0], guess.columns[1]
    labels = {column: lower[column] for column in lower if column == "label" or column.startswith("label_")}
    if "uri" not in lower or not labels:
        raise DatasetFormatError(label, f"its columns are {', '.join(guess.columns[:8])}", _REMEDY, 1)
    if language is not None:
        if f"label_{language.lower()}" not in labels:
            has = ", ".join(labels)
            raise DatasetFormatError(label, f"it has no names in {language!r:.200}", f"It has the columns {has}.", 1)
        return lower["uri"], labels[f"label_{language.lower()}"]
    first = next(name for name in ("label", "label_en", *labels) if name in labels)
    if len(labels) > 1:
        others = ", ".join(sorted(name.removeprefix("label_") for name in labels if name != first))
        warn(f"{label}: names are those of the column {first}; language= chooses another: {others}")
    return lower["uri"], labels[first]
