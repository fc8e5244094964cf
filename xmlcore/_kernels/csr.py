"""The rows of a sparse matrix, as one argument of kernels."""

from typing import NamedTuple

import numpy as np


class CsrRows(NamedTuple):
    """A CSR matrix with n rows. Feature ids ascend within a row."""

    ptr: np.ndarray  # int32 or int64 (n + 1,)
    features: np.ndarray  # int32
    values: np.ndarray  # float32 or float64
