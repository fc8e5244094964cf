"""Scores of labels: the leaves that rows reach, and the labels of the training rows there."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels import ldsm_reaching, ldsm_reranking, ldsm_shares
from xmlcore._kernels.ldsm_reaching import ForestArrays, Rows
from xmlcore._kernels.ldsm_reranking import LabelMeans
from xmlcore.parallel import row_blocks
from xmlcore.system import effective_jobs

MOST_ROWS, LEAST_ROWS = 4096, 256  # of one task
AT_ONCE = 1 << 21  # (row, label) pairs whose shares are in memory at once, per thread


class Scorer(NamedTuple):
    """A fitted model as prediction needs it, perhaps fewer or smaller trees of it."""

    forest: ForestArrays
    arity: int
    n_columns: int
    n_labels: int
    n_trees: int  # the first trees are used
    max_nodes: int  # the first nodes of each tree are used
    means: LabelMeans | None = None  # for re-ranking
    beta: float = 1.0
    gamma: float = 0.0

    def reach(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return the leaves that rows reach: (ptr, nodes), see ``ldsm_reaching.reach_leaves``."""
        return ldsm_reaching.reach_leaves(
            self.forest, self.arity, max(1, self.n_columns), *rows, self.n_trees, self.max_nodes
        )

    def scores(self, rows: Rows, probabilities: bool = False):
        """Score the labels of the leaves that rows reach, as many rows at a time as memory allows.

        Parameters
        ----------
        rows : Rows
        probabilities : bool
            Whether to return shares of rows that have a label, rather than shares of label occurrences, re-ranked where
            the model does that.

        Yields
        ------
        first, end : int
            The rows from ``first`` to ``end - 1``.
        ptr : ndarray of int64, shape (end - first + 1,)
        labels : ndarray of int32
        scores : ndarray of float64
        """
        ptr, leaves = self.reach(rows)
        means = None if probabilities else self.means
        if means is not None and means.weights.size:
            rows = rows._replace(values=ldsm_reranking.weigh(*rows, means.weights, True))
        sizes = np.cumsum(ldsm_shares.most_labels(self.forest, ptr, leaves, self.n_labels, self.n_trees))
        first, n = 0, rows.ptr.size - 1
        while first < n:
            before = sizes[first - 1] if first else 0
            end = max(first + 1, int(np.searchsorted(sizes, before + AT_ONCE, side="right")))
            found = ldsm_shares.label_shares(
                self.forest, ptr, leaves, self.n_labels, self.n_trees, first, end, probabilities
            )
            if means is not None:
                own = rows._replace(ptr=rows.ptr[first : end + 1])
                ldsm_reranking.rank_again(*found, own, means, max(1, self.n_columns), self.beta, self.gamma)
            yield first, end, *found
            first = end


def prediction_blocks(n_rows: int, n_jobs: int | None) -> list[tuple[int, int]]:
    """Split rows into tasks: many rows share the reading of a node's weights, but every thread gets some."""
    jobs = effective_jobs(n_jobs)
    return row_blocks(n_rows, min(MOST_ROWS, max(LEAST_ROWS, -(-n_rows // (1 if jobs == 1 else 2 * jobs)))))
