"""An index that finds a column among the columns of a group of siblings: a bitmap with ranks, or buckets."""

import numpy as np

from xmlcore._kernels._jit import kernel

# How a group's columns are found, unless by a bitmap and buckets: see index_columns.
BITMAP = -1  # By a bitmap alone.
EVERY = -2  # The group has every column up to its last.
LOW = -3  # In a compact tree: by buckets, of which the columns have the same bits but for the lowest.
BLOCKS = -4  # In a compact tree: by a bitmap in blocks of four words, the first of which is a rank.
LOW_BITS = 16  # So many.
BLOCK = 3 * 32  # Columns of such a block.
COUNTED = 128  # Columns of a compact group, after which the index says how many pairs came before.
BITMAP_WORDS = 3  # Most words of an index that is a bitmap alone, for each column of the group; four bytes each.


@kernel
def index_layout(column_ptr, columns):
    """Choose how each group's columns are found, and how long its part of the index is: see :func:`index_columns`."""
    n_groups = column_ptr.size - 1
    index_shift = np.zeros(n_groups, np.int32)
    index_at = np.zeros(n_groups + 1, np.int64)
    for g in range(n_groups):
        count = column_ptr[g + 1] - column_ptr[g]
        if count > 0:
            last = np.int64(columns[column_ptr[g + 1] - 1])
            if last == count - 1:
                index_shift[g] = EVERY
            elif 2 * (last // 32 + 1) <= BITMAP_WORDS * count:
                index_shift[g] = BITMAP
                index_at[g + 1] = 2 * (last // 32 + 2)
            else:
                rest = last - 32 * count
                while rest >> index_shift[g] >= count:
                    index_shift[g] += 1
                index_at[g + 1] = 2 * count + (rest >> index_shift[g]) + 3
        else:
            index_shift[g] = EVERY
        index_at[g + 1] += index_at[g]
    return index_shift, index_at


@kernel
def index_columns(column_ptr, columns, index_shift, index_at, index):
    """Write where a group's columns are found: by a bitmap with ranks where they are dense, else in buckets."""
    # ``index_shift[g]`` is EVERY where a group has all columns up to its last, which takes no index; BITMAP; or the
    # shift of its buckets. Let ``part = index[index_at[g]:index_at[g + 1]]``. Bitmap: bit b of ``part[2 * w]`` says
    # whether column 32 w + b is there, ``part[2 * w + 1]`` how many come before 32 w. With a shift the bitmap ends
    # after n words, at column h = 32 n, and the rarer features are in ``start = part[2 * n:]``, in at most n buckets:
    # that of column c is b = (c - h) >> shift and holds ``columns[column_ptr[g]:][start[b]:start[b + 1]]``. The last
    # word, or bucket, is empty: any larger column is looked for there.
    for g in range(index_shift.size):
        shift = index_shift[g]
        if shift == EVERY:
            continue
        part = index[index_at[g] : index_at[g + 1]]
        begin = column_ptr[g]
        at = begin
        end = column_ptr[g + 1]
        words = part.size // 2 if shift == BITMAP else end - begin
        for w in range(words):
            part[2 * w + 1] = at - begin
            bits = np.uint32(0)
            while at < end and columns[at] >> 5 == w:
                bits |= np.uint32(1) << np.uint32(columns[at] & 31)
                at += 1
            part[2 * w] = bits
        if shift != BITMAP:
            for b in range(part.size - 2 * words):
                while at < end and (columns[at] - 32 * words) >> shift < b:
                    at += 1
                part[2 * words + b] = at - begin
