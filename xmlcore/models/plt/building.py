"""Build a label tree: by clustering, at random, or by Huffman's code."""

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.plt_clusters import normalise_rows, split_labels
from xmlcore._kernels.plt_shapes import huffman_parents, shuffle_parts
from xmlcore.arrays import unsigned_parts
from xmlcore.models.plt.label_tree import LabelTree, in_breadth_first_order
from xmlcore.parallel import run_tasks
from xmlcore.progress import Progress, silent
from xmlcore.validation import csr_parts

CLUSTERING = "Clustering labels"  # Phase that progress reports while a tree is built.
KMEANS_TOLERANCE = np.float32(1e-4)  # k-means stops when the mean similarity rises by less than this.
KMEANS_ITERATIONS = 20  # Largest number of iterations of k-means.
TASK_LABELS = 512  # Approximate number of labels per task: small nodes are split in one task.


def label_representations(X: sp.csr_array, Y: sp.csr_array, weights: np.ndarray | None = None) -> sp.csr_array:
    """Return, for each label, the weighted mean of the rows that have the label, scaled to length 1."""
    Y = Y.astype(np.float32)
    if weights is not None:
        Y.data *= np.repeat(weights, np.diff(Y.indptr))
    sums = sp.csr_array(Y.T @ X)
    sums.sort_indices()
    normalise_rows(csr_parts(sums)[0], sums.data)
    return sums


def label_frequencies(Y: sp.csr_array, weights: np.ndarray | None) -> np.ndarray:
    """Return the number of rows of each label, or the sum of their weights."""
    each = None if weights is None else np.repeat(weights, np.diff(Y.indptr))
    return np.bincount(Y.indices, each, Y.shape[1])


def has_one_level(n_labels: int, arity: int, max_leaf_labels: int) -> bool:
    """Return whether all labels are children of the root, so that nothing has to be clustered."""
    return n_labels <= max(min(arity, max(2, n_labels)), max_leaf_labels)


def build_tree(
    strategy: "str | LabelTree",
    n_labels: int,
    arity: int,
    max_leaf_labels: int,
    seed: int,
    representations: sp.csr_array | None = None,
    n_jobs: int | None = None,
    progress: Progress = silent,
    frequencies: np.ndarray | None = None,
) -> LabelTree:
    """Build a label tree, or copy a given one."""
    # "kmeans" and "random" split labels, more than ``max(arity, max_leaf_labels)``, into ``arity`` parts of equal size.
    if isinstance(strategy, LabelTree):
        tree = strategy.copy()
    elif strategy == "huffman":
        tree = _huffman_tree(frequencies, arity)
    else:
        tree = _balanced_tree(strategy, n_labels, arity, max_leaf_labels, seed, representations, n_jobs, progress)
    progress(CLUSTERING, 1.0, f"{n_labels:,} labels placed")
    return tree


def _balanced_tree(strategy, n_labels, arity, max_leaf_labels, seed, representations, n_jobs, progress):
    """Build a tree level by level, where each node's labels are split into parts of equal size (up to one label)."""
    arity = min(arity, max(2, n_labels))
    limit = max(arity, min(max_leaf_labels, n_labels))
    matrix = unsigned_parts(representations) if representations is not None else None
    limits = KMEANS_TOLERANCE, KMEANS_ITERATIONS

    # The current level: ``members`` holds the labels of its inner nodes, node after node, ``ptr`` where each node's
    # labels begin, and ``nodes`` the node ids. ``parents`` and ``labels`` collect the nodes of all levels.
    members, ptr, nodes = np.arange(n_labels, dtype=np.int32), np.array([0, n_labels]), np.zeros(1, np.int64)
    parents, labels = [np.array([-1], np.int32)], [np.array([-1], np.int32)]
    n_nodes = 1

    def split(part):
        """Sort the labels of each node in ``part``, positions in ``nodes``, by cluster, in place."""
        for i in part:
            node_labels = members[ptr[i] : ptr[i + 1]]
            clusters = split_labels(*matrix, node_labels, representations.shape[1], arity, *limits, seed, int(nodes[i]))
            node_labels[:] = node_labels[np.argsort(clusters, kind="stable")]

    def at_level(level):
        return lambda phase, fraction, _: progress(
            phase, (level + fraction) / n_levels, f"level {level + 1} of {n_levels}"
        )

    n_levels = _n_splits(n_labels, arity, limit)
    for level in range(n_levels + 1):
        sizes = np.diff(ptr)
        wide = np.flatnonzero(sizes > limit)
        if strategy == "random":
            if wide.size:
                at_level(level)(CLUSTERING, 0.0, "")
            shuffle_parts(members, ptr[wide], ptr[wide + 1], seed, nodes[wide])
        elif wide.size:
            task = (np.cumsum(sizes[wide]) - sizes[wide]) // TASK_LABELS
            parts = np.split(wide, np.flatnonzero(np.diff(task)) + 1)
            run_tasks(split, parts, [sizes[part].sum() for part in parts], n_jobs, at_level(level), CLUSTERING)
        # Each child gets an equal share of its node's labels, and the first children get one of the remaining labels.
        n_children = np.where(sizes > limit, arity, sizes)
        place = np.arange(n_children.sum()) - np.repeat(np.cumsum(n_children) - n_children, n_children)
        child_sizes = np.repeat(sizes // n_children, n_children) + (place < np.repeat(sizes % n_children, n_children))
        ends = np.cumsum(child_sizes)
        inner = child_sizes > 1
        parents.append(np.repeat(nodes, n_children).astype(np.int32))
        labels.append(np.where(inner, np.int32(-1), members[ends - 1]))
        members = members[np.repeat(inner, child_sizes)]
        ptr = np.concatenate([[0], np.cumsum(child_sizes[inner])])
        nodes = n_nodes + np.flatnonzero(inner)
        n_nodes += child_sizes.size
        if nodes.size == 0:
            break
    return LabelTree(np.concatenate(parents), np.concatenate(labels))


def _n_splits(n_labels, arity, limit):
    levels = 0
    while n_labels > limit:
        n_labels = -(-n_labels // arity)
        levels += 1
    return levels


def _huffman_tree(frequencies, arity):
    n_labels = frequencies.size
    order = np.argsort(frequencies, kind="stable")  # labels of equal frequency by id
    parent = huffman_parents(frequencies[order], min(arity, max(2, n_labels)))
    label = np.full(parent.size, -1, np.int32)
    label[:n_labels] = order
    return in_breadth_first_order(parent, label)
