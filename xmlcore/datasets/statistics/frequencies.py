"""How unequal the frequencies of labels are.

The measures are those of Charte et al. (2015), "Addressing imbalance in multilabel classification: Measures and random
resampling algorithms", Neurocomputing 163, and of Charte et al. (2019), "Dealing with difficult minority labels in
imbalanced multilabel data sets", Neurocomputing 326-327. The R package mldr has the same.
"""

import math

import numpy as np
import scipy.sparse as sp


def imbalance_ratios(Y: sp.csr_array) -> np.ndarray:
    """Return the imbalance ratio of each label, IRLbl: the rows of the most frequent label / the rows of this label."""
    counts = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float64)
    return np.divide(counts.max(initial=0), counts, out=np.full(counts.size, np.nan), where=counts > 0)


def scumble_of_rows(Y: sp.csr_array) -> np.ndarray:
    """Return SCUMBLE of each row: how far apart the frequencies of its labels are."""
    # It is 1 - g / m, where g and m are the geometric and the arithmetic mean of IRLbl over the labels of the row. The
    # geometric mean is computed from logarithms, because the product of many ratios is too large for a number.
    ratios, sizes = imbalance_ratios(Y), np.diff(Y.indptr)
    result = np.zeros(Y.shape[0])
    several = sizes > 1
    arithmetic = _sums(ratios, Y)[several] / sizes[several]
    logarithms = _sums(np.log(ratios), Y)[several] / sizes[several]
    result[several] = np.clip(1.0 - np.exp(logarithms) / arithmetic, 0.0, 1.0)  # rounding can give -1e-16
    return result


def scumble_of_labels(Y: sp.csr_array, of_rows: np.ndarray | None = None) -> np.ndarray:
    """Return SCUMBLE of each label: the mean of :func:`scumble_of_rows` over its rows."""
    of_rows = scumble_of_rows(Y) if of_rows is None else of_rows
    n_labels = Y.shape[1]
    counts = np.bincount(Y.indices, minlength=n_labels).astype(np.float64)
    sums = np.bincount(Y.indices, weights=np.repeat(of_rows, np.diff(Y.indptr)), minlength=n_labels)
    return np.divide(sums, counts, out=np.full(n_labels, np.nan), where=counts > 0)


def imbalance(Y: sp.csr_array) -> tuple[dict, np.ndarray, np.ndarray]:
    ratios, rows = imbalance_ratios(Y), scumble_of_rows(Y)
    known = ratios[~np.isnan(ratios)]
    summary = {
        "irlbl_mean": float(known.mean()) if known.size else math.nan,
        "irlbl_max": float(known.max()) if known.size else math.nan,
        "irlbl_cv": _variation(known),
        "scumble": float(rows.mean()),
        "scumble_cv": _variation(rows),
    }
    return summary, ratios, scumble_of_labels(Y, rows)


def _variation(values):
    """Return the coefficient of variation: 0 where all values are 0, nan for fewer than two values."""
    if values.size < 2:
        return math.nan
    mean = float(values.mean())
    return float(values.std(ddof=1)) / mean if mean > 0 else 0.0


def _sums(of_label, Y):
    """Return the sum of a number of each label over the labels of each row."""
    row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    return np.bincount(row, weights=of_label[Y.indices], minlength=Y.shape[0])
