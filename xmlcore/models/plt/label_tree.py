"""LabelTree: the nodes of a label tree, without classifiers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore.typing import ArrayLike
from xmlcore.validation import INT32_MAX, check_count

SHOWN = 8  # indices of a place in nested lists that an error message has, the last ones


@dataclass(frozen=True, eq=False, repr=False)
class LabelTree:
    """A tree whose leaves are the labels 0 to L - 1.

    Nodes are numbered from 0 (the root) to n - 1 in breadth-first order: parents come before their children, and the
    children of a node have consecutive ids. :meth:`from_parents` and :meth:`from_nested` accept other orders.
    ``PLT(tree=...)`` accepts a LabelTree, and ``PLT.trees_`` holds the trees of a fitted model.

    Parameters
    ----------
    parent : array_like of int, shape (n,)
        -1 for the root, which is an inner node.
    label : array_like of int, shape (n,)
        The label of a leaf, -1 for an inner node. Every label has exactly one leaf.

    Attributes
    ----------
    parent, label : ndarray of int32, shape (n,)
        Do not change these arrays.

    Raises
    ------
    ValueError, TypeError
        The arrays are not such a tree; the message names the node.

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
        _check_parents(parent)
        odd = np.flatnonzero((parent[1:] >= np.arange(1, parent.size)) | (np.diff(parent) < 0))
        if odd.size:
            raise ValueError(
                f"node {odd[0] + 1} is not in breadth-first order: node 0 is the root, parents come before their "
                "children, and children of a node follow each other. LabelTree.from_parents accepts nodes in any order"
            )
        _check_leaves(parent, label)
        object.__setattr__(self, "parent", np.ascontiguousarray(parent, np.int32))
        object.__setattr__(self, "label", np.ascontiguousarray(label, np.int32))

    @classmethod
    def from_parents(cls, parents: ArrayLike, labels: ArrayLike) -> "LabelTree":
        """Return the tree with these nodes, which may be in any order and are renumbered; siblings keep their order.

        ``parents`` has each node's parent, -1 for the root; ``labels`` a leaf's label, -1 for inner nodes. Every label
        from 0 to L - 1 has one leaf. An inner node with a single child is replaced by this child, because a classifier
        would have nothing to tell apart there. ValueError names the node at which this is no tree.
        """
        parents, labels = _whole_numbers(parents, "parents"), _whole_numbers(labels, "labels")
        _check_sizes(parents, labels)
        _check_parents(parents)
        reached = breadth_first(parents.astype(np.int32))
        if reached.size < parents.size:
            lost = np.setdiff1d(np.arange(parents.size), reached)[0]
            raise ValueError(f"node {lost} is in a circle, or below one: following the parents must lead to the root")
        _check_leaves(parents, labels)
        parents = parents.astype(np.int32)
        n_children = _n_children(parents)
        child = np.empty(parents.size, np.int64)  # a child of each inner node: the only one where there is one
        inner = parents >= 0
        child[parents[inner]] = np.flatnonzero(inner)
        root = top = int(reached[0])
        while n_children[top] == 1:
            top = int(child[top])
        if n_children[top] == 0:  # the tree has a single label: keep the root above its leaf
            return cls(np.array([-1, 0], np.int32), np.array([-1, 0], np.int32))
        parents[root], parents[top] = root, -1
        return _contracted(parents, labels.astype(np.int32), (n_children != 1) | (parents < 0))

    @classmethod
    def from_nested(cls, groups: Sequence[Any]) -> "LabelTree":
        """Return the tree that nested lists describe.

        Parameters
        ----------
        groups : list
            The children of the root: label ids are leaves, and a list (tuple, array) is an inner node with its
            children, as deep as you like. Every label from 0 to L - 1 occurs once.

        Returns
        -------
        LabelTree
            As :meth:`from_parents` returns it: a list of one item is replaced by this item.

        Raises
        ------
        ValueError, TypeError
            A list is empty, a label is missing or occurs twice, or an item is neither a list nor a label; the message
            says where.

        Examples
        --------
        >>> LabelTree.from_nested([[0, 1], [2, [3, 4]]]).depth.tolist()
        [0, 1, 1, 2, 2, 2, 2, 3, 3]
        """
        if not _is_group(groups):
            raise TypeError(f"a nested tree is a list of label ids and lists of them, not {groups!r:.200}")
        parents, labels, places = [-1], [-1], {}  # of each label its place, for error messages
        level, seen = [(0, groups, ())], {id(groups): groups}  # lists with their nodes and places: the indices to them
        while level:
            below = []
            for node, group, where in level:
                if len(group) == 0:
                    raise ValueError(f"the list {_where(where)} is empty: leave it out")
                for i, item in enumerate(group):
                    item, place = _unwrapped(item, (*where, i), seen)
                    parents.append(node)
                    if _is_group(item):
                        below.append((len(labels), item, place))
                        labels.append(-1)
                    else:
                        labels.append(_label_of(item, _where(place), places))
                        places[labels[-1]] = _where(place)
            level = below
        if max(places) >= len(places):
            missing = next(j for j in range(len(places)) if j not in places)
            raise ValueError(
                f"label {missing} is missing: there are {len(places)} leaves, so their labels must be "
                f"0 to {len(places) - 1}; the largest is {max(places)}, {places[max(places)]}"
            )
        return cls.from_parents(np.array(parents), np.array(labels))

    def collapsed(self, layers: int, max_leaf_labels: int = 1) -> "LabelTree":
        """Return a wider and shallower tree, without some layers of inner nodes.

        Every (layers + 1)-th layer of inner nodes stays, from the root on: a binary tree becomes 4-ary with 1 and
        16-ary with 3. The children of a node that is taken out become children of its nearest ancestor that stays.
        Leaves always stay, and so does a node whose children are leaves, and at most ``max_leaf_labels``, because it is
        a cluster of labels.

        With the ``max_leaf_labels`` that the tree was built with, the result is that of omikuji's
        ``collapse_every_n_layers``. It takes O(n log(layers)) time.
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
        """Return the number of nodes: inner nodes and leaves."""
        return self.parent.size

    @property
    def n_labels(self) -> int:
        """Return the number of labels, which is the number of leaves."""
        return int((self.label >= 0).sum())

    @property
    def n_children(self) -> np.ndarray:
        """Return the number of children of each node, int64 (n,)."""
        return _n_children(self.parent)

    @property
    def first_child(self) -> np.ndarray:
        """Return the id of each node's first child, int64 (n,); for leaves the value has no meaning."""
        return 1 + np.concatenate([[0], np.cumsum(self.n_children)[:-1]])

    @property
    def depth(self) -> np.ndarray:
        """Return the number of edges between each node and the root, int32 (n,)."""
        depth = np.zeros(self.n_nodes, np.int32)
        start, end = 0, 1
        while end < self.n_nodes:  # nodes ``start`` to ``end`` - 1 are a level, and their children the next level
            level_end = int(np.searchsorted(self.parent, np.int32(end), side="left"))
            depth[end:level_end] = depth[start] + 1
            start, end = end, level_end
        return depth

    @property
    def leaf_of_label(self) -> np.ndarray:
        """Return the node that is each label's leaf, int32 (L,)."""
        leaves = np.flatnonzero(self.label >= 0)
        out = np.empty(leaves.size, np.int32)
        out[self.label[leaves]] = leaves
        return out

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by which a tree is saved: "parent" and "label"."""
        return {"parent": self.parent, "label": self.label}

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


def breadth_first(parent) -> np.ndarray:
    """List the nodes in breadth-first order, siblings by number, without those in a circle and under one."""
    from scipy.sparse.csgraph import breadth_first_order

    order, n = np.argsort(parent, kind="stable"), parent.size  # the root, then the children of each node
    ptr = np.searchsorted(parent[order], np.arange(n + 1))
    children = sp.csr_array((np.ones(n - 1), order[1:], ptr - 1), shape=(n, n))
    return breadth_first_order(children, order[0], return_predecessors=False)


def in_breadth_first_order(parent, label):
    """Return the LabelTree of these nodes, renumbered in breadth-first order; the nodes must form a valid tree."""
    order = breadth_first(parent)
    new_number = np.empty(order.size, np.int32)
    new_number[order] = np.arange(order.size, dtype=np.int32)
    new_parent = parent[order]
    new_parent[1:] = new_number[new_parent[1:]]
    return LabelTree(new_parent, label[order])


def _contracted(parent, label, keep):
    """Return the LabelTree that is left when some nodes are taken out; children go to the nearest kept ancestor."""
    # nearest_kept[v] is v where v stays, and otherwise an ancestor of v: at first its parent, in the end the nearest
    # ancestor that stays. Each pass doubles the number of layers that it can skip.
    nearest_kept = np.where(keep, np.arange(parent.size, dtype=np.int32), parent)
    while True:
        further = nearest_kept[nearest_kept]
        if np.array_equal(further, nearest_kept):
            break
        nearest_kept = further
    kept = np.flatnonzero(keep)
    new_number = np.cumsum(keep, dtype=np.int32) - np.int32(1)
    new_parent = parent[kept]
    has_parent = new_parent >= 0
    new_parent[has_parent] = new_number[nearest_kept[new_parent[has_parent]]]
    return in_breadth_first_order(new_parent, label[kept])


def _n_children(parent):
    return np.bincount(parent[parent >= 0], minlength=parent.size)


def _whole_numbers(values, name):
    """Return the values as a vector of whole numbers; raise an error that names the argument otherwise."""
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


def _check_parents(parent):
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
    """Raise ValueError unless the nodes without children, and no others, have the labels 0 to L - 1, one each."""
    childless = _n_children(parent) == 0
    for wrong, message in (
        (label < -1, "node {v} has the label {label}: labels start at 0, and inner nodes have -1"),
        (childless & (parent < 0), "node {v} is the root and has no children: a single label is a leaf under the root"),
        (childless & (label < 0), "node {v} has neither children nor a label: every leaf needs one"),
        (~childless & (label >= 0), "node {v} has children and the label {label}: only leaves have labels"),
    ):
        nodes = np.flatnonzero(wrong)
        if nodes.size:
            raise ValueError(message.format(v=nodes[0], label=label[nodes[0]]))
    leaves = np.flatnonzero(childless)
    leaf_labels = label[leaves]
    order = np.argsort(leaf_labels, kind="stable")
    twice = np.flatnonzero(np.diff(leaf_labels[order]) == 0)
    if twice.size:
        first, two = leaves[order[twice[0]]], leaves[order[twice[0] + 1]]
        raise ValueError(f"nodes {first} and {two} both have the label {label[first]}: every label has one leaf")
    gaps = np.flatnonzero(leaf_labels[order] != np.arange(leaves.size))
    if gaps.size:
        last = leaves[order[-1]]
        raise ValueError(
            f"label {gaps[0]} has no leaf: with {leaves.size} leaves the labels must be 0 to {leaves.size - 1}, but "
            f"node {last} has the label {label[last]}"
        )


def _label_of(item, where, places) -> int:
    """Return an item of a nested tree as a label that is not yet in ``places``."""
    if isinstance(item, (bool, np.bool_)) or not isinstance(item, (int, np.integer)):
        raise TypeError(f"{item!r:.200} {where} is neither a label id nor a list")
    if not 0 <= item < INT32_MAX:
        raise ValueError(f"{item} {where} cannot be a label: ids go from 0 to L - 1")
    if item in places:
        raise ValueError(f"label {item} occurs twice, {places[item]} and {where}")
    return int(item)


def _unwrapped(item, place, seen) -> tuple:
    """Return an item of a nested tree, or the item in lists of one item, and its place."""
    while _is_group(item):
        if id(item) in seen:
            raise ValueError(f"the list {_where(place)} contains itself, or occurs twice")
        seen[id(item)] = item
        if len(item) != 1:
            break
        item, place = next(iter(item)), (*place, 0)
    return item, place[-SHOWN - 1 :]


def _is_group(item):
    """Return whether an item of a nested tree is a list, and so an inner node."""
    if isinstance(item, np.ndarray):
        return item.ndim > 0
    return isinstance(item, Sequence) and not isinstance(item, (str, bytes))


def _where(place):
    """Return the place of an item in nested lists as text, such as ``at [1][0]``."""
    if not place:
        return "given"
    shown = "".join(f"[{i}]" for i in place[-SHOWN:])
    return f"at {'...' if len(place) > SHOWN else ''}{shown}"
