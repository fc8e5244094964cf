"""A small text, and helpers that read it or catch the error."""

import io
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from tests.archiving import zipped
from xmlcore.datasets import DatasetFormatError, DatasetWarning, read_matrix

TEXT = b"3 4 3\n0,2 0:1 3:0.5\n 1:2\n1\n"
EXPECTED = ([[1, 0, 0, 0.5], [0, 2, 0, 0], [0, 0, 0, 0]], [[1, 0, 1], [0, 0, 0], [0, 1, 0]])


def read_named(content, **options):
    """Return X and Y as lists, and the names, after a look at their form."""
    X, Y, *names = read_matrix(content, **options)
    assert (X.dtype, Y.dtype) == (np.float32, bool)
    for matrix, named in zip((X, Y), names):
        assert matrix.indptr.dtype == matrix.indices.dtype == np.int32  # one type, or scipy's own functions fail
        matrix.has_canonical_format = matrix.has_sorted_indices = None
        del matrix._has_canonical_format, matrix._has_sorted_indices
        assert matrix.has_canonical_format and matrix.data.all()
        assert named is None or len(named) == matrix.shape[1]
    return X.toarray().tolist(), Y.toarray().astype(int).tolist(), *names


def read(content, **options):
    *found, feature_names, label_names = read_named(content, **options)
    assert feature_names is None and label_names is None
    return tuple(found)


def failure(content, **options):
    with pytest.raises(DatasetFormatError) as caught:
        read_matrix(content, **options)
    return caught.value


def advised(content, **options):
    """Return the argument that an error advises to change, and its value."""
    return failure(content, **options).fault[-2:]


def warned(call, *args, **options):
    with warnings.catch_warnings(record=True, action="always") as caught:
        call(*args, **options)
    assert all(w.category is DatasetWarning and w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


def random_matrices(rng, n=200, d=50, k=30):
    X = sp.random_array((n, d), density=0.1, format="csr", rng=rng, dtype=np.float32)
    X.data = rng.integers(0, 1 << 32, X.nnz, dtype=np.uint32).view(np.float32)  # all kinds of numbers
    X.data[~np.isfinite(X.data)] = 1
    X.data[:3] = [1, -2, np.float32(0.1)]
    Y = sp.random_array((n, k), density=0.05, format="csr", rng=rng) > 0
    return X, Y


def sparse_npz(matrix, compressed=False):
    """Return what scipy.sparse.save_npz writes."""
    made = io.BytesIO()
    sp.save_npz(made, matrix, compressed=compressed)
    return made.getvalue()


def zip_without_a_name(content):
    """Return a zip archive of one file whose name is empty: the byte of its name becomes a part of the extra field."""
    made = bytearray(zipped({"?": content}))
    for lengths in (26, made.index(b"PK\x01\x02") + 28):
        made[lengths : lengths + 4] = b"\0\0\1\0"
    return bytes(made)
