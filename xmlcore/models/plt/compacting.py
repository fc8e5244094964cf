"""Compact trees: weights of a byte, and less than half of the bytes that say which they are; kernels read them so.

A group's weights are whole numbers times a power of 2, so a compact tree predicts as a tree of these float32 weights.
``xmlcore._kernels.plt_tree`` describes its arrays, ``plt_index`` the index.
"""

import numpy as np

from xmlcore._kernels.lanes import LANES
from xmlcore._kernels.plt_index import BLOCK, BLOCKS, COUNTED, EVERY, LOW, LOW_BITS
from xmlcore._kernels.plt_tree import NARROW, TreeArrays, dtypes_of
from xmlcore.arrays import are_pointers, pointers, read_only, rises
from xmlcore.models.compacting import scales

# The arrays of a compact tree that differ from those of another one, or are not computed from the others.
OWN = "columns dense entry_ptr entry_value scale index_shift index_at index low_ptr bits_ptr bits"
DTYPES = {name: dtypes_of(compact=True)[name] for name in OWN.split()}
PREFERRED = 1.5  # A bitmap of columns may take so many times the bytes of their lowest bits: it is read faster.


def is_compact(tree: TreeArrays) -> bool:
    return tree.dense.dtype == np.int8


def widths_of(sizes: np.ndarray) -> np.ndarray:
    """Return how many weights of a column are stored in dense groups of some sizes."""
    return np.where(sizes <= NARROW, sizes, -(-sizes // LANES) * LANES)


def _whole_numbers(weights: np.ndarray, bits: int) -> tuple[np.ndarray, np.float32]:
    scale = scales(np.abs(weights).max(initial=0.0), bits)
    return np.rint(weights / scale).astype(np.int8), scale


def compact_tree(tree: TreeArrays, bits: int) -> TreeArrays:
    """Return a tree with weights of some bits, at most 8; those that are rounded to 0 are left out."""
    tree = as_floats(tree)
    n_groups = tree.group_size.size
    columns, dense, after, child, value = ([np.empty(0, np.int64)] * n_groups for _ in range(5))
    scale = np.ones(n_groups, np.float32)
    for g in range(n_groups):
        found, pairs = (slice(*ptr[g : g + 2]) for ptr in (tree.column_ptr, tree.sparse_ptr))
        if tree.dense_ptr[g + 1] > tree.dense_ptr[g]:
            whole, scale[g] = _whole_numbers(tree.dense[slice(*tree.dense_ptr[g : g + 2])], bits)
            whole = whole.reshape(found.stop - found.start, -1)
            kept = whole.any(axis=1)
            dense[g] = whole[kept].ravel()
        else:
            whole, scale[g] = _whole_numbers(tree.entry_value[pairs], bits)
            sizes = np.diff(tree.entry_ptr[slice(*tree.entry_at[g : g + 2])].astype(np.int64))
            place = np.repeat(np.arange(sizes.size), sizes)[whole != 0]
            sizes = np.bincount(place, minlength=found.stop - found.start)
            kept = sizes > 0
            after[g], child[g], value[g] = pointers(sizes[kept]), tree.entry_child[pairs][whole != 0], whole[whole != 0]
        columns[g] = tree.columns[found][kept]
    shifts, lowest, bits, index = zip(*map(_places, columns, after))
    arrays = {
        "columns": np.concatenate(lowest).astype(np.uint16),
        "bits": np.concatenate(bits).astype(np.uint32),
        "dense": np.concatenate(dense).astype(np.int8),
        "entry_ptr": np.concatenate([p - p[np.arange(p.size) // COUNTED * COUNTED] for p in after]).astype(np.uint16),
        "entry_child": np.concatenate(child).astype(np.uint8),
        "entry_value": np.concatenate(value).astype(np.int8),
        "index": np.concatenate(index).astype(np.uint32),
    }
    of_groups = {"column_ptr": columns, "dense_ptr": dense, "sparse_ptr": value, "entry_at": after, "index_at": index}
    of_groups |= {"low_ptr": lowest, "bits_ptr": bits}
    arrays |= {name: pointers(part.size for part in parts) for name, parts in of_groups.items()}
    return read_only(tree._replace(**arrays, scale=scale, index_shift=np.array(shifts, np.int32)))


def _places(columns, after) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Return how a group's columns are found, their lowest bits, their bitmap, and the group's part of the index."""
    none = np.empty(0, np.int64)
    pairs = after[::COUNTED]
    if not columns.size or columns[-1] == columns.size - 1:
        return EVERY, none, none, pairs
    n_blocks, n_buckets = int(columns[-1]) // BLOCK + 1, (int(columns[-1]) >> LOW_BITS) + 1
    if 16 * n_blocks <= PREFERRED * (2 * columns.size + 4 * n_buckets):
        words = np.zeros((n_blocks, 4), np.int64)
        block, bit = np.divmod(columns, BLOCK)
        np.bitwise_or.at(words, (block, 1 + bit // 32), 1 << (bit.astype(np.int64) % 32))
        words[:, 0] = np.searchsorted(columns, np.arange(n_blocks) * BLOCK)
        return BLOCKS, none, words.ravel(), pairs
    bounds = np.arange(n_buckets + 1, dtype=np.int64) << LOW_BITS
    buckets = np.append(np.searchsorted(columns, bounds), columns.size)
    return LOW, columns & ((1 << LOW_BITS) - 1), none, np.concatenate([pairs, buckets])


def as_floats(tree: TreeArrays) -> TreeArrays:
    """Return a compact tree with the columns, pointers and weights of another one, but without an index."""
    if not is_compact(tree):
        return tree
    columns, entry_ptr = np.empty(tree.column_ptr[-1], np.int32), []
    for g in range(tree.group_size.size):
        begin, end = tree.column_ptr[g : g + 2]
        after = tree.entry_ptr[slice(*tree.entry_at[g : g + 2])]
        entry_ptr.append(after + tree.index[tree.index_at[g] + np.arange(after.size) // COUNTED])
        if tree.index_shift[g] == EVERY:
            columns[begin:end] = np.arange(end - begin)
        elif tree.index_shift[g] == BLOCKS:
            words = np.ascontiguousarray(tree.bits[slice(*tree.bits_ptr[g : g + 2])].reshape(-1, 4)[:, 1:], "<u4")
            columns[begin:end] = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
        else:
            skipped = (end - begin) // COUNTED + 1 if tree.dense_ptr[g + 1] == tree.dense_ptr[g] else 0
            buckets = tree.index[tree.index_at[g] + skipped : tree.index_at[g + 1]].astype(np.int64)
            columns[begin:end] = np.repeat(np.arange(buckets.size - 1, dtype=np.int32) << LOW_BITS, np.diff(buckets))
            columns[begin:end] += tree.columns[slice(*tree.low_ptr[g : g + 2])]
    return tree._replace(
        columns=columns,
        entry_ptr=np.concatenate(entry_ptr).astype(np.uint32),
        entry_value=np.repeat(tree.scale, np.diff(tree.sparse_ptr)) * tree.entry_value,
        dense=np.repeat(tree.scale, np.diff(tree.dense_ptr)) * tree.dense,
        scale=np.ones_like(tree.scale),
    )


def are_compact_weights(tree, n_columns) -> bool:
    """Return whether the pointers of a compact tree are in range; what they lead to may be any bytes."""
    groups, shift = tree.group_size.size, tree.index_shift
    ends = (
        (tree.dense_ptr, tree.dense.size), (tree.sparse_ptr, tree.entry_value.size), (tree.low_ptr, tree.columns.size),
        (tree.entry_at, tree.entry_ptr.size), (tree.index_at, tree.index.size), (tree.bits_ptr, tree.bits.size),
        (tree.column_ptr, tree.column_ptr[-1]),
    )  # fmt: skip
    if not (
        all(are_pointers(ptr, groups, size) for ptr, size in ends)
        and tree.entry_child.size == tree.entry_value.size
        and tree.scale.size == shift.size == groups
        and np.isfinite(tree.scale).all()
    ):
        return False
    n_columns_of, pairs, is_sparse = np.diff(tree.column_ptr), np.diff(tree.sparse_ptr), np.diff(tree.entry_at) > 0
    n_counts = np.where(is_sparse, n_columns_of // COUNTED + 1, 0)
    n_buckets = np.diff(tree.index_at) - n_counts - 2
    low, begin, end, n_bits = shift == LOW, tree.index_at[:-1] + n_counts, tree.index_at[1:], np.diff(tree.bits_ptr)
    if not (
        np.array_equal(np.diff(tree.dense_ptr), np.where(is_sparse, 0, n_columns_of * widths_of(tree.group_size)))
        and np.array_equal(np.diff(tree.entry_at), np.where(is_sparse, n_columns_of + 1, 0))
        and not pairs[~is_sparse].any()
        and np.isin(shift, (EVERY, LOW, BLOCKS)).all()
        and np.array_equal(np.diff(tree.low_ptr), np.where(low, n_columns_of, 0))
        and np.array_equal(n_bits > 0, shift == BLOCKS)
        and not (n_bits % 4).any()
        and (n_columns_of[n_bits > 0] > 0).all()
        and (n_buckets[low] > 0).all()
        and ((n_buckets[low] - 1) << LOW_BITS < n_columns).all()
        and (n_buckets[~low] == -2).all()
        and (n_columns_of[~low] <= n_columns).all()
        and rises(tree.index, 0, np.sort(np.concatenate([tree.index_at[:-1], begin])))
        and not tree.index[begin[low]].any()
        and all(np.array_equal(tree.index[end[low] - last], n_columns_of[low]) for last in (1, 2))
    ):
        return False
    # The pairs of a group's columns follow each other, also from one part to the next, whose begin is in the index.
    first = pointers(n_counts)
    place = np.arange(first[-1]) - np.repeat(first[:-1], n_counts)
    begins = tree.index[np.repeat(tree.index_at[:-1], n_counts) + place].astype(np.int64)
    starts = np.append(np.repeat(tree.entry_at[:-1], n_counts) + COUNTED * place, tree.entry_ptr.size)
    ends, is_last = np.append(begins[1:], 0), np.zeros(begins.size, np.bool_)
    is_last[first[1:][is_sparse] - 1] = True
    ends[is_last] = pairs[is_sparse]
    left = ends - begins - tree.entry_ptr[starts[1:] - 1]
    return (
        not begins[place == 0].any()
        and not tree.entry_ptr[starts[:-1]].any()
        and rises(tree.entry_ptr, 0, starts)
        and bool((left >= 0).all() and not left[is_last].any())
    )
