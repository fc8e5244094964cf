"""Save a fitted PLT as values and arrays, and restore it after checks: kernels check nothing that they read."""

from types import SimpleNamespace

import numpy as np

from xmlcore._kernels.plt_tree import GROUP_LIMIT, TreeArrays, dtypes_of
from xmlcore.arrays import are_finite, are_pointers, are_rising_lists, read_only, rises
from xmlcore.models.plt import compacting
from xmlcore.models.plt.label_tree import LabelTree
from xmlcore.models.plt.training import with_index
from xmlcore.models.saving import ANY_BYTES, below, check_parts, check_types
from xmlcore.validation import INT32_MAX, check_count

NAMES = TreeArrays._fields[: TreeArrays._fields.index("scale")]
DTYPES = {name: dtypes_of(compact=False)[name] for name in NAMES}
SAVED = (*DTYPES, "root_group")  # Names of the arrays and the number that are saved of each tree.
LONG = ("columns", "bits", "dense", "entry_child", "entry_value")  # Most of the bytes of a compact tree; any will do.


def arrays_of(model) -> dict[str, np.ndarray]:
    """Return the arrays of a fitted PLT by name."""
    arrays = {"feature_of_column": model.feature_of_column_}
    for number, fitted in enumerate(model.fitted_):
        compact = compacting.DTYPES if compacting.is_compact(fitted) else ()
        for name in dict.fromkeys((*SAVED, *compact)):
            any_bytes = ANY_BYTES if compact and name in LONG else ""
            arrays[f"tree{number}.{name}{any_bytes}"] = np.asarray(getattr(fitted, name))
    return arrays


def trees_of(
    arrays: dict[str, np.ndarray], n_columns: int, n_labels: int, n_trees: int
) -> tuple[list[LabelTree], list[TreeArrays]]:
    """Check the arrays that :func:`arrays_of` returned, and return the label trees and their arrays."""
    for name, value in (("n_labels", n_labels), ("n_trees", n_trees)):
        check_count(value, name, most=INT32_MAX)
    trees, fitted = [], []
    for number in range(n_trees):
        of_tree = {name.removesuffix(ANY_BYTES): array for name, array in below(f"tree{number}.", arrays).items()}
        compact = "scale" in of_tree
        dtypes = DTYPES | (compacting.DTYPES if compact else {})
        check_types(of_tree, {name: (dtype, 1) for name, dtype in dtypes.items()})
        parts = {name: of_tree[name] for name in dtypes} | {"root_group": int(of_tree["root_group"])}
        trees.append(LabelTree(parts["parent"], parts["label"]))
        are_weights = compacting.are_compact_weights if compact else _are_weights
        _check_arrays(SimpleNamespace(**parts), n_columns, n_labels, are_weights)
        made = read_only(TreeArrays(**parts, depth=trees[-1].depth)) if compact else with_index(trees[-1], **parts)
        fitted.append(made)
    return trees, fitted


def _check_arrays(arrays, n_columns, n_labels, are_weights):
    """Raise ModelFormatError unless the arrays fit their tree and every index is in range; kernels check nothing."""
    check_parts(
        {
            "the labels": lambda: np.count_nonzero(arrays.label >= 0) == n_labels,
            "the biases": lambda: arrays.bias.size == arrays.label.size and not np.isnan(arrays.bias).any(),
            "the groups of siblings": lambda: _is_partition(arrays),
            "the weights": lambda: are_weights(arrays, n_columns),
        }
    )


def _is_partition(arrays):
    """Return whether every node but the root is in exactly one group of siblings of the same parent."""
    n, groups = arrays.label.size, arrays.group_first.size
    root = arrays.root_group
    if (
        root not in (-1, 0)
        or arrays.group_size.size != groups
        or not are_pointers(arrays.group_ptr, n, groups, root + 1)
    ):
        return False
    sizes = arrays.group_size.astype(np.int64)
    if not ((sizes > 0).all() and (sizes <= GROUP_LIMIT).all() and (sizes[: root + 1] == 1).all()):
        return False
    of_nodes = sizes[root + 1 :]  # without the group of the root, if it has one
    firsts = np.concatenate([np.zeros(root + 1), 1 + np.cumsum(of_nodes) - of_nodes])
    owners = np.repeat(np.arange(n), np.diff(arrays.group_ptr))
    return np.array_equal(arrays.group_first, firsts) and np.array_equal(np.repeat(owners, of_nodes), arrays.parent[1:])


def _are_weights(arrays, n_columns):
    """Return whether every group is stored either densely or as pairs, and all its pointers are in range."""
    groups = arrays.group_first.size
    if not (
        are_pointers(arrays.column_ptr, groups, arrays.columns.size)
        and are_pointers(arrays.dense_ptr, groups, arrays.dense.size)
        and are_pointers(arrays.sparse_ptr, groups, arrays.entry_value.size)
        and are_pointers(arrays.entry_at, groups, arrays.entry_ptr.size)
        and arrays.entry_child.size == arrays.entry_value.size
    ):
        return False
    n_columns_of = np.diff(arrays.column_ptr)
    if not are_rising_lists(arrays.column_ptr, arrays.columns, n_columns):
        return False
    pairs, pointers = np.diff(arrays.sparse_ptr), np.diff(arrays.entry_at)
    is_sparse = pointers > 0
    if not (
        np.array_equal(pointers[is_sparse], n_columns_of[is_sparse] + 1)
        and not pairs[~is_sparse].any()
        and np.array_equal(
            np.diff(arrays.dense_ptr), np.where(is_sparse, 0, n_columns_of * compacting.widths_of(arrays.group_size))
        )
    ):
        return False
    # Within a sparse group the pointers rise from 0 to the number of its pairs.
    starts, ends = arrays.entry_at[:-1][is_sparse], arrays.entry_at[1:][is_sparse]
    largest = np.maximum.reduceat(arrays.entry_child, arrays.sparse_ptr[:-1][pairs > 0]) if pairs.any() else 0
    return (
        not arrays.entry_ptr[starts].any()
        and np.array_equal(arrays.entry_ptr[ends - 1], pairs[is_sparse])
        and rises(arrays.entry_ptr, 0, starts)
        and bool((largest < arrays.group_size[pairs > 0]).all())
        and are_finite(arrays.entry_value)
        and are_finite(arrays.dense)
    )
