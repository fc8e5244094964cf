"""Training rows and their labels, checked and converted to matrices that fit together."""

import functools
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Self, TypeVar, cast

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import PART, are_blocks, checked_blocks, columns_of, csr_of, in_columns, pointers, side_by_side
from xmlcore.cluster import in_use
from xmlcore.label_names import given_classes, ids_of_classes, labels_of_model, without_column
from xmlcore.mapped import MappedRows
from xmlcore.models import by_workers
from xmlcore.parallel import row_blocks
from xmlcore.progress import part_of, to_progress
from xmlcore.ranking import Ranking, check_room
from xmlcore.typing import Labels
from xmlcore.validation import (
    check_count,
    check_features,
    check_labels,
    check_unambiguous,
    csr_parts,
    dense_rows,
    difference_of_names,
    feature_names,
)

Method = TypeVar("Method", bound=Callable[..., Any])
PREDICTED = 1 << 20  # values of dense rows that are predicted at a time


class CheckedRows(sp.csr_array):
    """Rows that ``check_features`` need not look at again; ``allowed`` is which labels they may get, or None."""

    allowed: np.ndarray | None = None

    @classmethod
    def among(cls, X: sp.csr_array, allowed: np.ndarray | None) -> Self:
        """Return checked rows that may get allowed labels only, a mask; None: all."""
        rows = cls(X)
        rows.allowed = allowed
        return rows


def names_of_columns(X) -> np.ndarray | None:
    """Return the names of the columns of rows, or of a list of blocks; None if no column has one."""
    if not are_blocks(X):
        return feature_names(X)
    names = [feature_names(block) for block in X]
    if all(of_block is None for of_block in names):
        return None
    widths = [(*np.shape(block), 0, 0)[1] for block in X]  # 0 of what is no matrix, which is refused later
    others = [[f"X[{i}] {j}" for j in range(width)] for i, width in enumerate(widths)]
    return np.concatenate([other if own is None else own for own, other in zip(names, others)])


def one_matrix(X):
    """Return training rows, of a list of blocks as one matrix; the names of the columns, and the widths of blocks."""
    if not are_blocks(X):
        return X, feature_names(X), None
    blocks = checked_blocks(X)
    return side_by_side(blocks), names_of_columns(X), [block.shape[1] for block in blocks]


def rows_for(model, X, name: str = "X", copy: bool = True) -> sp.csr_array:
    """Return rows, or a list of blocks, as canonical CSR; ValueError if they do not fit a fitted model.

    For a model that was fitted to blocks, one matrix has rows that are scaled already.
    """
    called, widths = type(model).__name__, getattr(model, "block_widths_", None)
    if isinstance(X, CheckedRows) or not copy and _is_ready(X, getattr(model, "n_features_in_", None)):
        return X
    if are_blocks(X):
        if widths is None:
            raise ValueError(f"{name} is a list of {len(X)} matrices, but {called} was fitted to one: give one matrix")
        return side_by_side(checked_blocks(X, widths, called))
    if widths is not None:
        called += f", fitted to {len(widths)} matrices of {' and '.join(map(str, widths))} columns,"
    return check_features(X, getattr(model, "n_features_in_", None), name=name, model=called, copy=copy)


def _is_ready(X, n_features):
    """Return, quickly, whether X is one sparse row that needs neither a change nor an error, and has a value."""
    if not sp.issparse(X) or X.format != "csr" or X.shape != (1, n_features):
        return False
    indices, data, size = X.indices, X.data, X.data.size
    found = data.dtype, indices.dtype, data.shape, indices.shape, X.indptr.tolist()
    if not size or found != (np.float32, np.int32, (size,), (size,), [0, size]):
        return False
    rises = np.count_nonzero(indices[1:] > indices[:-1]) == size - 1 and 0 <= indices[0] and indices[-1] < n_features
    is_kept = data.flags.carray and indices.flags.carray and np.count_nonzero(data) == size
    return rises and is_kept and np.count_nonzero(np.isfinite(data)) == size


def new_rows(model, X, copy: bool = True) -> sp.csr_array:
    """Return what :func:`rows_for` does, after looking at the names of columns."""
    if not isinstance(X, CheckedRows):
        check_feature_names(model, X)
    return rows_for(model, X, copy=copy)


def check_feature_names(model, X, level: int = 6) -> None:
    """Raise ValueError when X has other feature names than the training rows; warn when only one has names."""
    fitted, names = getattr(model, "feature_names_in_", None), names_of_columns(X)
    if (fitted is None) != (names is None):
        has = "X has feature names, but" if fitted is None else "X does not have valid feature names, but"
        how = "without" if fitted is None else "with"
        text = f"{has} {type(model).__name__} was fitted {how} feature names"
        warnings.warn(text, UserWarning, stacklevel=level)  # shows the line that called predict_topk or predict_proba
    elif fitted is not None and not np.array_equal(fitted, names):
        raise ValueError(difference_of_names(fitted, names))


def in_parts(method: Method) -> Method:
    """Return a method that predicts many dense rows part by part, and rows in files by the cluster in use."""

    @functools.wraps(method)
    def whole(self, X, *args, **options):
        cluster = in_use.get()
        if cluster and getattr(X, "is_whole", False) and X.shape[0] and not method.__name__.startswith("_"):
            method(self, X[:0], *args, **options)  # raises before anything is sent
            return _together(by_workers.predicted(cluster, self, method.__name__, X, args, options))
        shape = () if sp.issparse(X) else getattr(X, "shape", ())
        if len(shape) != 2 or math.prod(shape) <= PREDICTED:
            return method(self, X, *args, **options)
        self._check_fitted()
        check_feature_names(self, X, level=3)
        rows = dense_rows(X, self.n_features_in_, model=type(self).__name__)
        if isinstance(k := args[0] if args else options.get("k"), int):
            check_room(shape[0], k)
        progress, found = to_progress(options["progress"]) if "progress" in options else None, []
        for first, end in rows.blocks(PREDICTED):
            if progress is not None:
                options["progress"] = part_of(progress, first / shape[0], end / shape[0])
            found.append(method(self, CheckedRows(rows.part(first, end)), *args, **options))
        return _together(found)

    return cast(Method, whole)


def _together(found):
    """Return what was predicted for one part of the rows after the other."""
    if isinstance(found[0], Ranking):
        return Ranking(*map(np.concatenate, zip(*found)))
    if isinstance(found[0], np.ndarray):
        return np.concatenate(found)
    return stacked(found, found[0].shape[1])


def among_allowed(method: Method) -> Method:
    """Return a method ``predict_topk`` that ranks only labels that are allowed, where ``labels`` or ``exclude`` say so.

    A model that cannot do so itself ranks more labels, as many as are not allowed, and these are left out.
    """

    @functools.wraps(method)
    def ranked(self, X, k=5, *args, labels=None, exclude=None, **options):
        if labels is None and exclude is None:
            return method(self, X, k, *args, **options)
        allowed, k = self.known_labels().allowed(labels, exclude), check_count(k, "k")
        width = min(k, int(allowed.sum()))
        if self._PRUNES:
            return padded(method(self, X, width, *args, labels=allowed, **options), k)
        X, deep, found = self._check_input(X, k), width + int((~allowed).sum()), []
        progress = to_progress(options["progress"]) if "progress" in options else None
        for first, end in row_blocks(X.shape[0], max(1, PREDICTED // deep)):
            if progress is not None:
                options["progress"] = part_of(progress, first / X.shape[0], end / X.shape[0])
            part = method(self, CheckedRows.among(X[first:end], allowed), deep, *args, **options)
            stays = (part.labels >= 0) & allowed[part.labels]
            places = np.argsort(~stays, axis=1, kind="stable")[:, :width]
            kept, scores = (np.take_along_axis(values, places, axis=1) for values in part)
            stays = np.take_along_axis(stays, places, axis=1)
            found.append((np.where(stays, kept, -1), np.where(stays, scores, np.float32(0))))
        blank = np.empty((0, width), np.int32), np.empty((0, width), np.float32)
        return padded(Ranking(*map(np.concatenate, zip(blank, *found))), k)

    return cast(Method, ranked)


def padded(ranking: Ranking, k: int) -> Ranking:
    """Return a ranking with k places in each row."""
    more = [(0, 0), (0, k - ranking.labels.shape[1])]
    return Ranking(np.pad(ranking.labels, more, constant_values=-1), np.pad(ranking.scores, more))


def stacked(parts: list[sp.csr_array], n_labels: int) -> sp.csr_array:
    """Return blocks of rows as one matrix; ``parts`` is emptied on the way, to save memory."""
    ptr = pointers(np.concatenate([np.diff(part.indptr) for part in parts] or [np.empty(0, np.int64)]))
    indices, end = np.empty(ptr[-1], np.int32), ptr[-1]
    data = np.empty(end, parts[0].dtype if parts else np.float32)
    while parts:
        part = parts.pop()
        to = slice(end - part.nnz, end)
        indices[to], data[to] = part.indices, part.data
        end -= part.nnz
    return csr_of(ptr, indices, data, (ptr.size - 1, n_labels))


def only_rows(X: sp.csr_array, rows: np.ndarray) -> sp.csr_array:
    """Return some rows of X, in rising order, in the memory of X."""
    ptr = pointers(np.diff(X.indptr)[rows])
    for first, end in _few(X, rows.size):
        part, to = X[rows[first:end]], slice(ptr[first], ptr[end])
        X.indices[to], X.data[to] = part.indices, part.data
    kept, folder = (ptr, X.indices[: ptr[-1]], X.data[: ptr[-1]]), getattr(X, "folder", None)
    if folder is not None:
        return MappedRows.of(*kept, X.shape[1], folder)
    return csr_of(*kept, (rows.size, X.shape[1]))


def _few(X, n_rows) -> list[tuple[int, int]]:
    """Return blocks of rows that have few values on average."""
    return row_blocks(n_rows, max(1, PART * X.shape[0] // max(1, X.nnz)))


def columns_in_place(X: sp.csr_array, feature_of_column: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays of training rows, whose features all have columns, after replacing features by columns in X."""
    ptr, indices, values = csr_parts(X)
    columns = columns_of(feature_of_column, X.shape[1])
    for first, end in _few(X, X.shape[0]):
        indices[ptr[first] : ptr[end]] = in_columns((ptr, indices, values), columns, (first, end))[1]
    return ptr, indices, values


def checked_rows(X, Y, n_labels: int | None = None) -> tuple[sp.csr_array, sp.csr_array]:
    """Return training rows and their labels as canonical CSR; raise if no row has a label."""
    X = check_features(one_matrix(X)[0])
    Y = check_labels(Y, n_rows=X.shape[0], n_labels=n_labels, copy=False)
    if Y.nnz == 0:
        raise ValueError("no row of Y has a label: there is nothing to learn")
    return X, Y


def counted(Y: sp.csr_array) -> np.ndarray:
    """Return the number of rows of each label."""
    return np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64)


def labelled_rows(X: sp.csr_array, Y: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array, int]:
    """Leave out, in place, the rows that have no label; warn of them, and return X, Y and their number."""
    if Y.nnz == 0:
        raise ValueError("no row of Y has a label: there is nothing to learn")
    labelled = np.flatnonzero(np.diff(Y.indptr))
    n_unlabelled = X.shape[0] - labelled.size
    if n_unlabelled:
        warnings.warn(
            f"{n_unlabelled:,} of {X.shape[0]:,} training rows have no label and are left out",
            UserWarning,
            stacklevel=6,  # shows the line that called fit
        )
        X, Y = only_rows(X, labelled), Y[labelled]
    return X, Y, n_unlabelled


def labels_given(y: Labels | None, Y: Labels | None, of_classes: bool = False) -> Labels:
    """Return the labels, which were given by one of two names: y as in scikit-learn, or Y.

    ``of_classes`` says that a column holds classes, even if all are 0 or 1.
    """
    if Y is not None and y is not None:
        raise TypeError("both Y and y were given: they are two names of the same labels, so give one")
    found = Y if y is None else y
    if found is None:
        raise ValueError("this requires y to be passed, but the target y is None: give the labels of each row")
    if hasattr(found, "to_list") and not hasattr(found, "index"):  # a Series of polars, whose lists NumPy does not see
        found = found.to_list()
    found = list(found) if isinstance(found, Iterator) else found
    check_unambiguous(found)
    return without_column(found, of_classes)


def true_ids(model, Y):
    """Return true labels, or one class for each row, as a matrix or as lists of ids; unknown ones come last."""
    if getattr(model, "_one_class", None) and (values := given_classes(Y)) is not None:
        return ids_of_classes(values, model.classes_)
    return labels_of_model(Y, getattr(model, "label_names_", None))
