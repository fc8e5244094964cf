"""Check the true labels, rankings and scores that measures are given, and convert them to arrays for kernels."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ranking import top_k_dense, top_k_sparse
from xmlcore.ranking import Ranking, check_room
from xmlcore.typing import Predictions
from xmlcore.validation import (
    INT32_MAX,
    KERNEL_READY,
    check_count,
    check_labels,
    check_structure,
    check_weights,
    csr_parts,
)

BLOCK_VALUES = 1 << 18  # number of scores copied at a time: 2 MB as float64, which fits in the processor's cache
_WHOLE_NUMBERS = "whole numbers are read as label ids; scores go in an array of floats"


class _Predictions(NamedTuple):
    """Predictions that are not checked yet, in one of two forms: ``ids`` or ``values`` is not None."""

    n_rows: int
    width: int  # for ids, the largest number of labels in a row; for scores, the number of all labels
    ids: np.ndarray | None = None  # label ids as a matrix (n_rows, width) of any integer type
    id_scores: np.ndarray | None = None  # (n_rows, width): scores of ``ids``, which only a Ranking has
    values: np.ndarray | sp.csr_array | None = None  # (n_rows, L): scores of all labels


def as_ranking(predictions: Predictions, k: int, n_labels: int | None = None) -> Ranking:
    """Convert any form of prediction to a :class:`~xmlcore.Ranking` of k labels per row.

    Parameters
    ----------
    predictions : Ranking, ndarray, sparse array or matrix, or list of lists of int
        One of

        - a Ranking with at least k columns,
        - label ids, best first: an integer array of shape (n, m), -1 where there is none (such a place counts as a
          miss), or a list of ids for each row,
        - scores: an array of floats of shape (n, L), where every label is ranked, or a sparse matrix of that shape,
          where the stored entries are ranked, whatever their sign, and labels that are not stored are not
          predicted. Equal scores go to the smaller label id.
    k : int
        How many labels per row.
    n_labels : int, optional
        The number of labels L; ids are then checked against it. Ids alone do not tell it.

    Returns
    -------
    Ranking
        ``labels`` int32 and ``scores`` float32, shape (n, k), padded with -1 and 0. Without scores in
        ``predictions`` all scores are 0.

    Raises
    ------
    ValueError
        Fewer than k labels per row in a ranking although there are more labels (where ``n_labels`` tells so); a
        label id below -1 or not below ``n_labels``; a label twice in a row, also after the first k; a score that is
        not a number; a damaged sparse matrix.
    TypeError
        Ids that are not whole numbers, or predictions in a form not listed above.
    MemoryError
        k labels for each row would need more memory than is free.
    """
    k = check_count(k, "k")
    if n_labels is not None:
        n_labels = check_count(n_labels, "n_labels")
    form = _form(predictions)
    labels, scores = _ranked(form, k, n_labels)
    n, width = labels.shape
    check_room(n, k)
    ranking = Ranking(np.full((n, k), -1, dtype=np.int32), np.zeros((n, k), dtype=np.float32))
    ranking.labels[:, :width] = labels
    if scores is not None:
        with np.errstate(over="ignore"):
            ranking.scores[:, :width] = scores
        ranking.scores[ranking.labels < 0] = 0
    return ranking


def read(Y_true, predictions, k, inv_ps=None):
    """Check the arguments of a measure, and return them as arrays for the kernels."""
    if k is not None:
        k = check_count(k, "k")
    form = _form(predictions)
    if k is None:
        if form.values is not None:
            raise ValueError("scores rank every label: pass k, the number of first labels to measure")
        k = form.width
    if inv_ps is not None:
        inv_ps = check_weights(inv_ps, "inv_ps")
    Y = _true_labels(Y_true, form, inv_ps)
    n, n_labels = Y.shape
    if form.n_rows != n:
        raise ValueError(f"Y_true has {n} rows, but the ranking has {form.n_rows}: one ranking for each row is needed")
    if form.values is not None and form.width != n_labels:
        raise ValueError(
            f"the scores have {form.width} columns, but there are {n_labels} labels: one score per label is needed "
            "(label ids, best first, go in an array of integers)"
        )
    if inv_ps is not None and inv_ps.size != n_labels:
        raise ValueError(
            f"inv_ps has {inv_ps.size} values, but there are {n_labels} labels: one per label is needed, "
            "as inverse_propensity(Y_train) gives"
        )
    labels, _ = _ranked(form, k, n_labels)
    indptr, indices, _ = csr_parts(Y)
    return indptr, indices, labels, np.empty(0) if inv_ps is None else inv_ps


def _form(predictions):
    """Return the predictions as :class:`_Predictions`; raise TypeError or ValueError for an unknown form."""
    if isinstance(predictions, Ranking):
        ids = np.asarray(predictions.labels)
        scores = np.asarray(predictions.scores)
        if ids.ndim != 2 or ids.dtype.kind not in "iu":
            raise TypeError(
                f"the ranking's labels are {ids.dtype} in {ids.ndim} dimension(s): "
                "a matrix of label ids (rows, k) is needed"
            )
        if scores.shape != ids.shape:
            raise ValueError(f"the ranking has labels of shape {ids.shape}, but scores of shape {scores.shape}")
        return _Predictions(ids.shape[0], ids.shape[1], ids=ids, id_scores=scores)
    if sp.issparse(predictions):
        if predictions.ndim != 2:
            raise ValueError(f"the scores have {predictions.ndim} dimension(s): a matrix (rows, labels) is needed")
        _check_scores_dtype(predictions.dtype)
        check_structure(predictions, "the matrix of scores")
        return _Predictions(*predictions.shape, values=sp.csr_array(predictions))
    if getattr(predictions, "ndim", None) == 2:
        array = np.asarray(predictions)
        if array.dtype.kind in "iu":
            return _Predictions(*array.shape, ids=array)
        _check_scores_dtype(array.dtype)
        return _Predictions(*array.shape, values=array)
    one_dimension = getattr(predictions, "ndim", None) == 1
    if one_dimension and predictions.dtype.kind != "O":
        raise ValueError("the ranking has 1 dimension: a row of label ids or scores for each row of Y_true is needed")
    if isinstance(predictions, (str, bytes)) or not (isinstance(predictions, Sequence) or one_dimension):
        raise TypeError(
            f"a ranking is a Ranking, an array of label ids or of scores, a sparse matrix of scores, or a list of "
            f"label ids for each row, not {type(predictions).__name__}"
        )
    return _from_lists(predictions)


def _from_lists(rows):
    """Return lists of label ids as :class:`_Predictions`; raise TypeError if an item is not an integer."""
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not (isinstance(row, Sequence) or getattr(row, "ndim", None) == 1):
            raise TypeError(f"row {i} of the ranking is a {type(row).__name__}: a list of label ids, best first")
    lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
    flat = list(chain.from_iterable(rows))
    try:
        values = np.asarray(flat) if flat else np.empty(0, dtype=np.int64)
    except ValueError:  # sequences of different lengths in the place of ids
        values = np.empty(0)
    if values.dtype.kind not in "iu" or values.ndim != 1:
        for i, row in enumerate(rows):
            for label in row:
                if isinstance(label, (bool, np.bool_)) or not isinstance(label, (int, np.integer)):
                    raise TypeError(
                        f"row {i} of the ranking holds {label!r:.200}: label ids are whole numbers "
                        "(scores go in an array of floats)"
                    )
        values = np.asarray(flat, dtype=object)  # whole numbers beyond 64 bits: the range check names the row
    shape = len(rows), int(lengths.max(initial=0))
    check_room(*shape)
    ids = np.full(shape, -1, np.int64 if np.can_cast(values.dtype, np.int64) else object)
    ids[np.arange(shape[1]) < lengths[:, None]] = values
    return _Predictions(*shape, ids=ids)


def _check_scores_dtype(dtype):
    if dtype.kind == "b":
        raise TypeError(
            "the ranking is a matrix of booleans, which has no order: give scores, or label ids, best first"
        )
    if dtype.kind not in "fiu":
        raise TypeError(f"the ranking holds {dtype} values: scores are real numbers, label ids whole ones")


def _true_labels(Y_true, form, inv_ps):
    if not isinstance(Y_true, Sequence) and getattr(Y_true, "ndim", None) != 1:
        return check_labels(Y_true, name="Y_true")
    if inv_ps is not None:
        return check_labels(Y_true, n_labels=inv_ps.size, name="Y_true")
    if form.values is not None:
        return check_labels(Y_true, n_labels=form.width, name="Y_true")
    least = max(int(form.ids.max()) + 1, 1) if form.ids.size else 1
    if least > INT32_MAX:
        least = 1  # an id is out of range: the range check raises the error later
    if not any(len(row) for row in Y_true if hasattr(row, "__len__")):
        return check_labels(Y_true, n_labels=least, name="Y_true")
    Y = check_labels(Y_true, name="Y_true")
    if Y.shape[1] < least:
        Y = sp.csr_array((Y.data, Y.indices, Y.indptr), shape=(Y.shape[0], least))
    return Y


def _ranked(form, k, n_labels):
    """Return the first labels of each row, int32 (n, m) with m at most k, and their scores (n, m), or None."""
    if form.values is not None:
        if n_labels is not None and form.width != n_labels:
            raise ValueError(f"the scores have {form.width} columns, but there are {n_labels} labels")
        return _top_k(form.values, min(k, form.width))
    if n_labels is not None and form.width < min(k, n_labels) and form.n_rows > 0:
        raise ValueError(
            f"the ranking has {form.width} label(s) per row and there are {n_labels} labels: measuring up to k={k} "
            f"needs {min(k, n_labels)} per row. Ask the model for more labels, or, if it predicts no more, "
            "fill the rows up with -1"
        )
    labels = np.require(_check_ids(form.ids, n_labels)[:, :k], np.int32, KERNEL_READY)
    return labels, None if form.id_scores is None else form.id_scores[:, :k]


# All columns of ids are checked, not only the first k: a matrix of integers that are scores, or 0 and 1, can look like
# label ids in its first columns.


def _check_ids(ids, n_labels):
    """Return a matrix of label ids as int32; raise ValueError if an id is out of range or repeated in a row."""
    limit = INT32_MAX if n_labels is None else n_labels
    if ids.size and not (ids.min() >= -1 and ids.max() < limit):
        row, place = divmod(int(((ids < -1) | (ids >= limit)).argmax()), ids.shape[1])
        raise ValueError(
            f"row {row} of the ranking has the label id {ids[row, place]} at place {place + 1}: "
            f"ids go from 0 to {limit - 1}, and -1 means no label ({_WHOLE_NUMBERS})"
        )
    labels = np.require(ids, np.int32, KERNEL_READY)
    ordered = np.sort(labels, axis=1)
    twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    for row in np.flatnonzero(twice)[:1].tolist():
        known = labels[row].tolist()
        place = next(at for at, label in enumerate(known) if label >= 0 and label in known[:at])
        raise ValueError(
            f"row {row} of the ranking has label {labels[row, place]} twice, again at place {place + 1}: "
            f"a label has one place ({_WHOLE_NUMBERS})"
        )
    return labels


def _top_k(values, k):
    """Return the k columns with the largest values of each row, int32, and these values, float64: both (n, k)."""
    n, n_labels = values.shape
    if n_labels > INT32_MAX:
        raise ValueError(f"the scores have {n_labels} columns: at most {INT32_MAX} are supported")
    labels = np.full((n, k), -1, dtype=np.int32)
    scores = np.zeros((n, k))
    if k == 0:
        return labels, scores
    if sp.issparse(values):
        if not values.has_canonical_format:
            values = values.copy()  # the user's matrix must not change
            values.sum_duplicates()
        data = np.require(values.data, np.float64, KERNEL_READY)
        bad = np.flatnonzero(np.isnan(data))
        if bad.size:
            row = int(np.searchsorted(values.indptr, bad[0], side="right")) - 1
            raise ValueError(f"the score of label {int(values.indices[bad[0]])} in row {row} is not a number")
        top_k_sparse(
            np.require(values.indptr, np.int64, KERNEL_READY),
            np.require(values.indices, np.int32, KERNEL_READY),
            data,
            labels,
            scores,
        )
        return labels, scores
    rows = max(BLOCK_VALUES // n_labels, 1)
    for start in range(0, n, rows):
        block = np.require(values[start : start + rows], np.float64, KERNEL_READY)
        if np.isnan(block.max()):
            row, label = np.unravel_index(int(np.isnan(block).argmax()), block.shape)
            raise ValueError(f"the score of label {label} in row {start + row} is not a number")
        top_k_dense(block, labels[start : start + rows], scores[start : start + rows])
    return labels, scores
