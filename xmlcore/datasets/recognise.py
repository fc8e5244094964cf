"""Recognise text files of other formats, so that an error says what the file is."""

import re

_HEAD = 1 << 16  # number of bytes that are looked at, except to count the attributes of an ARFF file
_REMEDY = (
    "These formats can be read: the XMLC text format, svmlight, npz and CSV. Read your file with a tool that knows it, "
    'and write its features X and labels Y with xmlcore.datasets.write_matrix("data.txt", X, Y).'
)


def other_format(text) -> tuple[str, str] | None:
    """Return what a text is, such as "it is an ARFF file with 72 attributes", and what to do; None if unknown.

    Parameters
    ----------
    text : ndarray of uint8
        The whole text.
    """
    head = bytes(text[:_HEAD]).lstrip()
    lines = [line for line in head.splitlines()[:50] if line.strip() and not line.lstrip().startswith(b"%")]
    first = lines[0].strip() if lines else b""
    if first.lower().startswith(b"@relation"):
        count = _attributes(text)
        return f"it is an ARFF file with {count:,} attribute{'s' if count != 1 else ''}", _REMEDY
    if first.startswith(b"%%MatrixMarket") or head.startswith(b"%%MatrixMarket"):
        return "it is a Matrix Market file", _REMEDY
    if first.startswith((b"{", b"[")):
        return "it is a JSON file", _REMEDY
    return None


def _attributes(text) -> int:
    """Return the number of attributes that the head of an ARFF file declares."""
    whole = bytes(text)
    end = re.search(rb"^\s*@data\b", whole, re.IGNORECASE | re.MULTILINE)
    return len(re.findall(rb"^\s*@attribute\b", whole[: end.start() if end else None], re.IGNORECASE | re.MULTILINE))
