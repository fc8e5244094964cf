"""Data sets in one zip archive: Mulan's, with the XML file of the labels, and the Extreme Classification Repository's,
with files of row numbers, or with features and labels in two files.
"""

import io
import re
from pathlib import PurePosixPath

from xmlcore.datasets.readers.names import visible
from xmlcore.datasets.readers.sources import NamedSource, files_in, reading_zip

_DATA = (".txt", ".svm", ".libsvm", ".dat", ".arff", ".npz", ".csv")  # endings of files with rows
_ABOUT = ("readme", "license", "licence", "xf.", "yf.")  # beginnings of names of files about the data
_PACKED = (".gz", ".bz2", ".xz")
_TRAIN = re.compile(r"(^|[^a-z])(train|training|trn)([^a-z]|$)")
_TEST = re.compile(r"(^|[^a-z])(test|tst)([^a-z]|$)")
_X, _Y = re.compile(r"(^|[^a-z])x_?xf?\.txt"), re.compile(r"(^|[^a-z])x_?y\.txt")
# Patterns of file names by role: rows of both parts, row numbers of both, features alone and labels alone
# such as trn_X_Xf.txt and trn_X_Y.txt, and files with a name per line, as the dashboard writes them.
_PARTS = {"train": [_TRAIN], "test": [_TEST]}
_SPLIT = {"train_rows": [re.compile(r"tr(ain)?_?split")], "test_rows": [re.compile(r"te?st_?split")]}
_HALVES = {"train": [_TRAIN, _X], "labels": [_TRAIN, _Y], "test": [_TEST, _X], "test_labels": [_TEST, _Y]}
_NAMES = {"label_names": [re.compile(r"^labels?([_-]names?)?\.txt$")]}
_NAMES |= {"feature_names": [re.compile(r"^features?([_-]names?)?\.txt$")]}


def bare(name: str) -> str:
    """Return the name of a file in lower case, without its folder and the ending of a compressed file."""
    name = PurePosixPath(name.replace("\\", "/")).name.lower()
    return next((name.removesuffix(ending) for ending in _PACKED if name.endswith(ending)), name)


def roles(names) -> dict[str, str]:
    """Return which file of a data set is which argument of :func:`xmlcore.datasets.read_dataset`; none in doubt."""
    named = {name: bare(name) for name in names}
    lists = _only(_NAMES, named) if len(named) > 1 else {}
    data = {
        name: file
        for name, file in named.items()
        if file.endswith(_DATA) and not file.startswith(_ABOUT) and name not in lists.values()
    }
    split = _only(_SPLIT, data)
    rows = {name: file for name, file in data.items() if not any(rule.search(file) for [rule] in _SPLIT.values())}
    found = _only(_HALVES, rows)
    if len(found) == len(rows) == 4:
        return lists | found
    found = _only(_PARTS, rows)
    if len({*found.values()}) < 2:
        if len(rows) != 1 or len(split) not in (0, 2) or len(split) != len(data) - 1:
            return {}
        found = {"train": next(iter(rows))} | split
    if named[found["train"]].endswith(".arff"):
        xml = [name for name, file in named.items() if file.endswith(".xml")]
        if len(xml) > 1:
            return {}
        found |= {"labels": xml[0]} if xml else {}
    return lists | found


def _only(rules, named) -> dict[str, str]:
    """Return by role the file whose name has all that the role needs, if there is exactly one."""
    found = {}
    for role, needed in rules.items():
        files = [name for name, file in named.items() if all(rule.search(file) for rule in needed)]
        found |= {role: files[0]} if len(files) == 1 else {}
    return found


def _roles_in(archive) -> dict[str, str]:
    """Return the roles of the files in an archive; none of a file alone, which is read as if it were not packed."""
    files = [] if archive is None else files_in(archive)
    return roles([file.filename for file in files]) if len(files) > 1 else {}


def opened(source: NamedSource) -> dict[str, io.BytesIO]:
    """Return the named files of a data set in one zip archive, by their arguments of :func:`read_dataset`."""
    with _archive(source) as archive:
        found = _roles_in(archive)
        if sum(archive.getinfo(name).file_size for name in found.values()) > source.max_bytes:
            raise source.too_large()
        files = {role: io.BytesIO(_content(archive, name, source)) for role, name in found.items()}
    for role, file in files.items():
        file.name = _shown(found[role])
    return files


def beginning(source: NamedSource, size: int) -> tuple[dict[str, str], bytes]:
    """Return what :func:`roles` does for a source, and the first bytes of its training rows; or nothing."""
    with _archive(source) as archive:
        found = _roles_in(archive)
        content = _content(archive, found["train"], source, size) if found else b""
    return {role: _shown(name) for role, name in found.items()}, content


def _shown(name) -> str:
    return visible(PurePosixPath(name).name)


def _archive(source):
    """Open a source as a zip archive; None for others, or if it can be read only once. A file stays where it is."""
    given = source.given
    again = source.is_path or source.held() is not None
    is_file = isinstance(given, (io.BufferedIOBase, io.RawIOBase)) and given.seekable() and given.tell() == 0
    return (source if again or is_file else NamedSource(b"")).archive()


def _content(archive, name, source, size=-1) -> bytes:
    with reading_zip(source), archive.open(name) as file:
        return file.read(size)
