"""Score the labels of rows: find the leaves that rows reach, and average the label shares of these leaves."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels import ldsm_reaching, ldsm_reranking, ldsm_shares
from xmlcore._kernels.ldsm_reaching import ForestArrays, SentRows
from xmlcore._kernels.ldsm_reranking import LabelMeans, weigh
from xmlcore.arrays import pointers
from xmlcore.parallel import row_blocks
from xmlcore.system import effective_jobs
from xmlcore.validation import csr_parts

MOST_ROWS, LEAST_ROWS = 4096, 256  # largest and smallest number of rows of a task
AT_ONCE = 1 << 21  # number of (row, label) pairs whose shares a thread has in memory at a time


class LeafScorer(NamedTuple):
    """The parts of a fitted model that score labels, restricted to the first trees and nodes if requested."""

    forest: ForestArrays
    arity: int
    n_columns: int
    n_labels: int
    n_trees: int  # number of trees to use, from the first one on
    max_nodes: int  # number of nodes of each tree to use, from the root on
    means: LabelMeans | None = None  # the labels' mean rows, for re-ranking; None without re-ranking
    beta: float = 1.0
    gamma: float = 0.0

    def reach(self, rows: SentRows) -> tuple[np.ndarray, np.ndarray]:
        """Return the leaves that rows reach: (ptr, nodes), see ``ldsm_reaching.reach_leaves``."""
        return ldsm_reaching.reach_leaves(
            self.forest, self.arity, max(1, self.n_columns), *rows, self.n_trees, self.max_nodes
        )

    def scores(self, rows: SentRows, probabilities: bool = False):
        """Score the labels of the leaves that rows reach; yield those of as many rows at a time as memory allows."""
        ptr, leaves = self.reach(rows)
        means = None if probabilities else self.means
        if means is not None and means.weights.size:
            rows = rows._replace(values=ldsm_reranking.weigh(*rows, means.weights))
        # How many labels the leaves of each row have in each tree, and no more than all in all trees.
        most = np.diff(pointers(np.diff(self.forest.hist_ptr)[leaves])[ptr]).reshape(self.n_trees, -1)
        sizes = np.cumsum(np.minimum(most.sum(axis=0), self.n_labels))
        first, n = 0, rows.ptr.size - 1
        while first < n:
            before = sizes[first - 1] if first else 0
            end = max(first + 1, int(np.searchsorted(sizes, before + AT_ONCE, side="right")))
            shares = ldsm_shares.label_shares(
                self.forest, ptr, leaves, self.n_labels, self.n_trees, first, end, probabilities
            )
            if means is not None:
                some_rows = rows._replace(ptr=rows.ptr[first : end + 1])
                ldsm_reranking.rank_again(*shares, some_rows, means, max(1, self.n_columns), self.beta, self.gamma)
            yield first, end, *shares
            first = end


def prediction_blocks(n_rows: int, n_jobs: int | None) -> list[tuple[int, int]]:
    """Split rows into large tasks, which share the work of reading weights, but at least two for each thread."""
    jobs = effective_jobs(n_jobs)
    return row_blocks(n_rows, min(MOST_ROWS, max(LEAST_ROWS, -(-n_rows // (1 if jobs == 1 else 2 * jobs)))))


def label_means(x, Y, n_columns: int, space: str) -> LabelMeans:
    ptr, columns, values = x
    weights = np.empty(0, np.float32)
    if space == "idf":
        rows_with = np.bincount(columns[values != 0], minlength=n_columns)
        weights = (1 + np.log((1 + Y.shape[0]) / (1 + rows_with))).astype(np.float32)
        values = weigh(ptr, columns, values, weights)
    sums = sp.csr_array(Y.T.astype(np.float32) @ sp.csr_array((values, columns, ptr), shape=(Y.shape[0], n_columns)))
    sums.sort_indices()
    counts = np.maximum(1, np.bincount(Y.indices, minlength=Y.shape[1]))
    sums.data /= np.repeat(counts, np.diff(sums.indptr)).astype(np.float32)
    mean_ptr, mean_columns, mean_values = csr_parts(sums)
    if space == "idf":
        mean_values = weigh(mean_ptr, mean_columns, mean_values, np.ones(n_columns, np.float32))
    return LabelMeans(mean_ptr, mean_columns, mean_values, weights)
