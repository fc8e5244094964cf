"""Checks of input: valid rows and labels become canonical CSR matrices, others raise an error that says why."""

import numbers
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

Known = TypeVar("Known")

LARGEST_COUNT = 2**128 - 1  # whole numbers without another bound; also of the seeds that NumPy draws
INT32_MAX, FLOAT32_MAX = np.iinfo(np.int32).max, float(np.finfo(np.float32).max)
VALUES_AT_ONCE = 1 << 18  # of dense rows that become sparse ones
# Requirements of numpy.require: contiguous, aligned, writable. A kernel is compiled again for any other kind of array.
KERNEL_READY = ("C", "A", "W")


def check_features(
    X, n_features: int | None = None, *, name="X", model: str = "the model", dtype=np.float32, zeros=False, copy=True
) -> sp.csr_array:
    """Convert a feature matrix to canonical CSR, without stored zeros unless ``zeros``; or raise an error."""
    if sp.issparse(X):
        if getattr(X, "folder", None) is not None and X.dtype == dtype:  # of rows in files, which are checked
            _check_n_features(X.shape, n_features, name, model)
            return X.copy()
        if X.ndim == 1:
            X = _as_one_row(X, name)
        if X.ndim != 2:
            raise ValueError(f"{name} has {X.ndim} dimensions: a matrix (rows, features) is needed")
        _check_real(X.dtype, name)
        check_structure(X, name)
        matrix = sp.csr_array(X, dtype=dtype, copy=copy)  # without flags of X, which may be true no longer
        parts = matrix.data, matrix.indices, matrix.indptr  # without ``copy`` those of X, where they need no change
        if not copy and not (all(part.flags.carray for part in parts) and matrix.has_canonical_format):
            matrix = matrix.copy()
    else:
        rows = dense_rows(X, n_features, name=name, model=model, dtype=dtype)
        return rows.part(0, rows.shape[0], dtype)
    _check_n_features(matrix.shape, n_features, name, model)
    _canonical(matrix, name)
    is_finite = np.isfinite(matrix.data)
    if not is_finite.all():
        bad = np.flatnonzero(~is_finite)
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise _not_finite(name, bad.size, matrix.data[bad[0]], row, int(matrix.indices[bad[0]]))
    if not zeros and np.count_nonzero(matrix.data) < matrix.data.size:  # ``all`` takes three times as long for a row
        matrix = matrix if copy else matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def dense_rows(
    X, n_features: int | None = None, *, name: str = "X", model: str = "the model", dtype=np.float32
) -> "DenseRows":
    """Check rows that are not sparse as :func:`check_features` does, without making them sparse."""
    rows = DenseRows(X, name)
    _check_n_features(rows.shape, n_features, name, model)
    rows.check_finite(dtype)
    return rows


def _check_n_features(shape, n_features, name, model):
    if n_features is not None and shape[1] != n_features:
        raise ValueError(
            f"{name} has {shape[1]} features, but {model} is expecting {n_features} features as input: "
            "use the same vocabulary, in the same order"
        )
    if shape[1] == 0:
        raise ValueError(f"{name} has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")


class DenseRows:
    """Dense rows, an array or a DataFrame, that become CSR rows in parts, so that this takes little more memory."""

    def __init__(self, X, name: str = "X"):
        self.name = name
        if _is_frame(X):
            _check_columns(X, name)
            self._rows = X
        else:
            try:
                values = np.asarray(X)
            except ValueError as error:
                raise ValueError(f"{name} is not a matrix: its rows have different lengths") from error
            values = _of_numbers(values, name)
            self._rows = values.reshape(1, -1) if values.ndim == 1 else values
        if self._rows.ndim != 2:
            raise ValueError(f"{name} has {self._rows.ndim} dimensions: a matrix (rows, features) is needed")
        self.shape = self._rows.shape
        if np.ma.is_masked(X):
            row, column = np.argwhere(np.ma.getmaskarray(X).reshape(self.shape))[0].tolist()
            raise ValueError(f"{name} is masked at row {row}, column {column}: replace or drop masked values")

    def blocks(self, size: int | None = None) -> list[tuple[int, int]]:
        """Return the bounds of parts with about so many values each."""
        step = max(1, (size or VALUES_AT_ONCE) // max(1, self.shape[1]))
        return [(first, min(first + step, self.shape[0])) for first in range(0, self.shape[0], step)]

    def _values(self, first, end, dtype) -> np.ndarray:
        rows = _from_frame(self._rows.iloc[first:end]) if _is_frame(self._rows) else self._rows[first:end]
        with np.errstate(over="ignore"):  # what is too large is not finite
            return np.ascontiguousarray(rows, dtype=dtype)

    def check_finite(self, dtype=np.float32) -> None:
        """Raise ValueError if a value is not finite."""
        count, found = 0, None
        for first, end in self.blocks():
            values = self._values(first, end, dtype)
            is_finite = np.isfinite(values)
            if not is_finite.all():
                row, column = np.argwhere(~is_finite)[0].tolist()
                found = found or (values[row, column], first + row, column)
                count += values.size - np.count_nonzero(is_finite)
        if found:
            raise _not_finite(self.name, count, *found)

    def part(self, first: int, end: int, dtype=np.float32) -> sp.csr_array:
        """Return some rows as canonical CSR without zeros."""
        blocks = [(first + start, min(first + stop, end)) for start, stop in self.blocks() if first + start < end]
        counts = [np.count_nonzero(self._values(*block, dtype), axis=1) for block in blocks]
        indptr = np.concatenate([[0], *counts]).cumsum()
        indptr = indptr.astype(np.int32) if indptr[-1] <= INT32_MAX else indptr  # of one type with the indices
        indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], dtype)
        for start, stop in blocks:
            values, to = self._values(start, stop, dtype), slice(indptr[start - first], indptr[stop - first])
            if to.stop - to.start == values.size:
                indices[to].reshape(values.shape)[:] = np.arange(values.shape[1], dtype=np.int32)
                data[to] = values.reshape(-1)
            else:
                is_there = values != 0
                indices[to], data[to] = np.nonzero(is_there)[1], values[is_there]
        rows = sp.csr_array((data, indices, indptr), shape=(end - first, self.shape[1]))
        rows.has_canonical_format = True
        return rows


def _not_finite(name, count, value, row, column) -> ValueError:
    return ValueError(
        f"{name} holds {count} value(s) that are not finite (NaN or inf) in {value.dtype}; the first is {value} at row "
        f"{row}, column {column}: replace or drop them"
    )


def feature_names(X) -> np.ndarray | None:
    """Return the column names of a DataFrame, or None where X has no names or they are not strings."""
    columns = None if sp.issparse(X) or isinstance(X, np.ndarray) else getattr(X, "columns", None)
    if columns is None:
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


def check_names(names, name: str, count: int | None = None) -> list[str]:
    """Return names of features or labels as a list: ``count`` of them, if that is given."""
    names, noun = check_list(names, name, "strings"), name.removesuffix("_names")
    if count is not None and len(names) != count:
        raise ValueError(f"{name} has {len(names):,} names, but there are {count:,} {noun}s")
    for i, text in enumerate(names):
        if not isinstance(text, str):
            raise TypeError(f"{name}[{i}] is {text!r:.200}: names are strings")
    return names


def difference_of_names(fitted, names) -> str:
    """Return scikit-learn's message about feature names that differ from those of the training rows."""
    lines = ["The feature names should match those that were passed during fit."]
    known, given = set(fitted), set(names)
    for title, differing in (
        ("unseen at fit time", given - known),
        ("seen at fit time, yet now missing", known - given),
    ):
        if differing:
            shown = sorted(differing)
            lines += [f"Feature names {title}:", *(f"- {name:.40}" for name in shown[:5])]
            lines += ["- ..."] if len(shown) > 5 else []
    if known == given:
        lines.append("Feature names must be in the same order as they were in fit.")
    return "\n".join(lines) + "\n"


def check_labels(Y, n_rows: int | None = None, n_labels: int | None = None, *, name="Y", copy=True) -> sp.csr_array:
    """Convert a label matrix, or lists of label ids, to canonical CSR; an error says what is wrong with it."""
    n_labels = None if n_labels is None else check_count(n_labels, "n_labels", 0)
    if sp.issparse(Y):
        if Y.ndim != 2:
            raise ValueError(f"{name} has {Y.ndim} dimension(s): a matrix (rows, labels) is needed")
        matrix = _from_binary_sparse(Y, name, copy)
    elif is_lists(Y):
        matrix = _from_lists(Y, n_labels, name)
    else:
        matrix = _from_dense(Y, name)
    if n_rows is not None and matrix.shape[0] != n_rows:
        raise ValueError(f"{name} has {matrix.shape[0]} rows, but the features have {n_rows}: one row of labels each")
    if n_labels is not None and matrix.shape[1] != n_labels:
        raise ValueError(f"{name} has {matrix.shape[1]} labels, but {n_labels} are expected")
    return matrix


def _from_dense(Y, name):
    """Return a binary matrix, or a frame of 0 and 1, as canonical CSR."""
    holds_objects = isinstance(Y, Sequence) or getattr(getattr(Y, "dtype", None), "kind", "") == "O"
    for i, row in enumerate(Y if holds_objects else ()):
        if row is None or isinstance(row, Mapping) or (isinstance(row, float) and row != row):
            raise TypeError(f"{name} row {i} is {row!r:.60}: give a list of labels for each row, such as [] for none")
    wanted = "give a binary matrix (rows, labels) or one list of label ids per row"
    try:
        if _is_frame(Y):
            _check_columns(Y, name)
        dense = _from_frame(Y) if _is_frame(Y) else np.asarray(Y)
    except ValueError as error:
        raise ValueError(f"{name} is no matrix, as its rows have different shapes: {wanted}") from error
    if dense.ndim != 2:
        raise ValueError(f"{name} has {dense.ndim} dimension(s): {wanted}")
    dense = _of_numbers(dense, name)
    if dense.dtype == np.float16:  # which SciPy does not know
        dense = dense.astype(np.float32)
    return _from_binary_sparse(sp.csr_array(dense), name)


def check_unambiguous(Y) -> None:
    """Raise ValueError if Y is lists such as [[0, 1], [1, 0]], which could be label ids or a matrix of 0 and 1."""
    # Lists always hold label ids. Three or more values that are all 0 and 1 name a label twice, which is an error in
    # :func:`check_labels`; of one value, as in [[0], [1]], each is the row's label.
    if sp.issparse(Y) or isinstance(Y, np.ndarray) and Y.ndim > 1 or not hasattr(Y, "__iter__"):
        return
    if all(map(_is_two_zeros_or_ones, Y)) and any(True for _ in Y):
        raise ValueError(
            "Y has two values in each row, 0 and 1, which could be two label ids or a matrix of 0 and 1: give "
            "sets, such as [{0, 1}, {1}], if they are ids, and numpy.array(...) if they are a matrix"
        )


def _is_two_zeros_or_ones(row) -> bool:
    if isinstance(row, (str, bytes, set, frozenset)) or not hasattr(row, "__len__") or len(row) != 2:
        return False
    return all(isinstance(value, (int, np.integer)) and value in (0, 1) for value in row)


def check_label_ids(labels, n_rows: int | None, n_labels: int) -> np.ndarray:
    """Return a label id per row as int32, or any number of ids; raise ValueError or TypeError for others."""
    ids = as_array(labels, "labels", "whole numbers, the ids of labels, are needed")
    n_rows = ids.size if n_rows is None else n_rows
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
    """Raise ValueError for a sparse matrix whose index arrays do not fit together."""
    # SciPy's constructors accept such arrays. SciPy's compiled code, and ours, would then read and write outside of the
    # arrays.
    kind = matrix.format
    if kind == "coo":
        for axis, (index, size) in enumerate(zip(matrix.coords, matrix.shape)):
            if index.size and not (0 <= index.min() and index.max() < size):
                raise ValueError(f"{name} is damaged: axis {axis} has an index outside 0 to {size - 1}")
        return
    if kind == "lil":
        _check_lists_of_lists(matrix, name)
    if kind == "dia" and (matrix.offsets.ndim != 1 or matrix.offsets.size != len(matrix.data)):
        raise ValueError(
            f"{name} is damaged: it has {matrix.offsets.size} offsets for {len(matrix.data)} diagonals of values"
        )
    if kind in ("csr", "csc", "bsr"):
        _check_compressed(matrix, name)


def _check_compressed(matrix, name):
    """Raise ValueError for a CSR, CSC or BSR matrix whose pointers fall, or that has an index out of range."""
    kind = matrix.format
    line = "column" if kind == "csc" else "row"
    block = matrix.blocksize if kind == "bsr" else (1, 1)
    n_major, n_minor = (size // length for size, length in zip(matrix.shape, block))
    if kind == "csc":
        n_major, n_minor = n_minor, n_major
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.size != n_major + 1 or indptr[0] != 0:
        raise ValueError(f"{name} is damaged: its indptr does not fit {n_major} {line}s")
    falls = indptr[1:] < indptr[:-1]
    if falls.any() or indptr[-1] > min(indices.size, len(matrix.data)):
        row = int(np.argmax(falls)) if falls.any() else n_major - 1
        raise ValueError(f"{name} is damaged: the entries of {line} {row} end before they begin or after the last one")
    used = indices[: indptr[-1]]
    if used.size and not (0 <= used.min() and used.max() < n_minor):
        first = int(np.flatnonzero((used < 0) | (used >= n_minor))[0])
        row = int(np.searchsorted(indptr, first, side="right")) - 1
        raise ValueError(
            f"{name} is damaged: {line} {row} has the index {int(used[first])}, but indices go from 0 to {n_minor - 1}"
        )


def _check_lists_of_lists(matrix, name):
    """Raise ValueError for a LIL matrix whose rows do not have a value for each index, or an index out of range."""
    n_rows, n_columns = matrix.shape
    if not len(matrix.rows) == len(matrix.data) == n_rows:
        raise ValueError(
            f"{name} is damaged: it has {len(matrix.rows)} lists of indices and {len(matrix.data)} of values for "
            f"{n_rows} rows"
        )
    for row, (indices, values) in enumerate(zip(matrix.rows, matrix.data)):
        if len(indices) != len(values):
            raise ValueError(f"{name} is damaged: row {row} has {len(indices)} indices and {len(values)} values")
        if not all(isinstance(index, numbers.Integral) and 0 <= index < n_columns for index in indices):
            raise ValueError(
                f"{name} is damaged: row {row} has an index that is no whole number from 0 to {n_columns - 1}"
            )


def csr_parts(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays of a canonical CSR matrix in the types that kernels need, copied only where they differ."""
    # SciPy stores both index arrays in one type (int32, or int64 from 2**31 entries on). Kernels are compiled for int64
    # pointers and int32 indices.
    return matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False), matrix.data


def check_count(value, name: str, least: int = 1, most: int | None = None) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, not {value!r:.200}")
    limit = LARGEST_COUNT if most is None else most
    if not least <= value <= limit:
        bounds = f"at least {least}" if most is None and value < least else f"from {least} to {limit}"
        raise ValueError(f"{name} must be {bounds}, not {value!s:.200}")
    return int(value)


def check_number(
    value, name: str, least: float = 0.0, most: float = np.inf, *, above: bool = False, below: bool = False
) -> float:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    try:
        number = float(value) if is_number else np.nan
    except OverflowError:  # a whole number beyond the largest float
        number = np.inf
    if not np.isfinite(number):
        raise TypeError(f"{name} must be a finite number, not {value!r:.200}")
    if not least <= number <= most or (above and number == least) or (below and number == most):
        raise ValueError(f"{name} must be {_bounds_text(least, most, above, below)}, not {value!s:.200}")
    return number


def _bounds_text(least, most, above, below):
    """State an interval in words: ``from 0 to 1``, ``above 0 and at most 1``."""
    if not (above or below) and np.isfinite(least) and np.isfinite(most):
        return f"from {least:g} to {most:g}"
    low = f"{'above' if above else 'at least'} {least:g}" if np.isfinite(least) else ""
    high = f"{'below' if below else 'at most'} {most:g}" if np.isfinite(most) else ""
    return " and ".join(filter(None, (low, high)))


def check_weights(
    weights, name: str, n_labels: int | None = None, *, zero: bool = False, of: str = "label"
) -> np.ndarray:
    """Return one weight for each label as float64; weights are positive, or with ``zero`` at least one of them is."""
    wanted = f"one {'number of 0 or more' if zero else 'positive number'} per {of} is needed"
    found = as_array(weights, name, wanted)
    if found.dtype.kind not in "fiu":
        raise TypeError(f"{name} holds {found.dtype} values: {wanted}")
    if found.ndim != 1:
        raise ValueError(f"{name} has {found.ndim} dimension(s): {wanted}")
    if n_labels is not None and found.size != n_labels:
        raise ValueError(f"{name} has {found.size:,} numbers, but there are {n_labels:,} {of}s: {wanted}")
    found = np.require(found, np.float64, KERNEL_READY)
    fits = (found >= 0) & (found <= FLOAT32_MAX) if zero else np.isfinite(found) & (found > 0)
    bad = np.flatnonzero(~fits)
    if bad.size:
        bounds = f"from 0 to {FLOAT32_MAX:.1e}" if zero else "positive and finite"
        raise ValueError(f"{name} of {of} {int(bad[0])} is {found[bad[0]]}: weights are {bounds} ({bad.size} are not)")
    if zero and not found.any():
        raise ValueError(f"{name} is zero for all {of}s: give at least one {of} a positive weight")
    return found


def check_threshold(value) -> float:
    return check_number(value, "threshold", 0.0, 1.0)


def as_array(values, name: str, wanted: str) -> np.ndarray:
    """Return values as an array of any shape; a ValueError about uneven lists says what is wanted."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is no array, as its parts have different lengths: {wanted}") from error


def check_list(values, name: str, of: str = "numbers") -> list:
    """Return values as a list; raise TypeError for other types, such as a text."""
    try:
        return list(None if isinstance(values, (str, bytes, Mapping)) else values)
    except TypeError as error:
        raise TypeError(f"{name} must be a sequence of {of}, not {values!r:.200}") from error


def check_is(value, kind: type | str, name: str, wanted: str) -> None:
    """Raise TypeError for a value that is not of a class, or that lacks the attribute of its kind."""
    if isinstance(kind, str):  # attributes of a class are those of its instances, and of a frame also its columns
        fits = hasattr(value, kind) and not isinstance(value, type) and not hasattr(value, "iloc")
    else:
        fits = isinstance(value, kind)
    if not fits:
        raise TypeError(f"{name} is a {type(value).__name__}: {wanted} is needed")


def check_known(table: Mapping[str, Known], name: str, noun: str) -> Known:
    """Return the entry of a table under a name; raise ValueError for an unknown name."""
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"unknown {noun} {name!r:.200}: known are {', '.join(sorted(table))}")
    return table[name]


def check_dataset(dataset) -> None:
    made = "an xmlcore.datasets.Dataset(name, X_train, Y_train, X_test, Y_test), or one that was read,"
    check_is(dataset, "Y_train", "dataset", made)


def check_frame(frame, columns, made_by: str, name: str = "frame") -> None:
    """Raise ValueError unless a value is a DataFrame with some columns, as the function ``made_by`` returns it."""
    if not _is_frame(frame):
        raise ValueError(f"{name} is a {type(frame).__name__}: it must be one that {made_by} returned")
    missing = ", ".join(sorted(map(str, set(columns) - set(frame.columns))))
    if missing:
        raise ValueError(f"{name} has no column {missing:.200}: it must be one that {made_by} returned")


def _is_frame(X) -> bool:
    return hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2


def _check_columns(frame, name) -> None:
    for column, dtype in zip(frame.columns, frame.dtypes):
        if getattr(dtype, "kind", "O") not in "fiub":
            raise TypeError(f"{name} holds {dtype} values in column {column!r:.200}: real numbers are needed")


def _from_frame(frame) -> np.ndarray:
    """Return the values of a pandas DataFrame, where columns of numbers and of bool may stand side by side."""
    kinds = [dtype.kind for dtype in frame.dtypes]
    plain = all(isinstance(dtype, np.dtype) for dtype in frame.dtypes)
    if plain and ("b" not in kinds or set(kinds) == {"b"}):
        return frame.to_numpy()
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _as_one_row(X, name) -> sp.csr_array:
    """Return a sparse array of one dimension as a matrix of one row; raise ValueError if it is damaged."""
    X = X.tocoo() if X.format == "dok" else X
    size = X.shape[0]
    columns = X.coords[0] if X.format == "coo" else X.indices
    if columns.size != X.data.size or (columns.size and not (0 <= columns.min() and columns.max() < size)):
        raise ValueError(f"{name} is damaged: it has an index outside 0 to {size - 1}")
    return sp.csr_array((X.data, (np.zeros(columns.size, np.int64), columns)), shape=(1, size))


def _of_numbers(values: np.ndarray, name: str) -> np.ndarray:
    """Return an array of real numbers; objects are converted if each is a number."""
    if values.dtype == object:
        for i, value in enumerate(values.flat):
            if not isinstance(value, (numbers.Real, Decimal, np.bool_)):
                places = zip(("row", "column"), np.unravel_index(i, values.shape))
                place = ", ".join(f"{axis} {at}" for axis, at in places)
                raise TypeError(
                    f"{name} holds {value!r:.60} at {place}: an argument must be free of strings and other objects, "
                    "real numbers are needed"
                )
        try:
            return values.astype(np.float64)
        except OverflowError as error:
            raise ValueError(f"{name} holds a number that is too large for float64") from error
    _check_real(values.dtype, name)
    return values


def _check_real(dtype, name):
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} holds {dtype} values, and real numbers are needed")
    if dtype.kind not in "fiub":
        raise TypeError(f"{name} holds {dtype} values: real numbers are needed")


def _canonical(matrix, name):
    """Sort the indices of a CSR matrix and sum duplicates, in place; raise ValueError for 0 or too many columns."""
    if matrix.shape[1] == 0:
        raise ValueError(f"{name} has no columns")
    if matrix.shape[1] > INT32_MAX:
        raise ValueError(f"{name} has {matrix.shape[1]} columns: at most {INT32_MAX} are supported")
    matrix.sum_duplicates()


def _from_binary_sparse(Y, name, copy=True):
    """Return a sparse matrix of 0 and 1 as canonical CSR of bool; raise ValueError for other values."""
    _check_real(Y.dtype, name)
    check_structure(Y, name)
    is_usual = not copy and Y.format == "csr" and Y.dtype == bool and Y.indices.flags.writeable  # as kernels know them
    if is_usual and Y.shape[1] and Y.data.all() and Y.has_canonical_format:
        return sp.csr_array(Y)
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


def is_lists(Y):
    """Return whether Y is a sequence, or a pandas Series, of lists (or sets, or vectors) of label ids."""
    if isinstance(Y, (str, bytes)):
        return False
    if isinstance(Y, Sequence):
        rows = Y
    elif getattr(getattr(Y, "dtype", None), "kind", None) == "O" and getattr(Y, "ndim", None) == 1:
        rows = list(Y)  # an array, or a pandas Series, of lists
    else:
        return False
    if len(rows) > 0 and all(isinstance(row, np.ndarray) and row.dtype == bool for row in rows):
        return False
    return all(isinstance(row, (Sequence, set, frozenset)) or getattr(row, "ndim", None) == 1 for row in rows)


def _from_lists(Y, n_labels, name):
    """Return lists of label ids as canonical CSR of bool; raise an error that names the first invalid row."""
    rows = [_ids_of_row(row, f"{name} row {i}", n_labels) for i, row in enumerate(Y)]
    indices = np.concatenate(rows) if rows else np.empty(0, np.int32)
    indptr = np.concatenate([[0], np.cumsum([ids.size for ids in rows], dtype=np.int64)])
    width = n_labels if n_labels is not None else int(indices.max(initial=-1)) + 1
    if width == 0:
        raise ValueError(f"{name} has no labels at all")
    return sp.csr_array((np.ones(indices.size, dtype=bool), indices, indptr), shape=(len(Y), width))


def _ids_of_row(row, where, n_labels) -> np.ndarray:
    """Return the label ids of a row, rising, as int32."""
    values = sorted(row) if isinstance(row, (set, frozenset)) else list(row)
    try:
        ids = np.asarray(values if values else np.empty(0, np.int64))
    except ValueError:  # numbers and lists, or lists of different lengths
        ids = np.empty((0, 0))
    if ids.ndim != 1:
        raise TypeError(f"{where} is {values!r:.200}, lists in a list: give one list of label ids per row")
    if ids.dtype.kind not in "iu":
        raise TypeError(f"{where} is {values!r:.200}: label ids are whole numbers")
    ids, counts = np.unique(ids, return_counts=True)
    if ids.size < len(values):
        raise ValueError(
            f"{where} names label {ids[np.argmax(counts)]} more than once. If its rows hold 0 and 1 for every label, "
            "give a matrix: numpy.array(...)"
        )
    if ids.size and ids[0] < 0:
        raise ValueError(f"{where} has the label id {ids[0]}: ids start at 0")
    if ids.size and n_labels is not None and ids[-1] >= n_labels:
        raise ValueError(f"{where} has the label id {ids[-1]}, but there are {n_labels} labels (ids from 0)")
    if ids.size and ids[-1] >= INT32_MAX:
        raise ValueError(f"{where} has the label id {ids[-1]}: at most {INT32_MAX} labels are supported")
    return ids.astype(np.int32)


def check_model(model, method: str = "predict_topk") -> None:
    """Raise TypeError unless a model has a method, and NotFittedError if it is not fitted."""
    if not isinstance(model, type):
        check_fitted(model)
    check_is(model, method, "model", f"a fitted model with {method}, such as PLT().fit(X, Y),")


def check_fitted(model) -> None:
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
