"""Trained nodes in a file, group after group, so that they take no memory, and a training that was stopped goes on."""

import hashlib
import os
import tempfile
import threading
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np

from xmlcore import __version__

DTYPES = np.int32, np.uint32, np.uint8, np.float32, np.float32  # of the arrays of a GroupResult
FACTS = 4  # numbers of 8 bytes before the sizes and the arrays of a group: itself, checksum, epochs, violation
HEAD = FACTS + len(DTYPES)


class Journal:
    """A file with the results of groups of siblings; what was written to it before is there."""

    def __init__(self, path: Path, stays: bool = False):
        """Open a file, which ``stays``, or is removed when all was read."""
        self._path, self._stays, self._lock = path, stays, threading.Lock()
        self._at, self._end, self._whole = {}, 0, None  # where groups begin, and the last one ends
        self._file = opened_alone(path)
        if self._file is None:  # another process trains the same at this moment
            self._file = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115
        size = os.fstat(self._file.fileno()).st_size
        while (record := self._head(size)) is not None:
            number, end = record
            self._at[number], self._end = self._end, end
        self._file.truncate(self._end)

    def _head(self, size):
        """Return the group whose record begins at the end of what is known, and where it ends; None if it is torn."""
        self._file.seek(self._end)
        found = self._file.read(8 * HEAD)
        head = np.frombuffer(found if len(found) == 8 * HEAD else b"", np.int64)
        if not head.size or head[FACTS:].min() < 0 or self._end + 8 * HEAD + _bytes(head) > size:
            return None
        body = self._file.read(_bytes(head))
        return (int(head[0]), self._file.tell()) if _checksum(head, body) == head[1] else None

    def __contains__(self, number: int) -> bool:
        return number in self._at

    def write(self, number: int, found) -> None:
        """Add a GroupResult; the file has it when this returns."""
        *arrays, epochs, violation = found
        body = b"".join(np.ascontiguousarray(part, kind).tobytes() for part, kind in zip(arrays, DTYPES))
        bits = np.float64(violation).view(np.int64)
        head = np.array([number, 0, epochs, bits, *(part.size for part in arrays)], np.int64)
        head[1] = _checksum(head, body)
        with self._lock:
            self._file.seek(self._end)
            self._file.write(head.tobytes() + body)
            self._file.flush()
            self._at[number], self._end = self._end, self._file.tell()

    def read(self, number: int) -> tuple:
        """Return what :meth:`write` was given, mapped from the file; no group is added after the first call."""
        if self._whole is None:
            self._whole = np.asarray(np.memmap(self._file, np.uint8, "r", shape=(self._end,)))
        at = self._at[number] + 8 * HEAD
        head, arrays = self._whole[at - 8 * HEAD : at].view(np.int64), []
        for size, kind in zip(head[FACTS:].tolist(), DTYPES):
            arrays.append(self._whole[at : at + size * np.dtype(kind).itemsize].view(kind))
            at += arrays[-1].nbytes
        return *arrays, int(head[2]), float(head[3].view(np.float64))

    def close(self) -> None:
        """Close the file, and remove it if all was read; that is readable further on."""
        self._file.close()
        if self._whole is not None and not self._stays:
            with suppress(OSError):
                self._path.unlink()


def name_of(*of) -> str:
    """Return the name in a folder for what is trained of these arrays and values."""
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    for part in of:
        digest.update(np.ascontiguousarray(part) if isinstance(part, np.ndarray) else repr(part).encode())
    return f"nodes-{digest.hexdigest()}"


def opened_alone(path):
    """Open a file to read and write, which only this process has open; None if another one has."""
    file = open(path, "a+b")  # noqa: SIM115
    with suppress(ImportError):  # Windows
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
    return file


def _checksum(head, body) -> int:
    return zlib.crc32(body, zlib.crc32(np.delete(head, 1)))  # zeros, as after a loss of power, do not fit


def _bytes(head) -> int:
    return sum(int(size) * np.dtype(kind).itemsize for size, kind in zip(head[FACTS:], DTYPES))
