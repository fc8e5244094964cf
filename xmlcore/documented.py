"""Texts of many docstrings, written once: they are put where a docstring has a line of names in braces.

``{Y_true, k}`` are the texts of two arguments; ``{Parameters: Y_true, k}`` has the title of the section above them.
"""

import re
import textwrap
from typing import TypeVar

Documented = TypeVar("Documented")
_PLACE = re.compile(r"^([ \t]*)\{(?:(\w+): )?(\w+(?:, \w+)*)\}$", re.MULTILINE)

# Arguments, and what functions that are alike return and raise. A text may have such lines, too.
TEXTS = {
    "Y_true": """\
Y_true : sparse or dense binary matrix, shape (n, L), or list of lists of int
    The true labels of each row.""",
    "ranking": """\
ranking : Ranking, ndarray, sparse matrix or list of lists of int
    Labels, best first, or scores; the forms are those of :func:`xmlcore.metrics.as_ranking`.""",
    "ranking_a": """\
ranking_a, ranking_b : Ranking, ndarray, sparse matrix or list of lists of int
    What each model ranks for the same rows, in the forms of :func:`xmlcore.metrics.as_ranking`.""",
    "probabilities": """\
ranking : Ranking, ndarray of float or sparse matrix
    Labels with their probabilities: a Ranking, or probabilities of all labels, shape (n, L).""",
    "k": """\
k : int
    The last place to measure at. It may be larger than the number of labels, and is at most 10,000.""",
    "inv_ps": """\
inv_ps : array_like of float, shape (L,)
    Weight of each label, for the propensity-scored measures; positive and finite, such as
    :func:`xmlcore.metrics.inverse_propensity` of the training labels.""",
    "hierarchy": """\
hierarchy : Hierarchy
    What is above each label, for hierarchical measures: ``metrics.Hierarchy({"violin": "instrument"}, names)``, or
    the attribute of a data set.""",
    "labels": """\
labels : ndarray of bool, shape (L,), optional
    Measure only these labels, such as those of a bucket: for micro, macro, weighted and coverage measures.""",
    "n_labels": """\
n_labels : int, optional
    Number of labels L, where neither ``Y_true`` nor ``ranking`` is a matrix with a column per label.""",
    "measure": """\
measure : str or callable
    A name in :data:`xmlcore.metrics.MEASURES`; or a function ``(Y_true, ranking) -> ndarray (n,)`` that returns a
    value for each row, whose mean is measured; it does not see ``k``.
k : int
    The place to measure at.""",
    "n_permutations": """\
n_permutations : int
    How many times the two rankings of random rows are swapped. If there are no more ways than this to swap the
    rows in which the models differ, each way is taken once, and the p-value is exact.""",
    "resampling": """\
n_resamples : int
    How many times rows are drawn for the bootstrap intervals.
confidence : float
    Of an interval; between 0 and 1.
random_state : int
    Seed; the same seed draws the same rows.""",
    "at_k": """\
{Parameters: Y_true, ranking, k}

{values_at_k}""",
    "weighted_at_k": """\
{Parameters: Y_true, ranking, k, inv_ps}

{values_at_k}""",
    "values_at_k": """\
Returns
-------
ndarray of float64, shape (k,)
    The value at 1..k, in [0, 1]; nan where it is not defined: when there are no rows, or, with weights of
    labels or for measures of labels, when no row has a true label.""",
    "sets": """\
Y_true : sparse or dense binary matrix, shape (n, L), or list of lists of int
    The true labels of each row.
predictions : sparse or dense binary matrix, shape (n, L), or list of lists of int
    The predicted labels of each row, as ``predict`` or :func:`xmlcore.metrics.at_threshold` gives them.""",
    "one_class": """\
Y_true : sparse or dense binary matrix, shape (n, L), list of lists of int, or one class id per row, shape (n,)
    The true classes.
predictions : Ranking, ndarray, sparse matrix or list
    One class per row: class ids of shape (n,), -1 where there is none; a matrix of booleans with at most one True
    in a row, as ``predict`` gives; or a ranking or scores, whose first place counts, in the forms of
    :func:`as_ranking`.""",
    "scores": """\
scores : ndarray or sparse matrix of numbers, shape (n, L)
    Larger is more probable. An entry that a sparse matrix does not store is a 0.""",
    "by_data_set": """\
frame : pandas.DataFrame or array_like, shape (data sets, methods)
    The values of one measure: one row per data set, one column per method. An array has methods 0, 1, ...""",
    "Y_train": """\
Y_train : sparse or dense binary matrix, shape (N, L), or list of lists of int
    The labels of the *training* rows.""",
    "n_train_labels": """\
n_labels : int, optional
    The number of labels L, if Y_train is lists of ids; the largest id + 1 when None.""",
    "selection": """\
selected_ : ndarray of int32, shape (L, k)
    Features of each label, best first; equal scores: the smaller id first. The rows are the same with
    ``per_label=False``.
n_selected_, n_features_in_, n_labels_ : int""",
    "model": """\
model : fitted estimator
    One that :func:`xmlcore.explain.attributions` explains.""",
    "x": """\
x : sparse or dense, shape (D,) or (1, D)
    One row.""",
    "X": "X : sparse or dense, shape (n, D)",
    "X_train": "X : sparse or dense, shape (N, D)",
    "y_or_classes": """\
y : sparse or dense binary, shape (N, L), or lists of label ids or of names, or one class for each row
    Numbers or texts in place of lists are classes, as in scikit-learn: each row has one, and ``predict`` returns one.
    Labels are then their places in ``classes_``.""",
    "Y": "Y : as y",
    "fitted": """\
Returns
-------
Estimator
    The estimator. If ``fit`` is stopped or fails, its earlier fitted state is kept.

Raises
------
ValueError, TypeError
    Bad parameters, data or weights; the message names them.
MemoryError
    More memory would be needed than is free; nothing was trained.

Warns
-----
UserWarning
    Rows or values were left out, or a part of the training stopped before its end; the message says which.""",
    "of_labels": """\
n_features_in_, n_labels_ : int
label_names_ : list
    Names of the labels, when the training labels had some.""",
    "columns": """\
feature_of_column_ : ndarray of int32
    The features that occur in the training rows, most frequent first. Fitted arrays number them in this order, as
    columns.""",
    "split": """\
test_size : float or int
    The share of test rows, between 0 and 1, or their number.
random_state : int
    Seed. The same value gives the same split.

Returns
-------
train : ndarray of int64
    Numbers of the training rows, ascending.
test : ndarray of int64
    Numbers of the test rows, ascending: all other rows.""",
    "label_names": """\
label_names : sequence, shape (L,), optional
    Names of the labels, in the order of the ids. A DataFrame and lists of names bring them along.""",
    "dataset_names": """\
dataset : Dataset, optional
    Gives the names of the features.
feature_names : sequence of str, optional
    Names of the features, where there is no data set.""",
    "n_jobs": """\
n_jobs : int, optional
    Number of threads; all cores when None. The result does not depend on it.""",
    "progress": """\
progress : :class:`xmlcore.progress.Progress` or "bar", optional""",
    "support": """\
support : {"all", "nonzero"}
    Which features may change: all, or those that the row has.""",
    "objective": """\
objective : {"margin", "loss"}
    What the attack makes larger: docs/methods/robustness.md.""",
    "nonnegative": """\
nonnegative : bool
    Set values below 0 to 0, which does not make the change longer. X must have no negative values.""",
    "frame": "frame : DataFrame",
    "figure": """\

Returns
-------
plotly.graph_objects.Figure""",
    "title": """\
title : str, optional
    Title of the figure.""",
    "titled_figure": """\
{title}
{figure}""",
}


def documented(target: Documented) -> Documented:
    """Put texts where the docstring has a line of their names, such as ``{Y_true, ranking, k}``; a decorator."""
    if target.__doc__ is not None:  # python -OO
        target.__doc__ = _filled(target.__doc__)
    return target


def document(names, values) -> None:
    """Do so with the docstrings of what a package exports."""
    for name in names:
        if callable(values[name]):
            documented(values[name])


def _filled(text: str) -> str:
    """Return a text with the texts that it names, indented as the names are."""

    def texts(place) -> str:
        indent, section, names = place.groups()
        title = [section, "-" * len(section)] if section else []
        return textwrap.indent(_filled("\n".join([*title, *(TEXTS[name] for name in names.split(", "))])), indent)

    return _PLACE.sub(texts, text)
