"""A fitted label tree as flat arrays."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined
from xmlcore._kernels.lanes import LANES

GROUP_LIMIT = 256  # children are stored as uint8 within their group
NARROW = 4  # groups of so few children are stored without padding


class TreeArrays(NamedTuple):
    """A fitted tree, flat. n nodes, g groups, F (group, column) pairs."""

    parent: np.ndarray  # int32 (n,), -1 for the root
    label: np.ndarray  # int32 (n,), -1 for inner nodes
    bias: np.ndarray  # float32 (n,), may be infinite: a factor that is always 0 or 1
    group_ptr: np.ndarray  # int64 (n + 1,), the groups of a node's children
    group_first: np.ndarray  # int32 (g,), first child
    group_size: np.ndarray  # int32 (g,)
    column_ptr: np.ndarray  # int64 (g + 1,)
    columns: np.ndarray  # int32 (F,)
    dense_ptr: np.ndarray  # int64 (g + 1,), the group's rows of row_width(size) values; empty for a sparse group
    dense: np.ndarray  # float32
    sparse_ptr: np.ndarray  # int64 (g + 1,), the group's pairs; empty for a dense group
    entry_at: np.ndarray  # int64 (g + 1,), the group's part of entry_ptr: one more than its columns, or nothing
    entry_ptr: np.ndarray  # uint32, where each column's pairs start, counted from sparse_ptr[g]
    entry_child: np.ndarray  # uint8 (pairs,)
    entry_value: np.ndarray  # float32 (pairs,)
    # Where to find a column, see index_columns.
    index_shift: np.ndarray  # int32 (g,)
    index_at: np.ndarray  # int64 (g + 1,)
    index: np.ndarray  # uint32
    depth: np.ndarray  # int32 (n,)
    root_group: int  # the group of the root's own factor, -1 when that is 1


@inlined
def row_width(n):
    """Places of one feature's weights in a group of n siblings that is stored densely."""
    return n if n <= NARROW else (n + LANES - 1) // LANES * LANES
