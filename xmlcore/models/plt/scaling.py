"""The scaling of rows before they are classified: to length 1, by column, both, or by one number for all."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.plt_rows import take_rows
from xmlcore.arrays import PART, columns_of, unit_rows
from xmlcore.models.plt.parameters import ALTERNATING
from xmlcore.parallel import row_blocks
from xmlcore.validation import csr_parts

UNIT, IDF, BY_COLUMN = "l2", "idf", "standardize"  # values of the parameter ``normalize``; None is one number for all
DENSE = 0.5  # Rows are dense if more than this share of their values is not 0. Then columns are centred.
FEW = 0.25  # Scales of columns are unlike if this share of them makes up the distances between rows,
MEAN = 0.9  # or if the mean row makes up this share of the squared lengths of rows.
CONSTANT = 1e-6  # A column whose deviation is at most this share of its largest value is constant, up to rounding.
LEAST = 1e-30  # Smallest deviation, and length of rows: weights of what varies less could be beyond float32.


class Scaling(NamedTuple):
    """A linear map of rows as they are read, ``(row - centre) * factor``: their mean squared length is then 1."""

    centre: np.ndarray  # float64 (columns,)
    factor: np.ndarray  # float64 (columns,), 0 for a constant column


def scalings_of(normalize: str | None) -> list[str | None]:
    """Return the scalings of the trees of an ensemble, between which they alternate; mostly one for all."""
    return normalize.split("+") if normalize in ALTERNATING else [normalize]


def read_as(normalize: str | None) -> str | None:
    """Return how fitted classifiers read rows: "l2", of length 1; with another value, as they are."""
    return UNIT if scalings_of(normalize)[0] in (UNIT, IDF) else normalize


def scaled_rows(
    X, feature_of_column, normalize: str | None, weights=None, n_clean: int | None = None, scaling=None
) -> tuple[sp.csr_array, Scaling | None]:
    """Convert rows in place for training, with columns in place of features; return their scaling, or the given one.

    Every feature of X has a column.
    """
    # The scaling is None for rows of length 1. With another one, :func:`of_features` makes classifiers that read rows
    # as :func:`read_as` says. Document frequencies are those of the first ``n_clean`` rows: noise can fill all columns.
    of_feature = columns_of(feature_of_column, X.shape[1])
    centred = normalize == BY_COLUMN and (_is_dense(X, weights) if scaling is None else scaling.centre.any())
    ptr, columns, values = csr_parts(X)
    for first, end in _parts(ptr):
        part = slice(ptr[first], ptr[end])
        _, columns[part], values[part] = take_rows(
            ptr, columns, values, first, end, *of_feature, read_as(normalize) == UNIT
        )
    shape = X.shape[0], max(1, feature_of_column.size)
    rows = sp.csr_array((values, columns, X.indptr), shape=shape)
    if normalize == UNIT:
        return rows, None
    scaling = _scaling_of(rows, normalize, centred, weights, n_clean) if scaling is None else scaling
    if not centred:
        for first, end in _parts(ptr):
            part = slice(ptr[first], ptr[end])
            values[part] = values[part] * scaling.factor[columns[part]]
        return rows, scaling
    # From the last row on, because a row of all columns never begins before the one that it replaces.
    columns, values = (np.resize(array, shape[0] * shape[1]) for array in (columns, values))
    for first, end in reversed(_parts(ptr)):
        part = slice(ptr[first], ptr[end])
        dense = sp.csr_array((values[part], columns[part], ptr[first : end + 1] - ptr[first]), (end - first, shape[1]))
        to = slice(first * shape[1], end * shape[1])
        values[to] = ((dense.toarray() - scaling.centre) * scaling.factor).reshape(-1)
        columns[to] = np.tile(np.arange(shape[1], dtype=np.int32), end - first)
    return sp.csr_array((values, columns, shape[1] * np.arange(shape[0] + 1)), shape=shape), scaling


def _entries(rows, weights):
    """Yield the columns, the weights and the values, in float64, of the entries of a few rows at a time."""
    for first, end in _parts(rows.indptr):
        part = slice(rows.indptr[first], rows.indptr[end])
        each = np.repeat(weights[first:end], np.diff(rows.indptr[first : end + 1]))
        yield rows.indices[part], each, rows.data[part].astype(np.float64)


def _parts(ptr) -> list[tuple[int, int]]:
    """Return blocks of rows with few values each, so that temporary arrays are small."""
    return row_blocks(ptr.size - 1, max(1, PART * (ptr.size - 1) // max(1, int(ptr[-1]))))


def possible_scalings(X, weights=None) -> list[str]:
    """Return the scalings of rows that are worth a trial; the first one is used where nothing is tried."""
    if not _is_dense(X, weights):
        return [UNIT, IDF]
    return [BY_COLUMN, UNIT] if _has_unlike_scales(X, weights) else [UNIT]


def _has_unlike_scales(X, weights) -> bool:
    """Return whether rows of length 1 would differ in few columns, or hardly at all."""
    mean, variance = _moments(X, weights)
    varies = variance > 0
    share = variance[varies] / variance.max()
    # Columns with the variances v count as sum(v)^2 / sum(v^2) columns: as all if the variances are equal.
    few = share.sum() ** 2 < FEW * varies.sum() * (share**2).sum()
    return bool(few or (mean**2).sum() > MEAN / (1 - MEAN) * variance.sum() > 0)


def of_features(group, size: int, scaling: Scaling | None):
    """Return classifiers of scaled rows, a GroupResult of ``size`` siblings, as classifiers of rows as they are."""
    if scaling is None:
        return group
    width = group.value.size // max(1, group.columns.size)  # of a group that is stored densely
    columns = np.repeat(group.columns, np.diff(group.ptr.astype(np.int64)) if group.ptr.size else width)
    value = (group.value * scaling.factor[columns]).astype(np.float32)
    places = group.child if group.ptr.size else np.tile(np.arange(width), group.columns.size)
    shift = np.bincount(places, value * scaling.centre[columns], size)[:size]
    return group._replace(value=value, bias=(group.bias - shift).astype(np.float32))


def as_read(X: sp.csr_array, normalize: str | None) -> sp.csr_array:
    """Return rows as the classifiers of a fitted model read them, in float64."""
    return unit_rows(X) if normalize == UNIT else X.astype(np.float64)


def _is_dense(X, weights) -> bool:
    """Return whether more than half of the values of rows are not 0."""
    sizes = np.diff(X.indptr)
    return np.average(sizes, weights=weights) > DENSE * X.shape[1]


def _scaling_of(rows, normalize, centred, weights, n_clean) -> Scaling:
    mean, variance = _moments(rows, weights)
    centre, factor = np.zeros(mean.size), np.ones(mean.size)
    if normalize == IDF:
        counted = rows if n_clean is None else rows[:n_clean]
        each = np.ones(counted.shape[0]) if weights is None else weights[:n_clean]
        with_it = sum(np.bincount(columns, weights, mean.size) for columns, weights, _ in _entries(counted, each))
        factor = np.log(each.sum() / np.maximum(with_it, each.min())) + 1  # as scikit-learn's, not smoothed
    if normalize == BY_COLUMN:
        deviation = np.sqrt(variance)
        factor = np.divide(1.0, deviation, out=np.zeros(mean.size), where=deviation > LEAST)
        if centred:
            centre = np.where(factor > 0, mean, 0.0)
    square = ((variance + (mean - centre) ** 2) * factor**2).sum()
    return Scaling(centre, factor / np.sqrt(square) if square > LEAST**2 else factor)


def _moments(rows, weights=None) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the variance of each column of a CSR matrix; the variance of a constant one is 0."""
    weights = np.ones(rows.shape[0]) if weights is None else weights
    n, (sums, stored, squares) = weights.sum(), np.zeros((3, rows.shape[1]))
    for columns, each, values in _entries(rows, weights):
        sums += np.bincount(columns, each * values, sums.size)
        stored += np.bincount(columns, each, sums.size)
    mean = sums / n
    for columns, each, values in _entries(rows, weights):
        squares += np.bincount(columns, each * (values - mean[columns]) ** 2, sums.size)
    variance = (squares + (n - stored) * mean**2) / n
    return mean, np.where(np.sqrt(variance) > CONSTANT * np.abs(mean), variance, 0.0)
