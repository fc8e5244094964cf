"""XMLC text in two files: the features of the rows in one, their labels in the other."""

import re

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import xmlc as kernels
from xmlcore.datasets.errors import DatasetFormatError, warn
from xmlcore.datasets.readers.xmlc import (
    Rows,
    TextReader,
    canonical_csr,
    check_not_blank,
    error_of,
    first_row,
    shown_line,
    without_blank_end,
)
from xmlcore.validation import INT32_MAX

_HEADER = re.compile(rb"[ \t\r]*+([0-9]{1,19}+)[ \t]++([0-9]{1,19}+)[ \t\r]*+(?:#[^\n]*+)?+(?=\n|\Z)")
_RULE = {
    "feature": "A row of a file of features is id:value for each feature, separated by spaces.",
    "label": "A row of a file of labels is id:1 for each label, separated by spaces, or label ids separated by commas. "
    "Names of labels, one per line, are given as label_names=.",
}


def parse_features(text, source, first_index, counts) -> Rows:
    """Parse features alone: a header ``N D``, which may be absent, then ``f:v f:v`` for each row."""
    reader, header_line, width = _run(text, source, "feature", -1, first_index, counts)
    X = _matrix(reader, width)
    return Rows(source, "xmlc", X, None, header_line, int(reader.out[kernels.MIN_FEATURE]) + first_index)


def parse_labels(text, source, n_rows, first_index, counts) -> tuple[sp.csr_array, int | None, int]:
    """Parse labels alone: a header ``N L``, which may be absent, then ``l:1 l:1`` or ``l,l`` for each row."""
    reader, header_line, width = _run(text, source, "label", n_rows, first_index, counts)
    weights = _matrix(reader, width)
    if weights.nnz and weights.data.min() < 0:
        found = f"a label has the value {weights.data.min():g}"
        raise DatasetFormatError(source, found, "A label that a row has is written id:1, and the others are left out.")
    if (n_other := np.count_nonzero(weights.data != 1)) > 0:
        swapped = " Did features and labels change places?" if n_other > weights.nnz / 2 else ""
        warn(
            f"{source}: {n_other:,} of {weights.nnz:,} labels have a value other than 1: each counts as one label."
            + swapped
        )
    Y = weights.astype(bool)
    n_listed = int(reader.out[kernels.N_LABELS])
    if n_listed:  # rows written as ids with commas
        indptr, indices = reader.arrays.y_indptr[: weights.shape[0] + 1], reader.arrays.y_indices[:n_listed]
        listed = canonical_csr(indptr, indices, np.ones(n_listed, bool), width)
        Y = sp.csr_array(Y + listed)
        Y.sort_indices()
        Y.has_canonical_format = True
    least = min(int(reader.out[kernels.MIN_FEATURE]), int(reader.out[kernels.MIN_LABEL])) + first_index
    return Y, header_line, least


def header_at(text, start):
    return _HEADER.match(text, start)


def _run(text, source, noun, n_rows, first_index, counts):
    start, line = first_row(text, source)
    header = header_at(text, start)
    header_line, width, promised = None, INT32_MAX, n_rows
    if header is not None:
        header_line = line
        promised, width = int(header[1]), int(header[2])
        if not 0 < width <= INT32_MAX:
            found = f"the header promises {width} {noun}s"
            remedy = f"The header is: rows, {noun}s. At most {INT32_MAX} {noun}s are supported."
            raise DatasetFormatError(source, found, remedy, line)
        if counts == "header" and n_rows not in (-1, promised):
            found = f"the header promises {promised:,} rows, but the file of features has {n_rows:,}"
            raise DatasetFormatError(source, found, "Do both files belong together, training or test rows?", line)
        check_not_blank(text, header.end() + 1, promised, source, line)
        start, line = header.end() + 1, line + 1
    elif n_rows < 0:
        text = without_blank_end(text, start)
    if counts == "data" and header is not None:
        if n_rows < 0:
            text = without_blank_end(text, start)
        promised, width, header_line = n_rows, INT32_MAX, None
    if promised < 0:
        check_not_blank(text, start, -1, source, line)
    reader = TextReader(text, start, line, first_index, skip_blank=False)
    label_bound = width if noun == "label" else 0
    status = reader.run(promised, width, label_bound)
    if status != kernels.OK:
        raise _error(reader, status, source, noun, promised, width, header is not None)
    if width == INT32_MAX and header_line is None:
        width = 1 + int(max(reader.out[kernels.MAX_FEATURE], reader.out[kernels.MAX_LABEL]))
        if header is not None and (int(reader.out[kernels.ROWS]), width) != (int(header[1]), int(header[2])):
            warn(
                f"{source}: the header promises {int(header[1]):,} rows and {int(header[2]):,} {noun}s, but there are "
                f"{int(reader.out[kernels.ROWS]):,} and {width:,}, which are taken"
            )
    return reader, header_line, width


def _matrix(reader, width):
    rows, stored = int(reader.out[kernels.ROWS]), int(reader.out[kernels.N_FEATURES])
    arrays = reader.arrays
    return canonical_csr(
        arrays.x_indptr[: rows + 1].copy(), arrays.x_indices[:stored].copy(), arrays.x_data[:stored].copy(), width
    )


def _error(reader, status, source, noun, n_rows, width, has_header):
    line = int(reader.out[kernels.LINE])
    if noun == "feature" and status in (kernels.LABEL_RANGE, kernels.BAD_LABEL):
        at = int(reader.out[kernels.LINE_START])
        return DatasetFormatError(
            source,
            f"{shown_line(reader.text, at)} where a row of features belongs",
            "If the rows of this file name their labels, leave out the file of labels, or give it as label_names= if "
            "it has names.",
            line,
            1,
        )
    if not has_header and status in (kernels.TOO_FEW_ROWS, kernels.TOO_MANY_ROWS):
        rows = int(reader.out[kernels.ROWS])
        more = "more" if status == kernels.TOO_MANY_ROWS else f"only {rows:,}"
        found = f"the file of features has {n_rows:,} rows, but this file of labels has {more}"
        return DatasetFormatError(
            source, found, "Give a line for each row, a blank one for a row without labels.", line
        )
    error = error_of(reader, status, source, "xmlc" if has_header else "svmlight", n_rows, width, width)
    if noun == "feature":
        return error
    found = error.found.replace("feature", "label")
    remedy = error.remedy.replace("feature", "label") if "header" in error.remedy else _RULE["label"]
    return DatasetFormatError(source, found, remedy, error.line, error.column)
