"""Arrays that kernels fill without knowing how long they will get."""

import numpy as np

from xmlcore._kernels._jit import kernel


@kernel
def enlarged(array, filled, size):
    """Copy an array to one that has more or fewer places.

    Parameters
    ----------
    array : array (n,), of any dtype
    filled : int64
        Number of entries to copy, at most n and ``size``. A literal would have this function compiled once more.
    size : int
        Number of places of the copy; those from ``filled`` on hold anything.

    Returns
    -------
    array (size,)
    """
    more = np.empty(size, array.dtype)
    for i in range(filled):  # a loop compiles faster than slices
        more[i] = array[i]
    return more
