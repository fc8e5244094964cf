"""Write matrices to files in the XMLC text format."""

import bz2
import gzip
import lzma
import os
import uuid
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from xmlcore.validation import check_features, check_labels

_CHUNK = 1 << 18  # number of stored values that are formatted as text at a time


def write_matrix(path, X, Y) -> None:
    """Write features and labels in the XMLC text format, so that :func:`read_matrix` gives the same matrices back.

    Parameters
    ----------
    path : str or path
        The file is compressed if the name ends in .gz, .bz2 or .xz. It is written completely or not at all.
    X : sparse or array_like, shape (N, D)
        Features. Values are written with as few digits as needed to read the same float32 again.
    Y : sparse, array_like of 0 and 1, or lists of label ids, shape (N, L)
        Labels.

    Raises
    ------
    ValueError, TypeError
        The matrices have different numbers of rows, :mod:`xmlcore.validation` rejects one, or the name ends in .zip.
    OSError
        The file cannot be written.

    Notes
    -----
    A row without labels starts with a space. A row without labels and features is a blank line. About 2 million stored
    values are written per second.
    """
    path = Path(path)
    X = check_features(X)
    Y = check_labels(Y, n_rows=X.shape[0])
    with _atomic(path) as stream:
        stream.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n".encode())
        for first, stop in _chunks(X.indptr.astype(np.int64) + Y.indptr):
            stream.write(_rows_text(X, Y, first, stop))


def _chunks(indptr):
    """Yield ranges (first row, last row + 1) with about ``_CHUNK`` stored values each; ``indptr`` counts the values."""
    first, n_rows = 0, indptr.size - 1
    while first < n_rows:
        stop = int(np.searchsorted(indptr, indptr[first] + _CHUNK, side="right")) - 1
        stop = min(max(stop, first + 1), first + _CHUNK, n_rows)
        yield first, stop
        first = stop


def _rows_text(X, Y, first, stop):
    """Return rows ``first`` to ``stop - 1`` as text, in bytes."""
    x = slice(X.indptr[first], X.indptr[stop])
    y = slice(Y.indptr[first], Y.indptr[stop])
    values = X.data[x].astype("U").tolist()  # the shortest digits that give the float32 back
    features = [f"{i}:{value.removesuffix('.0')}" for i, value in zip(X.indices[x].tolist(), values)]
    labels = [str(label) for label in Y.indices[y].tolist()]
    x_ends = (X.indptr[first : stop + 1] - X.indptr[first]).tolist()
    y_ends = (Y.indptr[first : stop + 1] - Y.indptr[first]).tolist()
    lines = []
    for i in range(stop - first):
        row = ",".join(labels[y_ends[i] : y_ends[i + 1]])
        if x_ends[i] < x_ends[i + 1]:
            row += " " + " ".join(features[x_ends[i] : x_ends[i + 1]])
        lines.append(row)
    lines.append("")
    return "\n".join(lines).encode()


@contextmanager
def _atomic(path):
    """Open a temporary file for writing, which replaces the file ``path`` at the end if there was no error.

    What is written is compressed by the ending of the path.
    """
    suffix = path.suffix.lower()
    if suffix == ".zip":
        raise ValueError(f"{path.name}: zip is not written; end the name in .gz, .bz2 or .xz, or none of these")
    temporary = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        with open(temporary, "xb") as raw:
            if suffix == ".gz":
                # without time and name, so that the same matrices make the same file
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as stream:
                    yield stream
            elif suffix == ".bz2":
                with bz2.BZ2File(raw, "wb") as stream:
                    yield stream
            elif suffix == ".xz":
                with lzma.LZMAFile(raw, "wb") as stream:
                    yield stream
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
