"""How far features, or labels, of test rows differ from those of training rows."""

import numpy as np
import scipy.sparse as sp

from xmlcore.first_use import pd
from xmlcore.typing import DataFrame

LEAST_EXPECTED = 5.0  # rows with a value that a tested column needs in the smaller part, if the parts were alike
FALSE_DISCOVERIES = 0.05  # expected share of columns that do not differ among those that are reported to differ


def drift(train: sp.csr_array, test: sp.csr_array) -> "DataFrame":
    """Compare each column of two matrices: features, or labels, of training and of test rows.

    The difference of a column is the standardised mean difference: (mean of the test rows - mean of the training rows)
    / s, where s is the root of the mean of the two variances. Zeros count. By convention, 0.2 is a small difference,
    0.5 a medium one, 0.8 a large one (Cohen 1988).

    Whether it is more than chance is tested with z = (mean of the test rows - mean of the training rows) / (t *
    sqrt(1 / n_train + 1 / n_test)), where t is the standard deviation over all rows. If rows are assigned to the two
    parts at random, z is nearly normal for a column with enough values: at least 5 are needed in the smaller part if
    both parts have the same share. By the procedure of Benjamini and Hochberg (1995), 5 % of the columns that are said
    to differ are expected not to. Nothing is proportional to D, which a file's header may promise to be huge.
    """
    from scipy.special import ndtr

    columns = used_columns(train, test)
    (rows_1, mean_1, variance_1), (rows_2, mean_2, variance_2) = (_moments(matrix, columns) for matrix in (train, test))
    n_1, n_2 = train.shape[0], test.shape[0]
    gap, n = mean_2 - mean_1, n_1 + n_2
    spread = np.sqrt((variance_1 + variance_2) / 2)
    of_all = ((n_1 - 1) * variance_1 + (n_2 - 1) * variance_2 + n_1 * n_2 / n * gap**2) / (n - 1)
    error = np.sqrt(of_all * (1 / n_1 + 1 / n_2))
    without_spread = np.where(gap == 0, 0.0, np.copysign(np.inf, gap))
    difference = np.divide(gap, spread, out=without_spread, where=spread > 0)
    z = np.divide(gap, error, out=np.zeros(gap.size), where=error > 0)
    tested = (rows_1 + rows_2) * min(n_1, n_2) >= LEAST_EXPECTED * n
    p = np.where(tested, 2 * ndtr(-np.abs(z)), np.nan)
    frame = pd.DataFrame(
        {
            "column": columns.astype(np.int64),
            "rows_train": rows_1,
            "rows_test": rows_2,
            "mean_train": mean_1,
            "mean_test": mean_2,
            "difference": difference,
            "tested": tested,
            "p": p,
            "differs": _discoveries(p),
        }
    )
    size = frame["difference"].abs()
    order = np.lexsort((frame["column"], -size, ~frame["differs"]))
    return frame.iloc[order].reset_index(drop=True)


def used_columns(*matrices: sp.csr_array) -> np.ndarray:
    """Return the columns in which any of the matrices has a stored value, ascending."""
    width, stored = matrices[0].shape[1], sum(matrix.nnz for matrix in matrices)
    if width > 4 * stored:  # a header may promise two billion features: nothing that long
        return np.unique(np.concatenate([np.unique(matrix.indices) for matrix in matrices])).astype(np.int64)
    used = np.zeros(width, bool)
    for matrix in matrices:
        used[matrix.indices] = True
    return np.flatnonzero(used)


def _moments(matrix, columns):
    """Return, for some columns: rows with a nonzero value, the mean, and the variance that divides by rows - 1."""
    n, width = matrix.shape
    if width > 4 * max(matrix.nnz, columns.size):
        at = np.searchsorted(columns, matrix.indices)
    else:
        places = np.zeros(width, np.int64)
        places[columns] = np.arange(columns.size)
        at = places[matrix.indices]
    values = matrix.data.astype(np.float64)
    rows = np.bincount(at, minlength=columns.size)
    mean = np.bincount(at, weights=values, minlength=columns.size) / n
    away = values - mean[at]  # sums of squares about the mean: those about zero lose digits
    squares = np.bincount(at, weights=away * away, minlength=columns.size) + (n - rows) * mean**2
    variance = squares / max(n - 1, 1)
    return rows, mean, np.where(variance > 1e-12 * mean**2, variance, 0.0)  # what is left of rounding is no variance


def _discoveries(p):
    """Return which of the p-values, nan if there is none, Benjamini and Hochberg's procedure accepts."""
    known = np.sort(p[~np.isnan(p)])
    below = np.flatnonzero(known <= FALSE_DISCOVERIES * np.arange(1, known.size + 1) / max(known.size, 1))
    return p <= known[below[-1]] if below.size else np.zeros(p.size, bool)
