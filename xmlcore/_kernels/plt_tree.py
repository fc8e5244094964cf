"""A fitted label tree as flat arrays.

Nodes are numbered level by level: the children of a node have consecutive ids, and every parent comes before its
children; node 0 is the root. The classifiers of siblings are stored in groups of at most 256 consecutive siblings. The
columns in which group g has a weight are ``columns[column_ptr[g]:column_ptr[g + 1]]``, ascending. A group that has many
of its possible weights stores a weight of every child for each of its columns (``dense``). Any other group stores only
the weights that it has, as pairs (child, value).

A *compact* tree has the second type where two are named. Its weights are whole numbers times the scale of their group.
A group's columns are stored as a bitmap or by their lowest bits, whichever takes less, or not at all if these are all
up to the last.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xmlcore._kernels._jit import inlined
from xmlcore._kernels.lanes import LANES

GROUP_LIMIT = 256  # Most siblings in a group: a child's place in its group is stored as uint8.
NARROW = 4  # Most children of a group whose weights are stored without padding to sixteen.


class TreeArrays(NamedTuple):
    """The arrays of a tree with n nodes, g groups, and F pairs of a group and a column."""

    parent: npt.NDArray[np.int32]  # (n,): -1 for the root
    label: npt.NDArray[np.int32]  # (n,): -1 for inner nodes
    bias: npt.NDArray[np.float32]  # (n,): infinite for a factor that is always 0 or 1
    group_ptr: npt.NDArray[np.int64]  # (n + 1,): the groups of each node's children
    group_first: npt.NDArray[np.int32]  # (g,): the first child
    group_size: npt.NDArray[np.int32]  # (g,)
    column_ptr: npt.NDArray[np.int64]  # (g + 1,)
    columns: npt.NDArray[np.int32 | np.uint16]  # (F,): if compact the lowest bits
    dense_ptr: npt.NDArray[np.int64]  # (g + 1,): where each group's part of ``dense`` starts
    dense: npt.NDArray[np.float32 | np.int8]  # padded_size(size) weights for each column of a group
    sparse_ptr: npt.NDArray[np.int64]  # (g + 1,): where each group's pairs start
    entry_at: npt.NDArray[np.int64]  # (g + 1,): where each group's part of ``entry_ptr`` starts
    # Where each column's pairs start and end, counted from sparse_ptr[g]; if compact, from what the index says.
    entry_ptr: npt.NDArray[np.uint32 | np.uint16]
    entry_child: npt.NDArray[np.uint8]  # (pairs,): the child's place in its group
    entry_value: npt.NDArray[np.float32 | np.int8]  # (pairs,): its weight
    scale: npt.NDArray[np.float32]  # (g,): of a group's weights, a power of 2; 1 unless they are whole numbers
    # Only of a compact tree: where each group's part of ``columns`` and of ``bits`` starts. See plt_index.
    low_ptr: npt.NDArray[np.int64]  # (g + 1,)
    bits_ptr: npt.NDArray[np.int64]  # (g + 1,)
    bits: npt.NDArray[np.uint32]
    # Where to find a column among a group's columns: see plt_index.index_columns.
    index_shift: npt.NDArray[np.int32]  # (g,)
    index_at: npt.NDArray[np.int64]  # (g + 1,)
    index: npt.NDArray[np.uint32]
    depth: npt.NDArray[np.int32]  # (n,): never falls, so that the last is the largest
    root_group: int  # The group of the root's own classifier; -1 when the root's factor is 1.


def dtypes_of(compact):
    """Return the type of the numbers in each array of a tree by name, in the order of the fields."""
    kinds = {name: kind.__args__[1].__args__[0] for name, kind in TreeArrays.__annotations__.items() if kind is not int}
    return {name: getattr(kind, "__args__", (kind, kind))[compact] for name, kind in kinds.items()}


@inlined
def padded_size(n):
    """Return the places that one column's weights take in a group of n siblings that is stored densely."""
    return n if n <= NARROW else (n + LANES - 1) // LANES * LANES
