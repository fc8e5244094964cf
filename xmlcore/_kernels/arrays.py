"""Arrays that kernels fill without knowing how long they will get."""

import numpy as np

from xmlcore._kernels._jit import kernel


@kernel
def enlarged(array, filled, size):
    """Copy the first ``filled`` entries of an array to one of ``size`` places."""
    # A literal as ``filled`` would have this function compiled once more.
    more = np.empty(size, array.dtype)
    for i in range(filled):  # a loop compiles faster than slices
        more[i] = array[i]
    return more
