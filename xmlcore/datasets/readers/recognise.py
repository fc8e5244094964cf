"""Recognise text files of other formats, so that an error says what the file is."""

_HEAD = 1 << 16  # number of bytes that are looked at
TEXTS = "If it has texts with labels, read it with xmlcore.datasets.read_text_dataset."
REMEDY = (
    "These formats can be read: XMLC text, svmlight, ARFF, npz and CSV. Read your file with a tool that knows "
    'it, and write its features X and labels Y with xmlcore.datasets.write_matrix("data.txt", X, Y).'
)


def other_format(text) -> tuple[str, str] | None:
    """Return what a text is, such as "it is a JSON file", and what to do; None if unknown."""
    head = bytes(text[:_HEAD]).lstrip()
    lines = [line for line in head.splitlines()[:50] if line.strip() and not line.lstrip().startswith(b"%")]
    first = lines[0].strip() if lines else b""
    if first.startswith(b"%%MatrixMarket") or head.startswith(b"%%MatrixMarket"):
        return "it is a Matrix Market file", REMEDY
    if first.startswith((b"{", b"[")):
        return "it is a JSON file", f"{TEXTS} {REMEDY}"
    return None
