"""The one archive format, for models and runs: a zip file with a manifest, of JSON and arrays only.

::

    manifest.json    {"format": "xmlcore archive", "version": 1, "holds": "model", "xmlcore": "0.1.0",
                      "about": {...}, "members": {name: [size, CRC-32]}}
    <members>        .json, .npz, and texts for people

``about`` belongs to what the archive holds. Reading an archive executes nothing: there is no pickle, a member has one
of the names that its :class:`Use` allows, and no more is unpacked than the manifest says and fits this machine. The
same content gives the same bytes.
"""

import errno
import io
import json
import math
import os
import re
import shutil
import struct
import tempfile
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xmlcore import __version__
from xmlcore.system import free_bytes
from xmlcore.wording import plain, refusal

FORMAT, VERSION, MANIFEST = "xmlcore archive", 1, "manifest.json"
MOST_BYTES = 50_000_000_000  # of all members together, when they are unpacked
MOST_TEXT = 1 << 29  # bytes of a member that is no npz file
MOST_MANIFEST = 50_000_000  # bytes
MOST_MEMBERS = 100_000
# Members unpack to so many times the size of the archive, and so many bytes more. Models were up to 7 times smaller.
MOST_TIMES, ALWAYS = 50, 1 << 26
ALWAYS_TEXT = 1 << 24  # the same of members that are no npz file: JSON takes many times its size in memory
MOST_LISTS, MOST_VALUES = 2_000_000, 20_000_000  # lists and objects in a member of JSON, and all that is in them
MEMORY, MEMORY_OF_TEXT = 3, 12  # times its size that reading a member may take: one that is an npz file, and another
_LEVEL = 1  # of compression
_PIECE = 1 << 20  # bytes that are unpacked at a time
_PADDING = 0xD935  # what zip archives call bytes that only align what follows
_REMEDY = "Make or download it again, and check that it was copied whole."


class BoundedZip(zipfile.ZipFile):
    """A zip file whose members can be read piece by piece: bzip2 and LZMA unpack all of a chunk, however large."""

    def open(self, name, mode="r", *args, **kwargs):
        if mode == "r":
            info = self.getinfo(name) if isinstance(name, str) else name
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # zipfile raises it, too
                raise NotImplementedError(f"{info.filename[:60]!r} is not packed by deflation: pack it so")
        return super().open(name, mode, *args, **kwargs)


class Use(NamedTuple):
    """A purpose of archives."""

    holds: str  # in the manifest
    title: str
    members: str  # pattern of the names that members may have
    error: type[ValueError]  # the ValueError that reading raises


class Writer:
    """An archive that is being written."""

    def __init__(self, file, use: Use, about: dict[str, Any]):
        self._zip, self._use, self.about = file, use, about

    def open(self, name: str):
        return self._zip.open(name, "w", force_zip64=True)

    def text(self, name: str, text: str) -> None:
        with self.open(name) as stream:
            stream.write(text.encode())

    def json(self, name: str, value) -> None:
        """Write a value as JSON, with null for numbers that are not finite."""
        content = as_json(value).encode()
        if many := _too_many(content):  # it could not be read
            raise self._use.error(f"{name} of the {self._use.title} would have {many}")
        with self.open(name) as stream:
            stream.write(content)

    def arrays(self, name: str, arrays: dict[str, np.ndarray]) -> None:
        with self.open(name) as stream:
            np.savez(stream, **arrays)

    def file(self, name: str, path) -> None:
        with open(path, "rb") as source, self.open(name) as stream:
            shutil.copyfileobj(source, stream, _PIECE)


@contextmanager
def writing(file, use: Use, about: dict[str, Any]):
    """Give a :class:`Writer` for an open binary file; the manifest is written at the end."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        writer = Writer(archive, use, about)
        yield writer
        members = {info.filename: [info.file_size, info.CRC] for info in archive.infolist()}
        facts = {"format": FORMAT, "version": VERSION, "holds": use.holds, "xmlcore": __version__}
        writer.json(MANIFEST, facts | {"about": writer.about, "members": members})
    for total, most in _sizes(members, file.tell()):
        if total > most:  # it could not be read
            raise use.error(f"{total:,} bytes in a {use.title} are more than {MOST_TIMES} times the size of the file")


def _sizes(members, n_bytes) -> list[tuple[int, int]]:
    """Return the unpacked sizes of all members and of those with text, each with its limit."""
    of_text = sum(size for name, (size, _) in members.items() if not name.endswith(".npz"))
    of_all = sum(size for size, _ in members.values())
    return [(of_all, MOST_TIMES * n_bytes + ALWAYS), (of_text, MOST_TIMES * n_bytes + ALWAYS_TEXT)]


def _too_many(text: bytes) -> str:
    """Return which limit a JSON text exceeds; empty if none."""
    lists = text.count(b"[") + text.count(b"{")
    if lists > MOST_LISTS:
        return f"more than {MOST_LISTS:,} lists"
    return f"more than {MOST_VALUES:,} values" if lists + text.count(b",") > MOST_VALUES else ""


def as_json(value) -> str:
    """Return a value as JSON, with null for numbers that are not finite."""
    finite = plain(value, lambda leaf: None if isinstance(leaf, float) and not math.isfinite(leaf) else leaf)
    return json.dumps(finite, ensure_ascii=False, allow_nan=False)


class Archive:
    """An archive that is being read, whose manifest and sizes were checked."""

    def __init__(self, file: zipfile.ZipFile, use: Use, name: str, folder: Path):
        self._zip, self._use, self._name, self._folder = file, use, name, folder
        infos = [info for info in file.infolist() if not info.is_dir()]
        entries = {info.filename: info for info in infos}
        if len(entries) < len(infos):
            self._refuse(f"has two files of one name. {_REMEDY}")
        if len(infos) > MOST_MEMBERS:
            self._refuse(f"has {len(infos):,} files; at most {MOST_MEMBERS:,} are read")
        if any(info.flag_bits & 1 for info in infos):
            self._refuse("has a password: unpack it and pack it again without one")
        self.members = {MANIFEST: None}
        manifest = self._manifest(entries)
        self.members, self.about = manifest["members"], manifest["about"]
        self.written_by = str(manifest.get("xmlcore", ""))[:40]
        self._check_members(entries)
        self._check_sizes()

    def _refuse(self, reason):
        raise self._use.error(f"{self._name} {reason}")

    def _manifest(self, entries) -> dict:
        title = self._use.title
        if MANIFEST not in entries:
            self._refuse(f"is no {title}: it has no {MANIFEST}")
        self._zip.fp.seek(0, os.SEEK_END)
        most = min(MOST_MANIFEST, MOST_TIMES * self._zip.fp.tell() + ALWAYS_TEXT)
        if entries[MANIFEST].file_size > most:
            self._refuse(f"has a {MANIFEST} of more than {most:,} bytes")
        self.members[MANIFEST] = [entries[MANIFEST].file_size, entries[MANIFEST].CRC]
        manifest = self.json(MANIFEST)
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            self._refuse(f"is no {title}: {MANIFEST} does not say {FORMAT!r}")
        if manifest.get("holds") != self._use.holds:
            self._refuse(f"is no {title}: it holds a {manifest.get('holds')!r:.40}")
        if manifest.get("version") != VERSION:
            self._refuse(f"cannot be read: {refusal('it', manifest.get('version'), VERSION, manifest.get('xmlcore'))}")
        if not isinstance(manifest.get("about"), dict) or not isinstance(manifest.get("members"), dict):
            self._refuse(f"is damaged: {MANIFEST} has no description or no list of members")
        return manifest

    def _check_members(self, entries):
        """Refuse the archive unless it has the members of the manifest, of the stated sizes, and no others."""
        for name in sorted(self.members.keys() ^ (entries.keys() - {MANIFEST}))[:1]:
            reason = "has {}, which its {} does not list" if name in entries else "lacks {}, which its {} lists"
            self._refuse(f"{reason.format(repr(name[:100]), MANIFEST)}. {_REMEDY}")
        for name, facts in self.members.items():
            if not re.fullmatch(self._use.members, name):
                self._refuse(f"is no {self._use.title}: it has {name[:100]!r}")
            if not (isinstance(facts, list) and len(facts) == 2 and all(type(fact) is int for fact in facts)):
                self._refuse(f"is damaged: its {MANIFEST} has no size and checksum of {name}")
            if entries[name].file_size != facts[0]:
                self._refuse(f"is damaged: {name} has another size than its {MANIFEST} says. {_REMEDY}")

    def _check_sizes(self):
        """Refuse an archive whose members unpack to too much."""
        self._zip.fp.seek(0, os.SEEK_END)
        for total, most in _sizes(self.members, self._zip.fp.tell()):
            if total > min(MOST_BYTES, most):
                self._refuse(f"unpacks to {total:,} bytes; at most {min(MOST_BYTES, most):,} are read")
        free = free_bytes()
        for name, (size, _) in self.members.items():
            if not name.endswith(".npz") and size > MOST_TEXT:
                self._refuse(f"has {name}, which unpacks to {size:,} bytes; at most {MOST_TEXT:,} are read")
            if free is not None and (MEMORY if name.endswith(".npz") else MEMORY_OF_TEXT) * size > free:
                self._refuse(f"is too large for the memory of this machine: {name} unpacks to {size:,} bytes")

    def json(self, name: str):
        with self._damage(name):
            content = io.BytesIO()
            self._unpack(name, content)
            text = content.getvalue()
            if many := _too_many(text):
                self._refuse(f"has {many} in {name}")
            value = json.loads(text)
            if b"\\u" in text:  # half of a character, alone, is no text
                as_json(value).encode()
            return value

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        path = self.extract(name)
        with self._damage(name):
            arrays = plain_arrays(path)
        path.unlink()
        return arrays

    def extract(self, name: str) -> Path:
        """Write a member below the folder of this archive, which is removed at the end, and return its path."""
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with self._damage(name), open(target, "wb") as file:
            self._unpack(name, file)
        return target

    def _unpack(self, name, file):
        """Write a member to an open file, but no more than the manifest says."""
        if name not in self.members:
            self._refuse(f"is no {self._use.title}: it lacks {name}. {_REMEDY}")
        facts, found = self.members[name], [0, 0]
        with self._zip.open(name) as source:
            while piece := source.read(min(_PIECE, facts[0] - found[0] + 1)):  # one byte too many is found
                found = [found[0] + len(piece), zlib.crc32(piece, found[1])]
                file.write(piece)
        if found != facts:
            self._refuse(f"is damaged: {name} has other bytes than were written. {_REMEDY}")

    def _damage(self, where):
        """Return a context in which any error of a parser is one of this use of archives."""
        return _refusing(self._use, f"{where} of {self._name} is damaged")


@contextmanager
def _refusing(use, problem):
    """Turn errors of parsers into the error of a use of archives; those of disk and memory stay."""
    try:
        yield
    except (use.error, MemoryError):
        raise
    except Exception as error:  # on damaged bytes parsers can raise nearly any exception
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise use.error(f"{problem} ({type(error).__name__}: {str(error)[:200]}). {_REMEDY}") from error


@contextmanager
def reading(source, use: Use, name: str = "the file"):
    """Give the :class:`Archive` in a path or an open binary file."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="xmlcore-tmp-"))
        with _refusing(use, f"{name} is damaged, or no zip file"):
            file = stack.enter_context(BoundedZip(source))
            archive = Archive(file, use, name, Path(folder))
        yield archive


def holds(path, use: Use) -> bool:
    """Return whether a file is an archive of this use, by the names of its members."""
    try:
        with zipfile.ZipFile(path) as file:
            names = {info.filename for info in file.infolist() if not info.is_dir()}
    except Exception:  # of a damaged list of members
        return False
    return MANIFEST in names and all(re.fullmatch(use.members, name) for name in names - {MANIFEST})


def write_arrays(path, arrays: dict[str, np.ndarray]) -> None:
    """Write an npz file in which each array begins at a multiple of 64 bytes, as arrays do that are mapped from it."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            begin = archive.fp.tell() + 30 + len(info.filename.encode()) + 20 + 4  # 20: sizes of 8 bytes
            info.extra = struct.pack("<HH", _PADDING, -begin % 64) + bytes(-begin % 64)
            with archive.open(info, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asanyarray(array), allow_pickle=False)


def _place(archive, info) -> tuple:
    """Return where a plain array begins in an npz file, its size in bytes, its type, shape and order."""
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_column, dtype = read(stream)
        n_bytes = math.prod(shape) * dtype.itemsize
        fits = info.compress_type == zipfile.ZIP_STORED and stream.tell() + n_bytes == info.file_size
        if dtype.hasobject or not fits:
            raise ValueError(f"{info.filename[:60]!r} is no plain array")
        archive.fp.seek(info.header_offset + 26)
        begin = info.header_offset + 30 + sum(struct.unpack("<HH", archive.fp.read(4))) + stream.tell()
    return begin, n_bytes, dtype, shape, "F" if by_column else "C"


def plain_arrays(path, mmap: bool = False, unread: str | None = None) -> dict[str, np.ndarray]:
    """Return the arrays of an npz file whose headers state no more than the file holds; no pickle is read.

    With ``mmap`` they are mapped from the file, which is never changed, unless one of them is not aligned there. Those
    whose names end with ``unread`` are then not read before they are needed.
    """
    places = {}
    with BoundedZip(path) as archive:
        if sum(info.file_size for info in archive.infolist()) > os.path.getsize(path):  # arrays may share their bytes
            raise ValueError("it has no plain arrays: their headers state more than it holds")
        for info in archive.infolist():
            places[info.filename.removesuffix(".npy")] = _place(archive, info)
            if mmap and not (unread and info.filename.endswith(f"{unread}.npy")):  # compare it with its checksum
                with archive.open(info) as stream:
                    while stream.read(_PIECE):
                        pass
    if mmap and all(begin % dtype.alignment == 0 for begin, _, dtype, _, _ in places.values()):
        whole = np.asarray(np.memmap(path, np.uint8, "c"))  # kernels are compiled anew for read-only arrays
        return {
            name: whole[begin : begin + n_bytes].view(dtype).reshape(shape, order=order)
            for name, (begin, n_bytes, dtype, shape, order) in places.items()
        }
    # np.load does not close a damaged file that it opened itself, and Windows cannot remove an open file.
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}
