"""The rows of a sparse matrix as one argument, and arrays that kernels fill without knowing how long they will get."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel


@kernel
def enlarged(array, filled, size):
    """Copy the first ``filled`` entries of an array to one of ``size`` places."""
    more = np.empty(size, array.dtype)
    for i in range(filled):  # a loop compiles faster than slices
        more[i] = array[i]
    return more


@kernel
def longest(ptr):
    """Return the largest number of entries of a row."""
    most = 0
    for i in range(ptr.size - 1):
        most = max(most, ptr[i + 1] - ptr[i])
    return most


@inlined
def fill(array, value):
    """Do what ``array[:] = value`` does, which takes longer to compile."""
    for i in range(array.size):
        array[i] = value


class CsrRows(NamedTuple):
    """A CSR matrix with n rows. Feature ids ascend within a row."""

    ptr: np.ndarray  # int32 or int64 (n + 1,)
    features: np.ndarray  # int32
    values: np.ndarray  # float32 or float64
