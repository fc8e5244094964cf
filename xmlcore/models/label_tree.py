"""The shape of a label tree, and how it is built."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.label_clusters import normalise_rows, split_labels
from xmlcore._kernels.rng import permutation
from xmlcore._parallel import run_tasks
from xmlcore.progress import Progress, silent
from xmlcore.validation import csr_parts

CLUSTERING = "Clustering labels"  # the phase
KMEANS_TOLERANCE = np.float32(1e-4)
KMEANS_ITERATIONS = 20


@dataclass(frozen=True)
class LabelTree:
    """Nodes 0 (the root) to n - 1, parents before children, the children of a node with consecutive ids.

    Attributes
    ----------
    parent : ndarray of int32, shape (n,)
        -1 for the root.
    label : ndarray of int32, shape (n,)
        The label of a leaf, -1 for an inner node. Every label has exactly one leaf.
    """

    parent: np.ndarray
    label: np.ndarray

    @property
    def n_nodes(self) -> int:
        """Inner nodes and leaves."""
        return self.parent.size

    @property
    def n_children(self) -> np.ndarray:
        """Number of children of each node, int64 (n,)."""
        return np.bincount(self.parent[1:], minlength=self.n_nodes)

    @property
    def first_child(self) -> np.ndarray:
        """Id of each node's first child, int64 (n,); meaningless for leaves."""
        return 1 + np.concatenate([[0], np.cumsum(self.n_children)[:-1]])

    @property
    def depth(self) -> np.ndarray:
        """Number of edges to the root, int32 (n,)."""
        depth = np.zeros(self.n_nodes, np.int32)
        start, end = 0, 1
        while end < self.n_nodes:  # a level at a time: children of a level are the next level
            level_end = int(np.searchsorted(self.parent, end, side="left"))
            depth[end:level_end] = depth[start] + 1
            start, end = end, level_end
        return depth

    @property
    def leaf_of_label(self) -> np.ndarray:
        """Node of each label's leaf, int32 (L,)."""
        leaves = np.flatnonzero(self.label >= 0)
        out = np.empty(leaves.size, np.int32)
        out[self.label[leaves]] = leaves
        return out


def label_representations(X: sp.csr_array, Y: sp.csr_array) -> sp.csr_array:
    """Mean of the rows that carry a label, scaled to length 1.

    Parameters
    ----------
    X : csr_array of float32, shape (N, D), rows of length 1
    Y : csr_array of bool, shape (N, L)

    Returns
    -------
    csr_array of float32, shape (L, D); a label without rows has an empty row.
    """
    sums = sp.csr_array(Y.T.astype(np.float32) @ X)
    sums.sort_indices()
    normalise_rows(csr_parts(sums)[0], sums.data)
    return sums


def build_tree(
    strategy: str,
    n_labels: int,
    arity: int,
    max_leaf_labels: int,
    seed: int,
    representations: sp.csr_array | None = None,
    n_jobs: int | None = None,
    progress: Progress = silent,
) -> LabelTree:
    """Build a balanced tree from the root down.

    A node with at most ``max(arity, max_leaf_labels)`` labels has them as leaves; any other is split into ``arity``
    parts whose sizes differ by at most one.

    Parameters
    ----------
    strategy : {"kmeans", "random"}
        "kmeans": balanced spherical k-means on the representations (Prabhu et al., 2018; Khandagale et al., 2020).
        "random": labels in random order.
    n_labels, arity, max_leaf_labels : int
    seed : int
        The split of a node depends on ``seed`` and the node's id only.
    representations : csr_array, shape (L, D)
        Needed for "kmeans", see :func:`label_representations`.
    n_jobs, progress
        Threads, and where to report.

    Returns
    -------
    LabelTree
    """
    limit = max(arity, max_leaf_labels)
    parents, labels = [np.array([-1], np.int32)], [np.array([-1], np.int32)]
    parts_of_csr = csr_parts(representations) if representations is not None else None
    level = [(0, np.arange(n_labels, dtype=np.int32))]  # (node id, its labels)
    n_nodes, n_placed = 1, 0

    def split(task):
        node, members = task
        if members.size <= limit:
            return [members[i : i + 1] for i in range(members.size)]
        if strategy == "random":
            return np.array_split(members[permutation(members.size, seed, node)], arity)
        clusters = split_labels(
            *parts_of_csr,
            members,
            representations.shape[1],
            arity,
            KMEANS_TOLERANCE,
            KMEANS_ITERATIONS,
            seed,
            node,
        )
        return [members[clusters == c] for c in range(arity)]

    while level:
        parts = run_tasks(split, level, [members.size for _, members in level], n_jobs)
        next_level = []
        for (node, _), children in zip(level, parts):
            parents.append(np.full(len(children), node, np.int32))
            leaf = np.array([c[0] if c.size == 1 else -1 for c in children], np.int32)
            labels.append(leaf)
            next_level += [(n_nodes + i, c) for i, c in enumerate(children) if c.size > 1]
            n_nodes += len(children)
            n_placed += int((leaf >= 0).sum())
        level = next_level
        progress(CLUSTERING, n_placed / n_labels, f"{n_placed:,} of {n_labels:,} labels placed")
    return LabelTree(np.concatenate(parents), np.concatenate(labels))
