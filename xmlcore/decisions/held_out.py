"""Held-out rows as all decisions see them: the best labels of each row, their scores, and which are right."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.label_names import labels_of_model
from xmlcore.models.rules import candidates, rows_of
from xmlcore.validation import check_count, check_labels


class HeldOut(NamedTuple):
    """Held-out rows."""

    scores: sp.csr_array  # float64 (n, L): the best labels of each row
    right: np.ndarray  # float64 (nnz,): 1.0 where the label is a true one
    Y: sp.csr_array  # bool (n, L)

    @property
    def row(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(self.Y.shape[0]), np.diff(self.scores.indptr))

    def ranked(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the entries in an order by row, and within it by falling value; and the place of each, from 0."""
        order = np.lexsort((-values, self.row))
        return order, np.arange(order.size) - self.scores.indptr[:-1][self.row]


def held_out(model, X, Y, n_candidates: int) -> HeldOut:
    """Return the candidates of held-out rows; raise if there are no rows, or no labels."""
    most = check_count(n_candidates, "n_candidates")
    if hasattr(model, "label_ids"):  # its labels are names
        Y = model.label_ids(Y)
    inner, rows = rows_of(model, X)
    Y = labels_of_model(Y, getattr(inner, "label_names_", None))
    if not getattr(Y, "shape", ()):  # lists: labels that no training row had are left out, as nothing can predict them
        Y = [[label for label in row if label < inner.n_labels_] for row in Y]
    Y = check_labels(Y, n_rows=rows.shape[0], n_labels=inner.n_labels_, name="Y")
    if Y.nnz == 0:
        raise ValueError(f"none of the {Y.shape[0]} held-out rows has a label: there is nothing to learn from")
    scores = candidates(inner, rows, most)
    pairs = np.repeat(np.arange(Y.shape[0], dtype=np.int64), np.diff(scores.indptr)) * Y.shape[1] + scores.indices
    true = np.repeat(np.arange(Y.shape[0], dtype=np.int64), np.diff(Y.indptr)) * Y.shape[1] + Y.indices
    return HeldOut(scores, np.isin(pairs, true).astype(np.float64), Y)
