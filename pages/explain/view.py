"""The choice of the prediction that is explained: a label of a test row, by the model of a run."""

import functools

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import cached, fields, format, selectors, tables
from pages.shared.results import decided, results
from pages.shared.rows import explaining
from pages.shared.view import look, now
from xmlcore import explain

TOP = 10  # number of top features by which two explanations are compared
LISTED = 100  # most rows found by a search that are offered
OF_LABEL = ("Another label", "Another result", "Path", "Noise", "Largest values")  # sections about one label


class Explained:
    """The row, the model and the label that are explained; ``label`` is None if the row has no label to explain."""

    label: int | None = None

    def __init__(self, ready, row, k):
        self.data, self.run, self.model = ready.data, ready.run, ready.model
        self.key, self.title = ready.key, ready.title
        self.row, self.k = row, k
        self.x = self.data.X_test[[row]]
        self.files, self.file = ready.files, f"{ready.files}-row{row}"  # how names of downloaded files begin

    @functools.cached_property
    def contributions(self) -> pd.DataFrame:
        return explaining.named(explained("contributions", self.key, self.row, self.label), self.data, self.kind)

    @functools.cached_property
    def attrs(self) -> dict:
        return explained("contributions", self.key, self.row, self.label or 0).attrs

    @property
    def kind(self) -> str:
        return self.attrs["kind"]

    @property
    def name(self) -> str:
        return self.data.label_name(self.label)

    @property
    def unit(self) -> str:
        return explaining.SCALES[self.kind].unit

    @functools.cached_property
    def ranked(self) -> np.ndarray:
        labels = self.run.ranking.labels[self.row, : self.k]
        return labels[labels >= 0].astype(np.int64)

    @functools.cached_property
    def true(self) -> set[int]:
        return set(tables.ids(self.data.Y_test, self.row).tolist())

    @functools.cached_property
    def scored(self) -> explaining.Scored:
        return explaining.Scored(decided.model(self.key), self.x)

    def place(self, run=None) -> int | None:
        """Place of the label among those that a run predicts for the row, from 1; None when it is not among them."""
        found = np.flatnonzero((run or self.run).ranking.labels[self.row] == self.label)
        return int(found[0]) + 1 if found.size else None


def choose_row(ready) -> Explained:
    row = selectors.choose_test_row(ready.data, ready.run, "explain.row")
    _find_row(ready.data)
    return Explained(ready, row, results.K)


def _find_row(data):
    place = "of a label, feature or row, or a text"
    query = fields.text("Find test rows by a name", selectors.query_key("explain.query", data), placeholder=place)
    if not query.strip():
        return
    found = tables.find_rows(data, "test", query)
    if found.size == 0:
        st.caption(f"No test row has “{format.plain(query)}” in a name. Try a shorter part of it.")
        return
    lines = tables.rows(data, "test", found[:LISTED]).to_dict("records")
    called = [line.get("name") or line.get("text") or ", ".join(line["labels"]) or "no labels" for line in lines]
    titles = {line["row"]: f"{line['row']}: {name}" for line, name in zip(lines, called)}
    label, look_at = format.showing(len(titles), found.size, "row"), lambda row: look(row=row)
    row = now().row if now().row in titles else None
    about = {"index": None if row is None else 0, "placeholder": "Choose one"}
    fields.pick(label, titles, f"explain.found {query.strip()}", row, look_at, **about)


def choose_label(view) -> int | None:
    """Return which of the predicted and the true labels of the row is explained; None when the row has neither."""
    options = explaining.label_options(view.data, view.ranked, view.true)
    if not options:
        return None
    label = now().label if now().label in options else next(iter(options))
    name = format.plain(view.data.label_name(label))
    help = f"Now **{name}**: one of the {view.k} predicted labels, or a true one that is missed among them."
    fields.pick("Label explained", options, "explain.label", label, lambda label: look(label=label), help=help)
    return label


def test_row(key: str, row: int):
    return cached.dataset(cached.run(key).fingerprint).X_test[[row]]


@cached.shared()
def explained(function: str, key: str, row: int, *labels: int):
    """Return the result of a function of :mod:`xmlcore.explain` for a model, a test row and labels of it."""
    return getattr(explain, function)(cached.model(key), test_row(key, row), *labels)


@cached.shared()
def first_labels(key: str, row: int, k: int) -> list[int]:
    labels = cached.model(key).predict_topk(test_row(key, row), k).labels[0]
    return [int(j) for j in labels if j >= 0]
