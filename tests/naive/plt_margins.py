"""Margins of siblings: twins of xmlcore/_kernels/plt_margins.py."""

import math

import numpy as np


def group_weights(tree, g):
    """{column: {child: weight}} of a group, however it is stored."""
    size = int(tree.group_size[g])
    begin, end = int(tree.column_ptr[g]), int(tree.column_ptr[g + 1])
    found = {}
    for at, column in enumerate(tree.columns[begin:end].tolist()):
        if tree.dense_ptr[g + 1] > tree.dense_ptr[g]:
            width = size if size <= 4 else 16 * math.ceil(size / 16)
            row = tree.dense[tree.dense_ptr[g] + at * width :][:size]
            found[column] = {c: float(w) for c, w in enumerate(row) if w != 0}
        else:
            pointers = tree.entry_ptr[tree.entry_at[g] : tree.entry_at[g + 1]]
            pairs = range(int(tree.sparse_ptr[g] + pointers[at]), int(tree.sparse_ptr[g] + pointers[at + 1]))
            found[column] = {int(tree.entry_child[e]): float(tree.entry_value[e]) for e in pairs}
    return found


def dense_row_margins(tree, g, row):
    """Margins of a group's children for a dense row: float32, rounded after each product and sum, column by column."""
    first, size = int(tree.group_first[g]), int(tree.group_size[g])
    margins = tree.bias[first : first + size].copy()
    for column, pairs in group_weights(tree, g).items():
        for c, w in pairs.items():
            margins[c] += row[column] * np.float32(w)
    return margins
