"""Large files that are read and parsed in blocks of whole lines, so that their text is never in memory as a whole."""

import os
from contextlib import closing
from typing import NamedTuple

import numpy as np

from xmlcore.datasets.readers.recognise import NPY, check_text
from xmlcore.datasets.readers.sources import NamedSource
from xmlcore.progress import part_of, silent

BLOCK = 4 << 20  # bytes of a block, or more where a line is longer; files up to this size are read at once
HARD_CAPACITY = 256  # number of numbers that the first run of the compiled parser can leave to Python
MANY_ROWS, SHORT = 1_000_000, 16  # so many rows with so few bytes each on average may be empty


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

    def __init__(self):
        self._arrays = RowArrays(*(np.zeros(1, array.dtype) for array in RowArrays.empty(0, 0, 0)))
        self.rows = self.n_x = self.n_y = 0

    def room(self, rows: int, n_x: int, n_y: int, share: float):
        """Return the free ends of the arrays, with room for more rows, features and labels."""
        ends = self._ends()
        arrays = []
        for array, end, more in zip(self._arrays, ends, (rows, n_x, n_x, rows, n_y)):
            if end + more + 1 > array.size:
                whole = int(1.02 * (end + more) / max(share, 1e-3))
                larger = np.empty(max(whole, int(1.25 * array.size), end + more + 1), array.dtype)
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
        return _cut(self._arrays, self.rows, self.n_x, self.n_y)

    def _ends(self):
        return self.rows, self.n_x, self.n_x, self.rows, self.n_y


def _cut(arrays, rows, n_x, n_y) -> RowArrays:
    for array, size in zip(arrays, (rows + 1, n_x, n_x, rows + 1, n_y)):
        array.resize(size, refcheck=False)  # in place: a copy would take as much memory again
    return arrays


def _counts(kernels, out) -> tuple[int, ...]:
    return tuple(int(out[count]) for count in (kernels.ROWS, kernels.N_FEATURES, kernels.N_LABELS))


def _with_hard_numbers(kernels, out, text, *places):
    """Parse a text, again if it has numbers that are hard to round and left to Python; return the parser's status."""
    spans = np.empty((HARD_CAPACITY, 2), np.int64)
    resolved = np.empty(0, np.float32)
    while True:
        status = kernels.parse_rows(text, *places, spans, resolved, out)
        found = int(out[kernels.N_HARD])
        if found <= resolved.size:
            return status
        if found > len(spans):
            spans = np.empty((found, 2), np.int64)
            continue
        with np.errstate(over="ignore"):
            resolved = np.array([float(text[a:b].tobytes()) for a, b in spans[:found]]).astype(np.float32)


class TextReader:
    """A run of the compiled parser of a format over a text, with arrays that hold all its values."""

    kernels, allowed = None, ()  # module of the parser, and what it may return of a block beside OK
    least, most, remarks = (), (), ()  # places in ``out`` of extremes, and of a count and the first line that it counts

    def __init__(self, text: np.ndarray | LargeText, start: int, first_line: int):
        self.text, self.start, self.first_line = text, start, first_line
        self.arrays, self.out = None, np.zeros(self.kernels.OUT_SIZE, np.int64)

    def most_of(self, text):
        """Return how many rows, and values of X and Y, a text has at most."""
        raise NotImplementedError

    def places(self, start, line, n_before) -> tuple:
        """Return the parser's arguments for a text, or for a block after some rows."""
        raise NotImplementedError

    def run(self) -> int:
        """Return the status of the parser; raise NotInBlocks if a large text has an error."""
        if isinstance(self.text, LargeText):
            return self._run_in_blocks()
        if self.arrays is None:
            self.arrays = RowArrays.empty(*self.most_of(self.text[self.start :]))
        places = self.places(self.start, self.first_line, 0)
        status = _with_hard_numbers(self.kernels, self.out, self.text, *places, self.arrays)
        if status == self.kernels.OK:
            _cut(self.arrays, *_counts(self.kernels, self.out))
        return status

    def _run_in_blocks(self):
        kernels, grown, start, line, total = self.kernels, Growing(), self.start, self.first_line, None
        for block, share in self.text.blocks():
            arrays, out = grown.room(*self.most_of(block[start:]), share), np.zeros_like(self.out)
            status = _with_hard_numbers(kernels, out, block, *self.places(start, line, grown.rows), arrays)
            if status not in (kernels.OK, *self.allowed):
                raise NotInBlocks
            grown.add(*_counts(kernels, out))
            self.check(grown.rows)
            total = out if total is None else self._together(total, out)
            start, line = 0, int(out[kernels.LINE])
        total[[kernels.ROWS, kernels.N_FEATURES, kernels.N_LABELS]] = grown.rows, grown.n_x, grown.n_y
        self.out[:], self.arrays = total, grown.finished()
        return kernels.OK

    def check(self, n_rows) -> None:
        """Raise NotInBlocks if a text of which so many rows are read is better read as a whole."""

    def _together(self, total, out):
        """Return the parser's numbers of a block combined with those of the blocks before."""
        for extremes, which in ((self.least, min), (self.most, max)):
            for place in extremes:
                out[place] = which(total[place], out[place])
        for count, first in self.remarks:
            out[first] = total[first] if total[count] else out[first]
            out[count] += total[count]
        return out
