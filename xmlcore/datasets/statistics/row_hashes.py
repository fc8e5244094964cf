"""Hashes of the rows of sparse matrices, by which equal rows are found."""

import numpy as np
import scipy.sparse as sp

BLOCK = 4_000_000  # most stored values hashed at once, unless a row has more
_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_STEP = np.uint64(0x9E3779B97F4A7C15)


def row_hashes(matrix: sp.csr_array) -> np.ndarray:
    """Return a 64-bit hash of each row of a matrix: equal rows have equal hashes, also in different matrices."""
    # A hash is the sum, modulo 2**64, of a scrambled number for each stored value and its column. Two different rows of
    # a million have the same hash with a probability below 1e-7.
    ends = matrix.indptr.astype(np.int64)
    result = np.empty(matrix.shape[0], np.uint64)
    start = 0
    while start < result.size:
        stop = max(int(np.searchsorted(ends, ends[start] + BLOCK, side="right")) - 1, start + 1)
        part = slice(ends[start], ends[stop])
        value = (matrix.data[part].astype(np.float32) + np.float32(0)).view(np.uint32).astype(np.uint64)
        hashes = _scramble((matrix.indices[part].astype(np.uint64) << np.uint64(32) | value) + _STEP)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes, dtype=np.uint64)])
        places = ends[start : stop + 1] - ends[start]
        result[start:stop] = sums[places[1:]] - sums[places[:-1]]
        start = stop
    return result


def _scramble(z):
    """Return the output function of SplitMix64 (Steele, Lea and Flood, 2014) of each number."""
    z = (z ^ (z >> np.uint64(30))) * _MULTIPLIERS[0]
    z = (z ^ (z >> np.uint64(27))) * _MULTIPLIERS[1]
    return z ^ (z >> np.uint64(31))
