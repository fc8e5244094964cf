"""Large files that are read and parsed in blocks of whole lines, so that their text is never in memory as a whole."""

import os
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from xmlcore.datasets.readers.recognise import NPY, check_text
from xmlcore.datasets.readers.sources import NamedSource
from xmlcore.mapped import COLUMNS, VALUES, mapped
from xmlcore.progress import part_of, silent

BLOCK = 4 << 20  # bytes of a block, or more where a line is longer; files up to this size are read at once
MANY_ROWS = 1_000_000  # so many rows may be empty: few packed bytes can hold them


class NotInBlocks(Exception):
    """A text must be parsed as a whole, for the message of an error, or as its blocks do not suffice."""


class LargeText:
    """The text of a file, which is read when it is needed; ``head`` is its first block."""

    def __init__(self, source: NamedSource, npz: bool = False, progress=silent):
        self._source, self._npz = source, npz
        self._in_blocks, self._at_once = part_of(progress, 0.0, 0.8), part_of(progress, 0.8, 0.9)
        with closing(self._blocks(silent)) as blocks:
            self.head = next(blocks)[0]

    def blocks(self):
        """Yield blocks of whole lines, read-only, each with the share of the file read; a next block overwrites it."""
        return self._blocks(self._in_blocks)

    def _blocks(self, progress):
        with self._source.pieces(progress, self._npz) as (pieces, share):
            buffer, size, whole_lines, first = np.empty(2 * BLOCK, np.uint8), 0, 0, True
            for piece in pieces:
                if first:
                    piece, first = piece.removeprefix(b"\xef\xbb\xbf"), False
                if size + len(piece) > buffer.size:  # a long line
                    buffer = np.concatenate([buffer[:size], np.empty(2 * (size + len(piece)), np.uint8)])
                buffer[size : size + len(piece)] = np.frombuffer(piece, np.uint8)
                end = piece.rfind(b"\n") + 1
                whole_lines = size + end if end else whole_lines
                size += len(piece)
                if size >= BLOCK and whole_lines:
                    yield _readonly(buffer[:whole_lines]), share()
                    buffer[: size - whole_lines] = buffer[whole_lines:size].copy()
                    size, whole_lines = size - whole_lines, 0
            yield _readonly(buffer[:size]), 1.0

    def whole(self) -> np.ndarray:
        """Return the whole text, as :meth:`NamedSource.text` does."""
        return self._source.text(npz=self._npz, progress=self._at_once)


def _readonly(array):
    array.flags.writeable = False
    return array


def read_or_open(source: NamedSource, *, npz=False, progress=silent) -> np.ndarray | LargeText:
    """Return the text of a source, as :meth:`NamedSource.text` does; that of a large file unread."""
    if source.is_path and os.path.isfile(source.given) and os.path.getsize(source.given) > BLOCK:
        text = LargeText(source, npz, progress)
        if not bytes(text.head[:6]).startswith((b"PK", NPY)):  # a NumPy archive
            check_text(text.head, source)
            return text
    return source.text(npz=npz, progress=part_of(progress, 0.0, 0.5))


def head_of(text: np.ndarray | LargeText) -> np.ndarray:
    return text.head if isinstance(text, LargeText) else text


class RowArrays(NamedTuple):
    """Arrays that a compiled parser fills with the rows of a text, as long as they can be at most."""

    x_indptr: np.ndarray  # int64 (rows + 1,)
    x_indices: np.ndarray  # int32
    x_data: np.ndarray  # float32
    y_indptr: np.ndarray  # int64 (rows + 1,)
    y_indices: np.ndarray  # int32

    @classmethod
    def empty(cls, n_rows: int, n_x: int, n_y: int) -> "RowArrays":
        kinds, sizes = (np.int64, np.int32, np.float32, np.int64, np.int32), (n_rows + 1, n_x, n_x, n_rows + 1, n_y)
        return cls(*(np.empty(size, kind) for size, kind in zip(sizes, kinds)))


class Growing:
    """The arrays that a compiled parser fills, block after block, as large as the first one lets the file seem."""

    def __init__(self, folder: Path | None = None):
        self._arrays = RowArrays(*(np.zeros(1, array.dtype) for array in RowArrays.empty(0, 0, 0)))
        self._files = {} if folder is None else {1: folder / COLUMNS, 2: folder / VALUES}  # of features, by place
        for file in self._files.values():
            file.write_bytes(b"")
        self.rows = self.n_x = self.n_y = 0

    def room(self, rows: int, n_x: int, n_y: int, share: float):
        """Return the free ends of the arrays, with room for more rows, features and labels."""
        ends, arrays = (self.rows, self.n_x, self.n_x, self.rows, self.n_y), []
        for place, (array, end, more) in enumerate(zip(self._arrays, ends, (rows, n_x, n_x, rows, n_y))):
            if end + more + 1 > array.size:
                whole = int(1.02 * (end + more) / max(share, 1e-3))
                size = max(whole, int(1.25 * array.size), end + more + 1)
                if place in self._files:
                    array = mapped(self._files[place], array.dtype, size, "r+")
                else:
                    larger = np.empty(size, array.dtype)
                    larger[: end + 1] = array[: end + 1]
                    array = larger
            arrays.append(array)
        self._arrays = self._arrays._make(arrays)
        return self._arrays._make(array[end:] for array, end in zip(arrays, ends))

    def add(self, rows: int, n_x: int, n_y: int) -> None:
        """Count the rows, features and labels that were written to what :meth:`room` returned."""
        self._arrays.x_indptr[self.rows : self.rows + rows + 1] += self.n_x
        self._arrays.y_indptr[self.rows : self.rows + rows + 1] += self.n_y
        self.rows, self.n_x, self.n_y = self.rows + rows, self.n_x + n_x, self.n_y + n_y

    def finished(self):
        """Return the arrays, cut in place to what is written; do not use those of :meth:`room` any more."""
        arrays = list(self._arrays)
        for place, file in self._files.items():
            os.truncate(file, self.n_x * arrays[place].itemsize)
            arrays[place] = mapped(file, arrays[place].dtype, self.n_x, "r+")
        return cut(RowArrays(*arrays), self.rows, self.n_x, self.n_y)


def cut(arrays, rows, n_x, n_y) -> RowArrays:
    for array, size in zip(arrays, (rows + 1, n_x, n_x, rows + 1, n_y)):
        if array.size != size:  # an array of a file has its size
            array.resize(size, refcheck=False)  # in place: a copy would take as much memory again
    return arrays
