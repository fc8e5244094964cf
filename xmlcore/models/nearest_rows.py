"""NearestRows: votes of the training rows that are most similar to a row."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import nearest_rows as kernels
from xmlcore._kernels.nearest_rows import UNIT, StoredRows
from xmlcore._kernels.ranking import top_k_sparse
from xmlcore.arrays import (
    are_finite,
    are_lists,
    by_frequency,
    bytes_of,
    columns_of,
    csr_of,
    in_columns,
    pointers,
    read_only,
    unit_rows,
)
from xmlcore.models.base import MultiLabelModel
from xmlcore.models.rows import checked_rows, columns_in_place, labelled_rows
from xmlcore.models.saving import check_columns, check_parts, check_types
from xmlcore.parallel import row_blocks, run_blocks
from xmlcore.parameters import N_JOBS, About, Parameter, described
from xmlcore.progress import silent
from xmlcore.ranking import Ranking, fill_with_zeros
from xmlcore.typing import ArrayLike, Matrix
from xmlcore.validation import INT32_MAX, check_count, check_label_ids, check_threshold, csr_parts

BLOCK = 512  # rows of a prediction that a thread compares at a time
RARE = 1 / 16  # A column is rare if at most this share of the training rows has a value in it.

ABOUT = About(
    title="Nearest rows",
    summary=(
        "The training rows most like a new row vote for their labels. Nothing is learnt, so training takes no time; "
        "a prediction compares the row with all training rows, and the model keeps them all."
    ),
    paper="Cover and Hart, IEEE Transactions on Information Theory 1967",
    color="#CC79A7",
    mark="x",
    scores_by_loss={
        None: "The share of the votes of the nearest training rows that a label gets. It is no calibrated probability."
    },
)

PARAMETERS = (
    Parameter(
        "n_neighbors", "Neighbours",
        "How many training rows vote. More of them give smoother shares; few suit labels that few rows have.",
        "int", 30, minimum=1, maximum=10_000, offered=(1, 1000),
    ),
    N_JOBS,
)  # fmt: skip


class ScoresRows(MultiLabelModel):
    """Base of models that score a few labels of each row, by a method ``_scores`` of checked rows."""

    def _ranked(self, X, k, progress):
        found = self._scores(self._check_input(X, k), progress)
        labels, scores = np.empty((found.shape[0], k), np.int32), np.empty((found.shape[0], k))
        top_k_sparse(*csr_parts(found), labels, scores)
        fill_with_zeros(labels[:, : min(k, self.n_labels_)])
        return Ranking(labels, scores.astype(np.float32))

    def predict_proba(self, X: Matrix, threshold: float = 0.0) -> sp.csr_array:
        threshold = check_threshold(threshold)
        found = self._scores(self._check_input(X)).astype(np.float32)
        found.data[found.data < threshold] = 0.0
        found.eliminate_zeros()
        found.sort_indices()
        return found


@described
class NearestRows(ScoresRows):
    """Votes of the nearest training rows.

    Values are multiplied by the inverse document frequency of their feature, 1 + log((1 + N) / (1 + rows that have
    it)), and rows are scaled to length 1. The training rows of the largest cosine with a row vote for their labels,
    each with the square of its cosine as weight; rows with a cosine of 0 or less do not vote. The score of a label is
    its share of all votes.

    {parameters}

    Attributes
    ----------
    {of_labels}
    n_rows_ : int
        Training rows that are kept: those that have a label.
    {columns}
    idf_ : ndarray of float32
        The factor of each of these features.

    Notes
    -----
    The search is exact but for the stored values, whose 16 bits keep steps of 1 / 32,767. A training row takes 6 bytes
    for each value and 4 for each label. Rare features, which less than one in 16 rows has, lead to the rows that share
    them; frequent ones are read only where they can still matter.

    References
    ----------
    T. Cover, P. Hart, "Nearest neighbor pattern classification", IEEE Transactions on Information Theory 1967.

    Examples
    --------
    >>> from xmlcore import NearestRows
    >>> X = [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]
    >>> model = NearestRows(n_neighbors=2).fit(X, [[0], [0], [1, 2], [1, 2]])
    >>> model.predict_topk([[1.0, 0.05]], k=1).labels.tolist()
    [[0]]
    >>> model.neighbors([[1.0, 0.05]]).labels.tolist()
    [[0, 1]]
    """

    ABOUT = ABOUT
    PARAMETERS = PARAMETERS

    n_neighbors: int = 30
    n_jobs: int | None = None

    def _fit(self, X, Y, progress):
        X, Y = checked_rows(X, Y)
        X, Y, _ = labelled_rows(X, Y)
        progress("Storing rows", 0.0)
        n_features, feature_of_column = X.shape[1], by_frequency(X)
        parts = columns_in_place(X, feature_of_column)
        rows = csr_of(*parts, (X.shape[0], feature_of_column.size))
        counts = np.bincount(rows.indices, minlength=rows.shape[1])
        idf = (1 + np.log((1 + rows.shape[0]) / (1 + counts))).astype(np.float32)
        rows.data *= idf[rows.indices]
        rows = unit_rows(rows)
        values = np.rint(rows.data * UNIT).astype(np.int16)
        rows = csr_of(rows.indptr, rows.indices, values, rows.shape)
        rows.sort_indices()
        head = int(np.searchsorted(-counts, -max(1, RARE * rows.shape[0])))
        frequent, rare = rows[:, :head], sp.csc_array(rows[:, head:])
        arrays = {
            "ptr": rare.indptr.astype(np.int64), "rows": rare.indices.astype(np.int32), "values": rare.data,
            "head_ptr": frequent.indptr.astype(np.int64), "head_columns": frequent.indices.astype(np.int32),
            "head_values": frequent.data,
        }  # fmt: skip
        labels = Y.indptr.astype(np.int64), Y.indices.astype(np.int32)
        self._set_fitted(arrays, labels, feature_of_column, idf, n_features, Y.shape[1])
        progress("Storing rows", 1.0)

    def _set_fitted(self, arrays, labels, feature_of_column, idf, n_features, n_labels):
        self.n_rows_, self.n_features_in_, self.n_labels_ = labels[0].size - 1, n_features, n_labels
        self.feature_of_column_, self.idf_ = feature_of_column, idf
        squares = np.concatenate([[0.0], np.cumsum(arrays["head_values"].astype(np.float64) ** 2)])
        reach = np.sqrt(np.diff(squares[arrays["head_ptr"]])).astype(np.float32)
        order, head = np.argsort(-reach, kind="stable"), feature_of_column.size - arrays["ptr"].size + 1
        self._stored = StoredRows(head, *arrays.values(), reach, order.astype(np.int32))
        self._columns = columns_of(feature_of_column, n_features)
        self._labels = csr_of(*labels, np.ones(labels[1].size), (self.n_rows_, n_labels))

    def _take(self, X):
        """Return rows in columns, of length 1 with the factors of features, as the kernel reads them."""
        ptr, columns, values = in_columns(csr_parts(X), self._columns)
        rows = csr_of(ptr, columns, values * self.idf_[columns], (ptr.size - 1, max(1, self.idf_.size)))
        ptr, columns, values = csr_parts(unit_rows(rows))  # which sorts columns
        return ptr, columns, (values / UNIT).astype(np.float32)

    def _nearest(self, X, progress=silent) -> Ranking:
        """Return the nearest training rows of checked rows, with their cosines in float64."""
        k = min(self.n_neighbors, self.n_rows_)
        found, cosines = np.empty((X.shape[0], k), np.int32), np.empty((X.shape[0], k))
        x, stored = read_only(self._take(X)), self._stored

        def one_block(block):
            ptr = x[0][block[0] : block[1] + 1]
            kernels.nearest_rows((ptr, *x[1:]), stored, found[slice(*block)], cosines[slice(*block)])

        run_blocks(one_block, row_blocks(X.shape[0], BLOCK), self.n_jobs, progress, "Predicting")
        return Ranking(found, cosines)

    def neighbors(self, X: Matrix) -> Ranking:
        """Return the training rows that vote, nearest first.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)

        Returns
        -------
        Ranking
            In the place of labels the training rows, numbered from 0 among those that have a label, and as scores their
            cosines with the row; -1 and 0 where fewer rows have something in common with it.
        """
        found, cosines = self._nearest(self._check_input(X))
        return Ranking(found, cosines.astype(np.float32))

    @property
    def part_names_(self) -> list[str]:
        """Names of the training rows for explanations."""
        return [f"training row {row}" for row in range(self.n_rows_)]

    def score_parts(self, X: Matrix, labels: ArrayLike) -> tuple[sp.csr_array, sp.csr_array]:
        """Return the training rows that vote, with their cosines, and what each adds to the score of a label.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)
        labels : array of int, shape (n,)
            The label of each row.

        Returns
        -------
        cosines, parts : csr_array of float64, shape (n, ``n_rows_``)
            With the same entries; the parts of rows that do not have the label are 0.
        """
        X = self._check_input(X)
        labels = check_label_ids(labels, X.shape[0], self.n_labels_)
        found, cosines = self._nearest(X)
        votes, row = self._votes(X), np.repeat(np.arange(X.shape[0]), (found >= 0).sum(axis=1))
        has = self._labels[votes.indices, labels[row]]
        parts = csr_of(votes.indptr, votes.indices, votes.data * has, votes.shape)
        return csr_of(votes.indptr, votes.indices, cosines[found >= 0], votes.shape), parts

    def _votes(self, X, progress=silent):
        found, cosines = self._nearest(X, progress)
        there = found >= 0
        shares = cosines**2 / np.maximum((cosines**2).sum(axis=1, keepdims=True), np.finfo(float).tiny)
        ptr = pointers(there.sum(axis=1))
        return csr_of(ptr, found[there], shares[there], (X.shape[0], self.n_rows_))

    def _scores(self, X, progress=silent) -> sp.csr_array:
        shares = sp.csr_array(self._votes(X, progress) @ self._labels)
        shares.data = np.minimum(shares.data, 1.0)
        return shares

    def size(self) -> dict[str, Any]:
        self._check_fitted()
        arrays = (*self._stored, *csr_parts(self._labels), self.feature_of_column_, self.idf_, *self._columns)
        n_values = self._stored.values.size + self._stored.head_values.size
        return {"n_nodes": self.n_rows_, "depth": 1, "n_weights": n_values, "model_bytes": bytes_of(arrays)}

    def _state(self):
        arrays = {name: getattr(self._stored, name) for name in _STORED}
        arrays |= {"feature_of_column": self.feature_of_column_, "idf": self.idf_}
        arrays |= {"label_ptr": self._labels.indptr.astype(np.int64), "labels": self._labels.indices.astype(np.int32)}
        return {"n_features": self.n_features_in_, "n_labels": self.n_labels_}, arrays

    def _restore(self, values, arrays):
        n_features, n_labels = (check_count(values[name], name, most=INT32_MAX) for name in ("n_features", "n_labels"))
        check_types(arrays, dict.fromkeys(("idf",), (np.float32, 1)) | _STORED | _LABELS)
        feature_of_column, idf = arrays["feature_of_column"], arrays["idf"]
        check_columns(feature_of_column, n_features)
        stored = {name: arrays[name] for name in _STORED}
        ptr, rows, few, head_ptr, head_columns, many = stored.values()
        n_rows, n_rare, labels = head_ptr.size - 1, ptr.size - 1, [*map(arrays.get, _LABELS)]
        head = idf.size - n_rare

        check_parts({
            "the factors of features": lambda: idf.size == feature_of_column.size and are_finite(idf) and head >= 0,
            "the rows of rare features": lambda: are_lists(ptr, n_rare, rows, n_rows, few),
            "the frequent features of rows": lambda: are_lists(head_ptr, n_rows, head_columns, head, many),
            "the labels of rows": lambda: n_rows > 0 and are_lists(labels[0], n_rows, labels[1], n_labels),
        })  # fmt: skip
        self._set_fitted(stored, labels, feature_of_column, idf, n_features, n_labels)


_STORED = {
    "ptr": (np.int64, 1), "rows": (np.int32, 1), "values": (np.int16, 1),
    "head_ptr": (np.int64, 1), "head_columns": (np.int32, 1), "head_values": (np.int16, 1),
}  # fmt: skip
_LABELS = {"label_ptr": (np.int64, 1), "labels": (np.int32, 1)}
