"""Shared by the writers: a file is written completely or not at all, and rows a chunk at a time."""

import bz2
import gzip
import lzma
from contextlib import contextmanager

import numpy as np

from xmlcore.atomic import atomic_write
from xmlcore.wording import size

_CHUNK = 1 << 18  # number of stored values that are formatted as text at a time


def chunks(indptr, stream, progress):
    """Yield ranges (first row, last row + 1) with about ``_CHUNK`` stored values each, and report what was written.

    ``indptr`` counts the values; by their share, the size of the whole file is known roughly.
    """
    first, n_rows = 0, indptr.size - 1
    while first < n_rows:
        stop = int(np.searchsorted(indptr, indptr[first] + _CHUNK, side="right")) - 1
        stop = min(max(stop, first + 1), first + _CHUNK, n_rows)
        yield first, stop
        first = stop
        share, written = indptr[stop] / indptr[-1] if indptr[-1] else 1.0, stream.tell()
        progress("Writing", float(share), f"{size(written)} of about {size(written / max(share, 1e-9))}")


@contextmanager
def atomic(path):
    """Open a temporary file for writing, which replaces the file ``path`` at the end if there was no error."""
    suffix = path.suffix.lower()
    if suffix == ".zip":
        raise ValueError(f"{path.name}: zip is not written; end the name in .gz, .bz2 or .xz, or none of these")
    with atomic_write(path) as raw:
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
