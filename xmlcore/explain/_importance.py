"""Importance: the features that contribute most over many rows, or over the rows that have one label."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import blocks_of
from xmlcore.explain._attribution import Explainer
from xmlcore.explain._contributions import names_of, with_names
from xmlcore.explain._removal import BLOCK_ENTRIES
from xmlcore.first_use import pd
from xmlcore.models.rules import innermost
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import DataFrame, Dataset, Labels, Matrix, Ranker
from xmlcore.validation import as_array, check_count, check_dataset, check_features, check_label_ids, check_labels

BLOCK_ROWS = 4096  # most rows of a block


def importance(
    model: Ranker,
    X: Matrix,
    labels: Labels | None = None,
    n: int | None = 20,
    progress: ProgressLike = silent,
    *,
    dataset: "Dataset | None" = None,
    feature_names: Sequence[str] | None = None,
) -> "DataFrame":
    """Return the features that contribute most over many rows.

    Parameters
    ----------
    {model, X}
    labels : array of int, shape (n,), or binary matrix, shape (n, L), optional
        One label per row; or all labels of each row, so that each pair of a row and one of its labels is explained. By
        default the label that the model ranks first; rows for which it ranks no label are left out.
    n : int, optional
        Largest number of features to return; None for all that occur.
    {progress, dataset_names}

    Returns
    -------
    DataFrame
        Largest ``mean_abs`` first, equal ones by id, with the columns ``feature``, ``name`` (if names are known),
        ``mean_abs`` and ``mean`` (of |contribution| and of the contribution, over all pairs of row and label; a feature
        that a row does not have contributes 0) and ``n_rows`` (number of pairs whose row has the feature). ``attrs``
        has ``kind``, ``n_pairs``, ``n_left_out`` (rows without a label) and ``n_features`` (number of all features that
        occur).
    """
    progress = to_progress(progress)
    explainer = Explainer(model)
    X = check_features(X, model.n_features_in_)
    names = names_of("feature", dataset, feature_names, model.n_features_in_)
    n = None if n is None else check_count(n, "n")
    model = innermost(model)
    rows, ids = _pairs(model, X, labels, progress)
    size = X.shape[1] if explainer.names is None else len(explainer.names)
    sums = np.zeros((3, size))
    each_row_once = np.array_equal(rows, np.arange(X.shape[0]))
    ptr = np.concatenate([[0], np.cumsum(np.diff(X.indptr)[rows])])
    for start, end in blocks_of(ptr, BLOCK_ENTRIES, BLOCK_ROWS):
        progress("Explaining rows", start / rows.size, f"{start:,} of {rows.size:,}")
        part = X[start:end] if each_row_once else X[rows[start:end]]
        attributed = explainer.rows(part, ids[start:end])
        features, values = attributed.contributions.indices, attributed.contributions.data
        for which, weights in enumerate((np.abs(values), values, None)):
            sums[which] += np.bincount(features, weights=weights, minlength=size)
    progress("Explaining rows", 1.0, f"{rows.size:,} of {rows.size:,}")
    occurring = np.flatnonzero(sums[2])
    order = occurring[np.lexsort((occurring, -sums[0, occurring]))][:n]
    count = max(1, rows.size)
    frame = pd.DataFrame(
        {
            "feature": order,
            "mean_abs": sums[0, order] / count,
            "mean": sums[1, order] / count,
            "n_rows": sums[2, order].astype(np.int64),
        }
    )
    frame = with_names(frame, names if explainer.names is None else explainer.names)
    left_out = X.shape[0] - np.unique(rows).size
    frame.attrs = {
        "kind": explainer.kind, "n_pairs": int(rows.size), "n_left_out": int(left_out), "n_features": occurring.size,
    }  # fmt: skip
    return frame


def _pairs(model, X, labels, progress):
    if labels is None:
        labels = model.predict_topk(X, k=1, progress=progress).labels[:, 0]
        rows = np.flatnonzero(labels >= 0)
        return rows, labels[rows].astype(np.int64)
    if sp.issparse(labels) or as_array(labels, "labels", "one label id for each row is needed").ndim == 2:
        Y = check_labels(labels, n_rows=X.shape[0], n_labels=model.n_labels_, name="labels")
        return np.repeat(np.arange(X.shape[0]), np.diff(Y.indptr)), Y.indices.astype(np.int64)
    return np.arange(X.shape[0]), check_label_ids(labels, X.shape[0], model.n_labels_)


@dataclass(frozen=True)
class LabelImportance:
    """The features that contribute most to one label, and from how many rows this was computed."""

    frame: "DataFrame"  # of xmlcore.explain.importance, with all features that occur in the rows
    n_rows: int  # rows that were explained
    n_having: int  # rows that have the label
    part: str  # of the data set: "test" or "training"


def label_importance(model: Ranker, dataset: "Dataset", label: int, at_most: int = 200) -> LabelImportance:
    """Explain one label for a random sample of the test rows that have it, or of training rows where none has it."""
    check_dataset(dataset)
    label, at_most = check_count(label, "label", 0, dataset.n_labels - 1), check_count(at_most, "at_most")
    part, X, rows_with_label = "test", dataset.X_test, dataset.Y_test[:, [label]].nonzero()[0]
    if rows_with_label.size == 0:
        part, X, rows_with_label = "training", dataset.X_train, dataset.Y_train[:, [label]].nonzero()[0]
    rows = np.sort(np.random.default_rng(0).permutation(rows_with_label)[:at_most])
    frame = importance(model, X[rows], np.full(rows.size, label), n=None)
    return LabelImportance(frame, rows.size, rows_with_label.size, part)
