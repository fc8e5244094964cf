"""Runs of the compiled parser of ARFF rows, over a whole text or block after block."""

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import arff as kernels
from xmlcore.datasets.readers.blocks import (
    MANY_ROWS,
    SHORT,
    Growing,
    LargeText,
    NotInBlocks,
    RowArrays,
    with_hard_numbers,
)
from xmlcore.datasets.readers.rows import canonical_csr
from xmlcore.datasets.readers.sources import MEMORY_BOUND


def run(text, header, columns, source):
    """Run the compiled parser over a text; return the reader that ran, and the status of the parser."""
    if isinstance(text, LargeText):
        try:
            reader = ArffBlockReader(text, header, columns, source)
            return reader, reader.run()
        except NotInBlocks:
            text = text.whole()
    reader = ArffReader(text, header, columns, source)
    return reader, reader.run()


_PER_ROW = 24  # bytes that a row takes while it is read, even if it has nothing


class _Bounds:
    """How many values rows can have at most."""

    def __init__(self, columns, source):
        kind = columns.attributes.kind
        self.source = source
        self.n_features, self.n_labels = int(np.count_nonzero(kind < kernels.LABEL)), columns.n_labels
        self.n_label_defaults = int(np.count_nonzero(kind[columns.attributes.default] >= kernels.LABEL))
        self.n_defaults = columns.attributes.default.size - self.n_label_defaults
        self.max_bytes = MEMORY_BOUND if source.bound is None else source.bound
        self.given = source.bound is not None
        self.n_rows = self.n_sparse = self.n_filled = 0

    def most_of(self, text):
        """Return how many rows and values of X and Y a text has at most; raise an error if all so far are too many."""
        n_rows, n_sparse, separators = kernels.count_entries(text)
        n_sparse, entries = min(n_sparse, n_rows), separators + n_rows
        self.n_rows, self.n_sparse = self.n_rows + n_rows, self.n_sparse + n_sparse
        if self.n_sparse * (8 * self.n_defaults + 4 * self.n_label_defaults) > self.max_bytes:
            values = self.n_sparse * (self.n_defaults + self.n_label_defaults)
            found = f"its {self.n_sparse:,} sparse rows leave out up to {values:,} values that are not 0"
            remedy = "Declare 0 as the first value of nominal attributes, which those are, or allow more bytes."
            raise self.source.error(found, remedy, argument="max_bytes")
        self._check_not_empty(text, n_rows)
        n_x = min(entries + n_sparse * self.n_defaults, n_rows * self.n_features)
        return n_rows, n_x, min(entries + n_sparse * self.n_label_defaults, n_rows * self.n_labels)

    def _check_not_empty(self, text, n_rows):
        """Raise DatasetFormatError if nearly all of very many rows are empty: few packed bytes can be 10^8 rows."""
        short = text.size <= SHORT * n_rows
        self.n_filled += int(np.count_nonzero((text > ord(" ")) & (text < ord("{")))) if short else n_rows
        allowed = self.max_bytes // _PER_ROW if self.given else MANY_ROWS
        if self.n_rows > allowed and self.n_filled < self.n_rows / 100:
            found = f"it has {self.n_rows:,} rows, of which all but {self.n_filled:,} or fewer are empty"
            remedy = "Leave the empty rows out. If they are right, allow the memory that they take."
            raise self.source.error(found, remedy, argument="max_bytes", value=_PER_ROW * self.n_rows)


class ArffReader:
    """A run of the compiled parser, with arrays that are large enough for all values of the text."""

    def __init__(self, text, header, columns, source):
        self.text, self.header, self.columns = text, header, columns
        n_rows, n_x, n_y = _Bounds(columns, source).most_of(text[header.start :])
        self.arrays = RowArrays.empty(n_rows, n_x, n_y)
        self.out = np.zeros(kernels.OUT_SIZE, np.int64)

    def run(self):
        places = self.header.start, self.header.data_line + 1, self.columns.attributes, self.arrays
        status = with_hard_numbers(kernels, self.out, self.text, *places)
        if status == kernels.OK:
            rows, n_x, n_y = _counts(self.out)
            for array, size in zip(self.arrays, (rows + 1, n_x, n_x, rows + 1, n_y)):
                array.resize(size, refcheck=False)  # in place: a copy would take as much memory again
        return status


class ArffBlockReader:
    """The same for a large text, whose blocks are parsed one after the other."""

    def __init__(self, text, header, columns, source):
        self.text, self.header, self.columns = text, header, columns
        self.bounds = _Bounds(columns, source)
        self.arrays, self.out = None, np.zeros(kernels.OUT_SIZE, np.int64)

    def run(self):
        """Parse the text, and return OK; raise NotInBlocks if there is an error."""
        grown, out = Growing(), self.out
        start, line, total = self.header.start, self.header.data_line + 1, np.zeros_like(self.out)
        for block, share in self.text.blocks():
            arrays = grown.room(*self.bounds.most_of(block[start:]), share)
            status = with_hard_numbers(kernels, out, block, start, line, self.columns.attributes, arrays)
            if status != kernels.OK:
                raise NotInBlocks
            grown.add(*_counts(out))
            _add_remarks(total, out)
            start, line = 0, int(out[kernels.LINE])
        total[[kernels.ROWS, kernels.N_FEATURES, kernels.N_LABELS]] = grown.rows, grown.n_x, grown.n_y
        self.out, self.arrays = total, grown.finished()
        return kernels.OK


def _counts(out):
    return tuple(int(out[count]) for count in (kernels.ROWS, kernels.N_FEATURES, kernels.N_LABELS))


def _add_remarks(total, out):
    for count, first in (
        (kernels.MISSING_FEATURES, kernels.MISSING_FEATURE_LINE),
        (kernels.MISSING_LABELS, kernels.MISSING_LABEL_LINE),
        (kernels.WEIGHTED_ROWS, kernels.WEIGHT_LINE),
    ):
        total[first] = total[first] if total[count] else out[first]
        total[count] += out[count]


def matrices(reader):
    """Return X and Y of a reader that has run; they take the place of the arrays that were parsed into."""
    arrays, columns = reader.arrays, reader.columns
    X = canonical_csr(arrays.x_indptr, arrays.x_indices, arrays.x_data, columns.n_features)
    indices, ones = arrays.y_indices, np.ones(arrays.y_indices.size, bool)
    labels = columns.attributes.column[columns.is_label]
    if np.any(np.diff(labels) < 0):  # the labels' order is not that of the file
        Y = sp.csr_array((ones, indices, arrays.y_indptr), shape=(X.shape[0], columns.n_labels))
        Y.sort_indices()
        indices = Y.indices
    return X, canonical_csr(arrays.y_indptr, indices, ones, columns.n_labels)
