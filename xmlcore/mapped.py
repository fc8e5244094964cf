"""Rows in files: sparse matrices whose columns and values are mapped from files, and take no memory of the process."""

import errno
import os
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Self
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import blocks_of, csr_of
from xmlcore.typing import Matrix
from xmlcore.validation import check_features

COPIED = 1 << 22  # values that are copied to a file at a time
COLUMNS, VALUES, OTHERS = "rows.columns", "rows.values", "rows.npz"  # files of a folder


class MappedRows(sp.csr_array):
    """Canonical CSR rows of float32 whose columns and values are files in a folder.

    :func:`write_rows` and :func:`open_rows` make them, and :func:`xmlcore.datasets.read_matrix` with ``to``. Rows and
    parts that are taken out of them are in memory.

    Attributes
    ----------
    folder : Path or None
        None of a matrix in memory.
    is_whole : bool
        Whether :func:`open_rows` finds just these rows in the folder.
    """

    folder: Path | None = None
    is_whole: bool = False

    @classmethod
    def of(cls, ptr, columns, values, n_columns: int, folder: Path) -> Self:
        """Return the matrix of arrays in memory or in files; what is made of it is in ``folder``."""
        rows = cls((ptr.size - 1, n_columns), dtype=values.dtype)
        same = csr_of(ptr, columns, values, rows.shape)  # the constructor would read all of them
        rows.indptr, rows.indices, rows.data, rows.folder = same.indptr, same.indices, same.data, folder
        rows.has_canonical_format = True
        return rows

    def copy(self):
        """Return a copy, of rows in files in files that have no names and vanish with it."""
        if self.folder is None:
            return super().copy()
        with tempfile.TemporaryFile(dir=self.folder) as columns, tempfile.TemporaryFile(dir=self.folder) as values:
            return self.copied_to(columns, values)

    def copied_to(self, columns, values) -> Self:
        ids, data = mapped(columns, np.int32, self.nnz), mapped(values, np.float32, self.nnz)
        for first, end in blocks_of(self.indptr, COPIED):
            part = slice(self.indptr[first], self.indptr[end])
            ids[part], data[part] = self.indices[part], self.data[part]
            if not (ids[part].view(np.uint32) < self.shape[1]).all() or not np.isfinite(data[part]).all():
                raise ValueError(
                    f"{self.folder} is damaged: rows {first:,} to {end - 1:,} have columns beyond the "
                    f"{self.shape[1]:,} there are, or values that are not finite. Write them again, to another folder"
                )
        return type(self).of(self.indptr.copy(), ids, data, self.shape[1], self.folder)

    def __getstate__(self):
        return vars(self) | {"folder": None, "is_whole": False}  # where they are read again, they are in memory


def mapped(file, dtype, size: int, mode: str = "w+") -> np.ndarray:
    """Return an array that is mapped from a file, a path or an open one; ``mode`` is r+ for what it has."""
    with nullcontext(file) if hasattr(file, "fileno") else open(file, mode + "b") as opened:
        if not size:
            return np.empty(0, dtype)
        if hasattr(os, "posix_fallocate"):  # a disk that is full later kills the process
            try:
                os.posix_fallocate(opened.fileno(), 0, size * np.dtype(dtype).itemsize)
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
                    raise
        return np.asarray(np.memmap(opened, dtype, "r+", shape=(size,)))


def write_rows(X: Matrix, folder) -> MappedRows:
    """Write rows to a folder, and return them mapped from its files.

    A model that is fitted to them keeps what it makes of them in files there, too, and the finished nodes of a label
    tree: a training that was stopped goes on where it was.

    Parameters
    ----------
    X : sparse or dense, shape (N, D)
    folder : path
        It is made if it is not there, and stays until you delete it.

    Returns
    -------
    MappedRows of float32, shape (N, D)

    Raises
    ------
    ValueError, TypeError
        X is no matrix of finite numbers, or the folder has rows already.
    """
    X = check_features(X)
    with folder_for_rows(folder) as folder:
        return finished(X, folder)


@contextmanager
def folder_for_rows(folder):
    """Yield a folder to write rows to, which keeps nothing of them after an error; raise ValueError if it has some."""
    folder = Path(folder).absolute()
    if (folder / OTHERS).exists():
        raise ValueError(f"{folder} has rows already: open_rows(...) opens them; for others give another folder")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    except BaseException:
        for name in (COLUMNS, VALUES, OTHERS):
            (folder / name).unlink(missing_ok=True)
        raise


def finished(X: sp.csr_array, folder: Path) -> MappedRows:
    """Return canonical rows mapped from a folder, to which what is not there is written."""
    if getattr(X, "folder", None) != folder:
        X = MappedRows.of(X.indptr, X.indices, X.data, X.shape[1], folder).copied_to(folder / COLUMNS, folder / VALUES)
    np.savez(folder / OTHERS, indptr=X.indptr, shape=X.shape)
    X.is_whole = True
    return X


def open_rows(folder) -> MappedRows:
    """Return the rows that :func:`write_rows`, or ``read_matrix(..., to=folder)``, wrote to a folder.

    Raises
    ------
    ValueError
        The folder has no rows, or not the files of these.
    """
    folder = Path(folder).absolute()
    if not (folder / OTHERS).is_file():
        raise ValueError(f"{folder} has no rows: write_rows(X, folder) and read_matrix(file, to=folder) write some")
    try:
        with np.load(folder / OTHERS, allow_pickle=False) as others:
            ptr, shape = others["indptr"].astype(np.int64), others["shape"].tolist()
        if ptr.size != shape[0] + 1 or ptr[0] != 0 or (np.diff(ptr) < 0).any():
            raise ValueError
    except (BadZipFile, EOFError, KeyError, ValueError) as error:
        raise ValueError(f"{folder / OTHERS} is damaged, or no file of write_rows or read_matrix") from error
    sizes = [path.stat().st_size if (path := folder / name).exists() else 0 for name in (COLUMNS, VALUES)]
    if sizes != [4 * int(ptr[-1])] * 2:
        raise ValueError(
            f"{folder} is damaged: its files have {sizes[0]:,} and {sizes[1]:,} bytes instead of {4 * ptr[-1]:,} each. "
            "Write the rows again, to another folder"
        )
    size = int(ptr[-1])
    columns, values = mapped(folder / COLUMNS, np.int32, size, "r+"), mapped(folder / VALUES, np.float32, size, "r+")
    X = MappedRows.of(ptr, columns, values, shape[1], folder)
    X.is_whole = True
    return X
