"""Checks and conversions of the rows and classes that are passed to double sampling."""

import warnings

import numpy as np
import scipy.sparse as sp


def check_class_ids(classes, n_rows: int, n_labels: int) -> np.ndarray:
    """Return lists of q class ids, one list for each row, as int32 of shape (n_rows, q); -1 stands for no class."""
    classes = np.asarray(classes)
    if classes.dtype.kind not in "iu":
        raise TypeError(f"classes holds {classes.dtype} values: class ids are whole numbers")
    if classes.ndim != 2 or classes.shape[0] != n_rows:
        raise ValueError(
            f"classes has the shape {classes.shape}: a row of class ids for each of the {n_rows} rows of X"
        )
    if classes.size and not (classes.min() >= -1 and classes.max() < n_labels):
        raise ValueError(
            f"classes holds {classes.min()} to {classes.max()}: ids go from 0 to {n_labels - 1}, or are -1 for no class"
        )
    return np.array(classes, np.int32, order="C")


def check_amounts(X: sp.csr_array, negative: str) -> sp.csr_array:
    """Return X with negative values replaced by 0, or, with "refuse", raise an error that names the first of them."""
    places = np.flatnonzero(X.data < 0)
    if places.size == 0:
        return X
    row = int(np.searchsorted(X.indptr, places[0], side="right")) - 1
    message = (
        f"X holds {places.size:,} negative value(s), the first {X.data[places[0]]:.4g} at row {row}, "
        f"column {int(X.indices[places[0]])}"
    )
    if negative == "refuse":
        raise ValueError(
            f"Negative values in data: {message}. This model needs amounts, such as counts of words. Scale each "
            "feature to start at 0, or, when negative values are noise, set negative='zero'"
        )
    warnings.warn(f"{message}: negative values are taken as 0", UserWarning, stacklevel=6)
    return without_negative(X)


def without_negative(X: sp.csr_array) -> sp.csr_array:
    """Replace negative values by 0, in place, and return X."""
    if (X.data < 0).any():
        X.data[X.data < 0] = 0
        X.eliminate_zeros()
    return X


def some_rows(x, first: int, last: int) -> tuple:
    """Return rows ``first`` to ``last`` - 1 of CSR arrays (pointers, columns, values)."""
    ptr, columns, values = x
    a, b = ptr[first], ptr[last]
    return ptr[first : last + 1] - a, columns[a:b], values[a:b]
