"""What the Explain page explains: a label of a test row, by the model of a run."""

import functools

import numpy as np
import pandas as pd

from pages.shared import server, tables
from pages.shared.rows import explaining
from xmlcore import explain

BARS = 10  # features drawn
TOP = 10  # number of top features by which two explanations are compared


class View:
    """The row, the model and the label that are explained; ``label`` is None while there is none to explain."""

    label: int | None = None

    def __init__(self, data, run, model, key, title, row, files, k):
        """Remember what is explained; ``files`` begins the names of downloads and ``k`` labels count as predicted."""
        self.data, self.run, self.model, self.key, self.title = data, run, model, key, title
        self.row, self.k = row, k
        self.x = data.X_test[[row]]
        self.files = f"{files}-{run.model}-{key[:6]}"  # how names of downloaded files begin
        self.file = f"{self.files}-row{row}"

    @functools.cached_property
    def contributions(self) -> pd.DataFrame:
        """What each feature adds to the score of the label, with names."""
        return explaining.named(contributions(self.key, self.row, self.label), self.data, self.kind)

    @functools.cached_property
    def attrs(self) -> dict:
        """Kind of the score, its value without features (baseline) and its value for the row (total)."""
        return contributions(self.key, self.row, self.label).attrs

    @functools.cached_property
    def kind(self) -> str:
        """What kind of score contributions add up to: it does not depend on the label."""
        return contributions(self.key, self.row, self.label or 0).attrs["kind"]

    @property
    def name(self) -> str:
        return self.data.label_name(self.label)

    @property
    def unit(self) -> str:
        """What contributions add up to, as an axis has it."""
        return explaining.UNITS[self.kind]

    @functools.cached_property
    def ranked(self) -> np.ndarray:
        """Labels predicted for the row, best first."""
        labels = self.run.ranking.labels[self.row, : self.k]
        return labels[labels >= 0].astype(np.int64)

    @functools.cached_property
    def true(self) -> set[int]:
        return set(tables.ids(self.data.Y_test, self.row).tolist())

    def values(self, labels, x=None) -> np.ndarray:
        """Return the scores of labels of the row, or of a changed one, on the scale of the page."""
        return explaining.column(self.kind, explain.label_values(self.model, self.x if x is None else x, labels))

    def place(self, run=None) -> int | None:
        """Place of the label among those that a run predicts for the row, from 1; None when it is not among them."""
        found = np.flatnonzero((run or self.run).ranking.labels[self.row] == self.label)
        return int(found[0]) + 1 if found.size else None


@server.shared(max_entries=100)
def contributions(key: str, row: int, label: int):
    """Return what each feature of a test row adds to a label's score, without names: see xmlcore.explain."""
    data = server.dataset(server.run(key).fingerprint)
    return explain.contributions(server.model(key), data.X_test[[row]], label)


@server.shared(max_entries=100)
def first_labels(key: str, row: int, k: int) -> list[int]:
    """Return the first labels by a model's ranking for a test row, best first."""
    data = server.dataset(server.run(key).fingerprint)
    labels = server.model(key).predict_topk(data.X_test[[row]], k).labels[0]
    return [int(j) for j in labels if j >= 0]


@server.shared(max_entries=100)
def contrast(key: str, row: int, label: int, other: int):
    """Return what each feature of a test row adds to a label's score minus another's: see xmlcore.explain."""
    data = server.dataset(server.run(key).fingerprint)
    return explain.contrast(server.model(key), data.X_test[[row]], label, other)


@server.shared(max_entries=100)
def path(key: str, row: int, label: int):
    """Return the nodes on a test row's way to a label."""
    data = server.dataset(server.run(key).fingerprint)
    return explain.path(server.model(key), data.X_test[[row]], label)


@server.shared(max_entries=60, show_spinner="Explaining rows with the label")
def label_importance(key: str, label: int, at_most: int) -> explain.LabelImportance:
    """Return the features that contribute most to a label, over rows that have it."""
    data = server.dataset(server.run(key).fingerprint)
    return explain.label_importance(server.model(key), data, label, at_most)
