"""Read the text of files, uploads and archives: decompress it, limit its size and check that it is text."""

import bz2
import gzip
import io
import lzma
import os
import re
import struct
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from xmlcore.archives import BoundedZip
from xmlcore.datasets.errors import DatasetFormatError, SeveralFilesError
from xmlcore.datasets.readers.recognise import NPY, archive_kind, check_text, is_npz
from xmlcore.progress import Progress, silent
from xmlcore.validation import check_count

PATH_BOUND = 16 << 30  # largest size of text from a path in bytes, unless max_bytes is given
MEMORY_BOUND = 4 << 30  # largest size of text from bytes and file objects, in bytes, unless max_bytes is given
COMPRESSED = (".gz", ".bz2", ".xz", ".zip")

_ENDINGS = (*COMPRESSED, ".txt", ".svm", ".libsvm", ".dat", ".csv", ".tsv", ".npz", ".npy", ".arff")
_ENDINGS += (".parquet", ".jsonl", ".ndjson", ".json", ".ft")
_COMMON_WORDS = set((
    "train training trn tr test testing tst te data dataset set file upload x y xy input rows txt svm "
    "libsvm csv tsv npz npy arff xf copy new full all"
).split())  # fmt: skip
_CHUNK = 1 << 20  # number of bytes that are read at a time
_PART = 1 << 26  # the same for a file that is not compressed
_XZ_MEMORY = 512 << 20  # most memory for xz, in bytes; files made by `xz -9` need a dictionary of 64 MiB
# Files that systems put into archives, hidden ones, and those of open documents.
ADDED = re.compile(r"(?i)(^|/)(__MACOSX/|\.(?![./])|~\$|Thumbs\.db$|desktop\.ini$)")
DAMAGED = "The archive is damaged or was cut off: download or make it again."
# What zipfile raises for archives that are damaged, encrypted or packed by a method it does not know.
ZIP_ERRORS = (zipfile.BadZipFile, EOFError, OSError, ValueError, RuntimeError, struct.error, zlib.error, lzma.LZMAError)


def source_name(source, name: str | None = None) -> str:
    """Return the name of a source in messages: its file name, or ``data`` for bytes."""
    if name is not None:
        return str(name)
    if isinstance(source, (str, os.PathLike)):
        return Path(source).name or str(source)
    file_name = getattr(source, "name", None)
    return Path(file_name).name if isinstance(file_name, str) and file_name else "data"


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
    """Return what a file's name says of its data: ``bibtex`` for ``bibtex_train.txt.gz``, nothing for ``train.txt``."""
    name, cut = file_name, True
    while cut:
        cut = next((ending for ending in _ENDINGS if name.lower().endswith(ending) and len(name) > len(ending)), None)
        name = name[: -len(cut)] if cut else name
    # Of "bibtex_train" the part before the underscore is the data set's name.
    name = re.sub(r"(?i)(?<=[^\W_])[ ._-]+(train|training|trn|tr)$|^(train|training|trn|tr)[ ._-]+(?=\w)", "", name)
    words = re.findall(r"[^\W\d_]+", name.lower())
    return name[:80] if words and not set(words) <= _COMMON_WORDS else ""


def read_text(
    source,
    *,
    max_bytes: int | None = None,
    name: str | None = None,
    npz: bool = False,
    any_text: bool = False,
    progress: Progress = silent,
) -> np.ndarray:
    label = source_name(source, name)
    max_bytes = most_bytes(source, max_bytes)
    with _open_stream(source, max_bytes, label) as (stream, content):
        share = _share_read(stream)
        pieces = _unpacked(stream, label, npz)
        text = _whole(stream, content, max_bytes, progress) if pieces is None else None
        if text is None:
            pieces = _told(pieces or _chunks(stream), share, progress)
            text = np.frombuffer(_joined(_limited(pieces, label, max_bytes)), np.uint8)
    if bytes(text[:3]) == b"\xef\xbb\xbf":
        text = text[3:]
    text.flags.writeable = False  # all sources give the same array type, so that the kernels compile once
    if not (any_text or npz and holds_npz(text)):
        check_text(text, label)
    return text


def read_head(source, size: int, name: str | None = None) -> np.ndarray:
    """Return about the first ``size`` bytes of a source, decompressed, without a part of a line at the end."""
    label = source_name(source, name)
    buffer = bytearray()
    with kept_in_place(source), _open_stream(source, MEMORY_BOUND, label) as (stream, _):
        for piece in _unpacked(stream, label, npz=True) or _chunks(stream):
            buffer += piece
            if len(buffer) > size:
                end = buffer.rfind(b"\n")
                del buffer[end + 1 if end >= 0 else None :]
                break
    text = np.frombuffer(buffer.removeprefix(b"\xef\xbb\xbf"), np.uint8)
    text.flags.writeable = False
    if not bytes(text[:6]).startswith((b"PK\x03\x04", NPY)):
        check_text(text, label)
    return text


@contextmanager
def kept_in_place(source):
    """Set a file object, after the block, to where it was before."""
    place = source.tell() if hasattr(source, "tell") else None
    yield
    if place is not None and hasattr(source, "seek"):
        source.seek(place)


def _share_read(stream):
    """Return a function that says which share of a stream has been read; always 0 for a stream without a size."""
    if not stream.seekable():  # a pipe
        return lambda: 0.0
    total = max(stream.seek(0, io.SEEK_END), 1)
    stream.seek(0)
    return lambda: min(stream.tell() / total, 1.0)


def _told(pieces, share, progress):
    """Yield the pieces of a text, and tell ``progress`` which share of the source has been read."""
    for piece in pieces:
        progress("Reading", share())
        yield piece


def _unpacked(stream, label, npz):
    """Return an iterator over chunks of a stream's decompressed content; None if it is not compressed."""
    head = stream.peek(512)[:512]
    if head[257:262] == b"ustar":
        raise DatasetFormatError(label, "it is a tar archive", "Unpack it and give one of its files.")
    if head.startswith(b"\x1f\x8b"):
        return _gzip(stream, label)
    if head.startswith(b"BZh"):
        return _pieces(stream, bz2.BZ2Decompressor, label, "bzip2")
    if head.startswith(b"\xfd7zXZ\x00"):
        return _pieces(stream, lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY), label, "xz")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip(stream, label, npz)
    return None


def _chunks(stream):
    return iter(lambda: stream.read(_CHUNK), b"")


def too_large(label: str, max_bytes: int) -> DatasetFormatError:
    remedy = "If that is right and there is memory for it, pass a larger max_bytes."
    return DatasetFormatError(label, f"it holds more than {max_bytes:,} bytes of text", remedy)


def _limited(pieces, label, max_bytes):
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > max_bytes:
            raise too_large(label, max_bytes)
        yield piece


def _joined(pieces) -> bytearray:
    buffer = bytearray()
    for piece in pieces:
        buffer += piece
    return buffer


def most_bytes(source, max_bytes: int | None) -> int:
    """Return ``max_bytes``, or if it is None the usual bound, which is larger for a path than for what is in memory."""
    usual = PATH_BOUND if isinstance(source, (str, os.PathLike)) else MEMORY_BOUND
    return check_count(usual if max_bytes is None else max_bytes, "max_bytes")


@contextmanager
def pieces_of(source, max_bytes: int | None, name: str | None, npz: bool, progress: Progress):
    """Open a source, and give an iterator over its unpacked bytes and a function for the share that was read."""
    label = source_name(source, name)
    max_bytes = most_bytes(source, max_bytes)
    with _open_stream(source, max_bytes, label) as (stream, _):
        share = _share_read(stream)
        pieces = _unpacked(stream, label, npz) or _chunks(stream)
        yield _limited(_told(pieces, share, progress), label, max_bytes), share


def _whole(stream, content, max_bytes, progress) -> np.ndarray | None:
    """Return all bytes of a stream without copies, if its size is known and not too large; else None."""
    if content is not None:
        return np.frombuffer(content, np.uint8) if isinstance(content, bytes) and len(content) <= max_bytes else None
    size = os.fstat(stream.fileno()).st_size
    if not 0 < size <= max_bytes:
        return None  # too large, or of unknown size, such as a pipe
    text, end = np.empty(size, np.uint8), 0
    while n_read := stream.readinto(text[end : end + _PART]):
        end += n_read
        progress("Reading", end / size)
    return text[:end]


def opened(path) -> io.BufferedReader:
    """Open a file; if that fails, the message has no more than the beginning of a long name."""
    try:
        return open(path, "rb")
    except OSError as error:
        error.filename = f"{path!s:.300}"
        raise


@contextmanager
def _open_stream(source, max_bytes, label):
    """Open a source as a binary stream with a ``peek`` method, and give its bytes too if it is not a file on disk."""
    if isinstance(source, (str, os.PathLike)):
        with opened(source) as stream:
            yield stream, None
        return
    if isinstance(source, (bytes, bytearray, memoryview)):
        content = source
    elif hasattr(source, "getvalue"):
        content = source.getvalue()
    elif hasattr(source, "read"):
        parts, total = [], 0
        while piece := source.read(_CHUNK):
            if isinstance(piece, str):
                content = piece
                break
            parts.append(piece)
            total += len(piece)
            if total > max_bytes:
                raise too_large(label, max_bytes)
        else:
            content = b"".join(parts)
    else:
        raise _unreadable(source)
    if isinstance(content, str):
        raise TypeError(f"{label} is opened as text: open it in binary mode, open(path, 'rb')")
    with io.BufferedReader(io.BytesIO(content)) as stream:
        yield stream, content


def _gzip(stream, label):
    with gzip.GzipFile(fileobj=stream) as unpacked:
        while True:
            try:
                piece = unpacked.read(_CHUNK)
            except (EOFError, gzip.BadGzipFile, zlib.error, struct.error) as error:
                raise DatasetFormatError(label, f"its gzip data cannot be read ({error})", DAMAGED) from error
            if not piece:
                return
            yield piece


def _pieces(stream, decompressor, label, kind):
    """Yield chunks of decompressed data from one or more consecutive bzip2 or xz streams."""
    unpack = decompressor()
    waiting = b""
    begun = False  # whether a compressed stream has begun but not ended; the file must not end before the stream
    while True:
        if unpack.needs_input and not unpack.eof:
            waiting = waiting or stream.read(_CHUNK)
            if not waiting:
                if begun:
                    raise DatasetFormatError(label, f"its {kind} data ends too early", DAMAGED)
                return
            begun = True
        try:
            piece = unpack.decompress(waiting, _CHUNK)
        except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
            raise DatasetFormatError(label, f"its {kind} data cannot be read ({error})", DAMAGED) from error
        waiting = b""
        if piece:
            yield piece
        if unpack.eof:
            waiting = unpack.unused_data.lstrip(b"\x00") or stream.read(_CHUNK).lstrip(b"\x00")
            if not waiting:
                return
            unpack = decompressor()
            begun = False


def _zip(stream, label, npz):
    """Yield chunks of the only file in a zip archive; with ``npz``, those of a NumPy archive itself."""
    with reading_zip(label), BoundedZip(stream) as archive:
        members = files_in(archive)
        names = [entry.filename for entry in members]
        if npz and is_npz(names):
            stream.seek(0)
            yield from _chunks(stream)
            return
        kind = archive_kind(names)
        if kind is not None:
            raise DatasetFormatError(label, f"it is {kind}", "Save its features and labels as text.")
        if len(members) != 1:
            shown = ", ".join(entry.filename for entry in members[:5]) + (", ..." if len(members) > 5 else "")
            raise SeveralFilesError(
                label,
                f"the zip archive holds {len(members)} files" + (f" ({shown})" if members else ""),
                "Unpack it, and give its training rows, its test rows and its labels one by one. read_dataset also "
                "takes one archive of files whose names have train and test, and for ARFF of one .xml.",
            )
        with archive.open(members[0]) as unpacked:
            while piece := unpacked.read(_CHUNK):
                yield piece


@contextmanager
def reading_zip(label: str, what: str = "the zip archive"):
    """Raise DatasetFormatError for a zip archive that cannot be read."""
    try:
        yield
    except DatasetFormatError:
        raise
    except (RuntimeError, NotImplementedError) as error:  # a password, or a packing that is not read
        remedy = "Pack it by deflation and without a password, or unpack it and give its files."
        raise DatasetFormatError(label, f"{what} cannot be read ({error})", remedy) from error
    except ZIP_ERRORS as error:
        raise DatasetFormatError(label, f"{what} cannot be read ({error})", DAMAGED) from error


def _unreadable(source) -> TypeError:
    return TypeError(f"a path, bytes or a binary file object is needed, not {type(source).__name__}")


@contextmanager
def opened_archive(source):
    """Open a source as a zip archive, or give None if it is none; a file object stays where it is."""
    place = None
    if isinstance(source, (bytes, bytearray, memoryview)):
        source = io.BytesIO(source if bytes(source[:2]) == b"PK" else b"")  # which may copy it
    elif hasattr(source, "getvalue"):
        content = source.getvalue()
        source = io.BytesIO(content if content[:2] == b"PK" else b"")
    elif hasattr(source, "seekable") and source.seekable():
        place = source.tell()
    elif not isinstance(source, (str, os.PathLike)) and not hasattr(source, "read"):
        raise _unreadable(source)
    try:
        archive = BoundedZip(source) if zipfile.is_zipfile(source) else None
    except ZIP_ERRORS:
        archive = None
    try:
        yield archive
    finally:
        if archive is not None:
            archive.close()
        if place is not None:
            source.seek(place)


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
