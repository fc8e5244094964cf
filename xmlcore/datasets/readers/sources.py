"""Read the text of files, uploads and archives: decompress it, limit its size and check that it is text."""

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import struct
import tarfile
import zipfile
import zlib
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import numpy as np

from xmlcore.archives import BoundedZip
from xmlcore.datasets.errors import DatasetFormatError, SeveralFilesError, warn
from xmlcore.datasets.readers import workbook
from xmlcore.datasets.readers.recognise import NPY, archive_kind, check_text, is_npz
from xmlcore.progress import Progress, silent
from xmlcore.validation import check_count

PATH_BOUND = 16 << 30  # largest size of text from a path in bytes, unless max_bytes is given
MEMORY_BOUND = 4 << 30  # largest size of text from bytes and file objects, in bytes, unless max_bytes is given
COMPRESSED = (".gz", ".bz2", ".xz", ".zip")

_ENDINGS = (*COMPRESSED, ".txt", ".svm", ".libsvm", ".dat", ".csv", ".tsv", ".npz", ".npy", ".arff")
_ENDINGS += (".xlsx", ".xlsm", ".parquet", ".jsonl", ".ndjson", ".json", ".ft")
_COMMON_WORDS = set((
    "train training trn tr test testing tst te data dataset set file upload x y xy input rows txt svm "
    "libsvm csv tsv npz npy arff xf copy new full all"
).split())  # fmt: skip
_BOM = b"\xef\xbb\xbf"
_CHUNK = 1 << 20  # number of bytes that are read at a time
_XZ_MEMORY = 512 << 20  # most memory for xz, in bytes; files made by `xz -9` need a dictionary of 64 MiB
# Files that systems put into archives, hidden ones, and those of open documents.
ADDED = re.compile(r"(?i)(^|/)(__MACOSX/|\.(?![./])|~\$|Thumbs\.db$|desktop\.ini$)")
DAMAGED = "The archive is damaged or was cut off: download or make it again."
# Errors of zipfile for archives that are damaged, encrypted or packed by a method it does not know.
ZIP_ERRORS = (zipfile.BadZipFile, EOFError, OSError, ValueError, RuntimeError, struct.error, zlib.error, lzma.LZMAError)


def stem(file_name: str) -> str:
    """Return a file name without its endings: ``train`` for ``train.txt.gz``."""
    return _plain_path(file_name).stem or file_name


def ending_of(file_name: str) -> str:
    """Return the last ending of a file name, without that of a compression: ``.txt`` for ``train.TXT.gz``."""
    return _plain_path(file_name).suffix.lower()


def _plain_path(file_name) -> Path:
    path = Path(file_name)
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED else path


def telling_name(file_name: str) -> str:
    """Return the name of the data in a file name: ``bibtex`` for ``bibtex_train.txt.gz``, nothing for ``train.txt``."""
    name, cut = file_name, True
    while cut:
        cut = next((ending for ending in _ENDINGS if name.lower().endswith(ending) and len(name) > len(ending)), None)
        name = name[: -len(cut)] if cut else name
    # Of "bibtex_train" the part before the underscore is the data set's name.
    name = re.sub(r"(?i)(?<=[^\W_])[ ._-]+(train|training|trn|tr)$|^(train|training|trn|tr)[ ._-]+(?=\w)", "", name)
    words = re.findall(r"[^\W\d_]+", name.lower())
    return name[:80] if words and not set(words) <= _COMMON_WORDS else ""


class NamedSource:
    """A path, bytes or a binary file object to be read, and its name in messages."""

    def __init__(self, given, name: str | None = None, max_bytes: int | None = None, unnamed: str = "data"):
        self.given, self.bound = given, max_bytes
        self.is_path = isinstance(given, (str, os.PathLike))
        self.name = str(name) if name is not None else file_name(given) or unnamed
        usual = PATH_BOUND if self.is_path else MEMORY_BOUND
        self.max_bytes = check_count(usual if max_bytes is None else max_bytes, "max_bytes")  # of unpacked text

    def __str__(self) -> str:
        return self.name

    def error(self, found: str, remedy: str = "", line=None, column=None, **argument) -> DatasetFormatError:
        """Return the error to raise, see :class:`DatasetFormatError`."""
        return DatasetFormatError(self.name, found, remedy, line, column, **argument)

    def warn(self, message: str, **argument) -> None:
        warn(f"{self.name}: {message}", **argument)

    def too_large(self) -> DatasetFormatError:
        found = f"it holds more than {self.max_bytes:,} bytes of text"
        return self.error(found, "If that is right and there is memory for it, allow more.", argument="max_bytes")

    def text(self, *, npz: bool = False, any_text: bool = False, progress: Progress = silent) -> np.ndarray:
        """Return the unpacked bytes; ``npz``: those of an archive of NumPy as they are."""
        with self._stream() as (stream, content):
            share, pieces = _share_read(stream), _unpacked(stream, self, npz)
            if pieces is None and isinstance(content, bytes) and len(content) <= self.max_bytes:
                text = np.frombuffer(content, np.uint8)  # no copy
            else:
                buffer = bytearray()
                for piece in self._bounded(pieces or _chunks(stream), share, progress):
                    buffer += piece
                text = np.frombuffer(buffer, np.uint8)
        if bytes(text[:3]) == _BOM:
            text = text[3:]
        text.flags.writeable = False  # all sources give the same array type, so that the kernels compile once
        if not (any_text or npz and holds_npz(text)):
            check_text(text, self)
        return text

    def head(self, size: int) -> np.ndarray:
        """Return about the first ``size`` unpacked bytes, without a part of a line at the end."""
        buffer = self.first_bytes(size)
        if len(buffer) > size:
            end = buffer.rfind(b"\n")
            del buffer[end + 1 if end >= 0 else None :]
        text = np.frombuffer(buffer.removeprefix(_BOM), np.uint8)
        text.flags.writeable = False
        if not bytes(text[:6]).startswith((b"PK\x03\x04", NPY)):
            check_text(text, self)
        return text

    def first_bytes(self, size: int) -> bytearray:
        """Return unpacked bytes from the beginning, more than ``size`` if there are; a file object stays in place."""
        buffer = bytearray()
        with self.kept_in_place(), self._stream() as (stream, _):
            for piece in _unpacked(stream, self, npz=True) or _chunks(stream):
                buffer += piece
                if len(buffer) > size:
                    break
        return buffer

    def is_workbook(self) -> bool:
        """Return whether it is an Excel workbook, which is read as CSV in UTF-8."""
        with self.archive() as archive:
            return archive is not None and workbook.MARK in archive.namelist()

    def begins_with(self, mark: bytes) -> bool:
        """Return whether the packed bytes begin with a mark; False for sources that can be read only once."""
        if self.is_path:
            with opened(self.given) as stream:
                return stream.read(len(mark)) == mark
        held = self.held()
        if held is None and hasattr(self.given, "seekable") and self.given.seekable():
            with self.kept_in_place():
                return self.given.read(len(mark)) == mark
        return held is not None and held[: len(mark)] == mark

    def held(self) -> bytes | bytearray | memoryview | None:
        """Return the bytes as they are, if they are in memory."""
        if hasattr(self.given, "getvalue"):
            return self.given.getvalue()
        return self.given if isinstance(self.given, (bytes, bytearray, memoryview)) else None

    @contextmanager
    def pieces(self, progress: Progress = silent, npz: bool = False):
        """Give an iterator over the unpacked bytes, and a function for the share that was read."""
        with self._stream() as (stream, _):
            share = _share_read(stream)
            yield self._bounded(_unpacked(stream, self, npz) or _chunks(stream), share, progress), share

    @contextmanager
    def kept_in_place(self):
        """Set a file object, after the block, to where it was before."""
        place = self.given.tell() if hasattr(self.given, "tell") else None
        try:
            yield
        finally:
            if place is not None and hasattr(self.given, "seek"):
                self.given.seek(place)

    @contextmanager
    def archive(self):
        """Open it as a zip archive; None for other files. A file object stays where it is."""
        source, held, archive = self.given, self.held(), None
        if held is not None:
            source = io.BytesIO(held if held[:2] == b"PK" else b"")  # which may copy it
        elif not self.is_path and not hasattr(source, "read"):
            raise _unreadable(source)
        with self.kept_in_place() if hasattr(source, "seekable") and source.seekable() else nullcontext():
            with suppress(*ZIP_ERRORS):
                archive = BoundedZip(source) if zipfile.is_zipfile(source) else None
            with archive or nullcontext():
                yield archive

    def _bounded(self, pieces, share, progress):
        size = 0
        for piece in pieces:
            progress("Reading", share())
            size += len(piece)
            if size > self.max_bytes:
                raise self.too_large()
            yield piece

    @contextmanager
    def _stream(self):
        """Open it as a binary stream with a ``peek`` method, and give its bytes too if it is not a file on disk."""
        if self.is_path:
            with opened(self.given) as stream:
                yield stream, None
            return
        content = self._content()
        with io.BufferedReader(io.BytesIO(content)) as stream:
            yield stream, content

    def _content(self):
        content = self.held()
        if content is None and not hasattr(self.given, "read"):
            raise _unreadable(self.given)
        if content is None:
            parts, total = [], 0
            while piece := self.given.read(_CHUNK):
                parts.append(piece)
                total += len(piece)
                if total > self.max_bytes and not isinstance(piece, str):
                    raise self.too_large()
            content = parts[0] if parts and isinstance(parts[0], str) else b"".join(parts)
        if isinstance(content, str):
            raise TypeError(f"{self} is opened as text: open it in binary mode, open(path, 'rb')")
        return content


def file_name(given) -> str:
    """Return the name of a file without its folder; empty for bytes."""
    if isinstance(given, (str, os.PathLike)):
        return Path(given).name or str(given)
    name = getattr(given, "name", None)
    return Path(name).name if isinstance(name, str) else ""


def is_source(value) -> bool:
    return isinstance(value, (str, os.PathLike, bytes, bytearray, memoryview)) or hasattr(value, "read")


def opened(path) -> io.BufferedReader:
    """Open a file; if that fails, the message has no more than the beginning of a long name."""
    try:
        return open(path, "rb")
    except OSError as error:
        error.filename = f"{path!s:.300}"
        raise


def is_utf_8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")


class _Stream(io.RawIOBase):
    """Pieces of bytes as a stream."""

    def __init__(self, pieces):
        self._pieces, self._rest = iter(pieces), memoryview(b"")

    def readable(self):
        return True

    def readinto(self, buffer):
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def text_of(pieces, encoding: str, lone_cr: bool = True, errors: str = "strict") -> io.TextIOWrapper:
    """Return pieces of bytes as an open text whose line ends are kept; a byte order mark is skipped."""
    stream = io.BufferedReader(_Stream(pieces), 1 << 20)
    encoding = "utf-8-sig" if is_utf_8(encoding) else encoding
    return io.TextIOWrapper(stream, encoding=encoding, errors=errors, newline="" if lone_cr else "\n")


def _chunks(stream):
    return iter(lambda: stream.read(_CHUNK), b"")


def _share_read(stream):
    """Return a function that says which share of a stream has been read; always 0 for a stream without a size."""
    if not stream.seekable():  # a pipe
        return lambda: 0.0
    total = max(stream.seek(0, io.SEEK_END), 1)
    stream.seek(0)
    return lambda: min(stream.tell() / total, 1.0)


def _unpacked(stream, source, npz):
    """Return an iterator over chunks of a stream's decompressed content; None if it is not compressed."""
    head = stream.peek(512)[:512]
    if head[257:262] == b"ustar":
        raise source.error("it is a tar archive", "Unpack it and give one of its files.")
    if head.startswith(b"\x1f\x8b"):
        return _gzip(stream, source)
    if head.startswith(b"BZh"):
        return _pieces(stream, bz2.BZ2Decompressor, source, "bzip2")
    if head.startswith(b"\xfd7zXZ\x00"):
        return _pieces(stream, lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY), source, "xz")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip(stream, source, npz)
    return None


def _gzip(stream, source):
    try:
        with gzip.GzipFile(fileobj=stream) as unpacked:
            yield from _chunks(unpacked)
    except (EOFError, gzip.BadGzipFile, zlib.error, struct.error) as error:
        raise source.error(f"its gzip data cannot be read ({error})", DAMAGED) from error


def _pieces(stream, decompressor, source, kind):
    """Yield chunks of decompressed data from one or more consecutive bzip2 or xz streams."""
    unpack = decompressor()
    waiting = b""
    begun = False  # whether a compressed stream has begun but not ended; the file must not end before the stream
    while True:
        if unpack.needs_input and not unpack.eof:
            waiting = waiting or stream.read(_CHUNK)
            if not waiting:
                if begun:
                    raise source.error(f"its {kind} data ends too early", DAMAGED)
                return
            begun = True
        try:
            piece = unpack.decompress(waiting, _CHUNK)
        except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
            raise source.error(f"its {kind} data cannot be read ({error})", DAMAGED) from error
        waiting = b""
        if piece:
            yield piece
        if unpack.eof:
            waiting = unpack.unused_data.lstrip(b"\x00") or stream.read(_CHUNK).lstrip(b"\x00")
            if not waiting:
                return
            unpack = decompressor()
            begun = False


def _zip(stream, source, npz):
    """Yield chunks of the only file in a zip archive; with ``npz``, those of a NumPy archive itself."""
    with reading_zip(source), BoundedZip(stream) as archive:
        members = files_in(archive)
        names = [entry.filename for entry in members]
        if npz and is_npz(names):
            stream.seek(0)
            yield from _chunks(stream)
            return
        if workbook.MARK in names:
            stream.seek(0)
            yield from workbook.csv_of(stream, source)
            return
        kind = archive_kind(names)
        if kind is not None:
            raise source.error(f"it is {kind}", "Save its features and labels as text.")
        if len(members) != 1:
            shown = ", ".join(entry.filename for entry in members[:5]) + (", ..." if len(members) > 5 else "")
            raise SeveralFilesError(
                source.name,
                f"the zip archive holds {len(members)} files" + (f" ({shown})" if members else ""),
                "Unpack it, and give its training rows, its test rows and its labels one by one. One archive is "
                "read whole if its files are named train and test, with one .xml for ARFF.",
            )
        with archive.open(members[0]) as unpacked:
            yield from _chunks(unpacked)


@contextmanager
def reading_zip(source: "NamedSource", noun: str = "the zip archive"):
    """Raise DatasetFormatError for a zip archive that cannot be read."""
    try:
        yield
    except DatasetFormatError:
        raise
    except (RuntimeError, NotImplementedError) as error:  # a password, or a packing that is not read
        remedy = "Pack it by deflation and without a password, or unpack it and give its files."
        raise source.error(f"{noun} cannot be read ({error})", remedy) from error
    except (*ZIP_ERRORS, tarfile.TarError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # of the disk
            raise
        raise source.error(f"{noun} cannot be read ({error})", DAMAGED) from error


def _unreadable(source) -> TypeError:
    return TypeError(f"a path, bytes or a binary file object is needed, not {type(source).__name__}")


def files_in(archive) -> list[zipfile.ZipInfo]:
    """Return the files of a zip archive, without those that systems add to it."""
    entries = (entry for entry in archive.infolist() if not entry.filename.endswith("/"))  # is_dir() fails for ""
    return [entry for entry in entries if not ADDED.search(entry.filename)]


def holds_npz(content) -> bool:
    """Return whether bytes are an archive of NumPy, or one array of it."""
    if bytes(content[:4]) != b"PK\x03\x04":
        return bytes(content[: len(NPY)]) == NPY
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return is_npz(archive.namelist())
    except ZIP_ERRORS:
        return False
