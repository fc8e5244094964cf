"""What the Explain page explains: a label of a test row, by the model of a run."""

import functools

import numpy as np
import pandas as pd

from pages.shared import server, tables
from pages.shared.rows import explaining
from xmlcore import explain

TOP = 10  # number of top features by which two explanations are compared


class Explained:
    """The row, the model and the label that are explained; ``label`` is None while there is none to explain."""

    label: int | None = None

    def __init__(self, data, run, model, key, title, row, files, k):
        self.data, self.run, self.model, self.key, self.title = data, run, model, key, title
        self.row, self.k = row, k
        self.x = data.X_test[[row]]
        self.files = f"{files}-{run.model}-{key[:6]}"  # how names of downloaded files begin
        self.file = f"{self.files}-row{row}"

    @functools.cached_property
    def contributions(self) -> pd.DataFrame:
        return explaining.named(contributions(self.key, self.row, self.label), self.data, self.kind)

    @functools.cached_property
    def attrs(self) -> dict:
        return contributions(self.key, self.row, self.label).attrs

    @functools.cached_property
    def kind(self) -> str:
        return contributions(self.key, self.row, self.label or 0).attrs["kind"]

    @property
    def name(self) -> str:
        return self.data.label_name(self.label)

    @property
    def unit(self) -> str:
        return explaining.UNITS[self.kind]

    @functools.cached_property
    def ranked(self) -> np.ndarray:
        labels = self.run.ranking.labels[self.row, : self.k]
        return labels[labels >= 0].astype(np.int64)

    @functools.cached_property
    def true(self) -> set[int]:
        return set(tables.ids(self.data.Y_test, self.row).tolist())

    def values(self, labels) -> np.ndarray:
        return explaining.column(self.kind, explain.label_values(self.model, self.x, labels))

    def without(self, features) -> float:
        """Return the score of the label when the row does not have some features."""
        x = self.x.copy()
        x.data[np.isin(x.indices, features)] = 0
        x.eliminate_zeros()
        return float(explain.label_values(self.model, x, [self.label])[0])

    def place(self, run=None) -> int | None:
        """Place of the label among those that a run predicts for the row, from 1; None when it is not among them."""
        found = np.flatnonzero((run or self.run).ranking.labels[self.row] == self.label)
        return int(found[0]) + 1 if found.size else None


def test_row(key: str, row: int):
    return server.dataset(server.run(key).fingerprint).X_test[[row]]


@server.shared()
def contributions(key: str, row: int, label: int):
    return explain.contributions(server.model(key), test_row(key, row), label)


@server.shared()
def counterfactual(key: str, row: int, label: int, k: int) -> list[int] | None:
    found = explain.counterfactual(server.model(key), test_row(key, row), label, k)
    return None if found is None else found.tolist()


@server.shared()
def first_labels(key: str, row: int, k: int) -> list[int]:
    labels = server.model(key).predict_topk(test_row(key, row), k).labels[0]
    return [int(j) for j in labels if j >= 0]


@server.shared()
def contrast(key: str, row: int, label: int, other: int):
    return explain.contrast(server.model(key), test_row(key, row), label, other)


@server.shared()
def path(key: str, row: int, label: int):
    return explain.path(server.model(key), test_row(key, row), label)


@server.shared("Explaining rows with the label")
def label_importance(key: str, label: int, at_most: int) -> explain.LabelImportance:
    data = server.dataset(server.run(key).fingerprint)
    return explain.label_importance(server.model(key), data, label, at_most)
