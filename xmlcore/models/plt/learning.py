"""Learn on: train a label tree further with rows that come, go or get other labels, in a part of the time of a fit."""

import functools
import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore._kernels.plt_index import index_columns, index_layout
from xmlcore._kernels.plt_training import NodeRows, ScaledRows, node_rows
from xmlcore._kernels.plt_tree import TreeArrays
from xmlcore.arrays import (
    are_blocks,
    are_finite,
    are_pointers,
    are_rising_lists,
    bytes_of,
    csr_of,
    pointers,
    read_only,
    unsigned_parts,
)
from xmlcore.models.plt.label_tree import LabelTree, breadth_first, in_breadth_first_order
from xmlcore.models.plt.scaling import BY_COLUMN, UNIT, Scaling, scaled_rows, scalings_of
from xmlcore.models.plt.training import (
    ALL,
    GROUP_SIZE,
    NODES,
    KeptTree,
    as_kept,
    frame,
    groups_of,
    own_rows,
    part_of_trees,
    trained,
    uncompact,
)
from xmlcore.models.rows import CheckedRows, new_rows
from xmlcore.models.saving import check_parts, check_types
from xmlcore.parallel import run_tasks
from xmlcore.validation import as_array, check_count, check_features, check_labels, csr_parts

GROWTH = 1.2  # The model is fitted anew once it has so many times the rows, or the labels, of its last fit.
VOTES = 10  # A new label is put beside those of this many that the model predicts for its rows.
VISITS = 2  # of each row, at most on average, where dual variables are known. The next learning goes on with them.
MANY_MOVES = 1000  # of rows to nodes and away; so many are listed anew
FEW = 0.001  # share of rows; where fewer change, each row is visited once
CROWDED = 2  # A group of labels gets at most so many times as many as the largest one had.

_SAVED = {
    "X_ptr": (np.int64, 1), "X_features": (np.int32, 1), "X_values": (np.float32, 1), "Y_ptr": (np.int64, 1),
    "Y_labels": (np.int32, 1),
}  # fmt: skip


class IfLearnable:
    """A method that models have with ``learnable=True`` alone, as with scikit-learn's ``available_if``."""

    def __init__(self, method):
        functools.update_wrapper(self, method)
        self.method = method

    def __get__(self, model, owner=None):
        if model is not None and not model.learnable:
            raise AttributeError(f"{type(model).__name__} learns on with learnable=True alone")
        return self.method.__get__(model, owner)


class KeptRows(NamedTuple):
    """The training rows of a model that learns on."""

    X: sp.csr_array  # float32 (N, D)
    Y: sp.csr_array  # bool (N, L)
    scaled: dict[str | None, tuple[sp.csr_array, Scaling | None]]  # rows in columns, by a value of ``normalize``
    trees: list[KeptTree]
    first: tuple[int, int]  # rows and labels of the last fit

    def bytes(self) -> int:
        """Return what the rows take in memory."""
        matrices = self.X, self.Y, *(rows for rows, _ in self.scaled.values())
        parts = [array for matrix in matrices for array in (matrix.indptr, matrix.indices, matrix.data)]
        return bytes_of([*parts, *(array for tree in self.trees for array in (*tree.under[:2], *tree.duals))])


def rows_to_keep(model, X, sample_weight, label_weight) -> sp.csr_array | None:
    """Return a copy of the rows of a fit, which are scaled in place, if the model keeps them."""
    if not model.learnable:
        return None
    if sample_weight is not None or label_weight is not None:
        raise ValueError("a learnable model takes no weights: leave out sample_weight and label_weight")
    return X.copy()


def more_rows(model, X) -> sp.csr_array:
    """Return further rows, which may have more features, as canonical CSR."""
    if not hasattr(model, "rows_"):
        raise ValueError(
            "this model keeps no rows to learn on with: fit it with learnable=True; compact ones have none"
        )
    width = np.shape(X)[1] if len(np.shape(X)) == 2 else 0
    has_parts = are_blocks(X) or any(
        getattr(model, of, None) is not None for of in ("feature_names_in_", "block_widths_")
    )
    is_wider = width > model.n_features_in_ and not has_parts
    return check_features(X) if is_wider else new_rows(model, X)


def kept_rows(X, Y, rows: dict, trees: list[KeptTree]) -> KeptRows:
    """Return what a model keeps after a fit to rows, which ``rows`` has scaled."""
    return KeptRows(
        X, Y.copy(), {name: (of.X, of.scaling) for name, of in rows.items()}, trees, (X.shape[0], Y.shape[1])
    )


def saved_rows(kept: KeptRows) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return what is saved of kept rows: values that JSON can hold, and arrays by name."""
    values = {"first": list(kept.first), "scalings": list(kept.scaled), "shape": list(kept.X.shape)}
    arrays = dict(zip(_SAVED, (*csr_parts(kept.X), *csr_parts(kept.Y)[:2])))
    for i, (_, scaling) in enumerate(kept.scaled.values()):
        arrays |= {} if scaling is None else {f"centre{i}": scaling.centre, f"factor{i}": scaling.factor}
    return values, arrays | {
        f"duals{i}": np.concatenate([d.ravel() for d in tree.duals]) for i, tree in enumerate(kept.trees)
    }


def restored_rows(values, arrays, model) -> KeptRows:
    """Return the rows of which :func:`saved_rows` made values and arrays; raise ModelFormatError if they do not fit."""
    n_rows, columns, names = check_count(values["shape"][0], "rows"), model.feature_of_column_, values["scalings"]
    first, n_labels = values["first"], model.n_labels_
    check_types(arrays, _SAVED)
    x_ptr, features, numbers, y_ptr, labels = (arrays[name] for name in _SAVED)
    has_column = np.zeros(model.n_features_in_, bool)
    has_column[columns] = True

    def are_lists(ptr, ids, count):
        return are_pointers(ptr, n_rows, ids.size) and are_rising_lists(ptr, ids, count)

    check_parts({
        "the values of kept rows": lambda: are_lists(x_ptr, features, has_column.size)
        and numbers.size == features.size and are_finite(numbers) and has_column[features].all(),
        "the labels of kept rows": lambda: are_lists(y_ptr, labels, n_labels),
        "the scalings of kept rows": lambda: sorted(map(str, names))
        == sorted({*map(str, scalings_of(model.settings_["normalize"])[: len(model.trees_)])}),
        "the size of the last fit": lambda: 0 < first[0] <= n_rows and 0 < first[1] <= n_labels,
    })  # fmt: skip
    scaled_ones = [name for i, scaling in enumerate(names) if scaling != UNIT for name in (f"centre{i}", f"factor{i}")]
    check_types(arrays, {name: (np.float64, (max(1, columns.size),)) for name in scaled_ones})
    check_parts({"the scalings of kept rows": lambda: all(are_finite(arrays[name]) for name in scaled_ones)})
    X = csr_of(x_ptr, features, numbers, (n_rows, has_column.size))
    Y = csr_of(y_ptr, labels, np.ones(labels.size, bool), (n_rows, n_labels))
    rows, trees = {}, []
    for i, name in enumerate(names):
        scaling = None if name == UNIT else Scaling(arrays[f"centre{i}"], arrays[f"factor{i}"])
        rows[name] = scaled_rows(X.copy(), columns, name, scaling=scaling)[0], scaling
    for i, (tree, fitted) in enumerate(zip(model.trees_, model.fitted_)):
        under = _under(Y, tree)
        shapes = [(own_rows(under, g, n_rows).size, g.size) for g in groups_of(tree, fitted.root_group == 0)]
        ptr, name = pointers(math.prod(shape) for shape in shapes), f"duals{i}"
        check_types(arrays, {name: (np.float16, (ptr[-1],))})
        parts = np.split(arrays[name], ptr[1:-1])
        check_parts({name: lambda parts=parts: all(are_finite(d) and d.min(initial=0) >= 0 for d in parts)})
        trees.append(KeptTree(under, [part.reshape(shape) for part, shape in zip(parts, shapes)]))
    return KeptRows(X, Y, rows, trees, (*first,))


def learn(model, X, Y, at, progress) -> None:
    """Set the fitted attributes of a PLT after it has learnt rows, new ones or others in the places ``at``."""
    kept, Y = model.rows_, check_labels(Y, n_rows=X.shape[0])
    model._n_labels_of(Y)  # raises for a given tree with fewer labels
    n_labels, n_features = Y.shape[1], max(X.shape[1], kept.X.shape[1])
    at = None if at is None else _places(at, X.shape[0], kept.X.shape[0])
    if X.shape[0] == 0 and n_labels == model.n_labels_:
        return
    changed, moved = np.arange(kept.X.shape[0], kept.X.shape[0] + X.shape[0]), np.ones(X.shape[0], bool)
    if at is not None:  # moved: which have other features than before
        changed, before = np.sort(at), _with_rows(kept.X[np.sort(at)], X[:0], None, n_features)
        moved = np.diff((_with_rows(X[np.argsort(at)], X[:0], None, n_features) != before).indptr) > 0
    is_same = not moved.any() and n_features == kept.X.shape[1]
    all_X = kept.X if is_same else _with_rows(kept.X, X, at, n_features)
    all_Y = _with_rows(kept.Y, Y, at, n_labels)
    n_rows = all_X.shape[0]
    if n_rows >= GROWTH * kept.first[0] or n_labels >= GROWTH * kept.first[1]:
        model._fit(all_X, all_Y, progress)
        return
    columns, scaled = model.feature_of_column_, kept.scaled
    if not is_same:
        columns, more = _with_columns(model, kept, X)
        scaled = {
            name: (_with_rows(scaled[name][0], rows, at, rows.shape[1]), scaling)
            for name, (rows, scaling) in more.items()
        }
    votes = _votes(model, X, Y) if n_labels > model.n_labels_ else None
    names, made, entropy = scalings_of(model.settings_["normalize"]), [], model._entropy()
    for number in range(len(model.trees_)):
        seed = np.random.SeedSequence([entropy, number, n_rows, *changed[:1]]).generate_state(1, np.uint32)
        of_rows, report = scaled[names[number % len(names)]], part_of_trees(progress, number, len(model.trees_))
        made.append(
            _learnt_tree(
                model, number, *of_rows, kept.trees[number], all_Y, changed, moved, votes, int(seed[0]), report
            )
        )
    trees, fitted, kept_trees = map(list, zip(*made))
    model._set_fitted(trees, fitted, columns, n_features, n_labels, model.settings_)
    model.rows_ = KeptRows(all_X, all_Y, scaled, kept_trees, kept.first)


def _places(at, n_rows, n_kept) -> np.ndarray:
    """Return the places of rows that others replace, int32."""
    at = as_array(at, "at", "an array of row numbers")
    if at.shape != (n_rows,) or (n_rows and at.dtype.kind not in "iu"):
        raise ValueError(f"at must be {n_rows} row numbers, one for each row of X, not {at.dtype} of shape {at.shape}")
    wrong = np.flatnonzero((at < 0) | (at >= n_kept))
    if wrong.size:
        raise ValueError(f"at[{wrong[0]}] is {at[wrong[0]]}, but the model keeps {n_kept:,} rows, numbered from 0")
    if np.unique(at).size < at.size:
        raise ValueError("at has a row twice: give the last version of each row alone")
    return at.astype(np.int32)


def _with_rows(matrix, more, at, width) -> sp.csr_array:
    """Return a matrix with more rows, at its end or in the places of others."""
    wide = (sp.csr_array((m.data, m.indices, m.indptr), shape=(m.shape[0], width)) for m in (matrix, more))
    n, out = matrix.shape[0], sp.vstack([*wide], format="csr")
    if at is None:
        return out
    order = np.arange(n)
    order[at] = n + np.arange(at.size)
    return out[order]


def _with_columns(model, kept, X):
    """Return the features of columns with those that are new; and rows in columns, scaled, with their scaling."""
    columns = model.feature_of_column_
    is_new = np.zeros(X.shape[1], bool)
    is_new[X.indices] = True
    is_new[columns[columns < is_new.size]] = False
    new = np.flatnonzero(is_new)
    columns, scaled = np.concatenate([columns, new.astype(columns.dtype)]), {}
    for name, (_, scaling) in kept.scaled.items():
        if scaling is not None and new.size:  # as rare as can be; without a deviation, where columns have one
            most = 0.0 if name == BY_COLUMN else scaling.factor.max(initial=0.0) or 1.0
            scaling = Scaling(*(np.pad(part, (0, new.size), constant_values=c) for part, c in zip(scaling, (0, most))))
        scaled[name] = scaled_rows(X.copy(), columns, name, scaling=scaling)
    return columns, scaled


def _votes(model, X, Y) -> sp.csr_array:
    """Return how much the rows of new labels are like known ones: the sum of these labels' probabilities."""
    new = Y[:, model.n_labels_ :]
    rows = np.flatnonzero(np.diff(new.indptr))
    ranking = model.predict_topk(CheckedRows(X[rows, : model.n_features_in_]), k=min(VOTES, model.n_labels_))
    ptr = np.arange(rows.size + 1) * ranking.labels.shape[1]
    known = sp.csr_array((ranking.scores.ravel(), ranking.labels.ravel(), ptr), (rows.size, model.n_labels_))
    return sp.csr_array(new[rows].T.astype(np.float32) @ known)


def _with_labels(tree: LabelTree, votes: sp.csr_array) -> tuple[LabelTree, np.ndarray]:
    """Return a tree with a leaf for each new label, beside labels that its rows are like, and each old node's place."""
    of_label = tree.parent[tree.leaf_of_label]
    size = np.bincount(of_label, minlength=tree.n_nodes)
    most = max(2, CROWDED * size.max())
    parents = []
    for j in range(votes.shape[0]):
        part = slice(*votes.indptr[j : j + 2])
        weight = np.bincount(of_label[votes.indices[part]], votes.data[part], tree.n_nodes)
        weight[(size == 0) | (size >= most)] = -1.0
        parents.append(int(np.lexsort((size, -weight))[0]))  # the smallest one where nothing tells
        size[parents[-1]] += 1
    parent = np.concatenate([tree.parent, np.array(parents, np.int32)])
    label = np.concatenate([tree.label, tree.n_labels + np.arange(len(parents), dtype=np.int32)])
    order = breadth_first(parent)
    place = np.argsort(order)
    return in_breadth_first_order(parent, label), place[: tree.n_nodes]


def _learnt_tree(model, number, rows, scaling, kept: KeptTree, Y, changed, moved, votes, seed, progress):
    """Return a tree, its classifiers and what it keeps after it has learnt the rows that changed."""
    before, arrays, settings = model.trees_[number], model.fitted_[number], model._descent(model.settings_, seed)
    tree, place = (before, np.arange(before.n_nodes)) if votes is None else _with_labels(before, votes)
    n_now, n_columns = rows.shape
    old_node = np.full(tree.n_nodes, -1)
    old_node[place] = np.arange(before.n_nodes)
    gone, come, is_touched = _touched(tree, Y, before, model.rows_.Y, place, changed, moved)
    is_small = votes is None and gone.shape[1] + come.shape[1] < MANY_MOVES
    under = _moved(kept.under, gone, come) if is_small else _under(Y, tree)
    had_factor = arrays.root_group == 0
    groups = groups_of(tree, had_factor or under.ptr[1] < n_now)
    parents, first, sizes = (np.array([getattr(g, name) for g in groups]) for name in ("parent", "first", "size"))
    old_parent = np.where(parents < 0, 0, old_node[parents])
    old = arrays.group_ptr[old_parent] + (first - tree.first_child[parents]) // GROUP_SIZE
    old = np.where(old < arrays.group_ptr[old_parent + 1], old, -1)
    old[parents < 0] = 0 if had_factor else -1
    todo = np.flatnonzero(is_touched[parents] | (sizes != np.where(old < 0, 0, arrays.group_size[old])))
    if not todo.size:
        return before, arrays, kept
    is_changed = np.zeros(n_now, bool)
    is_changed[changed] = True
    x = ScaledRows(*unsigned_parts(rows), np.ones(n_now, np.float32))
    duals = [kept.duals[g] if g >= 0 else np.empty((0, 0), np.float16) for g in old]

    def are_in(rows, others):
        found = ~is_changed[rows]  # others stay where they are
        found[~found] = np.isin(rows[~found], others, True)
        return found

    def train(g):
        group, own = groups[g], own_rows(under, groups[g], n_now)
        was_own = own_rows(kept.under, group._replace(parent=min(group.parent, old_parent[g])), model.rows_.X.shape[0])
        dual, fresh, few = np.zeros((own.size, group.size), np.float32), ALL, settings
        if old[g] >= 0:
            stays = are_in(was_own, own)
            dual[are_in(own, was_own), : duals[g].shape[1]] = duals[g][stays]
            if duals[g].shape[1] == group.size:
                came = np.flatnonzero(is_changed[own]).astype(np.int32)
                visits = VISITS if came.size + np.count_nonzero(~stays) > FEW * own.size else 1
                few = settings._replace(max_epochs=min(visits, settings.max_epochs))
                fresh = came if stays.all() else ALL
        found = trained(x, n_columns, scaling, own, under, *group[2:], few, g, dual, fresh)
        duals[g] = as_kept(dual)
        return found

    costs = np.diff(under.ptr)[parents[todo]] * (-(-sizes[todo] // 16) + 1)
    found = run_tasks(train, todo, costs, model.n_jobs, progress, NODES, "groups of siblings")
    results = dict(zip(todo.tolist(), found))
    old[todo] = -1
    return tree, _spliced(tree, groups, arrays, old, place, results), KeptTree(under, duals)


def _under(Y, tree) -> NodeRows:
    return node_rows(*csr_parts(Y)[:2], tree.leaf_of_label, tree.parent)


def _touched(tree, Y, before, old_Y, place, rows, moved) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs of a node and a row that are no more, and new ones, each as columns; and which nodes are touched.

    These have children whose rows come or go, or have other features (``moved``); last, no node.
    """
    n = rows.size

    def pairs(labels, tree, number):
        """Return a number for each pair of a node and a row that is under it."""
        under = _under(labels, tree)
        return np.repeat(number, np.diff(under.ptr)) * n + under.rows

    new, old = pairs(Y[rows], tree, np.arange(tree.n_nodes)), pairs(old_Y[rows[rows < old_Y.shape[0]]], before, place)
    every, is_touched = np.concatenate([new, old]), np.zeros(tree.n_nodes + 1, bool)
    is_touched[every[moved[every % n]] // n] = True
    only = np.setdiff1d(old, new, True), np.setdiff1d(new, old, True)
    gone, come = (np.stack([numbers // n, rows[numbers % n]]) for numbers in only)
    is_touched[tree.parent[np.r_[gone[0], come[0]]]] = True
    is_touched[-1] |= moved.any()
    return gone, come, is_touched


def _moved(under: NodeRows, gone, come) -> NodeRows:
    """Return the rows of each node without some pairs of a node and a row, and with others."""

    def places(pairs):
        parts = ((under.ptr[node], under.rows[slice(*under.ptr[node : node + 2])], row) for node, row in pairs.T)
        return np.array([first + np.searchsorted(rows, row) for first, rows, row in parts], np.int64)

    at, into, n_nodes = places(gone), places(come), under.ptr.size - 1
    rows = np.delete(np.insert(under.rows, into, come[1]), at + np.searchsorted(into, at, "right"))
    lost, got = (np.bincount(pairs[0], minlength=n_nodes) for pairs in (gone, come))
    return NodeRows(pointers(np.diff(under.ptr) - lost + got), rows, under.boosts)


def _spliced(tree, groups, before, old, place, results) -> TreeArrays:
    """Return the arrays of a tree: of each group the ``old`` one's, or of its result where this is -1."""
    bias = np.empty(tree.n_nodes, np.float32)
    bias[0] = 0.0
    bias[place] = before.bias
    for g, found in results.items():
        bias[groups[g].first : groups[g].first + groups[g].size] = found.bias
    pieces = list(results.values())
    ptr, columns = pointers(piece.columns.size for piece in pieces), np.concatenate([p.columns for p in pieces])
    shift, at = index_layout(ptr, columns)
    index = np.zeros(at[-1], np.uint32)
    index_columns(ptr, columns, shift, at, index)
    shifts = before.index_shift[old]
    shifts[list(results)] = shift

    def joined(old_ptr, values, of_result):
        return _joined(old, old_ptr, values, dict(zip(results, of_result)))

    none = np.empty(0)
    column_ptr, columns = joined(before.column_ptr, before.columns, [p.columns for p in pieces])
    dense_ptr, dense = joined(before.dense_ptr, before.dense, [none if p.ptr.size else p.value for p in pieces])
    sparse_ptr, child = joined(before.sparse_ptr, before.entry_child, [p.child for p in pieces])
    _, value = joined(before.sparse_ptr, before.entry_value, [p.value if p.ptr.size else none for p in pieces])
    entry_at, entry_ptr = joined(before.entry_at, before.entry_ptr, [p.ptr for p in pieces])
    index_at, index = joined(before.index_at, before.index, [index[slice(*at[i : i + 2])] for i in range(len(pieces))])
    return read_only(
        TreeArrays(
            **frame(tree, groups, bias), **uncompact(len(groups)), column_ptr=column_ptr, columns=columns,
            dense_ptr=dense_ptr, dense=dense, sparse_ptr=sparse_ptr, entry_at=entry_at, entry_ptr=entry_ptr,
            entry_child=child, entry_value=value, index_shift=shifts, index_at=index_at, index=index, depth=tree.depth,
        )
    )  # fmt: skip


def _joined(old, old_ptr, values, results) -> tuple[np.ndarray, np.ndarray]:
    """Return where each group's part of an array begins, and the array: parts of ``values``, and of ``results``."""
    sizes = np.diff(old_ptr)[old]
    sizes[list(results)] = [part.size for part in results.values()]
    ptr = pointers(sizes)
    out = np.empty(ptr[-1], values.dtype)
    kept = np.flatnonzero(old >= 0)
    for run in filter(len, np.split(kept, np.flatnonzero((np.diff(kept) != 1) | (np.diff(old[kept]) != 1)) + 1)):
        out[ptr[run[0]] : ptr[run[-1] + 1]] = values[old_ptr[old[run[0]]] : old_ptr[old[run[-1]] + 1]]
    for g, part in results.items():
        out[ptr[g] : ptr[g + 1]] = part
    return ptr, out
