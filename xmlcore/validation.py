"""Checks of input: valid rows and labels become canonical CSR matrices, others raise an error that says why."""

import numbers
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

INT32_MAX = np.iinfo(np.int32).max


def check_features(X, n_features: int | None = None, *, name: str = "X", model: str = "the model") -> sp.csr_array:
    """Convert a feature matrix to canonical CSR; raise an error that says what is wrong with it if it is invalid.

    Parameters
    ----------
    X : sparse array or matrix, or array_like, shape (n, D)
        Numbers. A single row may be given as a 1-d array.
    n_features : int, optional
        The expected number of features D.
    name, model : str
        The names that error messages use for the matrix, and for the model that expects ``n_features``.

    Returns
    -------
    scipy.sparse.csr_array of float32, shape (n, D)
        Sorted indices, no duplicates (they are summed), no stored zeros. The input is never changed.

    Raises
    ------
    ValueError
        Wrong shape, no columns, or values that are not finite in float32 (the row and column are named).
    TypeError
        Values that are not real numbers.
    """
    if sp.issparse(X):
        if X.ndim != 2:
            raise ValueError(f"{name} has {X.ndim} dimension(s): a matrix (rows, features) is needed")
        _check_real(X.dtype, name)
        check_structure(X, name)
        matrix = sp.csr_array(X, dtype=np.float32, copy=True)
    else:
        try:
            dense = np.asarray(X)
        except ValueError as error:
            raise ValueError(f"{name} is not a matrix: its rows have different lengths") from error
        _check_real(dense.dtype, name)
        if dense.ndim == 1:
            dense = dense.reshape(1, -1)
        if dense.ndim != 2:
            raise ValueError(f"{name} has {dense.ndim} dimensions: a matrix (rows, features) is needed")
        matrix = sp.csr_array(np.ascontiguousarray(dense, dtype=np.float32))
    if n_features is not None and matrix.shape[1] != n_features:
        raise ValueError(
            f"{name} has {matrix.shape[1]} features, but {model} is expecting {n_features} features as input: "
            "use the same vocabulary, in the same order"
        )
    if matrix.shape[1] == 0:
        raise ValueError(f"{name} has 0 feature(s) (shape={matrix.shape}) while a minimum of 1 is required.")
    _canonical(matrix, name)
    if not np.isfinite(matrix.data).all():
        bad = np.flatnonzero(~np.isfinite(matrix.data))
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        column = int(matrix.indices[bad[0]])
        raise ValueError(
            f"{name} holds {bad.size} value(s) that are not finite (NaN or inf) in float32; the first is "
            f"{matrix.data[bad[0]]} at row {row}, column {column}: replace or drop them"
        )
    if not matrix.data.all():  # for a single row, the call alone takes a tenth of a prediction
        matrix.eliminate_zeros()
    return matrix


def feature_names(X) -> np.ndarray | None:
    """Return the column names of a DataFrame, or None where X has no names or they are not strings.

    Parameters
    ----------
    X : object
        Anything that ``fit`` takes; a pandas or polars DataFrame has ``columns``.

    Returns
    -------
    ndarray of object, shape (D,), or None

    Raises
    ------
    TypeError
        Some names are strings and others are not.
    """
    columns = getattr(X, "columns", None)
    if columns is None or sp.issparse(X) or isinstance(X, np.ndarray):
        return None
    names = np.array(list(columns), dtype=object)
    is_string = [isinstance(name, str) for name in names]
    if any(is_string) and not all(is_string):
        kinds = ", ".join(sorted({type(name).__name__ for name in names}))
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types: give all columns names that are strings, or none"
        )
    return names if is_string and all(is_string) else None


def check_labels(Y, n_rows: int | None = None, n_labels: int | None = None, *, name: str = "Y") -> sp.csr_array:
    """Convert a label matrix, or lists of label ids, to canonical CSR; raise an error that says what is wrong with it.

    Parameters
    ----------
    Y : sparse array or matrix, ndarray of 0 and 1, shape (n, L), or list of lists of int
        In a matrix every value other than 0, 1, False and True is an error. Lists hold label ids, each at most once.
    n_rows, n_labels : int, optional
        The expected shape. With lists of ids, L is ``n_labels`` if given, otherwise the largest id + 1.
    name : str
        The name of the matrix in error messages.

    Returns
    -------
    scipy.sparse.csr_array of bool, shape (n, L)
        Sorted indices, no duplicates, only True stored.

    Raises
    ------
    ValueError
        Wrong shape, a value that is not 0 or 1, a label id out of range.
    TypeError
        Label ids that are not whole numbers.
    """
    if sp.issparse(Y):
        if Y.ndim != 2:
            raise ValueError(f"{name} has {Y.ndim} dimension(s): a matrix (rows, labels) is needed")
        matrix = _from_binary_sparse(Y, name)
    elif _is_lists(Y):
        matrix = _from_lists(Y, n_labels, name)
    else:
        dense = np.asarray(Y)
        if dense.ndim != 2:
            raise ValueError(
                f"{name} has {dense.ndim} dimension(s): give a binary matrix (rows, labels) or one list of "
                "label ids per row"
            )
        _check_real(dense.dtype, name)
        matrix = _from_binary_sparse(sp.csr_array(dense), name)
    if n_rows is not None and matrix.shape[0] != n_rows:
        raise ValueError(f"{name} has {matrix.shape[0]} rows, but the features have {n_rows}: one row of labels each")
    if n_labels is not None and matrix.shape[1] != n_labels:
        raise ValueError(f"{name} has {matrix.shape[1]} labels, but {n_labels} are expected")
    return matrix


def check_label_ids(labels, n_rows: int, n_labels: int) -> np.ndarray:
    """One label id per row as int32, or an error that says what is wrong with them.

    Parameters
    ----------
    labels : array_like of int, shape (n_rows,)
    n_rows, n_labels : int

    Returns
    -------
    ndarray of int32, shape (n_rows,)

    Raises
    ------
    ValueError, TypeError
    """
    ids = np.asarray(labels)
    if ids.size == 0 and n_rows == 0:
        return np.zeros(0, np.int32)
    if ids.dtype.kind not in "iu":
        raise TypeError(f"labels holds {ids.dtype} values: label ids are whole numbers")
    if ids.shape != (n_rows,):
        raise ValueError(f"labels has shape {ids.shape}, but X has {n_rows} rows: give one label id for each row")
    bad = np.flatnonzero((ids < 0) | (ids >= n_labels))
    if bad.size:
        raise ValueError(f"labels has the id {ids[bad[0]]} at row {bad[0]}: ids go from 0 to {n_labels - 1}")
    return ids.astype(np.int32)


def check_structure(matrix, name: str = "X") -> None:
    """Raise ValueError for a sparse matrix whose index arrays do not fit together.

    SciPy's constructors accept such arrays. SciPy's compiled code, and ours, would then read and write outside of the
    arrays.

    Parameters
    ----------
    matrix : sparse array or matrix
        Formats other than CSR, CSC, BSR and COO need no check.
    name : str
        The name of the matrix in error messages.

    Raises
    ------
    ValueError
        The message names the row (or column) and says what is wrong with it.
    """
    kind = matrix.format
    if kind == "coo":
        for axis, (index, size) in enumerate(zip(matrix.coords, matrix.shape)):
            if index.size and not (0 <= index.min() and index.max() < size):
                raise ValueError(f"{name} is damaged: axis {axis} has an index outside 0 to {size - 1}")
        return
    if kind not in ("csr", "csc", "bsr"):
        return
    what = "column" if kind == "csc" else "row"
    block = matrix.blocksize if kind == "bsr" else (1, 1)
    n_major, n_minor = (size // length for size, length in zip(matrix.shape, block))
    if kind == "csc":
        n_major, n_minor = n_minor, n_major
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.size != n_major + 1 or indptr[0] != 0:
        raise ValueError(f"{name} is damaged: its indptr does not fit {n_major} {what}s")
    falls = indptr[1:] < indptr[:-1]
    if falls.any() or indptr[-1] > min(indices.size, len(matrix.data)):
        row = int(np.argmax(falls)) if falls.any() else n_major - 1
        raise ValueError(f"{name} is damaged: the entries of {what} {row} end before they begin or after the last one")
    used = indices[: indptr[-1]]
    if used.size and not (0 <= used.min() and used.max() < n_minor):
        first = int(np.flatnonzero((used < 0) | (used >= n_minor))[0])
        row = int(np.searchsorted(indptr, first, side="right")) - 1
        raise ValueError(
            f"{name} is damaged: {what} {row} has the index {int(used[first])}, but indices go from 0 to {n_minor - 1}"
        )


def csr_parts(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays of a canonical CSR matrix in the types that kernels need; arrays of that type are not copied.

    SciPy stores both index arrays in one type (int32, or int64 from 2**31 entries on). Kernels are compiled for int64
    pointers and int32 indices.

    Returns
    -------
    indptr : ndarray of int64, shape (n + 1,)
    indices : ndarray of int32, shape (nnz,)
    data : ndarray, shape (nnz,)
    """
    return matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False), matrix.data


def check_count(value, name: str, least: int = 1, most: int | None = None) -> int:
    """Return ``value`` as an int when it is a whole number in [least, most]; raise otherwise."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < least or (most is not None and value > most):
        bounds = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {bounds}, not {value}")
    return int(value)


def check_number(
    value, name: str, least: float = 0.0, most: float = np.inf, *, above: bool = False, below: bool = False
) -> float:
    """Return ``value`` as a float when it is a finite number in [least, most]; raise otherwise.

    Parameters
    ----------
    value : object
    name : str
        The name of the value in error messages.
    least, most : float
        Lower and upper bound; infinite if there is no bound.
    above, below : bool
        Whether the value must be above ``least``, and below ``most``, rather than at least and at most.

    Raises
    ------
    TypeError
        The value is not a number, or it is not finite.
    ValueError
        The value is out of bounds.
    """
    is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    try:
        number = float(value) if is_number else np.nan
    except OverflowError:  # a whole number beyond the largest float
        number = np.inf
    if not np.isfinite(number):
        raise TypeError(f"{name} must be a finite number, not {value!r}")
    if not least <= number <= most or (above and number == least) or (below and number == most):
        raise ValueError(f"{name} must be {_bounds_text(least, most, above, below)}, not {value}")
    return number


def _bounds_text(least, most, above, below):
    """State an interval in words: ``from 0 to 1``, ``above 0 and at most 1``."""
    if not (above or below) and np.isfinite(least) and np.isfinite(most):
        return f"from {least:g} to {most:g}"
    low = f"{'above' if above else 'at least'} {least:g}" if np.isfinite(least) else ""
    high = f"{'below' if below else 'at most'} {most:g}" if np.isfinite(most) else ""
    return " and ".join(filter(None, (low, high)))


def check_threshold(value, name: str = "threshold") -> float:
    """Return a probability threshold as a float; raise TypeError or ValueError unless it is a number in [0, 1]."""
    return check_number(value, name, 0.0, 1.0)


def _check_real(dtype, name):
    """Raise TypeError unless the values of the matrix ``name`` are real numbers."""
    if dtype.kind not in "fiub":
        raise TypeError(f"{name} holds {dtype} values: real numbers are needed")


def _canonical(matrix, name):
    """Sort the indices of a CSR matrix and sum duplicates, in place; raise ValueError for 0 or too many columns."""
    if matrix.shape[1] == 0:
        raise ValueError(f"{name} has no columns")
    if matrix.shape[1] > INT32_MAX:
        raise ValueError(f"{name} has {matrix.shape[1]} columns: at most {INT32_MAX} are supported")
    matrix.sum_duplicates()


def _from_binary_sparse(Y, name):
    """Return a sparse matrix of 0 and 1 as canonical CSR of bool; raise ValueError for other values."""
    _check_real(Y.dtype, name)
    check_structure(Y, name)
    matrix = sp.csr_array(Y, copy=True)
    odd = np.flatnonzero((matrix.data != 0) & (matrix.data != 1))
    if odd.size:
        row = int(np.searchsorted(matrix.indptr, odd[0], side="right")) - 1
        raise ValueError(
            f"{name} holds {matrix.data[odd[0]]} at row {row}, column {int(matrix.indices[odd[0]])}: "
            "labels are 0 or 1 (did features and labels change places?)"
        )
    matrix.eliminate_zeros()
    matrix = matrix.astype(bool)
    _canonical(matrix, name)  # duplicates sum to True
    return matrix


def _is_lists(Y):
    """Return whether Y is a sequence, or a pandas Series, of lists (or sets, or vectors) of label ids."""
    if isinstance(Y, (str, bytes)):
        return False
    if isinstance(Y, Sequence):
        rows = Y
    elif getattr(getattr(Y, "dtype", None), "kind", None) == "O" and getattr(Y, "ndim", None) == 1:
        # An array, or a pandas Series, of lists.
        rows = list(Y)
    else:
        return False
    if len(rows) > 0 and all(isinstance(row, np.ndarray) and row.dtype == bool for row in rows):
        return False
    return all(isinstance(row, (Sequence, set, frozenset)) or getattr(row, "ndim", None) == 1 for row in rows)


def _from_lists(Y, n_labels, name):
    """Return lists of label ids as canonical CSR of bool; raise an error that names the first invalid row."""
    indptr = np.zeros(len(Y) + 1, dtype=np.int64)
    rows = []
    for i, row in enumerate(Y):
        values = sorted(row) if isinstance(row, (set, frozenset)) else list(row)
        ids = np.asarray(values if values else np.empty(0, np.int64))
        if ids.dtype.kind not in "iu":
            raise TypeError(f"{name} row {i} is {values!r}: label ids are whole numbers")
        ids, counts = np.unique(ids, return_counts=True)
        if ids.size < len(values):
            raise ValueError(
                f"{name} row {i} names label {ids[np.argmax(counts)]} more than once. If its rows hold 0 and 1 for "
                "every label, give a matrix: numpy.array(...)"
            )
        if ids.size and ids[0] < 0:
            raise ValueError(f"{name} row {i} has the label id {ids[0]}: ids start at 0")
        if ids.size and n_labels is not None and ids[-1] >= n_labels:
            raise ValueError(f"{name} row {i} has the label id {ids[-1]}, but there are {n_labels} labels (ids from 0)")
        if ids.size and ids[-1] >= INT32_MAX:
            raise ValueError(f"{name} row {i} has the label id {ids[-1]}: at most {INT32_MAX} labels are supported")
        indptr[i + 1] = indptr[i] + ids.size
        rows.append(ids.astype(np.int32))
    indices = np.concatenate(rows) if rows else np.empty(0, np.int32)
    width = n_labels if n_labels is not None else (int(indices.max()) + 1 if indices.size else 0)
    if width == 0:
        raise ValueError(f"{name} has no labels at all")
    matrix = sp.csr_array((np.ones(indices.size, dtype=bool), indices, indptr), shape=(len(Y), width))
    return matrix


def check_fitted(model) -> None:
    """Raise scikit-learn's NotFittedError if the estimator is not fitted.

    A model without the method ``__sklearn_is_fitted__`` is accepted.
    """
    is_fitted = getattr(model, "__sklearn_is_fitted__", None)
    if is_fitted is not None and not is_fitted():
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"This {type(model).__name__} is not fitted yet: call fit(X, Y) first")


def check_row(x, n_features: int | None = None) -> sp.csr_array:
    """Return a vector, or a matrix of one row, as canonical CSR of shape (1, D); raise an error for anything else."""
    x = check_features(x, n_features, name="x")
    if x.shape[0] != 1:
        raise ValueError(f"x has {x.shape[0]} rows: one row is needed")
    return x
