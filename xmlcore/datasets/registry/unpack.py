"""Unpack zip and tar archives: nothing is written outside the folder, and not more than a limit."""

import tarfile
import zipfile
from pathlib import Path, PurePosixPath

from xmlcore import wording
from xmlcore.datasets.readers.sources import ADDED, PATH_BOUND, NamedSource, files_in, reading_zip
from xmlcore.progress import Progress, silent

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
