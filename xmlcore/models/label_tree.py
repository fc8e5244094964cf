"""The shape of a label tree, and how it is built."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.label_clusters import normalise_rows, split_labels
from xmlcore._kernels.tree_shapes import breadth_first, huffman_parents, shuffle_parts
from xmlcore.parallel import run_tasks
from xmlcore.progress import Progress, silent
from xmlcore.validation import INT32_MAX, check_count, csr_parts

CLUSTERING = "Clustering labels"  # the phase
KMEANS_TOLERANCE = np.float32(1e-4)
KMEANS_ITERATIONS = 20
TASK_LABELS = 512  # small nodes are split together, this many labels per task

RENUMBER = "LabelTree.from_parents takes a tree in any order and renumbers it"


@dataclass(frozen=True, eq=False, repr=False)
class LabelTree:
    """A tree whose leaves are the labels 0 to L - 1.

    Nodes are 0 (the root) to n - 1 in breadth-first order: parents before children, the children of a node with
    consecutive ids. :meth:`from_parents` and :meth:`from_nested` make one of any tree; ``PLT(tree=...)`` takes it, and
    gives the trees it was fitted with as ``trees_``.

    Parameters
    ----------
    parent : array_like of int, shape (n,)
        -1 for the root, which is an inner node.
    label : array_like of int, shape (n,)
        The label of a leaf, -1 for an inner node. Every label has exactly one leaf.

    Attributes
    ----------
    parent, label : ndarray of int32, shape (n,)
        Not to be changed.

    Raises
    ------
    ValueError, TypeError
        This is not such a tree; the message names the node.

    Examples
    --------
    >>> from xmlcore import LabelTree
    >>> tree = LabelTree.from_nested([[0, 1], [2, [3, 4]]])
    >>> tree
    LabelTree(n_labels=5, n_nodes=9, depth=3)
    >>> tree.parent.tolist()
    [-1, 0, 0, 1, 1, 2, 2, 6, 6]
    >>> tree.label.tolist()
    [-1, -1, -1, 0, 1, 2, -1, 3, 4]
    """

    parent: np.ndarray
    label: np.ndarray

    def __post_init__(self):
        parent, label = _whole_numbers(self.parent, "parent"), _whole_numbers(self.label, "label")
        _check_sizes(parent, label)
        _check_roots(parent)
        if parent[0] != -1:
            raise ValueError(f"node {np.flatnonzero(parent == -1)[0]} is the root, which must be node 0. {RENUMBER}")
        early = np.flatnonzero(parent[1:] >= np.arange(1, parent.size))
        if early.size:
            v = int(early[0]) + 1
            raise ValueError(f"node {v} does not come after its parent {parent[v]}. {RENUMBER}")
        apart = np.flatnonzero(np.diff(parent) < 0)
        if apart.size:
            v = int(apart[0]) + 1
            raise ValueError(
                f"node {v}, a child of {parent[v]}, comes after a child of {parent[v - 1]}: the nodes are not in "
                f"breadth-first order. {RENUMBER}"
            )
        _check_leaves(parent, label)
        object.__setattr__(self, "parent", np.ascontiguousarray(parent, np.int32))
        object.__setattr__(self, "label", np.ascontiguousarray(label, np.int32))

    @classmethod
    def from_parents(cls, parents, labels) -> "LabelTree":
        """Make a tree of its nodes, in any order.

        Parameters
        ----------
        parents : array_like of int, shape (n,)
            Each node's parent, -1 for the root. Any number of children, any depth.
        labels : array_like of int, shape (n,)
            A leaf's label, -1 for inner nodes. Every label from 0 to L - 1 has one leaf.

        Returns
        -------
        LabelTree
            Its nodes renumbered; siblings stay in the order of their numbers. An inner node with a single child is
            left out, and its child takes its place: its classifier would have nothing to tell apart.

        Raises
        ------
        ValueError, TypeError
            No root or two, a circle, a leaf without a label, a label without a leaf or with two; the message names
            the node.
        """
        parents, labels = _whole_numbers(parents, "parents"), _whole_numbers(labels, "labels")
        _check_sizes(parents, labels)
        _check_roots(parents)
        reached = breadth_first(parents.astype(np.int32))
        if reached.size < parents.size:
            circle = _circle(parents, reached)
            shown = " -> ".join(str(v) for v in circle[:6])
            raise ValueError(
                f"nodes {shown} -> {circle[0] if len(circle) <= 6 else '...'} are in a circle: following the parents "
                "must lead to the root"
            )
        _check_leaves(parents, labels)
        parents = parents.astype(np.int32)
        n_children = _n_children(parents)
        child = np.empty(parents.size, np.int64)  # of nodes with one, theirs
        inner = parents >= 0
        child[parents[inner]] = np.flatnonzero(inner)
        root = top = int(reached[0])
        while n_children[top] == 1:
            top = int(child[top])
        if n_children[top] == 0:  # a single label: the root stays
            return cls(np.array([-1, 0], np.int32), np.array([-1, 0], np.int32))
        parents[root], parents[top] = root, -1
        return _contracted(parents, labels.astype(np.int32), (n_children != 1) | (parents < 0))

    @classmethod
    def from_nested(cls, groups) -> "LabelTree":
        """Make a tree of lists within lists.

        Parameters
        ----------
        groups : list
            The children of the root: label ids are leaves, and a list (tuple, array) is an inner node with its
            children, as deep as you like. Every label from 0 to L - 1 occurs once.

        Returns
        -------
        LabelTree
            As from :meth:`from_parents`: a list of one item is that item.

        Raises
        ------
        ValueError, TypeError
            An empty list, a label that is missing or there twice, something else than a list or a label; the message
            says where.

        Examples
        --------
        >>> LabelTree.from_nested([[0, 1], [2, [3, 4]]]).depth.tolist()
        [0, 1, 1, 2, 2, 2, 2, 3, 3]
        """
        if not _is_group(groups):
            raise TypeError(f"a nested tree is a list of label ids and lists of them, not {groups!r}")
        parents, labels = [-1], [-1]
        place = [-1]  # of the item at hand: [1, 0] is the first item of the second group
        places = {}  # of the labels so far; kept short, for the message only
        stack = [(0, groups, iter(groups))]
        open_groups = {id(groups)}
        end = object()
        while stack:
            node, group, items = stack[-1]
            item = next(items, end)
            if item is end:
                if place[-1] < 0:
                    raise ValueError(f"the list {_where(place[:-1])} is empty: leave it out")
                open_groups.discard(id(group))
                stack.pop()
                place.pop()
                continue
            place[-1] += 1
            parents.append(node)
            if _is_group(item):
                if id(item) in open_groups:
                    raise ValueError(f"the list {_where(place)} contains itself")
                open_groups.add(id(item))
                stack.append((len(labels), item, iter(item)))
                labels.append(-1)
                place.append(-1)
                continue
            if isinstance(item, (bool, np.bool_)) or not isinstance(item, (int, np.integer)):
                raise TypeError(f"{item!r} {_where(place)} is neither a label id nor a list")
            label = int(item)
            if not 0 <= label < INT32_MAX:
                raise ValueError(f"{label} {_where(place)} cannot be a label: ids go from 0 to L - 1")
            if label in places:
                raise ValueError(f"label {label} is there twice, {places[label]} and {_where(place)}")
            places[label] = _where(place)
            labels.append(label)
        if max(places) >= len(places):
            missing = next(j for j in range(len(places)) if j not in places)
            raise ValueError(
                f"label {missing} is missing: there are {len(places)} leaves, so their labels must be "
                f"0 to {len(places) - 1}; the largest is {max(places)}, {places[max(places)]}"
            )
        return cls.from_parents(np.array(parents), np.array(labels))

    def collapsed(self, layers: int, max_leaf_labels: int = 1) -> "LabelTree":
        """Take inner layers out, so that the tree gets wider and shallower.

        Every (layers + 1)-th layer of inner nodes stays, from the root on: a binary tree becomes 4-ary with 1 and
        16-ary with 3. What hung on a node that goes hangs on the next one above that stays. Leaves always stay.

        Parameters
        ----------
        layers : int, at least 0
            How many to take out after each layer that stays. 0 changes nothing.
        max_leaf_labels : int, at least 1
            A node whose children are leaves, at most so many, stays on whatever layer it is: it is a cluster of
            labels, not a step on the way to one.

        Returns
        -------
        LabelTree

        Notes
        -----
        With the value of ``max_leaf_labels`` that the tree was built with this is omikuji's
        ``collapse_every_n_layers``. O(n log(layers)) time.
        """
        check_count(layers, "layers", least=0)
        check_count(max_leaf_labels, "max_leaf_labels")
        leaf = self.label >= 0
        n_leaves = np.bincount(self.parent[leaf], minlength=self.n_nodes)
        cluster = ~leaf & (n_leaves == self.n_children) & (n_leaves <= max_leaf_labels)
        period = min(layers, self.n_nodes) + 1
        keep = leaf | cluster | (self.depth % period == 0)
        return self if keep.all() else _contracted(self.parent, self.label, keep)

    @property
    def n_nodes(self) -> int:
        """Inner nodes and leaves."""
        return self.parent.size

    @property
    def n_labels(self) -> int:
        """Leaves."""
        return int((self.label >= 0).sum())

    @property
    def n_children(self) -> np.ndarray:
        """Number of children of each node, int64 (n,)."""
        return _n_children(self.parent)

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
            level_end = int(np.searchsorted(self.parent, np.int32(end), side="left"))
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

    def copy(self) -> "LabelTree":
        """Return an equal tree with arrays of its own."""
        return LabelTree(self.parent.copy(), self.label.copy())

    def __eq__(self, other):
        if not isinstance(other, LabelTree):
            return NotImplemented
        return np.array_equal(self.parent, other.parent) and np.array_equal(self.label, other.label)

    def __hash__(self):
        return hash((self.parent.tobytes(), self.label.tobytes()))

    def __repr__(self):
        return f"LabelTree(n_labels={self.n_labels}, n_nodes={self.n_nodes}, depth={self.depth[-1]})"


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
    """Build a tree over the labels.

    "kmeans" and "random" split from the root down: a node with at most ``max(arity, max_leaf_labels)`` labels has them
    as leaves; any other is split into ``arity`` parts whose sizes differ by at most one.

    Parameters
    ----------
    strategy : {"kmeans", "random", "huffman"} or LabelTree
        "kmeans": balanced spherical k-means on the representations (Prabhu et al., 2018; Khandagale et al., 2020).
        "random": labels in random order.
        "huffman": frequent labels near the root; ``max_leaf_labels`` and ``seed`` play no part.
        A tree is taken as it is.
    n_labels, arity, max_leaf_labels : int
    seed : int
        The split of a node depends on ``seed`` and the node's id only.
    representations : csr_array, shape (L, D)
        Needed for "kmeans", see :func:`label_representations`.
    n_jobs, progress
        Threads, and where to report.
    frequencies : ndarray of int, shape (L,)
        Needed for "huffman": the number of rows with each label.

    Returns
    -------
    LabelTree
    """
    if isinstance(strategy, LabelTree):
        tree = strategy.copy()
    elif strategy == "huffman":
        tree = _huffman_tree(np.asarray(frequencies, np.int64), arity)
    else:
        tree = _balanced_tree(strategy, n_labels, arity, max_leaf_labels, seed, representations, n_jobs, progress)
    progress(CLUSTERING, 1.0, f"{n_labels:,} labels placed")
    return tree


def _balanced_tree(strategy, n_labels, arity, max_leaf_labels, seed, representations, n_jobs, progress):
    arity = min(arity, max(2, n_labels))
    limit = max(arity, min(max_leaf_labels, n_labels))
    matrix = csr_parts(representations) if strategy == "kmeans" else None

    # A level is its nodes' labels side by side, and where each node's begin; leaves are written down and left out.
    members, ptr, nodes = np.arange(n_labels, dtype=np.int32), np.array([0, n_labels]), np.zeros(1, np.int64)
    parents, labels = [np.array([-1], np.int32)], [np.array([-1], np.int32)]
    n_nodes = 1

    def split(part):
        """Sort the labels of each of some nodes by cluster."""
        for i in part:
            own = members[ptr[i] : ptr[i + 1]]
            clusters = split_labels(
                *matrix,
                own,
                representations.shape[1],
                arity,
                KMEANS_TOLERANCE,
                KMEANS_ITERATIONS,
                seed,
                int(nodes[i]),
            )
            own[:] = own[np.argsort(clusters, kind="stable")]

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
        n_children = np.where(sizes > limit, arity, sizes)  # a child gets its node's share; the first get one more
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
    """Levels with nodes to split; the largest node of a level decides."""
    levels = 0
    while n_labels > limit:
        n_labels = -(-n_labels // arity)
        levels += 1
    return levels


def _huffman_tree(frequencies, arity):
    n_labels = frequencies.size
    order = np.argsort(frequencies, kind="stable")  # equal ones by label id
    parent = huffman_parents(frequencies[order], min(arity, max(2, n_labels)))
    label = np.full(parent.size, -1, np.int32)
    label[:n_labels] = order
    return _numbered(parent, label)


def _numbered(parent, label):
    """The tree with its nodes in breadth-first order; they must be a tree."""
    order = breadth_first(parent)
    place = np.empty(order.size, np.int32)
    place[order] = np.arange(order.size, dtype=np.int32)
    above = parent[order]
    above[1:] = place[above[1:]]
    return LabelTree(above, label[order])


def _contracted(parent, label, keep):
    """The tree of the nodes to keep, all leaves and the root among them, each under its nearest ancestor kept."""
    above = np.where(keep, np.arange(parent.size, dtype=np.int32), parent)
    while True:  # twice as far each time
        further = above[above]
        if np.array_equal(further, above):
            break
        above = further
    kept = np.flatnonzero(keep)
    number = np.cumsum(keep, dtype=np.int32) - np.int32(1)
    new = parent[kept]
    below = new >= 0
    new[below] = number[above[new[below]]]
    return _numbered(new, label[kept])


def _n_children(parent):
    return np.bincount(parent[parent >= 0], minlength=parent.size)


def _whole_numbers(values, name):
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be a list of whole numbers, one per node") from error
    if array.ndim != 1:
        raise ValueError(f"{name} must be a list of whole numbers, one per node, not {array.ndim}-dimensional")
    if array.size == 0:
        raise ValueError(f"{name} is empty: a tree has at least a root and a leaf")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} holds {array.dtype} values: whole numbers are needed")
    return array


def _check_sizes(parent, label):
    if parent.size != label.size:
        raise ValueError(f"{parent.size} parents and {label.size} labels were given: one of each per node is needed")


def _check_roots(parent):
    """One root, and all other parents are nodes."""
    odd = np.flatnonzero((parent < -1) | (parent >= parent.size))
    if odd.size:
        v = int(odd[0])
        raise ValueError(
            f"node {v} has the parent {parent[v]}: nodes are 0 to {parent.size - 1}, and the root's parent is -1"
        )
    roots = np.flatnonzero(parent == -1)
    if roots.size == 0:
        raise ValueError("no node has the parent -1: a tree has one root")
    if roots.size > 1:
        raise ValueError(f"nodes {roots[0]} and {roots[1]} both have the parent -1: a tree has one root")


def _check_leaves(parent, label):
    """The nodes without children have the labels 0 to L - 1, one each, and the others have none."""
    childless = _n_children(parent) == 0
    for wrong, message in (
        (label < -1, "node {v} has the label {label}: labels start at 0, and inner nodes have -1"),
        (childless & (parent < 0), "node {v} is the root and has no children: a single label is a leaf under the root"),
        (childless & (label < 0), "node {v} has neither children nor a label: every leaf needs one"),
        (~childless & (label >= 0), "node {v} has children and the label {label}: only leaves have labels"),
    ):
        found = np.flatnonzero(wrong)
        if found.size:
            raise ValueError(message.format(v=found[0], label=label[found[0]]))
    leaves = np.flatnonzero(childless)
    own = label[leaves]
    order = np.argsort(own, kind="stable")
    twice = np.flatnonzero(np.diff(own[order]) == 0)
    if twice.size:
        one, two = leaves[order[twice[0]]], leaves[order[twice[0] + 1]]
        raise ValueError(f"nodes {one} and {two} both have the label {label[one]}: every label has one leaf")
    gaps = np.flatnonzero(own[order] != np.arange(leaves.size))
    if gaps.size:
        last = leaves[order[-1]]
        raise ValueError(
            f"label {gaps[0]} has no leaf: with {leaves.size} leaves the labels must be 0 to {leaves.size - 1}, but "
            f"node {last} has the label {label[last]}"
        )


def _circle(parent, reached):
    """Nodes of a circle, each followed by its parent."""
    lost = np.ones(parent.size, bool)
    lost[reached] = False
    v = int(np.flatnonzero(lost)[0])
    place, path = {}, []
    while v not in place:
        place[v] = len(path)
        path.append(v)
        v = int(parent[v])
    return path[place[v] :]


def _is_group(item):
    if isinstance(item, np.ndarray):
        return item.ndim > 0
    return isinstance(item, Sequence) and not isinstance(item, (str, bytes))


def _where(place):
    """Of an item in nested lists: ``at [1][0]``; of a deep one the end."""
    if not place:
        return "given"
    shown = "".join(f"[{i}]" for i in place[-8:])
    return f"at {'...' if len(place) > 8 else ''}{shown}"
