"""Nearest rows: the training rows with the largest products with a row, exactly, without a pass over all values.

Values of rare columns are stored by column, so that only rows that share one are met. Those of frequent columns, the
first ``head`` ones, are stored by row: by the Cauchy-Schwarz inequality they add at most the length of the row there
times that of the training row, its ``reach``, and are read only for rows that can still be among the nearest.
"""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.k_best import keep, sort_best_first

UNIT = 32767  # the stored value of 1
ROUNDING = 1e-4  # more than sums in float32 are wrong by, relative to lengths


class StoredRows(NamedTuple):
    """Training rows of length 1, with values times UNIT in int16."""

    head: int  # the number of frequent columns
    ptr: np.ndarray  # int64 (columns - head + 1,): where each rare column begins
    rows: np.ndarray  # int32
    values: np.ndarray
    head_ptr: np.ndarray  # int64 (n + 1,): where the frequent columns of each row begin
    head_columns: np.ndarray  # int32, ascending in each row
    head_values: np.ndarray
    reach: np.ndarray  # float32 (n,): the lengths of rows in the frequent columns
    order: np.ndarray  # int32 (n,): rows by falling reach


@inlined
def complete(stored, i, partial, of_head):
    """Return the product with training row i: ``partial`` has those of rare columns."""
    product = partial[i]
    for e in range(stored.head_ptr[i], stored.head_ptr[i + 1]):
        product += of_head[stored.head_columns[e]] * np.float32(stored.head_values[e])
    return np.float64(product)


@inlined
def keep_above_0(nearest, products, size, product, i):
    return keep(products, nearest, size, product, i) if product > 0 else size


@inlined
def add_columns(x, r, stored, partial, is_met, met, of_head):
    """Add the products of rare columns of row r; return how many rows were met, and squares: of the head, of all."""
    ptr, columns, values = x
    rare_ptr, rare_rows, rare_values, head = stored.ptr, stored.rows, stored.values, stored.head
    count, square, total = 0, 0.0, 0.0
    for t in range(ptr[r], ptr[r + 1]):
        c, value = columns[t], values[t]
        total += np.float64(value) ** 2
        if c < head:
            of_head[c] = value
            square += np.float64(value) ** 2
            continue
        for e in range(rare_ptr[c - head], rare_ptr[c - head + 1]):
            i = rare_rows[e]
            if not is_met[i]:
                is_met[i] = True
                met[count] = i
                count += 1
            partial[i] += value * np.float32(rare_values[e])
    return count, square, total


@inlined
def forget(x, r, partial, is_met, met, count, of_head):
    ptr, columns, _ = x
    for m in range(count):
        is_met[met[m]] = False
        partial[met[m]] = 0.0
    for t in range(ptr[r], ptr[r + 1]):
        if columns[t] < of_head.size:
            of_head[columns[t]] = 0.0


@kernel
def nearest_rows(x, stored, found, products):
    """Write the rows of the largest products above 0, best first, then -1; of equal ones the first rows.

    ``x`` are rows as pointers, columns and float32 values, divided by UNIT; ``found`` is int32 and ``products``
    float64, both (n, k).
    """
    reach, order = stored.reach, stored.order
    n, k = reach.size, found.shape[1]
    partial, is_met, met = np.zeros(n, np.float32), np.zeros(n, np.bool_), np.empty(n, np.int32)
    of_head, best, first = np.zeros(stored.head, np.float32), np.empty(k), np.empty(k, np.int32)
    for r in range(x[0].size - 1):
        nearest, product = found[r], products[r]
        count, square, total = add_columns(x, r, stored, partial, is_met, met, of_head)
        # No row can be among the nearest whose product falls short of the least of those that rare columns favour.
        kept, size = 0, 0
        for m in range(count):
            kept = keep(best, first, kept, np.float64(partial[met[m]]), met[m])
        for m in range(kept):
            size = keep_above_0(nearest, product, size, complete(stored, first[m], partial, of_head), first[m])
            partial[first[m]] = -np.inf
        add, error = np.float32(math.sqrt(square)), np.float32(ROUNDING * UNIT * math.sqrt(total))
        for m in range(count):
            i = met[m]
            if partial[i] + add * reach[i] + error >= (product[0] if size == k else 0.0):
                size = keep_above_0(nearest, product, size, complete(stored, i, partial, of_head), i)
        for m in range(n):  # rows that share no rare column
            i = order[m]
            if add * reach[i] + error < (product[0] if size == k else 0.0):
                break
            if not is_met[i]:
                size = keep_above_0(nearest, product, size, complete(stored, i, partial, of_head), i)
        sort_best_first(product, nearest, size)
        nearest[size:] = -1
        product[size:] = 0.0
        forget(x, r, partial, is_met, met, count, of_head)
