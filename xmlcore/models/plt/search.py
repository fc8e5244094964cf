"""Search the trees of a fitted model for the labels of rows."""

import math

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.plt_ensemble import as_table
from xmlcore._kernels.plt_rows import RowsInColumns, rows_in_columns
from xmlcore._kernels.plt_search import gains_of_nodes, search_best_first
from xmlcore._kernels.plt_search_ensemble import search_ensemble
from xmlcore._kernels.plt_search_together import search_together
from xmlcore._kernels.plt_threshold import score_labels, search_threshold
from xmlcore.arrays import pointers
from xmlcore.parallel import row_blocks
from xmlcore.ranking import fill_with_zeros
from xmlcore.system import effective_jobs
from xmlcore.validation import csr_parts

PREDICT_ROWS = 512  # Number of rows per task.
DENSE = 0.25  # A row with values in at least this share of the model's columns is a dense row.
DENSE_BYTES = 64 << 20  # Memory for the dense rows of a task, in bytes.

# The rows of a task are searched together where this is faster: dense rows always, because they share the work on a
# node, and sparse rows if the model is larger than the processor's caches. A very deep tree is searched row by row.
TOGETHER_DENSE = 16  # Smallest number of dense rows that are searched together.
TOGETHER_ROWS = (2048, 16384)  # Smallest number of sparse rows searched together; largest number of rows per task.
TOGETHER_BYTES = 16 << 20  # Smallest size of a tree's arrays for which sparse rows are searched together, in bytes.
TOGETHER_DEPTH = 64  # Largest depth of a tree that is searched for many rows together, in edges.
TOGETHER_PAIRS = 1 << 23  # Largest number of pairs (row, node) that wait in one search of many rows.


class TreeSearch:
    """The search for labels in the trees of a fitted model.

    A row with values in a quarter of all columns or more is a *dense row*: it is stored with one value per column. All
    other rows are *sparse rows*. The kind of a row, and so its result, does not depend on other rows.
    """

    def __init__(self, trees, leaves, loss, unit, columns, n_columns):
        self.trees = tuple(trees)
        self.loss = loss
        self.unit = unit
        self.columns, self.n_columns = columns, n_columns
        self.n_labels = leaves[0].size
        self.least_dense = max(1, math.ceil(DENSE * n_columns))  # smallest number of values of a dense row
        self._no_gains = [np.zeros(0)] * len(self.trees)
        self.table = as_table(self.trees, leaves, self._no_gains)

    def blocks(self, ptr, n_jobs=None, together=True) -> list[tuple[int, int]]:
        """Split the rows of a CSR matrix into the tasks of a prediction."""
        n, size = ptr.size - 1, PREDICT_ROWS
        if n == 1:  # quickly
            return [(0, 1)]
        dense = np.flatnonzero(np.diff(ptr) >= self.least_dense)
        if together and n >= TOGETHER_DENSE and len(self.trees) == 1:
            threads = effective_jobs(n_jobs)
            tasks = threads * max(1, -(-n // (threads * TOGETHER_ROWS[1])))  # all threads get the same number of rows
            if self._goes_together(-(-n // tasks), 2 * dense.size >= n):
                size = -(-n // tasks)
        blocks = row_blocks(n, size)
        most = max(1, DENSE_BYTES // (4 * max(1, self.n_columns)))
        if dense.size > most:
            cuts = [dense[(dense >= start) & (dense < end)][most::most].tolist() for start, end in blocks]
            blocks = [part for (start, end), at in zip(blocks, cuts) for part in zip([start, *at], [*at, end])]
        return blocks

    def take(self, x, block) -> RowsInColumns:
        """Return rows ``block[0]`` to ``block[1] - 1`` of the CSR arrays ``x`` in the form that kernels read."""
        return rows_in_columns(*x, *block, *self.columns, self.unit, self.n_columns, self.least_dense)

    def _goes_together(self, n, dense):
        """Return whether n rows, which are all dense or all sparse, are searched together rather than one by one."""
        if n < (TOGETHER_DENSE if dense else TOGETHER_ROWS[0]):
            return False
        is_large = any(sum(np.asarray(a).nbytes for a in arrays) >= TOGETHER_BYTES for arrays in self.trees)
        return (dense or is_large) and all(arrays.depth[-1] <= TOGETHER_DEPTH for arrays in self.trees)

    def gains(self, weights: np.ndarray | None) -> list[np.ndarray]:
        """Return the gains of the nodes of each tree that weights of labels give; empty ones without weights."""
        if weights is None:
            return self._no_gains
        return [gains_of_nodes(arrays.parent, arrays.label, weights) for arrays in self.trees]

    def top(self, x, n_rows: int, k: int, beam: int | None, gains: list[np.ndarray], allowed: np.ndarray | None = None):
        """Find the k labels of each row of largest probability, or weight times probability.

        Those that are not ``allowed`` have the weight 0, so no node with these alone below it is opened.
        """
        rows, table = np.arange(n_rows), self.table
        if gains is not self._no_gains:
            table = table.copy()
            table[:, -2:] = [[of_tree.ctypes.data, of_tree.size] for of_tree in gains]
        if len(self.trees) == 1:
            labels, logs = self._top_of_tree(table, x, rows, k, beam)
            scores = np.exp(logs)
        else:
            labels, scores = self._top_of_all(table, x, rows, k, beam)
        if beam is None:
            fill_with_zeros(labels, None if allowed is None else np.flatnonzero(allowed))
        return labels, scores

    def _top_of_tree(self, table, x, rows, k, beam):
        if rows.size == 1:  # quickly
            return self._top_alone(table, x, rows, k, beam)
        dense = x.dense_at[rows] >= 0
        if (n_dense := np.count_nonzero(dense)) in (0, rows.size):
            return self._top_of_kind(table, x, rows, k, beam, n_dense > 0)
        labels, scores = np.empty((rows.size, k), np.int32), np.empty((rows.size, k))
        for which in (dense, ~dense):
            labels[which], scores[which] = self._top_of_kind(table, x, rows[which], k, beam, which is dense)
        return labels, scores

    def _top_of_kind(self, table, x, rows, k, beam, dense):
        """Do the work of :meth:`_top_of_tree` for rows that are all dense or all sparse."""
        if not self._goes_together(rows.size, dense):
            return self._top_alone(table, x, rows, k, beam)
        labels, scores = np.full((rows.size, k), -1, np.int32), np.full((rows.size, k), -np.inf)
        given_up = search_together(table, self.loss, x, rows, beam or 0, TOGETHER_PAIRS, labels, scores)
        if given_up.any():
            labels[given_up], scores[given_up] = self._top_alone(table, x, rows[given_up], k, beam)
        return labels, scores

    def _top_alone(self, table, x, rows, k, beam):
        labels, scores = np.full((rows.size, k), -1, np.int32), np.full((rows.size, k), -np.inf)
        search_best_first(table, self.loss, x, rows, beam or 0, labels, scores)
        return labels, scores

    def _top_of_all(self, table, x, rows, k, beam):
        """Find the k labels of largest mean probability over all trees."""
        labels, sums = np.full((rows.size, k), -1, np.int32), np.zeros((rows.size, k))
        search_ensemble(table, self.loss, x, rows, beam or 0, labels, sums)
        return labels, sums / len(self.trees)

    def at_least(self, x, n_rows: int, threshold: float) -> sp.csr_array:
        """Find every label whose probability reaches ``threshold``: csr_array of float32 (n_rows, L)."""
        rows, totals = np.arange(n_rows), None
        # A mean reaches the threshold only if the probability of at least one tree does. The search goes a little below
        # the threshold, and the rounded float32 is compared with the threshold in the end: a value of the result, used
        # as threshold, keeps its label.
        with np.errstate(divide="ignore"):
            least = float(np.log(np.float64(threshold))) - 1e-6
        for table in self.table[:, None]:
            counts, labels, scores = search_threshold(table, self.loss, x, rows, np.full(n_rows, least))
            part = sp.csr_array((np.exp(scores), labels, pointers(counts)), shape=(n_rows, self.n_labels))
            part.sort_indices()
            totals = part if totals is None else totals + part
        if len(self.trees) > 1:
            ptr, labels, _ = csr_parts(totals)
            totals = sp.csr_array((self.probabilities(x, rows, ptr, labels), labels, ptr), shape=totals.shape)
        totals = totals.astype(np.float32)
        totals.data[totals.data < threshold] = 0.0
        totals.eliminate_zeros()  # including values that are too small for float32
        return totals

    def probabilities(self, x, rows, ptr, labels):
        """Return the mean probability over all trees of the labels ``labels[ptr[r]:ptr[r + 1]]`` of row ``rows[r]``."""
        total = np.zeros(labels.size)
        for table in self.table[:, None]:
            out = np.empty(labels.size)
            score_labels(table, self.loss, x, rows, ptr, labels, out)
            total += np.exp(out)
        return total / len(self.trees)
