"""How a file of rows is read, and what is in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.readers.sources import NamedSource
from xmlcore.validation import INT32_MAX

NO_ID = 2**40  # the smallest id of a file that has none


class ReadOptions(NamedTuple):
    """Arguments of :func:`xmlcore.datasets.read_matrix`, and facts from another file."""

    format: str = "auto"
    labels: object = None
    first_index: int = 0
    counts: str = "header"
    leave_out: bool = False
    max_columns: int | None = None
    classes: bool = False  # of the training file: see Rows
    lists: object = None  # of the training file: see Rows
    to: Path | None = None  # a folder for the values and columns of X
    known: frozenset | None = None  # names of a model's features, perhaps none: the rows are new, and need no labels


@dataclass
class Rows:
    """The rows of a file."""

    source: NamedSource
    format: str  # such as "xmlc"
    X: sp.csr_array
    Y: sp.csr_array | None  # None until the file with the labels is read
    header_line: int | None  # 0 if sizes are said in another way; None without a header: widths are lower bounds
    least_feature: int = NO_ID  # smallest id in the file, before ``first_index`` is subtracted
    least_label: int = NO_ID
    feature_names: list[str] | None = None
    label_names: list[str] | None = None
    label_source: NamedSource | None = None  # the file with the labels, if that is another
    has_label_width: bool | None = None  # whether the number of labels is exact; None: as ``header_line`` says
    classes: bool = False  # whether the file lists the class number of each row
    notes: tuple[str, ...] = ()  # sentences on how it was read
    ids: list[str] | None = None  # what a column of a table calls the rows
    lists: object = None  # what has read the column of a table that lists labels, by whose marks a test file is read

    def matrix(self, noun: str) -> sp.csr_array:
        return self.X if noun == "feature" else self.Y

    def has_width(self, noun: str) -> bool:
        """Return whether the file says how many features or labels there are, so that the number is exact."""
        if noun == "label" and self.has_label_width is not None:
            return self.has_label_width
        return self.header_line is not None


def canonical_csr(indptr, indices, data, n_columns) -> sp.csr_array:
    """Return a CSR matrix from arrays that are already sorted, and have no duplicates and no zeros."""
    kind = np.int32 if indices.size <= INT32_MAX else np.int64  # scipy needs both index arrays of one type
    indptr, indices = indptr.astype(kind, copy=False), indices.astype(kind, copy=False)
    matrix = sp.csr_array((data, indices, indptr), shape=(indptr.size - 1, n_columns))
    matrix.has_canonical_format = True
    return matrix


def widened(matrix: sp.csr_array, n_columns: int) -> sp.csr_array:
    if matrix.shape[1] == n_columns:
        return matrix
    return canonical_csr(matrix.indptr, matrix.indices, matrix.data, n_columns)
