"""Load a published data set: find its file, or download it, and read what is in it.

A data set has a folder, :func:`folder`, in which files are found that are put there by hand. Downloads begin there, and
are kept in the store.
"""

import copy
import json
import re
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from xmlcore import store, wording
from xmlcore.artifact_keys import artifact_key
from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.errors import DatasetFormatError, warnings_of_data
from xmlcore.datasets.readers import archived
from xmlcore.datasets.readers.reading import assembled
from xmlcore.datasets.readers.sources import ADDED, PATH_BOUND, NamedSource, files_in, reading_zip
from xmlcore.datasets.registry.api_docs import KIND
from xmlcore.datasets.registry.entries import CatalogEntry
from xmlcore.datasets.registry.fetch import DownloadError, DownloadLimits, fetch
from xmlcore.progress import Progress, part_of, silent
from xmlcore.system import data_root

SOURCES = "sources.json"  # in data_root(): other addresses, {"name": "address"}, or with a checksum: see addresses()
_TELLING = re.compile(r"(?i)tr(ai)?n|te?st|split|data\.|\.xml")


def folder(entry: CatalogEntry) -> Path:
    return data_root() / entry.name


def files(entry: CatalogEntry) -> list[Path]:
    """Return the files of a data set that are on this machine: put there by hand, or else downloaded."""
    if found := _listed(folder(entry)):
        return found
    inside = sorted(path for path in folder(entry).glob("*") if path.is_dir() and not path.name.startswith((".", "__")))
    if len(inside) == 1 and _listed(inside[0]):
        return _listed(inside[0])
    beside = [path for path in _listed(data_root()) if path.name.startswith(entry.name + ".")]
    return beside or [path for path in _listed(store.folder(*_kept(entry))) if path.name != store.META]


def _kept(entry) -> tuple[str, str]:
    """Return the kind and the key under which the store keeps the download of a data set."""
    return KIND, artifact_key(KIND, {}, {"name": entry.name})


def _listed(path) -> list[Path]:
    """Return the files of a folder in order, without hidden files."""
    try:
        inside = sorted(path.iterdir())
    except OSError:
        return []
    return [file for file in inside if file.is_file() and not file.name.startswith(".")]


def addresses(entry: CatalogEntry) -> list[tuple[str, str | None]]:
    """Return the addresses of the file of a data set, each with its checksum or None."""
    path = data_root() / SOURCES
    try:
        own = json.loads(path.read_text(encoding="utf-8")).get(entry.name)
    except FileNotFoundError:
        own = None
    except (OSError, ValueError, AttributeError) as error:
        raise DownloadError(f"{path} cannot be read: it must have names and addresses as JSON ({error}).") from error
    if own is None:
        return [(address, None if i else entry.checksum) for i, address in enumerate(entry.addresses)]
    own = {"address": own} if isinstance(own, str) else own
    if not isinstance(own, dict) or not isinstance(own.get("address"), str):
        raise DownloadError(f"{path} has no address for {entry.name!r:.200}: write a text, or a dict with 'address'.")
    checksum = own.get("checksum")
    if checksum is not None and not (isinstance(checksum, str) and checksum.startswith(("md5:", "sha256:"))):
        raise DownloadError(f"{path} has a checksum for {entry.name!r:.200} that does not begin with md5: or sha256:.")
    return [(own["address"], checksum)]


def load(entry: CatalogEntry, progress: Progress = silent, limits: DownloadLimits | None = None) -> Dataset:
    found = files(entry)
    if not found:
        _download(entry, progress, limits)
        found = files(entry)
    store.used(*_kept(entry))
    with warnings_of_data() as warned:
        data = _read(entry, found, progress)
    sizes = {"rows": (entry.n_rows, data.n_train + data.n_test), "features": (entry.n_features, data.n_features)}
    sizes |= {"labels": (entry.n_labels, data.n_labels)}
    other = [f"{want:,} {noun}, read are {got:,}" for noun, (want, got) in sizes.items() if want not in (None, got)]
    others = [f"Not as published: {'; '.join(other)}."] if other else []
    notes = [_origin(entry, found), *data.notes, *others, *warned]
    data = copy.copy(data)  # a shallow copy: the matrices are shared
    object.__setattr__(data, "notes", tuple(notes))  # the class is frozen; this copy is ours
    return data


def _download(entry, progress, limits):
    failures, choices = [], addresses(entry)
    for address, checksum in choices:
        name = address.partition("?")[0].rsplit("/", 1)[-1]
        target = folder(entry) / (name if "." in name else f"{entry.name}.zip")
        try:
            record = fetch(address, target, checksum=checksum, progress=progress, limits=limits)
        except DownloadError as error:
            failures.append(str(error))
            continue
        with store.writing(*_kept(entry), name=entry.name, download=record) as path:
            shutil.move(target, path)  # also to another disk
        return
    error = DownloadError(" ".join(failures or [f"There is no address from which {entry.name} can be downloaded."]))
    where = f"put the file, packed or unpacked, into {folder(entry)}. It is then found there."
    error.add_note(f"Get it from {entry.page} and {where}")
    raise error


def _read(entry, paths, progress) -> Dataset:
    folder(entry).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=folder(entry)) as temporary:
        inside = []
        for i, path in enumerate(paths):
            own = Path(temporary) / str(i)
            own.mkdir()
            try:
                inside += unpack(path, own, progress=part_of(progress, i / len(paths), (i + 1) / len(paths)))
            except DatasetFormatError as error:
                raise _unread(entry, paths, error, packed=True) from error
        progress("Reading the file", 0.0)
        try:
            data = _read_parts(entry, inside)
        except DatasetFormatError as error:
            raise _unread(entry, paths, error, packed=False) from error
        progress("Reading the file", 1.0)
        return data


def _unread(entry, found, error, packed) -> DatasetFormatError:
    """Return an error in the files of a data set with what to do; an archive that was downloaded damaged is deleted."""
    downloaded = bool(_record(entry, found))
    if packed:
        remedy = f"Replace it: it is in {found[0].parent}."
        if downloaded:
            store.delete(*_kept(entry))
            remedy = "It has been deleted, so the next attempt downloads it again."
        return DatasetFormatError(error.source, error.found, remedy)
    names = ", ".join(path.name for path in found[:3]) + (", ..." if len(found) > 3 else "")
    keep = f"The data set is read from {names} in {found[0].parent}."
    again, into = "Replace it by", ""
    if downloaded:
        again, into = "Delete that folder to download it again, or put", f" into {folder(entry)}"
    remedy = f"{error.remedy} {keep} {again} files that can be read{into}: train.txt and test.txt, or data.txt."
    return DatasetFormatError(error.source, error.found, remedy.strip(), error.line, error.column)


def _read_parts(entry, inside) -> Dataset:
    named = {path.name: path for path in inside}
    # Beside files that tell their part, one may be a description.
    files = archived.roles(named) or archived.roles([name for name in named if _TELLING.search(name)])
    if not files:
        listed = ", ".join(list(named)[:8]) + (", ..." if len(named) > 8 else "")
        found = f"its {len(named)} files do not tell which one has the training rows ({listed})"
        remedy = "Name the training file train, and the test file test, with their endings."
        raise DatasetFormatError(entry.name, found, remedy)
    return assembled({role: named[name] for role, name in files.items()}, entry.name)


def _record(entry, found) -> dict:
    """Return the record of the download of these files; an empty dict if they were put there by hand."""
    kept = _kept(entry)
    return store.info(*kept)["download"] if found[0].parent == store.folder(*kept) else {}


def _origin(entry, found) -> str:
    record = _record(entry, found)
    if not record:
        return f"Read from {', '.join(path.name for path in found)}, put into {found[0].parent}."
    checked = "Its checksum is the published one."
    if not record["checked"]:
        checked = f"No checksum is published; the SHA-256 of what came begins with {record['sha256'][:12]}."
    return f"Downloaded from {record['url']} on {record['when'][:10]}. {checked}"


MAX_BYTES, MAX_FILES = PATH_BOUND, 1000  # that are unpacked
PHASE = "Unpacking"
_CHUNK = 1 << 20  # bytes that are unpacked at a time
_OTHERS = ((b"Rar!", "a RAR archive"), (b"7z\xbc\xaf\x27\x1c", "a 7z archive"))


def unpack(archive: Path, folder: Path, *, progress: Progress = silent) -> list[Path]:
    """Return the files of an archive, unpacked into a folder; any other file as it is."""
    source, written, total = NamedSource(archive), [], 0
    for magic, kind in _OTHERS:
        if source.begins_with(magic):
            remedy = "Unpack it with another program, and put the files in its place."
            raise source.error(f"it is {kind}, which cannot be unpacked here", remedy)
    with reading_zip(source, "the archive"):
        is_zip = source.begins_with(b"PK\x03\x04") or source.begins_with(b"PK\x05\x06")
        if not is_zip and not tarfile.is_tarfile(archive):
            return [archive]
        for name, share, stream in (_zip_members if is_zip else _tar_members)(source):
            if len(written) >= MAX_FILES:
                raise source.error(f"it has more than {MAX_FILES:,} files", "Unpack what is needed.")
            path = folder.joinpath(*_parts(name, source))
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "wb") as target:
                while piece := stream.read(_CHUNK):
                    total += len(piece)
                    if total > MAX_BYTES:
                        found = f"it unpacks to more than {MAX_BYTES:,} bytes"
                        raise source.error(found, "Unpack it yourself if that is right.")
                    target.write(piece)
                    progress(PHASE, share, f"{path.name}: {wording.size(target.tell())}")
            written.append(path)
    return written


def _zip_members(source):
    """Yield the name of each file of a zip archive, its share of the archive's files, and its open stream."""
    with zipfile.ZipFile(source.given) as opened:
        members = files_in(opened)
        for i, member in enumerate(members):
            with opened.open(member) as stream:
                yield member.filename, i / len(members), stream


def _tar_members(source):
    """Yield the name of each file of a tar archive, 0 (there is no list of files), and its open stream."""
    with tarfile.open(source.given) as opened:
        for member in opened:
            if member.isdir() or ADDED.search(member.name):
                continue
            if not member.isreg():
                raise source.error(f"{member.name!r:.200} is a link or a device", "Unpack it yourself.")
            with opened.extractfile(member) as stream:
                yield member.name, 0.0, stream
        while opened.fileobj.read(_CHUNK):  # to the end, where compressed data has its checksum
            pass


def _parts(name, source) -> tuple[str, ...]:
    """Return the parts of the name of a member; raise DatasetFormatError if it leads out of a folder."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or ":" in parts[0] or "\0" in name:
        raise source.error(f"the name {name!r:.200} leads out of the archive", "Do not trust this file.")
    return parts
