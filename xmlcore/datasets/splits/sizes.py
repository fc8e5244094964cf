"""How many rows the parts of a split have: what a user asks for, and a step that gives stratified parts these sizes."""

import numpy as np
import scipy.sparse as sp

from xmlcore.validation import check_count

_ROUNDS = 10  # in which rows are moved from one part to another; after each, the labels are counted anew


def count_test_rows(n_rows: int, test_size: float | int) -> int:
    n_rows = check_count(n_rows, "n_rows", 1)
    if isinstance(test_size, (int, np.integer)) and not isinstance(test_size, bool):
        n_test = check_count(test_size, "test_size", 1)
    else:
        try:
            share = float(test_size)
        except (TypeError, ValueError):
            raise TypeError(
                f"test_size must be a share between 0 and 1 or a number of rows, not {test_size!r:.200}"
            ) from None
        if isinstance(test_size, (bool, str)) or not 0 < share < 1:
            raise ValueError(f"test_size must be a share between 0 and 1 or a number of rows, not {test_size!r:.200}")
        n_test = round(n_rows * share)
    if not 0 < n_test < n_rows:
        raise ValueError(
            f"test_size={test_size} leaves {n_rows - n_test:,} of {n_rows:,} rows for training and {n_test:,} for "
            "the test: both need at least one"
        )
    return n_test


def whole_sizes(n_rows: int, shares) -> np.ndarray:
    """Return numbers of rows that sum to ``n_rows``, each less than 1 from its share of them."""
    exact = n_rows * np.asarray(shares, np.float64)
    sizes = np.floor(exact + 1e-9).astype(np.int64)
    sizes[np.argsort(sizes - exact, kind="stable")[: n_rows - sizes.sum()]] += 1  # the largest remainders
    return sizes


def move_to_sizes(Y, part, sizes, rng) -> np.ndarray:
    """Return parts of exactly these sizes, moving as few rows as possible: those whose labels suffer least."""
    part = part.copy()
    excess = np.bincount(part, minlength=sizes.size) - sizes
    if not excess.any():
        return part
    has = sp.csr_array(Y, dtype=np.float32)
    frequency = np.bincount(Y.indices, minlength=Y.shape[1])
    while excess.any():
        larger, smaller = int(np.argmax(excess)), int(np.argmin(excess))
        total = left = int(min(excess[larger], -excess[smaller]))
        for rounds_left in range(_ROUNDS, 0, -1):
            count = -(-left // rounds_left)
            if count == 0:
                break
            rows = np.flatnonzero(part == larger)
            cost = (has @ _costs(Y, part, larger, smaller, sizes, frequency))[rows] + 1e-6 * rng.random(rows.size)
            part[rows[np.argpartition(cost, count - 1)[:count]]] = smaller
            left -= count
        excess[larger] -= total
        excess[smaller] += total
    return part


def _costs(Y, part, larger, smaller, sizes, frequency):
    """Return for each label what it costs to move one of its rows: the change of two deviations, in shares of rows."""
    owner = np.repeat(part, np.diff(Y.indptr))
    cost = np.zeros(frequency.size, np.float32)
    for number, step in ((larger, -1), (smaller, 1)):
        ahead = np.bincount(Y.indices[owner == number], minlength=frequency.size) - frequency * (
            sizes[number] / sizes.sum()
        )
        cost += np.abs(ahead + step) - np.abs(ahead)
    return cost / np.maximum(frequency, 1)
