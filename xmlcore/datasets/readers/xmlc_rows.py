"""Runs of the compiled parser of XMLC and svmlight rows, over a whole text or block after block."""

import numpy as np

from xmlcore._kernels import xmlc as kernels
from xmlcore.datasets.readers.blocks import MANY_ROWS, SHORT, Growing, NotInBlocks, RowArrays

HARD_CAPACITY = 256  # number of numbers that the first run of the compiled parser can leave to Python


def with_hard_numbers(kernels, out, text, *places):
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
    """A run of the compiled parser, with arrays that are large enough for all values of the text."""

    def __init__(self, text, start, first_line, first_index, skip_blank):
        self.text, self.start, self.first_line = text, start, first_line
        self.first_index, self.skip_blank = first_index, skip_blank
        self.arrays, self.out = None, np.zeros(kernels.OUT_SIZE, np.int64)

    def run(self, n_rows, n_features, n_labels):
        if self.arrays is None:
            lines, colons, commas = kernels.count_tokens(self.text[self.start :])
            self.arrays = RowArrays.empty(lines, colons, commas + lines)
        form = kernels.TextForm(
            self.start, self.first_line, n_rows, n_features, n_labels, self.first_index, self.skip_blank
        )
        return with_hard_numbers(kernels, self.out, self.text, form, self.arrays)


class BlockReader(TextReader):
    """The same for a large text, whose blocks are parsed one after the other."""

    def run(self, n_rows, n_features, n_labels):
        """Parse the text, and return OK; raise NotInBlocks if there is an error, or there are very many short rows."""
        grown = Growing()
        start, line, size, total = self.start, self.first_line, 0, None
        for block, share in self.text.blocks():
            size += block.size
            lines, colons, commas = kernels.count_tokens(block[start:])
            arrays, out = grown.room(lines, colons, commas + lines, share), np.zeros_like(self.out)
            left = -1 if n_rows < 0 else n_rows - grown.rows
            form = kernels.TextForm(start, line, left, n_features, n_labels, self.first_index, self.skip_blank)
            status = with_hard_numbers(kernels, out, block, form, arrays)
            if status not in (kernels.OK, kernels.TOO_FEW_ROWS):
                raise NotInBlocks
            grown.add(*(int(out[count]) for count in (kernels.ROWS, kernels.N_FEATURES, kernels.N_LABELS)))
            if grown.rows >= MANY_ROWS and size <= SHORT * grown.rows:
                raise NotInBlocks
            total = out if total is None else _together(total, out)
            start, line = 0, int(out[kernels.LINE])
        if grown.rows < n_rows:
            raise NotInBlocks
        total[kernels.ROWS], total[kernels.N_FEATURES], total[kernels.N_LABELS] = grown.rows, grown.n_x, grown.n_y
        self.out[:], self.arrays = total, grown.finished()
        return kernels.OK


def _together(total, out):
    """Return what the compiled parser tells of a block with what it told of those before."""
    for least in (kernels.MIN_FEATURE, kernels.MIN_LABEL):
        out[least] = min(total[least], out[least])
    for most in (kernels.MAX_FEATURE, kernels.MAX_LABEL):
        out[most] = max(total[most], out[most])
    for count, first in (
        (kernels.REPEATED_FEATURE_ROWS, kernels.REPEATED_FEATURE_LINE),
        (kernels.REPEATED_LABEL_ROWS, kernels.REPEATED_LABEL_LINE),
    ):
        out[first] = total[first] if total[count] else out[first]
        out[count] += total[count]
    return out
