"""Importance for one label: the features that contribute most to it, over rows that have it."""

from dataclasses import dataclass

import numpy as np

from xmlcore.explain._importance import importance
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import DataFrame, Dataset, Ranker


@dataclass(frozen=True)
class LabelImportance:
    """The features that contribute most to one label, and from how many rows this was computed."""

    frame: "DataFrame"  # of xmlcore.explain.importance, with all features that occur in the rows
    n_rows: int  # rows that were explained
    n_having: int  # rows that have the label
    part: str  # of the data set: "test" or "training"


def label_importance(
    model: Ranker, dataset: "Dataset", label: int, at_most: int = 200, seed: int = 0, progress: ProgressLike = silent
) -> LabelImportance:
    """Explain one label for a random sample of the test rows that have it, or of training rows where none has it."""
    progress = to_progress(progress)
    part, X, rows_with_label = "test", dataset.X_test, _rows_with(dataset.Y_test, label)
    if rows_with_label.size == 0:
        part, X, rows_with_label = "training", dataset.X_train, _rows_with(dataset.Y_train, label)
    rows = np.sort(np.random.default_rng(seed).permutation(rows_with_label)[:at_most])
    frame = importance(model, X[rows], np.full(rows.size, label), n=None, progress=progress)
    return LabelImportance(frame, rows.size, rows_with_label.size, part)


def _rows_with(Y, label):
    return np.flatnonzero(np.diff(Y[:, [label]].indptr))
