"""Lines of a table and their cells, where quotes may hold separators and line ends."""

import re
from dataclasses import dataclass

import numpy as np

_BLOCK = 4 << 20  # number of bytes of text that are read at a time
_NEWLINE, _QUOTE = 10, 34
_BLANK_LINES = re.compile(rb"(?:[ \t\r]*+\n)*+(?:[ \t\r]*+\Z)?+")


@dataclass(frozen=True)
class RecordBlock:
    """Some consecutive rows of a table."""

    content: bytes  # without blank lines
    starts: np.ndarray  # where each row starts in ``content``, and the end of the last one
    lines: np.ndarray  # of the file, from 1, in which each row starts
    n_cells: np.ndarray

    @property
    def n_rows(self) -> int:
        return self.lines.size

    def line(self, row: int) -> int:
        return int(self.lines[row])

    def column(self, row: int, cell: int, separator: bytes) -> int:
        """Return the byte within the line, from 1, at which a cell starts."""
        content = self.content[self.starts[row] : self.starts[row + 1]]
        return 1 + sum(len(part) + 1 for part in _raw_cells(content, separator)[:cell])


def first_records(text, count: int) -> list[bytes]:
    """Return up to ``count`` first lines of a text that are not blank, with line ends in quotes."""
    found, at = [], _BLANK_LINES.match(text).end()
    while at < text.size and len(found) < count:
        end = _record_end(text, at)
        found.append(text[at:end].tobytes().rstrip(b"\r\n"))
        at = _BLANK_LINES.match(text, end).end()
    return found


def _record_end(text, start):
    """Return where the line that starts at ``start`` ends: after a line end outside quotes."""
    at, size = start, 1 << 16
    while True:
        piece = text[start : start + size]
        inside = np.logical_xor.accumulate(piece == _QUOTE)
        ends = np.flatnonzero((piece == _NEWLINE) & ~inside)
        if ends.size:
            return start + int(ends[0]) + 1
        at = start + piece.size
        if at >= text.size:
            return text.size
        size *= 4


def cells(line: bytes, separator: bytes) -> list[bytes]:
    found = []
    for cell in _raw_cells(line.rstrip(b"\r\n"), separator):
        plain = cell.strip(b" ")
        if len(plain) >= 2 and plain[:1] == plain[-1:] == b'"':
            plain = plain[1:-1].replace(b'""', b'"')
        found.append(plain)
    return found


def _raw_cells(line, separator):
    if b'"' not in line:
        return line.split(separator)
    found, parts, is_open = [], [], False
    for piece in line.split(separator):
        parts.append(piece)
        is_open ^= piece.count(b'"') % 2 == 1
        if not is_open:
            found.append(separator.join(parts))
            parts = []
    return [*found, separator.join(parts)] if parts else found


def blocks(text, separator: bytes, has_header: bool):
    """Yield the rows of a table in blocks of some megabytes; ``has_header``: the first line is not a row."""
    at, line = 0, 1
    mark = separator[0]
    while at < text.size:
        size = _BLOCK
        while True:
            piece = text[at : at + size]
            quoted = piece == _QUOTE
            inside = np.logical_xor.accumulate(quoted) if quoted.any() else quoted
            ends = np.flatnonzero((piece == _NEWLINE) & ~inside) + 1
            if at + piece.size >= text.size:
                if not ends.size or ends[-1] < piece.size:
                    ends = np.append(ends, piece.size)
                break
            if ends.size:
                break
            size *= 2
        piece, inside = piece[: ends[-1]], inside[: ends[-1]]
        starts = np.concatenate([[0], ends[:-1]])
        newlines = _counts(piece == _NEWLINE, starts) if inside.any() else np.ones(starts.size, np.int64)
        lines = line + np.concatenate([[0], np.cumsum(newlines)[:-1]])
        n_cells = 1 + _counts((piece == mark) & ~inside, starts)
        line += int(newlines.sum())
        at += piece.size
        blank = _is_blank(piece, starts, n_cells)
        if has_header and not blank.all():  # the first line that is not blank
            blank[int(np.argmin(blank))] = True
            has_header = False
        if blank.all():
            continue
        if blank.any():
            kept = np.repeat(~blank, np.diff(np.append(starts, piece.size)))
            piece = piece[kept]
            lengths = np.diff(np.append(starts, kept.size))[~blank]
            starts, lines, n_cells = np.cumsum(np.concatenate([[0], lengths[:-1]])), lines[~blank], n_cells[~blank]
        yield RecordBlock(piece.tobytes(), np.append(starts, piece.size), lines, n_cells)


def _counts(marked, starts):
    return np.diff(np.searchsorted(np.flatnonzero(marked), np.append(starts, marked.size)))


def _is_blank(piece, starts, n_cells):
    blank = n_cells == 1
    if blank.any():
        full = (piece != 32) & (piece != 9) & (piece != 13) & (piece != _NEWLINE)
        blank &= ~np.logical_or.reduceat(full, starts)
    return blank
