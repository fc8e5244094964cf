"""Held-out rows as all decisions see them: the best labels of each row, their scores, and which are right."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import chosen
from xmlcore.models.rules import CANDIDATES, Calibration, Rule, candidates, rows_of, seen_in
from xmlcore.validation import check_count, check_labels


class HeldOut(NamedTuple):
    """Held-out rows, and the model that ranked their labels."""

    scores: sp.csr_array  # float64 (n, L): the best labels of each row
    place: np.ndarray  # int (nnz,): the place of the label in the ranking of its row, from 0
    right: np.ndarray  # float64 (nnz,): 1.0 where the label is a true one
    Y: sp.csr_array  # bool (n, L)
    unknown: np.ndarray | int = 0  # int (n,): the true labels of each row that the model does not know
    model: Any = None
    n_candidates: int = CANDIDATES

    @property
    def true(self) -> np.ndarray:
        """The number of true labels of each row, also of those that nothing can find."""
        return np.diff(self.Y.indptr) + self.unknown

    @property
    def row(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(self.Y.shape[0]), np.diff(self.scores.indptr))

    def probabilities(self, calibration: Calibration) -> sp.csr_array:
        """Return the calibrated scores."""
        return calibration.of_entries(self.scores, self.place)

    def part(self, rows: np.ndarray) -> "HeldOut":
        """Return some of the rows, which ascend."""
        unknown = np.broadcast_to(self.unknown, self.Y.shape[0])[rows]
        of_rows = np.isin(self.row, rows)
        place, right = self.place[of_rows], self.right[of_rows]
        return self._replace(scores=self.scores[rows], place=place, right=right, Y=self.Y[rows], unknown=unknown)

    def marked(self, taken: np.ndarray) -> sp.csr_array:
        """Return the marked entries as sets of labels: csr_array of bool."""
        return chosen(self.scores, taken).astype(bool)

    def ranked(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the entries in an order by row, and within it by falling value; and the place of each, from 0."""
        order = np.lexsort((-values, self.row))
        return order, np.arange(order.size) - self.scores.indptr[:-1][self.row]


def by_probability(held: HeldOut, calibration: Calibration, k: int = 0, fill: bool = False, cut: float = 0.0) -> Rule:
    """Return the rule that predicts the k most probable labels; without k, those above a threshold."""
    shape = 1, held.Y.shape[1]
    offsets = np.full(shape, -np.nextafter(cut, -1) if cut else 0.0)  # gains have to be positive
    seen = seen_in(held.probabilities(calibration))
    return Rule(held.model, np.ones(shape), offsets, k, fill, calibration, held.n_candidates, seen=seen)


def held_out(model, X, Y, n_candidates: int) -> HeldOut:
    """Return the candidates of held-out rows; raise if there are no rows, or no labels."""
    return next(held_out_parts(model, X, Y, [(None, check_count(n_candidates, "n_candidates"))]))


def held_out_parts(model, X, Y, parts: Iterable[tuple[int | None, int]]) -> Iterator[HeldOut]:
    """Yield parts of the held-out rows, in a random order; ``parts`` has their rows (None: all) and candidates."""
    inner, rows = rows_of(model, X)
    Y = inner.label_ids(Y) if hasattr(inner, "label_ids") else Y  # one of a user's own knows no names
    n, L = rows.shape[0], inner.n_labels_
    every = check_labels(Y, n_rows=n, n_labels=L if getattr(Y, "shape", ()) else None, name="Y")
    if every[:, :L].nnz == 0:
        raise ValueError(f"none of the {n} held-out rows has a label: there is nothing to learn from")
    order = np.random.default_rng(0).permutation(n)
    for size, most in parts:
        some, order = np.sort(order[:size]), order[size:]
        known = every[some, :L]
        Y = sp.csr_array((known.data, known.indices, known.indptr), shape=(some.size, L))
        scores, place = candidates(inner, rows[some], most)
        entries = sp.csr_array((np.arange(1.0, scores.nnz + 1), scores.indices, scores.indptr), shape=scores.shape)
        right = np.zeros(scores.nnz)
        right[entries.multiply(Y).data.astype(np.int64) - 1] = 1.0
        yield HeldOut(scores, place, right, Y, np.diff(every[some].indptr) - np.diff(Y.indptr), model, most)
