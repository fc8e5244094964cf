"""Runs of the compiled parser of ARFF rows, over a whole text or block after block."""

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import arff as kernels
from xmlcore.datasets.readers.blocks import MANY_ROWS, SHORT, NotInBlocks, TextReader
from xmlcore.datasets.readers.rows import canonical_csr
from xmlcore.datasets.readers.sources import MEMORY_BOUND

_PER_ROW = 24  # bytes that a row takes while it is read, even if it has nothing


def run(text, header, columns, source):
    """Run the compiled parser over a text; return the reader that ran, and the status of the parser."""
    reader = ArffReader(text, header, columns, source)
    try:
        return reader, reader.run()
    except NotInBlocks:
        return run(text.whole(), header, columns, source)


class ArffReader(TextReader):
    """A run of the parser, which knows how many values rows can have at most."""

    kernels = kernels
    remarks = (
        (kernels.MISSING_FEATURES, kernels.MISSING_FEATURE_LINE),
        (kernels.MISSING_LABELS, kernels.MISSING_LABEL_LINE),
        (kernels.WEIGHTED_ROWS, kernels.WEIGHT_LINE),
    )

    def __init__(self, text, header, columns, source):
        super().__init__(text, header.start, header.data_line + 1)
        self.header, self.columns, self.source = header, columns, source
        kind, default = columns.attributes.kind, columns.attributes.default
        self._n_features = int(np.count_nonzero(kind < kernels.LABEL))
        self._n_label_defaults = int(np.count_nonzero(kind[default] >= kernels.LABEL))
        self._n_defaults = default.size - self._n_label_defaults
        self._max_bytes = MEMORY_BOUND if source.bound is None else source.bound
        self._n_rows = self._n_sparse = self._n_filled = 0

    def places(self, start, line, n_before):
        return start, line, self.columns.attributes

    def most_of(self, text):
        """Return how many rows and values of X and Y a text has at most; raise an error if all so far are too many."""
        n_rows, n_sparse, separators = kernels.count_entries(text)
        n_sparse, entries = min(n_sparse, n_rows), separators + n_rows
        self._n_rows, self._n_sparse = self._n_rows + n_rows, self._n_sparse + n_sparse
        if self._n_sparse * (8 * self._n_defaults + 4 * self._n_label_defaults) > self._max_bytes:
            values = self._n_sparse * (self._n_defaults + self._n_label_defaults)
            found = f"its {self._n_sparse:,} sparse rows leave out up to {values:,} values that are not 0"
            remedy = "Declare 0 as the first value of nominal attributes, which those are, or allow more bytes."
            raise self.source.error(found, remedy, argument="max_bytes")
        self._check_not_empty(text, n_rows)
        n_x = min(entries + n_sparse * self._n_defaults, n_rows * self._n_features)
        return n_rows, n_x, min(entries + n_sparse * self._n_label_defaults, n_rows * self.columns.n_labels)

    def _check_not_empty(self, text, n_rows):
        """Raise DatasetFormatError if nearly all of very many rows are empty: few packed bytes can be 10^8 rows."""
        short = text.size <= SHORT * n_rows
        self._n_filled += int(np.count_nonzero((text > ord(" ")) & (text < ord("{")))) if short else n_rows
        allowed = MANY_ROWS if self.source.bound is None else self._max_bytes // _PER_ROW
        if self._n_rows > allowed and self._n_filled < self._n_rows / 100:
            found = f"it has {self._n_rows:,} rows, but at most {self._n_filled:,} of them are not empty"
            remedy = "Leave the empty rows out. If they are right, allow the memory that they take."
            raise self.source.error(found, remedy, argument="max_bytes", value=_PER_ROW * self._n_rows)


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
