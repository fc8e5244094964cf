"""Data sets in one zip archive: Mulan's, with the XML file of the labels, and the Extreme Classification Repository's,
with files of row numbers, or with features and labels in two files.
"""

import io
import re
from pathlib import PurePosixPath

from xmlcore.datasets.readers.names import visible
from xmlcore.datasets.readers.sources import ADDED, NamedSource, reading_zip

DATA = (".txt", ".svm", ".libsvm", ".dat", ".arff", ".npz", ".csv")  # endings of files with rows
PACKED = (".gz", ".bz2", ".xz")
PART = {
    "train": re.compile(r"(^|[^a-z])(train|training|trn)([^a-z]|$)"),
    "test": re.compile(r"(^|[^a-z])(test|tst)([^a-z]|$)"),
}
SPLIT = {"train": re.compile(r"tr(ain)?_?split"), "test": re.compile(r"te?st_?split")}  # files of row numbers
# Files of features alone and of labels alone, such as trn_X_Xf.txt and trn_X_Y.txt.
_HALF = {"X": re.compile(r"(^|[^a-z])x_?xf?\.txt"), "Y": re.compile(r"(^|[^a-z])x_?y\.txt")}
_NAMES = {  # files with a name per line, as the dashboard writes them
    "label_names": re.compile(r"labels?([_-]names?)?\.txt"),
    "feature_names": re.compile(r"features?([_-]names?)?\.txt"),
}


class ArchiveMember(io.BytesIO):
    """The content of a file of an archive, with the name of the file."""

    def __init__(self, name: str, content: bytes):
        super().__init__(content)
        self.name = name


def bare(name: str) -> str:
    """Return the name of a file in lower case, without its folder and the ending of a compressed file."""
    name = PurePosixPath(name.replace("\\", "/")).name.lower()
    return next((name.removesuffix(ending) for ending in PACKED if name.endswith(ending)), name)


def is_about(name: str) -> bool:
    """Return whether a file is about the data, judged by its name as :func:`bare` returns it."""
    return name.startswith(("readme", "license", "licence", "xf.", "yf."))


def roles(names) -> dict[str, str]:
    """Return which file of an archive is which argument of :func:`xmlcore.datasets.read_dataset`."""
    named = {name: bare(name) for name in names if not ADDED.search(name) and not name.endswith("/")}
    found = {}
    for role, rule in _NAMES.items():
        matching = [name for name in named if rule.fullmatch(named[name])]
        if len(matching) == 1 and len(named) > 1:
            found[role] = matching[0]
    data = [name for name in named if named[name].endswith(DATA) and not is_about(named[name])]
    data = [name for name in data if name not in found.values()]
    split = {f"{part}_rows": [name for name in data if rule.search(named[name])] for part, rule in SPLIT.items()}
    data = [name for name in data if not any(name in matching for matching in split.values())]
    if halves := _halves(data, named):
        return found | halves
    parts = {part: [name for name in data if rule.search(named[name])] for part, rule in PART.items()}
    if len(parts["train"]) == len(parts["test"]) == 1 and parts["train"] != parts["test"]:
        found |= {part: matching[0] for part, matching in parts.items()}
    elif len(data) == 1 and not any(split.values()):
        found["train"] = data[0]
    elif len(data) == 1 and all(len(matching) == 1 for matching in split.values()):
        found |= {"train": data[0]} | {part: matching[0] for part, matching in split.items()}
    else:
        return {}
    xml = [name for name in named if named[name].endswith(".xml")]
    if named[found["train"]].endswith(".arff"):
        if len(xml) > 1:
            return {}
        found |= {"labels": xml[0]} if xml else {}
    return found if len(named) > 1 else {}


def _halves(data, named) -> dict[str, str]:
    """Return which of four files have features or labels of training or test rows; empty if these are not all."""
    roles = {("train", "X"): "train", ("train", "Y"): "labels", ("test", "X"): "test", ("test", "Y"): "test_labels"}
    found = {}
    for (part, half), role in roles.items():
        matching = [name for name in data if PART[part].search(named[name]) and _HALF[half].search(named[name])]
        if len(matching) == 1:
            found[role] = matching[0]
    return found if len(found) == len(data) == 4 else {}


def opened(source: NamedSource) -> dict[str, ArchiveMember]:
    """Return the files of a data set in one zip archive, by their arguments of :func:`read_dataset`."""
    with _archive(source) as archive:
        found = {} if archive is None else roles(archive.namelist())
        if sum(archive.getinfo(name).file_size for name in found.values()) > source.max_bytes:
            raise source.too_large()
        return {role: ArchiveMember(_shown(name), _content(archive, name, source)) for role, name in found.items()}


def beginning(source: NamedSource, size: int) -> tuple[dict[str, str], bytes]:
    """Return what :func:`roles` does for a source, and the first bytes of its training rows; or nothing."""
    with _archive(source) as archive:
        found = {} if archive is None else roles(archive.namelist())
        content = _content(archive, found["train"], source, size) if found else b""
    return {role: _shown(name) for role, name in found.items()}, content


def _shown(name) -> str:
    return visible(PurePosixPath(name).name)


def _archive(source):
    """Open a source as a zip archive; None if it is none, or can be read only once. A file stays where it is."""
    given = source.given
    again = isinstance(given, (bytes, bytearray, memoryview)) or source.is_path or hasattr(given, "getvalue")
    is_file = isinstance(given, (io.BufferedIOBase, io.RawIOBase)) and given.seekable() and given.tell() == 0
    return (source if again or is_file else NamedSource(b"")).archive()


def _content(archive, name, source, size=-1) -> bytes:
    with reading_zip(source), archive.open(name) as file:
        return file.read(size)
