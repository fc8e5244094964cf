"""Recognise files of other kinds, so that an error says what the file is, and what to do."""

import re

_HEAD = 1 << 16  # bytes read to recognise a file
READ_TEXTS = "xmlcore.datasets.read_text_dataset"  # what reads texts, for errors that advise it
TEXTS = "Texts with labels have a reader of their own."
REMEDY = "Convert it, with a tool that knows it, to a format that can be read: XMLC text, svmlight, ARFF, npz or CSV."
NPY = b"\x93NUMPY"  # with which a file with one array begins
EMPTY = "it is empty"  # what DatasetFormatError.found says of an empty source
_ITSELF, _UTF_8 = "Give the text file itself.", "Save the file as UTF-8."
_NOT_TEXT = {  # first bytes of files that are not text, and what they are, by what to do
    _ITSELF: (
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF", "a PDF document"),
        (b"\x7fELF", "a program"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"Rar!", "a RAR archive"),
        (b"\x28\xb5\x2f\xfd", "Zstandard data"),
        (b"\x1f\x8b", "gzip data within compressed data"),
        (b"BZh", "bzip2 data within compressed data"),
        (b"\xfd7zXZ\x00", "xz data within compressed data"),
        (b"PK\x03\x04", "a zip archive within compressed data"),
        (b"{\\rtf", "an RTF document"),
        ((b"\0\x05\x16\x07", b"\0\0\0\x01Bud1"), "a file that macOS added, with no data of yours"),
    ),
    _UTF_8: (((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff"), "UTF-32 text"), ((b"\xff\xfe", b"\xfe\xff"), "UTF-16 text")),
    f"{REMEDY} {TEXTS}": ((b"PAR1", "a Parquet file"),),
    REMEDY: (
        ((b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file"), "a MATLAB file"),
        (b"\x89HDF", "an HDF5 file"),
        (NPY, "a NumPy array file"),
        (b"\xd0\xcf\x11\xe0", "an Excel or Word file of before 2007, or one with a password"),
        (b"SQLite format 3\x00", "an SQLite database"),
        (tuple(bytes([0x80, protocol]) for protocol in range(2, 6)), "a Python pickle"),
        ((b"RDX2\n", b"RDX3\n", b"RDA2\n", b"RDA3\n"), "an R workspace (.RData)"),
        (b"X\n\0\0\0", "an R object (.rds)"),
        ((b"ARROW1\0", b"FEA1", b"\xff\xff\xff\xff"), "an Arrow or Feather file"),
        (b"<stata_dta>", "a Stata file"),
        (b"$FL2", "an SPSS file"),
        ((b"---\n", b"---\r\n", b"%YAML"), "a YAML file"),
        (b"Obj\x01", "an Avro file"),
    ),
}
_RDF = (
    (re.compile(rb"@?(?i:prefix\s+[\w.-]*:|base)\s*<"), "Turtle"),
    (re.compile(rb"(<[^<>\s]+>|_:\S+)\s+(a|<[^<>\s]+>)\s+[<\"_].*[.;,]\s*$", re.MULTILINE), "N-Triples or Turtle"),
    (re.compile(rb"(<\?xml[^>]*>\s*)?(<!DOCTYPE[^>\[]*(\[[^\]]*\])?>\s*)?<rdf:RDF\b"), "RDF/XML"),
    (re.compile(rb'\[\s*+\{\s*+"@\w|\{[^\S\n]*+\n\s*+"@\w|\{\s*+"@(context|graph)"'), "JSON-LD"),
)
_OF_RDF = "Have rdflib write a table of its subjects' names: the documentation of file formats has the lines to run."
# Texts of other kinds by their beginning, without comments: what they are, and what to do.
_OTHER_TEXT = (
    *((pattern, f"RDF in {kind}, such as a SKOS vocabulary", _OF_RDF) for pattern, kind in _RDF),
    (
        re.compile(rb"(?i)<!doctype|<html|<\?xml"),
        "a web page or XML, not rows of text",
        "Was it a download that failed? Give the data file.",
    ),
    (re.compile(rb"(\0[^\0]){4}|([^\0]\0){4}"), "UTF-16 text, not rows of UTF-8 text", _UTF_8),
    (re.compile(rb"A\r?\n[23]\r?\n[0-9]{5,6}\r?\n[0-9]{5,6}\r?\n"), "an R object (.rds) written as ASCII", REMEDY),
)
_COMMENTS = re.compile(rb"(\s*#[^\n]*(\n|$))*\s*")


def other_format(text) -> tuple[str, str, str | None] | None:
    """Return the kind of a text, such as "it is a JSON file", a remedy, and the argument for it; None if unknown."""
    head = bytes(text[:_HEAD]).lstrip()
    lines = [line for line in head.splitlines()[:50] if line.strip() and not line.lstrip().startswith(b"%")]
    first = lines[0].strip() if lines else b""
    if first.startswith(b"%%MatrixMarket") or head.startswith(b"%%MatrixMarket"):
        return "it is a Matrix Market file", REMEDY, None
    if first.startswith((b"{", b"[")):
        return "it is a JSON file", f"{REMEDY} {TEXTS}", READ_TEXTS
    if re.search(rb"(^|\s)__label__\S", first):
        return "it is a fastText file, of texts with __label__ before each label", TEXTS, READ_TEXTS
    return None


def is_npz(names) -> bool:
    return bool(names) and all(name.endswith(".npy") for name in names)


def archive_kind(names) -> str | None:
    """Return the kind of a program's file that is a zip archive with files of these names."""
    if is_npz(names):
        return "a NumPy archive (npz) with the arrays " + ", ".join(name.removesuffix(".npy") for name in names[:8])
    if "xl/workbook.bin" in names:
        return "a binary Excel workbook (.xlsb)"
    if "word/document.xml" in names:
        return "a Word document"
    if {"mimetype", "content.xml"} <= {*names}:
        return "an OpenDocument file, such as an ods table"
    return None


def check_text(text, source) -> None:
    """Raise DatasetFormatError for a text that is empty, no text, or text of another kind."""
    if text.size == 0:
        raise source.error(EMPTY, "Give a file with one row per line.")
    head = text[:4096].tobytes()
    if head[257:262] == b"ustar":
        raise source.error("it is a compressed tar archive", "Unpack it and give one of its files.")
    for remedy, files in _NOT_TEXT.items():
        for magic, kind in files:
            if head.startswith(magic):
                argument = READ_TEXTS if remedy.endswith(TEXTS) else None
                raise source.error(f"it is {kind}, not rows of UTF-8 text", remedy, argument=argument)
    start = head[_COMMENTS.match(head).end() :]
    if start.startswith(b"<") and re.search(rb"<labels[\s>]", start):
        found = "it is a Mulan XML file, which names the labels of an ARFF file"
        raise source.error(found, "Give the ARFF file, and this one as its labels.", argument="labels")
    for pattern, kind, remedy in _OTHER_TEXT:
        if pattern.match(start):
            raise source.error(f"it is {kind}", remedy)
    _check_characters(text, head, source)


def _check_characters(text, head, source) -> None:
    zero = head.find(b"\x00")
    if zero >= 0:
        place = head.count(b"\n", 0, zero) + 1, zero - head.rfind(b"\n", 0, zero)
        raise source.error(f"it holds binary data (a NUL byte, after {head[:16]!r})", "Give rows of text.", *place)
    if not re.search(rb"\n", text) and b"\r" in text.tobytes().strip():
        found = "its lines end with a carriage return (CR) alone, as on old Macs"
        raise source.error(found, "Save it with line ends LF or CRLF.")
