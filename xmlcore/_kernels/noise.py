"""Noise that belongs to a row and a feature: a function of (seed, row id, feature), whatever is computed beside it.

Normal numbers come in pairs (Box and Muller, 1958), one pair for the features 2 j and 2 j + 1 of a row, from one
SplitMix64 number: 40 of its bits give the length, 24 the angle. Logarithm, sine and cosine are polynomials, so that the
loop over a row becomes vector instructions and gives the same bits on every machine. The largest number that can come
out is 7.54; normal ones are larger once in 2e13.
"""

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.rng import GOLDEN, _scramble, stream, uniform

GAUSSIAN = np.uint64(0x6A09E667F3BCC909)  # tells this use of a seed from the next one, and both from other kernels'
WORDS = np.uint64(0xBB67AE8584CAA73B)
MOST_DRAWS = 64  # of a word for one place
# Features of a row have the random streams below this one, which says how many words it gets; the next are these.
INSERTIONS = 1 << 31

S24 = np.uint64(24)
ANGLE_BITS = np.uint64(0xFFFFFF)
QUARTER = np.int32(22)  # bits of the angle within a quarter turn
HALF_STEP = np.float32(0.5 - (1 << 21))  # from the middle of a quarter, and between two steps: never at an axis
STEP = np.float32(np.pi / 2.0**23)
ROOT_HALF = np.int64(np.float64(0.5**0.5).view(np.int64))
EXPONENT = np.int64(52)
F0 = np.float32(0.0)
F1 = np.float32(1.0)
F2 = np.float32(2.0)
HALF = np.float32(0.5)
LN_2 = np.float32(np.log(2.0))

# Least largest errors on the intervals that are needed, by iteratively reweighted least squares; about 1e-9 each.
# log(1 + x) = x - x^2 / 2 + x^3 (L0 + L1 x + ...), 1 + x from the root of 1/2 to that of 2
L0 = np.float32(0.333333283662796)
L1 = np.float32(-0.25001060962677)
L2 = np.float32(0.20001615583896637)
L3 = np.float32(-0.16616521775722504)
L4 = np.float32(0.14190010726451874)
L5 = np.float32(-0.13207900524139404)
L6 = np.float32(0.1285490095615387)
L7 = np.float32(-0.07631149142980576)
# sin x = x + x^3 (A0 + A1 x^2 + ...) and cos x = 1 - x^2 / 2 + x^4 (B0 + B1 x^2 + ...), |x| up to an eighth turn
A0 = np.float32(-0.16666650772094727)
A1 = np.float32(0.00833197869360447)
A2 = np.float32(-0.00019495634478516877)
B0 = np.float32(0.04166664555668831)
B1 = np.float32(-0.001388736767694354)
B2 = np.float32(2.443845005473122e-05)


@inlined
def normal_pair(row_state, j):
    """Two independent standard normal numbers (float32): those of the features 2 j and 2 j + 1 of a row."""
    bits = _scramble(row_state + np.uint64(j + 1) * GOLDEN)
    share = (np.float64(np.int64(bits >> S24)) + 0.5) * 2.0**-40  # in (0, 1); as int64, which is converted faster
    # share = (1 + x) * 2 ** e
    word = np.float64(share).view(np.int64)
    e = (word - ROOT_HALF) >> EXPONENT
    x = np.float32(np.int64(word - (e << EXPONENT)).view(np.float64) - 1.0)
    series = L0 + x * (L1 + x * (L2 + x * (L3 + x * (L4 + x * (L5 + x * (L6 + x * L7))))))
    log = x + x * x * (x * series - HALF) + np.float32(e) * LN_2
    length = np.sqrt(F0 - F2 * log)
    turn = np.int32(bits & ANGLE_BITS)
    quarter = turn >> QUARTER
    t = (np.float32(turn - (quarter << QUARTER)) + HALF_STEP) * STEP
    tt = t * t
    sine = t + t * tt * (A0 + tt * (A1 + tt * A2))
    cosine = F1 + tt * (tt * (B0 + tt * (B1 + tt * B2)) - HALF)
    odd = quarter & 1
    first = length * (sine if odd else cosine)
    second = length * (cosine if odd else sine)
    return (-first if (quarter + 1) & 2 else first), (-second if quarter & 2 else second)


@kernel
def add_to_all(indptr, indices, data, first, last, n_features, ids, seed, sigma, out_indices, out):
    """Rows ``first`` to ``last`` with noise on every feature, present or not.

    Parameters
    ----------
    indptr, indices, data : CSR of X
    n_features : int
    ids : int64 (n,)
        Of all rows of X: they choose the noise.
    seed : uint64
    sigma : float32
        Standard deviation.
    out_indices : int32, out : float32; both (n * n_features,)
        Row i is written from place i * n_features on.

    Returns
    -------
    int
        How many of the values written are 0.
    """
    zeros = 0
    for i in range(first, last):
        state = stream(seed ^ GAUSSIAN, ids[i])
        row = out[i * n_features : (i + 1) * n_features]
        for j in range(n_features // 2):
            a, b = normal_pair(state, j)
            row[2 * j] = sigma * a
            row[2 * j + 1] = sigma * b
        if n_features % 2 == 1:
            row[n_features - 1] = sigma * normal_pair(state, n_features // 2)[0]
        for t in range(indptr[i], indptr[i + 1]):
            row[indices[t]] += data[t]
        columns = out_indices[i * n_features : (i + 1) * n_features]
        for f in range(n_features):
            columns[f] = f
            zeros += row[f] == F0
    return zeros


@kernel
def add_to_present(indptr, indices, data, first, last, ids, seed, sigma, out):
    """Rows ``first`` to ``last`` with noise on their present features: what :func:`add_to_all` has there.

    Parameters
    ----------
    out : float32 (nnz,)
        Beside the data of X. For the rest see :func:`add_to_all`.

    Returns
    -------
    int
        How many of the values written are 0.
    """
    zeros = 0
    for i in range(first, last):
        state = stream(seed ^ GAUSSIAN, ids[i])
        for t in range(indptr[i], indptr[i + 1]):
            a, b = normal_pair(state, indices[t] >> 1)
            out[t] = sigma * (b if indices[t] & 1 else a) + data[t]
            zeros += out[t] == F0
    return zeros


@inlined
def find_feature(features, start, end, feature):
    """Place of the first of ``features[start:end]``, ascending, that is not below ``feature``; ``end`` for none."""
    while start < end:
        middle = (start + end) >> 1
        if features[middle] < feature:
            start = middle + 1
        else:
            end = middle
    return start


@kernel
def draw_word(state, indices, start, end, added, n_added, reference):
    """Draw an entry of the reference whose feature the row neither has nor has just got.

    Parameters
    ----------
    state : uint64, of a random stream
    indices : int32, of which ``indices[start:end]`` are the row's features, ascending
    added : int32, of which the first ``n_added`` are the features it got, ascending
    reference : int32 (nnz,)
        Features of all entries of the reference rows: one of these at random is a feature in proportion to the rows
        that have it.

    Returns
    -------
    int
        Which entry; -1 when ``MOST_DRAWS`` in a row were of features that the row has.
    """
    for _ in range(MOST_DRAWS):
        state, u = uniform(state)
        entry = min(np.int64(u * reference.size), reference.size - 1)
        feature = reference[entry]
        at = find_feature(indices, start, end, feature)
        if at < end and indices[at] == feature:
            continue
        at = find_feature(added, 0, n_added, feature)
        if at < n_added and added[at] == feature:
            continue
        return entry
    return -1


@inlined
def insert_sorted(added, values, n_added, feature, value):
    """Put a feature that is not there yet among the first ``n_added``; returns how many there are now."""
    at = n_added
    while at > 0 and added[at - 1] > feature:
        added[at] = added[at - 1]
        values[at] = values[at - 1]
        at -= 1
    added[at] = feature
    values[at] = value
    return n_added + 1


@kernel
def n_inserted(n, row_state, rate):
    """New words that a row of n features gets: ``n * rate`` in the mean, rounded up or down at random."""
    _, u = uniform(stream(row_state, INSERTIONS))
    return np.int64(np.floor(n * rate + u))


@kernel
def longest_rows(indptr, ids, seed, rate):
    """Most features that each row can have after :func:`change_words`: int64 (n,); ``rate`` 0 for no insertions."""
    lengths = np.empty(ids.size, np.int64)
    for i in range(ids.size):
        n = indptr[i + 1] - indptr[i]
        lengths[i] = n + n_inserted(n, stream(seed ^ WORDS, ids[i]), rate)
    return lengths


@kernel
def change_words(
    indptr, indices, data, first, last, ids, seed, rate, drop, swap, insert, reference, reference_values,
    at, out_indices, out, counts,
):  # fmt: skip
    """Rows ``first`` to ``last`` with words dropped, swapped for others and inserted.

    Feature f of a row has the random stream f under the row's own state, and its s-th insertion, from 0, the stream
    ``INSERTIONS + 1 + s``. The features come first, ascending, each dropped, or else swapped, or else kept; then the
    insertions.

    Parameters
    ----------
    indptr, indices, data : CSR of X
    ids : int64 (n,)
    seed : uint64
    rate : float in [0, 1]
    drop, swap, insert : bool
    reference, reference_values : int32, float32 (nnz,)
        Entries of the reference rows: see :func:`draw_word`. A swap takes the feature and an insertion the value, too.
    at : int64 (n,)
        Where each row is written: it needs as many places as :func:`longest_rows` says.
    out_indices : int32, out : float32
    counts : int64 (n,), written
        Features that each row has now.
    """
    most = 0
    for i in range(first, last):
        n = indptr[i + 1] - indptr[i]
        most = max(most, 2 * n + 1)
    added = np.empty(most, np.int32)
    values = np.empty(most, np.float32)
    for i in range(first, last):
        start = indptr[i]
        end = indptr[i + 1]
        row_state = stream(seed ^ WORDS, ids[i])
        n_added = 0
        kept = at[i]  # kept features are written at once, and moved up when it is known what goes between them
        for t in range(start, end):
            state, u = uniform(stream(row_state, indices[t]))
            if drop and u < rate:
                continue
            state, u = uniform(state)
            if swap and u < rate:
                entry = draw_word(state, indices, start, end, added, n_added, reference)
                if entry >= 0:
                    n_added = insert_sorted(added, values, n_added, reference[entry], data[t])
                    continue
            out_indices[kept] = indices[t]
            out[kept] = data[t]
            kept += 1
        if insert:
            for slot in range(n_inserted(end - start, row_state, rate)):
                state = stream(row_state, INSERTIONS + 1 + slot)
                entry = draw_word(state, indices, start, end, added, n_added, reference)
                if entry >= 0:
                    n_added = insert_sorted(added, values, n_added, reference[entry], reference_values[entry])
        counts[i] = kept - at[i] + n_added
        place = at[i] + counts[i] - 1
        kept -= 1
        n_added -= 1
        while n_added >= 0:
            if kept >= at[i] and out_indices[kept] > added[n_added]:
                out_indices[place] = out_indices[kept]
                out[place] = out[kept]
                kept -= 1
            else:
                out_indices[place] = added[n_added]
                out[place] = values[n_added]
                n_added -= 1
            place -= 1


@kernel
def close_gaps(at, counts, out_indices, out, indptr):
    """Move the rows together, in place; ``indptr``, int64 (n + 1,), is written."""
    place = 0
    indptr[0] = 0
    for i in range(counts.size):
        for t in range(at[i], at[i] + counts[i]):
            out_indices[place] = out_indices[t]
            out[place] = out[t]
            place += 1
        indptr[i + 1] = place
