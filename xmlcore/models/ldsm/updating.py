"""Add new rows to a fitted LdSM: they are counted in the nodes that they reach, and the trees keep their shape."""

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.ldsm_reaching import SentRows
from xmlcore._kernels.ldsm_reranking import LabelMeans
from xmlcore.arrays import by_frequency, columns_of, in_columns
from xmlcore.models.ldsm.prediction import prediction_blocks
from xmlcore.models.ldsm.trees import MEANS, state_of
from xmlcore.parallel import run_blocks
from xmlcore.progress import Progress
from xmlcore.validation import csr_parts

PHASE = "Adding rows"


def learn_more(model, X, Y, n_unlabelled: int, progress: Progress) -> tuple[dict, dict]:
    """Return the values and arrays of a fitted model after it has learnt further rows."""
    if model.means_ is not None and model.means_.weights.size:
        raise ValueError(
            "means of labels in the space 'idf' cannot learn further rows: fit the model to all rows, or with "
            "rerank_space='raw' or rerank_beta=1"
        )
    values, arrays = state_of(model)
    values = values | {"n_labels": Y.shape[1], "n_unlabelled": model.n_unlabelled_ + n_unlabelled}
    arrays = arrays | _counted(model, X, Y, progress)
    if model.means_ is not None:
        arrays |= _with_means(model, X, Y)
    return values, arrays


def _counted(model, X, Y, progress) -> dict[str, np.ndarray]:
    """Return the numbers of rows and the histograms of all nodes, with the rows of X counted in addition."""
    forest, x, n_nodes = model.forest_, csr_parts(X), model.forest_.first_child.size
    scorer, parent, occurrences = model._scorer(), _parents(model), sp.csr_array(Y, dtype=np.int32)

    def one_block(block):
        """Count a block of rows in the nodes that they reach: rows of each node, and (node, label) pairs."""
        n = block[1] - block[0]
        ptr, leaves = scorer.reach(SentRows(*in_columns(x, model._columns, block)))
        row = np.repeat(np.tile(np.arange(n), scorer.n_trees), np.diff(ptr))
        visits = _with_ancestors(leaves.astype(np.int64) * n + row, parent, n)
        nodes, rows = np.divmod(visits, n)
        reached = sp.csr_array((np.ones(visits.size, np.int32), (nodes, rows)), (n_nodes, n))
        return np.bincount(nodes, minlength=n_nodes), reached @ occurrences[block[0] : block[1]]

    blocks = prediction_blocks(X.shape[0], model.n_jobs)
    parts = run_blocks(one_block, blocks, model.n_jobs, progress, PHASE)
    histograms = sp.csr_array((forest.hist_counts, forest.hist_labels, forest.hist_ptr), (n_nodes, Y.shape[1]))
    histograms = sp.csr_array(sum((more for _, more in parts), histograms))
    histograms.sort_indices()
    ptr, labels, counts = csr_parts(histograms)
    n_samples = np.concatenate([tree.n_samples for tree in model.trees_]) + sum(n for n, _ in parts)
    return {"hist_ptr": ptr, "hist_labels": labels, "hist_counts": counts.astype(np.int32), "n_samples": n_samples}


def _parents(model) -> np.ndarray:
    """Return the parent of each node in the forest; -1 for roots."""
    return np.concatenate(
        [np.where(tree.parent >= 0, tree.parent + root, -1) for tree, root in zip(model.trees_, model.forest_.root)]
    ).astype(np.int64)


def _with_ancestors(visits, parent, n: int) -> np.ndarray:
    """Return (leaf, row) pairs with those of the leaves' ancestors, each pair once, as numbers node * n + row."""
    found, waiting = [], np.unique(visits)
    while waiting.size:
        found.append(waiting)
        nodes, rows = np.divmod(waiting, n)
        above = parent[nodes]
        waiting = np.unique(above[above >= 0] * n + rows[above >= 0])
    return np.unique(np.concatenate(found)) if found else visits  # a node is reached from leaves of several depths


def _with_means(model, X, Y) -> dict[str, np.ndarray]:
    """Return the labels' means over the earlier rows and the new ones; features that are new get columns."""
    known = model.feature_of_column_
    new = by_frequency(X)
    features = np.concatenate([known, new[~np.isin(new, known)]]).astype(np.int32)
    x_ptr, columns, values = in_columns(csr_parts(X), columns_of(features, X.shape[1]))
    shape = (Y.shape[1], features.size)
    ptr, mean_columns, means, weights = model.means_
    before, after = np.zeros(shape[0]), np.bincount(Y.indices, minlength=shape[0])
    first = slice(*model.forest_.hist_ptr[:2])  # the root of the first tree, which all rows reach
    before[model.forest_.hist_labels[first]] = model.forest_.hist_counts[first]
    ptr = np.concatenate([ptr, np.full(shape[0] + 1 - ptr.size, ptr[-1])])
    sums = sp.csr_array((means * np.repeat(before, np.diff(ptr)), mean_columns, ptr), shape)
    rows = sp.csr_array((values.astype(np.float64), columns, x_ptr), (X.shape[0], features.size))
    sums = sp.csr_array(sums + sp.csr_array(Y.T.astype(np.float64) @ rows))
    sums.sort_indices()
    sums.data /= np.repeat(np.maximum(1, before + after), np.diff(sums.indptr))
    ptr, columns, values = csr_parts(sums)
    found = LabelMeans(ptr, columns, values.astype(np.float32), weights)
    return dict(zip(MEANS, found)) | {"feature_of_column": features}
