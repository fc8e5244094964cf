"""Names of labels: found in training labels, kept by fitted models, and turned into ids. No file is read here.

A label is a number, its id: the place of its column. Its name is what the user calls it. Any hashable value can be a
name, such as a string or a member of an Enum; in lists of labels whole numbers are always ids, never names. Where Y has
one value and no list for each row, the values are *classes*, as in scikit-learn: each row has one, its label.
"""

import numbers
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import placed
from xmlcore.validation import check_labels, is_lists
from xmlcore.wording import meant


def check_label_names(names, title: str = "label_names") -> list:
    if isinstance(names, (str, bytes)) or not (isinstance(names, Sequence) or hasattr(names, "tolist")):
        raise TypeError(f"{title} must be a list with the name of each label, not {names!r:.60}")
    if getattr(names, "ndim", 1) != 1:
        raise ValueError(f"{title} has {names.ndim} dimensions: give a list with the name of each label")
    found = [name.item() if isinstance(name, np.generic) else name for name in names]
    places = {}
    for i, name in enumerate(found):
        if not isinstance(name, Hashable):
            raise TypeError(f"{title}[{i}] is {name!r:.60}: names must be hashable")
        if name is None or name != name:  # only NaN differs from itself
            raise ValueError(f"{title}[{i}] is {name!r:.200}: every label needs a name")
        if name in places:
            raise ValueError(f"{title}[{i}] is {name!r:.60}, as {title}[{places[name]}]: each label needs its own name")
        places[name] = i
    return found


def are_names(Y) -> bool:
    """Return whether Y is lists of names of labels: the first label of the first list that is not empty is a name."""
    if not is_lists(Y):
        return False
    first = next((label for row in Y for label in ((row,) if isinstance(row, (str, bytes)) else row)), 0)
    return not isinstance(first, (numbers.Number, np.bool_))


def given_classes(Y) -> np.ndarray | None:
    """Return Y as an array, shape (n,), if it has one class for each row, and None if it is something else."""
    if sp.issparse(Y) or isinstance(Y, (str, bytes)) or (isinstance(Y, Sequence) and not (len(Y) and _is_class(Y[0]))):
        return None
    try:
        values = np.asarray(Y)
    except ValueError:  # rows of several lengths
        return None
    return values if values.ndim == 1 and values.size and _is_class(values[0]) else None


def without_column(Y, of_classes: bool):
    """Return a column of classes as an array, shape (n,), and other labels as they are.

    Where it is not known that labels are classes, a column of 0 and 1 is a matrix of one label.
    """
    shape = () if sp.issparse(Y) else getattr(Y, "shape", ())
    if len(shape) != 2 or shape[1] != 1 or not shape[0]:
        return Y
    values = np.asarray(Y)[:, 0]
    if not _is_class(values[0]) or not (of_classes or any(value not in (0, 1) for value in values.tolist())):
        return Y
    from sklearn.exceptions import DataConversionWarning

    text = "A column-vector y was passed when a 1d array was expected: its values are taken for classes"
    warnings.warn(text, DataConversionWarning, stacklevel=4)
    return values


def _is_class(value) -> bool:
    return isinstance(value, (str, bytes, numbers.Number, np.bool_))


def distinct_classes(values: np.ndarray, name: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct classes, sorted, and the place of each row's class among them; raise for other values."""
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            found = "NaN" if np.isnan(values).any() else f"infinity or a value too large for dtype('{values.dtype}')"
            raise ValueError(f"Input {name} contains {found}.")
        if (values % 1 != 0).any():
            raise ValueError(
                f"Unknown label type: continuous. {name} has {values[values % 1 != 0][0]}, but classes are whole "
                "numbers or texts; give several labels for each row as a binary matrix, or one list for each row"
            )
    if values.dtype == object and any(value != value for value in values):
        raise ValueError(f"Input {name} contains NaN.")
    try:
        return np.unique(values, return_inverse=True)
    except TypeError as error:
        kinds = ", ".join(sorted({type(value).__name__ for value in values}))
        raise TypeError(f"the classes in {name} ({kinds}) cannot be sorted: give texts or numbers alone") from error


def read_training_labels(Y, label_names=None, n_labels=None, classes=None) -> tuple[sp.csr_array, list | None, bool]:
    """Return training labels as a matrix, the names of labels, and whether each row was given one class.

    ``classes`` may name classes that no row has.
    """
    values = None if label_names is not None else given_classes(Y)
    if values is None:
        Y, names = read_label_names(Y, label_names)
        return check_labels(Y, n_labels=n_labels, copy=False), names, False
    found, places = distinct_classes(values)
    known = found if classes is None else distinct_classes(np.asarray(classes), "classes")[0]
    return *_with_places(found, places, known), True


def _with_places(classes, places, known) -> tuple[sp.csr_array, list | None]:
    """Return a matrix of rows with the classes ``found[places]`` and columns for ``known``, and the names of these."""
    column = {value: j for j, value in enumerate(known.tolist())}
    unknown = [value for value in classes.tolist() if value not in column]
    if unknown:
        raise ValueError(f"y has the class {unknown[0]!r:.60}, which is not in classes")
    ids = np.array([column[value] for value in classes.tolist()], np.int32)[places]
    matrix = sp.csr_array((np.ones(ids.size, bool), ids, np.arange(ids.size + 1)), shape=(ids.size, len(known)))
    are_ids = known.dtype.kind in "iu" and np.array_equal(known, np.arange(known.size))
    return matrix, None if are_ids else known.tolist()


def read_more_classes(values: np.ndarray, known: np.ndarray) -> tuple[sp.csr_array, list | None]:
    """Return the classes of further rows as a matrix with columns for known classes, then new ones; and the names."""
    found, places = distinct_classes(values)
    new = found[~np.isin(found, known)]
    return _with_places(found, places, np.concatenate([known, new]) if new.size else known)


def ids_of_classes(values: np.ndarray, known: np.ndarray) -> list[list[int]]:
    """Return a list with the id of each row's class; classes that the model does not know have those after the last."""
    ids = {value: j for j, value in enumerate(known.tolist())}
    return [[ids.setdefault(value, len(ids))] for value in values.tolist()]


def with_names(Y, aliases: Mapping | None):
    """Return lists of names of labels with the names that further names stand for; other labels as they are."""
    return [[aliases.get(label, label) for label in row] for row in Y] if aliases and are_names(Y) else Y


def read_label_names(Y, label_names=None, *, name: str = "Y") -> tuple:
    """Return training labels in a form that :func:`xmlcore.validation.check_labels` takes, and the names of labels."""
    names = None if label_names is None else check_label_names(label_names)
    columns = _columns(Y)
    if columns is not None:
        columns = check_label_names(columns, f"the columns of {name}")
        if names is not None and names != columns:
            raise ValueError(f"label_names and the columns of {name} name different labels: give one of the two")
        return Y, columns
    if names is not None and given_classes(Y) is not None:
        Y = [[label] for label in Y]
    if are_names(Y):
        rows = _rows_of_names(Y, name)
        names = _sorted_names(rows, name) if names is None else names
        return _matrix(rows, names, name), names
    if names is None:
        return Y, None
    shape = getattr(Y, "shape", ())
    if len(shape) == 2 and shape[1] != len(names):
        raise ValueError(f"label_names has {len(names)} names, but {name} has {shape[1]} labels")
    return (check_labels(Y, n_labels=len(names), name=name) if is_lists(Y) else Y), names


def read_more_labels(Y, n_labels: int, names: list | None, label_names=None) -> tuple:
    """Return the labels of rows that a fitted model learns in addition; there may be new labels among them."""
    columns = _columns(Y)
    if names is None:
        if label_names is not None or columns is not None or are_names(Y):
            raise ValueError("labels have names here, but the model was fitted to labels without names: give ids")
        known = None
    else:
        known = names if label_names is None else check_label_names(label_names)
        if known[:n_labels] != names:
            raise ValueError("label_names must begin with the names of the model's labels, in their order")
    if given_classes(Y) is not None:
        Y = [[label] for label in Y]
    if columns is not None:
        known = list(dict.fromkeys([*known, *check_label_names(columns, "the columns of Y")]))
        place = {name: i for i, name in enumerate(known)}
        return placed(check_labels(Y), np.array([place[name] for name in columns]), len(known)), known
    if known is not None and are_names(Y):
        rows = _rows_of_names(Y, "Y")
        if label_names is None:
            old = set(known)
            known = known + _sorted_names([[label for label in row if label not in old] for row in rows], "Y")
        return _matrix(rows, known, "Y"), known
    matrix = check_labels(Y)
    width = matrix.shape[1]
    if width < n_labels and not is_lists(Y):
        raise ValueError(f"Y has {width} labels, but the model has {n_labels}: give it their columns, also empty ones")
    if known is not None and max(width, n_labels) > len(known):
        raise ValueError(f"Y has {width} labels, but there are {len(known)} names: give label_names of new ones, too")
    width = max(width, n_labels, 0 if known is None else len(known))
    return sp.csr_array((matrix.data, matrix.indices, matrix.indptr), (matrix.shape[0], width)), known


def labels_of_model(Y, names: list | None):
    """Return the true labels of rows with the ids that a model uses: names become ids, and other forms stay.

    Names that no label of the model has get the ids after the last.
    """
    columns = _columns(Y)
    if columns is not None and names is not None and list(columns) != names:
        raise ValueError("the columns of Y are not the labels that the model was fitted to, in their order")
    if is_lists(Y) and any(isinstance(name, numbers.Integral) and name != i for i, name in enumerate(names or ())):
        raise ValueError(
            "Y has lists of labels, and the names of the model's labels are numbers: the lists could hold names or "
            "ids. Give a binary matrix with the model's columns"
        )
    if not are_names(Y):
        return Y
    if names is None:
        raise ValueError("Y has names of labels, but the model was fitted to labels without names: give ids")
    ids = {label: i for i, label in enumerate(names)}
    return [[ids.setdefault(label, len(ids)) for label in row] for row in _rows_of_names(Y, "Y")]


def _columns(Y):
    columns = getattr(Y, "columns", None)
    if columns is None or sp.issparse(Y) or isinstance(Y, np.ndarray) or getattr(Y, "ndim", 2) != 2:
        return None
    columns = [column.item() if isinstance(column, np.generic) else column for column in columns]
    return None if columns == list(range(len(columns))) else columns


def _rows_of_names(Y, name) -> list[list]:
    """Return lists of names without repetitions; raise an error that names the first row with something else."""
    rows = []
    for i, row in enumerate(Y):
        if isinstance(row, (str, bytes)):
            raise TypeError(f"{name} row {i} is the text {row!r:.60}: give a list of labels, such as [{row!r:.60}]")
        for label in row:
            why = None
            if not isinstance(label, Hashable):
                why = ": a name must be hashable, such as a string"
            elif label is None or isinstance(label, (numbers.Number, np.bool_)):
                why = ", but other labels are names: give all labels as names"
            if why:
                raise TypeError(f"{name} row {i} has the label {label!r:.60}{why}")
        rows.append(list(dict.fromkeys(label.item() if isinstance(label, np.generic) else label for label in row)))
    return rows


def _sorted_names(rows, name) -> list:
    found = {label for row in rows for label in row}
    try:
        return sorted(found)
    except TypeError as error:
        kinds = ", ".join(sorted({type(label).__name__ for label in found}))
        raise TypeError(
            f"the labels in {name} ({kinds}) cannot be sorted: give them in an order of yours, label_names=[...]"
        ) from error


def _matrix(rows, names, name) -> sp.csr_array:
    """Return lists of names as a matrix of bool with a column for each of ``names``."""
    ids = {label: i for i, label in enumerate(names)}
    for i, row in enumerate(rows):
        unknown = [label for label in row if label not in ids]
        if unknown:
            raise ValueError(f"{name} row {i} has the label {unknown[0]!r:.60}, which is not in label_names")
    return check_labels([[ids[label] for label in row] for row in rows], n_labels=len(names), name=name)


class KnownLabels:
    """The labels of a model or a data set: L of them, their names if they have some, and further names of them."""

    def __init__(self, n_labels: int, names: Sequence | None = None, aliases: Mapping[str, int] | None = None):
        self.n_labels, self.names = n_labels, names
        self._ids = dict(aliases or {}) | {name: j for j, name in enumerate(names or ())}

    def id_of(self, label, of: str = "labels") -> int:
        """Return the id of a label, which is given by it or by a name; ValueError names the nearest known names."""
        if isinstance(label, numbers.Integral) and not isinstance(label, (bool, np.bool_)):
            if not 0 <= label < self.n_labels:
                raise ValueError(f"{of} has the id {label}: ids go from 0 to {self.n_labels - 1}")
            return int(label)
        if isinstance(label, Hashable) and label in self._ids:
            return self._ids[label]
        if self.names is None and isinstance(label, str) and (number := label.removeprefix("label ")).isdecimal():
            return self.id_of(int(number[:20]), of)
        nearest = meant([label], map(str, self._ids)) if isinstance(label, str) else ""
        has = "" if self._ids else ": the labels have no names, so give ids"
        raise ValueError(f"{of} has {label!r:.80}, which is no label{has}{nearest}")

    def mask(self, labels, of: str = "labels") -> np.ndarray:
        """Return which labels are given, bool (L,): by a mask, one label, or several, each by its id or a name."""
        if getattr(getattr(labels, "dtype", None), "kind", "") == "b":
            if labels.shape != (self.n_labels,):
                raise ValueError(f"{of} has the shape {labels.shape}: a mask has one value for each label")
            return np.array(labels)
        one = isinstance(labels, (str, bytes, numbers.Number)) or not hasattr(labels, "__iter__")
        found = np.zeros(self.n_labels, bool)
        found[[self.id_of(label, of) for label in ([labels] if one else labels)]] = True
        return found

    def allowed(self, labels=None, exclude=None) -> np.ndarray:
        """Return which labels may be predicted: those of ``labels``, or all, without those of ``exclude``."""
        found = np.ones(self.n_labels, bool) if labels is None else self.mask(labels)
        found &= True if exclude is None else ~self.mask(exclude, "exclude")
        if not found.any():
            raise ValueError("labels and exclude leave no label that can be predicted")
        return found

    def aliases(self, given: Mapping[Any, Any]) -> dict[str, int]:
        """Return further names of labels with the ids of these, checked: none is the name of a label."""
        if not isinstance(given, Mapping) or not all(isinstance(name, str) and name for name in given):
            raise TypeError("aliases must be a dict of further names of labels, strings, and the labels they stand for")
        taken = next((name for name in given if name in (self.names or ())), None)
        if taken is not None:
            raise ValueError(f"the alias {taken!r:.80} is the name of a label")
        return {name: self.id_of(label, "aliases") for name, label in given.items()}
