"""Measures of one predicted class per row: those of the paper on double sampling (Joshi et al., section 3.2).

An example is a row with one of its true classes: a row with several is an example for each of them, all with the same
prediction, so at most one of them is right. A row without true classes is no example, one without a prediction wrong.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from xmlcore.metrics._inputs import as_ranking
from xmlcore.ranking import Ranking
from xmlcore.typing import ArrayLike, Labels, Predictions
from xmlcore.validation import INT32_MAX, as_array, check_labels, csr_parts


def accuracy(Y_true: Labels, predictions: Predictions, classes: ArrayLike | None = None) -> float:
    """Return the share of examples whose class is predicted.

    {Parameters: one_class}
    classes : ndarray of bool, shape (L,), optional
        Only examples of these classes count; all when None.

    Returns
    -------
    float
        In [0, 1]; nan when there are no examples. P@1 where every row has one class.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> metrics.accuracy([0, 1, 1, 2], [0, 1, 2, 0])
    0.5
    """
    true, predicted = _examples(Y_true, predictions)
    counts = _counting(true, classes)
    return float(np.mean((true == predicted)[counts])) if counts.any() else float("nan")


def macro_f1(Y_true: Labels, predictions: Predictions, classes: ArrayLike | None = None) -> float:
    """Return the harmonic mean of macro precision and macro recall, the paper's measure: docs/measures.md.

    The mean of the F1 of the classes, which is also called macro F1 (scikit-learn's ``f1_score(average="macro")``), is
    another measure and never larger.

    {Parameters: one_class}
    classes : ndarray of bool, shape (L,), optional
        Means are over these classes; what is predicted for examples of others still counts in their precision.

    Returns
    -------
    float
        In [0, 1]; 0 when nothing is right, nan when there are no examples.

    Examples
    --------
    >>> from xmlcore import metrics
    >>> metrics.macro_f1([0, 0, 1], [0, 1, 1])
    0.75
    """
    from sklearn.metrics import precision_recall_fscore_support

    true, predicted = _examples(Y_true, predictions)
    counted = np.unique(true[_counting(true, classes)])
    if not counted.size:
        return float("nan")
    settings = {"labels": counted, "average": "macro", "zero_division": 0.0}
    precision, recall, *_ = precision_recall_fscore_support(true, predicted, **settings)
    return float(2 * precision * recall / (precision + recall)) if recall else 0.0


def _counting(true, classes):
    """Return whether the true class of each example is among ``classes``: bool, shape (examples,)."""
    if classes is None:
        return np.ones(true.size, bool)
    classes = as_array(classes, "classes", "a boolean per class is needed")
    if classes.ndim != 1 or classes.dtype != bool:
        raise TypeError(f"classes must be a boolean per class, not {classes.dtype} of shape {classes.shape}")
    beyond = true[true >= classes.size]
    if beyond.size:
        raise ValueError(f"classes has {classes.size} booleans, but Y_true has the class {int(beyond[0])}")
    return classes[true]


def _examples(Y_true, predictions):
    """Return the true and the predicted class of each example: two int64 arrays."""
    ids = _class_ids(Y_true)
    if ids is None:
        width = predictions.shape[1] if _is_binary(predictions) else None
        as_lists = isinstance(Y_true, Sequence) or getattr(Y_true, "ndim", None) == 1
        Y = check_labels(Y_true, n_labels=width if as_lists else None, name="Y_true")
        ptr, true, _ = csr_parts(Y)
        rows, n, n_labels = np.repeat(np.arange(Y.shape[0]), np.diff(ptr)), Y.shape[0], Y.shape[1]
        n_labels = None if as_lists and width is None else n_labels
    else:
        true, rows, n, n_labels = ids, np.arange(ids.size), ids.size, None
        _check_range(ids, least=0, n_labels=None, name="Y_true")
    predicted = _predicted(predictions, n_labels)
    if predicted.size != n:
        raise ValueError(f"there are predictions for {predicted.size} rows, but Y_true has {n} rows")
    return true.astype(np.int64), predicted[rows]


def _predicted(predictions, n_labels):
    """Return the predicted class of each row, int64 (n,); -1 for a row without a prediction."""
    ids = _class_ids(predictions)
    if ids is not None:
        _check_range(ids, -1, n_labels, "predictions")
        return ids
    if _is_binary(predictions):
        ptr, labels, _ = csr_parts(check_labels(predictions, n_labels=n_labels, name="predictions"))
        many = np.flatnonzero(np.diff(ptr) > 1)
        if many.size:
            raise ValueError(
                f"predictions has {int(np.diff(ptr)[many[0]])} classes in row {int(many[0])}: at most one is needed. "
                "Give a ranking, whose first place counts"
            )
        predicted = np.full(ptr.size - 1, -1, np.int64)
        predicted[np.diff(ptr) == 1] = labels
        return predicted
    return as_ranking(predictions, 1, n_labels).labels[:, 0].astype(np.int64)


def _class_ids(values):
    """Return one class id per row as int64 (n,); None if the values are not integers in one dimension."""
    if sp.issparse(values) or isinstance(values, (str, bytes, Ranking)):
        return None
    if not isinstance(values, Sequence):
        is_ids = getattr(values, "ndim", None) == 1 and getattr(getattr(values, "dtype", None), "kind", "") in "iu"
        return np.asarray(values).astype(np.int64) if is_ids else None
    if any(isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) for value in values):
        return None
    try:
        return np.array(values, np.int64)
    except OverflowError as error:
        raise ValueError("a class id is beyond 64 bits") from error


def _is_binary(values):
    return getattr(getattr(values, "dtype", None), "kind", "") == "b" and getattr(values, "ndim", None) == 2


def _check_range(ids, least, n_labels, name):
    limit = INT32_MAX if n_labels is None else n_labels
    bad = np.flatnonzero((ids < least) | (ids >= limit))
    if bad.size:
        none = ", and -1 means no class" if least < 0 else ""
        raise ValueError(
            f"{name} has the class id {ids[bad[0]]} in row {int(bad[0])}: ids go from 0 to {limit - 1}{none}"
        )
