"""Recognise files of other kinds, so that an error says what the file is, and what to do."""

import re

from xmlcore.datasets.errors import DatasetFormatError

_HEAD = 1 << 16  # number of bytes that are looked at
TEXTS = "If it has texts with labels, read it with xmlcore.datasets.read_text_dataset."
REMEDY = (
    "These formats can be read: XMLC text, svmlight, ARFF, npz and CSV. Read your file with a tool that knows "
    'it, and write its features X and labels Y with xmlcore.datasets.write_matrix("data.txt", X, Y).'
)
NPY = b"\x93NUMPY"  # with which a file with one array begins
EMPTY = "it is empty"  # what DatasetFormatError.found says of an empty source
_NOT_TEXT = (  # first bytes of files that are not text, and what they are
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PAR1", "a Parquet file"),
    ((b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file"), "a MATLAB file"),
    (b"\x89HDF", "an HDF5 file"),
    (NPY, "a NumPy array file"),
    (b"\x7fELF", "a program"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data"),
    (b"\x1f\x8b", "gzip data within compressed data"),
    (b"BZh", "bzip2 data within compressed data"),
    (b"\xfd7zXZ\x00", "xz data within compressed data"),
    (b"PK\x03\x04", "a zip archive within compressed data"),
    ((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff"), "UTF-32 text"),
    ((b"\xff\xfe", b"\xfe\xff"), "UTF-16 text"),
    (b"\xd0\xcf\x11\xe0", "an Excel or Word file of before 2007"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (tuple(bytes([0x80, protocol]) for protocol in range(2, 6)), "a Python pickle"),
    ((b"RDX2\n", b"RDX3\n", b"RDA2\n", b"RDA3\n"), "an R workspace (.RData)"),
    (b"X\n\0\0\0", "an R object (.rds)"),
    ((b"ARROW1\0", b"FEA1", b"\xff\xff\xff\xff"), "an Arrow or Feather file"),
    (b"<stata_dta>", "a Stata file"),
    (b"$FL2", "an SPSS file"),
    ((b"---\n", b"---\r\n", b"%YAML"), "a YAML file"),
    (b"Obj\x01", "an Avro file"),
    (b"{\\rtf", "an RTF document"),
    ((b"\0\x05\x16\x07", b"\0\0\0\x01Bud1"), "a file that macOS added, with no data of yours"),
)
# In the names of such files.
_OF_DATA = ("Parquet", "MATLAB", "HDF5", "NumPy", "Excel", "SQLite", "pickle", "an R ", "Arrow", "Avro")
_OF_DATA += ("Stata", "SPSS", "YAML")
_RDF = (
    (re.compile(rb"@?(?i:prefix\s+[\w.-]*:|base)\s*<"), "Turtle"),
    (re.compile(rb"(<[^<>\s]+>|_:\S+)\s+(a|<[^<>\s]+>)\s+[<\"_].*[.;,]\s*$", re.MULTILINE), "N-Triples or Turtle"),
    (re.compile(rb"(<\?xml[^>]*>\s*)?(<!DOCTYPE[^>\[]*(\[[^\]]*\])?>\s*)?<rdf:RDF\b"), "RDF/XML"),
    (re.compile(rb'\[\s*+\{\s*+"@\w|\{[^\S\n]*+\n\s*+"@\w|\{\s*+"@(context|graph)"'), "JSON-LD"),
)
_OF_RDF = "Have rdflib write a table of its subjects' names: the documentation of file formats has the lines to run."


def other_format(text) -> tuple[str, str] | None:
    """Return what a text is, such as "it is a JSON file", and what to do; None if unknown."""
    head = bytes(text[:_HEAD]).lstrip()
    lines = [line for line in head.splitlines()[:50] if line.strip() and not line.lstrip().startswith(b"%")]
    first = lines[0].strip() if lines else b""
    if first.startswith(b"%%MatrixMarket") or head.startswith(b"%%MatrixMarket"):
        return "it is a Matrix Market file", REMEDY
    if first.startswith((b"{", b"[")):
        return "it is a JSON file", f"{TEXTS} {REMEDY}"
    if re.search(rb"(^|\s)__label__\S", first):
        return "it is a fastText file, of texts with __label__ before each label", f"{TEXTS} {REMEDY}"
    return None


def is_npz(names) -> bool:
    return bool(names) and all(name.endswith(".npy") for name in names)


def archive_kind(names) -> str | None:
    """Return what a zip archive with files of these names is, if it is a file of a program."""
    if is_npz(names):
        return "a NumPy archive (npz) with the arrays " + ", ".join(name.removesuffix(".npy") for name in names[:8])
    if {"xl/workbook.xml", "xl/workbook.bin"} & {*names}:
        return "an Excel workbook"
    if "word/document.xml" in names:
        return "a Word document"
    if {"mimetype", "content.xml"} <= {*names}:
        return "an OpenDocument file, such as an ods table"
    return None


def check_text(text, label) -> None:
    if text.size == 0:
        raise DatasetFormatError(label, EMPTY, "Give a file with one row per line.")
    head = text[:4096].tobytes()
    if head[257:262] == b"ustar":
        raise DatasetFormatError(label, "it is a compressed tar archive", "Unpack it and give one of its files.")
    for magic, kind in _NOT_TEXT:
        if head.startswith(magic):
            remedy = "Save the file as UTF-8." if kind.startswith("UTF-") else "Give the text file itself."
            remedy = REMEDY if any(word in kind for word in _OF_DATA) else remedy
            remedy = f"{TEXTS} {REMEDY}" if "Parquet" in kind else remedy
            raise DatasetFormatError(label, f"it is {kind}, not rows of UTF-8 text", remedy)
    start = re.sub(rb"^(\s*#[^\n]*(\n|$))*\s*", b"", head)  # without comments
    for pattern, kind in _RDF:
        if pattern.match(start):
            raise DatasetFormatError(label, f"it is RDF in {kind}, such as a SKOS vocabulary", _OF_RDF)
    if head.lstrip().startswith(b"<") and re.search(rb"<labels[\s>]", head):
        raise DatasetFormatError(
            label,
            "it is a Mulan XML file, which names the labels of an ARFF file",
            "Give the ARFF file, and this one as labels=...",
        )
    if head.lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        raise DatasetFormatError(
            label, "it is a web page or XML, not rows of text", "Was it a download that failed? Give the data file."
        )
    if re.match(rb"(\0[^\0]){4}|([^\0]\0){4}", head):
        raise DatasetFormatError(label, "it is UTF-16 text, not rows of UTF-8 text", "Save the file as UTF-8.")
    zero = head.find(b"\x00")
    if zero >= 0:
        line = head.count(b"\n", 0, zero) + 1
        raise DatasetFormatError(
            label,
            f"it holds binary data (a NUL byte, after {head[:16]!r})",
            "Give rows of text.",
            line,
            zero - head.rfind(b"\n", 0, zero),
        )
    if not re.search(rb"\n", text) and b"\r" in text.tobytes().strip():
        raise DatasetFormatError(
            label,
            "its lines end with a carriage return (CR) alone, as on old Macs",
            "Save it with line ends LF or CRLF.",
        )
