"""Arrays that models share: list pointers, features by frequency, products in blocks; rankings and texts as arrays."""

from itertools import chain, pairwise

import numpy as np
import scipy.sparse as sp

from xmlcore.validation import INT32_MAX, check_count, check_features, check_row, csr_parts

PART = 1 << 18  # values of which arrays of their size are made at a time
CHECKED = 1 << 16  # the same of a saved array that is checked
ONE_LIST = np.zeros(1, np.int64)  # where the lists begin in an array that is one list
BLOCK = 5_000_000  # most pairs of columns of a row that a block of a product is made of


def by_frequency(X):
    """Return the ids of the features that occur in the CSR matrix ``X``, most frequent first: int32."""
    if X.shape[1] <= 4 * X.nnz:
        counts = column_counts(X.indices, X.shape[1])
        order = np.argsort(-counts, kind="stable")
        return order[: np.count_nonzero(counts)].astype(np.int32)
    ids, counts = np.unique(X.indices, return_counts=True)
    return ids[np.argsort(-counts, kind="stable")].astype(np.int32)


def column_counts(indices, n_columns) -> np.ndarray:
    """Return how often each column occurs: int64."""
    step, counts = max(PART, n_columns), np.zeros(n_columns, np.int64)
    for start in range(0, indices.size, step):  # of which NumPy makes a copy in int64
        counts += np.bincount(indices[start : start + step], minlength=n_columns)
    return counts


def columns_of(feature_of_column, n_features):
    n = feature_of_column.size
    if n == 0:  # list one feature, without a column, so that feature_ids is not empty
        feature_ids, column_of = np.zeros(1, np.int32), np.full(1, -1, np.int32)
    elif n_features <= 8 * n + 1024:
        feature_ids, column_of = np.empty(0, np.int32), np.full(n_features, -1, np.int32)
        column_of[feature_of_column] = np.arange(n, dtype=np.int32)
    else:
        column_of = np.argsort(feature_of_column, kind="stable").astype(np.int32)
        feature_ids = feature_of_column[column_of]
    return read_only((feature_ids, column_of))


def read_only(value):
    """Mark an array, or all arrays in a tuple or a list, as read-only, and return what was given."""
    # A kernel is compiled once more for every new combination of read-only and writable arguments. Arrays that joblib
    # maps from a file are always read-only, so all arrays of fitted models are.
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, (tuple, list)):
        for member in value:
            read_only(member)
    return value


def bytes_of(arrays) -> int:
    """Return the size of arrays; fields of other types, such as numbers, count with theirs."""
    return int(sum(np.asarray(array).nbytes for array in arrays))


def in_columns(x, columns, block=None):
    """Replace the features of CSR rows by their columns; entries of features without a column are left out."""
    ptr, indices, data = x
    first, last = (0, ptr.size - 1) if block is None else block
    indices, data = indices[ptr[first] : ptr[last]], data[ptr[first] : ptr[last]]
    feature_ids, column_of = columns
    if feature_ids.size:
        at = np.minimum(np.searchsorted(feature_ids, indices), feature_ids.size - 1)
        entry_columns = np.where(feature_ids[at] == indices, column_of[at], np.int32(-1))
    else:
        entry_columns = column_of[indices]
    row_ptr, has_column = ptr[first : last + 1] - ptr[first], entry_columns >= 0
    if not has_column.all():
        row_ptr = np.concatenate([[0], np.cumsum(has_column)])[row_ptr]
        entry_columns, data = entry_columns[has_column], data[has_column]
    return row_ptr, entry_columns, np.ascontiguousarray(data)


def columns_of_blocks(X, widths) -> list:
    """Return the last columns of a matrix as blocks of some widths."""
    ends = X.shape[1] - sum(widths) + np.cumsum([0, *widths])
    return [X[:, first:end] for first, end in pairwise(ends.tolist())]


def unit_rows(X):
    """Return the rows of a CSR matrix scaled to length 1, in float64; rows of zeros stay."""
    return side_by_side([X.astype(np.float64)])


def are_blocks(X) -> bool:
    """Return whether X is a list of matrices with the same rows; in place of the first one there may be texts."""
    return isinstance(X, (list, tuple)) and any(len(getattr(block, "shape", ())) == 2 for block in X[:2])


def checked_blocks(blocks, widths=None, model: str = "the model", n_texts: int | None = None) -> list[sp.csr_array]:
    """Return a list of matrices as canonical CSR; ValueError if they do not fit together, or do not fit a model.

    ``widths`` are the columns of the blocks that the model was fitted to; the list may follow texts.
    """
    beside = "" if n_texts is None else " beside the texts"
    if widths is not None and len(blocks) != len(widths):
        fitted = f"{len(widths)}, of {' and '.join(map(str, widths))} columns" if widths else "none"
        found = f"the number of matrices{beside} in X is {len(blocks)}, but {model} was fitted to {fitted}"
        raise ValueError(f"{found}: give a list with as many, in the same order")
    checked, n_rows = [], n_texts
    for i, block in enumerate(blocks):
        name = f"X[{i + bool(beside)}]"
        X = check_features(block, name=name)
        if widths is not None and X.shape[1] != widths[i]:
            differ = f"{name} has {X.shape[1]:,} columns, but {model} was fitted to {widths[i]:,} there"
            raise ValueError(f"{differ}: give the matrices in the same order, with the same columns")
        n_rows = X.shape[0] if n_rows is None else n_rows
        if X.shape[0] != n_rows:
            rows = f"{n_rows:,} {'rows' if n_texts is None else 'texts'}"
            raise ValueError(f"{name} has {X.shape[0]:,} rows, but X[0] has {rows}: each matrix has a row for each")
        checked.append(X)
    return checked


def side_by_side(blocks: list[sp.csr_array]) -> sp.csr_array:
    """Return CSR matrices as one, after scaling their data: those of a row have the same length, together length 1."""
    row_of = [np.repeat(np.arange(block.shape[0]), np.diff(block.indptr)) for block in blocks]
    of_rows = zip(row_of, blocks)
    lengths = np.sqrt([np.bincount(row, b.data.astype(np.float64) ** 2, b.shape[0]) for row, b in of_rows])
    lengths *= np.sqrt(np.maximum(np.count_nonzero(lengths, axis=0), 1))
    lengths[lengths == 0] = 1.0
    for block, row, of_rows in zip(blocks, row_of, lengths):
        block.data /= of_rows[row]
    matrix = sp.csr_array(sp.hstack(blocks, format="csr")) if len(blocks) > 1 else blocks[0]
    matrix.has_canonical_format = True
    return matrix


def all_hold(check, values) -> bool:
    """Return whether a check of each value, such as np.isfinite, holds for all, without an array of their size."""
    return all(check(values[start : start + CHECKED]).all() for start in range(0, len(values), CHECKED))


def are_finite(values) -> bool:
    return all_hold(np.isfinite, values)


def rises(values, least: int = 0, starts=ONE_LIST) -> bool:
    """Return whether each value but those at ``starts``, which rise, exceeds the one before by at least ``least``."""
    for start in range(1, values.size, CHECKED):
        part = values[start - 1 : start + CHECKED].astype(np.int64)
        at = start + np.flatnonzero(np.diff(part) < least)
        if (starts[np.searchsorted(starts, at, side="right") - 1] != at).any():
            return False
    return True


def are_rising_lists(ptr, ids, count) -> bool:
    """Return whether each of the lists that ``ptr`` bounds has rising ids from 0 to ``count`` - 1."""
    return not ids.size or bool(ids.min() >= 0 and ids.max() < count and rises(ids, 1, ptr))


def are_pointers(ptr, count, last, first=0):
    """Return whether ``ptr`` holds the bounds of ``count`` lists that follow each other from ``first`` to ``last``."""
    return ptr.size == count + 1 and ptr[0] == first and ptr[-1] == last and rises(ptr)


def are_lists(ptr, n_lists, ids, count, *values) -> bool:
    """Return whether pointers divide ids below ``count``, and values of each, into lists in which ids rise."""
    fit = are_pointers(ptr, n_lists, ids.size) and all(one.size == ids.size for one in values)
    return fit and are_rising_lists(ptr, ids, count)


def sums_of_lists(ptr, values, dtype) -> np.ndarray:
    """Return the sum of each of the lists that ``ptr`` bounds, and of which none is empty."""
    sums = np.empty(ptr.size - 1, dtype)
    bounds = np.unique([*np.searchsorted(ptr, np.arange(0, ptr[-1], CHECKED)), sums.size])
    for a, b in zip(bounds[:-1], bounds[1:]):  # NumPy makes a copy of the other type
        sums[a:b] = np.add.reduceat(values[ptr[a] : ptr[b]], ptr[a:b] - ptr[a], dtype=dtype)
    return sums


def csr_of(ptr, ids, values, shape) -> sp.csr_array:
    """Return the matrix of the arrays of ``csr_parts``, which SciPy would copy where they are parts of larger ones."""
    matrix = sp.csr_array(shape, dtype=values.dtype)
    index_type = np.int32 if ptr[-1] <= INT32_MAX else np.int64
    matrix.indptr, matrix.indices = ptr.astype(index_type), ids.astype(index_type, copy=False)
    matrix.data = values
    return matrix


def placed(matrix, places, n_columns: int) -> sp.csr_array:
    """Return a matrix whose columns have other places, among so many; those with a place below 0 are left out."""
    kept = chosen(matrix, places[matrix.indices] >= 0)
    found = sp.csr_array((kept.data, places[kept.indices], kept.indptr), shape=(matrix.shape[0], n_columns))
    found.sum_duplicates()
    return found


def unsigned_parts(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what :func:`csr_parts` does, with the columns as uint32."""
    ptr, columns, values = csr_parts(matrix)
    return ptr, columns.view(np.uint32), values


def pointers(counts) -> np.ndarray:
    """Return where each of several lists begins and the last one ends: int64, shape (number of lists + 1,)."""
    counts = counts if isinstance(counts, np.ndarray) else np.fromiter(counts, np.int64)
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def largest_values(x, n: int = 5) -> list[tuple[int, float]]:
    """Return the features of one row that have the largest absolute values."""
    n, x = check_count(n, "n"), check_row(x)
    order = np.lexsort((x.indices, -np.abs(x.data)))[:n]
    return list(zip(x.indices[order].tolist(), x.data[order].astype(float).tolist()))


def products_in_blocks(left, right):
    """Yield ``left.T @ right`` of CSR matrices with the same rows as blocks of its lines, each with its first line."""
    columns, sizes = sp.csr_array(left.T), np.diff(right.indptr)
    work = np.cumsum(np.bincount(left.indices, np.repeat(sizes, np.diff(left.indptr)), left.shape[1]))
    start, done = 0, 0.0
    while start < left.shape[1]:
        stop = max(int(np.searchsorted(work, done + BLOCK, side="right")), start + 1)
        yield start, columns[start:stop] @ right
        start, done = stop, work[stop - 1]


def blocks_of(ptr, most_entries: int, most_rows: int = INT32_MAX) -> list[tuple[int, int]]:
    """Return blocks (first row, last row + 1) with a limit of stored values and rows, but at least one row."""
    blocks, start, n = [], 0, len(ptr) - 1
    while start < n:
        end = int(np.searchsorted(ptr, ptr[start] + most_entries, side="right")) - 1
        blocks.append((start, min(max(end, start + 1), n, start + most_rows)))
        start = blocks[-1][1]
    return blocks


def packed(texts) -> tuple[np.ndarray, np.ndarray]:
    """Return texts as the bytes of all of them in UTF-8, and the end of each."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def unpacked(content: np.ndarray, ends: np.ndarray) -> list[str]:
    """Return the texts that :func:`packed` packed."""
    fit = content.dtype == np.uint8 and ends.dtype == np.int64 and content.ndim == ends.ndim == 1
    if not fit or (ends.size and (ends[0] < 0 or (np.diff(ends) < 0).any())):
        raise ValueError("the arrays of texts do not fit together")
    total = int(ends[-1]) if ends.size else 0
    if total != content.size:
        raise ValueError(f"the texts should have {total} bytes, but have {content.size}")
    whole, stops = memoryview(content), memoryview(ends)  # without copies
    return [str(whole[a:b], "utf-8", "surrogatepass") for a, b in zip(chain([0], stops), stops)]


def entries(labels: np.ndarray, values: np.ndarray, n_labels: int) -> tuple[sp.csr_array, np.ndarray]:
    """Return a ranking as a matrix, csr_array of float64 (n, L), and the place of each entry in its row, from 0."""
    row, place = np.nonzero(labels >= 0)
    shape = (labels.shape[0], n_labels)
    ptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    order = sp.csr_array((np.arange(row.size), labels[row, place], ptr), shape=shape)
    order.sort_indices()
    found = values[row, place].astype(np.float64)[order.data]
    return sp.csr_array((found, order.indices, order.indptr), shape=shape), place[order.data]


def chosen(values: sp.csr_array, taken: np.ndarray) -> sp.csr_array:
    """Return the entries of a matrix that are marked."""
    ptr = np.concatenate([[0], np.cumsum(taken)])[values.indptr]
    return sp.csr_array((values.data[taken], values.indices[taken], ptr), shape=values.shape)
