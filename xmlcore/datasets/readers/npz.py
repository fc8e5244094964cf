"""Reader of files of NumPy: an array (npy), a matrix of ``scipy.sparse.save_npz``, an archive of X and Y (npz)."""

import io
import tokenize

import numpy as np
import scipy.sparse as sp

from xmlcore.archives import BoundedZip
from xmlcore.datasets.readers.recognise import NPY
from xmlcore.datasets.readers.rows import ReadOptions, Rows, canonical_csr
from xmlcore.datasets.readers.sources import NamedSource, holds_npz, reading_zip
from xmlcore.validation import INT32_MAX, check_features, check_labels, check_structure
from xmlcore.wording import listed

looks_like = holds_npz

MAGIC = (b"PK\x03\x04", NPY)  # with which a zip archive begins, and an array

_HOLDS = (
    "An npz file holds one matrix as scipy.sparse.save_npz writes it; or the arrays X and Y; or X_data, X_indices, "
    "X_indptr, X_shape, and the same for Y."
)
_FEW_CLASSES = 10  # different class numbers that are never too many for the rows
_ROWS_PER_VALUE = 1000  # most rows that the shape of a matrix may state for each value it holds


def parse(text, source: NamedSource, options: ReadOptions) -> Rows:
    """Parse an array or a NumPy archive with the features, and the labels unless they are in another file."""
    arrays = arrays_of(text, source)
    X = _checked(check_features, _matrix(arrays, "X", source, alone=True), source, "features")
    Y = label_names = is_exact = None
    if any(name in arrays for name in ("Y", "y", "Y_indptr")):
        Y, label_names, is_exact = _labels(arrays, source, options.classes)
        if Y.shape[0] != X.shape[0]:
            found = f"its features have {X.shape[0]:,} rows, but its labels {Y.shape[0]:,}"
            raise source.error(found, "Every row needs its labels: save both from the same rows.")
    feature_names = _names(arrays, "feature_names", X.shape[1], source)
    names = {"feature_names": feature_names, "label_names": label_names}
    listed = arrays.get("Y", arrays.get("y"))
    classes = listed is not None and listed.ndim == 1 and listed.dtype.kind in "iu" and "Y_indptr" not in arrays
    return Rows(source, "npz", X, Y, 0, **names, has_label_width=is_exact, classes=classes)


def parse_labels(text, source, classes=False) -> tuple[sp.csr_array, list[str] | None, bool]:
    """Parse an array or a NumPy archive that holds labels alone, or labels beside features that are not read."""
    return _labels(arrays_of(text, source), source, classes, alone=True)


def scores_of(arrays, source) -> sp.csr_array | np.ndarray:
    """Return the only matrix of an archive."""
    return _matrix(arrays, "X", source, alone=True)


def _labels(arrays, source, classes, alone=False):
    """Return the labels of an archive, their names, and whether their number is exact; see :func:`parse_labels`."""
    only = list(arrays) if alone and len(arrays) == 1 else []
    name = next((name for name in ("Y", "y", *only) if name in arrays), None)
    if "Y_indptr" not in arrays and name is not None and arrays[name].ndim == 1:
        return _classes(arrays, name, source, classes)
    Y = _checked(check_labels, _matrix(arrays, "Y", source, alone), source, "labels")
    return Y, _names(arrays, "label_names", Y.shape[1], source), True


def _classes(arrays, name, source, are_classes):
    """Return what :func:`_labels` does, from a list with the class of each row: its number from 0, or its name."""
    values = arrays[name]
    classes, numbers = np.unique(values, return_inverse=True)
    names, is_exact, has_label = None, False, np.ones(values.size, bool)
    if values.dtype.kind in "US":
        names = _text(classes, name, source)
        if names[:1] == [""]:  # the name of no class
            names, numbers, has_label = names[1:], numbers - 1, numbers > 0
    else:
        found = _no_classes(values, classes, are_classes)
        if found is not None:
            remedy = (
                "Save labels as a matrix of 0 and 1 with a row for each row of the data and a column for each label, "
                "or class numbers as whole numbers from 0."
            )
            raise source.error(f"the array {name} has one value a row, {found}", remedy)
        numbers, n_labels = values.astype(np.int64), int(classes[-1]) + 1
        if "label_names" in arrays:
            n_labels, is_exact = max(n_labels, arrays["label_names"].size), True
            names = _names(arrays, "label_names", n_labels, source)
    n_labels = len(names) if names is not None else n_labels
    noun = "name of a class" if values.dtype.kind in "US" else "class number"
    source.warn(f"the array {name} has a {noun} for each row, which is read as the one label of the row")
    indices = numbers[has_label].astype(np.int32)
    Y = canonical_csr(np.append(0, np.cumsum(has_label)), indices, np.ones(indices.size, bool), n_labels)
    return Y, names, is_exact


def _no_classes(values, classes, are_classes) -> str | None:
    """Return why a value for each row is not certainly a class number; None if it is, or ``are_classes`` says so."""
    if values.dtype.kind not in "iu" or not classes.size:
        return f"of the type {values.dtype}, which are no class numbers"
    if classes[0] < 0 or classes[-1] >= INT32_MAX:
        return f"such as {int(classes[0] if classes[0] < 0 else classes[-1])}, which is no class number"
    if are_classes:
        return None
    if classes[-1] <= 1:
        return "0 or 1: this may be one label, or two classes"
    if classes.size > max(_FEW_CLASSES, values.size / 2):
        return f"{classes.size:,} different ones in {values.size:,} rows: these are hardly class numbers"
    return None


def _checked(check, matrix, source, noun):
    """Return a matrix in canonical form; raise DatasetFormatError if it is not one of features or labels."""
    try:
        with np.errstate(over="ignore"):  # the check says which value is too large
            return check(matrix)
    except (ValueError, TypeError, OverflowError) as error:
        raise source.error(f"its {noun} cannot be used ({error})", "Correct the matrix, and save it again.") from error


def arrays_of(text, source: NamedSource):
    if not holds_npz(text):
        raise source.error("it is not a NumPy archive (npz)", "Give a file that numpy.savez wrote.")
    if bytes(text[: len(NPY)]) == NPY:
        return {"values": _array(io.BytesIO(text), "values", source)}
    with reading_zip(source, "the npz archive"), BoundedZip(io.BytesIO(text)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        if source.bound is not None and size > source.bound:
            found = f"its arrays take {size:,} bytes, more than {source.bound:,}"
            remedy = "If that is right and there is memory for it, allow more."
            raise source.error(found, remedy, argument="max_bytes")
        found = {}
        for entry in archive.infolist():
            with archive.open(entry) as file:
                name = entry.filename.removesuffix(".npy")
                found[name] = _array(file, name, source)
        return found


def _array(file, name, source):
    """Return the array of an open file. Objects, which only pickle can read, are refused."""
    try:
        return np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError, tokenize.TokenError) as error:
        remedy = "Save it again: sparse matrices with scipy.sparse.save_npz, dense ones with numpy.savez, no objects."
        raise source.error(f"the array {name} cannot be read ({error})", remedy) from error


def _matrix(arrays, letter, source, alone=False):
    """Return the matrix X or Y of an archive, sparse or dense; with ``alone``, also the only matrix, however named."""
    lower = letter.lower()
    named = {
        key: arrays[f"{letter}_{key}"] for key in ("data", "indices", "indptr", "shape") if f"{letter}_{key}" in arrays
    }
    if "indptr" in named:
        return _sparse({"format": np.array("csr"), **named}, source, f"{letter}_")
    if letter in arrays or lower in arrays:
        return _dense(arrays.get(letter, arrays.get(lower)), letter if letter in arrays else lower, source)
    if alone and "format" in arrays and "shape" in arrays:
        return _sparse(arrays, source, "")
    values = [name for name, array in arrays.items() if len(arrays) == 1 or array.dtype.kind in "biuf"]
    if alone and len(values) == 1:
        return _dense(arrays[values[0]], values[0], source)
    raise source.error(f"it holds no {letter}, but the arrays {listed(arrays)}", _HOLDS)


def _dense(values, name, source):
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        found = f"the array {name} has {values.ndim} dimension{'s' * (values.ndim != 1)} and the type {values.dtype}"
        raise source.error(found, "It should be a matrix of numbers: a row for each row of the data.")
    return values


def _sparse(arrays, source, prefix):
    """Return a sparse matrix from its arrays; ``prefix`` precedes their names in messages."""
    written = arrays["format"].item() if arrays["format"].size == 1 else ""
    kind = written.decode("ascii", "replace") if isinstance(written, bytes) else str(written)
    needed = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}.get(kind)
    if needed is None:
        found = f"its sparse matrix has the format {kind[:20]!r}"
        raise source.error(found, "Save it in CSR form: scipy.sparse.save_npz(file, matrix.tocsr()).")
    if "data" not in arrays and prefix and "indices" in arrays:
        arrays = {**arrays, "data": np.ones(arrays["indices"].size, bool)}  # of labels, the places are enough
    missing = [name for name in (*needed, "data", "shape") if name not in arrays]
    if missing:
        raise source.error(f"the array {prefix}{missing[0]} is missing", _HOLDS)
    shape, data = arrays["shape"], arrays["data"]
    of_sizes = shape.dtype.kind in "iu" and shape.shape == (2,)
    if not of_sizes or not (0 <= shape[0] <= 2**62 and 0 < shape[1] <= INT32_MAX):
        found = f"the array {prefix}shape is not the numbers of rows and columns, but {shape.ravel()[:4].tolist()}"
        raise source.error(found, f"At most {INT32_MAX:,} columns are supported.")
    for name, kinds, noun in (*((name, "iu", "whole") for name in needed), ("data", "biuf", "real")):
        if arrays[name].dtype.kind not in kinds or arrays[name].ndim != 1:
            found = f"the array {prefix}{name} has the type {arrays[name].dtype} and {arrays[name].ndim} dimensions"
            raise source.error(found, f"It should be a list of {noun} numbers.")
    n_rows, n_columns = (int(size) for size in shape)
    if n_rows > _ROWS_PER_VALUE * (data.size + n_columns + 1000) and kind != "csr":
        found = f"the array {prefix}shape states {n_rows:,} rows, but there are {data.size:,} values"
        raise source.error(found, "Put the right number of rows there, or save the matrix in CSR form.")
    return _assembled(kind, (n_rows, n_columns), data, {name: arrays[name] for name in needed}, source, prefix)


def _assembled(kind, shape, data, places, source, prefix):
    """Return a matrix from its values and two arrays that say where they are."""
    first, second = (array.astype(np.int64, copy=False) for array in places.values())
    made = {"coo": sp.coo_array, "csr": sp.csr_array, "csc": sp.csc_array}[kind]
    try:
        matrix = made((data, (first, second)) if kind == "coo" else (data, first, second), shape=shape)
        check_structure(matrix, prefix.removesuffix("_") or "the matrix")
    except ValueError as error:
        remedy = "Put the right shape there; or the file is damaged, or was not made by scipy: save the matrix again."
        raise source.error(f"its sparse matrix cannot be used ({error})", remedy) from error
    if kind != "coo" and second[-1] != data.size:
        found = f"{prefix}indptr ends at {second[-1]:,}, but there are {data.size:,} values"
        raise source.error(found, "The file is damaged: save the matrix again.")
    return matrix.tocsr()


def _names(arrays, field, count, source):
    if field not in arrays:
        return None
    names = arrays[field]
    noun = field.removesuffix("_names")
    if names.ndim != 1 or names.dtype.kind not in "US":
        found = f"the array {field} has the type {names.dtype} and {names.ndim} dimensions"
        raise source.error(found, "It should be a list of texts: numpy.array(names, dtype=str).")
    if names.size != count:
        found = f"it holds {names.size:,} {noun} names, but there are {count:,} {noun}s"
        raise source.error(found, f"Give one name for each {noun}, in their order.")
    return _text(names, field, source)


def _text(names, field, source):
    try:
        return [name.decode() if isinstance(name, bytes) else name.encode().decode() for name in names.tolist()]
    except (ValueError, SystemError) as error:  # a character with a number that does not exist
        raise source.error(f"a name in {field} is not text ({error})", "Save it again.") from error
