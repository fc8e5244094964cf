"""Train the node classifiers of one label tree."""

import warnings
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.plt_index import index_columns, index_layout
from xmlcore._kernels.plt_training import DescentSettings, NodeRows, ScaledRows, node_rows, train_group
from xmlcore._kernels.plt_tree import TreeArrays
from xmlcore.arrays import by_frequency, pointers, read_only, unsigned_parts
from xmlcore.models.plt.building import CLUSTERING
from xmlcore.models.plt.journal import Journal, name_of
from xmlcore.models.plt.label_tree import LabelTree
from xmlcore.models.plt.scaling import Scaling, of_features, scaled_rows
from xmlcore.parallel import run_tasks
from xmlcore.progress import Progress, of_phases
from xmlcore.system import MUCH_FREE, return_free_memory
from xmlcore.validation import csr_parts

CHOOSING, NODES = "Choosing settings", "Training nodes of trees"
SHARES = {CHOOSING: 1.0, CLUSTERING: 0.2, NODES: 0.8}  # of the time of training one tree, roughly
GROUP_SIZE = 128  # Largest number of siblings that are trained, stored and searched together.


class RowsOfTree(NamedTuple):
    """Checked training rows in the form in which trees are trained; several trees can share them."""

    X: sp.csr_array  # float32 (N, columns), scaled
    Y: sp.csr_array  # bool (N, L)
    n_features: int  # D
    feature_of_column: np.ndarray  # See ``PLT.feature_of_column_``.
    scaling: Scaling | None  # None: to length 1
    weights: np.ndarray | None  # float64 (N,), above 0; None: all are 1
    boosts: np.ndarray | None  # float64 (L,): the ``label_weight`` of ``fit``; None: all are 1
    folder: Path | None  # of rows in files: what is trained is kept there, too

    @classmethod
    def of(cls, X, Y, normalize: str | None, weights=None, boosts=None, n_clean=None) -> "RowsOfTree":
        """Scale rows, in place, and number the features that occur; X and Y are canonical CSR."""
        n_features, feature_of_column = X.shape[1], by_frequency(X)
        scaled, scaling = scaled_rows(X, feature_of_column, normalize, weights, n_clean)
        return cls(scaled, Y, n_features, feature_of_column, scaling, weights, boosts, getattr(X, "folder", None))

    def for_kernels(self, leaf_of_label, parent) -> tuple[ScaledRows, NodeRows]:
        """Return the rows, and those of each node of a tree, as :func:`train_group` reads them."""
        weights = np.ones(self.X.shape[0]) if self.weights is None else self.weights
        under = node_rows(*csr_parts(self.Y)[:2], leaf_of_label, parent)
        if self.boosts is not None:
            boosts = np.ones(parent.size, np.float32)
            boosts[leaf_of_label] = self.boosts
            under = under._replace(boosts=boosts)
        return ScaledRows(*unsigned_parts(self.X), weights.astype(np.float32)), under


ALL = np.empty(0, np.int32)  # rows: each is visited


class Group(NamedTuple):
    """Consecutive siblings that are trained together."""

    number: int  # Position of the group in the tree, and number of the random stream of its training.
    parent: int  # The siblings' parent; -1 for the group that consists of the root.
    first: int  # Id of the first sibling.
    size: int  # Number of siblings.


class GroupResult(NamedTuple):
    """The results of the kernel ``train_group``, which describes them."""

    columns: np.ndarray
    ptr: np.ndarray
    child: np.ndarray
    value: np.ndarray
    bias: np.ndarray
    epochs: int
    violation: float


class KeptTree(NamedTuple):
    """What a tree that learns on keeps besides its classifiers."""

    under: NodeRows
    duals: list[np.ndarray]  # of each group, float16 (rows of its parent, siblings): dual variables divided by C


def own_rows(under: NodeRows, group: Group, n_rows: int) -> np.ndarray:
    """Return the rows that siblings are trained on: those of their parent."""
    if group.parent < 0:
        return np.arange(n_rows, dtype=np.int32)
    return under.rows[under.ptr[group.parent] : under.ptr[group.parent + 1]]


def trained(
    x, n_columns: int, scaling, own, under, first: int, size: int, settings, number: int, kept=None, fresh=ALL
) -> GroupResult:
    """Train the classifiers of ``size`` siblings from ``first`` on, on their own rows; see :func:`train_group`."""
    kept = np.empty((0, size), np.float32) if kept is None else kept
    found = GroupResult(*train_group(x, n_columns, own, under, first, size, settings, number, kept, fresh))
    if np.isnan(found.violation):
        raise FloatingPointError(f"training a classifier diverged with C={settings.C:g}: use a smaller C")
    return of_features(found, size, scaling)


def train_tree(
    rows: RowsOfTree, tree: LabelTree, settings: DescentSettings, n_jobs, progress: Progress, elsewhere=None, kept=None
) -> tuple[TreeArrays, np.ndarray]:
    """Train a tree; ``elsewhere`` is a function that has all groups trained, such as by a cluster.

    What a tree keeps to learn on is added to the list ``kept``, if it is one.
    """
    groups, results, depth = *_trained_groups(rows, tree, settings, n_jobs, progress, elsewhere, kept), tree.depth
    stats = [[depth[g.first], r.epochs, r.violation <= settings.tol] for g, r in zip(groups, results)]
    return _assemble(tree, groups, results), np.array(stats, dtype=np.int64)


def _trained_groups(rows, tree, settings, n_jobs, progress, elsewhere, kept) -> tuple[list[Group], list[GroupResult]]:
    """Train all classifiers of a tree; of rows in files, results are files, too, and those that are there stay."""
    x, under = rows.for_kernels(tree.leaf_of_label, tree.parent)
    groups = groups_of(tree, root_has_factor=under.ptr[1] < rows.X.shape[0])
    if elsewhere is not None and kept is None:
        return groups, elsewhere(rows, x, under, groups, settings, progress, tree=tree)
    sizes, n_rows, n_columns, duals = np.diff(under.ptr), *rows.X.shape, [np.empty(0)] * len(groups)

    def train(group):
        own = own_rows(under, group, n_rows)
        dual = None if kept is None else np.zeros((own.size, group.size), np.float32)
        found = trained(x, n_columns, rows.scaling, own, under, *group[2:], settings, group.number, dual)
        duals[group.number] = duals[group.number] if dual is None else as_kept(dual)
        return found

    costs = [(n_rows if g.parent < 0 else sizes[g.parent]) * (-(-g.size // 16) + 1) for g in groups]

    def run(work):
        return run_tasks(work, groups, costs, n_jobs, progress, NODES, "groups of siblings")

    if rows.folder is None or kept is not None:
        results = run(train)
        if kept is not None:
            kept.append(KeptTree(under, duals))
        return groups, results
    of = (*x, *under, *csr_parts(rows.Y)[:2], tree.leaf_of_label, tree.parent, *(rows.scaling or ()), settings)
    with closing(Journal(rows.folder / name_of(*of))) as journal:
        run(lambda group: group.number in journal or journal.write(group.number, train(group)))
        return groups, [GroupResult(*journal.read(group.number)) for group in groups]


def as_kept(dual: np.ndarray) -> np.ndarray:
    return np.minimum(dual, np.finfo(np.float16).max).astype(np.float16)


def with_index(tree: LabelTree, **arrays) -> TreeArrays:
    """Return a tree's arrays, read-only, after adding those that are computed from the others and are not saved."""
    shift, at = index_layout(arrays["column_ptr"], arrays["columns"])
    index = np.zeros(at[-1], np.uint32)  # NumPy, unlike Numba, allocates huge pages, which are read a fifth faster
    index_columns(arrays["column_ptr"], arrays["columns"], shift, at, index)
    others = uncompact(arrays["group_size"].size)
    return read_only(TreeArrays(**arrays, **others, index_shift=shift, index_at=at, index=index, depth=tree.depth))


def frame(tree: LabelTree, groups: list[Group], bias) -> dict[str, Any]:
    """Return what the arrays of a tree say of its nodes and groups."""
    parents, first, size = (np.array(part) for part in list(zip(*groups))[1:])
    return {
        "parent": tree.parent, "label": tree.label, "bias": bias, "root_group": 0 if parents[0] < 0 else -1,
        "group_ptr": np.searchsorted(parents, np.arange(tree.n_nodes + 1), side="left").astype(np.int64),
        "group_first": first.astype(np.int32), "group_size": size.astype(np.int32),
    }  # fmt: skip


def uncompact(n_groups: int) -> dict[str, np.ndarray]:
    """Return the arrays that a tree has for the sake of compact trees."""
    none = np.zeros(n_groups + 1, np.int64)
    return {"scale": np.ones(n_groups, np.float32), "low_ptr": none, "bits_ptr": none, "bits": np.empty(0, np.uint32)}


def count_weights(arrays: TreeArrays) -> int:
    return arrays.entry_value.size + int(np.count_nonzero(arrays.dense))


def groups_of(tree, root_has_factor) -> list[Group]:
    """Return the groups of siblings, ordered by parent; if the root has a factor, its group of one is the first."""
    groups = [Group(0, -1, 0, 1)] if root_has_factor else []
    first_child, n_children = tree.first_child, tree.n_children
    for v in np.flatnonzero(n_children):
        for start in range(0, n_children[v], GROUP_SIZE):
            size = min(GROUP_SIZE, n_children[v] - start)
            groups.append(Group(len(groups), int(v), int(first_child[v] + start), int(size)))
    return groups


def _assemble(tree, groups, results) -> TreeArrays:
    """Join the results of all groups to flat arrays; ``results`` is emptied on the way, to save memory."""
    return_free_memory(MUCH_FREE)
    parts = GroupResult(*map(list, zip(*results)))
    results.clear()
    bias = np.zeros(tree.n_nodes, np.float32)
    for g, values in zip(groups, parts.bias):
        bias[g.first : g.first + g.size] = values
    is_sparse = [ptr.size > 0 for ptr in parts.ptr]
    arrays = frame(tree, groups, bias) | dict(
        column_ptr=pointers(columns.size for columns in parts.columns),
        dense_ptr=pointers(0 if sparse else value.size for value, sparse in zip(parts.value, is_sparse)),
        sparse_ptr=pointers(child.size for child in parts.child),
        entry_at=pointers(ptr.size for ptr in parts.ptr),
    )
    sparse = [value for value, in_pairs in zip(parts.value, is_sparse) if in_pairs]
    dense = [value for value, in_pairs in zip(parts.value, is_sparse) if not in_pairs]
    parts.value.clear()
    arrays["entry_value"] = _join(sparse, np.float32)
    arrays["dense"] = _join(dense, np.float32)
    arrays["entry_child"] = _join(parts.child, np.uint8)
    arrays["entry_ptr"] = _join(parts.ptr, np.uint32)
    arrays["columns"] = _join(parts.columns, np.int32)
    return with_index(tree, **arrays)


def _join(arrays: list, dtype):
    """Join arrays; the list is emptied, and its memory given back, on the way."""
    end = sum(array.size for array in arrays)
    joined, kept = np.empty(end, dtype), 0
    while arrays:
        part = arrays.pop()
        joined[end - part.size : end] = part
        end -= part.size
        kept += part.nbytes
        if kept > MUCH_FREE:
            kept = 0
            del part
            return_free_memory(MUCH_FREE)
    return joined


def part_of_trees(progress: Progress, number: int, count: int) -> Progress:
    """Return a callback that reports the training of tree ``number`` as a part of the training of ``count`` trees."""
    if count == 1:
        return progress

    def report(phase, fraction, detail=""):
        """Pass on a report about the tree; its two phases become one."""
        text = f"tree {number + 1} of {count}: {phase[0].lower()}{phase[1:]}"
        progress("Training trees", (number + fraction) / count, f"{text}, {detail}" if detail else text)

    return of_phases(report, SHARES)


def warn_equal_trees(model, n_trees: int) -> None:
    """Warn when trees of a PLT would have the same shape; ``n_trees`` of them, which are not equal, are trained."""
    if model.n_estimators > n_trees:
        warnings.warn(
            f"{n_trees} {'tree is' if n_trees == 1 else 'trees are'} trained in place of "
            f"n_estimators={model.n_estimators}: the shape that was chosen has one level, so that others would be "
            "equal. To have more, give a smaller max_leaf_labels, such as 100",
            UserWarning,
            stacklevel=6,  # shows the line that called fit
        )
    elif n_trees > 1 and model.tree not in ("kmeans", "random"):
        which = "a LabelTree as tree" if isinstance(model.tree, LabelTree) else f"tree={model.tree!r:.200}"
        warnings.warn(
            f"{which} gives {n_trees} trees of one shape, which differ in nothing but the "
            "order in which rows are visited, or in the scaling of rows: one tree takes a part of the time and memory",
            UserWarning,
            stacklevel=6,  # shows the line that called fit
        )


def late_groups(stats: np.ndarray) -> tuple[str, str] | None:
    """Return how many groups of siblings stopped before their end, and at which depths; None if none did."""
    late = stats[stats[:, 2] == 0]
    depths = ", ".join(f"{n} at depth {d}" for d, n in zip(*np.unique(late[:, 0], return_counts=True)))
    return (f"{len(late)} of {len(stats)} sibling groups", f" ({depths})") if late.size else None
