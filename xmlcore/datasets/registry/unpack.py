"""Unpack zip and tar archives: nothing is written outside the folder, and not more than a limit."""

import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from xmlcore import wording
from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.datasets.readers.sources import ADDED, PATH_BOUND
from xmlcore.progress import Progress, silent

MAX_BYTES, MAX_FILES = PATH_BOUND, 1000  # that are unpacked
PHASE = "Unpacking"
_CHUNK = 1 << 20  # bytes that are unpacked at a time
_OTHERS = ((b"Rar!", "a RAR archive"), (b"7z\xbc\xaf\x27\x1c", "a 7z archive"))
_DAMAGED = "Delete it, so that it is downloaded again, or replace it by a complete file."


def unpack(archive: Path, folder: Path, *, progress: Progress = silent) -> list[Path]:
    archive, folder = Path(archive), Path(folder)
    with open(archive, "rb") as stream:
        head = stream.read(8)
    for magic, kind in _OTHERS:
        if head.startswith(magic):
            remedy = "Unpack it with another program, and put the files in its place."
            raise DatasetFormatError(archive.name, f"it is {kind}, which cannot be unpacked here", remedy)
    try:
        is_zip = head.startswith((b"PK\x03\x04", b"PK\x05\x06"))
        if is_zip or tarfile.is_tarfile(archive):
            members = _zip_members(archive) if is_zip else _tar_members(archive)
            return _write(members, archive, folder, progress)
    except DatasetFormatError:
        raise
    except (RuntimeError, NotImplementedError) as error:  # a password, or a method that zipfile does not know
        raise DatasetFormatError(archive.name, f"it cannot be unpacked ({error})", "Unpack it yourself.") from error
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the disk, not of the archive
            raise
        raise DatasetFormatError(archive.name, f"the archive is damaged or cut off ({error})", _DAMAGED) from error
    return [archive]


def _zip_members(archive):
    """Yield the name of each file of a zip archive, its share of the archive's files, and its open stream."""
    with zipfile.ZipFile(archive) as opened:
        members = [member for member in opened.infolist() if not member.filename.endswith("/")]  # "" is no folder
        for i, member in enumerate(members):
            with opened.open(member) as stream:
                yield member.filename, i / len(members), stream


def _tar_members(archive):
    """Yield the name of each file of a tar archive, 0 (there is no list of files), and its open stream."""
    with tarfile.open(archive) as opened:
        for member in opened:
            if member.isdir():
                continue
            if not member.isreg():
                raise DatasetFormatError(
                    archive.name, f"{member.name!r:.200} is a link or a device", "Unpack it yourself."
                )
            with opened.extractfile(member) as stream:
                yield member.name, 0.0, stream
        while opened.fileobj.read(_CHUNK):  # to the end, where compressed data has its checksum
            pass


def _write(members, archive, folder, progress):
    written, total = [], 0
    for name, share, stream in members:
        path = _inside(name, archive, folder)
        if path is None:
            continue
        if len(written) >= MAX_FILES:
            raise DatasetFormatError(archive.name, f"it has more than {MAX_FILES:,} files", "Unpack what is needed.")
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as target:
            while piece := stream.read(_CHUNK):
                total += len(piece)
                if total > MAX_BYTES:
                    found = f"it unpacks to more than {MAX_BYTES:,} bytes"
                    raise DatasetFormatError(archive.name, found, "Unpack it yourself if that is right.")
                target.write(piece)
                progress(PHASE, share, f"{path.name}: {wording.size(target.tell())}")
        written.append(path)
    return written


def _inside(name, archive, folder) -> Path | None:
    """Return where a member is written; None for what systems add; DatasetFormatError if that is not in the folder."""
    if ADDED.search(name):
        return None
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or ":" in parts[0] or "\0" in name:
        raise DatasetFormatError(
            archive.name, f"the name {name!r:.200} leads out of the archive", "Do not trust this file."
        )
    return folder.joinpath(*parts)
